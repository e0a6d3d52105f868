package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// A generic type implements an interface if an instantiation of both does.
func TestGenericTypesImplement(t *testing.T) {
	const text = `package p

import "io"

type Named[T any] struct{}
type Pair[A, B any] struct{}

type Cell[T any] struct{}
func (Cell[T]) Get() T { panic(0) }
func (Cell[T]) Set(T) {}

type Table[K comparable, V any] struct{}
func (*Table[K, V]) Walk(func(K, ...V) map[K][]V) {}

type Stream struct{}
func (Stream) Open(interface{ io.Reader; Name() string }) chan<- [2]*int { panic(0) }

type Mixed struct{}
func (Mixed) Get() int { panic(0) }
func (Mixed) Set(string) {}

type Same[T any] struct{}
func (Same[T]) Put(T, T) {}

type Nested[T any] struct{}
func (Nested[T]) Put(T, Named[T]) {}

type Boxes[T any] struct{}
func (Boxes[T]) Box() Named[Pair[T, int]] { panic(0) }

type Of[T any] interface{ Get() T; Set(T) }
type OfInt interface{ Get() int; Set(int) }
type OfBoth interface{ Get() int; Set(string) }
type Loose[A, B any] interface{ Get() A; Set(B) }
type Walks[T any] interface{ Walk(func(string, ...T) map[string][]T) }
type NotVariadic interface{ Walk(func(string, []int) map[string][]int) }
type Opens interface{ Open(interface{ Name() string; Read([]byte) (int, error) }) chan<- [2]*int }
type OpensOther interface{ Open(interface{ Name() string; Write([]byte) (int, error) }) chan<- [2]*int }
type Receives interface{ Open(interface{ io.Reader; Name() string }) <-chan [2]*int }
type Two interface{ Put(int, string) }
type Twice[A any] interface{ Put(A, []A) }
type OfNamed[A any] interface{ Put(A, Named[A]) }
type Endless[A any] interface{ Put(Named[A], A) }
type Boxed[A, B any] interface{ Box() Named[Pair[A, B]] }
type BoxedText interface{ Box() Named[Pair[int, string]] }
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	pkg, err := config.Check("p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	sets := methodSetsOf(pkg).byType
	for _, it := range []struct {
		one, iface string
		// Instantiations of them, of which the first implements the second; empty if there are none.
		as, by string
	}{
		{"Cell", "Of", "Cell[bool]", "Of[bool]"},
		{"Cell", "OfInt", "Cell[int]", "OfInt"},
		{"Cell", "OfBoth", "", ""},
		{"Cell", "Loose", "Cell[int]", "Loose[int, int]"},
		{"Mixed", "Loose", "Mixed", "Loose[int, string]"},
		{"Mixed", "Of", "", ""},
		{"Mixed", "OfBoth", "Mixed", "OfBoth"},
		{"Table", "Walks", "*Table[string, int]", "Walks[int]"},
		{"Table", "NotVariadic", "", ""},
		{"Stream", "Opens", "Stream", "Opens"},
		{"Stream", "OpensOther", "", ""},
		{"Stream", "Receives", "", ""},
		{"Same", "Two", "", ""},
		{"Same", "Twice", "", ""},
		{"Nested", "OfNamed", "Nested[int]", "OfNamed[int]"},
		{"Nested", "Endless", "", ""},
		{"Boxes", "Boxed", "Boxes[bool]", "Boxed[bool, int]"},
		{"Boxes", "BoxedText", "", ""},
		{"Of", "Loose", "Of[int]", "Loose[int, int]"},
	} {
		one, iface := sets["p."+it.one], sets["p."+it.iface]
		if found := one.isRelated(iface); found != (it.as != "") || found != iface.isRelated(one) {
			t.Errorf("%s and %s: %t", it.one, it.iface, found)
		}
		if it.as == "" {
			continue
		}
		as, err := types.Eval(fset, pkg, token.NoPos, it.as)
		by, err2 := types.Eval(fset, pkg, token.NoPos, it.by)
		if err != nil || err2 != nil || !types.Implements(as.Type, by.Type.Underlying().(*types.Interface)) {
			t.Errorf("%s does not implement %s", it.as, it.by)
		}
	}
}
