package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A key names a top-level declaration of a package, or a field or method of its types: `path.T.M`. It stays the same
// when lines move.

func (t *task) keyOf(c *Checked, object types.Object) string {
	pkg := object.Pkg()
	if pkg == nil {
		return ""
	}
	home := c
	if pkg != c.types {
		if home = t.checked(pkg); home == nil {
			return ""
		}
	}
	switch it := object.(type) {
	case *types.Func:
		it = it.Origin()
		if owner := ownerOf(it); owner != "" {
			return pkg.Path() + "." + owner + "." + it.Name()
		}
	case *types.Var:
		it = it.Origin()
		if it.IsField() {
			return home.fields()[it]
		}
		object = it
	case *types.PkgName:
		return ""
	}
	if object.Parent() == pkg.Scope() {
		return pkg.Path() + "." + object.Name()
	}
	return ""
}

// The name of a method's type.
func ownerOf(method *types.Func) string {
	receiver := method.Signature().Recv()
	if receiver == nil {
		return ""
	}
	it := receiver.Type()
	if pointer, ok := it.(*types.Pointer); ok {
		it = pointer.Elem()
	}
	if named, ok := types.Unalias(it).(*types.Named); ok && isTop(named.Obj()) {
		return named.Obj().Name()
	}
	return ""
}

// Whether it is declared at the top level of its package.
func isTop(it types.Object) bool { return it.Pkg() != nil && it.Parent() == it.Pkg().Scope() }

// The fields of a package's types, at any depth.
func fieldsOf(pkg *types.Package) map[*types.Var]string {
	found := map[*types.Var]string{}
	var walk func(it types.Type, path string)
	walk = func(it types.Type, path string) {
		switch it := it.(type) {
		case *types.Struct:
			for field := range it.Fields() {
				if _, known := found[field]; !known {
					found[field] = path + "." + field.Name()
					walk(field.Type(), path+"."+field.Name())
				}
			}
		case *types.Pointer:
			walk(it.Elem(), path)
		case *types.Slice:
			walk(it.Elem(), path)
		case *types.Array:
			walk(it.Elem(), path)
		case *types.Map:
			walk(it.Elem(), path)
		case *types.Chan:
			walk(it.Elem(), path)
		}
	}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		object := scope.Lookup(name)
		path := pkg.Path() + "." + name
		if it, ok := object.(*types.TypeName); ok {
			if it.IsAlias() {
				walk(types.Unalias(it.Type()), path)
			} else {
				walk(it.Type().Underlying(), path)
			}
		} else if _, ok := object.(*types.Var); ok {
			walk(object.Type(), path)
		}
	}
	return found
}

// Records the references in the wanted bodies and outside of all bodies.
func (t *task) note(c *Checked, info *types.Info) {
	keys := map[types.Object]string{}
	type unit struct {
		start, end int
		from       string
		function   *Func
		runs       bool
	}
	c.together = map[string]string{}
	units := map[*File][]unit{}
	mine := []*File{}
	for _, file := range t.files {
		if !t.mine(file) {
			continue
		}
		mine = append(mine, file)
		known := map[*ast.FuncDecl]*Func{}
		for _, it := range file.funcs {
			known[it.decl] = it
		}
		for _, decl := range file.ast.Decls {
			switch it := decl.(type) {
			case *ast.FuncDecl:
				name := it.Name.Name
				if it.Recv != nil && len(it.Recv.List) > 0 {
					name = receiverName(it.Recv.List[0].Type) + "." + name
				}
				units[file] = append(units[file], unit{file.offset(it.Pos()), file.offset(it.End()), t.of.path + "." + name, known[it], true})
			case *ast.GenDecl:
				for _, spec := range it.Specs {
					name, runs := "_", false
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						name = spec.Name.Name
					case *ast.ValueSpec:
						name, runs = spec.Names[0].Name, it.Tok == token.VAR
						for _, other := range spec.Names[1:] {
							c.together[t.of.path+"."+other.Name] = t.of.path + "." + name
						}
					}
					units[file] = append(units[file], unit{file.offset(spec.Pos()), file.offset(spec.End()), t.of.path + "." + name, nil, runs})
				}
			}
		}
	}
	places := atlasOf(mine)
	find := func(node ast.Node) (*File, int, *unit) {
		file, offset := places.at(node.Pos())
		if file == nil {
			return nil, 0, nil
		}
		all := units[file]
		at, found := slices.BinarySearchFunc(all, offset, func(it unit, offset int) int { return it.start - offset })
		if !found {
			at--
		}
		if at < 0 || offset >= all[at].end {
			return file, offset, nil
		}
		return file, offset, &all[at]
	}
	depend := &dependence{task: t, of: c, keys: keys}
	for name, object := range info.Uses {
		if it, ok := object.(*types.Var); ok && !t.learn && it.IsField() {
			continue
		}
		file, offset, unit := find(name)
		if unit == nil {
			continue
		}
		var body *Body
		if unit.function != nil && offset >= unit.function.body {
			body = c.bodies[unit.function]
		}
		if _, ok := object.(*types.PkgName); ok && body != nil {
			body.imports[file.numbered(file.offset(object.Pos()))] = true
			continue
		}
		if pkg := object.Pkg(); body != nil && pkg != nil && pkg != c.types {
			body.imports[dotted(pkg.Path())] = true
		}
		if body != nil && t.learn {
			depend.on(body, object.Type())
		}
		key, known := keys[object]
		if !known {
			key = t.keyOf(c, object)
			keys[object] = key
		}
		if method, ok := object.(*types.Func); key == "" && ok && t.learn && method.Signature().Recv() != nil {
			if key = methodKey(method); key[0] == '.' {
				t.lose(c, unit.function, key, spot{file.path, offset})
				key = ""
			} else {
				t.world.external.meet(method)
			}
			keys[object] = key
		}
		if key == "" {
			continue
		}
		ref := Ref{key: key, from: unit.from, file: file.path, at: offset, end: offset + len(name.Name), runs: unit.runs}
		if body != nil {
			ref.at, ref.end = ref.at-unit.function.start, ref.end-unit.function.start
			body.refs = append(body.refs, ref)
		} else {
			c.refs = append(c.refs, ref)
		}
	}
	if t.learn {
		t.noteLost(c, info)
		for expression, it := range info.Types {
			if _, _, unit := find(expression); unit != nil && unit.function != nil {
				if body := c.bodies[unit.function]; body != nil && t.wanted(unit.function) {
					depend.expression(body, expression, it)
				}
			}
		}
		for name, object := range info.Defs {
			if object == nil {
				continue
			}
			if _, _, unit := find(name); unit != nil && unit.function != nil {
				if body := c.bodies[unit.function]; body != nil && t.wanted(unit.function) {
					depend.on(body, object.Type())
				}
			}
		}
	}
	c.cyclic = t.mayCycle(c)
}

// Whether a variable's initial value may depend on itself through functions: bodies then cause errors elsewhere too.
func (t *task) mayCycle(c *Checked) bool {
	edges := map[string][]Ref{}
	for name, first := range c.together {
		edges[name] = append(edges[name], Ref{key: first})
	}
	for _, it := range c.refs {
		if it.runs {
			edges[it.from] = append(edges[it.from], it)
		}
	}
	bodies := map[string]*Body{}
	for _, body := range c.bodies {
		if len(body.refs) > 0 {
			bodies[body.refs[0].from] = body
		}
	}
	for _, name := range c.types.Scope().Names() {
		if _, ok := c.types.Scope().Lookup(name).(*types.Var); !ok {
			continue
		}
		start := t.of.path + "." + name
		seen := map[string]bool{}
		queue := slices.Clone(edges[start])
		for len(queue) > 0 {
			key := queue[len(queue)-1].key
			queue = queue[:len(queue)-1]
			if key == start {
				return true
			}
			if !seen[key] {
				seen[key] = true
				queue = append(queue, edges[key]...)
				if body := bodies[key]; body != nil {
					queue = append(queue, body.refs...)
				}
			}
		}
	}
	return false
}
