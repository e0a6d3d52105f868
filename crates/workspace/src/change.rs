//! A change of content as it is proposed to the writer, and its outcome.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use semdex_config::CountedBuilds;
use semdex_engine::Prepared;
use semdex_engine::files::Files;
use semdex_model::{ChangeImpact, FileEdit, Revision};

/// What changed the contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The call `edit`.
    Edit,
    /// The call `write`.
    Write,
    /// The call `rename`.
    Rename,
    /// The call `undo`, which undoes an earlier change.
    Undo,
    /// An overlay was put, edited or removed.
    Overlay,
    /// Somebody else, for example an editor, git or another agent.
    Outside,
}

impl Cause {
    /// The name in replies and in the journal.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Cause::Edit => "edit",
            Cause::Write => "write",
            Cause::Rename => "rename",
            Cause::Undo => "undo",
            Cause::Overlay => "overlay",
            Cause::Outside => "outside",
        }
    }

    /// The cause of this name. A name that only a later version has is [`Cause::Outside`].
    pub(crate) fn of(name: &str) -> Cause {
        let causes = [Cause::Edit, Cause::Write, Cause::Rename, Cause::Undo, Cause::Overlay];
        causes.into_iter().find(|it| it.name() == name).unwrap_or(Cause::Outside)
    }
}

/// A proposed change: the new contents of files, and the old contents that they are based on.
#[derive(Debug, Clone)]
pub struct Change {
    /// The call that proposes it.
    pub cause: Cause,
    /// The name that the client gives itself.
    pub client: Option<String>,
    /// The idempotency key of the request, which is recorded with the change.
    pub request_key: Option<RequestKey>,
    /// What the change undoes. `None` if it undoes nothing.
    pub undoes: Option<Undone>,
    /// The edits, one for each file.
    pub edits: Vec<FileEdit>,
    /// The new names of moved files, each with the old name. A moved file keeps its permissions and attributes.
    pub moves: BTreeMap<String, String>,
    /// Only compute the impact.
    pub dry_run: bool,
    /// Change nothing if something breaks in these builds. `None`: change it whatever breaks.
    pub rejected_in: Option<CountedBuilds>,
    /// The impact that views have computed before (`Route::View`).
    pub view_impact: ChangeImpact,
    /// What the views of other engines have prepared, each with the engine's name (`Route::Writer`).
    pub prepared: Preparations,
}

/// The idempotency key of a request. It is recorded with the change, so that the change is made once even if semdex ends
/// before the reply is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    /// The key.
    pub key: String,
    /// What makes a request another one.
    pub fingerprint: String,
}

/// What engines have prepared for a change, each with the engine's name.
#[derive(Clone, Default)]
pub struct Preparations(pub Vec<(String, Prepared)>);

impl fmt::Debug for Preparations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|it| &it.0)).finish()
    }
}

impl Preparations {
    pub(crate) fn of(&self, engine: &str) -> Option<&Prepared> {
        self.0.iter().find(|it| it.0 == engine).map(|it| &it.1)
    }
}

/// What a change undoes: another change, or a commit.
#[derive(Debug, Clone, Default)]
pub struct Undone {
    /// The token of the change. `None` for a commit.
    pub change: Option<String>,
    /// The permissions of files that are restored.
    pub modes: BTreeMap<String, u32>,
    /// For each file that is deleted, how many of the directories around it were created for it.
    pub made_directories: BTreeMap<String, usize>,
}

/// The outcome of a proposed change.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The change was made, on the disk or in overlays.
    pub applied: bool,
    /// The token that undoes the change. `None` if it was not made on the disk.
    pub change: Option<String>,
    /// The change edits overlays, not the disk.
    pub to_overlays: bool,
    /// What users should know of a file besides, for example that it has other names.
    pub notes: Vec<(String, String)>,
    /// The change was rejected: it would break something, or could not be analysed completely.
    pub rejected: bool,
    /// The revision after the change. If it was not made, the revision for which its impact was computed.
    pub revision: Revision,
    /// The impact of the change.
    pub change_impact: ChangeImpact,
    /// The hashes of the files.
    pub hashes: Hashes,
}

/// The hashes of each file before and after a change. `None` where there is no file.
pub type Hashes = BTreeMap<String, (Option<blake3::Hash>, Option<blake3::Hash>)>;

pub(crate) fn hashes(before: &Files, after: &Files, edits: &[FileEdit]) -> Hashes {
    let of = |files: &Files, name: &str| files.get(name).map(|it| it.hash);
    let pair = |it: &FileEdit| (it.file.clone(), (of(before, &it.file), of(after, &it.file)));
    edits.iter().map(pair).collect()
}

/// The texts with these edits made.
pub(crate) fn with_edits(files: &Arc<Files>, edits: &[FileEdit]) -> Arc<Files> {
    let mut after = (**files).clone();
    for edit in edits {
        match &edit.new {
            Some(text) => {
                // An edit of an overlay stays in the overlay.
                let overlay = files.get(&edit.file).is_some_and(|it| it.overlay);
                let file = files.file(&edit.file, text.clone());
                after.insert(Arc::new(if overlay { file.as_overlay() } else { file }));
            }
            None => drop(after.remove(&edit.file)),
        }
    }
    Arc::new(after)
}

/// The first edit that is based on content that has changed. `None` if all are current.
pub(crate) fn moved_on<'a>(files: &Files, edits: &'a [FileEdit]) -> Option<&'a FileEdit> {
    edits.iter().find(|edit| files.get(&edit.file).map(|it| it.text.as_ref()) != edit.old.as_deref())
}
