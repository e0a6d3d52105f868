//! Build scripts that do not declare their inputs. Cargo runs them after any change of their package, which takes
//! seconds and hardly ever changes their output. The files that the script's text names count as inputs. After edits of
//! other files of the package the script runs again in the background, and only different output causes a load. Until
//! then answers are incomplete. Edits of Rust sources are an exception, because a script does not read them unless its
//! text looks for such files.

use std::path::{Path, PathBuf};

use blake3::{Hash, Hasher};
use ra_ap_project_model::CargoWorkspace;
use ra_ap_rustc_lexer::{LiteralKind, TokenKind};
use serde_json::Value;

use super::external_inputs::{Counted, ExternalInputs, SilentScript};
use crate::syntax::referenced_files::tokens;
use semdex_fs::read_file;

/// Longer texts are not searched for names.
const LONGEST: usize = 4 << 20;
/// The most output files that are compared.
const MOST_FILES: usize = 4096;

/// A package with such a script.
pub(crate) struct Silent<'a> {
    pub package: &'a str,
    /// The directory of the package, which is the script's working directory.
    pub home: &'a Path,
    pub sources: &'a [PathBuf],
    /// Another package of the workspace is a build dependency.
    pub has_helper: bool,
}

impl Silent<'_> {
    /// Adds the inputs that its text names, and what it may read.
    pub(crate) fn note(&self, inputs: &mut ExternalInputs) {
        let Silent { package, home, sources, has_helper } = *self;
        inputs.add_package(home, if sources.is_empty() { Counted::All } else { Counted::Perhaps });
        let mut reads_sources = has_helper;
        for source in sources {
            let text = read_file(source, LONGEST).ok().and_then(|it| String::from_utf8(it).ok());
            reads_sources |= text.as_deref().is_none_or(looks_for_sources);
            for path in paths_in(&text.unwrap_or_default()) {
                if path.contains(['*', '?']) {
                    inputs.add_package(home, Counted::All);
                } else {
                    inputs.add_all(&home.join(path));
                }
            }
        }
        inputs.add_silent(home, SilentScript { package: package.to_owned(), reads_sources });
    }
}

/// Names of functions and crates that list directories.
const WALKS: &[&str] = &["read_dir", "WalkDir", "walkdir", "WalkBuilder", "jwalk", "glob", "Command"];
/// Programs that read no sources, or report nothing about them that changes the meaning of code.
const HARMLESS: &[&str] = &["git", "rustc", "date", "hostname", "uname", "whoami", "id", "pkg-config"];

/// Whether a script may read Rust sources that its text does not name: it lists directories, knows the extension of
/// such files, or starts a program that may read them.
fn looks_for_sources(text: &str) -> bool {
    let is_space = |it: &TokenKind| {
        matches!(it, TokenKind::Whitespace | TokenKind::LineComment { .. } | TokenKind::BlockComment { .. })
    };
    let words: Vec<(TokenKind, &str)> = tokens(text).filter(|it| !is_space(&it.0)).collect();
    let starts_harmless = |at: usize| {
        let started = words.get(at + 1..at + 6).unwrap_or_default();
        let started: Vec<&str> = started.iter().map(|it| it.1).collect();
        match started[..] {
            [":", ":", "new", "(", program] => HARMLESS.contains(&program.trim_matches('"')),
            // The import of the name, and its use.
            [next, ..] => next != ":",
            [] => true,
        }
    };
    words.iter().enumerate().any(|(at, &(kind, word))| match string(kind, word) {
        Some(value) => matches!(value, "rs" | ".rs"),
        None => WALKS.contains(&word) && !(word == "Command" && starts_harmless(at)),
    })
}

/// The string literals of a text that may be paths; of patterns for `format!` the parts between the braces.
fn paths_in(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (kind, literal) in tokens(text) {
        found.extend(string(kind, literal).into_iter().flat_map(|it| it.split(['{', '}'])).filter_map(path));
    }
    found
}

/// The content of a string literal, as it is written.
fn string(kind: TokenKind, literal: &str) -> Option<&str> {
    matches!(kind, TokenKind::Literal { kind: LiteralKind::Str { .. } | LiteralKind::RawStr { .. }, .. })
        .then(|| literal.trim_start_matches(['r', '#']).trim_end_matches('#').trim_matches('"'))
}

/// A text that looks like a path. Many words do: a path that does not exist costs one check per answer.
fn path(part: &str) -> Option<String> {
    let is_plain =
        !part.contains(char::is_whitespace) && !part.contains(['\\', '=', '"', '<', '>', '(', ')', ',', ';']);
    let is_path = is_plain && !part.contains("::") && !part.contains("//") && part.len() < 1024;
    // Separators, at which other texts are split too.
    let is_path = is_path && part.contains(char::is_alphanumeric);
    // The part after a computed directory.
    let part = if part.starts_with("/") && !Path::new(part).exists() { part.trim_start_matches('/') } else { part };
    (is_path && !part.is_empty()).then(|| part.to_owned())
}

/// What was built to run at compile time for the workspace's own packages, from Cargo's messages, and the output of their
/// build scripts as far as it changes the meaning of code. Values of variables do not, unless they are paths.
pub(crate) fn output(cargo: &CargoWorkspace, said: &[u8]) -> Hash {
    let local: Vec<&str> =
        cargo.packages().filter(|&it| cargo[it].is_local).map(|it| cargo[it].id.repr.as_str()).collect();
    let mut made: Vec<String> = said
        .split(|it| *it == b'\n')
        .filter_map(|it| serde_json::from_slice::<Value>(it).ok())
        .filter(|it| local.iter().any(|id| it["package_id"] == *id))
        .filter_map(|it| match it["reason"].as_str()? {
            "build-script-executed" => Some(of_script(it)),
            "compiler-artifact" if runs_at_compile_time(&it["target"]) => Some(format!("{}\n", it["target"])),
            _ => None,
        })
        .collect();
    made.sort();
    blake3::hash(made.concat().as_bytes())
}

fn runs_at_compile_time(target: &Value) -> bool {
    let mut kinds = target["kind"].as_array().into_iter().flatten();
    kinds.any(|it| it == "proc-macro" || it == "custom-build")
}

fn of_script(mut message: Value) -> String {
    for pair in message["env"].as_array_mut().into_iter().flatten() {
        if pair[1].as_str().is_some_and(|it| !it.contains('/')) {
            pair[1] = Value::Null;
        }
    }
    let mut hash = Hasher::new();
    if let Some(directory) = message["out_dir"].as_str() {
        let mut builder = ignore::WalkBuilder::new(directory);
        let walk = builder.standard_filters(false).sort_by_file_name(Ord::cmp).build();
        for entry in walk.flatten().filter(|it| it.file_type().is_some_and(|it| it.is_file())).take(MOST_FILES) {
            hash.update(entry.path().as_os_str().as_encoded_bytes()).update(b"\0");
            if let Ok(bytes) = read_file(entry.path(), LONGEST) {
                hash.update(blake3::hash(&bytes).as_bytes());
            }
        }
    }
    format!("{message}{}", hash.finalize().to_hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_build_script_names_what_it_reads() {
        let text = r##"fn main() {
            let root = std::env::var("CARGO_MANIFEST_DIR").unwrap();
            compile(&["proto/a.proto"], &["proto"]);
            read(format!("{root}/assets/{name}.txt"));
            println!("cargo:rustc-cfg=x y");
            std::process::Command::new("git").args(["rev-parse", "--short=10", "HEAD"]);
            include_str!(r#"made.in"#);
        }"##;
        let wanted =
            ["CARGO_MANIFEST_DIR", "proto/a.proto", "proto", "assets/", ".txt", "git", "rev-parse", "HEAD", "made.in"];
        assert_eq!(paths_in(text).iter().filter(|it| *it != "root" && *it != "name").collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn what_looks_for_sources_may_read_them() {
        for (text, expected) in [
            ("fn main() { std::fs::write(out + \"/made.rs\", [\"a\", \"in\"].join(\".\")); }", false),
            ("use std::process::Command; fn main() { Command::new(\"git\").arg(\"rev-parse\"); }", false),
            ("fn main() { /* read_dir */ tonic::compile(\"a.proto\"); }", false),
            ("fn main() { std::process::Command::new(\"./generate\"); }", true),
            ("fn main() { Command::new(shell); }", true),
            ("fn main() { for it in std::fs::read_dir(here) {} }", true),
            ("fn main() { it.extension() == Some(\"rs\") }", true),
        ] {
            assert_eq!(looks_for_sources(text), expected, "{text}");
        }
    }

    #[test]
    fn only_what_decides_how_code_is_read_is_another_output() {
        let directory = tempfile::tempdir().unwrap();
        let made = |value: &str, cfg: &str, text: &str| {
            std::fs::write(directory.path().join("made.rs"), text).unwrap();
            of_script(serde_json::json!({"env": [["NOW", value]], "cfgs": [cfg], "out_dir": directory.path()}))
        };
        let first = made("1", "a", "x");
        assert_eq!(first, made("2", "a", "x"));
        assert_ne!(first, made("/2", "a", "x"));
        assert_ne!(first, made("1", "b", "x"));
        assert_ne!(first, made("1", "a", "y"));
    }
}
