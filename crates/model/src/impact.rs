//! The effect of a change on the surrounding code: changed symbols, broken and affected places, and an engine's report
//! about it.

use super::{Coverage, Diagnostic, Missing, MissingCode, Place};

/// An engine's report about a change: the diagnostics that come and go, and what the change reaches. Like [`Answer`] it
/// has no default.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ChangeImpact {
    /// Diagnostics that the change brings.
    pub new: Vec<Diagnostic>,
    /// Diagnostics that it takes away.
    pub fixed: Vec<Diagnostic>,
    /// What it does to the code around it.
    pub impact: Impact,
    /// Whether all of this was looked at.
    pub coverage: Coverage,
}

impl ChangeImpact {
    /// The change concerns nothing that the engine analyses, or nothing that the compiler sees.
    pub fn nothing() -> ChangeImpact {
        ChangeImpact { new: Vec::new(), fixed: Vec::new(), impact: Impact::default(), coverage: Coverage::default() }
    }

    /// With what another engine says of the same change.
    pub fn join(&mut self, other: ChangeImpact) {
        self.new.extend(other.new);
        self.fixed.extend(other.fixed);
        self.impact.changed.extend(other.impact.changed);
        self.impact.broken.extend(other.impact.broken);
        self.impact.affected.extend(other.impact.affected);
        self.impact.tests.extend(other.impact.tests);
        for unchecked in other.impact.unchecked {
            if !self.impact.unchecked.contains(&unchecked) {
                self.impact.unchecked.push(unchecked);
            }
        }
        self.coverage.absorb(other.coverage);
    }

    /// The engine could not be asked, or did not answer.
    pub fn unanswered(missing: Missing) -> ChangeImpact {
        let mut change_impact = ChangeImpact::nothing();
        change_impact.lacks(missing);
        change_impact
    }

    /// A part of what the change may break was not analysed.
    pub fn lacks(&mut self, missing: Missing) {
        let unchecked = Unchecked::from(&missing);
        if !self.impact.unchecked.contains(&unchecked) {
            self.impact.unchecked.push(unchecked);
        }
        self.coverage.lacks(missing);
    }

    /// Tests that reach the change may be missing. What it breaks is known all the same.
    pub fn lacks_tests(&mut self, missing: Missing) {
        let unchecked = Unchecked { code: Unchecked::TESTS.to_owned(), detail: missing.detail.clone() };
        if !self.impact.unchecked.contains(&unchecked) {
            self.impact.unchecked.push(unchecked);
        }
        self.coverage.lacks(missing);
    }

    /// Why the change is not analysed in full, if it is not. General deficits of the workspace (no trust, for example)
    /// do not count, nor does a manifest whose effect only its build tool knows.
    pub fn not_analysed(&self) -> Option<&Missing> {
        let is_unchecked = |it: &Missing| self.impact.unchecked.contains(&Unchecked::from(it));
        let is_of_tests =
            |it: &Missing| self.impact.unchecked.iter().any(|unchecked| unchecked.is_of_tests(&it.detail));
        let mut missing = self.coverage.missing.iter().filter(|it| !self.coverage.complete && !is_of_tests(it));
        missing.find(|it| it.code.passes() || is_unchecked(it) && it.code != MissingCode::Manifest)
    }
}

/// What a change does beyond the text that it edits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Impact {
    /// The symbols whose declaration or body the change alters.
    pub changed: Vec<Changed>,
    /// The places that fail to compile after the change and did not before.
    pub broken: Vec<Broken>,
    /// The places that name what changed and still compile.
    pub affected: Vec<Affected>,
    /// The tests that reach what changed.
    pub tests: Vec<Reaching>,
    /// Kinds of errors that were not checked.
    pub unchecked: Vec<Unchecked>,
}

/// A symbol that a change alters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Its path before the change; the path after it, where the symbol is new.
    pub symbol: String,
    /// What differs; of several differences, the difference with the greatest effect on its users.
    pub kind: ChangeKind,
    /// Its signature before. None where it did not exist.
    pub before: Option<String>,
    /// Its signature after. None where it is gone.
    pub after: Option<String>,
}

/// What a change does to a symbol; [`ChangeKind::name`] is the word in replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It no longer exists.
    Removed,
    /// The same declaration has another name.
    Renamed,
    /// Its parameters, result, generics, bounds or derives differ.
    Signature,
    /// It can be named from other places than before.
    Visibility,
    /// The declaration of a field, constant, variable or alias differs beyond its visibility.
    Type,
    /// It did not exist before.
    Added,
    /// Only parts that its users cannot see differ.
    Body,
}

impl ChangeKind {
    /// The word for it in replies: `signature`.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Removed => "removed",
            ChangeKind::Renamed => "renamed",
            ChangeKind::Signature => "signature",
            ChangeKind::Visibility => "visibility",
            ChangeKind::Type => "type",
            ChangeKind::Added => "added",
            ChangeKind::Body => "body",
        }
    }
}

/// A hypothetical change of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alteration {
    /// The declaration is taken away.
    Remove,
    /// It gets a name that nothing else has.
    Rename,
    /// One parameter more, or another type.
    Signature,
    /// It is no longer visible from outside.
    Visibility,
}

/// A place that does not compile after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Where, and by which changed symbol.
    pub at: Affected,
    /// The compiler's code for the error, like `E0061`. None where the engine gives none.
    pub code: Option<String>,
    /// What is wrong there, in one sentence.
    pub reason: String,
    /// Whether it fails only through another place of the list: a name by an import or a glob that is broken itself.
    pub follows: bool,
}

impl Broken {
    /// The place of an error by which no changed symbol is known. `text`: its line.
    pub fn of_error(error: &Diagnostic, text: String, test: bool) -> Broken {
        let at =
            Affected { place: error.place.clone(), text, symbol: error.symbol.clone(), cause: None, test, build: None };
        Broken { at, code: error.code.clone(), reason: error.message.clone(), follows: false }
    }
}

/// A place that an edit breaks, touches, or that tests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Affected {
    /// What names the changed symbol, or what fails.
    pub place: Place,
    /// The whole line.
    pub text: String,
    /// The path of the symbol whose text the place is in.
    pub symbol: Option<String>,
    /// The changed symbol it depends on.
    pub cause: Option<String>,
    /// For code that the default build does not compile: what differs in the build that does, like `feature=parallel`.
    pub build: Option<String>,
    /// It is in test code.
    pub test: bool,
}

/// A test that reaches what changes, by the place in it that leads there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaching {
    /// The place within the test.
    pub at: Affected,
    /// The number of steps from the test to the changed symbol: one if the test names it itself. None if they were not
    /// counted.
    pub distance: Option<u32>,
}

impl Reaching {
    /// Why there may be tests although none was found.
    pub const NONE_NEAR: &'static str = "none is near: there may be some further away";
}

impl From<Affected> for Reaching {
    fn from(at: Affected) -> Reaching {
        Reaching { at, distance: None }
    }
}

/// A kind of error that an impact does not cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unchecked {
    /// The kind, for programs: a [`MissingCode`](super::MissingCode) by name, or one of the engine's own, like
    /// `borrow_checker`.
    pub code: String,
    /// What was not checked, and why.
    pub detail: String,
}

impl Unchecked {
    /// The code for tests that may be missing from the list of those that reach a change.
    pub const TESTS: &'static str = "tests";

    /// Whether it is about such tests, for this reason.
    pub fn is_of_tests(&self, detail: &str) -> bool {
        self.code == Unchecked::TESTS && self.detail == detail
    }
}

impl From<&Missing> for Unchecked {
    fn from(missing: &Missing) -> Unchecked {
        Unchecked { code: missing.code.name().to_owned(), detail: missing.detail.clone() }
    }
}
