//! The usage index: the known usages of symbols at this revision.
//!
//! gopls's references and the proved remaining places are kept across edits that cannot have changed them (see
//! `invalidate`), with their places moved along with the text. Entries that an edit may have changed are dropped and
//! computed again: by the next query, or in the background (see `index_filler`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::invalidate::{Invalidated, Invalidation};
use semdex_engine::files::Files;
use semdex_engine::unpoisoned;
use semdex_model::{Answer, Coverage, MissingCode, Role, Span, Symbol, SymbolKind, UsageCount};
use semdex_text::words::{WordHash, word_hash};

/// The usages of a symbol, ordered by file and place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Places {
    pub items: Vec<Spot>,
    /// Places where the meaning of the name could not be determined.
    pub possible: Vec<Spot>,
}

impl Places {
    pub(crate) fn count(&self) -> UsageCount {
        UsageCount { total: self.items.len(), files: self.files().count(), outside_builds: 0 }
    }

    /// The places, grouped by file.
    pub(crate) fn files(&self) -> impl Iterator<Item = &[Spot]> {
        self.items.chunk_by(|a, b| a.file == b.file)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub file: Arc<str>,
    pub span: Span,
    pub role: Role,
}

/// gopls reads files from disk and may have seen a change that the writer has not reported yet.
const UNSETTLED: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(crate) struct Index {
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    generation: u64,
    /// By the file and offset of the symbol's name.
    known: HashMap<Arc<str>, HashMap<usize, CachedUsages>>,
}

struct CachedUsages {
    name: WordHash,
    length: usize,
    method: bool,
    learned: Instant,
    answer: Answer<Arc<Places>>,
}

impl Index {
    fn held(&self) -> MutexGuard<'_, Held> {
        unpoisoned::lock(&self.held)
    }

    pub(crate) fn places(&self, generation: u64, symbol: &Symbol) -> Option<Answer<Arc<Places>>> {
        let held = self.held();
        let known = held.known.get(symbol.name_at.file.as_str())?.get(&symbol.name_at.start)?;
        (held.generation == generation && known.name == word_hash(&symbol.name)).then(|| known.answer.clone())
    }

    /// Stores an answer of this generation, unless another try could complete it.
    pub(crate) fn learn(&self, generation: u64, symbol: &Symbol, answer: &Answer<Arc<Places>>) {
        if lasts(&answer.coverage) {
            self.keep(generation, symbol, answer);
        }
    }

    /// Stores an answer of this generation that only an edit can complete.
    pub(crate) fn keep(&self, generation: u64, symbol: &Symbol, answer: &Answer<Arc<Places>>) {
        if symbol.kind == SymbolKind::Package {
            return;
        }
        let mut held = self.held();
        if held.generation == generation {
            let known = CachedUsages {
                name: word_hash(&symbol.name),
                length: symbol.name.len(),
                method: symbol.kind == SymbolKind::Method,
                learned: Instant::now(),
                answer: answer.clone(),
            };
            let file = Arc::from(symbol.name_at.file.as_str());
            held.known.entry(file).or_default().insert(symbol.name_at.start, known);
        }
    }

    pub(crate) fn knows(&self, generation: u64, symbol: &Symbol) -> bool {
        let held = self.held();
        let known = held.known.get(symbol.name_at.file.as_str()).and_then(|it| it.get(&symbol.name_at.start));
        held.generation == generation && known.is_some_and(|it| it.name == word_hash(&symbol.name))
    }

    /// The number of symbols in the index, and of their usages.
    pub(crate) fn size(&self) -> (usize, usize) {
        let held = self.held();
        let known = || held.known.values().flat_map(HashMap::values);
        (known().count(), known().map(|it| it.answer.value.items.len()).sum())
    }

    /// Drops all entries.
    pub(crate) fn clear(&self) {
        self.held().known.clear();
    }

    /// Makes all entries old.
    #[cfg(test)]
    pub(crate) fn settle(&self) {
        let long_ago = Instant::now().checked_sub(UNSETTLED * 2).unwrap();
        self.held().known.values_mut().flat_map(HashMap::values_mut).for_each(|it| it.learned = long_ago);
    }

    /// Moves the index to a new generation: keeps the entries that are still valid.
    pub(crate) fn carry(&self, generation: u64, touch: &Invalidation, after: &Files) {
        let mut held = self.held();
        if held.generation == generation {
            return;
        }
        held.generation = generation;
        let Invalidation::These(touched) = touch else { return held.known.clear() };
        held.known.values_mut().for_each(|known| known.retain(|_, it| it.carry(touched, after)));
        for (file, shift) in &touched.shifts {
            let Some(known) = held.known.remove(file) else { continue };
            let moved = known.into_iter().filter_map(|(at, known)| {
                let name = shift.part(Span::new(at, at + known.length))?;
                Some((name.start, known))
            });
            let moved = moved.collect();
            held.known.insert(file.clone(), moved);
        }
    }
}

impl CachedUsages {
    fn carry(&mut self, touched: &Invalidated, after: &Files) -> bool {
        if touched.words.contains(&self.name) || (touched.methods && self.method) {
            return false;
        }
        let is_settled = self.learned.elapsed() > UNSETTLED;
        for (file, shift) in &touched.shifts {
            let places = &self.answer.value;
            let stands = |spots: &[Spot]| spots.binary_search_by(|it| compare(it, file)).is_ok();
            if !stands(&places.items) && !stands(&places.possible) {
                continue;
            }
            let Some(text) = after.get(file).filter(|_| is_settled) else { return false };
            let places = Arc::make_mut(&mut self.answer.value);
            for spots in [&mut places.items, &mut places.possible] {
                let mut holds = true;
                spots.retain_mut(|spot| {
                    if spot.file != *file {
                        return true;
                    }
                    let Some(moved) = shift.part(spot.span) else { return false };
                    holds &= text.text.get(moved.start..moved.end).map(word_hash) == Some(self.name);
                    spot.span = moved;
                    true
                });
                spots.sort_unstable();
                if !holds {
                    return false;
                }
            }
        }
        true
    }
}

fn compare(spot: &Spot, file: &Arc<str>) -> std::cmp::Ordering {
    spot.file.cmp(file)
}

/// Whether only an edit can complete an incomplete answer.
fn lasts(coverage: &Coverage) -> bool {
    coverage.complete
        || (!coverage.missing.is_empty() && coverage.missing.iter().all(|it| it.code == MissingCode::CfgOff))
}
