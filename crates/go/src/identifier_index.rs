//! The identifiers of the workspace's files and their places, parsed once for each content and stored compactly.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};

use super::syntax;
use crate::LANGUAGE;
use semdex_engine::files::{File, Files};
use semdex_engine::unpoisoned;
use semdex_model::{Role, Span};

/// One occurrence of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Named {
    pub span: Span,
    pub role: Role,
    /// The occurrence declares something, and so refers to no other declaration.
    pub declares: bool,
}

/// The identifiers of each parsed content.
#[derive(Default)]
pub(crate) struct Identifiers {
    files: Mutex<HashMap<blake3::Hash, Arc<Index>>>,
}

/// The files that a name may be in.
pub(crate) struct FilesByName {
    files: Vec<Arc<File>>,
    /// The hashes of names, each with the number of a file, in order.
    places: Vec<(u32, usize)>,
}

impl FilesByName {
    pub(crate) fn with<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f Arc<File>> + use<'f> {
        let hash = hash(name);
        let from = self.places.partition_point(|it| it.0 < hash);
        let same = self.places.get(from..).unwrap_or_default().iter().take_while(move |it| it.0 == hash);
        same.filter_map(|it| self.files.get(it.1))
    }
}

/// The identifiers of one file, ordered by the hash of their names.
struct Index(Vec<Entry>);

struct Entry {
    hash: u32,
    start: u32,
    end: u32,
    role: Role,
    declares: bool,
}

impl Identifiers {
    /// The occurrences of a name in a file, in the order of the text.
    pub(crate) fn named(&self, file: &File, name: &str) -> Vec<Named> {
        if name.is_empty() {
            return Vec::new();
        }
        // A known index is searched faster than the text.
        let known = unpoisoned::lock(&self.files).get(&file.hash).cloned();
        match known {
            Some(index) => index.find(&file.text, name),
            None if memchr::memmem::find(file.text.as_bytes(), name.as_bytes()).is_none() => Vec::new(),
            None => self.index(file).find(&file.text, name),
        }
    }

    /// The files of each name, to look up many names.
    pub(crate) fn by_name(&self, files: &Files) -> FilesByName {
        let files: Vec<Arc<File>> = files.of(LANGUAGE).cloned().collect();
        let mut places = Vec::new();
        for (number, file) in files.iter().enumerate() {
            let known = unpoisoned::lock(&self.files).get(&file.hash).cloned();
            let index = known.unwrap_or_else(|| self.index(file));
            let mut names: Vec<u32> = index.0.iter().map(|it| it.hash).collect();
            names.dedup();
            places.extend(names.into_iter().map(|it| (it, number)));
        }
        places.sort_unstable();
        FilesByName { files, places }
    }

    /// Parsed without the lock. Two threads may parse the same content, which is harmless.
    fn index(&self, file: &File) -> Arc<Index> {
        let index = Arc::new(Index::of(&file.text));
        unpoisoned::lock(&self.files).insert(file.hash, index.clone());
        index
    }

    /// Drops contents that no file has any longer, if there are many.
    pub(crate) fn prune(&self, current: &Files) {
        let mut files = unpoisoned::lock(&self.files);
        let go = || current.of(LANGUAGE);
        if files.len() > 2 * go().count() + 64 {
            let current: HashSet<blake3::Hash> = go().map(|file| file.hash).collect();
            files.retain(|hash, _| current.contains(hash));
        }
    }
}

impl Index {
    fn of(text: &str) -> Index {
        let entry = |it: syntax::Occurrence| {
            Some(Entry {
                hash: hash(text.get(it.span.start..it.span.end)?),
                start: u32::try_from(it.span.start).ok()?,
                end: u32::try_from(it.span.end).ok()?,
                role: it.role,
                declares: it.declares,
            })
        };
        let mut entries: Vec<Entry> = syntax::all_identifiers(text).into_iter().filter_map(entry).collect();
        entries.sort_by_key(|it| (it.hash, it.start));
        entries.shrink_to_fit();
        Index(entries)
    }

    fn find(&self, text: &str, name: &str) -> Vec<Named> {
        let hash = hash(name);
        let from = self.0.partition_point(|it| it.hash < hash);
        let same = self.0.get(from..).unwrap_or_default().iter().take_while(|it| it.hash == hash);
        same.map(|it| Named {
            span: Span::new(it.start as usize, it.end as usize),
            role: it.role,
            declares: it.declares,
        })
        .filter(|it| text.get(it.span.start..it.span.end) == Some(name))
        .collect()
    }
}

fn hash(name: &str) -> u32 {
    let mut hasher = rustc_hash::FxHasher::default();
    name.hash(&mut hasher);
    // The upper half is the better one of this hash.
    (hasher.finish() >> 32) as u32
}

/// The syntax around an occurrence of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// `x.Name`
    Selected,
    /// `Name:`, as in `T{Name: 1}`; a label and a case look the same.
    Key,
    Alone,
    /// A comment is next to the name.
    Unclear,
}

pub(crate) fn written(text: &str, span: Span) -> Written {
    let before = text.get(..span.start).unwrap_or_default().trim_end();
    let line = before.rsplit('\n').next().unwrap_or(before);
    if before.ends_with("*/") || (before.len() < span.start && line.contains("//")) {
        return Written::Unclear;
    }
    if before.ends_with('.') && !before.ends_with("...") {
        return Written::Selected;
    }
    let after = text.get(span.end..).unwrap_or_default().trim_start();
    match after.as_bytes() {
        [b'/', b'/' | b'*', ..] => Written::Unclear,
        [b':', b'=', ..] => Written::Alone,
        [b':', ..] => Written::Key,
        _ => Written::Alone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_with_what_they_do() {
        let file = crate::file("a.go", "package a\n\nfunc größe(a int) int { return größe(a) } // größe\n");
        let identifiers = Identifiers::default();
        let found = identifiers.named(&file, "größe");
        let uses: Vec<(Role, bool)> = found.iter().map(|it| (it.role, it.declares)).collect();
        assert_eq!(uses, [(Role::Other, true), (Role::Call, false)]);
        assert_eq!(identifiers.named(&file, "gr"), []);
        identifiers.prune(&Files::default());
    }

    #[test]
    fn ways_of_writing_a_name() {
        for (text, expected) in [
            ("x.Name()", Written::Selected),
            ("x.\n\tName()", Written::Selected),
            ("T{Name: 1}", Written::Key),
            ("Name := 1", Written::Alone),
            ("f(xs ...Name)", Written::Alone),
            ("x. /* c */ Name", Written::Unclear),
            ("x. // c.\n Name", Written::Unclear),
            ("T{Name /* c */ : 1}", Written::Unclear),
            ("Name", Written::Alone),
        ] {
            let at = text.find("Name").unwrap();
            assert_eq!(written(text, Span::new(at, at + 4)), expected, "{text}");
        }
    }
}
