//! The plain vocabulary of semdex: the types that engines answer with, operations compose and the interfaces print. No
//! I/O, no serde, no types of an engine. The terms are the contract's.

mod change;
mod coverage;
mod detail;
mod diagnostic;
mod error;
mod impact;
mod language;
mod origin;
mod outline;
mod overview;
mod place;
mod references;
mod run;
mod state;
mod symbol;
mod usage;
mod verify;

pub use change::{FileEdit, Landed, Renaming, Rewrite, Strategy};
pub use coverage::{Answer, Coverage, Missing, MissingCode};
pub use detail::Detail;
pub use diagnostic::{Diagnostic, FindingKind, Severity};
pub use error::{Candidate, Code, Conflict, Error, Help, LostLine, Nearest, Result};
pub use impact::{Affected, Alteration, Broken, ChangeImpact, ChangeKind, Changed, Impact, Reaching, Unchecked};
pub use language::{Language, LanguageId, Languages, ReferencedFile, Syntax};
pub use origin::Origin;
pub use outline::{Import, Outline, OutlineItem, SyntaxError};
pub use overview::{Description, Downstream, Example, ExampleOrigin, Overview, Package, Upstream};
pub use place::{Place, Span};
pub use references::{Declared, FileReferences, Reference, References};
pub use run::RunState;
pub use state::{EngineState, Meta, Revision, State};
pub use symbol::{Symbol, SymbolAt, SymbolKind, SymbolQuery, UsageCount};
pub use usage::{CallSite, Calls, Doubt, PossibleReason, Role, Usage, UsagePage, Usages, Window};
pub use verify::{TestFailure, TestReport, ToolRun, Verified, VerifyKind, VerifyProgress};
