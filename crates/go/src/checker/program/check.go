package main

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// A Fault is one error. Offsets are bytes of the file; in a Body, bytes of the function.
type Fault struct {
	File    string `json:"file"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
	Source  string `json:"source"`
}

// A Ref is a reference to a declaration of the workspace.
type Ref struct {
	// The key of the target, and of the declaration that contains the reference; see `keys`.
	key, from string
	file      string
	at, end   int
	// Whether it is in the declaration of a function or variable.
	runs bool
}

// A Body is the analysis of a function. It is valid as long as its text and everything that it refers to stay the same.
type Body struct {
	faults []Fault
	refs   []Ref
	// The types of the workspace whose methods or kind matter here, and the structs whose fields matter.
	types, structs map[string]bool
	imports        map[string]bool
	// The places of the unresolved names, in a Body from its function's start; after a dot, also of methods of types
	// without a name.
	lost map[string][]spot
}

// A Checked is one type-checked variant of a package.
type Checked struct {
	of     *Package
	types  *types.Package
	files  []*File
	bodies map[*Func]*Body
	// The errors outside of bodies.
	faults []Fault
	refs   []Ref
	cyclic bool
	// Why its errors are incomplete or wrong.
	unfit string
	// Names of one declaration statement, by the first name.
	together map[string]string
	// Computed at the first use.
	shapes func() map[string]*shape
	fields func() map[*types.Var]string
	having func() map[string][]string
	sets   func() *methodSets
	// The declarations by their places.
	declared func() map[spot]declaration
	// The unresolved names as in a Body: outside of all bodies, and everywhere.
	lostOutside, lost map[string][]spot
	indexed           sync.Once
	index             map[string][]Ref
	byName            map[string][]string
}

// A task is one check of a package.
type task struct {
	world   *World
	of      *Package
	files   []*File
	mine    func(*File) bool
	deps    map[string]*Checked
	checked func(*types.Package) *Checked
	wanted  func(*Func) bool
	// The existing analysis of a function that is not checked.
	known func(*Func) *Body
	// Whether to record everything that a later edit needs.
	learn bool
}

type importing func(string) (*types.Package, error)

func (it importing) Import(path string) (*types.Package, error) { return it(path) }

func (t *task) run() *Checked {
	c := &Checked{of: t.of, files: t.files, bodies: map[*Func]*Body{}, lostOutside: map[string][]spot{}}
	var errors []types.Error
	config := types.Config{
		GoVersion: t.of.goVersion,
		Sizes:     t.world.sizes,
		Error:     func(err error) { errors = append(errors, err.(types.Error)) },
		Importer: importing(func(path string) (*types.Package, error) {
			id := t.of.imports[path]
			if own := t.deps[id]; own != nil {
				return own.types, nil
			}
			if id == "" {
				id = path
			}
			found, err := t.world.external.Import(id)
			if err != nil && !t.of.absent[id] {
				c.unfit = err.Error()
			}
			return found, err
		}),
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	if t.learn {
		info.Types = map[ast.Expr]types.TypeAndValue{}
	}
	trees := make([]*ast.File, len(t.files))
	byPath := map[string]*File{}
	for at, file := range t.files {
		mine := t.mine(file)
		trees[at] = file.pruned(func(it *Func) bool { return mine && t.wanted(it) })
		byPath[file.path] = file
	}
	c.types, _ = config.Check(t.of.path, t.world.fset, trees, info)
	c.shapes = sync.OnceValue(func() map[string]*shape { return shapesOf(c.types) })
	c.having = sync.OnceValue(func() map[string][]string { return typesByMethod(c.shapes()) })
	c.fields = sync.OnceValue(func() map[*types.Var]string { return fieldsOf(c.types) })
	c.sets = sync.OnceValue(func() *methodSets { return methodSetsOf(c.types) })
	c.declared = sync.OnceValue(func() map[spot]declaration { return c.declarations() })
	for _, file := range t.files {
		if !t.mine(file) {
			continue
		}
		for _, it := range file.funcs {
			if t.wanted(it) {
				c.bodies[it] = &Body{types: map[string]bool{}, structs: map[string]bool{}, imports: map[string]bool{}, lost: map[string][]spot{}}
			} else if known := t.known(it); known != nil {
				c.bodies[it] = known
			}
		}
	}
	t.note(c, info)
	t.sort(c, errors, byPath)
	return c
}

// Assigns errors to the bodies that contain them.
func (t *task) sort(c *Checked, errors []types.Error, byPath map[string]*File) {
	for _, file := range t.files {
		if file.fault != nil && t.mine(file) {
			c.faults = append(c.faults, *file.fault)
		}
	}
	for len(errors) > 0 {
		related := 1
		for related < len(errors) && strings.HasPrefix(errors[related].Msg, "\t") {
			related++
		}
		for at, err := range errors[:related] {
			file := byPath[t.world.fset.Position(err.Pos).Filename]
			if file == nil || file.fault != nil || !t.mine(file) {
				continue
			}
			fault, ok := t.fault(file, err)
			if !ok {
				continue
			}
			if at > 0 {
				fault.Message = errors[0].Msg + " (this error: " + strings.TrimPrefix(err.Msg, "\t") + ")"
			}
			if function := file.bodyAt(fault.Start); function != nil {
				if body := c.bodies[function]; body != nil && t.wanted(function) {
					fault.Start, fault.End = fault.Start-function.start, fault.End-function.start
					body.faults = append(body.faults, fault)
				}
			} else if fault.Code != "UnusedImport" || !t.isUsed(c, file, fault.Start) {
				c.faults = append(c.faults, fault)
			}
		}
		errors = errors[related:]
	}
}

// Whether a skipped function uses an import that was reported as unused.
func (t *task) isUsed(c *Checked, file *File, at int) bool {
	name := file.numbered(at)
	for _, it := range file.funcs {
		if body := c.bodies[it]; body != nil && !t.wanted(it) && body.imports[name] {
			return true
		}
	}
	return false
}

// How the import at an offset is recorded: by its number, or by its path for a dot import.
func (f *File) numbered(at int) string {
	for number, it := range f.ast.Imports {
		if from, to := f.offset(it.Pos()), f.offset(it.End()); from <= at && at < to {
			if it.Name != nil && it.Name.Name == "." {
				path, _ := strconv.Unquote(it.Path.Value)
				return dotted(path)
			}
			return strconv.Itoa(number)
		}
	}
	return ""
}

func dotted(path string) string { return ". " + path }

func (t *task) fault(file *File, err types.Error) (Fault, bool) {
	fault := Fault{File: file.path, Message: err.Msg, Source: "compiler"}
	start, end := err.Pos, err.Pos
	it := reflect.ValueOf(err)
	code, from, to := it.FieldByName("go116code"), it.FieldByName("go116start"), it.FieldByName("go116end")
	if code.IsValid() && from.IsValid() && to.IsValid() {
		if token.Pos(from.Int()).IsValid() && token.Pos(to.Int()).IsValid() {
			fault.Code = t.world.codes[int(code.Int())]
			start, end = token.Pos(from.Int()), token.Pos(to.Int())
		}
	}
	fault.Start = file.offset(start)
	if fault.Start < 0 {
		return fault, false
	}
	if fault.End = file.offset(end); end <= start || fault.End < 0 {
		fault.End = operandEnd(file.text, fault.Start)
	}
	return fault, true
}

// The end of the operand at an offset, as gopls computes it: after its first token and everything that follows without
// a break.
func operandEnd(text string, start int) int {
	rest := text[start:]
	if line := strings.IndexByte(rest, '\n'); line > 0 && !strings.ContainsAny(rest[:1], "`/") {
		// Only these continue in the next line.
		rest = rest[:line+1]
	}
	end := start
	var scan scanner.Scanner
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(rest))
	scan.Init(file, []byte(rest), nil, scanner.ScanComments)
	if pos, tok, literal := scan.Scan(); tok != token.SEMICOLON {
		width := file.Offset(pos) + len(literal)
		rest = rest[width:]
		end += width
	}
	if width := strings.IndexAny(rest, " \n,():;[]+-*/"); width > 0 {
		end += width
	}
	return end
}
