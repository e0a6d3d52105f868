//! Edits of a symbol: replaces its body or the whole item, inserts before or after it, or deletes it. On a line with
//! other code `neighbours.rs` decides.

use std::sync::Arc;

use super::neighbours;
use super::text_edit::already_applied;
use crate::open::text_of;
use crate::query::{RequestOptions, is_miss, join_misses, languages_of, run_query, unless_loading};
use crate::unanalysed_files::no_symbols;
use semdex_contract::{At, check_query};
use semdex_engine::files::File;
use semdex_model::{Answer, Code, Error, OutlineItem, Result, Span, Symbol, SymbolKind, SymbolQuery};
use semdex_text::endings;
use semdex_text::matching::Patch;
use semdex_workspace::Workspace;

/// Resolves a symbol, together with the text that its place refers to.
pub(crate) async fn find_symbol(
    workspace: &Workspace,
    query: &SymbolQuery,
    options: &RequestOptions,
) -> Result<(Symbol, Arc<File>)> {
    let mut miss = None;
    let mut failure = None;
    check_query(query)?;
    for language in languages_of(workspace, options, query).await? {
        let found = run_query(workspace, options.needs(Some(language), true), None, |it| {
            let query = query.clone();
            async move {
                let view = it.view.ok_or_else(|| no_symbols(workspace, &it.files, language))?;
                let symbol = view.resolve(query, it.deadlines).await?;
                if symbol.external {
                    let detail = format!("`{}` is not part of this workspace and cannot be edited", symbol.path);
                    return Err(Error::new(Code::OutsideWorkspace, detail).into());
                }
                let file = text_of(&it.files, &symbol.name_at.file)?;
                Ok(Answer::whole((symbol, file)))
            }
        })
        .await;
        match found {
            Ok(reply) => return Ok(reply.value),
            Err(error) if is_miss(&error) => join_misses(&mut miss, error, &query.symbol),
            // Another engine may know what this one could not answer.
            Err(error) if error.code == Code::OutsideWorkspace || error.code == Code::AmbiguousSymbol => {
                return Err(error);
            }
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    let unknown = || Error::new(Code::UnknownSymbol, format!("there is no symbol `{}`", query.symbol));
    Err(miss.map_or_else(unknown, unless_loading))
}

/// The same symbol in another text of its file: the only item with its kind, name and container.
pub(super) fn same_symbol(file: &File, symbol: &Symbol, other: &File) -> Option<Symbol> {
    let wanted = item(file, symbol).ok()?;
    let is_same =
        |it: &OutlineItem| (it.kind, &it.name, &it.container) == (wanted.kind, &wanted.name, &wanted.container);
    let starts = |file: &File| {
        let mut starts = Vec::new();
        file.outline().walk(&mut |it| starts.extend(is_same(it).then_some(it.name_span.start)));
        starts
    };
    let [start] = starts(other)[..] else { return None };
    if starts(file).len() > 1 {
        return None;
    }
    let mut symbol = symbol.clone();
    symbol.name_at.start = start;
    Some(symbol)
}

/// The range of the symbol's text, which limits a text search in the symbol.
pub(super) fn extent(file: &File, symbol: &Symbol) -> Result<Span> {
    // A module with its own file is the whole file.
    if symbol.declared_at.is_some() { Ok(Span::new(0, file.text.len())) } else { Ok(item(file, symbol)?.span) }
}

fn item<'a>(file: &'a File, symbol: &Symbol) -> Result<&'a OutlineItem> {
    let mut found = None;
    file.outline().walk(&mut |item| {
        if item.name_span.start == symbol.name_at.start && item.kind != SymbolKind::Impl {
            found = Some(item);
        }
    });
    found.ok_or_else(|| {
        let detail = format!("`{}` is made by a macro and has no text of its own: edit the macro's input", symbol.path);
        Error::new(Code::InvalidRequest, detail)
    })
}

/// The patch of an edit of a symbol, with the indentation of the symbol. `repeat`: the text may already be there.
pub(super) fn at_symbol(file: &File, symbol: &Symbol, at: At, replacement: &str, repeat: bool) -> Result<Patch> {
    let item = item(file, symbol)?;
    if symbol.declared_at.is_some() && matches!(at, At::Body | At::Whole) {
        let detail = format!("`{}` is a file of its own: edit `{}`", symbol.path, symbol.place.file);
        return Err(Error::new(Code::InvalidRequest, detail));
    }
    let text = &*file.text;
    let line_start = text[..item.span.start].rfind('\n').map_or(0, |it| it + 1);
    let outer: &str = &text[line_start..item.span.start];
    let has_own_line = outer.trim().is_empty();
    let outer: &str = if has_own_line { outer } else { "" };
    let between = match matches!(item.kind, SymbolKind::Field | SymbolKind::Variant) {
        true if has_own_line => "\n",
        true => " ",
        false => "\n\n",
    };
    let mut patch = match at {
        At::Body => {
            let body = item.body.ok_or_else(|| {
                Error::new(Code::InvalidRequest, format!("`{}` has no body: use `at: \"whole\"`", symbol.path))
            })?;
            let is_in_braces = text[..body.start].ends_with('{') && text[body.end..].starts_with('}');
            let replacement = if is_in_braces { without_braces(replacement) } else { replacement };
            let unit = if text.contains("\n\t") { "\t" } else { file.language.map_or("    ", |it| it.indent) };
            let first_line = text[..body.start].rfind('\n').map_or(0, |it| it + 1);
            let before = &text[first_line..body.start];
            let stands_alone = before.trim().is_empty() && body.start < body.end;
            let inner = if stands_alone { before.to_owned() } else { format!("{outer}{unit}") };
            let text = match replacement.trim() {
                "" => String::new(),
                // A body that is delimited by indentation, as in Python, consists of whole lines.
                _ if stands_alone => indented(replacement, &inner),
                _ => format!("\n{inner}{}\n{outer}", indented(replacement, &inner)),
            };
            Patch { range: body, text }
        }
        At::Whole => neighbours::replaced(file, symbol, item, indented(replacement, outer))?,
        At::Before | At::After if replacement.trim().is_empty() => {
            Patch { range: Span::default(), text: String::new() }
        }
        At::Before => {
            let start = with_comments_above(text, item.span.start);
            if !repeat && neighbours::is_before(&text[..start], replacement) {
                return Err(already_applied(file, item.span));
            }
            let comma = if has_commas(file, item, replacement) { "," } else { "" };
            let new = with_comma(&indented(replacement, outer), comma);
            let own_line = Patch { range: Span::new(start, start), text: format!("{new}{between}{outer}") };
            if has_own_line {
                own_line
            } else {
                let beside = neighbours::before(file, item, replacement, comma);
                neighbours::placed(file, symbol, item, beside, own_line)?
            }
        }
        At::After => {
            let separated = after_separator(text, item.span.end);
            let end = after_comments(text, separated);
            if !repeat && neighbours::is_after(&text[end..], replacement) {
                return Err(already_applied(file, item.span));
            }
            let (missing, own) = match has_commas(file, item, replacement) {
                true if separated == item.span.end => (",", ""),
                true => ("", ","),
                false => ("", ""),
            };
            let is_last = rest_of_line(text, end).trim().is_empty();
            let (outer, between) = match is_last {
                true => (margin(text, line_start), if between == " " { "\n" } else { between }),
                false => (outer, between),
            };
            let comment = &text[separated..end];
            let new = with_comma(&indented(replacement, outer), own);
            let own_line =
                Patch { range: Span::new(separated, end), text: format!("{missing}{comment}{between}{outer}{new}") };
            if is_last {
                own_line
            } else {
                let beside = neighbours::after(text, item, replacement, separated, (missing, own));
                neighbours::placed(file, symbol, item, beside, own_line)?
            }
        }
        At::Delete => {
            if !replacement.is_empty() {
                let detail = "`at: \"delete\"` takes no `replacement`: leave it out or empty";
                return Err(Error::new(Code::InvalidRequest, detail));
            }
            let own_lines = has_own_line.then(|| to_delete(text, item.span, line_start)).flatten();
            Patch { range: neighbours::deleted(file, symbol, item, own_lines)?, text: String::new() }
        }
    };
    let there = &text[patch.range.start..patch.range.end];
    patch.text = endings::like(there, &endings::unix(&patch.text), endings::at(text, patch.range.start));
    if patch.text == there && !repeat && !replacement.trim().is_empty() {
        return Err(already_applied(file, item.span));
    }
    Ok(patch)
}

/// A body without the braces around the whole of it: the file keeps its own.
fn without_braces(replacement: &str) -> &str {
    let Some(inner) = replacement.trim().strip_prefix('{').and_then(|it| it.strip_suffix('}')) else {
        return replacement;
    };
    // `{ a } + { b }` begins and ends with other braces.
    let mut depth = 0usize;
    for character in inner.chars() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => return replacement,
            '}' => depth -= 1,
            _ => {}
        }
    }
    if depth == 0 { inner } else { replacement }
}

/// Whether a comma separates the item from the next one: as the text shows, or as the language says.
fn has_commas(file: &File, item: &OutlineItem, replacement: &str) -> bool {
    if !matches!(item.kind, SymbolKind::Field | SymbolKind::Variant) {
        return false;
    }
    let text = &*file.text;
    let before = text[..with_comments_above(text, item.span.start)].trim_end();
    let after = text[after_comments(text, item.span.end)..].trim_start();
    let always = file.language.is_some_and(|it| it.syntax.has_commas(item.kind));
    // A semicolon after the last variant ends the list.
    if text[..item.span.end].ends_with(';') || before.ends_with(';') || (after.starts_with(';') && !always) {
        return false;
    }
    after.starts_with(',') || before.ends_with(',') || replacement.trim_end().ends_with(',') || always
}

/// A text that ends with the separator, before a comment at its end.
pub(super) fn with_comma(text: &str, comma: &str) -> String {
    let line_start = text.rfind('\n').map_or(0, |at| at + 1);
    let code = text[line_start..].find(" //").map_or(text.len(), |at| line_start + at);
    let (code, comment) = text.split_at(text[..code].trim_end().len());
    let comma = if code.ends_with(',') { "" } else { comma };
    format!("{code}{comma}{comment}")
}

/// The start of the comments directly above an item, which belong to it although they are no docs.
fn with_comments_above(text: &str, start: usize) -> usize {
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    if !text[line_start..start].trim().is_empty() {
        return start;
    }
    let mut first = start;
    let mut above = &text[..line_start];
    while let Some(line) = above.split_inclusive('\n').next_back() {
        let comment = line.trim();
        if !comment.starts_with("//") || comment.starts_with("//!") {
            break;
        }
        above = &above[..above.len() - line.len()];
        first = above.len() + line.len() - line.trim_start().len();
    }
    first
}

/// The end of the comments beside an offset on its line, if nothing else is there.
pub(super) fn after_comments(text: &str, end: usize) -> usize {
    let line = rest_of_line(text, end);
    let beside = line.trim();
    let is_closed = beside.starts_with("/*") && beside.find("*/").is_some_and(|at| at + 2 == beside.len());
    let is_comment = is_closed || ["//", "# ", "-- "].iter().any(|it| beside.starts_with(it));
    if is_comment { end + line.trim_end().len() } else { end }
}

/// Replaces the common indentation of a text by `indent`. The first line gets none, because it is inserted after
/// existing indentation.
fn indented(text: &str, indent: &str) -> String {
    let text = endings::unix(text);
    let text = text.trim_matches('\n').trim_end();
    let margin = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let shared = text.lines().filter(|it| !it.trim().is_empty()).map(margin).min().unwrap_or_default();
    let mut out = String::new();
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let line = line.get(shared..).unwrap_or_default();
        if index > 0 && !line.trim().is_empty() {
            out.push_str(indent);
        }
        out.push_str(line.trim_end_matches('\r'));
    }
    out
}

/// The text from an offset to the end of its line.
pub(super) fn rest_of_line(text: &str, from: usize) -> &str {
    let rest = &text[from..];
    rest.find(['\n', '\r']).map_or(rest, |at| &rest[..at])
}

/// The indentation of the line that begins here.
fn margin(text: &str, line_start: usize) -> &str {
    let line = &text[line_start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

pub(super) fn after_separator(text: &str, end: usize) -> usize {
    let rest = &text[end..];
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    if rest[blanks..].starts_with(',') { end + blanks + 1 } else { end }
}

/// The range of a symbol that begins a line, with its separator and its lines, and with one of the blank lines around
/// it. `None` if something else is on its last line.
fn to_delete(text: &str, span: Span, line_start: usize) -> Option<Span> {
    let mut end = after_separator(text, span.end);
    let rest = &text[end..];
    let line_rest = rest.find('\n').map_or(rest, |at| &rest[..at]);
    if !line_rest.trim().is_empty() {
        return None;
    }
    end += (line_rest.len() + 1).min(rest.len());
    let blank_before =
        line_start == 0 || text[..line_start].ends_with("\n\n") || text[..line_start].ends_with("\n\r\n");
    let after = &text[end..];
    let next = after.find('\n').map_or(after, |at| &after[..=at]);
    if blank_before && !next.is_empty() && next.trim().is_empty() {
        end += next.len();
    }
    Some(Span::new(line_start, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_engine::Registry;
    use semdex_engine::files::Files;

    fn patched(text: &str, name: &str, at: At, replacement: &str) -> String {
        let file = {
            let files =
                Files::new(Registry::new(vec![Arc::new(semdex_rust::RustKind)], |_, _| Vec::new()).languages().clone());
            files.file("a.rs", text)
        };
        let outline = file.outline().clone();
        let mut item = None;
        outline.walk(&mut |it| {
            if it.name == name && it.kind != SymbolKind::Impl {
                item = Some(it.clone());
            }
        });
        let item = item.expect("the item is there");
        let place = |span| file.lines().place("a.rs", span);
        let symbol = Symbol {
            language: file.language.expect("a language of the registry"),
            path: name.to_owned(),
            kind: item.kind,
            name: name.to_owned(),
            signature: String::new(),
            package: String::new(),
            place: place(item.span),
            name_at: place(item.name_span),
            declared_at: None,
            docs: None,
            external: false,
            origin: None,
            public: true,
            test: false,
            usages: None,
            also: Vec::new(),
            children: Vec::new(),
        };
        let patch = at_symbol(&file, &symbol, at, replacement, false).expect("it has a place");
        semdex_text::matching::apply_all(text, &[patch]).expect("one patch cannot overlap").0
    }

    #[test]
    fn a_symbol_takes_its_docs_and_separators_along() {
        let text =
            "struct S {\n    /// One.\n    a: u8,\n    b: u8,\n}\n\n/// Does.\nfn f() {\n    g();\n}\n\nfn g() {}\n";
        assert_eq!(patched(text, "a", At::Delete, ""), text.replace("    /// One.\n    a: u8,\n", ""));
        assert_eq!(patched(text, "f", At::Delete, ""), text.replace("/// Does.\nfn f() {\n    g();\n}\n\n", ""));
        assert_eq!(patched(text, "a", At::After, "c: u8,"), text.replace("a: u8,\n", "a: u8,\n    c: u8,\n"));
        assert_eq!(
            patched(text, "f", At::Body, "h();\nif x {\n    i();\n}"),
            text.replace("    g();\n", "    h();\n    if x {\n        i();\n    }\n")
        );
        assert_eq!(patched(text, "g", At::Before, "fn h() {}"), text.replace("fn g()", "fn h() {}\n\nfn g()"));
        assert_eq!(
            patched(text, "f", At::Whole, "fn f() {}"),
            text.replace("/// Does.\nfn f() {\n    g();\n}", "fn f() {}")
        );
    }

    #[test]
    fn a_list_of_members_keeps_its_commas_and_comments() {
        let check = |text: &str, name: &str, at: At, new: &str, wanted: &str| {
            assert_eq!(patched(text, name, at, new), wanted, "{text}");
        };
        check("enum E {\n    A,\n    B\n}\n", "B", At::After, "C", "enum E {\n    A,\n    B,\n    C\n}\n");
        check("enum E {\n    A,\n    B,\n}\n", "B", At::After, "C", "enum E {\n    A,\n    B,\n    C,\n}\n");
        check("enum E {\n    A,\n    B,\n}\n", "A", At::After, "C,", "enum E {\n    A,\n    C,\n    B,\n}\n");
        check("enum E {\n    A,\n}\n", "A", At::Before, "/// Z.\nZ", "enum E {\n    /// Z.\n    Z,\n    A,\n}\n");
        check("enum E { A, B }\n", "B", At::After, "C", "enum E { A, B, C }\n");
        check("enum E { A, B }\n", "A", At::After, "C", "enum E { A, C, B }\n");
        check("enum E {\n    A(u8)\n}\n", "A", At::After, "B // b", "enum E {\n    A(u8),\n    B // b\n}\n");
        check("enum E {\n    A, // a\n}\n", "A", At::After, "B // b", "enum E {\n    A, // a\n    B, // b\n}\n");
        check("enum E {\n    A // a\n}\n", "A", At::After, "B", "enum E {\n    A, // a\n    B\n}\n");
        check("struct S {\n    a: u8\n}\n", "a", At::After, "b: u8", "struct S {\n    a: u8,\n    b: u8\n}\n");
        check("fn f() {} // f\n", "f", At::After, "fn g() {}", "fn f() {} // f\n\nfn g() {}\n");
        let shared = "struct S {\n    pub a: u8, pub b: u8 // end\n}\n";
        let wanted = "struct S {\n    pub a: u8, pub b: u8, // end\n    pub c: u8\n}\n";
        check(shared, "b", At::After, "pub c: u8", wanted);
        check(shared, "a", At::After, "pub c: u8", "struct S {\n    pub a: u8, pub c: u8, pub b: u8 // end\n}\n");
        check(shared, "b", At::Before, "pub c: u8", "struct S {\n    pub a: u8, pub c: u8, pub b: u8 // end\n}\n");
        check(shared, "b", At::Delete, "", "struct S {\n    pub a: u8 // end\n}\n");
        check("enum E { A, B }\n", "A", At::Delete, "", "enum E { B }\n");
        let inline = "mod m { pub fn a() {} pub fn b() {} }\n";
        let wanted = "mod m { pub fn a() {} pub fn c() {} pub fn b() {} }\n";
        check(inline, "a", At::After, "pub fn c() {}", wanted);
        check(inline, "b", At::Before, "pub fn c() {}", wanted);
        check(inline, "b", At::Delete, "", "mod m { pub fn a() {} }\n");
        let noted = "use a;\n\n// About f.\n/// F.\n#[test]\nfn f() {}\n";
        let wanted = "use a;\n\nfn g() {}\n\n// About f.\n/// F.\n#[test]\nfn f() {}\n";
        check(noted, "f", At::Before, "fn g() {}", wanted);
    }

    #[test]
    fn line_endings_stay() {
        let text = "fn f() {\r\n    g();\r\n}\r\n";
        assert_eq!(patched(text, "f", At::Body, "h();\ni();"), "fn f() {\r\n    h();\r\n    i();\r\n}\r\n");
        let mixed = "fn f() {\n    g();\r\n}\n";
        let new = "fn f() {\n    h();\n    g();\n}";
        assert_eq!(patched(mixed, "f", At::Whole, new), "fn f() {\n    h();\n    g();\r\n}\n");
    }
}
