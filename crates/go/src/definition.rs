//! The symbol at a place in a file or at a location from gopls, with its description and implementations.

use gen_lsp_types::Location;

use super::package_overview::Documentation;
use super::queries::GoplsQueries;
use super::session::Failure;
use super::{doc_links, examples, external_symbols, lsp_conversion, resolve, symbol_paths, usages};
use crate::LANGUAGE;
use semdex_engine::files::File;
use semdex_model::{Answer, Coverage, Description, Span, Symbol, SymbolAt, SymbolKind};

pub(crate) async fn symbol_at(queries: &GoplsQueries<'_>, file: &File, offset: usize) -> Answer<SymbolAt> {
    let mut coverage = Coverage::default();
    let span = word_at(&file.text, offset);
    let at = file.lines().place(&file.path, span);
    let (definitions, hover) = futures::join!(queries.definition(file, span.start), queries.hover(file, span.start));
    // A place without an identifier, or a keyword, has no definition, and gopls refuses the request.
    let definition = match definitions {
        Ok(locations) => locations.into_iter().next(),
        Err(Failure::Inapplicable(_)) => None,
        Err(failure) => {
            failure.note(&mut coverage);
            None
        }
    };
    let hover = match hover {
        Ok(hover) => hover,
        Err(Failure::Inapplicable(_)) => None,
        Err(failure) => {
            failure.note(&mut coverage);
            None
        }
    };
    let declaration = hover.as_deref().and_then(declaration);
    let symbol = definition.as_ref().and_then(|it| {
        symbol_of(queries, it).or_else(|| local(queries, it, declaration.as_deref().unwrap_or_default()))
    });
    let value = SymbolAt {
        ty: declaration.as_deref().and_then(type_of),
        definition: definition.and_then(|it| queries.place(&it)),
        origin: symbol.as_ref().and_then(|it| it.origin.clone()),
        symbol,
        hover,
        at,
    };
    Answer { value, coverage }
}

/// The symbol declared at a location, in the workspace or outside.
pub(crate) fn symbol_of(queries: &GoplsQueries<'_>, location: &Location) -> Option<Symbol> {
    let file = queries.load(&queries.session.root.file(&location.uri)?)?;
    let place = lsp_conversion::place(&file, location.range);
    if file.path.starts_with('/') {
        return external_symbols::symbol_at(queries.session, &file, &place);
    }
    let found = external_symbols::declared_at(&file, queries.layout.package_of(&file.path)?, &place, false)?;
    Some(queries.layout.distinct(found))
}

/// A variable or another declaration inside a function.
fn local(queries: &GoplsQueries<'_>, location: &Location, declaration: &str) -> Option<Symbol> {
    let place = queries.place(location)?;
    let file = queries.files.get(&place.file)?;
    let name = file.text.get(place.start..place.end)?.to_owned();
    let around = queries.layout.symbol_around(&place.file, place.start)?;
    let package = queries.layout.package_of(&place.file)?.to_owned();
    let kind = match declaration.split_whitespace().next() {
        Some("const") => SymbolKind::Const,
        Some("type") => SymbolKind::Type,
        Some("func") => SymbolKind::Function,
        Some("field") => SymbolKind::Field,
        _ => SymbolKind::Variable,
    };
    Some(Symbol {
        language: LANGUAGE,
        path: format!("{around}.{name}"),
        kind,
        signature: declaration.to_owned(),
        package,
        name_at: place.clone(),
        declared_at: None,
        docs: None,
        external: false,
        origin: None,
        public: false,
        test: symbol_paths::is_test_file(&place.file),
        usages: None,
        also: Vec::new(),
        children: Vec::new(),
        place,
        name,
    })
}

/// The identifier at an offset, else an empty span at the offset.
pub(crate) fn word_at(text: &str, offset: usize) -> Span {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let part = |it: char| it == '_' || it.is_alphanumeric();
    let before = text[..offset].chars().rev().take_while(|it| part(*it)).map(char::len_utf8).sum::<usize>();
    let after = text[offset..].chars().take_while(|it| part(*it)).map(char::len_utf8).sum::<usize>();
    Span::new(offset - before, offset + after)
}

/// The first code block of a hover.
fn declaration(hover: &str) -> Option<String> {
    let (_, code) = hover.split_once("```go\n")?;
    let (code, _) = code.split_once("\n```")?;
    Some(code.to_owned())
}

/// The type in gopls's description of a declaration: `var x T`, `field F T`, `func f(…) …`.
fn type_of(declaration: &str) -> Option<String> {
    let line = declaration.lines().next()?;
    let words = line.split("//").next()?.trim();
    let (keyword, rest) = words.split_once(' ')?;
    match keyword {
        "func" => Some(words.to_owned()),
        "var" | "field" | "const" => {
            let (_, ty) = rest.split_once(' ')?;
            let ty = ty.split(" = ").next()?.trim();
            (!ty.is_empty() && !ty.starts_with('=')).then(|| ty.to_owned())
        }
        "type" => rest.split_whitespace().next().map(str::to_owned),
        _ => None,
    }
}

pub(crate) async fn describe(queries: &GoplsQueries<'_>, symbol: &Symbol) -> Answer<Description> {
    let implementations = if has_implementations(symbol.kind) {
        implementations(queries, symbol).await
    } else {
        Answer::whole(Vec::new())
    };
    let sources =
        if symbol.external { external_symbols::describe(queries.session, queries.files, symbol) } else { None };
    implementations.map(|implementations| match sources {
        Some(description) => Description { implementations, ..description },
        None => {
            let Documentation { source, docs } = documentation(queries, symbol);
            let package_set = queries.layout.package_set(Some(&symbol.name_at.file));
            Description {
                source,
                docs: docs.map(|docs| {
                    doc_links::resolved(&docs, |link| resolve::linked(&package_set, queries.files, symbol, link))
                }),
                examples: examples::examples(queries.files, symbol),
                implementations,
                container: None,
                version: None,
                symbol: queries.layout.with_methods(symbol.clone()),
            }
        }
    })
}

fn documentation(queries: &GoplsQueries<'_>, symbol: &Symbol) -> Documentation {
    let Some(file) = queries.load(&symbol.place.file) else { return Documentation { source: None, docs: None } };
    match file.outline().enclosing(symbol.name_at.start).last() {
        Some(item) if item.name_span == symbol.name_at.span() => Documentation::of(&file, item),
        _ => Documentation {
            source: file.text.get(symbol.place.start..symbol.place.end).map(str::to_owned),
            docs: symbol.docs.clone(),
        },
    }
}

fn has_implementations(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Interface | SymbolKind::Struct | SymbolKind::Type | SymbolKind::Method)
}

/// For an interface, the types that implement it; for a type, the interfaces that it implements.
pub(crate) async fn implementations(queries: &GoplsQueries<'_>, symbol: &Symbol) -> Answer<Vec<Symbol>> {
    let mut coverage = Coverage::default();
    let Some(file) = queries.load(&symbol.name_at.file) else {
        return Answer::lacking(Vec::new(), usages::unreadable(&symbol.name_at.file));
    };
    let locations = match queries.implementations(&file, symbol.name_at.start).await {
        Ok(locations) => locations,
        // gopls refuses the request for a symbol without implementations, for example a function.
        Err(Failure::Inapplicable(_)) => Vec::new(),
        Err(failure) => {
            failure.note(&mut coverage);
            Vec::new()
        }
    };
    let mut symbols: Vec<Symbol> = locations.iter().filter_map(|it| symbol_of(queries, it)).collect();
    symbols.sort_by(|a, b| (a.external, &a.path).cmp(&(b.external, &b.path)));
    symbols.dedup_by(|a, b| a.name_at == b.name_at);
    Answer { value: symbols, coverage }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_from_declarations() {
        for (declaration, ty) in [
            ("var x map[string]int", Some("map[string]int")),
            ("field Name string // size=16", Some("string")),
            ("const Limit untyped int = 3", Some("untyped int")),
            ("func f(a int) error", Some("func f(a int) error")),
            ("type T struct { // size=8", Some("T")),
            ("package fmt", None),
            ("", None),
        ] {
            assert_eq!(type_of(declaration).as_deref(), ty, "{declaration}");
        }
    }

    #[test]
    fn words_are_found_from_any_offset() {
        let text = "a.größe(x)";
        assert_eq!(word_at(text, 4), Span::new(2, 9));
        assert_eq!(word_at(text, 5), Span::new(2, 9), "inside a character");
        assert_eq!(word_at(text, 99), Span::new(12, 12));
    }
}
