//! The repository of a workspace, by the user's own `git`: what is dirty, commits of just some files, and what takes a
//! commit back. Nothing here touches the work tree, and of the user's index only the entries of what was committed.

mod choice;
mod commit;
mod end;
mod history;
mod hooks;
mod index;
mod index_lock;
mod names;
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
pub use history::{Held, Reverse};
pub(super) use names::text as escaped;
pub(crate) use repair::repair;
use repository::Repository;
pub use status::Kind;

/// Another commit of this workspace is waited for so long.
const PATIENCE: Duration = Duration::from_secs(25);

/// A cloneable handle.
#[derive(Debug, Clone)]
pub struct Git {
    root: PathBuf,
    state_dir: PathBuf,
    /// Trust was taken back: what runs by it ends.
    revoked: Arc<AtomicBool>,
    /// One commit at a time.
    turn: Arc<Mutex<()>>,
}

/// A repository as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Absent where HEAD is detached.
    pub branch: Option<String>,
    /// Absent before the first commit.
    pub head: Option<String>,
    /// What goes on: a merge, a rebase.
    pub operation: Option<&'static str>,
    pub dirty: Vec<DirtyFile>,
    /// Filters that may not run, so that files may look dirty that are not.
    pub filters_are_off: bool,
}

/// A file that is not as the last commit has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirtyFile {
    pub file: String,
    pub kind: Kind,
    /// The index has it otherwise than the last commit.
    pub staged: bool,
    /// The work tree has it otherwise than the index.
    pub unstaged: bool,
    /// What it was called, where it was renamed or copied.
    pub from: Option<String>,
    pub is_submodule: bool,
}

/// What becomes of the user's own work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dirty {
    /// It stays as it is.
    #[default]
    Leave,
    /// It is committed before.
    CommitFirst,
    /// Where there is some, nothing is committed.
    Refuse,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    pub name: String,
    pub mail: String,
}

/// Which commit a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// That of what was dirty before.
    Before,
    /// That of what is to be committed.
    Changes,
}

/// A file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Altered {
    pub file: String,
    pub existed: bool,
    pub exists: bool,
    /// Where it was text and not too long.
    pub old: Option<String>,
    pub new: Option<String>,
    /// Where it leads, if it is a link now.
    pub leads_to: Option<String>,
}

/// What makes a message where none is given.
pub type Compose = Arc<dyn Fn(Part, &[Altered]) -> String + Send + Sync>;

/// What is to be committed, and how.
#[derive(Clone)]
pub struct Order {
    pub files: Vec<Wanted>,
    pub message: Option<String>,
    pub compose: Compose,
    pub author: Option<Author>,
    pub co_author: Option<String>,
    pub dirty: Dirty,
    /// Only on top of this commit.
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
    pub commit: String,
    pub files: Vec<String>,
    pub message: String,
    /// Absent where HEAD is detached.
    pub branch: Option<String>,
    pub left_out: Vec<LeftOut>,
    /// That of what was dirty before.
    pub before: Option<Box<Made>>,
}

/// A file that was to be committed, and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub file: String,
    pub reason: String,
}

impl Git {
    pub(crate) fn new(root: &Path, state_dir: &Path, revoked: Arc<AtomicBool>) -> Git {
        Git { root: root.to_path_buf(), state_dir: state_dir.to_path_buf(), revoked, turn: Arc::default() }
    }

    pub async fn state(&self, trusted: bool) -> Result<State> {
        self.ask(trusted, move |repository, _| {
            let status = repository.status(true, true)?;
            // A branch may be called so.
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

    /// Refuses at once what could not be committed later.
    pub async fn check_ready(&self, trusted: bool) -> Result<()> {
        self.ask(trusted, |repository, _| repository.check_ready()).await
    }

    /// Makes a commit of the files as they stand.
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

    /// What takes a commit back.
    pub async fn reverse(&self, trusted: bool, commit: String) -> Result<Reverse> {
        self.ask(trusted, move |repository, _| repository.reverse(&commit)).await
    }

    /// The first of these files that holds something else.
    pub async fn mismatch(&self, trusted: bool, files: Vec<Held>) -> Result<Option<String>> {
        self.ask(trusted, move |repository, _| repository.mismatch(&files)).await
    }

    /// Puts a question to the repository, where it may block. Where nobody waits for it any more it is given up, but
    /// never in the middle of a commit.
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

/// Whoever waits. Dropped, there is nobody any more.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
