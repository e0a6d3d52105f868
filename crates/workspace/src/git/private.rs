//! The private directory of a commit in progress, in the user's state directory: its index, and a record of what to
//! repair if the process dies. The process that makes the commit holds the lock of its file `owner`. If nobody holds
//! the lock, the process is gone.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use semdex_config::create_private_dir;
use semdex_model::{Code, Error, Result};

const DIRECTORY: &str = "git";
const OWNER: &str = "owner";
const RECORD: &str = "record";
const BEGUN: &str = "begun";
/// A directory without an owner is being created, unless it is older than this.
const ABOUT: Duration = Duration::from_secs(60);

/// The directory, while its commit is made.
#[derive(Debug)]
pub(super) struct Private {
    pub(super) id: String,
    directory: PathBuf,
    _owner: File,
}

/// What a dead process may have left in the repository.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) top: PathBuf,
    /// The directory of the work tree's own files.
    pub(super) directory: PathBuf,
    pub(super) commit: String,
    /// The index, its lock, and the lock's second name, which shows that the lock is our own.
    pub(super) index: PathBuf,
    pub(super) lock: PathBuf,
    pub(super) twin: PathBuf,
    /// The locks that git takes to move HEAD.
    pub(super) heads: Vec<PathBuf>,
}

/// The directory of a process that is gone.
pub(super) struct Abandoned {
    directory: PathBuf,
    _owner: Option<File>,
}

impl Private {
    pub(super) fn new(state_dir: &Path) -> Result<Private> {
        let id = ulid::Ulid::generate().to_string();
        let directory = state_dir.join(DIRECTORY).join(&id);
        let made = create_private_dir(&directory).and_then(|()| File::create_new(directory.join(OWNER)));
        let owner = made.and_then(|owner| owner.try_lock().map(|()| owner).map_err(std::io::Error::from));
        let owner = owner.map_err(|error| failed(&directory, &error))?;
        Ok(Private { id, directory, _owner: owner })
    }

    /// The index that the commit is made of.
    pub(super) fn index(&self) -> PathBuf {
        self.directory.join("index")
    }

    /// The user's index after the commit.
    pub(super) fn next_index(&self) -> PathBuf {
        self.directory.join("next-index")
    }

    pub(super) fn message(&self) -> PathBuf {
        self.directory.join("COMMIT_EDITMSG")
    }

    /// Called before anything of the commit is in the repository.
    pub(super) fn record(&self, record: &Record) -> Result<()> {
        let written = || -> std::io::Result<()> {
            let mut file = File::create(self.directory.join("record.new"))?;
            file.write_all(&serde_json::to_vec(record)?)?;
            file.sync_data()?;
            fs::rename(self.directory.join("record.new"), self.directory.join(RECORD))
        };
        written().map_err(|error| failed(&self.directory, &error))
    }

    /// Called before HEAD is moved.
    pub(super) fn begin_to_move(&self) -> Result<()> {
        File::create(self.directory.join(BEGUN)).map(drop).map_err(|error| failed(&self.directory, &error))
    }

    pub(super) fn moved_since(&self) -> Option<SystemTime> {
        begun(&self.directory)
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

impl Abandoned {
    pub(super) fn all(state_dir: &Path) -> Vec<Abandoned> {
        let Ok(entries) = fs::read_dir(state_dir.join(DIRECTORY)) else { return Vec::new() };
        let of = |directory: PathBuf| match File::open(directory.join(OWNER)) {
            Ok(owner) => owner.try_lock().is_ok().then(|| Abandoned { directory, _owner: Some(owner) }),
            Err(_) => {
                let since = fs::metadata(&directory).and_then(|it| it.modified()).ok()?;
                let is_old = since.elapsed().is_ok_and(|it| it > ABOUT);
                is_old.then_some(Abandoned { directory, _owner: None })
            }
        };
        entries.flatten().filter_map(|it| of(it.path())).collect()
    }

    /// What to repair. `None` if the commit did not get that far.
    pub(super) fn record(&self) -> Option<Record> {
        serde_json::from_slice(&fs::read(self.directory.join(RECORD)).ok()?).ok()
    }

    /// When HEAD was about to be moved.
    pub(super) fn begun(&self) -> Option<SystemTime> {
        begun(&self.directory)
    }

    /// Removes the directory: nothing is left to repair.
    pub(super) fn forget(self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn begun(directory: &Path) -> Option<SystemTime> {
    fs::metadata(directory.join(BEGUN)).and_then(|it| it.modified()).ok()
}

fn failed(directory: &Path, error: &std::io::Error) -> Error {
    let code = match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Code::DiskFull,
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => Code::PermissionDenied,
        _ => Code::Internal,
    };
    let detail = format!("nothing was committed: {} cannot be written: {error}", directory.display());
    Error::new(code, detail)
}
