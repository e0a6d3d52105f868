//! The files that a text references: its modules, and the files that `include!` takes in. They are found by tokens, so that
//! names in the input of a macro count as well.

use std::collections::VecDeque;

use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, TokenKind, strip_shebang, tokenize};

use semdex_model::ReferencedFile;

/// The files that a text with this name refers to.
pub(crate) fn referenced_files(name: &str, text: &str) -> Vec<ReferencedFile> {
    let (directory, file) = name.rsplit_once('/').unwrap_or(("", name));
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    // The directory of this file's modules, unless it is the root of a crate.
    let own = join(directory, stem);
    let bases = match stem {
        "mod" | "lib" | "main" => vec![directory.to_owned()],
        _ => vec![own, directory.to_owned()],
    };
    let mut scan = Scan { directory, bases, ..Scan::default() };
    for (kind, word) in tokens(text) {
        scan.take(kind, word);
    }
    scan.found
}

/// Whether a text includes a file of this name as data, by `include_str!` or `include_bytes!`. For a file that is
/// included in docs, only its existence matters to the compiler (`in_docs`).
pub(crate) fn takes_data(text: &str, name: &str, in_docs: bool) -> bool {
    ["include_str!", "include_bytes!"].iter().any(|call| {
        text.match_indices(call).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default().trim_end();
            let is_doc = before.strip_suffix('=').is_some_and(|it| it.trim_end().ends_with("doc"));
            let input = text.get(at..).unwrap_or_default();
            let input = input.split_once(';').map_or(input, |it| it.0);
            (in_docs || !is_doc) && input.contains(name)
        })
    })
}

/// Where the compiler looks for the data that `include_str!` or `include_bytes!` with these tokens takes in, in a file
/// with this name. Empty if only an expansion or the environment decides.
pub(crate) fn data_candidates(name: &str, input: &[&str]) -> Vec<String> {
    let directory = name.rsplit_once('/').map_or("", |it| it.0);
    match input {
        [literal] | [literal, ","] => value(literal).map(|it| vec![join(directory, it)]).unwrap_or_default(),
        ["concat", "!", "(", "env", "!", "(", "\"CARGO_MANIFEST_DIR\"", ")", ",", literal, ")"] => {
            value(literal).map(|it| above_with(directory, it)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// A path below the directory of a manifest, which may be in any directory above.
fn above_with(directory: &str, path: &str) -> Vec<String> {
    let above = std::iter::successors(Some(directory), |it| {
        (!it.is_empty()).then(|| it.rsplit_once('/').map_or("", |it| it.0))
    });
    above.map(|it| join(it, path.trim_start_matches('/'))).collect()
}

/// The tokens of a Rust file after its shebang, each with its text.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = (TokenKind, &str)> {
    let mut start = strip_shebang(text).unwrap_or(0);
    tokenize(text.get(start..).unwrap_or_default(), FrontmatterAllowed::Yes).map(move |token| {
        let end = start + token.len as usize;
        let word = text.get(start..end).unwrap_or_default();
        start = end;
        (token.kind, word)
    })
}

/// The state of the scan.
#[derive(Default)]
struct Scan<'a> {
    directory: &'a str,
    bases: Vec<String>,
    /// Open braces, each with the directory of its inline module.
    open: Vec<Option<String>>,
    /// Paths in attributes of the next module, and whether it has no other.
    paths: Vec<String>,
    is_sure: bool,
    /// The last tokens without white space, the newest first.
    last: VecDeque<(TokenKind, &'a str)>,
    found: Vec<ReferencedFile>,
}

/// The number of tokens in `concat!(env!("CARGO_MANIFEST_DIR"), "/` and before it.
const LOOKED_BACK: usize = 16;

impl<'a> Scan<'a> {
    fn take(&mut self, kind: TokenKind, word: &'a str) {
        use TokenKind::*;
        if matches!(kind, Whitespace | LineComment { .. } | BlockComment { .. } | Frontmatter { .. }) {
            return;
        }
        match kind {
            Literal { kind: LiteralKind::Str { .. } | LiteralKind::RawStr { .. }, .. } => self.take_string(word),
            Semi => {
                if let Some(name) = self.module() {
                    self.module_in_file(name);
                }
                self.end_item();
            }
            OpenBrace => {
                let name = self.module();
                let path = self.paths.last().cloned();
                self.open.push(name.map(|it| path.unwrap_or_else(|| it.to_owned())));
                self.end_item();
            }
            CloseBrace => {
                self.open.pop();
                self.end_item();
            }
            _ => {}
        }
        self.last.push_front((kind, word));
        self.last.truncate(LOOKED_BACK);
    }

    fn end_item(&mut self) {
        self.paths.clear();
        self.is_sure = false;
    }

    fn word(&self, back: usize) -> &'a str {
        self.last.get(back).map_or("", |it| it.1)
    }

    /// The name of the module that the last tokens begin.
    fn module(&self) -> Option<&'a str> {
        let (kind, name) = *self.last.front()?;
        let name = match kind {
            TokenKind::Ident => name,
            TokenKind::RawIdent => name.strip_prefix("r#")?,
            _ => return None,
        };
        (self.word(1) == "mod").then_some(name)
    }

    fn take_string(&mut self, word: &str) {
        let Some(value) = value(word) else { return };
        if self.word(0) == "=" && self.word(1) == "path" {
            self.is_sure |= self.word(2) == "[";
            return self.paths.push(value.to_owned());
        }
        let opens = |it: &str| matches!(it, "(" | "[" | "{");
        if opens(self.word(0)) && self.word(1) == "!" && self.word(2) == "include" {
            let candidates = vec![join(self.directory, value)];
            return self.found.push(ReferencedFile { candidates, has_path: true });
        }
        let of_manifest =
            [",", ")", "\"CARGO_MANIFEST_DIR\"", "(", "!", "env", "(", "!", "concat", "(", "!", "include"];
        if of_manifest.iter().enumerate().all(|(back, it)| self.word(back) == *it) {
            let candidates = above_with(self.directory, value);
            self.found.push(ReferencedFile { candidates, has_path: true });
        }
    }

    fn module_in_file(&mut self, name: &str) {
        let inline: Vec<&str> = self.open.iter().flatten().map(String::as_str).collect();
        let below = |base: &str| inline.iter().fold(base.to_owned(), |base, it| join(&base, it));
        for path in &self.paths {
            let candidates = match inline.is_empty() {
                true => vec![join(self.directory, path)],
                false => self.bases.iter().map(|it| join(&below(it), path)).collect(),
            };
            self.found.push(ReferencedFile { candidates, has_path: true });
        }
        if !self.is_sure {
            let places = |base: &String| {
                let place = join(&below(base), name);
                [format!("{place}.rs"), format!("{place}/mod.rs")]
            };
            let candidates = self.bases.iter().flat_map(places).collect();
            self.found.push(ReferencedFile { candidates, has_path: false });
        }
    }
}

/// The value of a string literal without escapes.
fn value(literal: &str) -> Option<&str> {
    let inner = literal.strip_prefix('r').unwrap_or(literal).trim_matches('#');
    let value = inner.strip_prefix('"')?.strip_suffix('"')?;
    (literal.starts_with('r') || !value.contains('\\')).then_some(value)
}

/// A path below a directory, without `.` and with as few `..` as possible. Absolute paths are not changed.
fn join(directory: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|it| *it != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if directory.starts_with('/') { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, text: &str, expected: &[&str]) {
        let found: Vec<String> = referenced_files(name, text).into_iter().map(|it| it.candidates.join(" ")).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn modules_and_included_files_are_found() {
        check(
            "src/lib.rs",
            "pub mod a; mod r#fn;\nmod b { fn f() {} }",
            &["src/a.rs src/a/mod.rs", "src/fn.rs src/fn/mod.rs"],
        );
        check("src/a.rs", "mod b;", &["src/a/b.rs src/a/b/mod.rs src/b.rs src/b/mod.rs"]);
        check(
            "src/a/mod.rs",
            "mod b { mod c { mod d; } } mod e;",
            &["src/a/b/c/d.rs src/a/b/c/d/mod.rs", "src/a/e.rs src/a/e/mod.rs"],
        );
        check(
            "src/lib.rs",
            "#[path = \"../gen/x.rs\"]\n/// Docs.\npub(crate) mod x; mod y;",
            &["gen/x.rs", "src/y.rs src/y/mod.rs"],
        );
        check("lib.rs", "#[path = r\"../x.rs\"] mod x;", &["../x.rs"]);
        check("src/lib.rs", "#[cfg_attr(unix, path = \"u.rs\")] mod x;", &["src/u.rs", "src/x.rs src/x/mod.rs"]);
        check(
            "src/lib.rs",
            "#[path = \"p\"] mod a { #[path = \"b.rs\"] mod b; mod c; }",
            &["src/p/b.rs", "src/p/c.rs src/p/c/mod.rs"],
        );
        check("src/lib.rs", "cfg_if! { if #[cfg(unix)] { mod unix; } }", &["src/unix.rs src/unix/mod.rs"]);
        check("src/lib.rs", "// mod a;\nfn f() { \"mod a;\"; model; }", &[]);
        check("src/a/b.rs", "include!(\"../x.in\"); include_str!(\"y\");", &["src/x.in"]);
        check("a/src/b.rs", "include! { concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/x.rs\") }", &[]);
        check("a/src/b.rs", "include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/x.rs\"));", &["a/src/x.rs a/x.rs x.rs"]);
        check("a/src/b.rs", "include!(concat!(env!(\"OUT_DIR\"), \"/x.rs\"));", &[]);
        check("src/lib.rs", "include!(\"/abs/x.rs\");", &["/abs/x.rs"]);
    }

    #[test]
    fn data_is_below_the_file_or_its_manifest() {
        assert_eq!(data_candidates("src/a/b.rs", &["\"../x.txt\"", ","]), ["src/x.txt"]);
        let of_manifest = ["concat", "!", "(", "env", "!", "(", "\"CARGO_MANIFEST_DIR\"", ")", ",", "\"/x\"", ")"];
        assert_eq!(data_candidates("a/src/b.rs", &of_manifest), ["a/src/x", "a/x", "x"]);
        assert!(data_candidates("src/b.rs", &["env", "!", "(", "\"X\"", ")"]).is_empty());
        assert!(data_candidates("src/b.rs", &["\"a\\tb\""]).is_empty(), "an escape");
    }
}
