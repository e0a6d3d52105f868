//! The replies of `open` and `describe`: a file, a symbol or a package.

use std::collections::BTreeMap;

use super::code::{fenced, numbered};
use super::lists::{
    and_others, folded, grouped, listed, more, outside_builds, possible, short, short_file, symbol_rows, used,
};
use super::markdown::{apart, counted, docs, line, lines, names, not_known_yet, one, short_hash};
use crate::{
    Described, DescribedFile, DescribedPackage, DescribedSymbol, Downstream, Language, Opened, Symbol, Upstream, Usage,
};

/// A file: the skeleton with the line numbers of the file, then the usages of its symbols.
pub(crate) fn opened(opened: &Opened) -> String {
    let package = opened.package.as_deref().map(of_package).unwrap_or_default();
    let mut text = one(format_args!("# {}{package}", opened.file));
    apart(&mut text, format_args!("{}, hash `{}`", counted(opened.lines, "line"), short_hash(&opened.hash)));
    let symbols = opened.symbols.shown();
    let mut counts = Counts::default();
    counts.collect(&opened.file, &symbols, &opened.skeleton_lines);
    let skeleton = counts.beside(&opened.skeleton, &opened.skeleton_lines);
    text += &numbered(language(opened.language), &skeleton, opened.skeleton_lines.iter().copied());
    if !counts.elsewhere.is_empty() {
        text += "\n## Other symbols\n\n";
        symbol_rows(&mut text, &counts.elsewhere);
    }
    upstream(&mut text, &opened.upstream.items);
    downstream(&mut text, &opened.downstream.items);
    more(&mut text, opened.next_cursor.as_deref());
    text
}

/// The usage counts of the symbols of a file, by the line of the skeleton that names them.
#[derive(Default)]
struct Counts {
    by_line: BTreeMap<usize, Vec<(String, String)>>,
    /// Symbols that no line of the skeleton names: macros generate them, or they belong to another page.
    elsewhere: Vec<Symbol>,
}

impl Counts {
    fn collect(&mut self, file: &str, symbols: &[Symbol], lines: &[usize]) {
        for symbol in symbols {
            if let Some(usages) = &symbol.usages {
                if symbol.place.file == file && lines.binary_search(&symbol.name_at.line).is_ok() {
                    // Tests have no callers.
                    if usages.total > 0 || !symbol.test {
                        let named = self.by_line.entry(symbol.name_at.line).or_default();
                        named.push((symbol.name.clone(), used(usages)));
                    }
                } else if !symbol.test {
                    self.elsewhere.push(Symbol { children: None, ..symbol.clone() });
                }
            }
            self.collect(file, symbol.inner(), lines);
        }
    }

    /// The skeleton with the counts at the end of their lines.
    fn beside(&self, skeleton: &str, lines: &[usize]) -> String {
        let mut text = String::with_capacity(skeleton.len() * 5 / 4);
        for (row, number) in skeleton.lines().zip(lines) {
            text += row;
            match self.by_line.get(number).map(Vec::as_slice) {
                None => {}
                Some([(_, used)]) => text += &format!(" // {used}"),
                Some(several) => {
                    let entries: Vec<String> = several.iter().map(|(name, used)| format!("{name}: {used}")).collect();
                    text += &format!(" // {}", entries.join("; "));
                }
            }
            text.push('\n');
        }
        text
    }
}

/// The name of the language for a fence.
fn language(language: Option<Language>) -> &'static str {
    language.map(Language::name).unwrap_or_default()
}

fn upstream(text: &mut String, upstream: &[Upstream]) {
    if upstream.is_empty() {
        return;
    }
    // Everything uses the standard library.
    let is_std = |it: &&Upstream| it.external && matches!(it.package.as_str(), "core" | "alloc" | "std");
    let upstream: Vec<&Upstream> = upstream.iter().filter(|it| !is_std(it)).collect();
    if upstream.is_empty() {
        return;
    }
    *text += "\n## Uses\n\n";
    for Upstream { package, external, files, symbols } in upstream {
        let origin = match external {
            true => format!("`{package}` (external)"),
            // The directory of the workspace itself says nothing.
            false if package == ROOT && !files.is_empty() => files.join(", "),
            false => format!("`{package}`{}", within(files)),
        };
        line(text, format_args!("- {origin}{}", named(symbols)));
    }
}

/// The package of a language without packages, for a file in the root.
const ROOT: &str = ".";

/// " of `serde`".
fn of_package(package: &str) -> String {
    // While a workspace is loaded the package is not known.
    if package == ROOT || package.is_empty() { String::new() } else { format!(" of `{package}`") }
}

/// ": `a`, `b`", or nothing.
fn named(symbols: &[String]) -> String {
    if symbols.is_empty() { String::new() } else { format!(": {}", below_common_path(symbols)) }
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
        let (count, package) = (counted(*count, "usage"), of_package(package));
        line(text, format_args!("- {file}{package} [{count}]{}", named(symbols)));
    }
}

/// Paths with what they have in common written once: "`a::b::`: `c`, `d::e`".
fn below_common_path(paths: &[String]) -> String {
    let Some(first) = paths.first().filter(|_| paths.len() > 1) else { return names(paths) };
    // A path of a trait's member begins with `<`, and its parts are not separated by `::` alone.
    let ends = first.match_indices("::").map(|(at, _)| at + 2).filter(|_| !first.starts_with('<'));
    let common = ends.filter_map(|end| first.get(..end)).take_while(|it| paths.iter().all(|path| path.starts_with(it)));
    match common.last() {
        Some(common) => {
            let rest: Vec<String> = paths.iter().filter_map(|it| it.strip_prefix(common)).map(str::to_owned).collect();
            format!("`{common}` {}", names(&rest))
        }
        None => names(paths),
    }
}

pub(crate) fn described(described: &Described) -> String {
    match described {
        Described::Symbol(it) => symbol(it),
        Described::Package(it) => package(it),
        Described::File(it) => file(it),
    }
}

fn symbol(described: &DescribedSymbol) -> String {
    let DescribedSymbol { symbol, source, docs: written, first_line, examples, usages, implementations, .. } =
        described;
    let version = described.version.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
    let language = symbol.language.name();
    let mut text = one(format_args!("# {} `{}`", symbol.kind.name(), symbol.path));
    // The place of an external symbol starts with its package.
    let package = if symbol.origin.is_some() { String::new() } else { of_package(&symbol.package) + &version };
    let external = if symbol.external { " (external)" } else { "" };
    apart(&mut text, format_args!("{}:{}{package}{external}", short_file(symbol), lines(&symbol.place)));
    if !symbol.also.is_empty() {
        line(&mut text, format_args!("Also of this name: {}", names(&symbol.also)));
        text.push('\n');
    }
    if let Some(container) = &described.container {
        line(&mut text, format_args!("In `{}`, line {}", container.signature, container.line));
        text.push('\n');
    }
    match source {
        Some(source) => text += &numbered(language, source, *first_line..),
        None => text += &fenced(language, &symbol.signature),
    }
    // The source contains the docs.
    if let (None, Some(written)) = (source, written) {
        text += "\n## Docs\n\n";
        docs(&mut text, written);
    }
    let doubts = and_others(usages);
    match not_known_yet(&described.meta) {
        Some(why) if usages.total == 0 => apart(&mut text, format_args!("## Usages: not known yet ({why}){doubts}")),
        None if usages.total == 0 && !described.meta.complete => {
            apart(&mut text, format_args!("## Usages: none certain{doubts}"));
        }
        lack => {
            let least = if lack.is_some() { "at least " } else { "" };
            let files = counted(usages.files, "file");
            apart(&mut text, format_args!("## Usages: {least}{} in {files}{doubts}", usages.total));
        }
    }
    possible(&mut text, &usages.possible);
    let (tests, others): (Vec<&Usage>, Vec<&Usage>) = usages.items.iter().partition(|it| it.test);
    grouped(&mut text, &others);
    folded(&mut text, "In tests", &tests);
    outside_builds(&mut text, &usages.outside_builds);
    if !implementations.items.is_empty() {
        text += "\n## Implementations\n\n";
        symbol_rows(&mut text, &implementations.items);
    }
    if !examples.items.is_empty() {
        text += "\n## Examples\n";
        for example in &examples.items {
            let file = short(&example.file, symbol.origin.as_ref());
            apart(&mut text, format_args!("{} ({file}:{})", example.title, example.line));
            text += &fenced(language, &example.code);
        }
    }
    more(&mut text, described.next_cursor.as_deref());
    text
}

fn package(described: &DescribedPackage) -> String {
    let package = &described.package;
    let version = package.version.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
    let origin = package.origin.as_ref();
    let external = if package.external { " (external)" } else { "" };
    let mut text = one(format_args!("# package `{}`{version}{external}", package.name));
    text.push('\n');
    line(&mut text, format_args!("{}", short(&package.root, origin)));
    if let Some(written) = &package.docs {
        text.push('\n');
        docs(&mut text, written);
    }
    if !package.files.is_empty() {
        text += "\n## Files\n\n";
        for file in &package.files {
            // External files are in the directory that is named above.
            let inside = file.strip_prefix(&package.root).filter(|_| origin.is_some());
            line(&mut text, format_args!("{}", inside.map_or(file.as_str(), |it| it.trim_start_matches('/'))));
        }
    }
    let symbols = package.symbols.shown();
    if !symbols.is_empty() {
        text += "\n## Symbols\n\n";
        listed(&mut text, &symbols, origin);
    }
    more(&mut text, described.next_cursor.as_deref());
    text
}

fn file(described: &DescribedFile) -> String {
    let file = &described.file;
    let mut text = one(format_args!("# {}", file.file));
    apart(&mut text, format_args!("{}, hash `{}`", counted(file.lines, "line"), short_hash(&file.hash)));
    text += &numbered(language(file.language), &file.content, file.part.from + 1..);
    more(&mut text, described.next_cursor.as_deref());
    text
}
