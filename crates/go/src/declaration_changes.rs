//! What an edit changes in the declarations of a package, computed from the texts before and after.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::modules::parent;
use super::syntax::package_clause;
use crate::LANGUAGE;
use semdex_engine::files::{File, Files};
use semdex_model::{ChangeKind, FileEdit, OutlineItem, Span, SymbolKind};

/// One declaration that an edit adds, removes or changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Altered {
    pub kind: ChangeKind,
    pub before: Option<Declared>,
    pub after: Option<Declared>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declared {
    pub file: String,
    pub path: Vec<String>,
    pub kind: SymbolKind,
    pub signature: String,
    pub name: Span,
    pub span: Span,
}

impl Declared {
    pub(crate) fn name(&self) -> &str {
        self.path.last().map(String::as_str).unwrap_or_default()
    }
}

impl Altered {
    /// The declaration after the edit, or before it if it was removed.
    pub(crate) fn declared(&self) -> Option<&Declared> {
        self.after.as_ref().or(self.before.as_ref())
    }

    /// Whether code elsewhere can fail to compile because of this.
    pub(crate) fn is_seen_from_outside(&self) -> bool {
        self.kind != ChangeKind::Body
    }
}

/// A declaration with the text that belongs to it, for comparison.
struct Item {
    declared: Declared,
    text: String,
    has_children: bool,
}

/// A package's directory and the path of a declaration in it.
type Key = (String, Vec<String>);

pub(crate) fn of(before: &Files, after: &Files, edits: &[FileEdit]) -> Vec<Altered> {
    let edited = |files: &Files| -> Vec<Arc<File>> {
        let go = edits.iter().filter(|edit| LANGUAGE.takes(&edit.file));
        go.filter_map(|edit| files.get(&edit.file).cloned()).collect()
    };
    let mut old = items(&edited(before));
    let mut altered = Vec::new();
    let mut added = Vec::new();
    for (key, new) in items(&edited(after)) {
        match old.remove(&key) {
            None => added.push(new),
            Some(old) => {
                if let Some(kind) = compare(&old, &new) {
                    altered.push(Altered { kind, before: Some(old.declared), after: Some(new.declared) });
                }
            }
        }
    }
    let mut removed: Vec<Item> = old.into_values().collect();
    for new in added {
        match removed.iter().position(|old| is_renamed(old, &new)) {
            Some(at) => {
                let old = removed.remove(at).declared;
                let by_case = old.name().eq_ignore_ascii_case(new.declared.name());
                let kind = if by_case { ChangeKind::Visibility } else { ChangeKind::Renamed };
                altered.push(Altered { kind, before: Some(old), after: Some(new.declared) });
            }
            None => altered.push(Altered { kind: ChangeKind::Added, before: None, after: Some(new.declared) }),
        }
    }
    let removed = removed.into_iter().map(|old| old.declared);
    altered.extend(removed.map(|old| Altered { kind: ChangeKind::Removed, before: Some(old), after: None }));
    altered.sort_by_key(|it| it.declared().map(|it| (it.file.clone(), it.span.start)));
    altered
}

fn items(files: &[Arc<File>]) -> BTreeMap<Key, Item> {
    let mut items = BTreeMap::new();
    for file in files {
        let package = package_clause(&file.text).unwrap_or_default().to_owned();
        let place = format!("{}:{package}", parent(&file.path));
        file.outline().walk(&mut |item| {
            let path: Vec<String> = item.container.iter().chain([&item.name]).cloned().collect();
            let key = (place.clone(), path.clone());
            // `init` and `_` may occur many times; the first is enough to detect a change of a name.
            items.entry(key).or_insert_with(|| Item {
                text: file.text.get(item.name_span.start..item.span.end).unwrap_or_default().to_owned(),
                has_children: !item.children.is_empty(),
                declared: declared(file, item, path),
            });
        });
    }
    items
}

fn declared(file: &File, item: &OutlineItem, path: Vec<String>) -> Declared {
    Declared {
        file: file.path.to_string(),
        path,
        kind: item.kind,
        signature: item.signature.clone(),
        name: item.name_span,
        span: item.span,
    }
}

fn compare(old: &Item, new: &Item) -> Option<ChangeKind> {
    if old.declared.signature != new.declared.signature || old.declared.kind != new.declared.kind {
        return Some(match new.declared.kind {
            SymbolKind::Function | SymbolKind::Method => ChangeKind::Signature,
            _ => ChangeKind::Type,
        });
    }
    // For a struct or an interface, the members are compared one by one.
    let members = old.has_children || new.has_children;
    (!members && old.text != new.text).then_some(ChangeKind::Body)
}

/// The same declaration with another name: same package, same parents, same signature except for the name.
fn is_renamed(old: &Item, new: &Item) -> bool {
    let (old, new) = (&old.declared, &new.declared);
    let parents = |it: &Declared| it.path.len().checked_sub(1).and_then(|end| it.path.get(..end)).map(<[_]>::to_vec);
    let rest = |it: &Declared| {
        let words = it.signature.split_inclusive(|it: char| it != '_' && !it.is_alphanumeric());
        let is_name =
            |word: &str| word.strip_suffix(|it: char| it != '_' && !it.is_alphanumeric()).unwrap_or(word) == it.name();
        words.map(|word| if is_name(word) { &word[it.name().len()..] } else { word }).collect::<String>()
    };
    old.kind == new.kind
        && parent(&old.file) == parent(&new.file)
        && parents(old) == parents(new)
        && rest(old) == rest(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, expected: &[(ChangeKind, &str)]) {
        let files = |text: &str| {
            let mut files = Files::default();
            files.insert(Arc::new(crate::file("a.go", format!("package a\n\n{text}"))));
            files
        };
        let edit = FileEdit { file: "a.go".to_owned(), old: None, new: None };
        let altered = of(&files(before), &files(after), &[edit]);
        let found: Vec<(ChangeKind, String)> =
            altered.iter().map(|it| (it.kind, it.declared().unwrap().path.join("."))).collect();
        let found: Vec<(ChangeKind, &str)> = found.iter().map(|(kind, path)| (*kind, path.as_str())).collect();
        assert_eq!(found, expected, "{before} → {after}");
    }

    #[test]
    fn declarations_are_distinguished() {
        use ChangeKind::{Added, Body, Removed, Renamed, Signature, Type, Visibility};
        check("func F() {}", "func F() {}\n", &[]);
        check("func F() {}", "func F(a int) {}", &[(Signature, "F")]);
        check("func F() {}", "func F() { _ = 1 }", &[(Body, "F")]);
        check("func F() {}", "func G() {}", &[(Renamed, "G")]);
        check("func F() {}", "func f() {}", &[(Visibility, "f")]);
        check("func F() {}", "func G(a int) {}", &[(Added, "G"), (Removed, "F")]);
        check("type T struct{ A int }", "type T struct{ A string }", &[(Type, "T.A")]);
        check("type I interface{ M() }", "type I interface{ M(); N() }", &[(Added, "I.N")]);
        check("var V int", "// docs\nvar V int", &[]);
    }
}
