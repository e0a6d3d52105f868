//! Unindexed files: source files and manifests of a workspace that are not UTF-8, too large, may not be read, or are links
//! out of it, so that the workspace has no text of them. Engines are not given them, but programs that read the disk may
//! use them. Their bytes are searched to find out whether one of them may contain a name.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::files::Files;
use semdex_fs::{FileStamp, Tree};
use semdex_model::{LanguageId, Missing, MissingCode};
use semdex_text::words::{WordHash, word_hash, words};

/// Larger files are not searched: they may contain any word. In bytes.
const MOST_SEARCHED: usize = 16 << 20;

/// At most this many files are reported for one name.
const MOST_NAMED: usize = 10;

/// All unindexed files of a workspace, by their names.
pub type UnindexedFiles = BTreeMap<Arc<str>, Arc<UnindexedFile>>;

/// Why a file has no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnindexedReason {
    /// It is not UTF-8, or contains NUL bytes.
    NotText,
    /// semdex has no permission to read it.
    Refused,
    /// It is larger than `max_file_bytes`.
    TooLarge,
    /// It is a link to a file outside of the workspace.
    Outside,
}

/// An unindexed file.
#[derive(Debug)]
pub struct UnindexedFile {
    /// Relative to the root, with `/`.
    pub path: Arc<str>,
    why: UnindexedReason,
    tree: Tree,
    stamp: FileStamp,
    /// The hashes of its words, sorted. `None` if the file could not be searched.
    words: OnceLock<Option<Box<[WordHash]>>>,
}

impl UnindexedFile {
    /// A file of a tree. `stamp` was taken before the file was found to have no text.
    pub fn new(path: Arc<str>, why: UnindexedReason, tree: Tree, stamp: FileStamp) -> UnindexedFile {
        UnindexedFile { path, why, tree, stamp, words: OnceLock::new() }
    }

    /// Whether the file or its content may have changed.
    pub fn may_differ(&self, why: UnindexedReason, now: &FileStamp) -> bool {
        self.why != why || self.stamp.may_differ(now)
    }

    /// Whether the file may contain this name. A file that cannot be searched in full may contain any name. The first
    /// call reads the file.
    pub(crate) fn may_hold(&self, name: &str) -> bool {
        let longest = words(name).max_by_key(|it| it.1.len());
        // In another encoding, characters that are not ASCII have other bytes.
        let Some((_, word)) = longest.filter(|it| it.1.is_ascii()) else { return true };
        match self.words.get_or_init(|| self.read_words()) {
            Some(known) => known.binary_search(&word_hash(word)).is_ok(),
            None => true,
        }
    }

    /// What an answer about a name misses because of this file.
    pub(crate) fn missing(&self, name: &str) -> Missing {
        self.gap(&format!("`{}` may name `{name}` and is no text that is analysed", self.path))
    }

    /// What an answer about all files misses because of this file.
    pub fn missing_from_all(&self) -> Missing {
        self.gap(&format!("`{}` is no text that is analysed", self.path))
    }

    fn gap(&self, what: &str) -> Missing {
        let (code, why) = match self.why {
            UnindexedReason::NotText => {
                (MissingCode::Unsupported, "it is not UTF-8, or holds NUL bytes: save it as UTF-8")
            }
            UnindexedReason::TooLarge => {
                (MissingCode::Unsupported, "it is larger than files are read: raise `max_file_bytes`")
            }
            UnindexedReason::Refused => {
                (MissingCode::Unread, "semdex has no permission to read it: give the permission to its user")
            }
            UnindexedReason::Outside => {
                (MissingCode::Unread, "it is a link out of the workspace: serve a directory that has both")
            }
        };
        Missing::new(code, &*self.path, format!("{what}: {why}"))
    }

    fn read_words(&self) -> Option<Box<[WordHash]>> {
        let bytes = self.tree.read(Path::new(&*self.path), MOST_SEARCHED).ok()?;
        Some(words_of(&bytes))
    }
}

/// What answers about a name miss, because unindexed files of the code may contain the name. Reads files: may block.
pub fn missing(files: &Files, is_code: impl Fn(&str) -> bool, name: &str) -> Vec<Missing> {
    let code = files.unindexed_without_overlay().filter(|it| is_code(&it.path) && !is_installed(&it.path));
    code.filter(|it| it.may_hold(name)).take(MOST_NAMED).map(|it| it.missing(name)).collect()
}

/// What an answer about all files of a language misses because of unindexed files. A language whose files are found by
/// references reports those that are referenced.
pub fn missing_of_language(files: &Files, language: LanguageId) -> Vec<Missing> {
    if language.syntax.is_found_by_reference() {
        return Vec::new();
    }
    let is_code = |it: &&Arc<UnindexedFile>| {
        let directory = it.path.rsplit_once('/').map_or("", |it| it.0);
        language.takes(&it.path) && language.syntax.may_be_in(directory) && !is_installed(&it.path)
    };
    files.unindexed_without_overlay().filter(is_code).take(MOST_NAMED).map(|it| it.missing_from_all()).collect()
}

/// Whether a file belongs to an installed dependency, which uses nothing of the workspace.
pub fn is_installed(file: &str) -> bool {
    file.split('/').any(|it| matches!(it, "node_modules" | "site-packages" | "dist-packages"))
}

/// The hashes of the ASCII words of a file in an unknown encoding.
fn words_of(bytes: &[u8]) -> Box<[WordHash]> {
    let mut found = Vec::new();
    add_words(bytes, &mut found);
    if memchr::memchr(0, bytes).is_some() {
        // UTF-16, in either byte order.
        for unit in [u16::from_le_bytes, u16::from_be_bytes] {
            let units = bytes.chunks_exact(2).map(|it| unit([it[0], it[1]]));
            let text: String = char::decode_utf16(units).map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            add_words(text.as_bytes(), &mut found);
        }
        let plain: Vec<u8> = bytes.iter().copied().filter(|it| *it != 0).collect();
        add_words(&plain, &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found.into_boxed_slice()
}

fn add_words(bytes: &[u8], found: &mut Vec<WordHash>) {
    let is_part = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|it| is_part(**it)).count();
        let word = std::str::from_utf8(&bytes[at..at + length]).unwrap_or_default();
        if !word.is_empty() {
            found.push(word_hash(word));
            // The first letter may be the second byte of a two-byte character.
            let follows = at > 0 && !bytes[at - 1].is_ascii();
            found.extend(word.get(1..).filter(|it| follows && !it.is_empty()).map(word_hash));
        }
        at += length.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::{word_hash, words_of};

    fn holds(bytes: &[u8], word: &str) -> bool {
        words_of(bytes).binary_search(&word_hash(word)).is_ok()
    }

    #[test]
    fn words_are_found_in_any_encoding() {
        let latin = b"/* caf\xe9 */ int main(void) { return zz(1); }";
        assert!(holds(latin, "zz") && holds(latin, "main") && !holds(latin, "z") && !holds(latin, "cafe"));
        let text = "x = lib.zz(1)";
        let wide = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> { text.encode_utf16().flat_map(bytes).collect() };
        for bytes in [wide(u16::to_le_bytes), wide(u16::to_be_bytes)] {
            assert!(holds(&bytes, "zz") && holds(&bytes, "lib") && !holds(&bytes, "lb"));
        }
        // The second byte of a two-byte character is a letter.
        assert!(holds(b"\x81\x41zz()", "zz"));
        assert!(words_of(b"").is_empty() && words_of(b"\xff").is_empty());
    }
}
