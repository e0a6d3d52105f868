//! Lists of symbols, usages, implementations and diagnostics, and the symbol at a position.

use std::borrow::Cow;

use super::code::fenced;
use super::markdown::{apart, counted, docs, errors_not_known, headed, item, line, lines, not_known_yet, one};
use crate::{
    Calls, CallsReply, Counts, Diagnostic, DiagnosticsReply, Fix, ImplementationsReply, Origin, Symbol, SymbolAtReply,
    SymbolKind, SymbolsReply, Usage, UsageCount, UsageList, UsagesReply,
};

pub(crate) fn symbols(found: &SymbolsReply) -> String {
    let mut text = format!("# {}\n\n", counted(found.total, "symbol"));
    symbol_rows(&mut text, &found.symbols.shown());
    more(&mut text, found.next_cursor.as_deref());
    text
}

/// One line for each symbol, with its members indented below it.
pub(crate) fn symbol_rows(text: &mut String, symbols: &[Symbol]) {
    listed(text, symbols, None);
}

/// The same for the symbols of a package with this origin.
pub(crate) fn listed(text: &mut String, symbols: &[Symbol], origin: Option<&Origin>) {
    rows_below(text, symbols, 0, None, origin);
}

/// The name of a file. External files are shown as `PACKAGE VERSION: path` instead of their absolute path.
pub(crate) fn short<'a>(file: &'a str, origin: Option<&Origin>) -> Cow<'a, str> {
    match origin.filter(|_| file.starts_with('/')) {
        Some(origin) => Cow::Owned(origin.short(file)),
        None => Cow::Borrowed(file),
    }
}

/// The place of a symbol.
pub(crate) fn short_file(symbol: &Symbol) -> Cow<'_, str> {
    short(&symbol.place.file, symbol.origin.as_ref())
}

/// "14 uses in 3 files".
pub(crate) fn used(usages: &UsageCount) -> String {
    match usages.total {
        0 if usages.outside_builds > 0 => {
            format!("{}, all in files that no build includes", counted(usages.outside_builds, "use"))
        }
        0 => "unused".to_owned(),
        total => format!("{} in {}", counted(total, "use"), counted(usages.files, "file")),
    }
}

fn rows_below(text: &mut String, symbols: &[Symbol], depth: usize, known: Option<&str>, around: Option<&Origin>) {
    for symbol in symbols {
        let origin = symbol.origin.as_ref().or(around);
        // Below its parent, the name of a symbol is enough.
        let named = if depth == 0 { &symbol.path } else { &symbol.name };
        let is_known = known == Some(&symbol.place.file);
        let file = if is_known { "line ".to_owned() } else { format!("{}:", short(&symbol.place.file, origin)) };
        let usages = match &symbol.usages {
            // Tests have no callers.
            Some(usages) if usages.total == 0 && symbol.test => String::new(),
            Some(usages) => format!(" [{}]", used(usages)),
            None => String::new(),
        };
        let indent = "  ".repeat(depth);
        let place = lines(&symbol.place);
        line(text, format_args!("{indent}- {} `{named}` {file}{place}{usages}", symbol.kind.name()));
        if symbol.test && symbol.kind == SymbolKind::Module {
            // As in the skeleton, the contents of tests are left out.
            line(text, format_args!("{indent}  - {} in it", counted(symbol.inner().len(), "symbol")));
        } else {
            rows_below(text, symbol.inner(), depth + 1, Some(&symbol.place.file), origin);
        }
    }
}

pub(crate) fn usages(found: &UsagesReply) -> String {
    let UsagesReply { symbol, usages, .. } = found;
    let files = match usages.total {
        0 => String::new(),
        _ => format!(" in {}", counted(usages.files, "file")),
    };
    let doubts = and_others(usages);
    let rest = format!(" of {} `{}`{files}{doubts}", symbol.kind.name(), symbol.path);
    let mut text = headed(&found.meta, usages.total, "usage", &rest);
    possible(&mut text, &usages.possible);
    text.push('\n');
    let (tests, others): (Vec<&Usage>, Vec<&Usage>) = usages.items.iter().partition(|it| it.test);
    for group in others.chunk_by(|a, b| a.place.file == b.place.file) {
        rows(&mut text, group);
    }
    folded(&mut text, "In tests", &tests);
    outside_builds(&mut text, &usages.outside_builds);
    more(&mut text, found.next_cursor.as_deref());
    text
}

/// The usages in files that no build includes.
pub(crate) fn outside_builds(text: &mut String, usages: &[Usage]) {
    if usages.is_empty() {
        return;
    }
    apart(text, format_args!("In files that no build includes:"));
    for group in usages.chunk_by(|a, b| a.place.file == b.place.file) {
        rows(text, &group.iter().collect::<Vec<_>>());
    }
}

/// The usages in one file, each with the text of its line, and with the enclosing symbol if it differs from the
/// previous one.
fn rows(text: &mut String, group: &[&Usage]) {
    let Some(first) = group.first() else { return };
    line(text, format_args!("- {}", first.place.file));
    let mut around = None;
    for usage in group {
        let within = match &usage.symbol {
            Some(symbol) if around != Some(symbol) => format!(" in `{}`", within_file(symbol, &first.place.file)),
            _ => String::new(),
        };
        around = usage.symbol.as_ref();
        let row = inline(usage.text.trim());
        let build = in_build(usage.build.as_deref()) + &by_calls(usage.calls);
        line(text, format_args!("  - {}{within} ({}{build}): `{row}`", usage.place.line, usage.role.name()));
    }
}

/// The path of a symbol beside the name of its file, which the paths of some languages begin with.
fn within_file<'a>(symbol: &'a str, file: &str) -> &'a str {
    symbol.strip_prefix(file).and_then(|it| it.strip_prefix("::")).unwrap_or(symbol)
}

/// ", feature=parallel" for code that the default build does not compile.
pub(crate) fn in_build(build: Option<&str>) -> String {
    build.map(|it| format!(", {it}")).unwrap_or_default()
}

/// ", by 3 macro calls" for a name in the output of macros.
fn by_calls(calls: Option<usize>) -> String {
    calls.map(|it| format!(", by {}", counted(it, "macro call"))).unwrap_or_default()
}

/// Many usages in a short form: one line for each file, with the line numbers.
pub(crate) fn folded(text: &mut String, title: &str, usages: &[&Usage]) {
    if usages.is_empty() {
        return;
    }
    apart(text, format_args!("{title}: {}", usages.len()));
    for group in usages.chunk_by(|a, b| a.place.file == b.place.file) {
        let Some(first) = group.first() else { continue };
        let numbers = group.iter().map(|it| it.place.line.to_string()).collect::<Vec<_>>().join(",");
        line(text, format_args!("- {}:{numbers}", first.place.file));
    }
}

/// One line for each enclosing symbol: `file:12,15 [2 usages in path]`.
pub(crate) fn grouped(text: &mut String, usages: &[&Usage]) {
    for group in usages.chunk_by(|a, b| same_place(a, b)) {
        heading(text, group);
    }
}

fn heading(text: &mut String, group: &[&Usage]) {
    let Some(first) = group.first() else { return };
    let mut numbers: Vec<usize> = group.iter().map(|it| it.place.line).collect();
    numbers.dedup();
    let numbers = numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let within = first.symbol.as_ref().map(|it| format!(" in `{}`", within_file(it, &first.place.file)));
    let within = within.unwrap_or_default();
    let test = if first.test { ", test" } else { "" };
    let usages = counted(group.len(), "usage");
    let build = in_build(first.build.as_deref());
    line(text, format_args!("- {}:{numbers} [{usages}{within}{test}{build}]", first.place.file));
}

fn same_place(a: &Usage, b: &Usage) -> bool {
    (&a.place.file, &a.symbol, a.test, &a.build) == (&b.place.file, &b.symbol, b.test, &b.build)
}

/// ", and 2 in files that no build includes, and 1 possible usage".
pub(crate) fn and_others(usages: &UsageList) -> String {
    let outside = match usages.outside_builds_total {
        0 => String::new(),
        count => format!(", and {count} in files that no build includes"),
    };
    let possible = match usages.possible_total {
        0 => String::new(),
        count => format!(", and {}", counted(count, "possible usage")),
    };
    outside + &possible
}

/// The places that may name a symbol, each group with its reason.
pub(crate) fn possible(text: &mut String, usages: &[Usage]) {
    if usages.is_empty() {
        return;
    }
    apart(text, format_args!("Possible usages, for which it is not known whether they name it:"));
    for group in usages.chunk_by(|a, b| (a.reason, &a.detail) == (b.reason, &b.detail)) {
        let Some(first) = group.first() else { continue };
        let reason = first.reason.map_or("unresolved", |it| it.name());
        let detail = first.detail.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
        let row = |usage: &Usage| inline(usage.text.trim());
        if let [only] = group {
            let place = &only.place;
            line(text, format_args!("- {}:{} ({reason}{detail}): `{}`", place.file, place.line, row(only)));
            continue;
        }
        line(text, format_args!("- {reason}{detail}: {}", counted(group.len(), "place")));
        for of_file in group.chunk_by(|a, b| a.place.file == b.place.file) {
            if let [only] = of_file {
                line(text, format_args!("  - {}:{}: `{}`", only.place.file, only.place.line, row(only)));
                continue;
            }
            let Some(first) = of_file.first() else { continue };
            line(text, format_args!("  - {}", first.place.file));
            for it in of_file {
                line(text, format_args!("    - {}: `{}`", it.place.line, row(it)));
            }
        }
    }
}

pub(crate) fn more(text: &mut String, cursor: Option<&str>) {
    if let Some(cursor) = cursor {
        text.push('\n');
        line(text, format_args!("More with `cursor`: `{cursor}`"));
    }
}

pub(crate) fn implementations(found: &ImplementationsReply) -> String {
    let ImplementationsReply { symbol, total, items, next_cursor, .. } = found;
    let rest = format!(" of {} `{}`", symbol.kind.name(), symbol.path);
    let mut text = headed(&found.meta, *total, "implementation", &rest);
    text.push('\n');
    symbol_rows(&mut text, &items.items);
    more(&mut text, next_cursor.as_deref());
    text
}

pub(crate) fn callers(found: &CallsReply) -> String {
    calls(found, "caller")
}

pub(crate) fn callees(found: &CallsReply) -> String {
    calls(found, "callee")
}

/// One line for each caller or callee, and below it the lines of its calls.
fn calls(found: &CallsReply, what: &str) -> String {
    let CallsReply { symbol, total, items, next_cursor, .. } = found;
    let rest = format!(" of {} `{}`", symbol.kind.name(), symbol.path);
    let mut text = headed(&found.meta, *total, what, &rest);
    text.push('\n');
    for Calls { symbol, calls } in &items.items {
        let place = lines(&symbol.place);
        line(&mut text, format_args!("- {} `{}` {}:{place}", symbol.kind.name(), symbol.path, short_file(symbol)));
        for call in calls {
            let (test, row) = (if call.test { " (test)" } else { "" }, inline(call.text.trim()));
            // The calls of an external symbol are in its own file.
            // A caller's calls are in its file; a callee's file is another one.
            let file = match what == "caller" && call.place.file == symbol.place.file {
                true => String::new(),
                false => format!("{}:", short(&call.place.file, found.symbol.origin.as_ref())),
            };
            line(&mut text, format_args!("  - {file}{}{test}: `{row}`", call.place.line));
        }
    }
    more(&mut text, next_cursor.as_deref());
    text
}

pub(crate) fn symbol_at(found: &SymbolAtReply) -> String {
    let SymbolAtReply { symbol, ty, hover, definition, origin, at, .. } = found;
    let what = match symbol {
        Some(symbol) => format!("{} `{}`", symbol.kind.name(), symbol.path),
        None => "no symbol".to_owned(),
    };
    let mut text = one(format_args!("# {}:{}:{}: {what}", at.file, at.line, at.column));
    text.push('\n');
    if let Some(symbol) = symbol {
        text += &fenced(symbol.language.name(), &symbol.signature);
    }
    if let Some(ty) = ty {
        text.push('\n');
        line(&mut text, format_args!("Type: `{}`", inline(ty)));
    }
    if let Some(definition) = definition {
        let file = short(&definition.file, origin.as_ref());
        text.push('\n');
        line(&mut text, format_args!("Defined at {file}:{}", lines(definition)));
    }
    if let Some(hover) = hover {
        text.push('\n');
        docs(&mut text, hover);
    }
    more(&mut text, found.next_cursor.as_deref());
    text
}

pub(crate) fn diagnostics(found: &DiagnosticsReply) -> String {
    let DiagnosticsReply { items, counts: Counts { error, warning, info, hint }, total, .. } = found;
    let mut others = format!(", {}", counted(*warning, "warning"));
    for (count, what) in [(info, "info"), (hint, "hint")] {
        if *count > 0 {
            others += &format!(", {}", counted(*count, what));
        }
    }
    let tool = found.meta.fallback.as_deref();
    let yet = if not_known_yet(&found.meta).is_some() { " yet" } else { "" };
    let mut text = match errors_not_known(&found.meta) {
        Some(why) if *total == 0 => {
            let by_tool = tool.map(|it| format!("; `{it}` alone found none")).unwrap_or_default();
            one(format_args!("# Not known{yet}: errors ({why}){by_tool}"))
        }
        Some(_) => {
            let by_tool = tool.map(|it| format!(", found by `{it}` alone")).unwrap_or_default();
            one(format_args!("# At least {}{others}{by_tool}", counted(*error, "error")))
        }
        None => one(format_args!("# {}{others}", counted(*error, "error"))),
    };
    text.push('\n');
    diagnostic_rows(&mut text, &items.items);
    if *total > items.total() {
        text.push('\n');
        line(&mut text, format_args!("{} more are not shown", total - items.total()));
    }
    more(&mut text, found.next_cursor.as_deref());
    text
}

/// One row for each diagnostic. Those that differ only by their places share a row, with the places below it.
pub(crate) fn diagnostic_rows(text: &mut String, diagnostics: &[Diagnostic]) {
    for group in alike(diagnostics) {
        let (first, places) = match group.as_slice() {
            [] => continue,
            [only] => {
                diagnostic_row(text, only);
                continue;
            }
            [first, ..] => (*first, counted(group.len(), "place")),
        };
        let code = first.code.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
        let head = format!("- {}{code}: ", first.severity.name());
        item(
            text,
            format_args!("{head}"),
            &first.message,
            &format!(" ({}, {places}{})", first.source, in_build(first.build.as_deref())),
        );
        for of_file in group.chunk_by(|a, b| a.place.file == b.place.file) {
            let Some(first) = of_file.first() else { continue };
            let numbers = of_file.iter().map(|it| it.place.line.to_string()).collect::<Vec<_>>().join(",");
            line(text, format_args!("  - {}:{numbers}", first.place.file));
        }
    }
}

/// Groups of equal diagnostics, in the order in which they first appear. One that has a fix stays alone.
fn alike(diagnostics: &[Diagnostic]) -> Vec<Vec<&Diagnostic>> {
    let mut groups: Vec<Vec<&Diagnostic>> = Vec::new();
    for it in diagnostics {
        let is_same = |a: &Diagnostic, b: &Diagnostic| {
            (a.severity, &a.code, &a.message, &a.source, &a.build)
                == (b.severity, &b.code, &b.message, &b.source, &b.build)
        };
        let same = |group: &&mut Vec<&Diagnostic>| {
            group.first().is_some_and(|first| first.fixes.is_empty() && is_same(first, it))
        };
        match groups.iter_mut().find(same).filter(|_| it.fixes.is_empty()) {
            Some(group) => group.push(it),
            None => groups.push(vec![it]),
        }
    }
    groups
}

fn diagnostic_row(text: &mut String, it: &Diagnostic) {
    let code = it.code.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
    let within = it.symbol.as_ref().map(|it| format!(" in `{it}`")).unwrap_or_default();
    let (place, severity) = (&it.place, it.severity.name());
    let head = format!("- {}:{}:{} {severity}{code}: ", place.file, place.line, place.column);
    item(
        text,
        format_args!("{head}"),
        &it.message,
        &format!(" ({}{within}{})", it.source, in_build(it.build.as_deref())),
    );
    for Fix { id, title, files } in &it.fixes {
        let title = inline(title);
        let also = files.as_ref().map(|it| format!(" (in {})", it.join(", "))).unwrap_or_default();
        line(text, format_args!("  - fix `{id}`: {title}{also}"));
    }
}

/// Text between single backticks, with inner backticks replaced, because they would end it.
pub(crate) fn inline(text: &str) -> String {
    text.replace('`', "'").replace(['\n', '\r'], " ")
}
