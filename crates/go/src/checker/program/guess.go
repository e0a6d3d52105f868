package main

import (
	"go/ast"
	"sync"
)

// The names that a new text seems to declare otherwise: what names them is checked together with the declarations,
// which saves a second check where nothing else turns out to be concerned.
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

// What a file declares, and how: fields and methods too. What has the same name is told together.
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
