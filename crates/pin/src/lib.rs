//! The crate for which this thread reads files that several crates include.
//!
//! rust-analyzer gives a position in a file the meaning that it has in the first crate that includes the file. The
//! stand-in for `ra_ap_base_db` reads the pin here, and puts the pinned crate first. This crate is
//! below both, so that semdex also compiles with the crate that the stand-in replaces.

use std::cell::Cell;

/// A file and a crate, by the numbers that rust-analyzer has for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pin {
    /// The index of the file's `FileId`.
    pub file: u32,
    /// The source root of the crate's root file.
    pub root: u32,
    /// The bits of the crate's salsa id.
    pub krate: u64,
    /// Whether the crate graph has the crate. One that represents a file outside all builds is not in it.
    pub is_in_graph: bool,
}

thread_local! {
    static PIN: Cell<Option<Pin>> = const { Cell::new(None) };
}

/// The pin of this thread.
#[must_use]
pub fn pinned() -> Option<Pin> {
    PIN.get()
}

/// Restores the pin that was there before, also when a panic unwinds the thread.
#[derive(Debug)]
#[must_use = "the pin ends when this value is dropped"]
pub struct Pinned(Option<Pin>);

impl Drop for Pinned {
    fn drop(&mut self) {
        PIN.set(self.0);
    }
}

/// Sets the pin of this thread until the returned value is dropped. `None` reads each file for its first crate.
pub fn pin(it: Option<Pin>) -> Pinned {
    Pinned(PIN.replace(it))
}

#[cfg(test)]
mod tests {
    use super::{Pin, pin, pinned};

    #[test]
    fn a_pin_ends_with_its_guard() {
        let one = Pin { file: 1, root: 0, krate: 7, is_in_graph: true };
        let outer = pin(Some(one));
        assert_eq!(pinned(), Some(one));
        let inner = pin(None);
        assert_eq!(pinned(), None);
        drop(inner);
        assert_eq!(pinned(), Some(one));
        assert_eq!(std::thread::spawn(pinned).join().unwrap(), None, "another thread has its own");
        drop(outer);
        assert_eq!(pinned(), None);
    }
}
