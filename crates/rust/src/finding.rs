//! The findings of the rules: an error with its code, the rule that found it, and its subject. Whether an error follows
//! from another is decided by these, never by the text of a message.

pub(crate) mod code;
pub(crate) mod file_errors;

use std::cmp::Ordering;

use ra_ap_base_db::Crate as CrateId;
use ra_ap_ide::{FileId, FileRange, RootDatabase, TextRange};

use self::code::Code;
use crate::names::instances;
use semdex_model::{Diagnostic, Place, Severity};

/// The subject of an error.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    #[default]
    None,
    /// An unresolved macro.
    Macro,
    /// A member that the type of its receiver does not have.
    Member { receiver: String },
    /// A trait that a type does not implement.
    Bound { ty: String, of: String },
}

impl Subject {
    /// Parses a predicate as rust-analyzer shows it: `Type: Trait`.
    pub(crate) fn of_predicate(shown: &str) -> Subject {
        match shown.split_once(": ") {
            Some((ty, of)) => Subject::Bound { ty: ty.to_owned(), of: of.to_owned() },
            None => Subject::None,
        }
    }

    pub(crate) fn of_bound(ty: impl Into<String>, of: impl Into<String>) -> Subject {
        Subject::Bound { ty: ty.into(), of: of.into() }
    }

    /// The type without the member or trait.
    pub(crate) fn ty(&self) -> Option<&str> {
        match self {
            Subject::Member { receiver } => Some(receiver),
            Subject::Bound { ty, .. } => Some(ty),
            Subject::None | Subject::Macro => None,
        }
    }
}

/// An error before its position is converted.
pub(crate) struct RawDiagnostic {
    pub(crate) file: FileId,
    pub(crate) range: TextRange,
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) rule: RuleId,
    pub(crate) subject: Subject,
}

impl RawDiagnostic {
    pub(crate) fn new(at: FileRange, code: Code, message: String) -> RawDiagnostic {
        let (rule, subject) = (RuleId::RustAnalyzer, Subject::None);
        RawDiagnostic { file: at.file_id, range: at.range, code, message, rule, subject }
    }

    pub(crate) fn about(self, subject: Subject) -> RawDiagnostic {
        RawDiagnostic { subject, ..self }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) place: Place,
    pub(crate) severity: Severity,
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) source: &'static str,
    pub(crate) symbol: Option<String>,
    pub(crate) rule: RuleId,
    pub(crate) subject: Subject,
    pub(crate) crates: FoundIn,
}

/// The crates in which an error was found, if several include its file and not all may have it. It is the same error in
/// each of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct FoundIn(Vec<CrateId>);

impl FoundIn {
    /// The crate for which this thread reads the file.
    pub(crate) fn pinned(db: &RootDatabase, file: FileId) -> FoundIn {
        FoundIn(instances::pinned(db, file).into_iter().collect())
    }

    pub(crate) fn list(&self) -> &[CrateId] {
        &self.0
    }

    fn add(&mut self, others: &FoundIn) {
        if self.0.is_empty() || others.0.is_empty() {
            return self.0.clear();
        }
        let new: Vec<CrateId> = others.0.iter().filter(|it| !self.0.contains(it)).copied().collect();
        self.0.extend(new);
    }
}

impl PartialEq for FoundIn {
    fn eq(&self, _: &FoundIn) -> bool {
        true
    }
}

impl Eq for FoundIn {}

impl PartialOrd for FoundIn {
    fn partial_cmp(&self, other: &FoundIn) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FoundIn {
    fn cmp(&self, _: &FoundIn) -> Ordering {
        Ordering::Equal
    }
}

/// Sorts errors, and leaves one of those that are equal, with all crates that have it.
pub(crate) fn merge_equal(found: &mut Vec<Finding>) {
    found.sort();
    found.dedup_by(|again, first| {
        let is_same = again == first;
        if is_same {
            first.crates.add(&again.crates);
        }
        is_same
    });
}

impl Finding {
    /// The same error was found in another crate.
    pub(crate) fn found_again(&mut self, again: &Finding) {
        self.crates.add(&again.crates);
    }

    pub(crate) fn about(self, subject: Subject) -> Finding {
        Finding { subject, ..self }
    }

    pub(crate) fn is(&self, code: Code) -> bool {
        self.code == code
    }

    pub(crate) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// An unused import.
    pub(crate) fn of_unused_import(it: &Diagnostic) -> Finding {
        Finding::of_diagnostic(it, Code::UnusedImports, RuleId::UnusedImports)
    }

    /// What rust-analyzer reports.
    pub(crate) fn of_diagnostic(it: &Diagnostic, code: Code, rule: RuleId) -> Finding {
        Finding {
            place: it.place.clone(),
            severity: it.severity,
            code,
            message: it.message.clone(),
            source: crate::ENGINE,
            symbol: it.symbol.clone(),
            rule,
            subject: Subject::None,
            crates: FoundIn::default(),
        }
    }
}

impl From<Finding> for Diagnostic {
    fn from(it: Finding) -> Diagnostic {
        Diagnostic {
            place: it.place,
            severity: it.severity,
            code: Some(it.code.name().to_owned()).filter(|it| !it.is_empty()),
            message: it.message,
            source: it.source.to_owned(),
            symbol: it.symbol,
            confirmed: None,
            build: None,
        }
    }
}

/// The rule that found an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum RuleId {
    Syntax,
    RustAnalyzer,
    Operators,
    Closures,
    UnmetProjections,
    Results,
    Constructors,
    Variants,
    ConstantPatterns,
    OpaqueTypes,
    StructUpdates,
    FormatStrings,
    StdMacros,
    BoundTwice,
    Alternatives,
    OuterItems,
    ObjectTypes,
    TryOperator,
    MacroPaths,
    MisusedPaths,
    AmbiguousGlobs,
    MalformedExpressions,
    MalformedItems,
    WrittenImports,
    Overflow,
    ConstContexts,
    UnknownResults,
    Gates,
    UnstableItems,
    LetChains,
    Sized,
    Assignments,
    AmbiguousNumbers,
    AsyncRecursion,
    Literals,
    Editions,
    GatedHeads,
    Arity,
    MissingItems,
    ImplHeads,
    ImplItems,
    DeriveErrors,
    DynTraits,
    Names,
    RemovedTraits,
    Generics,
    MacroGenerics,
    ConstCalls,
    Futures,
    Helpers,
    UnresolvedNames,
    Duplicates,
    Heads,
    Lifetimes,
    Files,
    IncludedData,
    Main,
    GivenTypes,
    UnusedParameters,
    RecursiveTypes,
    UnmentionedParameters,
    UndeclaredLifetimes,
    UnusedImports,
}
