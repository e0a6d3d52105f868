//! Errors as RFC 9457 problems, with a code and details that help.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Form, Part, left_out, symbol_cost, text_cost};
use super::change::{Candidate, Impact, Nearest};
use super::enums::ProblemCode;
use super::shared_types::{Meta, Place, Symbol, list};
use super::shorten::Fit;
use semdex_model::{Code, Conflict, Error};

/// The meaning of the code in a few words, always the same for one code.
pub fn title(code: Code) -> &'static str {
    match code {
        Code::InvalidJson => "The body is not JSON",
        Code::InvalidRequest => "The request is not of the form that this call takes",
        Code::OutsideWorkspace => "The path leads out of the workspace",
        Code::Unauthorized => "The request carries no valid token",
        Code::ForbiddenHost => "The Host header names another server",
        Code::ForbiddenOrigin => "The request comes from another site",
        Code::ForbiddenRoot => "The directory lies outside of what may be opened",
        Code::InsufficientScope => "The token does not allow this",
        Code::PermissionDenied => "The file system forbids it",
        Code::Untrusted => "The workspace is not trusted",
        Code::UnknownRoute => "There is no such call",
        Code::UnknownWorkspace => "No such workspace is open",
        Code::UnknownFile => "There is no such file",
        Code::UnknownSymbol => "There is no such symbol",
        Code::UnknownPackage => "There is no such package",
        Code::UnknownChange => "There is no such change",
        Code::UnknownRun => "There is no such run",
        Code::MethodNotAllowed => "The call is made with another method",
        Code::NotAcceptable => "The reply has none of the forms accepted",
        Code::RequestTimeout => "The request did not arrive in time",
        Code::NoMatch => "The searched text is not in the file",
        Code::Ambiguous => "The searched text fits several places",
        Code::AmbiguousSymbol => "The name fits several symbols",
        Code::AmbiguousTree => "The session works in several checkouts",
        Code::HashMismatch => "The file is not what the request expects",
        Code::AlreadyExists => "The file exists already",
        Code::Conflict => "Somebody else changes the same place",
        Code::AlreadyApplied => "The edit was made already",
        Code::TooLarge => "The body or the file is too large",
        Code::UnsupportedMediaType => "The body is of a type that this call does not take",
        Code::NotText => "The file is not text",
        Code::WouldBreak => "The edit would break other places",
        Code::RenameRefused => "The symbol cannot be renamed so",
        Code::Elided => "The new text leaves out code",
        Code::InvalidContent => "The content cannot be written",
        Code::ModelUnavailable => "No model can be asked",
        Code::Busy => "Too many requests are in flight",
        Code::Internal => "semdex failed",
        Code::DiskFull => "The disk is full",
        Code::NotReady => "The workspace is not ready for this",
        Code::EngineUnavailable => "The engine for this language is not available",
        Code::RevisionNotReached => "The revision was not reached in time",
        Code::Timeout => "The answer took too long",
        Code::NotARepository => "The workspace is in no git repository",
        Code::NothingToCommit => "There is nothing to commit",
    }
}

/// An error and what to do about it (RFC 9457).
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(json!({
    "type": "https://semdex.dev/problems/unknown_symbol", "title": "There is no such symbol", "status": 404,
    "code": "unknown_symbol", "detail": "`grep_searcher` has no `Sercher`: did you mean `grep_searcher::Searcher`?",
    "suggestions": ["grep_searcher::Searcher"],
    "meta": {"workspace": "ripgrep", "revision": 17, "state": "ready", "complete": true, "missing": [], "elapsed_ms": 0.6}
})))]
pub struct Problem {
    /// The same URI for every problem with the same code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The meaning of the code in a few words.
    pub title: &'static str,
    /// The HTTP status. Other interfaces have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u16, required)]
    pub status: Option<u16>,
    /// The code of the problem.
    pub code: ProblemCode,
    /// What happened, and what to do about it.
    pub detail: String,
    /// The id of the request, as in the log and in the header `X-Request-Id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub request_id: Option<String>,
    /// The metadata of the workspace. Absent if the workspace is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub meta: Option<Meta>,
    /// Names that the client may have meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// With `ambiguous`, the places that match the edit. With `already_applied`, the place of its text. With
    /// `ambiguous_symbol`, the symbols that match the name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<ProblemCandidate>,
    /// With `no_match`: the most similar text in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub nearest: Option<Nearest>,
    /// With `hash_mismatch` and `conflict`: the hash of the present content.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub actual_hash: Option<String>,
    /// With `would_break`: the impact of the edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub impact: Option<Impact>,
    /// The index of the edit among several, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub edit: Option<usize>,
    /// The file that the problem is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub file: Option<String>,
    /// With `hash_mismatch` of an undo: the unified diff from the content that the change left to the present content.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub diff: Option<String>,
    /// With `conflict`: the text of the place before the change of the request and before the changes of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub base: Option<String>,
    /// With `conflict`: the same place after the change of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ours: Option<String>,
    /// With `conflict`: the same place in the file. An edit with this text as its `search_context` replaces it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub theirs: Option<String>,
    /// With `conflict`: where `theirs` is in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub place: Option<Place>,
    /// With `elided`: the lines of the file that the change would remove.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostLine>,
    /// With `ambiguous_tree`: the roots that the change could be meant for, each to be named as `workspace`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trees: Vec<String>,
}

/// A line that a change would remove without a replacement.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LostLine {
    /// Its number in the file as it is, from 1.
    #[schema(examples(12))]
    pub line: usize,
    /// Its text without the line end.
    pub text: String,
}

/// A place or a symbol that matches the request.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "made a handful at a time, and only on the way out")]
pub enum ProblemCandidate {
    /// With `ambiguous_symbol`.
    Symbol(Symbol),
    /// With `ambiguous`.
    Place(Candidate),
}

/// The largest size of a problem in tokens, independent of the budget of replies.
pub const PROBLEM_TOKENS: usize = 6000;

impl Fit for Problem {
    fn meta(&mut self) -> Option<&mut Meta> {
        self.meta.as_mut()
    }

    /// A problem has no cursor. It should make the next attempt succeed, so the most similar text comes first.
    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        budget.spend(400 + text_cost(&self.detail));
        let form = budget.form();
        let mut parts = [Part::default(); 8];
        let lines =
            |text: Option<&str>| text.unwrap_or_default().split_inclusive('\n').map(text_cost).collect::<Vec<_>>();
        // The diff also contains the text.
        let nearest =
            lines(self.nearest.as_ref().map(|it| it.diff.as_str())).iter().map(|it| it * form.or(1, 2)).collect();
        let diff = lines(self.diff.as_deref());
        let candidates = self.candidates.iter().map(|it| it.cost(form)).collect();
        let broken: Vec<usize> = self.impact.as_ref().map(|it| it.broken_costs(form)).unwrap_or_default();
        let [theirs, ours, base] = [&self.theirs, &self.ours, &self.base].map(|it| lines(it.as_deref()));
        let lost = self.lost.iter().map(|it| text_cost(&it.text) + form.or(8, 30)).collect();
        let costs: [Vec<usize>; 8] = [nearest, candidates, broken, diff, theirs, ours, base, lost];
        for (part, costs) in parts.iter_mut().zip(&costs) {
            *part = Part::after(0, costs.len());
        }
        let mut shared: Vec<_> = parts.iter_mut().zip(costs).map(|(part, costs)| (part, costs, 60)).collect();
        budget.share(&mut shared);
        let [nearest, candidates, broken, diff, theirs, ours, base, lost] = parts;
        if let Some(it) = &mut self.nearest {
            it.diff = nearest.lines(&it.diff);
            it.text = nearest.lines(&it.text);
        }
        self.candidates.truncate(candidates.count);
        if let Some(it) = &mut self.impact {
            // A dry run returns the rest.
            it.broken.truncate(broken.count);
            it.affected.truncate(broken.count);
            it.tests.truncate(broken.count);
        }
        for (text, part) in
            [(&mut self.diff, diff), (&mut self.theirs, theirs), (&mut self.ours, ours), (&mut self.base, base)]
        {
            *text = text.as_deref().map(|it| part.lines(it));
        }
        self.lost.truncate(lost.count);
        Some(left_out(&[
            ("lines of the nearest text", nearest),
            ("candidates", candidates),
            ("broken places", broken),
            ("lines of the difference", diff),
            ("lines of `theirs`", theirs),
            ("lines of `ours`", ours),
            ("lines of `base`", base),
            ("lines that would be lost", lost),
        ]))
    }

    const REST: &str = "a dry run lists what would break, `describe` has the text";
}

impl ProblemCandidate {
    fn cost(&self, form: Form) -> usize {
        match self {
            ProblemCandidate::Symbol(it) => symbol_cost(it, form),
            ProblemCandidate::Place(it) => it.place.file.len() + text_cost(&it.text) + form.or(40, 140),
        }
    }
}

impl From<semdex_model::LostLine> for LostLine {
    fn from(lost: semdex_model::LostLine) -> LostLine {
        let semdex_model::LostLine { line, text } = lost;
        LostLine { line, text }
    }
}

impl Problem {
    /// A problem without HTTP status and request id, which only the interface knows.
    pub fn new(error: Error) -> Problem {
        let meta = error.meta().cloned().map(Meta::from);
        let help = *error.help;
        let places = help.candidates.into_iter().map(|it| ProblemCandidate::Place(it.into()));
        let (base, ours, theirs, place) = match help.conflict {
            Some(Conflict { base, ours, theirs, place }) => (Some(base), Some(ours), Some(theirs), Some(place.into())),
            None => (None, None, None, None),
        };
        let symbols = help.symbols.into_iter().map(|it| ProblemCandidate::Symbol(it.into()));
        Problem {
            kind: format!("https://semdex.dev/problems/{}", error.code.name()),
            title: title(error.code),
            status: None,
            code: error.code.into(),
            detail: error.detail,
            request_id: None,
            meta,
            suggestions: list(help.suggestions),
            candidates: places.chain(symbols).collect(),
            nearest: help.nearest.map(Nearest::from),
            actual_hash: help.actual_hash,
            impact: help.impact.map(Impact::from),
            edit: help.edit,
            file: help.file,
            diff: help.diff,
            base,
            ours,
            theirs,
            place,
            lost: list(help.lost),
            trees: help.trees,
        }
    }
}
