//! The choke point: every change of content passes here, whoever made it.

use std::sync::Arc;

use crate::lang::files::{File, Files};
use crate::model::{FileEdit, Judgement, Revision};

/// Who changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    Edit,
    Write,
    Rename,
    /// Somebody else: an editor, git, another agent.
    Outside,
}

/// A proposal: the new contents of files, and the old ones that they rest on.
#[derive(Debug, Clone)]
pub struct Change {
    pub cause: Cause,
    pub edits: Vec<FileEdit>,
    /// Judge it, and leave everything as it was.
    pub dry_run: bool,
    /// Leave everything as it was if something breaks.
    pub reject_if_broken: bool,
    /// What another engine says, asked before.
    pub judged: Option<Judgement>,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub applied: bool,
    /// It would have broken something and was rejected for that.
    pub rejected: bool,
    pub revision: Revision,
    pub judgement: Judgement,
}

/// The texts with some of them replaced.
pub fn with_edits(files: &Arc<Files>, edits: &[FileEdit]) -> Arc<Files> {
    let mut after = (**files).clone();
    for edit in edits {
        match &edit.new {
            Some(text) => drop(after.insert(Arc::new(File::new(edit.file.as_str(), text.clone())))),
            None => drop(after.remove(&edit.file)),
        }
    }
    Arc::new(after)
}

/// Whether the contents that a change rests on are still those of the workspace; answers with the first that is not.
pub fn moved_on<'a>(files: &Files, edits: &'a [FileEdit]) -> Option<&'a FileEdit> {
    edits.iter().find(|edit| files.get(&edit.file).map(|it| it.text.as_ref()) != edit.old.as_deref())
}
