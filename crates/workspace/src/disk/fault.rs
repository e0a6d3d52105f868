//! The points at which a write can fail. Tests inject failures there; release builds contain none of this.

/// What a write is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Directory,
    Open,
    Write,
    Mode,
    Sync,
    Rename,
}

#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "only in tests does a step fail by itself")]
pub(super) fn at(_: Step) -> rustix::io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(super) use plan::{Plan, at, failing};

#[cfg(test)]
mod plan {
    use std::cell::RefCell;

    use rustix::io::Errno;

    use super::Step;

    /// The steps that fail, counted from 1.
    #[derive(Debug, Clone, Copy)]
    pub(crate) enum Plan {
        Only(usize),
        From(usize),
    }

    struct Running {
        plan: Plan,
        errno: Errno,
        taken: Vec<Step>,
        failed: usize,
    }

    thread_local! {
        static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
    }

    pub(crate) fn at(step: Step) -> rustix::io::Result<()> {
        RUNNING.with_borrow_mut(|it| {
            let Some(running) = it else { return Ok(()) };
            running.taken.push(step);
            let fails = match running.plan {
                Plan::Only(number) => running.taken.len() == number,
                Plan::From(number) => running.taken.len() >= number,
            };
            running.failed += usize::from(fails);
            if fails { Err(running.errno) } else { Ok(()) }
        })
    }

    /// Makes steps fail while `action` runs. Returns its result, and how many steps failed.
    pub(crate) fn failing<T>(plan: Plan, errno: Errno, action: impl FnOnce() -> T) -> (T, usize) {
        RUNNING.set(Some(Running { plan, errno, taken: Vec::new(), failed: 0 }));
        let value = action();
        let failed = RUNNING.take().map_or(0, |it| it.failed);
        (value, failed)
    }
}
