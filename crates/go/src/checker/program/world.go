package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A World is the current state of the packages of a module or of a `go.work`, in one build.
type World struct {
	// The build and its number; nil for the default build.
	build  *Build
	number int

	root     string
	fset     *token.FileSet
	files    map[string]*File
	packages map[string]*Package
	// Dependencies before dependants.
	order []*Package
	state map[string]*Checked
	// The directories of packages outside the workspace, by import path.
	directoryOf map[string]string
	external    *external
	sizes       types.Sizes
	// The directories of all packages in the build, dependencies included.
	directories map[string]bool
	codes       map[int]string
	// Computed at the first use.
	view *view
}

// A Package is one variant of a package from `go list`: plain, with its tests, or its external tests.
type Package struct {
	id, path, name string
	forTest        string
	goVersion      string
	directory      string
	files          []string
	// By import path: the id of a package of the workspace, or the plain path of another package.
	imports   map[string]string
	importers []*Package
	deps      []*Package
	// The reason why it cannot be checked.
	unfit string
	// The imports that do not exist, as of modules that are not downloaded. Nothing else is wrong if there are some.
	absent map[string]bool
	// A package that imports it and is not checked from its source.
	seenBy string
	// A program of one file that no build includes.
	alone bool
	// A dependency outside the workspace that imports it: checked from its source, but its errors are not reported.
	borrowed bool
	rank     int
}

// Loads the packages below the directory of a module or of a `go.work`.
func newWorld(params *loadParams, directory string, codes map[int]string, build *Build, shared *common) (*World, error) {
	root := params.Root
	tool, arch := params.tool(), params.Arch
	if build != nil {
		tool, arch = &goTool{program: params.Go, build: build}, build.Goarch
	}
	wanted, err := patterns(tool, directory)
	if err != nil {
		return nil, err
	}
	found, err := tool.list(directory, append([]string{"-deps", "-test", "-json=" + listedFields, "--"}, wanted...)...)
	if err != nil {
		return nil, err
	}
	programs := build.programs(params, directory)
	if found, err = tool.withImports(directory, found, programs); err != nil {
		return nil, err
	}
	w := &World{
		build: build, root: root, fset: shared.fset, codes: codes, sizes: types.SizesFor("gc", arch), files: map[string]*File{},
		packages: map[string]*Package{}, directories: map[string]bool{}, state: map[string]*Checked{}, directoryOf: map[string]string{},
	}
	own := map[string]bool{}
	for _, it := range found {
		w.directories[it.Dir] = true
		if it.isOwn(root) && !it.isTestMain() {
			own[it.ImportPath] = true
		}
	}
	borrowed, seeing := backward(found, own, root)
	maps.Copy(own, borrowed)
	for _, it := range found {
		if own[it.ImportPath] {
			w.add(it)
			w.packages[it.ImportPath].borrowed = borrowed[it.ImportPath]
			w.packages[it.ImportPath].withoutCgo(it, params, root)
		}
	}
	for _, it := range programs {
		w.addProgram(it)
	}
	w.seen(found, own, seeing)
	sources, err := w.readSources(tool, directory, found, own, shared)
	if err != nil {
		return nil, err
	}
	w.external = newExternal(sources)
	for _, it := range w.packages {
		for _, path := range it.imports {
			if own[path] || path == "unsafe" || w.directoryOf[path] != "" || it.unfit != "" && it.absent == nil {
				continue
			}
			if it.absent == nil {
				it.absent = map[string]bool{}
			}
			it.unfit, it.absent[path] = path+" cannot be listed", true
		}
	}
	if it := w.link(); it != nil {
		// Packages are checked after their imports, so a cycle has no first package.
		return nil, fmt.Errorf("%s imports itself, also by way of others", it.id)
	}
	for _, it := range w.packages {
		for _, path := range it.files {
			if w.files[path] != nil {
				continue
			}
			text, known := params.Files[w.relative(path)]
			if !known {
				read, err := os.ReadFile(path)
				if err != nil {
					it.unfit, it.absent = err.Error(), nil
					continue
				}
				text = string(read)
			}
			w.files[path] = parse(w.fset, path, text)
		}
	}
	return w, nil
}

func (w *World) absolute(name string) string { return filepath.Join(w.root, name) }

func (w *World) relative(path string) string {
	if inside, err := filepath.Rel(w.root, path); err == nil {
		return filepath.ToSlash(inside)
	}
	return path
}

func (w *World) add(it *listed) {
	p := &Package{
		id: it.ImportPath, path: it.ImportPath, name: it.Name, forTest: it.ForTest, directory: it.Dir,
		imports: map[string]string{},
	}
	p.path, _, _ = strings.Cut(p.id, " ")
	p.goVersion = it.goVersion()
	if it.Error != nil {
		p.unfit = it.Error.Err
	}
	for _, name := range it.GoFiles {
		p.files = append(p.files, filepath.Join(it.Dir, name))
	}
	// `Imports` are the resolved import paths; `ImportMap` maps the written paths to them.
	said := map[string]string{}
	for from, to := range it.ImportMap {
		said[to] = from
	}
	for _, path := range it.Imports {
		from := path
		if it, known := said[path]; known {
			from = it
		}
		p.imports[from] = path
	}
	w.packages[p.id] = p
}

// The packages outside the workspace that import, directly or not, packages checked from source. `borrowed` can be
// checked from source too. `seeing` cannot: they need cgo, or are in directories where the workspace has copies.
func backward(found []*listed, own map[string]bool, root string) (borrowed, seeing map[string]bool) {
	borrowed, seeing = map[string]bool{}, map[string]bool{}
	// Dependencies come first.
	for _, it := range found {
		if own[it.ImportPath] || it.isTestMain() {
			continue
		}
		is := func(among map[string]bool) bool {
			return slices.ContainsFunc(it.Imports, func(path string) bool { return among[path] })
		}
		switch isBlocked := is(seeing); {
		case !isBlocked && !is(own) && !is(borrowed):
		case isBlocked || len(it.CgoFiles) > 0 || it.isInside(root):
			seeing[it.ImportPath] = true
		default:
			borrowed[it.ImportPath] = true
		}
	}
	return borrowed, seeing
}

// Packages that are not checked from source are built from other type objects than the checked ones, so references to
// both cannot be answered.
func (w *World) seen(found []*listed, checked, seeing map[string]bool) {
	for _, it := range found {
		for _, path := range it.Imports {
			if seeing[it.ImportPath] && checked[path] {
				w.packages[path].seenBy = it.ImportPath
			}
		}
	}
	for _, it := range w.packages {
		for _, path := range it.imports {
			if seeing[path] {
				it.unfit = path + " is not checked from its source, and imports what is"
			}
		}
	}
}

// With cgo disabled, files that need it are excluded and their declarations are missing.
func (p *Package) withoutCgo(it *listed, params *loadParams, root string) {
	for _, name := range it.IgnoredGoFiles {
		inside, _ := filepath.Rel(root, filepath.Join(it.Dir, name))
		tree, err := parser.ParseFile(token.NewFileSet(), name, params.Files[filepath.ToSlash(inside)], parser.ImportsOnly)
		if err != nil {
			continue
		}
		for _, it := range tree.Imports {
			if it.Path.Value == `"C"` {
				p.unfit = name + " needs cgo"
			}
		}
	}
}

// Checks everything for the first time.
func (w *World) checkAll() error {
	p, err := w.checked()
	if err == nil {
		p.keep()
	}
	return err
}

// A pass over everything, which is not kept.
func (w *World) checked() (*pass, error) {
	p, err := w.pass(nil, true)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for id := range w.packages {
		all[id] = true
	}
	p.run(all)
	return p, nil
}

// Orders the packages and records their importers. Returns a package in an import cycle, if there is one.
func (w *World) link() (cyclic *Package) {
	w.order = nil
	ids := make([]string, 0, len(w.packages))
	for id, it := range w.packages {
		ids = append(ids, id)
		it.importers, it.deps, it.rank = nil, nil, -1
	}
	slices.Sort(ids)
	var visit func(it *Package)
	open := map[*Package]bool{}
	visit = func(it *Package) {
		it.rank, open[it] = 0, true
		defer delete(open, it)
		for _, id := range it.imports {
			dependency := w.packages[id]
			if dependency == nil {
				continue
			}
			if open[dependency] {
				cyclic = dependency
			}
			if dependency.rank < 0 {
				visit(dependency)
			}
			it.deps = append(it.deps, dependency)
			dependency.importers = append(dependency.importers, it)
		}
		w.order = append(w.order, it)
	}
	for _, id := range ids {
		if w.packages[id].rank < 0 {
			visit(w.packages[id])
		}
	}
	for at, it := range w.order {
		it.rank = at
	}
	return cyclic
}

// The variant that represents a file: the plain package, else the variant with its tests.
func owners(packages map[string]*Package, files func(*Package) []string) map[string]string {
	found := map[string]string{}
	weight := func(it *Package) int {
		switch {
		case it.forTest == "":
			return 0
		case it.path == it.forTest || it.path == it.forTest+"_test":
			return 1
		}
		return 2
	}
	for id, it := range packages {
		for _, path := range files(it) {
			if before := packages[found[path]]; before == nil || weight(it) < weight(before) {
				found[path] = id
			}
		}
	}
	return found
}
