//! `open`: a file at a glance.

use std::sync::Arc;
use std::time::Duration;

use super::ask::{Ask, Listing, Reply, ask, not_indexed};
use super::fit::{Budget, Fit, Part, left_out, next_cursor, positions, text_cost};
use super::symbols::Tree;
use crate::lang::files::File;
use crate::model::{Answer, Code, Downstream, Error, Import, LanguageId, Overview, Result, Upstream};
use crate::workspace::Workspace;

#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    pub file: String,
    pub language: Option<LanguageId>,
    pub package: Option<String>,
    pub lines: usize,
    pub hash: String,
    /// It is the content of an overlay.
    pub overlay: bool,
    pub docs: Option<String>,
    pub skeleton: String,
    /// For each line of the skeleton, its line in the file.
    pub skeleton_lines: Vec<usize>,
    pub imports: Listing<Import>,
    pub symbols: Tree,
    pub upstream: Listing<Upstream>,
    pub downstream: Listing<Downstream>,
    /// The lines of the whole skeleton, and which of them are given.
    skeleton_part: Part,
}

impl Opened {
    pub fn next_cursor(&self) -> Option<String> {
        next_cursor(&self.parts())
    }

    fn parts(&self) -> [Part; 5] {
        let lists = [self.imports.part, self.upstream.part, self.downstream.part];
        [self.skeleton_part, self.symbols.part, lists[0], lists[1], lists[2]]
    }
}

impl Fit for Opened {
    fn fit(&mut self, mut budget: Budget) -> Vec<String> {
        if budget.is_limited() {
            // The skeleton holds them.
            self.docs = None;
            self.symbols.without_docs();
        }
        budget.spend(300);
        let skeleton = self.skeleton.split_inclusive('\n').map(|it| text_cost(it) + 2).collect();
        let symbols = self.symbols.costs();
        let imports = self.imports.items.iter().map(|it| text_cost(&it.path) + 30).collect();
        let names = |it: &[String]| it.iter().map(|it| text_cost(it) + 4).sum::<usize>() + 80;
        let upstream = self.upstream.items.iter().map(|it| names(&it.files) + names(&it.symbols)).collect();
        let downstream = self.downstream.items.iter().map(|it| names(&it.symbols) + it.file.len()).collect();
        budget.share(&mut [
            (&mut self.skeleton_part, skeleton, 60),
            (&mut self.symbols.part, symbols, 60),
            (&mut self.downstream.part, downstream, 50),
            (&mut self.upstream.part, upstream, 50),
            (&mut self.imports.part, imports, 50),
        ]);
        self.cut();
        let [skeleton, symbols, imports, upstream, downstream] = self.parts();
        left_out(&[
            ("lines of the skeleton", skeleton),
            ("symbols", symbols),
            ("imports", imports),
            ("packages in `upstream`", upstream),
            ("files in `downstream`", downstream),
        ])
    }
}

impl Opened {
    fn cut(&mut self) {
        let lines = self.skeleton_part.count;
        self.skeleton = self.skeleton.split_inclusive('\n').take(lines).collect();
        self.skeleton_lines.truncate(lines);
        self.imports.items.truncate(self.imports.part.count);
        self.upstream.items.truncate(self.upstream.part.count);
        self.downstream.items.truncate(self.downstream.part.count);
    }
}

/// Until the names of all files are known, usages are counted for so long and no longer.
const COUNTING: Duration = Duration::from_secs(1);
/// So long after that an answer of the engine is still worth more than the text alone.
const PATIENCE: Duration = Duration::from_millis(500);

pub async fn open(workspace: &Workspace, file: &str, asked: &Ask) -> Result<Reply<Opened>> {
    let from = positions(asked.cursor.as_deref())?;
    let name = workspace.locate(file)?;
    let language = workspace.language_of(&name);
    // Without a wait only a warm index is worth asking: the text alone answers at once.
    let is_warm = || workspace.status().engines.iter().all(|it| Some(it.language) != language || it.warm);
    let index = asked.wait.is_some_and(|it| !it.is_zero());
    let needs = asked.needs(language, index);
    let memo = format!("open {name} {from:?} {}", index || is_warm());
    let until = asked.begun + asked.wait.unwrap_or_default() + COUNTING;
    ask(workspace, needs, Some(memo), |it| {
        let (name, warm) = (name.clone(), index || is_warm());
        async move {
            let file = text_of(&it.files, &name)?;
            let overview = match (it.view, language) {
                (Some(view), Some(language)) => {
                    let answered = async {
                        if warm {
                            return view.overview(name.clone(), it.deadlines, until).await;
                        }
                        let mut overview = view.outline(name.clone()).await?;
                        overview.coverage.lacks(not_indexed(language));
                        Ok(overview)
                    };
                    // An engine that has just loaded can take long to know even the names of a file: the text need not wait for it.
                    match tokio::time::timeout_at((until + PATIENCE).into(), answered).await {
                        Ok(answered) => answered?,
                        Err(_) => Answer::lacking(Overview::default(), not_indexed(language)),
                    }
                }
                // Its engine starts with the first snapshot that has the file.
                (None, Some(language)) => Answer::lacking(Overview::default(), not_indexed(language)),
                (_, None) => Answer::whole(Overview::default()),
            };
            Ok(overview.map(|overview| opened(&file, language, overview, from)))
        }
    })
    .await
}

fn opened(file: &Arc<File>, language: Option<LanguageId>, overview: Overview, from: [usize; 5]) -> Opened {
    let outline = file.outline();
    let (skeleton, skeleton_lines) = match language {
        Some(_) => (outline.skeleton.clone(), outline.skeleton_lines.clone()),
        None => (file.text.to_string(), (1..=file.lines().line_count()).collect()),
    };
    let [from_line, from_symbol, from_import, from_upstream, from_downstream] = from;
    let skeleton_part = Part::after(from_line, skeleton_lines.len());
    Opened {
        file: file.path.to_string(),
        language,
        package: overview.package,
        lines: file.lines().line_count(),
        hash: file.hash.to_hex().to_string(),
        overlay: file.overlay,
        docs: overview.docs.or_else(|| outline.docs.clone()),
        skeleton: skeleton_part.lines(&skeleton),
        skeleton_lines: skeleton_part.of(&skeleton_lines).to_vec(),
        skeleton_part,
        imports: Listing::after(from_import, outline.imports.clone()),
        symbols: Tree::after(from_symbol, overview.symbols),
        upstream: Listing::after(from_upstream, overview.upstream),
        downstream: Listing::after(from_downstream, overview.downstream),
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
