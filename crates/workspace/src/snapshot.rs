//! One revision of a workspace, as a question is given it.

use std::sync::Arc;
use std::time::Instant;

use semdex_engine::files::Files;
use semdex_engine::links::Link;
use semdex_engine::{Readiness, View};
use semdex_model::{LanguageId, Missing, Revision};

/// What an answer needs.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    /// The language whose view is wanted. None: the texts are enough.
    pub language: Option<LanguageId>,
    /// The index of that language, not only its text.
    pub index: bool,
    /// Whether the answer may miss code because of links that the engine does not follow. Otherwise the caller looks at
    /// them.
    pub links: bool,
    /// The answer is about all files of the language, so that it misses each file without a text. Otherwise the engine
    /// knows which of them matter.
    pub all_files: bool,
    /// With `index`, how much of it has to be there for a view to be handed out.
    pub least: Readiness,
    /// The least revision that will do.
    pub min_revision: Option<u64>,
    /// What is not there by then is given up.
    pub deadline: Instant,
    /// Whether to wait also for what engines read in the background, such as further builds. Otherwise an answer says
    /// that it is not read yet.
    pub background: bool,
}

impl Needs {
    /// The texts alone, without waiting for anything.
    pub fn texts() -> Needs {
        Needs {
            language: None,
            index: false,
            least: Readiness::Settled,
            links: false,
            all_files: false,
            min_revision: None,
            deadline: Instant::now(),
            background: false,
        }
    }
}

/// One revision, immutable. It holds an engine's view only where one was asked for; that may hold up the next change
/// until it is moved into its question.
pub struct Snapshot {
    /// The state of the texts that all of it describes.
    pub revision: Revision,
    /// All texts.
    pub files: Arc<Files>,
    /// The view of the language that was asked for. None where none was, or its engine has none.
    pub view: Option<Box<dyn View>>,
    /// Whether code of the workspace may run.
    pub trusted: bool,
    /// How much of the language that was asked for is known.
    pub readiness: Readiness,
    /// Why there is no view of the language though there is code of it: its engine panicked.
    pub lacks: Option<Missing>,
    /// What answers about the language miss for files that cannot be named.
    pub unindexed_names: Option<Missing>,
    /// What answers about the language miss for directories that are not read, or that changed while they were read.
    pub unread: Vec<Missing>,
    /// The links to code of the language that its engine does not follow.
    pub links: Vec<Link>,
}

impl Snapshot {
    /// Whether the language that was asked for has all that it can have.
    pub fn is_settled(&self) -> bool {
        self.readiness == Readiness::Settled
    }
}
