//! What an edit changes in the declarations of a file, computed from the outlines before and after. Go has its own
//! module that compares whole packages, since a declaration may move between the files of a package.

use std::collections::{BTreeMap, BTreeSet};

use ra_ap_syntax::{AstNode as _, Edition, NodeOrToken, SourceFile, ast};

use semdex_model::{ChangeKind, Outline, OutlineItem, SymbolKind};
use semdex_text::words::{occurrences, words};

/// Attributes that decide how an item may be used.
const OF_USE: [&str; 2] = ["non_exhaustive", "target_feature"];
/// Attributes that decide whether an item exists.
const OF_PRESENCE: [&str; 1] = ["cfg"];

/// A changed declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delta<'a> {
    pub kind: ChangeKind,
    pub before: Option<&'a OutlineItem>,
    pub after: Option<&'a OutlineItem>,
}

impl Delta<'_> {
    /// Whether code may find a name that it did not find before.
    pub(crate) fn brings_name(&self) -> bool {
        matches!(self.kind, ChangeKind::Added | ChangeKind::Renamed | ChangeKind::Visibility)
    }
}

type Key<'a> = (&'a [String], &'a str, SymbolKind);

/// Compares two outlines. A removed and an added declaration with the same container, kind and shape count as renamed.
/// `body` changes are listed only if the signature is unchanged. `old` and `new` are the texts of the two files.
pub(crate) fn deltas<'a>(before: &'a Outline, old: &str, after: &'a Outline, new: &str) -> Vec<Delta<'a>> {
    let mut found = Vec::new();
    let mut removed = Vec::new();
    let mut added = Vec::new();
    for pair in partners((before, old), (after, new)) {
        match pair {
            (Some(item), Some(same)) => found.extend(compare(item, old, same, new)),
            (Some(item), None) => removed.push(item),
            (None, item) => added.extend(item),
        }
    }
    for item in removed {
        let renamed = added
            .iter()
            .position(|it| it.container == item.container && it.kind == item.kind && shape(it) == shape(item));
        match renamed {
            Some(at) => {
                found.push(Delta { kind: ChangeKind::Renamed, before: Some(item), after: Some(added.remove(at)) })
            }
            None => found.push(Delta { kind: ChangeKind::Removed, before: Some(item), after: None }),
        }
    }
    found.extend(added.into_iter().map(|it| Delta { kind: ChangeKind::Added, before: None, after: Some(it) }));
    found.sort_by_key(|it| it.after.or(it.before).map_or(0, |it| it.span.start));
    found
}

/// The declarations of two texts that correspond to each other, by the positions of their names; includes all new ones.
pub(crate) fn pairs(
    before: (&Outline, &str),
    after: (&Outline, &str),
    deltas: &[Delta<'_>],
) -> Vec<(Option<usize>, usize)> {
    let renamed: BTreeMap<usize, usize> =
        deltas.iter().filter_map(|it| Some((it.after?.name_span.start, it.before?.name_span.start))).collect();
    let pair = |(old, new): Pair<'_>| {
        let at = new?.name_span.start;
        Some((renamed.get(&at).copied().or_else(|| old.map(|it| it.name_span.start)), at))
    };
    partners(before, after).into_iter().filter_map(pair).collect()
}

/// The types whose text differs, attributes and docs included: derive macros read all of it.
pub(crate) fn altered_types<'a>(
    before: (&'a Outline, &str),
    after: (&'a Outline, &str),
) -> impl Iterator<Item = (&'a OutlineItem, &'a OutlineItem)> {
    let both = partners(before, after).into_iter().filter_map(|(old, new)| old.zip(new));
    both.filter(move |(old, new)| {
        let text = |item: &OutlineItem, text: &str| text.get(item.span.start..item.span.end).map(str::to_owned);
        is_type(old.kind) && text(old, before.1) != text(new, after.1)
    })
}

type Pair<'a> = (Option<&'a OutlineItem>, Option<&'a OutlineItem>);

/// Of several declarations with one name, identical ones are paired first, and the rest in order.
fn partners<'a>(before: (&'a Outline, &str), after: (&'a Outline, &str)) -> Vec<Pair<'a>> {
    let (mut olds, news) = (index(before.0), index(after.0));
    let text = |item: &OutlineItem, text: &str| text.get(item.span.start..item.span.end).map(str::to_owned);
    let mut found = Vec::new();
    for (key, mut news) in news {
        let mut olds = olds.remove(&key).unwrap_or_default();
        if olds.len() != news.len() {
            news.retain(|new| {
                let same = olds.iter().position(|old| text(old, before.1) == text(new, after.1));
                found.extend(same.map(|at| (Some(olds.remove(at)), Some(*new))));
                same.is_none()
            });
        }
        let mut olds = olds.into_iter();
        found.extend(news.into_iter().map(|new| (olds.next(), Some(new))));
        found.extend(olds.map(|old| (Some(old), None)));
    }
    found.extend(olds.into_values().flatten().map(|old| (Some(old), None)));
    found
}

/// Declarations by their distinguishing properties; declarations that nothing else distinguishes, in order. An inherent
/// block is not a declaration.
fn index(outline: &Outline) -> BTreeMap<Key<'_>, Vec<&OutlineItem>> {
    let mut index: BTreeMap<Key<'_>, Vec<&OutlineItem>> = BTreeMap::new();
    outline.walk(&mut |item| {
        if item.kind != SymbolKind::Impl || item.name.contains(" for ") {
            index.entry((&item.container, &item.name, item.kind)).or_default().push(item);
        }
    });
    index
}

fn compare<'a>(before: &'a OutlineItem, old: &str, after: &'a OutlineItem, new: &str) -> Option<Delta<'a>> {
    let delta = |kind| Some(Delta { kind, before: Some(before), after: Some(after) });
    let differ = |names: &[&str]| {
        let same = head(before, old) == head(after, new);
        !same && attributes(before, old, names) != attributes(after, new, names)
    };
    if derives(before, old) != derives(after, new) || differ(&OF_USE) {
        return delta(ChangeKind::Signature);
    }
    if before.signature != after.signature {
        let kind = match (visibility(before) == visibility(after), before.kind) {
            (false, _) => ChangeKind::Visibility,
            (
                true,
                SymbolKind::Field | SymbolKind::Const | SymbolKind::Static | SymbolKind::Variable | SymbolKind::Type,
            ) => ChangeKind::Type,
            (true, _) => ChangeKind::Signature,
        };
        return delta(kind);
    }
    // `#[macro_export]` is not a part of a signature.
    if differ(&OF_PRESENCE) || before.kind == SymbolKind::Macro && before.public != after.public {
        return delta(ChangeKind::Visibility);
    }
    let text = |item: &OutlineItem, text: &str| item.body.and_then(|it| text.get(it.start..it.end).map(str::to_owned));
    // Changes of items in a body are also listed for these items.
    let has_body = matches!(before.kind, SymbolKind::Function | SymbolKind::Method);
    let is_container =
        before.kind == SymbolKind::Impl || !has_body && (!before.children.is_empty() || !after.children.is_empty());
    if !is_container && text(before, old) != text(after, new) {
        return delta(ChangeKind::Body);
    }
    None
}

/// The visibility as it is written, for example `pub(crate)`.
fn visibility(item: &OutlineItem) -> &str {
    let Some(rest) = item.signature.strip_prefix("pub") else { return "" };
    let restriction = rest.strip_prefix('(').and_then(|it| it.find(')')).map_or(0, |at| at + 2);
    let is_name = !rest.starts_with([' ', '(']);
    if is_name { "" } else { &item.signature[..3 + restriction] }
}

/// The text before the name of an item.
fn head<'t>(item: &OutlineItem, text: &'t str) -> &'t str {
    text.get(item.span.start..item.name_span.start).unwrap_or_default()
}

/// The attributes of an item that have one of these names, directly or within `cfg_attr`, as they are written.
fn attributes(item: &OutlineItem, text: &str, names: &[&str]) -> BTreeSet<String> {
    let tree = SourceFile::parse(head(item, text), Edition::CURRENT).tree();
    let written = |it: ast::Attr| -> String {
        let tokens = it.syntax().descendants_with_tokens().filter_map(NodeOrToken::into_token);
        tokens.filter(|it| !it.kind().is_trivia()).map(|it| it.text().to_owned()).collect()
    };
    let is_meant = |it: &String| -> bool {
        let mut words = words(it).map(|it| it.1);
        let Some(first) = words.next() else { return false };
        names.contains(&first) || first == "cfg_attr" && words.any(|it| names.contains(&it))
    };
    tree.syntax().descendants().filter_map(ast::Attr::cast).map(written).filter(is_meant).collect()
}

/// A signature without the name.
fn shape(item: &OutlineItem) -> String {
    match occurrences(&item.signature, &item.name).next() {
        Some(at) => format!("{}_{}", &item.signature[..at], &item.signature[at + item.name.len()..]),
        None => item.signature.clone(),
    }
}

/// The traits that a type derives, by the last segments of their paths.
pub(crate) fn derives<'t>(item: &OutlineItem, text: &'t str) -> BTreeSet<&'t str> {
    if !is_type(item.kind) {
        return BTreeSet::new();
    }
    let lists = head(item, text).split("derive(").skip(1).filter_map(|it| it.split(')').next());
    let names = lists.flat_map(|it| it.split(',')).filter_map(|it| it.rsplit("::").next());
    names.map(str::trim).filter(|it| !it.is_empty()).collect()
}

/// Whether an item declares a type.
pub(crate) fn is_type(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Union)
}

/// Whether an item is a type, or a part of what the values of a type contain.
pub(crate) fn is_content(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Struct
            | SymbolKind::Enum
            | SymbolKind::Union
            | SymbolKind::Field
            | SymbolKind::Variant
            | SymbolKind::Type
    )
}
