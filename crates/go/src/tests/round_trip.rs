//! Every reported path can be queried again and means the same place.

use std::path::Path;
use std::sync::Arc;

use super::fixture::files;
use crate::LANGUAGE;
use crate::build_constraints::BuildContext;
use crate::layout::Layout;
use crate::package_set::PackageSet;
use crate::resolve::resolve_in;
use crate::symbol_paths::inner_path;
use semdex_engine::files::Files;
use semdex_model::{Code, Symbol, SymbolQuery};

const TREE: &str = "
//- go.work
go 1.26
use (
	.
	./tool
)
//- go.mod
module example.com/m
//- a.go
package m

import (
	\"fmt\"
	. \"strings\"
	\"example.com/m/other-name\"
)

type Writer interface {
	fmt.Stringer
	Flusher
	Write(p []byte) (n int, err error)
}

type Flusher interface{ Flush() }

type Number interface {
	comparable
	~int | ~string
	Limited[int]
}

type Limited[T any] interface{ Limit() T }

type Base struct{ id int }

func (b *Base) ID() int   { return b.id }
func (b Base) Name() string { return \"\" }

type Engine struct {
	*Base
	Writer
	other.Thing
	Config struct {
		Port   int
		Inner  struct{ Deep []struct{ Deepest map[string]struct{ Value int } } }
		_, _   int
	}
	_ [0]func()
	_ int
	error
}

type (
	Alias        = Engine
	Name         string
	Handler      func(struct{ Unseen int })
	List[T any]  struct{ head, tail *node[T] }
	node[T any]  struct{ value T }
	Anonymous    = struct{ X, Y int }
)

func (l *List[T]) Push(value T) {}
func (_ List[_]) Len() int    { return 0 }
func (n Name) String() string { return string(n) }

const (
	First = iota
	Second
	_
	Fourth, Fifth = iota, iota
)

var (
	x, y = 1, 2
	_    Writer = nil
	_    Flusher = nil
)

var _ = x

func init() {}
func init() {}
func _()    {}
func _()    {}

type _ struct{ Field int }
type _ struct{ Field int }

func Map[K comparable, V any](m map[K]V) {}
//- b.go
package m

func init() {}

var _ = y
//- os_linux.go
package m

func system() {}

type Handle struct{ fd int }

func (h *Handle) Close() {}
//- os_windows.go
package m

func system() {}

type Handle struct{ fd uintptr }

func (h *Handle) Close() {}
//- os_plan9.go
package m

func system() {}
//- tagged.go
//go:build special

package m

func tagged() {}
//- untagged.go
//go:build !special

package m

func tagged() {}
//- a_test.go
package m

func init() {}
func helper() {}
//- x_test.go
package m_test

func init() {}
func helper() {}
func TestX() {}
//- other-name/o.go
package other

type Thing struct{ Part int }
func init() {}
//- cmd/one/main.go
package main

func main() {}
func run() {}
//- cmd/two/main.go
package main

func main() {}
func run() {}
//- gen.go
//go:build ignore

package main

func main() {}
//- gen2.go
//go:build ignore

package main

func main() {}
//- testdata/t.go
package t

func T() {}
//- testdata/mod/go.mod
module example.com/m
//- testdata/mod/a.go
package m

type Base struct{ id int }
//- vendor/dep.org/d/d.go
package d

func D() {}
//- _hidden.go
package m

func Hidden() {}
//- v2.x/v.go
package v

func V() {}
//- tool/go.mod
module example.com/m/tool
//- tool/t.go
package main

func main() {}
func init() {}
//- loose@dir/l.go
package loose

func init() {}
func init() {}
//- twice/broken.go
package twice

func F() {}
func F() {}
type T struct{ A int; A string }
";

struct Ground {
    files: Arc<Files>,
    layout: Layout,
    package_set: PackageSet,
}

impl Ground {
    fn new(files: Files) -> Ground {
        let files = Arc::new(files);
        let layout = Layout::of(files.clone(), &BuildContext::host());
        let package_set = PackageSet::of(&files, None);
        Ground { files, layout, package_set }
    }

    fn all(&self) -> Vec<Symbol> {
        fn flatten(symbol: Symbol, all: &mut Vec<Symbol>) {
            symbol.children.iter().for_each(|it| flatten(it.clone(), all));
            all.push(symbol);
        }
        let mut all = Vec::new();
        for file in self.files.of(LANGUAGE) {
            self.layout.symbols(&file.path).into_iter().for_each(|it| flatten(it, &mut all));
        }
        all
    }

    fn ask(&self, symbol: &str) -> Result<Symbol, semdex_model::Error> {
        let query = SymbolQuery { symbol: symbol.to_owned(), ..SymbolQuery::default() };
        resolve_in(&self.package_set, &self.files, &query, &|_, _| None).map(|mut found| found.remove(0))
    }

    /// The paths that do not resolve to their symbol, and the number of queries.
    fn lost(&self) -> (Vec<String>, usize) {
        let all = self.all();
        let lost = all.iter().filter_map(|symbol| {
            let place = (&symbol.path, &symbol.name_at.file, symbol.name_at.start);
            match self.ask(&symbol.path) {
                Ok(it) if (&it.path, &it.name_at.file, it.name_at.start) == place => None,
                Ok(it) => Some(format!("{place:?} became {} {}:{}", it.path, it.name_at.file, it.name_at.start)),
                Err(error) => Some(format!("{place:?}: {error}")),
            }
        });
        (lost.collect(), all.len())
    }
}

#[test]
fn every_path_of_every_kind_comes_back() {
    let ground = Ground::new(files(TREE));
    let (lost, count) = ground.lost();
    assert_eq!(lost, [""; 0]);
    assert_eq!(count, 105);
    for path in [
        "example.com/m.Writer.Stringer",
        "example.com/m.Engine.Config.Inner.Deep.Deepest.Value",
        "a.go#1@example.com/m.Engine.Config._",
        "a.go#2@example.com/m.Engine._",
        "a.go#2@example.com/m.init",
        "b.go@example.com/m.init",
        "a_test.go@example.com/m.init",
        "example.com/m_test.init",
        "a.go#2@example.com/m._.Field",
        "example.com/m.system",
        "os_windows.go@example.com/m.system",
        "os_windows.go@example.com/m.Handle.Close",
        "tagged.go@example.com/m.tagged",
        "testdata/mod/a.go@example.com/m.Base.id",
        "gen2.go@example.com/m.main",
        "example.com/m/cmd/one.main",
        "example.com/m/tool.init",
        "l.go#2@example.com/m/loose@dir.init",
    ] {
        assert!(ground.all().iter().any(|it| it.path == path), "{path} is printed");
    }
}

#[test]
fn shorter_paths_resolve_where_they_are_unique() {
    let ground = Ground::new(files(TREE));
    for symbol in ground.all() {
        let bits: Vec<&str> = inner_path(&symbol).split('.').collect();
        for from in 0..bits.len() {
            let short = bits[from..].join(".");
            match ground.ask(&short) {
                Ok(found) => assert_eq!(found.name, symbol.name, "{short}"),
                Err(error) if error.code == Code::AmbiguousSymbol => {
                    assert!(error.help.symbols.len() > 1, "{short}");
                    for candidate in &error.help.symbols {
                        let again = ground.ask(&candidate.path).unwrap();
                        assert_eq!(again.name_at, candidate.name_at, "a candidate of {short}");
                    }
                }
                // Only the whole path resolves.
                Err(_) => {
                    assert!(short.contains('_') || ["T", "Hidden", "init"].contains(&symbol.name.as_str()), "{short}")
                }
            }
        }
    }
    for (short, path) in [
        ("Engine.ID", "example.com/m.Base.ID"),
        ("Engine.Part", "example.com/m/other-name.Thing.Part"),
        ("Engine.Flush", "example.com/m.Flusher.Flush"),
        ("Alias.Config.Port", "example.com/m.Engine.Config.Port"),
        ("other.Thing", "example.com/m/other-name.Thing"),
        ("List[int].Push", "example.com/m.List.Push"),
        ("windows.go@system", ""),
        ("os_windows.go@system", "os_windows.go@example.com/m.system"),
        ("cmd/two.run", "example.com/m/cmd/two.run"),
    ] {
        assert_eq!(ground.ask(short).map(|it| it.path).unwrap_or_default(), path, "{short}");
    }
}

fn read_below(root: &Path, directory: &Path, files: &mut Files) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_below(root, &path, files);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            files.insert(Arc::new(crate::file(&*name, text)));
        }
    }
}

#[test]
fn every_path_of_a_real_module_comes_back() {
    let output = std::process::Command::new("go").args(["env", "GOMODCACHE"]).output().expect("go is needed");
    let module = Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("golang.org/x/tools/gopls@v0.23.0");
    assert!(module.is_dir(), "it comes with gopls");
    let mut files = Files::default();
    for part in ["internal/cache", "internal/golang", "internal/protocol", "internal/test/marker", "internal/util"] {
        read_below(&module, &module.join(part), &mut files);
    }
    files.insert(Arc::new(crate::file("go.mod", std::fs::read_to_string(module.join("go.mod")).unwrap())));
    let (lost, count) = Ground::new(files).lost();
    assert_eq!(lost, [""; 0]);
    assert!(count > 5_000, "{count}");
}
