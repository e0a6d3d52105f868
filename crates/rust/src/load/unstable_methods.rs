//! Unstable methods of the standard library that would take the place of methods of other traits.
//!
//! rustc passes over an unstable method as long as a stable one applies, so that `Itertools::intersperse` is called where
//! `Iterator::intersperse` exists and is unstable. rust-analyzer takes the unstable one, or finds the call ambiguous.
//! So those methods get another name in the text that it receives: a name that no code has, with the same length.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use memchr::memmem::Finder;
use ra_ap_paths::{AbsPath, AbsPathBuf};
use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, TokenKind, tokenize};
use rayon::prelude::*;

use super::sources::LARGEST_SOURCE;
use crate::LANGUAGE;
use crate::syntax::analysed::of_standard_library;
use semdex_engine::files::Files;
use semdex_model::Span;

/// The unstable methods of the standard library, and which of them are renamed.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnstableMethods {
    /// By name, with the feature and the file of each.
    declared: BTreeMap<String, BTreeSet<(String, AbsPathBuf)>>,
    /// Names that other code declares in traits.
    taken: BTreeSet<String>,
}

/// An unstable method in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unstable {
    name: Span,
    feature: String,
}

impl UnstableMethods {
    /// Looks at sources that were read now, and at the workspace's texts, and renames in the sources. Files of the standard
    /// library that an earlier load read, and that have to change, are read again and added.
    pub(crate) fn hide(&mut self, library: &[&AbsPath], texts: &Files, sources: &mut Vec<(AbsPathBuf, Vec<u8>)>) {
        let is_of_library = |it: &AbsPath| library.iter().any(|library| it.starts_with(library));
        for (path, bytes) in sources.iter().filter(|it| is_of_library(&it.0)) {
            for (name, feature) in unstable_methods(bytes) {
                self.declared.entry(name).or_default().insert((feature, path.clone()));
            }
        }
        let own = || texts.of(LANGUAGE).map(|it| it.text.as_bytes());
        let enabled: BTreeSet<String> = own().flat_map(enabled_features).collect();
        let others = sources.iter().filter(|it| !is_of_library(&it.0)).map(|it| &*it.1);
        let all: Vec<&[u8]> = others.chain(own()).collect();
        let found: BTreeSet<String> = all.into_par_iter().flat_map_iter(|it| self.declared_again(it)).collect();
        let added: BTreeSet<String> = found.difference(&self.taken).cloned().collect();
        self.taken.extend(found);
        let mut changed: BTreeSet<&AbsPathBuf> = BTreeSet::new();
        for (name, declared) in &self.declared {
            let is_added = added.contains(name);
            let is_hidden = |it: &&(String, AbsPathBuf)| !enabled.contains(&it.0);
            let here = declared.iter().filter(is_hidden).map(|it| &it.1);
            changed.extend(here.filter(|it| is_added && !sources.iter().any(|(path, _)| path == *it)));
        }
        let again = changed.into_iter().filter_map(|it| {
            let bytes = semdex_fs::read_file(PathBuf::from(it.clone()).as_path(), LARGEST_SOURCE).ok()?;
            Some((it.clone(), of_standard_library(bytes)))
        });
        let again: Vec<(AbsPathBuf, Vec<u8>)> = again.collect();
        sources.extend(again);
        for (path, bytes) in sources.iter_mut().filter(|it| is_of_library(&it.0)) {
            if !self.declared.iter().any(|(name, it)| self.taken.contains(name) && it.iter().any(|it| it.1 == *path)) {
                continue;
            }
            for it in unstable_in(bytes) {
                let is_taken =
                    str::from_utf8(&bytes[it.name.start..it.name.end]).is_ok_and(|it| self.taken.contains(it));
                if is_taken && !enabled.contains(&it.feature) {
                    bytes[it.name.start] = b'_';
                }
            }
        }
    }

    /// The names of unstable methods that a trait of a text declares as well.
    fn declared_again(&self, text: &[u8]) -> Vec<String> {
        let is_named =
            |at: usize| str::from_utf8(identifier(&text[at + 3..])).is_ok_and(|it| self.declared.contains_key(it));
        match str::from_utf8(text) {
            Ok(text) if Finder::new("fn ").find_iter(text.as_bytes()).any(is_named) => {
                let mut names = functions_of_traits(text);
                names.retain(|it| self.declared.contains_key(*it));
                names.into_iter().map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The names of the functions that the traits of a text declare.
fn functions_of_traits(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    // Whether each open brace is that of a trait, and whether the next one is.
    let (mut around, mut is_next): (Vec<bool>, bool) = (Vec::new(), false);
    let mut is_name = false;
    for token in tokenize(text, FrontmatterAllowed::Yes) {
        let word = &text[at..at + token.len as usize];
        at += word.len();
        match token.kind {
            TokenKind::OpenBrace => around.push(std::mem::take(&mut is_next)),
            TokenKind::CloseBrace => drop(around.pop()),
            TokenKind::Semi => is_next = false,
            TokenKind::Ident if std::mem::take(&mut is_name) => found.push(word),
            TokenKind::Ident if word == "trait" => is_next = true,
            TokenKind::Ident if word == "fn" => {
                is_next = false;
                is_name = around.last() == Some(&true);
            }
            _ => {}
        }
    }
    found
}

fn identifier(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|it| !(it.is_ascii_alphanumeric() || *it == b'_')).unwrap_or(text.len());
    &text[..end]
}

/// The names of the unstable methods in a text, with their features.
fn unstable_methods(text: &[u8]) -> Vec<(String, String)> {
    let name = |it: &Unstable| str::from_utf8(&text[it.name.start..it.name.end]).map(str::to_owned);
    unstable_in(text).into_iter().filter_map(|it| Some((name(&it).ok()?, it.feature))).collect()
}

fn unstable_in(text: &[u8]) -> Vec<Unstable> {
    let Ok(text) = str::from_utf8(text) else { return Vec::new() };
    let finder = Finder::new("#[unstable(");
    finder.find_iter(text.as_bytes()).filter_map(|at| unstable_at(text, at)).collect()
}

/// The method behind an attribute. `None` for what the language itself, or a macro of the standard library, calls by its
/// name.
fn unstable_at(text: &str, start: usize) -> Option<Unstable> {
    let mut at = start;
    let tokens = tokenize(&text[start..], FrontmatterAllowed::No).map(|it| {
        let span = Span::new(at, at + it.len as usize);
        at = span.end;
        (it.kind, span)
    });
    let is_code = |kind: &TokenKind| {
        !matches!(kind, TokenKind::Whitespace | TokenKind::LineComment { .. } | TokenKind::BlockComment { .. })
    };
    let mut tokens = tokens.filter(|it| is_code(&it.0));
    let said = |it: Span| &text[it.start..it.end];
    let mut feature = None;
    // The attributes, and what stands before `fn`.
    loop {
        let (kind, span) = tokens.next()?;
        match kind {
            TokenKind::Pound => {
                let mut depth = 0;
                loop {
                    let (kind, span) = tokens.next()?;
                    match kind {
                        TokenKind::Ident if said(span) == "lang" => return None,
                        TokenKind::OpenBracket | TokenKind::OpenParen => depth += 1,
                        TokenKind::CloseBracket | TokenKind::CloseParen => depth -= 1,
                        TokenKind::Literal { kind: LiteralKind::Str { .. }, .. } if feature.is_none() => {
                            feature = Some(said(span).trim_matches('"').to_owned());
                        }
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            TokenKind::Literal { .. } if said(span) == "\"rust-call\"" => return None,
            TokenKind::OpenParen | TokenKind::CloseParen | TokenKind::Literal { .. } => {}
            TokenKind::Ident => match said(span) {
                "fn" => break,
                "pub" | "crate" | "super" | "in" | "const" | "unsafe" | "async" | "extern" | "default" => {}
                _ => return None,
            },
            _ => return None,
        }
    }
    let (_, name) = tokens.next().filter(|it| it.0 == TokenKind::Ident)?;
    let mut depth = 0;
    // The generic parameters.
    loop {
        let (kind, _) = tokens.next()?;
        match kind {
            TokenKind::OpenParen if depth == 0 => break,
            TokenKind::Lt => depth += 1,
            TokenKind::Gt => depth -= 1,
            TokenKind::OpenBrace | TokenKind::Semi => return None,
            _ => {}
        }
    }
    let is_before_self = |kind: TokenKind, span: Span| {
        matches!(kind, TokenKind::And | TokenKind::Lifetime { .. }) || kind == TokenKind::Ident && said(span) == "mut"
    };
    let (_, receiver) = tokens.find(|it| !is_before_self(it.0, it.1))?;
    let feature = feature.unwrap_or_default();
    let is_internal = feature.contains("internals") || feature.ends_with("_for_derive");
    (said(receiver) == "self" && !is_internal).then_some(Unstable { name, feature })
}

/// The features that a crate enables without a condition.
fn enabled_features(text: &[u8]) -> Vec<String> {
    let mut features = Vec::new();
    for at in Finder::new(b"#![feature(").find_iter(text) {
        let list = &text[at + b"#![feature(".len()..];
        let end = list.iter().position(|it| *it == b')').unwrap_or_default();
        let names = str::from_utf8(&list[..end]).unwrap_or_default().split(',');
        features.extend(names.map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned));
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unstable_methods_are_found() {
        let text = "
            #[unstable(feature = \"a\", issue = \"1\")]
            fn one(self) {}
            #[unstable(feature = \"b\", reason = \"see [x] (y)\", issue = \"none\")]
            #[must_use = \"c\"]
            // A comment.
            pub const unsafe fn two<'a, T: Fn<(u8,)>>(&'a mut self, x: T) {}
            #[unstable(feature = \"d\", issue = \"1\")]
            pub fn three(x: u8) {}
            #[unstable(feature = \"e\", issue = \"1\")]
            pub struct Four;
            #[stable(feature = \"f\", since = \"1.0.0\")]
            fn five(self) {}
            #[unstable(feature = \"g\", issue = \"1\")]
            extern \"rust-call\" fn call(&self, args: Args) -> Self::Output;
            #[unstable(feature = \"h\", issue = \"1\")]
            #[lang = \"branch\"]
            fn branch(self);
            #[unstable(feature = \"thread_local_internals\", issue = \"1\")]
            fn get_or_init(&self) {}
            #[unstable(";
        let expected = [("one", "a"), ("two", "b")].map(|it| (it.0.to_owned(), it.1.to_owned()));
        assert_eq!(unstable_methods(text.as_bytes()), expected);
    }

    #[test]
    fn methods_that_other_code_declares_are_renamed() {
        let library = AbsPathBuf::assert("/std".into());
        let text = "#[unstable(feature = \"a\", issue = \"1\")]\nfn one(&self) {}\n#[unstable(feature = \"b\", issue = \"1\")]\nfn two(&self) {}\n";
        let file = |path: &str, text: &str| (AbsPathBuf::assert(path.into()), text.as_bytes().to_vec());
        let mut sources = vec![file("/std/core.rs", text), file("/dep/lib.rs", "trait T { fn one(&self); }")];
        let mut methods = UnstableMethods::default();
        methods.hide(&[&library], &Files::default(), &mut sources);
        assert_eq!(str::from_utf8(&sources[0].1), Ok(&*text.replace("fn one", "fn _ne")));
        assert_eq!(str::from_utf8(&sources[1].1), Ok("trait T { fn one(&self); }"));
    }

    #[test]
    fn functions_of_traits_are_those_of_their_own_braces() {
        let text = "trait A { fn one(&self) { fn two() {} } } impl A for B { fn three(&self) {} } fn four() {} \
                    macro_rules! m { () => { pub trait C<T> where T: D { const E: u8; fn five(&self); } } }";
        assert_eq!(functions_of_traits(text), ["one", "five"]);
    }

    #[test]
    fn enabled_features_are_read() {
        assert_eq!(enabled_features(b"#![feature(a, b)]\n#![cfg_attr(x, feature(c))]\n#![feature("), ["a", "b"]);
    }
}
