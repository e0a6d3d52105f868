//! How much each thread has allocated in large blocks. The program's allocator counts it; what bounds an analysis asks for
//! it.

use std::cell::Cell;

/// Smaller blocks are not counted: their number is bounded by the steps that make them. In bytes.
pub const LARGE: usize = 64 << 10;

thread_local! {
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// Counts a block of this thread. Called by an allocator: it allocates nothing and never unwinds.
#[inline]
pub fn note(bytes: usize) {
    if bytes >= LARGE {
        // A thread that ends has no count any longer.
        let _ = BYTES.try_with(|it| it.set(it.get().saturating_add(bytes as u64)));
    }
}

/// The bytes that this thread has allocated in large blocks since the last call.
pub fn take() -> u64 {
    BYTES.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_blocks_of_a_thread_are_counted_once() {
        take();
        [LARGE, LARGE - 1, 2 * LARGE].into_iter().for_each(note);
        assert_eq!((take(), take()), (3 * LARGE as u64, 0));
        note(LARGE);
        assert_eq!(std::thread::spawn(take).join().unwrap(), 0);
    }
}
