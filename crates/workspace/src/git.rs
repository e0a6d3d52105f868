//! The repository of a workspace, by the user's own `git`: its status, commits of selected files, and the reversal of a
//! commit. The work tree is never touched. In the user's index only the entries of committed files change.

mod choice;
mod commit;
mod end;
mod file_paths;
mod history;
mod hooks;
mod index;
mod index_lock;
mod log;
mod private;
mod program;
mod repair;
mod repository;
mod status;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;

use semdex_model::{Code, Error, Result};

pub use choice::{Before, Wanted};
use end::End;
pub(super) use file_paths::text as escaped;
pub use history::{Held, Reverse};
use log::LastCommits;
pub(crate) use repair::repair;
use repository::Repository;
pub use status::Kind;

/// How long a commit waits for another commit of this workspace.
const PATIENCE: Duration = Duration::from_secs(25);

/// A cloneable handle on the repository of a workspace.
#[derive(Debug, Clone)]
pub struct Git {
    root: PathBuf,
    state_dir: PathBuf,
    /// Set when the owner withdraws the trust. Programs that need it are ended.
    revoked: Arc<AtomicBool>,
    /// Only one commit is made at a time.
    turn: Arc<Mutex<()>>,
}

/// The current state of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// `None` if HEAD is detached.
    pub branch: Option<String>,
    /// `None` before the first commit.
    pub head: Option<String>,
    /// The operation in progress, such as a merge or a rebase.
    pub operation: Option<&'static str>,
    /// The files that differ from the last commit.
    pub dirty: Vec<DirtyFile>,
    /// Filters may not run, so files may be listed as dirty that are not.
    pub filters_are_off: bool,
}

/// A file that differs from the last commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirtyFile {
    /// The file's name.
    pub file: String,
    /// How it differs.
    pub kind: Kind,
    /// The index differs from the last commit.
    pub staged: bool,
    /// The work tree differs from the index.
    pub unstaged: bool,
    /// The earlier name of a renamed or copied file.
    pub from: Option<String>,
    /// It is a submodule.
    pub is_submodule: bool,
}

/// What happens to the user's own uncommitted work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dirty {
    /// It stays uncommitted.
    #[default]
    Leave,
    /// It is committed first.
    CommitFirst,
    /// The commit is refused if there is any.
    Refuse,
}

/// The author of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// The name.
    pub name: String,
    /// The mail address.
    pub mail: String,
}

/// The commit that a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The commit of the user's own work.
    Before,
    /// The requested commit.
    Changes,
}

/// A file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Altered {
    /// The file's name.
    pub file: String,
    /// The file exists before the commit.
    pub existed: bool,
    /// The file exists after the commit.
    pub exists: bool,
    /// The text before the commit, unless it is not text or too long.
    pub old: Option<String>,
    /// The text after the commit, unless it is not text or too long.
    pub new: Option<String>,
    /// The target, if the file is a link after the commit.
    pub leads_to: Option<String>,
}

/// Composes a message if the request has none, from the files of the commit and the first lines of the last commits.
pub type Compose = Arc<dyn Fn(Part, &[Altered], &[String]) -> String + Send + Sync>;

/// The request for a commit.
#[derive(Clone)]
pub struct Order {
    /// The files to commit.
    pub files: Vec<Wanted>,
    /// The message. `None`: `compose` makes one.
    pub message: Option<String>,
    /// Makes a message.
    pub compose: Compose,
    /// `None`: the user's own configuration.
    pub author: Option<Author>,
    /// A co-author to name in the message.
    pub co_author: Option<String>,
    /// What happens to the user's own uncommitted work.
    pub dirty: Dirty,
    /// The commit is only made on top of this one.
    pub on: Option<String>,
}

impl fmt::Debug for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Order").field("files", &self.files).field("dirty", &self.dirty).finish_non_exhaustive()
    }
}

/// A commit that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The hash of the commit.
    pub commit: String,
    /// The committed files.
    pub files: Vec<String>,
    /// The message.
    pub message: String,
    /// `None` if HEAD is detached.
    pub branch: Option<String>,
    /// Requested files that are not part of the commit.
    pub left_out: Vec<LeftOut>,
    /// The commit of the user's own work that was made first.
    pub before: Option<Box<Made>>,
}

/// A requested file that is not part of the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The file's name.
    pub file: String,
    /// Why the file is not committed.
    pub reason: String,
}

impl Git {
    pub(crate) fn new(root: &Path, state_dir: &Path, revoked: Arc<AtomicBool>) -> Git {
        Git { root: root.to_path_buf(), state_dir: state_dir.to_path_buf(), revoked, turn: Arc::default() }
    }

    /// The current state. An error where there is no repository.
    pub async fn state(&self, trusted: bool) -> Result<State> {
        self.ask(trusted, move |repository, _| {
            let status = repository.status(true, true)?;
            // A branch may have this name.
            let branch = match status.branch.as_deref() {
                Some("(detached)") => repository.head()?.branch.and(status.branch),
                _ => status.branch,
            };
            let naming = &repository.naming;
            let dirty = status.entries.into_iter().map(|it| DirtyFile {
                file: naming.shown(&it.path),
                kind: it.kind,
                staged: it.staged,
                unstaged: it.unstaged,
                from: it.from.map(|from| naming.shown(&from)),
                is_submodule: it.is_submodule,
            });
            Ok(State {
                branch,
                head: status.head,
                operation: repository.operation(),
                dirty: dirty.collect(),
                filters_are_off: !trusted && !repository.git.filters.is_empty(),
            })
        })
        .await
    }

    /// An error if a commit could not be made now.
    pub async fn check_ready(&self, trusted: bool) -> Result<()> {
        self.ask(trusted, |repository, _| repository.check_ready()).await
    }

    /// Commits the files as they are now.
    pub async fn commit(&self, trusted: bool, order: Order) -> Result<Made> {
        let turn = tokio::time::timeout(PATIENCE, self.turn.clone().lock_owned()).await.map_err(|_| {
            Error::new(Code::Busy, "another commit of this workspace is being made, perhaps by a hook that takes long")
        })?;
        self.ask(trusted, move |repository, state_dir| {
            let _turn = turn;
            repository.commit(state_dir, &order)
        })
        .await
    }

    /// The files of the last commits. `None` if HEAD is still `known`. Nothing of the repository runs.
    pub(crate) async fn last_commits(&self, most: usize, known: Option<String>) -> Result<Option<LastCommits>> {
        self.ask(false, move |repository, _| repository.last_commits(most, known.as_deref())).await
    }

    /// The files that reverse a commit.
    pub async fn reverse(&self, trusted: bool, commit: String) -> Result<Reverse> {
        self.ask(trusted, move |repository, _| repository.reverse(&commit)).await
    }

    /// The first of these files whose content differs.
    pub async fn mismatch(&self, trusted: bool, files: Vec<Held>) -> Result<Option<String>> {
        self.ask(trusted, move |repository, _| repository.mismatch(&files)).await
    }

    /// Runs a query on a thread that may block. It is ended when nobody waits for it, except in the middle of a commit.
    async fn ask<T: Send + 'static>(
        &self,
        trusted: bool,
        question: impl FnOnce(&Repository, &Path) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (root, state_dir) = (self.root.clone(), self.state_dir.clone());
        let waiting = Waiting(Arc::default());
        let end = End { cancelled: waiting.0.clone(), revoked: self.revoked.clone() };
        let asked = tokio::task::spawn_blocking(move || {
            repair(&state_dir);
            let repository = Repository::find(&root, trusted, end)?;
            question(&repository, &state_dir)
        });
        let answer = asked.await;
        drop(waiting);
        answer
            .unwrap_or_else(|_| Err(Error::new(Code::Internal, "the repository could not be asked: it is in the log")))
    }
}

/// A caller that waits. Dropping it means that nobody waits.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
