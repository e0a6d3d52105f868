//! The allocator of the process: jemalloc, which ends the process when there is no memory. The standard library would
//! print a backtrace first, which needs memory again, and can wait for it forever. Nothing is lost: what was
//! acknowledged is in the journal, and the reaper process ends the children.

use std::alloc::{GlobalAlloc, Layout};
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::process;

use tikv_jemallocator::Jemalloc;

/// Analysis allocates and frees many small objects: glibc's allocator takes a fifth of its time. After indexing the
/// standard library, a third of the allocated memory is still in use, scattered over all of it. Of the rest, mimalloc
/// returns almost nothing to the system, jemalloc two thirds (337 MB stay resident instead of 508).
pub(crate) struct Allocator;

#[expect(unsafe_code, reason = "an allocator is unsafe to implement")]
// SAFETY: each function forwards to jemalloc's with the same arguments, and returns the same pointer.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises what jemalloc requires.
        there(unsafe { Jemalloc.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        there(unsafe { Jemalloc.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        there(unsafe { Jemalloc.realloc(old, layout, size) }, size)
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { Jemalloc.dealloc(old, layout) }
    }
}

fn there(block: *mut u8, bytes: usize) -> *mut u8 {
    if block.is_null() {
        out_of_memory(bytes);
    }
    semdex_rust::note_allocation(bytes);
    block
}

/// Uses neither memory nor a lock: another thread may hold the lock of standard error.
#[cold]
fn out_of_memory(bytes: usize) -> ! {
    let mut digits = [b'0'; 20];
    let mut rest = bytes;
    for digit in digits.iter_mut().rev() {
        *digit += u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
    let leading = digits.iter().take_while(|it| **it == b'0').count();
    #[expect(unsafe_code, reason = "the file of standard error without its lock")]
    // SAFETY: standard error is open as long as the process, and the file is never closed here.
    let mut errors = ManuallyDrop::new(unsafe { File::from_raw_fd(2) });
    for part in [&b"semdex: out of memory: "[..], &digits[leading..], b" bytes could not be allocated\n"] {
        // If even this cannot be printed, nobody reads it.
        let _ = errors.write_all(part);
    }
    process::abort()
}
