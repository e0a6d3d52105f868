package main

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
)

// The names of the type checker's error codes, as the source of the installed Go has them.
func errorCodes(goroot string) map[int]string {
	fset := token.NewFileSet()
	path := filepath.Join(goroot, "src", "internal", "types", "errors", "codes.go")
	file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	config := types.Config{Error: func(error) {}}
	checked, _ := config.Check("errors", fset, []*ast.File{file}, nil)
	codes := map[int]string{}
	for _, name := range checked.Scope().Names() {
		if it, ok := checked.Scope().Lookup(name).(*types.Const); ok {
			if value, exact := constant.Int64Val(it.Val()); exact {
				codes[int(value)] = name
			}
		}
	}
	return codes
}
