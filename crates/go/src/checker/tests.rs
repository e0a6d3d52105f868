//! The checker compared with gopls over random edits: the checker predicts the effect of each edit, the edit is made,
//! and gopls has to report the same.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::checker::impact;
use crate::tests::testbed::{Fixture, deadline, deadlines};
use crate::{LANGUAGE, syntax};
use semdex_engine::files::File;
use semdex_model::{ChangeImpact, Diagnostic, FileEdit, Severity};
use semdex_testing::rng::Rng;

const FLEET: &str = "\
-- go.mod
module example.com/fleet

go 1.25
-- ship/ship.go
package ship

import \"fmt\"

type Mover interface {
	Move(by int) error
}

type Namer interface {
	Name() string
}

type NamedMover interface {
	Mover
	Namer
}

type Hull struct {
	Length int
	label  string
}

func (h *Hull) Name() string { return h.label }

func (h Hull) Size() int { return h.Length * factor }

const factor = 3

type Boat struct {
	*Hull
	Speed int
	crew  []Sailor
}

type Sailor struct {
	Rank, Age int
}

type Handler func(*Boat) error

type Pair = struct{ Left, Right int }

var Default = newBoat(4)

var handlers = map[string]Handler{\"go\": start}

func newBoat(length int) *Boat { return &Boat{&Hull{length, \"boat\"}, 2, nil} }

func New(length int) *Boat { return newBoat(length) }

func (b *Boat) Move(by int) error {
	if by > b.Speed {
		return fmt.Errorf(\"too fast: %d\", by)
	}
	b.crew = append(b.crew, Sailor{1, by})
	return nil
}

func start(b *Boat) error { return b.Move(b.Size()) }

func Run(name string, b *Boat) error { return handlers[name](b) }

func Oldest(all []Sailor) Sailor {
	return Best(all, func(a, b Sailor) bool { return a.Age > b.Age })
}

func Best[T any](all []T, better func(a, b T) bool) T {
	var best T
	for at, it := range all {
		if at == 0 || better(it, best) {
			best = it
		}
	}
	return best
}
-- ship/ship_test.go
package ship

import \"testing\"

type fake struct{ Hull }

func (f *fake) Move(int) error { return nil }

func TestFake(t *testing.T) {
	var it NamedMover = &fake{Hull{1, \"x\"}}
	if it.Move(2) != nil || it.Name() != \"x\" {
		t.Fatal(start(Default))
	}
}
-- ship/outer_test.go
package ship_test

import (
	\"testing\"

	\"example.com/fleet/port\"
	. \"example.com/fleet/ship\"
)

func TestOuter(t *testing.T) {
	dock := port.Dock{Boats: []*Boat{New(3)}}
	if dock.MoveAll(1) != nil || dock.Count() != 1 {
		t.Fatal(Run(\"go\", Default))
	}
}
-- port/port.go
package port

import \"example.com/fleet/ship\"

type Dock struct {
	Boats []*ship.Boat
	Queue[ship.Mover]
}

type Queue[T ship.Mover] struct{ waiting []T }

func (q *Queue[T]) Push(it T) { q.waiting = append(q.waiting, it) }

func (q *Queue[T]) Count() int { return len(q.waiting) + 1 }

func (d *Dock) MoveAll(by int) error {
	for _, boat := range d.Boats {
		if err := move(boat, by); err != nil {
			return err
		}
		d.Push(boat)
	}
	return nil
}

func move(it ship.Mover, by int) error { return it.Move(by) }

func Oldest() int {
	oldest := ship.Oldest([]ship.Sailor{{1, 2}, {Rank: 3}})
	pair := ship.Pair{Left: oldest.Age}
	return pair.Left + ship.Default.Length
}
-- main.go
package main

import (
	\"fmt\"

	\"example.com/fleet/port\"
	\"example.com/fleet/ship\"
)

type logged struct{ *ship.Boat }

func names(all ...ship.Namer) (found []string) {
	for _, it := range all {
		found = append(found, it.Name())
	}
	return found
}

func main() {
	boat := logged{ship.New(2)}
	fmt.Println(names(boat, ship.Default), port.Oldest(), boat.Size())
}
";

impl Fixture {
    /// Waits until the checker has loaded everything.
    async fn checked(&self) {
        let view = self.go.view(self.files.clone());
        let mut ready = view.session.checker.ready.subscribe();
        let ready = ready.wait_for(|it| *it);
        tokio::time::timeout_at(deadline().into(), ready).await.expect("the checker comes up").unwrap();
    }

    /// The impact as computed by the checker only.
    async fn impact_by_checker(&self, edits: &[FileEdit]) -> Option<ChangeImpact> {
        let view = self.go.view(self.files.clone());
        impact::alone(&view.session, self.files.clone(), edits, view.generation.unwrap(), deadlines()).await
    }

    async fn all_errors(&self) -> BTreeSet<Reported> {
        let view = self.go.view(self.files.clone());
        let found = view.diagnostics(&[], deadlines()).await.unwrap();
        assert!(found.coverage.complete, "{:?}", found.coverage);
        reported(&found.value)
    }

    fn edit(&self, file: &str, text: String) -> FileEdit {
        let old = self.files.get(file).map(|it| it.text.clone());
        FileEdit { file: file.to_owned(), old, new: Some(text.into()) }
    }
}

type Reported = (String, usize, usize, Option<String>, String);

fn reported(found: &[Diagnostic]) -> BTreeSet<Reported> {
    let errors = found.iter().filter(|it| it.severity == Severity::Error);
    errors
        .map(|it| (it.place.file.clone(), it.place.start, it.place.end, it.code.clone(), it.message.clone()))
        .collect()
}

/// Replaces a word by another word. An exported name is only replaced by an exported name, because gopls's reports on
/// inaccessible names vary.
fn another_word(file: &File, words: &[String], chance: &mut Rng) -> Option<String> {
    let body = file.text.find("\n\n")?;
    let places = syntax::all_identifiers(&file.text);
    let places: Vec<_> = places.into_iter().map(|it| it.span).filter(|it| it.start > body).collect();
    let place = *places.get(chance.below(places.len()))?;
    let old = &file.text[place.start..place.end];
    let is_seen = |it: &str| it.starts_with(char::is_uppercase);
    let words: Vec<&String> = words.iter().filter(|it| is_seen(it) == is_seen(old) && *it != old).collect();
    let word = words.get(chance.below(words.len()))?;
    Some(format!("{}{word}{}", &file.text[..place.start], &file.text[place.end..]))
}

/// The text of an error's line in place of its number, since the edit moves the lines below it.
fn by_line(found: &BTreeSet<Reported>, fixture: &Fixture) -> BTreeSet<(String, usize, Option<String>, String)> {
    let line = |it: &Reported| fixture.files.get(&it.0).map_or(0, |file| file.lines().line(it.1));
    found.iter().map(|it| (it.0.clone(), line(it), it.3.clone(), it.4.clone())).collect()
}

/// `SEMDEX_COMPARE_ROOT` selects another workspace, `SEMDEX_COMPARE_COUNT` the number of edits (60).
#[tokio::test(flavor = "multi_thread")]
async fn what_is_foretold_is_what_gopls_finds_once_it_is_done() {
    let root = std::env::var_os("SEMDEX_COMPARE_ROOT").map(PathBuf::from).filter(|it| it.join("go.mod").is_file());
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let mut fixture = root.as_deref().map_or_else(|| Fixture::new(FLEET), Fixture::copy_of);
    let count = number("SEMDEX_COMPARE_COUNT").unwrap_or(if root.is_some() { 60 } else { 150 });
    let mut chance = Rng::new(number("SEMDEX_COMPARE_SEED").unwrap_or(7) as u64);
    fixture.checked().await;
    let healthy = fixture.files.clone();
    let files: Vec<_> = healthy.of(LANGUAGE).cloned().collect();
    let words: BTreeSet<String> = files
        .iter()
        .flat_map(|it| {
            syntax::all_identifiers(&it.text).into_iter().map(|at| it.text[at.span.start..at.span.end].to_owned())
        })
        .collect();
    let words: Vec<String> = words.into_iter().collect();
    let mut differ = Vec::new();
    let (mut compared, mut broke) = (0, 0);
    let mut before = by_line(&fixture.all_errors().await, &fixture);
    for number in 0..count {
        let path = files[chance.below(files.len())].path.clone();
        let current = fixture.files.get(&path).unwrap().clone();
        let Some(text) = another_word(&current, &words, &mut chance) else { continue };
        fixture.checked().await;
        let edit = fixture.edit(&path, text.clone());
        let change_impact = fixture.impact_by_checker(std::slice::from_ref(&edit)).await;
        fixture.change(&path, Some(&text));
        let after = by_line(&fixture.all_errors().await, &fixture);
        // gopls answers what the checker cannot.
        if let Some(change_impact) = change_impact {
            compared += 1;
            broke += usize::from(!change_impact.new.is_empty());
            let new: BTreeSet<_> = after.difference(&before).cloned().collect();
            let fixed: BTreeSet<_> = before.difference(&after).cloned().collect();
            let said =
                (by_line(&reported(&change_impact.new), &fixture), by_line(&reported(&change_impact.fixed), &fixture));
            if said != (new.clone(), fixed.clone()) {
                let diff =
                    similar::TextDiff::from_lines(&*current.text, &text).unified_diff().context_radius(0).to_string();
                let only = |a: &BTreeSet<_>, b: &BTreeSet<_>| format!("{:?}", a.difference(b).collect::<Vec<_>>());
                differ.push(format!(
                    "{number} {path}: {diff}\nnew: too many {}, too few {}\nfixed: too many {}, too few {}",
                    only(&said.0, &new),
                    only(&new, &said.0),
                    only(&said.1, &fixed),
                    only(&fixed, &said.1),
                ));
            }
        }
        before = after;
        if chance.below(3) > 0 {
            for file in &files {
                if fixture.files.get(&file.path).map(|it| it.hash) != Some(file.hash) {
                    fixture.change(&file.path, Some(&file.text));
                }
            }
            before = by_line(&fixture.all_errors().await, &fixture);
        }
    }
    println!("{compared} of {count} compared, {broke} broke something, {} differ", differ.len());
    assert!(differ.is_empty(), "{}", differ.join("\n\n"));
    assert!(compared * 10 > count * 8 && broke * 3 > compared, "{compared} compared, {broke} broke something");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_checker_gopls_answers() {
    let fixture = Fixture::new(FLEET);
    fixture.checked().await;
    let text = fixture.files.get("ship/ship.go").unwrap().text.replace("Move(by int)", "Move(by, most int)");
    let edit = fixture.edit("ship/ship.go", text);
    let quick = fixture.impact_by_checker(std::slice::from_ref(&edit)).await.unwrap();
    let slow = fixture.impact_by_gopls(std::slice::from_ref(&edit)).await;
    assert_eq!(reported(&quick.new), reported(&slow.new));
    assert!(quick.new.len() > 3, "{:?}", quick.new);
    assert_eq!(quick.impact.changed, slow.impact.changed);
    let view = fixture.go.view(fixture.files.clone());
    let pid = view.session.checker.pid().unwrap();
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(killed.success());
    let change_impact = fixture.go.impact(&view, std::slice::from_ref(&edit), deadlines()).await.unwrap();
    assert_eq!(reported(&change_impact.new), reported(&slow.new));
    // Another process replaces it.
    let mut ready = view.session.checker.ready.subscribe();
    let next = ready.wait_for(|it| *it && view.session.checker.pid() != Some(pid));
    tokio::time::timeout_at(deadline().into(), next).await.expect("another checker").unwrap();
    let change_impact = fixture.impact_by_checker(&[edit]).await.unwrap();
    assert_eq!(reported(&change_impact.new), reported(&slow.new));
}

#[tokio::test(flavor = "multi_thread")]
async fn tests_are_reported_by_how_far_they_are_from_the_change() {
    let fixture = Fixture::new(FLEET);
    fixture.checked().await;
    let tests = async |from: &str, to: &str| {
        let text = fixture.files.get("ship/ship.go").unwrap().text.replace(from, to);
        let change_impact = fixture.impact_by_checker(&[fixture.edit("ship/ship.go", text)]).await.unwrap();
        let reaching = change_impact.impact.tests.into_iter();
        reaching.map(|it| (it.at.symbol.unwrap(), it.distance.unwrap())).collect::<Vec<_>>()
    };
    let fake = |distance| ("example.com/fleet/ship.TestFake".to_owned(), distance);
    let outer = |distance| ("example.com/fleet/ship_test.TestOuter".to_owned(), distance);
    assert_eq!(tests("return handlers[name](b)", "return handlers[\"\"](b)").await, [outer(1)]);
    assert_eq!(tests("return b.Move(b.Size())", "return b.Move(1)").await, [fake(1), outer(3)]);
    // Through the interface too.
    assert_eq!(tests("by > b.Speed", "by >= b.Speed").await, [fake(1), outer(3)]);
}

#[test]
fn the_program_is_formatted_vetted_and_tested() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/checker/program");
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(&directory).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(run("gofmt", &["-l", "."]), (true, String::new()));
    assert_eq!(run("go", &["vet", "."]), (true, String::new()));
    let (passes, said) = run("go", &["test", "."]);
    assert!(passes, "{said}");
}

/// Whether the checker answers, and which files are broken according to the checker or, without its answer, gopls.
async fn broken_by(archive: &str, file: &str, from: &str, to: &str) -> (bool, BTreeSet<String>) {
    let fixture = Fixture::new(archive);
    fixture.checked().await;
    let text = fixture.files.get(file).unwrap().text.replace(from, to);
    let edit = [fixture.edit(file, text)];
    let quick = fixture.impact_by_checker(&edit).await;
    let files = |it: &ChangeImpact| it.new.iter().map(|it| it.place.file.clone()).collect();
    let slow = fixture.impact_by_gopls(&edit).await;
    match quick {
        Some(quick) => {
            assert_eq!(reported(&quick.new), reported(&slow.new));
            (true, files(&quick))
        }
        None => (false, files(&slow)),
    }
}

fn named(files: &[&str]) -> BTreeSet<String> {
    files.iter().map(|it| (*it).to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn modules_of_a_work_file_are_checked_together() {
    let work = "\
-- go.work
go 1.25

use (
	./base
	./user
)
-- base/go.mod
module example.com/base

go 1.25
-- base/base.go
package base

func Twice(n int) int { return 2 * n }
-- user/go.mod
module example.com/user

go 1.25

require example.com/base v0.0.0
-- user/user.go
package user

import \"example.com/base\"

var Four = base.Twice(2)
";
    let broken = broken_by(work, "base/base.go", "n int", "n string").await;
    assert_eq!(broken, (true, named(&["base/base.go", "user/user.go"])));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_vendored_is_built_from_and_not_checked() {
    let vendored = "\
-- go.mod
module example.com/shop

go 1.25

require example.com/dep v1.0.0
-- vendor/modules.txt
# example.com/dep v1.0.0
## explicit; go 1.25
example.com/dep
-- vendor/example.com/dep/dep.go
package dep

func Half(n int) int { return n / 2 }
-- shop.go
package shop

import \"example.com/dep\"

func Price(n int) int { return dep.Half(n) }
-- use.go
package shop

var price = Price(4)
";
    let broken = broken_by(vendored, "shop.go", "Price(n int)", "Price(n string)").await;
    assert_eq!(broken, (true, named(&["shop.go", "use.go"])));
    let file = "vendor/example.com/dep/dep.go";
    let (by_checker, broken) = broken_by(vendored, file, "Half(n int)", "Half(n string)").await;
    assert!(!by_checker && broken.contains("shop.go"), "{broken:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_cgo_is_left_to_gopls() {
    let native = "\
-- go.mod
module example.com/native

go 1.25
-- base/base.go
package base

type Size int

func Twice(n int) int {
	return 2 * n
}
-- native/native.go
package native

// int one(void) { return 1; }
import \"C\"

import \"example.com/native/base\"

func One() base.Size { return base.Size(base.Twice(int(C.one()))) }
-- main.go
package main

import (
	\"example.com/native/base\"
	\"example.com/native/native\"
)

func take(base.Size) {}

func main() {
	take(native.One())
}
";
    let broken = broken_by(native, "base/base.go", "2 * n", "n * nothing").await;
    assert_eq!(broken, (true, named(&["base/base.go"])), "nobody else sees a body");
    let (by_checker, broken) = broken_by(native, "base/base.go", "Twice(n int) int {", "Twice(n string) int {").await;
    assert!(!by_checker && broken.contains("native/native.go"), "{broken:?}");
    // The type of a cgo declaration belongs to another type check.
    let broken = broken_by(native, "main.go", "native.One()", "native.Two()").await;
    assert_eq!(broken, (false, named(&["main.go"])));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dependency_that_imports_the_workspace_back_is_checked_with_it() {
    let elsewhere = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(elsewhere.path().join(name), text).unwrap();
    write("go.mod", "module example.com/widgets\n\ngo 1.25\n\nrequire example.com/tea v0.0.0\n");
    let widgets = "package widgets\n\nimport \"example.com/tea\"\n\nvar At = tea.Version\n\nfunc Wrap(it tea.Model) tea.Model { return it }\n";
    write("widgets.go", widgets);
    let archive = format!(
        "\
-- go.mod
module example.com/tea

go 1.25
-- tea.go
package tea

const Version = 1

type Model interface{{ Show(n int) string }}

func Run(it Model) string {{ return it.Show(1) }}
-- examples/go.mod
module examples

go 1.25

require (
	example.com/tea v0.0.0
	example.com/widgets v0.0.0
)

replace (
	example.com/tea => ../
	example.com/widgets => {}
)
-- examples/main.go
package main

import (
	\"example.com/tea\"
	\"example.com/widgets\"
)

type model struct{{}}

func (model) Show(n int) string {{ return \"\" }}

func main() {{
	it := widgets.Wrap(model{{}})
	println(tea.Run(it), widgets.At)
}}
",
        elsewhere.path().display()
    );
    let fixture = Fixture::new(&archive);
    fixture.checked().await;
    let impact_of = async |from: &str, to: &str| {
        let text = fixture.files.get("tea.go").unwrap().text.replace(from, to);
        let impact = fixture.impact_by_checker(&[fixture.edit("tea.go", text)]).await.unwrap();
        let elsewhere = impact.impact.unchecked.into_iter().find(|it| it.code == "other_modules");
        let files: BTreeSet<String> = impact.new.into_iter().map(|it| it.place.file).collect();
        (files, elsewhere.map(|it| it.detail))
    };
    assert_eq!(impact_of("string }", "string; Hide() }").await, (named(&["examples/main.go"]), None));
    let (files, elsewhere) = impact_of("Version", "Release").await;
    assert!(files.is_empty() && elsewhere.unwrap().ends_with(": example.com/widgets"));
}

const RING: &str = "\
-- go.mod
module example.com/ring

go 1.25
-- a/a.go
package a

import \"example.com/ring/b\"

func A() int { return b.B() }
-- b/b.go
package b

import \"example.com/ring/a\"

func B() int { return a.A() }
";

#[tokio::test]
async fn an_import_cycle_ends_nothing_and_is_checked_once_it_is_broken() {
    let mut ring = Fixture::new(RING);
    ring.ready().await;
    let session = ring.go.view(ring.files.clone()).session.clone();
    let limit = deadline();
    let pid = loop {
        let pid = session.checker.pid();
        if pid.is_some() && *session.checker.given_up.subscribe().borrow() {
            break pid;
        }
        assert!(std::time::Instant::now() < limit, "the checker runs, and gives up");
        tokio::task::yield_now().await;
    };
    ring.change("b/b.go", Some("package b\n\nfunc B() int { return 1 }\n"));
    let mut ready = session.checker.ready.subscribe();
    tokio::time::timeout_at(deadline().into(), ready.wait_for(|it| *it)).await.expect("the checker loads").unwrap();
    assert_eq!(session.checker.pid(), pid);
    let old = ring.files.get("b/b.go").unwrap().text.to_string();
    let new = "package b\n\nfunc B(n int) int { return n }\n";
    let edit = FileEdit { file: "b/b.go".into(), old: Some(old.into()), new: Some(new.into()) };
    let impact = ring.impact_by_checker(&[edit]).await.expect("the checker answers");
    assert!(format!("{:?}", impact.new).contains("a/a.go"), "{impact:?}");
}
