//! Counts the steps of computations on types, so that one without an end can be ended.
//!
//! rust-analyzer creates and reads all types by this crate: inference, the trait solver, the evaluation of constants
//! and the printing of types cannot go on without it. Most of their loops never check whether they are cancelled. So
//! each thread calls an inspector after a number of steps, and the inspector may unwind.
//!
//! semdex's own work on syntax counts steps too ([`count`]), for the same reason.
//!
//! No lock is held at a step, and no value is half built: unwinding is as safe as at a query of salsa.

use std::cell::Cell;
use std::sync::OnceLock;

/// The number of steps after which a thread calls the inspector.
pub const QUANTUM: u32 = 1 << 14;

static INSPECTOR: OnceLock<fn()> = OnceLock::new();

thread_local! {
    static LEFT: Cell<u32> = const { Cell::new(QUANTUM) };
}

/// Sets the function that each thread calls after `QUANTUM` steps. Only the first call counts.
pub fn set_inspector(inspector: fn()) {
    let _ = INSPECTOR.set(inspector);
}

/// A type is created or read. Not inlined into generic code, which crates without optimisation may instantiate.
#[inline(never)]
pub(crate) fn step() {
    LEFT.with(|left| match left.get() {
        0 => inspect(left),
        some => left.set(some - 1),
    });
}

/// Counts so many steps of work that creates no types, so that it can be ended too.
#[inline(never)]
pub fn count(steps: u32) {
    LEFT.with(|left| match left.get().checked_sub(steps) {
        Some(rest) => left.set(rest),
        None => inspect(left),
    });
}

#[cold]
#[inline(never)]
fn inspect(left: &Cell<u32>) {
    left.set(QUANTUM);
    // A second panic would end the process.
    if !std::thread::panicking()
        && let Some(inspector) = INSPECTOR.get()
    {
        inspector();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_quantum_is_inspected_and_may_unwind() {
        set_inspector(|| std::panic::resume_unwind(Box::new("enough")));
        let mut steps = 0_u32;
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            loop {
                steps += 1;
                step();
            }
        }));
        assert_eq!(*unwound.unwrap_err().downcast_ref::<&str>().unwrap(), "enough");
        assert_eq!(steps, QUANTUM + 1);
    }
}
