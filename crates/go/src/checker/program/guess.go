package main

import (
	"go/ast"
	"sync"
)

// A guess of the names that a new text declares differently. The code that names them is checked together with the
// declarations, which saves a second check if nothing else is affected.
func guess(before, after *File) map[string]bool {
	names := map[string]bool{}
	if before == nil {
		before = &File{declared: func() map[string]string { return nil }}
	}
	old, new := before.declared(), after.declared()
	for name, text := range old {
		if new[name] != text {
			names[name] = true
		}
	}
	for name := range new {
		if _, known := old[name]; !known {
			names[name] = true
		}
	}
	return names
}

// The declarations of a file by name, with fields and methods. Declarations with the same name are combined.
func (f *File) declarations() map[string]string {
	found := map[string]string{}
	text := func(from, to int) string {
		if from < 0 || to < from {
			return ""
		}
		return f.text[from:to]
	}
	whole := func(node ast.Node) string { return text(f.offset(node.Pos()), f.offset(node.End())) }
	members := func(fields *ast.FieldList) {
		for _, field := range fields.List {
			for _, name := range field.Names {
				found[name.Name] += whole(field) + ";"
			}
		}
	}
	for _, decl := range f.ast.Decls {
		switch it := decl.(type) {
		case *ast.FuncDecl:
			end := it.End()
			if it.Body != nil {
				end = it.Body.Lbrace
			}
			found[it.Name.Name] += text(f.offset(it.Pos()), f.offset(end)) + ";"
		case *ast.GenDecl:
			for _, spec := range it.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					switch made := spec.Type.(type) {
					case *ast.StructType:
						members(made.Fields)
					case *ast.InterfaceType:
						members(made.Methods)
					default:
						found[spec.Name.Name] += whole(spec) + ";"
						continue
					}
					found[spec.Name.Name] += text(f.offset(spec.Pos()), f.offset(spec.Type.Pos())) + ";"
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						found[name.Name] += whole(spec) + ";"
					}
				}
			}
		}
	}
	return found
}

func (f *File) know() {
	f.outside = sync.OnceValue(f.code)
	f.declared = sync.OnceValue(f.declarations)
}
