//! What a symbol's name means in the builds that leave out a part of its package: under another target system or build
//! tag. gopls and the checker read one build, so declarations in further builds are compared by name only.

use std::sync::Arc;

use super::identifier_index::{Named, Written, written};
use super::package_set::may_be_called;
use super::queries::GoplsQueries;
use super::symbol_paths::{flatten, inner_path};
use super::syntax::package_clause;
use super::unlisted_occurrences::UnlistedOccurrence;
use super::usage_index::{Places, Spot};
use super::usages::Bearing;
use crate::LANGUAGE;
use semdex_engine::files::File;
use semdex_model::{OutlineItem, Place, Role, Span, Symbol, SymbolKind};

/// The declarations that other builds have in place of this one, as `home_windows.go` next to `home_linux.go`.
pub(crate) fn twins(queries: &GoplsQueries<'_>, symbol: &Symbol) -> Vec<UnlistedOccurrence> {
    let path = inner_path(symbol);
    if symbol.kind == SymbolKind::Package || symbol.external || matches!(path, "" | "init" | "_" | "main") {
        return Vec::new();
    }
    declared(queries, symbol, |item| is_at(item, path))
}

/// The declaration that the default build has in place of a symbol of another build.
pub(crate) fn twin_of_default(queries: &GoplsQueries<'_>, symbol: &Symbol) -> Option<Symbol> {
    let twin = twins(queries, symbol).into_iter().find(|it| queries.layout.is_active(&it.file.path))?;
    let mut symbols = Vec::new();
    queries.layout.symbols(&twin.file.path).iter().for_each(|it| flatten(it, &mut symbols));
    symbols.into_iter().find(|it| it.name_at.start == twin.span.start)
}

fn is_at(item: &OutlineItem, path: &str) -> bool {
    let mut bits = path.split('.');
    item.container.iter().chain([&item.name]).all(|it| bits.next() == Some(it.as_str())) && bits.next().is_none()
}

/// The declarations of the symbol's package that are not built together with the symbol.
fn declared(
    queries: &GoplsQueries<'_>,
    symbol: &Symbol,
    is_wanted: impl Fn(&OutlineItem) -> bool,
) -> Vec<UnlistedOccurrence> {
    let mut found = Vec::new();
    for file in of_package(queries, symbol) {
        file.outline().walk(&mut |item| {
            if is_wanted(item)
                && (&*file.path, item.name_span.start) != (symbol.name_at.file.as_str(), symbol.name_at.start)
            {
                found.push(UnlistedOccurrence { file: file.clone(), span: item.name_span, role: Role::Other });
            }
        });
    }
    found
}

/// The files of the symbol's package that are not built together with the symbol. A program of its own belongs to no
/// package.
fn of_package<'q>(queries: &'q GoplsQueries<'_>, symbol: &Symbol) -> impl Iterator<Item = &'q Arc<File>> {
    let origin = symbol.name_at.file.clone();
    let clause = queries.files.get(&origin).and_then(|it| package_clause(&it.text));
    let siblings = queries.layout.siblings(&origin).iter();
    let builds = queries.session.builds(queries.layout);
    let is_program = move |it: &str| builds.0.iter().any(|build| build.programs.contains(it));
    let is_alone = is_program(&origin);
    siblings
        .filter(move |it| !(queries.layout.is_active(it) && queries.layout.is_active(&origin)))
        .filter(move |it| !is_alone && !is_program(it))
        .filter_map(|it| queries.files.get(it))
        .filter(move |it| package_clause(&it.text) == clause)
}

/// The places in files that the build leaves out that a rename has to change together with the symbol, beyond usages
/// and twins: methods that may correspond to it through an interface, and fields that an embedded type declares.
pub(crate) fn bound(queries: &GoplsQueries<'_>, symbol: &Symbol, places: &Places) -> Vec<UnlistedOccurrence> {
    let Some(origin) = queries.files.get(&symbol.name_at.file) else { return Vec::new() };
    // Of a method: whether it is an interface's.
    let of_interface = match symbol.kind {
        SymbolKind::Method => {
            let around = origin.outline().enclosing(symbol.name_at.start);
            Some(around.first().is_some_and(|it| it.kind != SymbolKind::Method))
        }
        SymbolKind::Struct | SymbolKind::Interface | SymbolKind::Type if is_embedded(queries, &places.items) => None,
        _ => return Vec::new(),
    };
    let is_bound = |file: &File, it: &Named| match of_interface {
        Some(of_interface) => it.declares && is_method(&file.text, it.span, of_interface),
        None => !it.declares && written(&file.text, it.span) != Written::Alone,
    };
    let exported = symbol.name.chars().next().is_some_and(char::is_uppercase);
    let mut found = Vec::new();
    for file in queries.files.of(LANGUAGE).filter(|it| !queries.layout.is_active(&it.path)) {
        if !exported && Bearing::of(symbol, origin, file) == Bearing::Never {
            continue;
        }
        let named = queries.session.identifiers.named(file, &symbol.name).into_iter();
        found.extend(named.filter(|it| is_bound(file, it)).map(|it| UnlistedOccurrence {
            file: file.clone(),
            span: it.span,
            role: it.role,
        }));
    }
    found
}

/// Whether an interface has a method of a declared name; with `any`, also whether a type has it.
fn is_method(text: &str, name: Span, any: bool) -> bool {
    let before = text.get(..name.start).unwrap_or_default().trim_end();
    let after = text.get(name.end..).unwrap_or_default().trim_start();
    after.starts_with(['(', '/']) && !before.ends_with("func") && (any || !before.ends_with(')'))
}

/// Whether a struct or interface embeds the type: then it declares a field of the same name.
fn is_embedded(queries: &GoplsQueries<'_>, usages: &[Spot]) -> bool {
    usages.iter().any(|it| queries.files.get(&it.file).is_some_and(|file| embeds(&file.text, it.span)))
}

fn embeds(text: &str, name: Span) -> bool {
    let before = text.get(..name.start).unwrap_or_default();
    let before =
        before.strip_suffix('.').map_or(before, |it| it.trim_end_matches(|it: char| it == '_' || it.is_alphanumeric()));
    let before = before.trim_end_matches([' ', '\t', '*', '(']);
    let after = text.get(name.end..).unwrap_or_default().trim_start_matches([' ', '\t', ')']);
    before.ends_with(['\n', '{', ';', '/']) && after.starts_with(['\n', '\r', '}', ';', '[', '`', '"', '/'])
}

/// A place in a file that the build leaves out, where the new name of a symbol has or gets another meaning.
pub(crate) fn clash(queries: &GoplsQueries<'_>, symbol: &Symbol, new_name: &str) -> Option<Place> {
    let path = inner_path(symbol);
    let at = |file: &File, span: Span| file.lines().place(&file.path, span);
    if let Some((container, _)) = path.rsplit_once('.') {
        let path = format!("{container}.{new_name}");
        return declared(queries, symbol, |it| is_at(it, &path)).first().map(|it| at(&it.file, it.span));
    }
    let imported = |file: &File| {
        let outline = file.outline();
        let mut imports = outline.imports.iter();
        let import = imports.find(|it| match it.alias.as_deref() {
            Some(alias) => alias == new_name,
            None => may_be_called(&it.path, new_name),
        });
        import.map(|it| at(file, it.span))
    };
    of_package(queries, symbol).find_map(|file| {
        let named = queries.session.identifiers.named(file, new_name);
        let alone =
            named.into_iter().find(|it| matches!(written(&file.text, it.span), Written::Alone | Written::Unclear));
        alone.map(|it| at(file, it.span)).or_else(|| imported(file))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_types() {
        for (text, expected) in [
            ("type T struct {\n\tName\n}", true),
            ("type T struct{ *p.Name }", true),
            ("type T struct {\n\tA int; Name `tag`\n}", true),
            ("type T struct {\n\tName[int] // c\n}", true),
            ("type T struct {\n\tN Name\n}", false),
            ("var x = Name{}", false),
            ("func f(a Name) {}", false),
            ("f(\n\tName,\n)", false),
        ] {
            let at = text.find("Name").unwrap();
            assert_eq!(embeds(text, Span::new(at, at + 4)), expected, "{text}");
        }
    }

    #[test]
    fn declared_methods() {
        for (text, of_interface, of_type) in [
            ("type I interface {\n\tName() int\n}", true, true),
            ("var x interface{ Name() }", true, true),
            ("func (t T) Name() {}", false, true),
            ("func Name() {}", false, false),
            ("type T struct {\n\tName int\n}", false, false),
        ] {
            let at = text.find("Name").unwrap();
            let span = Span::new(at, at + 4);
            assert_eq!((is_method(text, span, false), is_method(text, span, true)), (of_interface, of_type), "{text}");
        }
    }
}
