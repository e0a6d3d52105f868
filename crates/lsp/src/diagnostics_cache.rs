//! A cache of a server's diagnostics, keyed by the state of all texts. A state often returns: each dry run and each
//! undo leads back to the state before an edit.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use semdex_engine::files::Files;
use semdex_engine::unpoisoned;
use semdex_model::Diagnostic;

/// The most states that are kept.
const MOST_STATES: usize = 6;
/// How long an entry is valid: changes of installed packages outside of the workspace are not watched.
const KEPT: Duration = Duration::from_secs(60);

/// Everything that determines a server's diagnostics: the texts, the server's instance, and its restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inputs {
    texts: blake3::Hash,
    instance: u32,
    restarts: u32,
}

impl Inputs {
    pub(crate) fn new(files: &Files, instance: u32, restarts: u32) -> Inputs {
        let mut hasher = blake3::Hasher::new();
        for file in files.iter() {
            hasher.update(&file.path.len().to_le_bytes());
            hasher.update(file.path.as_bytes());
            hasher.update(file.hash.as_bytes());
            // A server that searches for a file sees the disk, not the overlay.
            hasher.update(&[u8::from(file.overlay)]);
        }
        Inputs { texts: hasher.finalize(), instance, restarts }
    }
}

type ByFile = HashMap<Arc<str>, (Instant, Arc<[Diagnostic]>)>;

/// The most recently used states, most recent first.
#[derive(Debug, Default)]
pub(crate) struct DiagnosticsCache(Mutex<VecDeque<(Inputs, ByFile)>>);

impl DiagnosticsCache {
    pub(crate) fn of(&self, state: Inputs, file: &str) -> Option<Arc<[Diagnostic]>> {
        let mut states = unpoisoned::lock(&self.0);
        let at = states.iter().position(|it| it.0 == state)?;
        let (_, found) = states.get(at)?.1.get(file).filter(|it| it.0.elapsed() < KEPT).cloned()?;
        if let Some(used) = states.remove(at) {
            states.push_front(used);
        }
        Some(found)
    }

    pub(crate) fn keep(&self, state: Inputs, file: Arc<str>, found: &[Diagnostic]) {
        let mut states = unpoisoned::lock(&self.0);
        if !states.iter().any(|it| it.0 == state) {
            states.truncate(MOST_STATES - 1);
            states.push_front((state, ByFile::new()));
        }
        if let Some((_, by_file)) = states.iter_mut().find(|it| it.0 == state) {
            by_file.insert(file, (Instant::now(), found.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_engine::Registry;

    #[test]
    fn states_are_distinguished_and_the_oldest_goes() {
        let mut files = Files::new(Registry::new(Vec::new(), crate::kinds).languages().clone());
        let mut state = |text: &str, instance| {
            files.insert(Arc::new(files.file("a.py", text)));
            Inputs::new(&files, instance, 0)
        };
        let first = state("x = 1\n", 1);
        assert_eq!(first, state("x = 1\n", 1));
        assert!(first != state("x = 2\n", 1) && first != state("x = 1\n", 2));
        let checked = DiagnosticsCache::default();
        let keep = |state| checked.keep(state, "a.py".into(), &[]);
        keep(first);
        for instance in 2..=MOST_STATES as u32 {
            keep(state("x = 1\n", instance));
        }
        assert!(checked.of(first, "a.py").is_some() && checked.of(first, "b.py").is_none());
        keep(state("x = 3\n", 1));
        assert!(checked.of(first, "a.py").is_some(), "it was used last");
        assert!(checked.of(state("x = 1\n", 2), "a.py").is_none());
    }
}
