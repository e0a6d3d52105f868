package main

import (
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

const (
	mostTests = 256
	mostSteps = 32
)

// All references to a key in a package, at their current places.
func (c *Checked) refsTo(key string) []Ref {
	c.lookUp()
	return c.index[key]
}

func (c *Checked) lookUp() {
	c.indexed.Do(func() {
		c.index, c.byName, c.lost = map[string][]Ref{}, map[string][]string{}, map[string][]spot{}
		for name, spots := range c.lostOutside {
			c.lost[name] = slices.Clone(spots)
		}
		for _, it := range c.refs {
			c.index[it.key] = append(c.index[it.key], it)
		}
		for function, body := range c.bodies {
			for _, it := range body.refs {
				it.at, it.end = it.at+function.start, it.end+function.start
				c.index[it.key] = append(c.index[it.key], it)
			}
			for name, spots := range body.lost {
				for _, it := range spots {
					c.lost[name] = append(c.lost[name], spot{it.file, it.at + function.start})
				}
			}
		}
		for key := range c.index {
			_, name, _ := cutLast(key)
			c.byName[name] = append(c.byName[name], key)
		}
	})
}

// The keys with this name that are referenced here.
func (c *Checked) named(name string) []string {
	c.lookUp()
	return c.byName[name]
}

func (w *World) refsTo(key string) []Ref {
	var found []Ref
	for _, it := range w.order {
		if c := w.state[it.id]; c != nil {
			found = append(found, c.refsTo(key)...)
		}
	}
	return found
}

// A method's key, with the keys of the interface methods that it implements or of the methods that implement it.
func (w *World) related(key string) []string {
	found := []string{key}
	owner, method, ok := cutLast(key)
	if !ok {
		return found
	}
	named := w.typeOf(owner)
	if named == nil {
		return found
	}
	asks := types.IsInterface(named)
	var receiver types.Type = named
	if !asks {
		receiver = types.NewPointer(named)
	}
	object, _, _ := types.LookupFieldOrMethod(receiver, true, named.Obj().Pkg(), method)
	if _, ok := object.(*types.Func); !ok {
		return found
	}
	for _, it := range w.order {
		c := w.state[it.id]
		if it.forTest != "" || c == nil {
			continue
		}
		for _, name := range c.having()[method] {
			other, ok := c.types.Scope().Lookup(name).Type().(*types.Named)
			if !ok || other == named || types.IsInterface(other) == asks {
				continue
			}
			iface, concrete := named, other
			if !asks {
				iface, concrete = other, named
			}
			if isImplemented(iface, concrete) {
				found = append(found, c.of.path+"."+name+"."+method)
			}
		}
	}
	return found
}

// The types of a package that have a method, by the method's name.
func typesByMethod(shapes map[string]*shape) map[string][]string {
	found := map[string][]string{}
	for name, shape := range shapes {
		for method := range shape.methods {
			found[method] = append(found[method], name)
		}
	}
	return found
}

func isImplemented(iface, concrete *types.Named) bool {
	asked, ok := iface.Underlying().(*types.Interface)
	if !ok || iface.TypeParams().Len() > 0 || concrete.TypeParams().Len() > 0 || asked.NumMethods() == 0 {
		return false
	}
	return types.Implements(types.NewPointer(concrete), asked)
}

func (w *World) typeOf(key string) *types.Named {
	path, name, ok := cutLast(key)
	if !ok {
		return nil
	}
	for _, id := range []string{path, path + " [" + strings.TrimSuffix(path, "_test") + ".test]"} {
		if c := w.state[id]; c != nil {
			if it, ok := c.types.Scope().Lookup(name).(*types.TypeName); ok {
				named, _ := it.Type().(*types.Named)
				return named
			}
		}
	}
	return nil
}

func cutLast(key string) (string, string, bool) {
	at := strings.LastIndexByte(key, '.')
	if at < 0 {
		return "", key, false
	}
	return key[:at], key[at+1:], true
}

// A Test that reaches a change, with the reference in it that leads there.
type Test struct {
	Place
	// Index of the reached symbol in the query.
	Of       int `json:"of"`
	Distance int `json:"distance"`
}

// The tests that reach the changed declarations through references, nearest first.
func (w *World) tests(keys []string) []Test {
	type step struct {
		key string
		of  int
	}
	var found []Test
	var frontier []step
	seen, reported := map[string]bool{}, map[string]bool{}
	for of, key := range keys {
		frontier = append(frontier, step{key, of})
		seen[key] = true
	}
	for distance := 1; distance <= mostSteps && len(frontier) > 0 && len(found) < mostTests; distance++ {
		var next []step
		var here []Test
		for _, it := range frontier {
			for _, key := range w.related(it.key) {
				for _, ref := range w.refsTo(key) {
					if isTest(ref) {
						if !reported[ref.from] {
							reported[ref.from] = true
							here = append(here, Test{w.place(ref), it.of, distance})
						}
					} else if ref.runs && !seen[ref.from] {
						seen[ref.from] = true
						next = append(next, step{ref.from, it.of})
					}
				}
			}
		}
		slices.SortFunc(here, func(a, b Test) int { return a.compare(b.Place) })
		found = append(found, here...)
		frontier = next
	}
	return found[:min(len(found), mostTests)]
}

func isTest(it Ref) bool {
	_, name, _ := cutLast(it.from)
	if !strings.HasSuffix(it.file, "_test.go") {
		return false
	}
	return slices.ContainsFunc([]string{"Test", "Benchmark", "Fuzz", "Example"}, func(start string) bool {
		return strings.HasPrefix(name, start)
	})
}

// A Place is a range in a file of the workspace.
type Place struct {
	File  string `json:"file"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

func (p Place) compare(other Place) int {
	if it := strings.Compare(p.File, other.File); it != 0 {
		return it
	}
	return p.Start - other.Start
}

func (w *World) place(it Ref) Place {
	name, err := filepath.Rel(w.root, it.file)
	if err != nil {
		name = it.file
	}
	return Place{filepath.ToSlash(name), it.at, it.end}
}
