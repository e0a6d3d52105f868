//! Bounds what the analysis of one body may cost.
//!
//! A text of a few lines can describe types, constants or messages of exponential size. rust-analyzer would compute
//! them until the memory is used up, and no change could be made during that time, since a change waits for all
//! readers. So each thread that queries rust-analyzer counts steps: the types that it creates or reads, and the
//! accesses to variables of constants (`semdex_steps`). The steps are attributed to the body whose query is running. A
//! body that exceeds its bound is abandoned: its query unwinds with [`Exhausted`], and is ended soon after its start as
//! long as the text stays the same.
//!
//! Large blocks of memory count as steps too: a constant of a few lines can copy an array of megabytes at each of them.
//!
//! The count does not depend on the machine or its load, so a body is always abandoned or never. The bound grows with
//! the body, so that large code is analysed. Only the impact of a change has a bound on its time too, and a constant
//! one on its processor time, since one step of it can copy megabytes.

pub(crate) mod abandoned;
pub(crate) mod refusals;

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ra_ap_hir_def::DefWithBodyId;
use ra_ap_hir_def::expr_store::Body;
use ra_ap_hir_def::hir::{Array, Expr};
use ra_ap_hir_ty::with_attached_db;
use ra_ap_ide_db::base_db::SourceDatabase;
use ra_ap_ide_db::base_db::salsa::plumbing::{FromIdWithDb as _, Id};
use ra_ap_ide_db::base_db::salsa::{Backtrace, CancellationToken, Cancelled, with_attached_database};

use self::abandoned::{Abandoned, About};

/// The steps that every body may take: a second. Tests of rayon and futures, thirty closures each, take up to 67 million.
const STEPS_OF_BODY: u64 = 64_000_000;
/// The further steps for each expression of a body. clap's tests, chains of hundreds of calls, make 8,000. crossbeam's
/// tests of `select!` make 115,000 and are abandoned: with so many, a chain of 600 closures would take minutes.
const STEPS_OF_EXPRESSION: u64 = 30_000;
/// The further steps for each pair of elements of an array or arms of a `match`: rust-analyzer compares their types.
/// The array of rust-analyzer's own symbols makes 2,300.
const STEPS_OF_PAIR: u64 = 10_000;
/// The steps of the evaluation of a constant, which takes longer for each step.
const STEPS_OF_CONSTANT: u64 = 16_000_000;
/// The evaluation of a constant makes so many steps in a microsecond of processor time at least: most make 20.
const STEPS_OF_MICROSECOND: u64 = 8;
/// The steps of another query, which may belong to a whole crate.
const STEPS_OF_QUERY: u64 = 2_000_000_000;
/// The steps outside of queries, in one part of an answer.
const STEPS_OF_PART: u64 = 400_000_000;
/// Smaller blocks are not counted: the steps that make them bound their number. In bytes.
const LARGE_BLOCK: usize = 64 << 10;
/// An analysis with so many steps is logged.
const MANY_STEPS: u64 = 1_000_000;
/// The query that is running is looked up after this many steps, because that takes longer than counting.
const STEPS_OF_LOOKUP: u64 = 8 * semdex_steps::QUANTUM;
/// Or after this time.
const TIME_OF_LOOKUP: Duration = Duration::from_millis(100);

/// Queries about one body, by their names in salsa. What runs inside of them belongs to that body.
const OF_BODIES: &[&str] = &["for_body", "for_anon_const", "const_eval", "mir_body"];
/// The queries that evaluate constants.
const EVALUATION: &str = "const_eval";
/// The query that infers the types of a body.
const INFERENCE: &str = "for_body";
/// Our own queries, which read whole files.
const OF_FILES: &[&str] = &["names_of", "macro_names_of", "further_macro_names_of"];

/// The most errors of a body, or of a file, that are looked at: they are compared with each other. Not tuned: more than
/// anybody reads of one body.
pub(crate) const MOST_ERRORS: usize = 1_000;

/// The most arms of a `match` whose patterns rust-analyzer compares with each other, which cannot be cancelled. The time
/// grows with the square: 40,000 variants of an enum take seconds, so that this many take some tenths of one.
pub(crate) const MOST_ARMS: usize = 12_000;

/// How long the bodies that a change affects are analysed before it, and again after it: all other queries wait.
pub(crate) const TIME_OF_A_CHANGE: Duration = Duration::from_secs(6);

/// A bound that an analysis exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Bound {
    /// On the number of steps. It does not depend on the machine.
    Steps,
    /// On the time for the impact of a change. A question may analyse the same body, since nothing waits for it.
    Time,
    /// On the number of errors: those after the first [`MOST_ERRORS`] are left out.
    Errors,
}

impl Bound {
    /// Why an analysis was abandoned, after "because".
    pub(crate) fn reason(self) -> String {
        match self {
            Bound::Steps => "it takes too many steps".to_owned(),
            Bound::Time => {
                let seconds = TIME_OF_A_CHANGE.as_secs();
                format!(
                    "it did not end in time: the impact of a change, for which others wait, has {seconds} s at most"
                )
            }
            Bound::Errors => format!("it has more than {MOST_ERRORS} errors"),
        }
    }
}

/// The payload of a panic that ends an analysis beyond its bound.
#[derive(Debug)]
pub(crate) struct Exhausted(Bound);

/// The bounds of one thread's work.
#[derive(Clone, Default)]
pub(crate) struct Bounds {
    /// What was abandoned before; `None` if the work is only to be cancelled, and may take any number of steps.
    pub(crate) abandoned: Option<Arc<Abandoned>>,
    /// Cancelled when the client is gone.
    pub(crate) asker: Option<CancellationToken>,
    /// When the current body is abandoned whatever its steps, because the writer waits for it.
    pub(crate) until: Option<Instant>,
}

struct Active {
    bounds: Bounds,
    /// The steps since the running query was looked up.
    steps: u64,
    looked_up: Instant,
    /// The processor time of the thread then.
    busy: Duration,
    /// The running queries with the steps of each.
    queries: Vec<(String, u64)>,
    part: Part,
}

/// A part of an answer, outside of queries.
struct Part {
    /// The steps that are left.
    left: u64,
    /// How it is remembered if it is abandoned.
    name: Option<(String, About)>,
}

thread_local! {
    static ACTIVE: RefCell<Option<Active>> = const { RefCell::new(None) };
}

/// Runs work within bounds. The database must be attached.
pub(crate) fn within<T>(bounds: Bounds, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Active>);
    impl Drop for Restore {
        fn drop(&mut self) {
            ACTIVE.set(self.0.take());
        }
    }
    semdex_steps::set_inspector(inspect);
    semdex_steps::take();
    let part = Part { left: STEPS_OF_PART, name: None };
    let (looked_up, busy) = (Instant::now(), processor_time());
    let active = Active { bounds, steps: 0, looked_up, busy, queries: Vec::new(), part };
    let _restore = Restore(ACTIVE.replace(Some(active)));
    work()
}

/// Called by the program's allocator for each block of memory: it allocates nothing and never unwinds.
#[inline]
pub fn note_allocation(bytes: usize) {
    if bytes >= LARGE_BLOCK {
        semdex_steps::allocated(bytes);
    }
}

/// The bounds of this thread, for other threads that help it.
pub(crate) fn current() -> Bounds {
    ACTIVE.with_borrow(|it| it.as_ref().map(|it| it.bounds.clone())).unwrap_or_default()
}

/// The bound because of which salsa may refuse queries in the database of this thread's work.
fn refused_by() -> Option<Bound> {
    current().abandoned.and_then(|it| it.refused_by())
}

/// Runs a part of an answer that may take this many steps outside of queries. If it takes more, it is abandoned under
/// this name, and does not run again while the text stays the same.
pub(crate) fn part<T>(name: &str, about: About, most: u64, part: impl FnOnce() -> T) -> T {
    struct Restore(Option<Part>);
    impl Drop for Restore {
        fn drop(&mut self) {
            ACTIVE.with_borrow_mut(|it| {
                if let (Some(active), Some(before)) = (it, self.0.take()) {
                    active.part = before;
                }
            });
        }
    }
    let name = format!("{name} of {about:?}");
    let bounds = current();
    if let Some(bound) = bounds.abandoned.and_then(|it| it.bound_exceeded_by(&name, bounds.until.is_some())) {
        resume_unwind(Box::new(Exhausted(bound)));
    }
    let own = Part { left: most, name: Some((name, about)) };
    let before = ACTIVE.with_borrow_mut(|it| it.as_mut().map(|it| std::mem::replace(&mut it.part, own)));
    let _restore = Restore(before);
    part()
}

/// Runs a part of an answer. An error if it exceeds its bound.
pub(crate) fn catch<T>(part: impl FnOnce() -> T) -> Result<T, Bound> {
    catch_unwind(AssertUnwindSafe(part)).map_err(|panic| match exceeded_bound(&*panic) {
        Some(bound) => bound,
        None => resume_unwind(panic),
    })
}

/// The bound that an analysis exceeded, if it ended because of one.
pub(crate) fn exceeded_bound(panic: &(dyn Any + Send)) -> Option<Bound> {
    if let Some(Exhausted(bound)) = panic.downcast_ref() {
        return Some(*bound);
    }
    // Salsa also refuses what waits for an abandoned query, and the query itself until the next change.
    let is_refusal = matches!(panic.downcast_ref(), Some(Cancelled::PropagatedPanic));
    let bound = refused_by().filter(|_| is_refusal)?;
    let is_late = current().until.is_some_and(|it| it <= Instant::now());
    Some(if is_late { Bound::Time } else { bound })
}

enum Verdict {
    Continue,
    Cancel,
    Exhausted(Bound),
}

/// Called by each thread after a number of steps.
fn inspect(steps: u64) {
    // The database is asked for the size of a body, which may make steps too.
    let verdict = ACTIVE.with(|it| it.try_borrow_mut().ok()?.as_mut().map(|it| it.inspect(steps)));
    match verdict {
        // Salsa attaches the database only within queries, but those can be cancelled in any thread.
        None => drop(with_attached_database(|db| db.unwind_if_revision_cancelled())),
        Some(Verdict::Continue) => with_attached_db(|db| db.unwind_if_revision_cancelled()),
        // It unwinds now, or at the end of a cycle of queries.
        Some(Verdict::Cancel) => with_attached_db(|db| {
            db.cancellation_token().cancel();
            db.unwind_if_revision_cancelled();
        }),
        Some(Verdict::Exhausted(bound)) => resume_unwind(Box::new(Exhausted(bound))),
    }
}

impl Active {
    fn inspect(&mut self, steps: u64) -> Verdict {
        self.steps = self.steps.saturating_add(steps);
        if self.bounds.asker.as_ref().is_some_and(CancellationToken::is_cancelled) {
            return Verdict::Cancel;
        }
        let Some(abandoned) = self.bounds.abandoned.clone() else { return Verdict::Continue };
        let now = Instant::now();
        let is_late = self.bounds.until.is_some_and(|it| it <= now);
        let is_due = is_late || self.steps >= STEPS_OF_LOOKUP || now.duration_since(self.looked_up) >= TIME_OF_LOOKUP;
        if !is_due && !abandoned.is_any() {
            return Verdict::Continue;
        }
        // There is none outside of queries.
        let stack = Backtrace::capture().map(|it| running(&it.to_string())).unwrap_or_default();
        let is_timed = self.bounds.until.is_some();
        if let Some(bound) = stack.iter().find_map(|it| abandoned.bound_exceeded_by(it, is_timed)) {
            return Verdict::Exhausted(bound);
        }
        if !is_due {
            return Verdict::Continue;
        }
        self.looked_up = now;
        let (steps, busy) = (std::mem::take(&mut self.steps), std::mem::replace(&mut self.busy, processor_time()));
        self.queries.retain(|(query, steps)| {
            let is_running = stack.contains(query);
            if !is_running && *steps >= MANY_STEPS {
                tracing::debug!(query, steps, bound = bound_of(query, u64::MAX), "an analysis took many steps");
            }
            is_running
        });
        let Some(own) = responsible(&stack) else {
            self.part.left = self.part.left.saturating_sub(steps);
            let Some(bound) = bound(self.part.left == 0, is_late) else { return Verdict::Continue };
            if let Some((name, about)) = &self.part.name {
                abandoned.add(name.clone(), Some(*about), bound);
            }
            return Verdict::Exhausted(bound);
        };
        let at = self.queries.iter().position(|it| it.0 == *own).unwrap_or_else(|| {
            self.queries.push((own.clone(), 0));
            self.queries.len() - 1
        });
        let least = match own.contains(EVALUATION) {
            true => as_steps(self.busy.saturating_sub(busy)),
            false => 0,
        };
        let taken = &mut self.queries[at].1;
        *taken = taken.saturating_add(steps.max(least));
        let Some(bound) = bound(*taken > bound_of(own, *taken), is_late) else { return Verdict::Continue };
        tracing::warn!(query = own, steps = *taken, ?bound, "an analysis exceeds its bound and is abandoned");
        let body = stack.iter().find_map(|it| id_of(it, INFERENCE));
        abandoned.add(own.clone(), body.map(|it| About::Body(it.as_bits())), bound);
        Verdict::Exhausted(bound)
    }
}

fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().unwrap_or_default()
}

/// The steps that the evaluation of a constant makes in this time at least.
fn as_steps(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX).saturating_mul(STEPS_OF_MICROSECOND)
}

/// The bound that is exceeded. The number of steps is the better reason: it stays.
fn bound(has_too_many_steps: bool, is_late: bool) -> Option<Bound> {
    if has_too_many_steps { Some(Bound::Steps) } else { is_late.then_some(Bound::Time) }
}

/// The running queries in salsa's description, the innermost first.
fn running(backtrace: &str) -> Vec<String> {
    let query = |line: &str| {
        let (number, query) = line.trim_start().split_once(": ")?;
        number.parse::<usize>().ok()?;
        Some(query.to_owned())
    };
    backtrace.lines().filter_map(query).collect()
}

/// The query to which the steps are attributed; `None` for work outside of rust-analyzer's queries.
fn responsible(stack: &[String]) -> Option<&String> {
    let is_of = |query: &String, names: &[&str]| names.iter().any(|it| query.contains(it));
    stack.iter().find(|it| is_of(it, OF_BODIES)).or_else(|| stack.first().filter(|it| !is_of(it, OF_FILES)))
}

fn bound_of(query: &str, taken: u64) -> u64 {
    if !OF_BODIES.iter().any(|it| query.contains(it)) {
        return STEPS_OF_QUERY;
    }
    let Some(body) = id_of(query, INFERENCE) else { return STEPS_OF_CONSTANT };
    if taken <= STEPS_OF_BODY {
        return STEPS_OF_BODY;
    }
    with_attached_db(|db| bound_of_body(db, Some(DefWithBodyId::from_id(body, db.zalsa()))))
}

/// The steps that the analysis of a body may take; `None` for one without a text.
pub(crate) fn bound_of_body(db: &dyn SourceDatabase, body: Option<DefWithBodyId>) -> u64 {
    let steps = body.map_or(0, |it| Body::of(db, it).exprs().map(|it| steps_of(it.1)).fold(0, u64::saturating_add));
    STEPS_OF_BODY.saturating_add(steps)
}

/// The further steps that an expression may take.
fn steps_of(expression: &Expr) -> u64 {
    let compared = match expression {
        Expr::Array(Array::ElementList { elements }) => elements.len(),
        Expr::Match { arms, .. } => arms.len(),
        _ => 0,
    } as u64;
    STEPS_OF_PAIR.saturating_mul(compared.saturating_mul(compared)).saturating_add(STEPS_OF_EXPRESSION)
}

/// Whether a body has a `match` of too many arms.
pub(crate) fn has_too_many_arms(db: &dyn SourceDatabase, body: DefWithBodyId) -> bool {
    Body::of(db, body).exprs().any(|it| matches!(it.1, Expr::Match { arms, .. } if arms.len() > MOST_ARMS))
}

/// The identity of what a query is about, if the query has this name: `for_body_(Id(1c00))`.
fn id_of(query: &str, name: &str) -> Option<Id> {
    let (called, id) = query.strip_suffix("))")?.rsplit_once("(Id(")?;
    if !called.contains(name) {
        return None;
    }
    let (index, generation) = id.split_once('g').unwrap_or((id, "0"));
    let index = u64::from(u32::from_str_radix(index, 16).ok()?) + 1;
    Some(Id::from_bits(u64::from(u32::from_str_radix(generation, 16).ok()?) << 32 | index))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACK: &str = "query stacktrace:\n   0: impl_trait_query(Id(2c))\n             at src/lower.rs:3\n   \
                         1: anon_const_eval_query(Id(16500))\n             at src/consteval.rs:2\n   \
                         2: InferenceResult < 'db >::for_body_(Id(1c0fg2))\n             at src/infer.rs:1\n   \
                         3: names_of(Id(5))\n             at crates/rust/src/index/file_names.rs:171\n";

    #[test]
    fn steps_belong_to_the_innermost_query_about_a_body() {
        let stack = running(STACK);
        assert_eq!(stack.len(), 4);
        assert_eq!(responsible(&stack), Some(&stack[1]));
        assert_eq!(responsible(&stack[2..]), Some(&stack[2]));
        assert_eq!(responsible(&stack[3..]), None, "a query about a whole file has no bound");
        assert_eq!(
            responsible(&running("   0: generic_predicates(Id(1))\n")).map(String::as_str),
            Some("generic_predicates(Id(1))")
        );
    }

    #[test]
    fn the_identity_of_a_body_is_read() {
        let stack = running(STACK);
        assert_eq!(id_of(&stack[2], INFERENCE).map(|it| format!("{it:?}")).as_deref(), Some("Id(1c0fg2)"));
        assert_eq!(id_of(&stack[1], INFERENCE), None);
        assert_eq!(id_of("for_body_(Id(0))", INFERENCE).map(|it| format!("{it:?}")).as_deref(), Some("Id(0)"));
    }
}
