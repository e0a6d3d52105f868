//! `--format short`: each item of a reply as `path:line:column: text`, which terminals make clickable and editors read
//! as a list of errors.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::Value;

/// The format of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    Markdown,
    Json,
    /// A line for each place: `path:line:column: text`.
    Short,
}

/// The option of the commands that list places.
#[derive(Debug, Args)]
pub struct Listing {
    /// Output format; `short` is one line for each place, for editors.
    #[arg(long, value_enum, conflicts_with = "json")]
    format: Option<ListFormat>,
}

impl Listing {
    pub(super) fn is_json(&self) -> bool {
        self.format == Some(ListFormat::Json)
    }

    pub(super) fn is_short(&self) -> bool {
        self.format == Some(ListFormat::Short)
    }
}

/// The lines of a JSON reply whose files are relative to `root`, as seen from `current`; and what the reply says about
/// its completeness, a line for each reason.
pub(super) fn short_lines(reply: &Value, root: &Path, current: &Path) -> (String, Vec<String>) {
    let mut lines = String::new();
    let mut add = |place: &Value, text: &str| {
        let Some(file) = place["file"].as_str() else { return };
        let file = seen_from(current, &root.join(file));
        // A symbol begins with its docs: its name is what an editor should show. The name has no column.
        let begins = place["line"].as_u64().unwrap_or(1);
        let line = place["name_at"]["line"].as_u64().unwrap_or(begins);
        let column = place["column"].as_u64().filter(|_| line == begins).unwrap_or(1);
        // If even this fails, there is no memory.
        let _ = writeln!(lines, "{}:{line}:{column}: {}", file.display(), one_line(text));
    };
    for item in listed(reply, "items") {
        match &item["calls"] {
            // Callers and callees: the calls are the places.
            Value::Array(calls) => calls.iter().for_each(|it| add(it, text(it))),
            _ => add(item, &said(item)),
        }
    }
    for item in listed(reply, "possible") {
        add(item, &format!("possible: {}", text(item)));
    }
    let mut below: Vec<&Value> = listed(reply, "symbols").iter().rev().collect();
    while let Some(symbol) = below.pop() {
        add(symbol, &said(symbol));
        below.extend(listed(symbol, "children").iter().rev());
    }
    for it in listed(&reply["impact"], "broken") {
        let of = |name: &str| it[name].as_str().unwrap_or_default();
        add(it, &format!("error[{}]: {}", of("code"), of("reason")));
    }
    for it in listed(&reply["diagnostics"], "new").iter().chain(listed(reply, "new")) {
        add(it, &said(it));
    }
    (lines, doubts(reply))
}

/// What is known to be missing.
fn doubts(reply: &Value) -> Vec<String> {
    if reply["meta"]["complete"] != false {
        return Vec::new();
    }
    let of = |it: &Value| {
        format!("{}: {}", it["code"].as_str().unwrap_or_default(), it["detail"].as_str().unwrap_or_default())
    };
    listed(&reply["meta"], "missing").iter().map(of).collect()
}

fn listed<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(item: &Value) -> &str {
    item["text"].as_str().unwrap_or_default()
}

/// A diagnostic as compilers print it, a symbol by its signature, and any other place by the text of its line.
fn said(item: &Value) -> String {
    let of = |name: &str| item[name].as_str();
    match (of("message"), of("signature")) {
        (Some(message), _) => {
            let code = of("code").map(|it| format!("[{it}]")).unwrap_or_default();
            format!("{}{code}: {message}", of("severity").unwrap_or("error"))
        }
        (None, Some(signature)) => {
            format!("{} {}: {signature}", of("kind").unwrap_or_default(), of("path").unwrap_or_default())
        }
        (None, None) => text(item).to_owned(),
    }
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A full path, as it is named in a directory.
fn seen_from(current: &Path, path: &Path) -> PathBuf {
    if let Ok(below) = path.strip_prefix(current) {
        return below.to_owned();
    }
    let common = current.components().zip(path.components()).take_while(|(left, right)| left == right).count();
    // Only the root directory in common: the full path is shorter.
    if common <= 1 {
        return path.to_owned();
    }
    let up = current.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(reply: Value, current: &str, expected: &str) {
        assert_eq!(short_lines(&reply, Path::new("/w"), Path::new(current)).0, expected);
    }

    #[test]
    fn each_reply_has_its_places() {
        let place = |line: usize, text: &str| json!({"file": "src/a.rs", "line": line, "column": 5, "text": text});
        check(
            json!({"items": [place(3, "  a(1);")], "possible": [place(9, "b!(a)")]}),
            "/w",
            "src/a.rs:3:5: a(1);\nsrc/a.rs:9:5: possible: b!(a)\n",
        );
        check(
            json!({"items": [{"symbol": {"path": "x"}, "calls": [place(3, "a(1)"), place(4, "a(2)")]}]}),
            "/w/src",
            "a.rs:3:5: a(1)\na.rs:4:5: a(2)\n",
        );
        let broken = json!({"file": "src/a.rs", "line": 3, "column": 1, "code": "E0061", "reason": "too few"});
        check(json!({"impact": {"broken": [broken]}}), "/w/tests", "../src/a.rs:3:1: error[E0061]: too few\n");
        let diagnostic =
            json!({"file": "src/a.rs", "line": 1, "column": 2, "severity": "warning", "message": "a\n  b"});
        check(json!({"items": [diagnostic]}), "/elsewhere", "/w/src/a.rs:1:2: warning: a b\n");
        let symbol = |name: &str| json!({"path": name, "kind": "method", "signature": "fn f()", "file": "src/a.rs", "line": 1, "column": 1, "name_at": {"line": 2}});
        let mut parent = symbol("p");
        parent["children"] = json!([symbol("c")]);
        check(
            json!({"symbols": [parent, symbol("q")]}),
            "/w",
            "src/a.rs:2:1: method p: fn f()\nsrc/a.rs:2:1: method c: fn f()\nsrc/a.rs:2:1: method q: fn f()\n",
        );
    }

    #[test]
    fn what_is_missing_is_said() {
        let meta = json!({"complete": false, "missing": [{"code": "indexing", "detail": "wait"}]});
        let said = |meta: &Value| short_lines(&json!({"items": [], "meta": meta}), Path::new("/"), Path::new("/")).1;
        assert_eq!(said(&meta), ["indexing: wait"]);
        assert!(said(&json!({"complete": true, "missing": [{"code": "budget"}]})).is_empty());
    }
}
