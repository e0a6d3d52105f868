//! Read locks of open file descriptions on single bytes of a file or directory, which may lie behind its end (fcntl(2),
//! "Open file description locks"). They hinder no program that does not ask for them, and end with the last handle.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

use libc::{c_int, c_short, off_t};

/// Takes the lock of a byte for the file description of `file`. Several can have it.
pub fn lock_byte(file: &File, byte: off_t) -> io::Result<()> {
    call(file, libc::F_OFD_SETLK, libc::F_RDLCK, byte).map(drop)
}

/// Whether another file description has the lock of a byte. Without such locks on its file system, nobody has.
pub fn is_byte_locked(file: &File, byte: off_t) -> bool {
    call(file, libc::F_OFD_GETLK, libc::F_WRLCK, byte).is_ok_and(|it| it.l_type != libc::F_UNLCK as c_short)
}

fn call(file: &File, command: c_int, kind: c_int, byte: off_t) -> io::Result<libc::flock> {
    let mut lock =
        libc::flock { l_type: kind as c_short, l_whence: libc::SEEK_SET as c_short, l_start: byte, l_len: 1, l_pid: 0 };
    #[expect(unsafe_code, reason = "neither std nor rustix has locks of open file descriptions")]
    // SAFETY: the descriptor is open during the call, which reads and writes only `lock`.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) };
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(lock) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_shows_to_others_and_ends_with_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let open = || File::open(directory.path()).unwrap();
        let (one, two, three) = (open(), open(), open());
        lock_byte(&one, 7).unwrap();
        assert!(!is_byte_locked(&one, 7) && is_byte_locked(&two, 7) && !is_byte_locked(&two, 8));
        lock_byte(&two, 7).unwrap();
        drop(one);
        assert!(is_byte_locked(&three, 7) && !is_byte_locked(&two, 7));
        drop(two);
        assert!(!is_byte_locked(&three, 7));
    }
}
