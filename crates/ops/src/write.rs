//! `write`: appends to a file, replaces or creates it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::apply_change::{Mode, Plan, apply_change};
use super::base::{Base, Retry, base_of, check_digits, first_digits, merged, refuse_deleted};
use super::format_and_imports::FormatOptions;
use super::query::RequestOptions;
use semdex_contract::{ChangeReport, Elisions, Finding, FindingKind, OnBreak, WriteMode, WriteRequest};
use semdex_engine::files::File;
use semdex_engine::{Declaration, Mention};
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
    let elisions = request.elisions.unwrap_or(Elisions::Refuse);
    let mode = Mode::new(Cause::Write, request.dry_run.unwrap_or_default(), on_break);
    let mode = Mode { format_options, files, elisions, ..mode };
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
        (None, Some(digits)) => {
            check_digits(Some(digits))?;
            let detail = format!("`{name}` does not exist, so it has no hash to expect");
            return Err(Error::new(Code::HashMismatch, detail));
        }
        (None, None) if request.mode == Some(WriteMode::Overwrite) => {
            refuse_deleted(workspace, &name, options)?;
            Base::Present
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
        (WriteMode::Append, Some(file)) => {
            if !request.repeat.unwrap_or_default() {
                refuse_whole_file(&name, &file.text, &request.content)?;
            }
            appended(&file.text, &request.content)
        }
        (_, Some(file)) => match &base {
            Base::Older(base) => {
                let ours = overwritten(base, &request.content);
                let merged = merged(file, base, &ours, Retry::ByHash)?;
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
        Some(it) => {
            let mut finding = undeclared_finding(it);
            finding.detail.push_str(": send `declare: true` to add it in the same change");
            findings.push(finding);
        }
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
pub(super) fn base_is_gone(file: &File) -> Error {
    let (actual, digits) = (file.hash.to_hex().to_string(), first_digits(file));
    let detail = format!(
        "nothing was written: `{}` has the hash {digits} now. The text with `expected_hash` is no longer kept, so this \
         content cannot be merged with the changes of others; read the file again",
        file.path
    );
    let help = Help { actual_hash: Some(actual), file: Some(file.path.to_string()), ..Help::default() };
    Error::new(Code::HashMismatch, detail).with_help(help)
}

/// The finding that no file mentions a new file.
pub(super) fn undeclared_finding(mention: Mention) -> Finding {
    let Mention { line, edit, whole } = mention;
    Finding {
        kind: FindingKind::Undeclared,
        line: 1,
        text: line.clone(),
        detail: format!("the new file is no part of its {whole} until `{}` says `{line}`", edit.file),
        suggestions: vec![line],
        file: edit.file,
    }
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

/// The text with the content on lines of its own, in the line endings at the end of the text, and the offset of the
/// content. A line ending is added where the last line of either has none; nothing else is changed.
pub(super) fn appended(text: &str, content: &str) -> (String, usize) {
    let content = content.strip_prefix('\u{feff}').unwrap_or(content);
    let mut out = text.to_owned();
    if content.is_empty() || text.trim_start_matches('\u{feff}').is_empty() {
        out.push_str(content);
        return (out, text.len());
    }
    let newline = endings::at(text, text.len());
    let has_end = endings::ends_line(text);
    if !has_end {
        out.push_str(newline);
    }
    let from = out.len();
    out.push_str(&endings::unix(content).replace('\n', newline));
    if has_end && !endings::ends_line(&out) {
        out.push_str(newline);
    }
    (out, from)
}

/// Refuses to append what is a whole file: a text that begins like the file, or with what only the start of a file may
/// have.
pub(super) fn refuse_whole_file(name: &str, text: &str, content: &str) -> Result<()> {
    let Some(why) = begins_again(name, text, content) else { return Ok(()) };
    let detail = format!(
        "nothing was written: `content` is a whole file, not an addition to `{name}`: {why}. Send it with `mode: \
         \"overwrite\"` to replace the file, or only the lines that are new; `repeat: true` appends it as it is"
    );
    let help = Help { file: Some(name.to_owned()), ..Help::default() };
    Err(Error::new(Code::AlreadyExists, detail).with_help(help))
}

/// How many lines at the start of two texts are compared.
const FIRST_LINES: usize = 2;

/// Why a content is a whole file and no addition to the text.
fn begins_again(name: &str, text: &str, content: &str) -> Option<String> {
    fn lines(text: &str) -> impl Iterator<Item = &str> {
        let text = text.trim_start_matches('\u{feff}');
        text.split(['\n', '\r']).map(str::trim_end).filter(|it| !it.is_empty())
    }
    let first = lines(content).next()?;
    let compared = if [".csv", ".tsv"].iter().any(|it| name.ends_with(it)) { 1 } else { FIRST_LINES };
    let [there, sent] = [text, content].map(|it| lines(it).take(compared).collect::<Vec<&str>>());
    // A single line may be appended twice, for example to a log.
    if lines(content).nth(1).is_some() && !there.is_empty() && sent.starts_with(&there) {
        return Some(format!("it begins like the file (`{first}`)"));
    }
    // What a file has once, at its start.
    let opens = |it: &str| {
        let (word, lower) = (it.split_whitespace().next().unwrap_or_default(), it.to_lowercase());
        let by_start = ["<?xml", "<!doctype"].iter().any(|start| lower.starts_with(start));
        by_start || word == "package" || (it.starts_with("#!") && !it.starts_with("#!["))
    };
    let is_comment = |it: &&str| it.starts_with("//") && !it.starts_with("//!");
    let [there, sent] = [text, content].map(|it| lines(it).find(|it| !is_comment(it)));
    let (there, sent) = (there?, sent?);
    if opens(sent) && opens(there) {
        return Some(format!("its start (`{sent}`) is what the file begins with (`{there}`)"));
    }
    let is_inner = |it: &str| it.starts_with("//!") || it.starts_with("#![");
    let has_items = lines(text).any(|it| !is_inner(it) && !it.starts_with("//"));
    (is_inner(sent) && has_items).then(|| format!("`{sent}` is only allowed at the start of a file"))
}

#[cfg(test)]
mod tests {
    use super::{appended, begins_again, overwritten};

    #[test]
    fn only_a_line_end_that_is_missing_is_added() {
        assert_eq!(appended("a\n", "b"), ("a\nb\n".to_owned(), 2));
        assert_eq!(appended("a\n\n\n", "\nb\n"), ("a\n\n\n\nb\n".to_owned(), 4));
        assert_eq!(appended("a", "b\n"), ("a\nb\n".to_owned(), 2));
        assert_eq!(appended("a", "b"), ("a\nb".to_owned(), 2));
        assert_eq!(appended("a,\t", "b,\t\n"), ("a,\t\nb,\t\n".to_owned(), 4));
        assert_eq!(appended("", "b"), ("b".to_owned(), 0));
        assert_eq!(appended("a\r\n", "b\nc"), ("a\r\nb\r\nc\r\n".to_owned(), 3));
        assert_eq!(appended("a\rb", "c\nd\n"), ("a\rb\rc\rd\r".to_owned(), 4));
        assert_eq!(appended("a\r\r\n", "b\n"), ("a\r\r\nb\r\r\n".to_owned(), 4));
        assert_eq!(appended("\u{feff}", "b"), ("\u{feff}b".to_owned(), 3));
        assert_eq!(appended("a\n", "\u{feff}b\n"), ("a\nb\n".to_owned(), 2));
    }

    #[test]
    fn a_whole_file_is_no_addition() {
        let is_whole = |text: &str, content: &str| begins_again("a", text, content).is_some();
        let go = "// Package a does.\npackage a\n\nfunc f() {}\n";
        assert!(is_whole(go, "package a\n\nfunc g() {}\n"));
        assert!(!is_whole(go, "// g does.\nfunc g() {}\n"));
        assert!(!is_whole(go, "// package a\nfunc g() {}\n"));
        let rust = "//! A.\n\nfn f() {}\n";
        assert!(is_whole(rust, "//! B.\n\nfn g() {}\n") && is_whole(rust, "#![allow(dead_code)]\nfn g() {}\n"));
        assert!(!is_whole(rust, "#[test]\nfn g() {}\n") && !is_whole(rust, "/// G.\nfn g() {}\n"));
        assert!(!is_whole("#![allow(dead_code)]\n", "//! A.\n"));
        assert!(!is_whole("id,name\n1,a\n", "id,name\n2,b\n"));
        assert!(begins_again("a.csv", "id,name\n1,a\n", "id,name\n2,b\n").is_some());
        assert!(begins_again("a.csv", "1,a\n2,a\n", "1,a\n").is_none());
        assert!(is_whole("id,name\n", "id,name\n2,b\n") && is_whole("id,name\n1,a\n", "id,name\n1,a\n2,b\n"));
        assert!(!is_whole("tick\n", "tick\n") && !is_whole("tick\ntock\n", "tick\n"));
        assert!(is_whole("#!/bin/sh\na\n", "#!/bin/sh\nb\n") && !is_whole("#!/bin/sh\na\n", "# b\nb\n"));
        assert!(!is_whole("", "package a\n") && !is_whole("a\n", "") && !is_whole("\n", "a\nb\n"));
    }

    #[test]
    fn appending_nothing_changes_nothing() {
        assert_eq!(appended("a\n", ""), ("a\n".to_owned(), 2));
        assert_eq!(appended("a", ""), ("a".to_owned(), 1));
        assert_eq!(appended("a", "\n"), ("a\n\n".to_owned(), 2), "an empty line");
    }

    #[test]
    fn what_is_appended_ends_as_the_text_does() {
        assert_eq!(appended("a\nb\r\n", "c\n").0, "a\nb\r\nc\r\n");
        assert_eq!(appended("a\r\nb\n", "c\n").0, "a\r\nb\nc\n");
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
