//! The closed sets of words in replies and requests, each the wire's form of an enumeration of `model` or `ops`.
//! The conversions are exhaustive: a word added below does not compile until it is added here.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::lang::registry;

use crate::model;
use crate::ops::{apply_change, edit, write};
use crate::workspace;

/// An enumeration whose variants are named as in the type it stands for.
macro_rules! words {
    ($($(#[$attribute:meta])* $name:ident for $model:path { $($(#[$word:meta])* $variant:ident),* $(,)? })*) => { $(
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$word])* $variant,)*
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

words! {
    /// The kinds of symbols, as language servers name them.
    SymbolKind for model::SymbolKind {
        Module, Package, Struct, Enum, Union, Trait, Interface, Type, Function, Method, Field, Variant, Const, Static,
        Variable, Macro, Impl,
    }

    /// What a usage does with the symbol.
    Role for model::Role {
        Call, Read, Write, Type, Import, Impl,
        /// Rust's `Self`.
        #[serde(rename = "self")]
        SelfType,
        Doc, Other,
    }

    /// What becomes of an edit of a file that has an overlay.
    OverlayEdits for workspace::overlays::Edits {
        /// It is refused with `conflict`.
        Refuse,
        /// It goes to the overlay, and not to the disk.
        Overlay,
    }

    /// What brought a change about.
    ChangeCause for workspace::Cause {
        Edit, Write, Rename, Undo, Overlay,
        /// Somebody else: an editor, git, another agent.
        Outside,
    }

    /// From the gravest to the least.
    Severity for model::Severity { Error, Warning, Info, Hint }

    /// How much of a workspace is known at the moment.
    State for model::State { Starting, Syntax, Indexing, Ready, Degraded }

    /// Where an example comes from.
    ExampleOrigin for model::ExampleOrigin { Doctest, Example, Test, Testdata, Use }

    /// How the place of an edit was found.
    Strategy for model::Strategy { Exact, Whitespace, Indent, Fuzzy, Symbol, Whole }

    /// What happened to a symbol.
    ChangeKind for model::ChangeKind { Removed, Renamed, Signature, Visibility, Type, Added, Body }

    /// What would be done to a symbol.
    Alteration for model::Alteration { Remove, Rename, Signature, Visibility }

    /// What the validation of written text finds.
    FindingKind for apply_change::FindingKind { UnknownImport, UnknownSymbol, UnusedImport, Syntax, WrongArguments, Undeclared }

    /// Which part of a symbol an edit replaces: what stands between the braces, the whole item with docs and
    /// attributes, or nothing of it (the text goes before or after it); `delete` removes it.
    At for edit::At { Body, Whole, Before, After, Delete }

    /// Whether an edit that breaks something is reported or refused.
    OnBreak for apply_change::OnBreak { Report, Reject }

    /// The closed set of what can go wrong with a request. Each call lists its own.
    ProblemCode for model::Code {
        InvalidJson, InvalidRequest, OutsideWorkspace, Unauthorized, ForbiddenHost, ForbiddenOrigin, ForbiddenRoot,
        PermissionDenied, Untrusted, UnknownRoute, UnknownWorkspace, UnknownFile, UnknownSymbol, UnknownPackage,
        UnknownChange, MethodNotAllowed, NotAcceptable, RequestTimeout, NoMatch, Ambiguous, AmbiguousSymbol,
        HashMismatch, AlreadyExists, Conflict, TooLarge, UnsupportedMediaType, NotText, WouldBreak, RenameRefused,
        InvalidContent, Busy, Internal, DiskFull, NotReady, EngineUnavailable, RevisionNotReached, Timeout,
    }

    /// `append` makes the file where it is missing, `create` refuses where it exists.
    WriteMode for write::WriteMode { Append, Overwrite, Create }
}

/// A language by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Language(&'static str);

impl From<model::LanguageId> for Language {
    fn from(language: model::LanguageId) -> Language {
        Language(language.name)
    }
}

impl PartialSchema for Language {
    fn schema() -> RefOr<Schema> {
        let names: Vec<&str> = registry::languages().iter().map(|it| it.name).collect();
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).into()
    }
}

impl ToSchema for Language {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Language")
    }
}
