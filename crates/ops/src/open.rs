//! `open`: an overview of a file.

use std::sync::Arc;
use std::time::Duration;

use super::nearest_file::near;
use super::query::{RequestOptions, not_indexed, run_query, why_down};
use semdex_contract::budget::{Listing, Part, positions};
use semdex_contract::{Downstream, Import, OpenRequest, Opened, SymbolTree, Upstream};
use semdex_engine::files::File;
use semdex_model::{Answer, Code, Error, Help, LanguageId, Meta, Overview, Result};
use semdex_workspace::Workspace;

/// How long usages are counted while the names of all files are not yet indexed.
const COUNTING: Duration = Duration::from_secs(1);
/// How long after that an answer of the engine is preferred to the text alone.
const PATIENCE: Duration = Duration::from_millis(500);

pub(crate) async fn open(workspace: &Workspace, request: OpenRequest, options: &RequestOptions) -> Result<Opened> {
    let from = positions(options.cursor.as_deref())?;
    let name = workspace.locate(&request.file)?;
    let language = workspace.language_of(&name);
    // Without a wait, only a warm index is queried. Otherwise the text alone gives the answer immediately.
    let is_warm = || {
        workspace
            .status()
            .engines
            .iter()
            .all(|it| language.is_none_or(|language| !workspace.serves(it, language)) || it.warm)
    };
    let index = options.wait.is_some_and(|it| !it.is_zero());
    let needs = options.needs(language, index);
    // Which engine is down may differ at the same revision, so it is part of the key.
    let down = language.and_then(|it| why_down(workspace, it)).map(|it| it.code);
    let memo = format!("open {name} {} {down:?}", index || is_warm());
    let until = options.begun + options.wait.unwrap_or_default() + COUNTING;
    let answered = run_query(workspace, needs, Some(memo), |it| {
        let (name, warm) = (name.clone(), index || is_warm());
        async move {
            let file = text_of(&it.files, &name)?;
            let overview = match (it.view, language) {
                (Some(view), Some(language)) => {
                    let answered = async {
                        if warm {
                            return view.overview(name.clone(), it.deadlines, until).await;
                        }
                        let mut overview = view.outline(name.clone(), it.deadlines).await?;
                        overview.coverage.lacks(not_indexed(workspace, language));
                        Ok(overview)
                    };
                    // An engine that has just loaded may need long even for the names of a file. The text does not wait
                    // for it.
                    match tokio::time::timeout_at((until + PATIENCE).into(), answered).await {
                        Ok(answered) => answered?,
                        Err(_) => Answer::lacking(Overview::default(), not_indexed(workspace, language)),
                    }
                }
                // The engine starts with the first snapshot that contains the file.
                (None, Some(language)) => Answer::lacking(Overview::default(), not_indexed(workspace, language)),
                (_, None) => Answer::whole(Overview::default()),
            };
            Ok(overview.map(|overview| (file, overview)))
        }
    })
    .await?;
    let (file, overview) = answered.value;
    workspace.seen_texts().note_shown(options.session.as_deref(), &file);
    Ok(opened(&file, language, overview, from, answered.meta))
}

fn opened(file: &File, language: Option<LanguageId>, overview: Overview, from: [usize; 5], meta: Meta) -> Opened {
    let outline = file.outline();
    let (skeleton, skeleton_lines) = match language {
        _ if overview.skeleton.is_some() => overview.skeleton.clone().unwrap_or_default(),
        Some(_) => (outline.skeleton.clone(), outline.skeleton_lines.clone()),
        None => (file.text.to_string(), (1..=file.lines().line_count()).collect()),
    };
    let [from_line, from_symbol, from_import, from_upstream, from_downstream] = from;
    let skeleton_part = Part::after(from_line, skeleton_lines.len());
    let opened = Opened {
        file: file.path.to_string(),
        language: language.map(Into::into),
        package: overview.package,
        lines: file.lines().line_count(),
        hash: file.hash.to_hex().to_string(),
        overlay: file.overlay,
        docs: overview.docs.or_else(|| outline.docs.clone()),
        skeleton: if from_line == 0 { skeleton } else { skeleton_part.lines(&skeleton) },
        imports: Listing::after(from_import, outline.imports.clone()).map(Import::from),
        symbols: SymbolTree::of_file(from_symbol, overview.symbols),
        upstream: Listing::after(from_upstream, overview.upstream).map(Upstream::from),
        downstream: Listing::after(from_downstream, overview.downstream).map(Downstream::from),
        next_cursor: None,
        meta: meta.into(),
        skeleton_lines: skeleton_part.of(&skeleton_lines).to_vec(),
        skeleton_part,
    };
    opened.with_cursor()
}

/// A file of the workspace, or an error with similar names.
pub(super) fn text_of(files: &semdex_engine::files::Files, name: &str) -> Result<Arc<File>> {
    if let Some(file) = files.get(name) {
        return Ok(file.clone());
    }
    let suggestions = near(files, name);
    let detail = match suggestions.first() {
        Some(first) => format!("there is no text file `{name}` in the workspace: did you mean `{first}`?"),
        None => format!("there is no text file `{name}` in the workspace"),
    };
    let help = Help { suggestions, file: Some(name.to_owned()), ..Help::default() };
    Err(Error::new(Code::UnknownFile, detail).with_help(help))
}
