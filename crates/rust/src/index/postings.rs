//! The files that contain a word, so that a search for many names need not check each file for each of them.

use std::sync::Arc;

use ra_ap_ide::FileId;
use rustc_hash::FxHashMap;

use semdex_engine::files::File;
use semdex_text::words::WordHash;

/// The files of each word, for the texts that were added. A word that has left a file stays: callers check the file's
/// own words anyway.
#[derive(Debug, Default)]
pub(crate) struct Postings {
    files: FxHashMap<WordHash, Vec<FileId>>,
    made_of: FxHashMap<FileId, Arc<File>>,
}

impl Postings {
    /// Whether the file's words are the ones that were added.
    pub(crate) fn knows(&self, id: FileId, file: &File) -> bool {
        self.made_of.get(&id).is_some_and(|it| it.hash == file.hash)
    }

    /// The files that may contain a word, some of them perhaps twice.
    pub(crate) fn files(&self, word: WordHash) -> &[FileId] {
        self.files.get(&word).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn add(&mut self, id: FileId, file: &Arc<File>) {
        let before = self.made_of.insert(id, file.clone());
        let known: Vec<WordHash> = before.iter().flat_map(|it| it.words().hashes()).collect();
        for word in file.words().hashes().filter(|it| known.binary_search(it).is_err()) {
            self.files.entry(word).or_default().push(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_text::words::word_hash;

    #[test]
    fn a_word_leads_to_the_files_that_hold_it() {
        let file = |text: &str| Arc::new(crate::file("a.rs", text));
        let (a, b) = (FileId::from_raw(1), FileId::from_raw(2));
        let mut postings = Postings::default();
        postings.add(a, &file("one two two"));
        postings.add(b, &file("two three"));
        let files = |postings: &Postings, word| postings.files(word_hash(word)).to_vec();
        assert_eq!(files(&postings, "two"), [a, b]);
        assert_eq!(files(&postings, "four"), []);
        assert!(postings.knows(a, &file("one two two")) && !postings.knows(a, &file("four")));
        postings.add(a, &file("four two"));
        assert_eq!((files(&postings, "four"), files(&postings, "two")), (vec![a], vec![a, b]));
        assert!(postings.knows(a, &file("four two")));
    }
}
