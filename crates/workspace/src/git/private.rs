//! A directory of one commit in the making, below the user's own state: its private index, and a record of what is to be
//! put right if the process dies. Whoever holds the lock of its `owner` is at it; a lock that nobody holds is that of a
//! process that is gone.

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
/// A directory without an owner is about to get one, unless it has been so for long.
const ABOUT: Duration = Duration::from_secs(60);

/// The directory, as long as its commit is being made.
#[derive(Debug)]
pub(super) struct Private {
    pub(super) id: String,
    directory: PathBuf,
    _owner: File,
}

/// What a process that dies leaves in the repository.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) top: PathBuf,
    /// Of the work tree's own files.
    pub(super) directory: PathBuf,
    pub(super) commit: String,
    /// The index, its lock, and the other name of that lock, which tells that it is ours.
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

    /// What the user's index is to be.
    pub(super) fn next_index(&self) -> PathBuf {
        self.directory.join("next-index")
    }

    pub(super) fn message(&self) -> PathBuf {
        self.directory.join("COMMIT_EDITMSG")
    }

    /// Before anything of it is in the repository.
    pub(super) fn record(&self, record: &Record) -> Result<()> {
        let written = || -> std::io::Result<()> {
            let mut file = File::create(self.directory.join("record.new"))?;
            file.write_all(&serde_json::to_vec(record)?)?;
            file.sync_data()?;
            fs::rename(self.directory.join("record.new"), self.directory.join(RECORD))
        };
        written().map_err(|error| failed(&self.directory, &error))
    }

    /// HEAD is about to be moved.
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

    /// What is to be put right, if it came so far.
    pub(super) fn record(&self) -> Option<Record> {
        serde_json::from_slice(&fs::read(self.directory.join(RECORD)).ok()?).ok()
    }

    /// When HEAD was about to be moved.
    pub(super) fn begun(&self) -> Option<SystemTime> {
        begun(&self.directory)
    }

    /// Nothing is left to be done.
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
