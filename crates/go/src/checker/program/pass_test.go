package main

import (
	"fmt"
	"go/build"
	"go/scanner"
	"go/token"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func setting(name, otherwise string) string {
	if it := os.Getenv(name); it != "" {
		return it
	}
	return otherwise
}

func loaded(t *testing.T, root string) *World {
	t.Helper()
	params := &loadParams{Root: root, Go: "go", Arch: build.Default.GOARCH}
	w, err := newWorld(params, filepath.Join(root, setting("CHECKER_FOLDER", ".")), errorCodes(build.Default.GOROOT), nil, newCommon())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.checkAll(); err != nil {
		t.Fatal(err)
	}
	return w
}

// The same files in a new world.
func (w *World) afresh(t *testing.T) *World {
	it := &World{
		root: w.root, fset: token.NewFileSet(), codes: w.codes, sizes: w.sizes, files: map[string]*File{},
		packages: map[string]*Package{}, state: map[string]*Checked{}, directoryOf: w.directoryOf,
	}
	it.external = newExternal(w.external.importer)
	for id, p := range w.packages {
		copied := *p
		it.packages[id] = &copied
	}
	for path, file := range w.files {
		it.files[path] = parse(it.fset, path, file.text)
	}
	it.link()
	if err := it.checkAll(); err != nil {
		t.Fatal(err)
	}
	return it
}

// All results of a world as text.
func (w *World) words() (faults, rest map[string]int) {
	faults, rest = map[string]int{}, map[string]int{}
	for id, c := range w.state {
		for _, it := range c.faults {
			faults[it.words()]++
		}
		for _, it := range c.refs {
			rest[fmt.Sprint(id, it)]++
		}
		for name, spots := range c.lostOutside {
			for _, it := range spots {
				rest[fmt.Sprint(id, "lost", name, it)]++
			}
		}
		for key, set := range c.sets().byType {
			for name, it := range set.methods {
				rest[fmt.Sprint(id, key, set.isInterface, name, it.key, it.signature, it.tricky)]++
			}
		}
		for function, body := range c.bodies {
			for _, it := range body.placed(function) {
				faults[it.words()]++
			}
			for _, it := range body.refs {
				rest[fmt.Sprint(id, it, function.start)]++
			}
			for name, spots := range body.lost {
				for _, it := range spots {
					rest[fmt.Sprint(id, "lost", name, it, function.start)]++
				}
			}
			for _, keys := range []map[string]bool{body.types, body.structs, body.imports} {
				for _, key := range slices.Sorted(maps.Keys(keys)) {
					rest[fmt.Sprint(id, function.file.path, function.start, key)]++
				}
			}
		}
	}
	return faults, rest
}

func (f Fault) words() string { return f.File + ": " + f.Code + " " + f.Message }

func differences(a, b map[string]int) []string {
	var found []string
	for it, times := range a {
		if b[it] != times {
			found = append(found, fmt.Sprintf("%d for %d: %s", times, b[it], it))
		}
	}
	for it, times := range b {
		if a[it] == 0 {
			found = append(found, fmt.Sprintf("0 for %d: %s", times, it))
		}
	}
	slices.Sort(found)
	return found[:min(len(found), 12)]
}

func tokens(text string) (found [][2]int) {
	var scan scanner.Scanner
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(text))
	scan.Init(file, []byte(text), nil, 0)
	for {
		pos, kind, literal := scan.Scan()
		if kind == token.EOF {
			return found
		}
		if kind == token.IDENT || kind == token.INT || kind == token.STRING {
			found = append(found, [2]int{file.Offset(pos), file.Offset(pos) + len(literal)})
		}
	}
}

// A random edit of a text.
func edited(text string, words []string, chance *rand.Rand) string {
	lines := strings.SplitAfter(text, "\n")
	at := chance.Intn(len(lines))
	switch chance.Intn(7) {
	case 0:
		lines = slices.Delete(lines, at, at+1)
	case 1:
		lines = slices.Insert(lines, at, lines[at])
	case 2:
		other := chance.Intn(len(lines))
		lines[at], lines[other] = lines[other], lines[at]
	case 3:
		lines[at] = strings.Replace(lines[at], "(", "(extra int, ", 1)
	case 4:
		lines[at] = strings.Replace(lines[at], "{\n", "{\n\t_ = 1\n", 1)
	default:
		all := tokens(text)
		it := all[chance.Intn(len(all))]
		return text[:it[0]] + words[chance.Intn(len(words))] + text[it[1]:]
	}
	return strings.Join(lines, "")
}

// A panic in a concurrent check fails the pass, and does not end the process.
func TestAPanicOverAPackageIsThatOfThePass(t *testing.T) {
	root, _ := filepath.Abs(".")
	w := loaded(t, root)
	for path := range w.files {
		w.files[path] = nil
	}
	defer func() {
		if words, isText := recover().(string); !isText || !strings.Contains(words, "(*pass).visit") {
			t.Errorf("it is said where it stumbled: %q", words)
		}
	}()
	t.Error("nobody stumbled: ", w.checkAll())
}

// Incremental results equal the results of a full check. `CHECKER_ROOT` and `CHECKER_COUNT` select the module and the number
// of edits, `CHECKER_SEED` the random seed, `CHECKER_FOLDER` the module's directory in the workspace.
func TestStepsComeOutLikeAFreshCheck(t *testing.T) {
	root, _ := filepath.Abs(setting("CHECKER_ROOT", "."))
	count, _ := strconv.Atoi(setting("CHECKER_COUNT", "30"))
	seed, _ := strconv.Atoi(setting("CHECKER_SEED", "1"))
	chance := rand.New(rand.NewSource(int64(seed)))
	w := loaded(t, root)
	healthy := map[string]string{}
	var words []string
	for path, file := range w.files {
		healthy[path] = file.text
		for _, it := range tokens(file.text) {
			words = append(words, file.text[it[0]:it[1]])
		}
	}
	paths := slices.Sorted(maps.Keys(healthy))
	slices.Sort(words)
	compared, unfit := 0, 0
	for number := range count {
		path := paths[chance.Intn(len(paths))]
		text := edited(w.files[path].text, words, chance)
		edits := []Edit{{File: w.relative(path), Text: &text, Active: true}}
		old, _ := w.words()
		dry, err := w.pass(edits, false)
		if err != nil {
			unfit++
			continue
		}
		dry.end()
		done, err := w.pass(edits, true)
		if err != nil {
			t.Fatal(err)
		}
		done.keep()
		fresh, known := w.afresh(t).words()
		after, rest := w.words()
		what := fmt.Sprintf("%d: %s: %v", number, path, tell(w.files[path].text, healthy[path]))
		if found := differences(after, fresh); len(found) > 0 {
			t.Errorf("%s\nerrors, step by step for afresh:\n%s", what, strings.Join(found, "\n"))
		}
		if found := differences(rest, known); len(found) > 0 {
			t.Errorf("%s\nknown, step by step for afresh:\n%s", what, strings.Join(found, "\n"))
		}
		for _, it := range dry.before {
			old[it.words()]--
		}
		for _, it := range dry.after {
			old[it.words()]++
		}
		maps.DeleteFunc(old, func(_ string, times int) bool { return times == 0 })
		if found := differences(old, fresh); len(found) > 0 {
			t.Errorf("%s\nerrors, foretold for afresh:\n%s", what, strings.Join(found, "\n"))
		}
		compared++
		if t.Failed() {
			t.FailNow()
		}
		if chance.Intn(3) > 0 {
			var back []Edit
			for path, text := range healthy {
				if w.files[path].text != text {
					back = append(back, Edit{File: w.relative(path), Text: &text, Active: true})
				}
			}
			done, err := w.pass(back, true)
			if err != nil {
				t.Fatal(err)
			}
			done.keep()
		}
	}
	t.Logf("%d compared, %d told to be unfit", compared, unfit)
	if compared*2 < count {
		t.Errorf("only %d of %d compared", compared, count)
	}
}

func tell(after, before string) []string {
	var differences []string
	a, b := strings.Split(after, "\n"), strings.Split(before, "\n")
	for at := range min(len(a), len(b)) {
		if a[at] != b[at] && len(differences) < 3 {
			differences = append(differences, b[at]+" → "+a[at])
		}
	}
	return differences
}
