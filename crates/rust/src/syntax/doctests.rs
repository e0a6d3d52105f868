//! Doctests: the Rust code in doc comments and in Markdown files that docs include, as rustdoc compiles it
//! (`rustdoc::doctest`, `rustdoc::html::markdown`). Each becomes a function of a module; the text of the module is
//! for all doctests of the file, and each line of it is known by its place there.
//!
//! rustdoc makes a program of each. A function differs from it only where a doctest says `crate` or `super`.

use std::hash::{Hash as _, Hasher as _};
use std::iter;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use ra_ap_rustc_lexer::{DocStyle, FrontmatterAllowed, TokenKind, tokenize};
use ra_ap_syntax::{Edition, SourceFile};
use rustc_hash::FxHasher;
use semdex_model::Span;

/// The doctests of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Doctests {
    /// A module with a function for each doctest.
    pub(crate) text: String,
    /// What comes from the file, in the order of `text`.
    pieces: Vec<Piece>,
    pub(crate) tests: Vec<Doctest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    /// Its offset in the module.
    at: usize,
    /// Its offset in the file.
    from: usize,
    length: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Doctest {
    /// Its function in the module.
    pub(crate) span: Span,
    /// `compile_fail`: it must not compile.
    pub(crate) must_fail: bool,
}

impl Doctests {
    /// The doctests in the doc comments of a Rust file.
    pub(crate) fn of_rust(text: &str) -> Doctests {
        let mut found = Doctests::default();
        if may_have_code(text) {
            doc_comments(text).iter().for_each(|it| found.add_all(it));
        }
        found
    }

    /// The doctests of a Markdown file.
    pub(crate) fn of_markdown(text: &str) -> Doctests {
        let mut found = Doctests::default();
        found.add_all(&Docs { text: text.to_owned(), lines: vec![(0, 0)] });
        found
    }

    /// The place in the file that a place in the module comes from. `None` for what rustdoc adds.
    pub(crate) fn place(&self, at: Span) -> Option<Span> {
        let piece = self.pieces[..self.pieces.partition_point(|it| it.at <= at.start)].last()?;
        let start = at.start - piece.at;
        let end = (at.end - piece.at).min(piece.length);
        (start < piece.length).then(|| Span::new(piece.from + start, piece.from + end))
    }

    /// The offset in the module of an offset in the file.
    pub(crate) fn offset(&self, at: usize) -> Option<usize> {
        let piece = self.pieces.iter().find(|it| (it.from..it.from + it.length).contains(&at))?;
        Some(piece.at + at - piece.from)
    }

    /// The doctest around an offset in the module.
    pub(crate) fn test_at(&self, offset: usize) -> Option<Doctest> {
        self.tests.iter().find(|it| it.span.contains(offset)).copied()
    }

    /// The name of a doctest's function. It depends on the code of the doctest alone, and on how many before it have the
    /// same code, so that what is known of it stays when others come and go.
    pub(crate) fn name_of(&self, test: &Doctest) -> &str {
        let function = self.text.get(test.span.start..test.span.end).unwrap_or_default();
        function.strip_prefix("fn ").and_then(|it| it.split_once('(')).map_or("", |it| it.0)
    }

    /// Where the code of a doctest begins in the file. `None` if it has none.
    pub(crate) fn start_of(&self, test: &Doctest) -> Option<usize> {
        let first = self.pieces.partition_point(|it| it.at < test.span.start);
        self.pieces.get(first).filter(|it| it.at < test.span.end).map(|it| it.from)
    }

    fn add_all(&mut self, docs: &Docs) {
        let mut block: Option<(Tags, Vec<Line<'_>>)> = None;
        for (event, range) in Parser::new_ext(&docs.text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    let tags = match kind {
                        CodeBlockKind::Fenced(it) => Tags::parse(&it),
                        CodeBlockKind::Indented => Tags::parse(""),
                    };
                    block = Some((tags, Vec::new()));
                }
                Event::Text(text) => {
                    if let (Some((_, lines)), Some(written)) = (&mut block, docs.text.get(range.clone()))
                        && written == &*text
                    {
                        let parts = written.split_inclusive('\n').scan(range.start, |at, line| {
                            *at += line.len();
                            Some(Line { at: *at - line.len(), text: line.trim_end_matches(['\n', '\r']) })
                        });
                        lines.extend(parts);
                    }
                }
                Event::End(TagEnd::CodeBlock) => {
                    if let Some((tags, lines)) = block.take().filter(|it| it.0.is_compiled) {
                        self.add(docs, &lines, tags.must_fail);
                    }
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, docs: &Docs, lines: &[Line<'_>], must_fail: bool) {
        let (start, pieces) = (self.text.len(), self.pieces.len());
        let last = lines.iter().rev().find(|it| !it.text.trim().is_empty());
        let returns = match last {
            Some(it) if it.text.trim_end().ends_with("(())") => {
                "-> ::core::result::Result<(), impl ::core::fmt::Debug> "
            }
            _ => "",
        };
        let compiled: Vec<Part<'_>> = lines.iter().flat_map(|it| it.as_compiled()).collect();
        let mut hasher = FxHasher::default();
        (returns, must_fail).hash(&mut hasher);
        compiled.iter().for_each(|it| (it.text, it.is_last).hash(&mut hasher));
        let name = format!("doctest_{:016x}", hasher.finish());
        let same = self.tests.iter().filter(|it| self.name_of(it).starts_with(&name)).count();
        self.text.push_str(&format!("fn {name}_{same}() {returns}{{\n"));
        for line in compiled {
            let piece = Piece { at: self.text.len(), from: docs.offset(line.at), length: line.text.len() };
            self.pieces.extend((piece.length > 0).then_some(piece));
            self.text.push_str(line.text);
            self.text.push_str(if line.is_last { "\n" } else { "" });
        }
        self.text.push_str("}\n");
        // Code that is not Rust would take what follows with it.
        if SourceFile::parse(&self.text[start..], Edition::CURRENT).errors().is_empty() {
            self.tests.push(Doctest { span: Span::new(start, self.text.len()), must_fail });
        } else {
            self.text.truncate(start);
            self.pieces.truncate(pieces);
        }
    }
}

/// The names of the files that docs of a Rust file include, as they are written: `#![doc = include_str!("../README.md")]`.
pub(crate) fn included_docs(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, call) in text.match_indices("include_str!") {
        let is_doc = text[..at].trim_end().strip_suffix('=').is_some_and(|it| it.trim_end().ends_with("doc"));
        let input = text[at + call.len()..].trim_start().strip_prefix(['(', '[', '{']).map(str::trim_start);
        let name = input.and_then(|it| it.strip_prefix('"')?.split_once('"')).map(|it| it.0);
        found.extend(name.filter(|_| is_doc));
    }
    found
}

/// Whether a Rust text may have a code block in its docs.
fn may_have_code(text: &str) -> bool {
    let is_indented = |line: &str| {
        let comment = line.trim_start();
        let docs = comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!"));
        docs.is_some_and(|it| it.starts_with("    ") || it.starts_with('\t'))
    };
    text.contains("```") || text.contains("~~~") || text.lines().any(is_indented)
}

/// A doc comment as Markdown.
struct Docs {
    text: String,
    /// The offset of each line, and its offset in the file.
    lines: Vec<(usize, usize)>,
}

impl Docs {
    /// The offset in the file of an offset in the text.
    fn offset(&self, at: usize) -> usize {
        let line = self.lines[..self.lines.partition_point(|it| it.0 <= at)].last();
        line.map_or(at, |(start, from)| from + at - start)
    }

    /// Without the indentation that all lines have in common.
    fn new(lines: &[(usize, &str)]) -> Docs {
        let indentation = |it: &str| it.len() - it.trim_start_matches([' ', '\t']).len();
        let common = lines.iter().filter(|it| !it.1.trim().is_empty()).map(|it| indentation(it.1)).min().unwrap_or(0);
        let mut docs = Docs { text: String::new(), lines: Vec::new() };
        for (from, line) in lines {
            let cut = common.min(line.len());
            docs.lines.push((docs.text.len(), from + cut));
            docs.text.push_str(line.get(cut..).unwrap_or_default());
            docs.text.push('\n');
        }
        docs
    }
}

/// All doc comments. Comments that follow each other are one.
fn doc_comments(text: &str) -> Vec<Docs> {
    let mut found = Vec::new();
    let mut lines: Vec<(usize, &str)> = Vec::new();
    let mut style: Option<DocStyle> = None;
    let mut at = 0;
    let mut end = |lines: &mut Vec<(usize, &str)>| {
        found.extend((!lines.is_empty()).then(|| Docs::new(lines)));
        lines.clear();
    };
    for token in tokenize(text, FrontmatterAllowed::No) {
        let (start, length) = (at, token.len as usize);
        at += length;
        let Some(comment) = text.get(start..at) else { break };
        let own = match token.kind {
            TokenKind::Whitespace => continue,
            TokenKind::LineComment { doc_style } | TokenKind::BlockComment { doc_style, .. } if doc_style.is_none() => {
                continue;
            }
            TokenKind::LineComment { doc_style } | TokenKind::BlockComment { doc_style, .. } => doc_style,
            _ => None,
        };
        if own.is_none() || own != style {
            end(&mut lines);
        }
        style = own;
        match token.kind {
            TokenKind::LineComment { .. } if own.is_some() => {
                lines.push((start + 3, comment.get(3..).unwrap_or_default().trim_end_matches('\r')));
            }
            TokenKind::BlockComment { .. } if own.is_some() => lines.extend(lines_of_block(start, comment)),
            _ => {}
        }
    }
    end(&mut lines);
    found
}

/// The lines of a block comment, without a column of stars.
fn lines_of_block(start: usize, comment: &str) -> Vec<(usize, &str)> {
    let inner = comment.strip_suffix("*/").unwrap_or(comment).get(3..).unwrap_or_default();
    let mut at = start + 3;
    let mut lines: Vec<(usize, &str)> = Vec::new();
    for line in inner.split_inclusive('\n') {
        lines.push((at, line.trim_end_matches(['\n', '\r'])));
        at += line.len();
    }
    let stars = |it: &str| it.len() - it.trim_start().len();
    let later = lines.iter().skip(1).filter(|it| !it.1.trim().is_empty());
    if lines.len() > 1 && later.clone().count() > 0 && later.clone().all(|it| it.1.trim_start().starts_with('*')) {
        for (at, line) in lines.iter_mut().skip(1).filter(|it| !it.1.trim().is_empty()) {
            let cut = stars(line) + 1;
            (*at, *line) = (*at + cut, &line[cut..]);
        }
    }
    lines
}

/// A line of a code block.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    /// Its offset in the docs.
    at: usize,
    text: &'a str,
}

/// A part of a line.
struct Part<'a> {
    at: usize,
    text: &'a str,
    is_last: bool,
}

impl<'a> Line<'a> {
    /// Without the mark of a line that rustdoc hides: `# use a::b;`. `##` means `#`.
    fn as_compiled(&self) -> impl Iterator<Item = Part<'a>> {
        let from = |offset: usize| Part { at: self.at + offset, text: &self.text[offset..], is_last: true };
        let trimmed = self.text.trim();
        let indentation = self.text.len() - self.text.trim_start().len();
        let (first, rest) = match trimmed {
            _ if trimmed.starts_with("##") => {
                (Some(Part { at: self.at, text: &self.text[..indentation], is_last: false }), from(indentation + 1))
            }
            "#" => (None, Part { at: self.at, text: "", is_last: true }),
            _ if trimmed.starts_with("# ") => (None, from(indentation + 2)),
            _ => (None, from(0)),
        };
        first.into_iter().chain(iter::once(rest))
    }
}

/// What the words after a fence say (`rustdoc::html::markdown::LangString`).
struct Tags {
    is_compiled: bool,
    must_fail: bool,
}

impl Tags {
    fn parse(info: &str) -> Tags {
        let mut tags = Tags { is_compiled: true, must_fail: false };
        let (mut is_rust, mut is_other, mut is_ignored) = (false, false, false);
        let is_error_code =
            |it: &str| it.len() == 5 && it.starts_with('E') && it[1..].bytes().all(|it| it.is_ascii_digit());
        for word in info.split([',', ' ', '\t']).filter(|it| !it.is_empty()) {
            match word {
                "rust" => is_rust = true,
                "should_panic" | "no_run" | "test_harness" | "standalone_crate" => is_rust |= !is_other,
                "compile_fail" => {
                    is_rust |= !is_other;
                    tags.must_fail = true;
                }
                "ignore" => is_ignored = true,
                _ if word.starts_with("ignore-") || word.starts_with("edition") || is_error_code(word) => {
                    is_rust |= !is_other;
                }
                _ => is_other = true,
            }
        }
        tags.is_compiled = (is_rust || !is_other) && !is_ignored;
        tags
    }
}

#[cfg(test)]
mod tests {
    use super::{Doctests, Tags, included_docs};
    use semdex_model::Span;

    #[track_caller]
    fn check(text: &str, wanted: &[&str]) {
        let found = Doctests::of_rust(text);
        let bodies: Vec<String> = found
            .tests
            .iter()
            .map(|it| {
                let function = &found.text[it.span.start..it.span.end];
                function.lines().skip(1).filter(|it| *it != "}").collect::<Vec<_>>().join("\n")
            })
            .collect();
        assert_eq!(bodies, wanted);
        // Each word of the code is where it comes from.
        for (at, word) in semdex_text::words::words(&found.text) {
            if let Some(place) = found.place(Span::new(at, at + word.len())) {
                assert_eq!(&text[place.start..place.end], word);
                assert_eq!(found.offset(place.start), Some(at));
            }
        }
    }

    #[test]
    fn of_doc_comments() {
        check("/// One\n///\n/// ```\n/// a();\n///   b();\n/// ```\nfn x() {}\n", &["a();\n  b();"]);
        check("//! ~~~rust\n//! a();\n//! ~~~\n\n/// ```\n/// b();\n/// ```\nfn x() {}\n", &["a();", "b();"]);
        check("///     a();\n///     b();\nfn x() {}\n", &[""; 0]);
        check("/// said:\n///\n///     a();\nfn x() {}\n", &["a();"]);
        check("/** said\n * ```\n * a();\n * ```\n */\nfn x() {}\n", &["a();"]);
        check("/**\n```\na();\n```\n*/\nfn x() {}\n", &["a();"]);
        check("/// - one\n///   ```\n///   a();\n///   b();\n///   ```\nfn x() {}\n", &["a();\nb();"]);
        check("// ```\n// a();\n// ```\nfn x() { \"/// ```\\n a();\"; }\n", &[""; 0]);
        check("fn x() {\r\n    /// ```\r\n    /// a();\r\n    /// ```\r\n    fn y() {}\r\n}\r\n", &["a();"]);
        check("macro_rules! m { () => { /// ```\n /// a();\n /// ```\n fn f() {} } }\n", &["a();"]);
    }

    #[test]
    fn with_hidden_lines() {
        check(
            "/// ```\n/// # use a::b;\n/// #\n/// ## [derive(C)]\n/// struct X;\n/// ```\nfn x() {}\n",
            &["use a::b;\n\n# [derive(C)]\nstruct X;"],
        );
        check("/// ```\n/// #[derive(C)]\n/// struct X;\n/// ```\nfn x() {}\n", &["#[derive(C)]\nstruct X;"]);
    }

    #[test]
    fn that_are_compiled() {
        let is_compiled = |it: &str| Tags::parse(it).is_compiled;
        for info in ["", "rust", "no_run", "should_panic,edition2018", "compile_fail,E0382", "rust,custom", "rust text"]
        {
            assert!(is_compiled(info), "{info}");
        }
        for info in ["text", "toml", "ignore", "rust,ignore", "console", "text,no_run", "sh"] {
            assert!(!is_compiled(info), "{info}");
        }
        assert!(Tags::parse("compile_fail").must_fail);
        check(
            "/// ```text\n/// a();\n/// ```\n/// ```\n/// not Rust {\n/// ```\n/// ```\n/// b();\n/// ```\nfn x() {}\n",
            &["b();"],
        );
    }

    #[test]
    fn whose_results_are_returned() {
        let found = Doctests::of_rust("/// ```\n/// a()?;\n/// # Ok::<(), E>(())\n/// ```\nfn x() {}\n");
        let function = found.text.split_once("() -> ::core::result::Result<").map(|it| it.0);
        assert!(function.is_some_and(|it| it.starts_with("fn doctest_") && it.ends_with("_0")), "{}", found.text);
    }

    #[test]
    fn whose_names_stay_when_others_come() {
        let names = |text: &str| {
            let found = Doctests::of_rust(text);
            found.tests.iter().map(|it| found.name_of(it).to_owned()).collect::<Vec<_>>()
        };
        let doc = |code: &str| format!("/// ```\n/// {code}\n/// ```\nfn x() {{}}\n");
        let [a, b] = [doc("a();"), doc("b();")];
        let before = names(&format!("{a}{b}"));
        assert_eq!(names(&format!("{}{a}{b}", doc("c();")))[1..], before);
        let repeated = names(&format!("{a}{a}{b}"));
        assert_eq!(repeated[0], before[0]);
        assert_ne!(repeated[1], before[0]);
        assert_eq!(repeated[2], before[1]);
    }

    #[test]
    fn of_markdown() {
        let text = "# a\n\n```rust\nlet b = c();\n```\n\n* d\n\n  e\n";
        let found = Doctests::of_markdown(text);
        assert_eq!(found.tests.len(), 1);
        let at = found.text.find("c()").unwrap();
        assert_eq!(found.place(Span::new(at, at + 1)), text.find("c()").map(|it| Span::new(it, it + 1)));
        assert_eq!(
            included_docs("#![doc = include_str!(\"../README.md\")]\nconst A: &str = include_str!(\"b.md\");"),
            ["../README.md",]
        );
        assert_eq!(included_docs("#[cfg_attr(doctest, doc = include_str!( \"A.md\" ))]"), ["A.md"]);
    }
}
