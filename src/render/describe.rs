//! One file, one symbol, one package: what `open` and `describe` answer.

use super::code::{fenced, numbered};
use super::lists::{grouped, more, possible, symbol_rows, symbol_rows_of};
use super::{counted, line, lines, names};
use crate::contract::{
    Described, DescribedFile, DescribedPackage, DescribedSymbol, Downstream, Language, Opened, Upstream,
};

/// A file: the skeleton with the file's line numbers, then what its symbols are to others.
pub fn opened(opened: &Opened) -> String {
    let mut text = String::new();
    let package = opened.package.as_ref().map(|it| format!(" of `{it}`")).unwrap_or_default();
    line(&mut text, format_args!("# {}{package}\n", opened.file));
    line(&mut text, format_args!("{}, hash `{}`\n", counted(opened.lines, "line"), opened.hash));
    text += &numbered(language(opened.language), &opened.skeleton, opened.skeleton_lines.iter().copied());
    let symbols = opened.symbols.shown();
    if !symbols.is_empty() {
        text += "\n## Symbols\n\n";
        symbol_rows_of(&mut text, &opened.file, &symbols);
    }
    upstream(&mut text, &opened.upstream.items);
    downstream(&mut text, &opened.downstream.items);
    more(&mut text, opened.next_cursor.as_deref());
    text
}

/// What a fence calls it.
fn language(language: Option<Language>) -> &'static str {
    language.map(Language::name).unwrap_or_default()
}

fn upstream(text: &mut String, upstream: &[Upstream]) {
    if upstream.is_empty() {
        return;
    }
    *text += "\n## Uses\n\n";
    for Upstream { package, external, files, symbols } in upstream {
        let origin = if *external { " (external)".to_owned() } else { within(files) };
        line(text, format_args!("- `{package}`{origin}: {}", names(symbols)));
    }
}

fn within(files: &[String]) -> String {
    if files.is_empty() { String::new() } else { format!(" in {}", files.join(", ")) }
}

fn downstream(text: &mut String, downstream: &[Downstream]) {
    if downstream.is_empty() {
        return;
    }
    *text += "\n## Used by\n\n";
    for Downstream { file, package, symbols, count } in downstream {
        line(text, format_args!("- {file} of `{package}` [{}]: {}", counted(*count, "usage"), names(symbols)));
    }
}

pub fn described(described: &Described) -> String {
    match described {
        Described::Symbol(it) => symbol(it),
        Described::Package(it) => package(it),
        Described::File(it) => file(it),
    }
}

fn symbol(described: &DescribedSymbol) -> String {
    let DescribedSymbol { symbol, source, docs, first_line, examples, usages, implementations, .. } = described;
    let version = described.version.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
    let language = symbol.language.name();
    let mut text = String::new();
    line(&mut text, format_args!("# {} `{}`\n", symbol.kind.name(), symbol.path));
    let origin = if symbol.external { " (external)" } else { "" };
    line(
        &mut text,
        format_args!("{}:{} of `{}`{version}{origin}\n", symbol.place.file, lines(&symbol.place), symbol.package),
    );
    if !symbol.also.is_empty() {
        line(&mut text, format_args!("Also of this name: {}\n", names(&symbol.also)));
    }
    if let Some(container) = &described.container {
        line(&mut text, format_args!("In `{}`, line {}\n", container.signature, container.line));
    }
    match source {
        Some(source) => text += &numbered(language, source, *first_line..),
        None => text += &fenced(language, &symbol.signature),
    }
    // Where the source is shown, it shows the docs.
    if let (None, Some(docs)) = (source, docs) {
        line(&mut text, format_args!("\n## Docs\n\n{docs}"));
    }
    if !examples.items.is_empty() {
        text += "\n## Examples\n";
        for example in &examples.items {
            line(&mut text, format_args!("\n{} ({}:{})\n", example.title, example.file, example.line));
            text += &fenced(language, &example.code);
        }
    }
    line(&mut text, format_args!("\n## Usages: {} in {}\n", usages.total, counted(usages.files, "file")));
    grouped(&mut text, &usages.items);
    possible(&mut text, &usages.possible);
    if !implementations.items.is_empty() {
        text += "\n## Implementations\n\n";
        symbol_rows(&mut text, &implementations.items);
    }
    more(&mut text, described.next_cursor.as_deref());
    text
}

fn package(described: &DescribedPackage) -> String {
    let package = &described.package;
    let mut text = String::new();
    let version = package.version.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
    let external = if package.external { " (external)" } else { "" };
    line(&mut text, format_args!("# package `{}`{version}{external}\n\n{}", package.name, package.root));
    if let Some(docs) = &package.docs {
        line(&mut text, format_args!("\n{docs}"));
    }
    if !package.files.is_empty() {
        line(&mut text, format_args!("\n## Files\n\n{}", package.files.join("\n")));
    }
    let symbols = package.symbols.shown();
    if !symbols.is_empty() {
        text += "\n## Symbols\n\n";
        symbol_rows(&mut text, &symbols);
    }
    more(&mut text, described.next_cursor.as_deref());
    text
}

fn file(described: &DescribedFile) -> String {
    let file = &described.file;
    let mut text = String::new();
    line(&mut text, format_args!("# {}\n\n{}, hash `{}`\n", file.file, counted(file.lines, "line"), file.hash));
    text += &numbered(language(file.language), &file.content, file.part.from + 1..);
    more(&mut text, described.next_cursor.as_deref());
    text
}
