//! The processes that descend from a program: those that have its mark in their environment, and their children. A
//! process inherits the mark also if it leaves its process group, its session or its parent.
//!
//! The reaper uses this code between a fork and its end. So it makes system calls and allocates nothing.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::Timespec;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{CWD, Mode, OFlags, RawDir, openat};
use rustix::io::read;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::LAST_WAIT;

/// The variable that holds the mark.
const VARIABLE: &str = "SEMDEX_CHILD";
/// The most processes of the machine that are examined.
const MOST_PROCESSES: usize = 65_536;
/// The time between two searches for processes that were started during the last one.
const PACE: Duration = Duration::from_millis(5);

/// What every process has in its environment that a program and its descendants start. Each mark is unique.
#[derive(Debug, Clone)]
pub struct Mark {
    value: String,
}

impl Mark {
    pub(super) fn new() -> Mark {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Mark { value: format!("{}.{}", token(), NEXT.fetch_add(1, Ordering::Relaxed)) }
    }

    /// A mark for a program that a dependency starts.
    pub fn for_dependency() -> Mark {
        Mark::new()
    }

    /// The variable for the environment of the program.
    pub fn variable(&self) -> (&'static str, &str) {
        (VARIABLE, &self.value)
    }

    /// Kills all processes with the mark, their descendants, and the descendants of `leader`. Returns after the last
    /// search found none, or after a bounded time.
    pub(super) fn kill_with(&self, leader: Option<Pid>) {
        let mark = format!("{VARIABLE}={}\0", self.value);
        let deadline = Instant::now() + LAST_WAIT;
        let mut table = vec![Entry::default(); MOST_PROCESSES];
        let leader = leader.map_or(0, |it| it.as_raw_nonzero().get());
        while signal_all(&mut table, mark.as_bytes(), leader, Signal::KILL) > 0 && Instant::now() < deadline {
            std::thread::park_timeout(PACE);
        }
    }

    /// Kills all processes with the mark, and their descendants.
    pub fn kill(&self) {
        self.kill_with(None);
    }
}

/// What the marks of this process have in common.
fn token() -> &'static str {
    static TOKEN: OnceLock<String> = OnceLock::new();
    TOKEN.get_or_init(|| {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        format!("{}-{:x}", std::process::id(), time.as_nanos())
    })
}

/// Marks everything that this process will start, also what its dependencies start. Call it before the first thread
/// is started.
pub(super) fn mark_all() {
    #[expect(unsafe_code, reason = "dependencies start programs with the environment of this process")]
    // SAFETY: no other thread exists that could read the environment.
    unsafe {
        std::env::set_var(VARIABLE, token());
    }
}

/// The beginning of each mark of this process. It is computed before the reaper is forked.
pub(super) fn common() -> &'static [u8] {
    static COMMON: OnceLock<Vec<u8>> = OnceLock::new();
    COMMON.get_or_init(|| format!("{VARIABLE}={}", token()).into_bytes())
}

/// Sends a signal to all marked processes and their descendants. For the reaper: it needs much stack, and only then.
#[inline(never)]
pub(super) fn signal_marked(mark: &[u8], signal: Signal) -> usize {
    signal_all(&mut [Entry::default(); MOST_PROCESSES], mark, 0, signal)
}

/// A process of the machine.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    id: i32,
    parent: i32,
    /// When it was started, in ticks. No later process with the same ID has the same.
    begun: u64,
    is_found: bool,
}

/// Sends a signal to all processes whose environment has an entry that begins with `mark`, and to all descendants of
/// those and of `leader`. Returns how many there were.
fn signal_all(table: &mut [Entry], mark: &[u8], leader: i32, signal: Signal) -> usize {
    let Ok(proc) = openat(CWD, c"/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else {
        return 0;
    };
    let count = list(proc.as_fd(), table, mark);
    let table = table.get_mut(..count).unwrap_or_default();
    table.sort_unstable_by_key(|it| it.id);
    find_descendants(table, leader);
    let mut signalled = 0;
    for entry in table.iter().filter(|it| it.is_found) {
        // The ID may belong to another process by now. The handle does not change.
        let Some(Ok(handle)) = Pid::from_raw(entry.id).map(|it| pidfd_open(it, PidfdFlags::empty())) else { continue };
        if stat(proc.as_fd(), entry.id).is_some_and(|it| it.begun == entry.begun)
            && pidfd_send_signal(&handle, signal).is_ok()
        {
            signalled += 1;
        }
    }
    signalled
}

/// Reads all running processes. Returns how many there are.
fn list(proc: BorrowedFd<'_>, table: &mut [Entry], mark: &[u8]) -> usize {
    let mut buffer = [MaybeUninit::uninit(); 8192];
    let mut directory = RawDir::new(proc, &mut buffer);
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut count = 0;
    while let Some(Ok(entry)) = directory.next() {
        let Some(id) = number(entry.file_name().to_bytes()).and_then(|it| i32::try_from(it).ok()) else { continue };
        let Some(mut process) = stat(proc, id).filter(|_| id != own) else { continue };
        process.is_found = has_mark(proc, id, mark);
        let Some(place) = table.get_mut(count) else { break };
        *place = process;
        count += 1;
    }
    count
}

/// Marks the descendants of the processes that are found, and of `leader`. The table is sorted.
fn find_descendants(table: &mut [Entry], leader: i32) {
    loop {
        let mut are_more = false;
        for at in 0..table.len() {
            let Some(Entry { parent, is_found: false, .. }) = table.get(at).copied() else { continue };
            let parent_at = table.binary_search_by_key(&parent, |it| it.id);
            let of_found = parent_at.is_ok_and(|it| table.get(it).is_some_and(|it| it.is_found));
            if (of_found || leader != 0 && parent == leader)
                && let Some(entry) = table.get_mut(at)
            {
                entry.is_found = true;
                are_more = true;
            }
        }
        if !are_more {
            return;
        }
    }
}

/// `None` if the process has ended.
fn stat(proc: BorrowedFd<'_>, id: i32) -> Option<Entry> {
    let mut text = [0; 1024];
    let length = with_file(proc, id, b"/stat", |file| read(file, &mut text).ok())??;
    let text = text.get(..length)?;
    // The name of the program may contain blanks and parentheses.
    let after = text.get(text.iter().rposition(|it| *it == b')')? + 2..)?;
    let mut fields = after.split(|it| *it == b' ');
    if matches!(fields.next()?, b"Z" | b"X") {
        return None;
    }
    let parent = i32::try_from(number(fields.next()?)?).ok()?;
    Some(Entry { id, parent, begun: number(fields.nth(17)?)?, is_found: false })
}

/// Whether the environment of a process has an entry that begins with `mark`.
fn has_mark(proc: BorrowedFd<'_>, id: i32, mark: &[u8]) -> bool {
    let search = |file: BorrowedFd<'_>| {
        let mut piece = [0; 4096];
        // How much of the mark the current entry has; `None` if it is another entry.
        let mut matched = Some(0);
        while let Ok(length @ 1..) = read(file, &mut piece) {
            for byte in piece.iter().take(length) {
                matched = matched.filter(|it| mark.get(*it) == Some(byte)).map(|it| it + 1);
                if matched == Some(mark.len()) {
                    return true;
                }
                if *byte == 0 {
                    matched = Some(0);
                }
            }
        }
        false
    };
    with_file(proc, id, b"/environ", search).unwrap_or_default()
}

/// Opens `/proc/ID/NAME`.
fn with_file<T>(proc: BorrowedFd<'_>, id: i32, name: &[u8], use_it: impl FnOnce(BorrowedFd<'_>) -> T) -> Option<T> {
    let mut path = [0; 32];
    let mut digits = [0; 10];
    let (mut rest, mut count) = (id, 0);
    while rest > 0 {
        *digits.get_mut(count)? = b'0' + u8::try_from(rest % 10).ok()?;
        (rest, count) = (rest / 10, count + 1);
    }
    let bytes = digits.get(..count)?.iter().rev().chain(name);
    for (place, byte) in path.iter_mut().take(31).zip(bytes) {
        *place = *byte;
    }
    let path = CStr::from_bytes_until_nul(&path).ok()?;
    let file = openat(proc, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    Some(use_it(file.as_fd()))
}

fn number(digits: &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for digit in digits {
        number = number.checked_mul(10)?.checked_add(u64::from(digit.checked_sub(b'0').filter(|it| *it < 10)?))?;
    }
    (!digits.is_empty()).then_some(number)
}

/// Waits without a lock and without memory.
pub(super) fn pause(milliseconds: u32) {
    let limit = Timespec { tv_sec: 0, tv_nsec: i64::from(milliseconds) * 1_000_000 };
    let _ = rustix::event::poll(&mut [], Some(&limit));
}
