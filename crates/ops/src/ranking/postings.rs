//! Which files have a term, and which declare a name. After a change only the changed files are read again.

use semdex_text::words::WordHash;

/// Which files have a term, and which declare a name.
#[derive(Debug, Default)]
pub(super) struct Postings {
    /// Each term with the positions of its files, sorted.
    terms: Box<[(WordHash, u32)]>,
    /// Each name with the positions of its files and sections there, sorted.
    names: Box<[(WordHash, u32, u16)]>,
}

/// A file that is new in the postings.
pub(super) struct New<'a> {
    pub position: u32,
    /// Each once.
    pub terms: Vec<WordHash>,
    pub names: &'a [(WordHash, u16)],
}

/// What the new files add, not sorted yet.
#[derive(Debug, Default)]
pub(super) struct Added {
    terms: Vec<(WordHash, u32)>,
    names: Vec<(WordHash, u32, u16)>,
}

impl Added {
    pub(super) fn push(&mut self, new: New<'_>) {
        self.terms.extend(new.terms.into_iter().map(|it| (it, new.position)));
        self.names.extend(new.names.iter().map(|it| (it.0, new.position, it.1)));
    }
}

impl Postings {
    /// The postings after a change. `moved` has the new position of each file that is still the same; their order is
    /// the same as before.
    pub(super) fn after(before: &Postings, moved: &[Option<u32>], mut added: Added) -> Postings {
        added.terms.sort_unstable();
        added.names.sort_unstable();
        let now = |file: u32| moved.get(file as usize).copied().flatten();
        let terms = before.terms.iter().filter_map(|it| Some((it.0, now(it.1)?)));
        let names = before.names.iter().filter_map(|it| Some((it.0, now(it.1)?, it.2)));
        Postings {
            terms: merged(terms, added.terms, before.terms.len()),
            names: merged(names, added.names, before.names.len()),
        }
    }

    /// The files that have a term in their text or path, ascending.
    pub(super) fn files(&self, term: WordHash) -> impl Iterator<Item = usize> + '_ {
        let first = self.terms.partition_point(|it| it.0 < term);
        let same = self.terms.get(first..).unwrap_or_default().iter().take_while(move |it| it.0 == term);
        same.map(|it| it.1 as usize)
    }

    /// The declarations with a name: file and section.
    pub(super) fn declared(&self, name: WordHash) -> &[(WordHash, u32, u16)] {
        let first = self.names.partition_point(|it| it.0 < name);
        let rest = self.names.get(first..).unwrap_or_default();
        rest.get(..rest.partition_point(|it| it.0 == name)).unwrap_or_default()
    }
}

/// Two sorted lists as one.
fn merged<T: Ord + Copy>(kept: impl Iterator<Item = T>, added: Vec<T>, size: usize) -> Box<[T]> {
    let mut all = Vec::with_capacity(size + added.len());
    let mut added = added.into_iter().peekable();
    for it in kept {
        while let Some(next) = added.next_if(|next| *next < it) {
            all.push(next);
        }
        all.push(it);
    }
    all.extend(added);
    all.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that a file declares, each with its number.
    type Counts<'a> = &'a [(WordHash, u16)];

    fn added(files: &[(u32, &[WordHash], Counts<'_>)]) -> Added {
        let mut added = Added::default();
        for (position, terms, names) in files {
            added.push(New { position: *position, terms: terms.to_vec(), names });
        }
        added
    }

    #[test]
    fn a_change_gives_what_all_files_give_anew() {
        let first = added(&[(0, &[5, 3], &[(9, 1)]), (1, &[3], &[(9, 0)]), (2, &[7], &[])]);
        let before = Postings::after(&Postings::default(), &[], first);
        assert_eq!(before.files(3).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(before.declared(9), [(9, 0, 1), (9, 1, 0)]);
        // File 1 changed, a file was added before file 2.
        let change = added(&[(1, &[7, 5], &[(8, 0)]), (2, &[3], &[(9, 2)])]);
        let after = Postings::after(&before, &[Some(0), None, Some(3)], change);
        let all = added(&[(0, &[5, 3], &[(9, 1)]), (1, &[7, 5], &[(8, 0)]), (2, &[3], &[(9, 2)]), (3, &[7], &[])]);
        let anew = Postings::after(&Postings::default(), &[], all);
        assert_eq!((after.terms, after.names), (anew.terms, anew.names));
    }
}
