//! Doctests are code: usages, renames, impact and affected tests cover them, also in a README that docs include.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::Server;

const MANIFEST: &str = "[package]\nname = \"doct\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

const LIB: &str = "#![doc = include_str!(\"../README.md\")]
//! Said of all.
//!
//!     let it = doct::Ledger { total: 1 };
//!     # let _ = it;

/// Adds two numbers.
///
/// ```
/// use doct::sum;
/// assert_eq!(sum(1, 2), 3);
/// ```
///
/// ```text
/// sum(1, 2)
/// ```
pub fn sum(a: i32, b: i32) -> i32 {
    a + b
}

/// A running total.
///
/// - one
///
///   ```
///   # use doct::Ledger;
///   let mut l = Ledger::default();
///   l.add(5);
///   let Ledger { total } = l;
///   assert_eq!(total, 5);
///   ```
///
/// ```compile_fail
/// doct::Ledger::default().add(\"\");
/// ```
#[derive(Default)]
pub struct Ledger {
    pub total: i32,
}

impl Ledger {
    /** Adds.
     * ```no_run
     * # fn main() -> Result<(), std::num::ParseIntError> {
     * doct::Ledger::default().add(\"1\".parse()?);
     * # Ok(()) }
     * ```
     */
    pub fn add(&mut self, n: i32) {
        self.total = sum(self.total, n);
    }
}
";

const README: &str = "# doct

```rust
let total = doct::sum(3, 4);
assert_eq!(total, 7);
```

```sh
sum 3 4
```
";

fn workspace() -> Server {
    let plain = "/// Nothing.\npub fn plain() {}\n";
    let lib = format!("{LIB}pub mod plain;\n");
    let server =
        Server::on(&[("Cargo.toml", MANIFEST), ("src/lib.rs", &lib), ("src/plain.rs", plain), ("README.md", README)]);
    server.wait_for(|it| it.get("/v1/usages?symbol=doct::sum").1["meta"]["complete"] == true);
    server
}

fn usages(server: &Server, symbol: &str) -> Vec<String> {
    let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}"));
    assert_eq!((status, &reply["meta"]["complete"], &reply["possible"]), (200, &json!(true), &json!([])), "{reply}");
    places(&reply["items"])
}

fn places(items: &Value) -> Vec<String> {
    let place = |it: &Value| {
        let build = it["build"].as_str().map(|it| format!(" {it}")).unwrap_or_default();
        format!("{}:{}:{}{build}", it["file"].as_str().unwrap(), it["line"], it["column"])
    };
    let mut places: Vec<String> = items.as_array().unwrap().iter().map(place).collect();
    places.sort();
    places
}

fn edit(server: &Server, search: &str, replacement: &str) -> Value {
    let edit = json!({"dry_run": true, "edits": [
        {"file": "src/lib.rs", "search_context": search, "replacement": replacement}
    ]});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!(status, 200, "{reply}");
    reply
}

#[test]
fn names_in_doctests_are_usages() {
    let server = workspace();
    assert_eq!(
        usages(&server, "doct::sum"),
        ["README.md:4:19 doctest", "src/lib.rs:10:15 doctest", "src/lib.rs:11:16 doctest", "src/lib.rs:50:22",]
    );
    assert_eq!(
        usages(&server, "doct::Ledger::add"),
        ["src/lib.rs:28:9 doctest", "src/lib.rs:34:29 doctest", "src/lib.rs:45:32 doctest",]
    );
    assert_eq!(
        usages(&server, "doct::Ledger::total"),
        ["src/lib.rs:29:20 doctest", "src/lib.rs:4:33 doctest", "src/lib.rs:50:14", "src/lib.rs:50:31",]
    );
    let (_, reply) = server.get("/v1/usages?symbol=doct::sum");
    let in_readme = reply["items"].as_array().unwrap().iter().find(|it| it["file"] == "README.md").unwrap();
    assert_eq!((&in_readme["test"], &in_readme["role"]), (&json!(true), &json!("call")), "{reply}");
    let (_, reply) = server.get("/v1/callers?symbol=doct::sum");
    assert!(!reply.to_string().contains("README"), "a doctest is no caller: {reply}");
}

#[test]
fn a_rename_changes_doctests() {
    let server = workspace();
    let rename = |symbol: &str, new_name: &str| {
        let (status, reply) = server.post("/v1/rename", &json!({"symbol": symbol, "new_name": new_name}));
        assert_eq!((status, &reply["impact"]["broken"]), (200, &json!([])), "{reply}");
    };
    rename("doct::sum", "add_up");
    assert_eq!(server.home.read("README.md"), README.replace("doct::sum", "doct::add_up"));
    rename("doct::Ledger::total", "balance");
    let text = server.home.read("src/lib.rs");
    assert!(text.contains("///   let Ledger { balance: total } = l;"), "{text}");
    assert!(text.contains("//!     let it = doct::Ledger { balance: 1 };"), "{text}");
    rename("doct::Ledger", "Book");
    let text = server.home.read("src/lib.rs");
    assert!(text.contains("///   let mut l = Book::default();\n///   l.add(5);\n///   let Book { balance"), "{text}");
    assert!(text.contains("/// doct::Book::default().add(\"\");"), "{text}");
    // What is no doctest stays.
    assert!(text.contains("/// ```text\n/// sum(1, 2)\n"), "{text}");
    let cargo = Command::new(std::env::var_os("CARGO").unwrap())
        .args(["test", "--doc", "--offline"])
        .current_dir(server.home.root())
        .output()
        .unwrap();
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stdout));
}

#[test]
fn a_change_breaks_doctests() {
    let server = workspace();
    let reply = edit(&server, "    pub fn add(&mut self, n: i32) {", "    pub fn push(&mut self, n: i32) {");
    assert_eq!(places(&reply["impact"]["broken"]), ["src/lib.rs:28:9 doctest", "src/lib.rs:45:32 doctest"], "{reply}");
    assert_eq!(reply["impact"]["broken"][0]["code"], "E0599", "{reply}");
    let reply = edit(&server, "pub fn sum(a: i32, b: i32)", "pub fn sum(a: i32, b: i32, _c: i32)");
    let broken = places(&reply["impact"]["broken"]);
    assert_eq!(broken, ["README.md:4:13 doctest", "src/lib.rs:11:16 doctest", "src/lib.rs:50:22"], "{reply}");
    // A new doctest.
    let reply = edit(&server, "/// assert_eq!(sum(1, 2), 3);", "/// assert_eq!(sum(1, true), 3);");
    assert_eq!(places(&reply["impact"]["broken"]), ["src/lib.rs:11:23 doctest"], "{reply}");
    assert_eq!(reply["impact"]["broken"][0]["code"], "E0308", "{reply}");
    let reply = edit(&server, "/// assert_eq!(sum(1, 2), 3);", "/// assert_eq!(sum(1, 3), 4);");
    assert_eq!((&reply["impact"]["broken"], &reply["meta"]["complete"]), (&json!([]), &json!(true)), "{reply}");
    // The first doctests of a file and of a README.
    let edit_of = |file: &str, search: &str, replacement: &str| {
        let edits = json!([{"file": file, "search_context": search, "replacement": replacement}]);
        server.post("/v1/edit", &json!({"dry_run": true, "edits": edits})).1
    };
    let reply = edit_of("src/plain.rs", "/// Nothing.", "/// ```\n/// doct::summ(1, 2);\n/// ```");
    assert_eq!(places(&reply["impact"]["broken"]), ["src/plain.rs:2:11 doctest"], "{reply}");
    let reply = edit_of("README.md", "doct::sum(3, 4)", "doct::sum(3)");
    assert_eq!(places(&reply["impact"]["broken"]), ["README.md:4:13 doctest"], "{reply}");
    // A doctest stays, and rustdoc reads it for the first time.
    let off = "/// ```\n/// doct::summ(1, 2);\n/// ```\n#[cfg(any())]\npub fn off() {}\n";
    server.home.write("src/plain.rs", off);
    let reply = edit_of("src/plain.rs", "#[cfg(any())]\n", "");
    assert_eq!(places(&reply["impact"]["broken"]), ["src/plain.rs:2:11 doctest"], "{reply}");
    // Doctests that reach what changes are affected tests.
    server.wait_for(|it| {
        let tests = places(&edit(it, "    a + b\n", "    b + a\n")["impact"]["tests"]).join(" ");
        tests.contains("README.md:4") && tests.contains("src/lib.rs:11")
    });
}

#[test]
fn doctests_follow_the_texts() {
    let server = workspace();
    server.home.write("README.md", "# doct\n\n~~~\nlet it = (\n    doct::sum(3, 4),\n);\n~~~\n");
    let at = |server: &Server| usages(server, "doct::sum").first().cloned();
    assert_eq!(at(&server).as_deref(), Some("README.md:5:11 doctest"));
    server
        .home
        .write("src/lib.rs", &format!("//! ```\n//! doct::sum(5, 6);\n//! ```\n{}", &LIB[LIB.find('\n').unwrap()..]));
    server.wait_for(|it| it.get("/v1/usages?symbol=doct::sum").1["meta"]["complete"] == true);
    assert_eq!(at(&server).as_deref(), Some("src/lib.rs:13:15 doctest"), "the README is included no more");
    server.home.write("src/more.rs", "/// ```\n/// doct::sum(7, 8);\n/// ```\npub fn more() {}\n");
    server.wait_for(|it| it.get("/v1/usages?symbol=doct::sum").1["meta"]["complete"] == true);
    assert_eq!(usages(&server, "doct::sum").len(), 4, "no module line names the file");
}

/// What follows from a missing method in a doctest is not reported beside it.
#[test]
fn a_doctest_is_reported_once() {
    let lib = "pub struct Reader;
impl Reader {
    /// ```
    /// # fn main() -> Result<(), String> {
    /// let found = doct::Reader.next_one()?;
    /// assert_eq!(found, vec![\"a\"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn next_one(&self) -> Result<Vec<&'static str>, String> {
        Ok(vec![\"a\"])
    }
}
";
    let manifest = "[package]\nname = \"doct\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let server = Server::on(&[("Cargo.toml", manifest), ("src/lib.rs", lib)]);
    server.wait_for(|it| it.get("/v1/usages?symbol=doct::Reader::next_one").1["total"] == 1);
    let reply = edit(&server, "pub fn next_one", "pub fn next_all");
    assert_eq!(places(&reply["impact"]["broken"]), ["src/lib.rs:5:34 doctest"], "{reply}");
}
