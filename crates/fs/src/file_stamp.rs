//! Whether a file may have changed, decided without reading it.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;

use super::{Identity, identity};

/// File times tick in steps of up to 10 ms, so a file can change twice within one step. What changed less than this
/// long ago is not trusted to show its next change.
const TICK: Duration = Duration::from_millis(50);

/// What stands at a path, links followed. Nothing of it is opened: it may lie anywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStamp {
    metadata: Option<Metadata>,
    is_recent: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Metadata {
    file: Identity,
    size: i64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl FileStamp {
    pub fn at(path: &Path) -> FileStamp {
        match rustix::fs::stat(path) {
            Ok(found) => FileStamp { metadata: Some(Metadata::of(&found)), is_recent: is_recent(&found) },
            Err(_) => FileStamp { metadata: None, is_recent: false },
        }
    }

    /// Whether what stands there may be another thing, or hold something else, than what this look saw.
    pub fn may_differ(&self, later: &FileStamp) -> bool {
        self.metadata != later.metadata || self.is_recent
    }

    /// When what stands there was changed last.
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
