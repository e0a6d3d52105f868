//! `edit`: one right place or nowhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ask::{Ask, Reply, ask, languages_of};
use super::open::text_of;
use super::report::{Mode, OnBreak, Plan, Report, carry_out};
use crate::lang::files::{File, Files};
use crate::model::{
    Answer, Candidate, Code, Error, FileEdit, Help, Landed, OutlineItem, Result, Span, Strategy, Symbol, SymbolKind,
    SymbolQuery,
};
use crate::text::matching::{self, Hit, Outcome, Patch, Search};
use crate::workspace::{Cause, Workspace};

/// Of many places that fit, so many are shown.
const MOST_CANDIDATES: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    Body,
    Whole,
    Before,
    After,
    Delete,
}

/// Where an edit goes: at a text that is searched, or at a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Text { file: String, search_context: String, near_line: Option<usize>, expected_hash: Option<String> },
    Symbol { symbol: String, package: Option<String>, file: Option<String>, at: At, expected_hash: Option<String> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub target: Target,
    pub replacement: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditRequest {
    pub edits: Vec<Edit>,
    /// 0 to 100: the least similarity accepted; 0: exact or white-space-only.
    pub autofix: u8,
    pub dry_run: bool,
    pub on_break: OnBreak,
}

pub async fn edit(workspace: &Workspace, request: &EditRequest, asked: &Ask) -> Result<Reply<Report>> {
    if request.edits.is_empty() {
        return Err(Error::new(Code::InvalidRequest, "`edits` is empty: give at least one"));
    }
    let mode = Mode::new(Cause::Edit, request.dry_run, request.on_break);
    carry_out(workspace, asked, mode, || plan(workspace, request, asked)).await
}

/// One edit that has found its place.
struct Placed {
    file: Arc<File>,
    patch: Patch,
    strategy: Strategy,
    score: f64,
}

/// All edits are matched against the same state, before any of them.
async fn plan(workspace: &Workspace, request: &EditRequest, asked: &Ask) -> Result<Plan> {
    let snapshot = workspace.snapshot(asked.needs(None, false)).await?;
    let several = request.edits.len() > 1;
    let mut placed: Vec<Placed> = Vec::new();
    for (index, edit) in request.edits.iter().enumerate() {
        let one = place(workspace, edit, request.autofix, &snapshot.files, asked).await.map_err(|mut error| {
            error.help.edit = several.then_some(index);
            error
        })?;
        placed.push(one);
    }
    combine(&placed)
}

async fn place(workspace: &Workspace, edit: &Edit, autofix: u8, files: &Files, asked: &Ask) -> Result<Placed> {
    match &edit.target {
        Target::Text { file, search_context, near_line, expected_hash } => {
            let file = text_of(files, &workspace.locate(file)?)?;
            check_hash(&file, expected_hash.as_deref())?;
            let (context, replacement, near_line) = (search_context.clone(), edit.replacement.clone(), *near_line);
            // The fuzzy stage may take milliseconds.
            let found = tokio::task::spawn_blocking(move || {
                let patch = search(&file, &context, &replacement, autofix, near_line);
                patch.map(|(patch, hit)| Placed { file, patch, strategy: hit.strategy, score: hit.score })
            });
            found.await.map_err(|_| Error::new(Code::Internal, "the search failed; nothing was changed"))?
        }
        Target::Symbol { symbol, package, file, at, expected_hash } => {
            let file = file.as_deref().map(|it| workspace.locate(it)).transpose()?;
            let query = SymbolQuery { symbol: symbol.clone(), package: package.clone(), file };
            let (symbol, file) = find_symbol(workspace, &query, asked).await?;
            check_hash(&file, expected_hash.as_deref())?;
            let patch = at_symbol(&file, &symbol, *at, &edit.replacement)?;
            Ok(Placed { file, patch, strategy: Strategy::Symbol, score: 100.0 })
        }
    }
}

fn search(
    file: &File,
    context: &str,
    replacement: &str,
    autofix: u8,
    near_line: Option<usize>,
) -> Result<(Patch, Hit)> {
    matching::refuse_elisions("replacement", replacement, &file.text)?;
    let search = Search { text: &file.text, context, autofix, near_line, within: None };
    let hit = match matching::find(&search)? {
        Outcome::Found(hit) => hit,
        Outcome::Ambiguous(hits) => return Err(ambiguous(file, &hits)),
        Outcome::Missed { nearest, reason } => return Err(missed(file, context, replacement, nearest, &reason)),
    };
    Ok((matching::patch(&file.text, &hit, context, replacement), hit))
}

fn ambiguous(file: &File, hits: &[Hit]) -> Error {
    let candidates: Vec<Candidate> = hits
        .iter()
        .take(MOST_CANDIDATES)
        .map(|hit| Candidate {
            place: file.lines().place(&file.path, hit.span),
            score: hit.score,
            text: file.text.get(hit.span.start..hit.span.end).unwrap_or_default().to_owned(),
        })
        .collect();
    let lines: Vec<String> = candidates.iter().map(|it| it.place.line.to_string()).collect();
    let detail = format!(
        "the text stands at {} places in `{}` (lines {}): add lines around it, or give `near_line`",
        hits.len(),
        file.path,
        lines.join(", "),
    );
    Error::new(Code::Ambiguous, detail).with_help(Help {
        candidates,
        file: Some(file.path.to_string()),
        ..Help::default()
    })
}

fn missed(file: &File, context: &str, replacement: &str, nearest: Option<Hit>, reason: &str) -> Error {
    let done = matching::already_applied(&file.text, replacement)
        .map(|span| format!("; the replacement stands there already, at line {}", file.lines().line(span.start)))
        .unwrap_or_default();
    let detail = format!("the text is not in `{}`: {reason}{done}", file.path);
    let nearest = nearest.map(|hit| matching::nearest(&file.text, &file.path, context, &hit));
    let hash = Some(file.hash.to_hex().to_string());
    Error::new(Code::NoMatch, detail).with_help(Help {
        nearest,
        actual_hash: hash,
        file: Some(file.path.to_string()),
        ..Help::default()
    })
}

pub(super) fn check_hash(file: &File, expected: Option<&str>) -> Result<()> {
    let actual = file.hash.to_hex();
    match expected {
        Some(expected) if !expected.eq_ignore_ascii_case(&actual) => {
            let detail = format!("`{}` is not what you read: its hash is {actual} now; read it again", file.path);
            let help =
                Help { actual_hash: Some(actual.to_string()), file: Some(file.path.to_string()), ..Help::default() };
            Err(Error::new(Code::HashMismatch, detail).with_help(help))
        }
        _ => Ok(()),
    }
}

/// A symbol with the very text that its place speaks of.
pub(super) async fn find_symbol(
    workspace: &Workspace,
    query: &SymbolQuery,
    asked: &Ask,
) -> Result<(Symbol, Arc<File>)> {
    let mut miss = None;
    for language in languages_of(workspace, query) {
        let found = ask(workspace, asked.needs(Some(language), true), None, |it| {
            let query = query.clone();
            async move {
                let view =
                    it.view.ok_or_else(|| Error::new(Code::UnknownSymbol, "there is no code of this language"))?;
                let symbol = view.resolve(query).await?;
                if symbol.external {
                    let detail = format!("`{}` is not part of this workspace and cannot be edited", symbol.path);
                    return Err(Error::new(Code::OutsideWorkspace, detail).into());
                }
                let file = text_of(&it.files, &symbol.name_at.file)?;
                Ok(Answer::whole((symbol, file)))
            }
        })
        .await;
        match found {
            Ok(reply) => return Ok(reply.value),
            Err(error) if error.code == Code::UnknownSymbol => miss = miss.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    Err(miss.unwrap_or_else(|| Error::new(Code::UnknownSymbol, format!("there is no symbol `{}`", query.symbol))))
}

/// What an edit at a symbol replaces, brought to the symbol's indentation.
fn at_symbol(file: &File, symbol: &Symbol, at: At, replacement: &str) -> Result<Patch> {
    let outline = file.outline();
    let mut found = None;
    outline.walk(&mut |item| {
        if item.name_span.start == symbol.name_at.start && item.kind != SymbolKind::Impl {
            found = Some(item);
        }
    });
    let item: &OutlineItem = found.ok_or_else(|| {
        let detail = format!("`{}` is made by a macro and has no text of its own: edit the macro's input", symbol.path);
        Error::new(Code::InvalidRequest, detail)
    })?;
    if symbol.declared_at.is_some() && matches!(at, At::Body | At::Whole) {
        let detail = format!("`{}` is a file of its own: edit `{}`", symbol.path, symbol.place.file);
        return Err(Error::new(Code::InvalidRequest, detail));
    }
    let text = &*file.text;
    let line_start = text[..item.span.start].rfind('\n').map_or(0, |it| it + 1);
    let outer: &str = &text[line_start..item.span.start];
    let outer: &str = if outer.trim().is_empty() { outer } else { "" };
    let is_member = matches!(item.kind, SymbolKind::Field | SymbolKind::Variant);
    let between = if is_member { "\n" } else { "\n\n" };
    let mut patch = match at {
        At::Body => {
            let body = item.body.ok_or_else(|| {
                Error::new(Code::InvalidRequest, format!("`{}` has no body: use `at: \"whole\"`", symbol.path))
            })?;
            let unit = if file.path.ends_with(".go") || text.contains("\n\t") { "\t" } else { "    " };
            let inner = format!("{outer}{unit}");
            let text = match replacement.trim() {
                "" => String::new(),
                _ => format!("\n{inner}{}\n{outer}", indented(replacement, &inner)),
            };
            Patch { range: body, text }
        }
        At::Whole => Patch { range: item.span, text: indented(replacement, outer) },
        At::Before => {
            let start = Span::new(item.span.start, item.span.start);
            Patch { range: start, text: format!("{}{between}{outer}", indented(replacement, outer)) }
        }
        At::After => {
            let end = after_separator(text, item.span.end);
            Patch { range: Span::new(end, end), text: format!("{between}{outer}{}", indented(replacement, outer)) }
        }
        At::Delete => {
            if !replacement.is_empty() {
                let detail = "`at: \"delete\"` takes no `replacement`: leave it out or empty";
                return Err(Error::new(Code::InvalidRequest, detail));
            }
            Patch { range: to_delete(text, item.span, line_start, outer), text: String::new() }
        }
    };
    if text.contains("\r\n") {
        patch.text = patch.text.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    Ok(patch)
}

/// A text at an indentation: what all its lines share is replaced. The first line has none, since it stands already.
fn indented(text: &str, indent: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let text = text.trim_matches('\n').trim_end();
    let margin = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let shared = text.lines().filter(|it| !it.trim().is_empty()).map(margin).min().unwrap_or_default();
    let mut out = String::new();
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let line = line.get(shared..).unwrap_or_default();
        if index > 0 && !line.trim().is_empty() {
            out.push_str(indent);
        }
        out.push_str(line.trim_end_matches('\r'));
    }
    out
}

fn after_separator(text: &str, end: usize) -> usize {
    let rest = &text[end..];
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    if rest[blanks..].starts_with(',') { end + blanks + 1 } else { end }
}

/// The symbol with its separator and its lines, and one of the blank lines around it.
fn to_delete(text: &str, span: Span, line_start: usize, outer: &str) -> Span {
    let mut end = after_separator(text, span.end);
    let own_lines = line_start + outer.len() == span.start;
    let rest = &text[end..];
    let line_rest = rest.find('\n').map_or(rest, |at| &rest[..at]);
    if !own_lines || !line_rest.trim().is_empty() {
        return Span::new(span.start, end);
    }
    end += (line_rest.len() + 1).min(rest.len());
    let blank_before =
        line_start == 0 || text[..line_start].ends_with("\n\n") || text[..line_start].ends_with("\n\r\n");
    let after = &text[end..];
    let next = after.find('\n').map_or(after, |at| &after[..=at]);
    if blank_before && !next.is_empty() && next.trim().is_empty() {
        end += next.len();
    }
    Span::new(line_start, end)
}

/// The edits of each file together, and where each landed.
fn combine(placed: &[Placed]) -> Result<Plan> {
    let mut by_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, it) in placed.iter().enumerate() {
        by_file.entry(&it.file.path).or_default().push(index);
    }
    let mut edits = Vec::new();
    let mut landed: BTreeMap<usize, Landed> = BTreeMap::new();
    for (name, indexes) in by_file {
        let file = &placed[indexes[0]].file;
        if indexes.iter().any(|&index| placed[index].file.hash != file.hash) {
            let detail = format!("`{name}` was changed by somebody else meanwhile: try again");
            return Err(Error::new(Code::Conflict, detail));
        }
        let patches: Vec<Patch> = indexes.iter().map(|&index| placed[index].patch.clone()).collect();
        let (text, spans) = matching::apply_all(&file.text, &patches)?;
        let after = File::new(name, text);
        for (&index, span) in indexes.iter().zip(spans) {
            let place = after.lines().place(name, span);
            landed.insert(index, Landed { strategy: placed[index].strategy, score: placed[index].score, place });
        }
        edits.push(FileEdit { file: name.to_owned(), old: Some(file.text.clone()), new: Some(after.text.clone()) });
    }
    Ok(Plan { edits, landed: landed.into_values().collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(text: &str, name: &str, at: At, replacement: &str) -> String {
        let file = File::new("a.rs", text);
        let outline = file.outline().clone();
        let mut item = None;
        outline.walk(&mut |it| {
            if it.name == name && it.kind != SymbolKind::Impl {
                item = Some(it.clone());
            }
        });
        let item = item.expect("the item is there");
        let place = |span| file.lines().place("a.rs", span);
        let symbol = Symbol {
            path: name.to_owned(),
            kind: item.kind,
            name: name.to_owned(),
            signature: String::new(),
            package: String::new(),
            place: place(item.span),
            name_at: place(item.name_span),
            declared_at: None,
            docs: None,
            external: false,
            public: true,
            test: false,
            usages: None,
            children: Vec::new(),
        };
        let patch = at_symbol(&file, &symbol, at, replacement).expect("it has a place");
        matching::apply_all(text, &[patch]).expect("one patch cannot overlap").0
    }

    #[test]
    fn a_symbol_takes_its_docs_and_separators_along() {
        let text =
            "struct S {\n    /// One.\n    a: u8,\n    b: u8,\n}\n\n/// Does.\nfn f() {\n    g();\n}\n\nfn g() {}\n";
        assert_eq!(patched(text, "a", At::Delete, ""), text.replace("    /// One.\n    a: u8,\n", ""));
        assert_eq!(patched(text, "f", At::Delete, ""), text.replace("/// Does.\nfn f() {\n    g();\n}\n\n", ""));
        assert_eq!(patched(text, "a", At::After, "c: u8,"), text.replace("a: u8,\n", "a: u8,\n    c: u8,\n"));
        assert_eq!(
            patched(text, "f", At::Body, "h();\nif x {\n    i();\n}"),
            text.replace("    g();\n", "    h();\n    if x {\n        i();\n    }\n")
        );
        assert_eq!(patched(text, "g", At::Before, "fn h() {}"), text.replace("fn g()", "fn h() {}\n\nfn g()"));
        assert_eq!(
            patched(text, "f", At::Whole, "fn f() {}"),
            text.replace("/// Does.\nfn f() {\n    g();\n}", "fn f() {}")
        );
    }

    #[test]
    fn line_endings_stay() {
        let text = "fn f() {\r\n    g();\r\n}\r\n";
        assert_eq!(patched(text, "f", At::Body, "h();\ni();"), "fn f() {\r\n    h();\r\n    i();\r\n}\r\n");
    }
}
