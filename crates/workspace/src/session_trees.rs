//! Which checkouts of a repository the sessions of agents work in, recorded in the state directory, because hooks and
//! tools of one session reach different processes. Only sessions that use a linked worktree have a record: all other
//! sessions work in one checkout.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use semdex_config::create_private_dir;
use semdex_fs::{Checkout, read_file};
use semdex_model::{Code, Error, Help};

/// A record is larger only if it is not one.
const LONGEST: usize = 64 << 10;
/// The most checkouts of one session.
const MOST: usize = 100;
/// A record that was not written for so long belongs to no session that still runs.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// The records of a state directory.
#[derive(Debug, Clone)]
pub struct SessionTrees {
    directory: PathBuf,
}

/// What is recorded of a session.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    /// The agent and the processes around it, as far as hooks know them.
    processes: Vec<String>,
    /// The roots of the checkouts.
    checkouts: Vec<PathBuf>,
}

impl SessionTrees {
    /// The records in this state directory.
    pub fn new(state_dir: &Path) -> SessionTrees {
        SessionTrees { directory: state_dir.join("trees") }
    }

    /// Records that a session works in the checkout around a directory. `processes` are names of the processes around
    /// the session, if they are known. A session that was only seen in a main checkout gets no record.
    pub fn note(&self, session: &str, processes: &[String], directory: &Path) {
        let Some(checkout) = directory.canonicalize().ok().as_deref().and_then(Checkout::around) else { return };
        let file = self.file(session);
        let known = read(&file);
        if known.is_none() && !checkout.is_linked {
            return;
        }
        let mut record = known.unwrap_or_default();
        let is_new = |it: &&String| !record.processes.contains(it);
        let new: Vec<String> = processes.iter().filter(is_new).cloned().collect();
        if new.is_empty() && record.checkouts.contains(&checkout.root) {
            return;
        }
        record.processes.extend(new);
        if !record.checkouts.contains(&checkout.root) {
            record.checkouts.push(checkout.root);
        }
        record.checkouts.truncate(MOST);
        record.processes.truncate(MOST);
        if let Err(error) = self.write(&file, &record) {
            tracing::warn!(%error, "the checkouts of a session cannot be recorded");
        }
    }

    /// The checkouts of a session. None if it uses no linked worktree.
    pub fn of_session(&self, session: &str) -> Vec<PathBuf> {
        read(&self.file(session)).unwrap_or_default().checkouts
    }

    /// The checkouts of all sessions that know this process.
    pub fn of_process(&self, process: &str) -> Vec<PathBuf> {
        let records = fs::read_dir(&self.directory).into_iter().flatten().flatten().filter_map(|it| read(&it.path()));
        let own = records.filter(|it| it.processes.iter().any(|it| it == process));
        own.flat_map(|it| it.checkouts).collect()
    }

    fn file(&self, session: &str) -> PathBuf {
        let name = blake3::hash(session.as_bytes()).to_hex();
        self.directory.join(format!("{}.json", name.get(..32).unwrap_or_default()))
    }

    fn write(&self, file: &Path, record: &Record) -> io::Result<()> {
        create_private_dir(&self.directory)?;
        for entry in fs::read_dir(&self.directory)?.flatten() {
            let age = entry.metadata().and_then(|it| it.modified()).ok().and_then(|it| it.elapsed().ok());
            if age.is_some_and(|it| it > KEPT) {
                // Another process may remove it first.
                let _ = fs::remove_file(entry.path());
            }
        }
        let mut written = tempfile::Builder::new().prefix(".tree-").tempfile_in(&self.directory)?;
        written.write_all(&serde_json::to_vec(record)?)?;
        written.persist(file).map_err(|error| error.error)?;
        Ok(())
    }
}

fn read(file: &Path) -> Option<Record> {
    serde_json::from_slice(&read_file(file, LONGEST).ok()?).ok()
}

/// The workspaces that correspond to this one in other checkouts of its repository. Checkouts of other repositories and
/// those that are gone are left out.
pub fn counterparts(root: &Path, checkouts: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = checkouts.iter().filter_map(|it| counterpart(root, it)).collect();
    found.sort();
    found.dedup();
    found
}

/// The directory that corresponds to a workspace's root in the checkout around a path, if that is another checkout of
/// the same repository.
pub fn counterpart(root: &Path, path: &Path) -> Option<PathBuf> {
    let (own, other) = (Checkout::around(root)?, Checkout::around(path)?);
    if own.common != other.common || own.root == other.root {
        return None;
    }
    let below = root.strip_prefix(&own.root).ok()?;
    // An empty name would end the path with a slash.
    let same = Some(below).filter(|it| !it.as_os_str().is_empty()).map(|it| other.root.join(it));
    same.filter(|it| it.is_dir()).or(Some(other.root))
}

/// The refusal of a change that names no tree, in a session that works in several.
pub fn ambiguous_tree(root: &Path, others: &[PathBuf]) -> Error {
    let trees: Vec<String> =
        std::iter::once(root).chain(others.iter().map(PathBuf::as_path)).map(|it| it.display().to_string()).collect();
    let detail = format!(
        "nothing was written: this session works in several checkouts of the repository, and the change does not say \
         which one is meant: give one of {} as `workspace`, or the file by its full path",
        trees.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
    );
    Error::new(Code::AmbiguousTree, detail).with_help(Help { trees, ..Help::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_in_a_linked_worktree_is_recorded() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        for directory in ["r/.git/worktrees/a", "r/rust", "a/rust", "other/.git"] {
            fs::create_dir_all(top.join(directory)).unwrap();
        }
        fs::write(top.join("a/.git"), format!("gitdir: {}\n", top.join("r/.git/worktrees/a").display())).unwrap();
        let trees = SessionTrees::new(&top.join("state"));
        trees.note("s", &[], &top.join("r/rust"));
        assert!(trees.of_session("s").is_empty());
        trees.note("s", &["1:2".to_owned()], &top.join("a/rust"));
        trees.note("s", &["1:2".to_owned(), "3:4".to_owned()], &top.join("r"));
        assert_eq!(trees.of_session("s"), [top.join("a"), top.join("r")]);
        assert_eq!(trees.of_process("3:4"), trees.of_session("s"));
        assert!(trees.of_session("t").is_empty() && trees.of_process("1:3").is_empty());
        let checkouts = trees.of_session("s");
        assert_eq!(counterparts(&top.join("r/rust"), &checkouts), [top.join("a/rust")]);
        assert_eq!(counterparts(&top.join("a/rust"), &checkouts), [top.join("r/rust")]);
        assert!(counterparts(&top.join("other"), &checkouts).is_empty());
        let refused = ambiguous_tree(&top.join("r"), &[top.join("a")]);
        assert_eq!(refused.help.trees, [top.join("r"), top.join("a")].map(|it| it.display().to_string()));
    }
}
