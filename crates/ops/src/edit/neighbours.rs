//! The declarations next to an edited one: on the same line, or in the same declaration (`x, y int`). No edit of a
//! symbol removes, joins or hides one of them. A text on a shared line is placed with the separator that the language
//! needs: the result is parsed, and it must have the same other declarations and no further errors. Otherwise the edit
//! is refused.

use std::collections::HashSet;

use super::symbol_edit::{after_comments, after_separator, rest_of_line, with_comma};
use semdex_engine::files::File;
use semdex_model::{Code, Error, OutlineItem, Result, Span, Symbol, SymbolKind};
use semdex_text::applied;
use semdex_text::matching::{self, Patch};

/// A declaration as another one of the same file names it.
type Key<'a> = (SymbolKind, &'a str, &'a [String]);

/// The first of these patches beside an item that leaves its neighbours as they are. `own_line` is for a text of
/// several lines, which has no other patch.
pub(super) fn placed(
    file: &File,
    symbol: &Symbol,
    item: &OutlineItem,
    beside: Vec<Patch>,
    own_line: Patch,
) -> Result<Patch> {
    let patches = if beside.is_empty() { vec![own_line] } else { beside };
    let all = keys(file, |_| true);
    let fits = |it: &Patch| Outcome::of(file, it).is_some_and(|it| !it.keys(true).is_empty() && it.keys(false) == all);
    patches.into_iter().find(fits).ok_or_else(|| shares_line(file, symbol, item))
}

/// The patches that may place a text before an item, on its line. None for a text of several lines.
pub(super) fn before(file: &File, item: &OutlineItem, replacement: &str, comma: &str) -> Vec<Patch> {
    let new = replacement.trim();
    let above = file.text[..item.span.start].trim_end();
    // A semicolon that no declaration has for its end separates them.
    let mut is_separated = above.ends_with(';');
    file.outline().walk(&mut |it| is_separated &= it.span.end != above.len());
    let separators = match comma {
        "," => &[","][..],
        _ if is_separated => &[";"],
        _ if is_complete(new) => &["", ";"],
        _ => &[";", ""],
    };
    let patch = |separator: &&str| {
        let new = if new.ends_with(*separator) { new.to_owned() } else { format!("{new}{separator}") };
        Patch { range: Span::new(item.span.start, item.span.start), text: format!("{new} ") }
    };
    separators.iter().filter(|_| !new.contains('\n')).map(patch).collect()
}

/// The patches that may place a text after an item, on its line. `separated`: the end of the item with its comma.
/// `commas`: those that are missing before and after the text. None for a text of several lines.
pub(super) fn after(
    text: &str,
    item: &OutlineItem,
    replacement: &str,
    separated: usize,
    commas: (&str, &str),
) -> Vec<Patch> {
    let new = replacement.trim();
    let semicolon = if text[..item.span.end].ends_with(';') { ("", ";") } else { (";", "") };
    let separators = match commas {
        ("", "") if text[separated..].trim_start_matches([' ', '\t']).starts_with(';') => vec![semicolon],
        ("", "") if is_complete(new) => vec![("", ""), semicolon],
        ("", "") => vec![semicolon, ("", "")],
        commas => vec![commas],
    };
    let patch = |(missing, own): (&str, &str)| {
        // What follows the item may be its semicolon.
        let new = if missing == ";" { new.trim_end_matches(';') } else { new };
        let new = match own {
            ";" => format!("{};", new.trim_end_matches(';')),
            comma => with_comma(new, comma),
        };
        Patch { range: Span::new(separated, separated), text: format!("{missing} {new}") }
    };
    separators.into_iter().filter(|_| !new.contains('\n')).map(patch).collect()
}

/// What may be between two declarations on a line.
const SEPARATORS: [char; 3] = [' ', '\t', ';'];

/// Whether a text ends with the replacement, before the separators that an edit adds.
pub(super) fn is_before(text: &str, replacement: &str) -> bool {
    applied::precedes(text, replacement) || applied::precedes(text.trim_end_matches(SEPARATORS), replacement)
}

/// Whether a text begins with the replacement, after the separators that an edit adds.
pub(super) fn is_after(text: &str, replacement: &str) -> bool {
    applied::follows(text, replacement) || applied::follows(text.trim_start_matches(SEPARATORS), replacement)
}

/// Whether a declaration shows by its last sign that it ends there.
fn is_complete(text: &str) -> bool {
    text.ends_with(['}', ';'])
}

/// The patch that replaces a whole item.
pub(super) fn replaced(file: &File, symbol: &Symbol, item: &OutlineItem, new: String) -> Result<Patch> {
    let patch = Patch { range: item.span, text: new };
    let together = others_within(file, item, item.span);
    if together.is_empty() && is_alone(&file.text, item.span) {
        return Ok(patch);
    }
    let text = &file.text[item.span.start..item.span.end];
    let is_unended = text.ends_with(';') && !patch.text.trim_end().ends_with(';');
    let ended = is_unended.then(|| Patch { text: format!("{};", patch.text), ..patch.clone() });
    let parts = parts(item);
    let is_rest = |it: &OutlineItem| {
        !parts.contains(&it.name_span.start) && !together.iter().any(|other| std::ptr::eq(*other, it))
    };
    let rest = keys(file, is_rest);
    let fits = |it: &Patch| {
        Outcome::of(file, it).is_some_and(|it| {
            let inside = it.keys(true);
            it.keys(false) == rest && together.iter().all(|it| inside.contains(&key(it)))
        })
    };
    let refusal = || match together.is_empty() {
        true => shares_line(file, symbol, item),
        false => declared_together(symbol, &together),
    };
    [Some(patch), ended].into_iter().flatten().find(fits).ok_or_else(refusal)
}

/// The range that is deleted with an item. `own_lines`: the lines of the item, if nothing else is on them.
pub(super) fn deleted(file: &File, symbol: &Symbol, item: &OutlineItem, own_lines: Option<Span>) -> Result<Span> {
    let together = others_within(file, item, item.span);
    if let Some(lines) = own_lines.filter(|_| together.is_empty()) {
        return Ok(lines);
    }
    let parts = parts(item);
    let rest = keys(file, |it| !parts.contains(&it.name_span.start));
    let fits = |range: &Span| {
        let patch = Patch { range: *range, text: String::new() };
        Outcome::of(file, &patch).is_some_and(|it| it.keys(false) == rest)
    };
    if together.is_empty() {
        return removals(&file.text, item.span).into_iter().find(fits).ok_or_else(|| shares_line(file, symbol, item));
    }
    let name = one_of_several(&file.text, item, &together);
    name.filter(fits).ok_or_else(|| declared_together(symbol, &together))
}

/// The ranges that may be deleted with an item on a shared line: with the separator after it, or with the one before
/// it.
fn removals(text: &str, span: Span) -> Vec<Span> {
    let before = text[..span.start].trim_end_matches([' ', '\t']);
    let begins = before.len() < span.start || before.is_empty() || before.ends_with('\n');
    let blanks = |at: usize| text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len();
    let up_to = |end: usize| Span::new(span.start, if begins { end + blanks(end) } else { end });
    let semicolon = span.end + blanks(span.end);
    let with_semicolon = text[semicolon..].starts_with(';').then(|| up_to(semicolon + 1));
    let above = before.trim_end();
    let with_last = |separator: char| above.ends_with(separator).then(|| Span::new(above.len() - 1, span.end));
    let with_comma = with_last(',');
    // The semicolon before an item that has its own ends something else.
    let after_semicolon = with_last(';').filter(|_| !text[..span.end].ends_with(';'));
    let plain = Some(up_to(after_separator(text, span.end)));
    [with_comma, with_semicolon, plain, after_semicolon].into_iter().flatten().collect()
}

/// The name of an item and its comma, in a declaration of several names that all have the same type and no value: `x, y
/// int`, `int x, y;`. `None` for any other declaration.
fn one_of_several(text: &str, item: &OutlineItem, others: &[&OutlineItem]) -> Option<Span> {
    let is_plain = |it: &OutlineItem| {
        it.span == item.span && it.children.is_empty() && matches!(it.kind, SymbolKind::Field | SymbolKind::Variable)
    };
    if !is_plain(item) || !others.iter().all(|it| is_plain(it)) {
        return None;
    }
    let mut names: Vec<Span> = others.iter().map(|it| it.name_span).chain([item.name_span]).collect();
    names.sort_unstable();
    let (first, last) = (*names.first()?, *names.last()?);
    let are_listed = names.windows(2).all(|pair| text[pair[0].end..pair[1].start].trim_matches([' ', '\t']) == ",");
    // `int *x, y`: the sign is the first name's alone.
    let is_signed = text[..first.start].trim_end_matches([' ', '\t']).ends_with(['*', '&', '^', '(']);
    let behind = &text[last.end..item.span.end];
    let is_bare = |it: char| it.is_alphabetic() || matches!(it, '_' | '*' | ';');
    let ends = behind.trim_start_matches([' ', '\t']).chars().next().is_none_or(is_bare);
    if !are_listed || is_signed || !ends || behind.contains('=') {
        return None;
    }
    let at = names.iter().position(|it| *it == item.name_span)?;
    Some(match (at.checked_sub(1).and_then(|it| names.get(it)), names.get(at + 1)) {
        (_, Some(next)) => Span::new(item.name_span.start, next.start),
        (Some(previous), None) => Span::new(previous.end, item.name_span.end),
        (None, None) => return None,
    })
}

/// Whether nothing else is on the lines of a range, except its separator and comments.
fn is_alone(text: &str, span: Span) -> bool {
    let line_start = text[..span.start].rfind('\n').map_or(0, |it| it + 1);
    let end = after_comments(text, after_separator(text, span.end));
    text[line_start..span.start].trim().is_empty() && rest_of_line(text, end).trim().is_empty()
}

/// The declarations whose names are in a range, except the item and what is within it.
fn others_within<'a>(file: &'a File, item: &OutlineItem, range: Span) -> Vec<&'a OutlineItem> {
    let parts = parts(item);
    let is_other = |it: &OutlineItem| range.encloses(it.name_span) && !parts.contains(&it.name_span.start);
    let mut others = Vec::new();
    file.outline().walk(&mut |it| others.extend(is_other(it).then_some(it)));
    others
}

/// The item and what is within it, by where each name begins.
fn parts(item: &OutlineItem) -> HashSet<usize> {
    let mut parts = HashSet::new();
    item.walk(&mut |it| {
        parts.insert(it.name_span.start);
    });
    parts
}

/// The declarations of a file that are wanted, in their order.
fn keys<'a>(file: &'a File, is_wanted: impl Fn(&OutlineItem) -> bool) -> Vec<Key<'a>> {
    let mut keys = Vec::new();
    file.outline().walk(&mut |it| keys.extend(is_wanted(it).then(|| key(it))));
    keys
}

fn key(item: &OutlineItem) -> Key<'_> {
    (item.kind, &item.name, &item.container)
}

/// A file after a patch.
struct Outcome {
    file: File,
    /// What the patch writes.
    written: Span,
}

impl Outcome {
    /// `None` if the patch makes further syntax errors.
    fn of(file: &File, patch: &Patch) -> Option<Outcome> {
        let (text, spans) = matching::apply_all(&file.text, std::slice::from_ref(patch)).ok()?;
        let after = File::new(file.language, file.path.clone(), text);
        let is_sound = after.outline().errors.len() <= file.outline().errors.len();
        is_sound.then_some(Outcome { file: after, written: spans.first().copied()? })
    }

    /// The declarations that are written by the patch, or all others.
    fn keys(&self, are_written: bool) -> Vec<Key<'_>> {
        keys(&self.file, |it| self.written.encloses(it.name_span) == are_written)
    }
}

fn shares_line(file: &File, symbol: &Symbol, item: &OutlineItem) -> Error {
    let detail = format!(
        "`{}` shares line {} with other code, and this edit would not leave that as it is: edit the text of the line \
         (`file` and `search_context`)",
        symbol.path,
        file.lines().line(item.name_span.start)
    );
    Error::new(Code::InvalidRequest, detail)
}

fn declared_together(symbol: &Symbol, others: &[&OutlineItem]) -> Error {
    let names = others.iter().map(|it| format!("`{}`", it.name)).collect::<Vec<_>>().join(", ");
    let detail = format!(
        "`{}` is declared together with {names}, which this edit would remove: edit the text of the declaration (`file` \
         and `search_context`)",
        symbol.path
    );
    Error::new(Code::InvalidRequest, detail)
}
