//! `write`: appends to a file, replaces or creates it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::apply_change::{Mode, Plan, apply_change};
use super::base::{Base, base_of, merged};
use super::format_and_imports::FormatOptions;
use super::query::RequestOptions;
use semdex_contract::{ChangeReport, Finding, FindingKind, OnBreak, WriteMode, WriteRequest};
use semdex_engine::Declaration;
use semdex_engine::files::File;
use semdex_model::{Code, Error, FileEdit, Help, Landed, Result, Span, Strategy};
use semdex_text::endings;
use semdex_text::matching::{self, Patch};
use semdex_workspace::{Cause, Workspace};

pub(crate) async fn write(
    workspace: &Workspace,
    request: WriteRequest,
    options: &RequestOptions,
) -> Result<ChangeReport> {
    let on_break = request.on_break.unwrap_or(OnBreak::Report);
    let format_options = FormatOptions {
        format: request.format.unwrap_or_default(),
        fix_imports: request.fix_imports.unwrap_or_default(),
    };
    let files = Vec::from_iter(workspace.locate(&request.name).ok());
    let mode = Mode { format_options, files, ..Mode::new(Cause::Write, request.dry_run.unwrap_or_default(), on_break) };
    apply_change(workspace, options, mode, || plan(workspace, &request, options)).await
}

async fn plan(workspace: &Workspace, request: &WriteRequest, options: &RequestOptions) -> Result<Plan> {
    let name = workspace.locate(&request.name)?;
    if request.content.contains('\0') {
        return Err(Error::new(Code::NotText, "`content` has a NUL character: only text is written"));
    }
    let snapshot = workspace.snapshot(options.needs(None, false)).await?;
    let old = match snapshot.files.get(&name) {
        Some(file) => Some(file.clone()),
        // An existing file that is not text must not be overwritten as if it were missing.
        None => workspace.read_if_there(&name)?.map(|text| Arc::new(workspace.file(&name, text))),
    };
    let base = match (&old, &request.expected_hash) {
        (Some(file), expected) => base_of(workspace, file, expected.as_deref(), request.on_conflict, options).await?,
        (None, Some(_)) => {
            let detail = format!("`{name}` does not exist, so it has no hash to expect");
            return Err(Error::new(Code::HashMismatch, detail));
        }
        (None, None) => Base::Present,
    };
    let kind = workspace.language_of(&name).and_then(|it| workspace.registry().kind_of(it));
    let declared = match (kind, &old) {
        (Some(kind), None) => kind.declare(&snapshot.files, &name, &request.content),
        _ => Declaration::default(),
    };
    let mode = request.mode.unwrap_or(WriteMode::Append);
    let mut both = None;
    let (text, from) = match (mode, &old) {
        (WriteMode::Create, Some(_)) => {
            let detail = format!("`{name}` exists: use `mode: \"overwrite\"` or `\"append\"`");
            return Err(Error::new(Code::AlreadyExists, detail));
        }
        (WriteMode::Append, Some(file)) => appended(&file.text, &request.content),
        (_, Some(file)) => match &base {
            Base::Older(base) => {
                let ours = overwritten(base, &request.content);
                let merged = merged(file, base, &ours)?;
                (both.insert((merged, ours)).0.text.clone(), 0)
            }
            Base::Unknown if request.expected_hash.is_some() => return Err(base_is_gone(file)),
            Base::Present | Base::Unknown => (overwritten(&file.text, &request.content), 0),
        },
        (_, None) => (declared.content.clone().unwrap_or_else(|| request.content.clone()), 0),
    };
    let mention = declared.mention.filter(|_| old.is_none());
    let after = workspace.file(&name, text);
    let place = after.lines().place(&name, Span::new(from, after.text.len()));
    let edit = FileEdit { file: name, old: old.map(|it| it.text.clone()), new: Some(after.text.clone()) };
    let mut edits = vec![edit];
    let mut findings = Vec::new();
    match mention {
        Some(it) if request.declare.unwrap_or_default() => edits.push(it.edit),
        Some(it) => findings.push(Finding {
            kind: FindingKind::Undeclared,
            line: 1,
            text: it.line.clone(),
            detail: format!(
                "the new file is no part of its {} until `{}` says `{}`: send `declare: true` to add it in the same \
                 change",
                it.whole, it.edit.file, it.line
            ),
            suggestions: vec![it.line],
            file: it.edit.file,
        }),
        None => {}
    }
    let mut landed = Landed::as_sent(Strategy::Whole, 100.0, place);
    let mut believed = BTreeMap::new();
    if let Some((merged, ours)) = both {
        landed.merged = true;
        landed.kept = merged.kept.iter().map(|it| after.lines().place(&after.path, *it)).collect();
        believed.insert(after.path.to_string(), ours.into());
    }
    Ok(Plan { findings, believed, ..Plan::new(edits, vec![landed]) })
}

/// The error for a text that is no longer kept, so that nothing can be merged with it.
fn base_is_gone(file: &File) -> Error {
    let actual = file.hash.to_hex().to_string();
    let detail = format!(
        "nothing was written: `{}` has the hash {actual} now. The text with `expected_hash` is no longer kept, so this \
         content cannot be merged with the changes of others; read the file again",
        file.path
    );
    let help = Help { actual_hash: Some(actual), file: Some(file.path.to_string()), ..Help::default() };
    Error::new(Code::HashMismatch, detail).with_help(help)
}

/// The content with the byte order mark and the line endings of the old text, unless the content has its own.
fn overwritten(text: &str, content: &str) -> String {
    if content.starts_with('\u{feff}') {
        return content.to_owned();
    }
    let Patch { range, text: new } = matching::whole(text, content);
    let new = if content.contains("\r\n") { content } else { &new };
    text[..range.start].to_owned() + new
}

/// The text with the content after one blank line, in the line endings at the end of the text, and the offset of the
/// content. An empty content leaves the text unchanged.
fn appended(text: &str, content: &str) -> (String, usize) {
    if content.trim().is_empty() {
        return (text.to_owned(), text.len());
    }
    let newline = endings::at(text, text.len());
    let mut out = text.to_owned();
    if !text.trim_start_matches('\u{feff}').is_empty() {
        out.truncate(text.trim_end_matches(['\n', '\r', ' ', '\t']).len());
        out.push_str(newline);
        out.push_str(newline);
    }
    let from = out.len();
    let content = content.trim_start_matches(['\n', '\r']).replace("\r\n", "\n").replace('\n', newline);
    out.push_str(&content);
    if !content.ends_with(newline) {
        out.push_str(newline);
    }
    (out, from)
}

#[cfg(test)]
mod tests {
    use super::{appended, overwritten};

    #[test]
    fn one_blank_line_stands_between() {
        assert_eq!(appended("a\n", "b"), ("a\n\nb\n".to_owned(), 3));
        assert_eq!(appended("a\n\n\n", "\nb\n"), ("a\n\nb\n".to_owned(), 3));
        assert_eq!(appended("a", "b\n"), ("a\n\nb\n".to_owned(), 3));
        assert_eq!(appended("", "b"), ("b\n".to_owned(), 0));
        assert_eq!(appended("a\r\n", "b\nc"), ("a\r\n\r\nb\r\nc\r\n".to_owned(), 5));
        assert_eq!(appended("\u{feff}", "b"), ("\u{feff}b\n".to_owned(), 3));
    }

    #[test]
    fn appending_nothing_changes_nothing() {
        for content in ["", "\n", "\r\n \n"] {
            assert_eq!(appended("a\n", content), ("a\n".to_owned(), 2));
            assert_eq!(appended("a", content), ("a".to_owned(), 1));
        }
    }

    #[test]
    fn what_is_appended_ends_as_the_text_does() {
        assert_eq!(appended("a\nb\r\n", "c\n").0, "a\nb\r\n\r\nc\r\n");
        assert_eq!(appended("a\r\nb\n", "c\n").0, "a\r\nb\n\nc\n");
    }

    #[test]
    fn an_overwritten_text_keeps_its_form() {
        assert_eq!(overwritten("a\r\n", "b\nc\n"), "b\r\nc\r\n");
        assert_eq!(overwritten("a\n}\r\n", "b\n}\n"), "b\n}\r\n", "a line that stays");
        assert_eq!(overwritten("\u{feff}a\r\n", "b\n"), "\u{feff}b\r\n");
        assert_eq!(overwritten("\u{feff}a\n", ""), "\u{feff}");
        assert_eq!(overwritten("a", "b\n"), "b\n");
    }

    #[test]
    fn a_content_in_a_form_of_its_own_keeps_that() {
        assert_eq!(overwritten("a\n", "b\r\nc\n"), "b\r\nc\n");
        assert_eq!(overwritten("\u{feff}a\n", "b\r\n"), "\u{feff}b\r\n");
        assert_eq!(overwritten("a\r\n", "\u{feff}b\n"), "\u{feff}b\n");
        assert_eq!(overwritten("\u{feff}a\n", "\u{feff}b\n"), "\u{feff}b\n");
    }
}
