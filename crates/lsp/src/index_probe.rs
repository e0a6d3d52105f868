//! Checks whether a server has indexed the workspace, by declarations that it must know. Otherwise its empty answers
//! mean nothing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::grammar::Code;
use super::queries::{Asked, ServerQueries};
use super::session::Failure;
use super::wire;
use semdex_engine::files::File;
use semdex_engine::{Result, blocking};
use semdex_model::{OutlineItem, Span};

/// The number of files whose declarations are used, and the number of declarations per file.
const MOST_FILES: usize = 5;
const MOST_OF_A_FILE: usize = 5;
/// The most files that are searched for unconditional declarations.
const MOST_LOOKED_AT: usize = 40;

/// A declaration: its file and the offset of its name.
type Place = (Arc<File>, usize);

/// Declarations, any one of which shows that the server has indexed the workspace.
struct Declared {
    plain: Vec<Place>,
    /// Declarations that the preprocessor may exclude. Then the server does not know them.
    conditional: Vec<Place>,
}

/// Whether the server knows declarations in the texts. Once it does, the check is not repeated for this server.
pub(crate) async fn has_indexed(queries: &ServerQueries, files: &[Arc<File>]) -> Result<Asked<bool>> {
    let session = &queries.session;
    if session.has_indexed.load(Ordering::Relaxed) || !session.has("textDocument/references") {
        return Ok(Ok(true));
    }
    // Uses further files if these contain no declarations.
    let files: Vec<Arc<File>> = files.iter().cloned().chain(queries.own_files()).collect();
    let asker = queries.clone();
    let declared = blocking(move || Ok(declared_in(&asker, &files))).await?;
    loop {
        for (file, at) in declared.plain.iter().chain(&declared.conditional) {
            let locations = match queries.ask_at(&[], "textDocument/references", file, *at).await? {
                Ok(answer) => wire::locations(&answer),
                Err(Failure::Refused(_)) => continue,
                Err(failure) => return Ok(Err(failure)),
            };
            let itself = |(other, span): (Arc<File>, Span)| other.path == file.path && span.start == *at;
            if locations.iter().filter_map(|it| queries.place(it)).any(itself) {
                session.has_indexed.store(true, Ordering::Relaxed);
                return Ok(Ok(true));
            }
        }
        // A server need not know declarations that may be excluded.
        if declared.plain.is_empty() && (declared.conditional.is_empty() || !session.is_young()) {
            return Ok(Ok(true));
        }
        if !session.is_young() || !queries.pause().await {
            return Ok(Ok(false));
        }
    }
}

/// The declarations of these files.
fn declared_in(queries: &ServerQueries, files: &[Arc<File>]) -> Declared {
    let (mut plain, mut conditional) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    let mut with_plain = 0;
    let declaring = files.iter().filter(|it| seen.insert(it.path.clone()) && !it.outline().items.is_empty());
    for file in declaring.take(MOST_LOOKED_AT) {
        let code = Code::new(queries.grammar_of(&file.path), &file.text);
        let mut rounds = [0_usize; 2];
        for at in spread(&file.outline().items).map(|it| it.name_span.start) {
            let is_conditional = code.is_conditional(&file.text, at);
            let round = &mut rounds[usize::from(is_conditional)];
            let places = if is_conditional { &mut conditional } else { &mut plain };
            places.push((*round, (file.clone(), at)));
            *round += 1;
        }
        with_plain += usize::from(rounds[0] > 0);
        if with_plain == MOST_FILES {
            break;
        }
    }
    Declared { plain: by_turns(plain), conditional: by_turns(conditional) }
}

/// The first declaration of each file, then the second ones, and so on.
fn by_turns(mut places: Vec<(usize, Place)>) -> Vec<Place> {
    places.sort_by_key(|it| it.0);
    places.into_iter().map(|it| it.1).take(MOST_FILES * MOST_OF_A_FILE).collect()
}

/// A sample over the whole list, since neighbours may be under the same condition.
fn spread(items: &[OutlineItem]) -> impl Iterator<Item = &OutlineItem> {
    let count = items.len().min(MOST_OF_A_FILE);
    (0..count).filter_map(move |it| items.get(it * (items.len() - 1) / (count - 1).max(1)))
}
