//! Applies the edits of a reply as one change, or returns why not: each edit that matches no place, with the text that
//! is there.

use std::path::Path;

use super::feedback::{Finding, Miss};
use super::visible_files::VisibleFiles;
use semdex_contract::{ChangeReport, Diagnostic, EditRequest, Reply, Request, Severity, from_parsed};
use semdex_model::{Code, Error};
use semdex_ops::{Client, Service};
use semdex_text::blocks::{Action, Block};
use semdex_text::matching::{self, Outcome, Search};

/// The default of the call `edit`.
const AUTOFIX: u8 = 95;
/// How many of the matching places are shown.
const MOST_PLACES: usize = 4;

/// Why the edits were not applied.
pub(crate) enum Refused {
    /// The model can correct it.
    Missed(Vec<Miss>),
    /// The model cannot correct it.
    Failed(Error),
}

/// Applies all edits or none.
pub(crate) async fn apply(
    service: &Service,
    workspace: &str,
    client: &str,
    visible: &VisibleFiles,
    blocks: &[Block],
    dry_run: bool,
) -> Result<ChangeReport, Refused> {
    let hidden: Vec<Miss> = blocks
        .iter()
        .filter(|it| visible.hides(&it.file))
        .map(|it| Miss {
            why: "this file is ignored or holds secrets: it is not edited".to_owned(),
            search: None,
            ..of(it)
        })
        .collect();
    if !hidden.is_empty() {
        return Err(Refused::Missed(hidden));
    }
    let request = EditRequest {
        parsed: Some(from_parsed(blocks.to_vec())),
        dry_run: Some(dry_run),
        workspace: Some(workspace.to_owned()),
        ..EditRequest::default()
    };
    match Box::pin(semdex_ops::answer(service, Request::Edit(request), Client::named(client))).await {
        Ok(Reply::Edit(report)) => Ok(report),
        Ok(_) => Err(Refused::Failed(Error::new(Code::Internal, "an edit was answered as something else"))),
        Err(error) if is_for_the_model(error.code) => Err(Refused::Missed(misses(visible, blocks, &error))),
        Err(error) => Err(Refused::Failed(error)),
    }
}

/// Normalises the name of a file in a reply.
pub(crate) fn plain_name(file: &str, root: &Path) -> String {
    let inside = Path::new(file).strip_prefix(root).ok().and_then(|it| it.to_str()).unwrap_or(file);
    inside.trim_start_matches("./").to_owned()
}

fn is_for_the_model(code: Code) -> bool {
    matches!(
        code,
        Code::NoMatch
            | Code::Ambiguous
            | Code::AlreadyExists
            | Code::Conflict
            | Code::AlreadyApplied
            | Code::Elided
            | Code::InvalidContent
            | Code::InvalidRequest
            | Code::NotText
            | Code::OutsideWorkspace
            | Code::PermissionDenied
            | Code::TooLarge
            | Code::UnknownFile
    )
}

fn of(block: &Block) -> Miss {
    let search = match &block.action {
        Action::Replace { search, .. } => Some(search.clone()),
        Action::Create(_) | Action::Whole(_) => None,
    };
    Miss { file: block.file.clone(), reply_line: block.line, search, ..Miss::default() }
}

/// The refused edit, and all other edits that would be refused.
fn misses(visible: &VisibleFiles, blocks: &[Block], error: &Error) -> Vec<Miss> {
    let refused = error.help.edit.unwrap_or_default();
    let mut misses = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        if at == refused {
            misses.push(miss_of(visible, block, error));
        } else if let Action::Replace { search, replacement } = &block.action
            && let Some(file) = visible.get(&block.file)
        {
            let (text, context) = (&*file.text, search.as_str());
            let search = Search {
                text,
                context,
                replacement,
                autofix: AUTOFIX,
                near_line: None,
                within: None,
                whole_lines: true,
            };
            let lines = |start: usize, end: usize| (file.lines().line(start), file.lines().line(end));
            match matching::find(&search) {
                Ok(Outcome::Found(hit)) => {
                    if let Err(conflict) = matching::patch(text, &hit, context, replacement) {
                        let why =
                            format!("the text differs from the file where the edit changes it: {}", conflict.reason);
                        misses.push(Miss { why, places: vec![lines(hit.span.start, hit.span.end)], ..of(block) });
                    }
                }
                Ok(Outcome::Ambiguous(hits)) => {
                    let places = hits.iter().take(MOST_PLACES).map(|it| lines(it.span.start, it.span.end)).collect();
                    let why = format!("the text is at {} places: add lines around it", hits.len());
                    misses.push(Miss { why, places, ..of(block) });
                }
                Ok(Outcome::NotFound { nearest, reason }) => {
                    let places = nearest.iter().map(|it| lines(it.span.start, it.span.end)).collect();
                    misses.push(Miss { why: reason, places, ..of(block) });
                }
                Err(error) => misses.push(Miss { why: error.detail, ..of(block) }),
            }
        }
    }
    misses
}

fn miss_of(visible: &VisibleFiles, block: &Block, error: &Error) -> Miss {
    let nearest = error.help.nearest.iter().map(|it| &it.place).chain(error.help.conflict.iter().map(|it| &it.place));
    let mut places: Vec<(usize, usize)> = nearest.map(|it| (it.line, it.end_line)).collect();
    places.extend(error.help.candidates.iter().take(MOST_PLACES).map(|it| (it.place.line, it.place.end_line)));
    if places.is_empty()
        && let Some(file) = visible.get(&block.file)
    {
        places.push((1, file.lines().line_count().min(40)));
    }
    let mut why = error.detail.clone();
    if !error.help.suggestions.is_empty() && error.code == Code::UnknownFile {
        why.push_str(&format!("; there are {}", error.help.suggestions.join(", ")));
    }
    Miss { why, places, ..of(block) }
}

/// The errors that a change causes: the places that it breaks, and the errors in its own text.
pub(crate) fn errors(report: &ChangeReport) -> Vec<Diagnostic> {
    let broken = report.impact.broken.iter().map(|it| Diagnostic::of_broken(it, "semdex"));
    let new = report.diagnostics.new.iter().filter(|it| it.severity == Severity::Error).cloned();
    broken.chain(new).collect()
}

/// The same errors for the model.
pub(crate) fn findings(errors: &[Diagnostic]) -> Vec<Finding> {
    let finding = |it: &Diagnostic| Finding {
        file: Some(it.place.file.clone()),
        line: Some(it.place.line),
        what: it
            .code
            .as_ref()
            .map_or_else(|| it.severity.name().to_owned(), |code| format!("{}[{code}]", it.severity.name())),
        message: it.message.clone(),
        output: String::new(),
    };
    errors.iter().map(finding).collect()
}
