//! Detects that a file may have changed, without reading it.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;
use rustix::io::Errno;

use super::{Identity, identity};

/// The resolution of file times is up to 10 ms, so a file can change twice within one step. A file that changed less
/// than this long ago may change again without a new time.
const TICK: Duration = Duration::from_millis(50);

/// The metadata of the file at a path, links followed. It opens nothing, since the path may lead anywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStamp {
    metadata: Option<Metadata>,
    is_recent: bool,
    /// Whether there is a file is not known: a directory above it may not be entered.
    is_refused: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Metadata {
    file: Identity,
    size: i64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl FileStamp {
    /// Takes the stamp of the file at a path now.
    pub fn at(path: &Path) -> FileStamp {
        match rustix::fs::stat(path) {
            Ok(found) => {
                FileStamp { metadata: Some(Metadata::of(&found)), is_recent: is_recent(&found), is_refused: false }
            }
            Err(errno) => FileStamp { metadata: None, is_recent: false, is_refused: errno == Errno::ACCESS },
        }
    }

    /// Whether the path may now lead to another file or to other content than when this stamp was taken.
    pub fn may_differ(&self, later: &FileStamp) -> bool {
        self.metadata != later.metadata || self.is_recent || self.is_refused != later.is_refused
    }

    /// Whether a directory above the file may not be entered, so that the file may exist.
    pub fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// The time of the file's last change (ctime).
    pub fn changed(&self) -> Option<SystemTime> {
        let (seconds, nanos) = self.metadata?.changed;
        time(seconds, nanos)
    }
}

impl Metadata {
    fn of(found: &Stat) -> Metadata {
        Metadata {
            file: identity(found),
            size: found.st_size,
            modified: (found.st_mtime, found.st_mtime_nsec),
            changed: (found.st_ctime, found.st_ctime_nsec),
        }
    }
}

fn is_recent(found: &Stat) -> bool {
    let age = time(found.st_ctime, found.st_ctime_nsec).and_then(|it| SystemTime::now().duration_since(it).ok());
    age.is_none_or(|it| it <= TICK)
}

fn time(seconds: i64, nanos: u64) -> Option<SystemTime> {
    Some(UNIX_EPOCH + Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanos).ok()?))
}
