//! The enumerations in requests and replies. Those that mirror an enumeration of `model` have exhaustive conversions,
//! so that a variant that is added there does not compile until it is added here.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// Declares enumerations that are serialized in snake case.
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

/// Declares enumerations with the variants of an enumeration of `model`.
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

/// Gives enumerations the method `name`.
macro_rules! names {
    ($($name:ident for $model:path),* $(,)?) => { $(
        impl $name {
            /// The name of the variant as in JSON.
            pub fn name(self) -> &'static str {
                <$model>::from(self).name()
            }
        }
    )* };
}

names! {
    SymbolKind for semdex_model::SymbolKind, Role for semdex_model::Role,
    PossibleReason for semdex_model::PossibleReason, Severity for semdex_model::Severity, State for semdex_model::State, EngineState for semdex_model::EngineState,
    Strategy for semdex_model::Strategy, ChangeKind for semdex_model::ChangeKind, VerifyKind for semdex_model::VerifyKind,
    ProblemCode for semdex_model::Code, RunState for semdex_model::RunState,
}

words_of_model! {
    /// The kind of a symbol.
    SymbolKind for semdex_model::SymbolKind {
        Module, Package, Struct, Enum, Union, Trait, Interface, Type, Function, Method, Field, Variant, Const, Static,
        Variable, Macro, Impl,
    }

    /// Why it is not known whether a place names the symbol.
    PossibleReason for semdex_model::PossibleReason {
        /// The code is left out of the build, by `cfg` or build constraints.
        Cfg,
        /// The name is in the input or the definition of a macro, and its meaning there could not be followed.
        MacroInput,
        /// The name could not be resolved for another reason, for example an unknown type.
        Unresolved,
    }

    /// How a usage uses the symbol.
    Role for semdex_model::Role {
        Call, Read, Write, Type, Import, Impl,
        /// Rust's `Self`.
        #[serde(rename = "self")]
        SelfType,
        Doc, Other,
    }

    /// The severity of a diagnostic, from the most to the least severe.
    Severity for semdex_model::Severity { Error, Warning, Info, Hint }

    /// How much of a workspace is known at present.
    State for semdex_model::State { Starting, Syntax, Indexing, Ready, Degraded }

    /// The state of an engine.
    EngineState for semdex_model::EngineState {
        Starting, Syntax, Indexing, Ready, Degraded,
        /// Its program is missing, or must not be started.
        Missing,
        /// It ended repeatedly and is not restarted.
        Broken,
        /// It is started on demand.
        Idle,
    }

    /// The kind of code that an example comes from.
    ExampleOrigin for semdex_model::ExampleOrigin { Doctest, Example, Test, Testdata, Use }

    /// How the place of an edit was found.
    Strategy for semdex_model::Strategy { Exact, Whitespace, Indent, Fuzzy, Symbol, Whole }

    /// What changed about a symbol.
    ChangeKind for semdex_model::ChangeKind { Removed, Renamed, Signature, Visibility, Type, Added, Body }

    /// A hypothetical change of a symbol.
    Alteration for semdex_model::Alteration { Remove, Rename, Signature, Visibility }

    /// The kind of an error in written text.
    FindingKind for semdex_model::FindingKind { UnknownImport, UnknownSymbol, UnusedImport, Syntax, WrongArguments, Undeclared }

    /// The state of a run of a model.
    RunState for semdex_model::RunState {
        Running,
        /// The task is done and verified.
        Succeeded,
        Failed,
        Cancelled,
    }

    /// The kind of verification: the compiler, the linter or the tests.
    VerifyKind for semdex_model::VerifyKind { Check, Lint, Test }

    /// The error codes. Each call lists its own. Later versions add codes: a client treats a code that it does not know
    /// as the HTTP status of the problem.
    ProblemCode for semdex_model::Code {
        InvalidJson, InvalidRequest, OutsideWorkspace, Unauthorized, ForbiddenHost, ForbiddenOrigin, ForbiddenRoot,
        InsufficientScope, PermissionDenied, Untrusted, UnknownRoute, UnknownWorkspace, UnknownFile, UnknownSymbol,
        UnknownPackage, UnknownChange, UnknownRun, MethodNotAllowed, NotAcceptable, RequestTimeout, NoMatch, Ambiguous, AmbiguousSymbol, AmbiguousTree,
        HashMismatch, AlreadyExists, Conflict, AlreadyApplied, TooLarge, UnsupportedMediaType, NotText, WouldBreak, RenameRefused,
        Elided, InvalidContent, ModelUnavailable, Busy, Internal, DiskFull, NotReady, EngineUnavailable, RevisionNotReached, Timeout,
        NotARepository, NothingToCommit,
    }
}

words! {
    /// How edits of a file with an overlay are handled.
    OverlayEdits {
        /// The edit is refused with `conflict`.
        Refuse,
        /// The edit changes the overlay and not the disk.
        Overlay,
    }

    /// The types of events.
    EventType {
        /// How much of a workspace is known, with progress while it loads.
        State,
        /// The contents of a workspace have changed, by semdex or by others.
        Revision,
        /// semdex changed files.
        Change,
        /// The diagnostics that appeared or disappeared with a change.
        Diagnostics,
        /// A run of the compiler, the linter or the tests.
        Verify,
        /// A run of a model.
        Run,
    }

    /// The cause of a change.
    ChangeCause {
        /// The call `edit`.
        Edit,
        /// The call `write`.
        Write,
        /// The call `rename`.
        Rename,
        /// The call `undo`.
        Undo,
        /// An overlay was put, replaced or removed.
        Overlay,
        /// A change by others: an editor, git, another agent.
        Outside,
    }

    /// The part of a symbol that an edit replaces: the body between the braces, or the whole item with docs and
    /// attributes. With `before` and `after` the text is inserted next to the item; `delete` removes the item.
    At {
        /// The text between the braces, without the braces.
        Body,
        /// The whole item with docs and attributes.
        Whole,
        /// The text is inserted before the item.
        Before,
        /// The text is inserted after the item.
        After,
        /// The item is removed. The replacement must be empty.
        Delete,
    }

    /// What a rename does about places that may name the symbol.
    PossiblePlaces {
        /// They prevent it.
        Refuse,
        /// They stay as they are.
        Leave,
    }

    /// Whether an edit that breaks something is reported or refused.
    OnBreak {
        /// The edit is made, and the reply lists what it breaks.
        Report,
        /// The edit is refused with `would_break`, and nothing is written.
        Reject,
    }

    /// What happens if the file changed since its author read it.
    OnConflict {
        /// The request is refused with `hash_mismatch`, and nothing is written.
        Refuse,
        /// The request and the changes of others are merged. If they change the same place in different ways, the
        /// request is refused with `conflict`, and nothing is written.
        Merge,
    }

    /// How a change is handled that writes a line such as `// ... existing code ...` and removes more lines there than
    /// it adds.
    Elisions {
        /// The change is refused with `elided`, and nothing is written.
        Refuse,
        /// The line is written.
        Keep,
    }

    /// How other uncommitted work is handled: it stays, it is committed first, or the commit is refused.
    Dirty {
        /// It stays uncommitted.
        Leave,
        /// It is committed first, in a commit of its own.
        CommitFirst,
        /// The commit is refused if there is any.
        Refuse,
    }

    /// The state of a file relative to the last commit.
    FileStatus {
        /// Its content differs.
        Modified,
        /// It is new and tracked.
        Added,
        /// It was deleted.
        Deleted,
        /// It was renamed.
        Renamed,
        /// It is a copy of another file.
        Copied,
        /// Its type changed, for example to a symbolic link.
        TypeChanged,
        /// It has a merge conflict.
        Unmerged,
        /// It is new and untracked.
        Untracked,
    }

    /// How `write` treats an existing file. `append` creates a missing file; `create` is refused if the file exists.
    WriteMode {
        /// The text is appended to the file.
        Append,
        /// The text replaces the content of the file.
        Overwrite,
        /// The file must not exist.
        Create,
    }
}

impl ChangeCause {
    /// The name of the variant as in JSON.
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

/// The name of a language. The set of languages is not part of the contract; the generator of a document adds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Language(&'static str);

impl Language {
    /// Its name in requests and replies: `python`.
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
