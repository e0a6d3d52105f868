package main

import (
	"cmp"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var texts = map[string]string{
	"go.mod":          "module example.com/one\n\ngo 1.24\n",
	"one.go":          "package one\n\ntype Kind interface{ Run() int }\n\ntype Base struct{ Size int }\n\ntype Wide struct{ Base }\n\nfunc Low() int { return Home() }\n",
	"home_unix.go":    "//go:build unix\n\npackage one\n\nfunc Home() int { return 1 }\n",
	"home_windows.go": "package one\n\nimport \"strings\"\n\ntype Real struct{}\n\nfunc (Real) Run() int { return Wide{}.Base.Size + strings.Count(\"a\", \"b\") }\n\nvar _ Kind = Real{}\n\nfunc Home() int { return Kind(Real{}).Run() + Low() }\n",
	"deep_test.go":    "//go:build deep\n\npackage one\n\nimport \"testing\"\n\nfunc TestDeep(t *testing.T) { _ = Low() + Base{}.Size }\n",
	"x/gen.go":        "//go:build ignore\n\npackage main\n\nimport (\n\t\"os\"\n\n\t\"example.com/one\"\n)\n\nfunc main() { os.Exit(one.Low() + one.Wide{}.Base.Size) }\n",
}

var further = []Build{
	{Goos: "windows", Goarch: "amd64"},
	{Goos: "linux", Goarch: "amd64", Tags: []string{"deep"}},
	{Goos: "linux", Goarch: "amd64", Programs: []string{"x/gen.go"}},
}

func served(t *testing.T) (*server, string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	params := loadParams{Root: root, Go: "go", Goroot: build.Default.GOROOT, Arch: "amd64", Folders: []string{""}, Builds: further, Files: map[string]string{}}
	for name, text := range texts {
		path := filepath.Join(root, name)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".go") {
			params.Files[name] = text
		}
	}
	s := &server{}
	if _, err := s.load(params); err != nil {
		t.Fatal(err)
	}
	return s, root
}

// The offset of a declared name.
func (s *server) declared(file, name, around string) (string, int) {
	text := s.loaded.Files[file]
	return name, strings.Index(text, around) + strings.Index(around, name)
}

func TestUsesInBuilds(t *testing.T) {
	s, _ := served(t)
	for _, it := range []struct {
		build              int
		file, name, around string
		in                 []string
		want               string
	}{
		{0, "one.go", "Low", "func Low", []string{"home_windows.go"}, "home_windows.go:1"},
		{1, "one.go", "Low", "func Low", []string{"deep_test.go"}, "deep_test.go:1"},
		{2, "one.go", "Low", "func Low", []string{"x/gen.go"}, "x/gen.go:1"},
		{0, "home_windows.go", "Home", "func Home", nil, "one.go:1"},
		{0, "home_windows.go", "Run", "func (Real) Run", nil, "home_windows.go:1"},
		// A build that does not declare the symbol.
		{1, "", "Real", "", []string{"one.go"}, ""},
	} {
		wanted := Wanted{File: it.file, Name: it.name, Files: it.in}
		if it.file != "" {
			_, wanted.At = s.declared(it.file, it.name, it.around)
		}
		result, err := s.uses(usesParams{it.build, []Wanted{wanted}})
		if err != nil || result.Found[0] == nil {
			t.Fatal(it, result, err)
		}
		count := map[string]int{}
		for at := 0; at < len(result.Found[0]); at += 2 {
			count[result.Files[result.Found[0][at]]]++
		}
		var found []string
		for file, number := range count {
			found = append(found, fmt.Sprintf("%s:%d", file, number))
		}
		slices.Sort(found)
		if strings.Join(found, " ") != it.want {
			t.Errorf("%v: %v", it, found)
		}
	}
}

// Each rename is made in all builds, judged by the compiler, and undone.
func TestRenamedInBuilds(t *testing.T) {
	s, root := served(t)
	vet := func(environment string, arguments ...string) {
		t.Helper()
		command := exec.Command("go", append([]string{"vet", "-unreachable"}, arguments...)...)
		command.Dir, command.Env = root, append(os.Environ(), "CGO_ENABLED=0", environment)
		if said, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s %v: %s", environment, arguments, said)
		}
	}
	for _, it := range []struct{ file, name, around string }{
		{"one.go", "Low", "func Low"},
		{"one.go", "Base", "type Base"},
		{"one.go", "Size", "{ Size"},
		{"one.go", "Run", "{ Run"},
		{"home_windows.go", "Real", "type Real"},
		{"home_windows.go", "Home", "func Home"},
	} {
		_, at := s.declared(it.file, it.name, it.around)
		places := []Name{{it.file, at}}
		if it.name == "Home" {
			_, at := s.declared("home_unix.go", "Home", "func Home")
			places = append(places, Name{"home_unix.go", at})
		}
		for range 2 {
			for build := range further {
				found, _ := s.renamed(renamedParams{build, it.name, places})
				if len(found.Unclear) > 0 {
					t.Errorf("%v: unclear in %v", it, found.Unclear)
				}
				places = append(places, found.Places...)
			}
		}
		slices.SortFunc(places, func(a, b Name) int { return cmp.Or(strings.Compare(a.File, b.File), b.At-a.At) })
		var edits []Edit
		changed := map[string]string{}
		for _, place := range slices.Compact(places) {
			text := cmp.Or(changed[place.File], s.loaded.Files[place.File])
			changed[place.File] = text[:place.At] + "Other" + text[place.At+len(it.name):]
		}
		for name, text := range changed {
			edits = append(edits, Edit{File: name, Text: &text, Active: true})
			_ = os.WriteFile(filepath.Join(root, name), []byte(text), 0o644)
		}
		for build := range further {
			result, err := s.impact(impactParams{Build: build, Edits: edits})
			if err != nil || result.Unfit != "" || len(result.After) > 0 {
				t.Errorf("%v in %d: %v %v", it, build, result, err)
			}
		}
		vet("GOOS=linux", "./...")
		vet("GOOS=windows", "./...")
		vet("GOOS=linux", "-tags", "deep", "./...")
		vet("GOOS=linux", "x/gen.go")
		for name := range changed {
			_ = os.WriteFile(filepath.Join(root, name), []byte(texts[name]), 0o644)
		}
	}
}

func TestChangesInBuilds(t *testing.T) {
	s, _ := served(t)
	broken := func(file, from, to string) string {
		text := strings.Replace(s.loaded.Files[file], from, to, 1)
		var found []string
		for build := range further {
			result, err := s.impact(impactParams{Build: build, Edits: []Edit{{file, &text, true}}})
			if err != nil || result.Unfit != "" {
				t.Fatal(result, err)
			}
			for _, it := range result.After {
				found = append(found, fmt.Sprint(build, " ", it.File))
			}
		}
		slices.Sort(found)
		return strings.Join(found, ", ")
	}
	if found := broken("one.go", "Low()", "Low(by int)"); found != "0 home_windows.go, 1 deep_test.go, 2 x/gen.go" {
		t.Error(found)
	}
	if found := broken("home_windows.go", "+ Low()", "+ Law()"); found != "0 home_windows.go" {
		t.Error(found)
	}
	if found := broken("home_windows.go", "strings.Count", "strings.Tally"); found != "0 home_windows.go" {
		t.Error(found)
	}
	// A file that no build has, and a new one of one build.
	text := "//go:build other\n\npackage one\n\nvar _ = Low(1)\n"
	for _, name := range []string{"other.go", "new_windows.go"} {
		if _, err := s.feed(feedParams{[]Edit{{name, &text, true}}}); err != nil || s.unfit != "" {
			t.Fatal(err, s.unfit)
		}
		text = "package one\n\nvar _ = Low()\n"
	}
	if found := broken("one.go", "Low()", "Low(by int)"); found != "0 home_windows.go, 0 new_windows.go, 1 deep_test.go, 2 x/gen.go" {
		t.Error(found)
	}
}
