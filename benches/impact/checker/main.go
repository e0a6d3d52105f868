// Command checker prints every type error of the packages and their tests of all modules in a directory, as JSON lines. It is the compiler's own type checker
// (go/types), which goes on past an error and into the packages that depend on it, where the go command stops.
package main

import (
	"encoding/json"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/packages"
)

type Error struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

func main() {
	root := os.Args[1]
	seen := map[Error]bool{}
	out := json.NewEncoder(os.Stdout)
	tell := func(position token.Position, message string) {
		name, err := filepath.Rel(root, position.Filename)
		if err != nil || len(name) > 2 && name[:2] == ".." {
			return
		}
		found := Error{name, position.Line, message}
		if !seen[found] {
			seen[found] = true
			_ = out.Encode(found)
		}
	}
	for _, module := range modules(root) {
		check(module, tell)
	}
}

// The directories of all modules that are no fixtures and no copies.
func modules(root string) []string {
	var found []string
	_ = filepath.WalkDir(root, func(path string, it fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := it.Name()
		if it.IsDir() && path != root && (name == "vendor" || name == "testdata" || name[0] == '.' || name[0] == '_') {
			return filepath.SkipDir
		}
		if name == "go.mod" {
			found = append(found, filepath.Dir(path))
		}
		return nil
	})
	return found
}

func check(module string, tell func(token.Position, string)) {
	config := &packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule | packages.NeedTypesSizes,
		Dir:   module,
		Tests: true,
		Fset:  token.NewFileSet(),
	}
	loaded, err := packages.Load(config, "./...")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	packages.Visit(loaded, nil, func(it *packages.Package) {
		for _, found := range it.TypeErrors {
			tell(config.Fset.Position(found.Pos), found.Msg)
		}
		for _, found := range it.Errors {
			if found.Kind == packages.ParseError {
				var file string
				var line, column int
				if n, _ := fmt.Sscanf(found.Pos, "%s", &file); n == 1 {
					file, line, column = position(found.Pos)
					tell(token.Position{Filename: file, Line: line, Column: column}, found.Msg)
				}
			}
		}
	})
}

func position(text string) (string, int, int) {
	var line, column int
	for at := len(text) - 1; at > 0; at-- {
		if text[at] == ':' {
			if _, err := fmt.Sscanf(text[at:], ":%d", &column); err != nil {
				break
			}
			for before := at - 1; before > 0; before-- {
				if text[before] == ':' {
					if _, err := fmt.Sscanf(text[before:at], ":%d", &line); err == nil {
						return text[:before], line, column
					}
					break
				}
			}
			break
		}
	}
	return text, 0, 0
}
