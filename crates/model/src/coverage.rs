//! Whether an answer is complete, and what is missing.

/// A value, and whether it is complete. It has no default: a caller that knows that there is nothing says so (`whole`),
/// and a caller that could not ask says why (`lacking`). So an unanswered query never looks like an empty answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Answer<T> {
    /// The known value; if coverage is not complete, perhaps only a part.
    pub value: T,
    /// Whether `value` is complete, and what is missing.
    pub coverage: Coverage,
}

impl<T> Answer<T> {
    /// A complete answer.
    pub fn whole(value: T) -> Answer<T> {
        Answer { value, coverage: Coverage::default() }
    }

    /// An answer that may be incomplete, and why; `complete` is false.
    pub fn lacking(value: T, missing: Missing) -> Answer<T> {
        let mut coverage = Coverage::default();
        coverage.lacks(missing);
        Answer { value, coverage }
    }

    /// Another value with the same coverage.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Answer<U> {
        Answer { value: f(self.value), coverage: self.coverage }
    }
}

/// Whether an answer is complete. `missing` may name a deficit of the environment that cannot affect the answer; then
/// `complete` stays true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Nothing is known to be missing from the answer.
    pub complete: bool,
    /// Each reason once, in the order in which they were found.
    pub missing: Vec<Missing>,
    /// The tool that answered in place of an unavailable engine.
    pub fallback: Option<String>,
    /// The builds that the answer covers besides the default build, by what differs in each.
    pub builds: Vec<String>,
}

impl Default for Coverage {
    fn default() -> Coverage {
        Coverage { complete: true, missing: Vec::new(), fallback: None, builds: Vec::new() }
    }
}

impl Coverage {
    /// Something that belongs into this answer may be missing.
    pub fn lacks(&mut self, missing: Missing) {
        self.complete = false;
        self.note(missing);
    }

    /// A deficit of the environment that does not affect this answer.
    pub fn note(&mut self, missing: Missing) {
        if !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
    }

    /// This tool answered in the place of an engine.
    pub fn stands_in(&mut self, tool: &str) {
        match &mut self.fallback {
            Some(all) if all.split(", ").any(|it| it == tool) => {}
            Some(all) => *all = format!("{all}, {tool}"),
            None => self.fallback = Some(tool.to_owned()),
        }
    }

    /// Adds what is missing from another part of the same answer. The whole is complete only if both parts are.
    pub fn absorb(&mut self, other: Coverage) {
        self.complete &= other.complete;
        other.fallback.iter().flat_map(|it| it.split(", ")).for_each(|it| self.stands_in(it));
        for missing in other.missing {
            self.note(missing);
        }
        for build in other.builds {
            if !self.builds.contains(&build) {
                self.builds.push(build);
            }
        }
    }
}

/// A deficit of the environment or of an answer, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Missing {
    /// The reason, for programs.
    pub code: MissingCode,
    /// What is missing, why, and what to do about it.
    pub detail: String,
    /// The language, engine or file that it is about.
    pub scope: Option<String>,
    /// An engine reads it in the background, so that the same request is answered without it soon.
    pub is_being_read: bool,
}

impl Missing {
    /// With the language, engine or file that it is about, and prose for the reader of the reply.
    pub fn new(code: MissingCode, scope: impl Into<String>, detail: impl Into<String>) -> Missing {
        Missing { code, detail: detail.into(), scope: Some(scope.into()), is_being_read: false }
    }

    /// What an engine reads in the background at this moment.
    pub fn being_read(scope: impl Into<String>, detail: impl Into<String>) -> Missing {
        Missing { is_being_read: true, ..Missing::new(MissingCode::Indexing, scope, detail) }
    }
}

/// Why an answer may be incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MissingCode {
    /// The index is not filled yet; waiting helps.
    Indexing,
    /// The sources of the standard library are not installed.
    StdSources,
    /// Build scripts did not run, or failed: what they generate is not known.
    BuildScripts,
    /// Procedural macros could not be built or expanded.
    ProcMacros,
    /// The owner does not trust the workspace, so none of its programs was started.
    Untrusted,
    /// The engine does not run, or failed to answer.
    EngineDown,
    /// The engine's program is not installed.
    EngineMissing,
    /// The engine ended and is being restarted.
    EngineRestarting,
    /// A manifest or file cannot be read or parsed as it should.
    WorkspaceBroken,
    /// Code that the build configuration switches off is not analysed.
    CfgOff,
    /// Positions within the output of a macro are unknown.
    MacroOutput,
    /// The reply was shortened to its budget of tokens.
    Budget,
    /// The deadline came before the whole answer.
    Timeout,
    /// There is more than a bound allows to look at.
    TooMany,
    /// The engine cannot answer this question.
    Unsupported,
    /// No crate, module or package includes the file.
    NotInAPackage,
    /// Nothing was saved to compare with.
    NoBaseline,
    /// The disk was examined, and answers are based on other contents.
    Overlays,
    /// The contents changed during the computation.
    Changed,
    /// No test has the name.
    UnknownTest,
    /// Tests that were announced have no result.
    NoResult,
    /// A file or directory of the workspace was not read: it may not be, or it exceeds a bound.
    Unread,
    /// What a change of a manifest makes of the code.
    Manifest,
}

impl MissingCode {
    /// Whether the same request, without an edit in between, may be complete later.
    pub fn passes(self) -> bool {
        use MissingCode::{EngineDown, EngineMissing, EngineRestarting, Indexing, Timeout};
        matches!(self, EngineDown | EngineMissing | EngineRestarting | Indexing | Timeout)
    }

    /// The word for it in replies: `std_sources`.
    pub fn name(self) -> &'static str {
        match self {
            MissingCode::Indexing => "indexing",
            MissingCode::StdSources => "std_sources",
            MissingCode::BuildScripts => "build_scripts",
            MissingCode::ProcMacros => "proc_macros",
            MissingCode::Untrusted => "untrusted",
            MissingCode::EngineDown => "engine_down",
            MissingCode::EngineMissing => "engine_missing",
            MissingCode::EngineRestarting => "engine_restarting",
            MissingCode::WorkspaceBroken => "workspace_broken",
            MissingCode::CfgOff => "cfg_off",
            MissingCode::MacroOutput => "macro_output",
            MissingCode::Manifest => "manifest",
            MissingCode::Budget => "budget",
            MissingCode::Timeout => "timeout",
            MissingCode::TooMany => "too_many",
            MissingCode::Unsupported => "unsupported",
            MissingCode::NotInAPackage => "not_in_a_package",
            MissingCode::NoBaseline => "no_baseline",
            MissingCode::Overlays => "overlays",
            MissingCode::Changed => "changed",
            MissingCode::UnknownTest => "unknown_test",
            MissingCode::NoResult => "no_result",
            MissingCode::Unread => "unread",
        }
    }
}
