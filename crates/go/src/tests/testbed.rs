//! Small Go workspaces in temporary directories, with the real gopls, for the tests of this module.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::layout::Layout;
use crate::{Go, GoConfig, impact};
use semdex_engine::files::Files;
use semdex_engine::{Deadlines, FileChange, FileChangeKind};
use semdex_model::{ChangeImpact, FileEdit, State};

/// Where gopls is installed once for all tests, also for `tests/it`.
pub(crate) fn cache_dir() -> PathBuf {
    let beside = || std::env::current_exe().unwrap().ancestors().nth(3).expect("a target directory").join("tmp/cache");
    std::env::var_os("SEMDEX_TEST_CACHE").map_or_else(beside, PathBuf::from).join("semdex")
}

/// Enough time to install, build and load gopls on a busy machine.
pub(crate) fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(300)
}

pub(crate) fn deadlines() -> Deadlines {
    Deadlines { ready: deadline(), answer: deadline() }
}

pub(crate) struct Fixture {
    pub directory: TempDir,
    pub files: Arc<Files>,
    pub go: Go,
}

impl Fixture {
    /// `-- name` lines separate the files, as in Go's txtar.
    pub(crate) fn new(archive: &str) -> Fixture {
        Fixture::with_trust(archive, true)
    }

    pub(crate) fn with_trust(archive: &str, trusted: bool) -> Fixture {
        let directory = tempfile::tempdir().unwrap();
        let parts = archive.split("-- ").skip(1).map(|it| it.split_once('\n').unwrap());
        Fixture::start(directory, parts.map(|(name, text)| (name.to_owned(), text.to_owned())), trusted)
    }

    /// A copy of the Go part of a workspace.
    pub(crate) fn copy_of(root: &Path) -> Fixture {
        let wanted = |it: &PathBuf| {
            let name = it.file_name().and_then(|it| it.to_str()).unwrap_or_default();
            name.ends_with(".go") || name.starts_with("go.")
        };
        let paths = ignore::Walk::new(root).map(|it| it.unwrap().into_path()).filter(|it| it.is_file()).filter(wanted);
        let name = |path: &Path| path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let files = paths.map(|it| (name(&it), std::fs::read_to_string(&it).unwrap()));
        Fixture::start(tempfile::tempdir().unwrap(), files, true)
    }

    fn start(directory: TempDir, texts: impl Iterator<Item = (String, String)>, trusted: bool) -> Fixture {
        let mut files = Files::default();
        for (name, text) in texts {
            let path = directory.path().join(&name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
            files.insert(Arc::new(crate::file(name, text)));
        }
        let files = Arc::new(files);
        let config = GoConfig {
            root: directory.path().canonicalize().unwrap(),
            trusted,
            cache_dir: cache_dir(),
            runtime: tokio::runtime::Handle::current(),
            memory_limit: None,
            builds: Default::default(),
        };
        let go = Go::start(config, files.clone());
        Fixture { directory, files, go }
    }

    pub(crate) async fn ready(&self) {
        let mut status = self.go.status();
        let ready = status.wait_for(|status| status.state == State::Ready);
        tokio::time::timeout_at(deadline().into(), ready).await.expect("gopls comes up").unwrap();
    }

    /// Without the checker.
    pub(crate) async fn impact_by_gopls(&self, edits: &[FileEdit]) -> ChangeImpact {
        let view = self.go.view(self.files.clone());
        let session = &view.session;
        let context = impact::EditContext::new(self.files.clone(), edits);
        let after = Layout::of(context.after.clone(), &session.context());
        let layouts = [&*session.layout(&self.files), &after];
        impact::by_gopls(session, layouts, &context, edits, view.generation.unwrap(), deadlines()).await.unwrap()
    }

    /// The watcher's report of a file that was changed in place.
    pub(crate) fn report(&mut self, name: &str, text: &str) {
        let mut files = Files::clone(&self.files);
        files.insert(Arc::new(crate::file(name, text)));
        self.files = Arc::new(files);
        let change = FileChange { path: name.to_owned(), kind: FileChangeKind::Changed };
        self.go.feed(self.files.clone(), &[change]);
    }

    /// Changes a file on disk with the watcher's report; `None` deletes it.
    pub(crate) fn change(&mut self, name: &str, text: Option<&str>) {
        let path = self.directory.path().join(name);
        let mut files = Files::clone(&self.files);
        let kind = match text {
            Some(text) => {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, text).unwrap();
                match files.insert(Arc::new(crate::file(name, text))) {
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
