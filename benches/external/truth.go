// Command truth prints what go/doc says of packages, given as pairs of import path and directory: for each exported
// symbol its documentation and the examples that go/doc assigns to it.
package main

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

type Symbol struct {
	Package  string            `json:"package"`
	Name     string            `json:"name"`
	Doc      string            `json:"doc"`
	Examples map[string]string `json:"examples"`
}

func main() {
	var symbols []Symbol
	for at := 1; at+1 < len(os.Args); at += 2 {
		symbols = append(symbols, read(os.Args[at], os.Args[at+1])...)
	}
	if err := json.NewEncoder(os.Stdout).Encode(symbols); err != nil {
		panic(err)
	}
}

func read(path, directory string) []Symbol {
	fset := token.NewFileSet()
	built, err := build.ImportDir(directory, 0)
	if err != nil {
		panic(err)
	}
	var files []*ast.File
	sources := map[string]string{}
	for _, names := range [][]string{built.GoFiles, built.CgoFiles, built.TestGoFiles, built.XTestGoFiles} {
		for _, name := range names {
			full := filepath.Join(directory, name)
			text, err := os.ReadFile(full)
			if err != nil {
				panic(err)
			}
			file, err := parser.ParseFile(fset, full, text, parser.ParseComments)
			if err != nil {
				panic(err)
			}
			files, sources[full] = append(files, file), string(text)
		}
	}
	pkg, err := doc.NewFromFiles(fset, files, path)
	if err != nil {
		panic(err)
	}
	var symbols []Symbol
	add := func(name, text string, examples []*doc.Example) {
		found := map[string]string{}
		for _, example := range examples {
			title := "Example"
			if example.Name != "" {
				title += example.Name
			}
			if example.Suffix != "" && !strings.HasSuffix(title, "_"+example.Suffix) {
				title += "_" + example.Suffix
			}
			found[title] = code(fset, sources, example)
		}
		symbols = append(symbols, Symbol{path, name, text, found})
	}
	values := func(all []*doc.Value) {
		for _, value := range all {
			for _, spec := range value.Decl.Specs {
				spec := spec.(*ast.ValueSpec)
				for _, name := range spec.Names {
					if name.IsExported() {
						add(name.Name, own(value, spec), nil)
					}
				}
			}
		}
	}
	functions := func(owner string, all []*doc.Func) {
		for _, function := range all {
			// What is promoted from an embedded type is documented there.
			if function.Level == 0 {
				add(owner+function.Name, function.Doc, function.Examples)
			}
		}
	}
	values(pkg.Consts)
	values(pkg.Vars)
	functions("", pkg.Funcs)
	for _, it := range pkg.Types {
		add(it.Name, it.Doc, it.Examples)
		values(it.Consts)
		values(it.Vars)
		functions("", it.Funcs)
		functions(it.Name+".", it.Methods)
	}
	return symbols
}

// own is what stands at one name of a group, else what stands above the group.
func own(value *doc.Value, spec *ast.ValueSpec) string {
	for _, group := range []*ast.CommentGroup{spec.Doc, spec.Comment} {
		if text := group.Text(); text != "" {
			return text
		}
	}
	return value.Doc
}

// code is what stands between the braces, or the whole file where the example is one.
func code(fset *token.FileSet, sources map[string]string, example *doc.Example) string {
	start, end := fset.Position(example.Code.Pos()), fset.Position(example.Code.End())
	text := sources[start.Filename]
	if _, whole := example.Code.(*ast.File); whole {
		return text
	}
	return strings.TrimSuffix(strings.TrimPrefix(text[start.Offset:end.Offset], "{"), "}")
}
