package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A File is one parsed source file.
type File struct {
	path  string
	text  string
	ast   *ast.File
	token *token.File
	// The parser's first error; the compiler would report nothing more about the file.
	fault *Fault
	funcs []*Func
	// The part that decides which build includes the file.
	header string
	// The code outside of functions' bodies, without comments.
	outside  func() string
	declared func() map[string]string
	// The offsets of the names of embedded interfaces, which declare no fields.
	embedded func() map[int]bool
	// The import lines, and their paths.
	lines, imports []string
	words          map[string]bool
	// The methods of all interfaces declared here.
	asked []string
}

// A Func is a function or method with a body.
type Func struct {
	file *File
	decl *ast.FuncDecl
	// The offsets of the function and of its body.
	start, end, body int
	text             string
	words            map[string]bool
	receiver         string
}

func parse(fset *token.FileSet, path, text string) *File {
	file := &File{path: path, text: text}
	tree, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution|parser.AllErrors)
	file.ast = tree
	file.token = fset.File(tree.FileStart)
	file.embedded = sync.OnceValue(file.embeddings)
	if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
		at := min(max(list[0].Pos.Offset, 0), len(text))
		file.fault = &Fault{File: path, Start: at, End: at, Message: list[0].Msg, Source: "syntax"}
	}
	for _, it := range tree.Imports {
		if path, err := strconv.Unquote(it.Path.Value); err == nil {
			file.imports = append(file.imports, path)
		}
		name := ""
		if it.Name != nil {
			name = it.Name.Name
		}
		file.lines = append(file.lines, name+" "+it.Path.Value)
	}
	from := 0
	file.know()
	file.header = constraints(text[:max(0, file.offset(tree.Package))]) + tree.Name.Name
	file.words = map[string]bool{}
	for _, decl := range tree.Decls {
		it, ok := decl.(*ast.FuncDecl)
		if !ok || it.Body == nil {
			continue
		}
		start, body, end := file.offset(it.Pos()), file.offset(it.Body.Lbrace), file.offset(it.End())
		if start < from || body < start || end < body {
			continue
		}
		from = end
		function := &Func{file: file, decl: it, start: start, end: end, body: body, text: text[start:end], words: wordsOf(it)}
		if it.Recv != nil && len(it.Recv.List) > 0 {
			function.receiver = receiverName(it.Recv.List[0].Type)
		}
		file.funcs = append(file.funcs, function)
	}
	ast.Inspect(tree, func(node ast.Node) bool {
		if it, ok := node.(*ast.Ident); ok {
			file.words[it.Name] = true
		}
		if it, ok := node.(*ast.InterfaceType); ok && it.Methods != nil {
			for _, field := range it.Methods.List {
				for _, name := range field.Names {
					file.asked = append(file.asked, name.Name)
				}
			}
		}
		return true
	})
	return file
}

func (f *File) code() string {
	var code strings.Builder
	from := 0
	for _, it := range f.funcs {
		code.WriteString(f.text[from:it.body] + "{}")
		from = it.end
	}
	code.WriteString(f.text[from:])
	if f.fault != nil {
		return code.String()
	}
	text := code.String()
	code.Reset()
	var scan scanner.Scanner
	fset := token.NewFileSet()
	scan.Init(fset.AddFile("", -1, len(text)), []byte(text), nil, 0)
	for {
		_, kind, literal := scan.Scan()
		if kind == token.EOF {
			return code.String()
		}
		code.WriteString(kind.String() + " " + literal + " ")
	}
}

// Whether the function contains one of these words.
func (f *Func) names(words map[string]bool) bool {
	for it := range words {
		if f.words[it] {
			return true
		}
	}
	return false
}

// The build constraints before a package clause.
func constraints(text string) string {
	found := ""
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "//go:build") || strings.HasPrefix(line, "// +build") {
			found += line + "\n"
		}
	}
	return found
}

// The offset of a position in the text; -1 if it is outside.
func (f *File) offset(pos token.Pos) int {
	if f.token == nil || !pos.IsValid() || int(pos) < f.token.Base() || int(pos) > f.token.Base()+f.token.Size() {
		return -1
	}
	return int(pos) - f.token.Base()
}

func wordsOf(node ast.Node) map[string]bool {
	words := map[string]bool{}
	ast.Inspect(node, func(it ast.Node) bool {
		if name, ok := it.(*ast.Ident); ok {
			words[name.Name] = true
		}
		return true
	})
	return words
}

func receiverName(it ast.Expr) string {
	switch it := it.(type) {
	case *ast.Ident:
		return it.Name
	case *ast.StarExpr:
		return receiverName(it.X)
	case *ast.ParenExpr:
		return receiverName(it.X)
	case *ast.IndexExpr:
		return receiverName(it.X)
	case *ast.IndexListExpr:
		return receiverName(it.X)
	}
	return ""
}

// The functions of a new text that are unchanged from the old one.
func matching(before, after *File) map[*Func]*Func {
	left := map[string][]*Func{}
	for _, it := range before.funcs {
		left[it.text] = append(left[it.text], it)
	}
	same := map[*Func]*Func{}
	for _, it := range after.funcs {
		if found := left[it.text]; len(found) > 0 {
			same[it], left[it.text] = found[0], found[1:]
		}
	}
	return same
}

// The function whose body contains an offset.
func (f *File) bodyAt(offset int) *Func {
	at, found := slices.BinarySearchFunc(f.funcs, offset, func(it *Func, offset int) int { return it.body - offset })
	if !found {
		at--
	}
	if at >= 0 && offset < f.funcs[at].end {
		return f.funcs[at]
	}
	return nil
}

// A copy of the tree with empty bodies for the functions that are not wanted.
func (f *File) pruned(wanted func(*Func) bool) *ast.File {
	skipped := map[ast.Decl]*Func{}
	for _, it := range f.funcs {
		if !wanted(it) {
			skipped[it.decl] = it
		}
	}
	if len(skipped) == 0 {
		return f.ast
	}
	tree := *f.ast
	tree.Decls = slices.Clone(tree.Decls)
	for at, decl := range tree.Decls {
		if it := skipped[decl]; it != nil {
			function := *it.decl
			// An endless loop, so that no return is needed.
			function.Body = &ast.BlockStmt{
				Lbrace: it.decl.Body.Lbrace, Rbrace: it.decl.Body.Rbrace,
				List: []ast.Stmt{&ast.ForStmt{For: it.decl.Body.Lbrace, Body: &ast.BlockStmt{}}},
			}
			tree.Decls[at] = &function
		}
	}
	return &tree
}
