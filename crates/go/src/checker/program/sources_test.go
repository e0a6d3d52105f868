package main

import (
	"cmp"
	"go/build"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Packages that several modules import are read once, whatever else each of them imports.
func TestSourcesAreShared(t *testing.T) {
	root := t.TempDir()
	files := map[string]string{
		"go.mod":       "module example.com/one\n\ngo 1.24\n",
		"one.go":       "package one\n\nimport \"net/http\"\n\nvar _ = http.StatusOK\n",
		"two/go.mod":   "module example.com/two\n\ngo 1.24\n",
		"two/two.go":   "package two\n\nimport \"net/mail\"\n\nvar _ mail.AddressParser\n",
		"three/go.mod": "module example.com/three\n\ngo 1.24\n",
		"three/it.go":  "package three\n\nimport (\n\t\"go/format\"\n\t\"net/http\"\n)\n\nvar _, _ = format.Source, http.Get\n",
	}
	params := loadParams{Root: root, Go: "go", Goroot: build.Default.GOROOT, Arch: build.Default.GOARCH, Folders: []string{"", "two", "three"}, Files: map[string]string{}}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".go" {
			params.Files[name] = text
		}
	}
	s := &server{}
	if _, err := s.load(params); err != nil {
		t.Fatal(err)
	}
	for _, w := range s.worlds {
		for id, c := range w.state {
			if c.unfit != "" || c.of.unfit != "" || len(c.faults) > 0 {
				t.Errorf("%s: %s %s %v", id, c.of.unfit, c.unfit, c.faults)
			}
		}
	}
	for _, w := range s.worlds {
		for path, it := range w.external.imported {
			for _, name := range it.Scope().Names() {
				if text := types.ObjectString(it.Scope().Lookup(name), nil); strings.Contains(text, "invalid type") {
					t.Errorf("%s: %s", path, text)
				}
			}
		}
	}
	read := func(w *World) any { return w.external.imported["net/http"] }
	if one, three := read(s.worlds[0]), read(s.worlds[2]); one != three {
		t.Error("net/http is read twice")
	}
}
