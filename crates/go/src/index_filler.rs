//! Fills the usage index in the background: after the start, and again with the symbols that each change invalidated.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::layout::Layout;
use super::queries::GoplsQueries;
use super::session::{Link, Session};
use super::symbol_paths::flatten;
use super::unlisted_occurrences::Effort;
use super::usages;
use semdex_engine::files::Files;
use semdex_engine::{Deadlines, Progress};
use semdex_model::{State, Symbol};
use semdex_process::fault;

/// Queries begin after this time without a change.
const QUIET: Duration = Duration::from_millis(300);
const LIMIT: Duration = Duration::from_secs(60);
/// Symbols in one query to the checker, so that other queries need not wait long.
const SYMBOLS_PER_QUERY: usize = 200;
const STAGE: &str = "usages";
/// The pause before a retry if gopls did not answer.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

pub(crate) async fn run(session: Arc<Session>, stop: CancellationToken) {
    tokio::select! {
        () = fill_for_ever(&session) => {}
        () = stop.cancelled() => {}
    }
}

async fn fill_for_ever(session: &Arc<Session>) {
    let mut filler = Filler { session, incomplete: HashSet::new() };
    loop {
        let mut link = session.link.subscribe();
        if link.wait_for(|it| matches!(it, Link::Up { .. })).await.is_err() {
            return;
        }
        while tokio::time::timeout(QUIET, session.fed.notified()).await.is_ok() {}
        let started = Instant::now();
        fault::point("go.filler");
        let fed = session.fed.notified();
        tokio::pin!(fed);
        fed.as_mut().enable();
        // It resolves thousands of symbols while gopls resolves one, and a question of a user needs gopls meanwhile.
        tokio::select! {
            () = session.checker.settled() => {}
            () = &mut fed => continue,
            _ = link.changed() => continue,
        }
        let (files, generation) = {
            let documents = session.documents();
            (documents.files().clone(), documents.generation())
        };
        let filled = filler.fill(&files, generation).await;
        session.status.send_if_modified(|status| {
            let ours = status.progress.as_ref().is_some_and(|it| it.stage == STAGE);
            if ours {
                status.progress = None;
            }
            ours
        });
        let asked = filled.asked;
        if asked > 0 {
            let (symbols, places) = session.index.size();
            let took = started.elapsed();
            tracing::info!(asked, symbols, places, ?took, "usages of Go indexed");
        }
        let settled = async {
            if filled.is_whole {
                session.checker.settled().await;
            } else {
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        };
        tokio::select! {
            () = &mut fed => continue,
            _ = link.changed() => continue,
            () = settled => {}
        }
        if !filled.is_whole {
            continue;
        }
        // All data that answers use is available.
        session.note_ready();
        tokio::select! {
            () = fed => {}
            _ = link.changed() => {}
        }
    }
}

/// The number of queried symbols, and whether none is left.
struct Filled {
    asked: usize,
    is_whole: bool,
}

struct Filler<'a> {
    session: &'a Arc<Session>,
    /// Symbols with usages that could not all be found. They are not queried again.
    incomplete: HashSet<String>,
}

impl Filler<'_> {
    /// Queries all unknown symbols. Stops when the content changes or gopls does not answer.
    async fn fill(&mut self, files: &Arc<Files>, generation: u64) -> Filled {
        let session = self.session.clone();
        let files = files.clone();
        let listed = tokio::task::spawn_blocking(move || {
            let layout = session.layout(&files);
            // Later edits are compared with these.
            layout.built().filter_map(|it| files.get(it)).for_each(|it| drop(session.units.of(it)));
            let unknown = unknown(&session, &layout, generation);
            (layout, unknown)
        });
        let Ok((layout, mut unknown)) = listed.await else { return Filled { asked: 0, is_whole: false } };
        if self.session.index.size().0 == 0 {
            self.incomplete.clear();
        }
        unknown.retain(|it| !self.incomplete.contains(&it.path));
        let total = unknown.len();
        let mut learned = false;
        // Symbols that the checker resolved in one query count too.
        let mut asked = 0;
        for (done, symbol) in unknown.iter().enumerate() {
            let _turn = self.session.gate.read().await;
            let stopped = Filled { asked: done, is_whole: false };
            if self.session.documents().generation() != generation {
                return stopped;
            }
            // Each query has a deadline of its own.
            let queries = || {
                let limit = Instant::now() + LIMIT;
                let deadlines = Deadlines { ready: limit, answer: limit };
                GoplsQueries::new(self.session, &layout, deadlines, Some(generation))
            };
            // The checker may become ready again during the queries to gopls.
            if !learned && self.session.checker.is_ready() && !self.session.documents().is_restructured() {
                for some in unknown[done..].chunks(SYMBOLS_PER_QUERY) {
                    self.report_progress(asked, total);
                    usages::learn(&queries(), some).await;
                    asked += some.len();
                }
                learned = true;
            }
            if learned && !self.session.index.knows(generation, symbol) {
                tracing::debug!(symbol = symbol.path, "the checker cannot resolve it, gopls is asked");
            }
            let Ok(answer) = usages::places(&queries(), symbol, Effort::Brief).await else { return stopped };
            if answer.coverage.missing.iter().any(|it| it.code.passes()) {
                return stopped;
            }
            if !self.session.index.knows(generation, symbol) {
                self.incomplete.insert(symbol.path.clone());
            }
            asked = asked.max(done + 1);
            self.report_progress(asked, total);
        }
        Filled { asked: total, is_whole: true }
    }

    fn report_progress(&self, done: usize, total: usize) {
        self.session.status.send_if_modified(|status| {
            let is_up = matches!(status.state, State::Ready | State::Indexing);
            if is_up {
                status.progress = Some(Progress { stage: STAGE.to_owned(), done, total });
            }
            is_up
        });
    }
}

/// The symbols of built files whose usages the index does not have.
fn unknown(session: &Session, layout: &Layout, generation: u64) -> Vec<Symbol> {
    let mut unknown = Vec::new();
    for file in layout.built() {
        let mut flat = Vec::new();
        layout.symbols(file).iter().for_each(|it| flatten(it, &mut flat));
        unknown.extend(flat.into_iter().filter(|it| it.name != "_" && !session.index.knows(generation, it)));
    }
    unknown
}
