//! Files whose content can change under another name, of which inotify says nothing: symbolic links, and files with
//! more than one hard link. They are few, so all are looked at each time.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{FileType, Stat};

use crate::beneath::{Identity, identity};

/// File times tick in steps of up to 10 ms, so a file can change twice within one step. What changed less than this
/// long ago is not trusted to show its next change.
const TICK: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
pub(super) struct Aliases {
    known: BTreeMap<PathBuf, Alias>,
}

#[derive(Debug)]
struct Alias {
    symbolic: bool,
    /// Of the file that it leads to; none if it leads nowhere.
    print: Option<Print>,
    settled: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Print {
    file: Identity,
    size: i64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl Aliases {
    /// Keeps an eye on a path if it is an alias, and no longer if it is none. True for one more hard link that was not
    /// known here: its other names may be anywhere in the tree.
    pub fn note(&mut self, path: &Path, found: Option<&Stat>) -> bool {
        let kind = |it: &Stat| FileType::from_raw_mode(it.st_mode);
        match found {
            Some(found) if kind(found) == FileType::Symlink => {
                self.known.insert(path.to_path_buf(), Alias::of(path, true));
                false
            }
            Some(found) if kind(found) == FileType::RegularFile && found.st_nlink > 1 => {
                self.known.insert(path.to_path_buf(), Alias::of(path, false)).is_none_or(|before| before.symbolic)
            }
            _ => {
                self.known.remove(path);
                false
            }
        }
    }

    pub fn forget_below(&mut self, directory: &Path) {
        let below = self.known.range::<Path, _>((Bound::Included(directory), Bound::Unbounded));
        let gone: Vec<_> = below.map(|(path, _)| path.clone()).take_while(|path| path.starts_with(directory)).collect();
        for path in gone {
            self.known.remove(&path);
        }
    }

    /// Those that may have changed since this was last asked.
    pub fn changed(&mut self) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        for (path, alias) in &mut self.known {
            let now = Alias::of(path, alias.symbolic);
            if now.print != alias.print || !alias.settled {
                changed.push(path.clone());
            }
            *alias = now;
        }
        changed
    }

    /// The symbolic links, whose targets may have left the tree or come into it.
    pub fn links(&self) -> impl Iterator<Item = &Path> {
        self.known.iter().filter(|(_, alias)| alias.symbolic).map(|(path, _)| path.as_path())
    }
}

impl Alias {
    /// What the path leads to may lie outside of the tree. Nothing of it is opened or told but that it changed.
    fn of(path: &Path, symbolic: bool) -> Alias {
        match rustix::fs::stat(path) {
            Ok(found) => Alias { symbolic, settled: is_settled(&found), print: Some(Print::of(&found)) },
            Err(_) => Alias { symbolic, settled: true, print: None },
        }
    }
}

impl Print {
    fn of(found: &Stat) -> Print {
        Print {
            file: identity(found),
            size: found.st_size,
            modified: (found.st_mtime, found.st_mtime_nsec),
            changed: (found.st_ctime, found.st_ctime_nsec),
        }
    }
}

fn is_settled(found: &Stat) -> bool {
    let (Ok(seconds), Ok(nanos)) = (u64::try_from(found.st_ctime), u32::try_from(found.st_ctime_nsec)) else {
        return false;
    };
    let changed = UNIX_EPOCH + Duration::new(seconds, nanos);
    SystemTime::now().duration_since(changed).is_ok_and(|age| age > TICK)
}
