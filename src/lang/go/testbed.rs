//! Small Go workspaces in temporary directories, with the real gopls, for the tests of this module.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{FileChange, FileChangeKind, Go, GoConfig};
use crate::lang::files::{File, Files};
use crate::model::State;

/// Where gopls is installed once for all tests.
pub fn cache_dir() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    cache.expect("a cache directory").join("semdex")
}

/// Long enough for a gopls that is installed, built and loaded on a busy machine.
pub fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(300)
}

pub struct Fixture {
    pub directory: TempDir,
    pub files: Arc<Files>,
    pub go: Go,
}

impl Fixture {
    /// `-- name` lines begin the files, as in Go's own txtar.
    pub fn new(archive: &str) -> Fixture {
        Fixture::with_trust(archive, true)
    }

    pub fn with_trust(archive: &str, trusted: bool) -> Fixture {
        let directory = tempfile::tempdir().unwrap();
        let mut files = Files::default();
        for part in archive.split("-- ").skip(1) {
            let (name, text) = part.split_once('\n').unwrap();
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            files.insert(Arc::new(File::new(name, text)));
        }
        let files = Arc::new(files);
        let config = GoConfig {
            root: directory.path().canonicalize().unwrap(),
            trusted,
            cache_dir: cache_dir(),
            runtime: tokio::runtime::Handle::current(),
        };
        let go = Go::start(config, files.clone());
        Fixture { directory, files, go }
    }

    pub async fn ready(&self) {
        let mut status = self.go.status();
        let ready = status.wait_for(|status| status.state == State::Ready);
        tokio::time::timeout_at(deadline().into(), ready).await.expect("gopls comes up").unwrap();
    }

    /// What the watcher says of a file that was changed in place.
    pub fn report(&mut self, name: &str, text: &str) {
        let mut files = Files::clone(&self.files);
        files.insert(Arc::new(File::new(name, text)));
        self.files = Arc::new(files);
        let change = FileChange { path: name.to_owned(), kind: FileChangeKind::Changed };
        self.go.feed(self.files.clone(), &[change]);
    }

    /// Changes a file from outside, as the watcher would report it; no text deletes it.
    pub fn change(&mut self, name: &str, text: Option<&str>) {
        let path = self.directory.path().join(name);
        let mut files = Files::clone(&self.files);
        let kind = match text {
            Some(text) => {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, text).unwrap();
                match files.insert(Arc::new(File::new(name, text))) {
                    Some(_) => FileChangeKind::Changed,
                    None => FileChangeKind::Created,
                }
            }
            None => {
                std::fs::remove_file(&path).unwrap();
                files.remove(name);
                FileChangeKind::Deleted
            }
        };
        self.files = Arc::new(files);
        self.go.feed(self.files.clone(), &[FileChange { path: name.to_owned(), kind }]);
    }
}
