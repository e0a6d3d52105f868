package main

import (
	"go/types"
	"sync"
)

// What is known of the packages outside the workspace that are imported.
type external struct {
	lock     sync.Mutex
	imported map[string]*types.Package
	importer types.Importer
	// The methods of all interfaces that a value may be converted to there, as far as known.
	methods map[string]bool
	seen    map[types.Type]bool
	looked  map[string]bool
	// The types with methods that are referenced.
	types map[string]types.Type
	sets  map[string]*methodSet
}

func newExternal(importer types.Importer) *external {
	return &external{
		importer: importer,
		imported: map[string]*types.Package{}, methods: map[string]bool{"Error": true}, seen: map[types.Type]bool{},
		looked: map[string]bool{}, types: map[string]types.Type{}, sets: map[string]*methodSet{},
	}
}

func (e *external) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	e.lock.Lock()
	defer e.lock.Unlock()
	if found := e.imported[path]; found != nil {
		return found, nil
	}
	found, err := e.importer.Import(path)
	if err == nil {
		e.imported[path] = found
	}
	return found, err
}

// Records the type of a referenced method.
func (e *external) meet(it *types.Func) {
	receiver := it.Origin().Signature().Recv().Type()
	if pointer, ok := receiver.(*types.Pointer); ok {
		receiver = pointer.Elem()
	}
	_, owner, _ := splitMethod(methodKey(it))
	e.lock.Lock()
	defer e.lock.Unlock()
	e.types[owner] = receiver
}

func (e *external) setOf(owner string) *methodSet {
	e.lock.Lock()
	defer e.lock.Unlock()
	if it := e.types[owner]; e.sets[owner] == nil && it != nil {
		e.sets[owner] = methodSetOf(it)
	}
	return e.sets[owner]
}

// The methods of all interfaces in imported packages.
func (e *external) asked() map[string]bool {
	e.lock.Lock()
	defer e.lock.Unlock()
	for path, pkg := range e.imported {
		if e.looked[path] {
			continue
		}
		e.looked[path] = true
		scope := pkg.Scope()
		for _, name := range scope.Names() {
			e.look(scope.Lookup(name).Type())
		}
	}
	return e.methods
}

func (e *external) look(it types.Type) {
	if it == nil || e.seen[it] {
		return
	}
	e.seen[it] = true
	each := func(tuple *types.Tuple) {
		for it := range tuple.Variables() {
			e.look(it.Type())
		}
	}
	params := func(params *types.TypeParamList) {
		for it := range params.TypeParams() {
			e.look(it.Constraint())
		}
	}
	switch it := it.(type) {
	case *types.Alias:
		e.look(types.Unalias(it))
	case *types.Named:
		params(it.TypeParams())
		for argument := range it.TypeArgs().Types() {
			e.look(argument)
		}
		for method := range it.Methods() {
			e.look(method.Type())
		}
		e.look(it.Underlying())
	case *types.Interface:
		for method := range it.Methods() {
			e.methods[method.Name()] = true
			e.look(method.Type())
		}
	case *types.Pointer:
		e.look(it.Elem())
	case *types.Slice:
		e.look(it.Elem())
	case *types.Array:
		e.look(it.Elem())
	case *types.Map:
		e.look(it.Key())
		e.look(it.Elem())
	case *types.Chan:
		e.look(it.Elem())
	case *types.Struct:
		for field := range it.Fields() {
			e.look(field.Type())
		}
	case *types.Signature:
		params(it.TypeParams())
		each(it.Params())
		each(it.Results())
	case *types.TypeParam:
		e.look(it.Constraint())
	}
}
