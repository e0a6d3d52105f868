//! A process that outlives semdex by a moment. It knows the process groups that semdex has started, and the mark in the
//! environment of all descendants. When semdex ends for whatever reason, it sends them SIGTERM, and SIGKILL a moment
//! later.
//!
//! It is a fork of semdex that never executes another program. It is forked while semdex is still small, since it keeps
//! the memory that both have then. It makes only system calls: other threads of semdex may have held any lock at the
//! fork.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;

use libc::{c_int, pid_t};
use rustix::process::Signal;

use super::marked;

/// The most groups that it tracks at the same time.
const MOST_GROUPS: usize = 4096;
/// Without `close_range`, descriptors up to this number are closed one by one.
const MOST_DESCRIPTORS: c_int = 65_536;

/// Milliseconds between SIGTERM and SIGKILL.
const FAREWELL: u32 = 200;
/// Milliseconds between two searches for processes that still run, and how many searches there are.
const PACE: u32 = 20;
const MOST_SEARCHES: usize = 100;

/// Semdex's end of the socket. It closes when semdex ends.
static SOCKET: OnceLock<Option<OwnedFd>> = OnceLock::new();

/// Forks the process if it does not exist yet.
pub(super) fn start() -> Option<&'static OwnedFd> {
    let made = SOCKET.get_or_init(|| {
        let made = fork();
        if let Err(error) = &made {
            tracing::warn!(%error, "no reaper process: if semdex is killed, the programs that it has started keep running");
        }
        made.ok()
    });
    made.as_ref()
}

/// Reports a process group to the reaper.
pub(super) fn enlist(socket: &OwnedFd, leader: pid_t) {
    send(socket, leader);
}

/// Reports that the group has ended, since another group may soon get its ID.
pub(super) fn discharge(leader: pid_t) {
    if let Some(Some(socket)) = SOCKET.get() {
        send(socket, -leader);
    }
}

fn send(socket: &OwnedFd, number: pid_t) {
    let message = number.to_ne_bytes();
    #[expect(unsafe_code, reason = "the standard library has no sockets that keep the bounds of messages")]
    // SAFETY: the buffer is valid for its length. If the reaper is gone, the call fails without a signal.
    unsafe {
        libc::send(socket.as_raw_fd(), message.as_ptr().cast(), message.len(), libc::MSG_NOSIGNAL);
    }
}

#[expect(unsafe_code, reason = "a process that outlives this one without executing a program is a fork")]
fn fork() -> io::Result<OwnedFd> {
    let mut ends: [c_int; 2] = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: two descriptors are written, and owned from here on.
    let (ours, theirs) = unsafe {
        if libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    };
    let mark = marked::common();
    // SAFETY: the child makes only system calls, and never returns.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => unsafe { reap(theirs.as_raw_fd(), mark) },
        _ => Ok(ours),
    }
}

#[expect(unsafe_code, reason = "after a fork of many threads nothing but system calls is lawful")]
/// SAFETY: call it in a fresh fork, with an open descriptor.
unsafe fn reap(socket: c_int, mark: &[u8]) -> ! {
    // SAFETY: all calls are async-signal-safe, and all pointers are to locals or constants.
    unsafe {
        // Signals that a terminal or a supervisor sends to semdex's group are not meant for this process.
        libc::setsid();
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::prctl(libc::PR_SET_NAME, c"semdex-reaper".as_ptr());
        close_all_but(socket);
        let mut groups: [pid_t; MOST_GROUPS] = [0; MOST_GROUPS];
        loop {
            let mut message = [0; size_of::<pid_t>()];
            let received = libc::recv(socket, message.as_mut_ptr().cast(), message.len(), 0);
            if received < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
                continue;
            }
            // Semdex's end is closed: semdex has ended.
            if usize::try_from(received) != Ok(message.len()) {
                break;
            }
            let number = pid_t::from_ne_bytes(message);
            let (from, to) = if number > 0 { (0, number) } else { (-number, 0) };
            if let Some(place) = groups.iter_mut().find(|it| **it == from) {
                *place = to;
            }
        }
        let signal_all = |signal: Signal| {
            let mut are_any = false;
            for group in groups.iter().filter(|it| **it > 1) {
                are_any |= libc::kill(-group, signal.as_raw()) == 0;
            }
            marked::signal_marked(mark, signal) > 0 || are_any
        };
        // SIGTERM comes first, so that a program can remove its lock files.
        if signal_all(Signal::TERM) {
            marked::pause(FAREWELL);
        }
        for _ in 0..MOST_SEARCHES {
            if !signal_all(Signal::KILL) {
                break;
            }
            marked::pause(PACE);
        }
        libc::_exit(0)
    }
}

#[expect(unsafe_code, reason = "descriptors that other threads of semdex opened are closed by number")]
/// SAFETY: nothing in this process uses any other descriptor.
unsafe fn close_all_but(kept: c_int) {
    // SAFETY: closing descriptors touches no memory.
    unsafe {
        let close = |first: c_int, last: c_int| {
            first > last || libc::syscall(libc::SYS_close_range, first, last, 0) == 0 || {
                for descriptor in first..=last.min(MOST_DESCRIPTORS) {
                    libc::close(descriptor);
                }
                false
            }
        };
        close(0, kept - 1);
        close(kept + 1, c_int::MAX);
    }
}
