package main

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

// A Wanted is a symbol whose usages are requested, given by the place of its name.
type Wanted struct {
	File string `json:"file"`
	At   int    `json:"at"`
	Name string `json:"name"`
	// The files in which the name may mean the symbol.
	Files []string `json:"files"`
}

type usesParams struct {
	// The number of the build.
	Build   int      `json:"build"`
	Symbols []Wanted `json:"symbols"`
}

type usesResult struct {
	Files []string `json:"files"`
	// For each symbol, pairs of a file's number and an offset; nil if the checker cannot answer.
	Found [][]int `json:"found"`
	// The same for the unresolved names that may mean the symbol: code there has errors.
	Lost [][]int `json:"lost"`
}

// The usages of symbols, as gopls reports them.
func (s *server) uses(params usesParams) (*usesResult, error) {
	result := &usesResult{Files: []string{}, Found: make([][]int, len(params.Symbols)), Lost: make([][]int, len(params.Symbols))}
	if s.unfit != "" {
		return result, nil
	}
	numbers := map[string]int{}
	number := func(path string) int {
		number, told := numbers[path]
		if !told {
			number = len(result.Files)
			numbers[path] = number
			result.Files = append(result.Files, s.worlds[0].relative(path))
		}
		return number
	}
	for at, wanted := range params.Symbols {
		if wanted.File == "" {
			if s.isNowhereLost(&wanted, params.Build) {
				result.Found[at] = []int{}
			}
			continue
		}
		found, lost, known := s.usesOf(&wanted, params.Build)
		if !known {
			continue
		}
		result.Found[at] = []int{}
		for _, it := range found {
			result.Found[at] = append(result.Found[at], number(it.file), it.at)
		}
		for _, it := range lost {
			result.Lost[at] = append(result.Lost[at], number(it.file), it.at)
		}
	}
	return result, nil
}

// The usages of a symbol, and the unresolved names that may mean it, in all worlds that have its file: a module may be
// one by itself and a part of others.
func (s *server) usesOf(wanted *Wanted, build int) (found, lost []spot, known bool) {
	homes, files := s.homesOf(wanted, build)
	for at, home := range homes {
		refs, unresolved, known := home.uses(&Wanted{wanted.File, wanted.At, wanted.Name, files[at]})
		if !known {
			return nil, nil, false
		}
		for _, it := range refs {
			found = append(found, spot{it.file, it.at})
		}
		lost = append(lost, unresolved...)
	}
	found, lost = ordered(found), ordered(lost)
	isFound := func(it spot) bool {
		_, is := slices.BinarySearchFunc(found, it, spot.compare)
		return is
	}
	return found, slices.DeleteFunc(lost, isFound), len(homes) > 0
}

func ordered(spots []spot) []spot {
	slices.SortFunc(spots, spot.compare)
	return slices.Compact(spots)
}

// Whether no file has an unresolved name that may mean a symbol which the build does not declare.
func (s *server) isNowhereLost(wanted *Wanted, build int) bool {
	for _, file := range wanted.Files {
		isKnown := false
		for _, w := range s.of(build) {
			path := w.absolute(file)
			if w.files[path] == nil {
				continue
			}
			c := w.looked().checked(path)
			if c == nil || w.files[path].fault != nil {
				return false
			}
			c.lookUp()
			if len(c.lost[wanted.Name])+len(c.lost["."+wanted.Name]) > 0 {
				return false
			}
			isKnown = true
		}
		if !isKnown {
			return false
		}
	}
	return true
}

// The worlds of a build with the file of a symbol, each with the wanted files that it has. Code of other worlds that does
// not depend on the symbol's package cannot name it. None if a file is in no world, or depends on the package otherwise.
func (s *server) homesOf(wanted *Wanted, build int) (homes []*World, files [][]string) {
	worlds := s.of(build)
	for _, it := range worlds {
		if it.files[it.absolute(wanted.File)] != nil {
			homes, files = append(homes, it), append(files, nil)
		}
	}
	for _, file := range wanted.Files {
		isKnown := false
		for at, home := range homes {
			if home.files[home.absolute(file)] != nil {
				isKnown = true
				files[at] = append(files[at], file)
			}
		}
		for _, it := range worlds {
			path := it.absolute(file)
			if it.files[path] == nil || slices.Contains(homes, it) {
				continue
			}
			if it.directories[filepath.Dir(it.absolute(wanted.File))] {
				return nil, nil
			}
			isKnown = true
		}
		if !isKnown {
			return nil, nil
		}
	}
	return homes, files
}

// The usages, and the unresolved names in the wanted files that may mean the symbol.
func (w *World) uses(wanted *Wanted) (found []Ref, lost []spot, known bool) {
	view := w.looked()
	path := w.absolute(wanted.File)
	c := view.checked(path)
	if c == nil {
		return nil, nil, false
	}
	symbol, declared := c.declared()[spot{path, wanted.At}]
	for _, file := range wanted.Files {
		path := w.absolute(file)
		there := view.checked(path)
		if there == nil || w.files[path].fault != nil {
			return nil, nil, false
		}
		for _, at := range there.lostIn(path, wanted.Name, symbol.method) {
			lost = append(lost, spot{path, at})
		}
	}
	if !declared && w.files[path].isInit(wanted.At) {
		return nil, nil, true
	}
	if !declared && w.files[path].embedded()[wanted.At] {
		symbol.key = c.namedAt(path, wanted.At)
	}
	if symbol.key == "" {
		return nil, nil, false
	}
	if symbol.method {
		found, known = view.methodUses(c, path, symbol.key)
		return found, lost, known
	}
	for _, it := range view.reach(view.variants(path)) {
		found = append(found, it.refsTo(symbol.key)...)
	}
	return found, lost, true
}

// The place of a name.
type spot struct {
	file string
	at   int
}

func (a spot) compare(b spot) int { return cmp.Or(strings.Compare(a.file, b.file), a.at-b.at) }

type declaration struct {
	// Empty if two declarations have it.
	key    string
	method bool
}

// Whether the name here is that of a function `init`, which code cannot refer to.
func (f *File) isInit(at int) bool {
	return slices.ContainsFunc(f.funcs, func(it *Func) bool {
		return it.decl.Recv == nil && it.decl.Name.Name == "init" && f.offset(it.decl.Name.Pos()) == at
	})
}

func (f *File) embeddings() map[int]bool {
	found := map[int]bool{}
	ast.Inspect(f.ast, func(node ast.Node) bool {
		if iface, ok := node.(*ast.InterfaceType); ok {
			for _, it := range iface.Methods.List {
				if len(it.Names) == 0 {
					found[f.offset(it.End())-len(lastName(it.Type))] = true
				}
			}
		}
		return true
	})
	return found
}

func lastName(it ast.Expr) string {
	switch it := it.(type) {
	case *ast.Ident:
		return it.Name
	case *ast.SelectorExpr:
		return it.Sel.Name
	}
	return ""
}

// The target of a reference outside of bodies.
func (c *Checked) namedAt(path string, at int) string {
	for _, it := range c.refs {
		if it.file == path && it.at == at {
			return it.key
		}
	}
	return ""
}

// A view is the data computed from the set of packages.
type view struct {
	world *World
	// The variant that represents a file, and all variants with the file except those that only accompany a test.
	owner map[string]string
	of    map[string][]*Package
	// The direct and indirect importers of a package.
	rdeps map[string][]*Package
	// The variants of a package.
	paths map[string][]*Package
}

func (w *World) looked() *view {
	if w.view != nil {
		return w.view
	}
	it := &view{world: w, of: map[string][]*Package{}, rdeps: map[string][]*Package{}, paths: map[string][]*Package{}}
	it.owner = owners(w.packages, func(it *Package) []string { return it.files })
	for _, p := range w.order {
		if p.isPlain() {
			it.paths[p.path] = append(it.paths[p.path], p)
			for _, path := range p.files {
				it.of[path] = append(it.of[path], p)
			}
		}
	}
	w.view = it
	return it
}

// Whether it belongs to the workspace, and is no variant that only accompanies another package's tests.
func (p *Package) isPlain() bool {
	return !p.borrowed && (p.forTest == "" || p.path == p.forTest || p.path == p.forTest+"_test")
}

// The variant that represents a file, if its data is complete. What depends on an import that does not exist is
// unresolved.
func (v *view) checked(path string) *Checked {
	c := v.world.state[v.owner[path]]
	if c == nil || c.unfit != "" || c.of.unfit != "" && c.of.absent == nil {
		return nil
	}
	return c
}

// The packages that contain a file, the smallest first.
func (v *view) variants(path string) []*Package {
	found := slices.Clone(v.of[path])
	slices.SortFunc(found, func(a, b *Package) int { return cmp.Or(len(a.files)-len(b.files), strings.Compare(a.id, b.id)) })
	return found
}

func (v *view) importers(p *Package) []*Package {
	if found, known := v.rdeps[p.id]; known {
		return found
	}
	seen := map[*Package]bool{p: true}
	found, queue := []*Package{}, []*Package{p}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, it := range next.importers {
			if !seen[it] && !it.borrowed {
				seen[it] = true
				found, queue = append(found, it), append(queue, it)
			}
		}
	}
	v.rdeps[p.id] = found
	return found
}

// The results of some packages, and of all their direct and indirect importers.
func (v *view) reach(packages []*Package) []*Checked {
	seen := map[string]bool{}
	var found []*Checked
	add := func(it *Package) {
		if c := v.world.state[it.id]; c != nil && !seen[it.id] {
			seen[it.id] = true
			found = append(found, c)
		}
	}
	for _, it := range packages {
		add(it)
		for _, it := range v.importers(it) {
			add(it)
		}
	}
	return found
}

// The places of the declarations with a key.
func (c *Checked) declarations() map[spot]declaration {
	found, spots := map[spot]declaration{}, map[string]spot{}
	files := atlasOf(c.files)
	add := func(object types.Object, key string) {
		if object.Pkg() != c.types || key == "" {
			return
		}
		file, at := files.at(object.Pos())
		if file == nil {
			return
		}
		here := spot{file.path, at}
		if other, known := spots[key]; known && other != here {
			found[here], found[other] = declaration{}, declaration{}
			return
		}
		function, _ := object.(*types.Func)
		found[here] = declaration{key, function != nil && function.Signature().Recv() != nil}
		spots[key] = here
	}
	scope := c.types.Scope()
	for _, name := range scope.Names() {
		object := scope.Lookup(name)
		add(object, c.types.Path()+"."+name)
		named, _ := object.Type().(*types.Named)
		if _, ok := object.(*types.TypeName); !ok || named == nil {
			continue
		}
		for it := range named.Methods() {
			add(it, methodKey(it))
		}
		if iface, ok := named.Underlying().(*types.Interface); ok {
			for it := range iface.ExplicitMethods() {
				add(it, methodKey(it))
			}
		}
	}
	for field, key := range c.fields() {
		add(field, key)
	}
	return found
}

// An atlas finds positions in files.
type atlas []*File

func atlasOf(files []*File) atlas {
	sorted := slices.Clone(files)
	slices.SortFunc(sorted, func(a, b *File) int { return a.token.Base() - b.token.Base() })
	return sorted
}

func (a atlas) at(pos token.Pos) (*File, int) {
	at, found := slices.BinarySearchFunc(a, int(pos), func(it *File, pos int) int { return it.token.Base() - pos })
	if !found {
		at--
	}
	if at < 0 {
		return nil, 0
	}
	if offset := a[at].offset(pos); offset >= 0 {
		return a[at], offset
	}
	return nil, 0
}

// Records the unresolved names in the wanted bodies and outside of bodies.
func (t *task) noteLost(c *Checked, info *types.Info) {
	for _, file := range t.files {
		if !t.mine(file) {
			continue
		}
		bodies := map[*ast.BlockStmt]*Func{}
		for _, it := range file.funcs {
			bodies[it.decl.Body] = it
		}
		var within *Func
		var visit func(node ast.Node) bool
		visit = func(node ast.Node) bool {
			switch it := node.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.BlockStmt:
				if function := bodies[it]; function != nil && within == nil {
					if t.wanted(function) {
						within = function
						ast.Inspect(it, visit)
						within = nil
					}
					return false
				}
			case *ast.Ident:
				_, declares := info.Defs[it]
				if !declares && info.Uses[it] == nil && it.Name != "_" {
					t.lose(c, within, it.Name, spot{file.path, file.offset(it.Pos())})
				}
			}
			return true
		}
		for _, decl := range file.ast.Decls {
			ast.Inspect(decl, visit)
		}
	}
}

// Records an unresolved name: in the body of a function, or outside of all bodies.
func (t *task) lose(c *Checked, function *Func, name string, at spot) {
	body := c.bodies[function]
	if body == nil || at.at < function.body {
		c.lostOutside[name] = append(c.lostOutside[name], at)
		return
	}
	at.at -= function.start
	body.lost[name] = append(body.lost[name], at)
}

// The places in a file at which a name is unresolved; for a method, also in the methods of types without a name.
func (c *Checked) lostIn(path, name string, isMethod bool) []int {
	c.lookUp()
	var found []int
	note := func(name string) {
		for _, it := range c.lost[name] {
			if it.file == path {
				found = append(found, it.at)
			}
		}
	}
	note(name)
	if isMethod {
		note("." + name)
	}
	slices.Sort(found)
	return slices.Compact(found)
}
