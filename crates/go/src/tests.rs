//! The Go engine from outside, with the real gopls.

mod as_go_reads;
mod drift;
pub(super) mod fixture;
mod fuzz;
mod round_trip;
pub(super) mod testbed;

use gen_lsp_types::{ExecuteCommandParams, ExecuteCommandRequest};

use self::testbed::{Fixture, deadline, deadlines};
use semdex_engine::{Deadlines, Stop};
use semdex_model::{
    Answer, Calls, ChangeKind, FileEdit, MissingCode, Role, Severity, State, Symbol, SymbolKind, SymbolQuery, Usage,
    Usages,
};
use semdex_process::named_pipes::{Waits, waits_for_pipe};
use semdex_process::resource_usage;

const SHOP: &str = "\
-- go.mod
module example.com/shop

go 1.26
-- cart/cart.go
// Package cart holds what is bought.
package cart

import \"fmt\"

// Cart is a list of things.
type Cart struct {
	Items []string
}

// Add puts a thing into the cart, see [Cart.Total].
func (c *Cart) Add(item string) {
	c.Items = append(c.Items, item)
}

func (c *Cart) Total() int { return len(c.Items) }

func (c *Cart) String() string { return fmt.Sprint(limit(c.Total())) }

func limit(n int) int { return min(n, 10) }

// Totaler is anything with a total.
type Totaler interface {
	Total() int
}
-- cart/cart_test.go
package cart

import \"testing\"

func TestTotal(t *testing.T) {
	var c Cart
	c.Add(\"a\")
	if c.Total() != 1 {
		t.Fatal()
	}
}
-- cart/cart_windows.go
package cart

func (c *Cart) Windows() int { return c.Total() }
-- main.go
package main

import (
	\"fmt\"

	\"example.com/shop/cart\"
)

type Other struct{}

func (Other) Add(item int) {}

func main() {
	var c cart.Cart
	c.Add(\"tea\") /* 😀é */; c.Add(\"milk\")
	Other{}.Add(1)
	fmt.Println(c.Total())
}
";

impl Fixture {
    fn symbol(&self, name: &str) -> Symbol {
        let query = SymbolQuery { symbol: name.to_owned(), ..SymbolQuery::default() };
        let found = self.go.view(self.files.clone()).resolve(&query);
        found.unwrap_or_else(|stop| panic!("{name}: {stop:?}")).remove(0)
    }

    async fn usages(&self, name: &str) -> Answer<Usages> {
        let view = self.go.view(self.files.clone());
        view.usages(&self.symbol(name), deadlines()).await.unwrap()
    }

    async fn errors(&self, files: &[&str]) -> Vec<String> {
        let files: Vec<String> = files.iter().map(|it| (*it).to_owned()).collect();
        let answer = self.go.view(self.files.clone()).diagnostics(&files, deadlines()).await.unwrap();
        let errors = answer.value.into_iter().filter(|it| it.severity == Severity::Error);
        errors.map(|it| format!("{}:{} {}", it.place.file, it.place.line, it.message)).collect()
    }
}

/// Deadlines that have passed.
fn at_once() -> Deadlines {
    let now = std::time::Instant::now();
    Deadlines { ready: now, answer: now }
}

fn places(usages: &[Usage]) -> Vec<String> {
    let place = |it: &Usage| format!("{}:{}:{}", it.place.file, it.place.line, it.place.column);
    usages.iter().map(place).collect()
}

#[tokio::test]
async fn usages_are_counted_and_proved() {
    let fixture = Fixture::new(SHOP);
    let answer = fixture.usages("Cart.Add").await;
    assert_eq!(places(&answer.value.items), ["cart/cart_test.go:7:4", "main.go:15:4", "main.go:15:31"]);
    assert_eq!(answer.value.possible, []);
    assert!(answer.coverage.complete, "{:?}", answer.coverage);
    let first = &answer.value.items[0];
    assert_eq!((first.role, first.test), (Role::Call, true));
    assert_eq!(first.symbol.as_deref(), Some("example.com/shop/cart.TestTotal"));
    assert_eq!(first.text, "\tc.Add(\"a\")");

    // A file for another system may contain a usage, which cannot be excluded.
    let answer = fixture.usages("Cart.Total").await;
    assert_eq!(places(&answer.value.items), ["cart/cart.go:18:60", "cart/cart_test.go:8:7", "main.go:17:16"]);
    assert_eq!(places(&answer.value.possible), ["cart/cart_windows.go:3:41"]);
    assert!(!answer.coverage.complete);
    assert_eq!(answer.coverage.missing[0].code, MissingCode::CfgOff);

    let answer = fixture.usages("cart.limit").await;
    assert_eq!(places(&answer.value.items), ["cart/cart.go:18:52"]);
    assert!(answer.coverage.complete);
}

#[tokio::test]
async fn errors_hide_usages_and_that_is_said() {
    let mut fixture = Fixture::new(SHOP);
    fixture.change("main.go", Some("package main\n\nfunc main() {\n\tc := nowhere()\n\tc.Add(\"tea\")\n}\n"));
    let answer = fixture.usages("Cart.Add").await;
    assert_eq!(places(&answer.value.items), ["cart/cart_test.go:7:4"]);
    assert_eq!(places(&answer.value.possible), ["main.go:5:4"]);
    assert!(!answer.coverage.complete);
}

#[tokio::test]
async fn a_change_from_outside_is_seen_at_once() {
    let mut fixture = Fixture::new(SHOP);
    let old = fixture.go.view(fixture.files.clone());
    let symbol = fixture.symbol("Cart.Add");
    assert_eq!(fixture.usages("Cart.Add").await.value.items.len(), 3);
    let renamed: Vec<(String, String)> = fixture
        .files
        .iter()
        .map(|file| (file.path.to_string(), file.text.replace("Add(", "Put(")))
        .filter(|(file, text)| fixture.files.get(file).is_some_and(|it| *it.text != **text))
        .collect();
    for (file, text) in &renamed {
        fixture.change(file, Some(text));
    }
    assert_eq!(fixture.usages("Cart.Put").await.value.items.len(), 3);
    assert_eq!(fixture.errors(&["main.go", "cart/cart_test.go"]).await, [""; 0]);
    assert_eq!(old.usages(&symbol, deadlines()).await, Err(Stop::Stale));

    fixture.change("cart/more.go", Some("package cart\n\nfunc more(c *Cart) { c.Put(\"more\") }\n"));
    assert_eq!(fixture.usages("Cart.Put").await.value.items.len(), 4);
    fixture.change("cart/more.go", None);
    assert_eq!(fixture.usages("Cart.Put").await.value.items.len(), 3);
    let import = "package new\n\nimport \"example.com/shop/cart\"\n\n";
    fixture.change("new/new.go", Some(&format!("{import}func new(c *cart.Cart) {{ c.Put(\"new\") }}\n")));
    let answer = fixture.usages("Cart.Put").await;
    assert_eq!(answer.value.items.len(), 4, "a package that gopls has never seen: {:?}", answer.coverage);
    fixture.change("new/new.go", Some(&format!("{import}var _ = cart.Cart.Put\n")));
    assert_eq!(fixture.errors(&["new/new.go"]).await.len(), 1, "a pointer's method on a value");
}

#[tokio::test]
async fn a_broken_manifest_is_reported_and_a_mended_one_seen_at_once() {
    let mut fixture = Fixture::new(SHOP);
    assert!(fixture.usages("Cart.Add").await.coverage.complete);
    let good = fixture.files.get("go.mod").unwrap().text.clone();
    for broken in [Some("modul x\n"), None] {
        fixture.change("go.mod", broken);
        let answer = fixture.usages("Cart.Add").await;
        assert!(!answer.coverage.complete, "{broken:?}: {answer:?}");
        fixture.change("go.mod", Some(&good));
        let answer = fixture.usages("Cart.Add").await;
        assert_eq!(answer.value.items.len(), 3, "{broken:?}: {:?}", answer.coverage);
        assert!(answer.coverage.complete, "{broken:?}: {:?}", answer.coverage);
    }
    fixture.change(
        "nested/go.mod",
        Some("module example.com/nested\n\ngo 1.26\n\nrequire example.com/shop v0.0.0\n\nreplace example.com/shop => ../\n"),
    );
    fixture.change(
        "nested/n.go",
        Some("package nested\n\nimport \"example.com/shop/cart\"\n\nvar _ = (*cart.Cart).Add\n"),
    );
    let answer = fixture.usages("Cart.Add").await;
    assert_eq!(answer.value.items.len(), 4, "a module of its own: {answer:?}");
    assert!(answer.coverage.complete, "{:?}", answer.coverage);
}

/// The go command opens a named pipe in a file's place and waits for a writer, also after the pipe is gone.
#[tokio::test]
async fn a_first_load_that_waits_for_what_is_gone_is_begun_anew() {
    let mut shop = Fixture::new(SHOP);
    shop.ready().await;
    let vendor = shop.directory.path().join("vendor");
    std::fs::create_dir(&vendor).unwrap();
    let pipe = vendor.join("modules.txt");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let mut status = shop.go.status();
    let pid = status.borrow().pid.expect("gopls runs");
    let killed = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(killed, rustix::process::Signal::KILL).unwrap();
    // It can be opened once a process reads it, which waits as long as it is open.
    let opened = tokio::task::spawn_blocking(move || std::fs::OpenOptions::new().write(true).open(pipe));
    let opened = tokio::time::timeout_at(deadline().into(), opened).await.expect("the go command reads it");
    let _writer = opened.unwrap().unwrap();
    std::fs::remove_dir_all(&vendor).unwrap();
    let text = shop.files.get("cart/cart.go").unwrap().text.to_string();
    shop.change("cart/cart.go", Some(&format!("{text}\n// More.\n")));
    let again = status.wait_for(|it| it.state == State::Ready && it.pid.is_some_and(|it| it != pid));
    tokio::time::timeout_at(deadline().into(), again).await.expect("another gopls comes up").unwrap();
    assert_eq!(shop.usages("Cart.Add").await.value.items.len(), 3);
}

/// The pipe existed for such a short time that no change was reported.
#[tokio::test]
async fn a_load_that_waits_for_a_pipe_that_is_gone_is_begun_anew() {
    let shop = Fixture::new(SHOP);
    shop.ready().await;
    let pipe = shop.directory.path().join("cart/piped.go");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let mut status = shop.go.status();
    let pid = status.borrow().pid.expect("gopls runs");
    let killed = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(killed, rustix::process::Signal::KILL).unwrap();
    let another = status.wait_for(|it| it.pid.is_some_and(|it| it != pid));
    let another = tokio::time::timeout_at(deadline().into(), another).await.expect("another gopls").unwrap().pid;
    let limit = deadline();
    while waits_for_pipe(another.unwrap()) != Waits::Yes {
        assert!(std::time::Instant::now() < limit, "the go command opens it");
        tokio::task::yield_now().await;
    }
    std::fs::remove_file(&pipe).unwrap();
    let ready = status.wait_for(|it| it.state == State::Ready && it.pid != another);
    tokio::time::timeout_at(deadline().into(), ready).await.expect("a third one comes up").unwrap();
    assert_eq!(shop.usages("Cart.Add").await.value.items.len(), 3);
}

/// The same state as when gopls checks types without an end, and the text is mended.
#[tokio::test]
async fn a_gopls_that_answers_nothing_is_replaced_once_something_changes() {
    let mut shop = Fixture::new(SHOP);
    shop.ready().await;
    let mut status = shop.go.status();
    let pid = status.borrow().pid.expect("gopls runs");
    let stopped = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(stopped, rustix::process::Signal::STOP).unwrap();
    let views = ExecuteCommandParams { command: "gopls.views".to_owned(), ..ExecuteCommandParams::default() };
    let session = shop.go.view(shop.files.clone()).session.clone();
    let limit = deadline();
    // A request counts only if gopls had it for long enough; one may still be answered before all its threads stand.
    while status.borrow().progress.as_ref().is_none_or(|it| it.stage != "gopls does not answer") {
        assert!(std::time::Instant::now() < limit, "{:?}", *status.borrow());
        let soon = std::time::Instant::now() + std::time::Duration::from_secs(2);
        _ = session.ask::<ExecuteCommandRequest>(&[], &views, Deadlines { answer: soon, ..deadlines() }).await;
    }
    let text = shop.files.get("cart/cart.go").unwrap().text.to_string();
    shop.change("cart/cart.go", Some(&format!("{text}\n// More.\n")));
    let again = status.wait_for(|it| it.state == State::Ready && it.pid.is_some_and(|it| it != pid));
    tokio::time::timeout_at(deadline().into(), again).await.expect("another gopls comes up").unwrap();
    assert_eq!(shop.usages("Cart.Add").await.value.items.len(), 3);
}

/// The same state as when the go command waits for a writer of a named pipe in a file's place that is gone by then.
#[tokio::test]
async fn a_load_that_does_not_end_is_begun_anew_once_something_changes() {
    let mut shop = Fixture::new(SHOP);
    shop.ready().await;
    let stuck = shop.go.view(shop.files.clone()).session.checker.pid().expect("the checker runs");
    let pid = rustix::process::Pid::from_raw(stuck.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    shop.change("go.mod", Some("module example.com/shop\n\ngo 1.25\n"));
    let text = shop.files.get("cart/cart.go").unwrap().text.to_string();
    for times in 1.. {
        shop.change("cart/cart.go", Some(&format!("{text}\n// {times}.\n")));
        let session = shop.go.view(shop.files.clone()).session.clone();
        let settled = tokio::time::timeout(std::time::Duration::from_secs(5), session.checker.settled()).await;
        if settled.is_ok() && session.checker.pid() != Some(stuck) {
            break;
        }
        assert!(times < 60, "another checker has loaded");
    }
    shop.ready().await;
    assert_eq!(shop.usages("Cart.Add").await.value.items.len(), 3);
}

#[tokio::test]
async fn a_change_that_keeps_the_modification_time_is_seen() {
    let mut fixture = Fixture::new(SHOP);
    let path = fixture.directory.path().join("cart/cart_test.go");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let keep = |path: &std::path::Path| std::fs::File::open(path).unwrap().set_modified(old).unwrap();
    keep(&path);
    fixture.ready().await;
    let text = fixture.files.get("cart/cart_test.go").unwrap().text.clone();
    for (text, count) in
        [(text.replace("c.Add", "c.Items = nil //"), 2), (text.to_string(), 3), ("package cart\n".into(), 2)]
    {
        // Written in place with the time restored, before any notification.
        std::fs::write(&path, &text).unwrap();
        keep(&path);
        fixture.report("cart/cart_test.go", &text);
        assert_eq!(fixture.usages("Cart.Add").await.value.items.len(), count, "{text}");
    }
}

#[tokio::test]
async fn gopls_comes_back_when_it_is_killed() {
    let mut fixture = Fixture::new(SHOP);
    fixture.ready().await;
    let mut status = fixture.go.status();
    for round in 1..=2 {
        let pid = status.borrow().pid.expect("gopls runs");
        // Invalidates cached results.
        fixture.change("cart/more.go", Some(&format!("package cart\n\nconst more = {round}\n")));
        let asks = ["Cart.Add", "Cart.Total", "Cart"].map(|name| fixture.usages(name));
        let kill = async {
            let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        };
        let (answers, ()) = futures::join!(futures::future::join_all(asks), kill);
        for answer in answers {
            assert!(!answer.value.items.is_empty(), "{:?}", answer.coverage);
        }
        let again = status.wait_for(|it| it.state == State::Ready && it.pid.is_some_and(|it| it != pid));
        tokio::time::timeout_at(deadline().into(), again).await.expect("gopls comes back").unwrap();
        assert_eq!(status.borrow().restarts, round);
    }
}

const CALLS: &str = "\
-- go.mod
module example.com/calls

go 1.26
-- a/a.go
package a

import \"strings\"

type Runner interface{ Run() string }

type Job struct{}

func (Job) Run() string { return step(1) }

func step(n int) string { return strings.Repeat(\"x\", n) }

func All(runners []Runner) (all string) {
	each := func(it Runner) string { return it.Run() }
	for _, it := range runners {
		all += /* 😀é */ each(it) + step(len(all))
	}
	defer func() { _ = step(3) }()
	return all + string(all) + pick(step)(2)
}

func pick[T any](it T) T { return it }

var first, second = step(4), func() string { return step(5) }()

// See [step].
func init() { Job{}.Run() }

func init() { step(6) }
-- a/a_test.go
package a

import \"testing\"

func TestStep(t *testing.T) { step(7); step(8) }
";

fn lines_of(calls: &[Calls]) -> Vec<String> {
    let line = |it: &Calls| {
        let sites: Vec<String> = it.calls.iter().map(|it| format!("{}:{}", it.place.line, it.place.column)).collect();
        format!("{} {}", it.symbol.path.replace("example.com/calls/", ""), sites.join(" "))
    };
    calls.iter().map(line).collect()
}

#[tokio::test]
async fn calls_go_both_ways() {
    let mut fixture = Fixture::new(CALLS);
    let view = fixture.go.view(fixture.files.clone());
    let answer = view.callers(&fixture.symbol("a.step"), None, deadlines()).await.unwrap();
    assert!(answer.coverage.complete, "{:?}", answer.coverage);
    assert_eq!(
        lines_of(&answer.value),
        [
            "a.Job.Run 9:34",
            "a.All 16:34 18:21 19:34",
            "a.first 24:21 24:53",
            "a.go#2@a.init 29:15",
            "a.TestStep 5:31 5:40",
        ]
    );
    let test = &answer.value[4].calls[0];
    assert!(test.test && test.text == "func TestStep(t *testing.T) { step(7); step(8) }");
    assert_eq!(test.place.file, "a/a_test.go");
    let all = view.callees(&fixture.symbol("a.All"), deadlines()).await.unwrap();
    assert!(all.coverage.complete, "{:?}", all.coverage);
    assert_eq!(lines_of(&all.value), ["a.Runner.Run 14:45", "a.step 16:34 18:21", "a.pick 19:29"]);
    let step = view.callees(&fixture.symbol("a.step"), deadlines()).await.unwrap().value;
    assert_eq!(lines_of(&step), ["strings.Repeat 11:42"]);
    assert!(step[0].symbol.external);
    let first = view.callees(&fixture.symbol("a.first"), deadlines()).await.unwrap().value;
    assert_eq!(lines_of(&first), ["a.step 24:21 24:53"]);
    let nobody = view.callers(&fixture.symbol("a.go#1@a.init"), None, deadlines()).await.unwrap();
    assert_eq!((nobody.value, nobody.coverage.complete), (Vec::new(), true));
    // A call through the interface may call this method.
    let run = view.callers(&fixture.symbol("a.Job.Run"), None, deadlines()).await.unwrap().value;
    assert_eq!(lines_of(&run), ["a.All 14:45", "a.go#1@a.init 27:21"]);

    fixture.change("a/a_test.go", Some("package a\n\nfunc broken() { nowhere(step(1)) }\n"));
    let view = fixture.go.view(fixture.files.clone());
    let answer = view.callees(&fixture.symbol("a.broken"), deadlines()).await.unwrap();
    assert_eq!(lines_of(&answer.value), ["a.step 3:25"]);
    assert!(!answer.coverage.complete);
}

#[tokio::test]
async fn without_time_the_answer_says_so() {
    let fixture = Fixture::new(SHOP);
    let view = fixture.go.view(fixture.files.clone());
    let answer = view.usages(&fixture.symbol("Cart.Add"), at_once()).await.unwrap();
    assert!(!answer.coverage.complete);
    assert_eq!(answer.coverage.missing[0].code, MissingCode::Indexing);
    assert_eq!(answer.value.items, []);
    assert_eq!(answer.value.possible.len(), 4, "what the text alone can tell");
}

#[tokio::test]
async fn a_name_is_understood_behind_odd_characters() {
    let fixture = Fixture::new(SHOP);
    let view = fixture.go.view(fixture.files.clone());
    let text = fixture.files.get("main.go").unwrap().text.clone();
    let offset = text.find("Add(\"milk").unwrap();
    let answer = view.symbol_at("main.go", offset + 1, deadlines()).await.unwrap();
    let at = answer.value;
    assert_eq!(at.symbol.unwrap().path, "example.com/shop/cart.Cart.Add");
    assert_eq!((at.at.start, at.at.end), (offset, offset + 3));
    assert_eq!(at.ty.as_deref(), Some("func (c *cart.Cart) Add(item string)"));
    assert!(at.hover.unwrap().contains("puts a thing"));

    let external = view.symbol_at("main.go", text.find("Println").unwrap(), deadlines()).await.unwrap().value;
    let symbol = external.symbol.unwrap();
    assert_eq!((symbol.path.as_str(), symbol.external), ("fmt.Println", true));
    assert!(symbol.place.file.starts_with('/'), "{}", symbol.place.file);

    let local = view.symbol_at("main.go", text.find("c.Add").unwrap(), deadlines()).await.unwrap().value;
    let symbol = local.symbol.unwrap();
    assert_eq!((symbol.name.as_str(), symbol.kind), ("c", SymbolKind::Variable));
    assert_eq!(local.ty.as_deref(), Some("cart.Cart"));

    let nothing = view.symbol_at("main.go", 0, deadlines()).await.unwrap();
    assert_eq!(nothing.value.symbol, None);
    assert!(nothing.coverage.complete);
}

#[tokio::test]
async fn an_overview_counts_what_a_file_gives_and_takes() {
    let fixture = Fixture::new(SHOP);
    let view = fixture.go.view(fixture.files.clone());
    let overview = view.overview("cart/cart.go", deadlines()).await.unwrap().value;
    let counts: Vec<(&str, usize)> =
        overview.symbols.iter().map(|it| (it.name.as_str(), it.usages.unwrap().total)).collect();
    let expected = [("Cart", 5), ("Add", 3), ("Total", 3), ("String", 0), ("limit", 1), ("Totaler", 0)];
    assert_eq!(counts, expected);
    let upstream: Vec<&str> = overview.upstream.iter().flat_map(|it| &it.symbols).map(String::as_str).collect();
    assert_eq!(upstream, ["fmt.Sprint"]);
    let main = overview.downstream.iter().find(|it| it.file == "main.go").unwrap();
    // The interface's method counts too: gopls counts a call of it as a usage of the implementation.
    assert_eq!((main.count, main.symbols.len()), (4, 4));
}

#[tokio::test]
async fn symbols_outside_are_described() {
    let fixture = Fixture::new(SHOP);
    fixture.ready().await;
    let symbol = fixture.symbol("net/http.Client.Do");
    assert!(symbol.external && symbol.signature.starts_with("func (c *Client) Do("), "{symbol:?}");
    let println = fixture.symbol("fmt.Println");
    let view = fixture.go.view(fixture.files.clone());
    let described = view.describe(&println, deadlines()).await.unwrap().value;
    assert!(described.source.unwrap().contains("Fprintln(os.Stdout"));
    assert_eq!(places(&view.usages(&println, deadlines()).await.unwrap().value.items), ["main.go:17:6"]);
    let ask = |symbol: &str, file: &str| {
        let file = (!file.is_empty()).then(|| file.to_owned());
        match view.resolve(&SymbolQuery { symbol: symbol.to_owned(), file, ..SymbolQuery::default() }) {
            Ok(found) => found[0].path.clone(),
            Err(Stop::Failed(error)) => error.help.suggestions.join(" "),
            Err(Stop::Stale) => "stale".to_owned(),
        }
    };
    assert_eq!(ask("fmt.Println", "main.go"), "fmt.Println");
    assert_eq!(ask("fmt.Printn", "main.go").split(' ').next(), Some("fmt.Println"));
    assert_eq!(ask("net/http.client.Do", "").split(' ').next(), Some("net/http.Client.Do"));
    assert_eq!(ask("cart.cart.total", "").split(' ').next(), Some("example.com/shop/cart.Cart.Total"));
    assert_eq!(["error", "make", "any"].map(|it| ask(it, "")), ["builtin.error", "builtin.make", "builtin.any"]);
    for (name, says) in [("make", "allocates and initializes"), ("error", "conventional interface"), ("any", "alias")] {
        let symbol = fixture.symbol(name);
        let described = view.describe(&symbol, deadlines()).await.unwrap().value;
        assert!(described.docs.is_some_and(|it| it.contains(says)), "{name}");
        assert!(described.version.is_some_and(|it| it.contains("1.")), "{name}");
    }
    for (name, expected) in [("len", 1), ("min", 1), ("append", 1), ("error.Error", 0)] {
        let usages = view.usages(&fixture.symbol(name), deadlines()).await.unwrap();
        let (found, possible) = (usages.value.items.len(), usages.value.possible.len());
        assert_eq!((found, possible, usages.coverage.complete), (expected, 0, true), "{name}: {:?}", usages.coverage);
    }
    let described = view.describe(&fixture.symbol("cart.Cart"), deadlines()).await.unwrap().value;
    let children: Vec<&str> = described.symbol.children.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(children, ["Items", "Add", "Total", "String", "Windows"]);
    assert_eq!(described.implementations[0].path, "example.com/shop/cart.Totaler");
    let add = view.describe(&fixture.symbol("Cart.Add"), deadlines()).await.unwrap().value;
    assert_eq!(add.docs.as_deref(), Some("Add puts a thing into the cart, see [example.com/shop/cart.Cart.Total]."));
    let package = view.package("encoding/json").unwrap().value;
    assert!(package.external && package.symbols.iter().any(|it| it.name == "Marshal"));
    let implementations = view.implementations(&fixture.symbol("Totaler"), deadlines()).await.unwrap().value;
    assert_eq!(implementations.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["example.com/shop/cart.Cart"]);
}

#[tokio::test]
async fn a_dry_run_names_what_breaks_and_leaves_no_trace() {
    let fixture = Fixture::new(SHOP);
    let view = fixture.go.view(fixture.files.clone());
    let old = fixture.files.get("cart/cart.go").unwrap().text.clone();
    let new = old.replace("Add(item string)", "Add(item string, n int)");
    let edit = FileEdit { file: "cart/cart.go".to_owned(), old: Some(old), new: Some(new.into()) };
    let change_impact = fixture.go.impact(&view, std::slice::from_ref(&edit), deadlines()).await.unwrap();
    let impact = &change_impact.impact;
    let changed: Vec<_> = impact.changed.iter().map(|it| (it.symbol.as_str(), it.kind)).collect();
    assert_eq!(changed, [("example.com/shop/cart.Cart.Add", ChangeKind::Signature)]);
    let broken: Vec<_> =
        impact.broken.iter().map(|it| (it.at.place.file.as_str(), it.at.place.line, it.at.cause.as_deref())).collect();
    let cause = Some("example.com/shop/cart.Cart.Add");
    assert_eq!(broken, [("cart/cart_test.go", 7, cause), ("main.go", 15, cause), ("main.go", 15, cause)]);
    assert!(impact.broken[0].reason.contains("not enough arguments"), "{}", impact.broken[0].reason);
    assert_eq!(impact.tests.len(), 1);
    assert_eq!(change_impact.new.len(), 3);
    assert!(change_impact.coverage.complete, "{:?}", change_impact.coverage);

    // A file that does not exist yet, and one that is deleted.
    let created =
        FileEdit { file: "cart/x.go".to_owned(), old: None, new: Some("package cart\n\nfunc limit() {}\n".into()) };
    let change_impact = fixture.go.impact(&view, &[created], deadlines()).await.unwrap();
    assert!(change_impact.new.iter().any(|it| it.message.contains("redeclared")), "{:?}", change_impact.new);
    let main = fixture.files.get("cart/cart.go").unwrap().text.clone();
    let deleted = FileEdit { file: "cart/cart.go".to_owned(), old: Some(main), new: None };
    let change_impact = fixture.go.impact(&view, &[deleted], deadlines()).await.unwrap();
    assert!(change_impact.impact.broken.iter().any(|it| it.at.place.file == "main.go"), "{change_impact:?}");

    assert_eq!(fixture.errors(&["cart/cart.go", "main.go", "cart/cart_test.go"]).await, [""; 0]);
    assert_eq!(fixture.usages("Cart.Add").await.value.items.len(), 3);
    assert_eq!(fixture.go.status().borrow().restarts, 0);
}

#[tokio::test]
async fn a_dry_run_that_is_not_answered_is_not_an_empty_one() {
    let fixture = Fixture::new(SHOP);
    let old = fixture.files.get("cart/cart.go").unwrap().text.clone();
    let new = old.replace("Add(item string)", "Add(item string, n int)");
    let edit = FileEdit { file: "cart/cart.go".to_owned(), old: Some(old), new: Some(new.into()) };
    let impact_of = async || {
        let view = fixture.go.view(fixture.files.clone());
        let change_impact = fixture.go.impact(&view, std::slice::from_ref(&edit), at_once()).await.unwrap();
        assert_eq!(change_impact.impact.broken, []);
        assert_eq!(change_impact.impact.changed.len(), 1, "the text alone says it");
        assert!(!change_impact.coverage.complete, "{change_impact:?}");
        let code = change_impact.coverage.missing[0].code;
        assert!(
            change_impact.impact.unchecked.iter().any(|it| it.code == code.name()),
            "{:?}",
            change_impact.impact.unchecked
        );
        code
    };
    // gopls has not started yet, then it is busy, then it is gone.
    assert_eq!(impact_of().await, MissingCode::Indexing);
    fixture.ready().await;
    let busy = fixture.go.session.gate.read().await;
    fixture.go.session.checker.enter_nothing();
    assert_eq!(impact_of().await, MissingCode::Timeout);
    drop(busy);
    fixture.go.shutdown().await;
    assert_eq!(impact_of().await, MissingCode::EngineDown);
}

#[tokio::test]
async fn what_only_another_build_takes_is_not_checked_before_that_is_read() {
    let fixture = Fixture::new(SHOP);
    let old = fixture.files.get("cart/cart_windows.go").unwrap().text.clone();
    let new = old.replace("c.Total()", "c.Nothing()");
    let edit = FileEdit { file: "cart/cart_windows.go".to_owned(), old: Some(old), new: Some(new.into()) };
    let view = fixture.go.view(fixture.files.clone());
    let change_impact = fixture.go.impact(&view, std::slice::from_ref(&edit), deadlines()).await.unwrap();
    assert!(!change_impact.coverage.complete, "{change_impact:?}");
    let missing = &change_impact.coverage.missing;
    assert!(
        missing.iter().any(|it| it.code == MissingCode::Indexing && it.detail.contains("GOOS=windows")),
        "{missing:?}"
    );
}

#[tokio::test]
async fn ready_is_what_knows_all_usages() {
    let fixture = Fixture::new(SHOP);
    fixture.ready().await;
    let session = &fixture.go.session;
    let generation = session.documents().generation();
    assert!(session.index.knows(generation, &fixture.symbol("Cart.Add")));
    assert!(session.checker.is_ready());
    assert!(fixture.go.status().borrow().warm);
}

#[tokio::test]
async fn what_is_not_looked_for_is_not_fixed() {
    let mut fixture = Fixture::new(SHOP);
    let show = "package cart\n\nimport \"fmt\"\n\nfunc show() { fmt.Printf(\"%d\", \"x\") }\n";
    let healthy = &*format!("{show}\nfunc other() int {{\n\treturn 1\n}}\n\nvar _, _ = show, other\n");
    let broken = healthy.replace("return 1", "return true");
    let unparsable = broken.replace("func other() int {", "func other() int } {");
    let mended = healthy.replace("%d", "%s");
    // The messages of the diagnostics that appear and disappear when the first text becomes the second.
    let impact_of = async |fixture: &Fixture, old: &str, new: &str| {
        let edit = FileEdit { file: "cart/show.go".into(), old: Some(old.into()), new: Some(new.into()) };
        let change_impact = fixture.impact_by_gopls(&[edit]).await;
        let said = |found: Vec<semdex_model::Diagnostic>| found.into_iter().map(|it| it.source).collect::<Vec<_>>();
        (said(change_impact.new), said(change_impact.fixed))
    };
    let sources = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    fixture.change("cart/show.go", Some(healthy));
    assert_eq!(impact_of(&fixture, healthy, &mended).await, (sources(&[]), sources(&["printf"])));
    assert_eq!(impact_of(&fixture, healthy, &broken).await, (sources(&["compiler"]), sources(&[])));
    fixture.change("cart/show.go", Some(&broken));
    assert_eq!(impact_of(&fixture, &broken, healthy).await, (sources(&[]), sources(&["compiler"])));
    let (new, fixed) = impact_of(&fixture, &broken, &unparsable).await;
    assert!(new.iter().any(|it| it == "syntax"), "{new:?}");
    assert_eq!(fixed, sources(&[]), "a type error that nobody looks for");
}

#[tokio::test]
async fn nothing_is_left_running() {
    let mut fixture = Fixture::with_trust(SHOP, false);
    fixture.ready().await;
    let status = fixture.go.status();
    let pid = status.borrow().pid.unwrap();
    assert!(resource_usage::resident_memory(pid).is_some());
    assert_eq!(status.borrow().missing[0].code, MissingCode::Untrusted);
    assert_eq!(status.borrow().version.as_deref(), Some(super::install::VERSION));
    fixture.go.shutdown().await;
    assert_eq!(resource_usage::resident_memory(pid), None);
    assert_eq!(status.borrow().state, State::Degraded);
    assert_eq!(fixture.usages("Cart.Add").await.value.items.len(), 3, "what is known stays known");
    fixture.change("later.go", Some("package shop\n"));
    let answer = fixture.go.view(fixture.files.clone()).diagnostics(&[], deadlines()).await.unwrap();
    assert!(!answer.coverage.complete);
    assert_eq!(answer.coverage.missing[0].code, MissingCode::EngineDown);
}
