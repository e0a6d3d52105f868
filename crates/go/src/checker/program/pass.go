package main

import (
	"fmt"
	"go/types"
	"maps"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// An Edit is one file's new text; nil deletes the file.
type Edit struct {
	File string  `json:"file"`
	Text *string `json:"text"`
	// Whether the build would include the file if it were new.
	Active bool `json:"active"`
}

// A pass computes the effect of a set of edits on a world. The world does not change until the pass is kept.
type pass struct {
	world    *World
	learn    bool
	files    map[string]*File
	same     map[*Func]*Func
	packages map[string]*Package
	owners   map[string]string
	nodes    map[string]*node
	turns    chan struct{}
	asked    map[string]bool
	lock     sync.Mutex
	byTypes  map[*types.Package]*Checked
	// The errors before and after, in the checked code.
	before, after []Fault
	fresh         []*File
	unfit         string
}

// A node is one package that a pass may have to check.
type node struct {
	of     *Package
	edited bool
	once   sync.Once
	done   chan struct{}
	// The changes that importers may depend on.
	delta   *Delta
	checked *Checked
	// The result would be the same except for the identity of its types.
	stale   bool
	renewed *Checked
}

// Unfit is the reason why the checker cannot answer a query that gopls can.
type Unfit struct{ reason string }

func (u *Unfit) Error() string { return u.reason }

func (w *World) pass(edits []Edit, learn bool) (*pass, error) {
	p := &pass{
		world: w, learn: learn, files: map[string]*File{}, same: map[*Func]*Func{}, packages: map[string]*Package{},
		nodes: map[string]*node{}, turns: make(chan struct{}, runtime.GOMAXPROCS(0)), asked: map[string]bool{},
		byTypes: map[*types.Package]*Checked{},
	}
	edited := map[string]bool{}
	for _, edit := range edits {
		if err := p.edit(edit, edited); err != nil {
			p.end()
			return nil, err
		}
	}
	for id := range edited {
		if err := p.imports(p.of(id)); err != nil {
			p.end()
			return nil, err
		}
	}
	p.run(edited)
	return p, nil
}

// Drops the texts of a pass that is not kept.
func (p *pass) end() {
	for _, it := range p.fresh {
		if it.token != nil {
			p.world.fset.RemoveFile(it.token)
		}
	}
}

func (p *pass) of(id string) *Package {
	if it := p.packages[id]; it != nil {
		return it
	}
	return p.world.packages[id]
}

// A package that the pass may change.
func (p *pass) mutable(id string) *Package {
	if p.packages[id] == nil {
		it := *p.world.packages[id]
		it.files = slices.Clone(it.files)
		it.imports = maps.Clone(it.imports)
		it.deps = slices.Clone(it.deps)
		p.packages[id] = &it
	}
	return p.packages[id]
}

func (p *pass) file(path string) *File {
	if it, known := p.files[path]; known {
		return it
	}
	return p.world.files[path]
}

func (p *pass) edit(edit Edit, edited map[string]bool) error {
	path := filepath.Join(p.world.root, edit.File)
	old := p.world.files[path]
	isTaken := p.world.takes(edit)
	if old == nil && !isTaken {
		return nil
	}
	if old == nil && edit.Text == nil {
		return &Unfit{"a file that is not loaded goes"}
	}
	if edit.Text == nil {
		p.files[path] = nil
		for id, it := range p.world.packages {
			if at := slices.Index(it.files, path); at >= 0 {
				it = p.mutable(id)
				it.files = slices.Delete(it.files, at, at+1)
				edited[id] = true
				if len(it.files) == 0 {
					return &Unfit{"the last file of a package goes"}
				}
			}
		}
		return nil
	}
	file := parse(p.world.fset, path, *edit.Text)
	p.fresh = append(p.fresh, file)
	p.files[path] = file
	if old == nil {
		return p.create(file, edited)
	}
	if old.header != file.header {
		return &Unfit{"build constraints or the package clause change: " + edit.File}
	}
	p.same = maps.Clone(p.same)
	for new, old := range matching(old, file) {
		p.same[new] = old
	}
	for id, it := range p.world.packages {
		if slices.Contains(it.files, path) {
			edited[id] = true
		}
	}
	return nil
}

func (p *pass) create(file *File, edited map[string]bool) error {
	name := file.ast.Name.Name
	isTest := strings.HasSuffix(file.path, "_test.go")
	found := false
	for id, it := range p.world.packages {
		if it.directory != filepath.Dir(file.path) || it.alone {
			continue
		}
		isVariant := it.forTest != "" && (it.path == it.forTest || it.path == it.forTest+"_test")
		takes := it.name == name && (!isTest && !strings.HasSuffix(it.path, "_test") || isTest && isVariant)
		if takes {
			it = p.mutable(id)
			it.files = append(it.files, file.path)
			edited[id], found = true, true
		}
	}
	if !found {
		return &Unfit{"a new package"}
	}
	return nil
}

// Computes the current imports of a package's files. Fails for a package that is not loaded.
func (p *pass) imports(it *Package) error {
	for _, path := range it.files {
		file := p.file(path)
		if file == nil {
			return &Unfit{path + " is not known"}
		}
		for _, path := range file.imports {
			if _, known := it.imports[path]; known || path == "unsafe" {
				continue
			}
			id := path
			if variant := path + " [" + it.forTest + ".test]"; p.world.packages[variant] != nil {
				id = variant
			}
			own := p.world.packages[id]
			internal := strings.Contains("/"+path+"/", "/internal/")
			switch {
			case path == "C", strings.HasPrefix(path, "."), internal && own == nil:
				return &Unfit{"an import of " + path}
			case own != nil && (own.rank >= it.rank || own.name == "main" || own.unfit != "" || internal):
				return &Unfit{"an import of " + path}
			case own == nil && p.world.directoryOf[path] == "":
				return &Unfit{"an import of " + path + ", which is not loaded"}
			}
			it = p.mutable(it.id)
			it.imports[path] = id
			if own != nil {
				it.deps = append(it.deps, own)
			}
		}
	}
	return nil
}

// Checks the affected packages: those with changed files, then their importers as far as a change is visible to them.
func (p *pass) run(edited map[string]bool) {
	p.owners = owners(p.world.packages, func(it *Package) []string { return p.of(it.id).files })
	for _, it := range p.world.state {
		p.byTypes[it.types] = it
	}
	for path, it := range p.world.files {
		if new, changed := p.files[path]; changed {
			it = new
		}
		p.ask(it)
	}
	for _, it := range p.fresh {
		p.ask(it)
	}
	for name := range p.world.external.asked() {
		p.asked[name] = true
	}
	var add func(id string)
	add = func(id string) {
		if p.nodes[id] != nil {
			return
		}
		p.nodes[id] = &node{of: p.of(id), edited: edited[id], done: make(chan struct{})}
		for _, it := range p.world.packages[id].importers {
			add(it.id)
		}
	}
	for id := range edited {
		add(id)
	}
	var all sync.WaitGroup
	var stumbled atomic.Pointer[string]
	for _, it := range p.nodes {
		all.Go(func() {
			defer close(it.done)
			// A panic here would end the process. It is reported as an error of the pass, and so of the message.
			defer func() {
				if reason := recover(); reason != nil {
					words := fmt.Sprintf("%s: %v\n%s", it.of.id, reason, debug.Stack())
					stumbled.CompareAndSwap(nil, &words)
				}
			}()
			for _, dependency := range it.of.deps {
				if before := p.nodes[dependency.id]; before != nil {
					<-before.done
				}
			}
			p.turns <- struct{}{}
			defer func() { <-p.turns }()
			p.visit(it)
		})
	}
	all.Wait()
	if words := stumbled.Load(); words != nil {
		panic(*words)
	}
}

func (p *pass) ask(file *File) {
	if file != nil {
		for _, name := range file.asked {
			p.asked[name] = true
		}
	}
}

func (p *pass) isAsked(method string) bool { return p.asked[method] }

func (p *pass) visit(it *node) {
	it.delta = newDelta()
	stale := false
	for _, dependency := range it.of.deps {
		if before := p.nodes[dependency.id]; before != nil {
			it.delta.add(before.delta)
			stale = stale || before.stale || before.checked != p.world.state[dependency.id]
		}
	}
	old := p.world.state[it.of.id]
	it.checked = old
	if !it.edited && !p.isConcerned(it) {
		it.stale = stale
	} else {
		if it.of.unfit != "" {
			p.refuse(it.of.unfit)
		}
		p.check(it, old)
	}
	if it.of.seenBy != "" && !it.delta.isEmpty() {
		p.refuse(it.of.seenBy + " imports what changes, and is not checked from its source")
	}
}

func (p *pass) refuse(reason string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.unfit = reason
}

func (p *pass) isConcerned(it *node) bool {
	if it.delta.isEmpty() {
		return false
	}
	if len(it.delta.types)+len(it.delta.structs) > 0 {
		return true
	}
	for _, path := range it.of.files {
		for name := range it.delta.names {
			if p.file(path).words[name] {
				return true
			}
		}
	}
	return false
}

func (p *pass) checkedOf(it *types.Package) *Checked {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.byTypes[it]
}

// A package after the edits, with types that match those of its imported packages.
func (p *pass) now(id string) *Checked {
	it := p.nodes[id]
	if it == nil {
		return p.world.state[id]
	}
	if it.stale {
		it.once.Do(func() {
			it.renewed = p.task(it, it.checked, func(*Func) bool { return false }).run()
			it.renewed.sets = it.checked.sets
			p.enter(it.renewed)
		})
		return it.renewed
	}
	return it.checked
}

func (p *pass) enter(it *Checked) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.byTypes[it.types] = it
}

func (p *pass) task(it *node, old *Checked, wanted func(*Func) bool) *task {
	t := &task{
		world: p.world, of: it.of, deps: map[string]*Checked{}, checked: p.checkedOf, wanted: wanted, learn: p.learn,
		mine:  func(file *File) bool { return p.owners[file.path] == it.of.id },
		known: func(function *Func) *Body { return p.knownOf(old, function) },
	}
	for _, path := range it.of.files {
		t.files = append(t.files, p.file(path))
	}
	for _, dependency := range it.of.deps {
		t.deps[dependency.id] = p.now(dependency.id)
	}
	return t
}

// The analysis of a function before the edits.
func (p *pass) knownOf(old *Checked, function *Func) *Body {
	if same := p.same[function]; same != nil {
		function = same
	}
	if old == nil {
		return nil
	}
	return old.bodies[function]
}

func (p *pass) check(it *node, old *Checked) {
	declares := old == nil || !it.delta.isEmpty() || !slices.Equal(it.of.files, old.of.files)
	rebound, guessed := map[*File]bool{}, map[string]bool{}
	for _, path := range it.of.files {
		file, before := p.file(path), p.world.files[path]
		if file == before {
			continue
		}
		declares = declares || before == nil || file.outside() != before.outside()
		rebound[file] = before == nil || !slices.Equal(file.lines, before.lines)
		maps.Copy(guessed, guess(before, file))
	}
	isNew := func(function *Func) bool {
		return rebound[function.file] || p.knownOf(old, function) == nil
	}
	wanted := func(function *Func) bool {
		return isNew(function) || it.delta.concerns(function, p.knownOf(old, function))
	}
	selected := map[*Func]bool{}
	choose := func(wanted func(*Func) bool) (more bool) {
		for _, path := range it.of.files {
			if p.owners[path] != it.of.id {
				continue
			}
			for _, function := range p.file(path).funcs {
				if !selected[function] && wanted(function) {
					selected[function], more = true, true
				}
			}
		}
		return more
	}
	choose(wanted)
	if declares && old != nil {
		choose(func(function *Func) bool { return function.names(guessed) })
	} else if len(selected) == 0 && !p.learn {
		return
	}
	run := func() *Checked { return p.task(it, old, func(it *Func) bool { return selected[it] }).run() }
	checked := run()
	if declares && old != nil {
		own := newDelta()
		own.between(it.of.path, old.shapes(), checked.shapes(), p.isAsked)
		it.delta.add(own)
		p.enter(checked)
		for _, side := range []*Checked{old, checked} {
			it.delta.close(side.types, &dependence{task: p.task(it, old, nil), of: side, keys: map[types.Object]string{}})
		}
		if choose(wanted) {
			checked = run()
		}
	}
	if checked.cyclic || old != nil && old.cyclic {
		if choose(func(*Func) bool { return true }) {
			checked = run()
		}
	}
	if !declares {
		checked.sets = old.sets
	}
	it.checked = checked
	p.enter(checked)
	if checked.unfit != "" {
		p.refuse(checked.unfit)
	}
	p.compare(old, checked, selected)
}

// Whether a body's errors may change.
func (d *Delta) concerns(function *Func, body *Body) bool {
	if function.names(d.names) {
		return true
	}
	if len(d.types)+len(d.structs) > 0 && (function.words["Sizeof"] || function.words["Offsetof"] || function.words["Alignof"]) {
		return true
	}
	for key := range d.types {
		if body.types[key] {
			return true
		}
	}
	for key := range d.structs {
		if body.structs[key] || body.structs["*"] && body.types[key] {
			return true
		}
	}
	return false
}

// Records the errors before and after, in the checked code.
func (p *pass) compare(old, new *Checked, selected map[*Func]bool) {
	var before, after []Fault
	after = append(after, new.faults...)
	for function := range selected {
		if body := new.bodies[function]; body != nil {
			after = append(after, body.placed(function)...)
		}
	}
	if old != nil {
		before = append(before, old.faults...)
		kept := map[*Func]bool{}
		for _, file := range new.files {
			for _, function := range file.funcs {
				same := function
				if it := p.same[function]; it != nil {
					same = it
				}
				kept[same] = !selected[function]
			}
		}
		for function, body := range old.bodies {
			if !kept[function] {
				before = append(before, body.placed(function)...)
			}
		}
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.before, p.after = append(p.before, before...), append(p.after, after...)
}

func (b *Body) placed(function *Func) []Fault {
	placed := slices.Clone(b.faults)
	for at := range placed {
		placed[at].Start += function.start
		placed[at].End += function.start
	}
	return placed
}

// Applies the result of the pass to the world.
func (p *pass) keep() {
	p.world.view = nil
	for path, it := range p.files {
		if old := p.world.files[path]; old != nil && old.token != nil {
			p.world.fset.RemoveFile(old.token)
		}
		if it == nil {
			delete(p.world.files, path)
		} else {
			p.world.files[path] = it
		}
	}
	for id, it := range p.packages {
		p.world.packages[id] = it
	}
	if len(p.packages) > 0 {
		for id, it := range p.nodes {
			it.of = p.world.packages[id]
		}
		p.world.link()
	}
	for _, it := range p.world.order {
		if node := p.nodes[it.id]; node != nil {
			p.world.state[it.id] = p.now(it.id)
		}
	}
}
