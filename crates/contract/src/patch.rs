//! The patches that `edit` takes as text: their media types, and the edits that they consist of.

use semdex_model::Result;
use semdex_text::blocks;
use semdex_text::patches::{self, Action, Form, Hunk, PatchEdit};

use super::edit::{Edit, Target, TextSearch};
use super::enums::WriteMode;

/// The media types of patches, each with its form and an example.
const MEDIA_TYPES: [(&str, Form, &str); 3] = [
    (
        "text/x-search-replace",
        Form::Blocks,
        "src/lib.rs\n<<<<<<< SEARCH\nfn new() -> Self {\n=======\npub fn new() -> Self {\n>>>>>>> REPLACE\n",
    ),
    (
        "text/x-diff",
        Form::Diff,
        "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -3,2 +3,2 @@\n impl Searcher {\n-    fn new() -> Self {\n\
         +    pub fn new() -> Self {\n",
    ),
    (
        "text/x-apply-patch",
        Form::ApplyPatch,
        "*** Begin Patch\n*** Update File: src/lib.rs\n@@ impl Searcher {\n-    fn new() -> Self {\n\
         +    pub fn new() -> Self {\n*** End Patch\n",
    ),
];

/// The media types of the bodies that hold a patch.
pub(crate) const PATCHES: &[&str] = &[MEDIA_TYPES[0].0, MEDIA_TYPES[1].0, MEDIA_TYPES[2].0];

/// The media type of a form.
pub fn media_type(form: Form) -> &'static str {
    MEDIA_TYPES.iter().find(|it| it.1 == form).map_or(MEDIA_TYPES[0].0, |it| it.0)
}

/// The form of a media type.
pub(crate) fn form_of(media_type: &str) -> Option<Form> {
    MEDIA_TYPES.iter().find(|it| it.0 == media_type).map(|it| it.1)
}

/// The media types with an example of each, for the document.
pub(crate) fn examples() -> impl Iterator<Item = (&'static str, &'static str)> {
    MEDIA_TYPES.iter().map(|it| (it.0, it.2))
}

/// The edits of a patch, in this form or in the form that its text has.
pub(crate) fn from_patch(form: Option<Form>, patch: &str) -> Result<Vec<Edit>> {
    let edits = patches::parse(form.unwrap_or_else(|| patches::form(patch)), patch)?;
    Ok(edits.into_iter().map(|it| Edit { line: Some(it.line), ..edit(it) }).collect())
}

/// The edits of parsed blocks.
pub fn from_parsed(blocks: Vec<blocks::Block>) -> Vec<Edit> {
    blocks.into_iter().map(|it| edit(PatchEdit::from(it))).collect()
}

fn edit(edit: PatchEdit) -> Edit {
    let PatchEdit { file, action, .. } = edit;
    let whole = |mode, content| (Target::File { file: file.clone(), mode }, content);
    let (target, replacement) = match action {
        Action::Replace(Hunk { search: context, replacement, place, final_newline }) => {
            let search = TextSearch { context, whole_lines: true, place, final_newline, ..TextSearch::default() };
            (Target::Text { file, search }, replacement)
        }
        Action::Append(content) => whole(WriteMode::Append, content),
        Action::Create(content) => whole(WriteMode::Create, content),
        Action::Whole(content) => whole(WriteMode::Overwrite, content),
        Action::Delete { content } => (Target::Delete { file, content }, String::new()),
        Action::Move { to } => (Target::Move { file, to }, String::new()),
    };
    Edit { target, replacement, expected_hash: None, on_conflict: None, line: None }
}
