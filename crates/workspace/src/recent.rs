//! What files contained before others changed them, until a client has seen the effect. So a hook that is called after
//! an edit can still report what the edit broke. Bounded: the oldest entries are dropped first.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use semdex_model::FileEdit;

const FILES: usize = 64;
const BYTES: usize = 16 << 20;
/// Changes of a file within this time of each other count as one edit: the agent's, then its formatter's.
const ONE_EDIT: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub struct Recent(Mutex<VecDeque<Changed>>);

#[derive(Debug)]
struct Changed {
    file: String,
    /// `None` if there was no file.
    before: Option<Arc<str>>,
    at: Instant,
}

impl Recent {
    /// Notes the edits that others made.
    pub(super) fn note(&self, edits: &[FileEdit]) {
        let now = Instant::now();
        let mut changed = self.lock();
        // A checkout of another branch is not an edit, so only the first files are kept.
        for edit in edits.iter().take(FILES).filter(|it| it.old != it.new) {
            let known = changed.iter().position(|it| it.file == edit.file).and_then(|at| changed.remove(at));
            let before = match known {
                Some(known) if now.duration_since(known.at) < ONE_EDIT => known.before,
                _ => edit.old.clone(),
            };
            changed.push_back(Changed { file: edit.file.clone(), before, at: now });
        }
        let size = |it: &Changed| it.before.as_ref().map_or(0, |it| it.len());
        let mut bytes: usize = changed.iter().map(size).sum();
        while changed.len() > FILES || bytes > BYTES {
            let Some(oldest) = changed.pop_front() else { break };
            bytes -= size(&oldest);
        }
    }

    /// The content of a file before it was changed. The outer `None`: no change is known. The inner: there was no file.
    pub fn before(&self, file: &str) -> Option<Option<Arc<str>>> {
        self.lock().iter().find(|it| it.file == file).map(|it| it.before.clone())
    }

    /// A client was given the effect of the changes.
    pub fn forget(&self, file: &str) {
        self.lock().retain(|it| it.file != file);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Changed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(file: &str, old: Option<&str>, new: &str) -> FileEdit {
        FileEdit { file: file.to_owned(), old: old.map(Arc::from), new: Some(Arc::from(new)) }
    }

    #[test]
    fn the_text_before_an_edit_and_its_formatter_is_kept() {
        let recent = Recent::default();
        recent.note(&[edit("a", Some("1"), "2"), edit("b", None, "1"), edit("c", Some("1"), "1")]);
        recent.note(&[edit("a", Some("2"), "3")]);
        assert_eq!(recent.before("a"), Some(Some(Arc::from("1"))));
        assert_eq!((recent.before("b"), recent.before("c")), (Some(None), None));
        recent.forget("a");
        assert_eq!(recent.before("a"), None);
        recent.note(&[edit("a", Some("3"), "4")]);
        assert_eq!(recent.before("a"), Some(Some(Arc::from("3"))));
    }

    #[test]
    fn the_oldest_goes() {
        let recent = Recent::default();
        for file in 0..FILES + 1 {
            recent.note(&[edit(&file.to_string(), Some("1"), "2")]);
        }
        assert!(recent.before("0").is_none() && recent.before("1").is_some());
        recent.note(&[edit("large", Some(&"x".repeat(BYTES - 1)), "y")]);
        assert!(recent.before("large").is_some() && recent.before("2").is_none());
    }
}
