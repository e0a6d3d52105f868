//! Repairs changes that a kill or a power cut interrupted, before anything is answered. The journal has the intended
//! contents; the lock file lists the changes that were made. A listed change is done, whatever happened to its files
//! since. For any other change the files show how far it came. If all are new, it is done. Otherwise it is reverted:
//! its client never got the answer that it was made. Files that somebody else has written since stay as they are.

use std::sync::Arc;
use std::time::Duration;

use super::disk::{Disk, Located, Write};
use super::journal::{self, Entry, EntryFile, Journal, RecordOutcome};
use super::lock::{LockFile, WorkspaceLock};
use semdex_model::Result;

const DEADLINE: Duration = Duration::from_secs(20);

/// Repairs the unfinished changes of a workspace, and notes their outcomes in the journal.
pub(crate) fn recover(disk: &Disk, journal: &Journal, lock_file: &mut LockFile) -> Result<()> {
    let key = journal::key(disk.root());
    if journal.unfinished(key.clone(), DEADLINE)?.is_empty() {
        return Ok(());
    }
    // Only the holder of the lock knows that no other process is at work on the change.
    let lock = lock_file.acquire()?;
    recover_locked(disk, journal, &lock).inspect_err(|_| lock.leave_unfinished())
}

/// The same for the holder of the lock.
pub(crate) fn recover_locked(disk: &Disk, journal: &Journal, lock: &WorkspaceLock) -> Result<()> {
    let key = journal::key(disk.root());
    // Newest first: an older change may have left the contents with which a newer one began.
    for entry in journal.unfinished(key, DEADLINE)?.into_iter().rev() {
        let settled = if lock.was_made(&entry.id) { Ok(finish(disk, &entry)) } else { settle(disk, &entry) };
        match settled {
            Ok(outcome) => {
                tracing::warn!(change = entry.id, ?outcome, "a change was interrupted; it was repaired");
                journal.settle(entry.id, outcome);
            }
            Err(error) => {
                let mut error = error;
                error.detail =
                    format!("the change {} was interrupted and could not be put right: {}", entry.id, error.detail);
                return Err(error);
            }
        }
    }
    Ok(())
}

/// What the disk has of a file that was to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Old,
    New,
    /// Somebody else has written the file since, or it cannot be read.
    Other,
}

/// A change that was made stays. Only its temporary files are removed.
fn finish(disk: &Disk, entry: &Entry) -> RecordOutcome {
    for located in entry.files.iter().filter_map(|it| disk.locate(&it.file).ok()) {
        disk.sweep(&located, &entry.id);
    }
    RecordOutcome::Done
}

fn settle(disk: &Disk, entry: &Entry) -> Result<RecordOutcome> {
    let mut files: Vec<(&EntryFile, Located, Stands)> = Vec::new();
    for file in &entry.files {
        match disk.locate(&file.file) {
            Ok(located) => {
                let stands = stands(disk, &located, file);
                files.push((file, located, stands));
            }
            // A path that is no longer a file was changed by somebody else.
            Err(error) => tracing::warn!(change = entry.id, %error, "left alone"),
        }
    }
    for (file, ..) in files.iter().filter(|it| it.2 == Stands::Other) {
        tracing::warn!(change = entry.id, file = file.file, "was written by someone else since: left alone");
    }
    let is_new = |it: &(&EntryFile, Located, Stands)| it.2 == Stands::New;
    let outcome = match files.iter().any(is_new) && !files.iter().any(|it| it.2 == Stands::Old) {
        true => RecordOutcome::Done,
        false => RecordOutcome::Dropped,
    };
    if outcome == RecordOutcome::Dropped {
        let writes: Vec<Write> = files.iter().filter(|it| is_new(it)).map(|it| back(it.0, &it.1)).collect();
        disk.write(&entry.id, &writes).map_err(|failure| failure.error)?;
    }
    for (file, located, stands) in &files {
        disk.sweep(located, &entry.id);
        if outcome == RecordOutcome::Dropped && file.old.is_none() && *stands != Stands::Other {
            disk.remove_directories(located, file.made_directories);
        }
    }
    Ok(outcome)
}

/// The write that reverts one file.
fn back<'a>(file: &'a EntryFile, located: &'a Located) -> Write<'a> {
    let new = file.new.as_deref().map(|it| blake3::hash(it.as_bytes()));
    Write { mode: file.mode, ..Write::new(located, new, file.old.as_deref().map(str::as_bytes)) }
}

fn stands(disk: &Disk, located: &Located, file: &EntryFile) -> Stands {
    let now: Option<Arc<[u8]>> = match disk.read(located) {
        Ok(bytes) => Some(bytes.into()),
        Err(error) if error.code == semdex_model::Code::UnknownFile => None,
        Err(_) => return Stands::Other,
    };
    let is = |text: &Option<Arc<str>>| now.as_deref() == text.as_deref().map(str::as_bytes);
    if is(&file.new) {
        Stands::New
    } else if is(&file.old) {
        Stands::Old
    } else {
        Stands::Other
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::change::Cause;
    use semdex_config::JournalBounds;

    const TOKEN: &str = "01HZY8Q3T4V5W6X7Y8Z9A0BCDE";
    const BOUNDS: JournalBounds = JournalBounds { keep: Duration::from_secs(3600), max_bytes: 1 << 30 };

    fn file(name: &str, old: Option<&str>, new: Option<&str>) -> EntryFile {
        EntryFile {
            file: name.to_owned(),
            old: old.map(Arc::from),
            new: new.map(Arc::from),
            old_hash: None,
            new_hash: None,
            mode: Some(0o600),
            made_directories: if name.contains('/') { 2 } else { 0 },
        }
    }

    /// Checks the result for a change of four files, of which the first `made` were written. `theirs` is written before
    /// the repair.
    fn check(made: usize, theirs: Option<(&str, &str)>, expected: [Option<&str>; 4], outcome: RecordOutcome) {
        check_confirmed(false, made, theirs.as_slice(), expected, outcome);
    }

    /// `confirmed`: the client got the answer that the change was made.
    fn check_confirmed(
        confirmed: bool,
        made: usize,
        theirs: &[(&str, &str)],
        expected: [Option<&str>; 4],
        outcome: RecordOutcome,
    ) {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("w");
        fs::create_dir(&root).unwrap();
        let (disk, state) = (Disk::new(&root, Arc::default()).unwrap(), home.path().join("state"));
        let (journal, mut lock_file) = (Journal::new(&state, BOUNDS), LockFile::new(&state, &root));
        let files = [
            file("a", Some("1"), Some("one")),
            file("gone", Some("2"), None),
            file("x/y/new", None, Some("three")),
            file("b", Some("4"), Some("four")),
        ];
        let put = |name: &str, text: Option<&str>| {
            let path = root.join(name);
            match text {
                Some(text) => {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, text).unwrap();
                }
                None => drop(fs::remove_file(path)),
            }
        };
        for (number, file) in files.iter().enumerate() {
            put(&file.file, if number < made { file.new.as_deref() } else { file.old.as_deref() });
        }
        for (name, text) in theirs {
            put(name, Some(text));
        }
        fs::write(root.join(format!(".semdex-{TOKEN}-left")), "").unwrap();
        fs::write(root.join(".semdex-01OTHER-left"), "").unwrap();
        let entry = Entry {
            id: TOKEN.to_owned(),
            workspace: journal::key(disk.root()),
            made_at: i64::MAX / 2,
            revision: 1,
            cause: Cause::Edit,
            client: None,
            undoes: None,
            undone_by: None,
            files: files.to_vec(),
            reached: None,
            request_key: None,
        };
        journal.begin(entry, DEADLINE).unwrap();
        if confirmed {
            lock_file.acquire().unwrap().enter(TOKEN).unwrap();
        }

        recover(&disk, &journal, &mut lock_file).unwrap();
        let read = |name: &str| fs::read_to_string(root.join(name)).ok();
        let now = files.each_ref().map(|it| read(&it.file));
        assert_eq!(now.each_ref().map(|it| it.as_deref()), expected, "{made} made, {theirs:?}");
        assert_eq!(root.join("x").exists(), expected[2].is_some(), "directories that were made for a file go with it");
        assert!(!root.join(format!(".semdex-{TOKEN}-left")).exists() && root.join(".semdex-01OTHER-left").exists());
        let key = journal::key(Path::new(disk.root()));
        assert!(journal.unfinished(key.clone(), DEADLINE).unwrap().is_empty());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let known = runtime.block_on(journal.get(key, TOKEN.to_owned())).unwrap();
        assert_eq!(known.is_some(), outcome == RecordOutcome::Done);
    }

    #[test]
    fn a_change_is_done_or_taken_back() {
        let old = [Some("1"), Some("2"), None, Some("4")];
        for made in 0..4 {
            check(made, None, old, RecordOutcome::Dropped);
        }
        check(4, None, [Some("one"), None, Some("three"), Some("four")], RecordOutcome::Done);
    }

    #[test]
    fn a_change_that_was_confirmed_stays_whatever_somebody_did_since() {
        let new = [Some("one"), None, Some("three"), Some("four")];
        check_confirmed(true, 4, &[], new, RecordOutcome::Done);
        check_confirmed(true, 4, &[("a", "1")], [Some("1"), None, Some("three"), Some("four")], RecordOutcome::Done);
        check_confirmed(
            true,
            4,
            &[("gone", "2")],
            [Some("one"), Some("2"), Some("three"), Some("four")],
            RecordOutcome::Done,
        );
        let all = [("a", "mine"), ("gone", "mine"), ("x/y/new", "mine"), ("b", "mine")];
        check_confirmed(true, 4, &all, [Some("mine"); 4], RecordOutcome::Done);
    }

    #[test]
    fn what_somebody_wrote_since_is_left_alone() {
        check(2, Some(("a", "theirs")), [Some("theirs"), Some("2"), None, Some("4")], RecordOutcome::Dropped);
        check(
            2,
            Some(("x/y/new", "theirs")),
            [Some("1"), Some("2"), Some("theirs"), Some("4")],
            RecordOutcome::Dropped,
        );
        check(4, Some(("b", "theirs")), [Some("one"), None, Some("three"), Some("theirs")], RecordOutcome::Done);
    }
}
