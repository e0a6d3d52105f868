//! Usages of symbols, computed by the checker: the same as from gopls, without waiting for gopls.

use std::time::Instant;

use gen_lsp_types::{LspRequestMethod, MessageDirection, Request};
use serde::{Deserialize, Serialize};

use crate::further_builds::FurtherBuilds;
use crate::session::Session;

/// A symbol, given by the place of its name.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Wanted {
    pub file: String,
    pub at: usize,
    pub name: String,
    /// The files in which the name occurs and may mean the symbol.
    pub files: Vec<String>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Question {
    /// 0 is the default build, or the first further one.
    build: usize,
    symbols: Vec<Wanted>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Uses {
    files: Vec<String>,
    found: Vec<Option<Vec<usize>>>,
    lost: Vec<Option<Vec<usize>>>,
}

enum Ask {}

impl Request for Ask {
    type Params = Question;
    type Result = Uses;
    const METHOD: LspRequestMethod<'static> = LspRequestMethod::new("checker/uses");
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ClientToServer;
}

impl Uses {
    /// The usages of one of the requested symbols; `None` if the checker cannot compute all of them.
    pub(crate) fn of(&self, number: usize) -> Option<impl Iterator<Item = (&str, usize)>> {
        Some(self.places(self.found.get(number)?.as_deref()?))
    }

    /// The unresolved names that may mean one of the requested symbols: code there has errors.
    pub(crate) fn lost(&self, number: usize) -> impl Iterator<Item = (&str, usize)> {
        self.places(self.lost.get(number).and_then(Option::as_deref).unwrap_or_default())
    }

    fn places<'u>(&'u self, pairs: &'u [usize]) -> impl Iterator<Item = (&'u str, usize)> {
        let (pairs, _) = pairs.as_chunks::<2>();
        pairs.iter().filter_map(|&[file, at]| Some((self.files.get(file)?.as_str(), at)))
    }
}

/// `None` if the checker is not running or the content has changed since.
pub(crate) async fn uses(session: &Session, symbols: Vec<Wanted>, generation: u64, deadline: Instant) -> Option<Uses> {
    let question = Question { build: 0, symbols };
    super::put::<Ask>(session, &session.checker, &question, generation, deadline).await
}

/// The usages in one of the further builds; an empty name of a file stands for a symbol that the build does not declare.
/// `None` if they are not loaded.
pub(crate) async fn uses_in(
    session: &Session,
    builds: &FurtherBuilds,
    number: usize,
    symbols: Vec<Wanted>,
    generation: u64,
    deadline: Instant,
) -> Option<Uses> {
    let question = Question { build: number, symbols };
    super::put_further::<Ask>(session, builds, &question, generation, deadline).await
}
