//! Edits of a text: finds the place, or returns an error that helps to find it.

use semdex_engine::files::{File, Files};
use semdex_model::{Candidate, Code, Conflict, Error, Help, Result, Span};
use semdex_text::matching::{self, Fitted, Hit, Outcome, Patch, Search};
use semdex_text::words::words;
use semdex_text::{applied, merge};

/// How many of the matching places are shown.
const MOST_CANDIDATES: usize = 20;
/// How many other files with the text are named.
const MOST_ELSEWHERE: usize = 3;

/// The only matching place, and the change for it. `repeat`: the replacement may already be there.
pub(super) fn search(files: &Files, file: &File, search: &Search, repeat: bool) -> Result<(Fitted, Hit)> {
    let around = |hit: &Hit| applied::around(&file.text, hit.span, search.context, search.replacement);
    let hit = match matching::find(search)? {
        Outcome::Found(hit) => match around(&hit) {
            Some(there) if !repeat => return Err(already_applied(file, there)),
            _ => hit,
        },
        Outcome::Ambiguous(hits) => {
            let there: Option<Vec<Span>> = hits.iter().map(around).collect();
            return Err(match there.as_deref() {
                Some([first, ..]) if !repeat => already_applied(file, *first),
                _ => ambiguous(file, search, &hits),
            });
        }
        Outcome::NotFound { nearest, reason } => {
            return Err(match replaced(file, search, nearest.as_ref()) {
                Some(there) if !repeat => already_applied(file, there),
                _ => missed(files, file, search, nearest, &reason),
            });
        }
    };
    let fitted = matching::patch(&file.text, &hit, search.context, search.replacement);
    let fitted = fitted.map_err(|it| conflict(file, &hit, it))?;
    let Patch { range, text } = &fitted.patch;
    let is_there = file.text.get(range.start..range.end) == Some(&**text);
    if is_there && !repeat && search.context != search.replacement {
        return Err(already_applied(file, hit.span));
    }
    Ok((fitted, hit))
}

/// The file differs from the search text where the edit changes it.
fn conflict(file: &File, hit: &Hit, conflict: merge::Conflict) -> Error {
    let place = file.lines().place(&file.path, hit.span);
    let detail = format!(
        "nothing was written: the text of `{}` at line {} is like the search text, but differs from it where the edit \
         changes it ({}). `theirs` is in the file: send the edit again with it as the search text",
        file.path, place.line, conflict.reason,
    );
    let merge::Conflict { base, ours, theirs, .. } = conflict;
    Error::new(Code::Conflict, detail).with_help(Help {
        conflict: Some(Conflict { base, ours, theirs, place }),
        actual_hash: Some(file.hash.to_hex().to_string()),
        file: Some(file.path.to_string()),
        ..Help::default()
    })
}

/// The refusal of an edit whose text is already at its place.
pub(super) fn already_applied(file: &File, there: Span) -> Error {
    let place = file.lines().place(&file.path, there);
    let detail = format!(
        "nothing was written: the replacement is already in `{}`, at line {}. The edit was made before, by you or by \
         others; `repeat: true` makes it again",
        file.path, place.line
    );
    let text = file.text.get(there.start..there.end).unwrap_or_default().to_owned();
    let candidates = vec![Candidate { place, score: 100.0, text }];
    Error::new(Code::AlreadyApplied, detail).with_help(Help {
        candidates,
        file: Some(file.path.to_string()),
        ..Help::default()
    })
}

/// The only place of the replacement, if it is where the missing search text was, or long enough to be no other text.
fn replaced(file: &File, search: &Search, nearest: Option<&Hit>) -> Option<Span> {
    /// Fewer words may be anywhere.
    const FEWEST_WORDS: usize = 3;
    const SHORTEST: usize = 30;
    let [there] = applied::places(&file.text, search.replacement)[..] else { return None };
    let is_inside = search.within.is_none_or(|it| it.start <= there.start && there.end <= it.end);
    let is_nearest = nearest.is_some_and(|it| it.span.start < there.end && there.start < it.span.end);
    let is_long = search.replacement.trim().len() >= SHORTEST && words(search.replacement).count() >= FEWEST_WORDS;
    (is_inside && (is_nearest || is_long)).then_some(there)
}

fn ambiguous(file: &File, search: &Search, hits: &[Hit]) -> Error {
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
    let more = if hits.len() > candidates.len() { ", …" } else { "" };
    let narrower =
        if search.within.is_none() { ", `near_line` or the `symbol` that contains it" } else { " or `near_line`" };
    let detail = format!(
        "the text is at {} places in `{}` (lines {}{more}): add lines around it{narrower}",
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

fn missed(files: &Files, file: &File, search: &Search, nearest: Option<Hit>, reason: &str) -> Error {
    let mut detail = match search.within {
        None => format!("the text is not in `{}`: {reason}", file.path),
        Some(_) => format!("the text is not in that symbol of `{}`: {reason}", file.path),
    };
    if let Some(span) = matching::stands_in(&file.text, search.replacement) {
        let line = file.lines().line(span.start);
        detail.push_str(&format!("; the replacement is there already, at line {line}"));
    }
    let outside = search.within.and_then(|_| matching::stands_in(&file.text, search.context)).map(|span| (file, span));
    let elsewhere: Vec<String> = outside
        .into_iter()
        .chain(
            files
                .iter()
                .filter(|it| it.path != file.path)
                .filter_map(|it| Some((&**it, matching::stands_in(&it.text, search.context)?))),
        )
        .take(MOST_ELSEWHERE)
        .map(|(file, span)| format!("{}:{}", file.path, file.lines().line(span.start)))
        .collect();
    if !elsewhere.is_empty() {
        detail.push_str(&format!("; the text is in {}: perhaps another place is meant", elsewhere.join(", ")));
    }
    let nearest = nearest.map(|hit| matching::nearest(&file.text, &file.path, search.context, &hit));
    let hash = Some(file.hash.to_hex().to_string());
    Error::new(Code::NoMatch, detail).with_help(Help {
        suggestions: elsewhere,
        nearest,
        actual_hash: hash,
        file: Some(file.path.to_string()),
        ..Help::default()
    })
}
