//! Which lines each client was shown, so that they are not repeated. In memory, bounded.

use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;

use semdex_engine::unpoisoned;

/// How many clients are known, and how many spans of each.
const MOST_CLIENTS: usize = 256;
const MOST_SPANS: usize = 20_000;

/// The lines that clients were shown, by the hash of their file's name and their text. So lines that move are still
/// known, and lines that change are new.
#[derive(Debug, Default)]
pub struct ShownLines {
    clients: Mutex<VecDeque<(String, HashSet<blake3::Hash>)>>,
}

impl ShownLines {
    /// Which of these spans (file and text) a client was shown before.
    pub fn seen(&self, client: &str, spans: &[(&str, &str)]) -> Vec<bool> {
        let clients = unpoisoned::lock(&self.clients);
        let known = clients.iter().find(|it| it.0 == client);
        spans.iter().map(|it| known.is_some_and(|known| known.1.contains(&hash(*it)))).collect()
    }

    /// A client was shown these spans.
    pub fn note(&self, client: &str, spans: &[(&str, &str)]) {
        let mut clients = unpoisoned::lock(&self.clients);
        let at = clients.iter().position(|it| it.0 == client);
        let mut known = at.and_then(|it| clients.remove(it)).unwrap_or_else(|| (client.to_owned(), HashSet::new()));
        if known.1.len() > MOST_SPANS {
            known.1.clear();
        }
        known.1.extend(spans.iter().map(|it| hash(*it)));
        clients.truncate(MOST_CLIENTS - 1);
        clients.push_front(known);
    }
}

fn hash((file, text): (&str, &str)) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&file.len().to_le_bytes()).update(file.as_bytes()).update(text.as_bytes());
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_seen_by_the_client_that_was_shown_them() {
        let shown = ShownLines::default();
        shown.note("a", &[("x.rs", "fn f() {}")]);
        assert_eq!(
            shown.seen("a", &[("x.rs", "fn f() {}"), ("x.rs", "fn g() {}"), ("y.rs", "fn f() {}")]),
            [true, false, false]
        );
        assert_eq!(shown.seen("b", &[("x.rs", "fn f() {}")]), [false]);
    }
}
