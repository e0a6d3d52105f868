package main

import (
	"go/build"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// A Build is a further build of the workspace: another system, other tags, or programs of a file of their own. It runs no
// cgo.
type Build struct {
	Goos   string   `json:"goos"`
	Goarch string   `json:"goarch"`
	Tags   []string `json:"tags"`
	// Files that no build includes, each a program of its own.
	Programs []string `json:"programs"`
}

// Whether the build includes a file with a new text.
func (w *World) takes(edit Edit) bool {
	if w.build == nil || !edit.Active {
		return edit.Active
	}
	if edit.Text == nil {
		return w.files[w.absolute(edit.File)] != nil
	}
	context := build.Default
	context.GOOS, context.GOARCH, context.BuildTags, context.CgoEnabled = w.build.Goos, w.build.Goarch, w.build.Tags, false
	context.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(*edit.Text)), nil }
	path := w.absolute(edit.File)
	isTaken, err := context.MatchFile(filepath.Dir(path), filepath.Base(path))
	// A file without a package clause is read too.
	return isTaken || err != nil
}

// A program of one file.
type program struct {
	path    string
	name    string
	imports []string
}

// The programs below a directory. A module further down has its own.
func (b *Build) programs(params *loadParams, directory string) []program {
	var found []program
	if b == nil {
		return nil
	}
	for _, name := range b.Programs {
		path := filepath.Join(params.Root, name)
		if params.folderOf(path) != directory {
			continue
		}
		file := parse(token.NewFileSet(), path, params.Files[name])
		if !slices.Contains(file.imports, "C") {
			found = append(found, program{path, file.ast.Name.Name, file.imports})
		}
	}
	return found
}

// The innermost of the loaded directories around a path.
func (p *loadParams) folderOf(path string) string {
	found := ""
	for _, folder := range p.Folders {
		folder = filepath.Join(p.Root, folder)
		if inside, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(inside) && len(folder) >= len(found) {
			found = folder
		}
	}
	return found
}

// Adds the packages that only these programs import.
func (g *goTool) withImports(directory string, found []*listed, programs []program) ([]*listed, error) {
	known, wanted := map[string]bool{"unsafe": true}, []string{}
	for _, it := range found {
		known[it.ImportPath] = true
	}
	for _, program := range programs {
		for _, path := range program.imports {
			if !known[path] && !slices.Contains(wanted, path) {
				wanted = append(wanted, path)
			}
		}
	}
	if len(wanted) == 0 {
		return found, nil
	}
	more, err := g.list(directory, append([]string{"-deps", "-json=" + listedFields, "--"}, wanted...)...)
	for _, it := range more {
		if !known[it.ImportPath] {
			found = append(found, it)
		}
	}
	return found, err
}

func (w *World) addProgram(it program) {
	directory := filepath.Dir(it.path)
	p := &Package{
		id: it.path, path: it.path, name: it.name, directory: directory, files: []string{it.path}, alone: true,
		imports: map[string]string{},
	}
	for _, path := range it.imports {
		p.imports[path] = path
	}
	for _, other := range w.packages {
		if p.goVersion == "" && !other.borrowed {
			p.goVersion = other.goVersion
		}
	}
	w.directories[directory] = true
	w.packages[p.id] = p
}
