//! Files whose content can change under another name, which inotify does not report: symbolic links, and files with
//! more than one hard link. They are few, so all are checked each time.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat};

use semdex_fs::FileStamp;

#[derive(Debug, Default)]
pub(super) struct Aliases {
    known: BTreeMap<PathBuf, Alias>,
}

#[derive(Debug)]
struct Alias {
    symbolic: bool,
    stamp: FileStamp,
}

impl Aliases {
    /// Adds a path if it is an alias, and removes it otherwise. True for an additional hard link that was not known:
    /// its other names may be anywhere in the tree.
    pub(crate) fn note(&mut self, path: &Path, found: Option<&Stat>) -> bool {
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

    pub(crate) fn forget_below(&mut self, directory: &Path) {
        let below = self.known.range::<Path, _>((Bound::Included(directory), Bound::Unbounded));
        let gone: Vec<_> = below.map(|(path, _)| path.clone()).take_while(|path| path.starts_with(directory)).collect();
        for path in gone {
            self.known.remove(&path);
        }
    }

    /// The aliases that may have changed since the last call.
    pub(crate) fn changed(&mut self) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        for (path, alias) in &mut self.known {
            let now = Alias::of(path, alias.symbolic);
            if alias.stamp.may_differ(&now.stamp) {
                changed.push(path.clone());
            }
            *alias = now;
        }
        changed
    }

    /// The symbolic links, whose targets may have left the tree or entered it.
    pub(crate) fn links(&self) -> impl Iterator<Item = &Path> {
        self.known.iter().filter(|(_, alias)| alias.symbolic).map(|(path, _)| path.as_path())
    }
}

impl Alias {
    /// The target of the path may be outside the tree. It is not opened, and only its change is reported.
    fn of(path: &Path, symbolic: bool) -> Alias {
        Alias { symbolic, stamp: FileStamp::at(path) }
    }
}
