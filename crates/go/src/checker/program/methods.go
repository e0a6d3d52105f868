package main

import (
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A methodSet is what a package-level type can be asked for, in words, so that sets of different checks compare.
type methodSet struct {
	face    bool
	methods map[string]method
	// The methods by where they are declared.
	keys map[string]bool
}

type method struct {
	// Of the method as it is declared.
	key, signature string
	// It speaks of type parameters, or of interfaces without a name: words do not tell whether it is another.
	tricky bool
}

// The sets of a package's types by the types' keys, and by the names of the methods.
type methodSets struct {
	byType map[string]*methodSet
	byName map[string][]*methodSet
}

func methodSetsOf(pkg *types.Package) *methodSets {
	found := &methodSets{map[string]*methodSet{}, map[string][]*methodSet{}}
	for _, name := range pkg.Scope().Names() {
		it, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || it.IsAlias() {
			continue
		}
		set := methodSetOf(it.Type())
		found.byType[pkg.Path()+"."+name] = set
		for _, it := range set.methods {
			_, name, _ := cutLast(it.key)
			found.byName[name] = append(found.byName[name], set)
		}
	}
	return found
}

func methodSetOf(it types.Type) *methodSet {
	set := &methodSet{types.IsInterface(it), map[string]method{}, map[string]bool{}}
	if !set.face {
		it = types.NewPointer(it)
	}
	for selected := range types.NewMethodSet(it).Methods() {
		object := selected.Obj().(*types.Func)
		if object.Signature().TypeParams().Len() > 0 {
			continue
		}
		signature := written(object.Signature())
		tricky := strings.Contains(signature, "$") || strings.Count(signature, "interface ") != strings.Count(signature, "interface false{}")
		key := methodKey(object)
		set.methods[object.Id()], set.keys[key] = method{key, signature, tricky}, true
	}
	return set
}

// The one method that no package declares.
const universal = "error.Error"

// What a method goes by, also one of a dependency; where its type has no name at the top, by its own alone.
func methodKey(it *types.Func) string {
	it = it.Origin()
	if it.Pkg() == nil {
		return universal
	}
	if owner := ownerOf(it); owner != "" {
		return it.Pkg().Path() + "." + owner + "." + it.Name()
	}
	return "." + it.Name()
}

func splitMethod(key string) (pkg, owner, name string) {
	owner, name, _ = cutLast(key)
	pkg, _, _ = cutLast(owner)
	return pkg, owner, name
}

type relation int

const (
	apart relation = iota
	perhaps
	related
)

// Whether one of two types is an interface that the other implements.
func (a *methodSet) relation(b *methodSet) relation {
	return max(a.implements(b), b.implements(a))
}

func (a *methodSet) implements(face *methodSet) relation {
	if !face.face {
		return apart
	}
	found := related
	for id, asked := range face.methods {
		has, known := a.methods[id]
		switch {
		case !known:
			return apart
		case has.tricky || asked.tricky:
			found = perhaps
		case has.signature != asked.signature:
			return apart
		}
	}
	return found
}

// All sets that a type has, in one variant of its package or another.
func (v *view) setsOf(owner string) []*methodSet {
	path, _, _ := cutLast(owner)
	var found []*methodSet
	for _, p := range v.paths[path] {
		if c := v.world.state[p.id]; c != nil {
			if set := c.sets().byType[owner]; set != nil {
				found = append(found, set)
			}
		}
	}
	if len(found) == 0 {
		if set := v.world.external.setOf(owner); set != nil {
			found = append(found, set)
		}
	}
	return found
}

// A method stands for those of the interfaces that its type implements, and one of an interface for those that
// implement it: for all of them inside its own package, for those of the workspace elsewhere.
func (v *view) methodUses(c *Checked, path, key string) ([]Ref, bool) {
	_, owner, name := splitMethod(key)
	mine := c.sets().byType[owner]
	if mine == nil {
		return nil, false
	}
	variants := v.variants(path)
	inside := map[string]bool{}
	for _, it := range variants {
		for _, path := range it.files {
			inside[path] = true
		}
	}
	here := map[string]bool{key: true}
	for path := range inside {
		c := v.checked(path)
		if c == nil {
			return nil, false
		}
		for _, other := range c.named(name) {
			switch v.relation(owner, other) {
			case related:
				here[other] = true
			case perhaps:
				return nil, false
			}
		}
	}
	there, declaring, scope := map[string]bool{}, map[string]bool{}, map[string]bool{}
	exported := token.IsExported(name)
	if exported {
		there[key] = true
		widen := func(p *Package) {
			for _, it := range v.importers(p) {
				scope[it.id] = true
			}
		}
		for _, it := range variants {
			widen(it)
		}
		for _, p := range v.world.order {
			c := v.world.state[p.id]
			if c == nil || !p.isPlain() {
				continue
			}
			for _, set := range c.sets().byName[name] {
				relation, other := mine.relation(set), set.methods[name].key
				if relation == perhaps || relation == related && other[0] == '.' {
					return nil, false
				}
				if relation == related && other != universal {
					there[other] = true
					declaring[p.id] = true
					widen(p)
				}
			}
		}
	}
	// Another variant may speak for their files.
	directories := map[string]bool{}
	for _, p := range v.world.order {
		if scope[p.id] || declaring[p.id] || slices.Contains(variants, p) {
			directories[p.directory] = true
		}
	}
	var found []Ref
	for _, p := range v.world.order {
		c := v.world.state[p.id]
		if c == nil || !directories[p.directory] {
			continue
		}
		for key := range here {
			for _, ref := range c.refsTo(key) {
				if inside[ref.file] {
					found = append(found, ref)
				}
			}
		}
		for key := range there {
			home, _, _ := splitMethod(key)
			for _, ref := range c.refsTo(key) {
				isFound := func(p *Package) bool {
					if p.path == home {
						return declaring[p.id]
					}
					return scope[p.id]
				}
				if slices.ContainsFunc(v.of[ref.file], isFound) {
					found = append(found, ref)
				}
			}
		}
	}
	return found, true
}

// How a type stands to that of another method of the same name.
func (v *view) relation(owner, other string) relation {
	_, otherOwner, _ := splitMethod(other)
	found := apart
	for _, b := range v.setsOf(otherOwner) {
		// A field may go by the same key in another type.
		if b.keys[other] {
			for _, a := range v.setsOf(owner) {
				found = max(found, a.relation(b))
			}
		}
	}
	return found
}
