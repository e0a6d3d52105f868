//! The closed sets of words in replies and requests. Those of `model` are told by its own enumerations; the conversions
//! are exhaustive, so that a word added there does not compile until it is added here.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// Enumerations of words.
macro_rules! words {
    ($($(#[$attribute:meta])* $name:ident { $($(#[$word:meta])* $variant:ident),* $(,)? })*) => { $(
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$word])* $variant,)*
        }
    )* };
}

/// The same, each with the variants of the type of this name in `model`.
macro_rules! words_of_model {
    ($($(#[$attribute:meta])* $name:ident for $model:path { $($(#[$word:meta])* $variant:ident),* $(,)? })*) => { $(
        words! {
            $(#[$attribute])*
            $name { $(#[doc = concat!("As [`", stringify!($variant), "`](", stringify!($model), "::", stringify!($variant), ").")] $(#[$word])* $variant),* }
        }

        impl From<$model> for $name {
            fn from(word: $model) -> $name {
                match word { $(<$model>::$variant => $name::$variant,)* }
            }
        }

        impl From<$name> for $model {
            fn from(word: $name) -> $model {
                match word { $($name::$variant => <$model>::$variant,)* }
            }
        }
    )* };
}

/// As they are written, on the wire and for people.
macro_rules! names {
    ($($name:ident for $model:path),* $(,)?) => { $(
        impl $name {
            /// The word itself, as it stands in JSON.
            pub fn name(self) -> &'static str {
                <$model>::from(self).name()
            }
        }
    )* };
}

names! {
    SymbolKind for semdex_model::SymbolKind, Role for semdex_model::Role, Severity for semdex_model::Severity, State for semdex_model::State, EngineState for semdex_model::EngineState,
    Strategy for semdex_model::Strategy, ChangeKind for semdex_model::ChangeKind, VerifyKind for semdex_model::VerifyKind,
    ProblemCode for semdex_model::Code, RunState for semdex_model::RunState,
}

words_of_model! {
    /// The kinds of symbols, as language servers name them.
    SymbolKind for semdex_model::SymbolKind {
        Module, Package, Struct, Enum, Union, Trait, Interface, Type, Function, Method, Field, Variant, Const, Static,
        Variable, Macro, Impl,
    }

    /// What a usage does with the symbol.
    Role for semdex_model::Role {
        Call, Read, Write, Type, Import, Impl,
        /// Rust's `Self`.
        #[serde(rename = "self")]
        SelfType,
        Doc, Other,
    }

    /// From the gravest to the least.
    Severity for semdex_model::Severity { Error, Warning, Info, Hint }

    /// How much of a workspace is known at the moment.
    State for semdex_model::State { Starting, Syntax, Indexing, Ready, Degraded }

    /// How an engine is doing.
    EngineState for semdex_model::EngineState {
        Starting, Syntax, Indexing, Ready, Degraded,
        /// Its program is not there, or may not be started.
        Missing,
        /// It does not stay up.
        Broken,
        /// It is started at the first need.
        Idle,
    }

    /// Where an example comes from.
    ExampleOrigin for semdex_model::ExampleOrigin { Doctest, Example, Test, Testdata, Use }

    /// How the place of an edit was found.
    Strategy for semdex_model::Strategy { Exact, Whitespace, Indent, Fuzzy, Symbol, Whole }

    /// What happened to a symbol.
    ChangeKind for semdex_model::ChangeKind { Removed, Renamed, Signature, Visibility, Type, Added, Body }

    /// What would be done to a symbol.
    Alteration for semdex_model::Alteration { Remove, Rename, Signature, Visibility }

    /// What the validation of written text finds.
    FindingKind for semdex_model::FindingKind { UnknownImport, UnknownSymbol, UnusedImport, Syntax, WrongArguments, Undeclared }

    /// How far a run of a model is.
    RunState for semdex_model::RunState {
        Running,
        /// What it was to do is done, and verified.
        Succeeded,
        Failed,
        Cancelled,
    }

    /// Which tool is run: the compiler, the linter or the tests.
    VerifyKind for semdex_model::VerifyKind { Check, Lint, Test }

    /// The closed set of what can go wrong with a request. Each call lists its own.
    ProblemCode for semdex_model::Code {
        InvalidJson, InvalidRequest, OutsideWorkspace, Unauthorized, ForbiddenHost, ForbiddenOrigin, ForbiddenRoot,
        PermissionDenied, Untrusted, UnknownRoute, UnknownWorkspace, UnknownFile, UnknownSymbol, UnknownPackage,
        UnknownChange, UnknownRun, MethodNotAllowed, NotAcceptable, RequestTimeout, NoMatch, Ambiguous, AmbiguousSymbol,
        HashMismatch, AlreadyExists, Conflict, TooLarge, UnsupportedMediaType, NotText, WouldBreak, RenameRefused,
        InvalidContent, ModelUnavailable, Busy, Internal, DiskFull, NotReady, EngineUnavailable, RevisionNotReached, Timeout,
        NotARepository, NothingToCommit,
    }
}

words! {
    /// What becomes of an edit of a file that has an overlay.
    OverlayEdits {
        /// It is refused with `conflict`.
        Refuse,
        /// It goes to the overlay, and not to the disk.
        Overlay,
    }

    /// The types of events.
    EventType {
        /// How much of a workspace is known, with progress while it loads.
        State,
        /// The contents of a workspace have changed, whoever did it.
        Revision,
        /// semdex changed files.
        Change,
        /// The diagnostics that a change brought and took away.
        Diagnostics,
        /// A run of the compiler, the linter or the tests.
        Verify,
        /// A run of a model.
        Run,
    }

    /// What brought a change about.
    ChangeCause {
        /// The call `edit`.
        Edit,
        /// The call `write`.
        Write,
        /// The call `rename`.
        Rename,
        /// The call `undo`: an earlier change was taken back.
        Undo,
        /// An overlay that was put, replaced or taken away.
        Overlay,
        /// Somebody else: an editor, git, another agent.
        Outside,
    }

    /// Which part of a symbol an edit replaces: what stands between the braces, the whole item with docs and
    /// attributes, or nothing of it (the text goes before or after it); `delete` removes it.
    At {
        /// What stands between the braces, without them.
        Body,
        /// The item with docs and attributes.
        Whole,
        /// The text goes in front of the item.
        Before,
        /// The text goes behind the item.
        After,
        /// The item is taken away, and the replacement is empty.
        Delete,
    }

    /// Whether an edit that breaks something is reported or refused.
    OnBreak {
        /// It is made, and the reply says what it breaks.
        Report,
        /// It is refused with `would_break`, and nothing is written.
        Reject,
    }

    /// What becomes of the user's own work that is not committed: it stays, it is committed before, or nothing is
    /// committed where there is some.
    Dirty {
        /// It stays as it is.
        Leave,
        /// It is committed before, by itself.
        CommitFirst,
        /// Nothing is committed where there is some.
        Refuse,
    }

    /// What became of a file since the last commit.
    FileStatus {
        /// Its content differs.
        Modified,
        /// It is new, and git knows of it.
        Added,
        /// It is gone.
        Deleted,
        /// It had another name.
        Renamed,
        /// It is a copy of another file.
        Copied,
        /// A file has become a link, say.
        TypeChanged,
        /// It is in conflict.
        Unmerged,
        /// It is new, and git does not know of it.
        Untracked,
    }

    /// `append` makes the file where it is missing, `create` refuses where it exists.
    WriteMode {
        /// The text goes behind what the file has.
        Append,
        /// The text takes the place of what the file has.
        Overwrite,
        /// There must be no such file.
        Create,
    }
}

impl ChangeCause {
    /// The word itself, as it stands in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ChangeCause::Edit => "edit",
            ChangeCause::Write => "write",
            ChangeCause::Rename => "rename",
            ChangeCause::Undo => "undo",
            ChangeCause::Overlay => "overlay",
            ChangeCause::Outside => "outside",
        }
    }
}

/// A language by its name. Which ones there are is no part of the contract: whoever makes a document of it knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Language(&'static str);

impl Language {
    /// As requests and replies name it: `python`.
    pub(crate) fn name(self) -> &'static str {
        self.0
    }
}

impl From<semdex_model::LanguageId> for Language {
    fn from(language: semdex_model::LanguageId) -> Language {
        Language(language.name)
    }
}

impl PartialSchema for Language {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).into()
    }
}

impl ToSchema for Language {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Language")
    }
}
