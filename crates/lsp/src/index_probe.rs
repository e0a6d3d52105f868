//! Whether a server that has nothing to say is to be believed: it has to know what the texts plainly declare.

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

/// Files by whose declarations a server shows that it knows the workspace, and declarations of each.
const MOST_FILES: usize = 5;
const MOST_OF_A_FILE: usize = 5;
/// So many files are looked through for declarations that no condition leaves out.
const MOST_LOOKED_AT: usize = 40;

/// A declaration in a file, by where its name stands.
type Place = (Arc<File>, usize);

/// Declarations by any one of which a server can show that it knows the workspace.
struct Declared {
    plain: Vec<Place>,
    /// The preprocessor may leave these out, and then the server knows nothing of them.
    conditional: Vec<Place>,
}

/// Whether the server knows what the texts plainly declare: else that it has nothing to say means nothing. Shown once in
/// its life.
pub(crate) async fn is_proved(queries: &ServerQueries, files: &[Arc<File>]) -> Result<Asked<bool>> {
    let session = &queries.session;
    if session.is_proved.load(Ordering::Relaxed) || !session.has("textDocument/references") {
        return Ok(Ok(true));
    }
    // Where these declare nothing, others do.
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
                session.is_proved.store(true, Ordering::Relaxed);
                return Ok(Ok(true));
            }
        }
        // Of what may be left out nobody can say that the server has to know it.
        if declared.plain.is_empty() && (declared.conditional.is_empty() || !session.is_young()) {
            return Ok(Ok(true));
        }
        if !session.is_young() || !queries.pause().await {
            return Ok(Ok(false));
        }
    }
}

/// What these files declare, one declaration of each before further ones.
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

/// The first of each file, then the second ones, and so on.
fn by_turns(mut places: Vec<(usize, Place)>) -> Vec<Place> {
    places.sort_by_key(|it| it.0);
    places.into_iter().map(|it| it.1).take(MOST_FILES * MOST_OF_A_FILE).collect()
}

/// Some of these, from the first to the last: neighbours may all stand under one condition.
fn spread(items: &[OutlineItem]) -> impl Iterator<Item = &OutlineItem> {
    let count = items.len().min(MOST_OF_A_FILE);
    (0..count).filter_map(move |it| items.get(it * (items.len() - 1) / (count - 1).max(1)))
}
