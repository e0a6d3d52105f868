//! What code may name where: languages and their tools, processes, impure modules of std, and what no test does.

use super::complaint::Complaint;
use super::source::{Kind, Source, Word};

/// The crates above the engines, and the engine seam: a language is data there.
const ABOVE_ENGINES: &[&str] = &["workspace", "ops", "mcp", "contract", "coder", "model", "engine", "http"];
/// Of them, the crates whose literals are examples for readers of the API.
const WITH_EXAMPLES: &[&str] = &["http", "contract"];

/// Crates that start processes.
const WITH_PROCESSES: &[&str] = &["process", "go", "rust", "lsp", "cli", "xtask"];
/// Files of other crates that do.
const FILES_WITH_PROCESSES: &[&str] = &[
    // The user's git, and the hooks of the user's repository.
    "crates/workspace/src/git",
    // It runs the commands that the engines have put together.
    "crates/engine/src/verify/report",
];

/// Crates that only compute: they touch neither disk nor network nor processes.
pub(crate) const PURE: &[&str] = &["model", "text"];

/// Above the engines, identifiers name no language, nor do literals; a sentence in a comment may.
pub(crate) fn languages(source: &Source) -> Vec<Complaint> {
    const NAMES: &[&str] =
        &["rust", "cargo", "rustc", "rustfmt", "rustdoc", "go", "gopls", "gofmt", "goimports", "golang"];
    const TITLES: &[&str] = &["Rust", "Cargo", "rustc", "rustfmt", "Go", "gopls", "gofmt"];
    let name = source.crate_name();
    if !ABOVE_ENGINES.contains(&name) {
        return Vec::new();
    }
    let named = |word: &Word| match word.kind {
        Kind::Literal if WITH_EXAMPLES.contains(&name) => None,
        Kind::Literal if NAMES.contains(&word.text.as_str()) => Some(word.text.clone()),
        Kind::Literal => {
            let mut words = word.text.split(|it: char| !it.is_alphanumeric());
            words.find(|it| TITLES.contains(it)).map(str::to_owned)
        }
        _ => subwords(&word.text).into_iter().find(|it| NAMES.contains(&it.as_str())),
    };
    let found = source.production_words().filter_map(|it| Some((it, named(it)?)));
    let advice = "a language, above the engines: take it from the engine";
    found.map(|(word, named)| complaint(source, word, format!("{:?} names `{named}`, {advice}", word.text))).collect()
}

/// The words of an identifier in either case: `RustNews`, `go_ready`.
fn subwords(identifier: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for letter in identifier.chars() {
        if letter == '_' || letter.is_uppercase() && was_lower {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter != '_') {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// Identifiers and literals of one word: a sentence of a help text may name a tool.
pub(crate) fn tools_of_go(source: &Source) -> Vec<Complaint> {
    const TOOLS: &[&str] =
        &["gopls", "gofmt", "GOFLAGS", "GOPATH", "GOPROXY", "GOTOOLCHAIN", "GOMEMLIMIT", "GOMODCACHE"];
    if matches!(source.crate_name(), "go" | "xtask") {
        return Vec::new();
    }
    let mut complaints = Vec::new();
    let mut before = "";
    for word in source.production_words() {
        let parts = || word.text.split(|it: char| !it.is_alphanumeric());
        let tool = parts().find(|part| TOOLS.iter().any(|it| part.eq_ignore_ascii_case(it)));
        let is_sentence = word.kind == Kind::Literal && word.text.contains(' ');
        // `Command::new("go")`.
        let runs_go = word.kind == Kind::Literal && word.text == "go" && before == "new";
        if let Some(tool) = tool.filter(|_| !is_sentence).or(runs_go.then_some("go")) {
            complaints.push(complaint(source, word, format!("only crates/go may name `{tool}`: move this there")));
        }
        before = &word.text;
    }
    complaints
}

/// Only engines, git and the command line start processes.
pub(crate) fn processes(source: &Source) -> Vec<Complaint> {
    let is_file = |it: &&str| source.file.strip_prefix(it).is_some_and(|rest| rest.starts_with(['/', '.']));
    if WITH_PROCESSES.contains(&source.crate_name()) || FILES_WITH_PROCESSES.iter().any(is_file) {
        return Vec::new();
    }
    let starts = |path: &[String]| path.windows(2).any(|it| it[0] == "process" && it[1] == "Command");
    let found = source.production_paths().filter(|(path, _)| starts(path));
    let message = "this file may not start processes: use crates/process, or enter it in FILES_WITH_PROCESSES";
    found.map(|(_, line)| Complaint::new(&source.file, line, message)).collect()
}

pub(crate) fn pure(source: &Source) -> Vec<Complaint> {
    const IMPURE: &[&str] = &["fs", "net", "process", "env", "thread"];
    if !PURE.contains(&source.crate_name()) {
        return Vec::new();
    }
    let impure = |path: &[String]| match path {
        [first, second, ..] if first == "std" => IMPURE.iter().find(|it| *it == second).copied(),
        _ => None,
    };
    let found = source.production_paths().filter_map(|(path, line)| Some((impure(path)?, line)));
    let advice = |name: &str| format!("`std::{name}` in a crate that only computes: pass in what it reads");
    found.map(|(name, line)| Complaint::new(&source.file, line, advice(name))).collect()
}

pub(crate) fn sleeps_and_skips(source: &Source) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for word in source.test_words() {
        match (word.kind, word.text.as_str()) {
            (Kind::Call, "sleep") => {
                complaints.push(complaint(source, word, "a test that sleeps: wait for a condition with a deadline"));
            }
            (Kind::Attribute, "ignore") => {
                complaints.push(complaint(source, word, "`#[ignore]`: make the test run always, or delete it"));
            }
            _ => {}
        }
    }
    complaints
}

fn complaint(source: &Source, word: &Word, message: impl Into<String>) -> Complaint {
    Complaint::new(&source.file, word.line, message)
}

#[cfg(test)]
mod tests {
    use super::super::complaint::{fails, passes};
    use super::super::parse::source;
    use super::*;

    #[test]
    fn a_language_above_its_engine_is_found() {
        for code in [
            "use semdex_engine::rust::LANGUAGE;",
            "enum Event { RustNews }",
            "fn go_ready() {}",
            "fn f() { let touches_rust = 1; }",
            "fn f() { let detail = \"Cargo reads it\"; }",
            "fn f() { if name == \"go\" {} }",
            "fn f() { m!(name, \"go\"); }",
        ] {
            fails(languages(&source("crates/workspace/src/lib.rs", code)), "a language");
            fails(languages(&source("crates/engine/src/registry.rs", code)), "a language");
        }
        passes(languages(&source(
            "crates/workspace/src/lib.rs",
            "/// Rust, say.\nfn forgot() { let trust = rustix::fs(); let detail = \"they must go\"; }",
        )));
        passes(languages(&source(
            "crates/ops/src/lib.rs",
            "fn f() {}\n#[cfg(test)]\nmod tests { const A: &str = \"Rust\"; }",
        )));
        passes(languages(&source("crates/http/src/examples.rs", "#[a(\"rust\")] fn f() { let language = \"rust\"; }")));
        fails(languages(&source("crates/http/src/examples.rs", "fn f() { let rust = 1; }")), "`rust`, a language");
        passes(languages(&source("src/engines.rs", "use semdex_go::GoKind;")));
    }

    #[test]
    fn a_tool_of_go_out_of_its_place_is_found() {
        let found = |file: &str, text: &str| tools_of_go(&source(file, text));
        fails(found("crates/ops/src/status.rs", "const NAME: &str = \"gopls\";"), "only crates/go may name `gopls`");
        fails(found("crates/ops/src/status.rs", "\nstatic gopls: u8 = 1;"), "status.rs:2:");
        fails(found("crates/workspace/src/lib.rs", "fn f() { Command::new(\"go\"); }"), "`go`");
        fails(found("crates/rust/src/lib.rs", "fn f() { command.env(\"GOFLAGS\", x); }"), "GOFLAGS");
        fails(found("src/main.rs", "fn f() { m!(\"--gopls-path\"); }"), "gopls");
        passes(found("crates/go/src/lib.rs", "const NAME: &str = \"gopls\";"));
        passes(found(
            "crates/http/src/status.rs",
            "/// gopls says so\n#[schema(example = \"gopls\")]\n\
             const HELP: &str = \"installs gopls if it is missing\"; mod go;",
        ));
        passes(found("crates/http/src/status.rs", "fn f() {}\n#[cfg(test)]\nmod tests { const A: &str = \"gopls\"; }"));
    }

    #[test]
    fn a_process_out_of_its_place_is_found() {
        let found = |file: &str, text: &str| processes(&source(file, text));
        fails(found("crates/http/src/open.rs", "fn f() { tokio::process::Command::new(\"ls\"); }"), "start processes");
        fails(found("crates/ops/src/open.rs", "\nuse std::process::{Command, Stdio};"), "open.rs:2:");
        fails(found("crates/workspace/src/gitless.rs", "use std::process::Command;"), "start processes");
        passes(found("crates/workspace/src/git/program.rs", "use std::process::Command;"));
        passes(found("crates/workspace/src/git.rs", "use std::process::Command;"));
        passes(found("crates/lsp/src/supervisor.rs", "use tokio::process::Command;"));
        passes(found("crates/workspace/src/watch/tests.rs", "fn f() { process::Command::new(a); }"));
        passes(found("crates/http/src/open.rs", "use crate::verbs::Command; fn f() { std::process::id(); }"));
    }

    #[test]
    fn an_impure_text_is_found() {
        fails(pure(&source("crates/text/src/diff.rs", "use std::{fmt, fs};")), "`std::fs`");
        fails(pure(&source("crates/model/src/lib.rs", "fn f() { std::env::var(\"A\"); }")), "`std::env`");
        passes(pure(&source("crates/text/src/diff.rs", "use std::fmt;\n#[cfg(test)]\nmod tests { use std::fs; }")));
        passes(pure(&source("crates/workspace/src/disk.rs", "use std::fs;")));
    }

    #[test]
    fn a_sleeping_or_skipped_test_is_found() {
        let found = |file: &str, text: &str| sleeps_and_skips(&source(file, text));
        fails(found("tests/it/a.rs", "fn f() { std::thread::sleep(d); }"), "sleep");
        fails(found("tests/it/a.rs", "fn f() { select! { _ = sleep(d) => {} } }"), "sleep");
        fails(found("tests/it/a.rs", "fn f() { clock.sleep(d); }"), "sleep");
        let skipped = "#[cfg(test)]\nmod tests {\n#[test]\n#[ignore = \"slow\"]\nfn f() {} }";
        fails(found("crates/a/src/a.rs", skipped), "a.rs:4:");
        fails(found("tests/it/a.rs", "proptest! { #[test] #[ignore] fn f() {} }"), "#[ignore]");
        passes(found(
            "crates/a/src/a.rs",
            "fn f() { sleep(d); }\n#[cfg(test)]\n\
             mod tests { const A: &str = \"sleep(\"; fn sleep() {} }\nfn g() { sleep(d) }",
        ));
    }
}
