//! The usage index compared with gopls's own answers after various edits.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::testbed::{Fixture, deadline, deadlines};
use crate::queries::GoplsQueries;
use crate::symbol_paths::flatten;
use crate::syntax::{DeclarationSpan, SpanKind, units};
use crate::unlisted_occurrences::Effort;
use crate::{LANGUAGE, lsp_conversion, usages};
use semdex_model::{Span, Symbol};
use semdex_testing::rng::Rng;

const SHOP: &str = "\
-- go.mod
module example.com/shop

go 1.26
-- cart/cart.go
package cart

import (
	\"fmt\"

	\"example.com/shop/money\"
)

type Cart struct {
	Items []Item
	money.Purse
}

type Item struct {
	Name  string
	Price money.Price
}

const (
	Small = iota
	Middle
	Large
)

var Default = New(Small)

func New(size int) *Cart { return &Cart{Items: make([]Item, 0, size)} }

func (c *Cart) Add(item Item) {
	c.Items = append(c.Items, item)
	c.Fill(item.Price)
}

func (c *Cart) Total() money.Price {
	var total money.Price
	for _, item := range c.Items {
		total = total.Plus(item.Price)
	}
	return total
}

func (c *Cart) String() string { return fmt.Sprint(c.Total().String(), len(c.Items), Large) }

func Map[T, U any](all []T, f func(T) U) []U {
	var mapped []U
	for _, it := range all {
		mapped = append(mapped, f(it))
	}
	return mapped
}
-- cart/cart_test.go
package cart

import \"testing\"

func TestTotal(t *testing.T) {
	c := New(Middle)
	c.Add(Item{Name: \"a\", Price: 3})
	names := Map(c.Items, func(it Item) string { return it.Name })
	if c.Total() != 3 || names[0] != \"a\" {
		t.Fatal(c.String())
	}
}
-- money/money.go
package money

import \"fmt\"

type Price int

func (p Price) Plus(other Price) Price { return p + other }

func (p Price) String() string { return fmt.Sprintf(\"%d\", int(p)) }

type Purse struct{ Held Price }

func (p *Purse) Fill(price Price) { p.Held = p.Held.Plus(price) }

type Totaler interface {
	Total() Price
}

type Filler interface {
	Fill(price Price)
	Total() Price
}

type Other struct{ n Price }

func (o Other) Total() Price { return o.n }
-- main.go
package main

import (
	\"fmt\"

	\"example.com/shop/cart\"
	\"example.com/shop/money\"
)

func main() {
	c := cart.New(cart.Middle)
	c.Add(cart.Item{Name: \"b\"})
	show(c)
	show(money.Other{})
	fmt.Println(cart.Default.Total(), cart.Default.Held, cart.Map([]int{1}, twice))
}

func show(t money.Totaler) { fmt.Println(t.Total().String()) }

func twice(n int) int { return 2 * n }
";

/// File, replaced text, new text, and the percentage of symbols that must still be in the index afterwards.
const EDITS: &[(&str, &str, &str, usize)] = &[
    ("cart/cart.go", "\tvar total money.Price\n", "\tvar total money.Price\n\t_ = 1\n", 95),
    ("cart/cart.go", "c.Fill(item.Price)", "c.Fill(item.Price.Plus(1))", 70),
    ("main.go", "\tshow(c)\n", "", 60),
    ("main.go", "\tshow(money.Other{})\n", "\tvar o money.Other\n\tshow(o)\n\tc.Fill(o.Total())\n", 40),
    ("main.go", "func twice(n int) int { return 2 * n }", "func twice(n string) int { return len(n) }", 40),
    ("money/money.go", "func (p Price) Plus(other Price) Price { return p + other }", "", 0),
    (
        "money/money.go",
        "type Purse",
        "func (p Price) Plus(other, more Price) Price { return p + other + more }\n\ntype Purse",
        0,
    ),
    ("money/money.go", "type Other struct{ n Price }", "type Other struct {\n\tPurse\n\tn Price\n}", 0),
    ("cart/cart.go", "\tMiddle\n", "\tMiddle = iota + 7\n", 0),
    ("cart/cart.go", "func New(size int) *Cart {", "func New(size int) Cart {", 0),
    ("cart/cart.go", "return &Cart{", "return Cart{", 0),
    ("cart/cart_test.go", "c := New(Middle)", "type local struct{ Cart }\n\tc := local{New(Middle)}", 0),
    ("main.go", "func show(", "func show(len int, ", 0),
    ("main.go", "\t\"fmt\"\n", "\t. \"fmt\"\n", 0),
    ("main.go", "func show(", "func show((", 0),
    ("main.go", "func show((", "func show(", 0),
    (
        "cart/cart.go",
        "\tc.Items = append(c.Items, item)\n",
        "\t// `a quote\n\tc.Items = append(c.Items, item) // `\n",
        0,
    ),
];

struct Drift {
    fixture: Fixture,
    differ: Vec<String>,
    compared: usize,
    /// Symbols in queries to the checker, and those that it answered.
    asked: usize,
    answered: usize,
}

impl Drift {
    fn symbols(&self) -> Vec<Symbol> {
        let layout = self.fixture.go.session.layout(&self.fixture.files);
        let mut flat = Vec::new();
        for file in layout.built() {
            layout.symbols(file).iter().for_each(|it| flatten(it, &mut flat));
        }
        flat
    }

    /// Compares the index, or every n-th symbol of it, with gopls, and then lets it compute the rest. Returns the
    /// percentage of symbols that it had.
    async fn compare(&mut self, after: &str, one_of: usize) -> usize {
        let session = self.fixture.go.session.clone();
        let layout = session.layout(&self.fixture.files);
        let generation = session.documents().generation();
        let queries = GoplsQueries::new(&session, &layout, deadlines(), Some(generation));
        let symbols = self.symbols();
        let carried = symbols.iter().filter(|it| session.index.knows(generation, it)).count();
        let settled = session.checker.settled();
        tokio::time::timeout_at(deadline().into(), settled).await.expect("the checker loads, or says that it cannot");
        self.asked += symbols.len() - carried;
        usages::learn(&queries, &symbols).await;
        self.answered += symbols.iter().filter(|it| session.index.knows(generation, it)).count() - carried;
        for (number, symbol) in symbols.iter().enumerate() {
            let Some(answer) = session.index.places(generation, symbol) else { continue };
            if number % one_of != 0 {
                continue;
            }
            self.compared += 1;
            let file = queries.load(&symbol.name_at.file).unwrap();
            let mut theirs = BTreeSet::new();
            // If gopls refuses, there are no places.
            for location in queries.references(&file, symbol.name_at.start).await.unwrap_or_default().iter() {
                let Some(file) = session.root.file(&location.uri).and_then(|it| queries.files.get(&it).cloned()) else {
                    continue;
                };
                theirs.insert((file.path.to_string(), lsp_conversion::span(&file, location.range)));
            }
            let ours: BTreeSet<(String, Span)> =
                answer.value.items.iter().map(|it| (it.file.to_string(), it.span)).collect();
            if ours != theirs {
                let path = &symbol.path;
                let only = |a: &BTreeSet<_>, b: &BTreeSet<_>| a.difference(b).cloned().collect::<Vec<_>>();
                let (more, less) = (only(&ours, &theirs), only(&theirs, &ours));
                self.differ.push(format!("after {after}: {path}: too many {more:?}, too few {less:?}"));
            }
        }
        let part = carried * 100 / symbols.len().max(1);
        for symbol in &symbols {
            // Incomplete answers are not stored.
            let _ = usages::places(&queries, symbol, Effort::Brief).await;
        }
        session.index.settle();
        part
    }

    fn replace(&mut self, file: &str, from: &str, to: &str) {
        let text = self.fixture.files.get(file).unwrap().text.to_string();
        assert!(text.contains(from), "{file} has no {from}");
        self.fixture.change(file, Some(&text.replacen(from, to, 1)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_index_never_differs_from_what_gopls_says() {
    let fixture = Fixture::new(SHOP);
    fixture.ready().await;
    let mut drift = Drift { fixture, differ: Vec::new(), compared: 0, asked: 0, answered: 0 };
    drift.compare("the start", 1).await;
    for (file, from, to, at_least) in EDITS {
        drift.replace(file, from, to);
        let known = drift.compare(&format!("{from} → {to}"), 1).await;
        assert!(known >= *at_least, "after {from} → {to}: {known} % known");
    }
    assert!(drift.differ.is_empty(), "{}", drift.differ.join("\n"));
    assert!(drift.compared > 200, "{}", drift.compared);
    assert!(drift.answered * 10 > drift.asked * 7, "the checker told of {} of {}", drift.answered, drift.asked);
}

/// `SEMDEX_COMPARE_ROOT` selects another workspace, `SEMDEX_COMPARE_COUNT` the number of edits (60).
#[tokio::test(flavor = "multi_thread")]
async fn the_index_holds_over_edits_by_chance() {
    let root = std::env::var_os("SEMDEX_COMPARE_ROOT").map(PathBuf::from).filter(|it| it.join("go.mod").is_file());
    let (fixture, default) = match &root {
        Some(root) => (Fixture::copy_of(root), 60),
        None => (Fixture::new(SHOP), 25),
    };
    let count = std::env::var("SEMDEX_COMPARE_COUNT").ok().and_then(|it| it.parse().ok()).unwrap_or(default);
    fixture.ready().await;
    let mut drift = Drift { fixture, differ: Vec::new(), compared: 0, asked: 0, answered: 0 };
    drift.compare("the start", 7).await;
    let mut chance = Rng::new(std::env::var("SEMDEX_COMPARE_SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(7));
    let mut parts = Vec::new();
    for number in 0..count {
        let files: Vec<_> = drift.fixture.files.of(LANGUAGE).cloned().collect();
        let file = &files[chance.below(files.len())];
        let Some((what, text)) = edit(&file.text, &mut chance) else { continue };
        let before = file.text.clone();
        drift.fixture.change(&file.path, Some(&text));
        let what = format!("{number}: {what} in {}", file.path);
        parts.push(drift.compare(&what, if root.is_some() { 7 } else { 1 }).await);
        println!("{what}: {} % known", parts.last().unwrap());
        if chance.below(3) > 0 {
            drift.fixture.change(&file.path, Some(&before));
            drift.compare(&format!("{what}, and back"), if root.is_some() { 7 } else { 1 }).await;
        }
    }
    let Drift { compared, asked, answered, .. } = drift;
    println!("{compared} compared, {} differ; the checker told of {answered} of {asked}", drift.differ.len());
    assert!(drift.differ.is_empty(), "{}", drift.differ.join("\n"));
}

/// A random edit of a text, with its name.
fn edit(text: &str, chance: &mut Rng) -> Option<(&'static str, String)> {
    let all = units(text)?;
    let bodies: Vec<&DeclarationSpan> = all.iter().filter(|it| it.body.is_some()).collect();
    let types: Vec<&DeclarationSpan> = all.iter().filter(|it| it.kind == SpanKind::Type).collect();
    fn pick<'a>(of: &[&'a DeclarationSpan], chance: &mut Rng) -> Option<&'a DeclarationSpan> {
        of.get(chance.below(of.len())).copied()
    }
    let put = |span: Span, with: &str| format!("{}{with}{}", &text[..span.start], &text[span.end..]);
    let at = |place: usize| Span::new(place, place);
    let lines = |unit: &DeclarationSpan| -> Vec<Span> {
        let body = unit.body.unwrap_or(unit.span);
        let mut from = body.start;
        let all = text[body.start..body.end].split_inclusive('\n').map(|line| {
            from += line.len();
            Span::new(from - line.len(), from)
        });
        let all: Vec<Span> = all.collect();
        all.get(1..all.len().max(2) - 1).map(<[Span]>::to_vec).unwrap_or_default()
    };
    Some(match chance.below(9) {
        0 => ("a statement added", put(at(pick(&bodies, chance)?.body?.start + 1), "\n\t_ = 0\n")),
        1 => {
            let unit = pick(&bodies, chance)?;
            let lines = lines(unit);
            ("a line dropped", put(*lines.get(chance.below(lines.len()))?, ""))
        }
        2 => {
            let (to, from) = (pick(&bodies, chance)?, pick(&bodies, chance)?);
            let from = from.body?;
            ("the body of another", put(to.body?, &text[from.start..from.end]))
        }
        3 => {
            let unit = pick(&bodies, chance)?;
            let parameters = unit.head().start + text[unit.head().start..unit.head().end].rfind("func ")?;
            let open = parameters + text[parameters..unit.head().end].rfind('(')?;
            ("a parameter more", put(at(open + 1), "extra uint8, "))
        }
        4 => ("a declaration dropped", put(pick(&all.iter().collect::<Vec<_>>(), chance)?.span, "")),
        5 => {
            let unit = pick(&types, chance)?;
            let lines = lines(unit);
            ("a member dropped", put(*lines.get(chance.below(lines.len()))?, ""))
        }
        6 => {
            let unit = pick(&bodies, chance)?;
            let lines = lines(unit);
            let line = *lines.get(chance.below(lines.len()))?;
            ("a line twice", put(at(line.end), &text[line.start..line.end]))
        }
        7 => {
            let (first, second) = (pick(&bodies, chance)?.span, pick(&bodies, chance)?.span);
            if first.end > second.start {
                return None;
            }
            let between = &text[first.end..second.start];
            let (a, b) = (&text[first.start..first.end], &text[second.start..second.end]);
            ("two declarations swapped", put(Span::new(first.start, second.end), &format!("{b}{between}{a}")))
        }
        _ => {
            let unit = pick(&bodies, chance)?;
            let name = chance.below(1000);
            let copy = &text[unit.span.start..unit.span.end];
            let copy = copy.replacen('(', &format!("Copy{name}("), usize::from(unit.kind == SpanKind::Function));
            ("a declaration more", format!("{text}\n{copy}\n"))
        }
    })
}
