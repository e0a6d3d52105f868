//! What was abandoned because its analysis costs too much. It is not analysed again at the same text.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use blake3::Hash;
use ra_ap_ide::FileId;
use tokio::sync::watch;

use super::Bound;
use semdex_engine::EngineStatus;
use semdex_model::{Missing, MissingCode};

/// The most bodies that are remembered, in all contents of their files; the oldest are forgotten first.
const MOST: usize = 1024;
/// The most that are listed in the status.
const MOST_LISTED: usize = 16;
/// A change of another file may fix a body. All are tried again after such a change, but not more often than this.
const LEAST_PAUSE: Duration = Duration::from_secs(30);
/// Nor more often than this for each of them, so that it takes a small part of the time.
const PAUSE_FOR_EACH: Duration = Duration::from_secs(20);

/// What was abandoned in one database.
#[derive(Debug)]
pub(crate) struct Abandoned {
    all: Mutex<All>,
    /// The number of those at their current text.
    current: AtomicUsize,
    /// Queries were ended in the current revision of the database. Salsa refuses those in cycles with them until the
    /// next one.
    has_ended: AtomicBool,
    /// Some of these may be computed by now, or by others.
    wants_revision: AtomicBool,
}

#[derive(Debug)]
struct All {
    bodies: VecDeque<Body>,
    tried_again: Instant,
    is_change_waiting: bool,
    /// What the status lists.
    listed: Vec<Missing>,
    status: Option<watch::Sender<EngineStatus>>,
}

#[derive(Debug)]
struct Body {
    /// The query in salsa's description, or the name of a part of an answer.
    query: String,
    about: Option<About>,
    bound: Bound,
    /// Its text is the one that was abandoned.
    is_current: bool,
    place: Option<AbandonedPlace>,
}

/// What an analysis is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// A body, by its identity in the database.
    Body(u64),
    File(FileId),
}

/// Where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AbandonedPlace {
    /// For messages: "the body of `f` (src/lib.rs:3)".
    pub(crate) described: String,
    pub(crate) id: FileId,
    pub(crate) file: String,
    /// Of the file's text in the database.
    pub(crate) text: Hash,
}

impl Abandoned {
    /// `status` lists what was abandoned.
    pub(crate) fn new(status: Option<watch::Sender<EngineStatus>>) -> Abandoned {
        let all = All {
            bodies: VecDeque::new(),
            tried_again: Instant::now(),
            is_change_waiting: false,
            listed: Vec::new(),
            status,
        };
        Abandoned {
            all: Mutex::new(all),
            current: AtomicUsize::new(0),
            has_ended: AtomicBool::new(false),
            wants_revision: AtomicBool::new(false),
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut All) -> T) -> T {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let done = work(&mut all);
        self.current.store(all.bodies.iter().filter(|it| it.is_current).count(), Ordering::Relaxed);
        done
    }

    pub(crate) fn is_any(&self) -> bool {
        self.current.load(Ordering::Relaxed) > 0
    }

    /// The bound that was exceeded by what a query may have been refused for.
    pub(crate) fn refused_by(&self) -> Option<Bound> {
        let is_possible = self.is_any() || self.has_ended.load(Ordering::Relaxed);
        is_possible.then(|| {
            let has_steps = self.with(|all| all.bodies.iter().any(|it| it.is_current && it.bound == Bound::Steps));
            if has_steps { Bound::Steps } else { Bound::Time }
        })
    }

    /// Whether the database needs another revision, without a change of it, for what may be computed again.
    pub(crate) fn wants_revision(&self) -> bool {
        self.wants_revision.load(Ordering::Relaxed)
    }

    /// The database has another revision, and no query of an earlier one is running.
    pub(crate) fn note_revision(&self) {
        self.has_ended.store(false, Ordering::Relaxed);
        self.wants_revision.store(false, Ordering::Relaxed);
    }

    /// A query ends without a result. One with a bound on its time may be computed by work without such a bound.
    fn note_end(&self, bound: Bound) {
        self.has_ended.store(true, Ordering::Relaxed);
        if bound == Bound::Time {
            self.wants_revision.store(true, Ordering::Relaxed);
        }
    }

    /// The bound that this query exceeded before, so that it is not to be computed. A bound on the time only counts for
    /// work that has such a bound.
    pub(crate) fn bound_exceeded_by(&self, query: &str, is_timed: bool) -> Option<Bound> {
        if !self.is_any() {
            return None;
        }
        let bound = self.with(|all| {
            self.note_retry(all.try_again());
            let mut of_query = all.bodies.iter().filter(|it| it.is_current && it.query == query);
            of_query.find(|it| is_timed || it.bound == Bound::Steps).map(|it| it.bound)
        })?;
        self.note_end(bound);
        Some(bound)
    }

    fn note_retry(&self, is_retry: bool) {
        if is_retry && self.has_ended.load(Ordering::Relaxed) {
            self.wants_revision.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn add(&self, query: String, about: Option<About>, bound: Bound) {
        self.note_end(bound);
        self.with(|all| {
            all.bodies.retain(|it| !(it.is_current && it.query == query));
            all.bodies.push_back(Body { query, about, bound, is_current: true, place: None });
            if all.bodies.len() > MOST {
                all.bodies.pop_front();
            }
            all.publish();
        });
    }

    /// Looks up the places of bodies that have none yet.
    pub(crate) fn locate(&self, place: impl Fn(About) -> Option<AbandonedPlace>) {
        if !self.is_any() {
            return;
        }
        let is_new = |it: &&mut Body| it.is_current && it.place.is_none();
        let new: Vec<About> = self.with(|all| all.bodies.iter_mut().filter(is_new).filter_map(|it| it.about).collect());
        for about in new {
            // The lock is not held: the database is asked. An identity is valid for a while only, so it is asked once.
            let found = place(about);
            self.with(|all| {
                all.bodies.iter_mut().filter(is_new).filter(|it| it.about == Some(about)).for_each(|it| {
                    it.place = found.clone();
                    it.about = None;
                });
                all.publish();
            });
        }
    }

    /// A file has another text, or is gone.
    pub(crate) fn note_text(&self, file: FileId, text: Option<&str>) {
        self.with(|all| {
            if all.bodies.is_empty() {
                return;
            }
            let mut hash = None;
            for body in &mut all.bodies {
                if let Some(place) = body.place.as_ref().filter(|it| it.id == file) {
                    let hash = *hash.get_or_insert_with(|| text.map(|it| blake3::hash(it.as_bytes())));
                    body.is_current = hash == Some(place.text);
                }
            }
            all.is_change_waiting = true;
            self.note_retry(all.try_again());
            all.publish();
        });
    }

    /// What is abandoned, in whatever text.
    pub(crate) fn queries(&self) -> HashSet<String> {
        self.with(|all| all.bodies.iter().map(|it| it.query.clone()).collect())
    }

    /// A change that was tried is taken back: what was abandoned because of it can be computed again.
    pub(crate) fn forget_all_but(&self, queries: &HashSet<String>) {
        self.retain(|it| queries.contains(&it.query));
    }

    /// The same for a database of its own: what the first one has not abandoned either.
    pub(crate) fn forget_unless_in(&self, first: &Abandoned) {
        let known = first.with(|all| all.bodies.iter().filter_map(|it| it.place.clone()).collect::<Vec<_>>());
        self.retain(|it| it.place.as_ref().is_some_and(|it| known.contains(it)));
    }

    fn retain(&self, is_kept: impl Fn(&Body) -> bool) {
        self.with(|all| {
            all.bodies.retain(is_kept);
            all.publish();
        });
    }

    /// What the status lists.
    pub(crate) fn missing(&self) -> Vec<Missing> {
        self.with(|all| {
            self.note_retry(all.try_again());
            all.missing()
        })
    }
}

impl All {
    /// Forgets the bodies if a change of another file may have fixed them. Returns whether it has.
    fn try_again(&mut self) -> bool {
        if !self.is_change_waiting {
            return false;
        }
        let current = self.bodies.iter().filter(|it| it.is_current).count();
        let pause = LEAST_PAUSE.max(PAUSE_FOR_EACH * u32::try_from(current).unwrap_or(u32::MAX));
        let is_due = self.tried_again.elapsed() >= pause;
        if is_due {
            self.is_change_waiting = false;
            self.tried_again = Instant::now();
            self.bodies.retain(|it| !it.is_current);
            self.publish();
        }
        is_due
    }

    fn missing(&self) -> Vec<Missing> {
        let current = self.bodies.iter().filter(|it| it.is_current);
        let listed = current.take(MOST_LISTED).map(|it| match &it.place {
            Some(place) => missing(&place.described, &place.file, it.bound),
            None => missing("a body", "rust", it.bound),
        });
        let mut listed: Vec<Missing> = listed.collect();
        listed.dedup();
        listed
    }

    fn publish(&mut self) {
        let listed = self.missing();
        if listed == self.listed {
            return;
        }
        let before = std::mem::replace(&mut self.listed, listed);
        if let Some(status) = &self.status {
            status.send_modify(|it| {
                it.missing.retain(|it| !before.contains(it));
                it.missing.extend(self.listed.iter().cloned());
            });
        }
    }
}

fn missing(described: &str, scope: &str, bound: Bound) -> Missing {
    let unknown = match bound {
        Bound::Steps | Bound::Errors => "what it would find is not known until the text changes",
        Bound::Time => "the impact of changes on it is not known until the text changes",
    };
    let reason = bound.reason();
    let detail = format!(
        "the analysis of {described} was abandoned because {reason}: {unknown}; simplify its types or constants"
    );
    Missing::new(MissingCode::TooMany, scope, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: u32, text: &str) -> AbandonedPlace {
        let id = FileId::from_raw(file);
        AbandonedPlace {
            described: "a body".to_owned(),
            id,
            file: "a.rs".to_owned(),
            text: blake3::hash(text.as_bytes()),
        }
    }

    #[test]
    fn a_body_is_abandoned_at_one_text_only() {
        let abandoned = Abandoned::new(None);
        let is_refused = |query: &str| abandoned.bound_exceeded_by(query, false).is_some();
        assert!(!is_refused("for_body_(Id(1))"));
        abandoned.add("for_body_(Id(1))".to_owned(), Some(About::Body(2)), Bound::Steps);
        abandoned.locate(|_| Some(place(7, "costly")));
        assert!(is_refused("for_body_(Id(1))") && !is_refused("for_body_(Id(2))"));
        assert_eq!(abandoned.missing().len(), 1);
        abandoned.note_text(FileId::from_raw(8), Some("another file"));
        assert!(is_refused("for_body_(Id(1))"), "it is not tried again immediately");
        abandoned.note_text(FileId::from_raw(7), Some("fixed"));
        assert!(!is_refused("for_body_(Id(1))") && abandoned.missing().is_empty());
        abandoned.note_text(FileId::from_raw(7), Some("costly"));
        assert!(is_refused("for_body_(Id(1))"), "the same text is not analysed twice");
        abandoned.note_text(FileId::from_raw(7), None);
        assert!(!abandoned.is_any());
    }
    #[test]
    fn what_takes_a_change_too_long_is_still_analysed_for_questions() {
        let abandoned = Abandoned::new(None);
        abandoned.add("for_body_(Id(1))".to_owned(), Some(About::Body(2)), Bound::Time);
        assert_eq!(abandoned.bound_exceeded_by("for_body_(Id(1))", true), Some(Bound::Time));
        assert_eq!(abandoned.bound_exceeded_by("for_body_(Id(1))", false), None);
        abandoned.locate(|_| Some(place(7, "costly")));
        let detail = abandoned.missing()[0].detail.clone();
        assert!(detail.contains("6 s") && !detail.contains("steps"), "{detail}");
        abandoned.add("for_body_(Id(1))".to_owned(), Some(About::Body(2)), Bound::Steps);
        assert_eq!(abandoned.bound_exceeded_by("for_body_(Id(1))", true), Some(Bound::Steps));
        assert_eq!(abandoned.bound_exceeded_by("for_body_(Id(1))", false), Some(Bound::Steps));
    }
}
