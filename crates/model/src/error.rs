//! What goes wrong with a request: the closed set of codes, and what helps.

use std::fmt;

use super::{Impact, Meta, Missing, MissingCode, Place, Symbol};

/// The closed set of what can go wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// The body is not JSON.
    InvalidJson,
    /// A field is unknown, missing or has a value that it cannot have.
    InvalidRequest,
    /// The file lies outside of the root, or is one that semdex leaves alone.
    OutsideWorkspace,
    /// The request has no token, or a wrong one.
    Unauthorized,
    /// The `Host` header names neither a loopback name nor the address listened on.
    ForbiddenHost,
    /// The request comes from the page of another server.
    ForbiddenOrigin,
    /// The root lies below none that the server was started with.
    ForbiddenRoot,
    /// The token allows less than the request needs.
    InsufficientScope,
    /// The system does not let semdex read or write the file.
    PermissionDenied,
    /// The request would start programs of a workspace that is not trusted.
    Untrusted,
    /// No call has this path.
    UnknownRoute,
    /// No workspace has this identifier.
    UnknownWorkspace,
    /// There is no such file.
    UnknownFile,
    /// No symbol fits, and all that could hold one was looked at.
    UnknownSymbol,
    /// No package has this name.
    UnknownPackage,
    /// The journal has no such change, or no longer has it.
    UnknownChange,
    /// There is no such run, or it is forgotten.
    UnknownRun,
    /// The call has another HTTP method.
    MethodNotAllowed,
    /// The reply cannot have the form that `Accept` asks for.
    NotAcceptable,
    /// The client took too long to send the request.
    RequestTimeout,
    /// The searched text is not in the file, nor one that is similar enough.
    NoMatch,
    /// The searched text fits several places.
    Ambiguous,
    /// The name matches several symbols.
    AmbiguousSymbol,
    /// The session works in several checkouts of the repository, and the change names none.
    AmbiguousTree,
    /// The file's content is not the content that the request expects.
    HashMismatch,
    /// The file exists and was to be created.
    AlreadyExists,
    /// Others change what the request changes, in another way.
    Conflict,
    /// The replacement is already at the place that the edit means.
    AlreadyApplied,
    /// A file, a body or a header exceeds its bound.
    TooLarge,
    /// The body has a form that the call does not take.
    UnsupportedMediaType,
    /// The file is not UTF-8 text.
    NotText,
    /// The change breaks something, and the request rejects such changes.
    WouldBreak,
    /// The symbol cannot get this name.
    RenameRefused,
    /// The change writes a line that announces omitted code in place of code.
    Elided,
    /// The content cannot be written as it is; a hook of the repository that refuses a commit says so too.
    InvalidContent,
    /// There is no model to run, or it cannot be reached.
    ModelUnavailable,
    /// All places for such requests are taken; `Retry-After` says when to ask again.
    Busy,
    /// A bug of semdex; the request at hand is lost and nothing else.
    Internal,
    /// There is not enough space to record or write the change.
    DiskFull,
    /// What could answer is not loaded yet.
    NotReady,
    /// The engine that could answer is not installed or does not run.
    EngineUnavailable,
    /// The revision that was asked for did not come in time.
    RevisionNotReached,
    /// The answer did not come in time.
    Timeout,
    /// The workspace is in no git repository.
    NotARepository,
    /// No file differs from what is committed.
    NothingToCommit,
}

impl Code {
    /// The reason that is missing from an answer that ended so. None if the error is itself the answer.
    pub fn lack(self) -> Option<MissingCode> {
        match self {
            Code::Timeout | Code::RequestTimeout | Code::Busy | Code::RevisionNotReached => Some(MissingCode::Timeout),
            Code::NotReady => Some(MissingCode::Indexing),
            Code::EngineUnavailable | Code::Internal => Some(MissingCode::EngineDown),
            _ => None,
        }
    }

    /// The word for it in problems: `no_match`.
    pub fn name(self) -> &'static str {
        match self {
            Code::InvalidJson => "invalid_json",
            Code::InvalidRequest => "invalid_request",
            Code::OutsideWorkspace => "outside_workspace",
            Code::Unauthorized => "unauthorized",
            Code::ForbiddenHost => "forbidden_host",
            Code::ForbiddenOrigin => "forbidden_origin",
            Code::ForbiddenRoot => "forbidden_root",
            Code::InsufficientScope => "insufficient_scope",
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
            Code::AmbiguousTree => "ambiguous_tree",
            Code::HashMismatch => "hash_mismatch",
            Code::AlreadyExists => "already_exists",
            Code::Conflict => "conflict",
            Code::AlreadyApplied => "already_applied",
            Code::TooLarge => "too_large",
            Code::UnsupportedMediaType => "unsupported_media_type",
            Code::NotText => "not_text",
            Code::WouldBreak => "would_break",
            Code::RenameRefused => "rename_refused",
            Code::Elided => "elided",
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
    /// Where it is.
    pub place: Place,
    /// Its similarity, in percent.
    pub score: f64,
    /// The text.
    pub text: String,
    /// Unified, from the searched text to the existing one.
    pub diff: String,
}

/// One of several places that an edit could mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Where it is.
    pub place: Place,
    /// Its similarity to what was searched, in percent.
    pub score: f64,
    /// The text.
    pub text: String,
}

/// A place that two changes change in different ways, as each has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// The text before both changes.
    pub base: String,
    /// The text after the requested change.
    pub ours: String,
    /// The text in the file.
    pub theirs: String,
    /// Where `theirs` is in the file.
    pub place: Place,
}

/// A line that a change would remove without a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostLine {
    /// Its number in the file as it is, from 1.
    pub line: usize,
    /// Its text without the line end.
    pub text: String,
}

/// What helps to do better: part of every error that has something to offer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Help {
    /// Names that the request may have meant, the likeliest first.
    pub suggestions: Vec<String>,
    /// The places that the edit could mean.
    pub candidates: Vec<Candidate>,
    /// The symbols that the name could mean.
    pub symbols: Vec<Symbol>,
    /// The text that is most similar to the searched text.
    pub nearest: Option<Nearest>,
    /// The hash of the file's content as it is: BLAKE3 in hex.
    pub actual_hash: Option<String>,
    /// What the rejected change would have broken.
    pub impact: Option<Impact>,
    /// Which of several edits, from 0.
    pub edit: Option<usize>,
    /// The file that the error is about.
    pub file: Option<String>,
    /// How others changed the files since.
    pub diff: Option<String>,
    /// The place that the request and somebody else change in different ways.
    pub conflict: Option<Conflict>,
    /// The lines that an elision would remove.
    pub lost: Vec<LostLine>,
    /// The roots that a change could be meant for.
    pub trees: Vec<String>,
}

/// What went wrong with a request: a code of the closed set, and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// Which kind of error, for programs.
    pub code: Code,
    /// What happened and what to do about it, for people.
    pub detail: String,
    /// What the code has to offer beyond the detail.
    pub help: Box<Help>,
    meta: Option<Box<Meta>>,
}

impl Error {
    /// An error without help and without a workspace.
    pub fn new(code: Code, detail: impl Into<String>) -> Error {
        Error { code, detail: detail.into(), help: Box::default(), meta: None }
    }

    /// Replaces all help that the error had.
    pub fn with_help(mut self, help: Help) -> Error {
        *self.help = help;
        self
    }

    /// Names that the request may have meant, the likeliest first.
    pub fn suggesting(mut self, suggestions: Vec<String>) -> Error {
        self.help.suggestions = suggestions;
        self
    }

    /// An error of a workspace, with its coverage: if the query was not answered, it is not complete.
    pub fn in_workspace(mut self, mut meta: Meta) -> Error {
        if let Some(code) = self.code.lack() {
            meta.coverage.lacks(Missing::new(code, "request", self.detail.clone()));
        }
        self.meta = Some(Box::new(meta));
        self
    }

    /// Adds what is missing according to another error of the same query.
    pub fn absorb(&mut self, other: Option<&Meta>) {
        if let (Some(meta), Some(other)) = (&mut self.meta, other) {
            meta.coverage.absorb(other.coverage.clone());
        }
    }

    /// Set as soon as the workspace is known.
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

/// What most functions of semdex return; the client receives the error.
pub type Result<T, E = Error> = std::result::Result<T, E>;
