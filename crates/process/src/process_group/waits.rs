//! What a process waits for in the kernel.

use std::fs;

use crate::memory;

/// Whether something waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// It does.
    Yes,
    /// Nothing does.
    No,
    /// The kernel does not tell.
    Unknown,
}

/// Whether a thread of a process group waits in opening a named pipe, until somebody opens its other end.
pub fn for_a_pipe(leader: u32) -> Waits {
    let mut waits = Waits::Unknown;
    for member in memory::members(leader) {
        let threads = fs::read_dir(format!("/proc/{}/task", member.pid)).into_iter().flatten().flatten();
        for thread in threads {
            match fs::read_to_string(thread.path().join("wchan")).unwrap_or_default().trim() {
                "" | "0" => {}
                "wait_for_partner" | "fifo_open" => return Waits::Yes,
                _ => waits = Waits::No,
            }
        }
    }
    waits
}
