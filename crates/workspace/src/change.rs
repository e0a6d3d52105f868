//! A change of content, as it is proposed to the writer, and what came of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use semdex_engine::files::Files;
use semdex_model::{ChangeImpact, FileEdit, Revision};

/// Who changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The call `edit`.
    Edit,
    /// The call `write`.
    Write,
    /// The call `rename`.
    Rename,
    /// The call `undo`: an earlier change was taken back.
    Undo,
    /// Content that is not on the disk came or went.
    Overlay,
    /// Somebody else: an editor, git, another agent.
    Outside,
}

impl Cause {
    /// The word for it in replies and in the journal.
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

    /// The cause of this name; a later version's is somebody else's.
    pub(crate) fn of(name: &str) -> Cause {
        let causes = [Cause::Edit, Cause::Write, Cause::Rename, Cause::Undo, Cause::Overlay];
        causes.into_iter().find(|it| it.name() == name).unwrap_or(Cause::Outside)
    }
}

/// A proposal: the new contents of files, and the old ones that they rest on.
#[derive(Debug, Clone)]
pub struct Change {
    /// Which call proposes it.
    pub cause: Cause,
    /// Who asked for it, as it calls itself.
    pub client: Option<String>,
    /// What is taken back.
    pub undoes: Option<Undone>,
    /// Each file once.
    pub edits: Vec<FileEdit>,
    /// Compute its impact, and leave everything as it was.
    pub dry_run: bool,
    /// Leave everything as it was if something breaks.
    pub reject_if_broken: bool,
    /// What another engine says, asked before.
    pub view_impact: ChangeImpact,
}

/// What a change takes back: another one, or a commit.
#[derive(Debug, Clone, Default)]
pub struct Undone {
    /// Absent where it is a commit.
    pub change: Option<String>,
    /// The permissions of files that come back.
    pub modes: BTreeMap<String, u32>,
    /// Of files that go: so many of the directories around them were made for them.
    pub made_directories: BTreeMap<String, usize>,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The files, or the overlays, hold it now.
    pub applied: bool,
    /// The token that takes it back, where it was applied to the disk.
    pub change: Option<String>,
    /// It concerns overlays, not the disk.
    pub to_overlays: bool,
    /// What users should know of a file besides: that it had other names, say.
    pub notes: Vec<(String, String)>,
    /// It was rejected: it would have broken something, or could not be analysed in full.
    pub rejected: bool,
    /// The one that it made; of what was not applied the one that it was tried at.
    pub revision: Revision,
    /// What it does, or would do.
    pub change_impact: ChangeImpact,
    /// What the files hold after it.
    pub hashes: Hashes,
}

/// Of each file of a change: what its content hashes to before and after, where it has any.
pub type Hashes = BTreeMap<String, (Option<blake3::Hash>, Option<blake3::Hash>)>;

pub(crate) fn hashes(before: &Files, after: &Files, edits: &[FileEdit]) -> Hashes {
    let of = |files: &Files, name: &str| files.get(name).map(|it| it.hash);
    let pair = |it: &FileEdit| (it.file.clone(), (of(before, &it.file), of(after, &it.file)));
    edits.iter().map(pair).collect()
}

/// The texts with some of them replaced.
pub(crate) fn with_edits(files: &Arc<Files>, edits: &[FileEdit]) -> Arc<Files> {
    let mut after = (**files).clone();
    for edit in edits {
        match &edit.new {
            Some(text) => {
                // An edit of an overlay stays in it.
                let overlay = files.get(&edit.file).is_some_and(|it| it.overlay);
                let file = files.file(&edit.file, text.clone());
                after.insert(Arc::new(if overlay { file.as_overlay() } else { file }));
            }
            None => drop(after.remove(&edit.file)),
        }
    }
    Arc::new(after)
}

/// Whether the contents that a change rests on are still those of the workspace; answers with the first that is not.
pub(crate) fn moved_on<'a>(files: &Files, edits: &'a [FileEdit]) -> Option<&'a FileEdit> {
    edits.iter().find(|edit| files.get(&edit.file).map(|it| it.text.as_ref()) != edit.old.as_deref())
}
