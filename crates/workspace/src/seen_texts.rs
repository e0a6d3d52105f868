//! The texts that files had lately, by hash, and which of them each client was shown last. An older text is the base
//! of a merge: its author's change, and what others changed since.
//!
//! They are in memory, bounded. The texts that were shown, and those that others replaced, are also kept with the
//! journal for a day, so that they survive a restart. The texts of semdex's own changes are in the journal anyway.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::journal::{Journal, KeptText};
use semdex_engine::files::{File, Files};
use semdex_model::{FileEdit, Result};

const KEPT_FOR: Duration = Duration::from_secs(24 * 3600);
/// How large all texts in memory may be together, and how many there may be.
const MOST_BYTES: usize = 64 << 20;
const MOST_TEXTS: usize = 16 << 10;
/// How many pairs of a client and a file are known.
const MOST_SHOWN: usize = 16 << 10;
/// A checkout of another branch replaces many texts that nobody has seen: only these are kept.
const REPLACED_AT_ONCE: usize = 64;
/// How many texts of a file are offered as possible bases, and how large they may be together.
const OFFERED: usize = 1024;
const OFFERED_BYTES: usize = 32 << 20;
/// How many texts of a file are read from the journal.
const FROM_JOURNAL: usize = 16;
/// The least number of digits that name a text.
pub const LEAST_DIGITS: usize = 12;

/// Whether these digits can name a text at all.
pub fn may_name_hash(digits: &str) -> bool {
    let digits = digits.trim();
    (LEAST_DIGITS..=2 * blake3::OUT_LEN).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_hexdigit())
}

/// Whether these digits are the hash, or its beginning.
pub fn names_hash(hash: &blake3::Hash, digits: &str) -> bool {
    let digits = digits.trim();
    digits.len() >= LEAST_DIGITS && hash.to_hex().get(..digits.len()).is_some_and(|it| it.eq_ignore_ascii_case(digits))
}

/// The texts of one workspace.
#[derive(Debug)]
pub struct SeenTexts {
    journal: Journal,
    workspace: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The texts of each file, the newest last.
    files: HashMap<Arc<str>, VecDeque<Seen>>,
    /// Every text in the order of its last use, by file and number. A number that its file no longer has is ignored.
    order: VecDeque<(Arc<str>, u64)>,
    count: usize,
    bytes: usize,
    numbers: u64,
    /// The hash of the text that a client was shown last, by client and file, with a number for the order.
    shown: HashMap<(String, Arc<str>), (blake3::Hash, u64)>,
}

#[derive(Debug)]
struct Seen {
    number: u64,
    hash: blake3::Hash,
    text: Arc<str>,
    at: Instant,
    /// It was given to the journal.
    is_kept: bool,
}

impl SeenTexts {
    pub(super) fn new(journal: Journal, workspace: String) -> SeenTexts {
        SeenTexts { journal, workspace, state: Mutex::default() }
    }

    /// A client was shown this text of a file. `session`: the client, if it says who it is.
    pub fn note_shown(&self, session: Option<&str>, file: &File) {
        let mut state = self.lock();
        let is_new = state.note(&file.path, file.hash, &file.text, true);
        if let Some(session) = session {
            state.show(session, &file.path, file.hash);
        }
        drop(state);
        if is_new {
            self.keep(&file.path, file.hash, &file.text);
        }
    }

    /// A client was shown single lines of these files. A text that it was shown before remains its base.
    pub fn note_glimpsed(&self, session: Option<&str>, files: &Files, names: impl Iterator<Item = impl AsRef<str>>) {
        let Some(session) = session else { return };
        let mut state = self.lock();
        for file in names.filter_map(|it| files.get(it.as_ref())) {
            if !state.shown.contains_key(&(session.to_owned(), file.path.clone())) {
                state.note(&file.path, file.hash, &file.text, false);
                state.show(session, &file.path, file.hash);
            }
        }
    }

    /// A client takes this for the text of the file: the text that it saw, with its own change.
    pub fn note_believed(&self, session: &str, file: &str, text: &Arc<str>) {
        let (file, hash) = (Arc::from(file), blake3::hash(text.as_bytes()));
        let mut state = self.lock();
        state.note(&file, hash, text, false);
        state.show(session, &file, hash);
    }

    /// A client deleted a file, or moved it away. It no longer takes any text for the file's.
    pub fn note_gone(&self, session: &str, file: &str) {
        self.lock().shown.remove(&(session.to_owned(), Arc::from(file)));
    }

    /// Whether a client was shown a text of a file, or takes one for the file's.
    pub fn was_shown(&self, session: &str, file: &str) -> bool {
        self.lock().shown.contains_key(&(session.to_owned(), Arc::from(file)))
    }

    /// Texts are replaced. `before`: the texts before the edits.
    pub(super) fn note_replaced(&self, before: &Files, edits: &[FileEdit], by_others: bool) {
        for edit in edits.iter().take(REPLACED_AT_ONCE) {
            let Some(file) = before.get(&edit.file) else { continue };
            let is_new = self.lock().note(&file.path, file.hash, &file.text, by_others);
            if is_new {
                self.keep(&file.path, file.hash, &file.text);
            }
        }
    }

    /// The text of a file that was shown to a client last, or that it takes for the file's. `None` if it is unknown.
    pub async fn last_shown(&self, session: &str, file: &str) -> Result<Option<Arc<str>>> {
        let shown = self.lock().shown.get(&(session.to_owned(), Arc::from(file))).map(|it| it.0);
        match shown {
            Some(hash) => self.by_hash(file, &hash.to_hex()).await,
            None => Ok(None),
        }
    }

    /// A text that the file had, by the first digits of its hash.
    pub async fn by_hash(&self, file: &str, digits: &str) -> Result<Option<Arc<str>>> {
        let digits = digits.trim().to_ascii_lowercase();
        if !may_name_hash(&digits) {
            return Ok(None);
        }
        let known = self.lock().of_file(file).find(|it| names_hash(&it.hash, &digits)).map(|it| it.text.clone());
        match known {
            Some(text) => Ok(Some(text)),
            None => self.journal.text(self.workspace.clone(), file.to_owned(), digits).await,
        }
    }

    /// The texts that the file had lately, the newest first.
    pub async fn of_file(&self, file: &str) -> Result<Vec<Arc<str>>> {
        let mut texts: Vec<Arc<str>> = Vec::new();
        let mut bytes = 0;
        for seen in self.lock().of_file(file).take(OFFERED) {
            bytes += seen.text.len();
            if bytes > OFFERED_BYTES {
                return Ok(texts);
            }
            texts.push(seen.text.clone());
        }
        for text in self.journal.texts(self.workspace.clone(), file.to_owned(), FROM_JOURNAL).await? {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        Ok(texts)
    }

    fn keep(&self, file: &str, hash: blake3::Hash, text: &Arc<str>) {
        self.journal.keep_text(KeptText {
            workspace: self.workspace.clone(),
            file: file.to_owned(),
            hash: hash.to_hex().to_string(),
            text: text.clone(),
        });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The texts of a file that are not too old, the newest first.
    fn of_file(&self, file: &str) -> impl Iterator<Item = &Seen> {
        self.files.get(file).into_iter().flatten().rev().take_while(|it| it.at.elapsed() < KEPT_FOR)
    }

    /// Makes this the newest text of the file. Returns whether the journal has to keep it: once for each text.
    fn note(&mut self, file: &Arc<str>, hash: blake3::Hash, text: &Arc<str>, is_to_keep: bool) -> bool {
        let seen = self.files.entry(file.clone()).or_default();
        let known = seen.iter().rposition(|it| it.hash == hash);
        if known.is_some_and(|at| at + 1 == seen.len()) {
            let Some(newest) = seen.back_mut() else { return false };
            newest.at = Instant::now();
            let is_new = is_to_keep && !newest.is_kept;
            newest.is_kept |= is_to_keep;
            return is_new;
        }
        let known = known.and_then(|at| seen.remove(at));
        if known.is_none() {
            self.count += 1;
            self.bytes += text.len();
        }
        let was_kept = known.is_some_and(|it| it.is_kept);
        self.numbers += 1;
        let number = self.numbers;
        seen.push_back(Seen { number, hash, text: text.clone(), at: Instant::now(), is_kept: was_kept || is_to_keep });
        self.order.push_back((file.clone(), number));
        self.drop_oldest();
        is_to_keep && !was_kept
    }

    fn drop_oldest(&mut self) {
        while self.bytes > MOST_BYTES || self.count > MOST_TEXTS || self.order.len() > 4 * MOST_TEXTS {
            let Some((file, number)) = self.order.pop_front() else { return };
            let Some(seen) = self.files.get_mut(&file) else { continue };
            if let Some(gone) = seen.iter().position(|it| it.number == number).and_then(|at| seen.remove(at)) {
                self.count -= 1;
                self.bytes -= gone.text.len();
            }
            if seen.is_empty() {
                self.files.remove(&file);
            }
        }
    }

    fn show(&mut self, session: &str, file: &Arc<str>, hash: blake3::Hash) {
        self.numbers += 1;
        self.shown.insert((session.to_owned(), file.clone()), (hash, self.numbers));
        if self.shown.len() > MOST_SHOWN {
            let mut numbers: Vec<u64> = self.shown.values().map(|it| it.1).collect();
            numbers.sort_unstable();
            // A quarter at a time, so that it is rarely done.
            let oldest = numbers.get(MOST_SHOWN / 4).copied().unwrap_or_default();
            self.shown.retain(|_, shown| shown.1 > oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_config::JournalBounds;
    use semdex_model::Languages;

    const BOUNDS: JournalBounds = JournalBounds { keep: Duration::from_secs(3600), max_bytes: 1 << 30 };

    fn texts(directory: &std::path::Path) -> SeenTexts {
        SeenTexts::new(Journal::new(directory, BOUNDS), "/w".to_owned())
    }

    fn file(name: &str, text: &str) -> File {
        Files::new(Languages::default()).file(name, text)
    }

    #[tokio::test]
    async fn a_text_is_found_by_its_hash_and_by_its_client() {
        let home = tempfile::tempdir().unwrap();
        let seen = texts(home.path());
        let [one, two] = ["one\n", "two\n"].map(|it| file("a.txt", it));
        seen.note_shown(Some("x"), &one);
        seen.note_shown(None, &two);
        let hex = one.hash.to_hex();
        for digits in [&hex[..], &hex[..12], &hex[..20].to_ascii_uppercase()] {
            assert_eq!(seen.by_hash("a.txt", digits).await.unwrap().as_deref(), Some("one\n"), "{digits}");
        }
        for (name, digits) in [("b.txt", &hex[..]), ("a.txt", &hex[..11]), ("a.txt", "%%%%%%%%%%%%"), ("a.txt", "")] {
            assert_eq!(seen.by_hash(name, digits).await.unwrap(), None, "{name} {digits}");
        }
        assert_eq!(seen.last_shown("x", "a.txt").await.unwrap().as_deref(), Some("one\n"));
        assert_eq!(seen.last_shown("y", "a.txt").await.unwrap(), None);
        assert_eq!(seen.of_file("a.txt").await.unwrap(), [two.text.clone(), one.text.clone()]);
        seen.note_believed("x", "a.txt", &"three\n".into());
        assert_eq!(seen.last_shown("x", "a.txt").await.unwrap().as_deref(), Some("three\n"));
        assert!(seen.was_shown("x", "a.txt") && !seen.was_shown("x", "b.txt") && !seen.was_shown("y", "a.txt"));
        seen.note_gone("x", "a.txt");
        assert!(!seen.was_shown("x", "a.txt"));
    }

    #[tokio::test]
    async fn what_was_shown_survives_a_restart() {
        let home = tempfile::tempdir().unwrap();
        let seen = texts(home.path());
        let one = file("a.txt", "one\n");
        seen.note_shown(None, &one);
        seen.journal.flush().await;
        drop(seen);
        let seen = texts(home.path());
        let digits = &one.hash.to_hex()[..12];
        assert_eq!(seen.by_hash("a.txt", digits).await.unwrap().as_deref(), Some("one\n"));
        assert_eq!(seen.of_file("a.txt").await.unwrap(), std::slice::from_ref(&one.text));
        assert_eq!(seen.of_file("b.txt").await.unwrap(), [] as [Arc<str>; 0]);
    }

    #[tokio::test]
    async fn memory_is_bounded() {
        let home = tempfile::tempdir().unwrap();
        let seen = texts(home.path());
        let large = |at: usize| Arc::<str>::from(format!("{at:9}{}", "x".repeat(MOST_BYTES / 8)));
        for at in 0..20 {
            seen.note_believed("x", "a.txt", &large(at));
        }
        let state = seen.lock();
        assert!(state.bytes <= MOST_BYTES && state.count == state.files["a.txt"].len(), "{}", state.bytes);
        assert_eq!(state.of_file("a.txt").next().unwrap().text, large(19));
        drop(state);
        for at in 0..MOST_SHOWN + 10 {
            seen.note_believed(&at.to_string(), "b.txt", &"b".into());
        }
        assert!(seen.lock().shown.len() <= MOST_SHOWN);
    }
}
