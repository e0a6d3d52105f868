package main

import "go/types"

// A unifier finds instantiations of two generic types under which signatures are identical. The constraints of the
// parameters do not count. (Robinson's unification, with the check that a parameter does not occur in its own value.)
type unifier map[parameter]term

// One of the two types that are compared, and a parameter of it.
type side bool

type parameter struct {
	of    side
	index int
}

// A type whose parameters are those of one side.
type term struct {
	of side
	it types.Type
}

// The parameter that a term is.
func (t term) parameter() (parameter, bool) {
	it, ok := t.it.(*types.TypeParam)
	if !ok {
		return parameter{}, false
	}
	return parameter{t.of, it.Index()}, true
}

// The term without aliases, or the one that its parameter is bound to.
func (u unifier) value(t term) term {
	for {
		t.it = types.Unalias(t.it)
		name, ok := t.parameter()
		bound, known := u[name]
		if !ok || !known {
			return t
		}
		t = bound
	}
}

func (u unifier) unify(a, b term) bool {
	a, b = u.value(a), u.value(b)
	nameOfA, isA := a.parameter()
	nameOfB, isB := b.parameter()
	switch {
	case isA && isB && nameOfA == nameOfB:
		return true
	case isA:
		return u.bind(nameOfA, b)
	case isB:
		return u.bind(nameOfB, a)
	}
	switch x := a.it.(type) {
	case *types.Struct:
		y, ok := b.it.(*types.Struct)
		if !ok || x.NumFields() != y.NumFields() {
			return false
		}
		for at := range x.NumFields() {
			one, other := x.Field(at), y.Field(at)
			if one.Id() != other.Id() || one.Embedded() != other.Embedded() || x.Tag(at) != y.Tag(at) {
				return false
			}
		}
	case *types.Interface:
		y, ok := b.it.(*types.Interface)
		if !ok || x.NumMethods() != y.NumMethods() || x.IsComparable() != y.IsComparable() {
			return false
		}
		for at := range x.NumMethods() {
			if x.Method(at).Id() != y.Method(at).Id() {
				return false
			}
		}
	case *types.Array:
		if y, ok := b.it.(*types.Array); !ok || x.Len() != y.Len() {
			return false
		}
	case *types.Chan:
		if y, ok := b.it.(*types.Chan); !ok || x.Dir() != y.Dir() {
			return false
		}
	case *types.Signature:
		if y, ok := b.it.(*types.Signature); !ok || x.Variadic() != y.Variadic() {
			return false
		}
	}
	kind, parts := partsOfForm(a.it)
	other, others := partsOfForm(b.it)
	return kind == other && u.all(a.of, b.of, parts, others)
}

func (u unifier) all(a, b side, parts, others []types.Type) bool {
	if len(parts) != len(others) {
		return false
	}
	for at := range parts {
		if !u.unify(term{a, parts[at]}, term{b, others[at]}) {
			return false
		}
	}
	return true
}

func (u unifier) bind(name parameter, to term) bool {
	if u.occurs(name, to) {
		return false
	}
	u[name] = to
	return true
}

func (u unifier) occurs(name parameter, in term) bool {
	in = u.value(in)
	if it, ok := in.parameter(); ok {
		return it == name
	}
	_, parts := partsOfForm(in.it)
	for _, it := range parts {
		if u.occurs(name, term{in.of, it}) {
			return true
		}
	}
	return false
}

// The kind of a type, for a named one its name, and the types that it consists of.
func partsOfForm(it types.Type) (kind string, parts []types.Type) {
	switch it := it.(type) {
	case *types.Named:
		for argument := range it.TypeArgs().Types() {
			parts = append(parts, argument)
		}
		return written(it.Origin()), parts
	case *types.Pointer:
		return "*", []types.Type{it.Elem()}
	case *types.Slice:
		return "[]", []types.Type{it.Elem()}
	case *types.Array:
		return "[n]", []types.Type{it.Elem()}
	case *types.Map:
		return "map", []types.Type{it.Key(), it.Elem()}
	case *types.Chan:
		return "chan", []types.Type{it.Elem()}
	case *types.Signature:
		return "func", []types.Type{it.Params(), it.Results()}
	case *types.Tuple:
		for part := range it.Variables() {
			parts = append(parts, part.Type())
		}
		return "()", parts
	case *types.Struct:
		for field := range it.Fields() {
			parts = append(parts, field.Type())
		}
		return "struct", parts
	case *types.Interface:
		for method := range it.Methods() {
			parts = append(parts, method.Type())
		}
		return "interface", parts
	}
	return written(it), nil
}
