//! What goes wrong with a request: the closed set of codes, and what helps.

use std::fmt;

use super::{Impact, Meta, Missing, MissingCode, Place, Symbol};

/// The closed set of what can go wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    InvalidJson,
    InvalidRequest,
    OutsideWorkspace,
    Unauthorized,
    ForbiddenHost,
    ForbiddenOrigin,
    ForbiddenRoot,
    PermissionDenied,
    Untrusted,
    UnknownRoute,
    UnknownWorkspace,
    UnknownFile,
    UnknownSymbol,
    UnknownPackage,
    UnknownChange,
    UnknownRun,
    MethodNotAllowed,
    NotAcceptable,
    RequestTimeout,
    NoMatch,
    Ambiguous,
    AmbiguousSymbol,
    HashMismatch,
    AlreadyExists,
    Conflict,
    TooLarge,
    UnsupportedMediaType,
    NotText,
    WouldBreak,
    RenameRefused,
    InvalidContent,
    ModelUnavailable,
    Busy,
    Internal,
    DiskFull,
    NotReady,
    EngineUnavailable,
    RevisionNotReached,
    Timeout,
    NotARepository,
    NothingToCommit,
}

impl Code {
    /// What an answer lacks that ended so. None where the error is itself the answer.
    pub fn lack(self) -> Option<MissingCode> {
        match self {
            Code::Timeout | Code::RequestTimeout | Code::Busy | Code::RevisionNotReached => Some(MissingCode::Timeout),
            Code::NotReady => Some(MissingCode::Indexing),
            Code::EngineUnavailable | Code::Internal => Some(MissingCode::EngineDown),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Code::InvalidJson => "invalid_json",
            Code::InvalidRequest => "invalid_request",
            Code::OutsideWorkspace => "outside_workspace",
            Code::Unauthorized => "unauthorized",
            Code::ForbiddenHost => "forbidden_host",
            Code::ForbiddenOrigin => "forbidden_origin",
            Code::ForbiddenRoot => "forbidden_root",
            Code::PermissionDenied => "permission_denied",
            Code::Untrusted => "untrusted",
            Code::UnknownRoute => "unknown_route",
            Code::UnknownWorkspace => "unknown_workspace",
            Code::UnknownFile => "unknown_file",
            Code::UnknownSymbol => "unknown_symbol",
            Code::UnknownPackage => "unknown_package",
            Code::UnknownChange => "unknown_change",
            Code::UnknownRun => "unknown_run",
            Code::MethodNotAllowed => "method_not_allowed",
            Code::NotAcceptable => "not_acceptable",
            Code::RequestTimeout => "request_timeout",
            Code::NoMatch => "no_match",
            Code::Ambiguous => "ambiguous",
            Code::AmbiguousSymbol => "ambiguous_symbol",
            Code::HashMismatch => "hash_mismatch",
            Code::AlreadyExists => "already_exists",
            Code::Conflict => "conflict",
            Code::TooLarge => "too_large",
            Code::UnsupportedMediaType => "unsupported_media_type",
            Code::NotText => "not_text",
            Code::WouldBreak => "would_break",
            Code::RenameRefused => "rename_refused",
            Code::InvalidContent => "invalid_content",
            Code::ModelUnavailable => "model_unavailable",
            Code::Busy => "busy",
            Code::Internal => "internal",
            Code::DiskFull => "disk_full",
            Code::NotReady => "not_ready",
            Code::EngineUnavailable => "engine_unavailable",
            Code::RevisionNotReached => "revision_not_reached",
            Code::Timeout => "timeout",
            Code::NotARepository => "not_a_repository",
            Code::NothingToCommit => "nothing_to_commit",
        }
    }
}

/// The text in a file that is most like what was searched.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest {
    pub place: Place,
    pub score: f64,
    pub text: String,
    /// Unified, from what was asked to what is there.
    pub diff: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub place: Place,
    pub score: f64,
    pub text: String,
}

/// What helps to do better: part of every error that has something to offer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Help {
    pub suggestions: Vec<String>,
    pub candidates: Vec<Candidate>,
    pub symbols: Vec<Symbol>,
    pub nearest: Option<Nearest>,
    pub actual_hash: Option<String>,
    pub impact: Option<Impact>,
    /// Which of several edits, from 0.
    pub edit: Option<usize>,
    pub file: Option<String>,
    /// What others made of the files since.
    pub diff: Option<String>,
}

/// What went wrong with a request: a code of the closed set, and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    pub code: Code,
    pub detail: String,
    pub help: Box<Help>,
    meta: Option<Box<Meta>>,
}

impl Error {
    pub fn new(code: Code, detail: impl Into<String>) -> Error {
        Error { code, detail: detail.into(), help: Box::default(), meta: None }
    }

    pub fn with_help(mut self, help: Help) -> Error {
        *self.help = help;
        self
    }

    pub fn suggesting(mut self, suggestions: Vec<String>) -> Error {
        self.help.suggestions = suggestions;
        self
    }

    /// An error of a workspace, and what it says of itself: where the question was not answered, that is not complete.
    pub fn in_workspace(mut self, mut meta: Meta) -> Error {
        if let Some(code) = self.code.lack() {
            meta.coverage.lacks(Missing::new(code, "request", self.detail.clone()));
        }
        self.meta = Some(Box::new(meta));
        self
    }

    /// Beside what this one says is missing, another of the same question says what else is.
    pub fn absorb(&mut self, other: Option<&Meta>) {
        if let (Some(meta), Some(other)) = (&mut self.meta, other) {
            meta.coverage.absorb(other.coverage.clone());
        }
    }

    /// Known as soon as the workspace is.
    pub fn meta(&self) -> Option<&Meta> {
        self.meta.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.name(), self.detail)
    }
}

impl std::error::Error for Error {}

pub type Result<T, E = Error> = std::result::Result<T, E>;
