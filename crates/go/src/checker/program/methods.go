package main

import (
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A methodSet is the method set of a package-level type as text, so that sets of different checks compare.
type methodSet struct {
	isInterface bool
	methods     map[string]method
	// The keys of the methods' declarations.
	keys map[string]bool
}

type method struct {
	// The key and signature of the method's declaration.
	key, signature string
	// It contains type parameters or unnamed interfaces: the text does not determine its identity.
	tricky bool
	it     *types.Signature
}

// The method sets of a package's types, by type key and by method name.
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
	if !set.isInterface {
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
		set.methods[object.Id()], set.keys[key] = method{key, signature, tricky, object.Signature()}, true
	}
	return set
}

// The only method that no package declares.
const universal = "error.Error"

// The key of a method, also of a dependency's method; if its type is not a top-level type, its name only.
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

// Whether one of two types is an interface that the second implements, in some instantiation if they are generic.
func (a *methodSet) isRelated(b *methodSet) bool { return a.implements(b) || b.implements(a) }

func (a *methodSet) implements(iface *methodSet) bool {
	if !iface.isInterface {
		return false
	}
	tricky := false
	for id, asked := range iface.methods {
		has, known := a.methods[id]
		if !known {
			return false
		}
		if has.tricky || asked.tricky {
			tricky = true
		} else if has.signature != asked.signature {
			return false
		}
	}
	if !tricky {
		return true
	}
	together := unifier{}
	for id, asked := range iface.methods {
		has := a.methods[id]
		if (has.tricky || asked.tricky) && !together.unify(term{false, has.it}, term{true, asked.it}) {
			return false
		}
	}
	return true
}

// All method sets of a type in the variants of its package.
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

// The uses of a method include the uses of the interface methods that it implements. The uses of an interface method
// include the uses of its implementations. Inside the method's package these are all, elsewhere only those in the
// workspace.
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
	all := map[*Checked]bool{}
	for path := range inside {
		c := v.checked(path)
		if c == nil {
			return nil, false
		}
		all[c] = true
	}
	for c := range all {
		for _, other := range c.named(name) {
			if v.areRelated(owner, other) {
				here[other] = true
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
				if !mine.isRelated(set) {
					continue
				}
				other := set.methods[name].key
				if other[0] == '.' {
					return nil, false
				}
				if other != universal {
					there[other] = true
					declaring[p.id] = true
					widen(p)
				}
			}
		}
	}
	// Another variant may represent their files.
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

// Whether a type and the owner of another method with the same name are related.
func (v *view) areRelated(owner, other string) bool {
	_, otherOwner, _ := splitMethod(other)
	for _, b := range v.setsOf(otherOwner) {
		// A field may have the same key in another type.
		if b.keys[other] && slices.ContainsFunc(v.setsOf(owner), b.isRelated) {
			return true
		}
	}
	return false
}
