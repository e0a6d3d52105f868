//! Patches in the forms that models write: unified diffs, and the `*** Begin Patch` form of Codex. Both become a list
//! of edits, which are located in today's files like any other edit. Counts and line numbers are only hints. Missing
//! headers and missing signs before blank lines are tolerated if one meaning is left. Anything else is refused with its
//! line, and so is a patch that seems to be cut off.

mod apply_patch;
mod hunk;
mod unified;

use super::blocks;
pub use hunk::{FinalNewline, Hunk, PlaceHints};
use semdex_model::{Code, Error, Result};

/// The forms of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// SEARCH/REPLACE blocks and whole files in fences.
    Blocks,
    /// A unified diff.
    Diff,
    /// `*** Begin Patch`.
    ApplyPatch,
}

/// One edit of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchEdit {
    /// The file as the patch names it, without the prefix of a diff.
    pub file: String,
    /// The line of the patch where the edit begins, from 1.
    pub line: usize,
    /// What the edit does with the file.
    pub action: Action,
}

/// What an edit of a patch does with its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Replaces lines.
    Replace(Hunk),
    /// Adds lines at the end of the file.
    Append(String),
    /// Creates the file.
    Create(String),
    /// Replaces the whole content of the file.
    Whole(String),
    /// Deletes the file.
    Delete {
        /// The content that the patch deletes. None: the patch does not say it.
        content: Option<String>,
    },
    /// Moves the file. Other edits of the file use the old name.
    Move {
        /// The new name.
        to: String,
    },
}

/// Reads a patch of this form, which has at least one edit.
pub fn parse(form: Form, patch: &str) -> Result<Vec<PatchEdit>> {
    match form {
        Form::Blocks => Ok(blocks::parse(patch)?.into_iter().map(PatchEdit::from).collect()),
        Form::Diff => unified::parse(patch),
        Form::ApplyPatch => apply_patch::parse(patch),
    }
}

/// The form of a patch, by the first line that only one form has.
pub fn form(patch: &str) -> Form {
    let lines: Vec<&str> = lines(patch).into_iter().map(str::trim_end).collect();
    let mut above = "";
    for (at, line) in lines.iter().enumerate() {
        if apply_patch::is_directive(line) {
            return Form::ApplyPatch;
        }
        if unified::begins_file(&lines, at) || line.starts_with("@@ ") || *line == "@@" {
            return Form::Diff;
        }
        let is_marker = matches!(blocks::marker(line), Some(('<', _, rest)) if blocks::is_word(rest, "SEARCH"));
        // A file in a fence below its name may contain anything.
        let is_file = blocks::fence(line, 0).is_some()
            && blocks::file_name(above).is_some()
            && !["diff", "patch"].contains(&line.trim_start_matches(['`', '~']).trim());
        if is_marker || is_file {
            return Form::Blocks;
        }
        above = line;
    }
    Form::Blocks
}

impl From<blocks::Block> for PatchEdit {
    fn from(block: blocks::Block) -> PatchEdit {
        let action = match block.action {
            blocks::Action::Replace { search, replacement } => {
                Action::Replace(Hunk { search, replacement, ..Hunk::default() })
            }
            blocks::Action::Create(content) => Action::Create(content),
            blocks::Action::Whole(content) => Action::Whole(content),
        };
        PatchEdit { file: block.file, line: block.line, action }
    }
}

/// The lines of a patch, with their line ends.
fn lines(patch: &str) -> Vec<&str> {
    patch.strip_prefix('\u{feff}').unwrap_or(patch).split_inclusive('\n').collect()
}

fn wrong(line: usize, detail: &str) -> Error {
    Error::new(Code::InvalidRequest, format!("line {line} of the patch: {detail}; nothing was changed"))
}

#[cfg(test)]
mod tests;
