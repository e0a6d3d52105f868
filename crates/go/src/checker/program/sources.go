package main

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// What the worlds of one build have in common: packages outside the workspace are read once.
type common struct {
	fset *token.FileSet
	// By what determines the result.
	sources map[string]*source
	// The number of sources so far.
	count int
}

func newCommon() *common { return &common{fset: token.NewFileSet(), sources: map[string]*source{}} }

// The packages outside the workspace. Nothing has to be built for them: their declarations are read from their sources.
type sources struct {
	world *World
	// Without those that cannot be listed.
	packages map[string]*source
	// Dependencies before dependants.
	order []*source
}

type source struct {
	of *listed
	// The packages of the first world that has it. Those that it may import have lower ranks, in whichever world.
	among *sources
	rank  int
	// Empty if a package that it imports is not among them.
	key   string
	once  sync.Once
	types *types.Package
	err   error
}

// Reads the packages outside the workspace. In the default build, a package that cannot be understood is not imported:
// what depends on it cannot be checked.
func (w *World) readSources(tool *goTool, directory string, found []*listed, own map[string]bool, shared *common) (*sources, error) {
	all := &sources{world: w, packages: map[string]*source{}}
	var withCgo []string
	for _, it := range found {
		if own[it.ImportPath] || it.Error != nil || it.isTestMain() {
			continue
		}
		w.directoryOf[it.ImportPath] = it.Dir
		key := all.keyOf(it)
		known := shared.sources[key]
		if known == nil {
			shared.count++
			known = &source{of: it, among: all, rank: shared.count, key: key}
			if key != "" {
				shared.sources[key] = known
			}
		}
		all.packages[it.ImportPath], all.order = known, append(all.order, known)
		if w.build == nil && len(it.CgoFiles) > 0 && known.among == all {
			withCgo = append(withCgo, it.ImportPath)
		}
	}
	if err := all.runCgo(tool, directory, withCgo); err != nil {
		return nil, err
	}
	all.readAll()
	return all, nil
}

// What determines what is read of a package: its files, and the packages that it imports, directly or not.
func (s *sources) keyOf(it *listed) string {
	hash := sha256.New()
	fmt.Fprintln(hash, it.ImportPath, it.Dir, it.GoFiles, it.CgoFiles, it.ImportMap, it.goVersion())
	for _, path := range it.Imports {
		if path == "unsafe" || path == "C" {
			continue
		}
		known := s.packages[path]
		if known == nil || known.key == "" {
			return ""
		}
		fmt.Fprintln(hash, known.key)
	}
	return string(hash.Sum(nil))
}

// Lets cgo write the Go files of these packages.
func (s *sources) runCgo(tool *goTool, directory string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	found, err := tool.list(directory, append([]string{"-compiled", "-json=ImportPath,CompiledGoFiles", "--"}, paths...)...)
	for _, it := range found {
		if source := s.packages[it.ImportPath]; source != nil && source.among == s && len(it.CompiledGoFiles) > 0 {
			source.of.GoFiles, source.of.CgoFiles = it.CompiledGoFiles, nil
		}
	}
	return err
}

// Reads all packages, as many at a time as there are processors.
func (s *sources) readAll() {
	var next atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for at := next.Add(1) - 1; int(at) < len(s.order); at = next.Add(1) - 1 {
				_, _ = s.order[at].read()
			}
		})
	}
	all.Wait()
}

func (s *sources) Import(path string) (*types.Package, error) {
	it := s.packages[path]
	if it == nil {
		return nil, fmt.Errorf("%s is not known in this build", path)
	}
	return it.read()
}

func (it *source) read() (*types.Package, error) {
	it.once.Do(func() {
		// A panic here would end the process.
		defer func() {
			if reason := recover(); reason != nil {
				it.types, it.err = nil, fmt.Errorf("%s cannot be read: %v", it.of.ImportPath, reason)
			}
		}()
		it.types, it.err = it.among.check(it)
	})
	return it.types, it.err
}

func (s *sources) check(it *source) (*types.Package, error) {
	var trees []*ast.File
	var files []*token.File
	defer func() {
		for _, it := range files {
			s.world.fset.RemoveFile(it)
		}
	}()
	for _, name := range it.of.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(it.of.Dir, name)
		}
		tree, err := parser.ParseFile(s.world.fset, name, nil, parser.SkipObjectResolution)
		if tree != nil && tree.FileStart.IsValid() {
			files = append(files, s.world.fset.File(tree.FileStart))
		}
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	isLenient := s.world.build != nil || it.of.Standard
	if len(it.of.CgoFiles) > 0 && !isLenient {
		return nil, fmt.Errorf("cgo does not translate %s", it.of.ImportPath)
	}
	config := types.Config{
		GoVersion: it.of.goVersion(), Sizes: s.world.sizes, IgnoreFuncBodies: true,
		// All errors, so that the rest is checked.
		Error: func(error) {},
		Importer: importing(func(path string) (*types.Package, error) {
			if mapped := it.of.ImportMap[path]; mapped != "" {
				path = mapped
			}
			if path == "unsafe" {
				return types.Unsafe, nil
			}
			// In a cycle of imports, a package would wait for itself.
			if known := s.packages[path]; known != nil && known.rank >= it.rank {
				return nil, fmt.Errorf("%s imports itself, also by way of others", path)
			}
			return s.Import(path)
		}),
	}
	path, _, _ := strings.Cut(it.of.ImportPath, " ")
	found, err := config.Check(path, s.world.fset, trees, nil)
	// Errors in a further build are expected, because it has no cgo: names that depend on them stay unresolved.
	if err != nil && !isLenient {
		return nil, err
	}
	return found, nil
}
