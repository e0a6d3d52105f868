//! Counts the steps of an analysis in each thread, so that one without an end can be ended.
//!
//! rust-analyzer creates and reads all types by `ra_ap_intern`: inference, the trait solver and the printing of types
//! cannot go on without it. The evaluation of constants cannot go on without the maps of `la-arena`, which have its
//! variables. Most of their loops never check whether they are cancelled. So the stand-ins for the two count steps
//! here, and each thread calls an inspector after a number of steps, after some time, or after it has allocated much
//! memory. The inspector may unwind.
//!
//! semdex's own work on syntax counts steps too ([`count`]), for the same reason.
//!
//! No lock is held at a step, and no value is half built: unwinding is as safe as at a query of salsa.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The number of steps after which a thread calls the inspector.
pub const QUANTUM: u64 = 1 << 14;

/// The number of steps after which a thread looks at the clock. One step of a constant can copy megabytes.
const GLANCE: u32 = 128;
/// A thread calls the inspector after this time, though it has made fewer steps.
const TIME: Duration = Duration::from_millis(20);
/// So many bytes of large blocks count as one step.
const BYTES_OF_STEP: u64 = 32;

static INSPECTOR: OnceLock<fn(u64)> = OnceLock::new();

thread_local! {
    /// The steps until the next glance at the clock.
    static LEFT: Cell<u32> = const { Cell::new(GLANCE) };
    /// The steps of this thread that no inspector has taken.
    static MADE: Cell<u64> = const { Cell::new(0) };
    /// The bytes of large blocks that no inspector has taken.
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
    /// When the inspector was called last.
    static INSPECTED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Sets the function that each thread calls with the steps that it has made since the last call. Only the first call of
/// this function counts.
pub fn set_inspector(inspector: fn(u64)) {
    let _ = INSPECTOR.set(inspector);
}

/// One step of an analysis. Not inlined into generic code, which crates without optimisation may instantiate.
#[inline(never)]
pub fn step() {
    LEFT.with(|left| match left.get() {
        0 => glance(left, 1),
        some => left.set(some - 1),
    });
}

/// Counts so many steps of work that calls nothing else that counts.
#[inline(never)]
pub fn count(steps: u32) {
    LEFT.with(|left| match left.get().checked_sub(steps) {
        Some(rest) => left.set(rest),
        None => glance(left, steps),
    });
}

/// A large block of memory is allocated: few steps can use much memory. It counts with the next step.
///
/// Called by an allocator: it allocates nothing and never unwinds.
pub fn allocated(bytes: usize) {
    // A thread that ends has no count any longer.
    let _ = ALLOCATED.try_with(|it| it.set(it.get().saturating_add(bytes as u64)));
    let _ = LEFT.try_with(|it| it.set(0));
}

/// The steps of this thread since the last call, and those that its large blocks stand for.
pub fn take() -> u64 {
    MADE.take() + ALLOCATED.take() / BYTES_OF_STEP
}

#[cold]
#[inline(never)]
fn glance(left: &Cell<u32>, steps: u32) {
    MADE.set(MADE.get() + u64::from(GLANCE - left.replace(GLANCE)) + u64::from(steps));
    let now = Instant::now();
    let is_due = MADE.get() + ALLOCATED.get() / BYTES_OF_STEP >= QUANTUM;
    if !is_due && INSPECTED.get().is_some_and(|it| now.duration_since(it) < TIME) {
        return;
    }
    INSPECTED.set(Some(now));
    let steps = take();
    // A second panic would end the process.
    if !std::thread::panicking()
        && let Some(inspector) = INSPECTOR.get()
    {
        inspector(steps);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::{hint, thread};

    use super::*;

    /// Calls it until the inspector unwinds with its steps.
    fn repeat(mut it: impl FnMut()) -> u64 {
        set_inspector(|steps| resume_unwind(Box::new(steps)));
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            loop {
                it();
            }
        }));
        *unwound.unwrap_err().downcast_ref().unwrap()
    }

    #[test]
    fn steps_are_inspected_after_a_number_of_them_or_some_time() {
        // The first glance of a thread.
        assert_eq!(repeat(step), u64::from(GLANCE) + 1);
        let mut made = 0;
        assert_eq!(
            repeat(|| {
                made += 1;
                step();
            }),
            made
        );
        assert!(made <= QUANTUM + u64::from(GLANCE), "{made}");
        let slow = repeat(|| {
            let begun = Instant::now();
            while begun.elapsed() < TIME / 8 {
                hint::spin_loop();
            }
            step();
        });
        assert!(slow < QUANTUM / 2, "{slow}");
        assert_eq!(repeat(|| count(3 * GLANCE)) % u64::from(3 * GLANCE), 0);
    }

    #[test]
    fn much_memory_is_inspected_at_the_next_step() {
        repeat(step);
        let bytes = 2 * QUANTUM * BYTES_OF_STEP;
        let steps = repeat(|| {
            allocated(usize::try_from(bytes).unwrap());
            step();
        });
        assert!((2 * QUANTUM..3 * QUANTUM).contains(&steps), "{steps}");
        allocated(1 << 30);
        assert_eq!(thread::spawn(take).join().unwrap(), 0);
        assert!(take() >= (1 << 30) / BYTES_OF_STEP);
        assert_eq!(take(), 0);
    }
}
