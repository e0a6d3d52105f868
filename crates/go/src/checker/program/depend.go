package main

import (
	"go/ast"
	"go/types"
)

// dependence finds the types of the workspace that a body depends on, from the types of all its expressions.
type dependence struct {
	task  *task
	of    *Checked
	keys  map[types.Object]string
	known map[types.Type][]string
	// Types in expansion, and how often one of them recurred.
	open map[types.Type]bool
	cut  int
}

func (d *dependence) on(body *Body, it types.Type) {
	for _, key := range d.expand(it) {
		body.types[key] = true
	}
	if _, ok := it.(*types.Struct); ok {
		// A named struct is assignable to an unnamed struct with the same fields.
		body.structs["*"] = true
	}
}

func (d *dependence) expression(body *Body, expression ast.Expr, it types.TypeAndValue) {
	d.on(body, it.Type)
	switch expression := expression.(type) {
	case *ast.CompositeLit:
		d.fields(body, it.Type, len(expression.Elts) > 0)
	case *ast.CallExpr:
		// A conversion or an equivalent: the type determines whether its fields matter.
		if len(expression.Args) == 1 {
			d.fields(body, it.Type, false)
		}
	}
}

// Records that the fields of this type matter, and those of types assignable to it.
func (d *dependence) fields(body *Body, it types.Type, each bool) {
	if it == nil {
		return
	}
	if pointer, ok := it.Underlying().(*types.Pointer); ok {
		it = pointer.Elem()
	}
	under, ok := it.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for _, key := range d.expand(it) {
		body.structs[key] = true
	}
	if each {
		for field := range under.Fields() {
			d.on(body, field.Type())
		}
	}
}

// The keys of the named types in a type, and in its parts except fields and methods.
func (d *dependence) expand(it types.Type) []string {
	if it == nil {
		return nil
	}
	if found, known := d.known[it]; known {
		if found == nil && d.open[it] {
			d.cut++
		}
		return found
	}
	if d.known == nil {
		d.known, d.open = map[types.Type][]string{}, map[types.Type]bool{}
	}
	cut := d.cut
	d.known[it], d.open[it] = nil, true
	var found []string
	add := func(types ...types.Type) {
		for _, it := range types {
			found = append(found, d.expand(it)...)
		}
	}
	tuple := func(tuple *types.Tuple) {
		for it := range tuple.Variables() {
			add(it.Type())
		}
	}
	params := func(params *types.TypeParamList) {
		for it := range params.TypeParams() {
			add(it.Constraint())
		}
	}
	switch it := it.(type) {
	case *types.Alias:
		add(it.Rhs())
		for argument := range it.TypeArgs().Types() {
			add(argument)
		}
	case *types.Named:
		origin := it.Origin()
		if key := d.key(origin.Obj()); key != "" {
			found = append(found, key)
		}
		for argument := range it.TypeArgs().Types() {
			add(argument)
		}
		params(origin.TypeParams())
		switch it.Underlying().(type) {
		case *types.Struct, *types.Interface:
		default:
			add(it.Underlying())
		}
	case *types.TypeParam:
		add(it.Constraint())
	case *types.Pointer:
		add(it.Elem())
	case *types.Slice:
		add(it.Elem())
	case *types.Array:
		add(it.Elem())
	case *types.Map:
		add(it.Key(), it.Elem())
	case *types.Chan:
		add(it.Elem())
	case *types.Struct:
		for field := range it.Fields() {
			add(field.Type())
		}
	case *types.Signature:
		params(it.TypeParams())
		tuple(it.Params())
		tuple(it.Results())
	case *types.Tuple:
		tuple(it)
	case *types.Interface:
		for method := range it.Methods() {
			add(method.Type())
		}
		for embedded := range it.EmbeddedTypes() {
			add(embedded)
		}
	case *types.Union:
		for term := range it.Terms() {
			add(term.Type())
		}
	}
	if len(found) > 1 {
		unique := map[string]bool{}
		kept := found[:0:0]
		for _, key := range found {
			if !unique[key] {
				unique[key] = true
				kept = append(kept, key)
			}
		}
		found = kept
	}
	delete(d.open, it)
	if d.cut == cut || len(d.open) == 0 {
		d.known[it] = found
	} else {
		// Part of a recursive type: the result is incomplete.
		delete(d.known, it)
	}
	return found
}

func (d *dependence) key(object types.Object) string {
	key, known := d.keys[object]
	if !known {
		key = d.task.keyOf(d.of, object)
		d.keys[object] = key
	}
	return key
}
