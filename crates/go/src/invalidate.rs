//! Which symbols an edit leaves with the same usages, and where these are in the edited files afterwards.
//!
//! In Go, a name is resolved by the declarations of its package and by the types in the surrounding code, and every
//! type is derived from a written name. So an edit inside a function body affects only that body. A changed declaration
//! affects the code that names it, the declarations that name it, and so on. All these are found by words. An edit that
//! cannot be analysed this way invalidates everything.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use super::modules::{base_name, modules};
use super::syntax::{self, DeclarationSpan, SpanKind};
use crate::LANGUAGE;
use semdex_engine::files::{File, Files};
use semdex_engine::{FileChange, FileChangeKind, unpoisoned};
use semdex_model::Span;
use semdex_text::diff::OffsetMap;
use semdex_text::words::WordHash;

pub(crate) enum Invalidation {
    Everything,
    These(Invalidated),
}

#[derive(Default)]
pub(crate) struct Invalidated {
    /// How the places in each edited file move, computed from its unchanged statements and declarations.
    pub shifts: HashMap<Arc<str>, OffsetMap>,
    /// Names with a place that may have another meaning now. Two words may share a hash, so more names may be
    /// invalidated.
    pub words: HashSet<WordHash>,
    /// A type may have started or stopped satisfying an interface. gopls then counts other calls as usages of its
    /// methods.
    pub methods: bool,
}

/// The declarations of each parsed content.
#[derive(Default)]
pub(crate) struct UnitStore {
    known: Mutex<HashMap<blake3::Hash, Option<Arc<[DeclarationSpan]>>>>,
}

impl UnitStore {
    pub(crate) fn of(&self, file: &File) -> Option<Arc<[DeclarationSpan]>> {
        let known = || unpoisoned::lock(&self.known);
        if let Some(units) = known().get(&file.hash) {
            return units.clone();
        }
        let units: Option<Arc<[DeclarationSpan]>> = syntax::units(&file.text).map(Arc::from);
        known().insert(file.hash, units.clone());
        units
    }

    /// Drops contents that no file has any longer, if there are many.
    pub(crate) fn prune(&self, current: &Files) {
        let mut known = unpoisoned::lock(&self.known);
        let go = || current.of(LANGUAGE);
        if known.len() > 2 * go().count() + 64 {
            let current: HashSet<blake3::Hash> = go().map(|file| file.hash).collect();
            known.retain(|hash, _| current.contains(hash));
        }
    }
}

/// `header` returns the text up to the end of a file's package clause.
pub(crate) fn of(
    store: &UnitStore,
    before: &Files,
    after: &Files,
    changes: &[&FileChange],
    header: impl Fn(&str) -> &str,
) -> Invalidation {
    let mut touched = Invalidated::default();
    // Names whose declaration changed, or that are declared with such a name.
    let mut changed = HashSet::new();
    for change in changes {
        let (Some(old), Some(new)) = (before.get(&change.path), after.get(&change.path)) else {
            return Invalidation::Everything;
        };
        let is_go = LANGUAGE.takes(&change.path);
        if old.hash == new.hash {
            continue;
        }
        if change.kind != FileChangeKind::Changed || !is_go || header(&old.text) != header(&new.text) {
            return Invalidation::Everything;
        }
        let uses_c = |it: &File| syntax::imports_c(&it.text);
        let (Some(old_units), Some(new_units)) = (store.of(old), store.of(new)) else {
            return Invalidation::Everything;
        };
        if uses_c(old) || uses_c(new) || imports(old, &old_units) != imports(new, &new_units) {
            return Invalidation::Everything;
        }
        let shift = compare((old, &old_units), (new, &new_units), &mut touched, &mut changed);
        touched.shifts.insert(new.path.clone(), shift);
    }
    if changed.is_empty() {
        return Invalidation::These(touched);
    }
    if is_known_outside(after) {
        return Invalidation::Everything;
    }
    let mut all = Vec::new();
    for file in after.of(LANGUAGE) {
        match store.of(file) {
            Some(units) => all.push((file, units)),
            None => return Invalidation::Everything,
        }
    }
    follow(&all, changed, &mut touched);
    Invalidation::These(touched)
}

fn imports<'t>(file: &'t File, units: &[DeclarationSpan]) -> Vec<&'t str> {
    units.iter().filter(|it| it.kind == SpanKind::Import).map(|it| slice(&file.text, it.span)).collect()
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.start..span.end).unwrap_or_default()
}

/// The direct effect of an edit of one file.
fn compare(
    (old, old_units): (&File, &[DeclarationSpan]),
    (new, new_units): (&File, &[DeclarationSpan]),
    touched: &mut Invalidated,
    changed: &mut HashSet<WordHash>,
) -> OffsetMap {
    // The unchanged declarations, and where they begin now.
    let mut kept: Vec<(Span, usize)> = Vec::new();
    let (mut gone, mut come): (Vec<&DeclarationSpan>, Vec<&DeclarationSpan>) = (Vec::new(), new_units.iter().collect());
    // In order, so that the first of equal declarations remains the first.
    for unit in old_units {
        let text = slice(&old.text, unit.span);
        match come.iter().position(|it| slice(&new.text, it.span) == text) {
            Some(at) => kept.push((unit.span, come.remove(at).span.start)),
            None => gone.push(unit),
        }
    }
    for unit in gone {
        let head = slice(&old.text, unit.head());
        let same = come.iter().position(|it| it.body.is_some() && slice(&new.text, it.head()) == head);
        match same.filter(|_| unit.body.is_some()) {
            Some(at) => body((old, unit), (new, come.remove(at)), &mut kept, touched),
            None => {
                let is_same =
                    |it: &&DeclarationSpan| it.body.is_some() && it.kind == unit.kind && it.names == unit.names;
                let same = come.iter().position(is_same).filter(|_| unit.body.is_some());
                match same {
                    Some(at) => signature((old, unit), (new, come.remove(at)), &mut kept, touched, changed),
                    None => declaration(unit, touched, changed),
                }
            }
        }
    }
    come.into_iter().for_each(|unit| declaration(unit, touched, changed));
    OffsetMap::of_parts(&old.text, &new.text, kept)
}

fn declaration(unit: &DeclarationSpan, touched: &mut Invalidated, changed: &mut HashSet<WordHash>) {
    touched.words.extend(unit.words());
    touched.methods |= matches!(unit.kind, SpanKind::Type | SpanKind::Method);
    changed.extend(unit.names.iter().copied());
}

fn body(
    (old, old_unit): (&File, &DeclarationSpan),
    (new, new_unit): (&File, &DeclarationSpan),
    kept: &mut Vec<(Span, usize)>,
    touched: &mut Invalidated,
) {
    let (old_text, new_text) = (slice(&old.text, old_unit.span), slice(&new.text, new_unit.span));
    let whole = |unit: &DeclarationSpan| Span::new(unit.head().end - unit.span.start, unit.span.end - unit.span.start);
    let (old_part, new_part) =
        syntax::changed_statements(old_text, new_text).unwrap_or_else(|| (whole(old_unit), whole(new_unit)));
    touched.words.extend(syntax::words_touching(new_text, new_part).iter().copied());
    let start = old_unit.span.start;
    kept.push((Span::new(start, start + old_part.start), new_unit.span.start));
    kept.push((Span::new(start + old_part.end, old_unit.span.end), new_unit.span.start + new_part.end));
}

/// For a function with a changed head and the same body, only the names that the head declares differently are changed.
fn signature(
    (old, old_unit): (&File, &DeclarationSpan),
    (new, new_unit): (&File, &DeclarationSpan),
    kept: &mut Vec<(Span, usize)>,
    touched: &mut Invalidated,
    changed: &mut HashSet<WordHash>,
) {
    let body = |file: &File, unit: &DeclarationSpan| unit.body.map(|it| slice(&file.text, it).to_owned());
    let (old_text, new_text) = (slice(&old.text, old_unit.span), slice(&new.text, new_unit.span));
    let inside = || syntax::dependent_words(new_text, &syntax::declared_otherwise(old_text, new_text)?);
    let Some(inside) = (body(old, old_unit) == body(new, new_unit)).then(inside).flatten() else {
        declaration(old_unit, touched, changed);
        return declaration(new_unit, touched, changed);
    };
    touched.words.extend(inside);
    touched.words.extend(old_unit.head_words.iter().chain(&new_unit.head_words));
    touched.methods |= new_unit.kind == SpanKind::Method;
    changed.extend(new_unit.names.iter().copied());
    if let (Some(old_body), Some(new_body)) = (old_unit.body, new_unit.body) {
        kept.push((old_body, new_body.start));
    }
}

/// Adds the declarations that name changed ones, and the words of all code that names any of them.
fn follow(all: &[(&Arc<File>, Arc<[DeclarationSpan]>)], mut changed: HashSet<WordHash>, touched: &mut Invalidated) {
    let units = || all.iter().flat_map(|it| it.1.iter());
    let names = |words: &[WordHash], changed: &HashSet<WordHash>| words.iter().any(|it| changed.contains(it));
    let mut rest: Vec<&DeclarationSpan> = units().collect();
    loop {
        let before = changed.len();
        rest.retain(|unit| {
            let reached = names(&unit.head_words, &changed);
            if reached {
                touched.methods |= matches!(unit.kind, SpanKind::Type | SpanKind::Method);
                changed.extend(unit.names.iter().copied());
            }
            !reached
        });
        if changed.len() == before {
            break;
        }
    }
    for (file, units) in all {
        for unit in units.iter().filter(|it| it.words().any(|it| changed.contains(&it))) {
            match syntax::dependent_words(slice(&file.text, unit.span), &changed) {
                Some(words) => touched.words.extend(words),
                None => touched.words.extend(unit.words()),
            }
        }
    }
    touched.words.extend(changed);
}

/// Whether a dependency may import a module of the workspace: types then pass through code outside the workspace.
fn is_known_outside(files: &Files) -> bool {
    let own = modules(files);
    let sums = files.iter().filter(|it| matches!(base_name(&it.path), "go.sum" | "go.work.sum"));
    let mut needed = sums.flat_map(|it| it.text.lines()).filter_map(|it| it.split_whitespace().next());
    needed.any(|path| own.iter().any(|it| it.path == path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_text::words::word_hash;

    const BEFORE: &str = "package a

type T struct{ F int }

func (t T) M() int { return t.F }

func make2() T { return T{} }

func use() { x := make2(); other(x.F) }

func other(int) {}
";

    fn touch(after: &str) -> Option<Invalidated> {
        let files = |text: &str| {
            let mut files = Files::default();
            files.insert(Arc::new(crate::file("a.go", text)));
            files
        };
        let change = FileChange { path: "a.go".to_owned(), kind: FileChangeKind::Changed };
        let header = |it: &str| it.lines().next().map_or(0, str::len);
        let touch = of(&UnitStore::default(), &files(BEFORE), &files(after), &[&change], |it| &it[..header(it)]);
        match touch {
            Invalidation::Everything => None,
            Invalidation::These(touched) => Some(touched),
        }
    }

    fn check(from: &str, to: &str, touched: &[&str], untouched: &[&str], methods: bool) {
        let found = touch(&BEFORE.replace(from, to)).unwrap();
        let has = |it: &&str| found.words.contains(&word_hash(it));
        assert!(touched.iter().all(&has), "{to}");
        assert!(!untouched.iter().any(has), "{to}");
        assert_eq!(found.methods, methods, "{to}");
    }

    #[test]
    fn an_edit_touches_what_can_see_it() {
        check("return t.F", "_ = other\n\treturn t.F", &["other"], &["F", "M", "T", "make2"], false);
        check("func other(int)", "func other(a, b int)", &["other"], &["F", "M", "T", "make2", "use"], false);
        check("func other(int) {}", "func other(x int) { use() }", &["other", "use"], &["M"], false);
        check("F int", "F, G int", &["T", "F", "M", "make2"], &["other", "use"], true);
        check("func make2() T", "func make2() *T", &["make2", "F", "T"], &["M", "other", "use"], false);
        assert!(touch(&BEFORE.replace("package a", "package b")).is_none());
        assert!(touch(&BEFORE.replace("func use() {", "func use() ")).is_none());
        assert!(touch(&BEFORE.replace("package a\n", "package a\n\nimport \"fmt\"\n")).is_none());
    }

    #[test]
    fn what_stays_moves_with_its_text() {
        let after = BEFORE.replace("return t.F", "_ = 1\n\treturn t.F").replace("func other(int) {}", "");
        let shift = &touch(&after).unwrap().shifts["a.go"];
        let moved = |what: &str| {
            let at = BEFORE.find(what).unwrap();
            shift.part(Span::new(at, at + what.len())).map(|it| after[it.start..it.end].to_owned())
        };
        assert_eq!(moved("x.F").as_deref(), Some("x.F"));
        assert_eq!(moved("t.F").as_deref(), Some("t.F"));
        assert_eq!(moved("(int)"), None);
    }
}
