//! `open`: a file at a glance.

use std::sync::Arc;

use super::ask::{Ask, Reply, ask, not_indexed};
use crate::lang::files::File;
use crate::model::{Answer, Code, Downstream, Error, Import, Language, Overview, Result, State, Symbol, Upstream};
use crate::workspace::Workspace;

#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    pub file: String,
    pub language: Option<Language>,
    pub package: Option<String>,
    pub lines: usize,
    pub hash: String,
    pub docs: Option<String>,
    pub skeleton: String,
    /// For each line of the skeleton, its line in the file.
    pub skeleton_lines: Vec<usize>,
    pub imports: Vec<Import>,
    pub symbols: Vec<Symbol>,
    pub upstream: Vec<Upstream>,
    pub downstream: Vec<Downstream>,
}

pub async fn open(workspace: &Workspace, file: &str, asked: &Ask) -> Result<Reply<Opened>> {
    let name = workspace.locate(file)?;
    let language = Language::of(&name);
    // Without a wait only a warm index is worth asking: the text alone answers at once.
    let is_warm =
        || workspace.status().engines.iter().all(|it| Some(it.language) != language || it.state == State::Ready);
    let index = asked.wait.is_some_and(|it| !it.is_zero());
    let needs = asked.needs(language, index);
    ask(workspace, needs, |it| {
        let (name, warm) = (name.clone(), index || is_warm());
        async move {
            let file = text_of(&it.files, &name)?;
            let overview = match (it.view, language) {
                (Some(view), Some(_)) if warm => view.overview(name.clone(), it.deadline).await?,
                (Some(view), Some(language)) => {
                    let package = None;
                    let symbols = view.symbols(name.clone()).await?;
                    let overview = symbols.map(|symbols| Overview { package, symbols, ..Overview::default() });
                    let mut overview = overview;
                    overview.coverage.lacks(not_indexed(language));
                    overview
                }
                _ => Answer::default(),
            };
            Ok(overview.map(|overview| opened(&file, language, overview)))
        }
    })
    .await
}

fn opened(file: &Arc<File>, language: Option<Language>, overview: Overview) -> Opened {
    let outline = file.outline();
    let (skeleton, skeleton_lines) = match language {
        Some(_) => (outline.skeleton.clone(), outline.skeleton_lines.clone()),
        None => (file.text.to_string(), (1..=file.lines().line_count()).collect()),
    };
    Opened {
        file: file.path.to_string(),
        language,
        package: overview.package,
        lines: file.lines().line_count(),
        hash: file.hash.to_hex().to_string(),
        docs: overview.docs.or_else(|| outline.docs.clone()),
        skeleton,
        skeleton_lines,
        imports: outline.imports.clone(),
        symbols: overview.symbols,
        upstream: overview.upstream,
        downstream: overview.downstream,
    }
}

/// The text of a file of the workspace, or why there is none.
pub(super) fn text_of(files: &crate::lang::files::Files, name: &str) -> Result<Arc<File>> {
    if let Some(file) = files.get(name) {
        return Ok(file.clone());
    }
    let base = name.rsplit('/').next().unwrap_or(name);
    let mut near: Vec<(f64, &str)> = files
        .iter()
        .map(|it| {
            let other = it.path.rsplit('/').next().unwrap_or(&it.path);
            let score = strsim::jaro_winkler(other, base) + strsim::jaro_winkler(&it.path, name) / 2.0;
            (score, &*it.path)
        })
        .filter(|it| it.0 > 1.2)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let suggestions: Vec<String> = near.into_iter().take(5).map(|it| it.1.to_owned()).collect();
    let detail = match suggestions.first() {
        Some(first) => format!("there is no text file `{name}` in the workspace: did you mean `{first}`?"),
        None => format!("there is no text file `{name}` in the workspace"),
    };
    Err(Error::new(Code::UnknownFile, detail).suggesting(suggestions))
}
