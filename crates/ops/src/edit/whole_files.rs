//! Edits of whole files: new content, more content, deleted, moved. All edits of a change refer to the files before it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Placed;
use crate::base::{Base, Retry, base_of, check_digits, first_digits, refuse_deleted};
use crate::open::text_of;
use crate::query::RequestOptions;
use crate::write::{appended, base_is_gone, refuse_whole_file, undeclared_finding};
use semdex_contract::{Edit, Finding, OnConflict, Target, WriteMode};
use semdex_engine::files::{File, Files};
use semdex_model::{Code, Error, FileEdit, Help, Result, Span, Strategy};
use semdex_text::diff::unified;
use semdex_text::matching::{self, Patch};
use semdex_workspace::Workspace;

/// What an edit does with its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// Some of its text changes.
    Stays,
    /// It is new.
    Created,
    /// Its whole content changes.
    Overwritten,
    /// It gets more content at its end.
    Appended,
    /// It is deleted.
    Deleted,
    /// It gets another name.
    Moved {
        /// The new name.
        to: String,
        /// A file has this name before the change.
        is_taken: bool,
    },
}

impl Fate {
    /// The name of a file of this name after the change.
    pub(super) fn name_after<'a>(&'a self, name: &'a str) -> &'a str {
        match self {
            Fate::Moved { to, .. } => to,
            _ => name,
        }
    }

    /// In an error: what an edit does with the file.
    fn verb(&self) -> &'static str {
        match self {
            Fate::Stays => "edits",
            Fate::Created => "creates",
            Fate::Overwritten => "overwrites",
            Fate::Appended => "appends to",
            Fate::Deleted => "deletes",
            Fate::Moved { .. } => "moves",
        }
    }
}

impl Placed {
    /// Whether the edit changes text. Otherwise it deletes or moves the file.
    pub(super) fn has_text(&self) -> bool {
        !matches!(self.fate, Fate::Deleted | Fate::Moved { .. })
    }
}

/// The new content of a file, combined with the old one. Keeps its line endings and byte order mark.
pub(super) async fn content(
    workspace: &Workspace,
    files: &Files,
    name: &str,
    mode: WriteMode,
    edit: &Edit,
    repeat: bool,
    options: &RequestOptions,
) -> Result<Placed> {
    let name = workspace.locate(name)?;
    let content = &edit.replacement;
    if content.contains('\0') {
        return Err(Error::new(Code::NotText, "the new content has a NUL character: only text is written"));
    }
    let Some(old) = existing(workspace, files, &name)? else {
        check_digits(edit.expected_hash.as_deref())?;
        if edit.expected_hash.is_some() {
            let detail = format!("`{name}` does not exist, so it has no hash to expect");
            return Err(Error::new(Code::HashMismatch, detail));
        }
        if mode == WriteMode::Overwrite {
            refuse_deleted(workspace, &name, options)?;
        }
        let kind = workspace.language_of(&name).and_then(|it| workspace.registry().kind_of(it));
        let declared = kind.and_then(|it| it.declare(files, &name, content).content);
        let patch = Patch { range: Span::default(), text: declared.unwrap_or_else(|| content.clone()) };
        let file = Arc::new(workspace.file(&name, ""));
        return Ok(Placed { fate: Fate::Created, ..Placed::of(file, patch, Strategy::Whole) });
    };
    if mode == WriteMode::Create && !old.text.trim().is_empty() {
        let detail = format!(
            "`{name}` exists, and this edit makes a new file: edit the lines that change, or send the whole content with \
             `mode: \"overwrite\"`"
        );
        let help = Help { file: Some(name), ..Help::default() };
        return Err(Error::new(Code::AlreadyExists, detail).with_help(help));
    }
    let base = base_of(workspace, &old, edit.expected_hash.as_deref(), edit.on_conflict, options).await?;
    if mode == WriteMode::Append {
        if !repeat {
            refuse_whole_file(&name, &old.text, content)?;
        }
        let patch = at_end(&old.text, &appended(&old.text, content).0);
        return Ok(Placed { fate: Fate::Appended, ..Placed::of(old, patch, Strategy::Whole) });
    }
    let placed = match base {
        Base::Older(base) => {
            let merged = Placed::on_base(&old, &base, matching::whole(&base, content), Strategy::Whole, Retry::ByHash)?;
            // The present text has this change already, next to changes of others.
            merged.unwrap_or_else(|| without_text(old, Fate::Overwritten))
        }
        Base::Unknown if edit.expected_hash.is_some() => return Err(base_is_gone(&old)),
        Base::Present | Base::Unknown => {
            let patch = matching::whole(&old.text, content);
            Placed::of(old, patch, Strategy::Whole)
        }
    };
    Ok(Placed { fate: Fate::Overwritten, ..placed })
}

/// The patch at the end of a text that results in the new text.
fn at_end(old: &str, new: &str) -> Patch {
    let mut kept = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    while !(old.is_char_boundary(kept) && new.is_char_boundary(kept)) {
        kept -= 1;
    }
    Patch { range: Span::new(kept, old.len()), text: new[kept..].to_owned() }
}

/// A file that is deleted. If others changed it since the author of the edit saw it, their change is not deleted with
/// it. A patch says itself which content its author saw.
pub(super) async fn deleted(
    workspace: &Workspace,
    files: &Files,
    name: &str,
    content: Option<&str>,
    edit: &Edit,
    options: &RequestOptions,
) -> Result<Placed> {
    let file = named(workspace, files, name, "deleted")?;
    // A deletion has nothing to merge, whatever `on_conflict` says.
    let merge = Some(OnConflict::Merge);
    let base = base_of(workspace, &file, edit.expected_hash.as_deref(), merge, options).await?;
    if matches!(base, Base::Older(_)) || (edit.expected_hash.is_some() && !matches!(base, Base::Present)) {
        return Err(changed_before_deletion(&file));
    }
    let bare = |text: &str| text.trim_start_matches('\u{feff}').replace("\r\n", "\n").trim_end_matches('\n').to_owned();
    if let Some(content) = content
        && bare(content) != bare(&file.text)
    {
        let hash = file.hash.to_hex().to_string();
        let detail = format!(
            "`{}` is not deleted, because it has other lines than the patch deletes: read it again, or delete it \
             whatever it holds (`{{\"file\": …, \"delete\": true}}`, `*** Delete File:`)",
            file.path
        );
        let diff = Some(unified(Some(content), Some(&file.text), &file.path));
        let help = Help { actual_hash: Some(hash), file: Some(file.path.to_string()), diff, ..Help::default() };
        return Err(Error::new(Code::HashMismatch, detail).with_help(help));
    }
    Ok(without_text(file, Fate::Deleted))
}

/// The error for the deletion of a file that others changed since its author saw it.
fn changed_before_deletion(file: &File) -> Error {
    let (actual, digits) = (file.hash.to_hex().to_string(), first_digits(file));
    let detail = format!(
        "`{}` is not deleted, because it is not what you read: its hash is {digits} now, and the changes of others would \
         be deleted with it; read it again, and delete it with this hash as `expected_hash` if it is still to go",
        file.path
    );
    let help = Help { actual_hash: Some(actual), file: Some(file.path.to_string()), ..Help::default() };
    Error::new(Code::HashMismatch, detail).with_help(help)
}

/// A file that gets another name. Its content, also what others changed, moves with it.
pub(super) async fn moved(
    workspace: &Workspace,
    files: &Files,
    name: &str,
    to: &str,
    edit: &Edit,
    options: &RequestOptions,
) -> Result<Placed> {
    let to = workspace.locate(to)?;
    let file = named(workspace, files, name, "moved")?;
    base_of(workspace, &file, edit.expected_hash.as_deref(), edit.on_conflict, options).await?;
    if *file.path == *to {
        let detail = format!("`move_to`: `{to}` is the name that the file has");
        return Err(Error::new(Code::InvalidRequest, detail));
    }
    let is_taken = existing(workspace, files, &to)?.is_some();
    Ok(without_text(file, Fate::Moved { to, is_taken }))
}

fn without_text(file: Arc<File>, fate: Fate) -> Placed {
    Placed { fate, ..Placed::of(file, Patch { range: Span::default(), text: String::new() }, Strategy::Whole) }
}

/// A file under its own name, not under the name of a link.
fn named(workspace: &Workspace, files: &Files, name: &str, verb: &str) -> Result<Arc<File>> {
    let real = workspace.locate(name)?;
    if let Some(link) = workspace.link(name)? {
        let detail = format!("`{link}` is a link to `{real}`, and a link is not {verb}: name the file itself");
        return Err(Error::new(Code::InvalidRequest, detail));
    }
    match existing(workspace, files, &real)? {
        Some(file) => Ok(file),
        None => text_of(files, &real),
    }
}

/// A file of the workspace, also one without a text in the index. An error if the file is not text: it must not be
/// treated as missing.
fn existing(workspace: &Workspace, files: &Files, name: &str) -> Result<Option<Arc<File>>> {
    match files.get(name) {
        Some(file) => Ok(Some(file.clone())),
        None => Ok(workspace.read_if_there(name)?.map(|text| Arc::new(workspace.file(name, text)))),
    }
}

/// Why the file of an edit does not exist yet: another edit of the change makes it. Empty if none does.
pub(super) fn made_by_another(edits: &[Edit], index: usize) -> String {
    let Some(Target::Text { file, .. } | Target::Delete { file, .. } | Target::Move { file, .. }) =
        edits.get(index).map(|it| &it.target)
    else {
        return String::new();
    };
    let hint = edits.iter().enumerate().find_map(|(at, edit)| match &edit.target {
        Target::Move { file: old, to } if to == file => {
            Some(format!("; edit {at} gives `{old}` this name: the other edits of that file name it `{old}`"))
        }
        Target::File { file: new, .. } if new == file => {
            Some(format!("; edit {at} makes it: put the text into its `content`"))
        }
        _ => None,
    });
    hint.unwrap_or_default()
}

/// The refusal of an edit that makes a file which another edit of the change deletes.
pub(super) fn deleted_by_another(edits: &[Edit], index: usize) -> Option<Error> {
    let Some(Target::File { file, .. }) = edits.get(index).map(|it| &it.target) else { return None };
    let deletes = |it: &Edit| matches!(&it.target, Target::Delete { file: other, .. } if other == file);
    let other = edits.iter().position(deletes)?;
    let detail = format!(
        "edit {other} deletes `{file}`, and edit {index} creates it: all edits refer to the files before the change; \
         replace the content in one edit, with `content` and `mode: \"overwrite\"`"
    );
    let help = Help { edit: Some(index), file: Some(file.clone()), ..Help::default() };
    Some(Error::new(Code::InvalidRequest, detail).with_help(help))
}

/// What all edits of one file, each with its index, do with it. Edits that contradict each other are refused.
pub(super) fn fate(name: &str, edits: &[(usize, &Placed)]) -> Result<Fate> {
    let of = |wanted: fn(&Fate) -> bool| edits.iter().filter(move |(_, it)| wanted(&it.fate));
    let clash = |one: &(usize, &Placed), other: &(usize, &Placed)| {
        let (first, second) = if one.0 <= other.0 { (one, other) } else { (other, one) };
        let [does, also] = [first, second].map(|it| it.1.fate.verb());
        let detail = format!(
            "edit {} {does} `{name}`, and edit {} {also} it: all edits refer to the files before the change; send one \
             of them, or both in one",
            first.0, second.0
        );
        let help = Help { edit: Some(second.0), file: Some(name.to_owned()), ..Help::default() };
        Err(Error::new(Code::InvalidRequest, detail).with_help(help))
    };
    // These allow no other edit of the file, or none that changes its text.
    for alone in of(|it| matches!(it, Fate::Deleted | Fate::Created)) {
        if let Some(other) = edits.iter().find(|it| !std::ptr::eq(it.1, alone.1)) {
            return clash(alone, other);
        }
    }
    for overwriting in of(|it| *it == Fate::Overwritten) {
        if let Some(other) = edits.iter().find(|it| it.1.has_text() && !std::ptr::eq(it.1, overwriting.1)) {
            return clash(overwriting, other);
        }
    }
    for twice in
        [of(|it| *it == Fate::Appended).collect::<Vec<_>>(), of(|it| matches!(it, Fate::Moved { .. })).collect()]
    {
        if let [first, second, ..] = twice[..] {
            return clash(first, second);
        }
    }
    let whole = edits.iter().find(|it| !it.1.has_text()).or_else(|| of(|it| *it == Fate::Created).next());
    Ok(whole.map_or(Fate::Stays, |it| it.1.fate.clone()))
}

/// The new names of moved files, each with the old name.
type Moves = BTreeMap<String, String>;

/// One edit for each file, from each file's old content, its fate and its new text. A new name must be free, or become
/// free in the same change.
pub(super) fn settle(files: &[(Arc<File>, Fate, String)]) -> Result<(Vec<FileEdit>, Moves)> {
    let mut edits: BTreeMap<&str, FileEdit> = BTreeMap::new();
    for (file, fate, text) in files {
        let old = (*fate != Fate::Created).then(|| file.text.clone());
        let new = matches!(fate, Fate::Stays | Fate::Created).then(|| Arc::from(text.as_str()));
        edits.insert(&file.path, FileEdit { file: file.path.to_string(), old, new });
    }
    let mut moves = Moves::new();
    for (file, fate, text) in files {
        let Fate::Moved { to, is_taken } = fate else { continue };
        let empty = || FileEdit { file: to.clone(), old: None, new: None };
        let is_known = edits.contains_key(to.as_str());
        let target = edits.entry(to).or_insert_with(empty);
        if target.new.is_some() || (*is_taken && !is_known) {
            let detail = format!("`{}` cannot become `{to}`, which exists or is made by the same change", file.path);
            let help = Help { file: Some(to.clone()), ..Help::default() };
            return Err(Error::new(Code::AlreadyExists, detail).with_help(help));
        }
        target.new = Some(Arc::from(text.as_str()));
        moves.insert(to.clone(), file.path.to_string());
    }
    Ok((edits.into_values().collect(), moves))
}

/// The lines that new files need elsewhere and that the change does not add itself, such as `mod name;`.
pub(super) fn undeclared(workspace: &Workspace, files: &Files, edits: &[FileEdit]) -> Vec<Finding> {
    let is_added = |file: &str, line: &str| {
        let new = edits.iter().find(|it| it.file == file).and_then(|it| it.new.as_deref());
        new.is_some_and(|text| text.lines().any(|it| it.trim().ends_with(line)))
    };
    let mention = |edit: &FileEdit| {
        let text = edit.new.as_deref().filter(|_| edit.old.is_none())?;
        let kind = workspace.registry().kind_of(workspace.language_of(&edit.file)?)?;
        kind.declare(files, &edit.file, text).mention
    };
    edits.iter().filter_map(mention).filter(|it| !is_added(&it.edit.file, &it.line)).map(undeclared_finding).collect()
}
