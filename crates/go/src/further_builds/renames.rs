//! A rename in further builds: what has to change there too, and whether the result compiles.

use std::collections::BTreeSet;

use super::FurtherBuilds;
use super::breaks::Planned;
use crate::checker::{self, Name, Renamed};
use crate::impact::EditContext;
use crate::layout::Layout;
use crate::queries::GoplsQueries;
use semdex_model::{Diagnostic, FileEdit, Rewrite, Span};

/// What the further builds add to a rename.
#[derive(Default)]
pub(crate) struct Further {
    pub places: BTreeSet<(String, usize)>,
    /// The files in which a build that has them could not resolve the name.
    pub unclear: BTreeSet<String>,
    /// Whether the further builds are loaded.
    pub is_read: bool,
}

/// The places to rename in addition to these, in all further builds.
pub(crate) async fn more(
    queries: &GoplsQueries<'_>,
    builds: &FurtherBuilds,
    name: &str,
    renamed: BTreeSet<(String, usize)>,
) -> Further {
    let mut found = Further::default();
    let Some(generation) = queries.generation.filter(|_| queries.session.has_further(builds)) else { return found };
    loop {
        let before = found.places.len();
        for build in 0..builds.0.len() {
            let places = renamed.union(&found.places).map(|(file, at)| Name { file: file.clone(), at: *at }).collect();
            let question = Renamed { build, name: name.to_owned(), places };
            let asked = checker::renamed(queries.session, builds, &question, generation, queries.deadlines.answer);
            let Some(answer) = asked.await else { return Further::default() };
            found
                .places
                .extend(answer.places.into_iter().map(|it| (it.file, it.at)).filter(|it| !renamed.contains(it)));
            found.unclear.extend(answer.unclear);
        }
        // A method of one build may have others in another.
        if found.places.len() == before {
            found.is_read = true;
            return found;
        }
    }
}

/// The first error that a rename would make in a further build, with the name of the build.
pub(crate) async fn error(
    queries: &GoplsQueries<'_>,
    builds: &FurtherBuilds,
    rewrites: &[Rewrite],
) -> Option<(String, Diagnostic)> {
    let generation = queries.generation?;
    let edits: Vec<FileEdit> = rewrites.iter().filter_map(|it| edit(queries, it)).collect();
    let context = EditContext::new(queries.layout.files.clone(), &edits);
    let after = Layout::of(context.after.clone(), &queries.session.context());
    let planned = Planned {
        session: queries.session,
        layouts: [queries.layout, &after],
        context: &context,
        edits: &edits,
        generation,
        deadlines: queries.deadlines,
    };
    let answers = planned.ask(builds).await?;
    answers.iter().find_map(|it| Some((it.name(builds)?, planned.errors(it).into_iter().next()?)))
}

fn edit(queries: &GoplsQueries<'_>, rewrite: &Rewrite) -> Option<FileEdit> {
    let file = queries.files.get(&rewrite.file)?;
    let (mut text, mut from) = (String::new(), 0);
    for (Span { start, end }, new) in &rewrite.parts {
        text.push_str(file.text.get(from..*start)?);
        text.push_str(new);
        from = *end;
    }
    text.push_str(file.text.get(from..)?);
    Some(FileEdit { file: rewrite.file.clone(), old: Some(file.text.clone()), new: Some(text.into()) })
}
