package main

import (
	"fmt"
	"go/types"
	"strings"
)

// A shape is the externally visible part of a package-level declaration.
type shape struct {
	// The type, for a constant also the value. For a type, its kind, its parameters and its underlying type without
	// fields.
	self string
	// For a struct: its fields by name, and all of them in order.
	fields map[string]string
	order  string
	// For a type: its declared methods, and for an interface its required methods.
	methods    map[string]string
	comparable bool
	isType     bool
	isStruct   bool
	embeds     string
}

func shapesOf(pkg *types.Package) map[string]*shape {
	found := map[string]*shape{}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		found[name] = shapeOf(scope.Lookup(name))
	}
	return found
}

func shapeOf(object types.Object) *shape {
	switch it := object.(type) {
	case *types.Const:
		return &shape{self: "const " + written(it.Type()) + " " + it.Val().ExactString()}
	case *types.Var:
		return &shape{self: "var " + written(it.Type())}
	case *types.Func:
		return &shape{self: "func " + written(it.Type())}
	case *types.TypeName:
		return shapeOfType(it)
	}
	return &shape{self: fmt.Sprintf("%T", object)}
}

func shapeOfType(name *types.TypeName) *shape {
	it := &shape{isType: true, methods: map[string]string{}, fields: map[string]string{}}
	if name.IsAlias() {
		it.self = "alias " + written(name.Type())
		if alias, ok := name.Type().(*types.Alias); ok {
			it.self = "alias" + writtenParams(alias.TypeParams()) + " " + written(alias.Rhs())
		}
		return it
	}
	named, ok := name.Type().(*types.Named)
	if !ok {
		return it
	}
	it.self = writtenParams(named.TypeParams())
	it.comparable = types.Comparable(named)
	for method := range named.Methods() {
		receiver := "*"
		if _, ok := method.Signature().Recv().Type().(*types.Pointer); !ok {
			receiver = ""
		}
		it.methods[method.Name()] = receiver + written(method.Type())
	}
	switch under := named.Underlying().(type) {
	case *types.Struct:
		it.isStruct = true
		it.self += "struct"
		for at := range under.NumFields() {
			field := under.Field(at)
			text := written(field.Type())
			if field.Embedded() {
				text = "embedded " + text
				it.embeds += text + ";"
			}
			it.fields[field.Name()] = text
			it.order += field.Name() + " " + text + " " + under.Tag(at) + ";"
		}
	case *types.Interface:
		it.self += "interface " + written(under)
		for method := range under.Methods() {
			it.methods[method.Name()] = written(method.Type())
		}
	default:
		it.self += written(under)
	}
	return it
}

// A type as text, without aliases and parameter names.
func written(it types.Type) string {
	var w writer
	w.write(it)
	return w.String()
}

func writtenParams(params *types.TypeParamList) string {
	if params.Len() == 0 {
		return ""
	}
	var w writer
	w.params(params)
	return w.String()
}

type writer struct{ strings.Builder }

func (w *writer) params(params *types.TypeParamList) {
	w.WriteByte('[')
	for it := range params.TypeParams() {
		w.write(it.Constraint())
		w.WriteByte(';')
	}
	w.WriteByte(']')
}

func (w *writer) tuple(tuple *types.Tuple) {
	w.WriteByte('(')
	for it := range tuple.Variables() {
		w.write(it.Type())
		w.WriteByte(',')
	}
	w.WriteByte(')')
}

func (w *writer) write(it types.Type) {
	switch it := types.Unalias(it).(type) {
	case *types.Named:
		if pkg := it.Obj().Pkg(); pkg != nil {
			w.WriteString(pkg.Path() + ".")
			if it.Obj().Parent() != pkg.Scope() {
				// A type local to a function.
				fmt.Fprintf(w, "%d.", it.Obj().Pos())
			}
		}
		w.WriteString(it.Obj().Name())
		if it.TypeArgs().Len() > 0 {
			w.WriteByte('[')
			for argument := range it.TypeArgs().Types() {
				w.write(argument)
				w.WriteByte(',')
			}
			w.WriteByte(']')
		}
	case *types.TypeParam:
		fmt.Fprintf(w, "$%d", it.Index())
	case *types.Basic:
		// Not under its alias, such as byte.
		w.WriteString(basic(it).Name())
	case *types.Pointer:
		w.WriteByte('*')
		w.write(it.Elem())
	case *types.Slice:
		w.WriteString("[]")
		w.write(it.Elem())
	case *types.Array:
		fmt.Fprintf(w, "[%d]", it.Len())
		w.write(it.Elem())
	case *types.Map:
		w.WriteString("map[")
		w.write(it.Key())
		w.WriteByte(']')
		w.write(it.Elem())
	case *types.Chan:
		fmt.Fprintf(w, "chan%d ", it.Dir())
		w.write(it.Elem())
	case *types.Struct:
		w.WriteString("struct{")
		for at := range it.NumFields() {
			field := it.Field(at)
			fmt.Fprintf(w, "%s %t %q ", field.Id(), field.Embedded(), it.Tag(at))
			w.write(field.Type())
			w.WriteByte(';')
		}
		w.WriteByte('}')
	case *types.Signature:
		w.WriteString("func")
		if it.TypeParams().Len() > 0 {
			w.params(it.TypeParams())
		}
		w.tuple(it.Params())
		if it.Variadic() {
			w.WriteString("...")
		}
		w.tuple(it.Results())
	case *types.Tuple:
		w.tuple(it)
	case *types.Interface:
		fmt.Fprintf(w, "interface %t{", it.IsComparable())
		for method := range it.Methods() {
			w.WriteString(method.Id() + " ")
			w.write(method.Type())
			w.WriteByte(';')
		}
		for embedded := range it.EmbeddedTypes() {
			if _, ok := embedded.Underlying().(*types.Interface); !ok {
				w.write(embedded)
				w.WriteByte(';')
			} else if types.Unalias(embedded) != embedded.Underlying() {
				w.write(embedded)
				w.WriteByte(';')
			}
		}
		w.WriteByte('}')
	case *types.Union:
		for term := range it.Terms() {
			fmt.Fprintf(w, "|%t ", term.Tilde())
			w.write(term.Type())
		}
	default:
		w.WriteString(it.String())
	}
}

func basic(it *types.Basic) *types.Basic {
	if int(it.Kind()) < len(types.Typ) {
		return types.Typ[it.Kind()]
	}
	return it
}

// A Delta is the externally visible difference.
type Delta struct {
	// Names with changed declarations, in any scope.
	names map[string]bool
	// By key: types with a changed kind or method set, and structs with changed fields.
	types, structs map[string]bool
}

func newDelta() *Delta {
	return &Delta{map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

func (d *Delta) isEmpty() bool { return len(d.names)+len(d.types)+len(d.structs) == 0 }

func (d *Delta) add(other *Delta) {
	for it := range other.names {
		d.names[it] = true
	}
	for it := range other.types {
		d.types[it] = true
	}
	for it := range other.structs {
		d.structs[it] = true
	}
}

// `isAsked` reports whether any interface has a method of this name.
func (d *Delta) between(path string, before, after map[string]*shape, isAsked func(string) bool) {
	for name, old := range before {
		new := after[name]
		if new == nil {
			d.names[name] = true
			d.replaced(path+"."+name, old)
			continue
		}
		d.compare(path+"."+name, name, old, new, isAsked)
	}
	for name, new := range after {
		if before[name] == nil {
			d.names[name] = true
			d.replaced(path+"."+name, new)
		}
	}
}

func (d *Delta) replaced(key string, it *shape) {
	if it.isType {
		d.types[key], d.structs[key] = true, true
		for name := range it.methods {
			d.names[name] = true
		}
		for name := range it.fields {
			d.names[name] = true
		}
	}
}

func (d *Delta) compare(key, name string, old, new *shape, isAsked func(string) bool) {
	if old.self != new.self || old.isType != new.isType {
		d.names[name] = true
		if old.isType || new.isType {
			d.replaced(key, old)
			d.replaced(key, new)
		}
		return
	}
	if old.order != new.order {
		d.structs[key] = true
	}
	if old.comparable != new.comparable || old.embeds != new.embeds {
		d.types[key] = true
	}
	if old.embeds != new.embeds {
		d.names[name] = true
	}
	for _, pair := range [][2]map[string]string{{old.fields, new.fields}, {old.methods, new.methods}} {
		for member, text := range pair[0] {
			if pair[1][member] != text {
				d.names[member] = true
			}
		}
		for member := range pair[1] {
			if _, known := pair[0][member]; !known {
				d.names[member] = true
			}
		}
	}
	for _, pair := range [][2]map[string]string{{old.methods, new.methods}, {new.methods, old.methods}} {
		for method, text := range pair[0] {
			if pair[1][method] != text && isAsked(method) {
				d.types[key] = true
			}
		}
	}
}

// Adds the types of a package whose methods or comparability depend on changed types.
func (d *Delta) close(pkg *types.Package, depend *dependence) {
	for grown := len(d.types) > 0; grown; {
		grown = false
		scope := pkg.Scope()
		for _, name := range scope.Names() {
			it, ok := scope.Lookup(name).(*types.TypeName)
			key := pkg.Path() + "." + name
			if !ok || d.types[key] {
				continue
			}
			for _, part := range partsOf(it.Type()) {
				for _, made := range depend.expand(part) {
					if d.types[made] && !d.types[key] {
						d.types[key], grown = true, true
					}
				}
			}
		}
	}
}

// The types that determine a type's methods and whether it is comparable.
func partsOf(it types.Type) []types.Type {
	var parts []types.Type
	switch under := it.Underlying().(type) {
	case *types.Struct:
		for field := range under.Fields() {
			_, pointer := types.Unalias(field.Type()).(*types.Pointer)
			if field.Embedded() || !pointer {
				parts = append(parts, field.Type())
			}
		}
	case *types.Interface:
		for embedded := range under.EmbeddedTypes() {
			parts = append(parts, embedded)
		}
	case *types.Array:
		parts = append(parts, under.Elem())
	}
	if alias, ok := it.(*types.Alias); ok {
		parts = append(parts, alias.Rhs())
	}
	return parts
}
