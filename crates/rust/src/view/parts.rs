//! Checks many parts of the code on all cores within a time limit; each thread has a view of its own.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{Context, View};
use crate::STACK_BYTES;
use semdex_engine::Result;

/// What was found in the parts that were checked, which are the first `checked` ones.
#[derive(Debug)]
pub(crate) struct Checked<T> {
    pub(crate) checked: usize,
    /// Each with the index of its part, in the order of the parts.
    found: Vec<(usize, T)>,
}

impl<T> Default for Checked<T> {
    fn default() -> Checked<T> {
        Checked { checked: 0, found: Vec::new() }
    }
}

impl<T> Checked<T> {
    /// What was found in the first ones.
    pub(crate) fn of_first(self, parts: usize) -> Vec<T> {
        self.found.into_iter().filter(|it| it.0 < parts).map(|it| it.1).collect()
    }

    pub(crate) fn all(self) -> Vec<T> {
        self.of_first(usize::MAX)
    }
}

/// Checks each part of a change, as long as there is time. The analysis of a body ends then too, since others wait.
pub(crate) fn check_all<I: Sync, T: Send>(
    parts: &[I],
    most_time: Duration,
    view: impl Fn() -> View,
    check: impl Fn(&Context<'_>, &I) -> Vec<T> + Sync,
) -> Result<Checked<T>> {
    let latest = Instant::now() + most_time;
    check_until(parts, Some(latest), || view().leave_bodies_at(latest), check)
}

/// Checks each part that is begun in time. One that exceeds its bound is noted in the view's stumbles. The caller holds the
/// lock on types.
pub(crate) fn check_until<I: Sync, T: Send>(
    parts: &[I],
    latest: Option<Instant>,
    view: impl Fn() -> View,
    check: impl Fn(&Context<'_>, &I) -> Vec<T> + Sync,
) -> Result<Checked<T>> {
    if parts.is_empty() {
        return Ok(Checked::default());
    }
    let cores = std::thread::available_parallelism().map_or(1, |it| it.get());
    let next = AtomicUsize::new(0);
    let is_in_time = || latest.is_none_or(|it| Instant::now() < it);
    let work = |view: View| {
        view.ask(|cx| {
            let mut found = Vec::new();
            while is_in_time() {
                let nth = next.fetch_add(1, Ordering::Relaxed);
                let Some(part) = parts.get(nth) else { break };
                let of_part = cx.unless_exhausted(|| "a part of the code".to_owned(), || check(cx, part));
                found.extend(of_part.into_iter().flatten().map(|it| (nth, it)));
            }
            Ok(found)
        })
    };
    let mut found: Vec<(usize, T)> = std::thread::scope(|scope| -> Result<_> {
        let helper = || std::thread::Builder::new().name("rust-helper".to_owned()).stack_size(STACK_BYTES);
        let views = (1..cores.min(parts.len())).map(|_| view());
        let helpers: Vec<_> = views.map(|view| helper().spawn_scoped(scope, || work(view))).collect();
        let mut found = work(view())?;
        for helper in helpers.into_iter().flatten() {
            match helper.join() {
                Ok(more) => found.extend(more?),
                Err(panic) => resume_unwind(panic),
            }
        }
        Ok(found)
    })?;
    found.sort_by_key(|it| it.0);
    Ok(Checked { checked: next.into_inner().min(parts.len()), found })
}
