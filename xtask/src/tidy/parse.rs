//! Computes a `Source` from the text of a Rust file.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Ident, ImplItem, Item, Lit, Meta, Token, TraitItem, UseTree, Visibility};

use super::complaint::Complaint;
use super::source::{Declared, Kind, NamedPath, Segments, Source, Use, Word, is_test_file};

pub(crate) fn parse(file: &str, text: &str) -> Result<Source, Complaint> {
    let syntax = syn::parse_file(text)
        .map_err(|error| Complaint::new(file, error.span().start().line, format!("this is not Rust: {error}")))?;
    let mut reader = Reader {
        source: Source {
            file: file.to_owned(),
            text: text.to_owned(),
            is_test: is_test_file(file) || syntax.attrs.iter().any(is_test_attribute),
            words: Vec::new(),
            attributes: Vec::new(),
            uses: Vec::new(),
            paths: Vec::new(),
            declared: Vec::new(),
            tests: Vec::new(),
        },
        inside: Vec::new(),
        tests: 0,
    };
    reader.visit_file(&syntax);
    Ok(reader.source)
}

/// `#[cfg(test)]`, `#[test]` and `#[tokio::test]`.
fn is_test_attribute(attribute: &Attribute) -> bool {
    let named = attribute.path().segments.last();
    if attribute.path().is_ident("cfg") {
        return attribute.parse_args::<Meta>().is_ok_and(|it| needs_test(&it));
    }
    named.is_some_and(|it| it.ident == "test")
}

/// Whether a condition of `cfg` holds in tests only.
fn needs_test(condition: &Meta) -> bool {
    let Meta::List(list) = condition else { return condition.path().is_ident("test") };
    let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default();
    if list.path.is_ident("all") {
        return parts.iter().any(needs_test);
    }
    list.path.is_ident("any") && !parts.is_empty() && parts.iter().all(needs_test)
}

struct Reader {
    source: Source,
    inside: Segments,
    /// How many items around this one are tests.
    tests: usize,
}

impl Reader {
    fn word(&mut self, kind: Kind, text: String, line: usize) {
        let word = Word { kind, text, line, is_test: self.tests > 0 };
        if kind == Kind::Attribute { &mut self.source.attributes } else { &mut self.source.words }.push(word);
    }

    fn path(&mut self, path: Segments, line: usize) {
        let is_test = self.tests > 0;
        self.source.paths.push(NamedPath { inside: self.inside.clone(), path, line, is_test });
    }

    /// Visits a node that has attributes; one that is a test is entered with its lines.
    fn attributed(&mut self, attributes: &[Attribute], node: &impl Spanned, visit: impl FnOnce(&mut Self)) {
        let is_test = attributes.iter().any(is_test_attribute);
        if is_test && self.tests == 0 {
            self.source.tests.push(node.span().start().line..=node.span().end().line);
        }
        self.tests += usize::from(is_test);
        visit(self);
        self.tests -= usize::from(is_test);
    }

    fn leaves(&mut self, tree: &UseTree, prefix: &[String], is_public: bool) {
        let (last, name, span) = match tree {
            UseTree::Path(it) => {
                return self.leaves(&it.tree, &[prefix, &[segment(&it.ident)]].concat(), is_public);
            }
            UseTree::Group(it) => {
                return it.items.iter().for_each(|it| self.leaves(it, prefix, is_public));
            }
            UseTree::Name(it) => (Some(&it.ident), segment(&it.ident), it.ident.span()),
            UseTree::Rename(it) => (Some(&it.ident), segment(&it.rename), it.ident.span()),
            UseTree::Glob(it) => (None, "*".to_owned(), it.star_token.spans[0]),
        };
        let last = last.filter(|it| *it != "self" || prefix.is_empty()).map(segment);
        // `a::{self}` imports `a`.
        let name = if name == "self" { prefix.last().cloned().unwrap_or(name) } else { name };
        let path = prefix.iter().cloned().chain(last).collect();
        let (inside, is_test) = (self.inside.clone(), self.tests > 0);
        self.source.uses.push(Use { inside, path, name, is_public, line: span.start().line, is_test });
    }

    /// Names, literals and paths in a call of a macro, whose syntax is its own.
    fn tokens(&mut self, tokens: TokenStream) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            match tree {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    if let Some(TokenTree::Group(group)) = trees.get(at + 1)
                        && group.delimiter() == Delimiter::Bracket
                    {
                        if let Some(TokenTree::Ident(name)) = group.stream().into_iter().next() {
                            self.word(Kind::Attribute, name.to_string(), name.span().start().line);
                        }
                        at += 1;
                    }
                }
                TokenTree::Punct(_) => {}
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => self.visit_lit(&Lit::new(literal.clone())),
                TokenTree::Ident(_) => at = self.path_in_macro(&trees, at) - 1,
            }
            at += 1;
        }
    }

    /// Reads the path that begins at `at`, and returns where it ends.
    fn path_in_macro(&mut self, trees: &[TokenTree], at: usize) -> usize {
        let path = path_at(trees, at);
        // Each segment but the first takes three trees: `:`, `:` and itself.
        let end = at + 3 * path.len() - 2;
        let before = at.checked_sub(1).map(|it| trees[it].to_string());
        let is_called = before.as_deref() != Some("fn")
            && matches!(trees.get(end), Some(TokenTree::Group(it)) if it.delimiter() == Delimiter::Parenthesis);
        let line = |name: &Ident| name.span().start().line;
        for (part, name) in path.iter().enumerate() {
            let kind = if is_called && part + 1 == path.len() { Kind::Call } else { Kind::Name };
            self.word(kind, segment(name), line(name));
        }
        // A field, a method, and what follows `>::` are parts of something else.
        if before.as_deref() != Some(".") && !follows_colons(trees, at) {
            self.path(path.iter().map(|it| segment(it)).collect(), line(path[0]));
        }
        end
    }
}

fn segment(identifier: &Ident) -> String {
    identifier.unraw().to_string()
}

/// The identifiers of the path that begins at `at`.
fn path_at(trees: &[TokenTree], at: usize) -> Vec<&Ident> {
    let mut path = Vec::new();
    let mut next = at;
    while let Some(TokenTree::Ident(name)) = trees.get(next) {
        path.push(name);
        if !follows_colons(trees, next + 3) {
            break;
        }
        next += 3;
    }
    path
}

/// Whether the tree at `at` follows `::`.
fn follows_colons(trees: &[TokenTree], at: usize) -> bool {
    let Some([TokenTree::Punct(first), TokenTree::Punct(second)]) = at.checked_sub(2).and_then(|it| trees.get(it..at))
    else {
        return false;
    };
    first.as_char() == ':' && first.spacing() == Spacing::Joint && second.as_char() == ':'
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        self.attributed(attributes(item), item, |it| {
            if let Some(name) = declared_name(item) {
                let (inside, is_test) = (it.inside.clone(), it.tests > 0);
                let is_module = matches!(item, Item::Mod(_));
                it.source.declared.push(Declared { inside, name: segment(name), is_module, is_test });
            }
            visit::visit_item(it, item);
        });
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.inside.push(segment(&module.ident));
        visit::visit_item_mod(self, module);
        self.inside.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            self.leaves(&item.tree, &[], !matches!(item.vis, Visibility::Inherited));
        }
        visit::visit_item_use(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes: &[Attribute] = match item {
            ImplItem::Const(it) => &it.attrs,
            ImplItem::Fn(it) => &it.attrs,
            ImplItem::Type(it) => &it.attrs,
            ImplItem::Macro(it) => &it.attrs,
            _ => &[],
        };
        self.attributed(attributes, item, |it| visit::visit_impl_item(it, item));
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let attributes: &[Attribute] = match item {
            TraitItem::Const(it) => &it.attrs,
            TraitItem::Fn(it) => &it.attrs,
            TraitItem::Type(it) => &it.attrs,
            TraitItem::Macro(it) => &it.attrs,
            _ => &[],
        };
        self.attributed(attributes, item, |it| visit::visit_trait_item(it, item));
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        self.attributed(&field.attrs, field, |it| visit::visit_field(it, field));
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        self.attributed(&field.attrs, field, |it| visit::visit_field_value(it, field));
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.attributed(&variant.attrs, variant, |it| visit::visit_variant(it, variant));
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.attributed(&arm.attrs, arm, |it| visit::visit_arm(it, arm));
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        self.attributed(&local.attrs, local, |it| visit::visit_local(it, local));
    }

    fn visit_stmt_macro(&mut self, statement: &'ast syn::StmtMacro) {
        self.attributed(&statement.attrs, statement, |it| visit::visit_stmt_macro(it, statement));
    }

    fn visit_expr_block(&mut self, block: &'ast syn::ExprBlock) {
        self.attributed(&block.attrs, block, |it| visit::visit_expr_block(it, block));
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        self.attributed(&call.attrs, call, |it| {
            it.visit_expr(&call.func);
            if let Expr::Path(called) = &*call.func
                && let Some(last) = called.path.segments.last()
                && let Some(word) = it.source.words.iter_mut().rev().find(|it| last.ident == it.text.as_str())
            {
                word.kind = Kind::Call;
            }
            call.args.iter().for_each(|argument| it.visit_expr(argument));
        });
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.attributed(&call.attrs, call, |it| {
            it.visit_expr(&call.receiver);
            it.word(Kind::Call, segment(&call.method), call.method.span().start().line);
            if let Some(turbofish) = &call.turbofish {
                it.visit_angle_bracketed_generic_arguments(turbofish);
            }
            call.args.iter().for_each(|argument| it.visit_expr(argument));
        });
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none()
            && let Some(first) = path.segments.first()
        {
            let segments = path.segments.iter().map(|it| segment(&it.ident)).collect();
            self.path(segments, first.ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_ident(&mut self, identifier: &'ast Ident) {
        self.word(Kind::Name, segment(identifier), identifier.span().start().line);
    }

    fn visit_lit(&mut self, literal: &'ast Lit) {
        let value = match literal {
            Lit::Str(it) => it.value(),
            Lit::ByteStr(it) => String::from_utf8_lossy(&it.value()).into_owned(),
            _ => return,
        };
        self.word(Kind::Literal, value, literal.span().start().line);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Some(last) = attribute.path().segments.last() {
            self.word(Kind::Attribute, segment(&last.ident), last.ident.span().start().line);
        }
        // What an attribute says is no code, but the paths in it are uses.
        if let Meta::List(list) = &attribute.meta {
            let words = self.source.words.len();
            self.tokens(list.tokens.clone());
            self.source.words.truncate(words);
        }
    }

    /// `pub(crate)` is no use of `crate`.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_token_stream(&mut self, tokens: &'ast TokenStream) {
        self.tokens(tokens.clone());
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::ExternCrate(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::ForeignMod(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::TraitAlias(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Union(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

fn declared_name(item: &Item) -> Option<&Ident> {
    match item {
        Item::Const(it) => Some(&it.ident),
        Item::Enum(it) => Some(&it.ident),
        Item::Fn(it) => Some(&it.sig.ident),
        Item::Macro(it) => it.ident.as_ref(),
        Item::Mod(it) => Some(&it.ident),
        Item::Static(it) => Some(&it.ident),
        Item::Struct(it) => Some(&it.ident),
        Item::Trait(it) => Some(&it.ident),
        Item::TraitAlias(it) => Some(&it.ident),
        Item::Type(it) => Some(&it.ident),
        Item::Union(it) => Some(&it.ident),
        _ => None,
    }
}

#[cfg(test)]
pub(crate) fn source(file: &str, text: &str) -> Source {
    parse(file, text).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn production(text: &str) -> String {
        source("src/a.rs", text).production_words().map(|it| it.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_are_the_names_and_literals_of_code() {
        let text = "//! b\n/// c\n#[doc = \"d\"]\n\
                    fn a(x: &'static str) { /* e /* f */ */ r#\"g\"h\"#; 'i'; b\"j\"; m!(k, \"l\"); }";
        assert_eq!(production(text), "a x static str g\"h j m k l");
        assert_eq!(production("fn f() { g(#[h(i)] j); m!(#[h(i)] struct K;); }"), "f g j m struct K");
    }

    #[test]
    fn tests_are_told_from_code() {
        for test in [
            "#[cfg(test)] mod t { fn b() {} }",
            "#[cfg(all(unix, test))] fn b() {}",
            "#[test] fn b() {}",
            "#[tokio::test] async fn b() {}",
            "impl C { #[cfg(test)] fn b() {} }",
            "fn c() { #[cfg(test)] { b() } }",
            "fn c() { #[cfg(test)] let b = 1; }",
            "struct C { #[cfg(test)] b: u8 }",
        ] {
            assert!(!production(test).contains('b'), "{test}");
        }
        for code in ["#[cfg(not(test))] fn b() {}", "#[cfg(any(test, unix))] fn b() {}", "#[cfg(unix)] fn b() {}"] {
            assert!(production(code).contains('b'), "{code}");
        }
        assert!(production("#![cfg(test)] fn b() {}").is_empty());
        assert_eq!(source("src/a.rs", "fn a() {}\n/// T.\n#[cfg(test)]\nmod t {\n}\n").tests, [2..=5]);
    }

    #[test]
    fn imports_and_paths_have_their_segments() {
        let text =
            "use a::{self, b::{c as d, *}};\nmod m { pub(crate) use super::e; }\nfn f() -> g::H { n!(o::p(), q.r) }";
        let source = source("src/a.rs", text);
        let uses: Vec<String> = source.uses.iter().map(|it| format!("{} as {}", it.path.join("::"), it.name)).collect();
        assert_eq!(uses, ["a as a", "a::b::c as d", "a::b as *", "super::e as e"]);
        assert_eq!(source.uses.iter().map(|it| it.is_public).collect::<Vec<_>>(), [false, false, false, true]);
        assert_eq!(source.uses[3].inside, ["m"]);
        let paths: Vec<String> = source.paths.iter().map(|it| it.path.join("::")).collect();
        assert_eq!(paths, ["g::H", "n", "o::p", "q"]);
        assert_eq!(source.paths[0].line, 3);
    }
}
