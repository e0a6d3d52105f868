//! The findings of the rules: an error with its code, the rule that found it, and its subject. Whether an error follows
//! from another is decided by these, never by the text of a message.

use std::collections::HashSet;

use ra_ap_ide::{FileId, FileRange, TextRange};

use super::broken_imports::{BrokenImports, UnresolvedImports};
use super::code::Code;
use super::rule_id::RuleId;
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
    pub(super) fn of_predicate(shown: &str) -> Subject {
        match shown.split_once(": ") {
            Some((ty, of)) => Subject::Bound { ty: ty.to_owned(), of: of.to_owned() },
            None => Subject::None,
        }
    }

    pub(super) fn of_bound(ty: impl Into<String>, of: impl Into<String>) -> Subject {
        Subject::Bound { ty: ty.into(), of: of.into() }
    }

    /// The type without the member or trait.
    pub(super) fn ty(&self) -> Option<&str> {
        match self {
            Subject::Member { receiver } => Some(receiver),
            Subject::Bound { ty, .. } => Some(ty),
            Subject::None | Subject::Macro => None,
        }
    }
}

/// An error before its position is converted.
pub(super) struct RawDiagnostic {
    pub(super) file: FileId,
    pub(super) range: TextRange,
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) rule: RuleId,
    pub(super) subject: Subject,
}

impl RawDiagnostic {
    pub(super) fn new(at: FileRange, code: Code, message: String) -> RawDiagnostic {
        let (rule, subject) = (RuleId::RustAnalyzer, Subject::None);
        RawDiagnostic { file: at.file_id, range: at.range, code, message, rule, subject }
    }

    pub(super) fn about(self, subject: Subject) -> RawDiagnostic {
        RawDiagnostic { subject, ..self }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) place: Place,
    pub(super) severity: Severity,
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) source: &'static str,
    pub(super) symbol: Option<String>,
    pub(super) rule: RuleId,
    pub(super) subject: Subject,
}

impl Finding {
    pub(super) fn about(self, subject: Subject) -> Finding {
        Finding { subject, ..self }
    }

    pub(super) fn is(&self, code: Code) -> bool {
        self.code == code
    }

    pub(super) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// An unused import.
    pub(super) fn of_unused_import(it: &Diagnostic) -> Finding {
        Finding {
            place: it.place.clone(),
            severity: it.severity,
            code: Code::UnusedImports,
            message: it.message.clone(),
            source: crate::ENGINE,
            symbol: it.symbol.clone(),
            rule: RuleId::UnusedImports,
            subject: Subject::None,
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
        }
    }
}

/// The errors found so far, one for each line: the first one is kept.
pub(super) struct Findings<'a> {
    lines: HashSet<(String, usize)>,
    pub(super) new: &'a mut Vec<Finding>,
    /// Errors that follow from another place (`follows`).
    pub(super) following: Vec<Finding>,
    pub(super) imports: Imports,
    /// The rule that is being applied.
    pub(super) rule: RuleId,
}

/// What broken imports would have brought into scope.
#[derive(Default)]
pub(super) struct Imports {
    pub(super) lost: UnresolvedImports,
    pub(super) broken: BrokenImports,
}

impl<'a> Findings<'a> {
    pub(super) fn new(new: &'a mut Vec<Finding>) -> Findings<'a> {
        // An unknown type is dropped in favour of the error that it follows from.
        let is_of_itself = |it: &&Finding| it.is_error() && !it.is(Code::E0282);
        let lines = new.iter().filter(is_of_itself).flat_map(|it| {
            (it.place.line..=it.place.end_line).map(|line| (it.place.file.clone(), line)).collect::<Vec<_>>()
        });
        Findings {
            lines: lines.collect(),
            new,
            following: Vec::new(),
            imports: Imports::default(),
            rule: RuleId::RustAnalyzer,
        }
    }

    pub(super) fn add(&mut self, found: Finding) {
        let found = Finding { rule: self.rule, ..found };
        if self.lines.insert((found.place.file.clone(), found.place.line)) {
            self.new.push(found);
        }
    }

    /// Adds a place that has to be edited too, once another place is fixed.
    pub(super) fn add_following(&mut self, found: Finding) {
        self.following.push(Finding { rule: self.rule, ..found });
    }

    /// The errors with one code.
    pub(super) fn of(&self, code: Code) -> Vec<Finding> {
        self.new.iter().filter(|it| it.code == code).cloned().collect()
    }

    pub(super) fn forget(&mut self, is_none: impl Fn(&Finding) -> bool) {
        self.new.retain(|it| !is_none(it));
        self.lines = Findings::new(self.new).lines;
    }

    pub(super) fn defer(&mut self, follows: impl FnMut(&mut Finding) -> bool) {
        self.following.extend(self.new.extract_if(.., follows));
        self.lines = Findings::new(self.new).lines;
    }

    /// Reserves a line for a following error, if it has no other one.
    pub(super) fn claims(&mut self, found: &Finding) -> bool {
        self.lines.insert((found.place.file.clone(), found.place.line))
    }
}

impl Finding {
    /// Checks that the table lists the code for this rule.
    pub(super) fn check(&self) {
        debug_assert!(self.rule.lists(self.code), "{:?} finds {:?}, and does not list it", self.rule, self.code);
    }
}
