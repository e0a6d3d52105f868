//! A query about one revision: helpers that read the texts and send requests to the server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use serde_json::{Value, json};

use super::grammar::{Code, Grammar};
use super::import_graph::ImportGraph;
use super::session::{Failure, Session};
use super::symbol_paths;
use super::wire::{self, Location};
use semdex_engine::files::{File, Files};
use semdex_engine::{Deadlines, Result, Stop, blocking, too_deep, unpoisoned};
use semdex_model::{Code as ProblemCode, Coverage, Error, OutlineItem, Place, Span};

/// Requests that are sent to the server at the same time.
pub(crate) const AT_ONCE: usize = 8;

pub(crate) type Asked<T> = std::result::Result<T, Failure>;

#[derive(Clone)]
pub(crate) struct ServerQueries {
    pub session: Arc<Session>,
    pub files: Arc<Files>,
    /// The generation of the queried texts. `None` if they are no longer the newest.
    pub generation: Option<u64>,
    pub deadlines: Deadlines,
}

/// A declaration and its file.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedItem {
    pub file: Arc<File>,
    pub item: OutlineItem,
}

impl ResolvedItem {
    /// Whether several files may declare one symbol, as in languages with headers.
    pub(crate) fn has_headers(&self) -> bool {
        matches!(self.file.language.map(|it| it.name), Some("c" | "cpp"))
    }
}

impl ServerQueries {
    /// Discards an answer that arrived after a change.
    pub(crate) fn check(&self) -> Result<()> {
        match self.generation == Some(self.session.documents().generation()) {
            true => Ok(()),
            false => Err(Stop::Stale),
        }
    }

    /// Sends a request to the server, with these files open.
    pub(crate) async fn ask(&self, open: &[&str], method: &str, params: &Value) -> Result<Asked<Value>> {
        self.check()?;
        let answer = self.session.ask(open, method, params, self.deadlines).await;
        self.check()?;
        Ok(answer)
    }

    /// The same about a position in a file.
    pub(crate) async fn ask_at(&self, open: &[&str], method: &str, file: &File, offset: usize) -> Result<Asked<Value>> {
        let params = json!({
            "textDocument": {"uri": self.session.root.uri(&file.path)},
            "position": wire::position(file, offset),
            "context": {"includeDeclaration": true},
        });
        let mut all = vec![&*file.path];
        all.extend(open);
        self.ask(&all, method, &params).await
    }

    /// Returns after the server has answered any request, so that it has read all earlier messages. The answer does not
    /// matter.
    pub(crate) async fn barrier(&self, file: &File) -> Result<Asked<()>> {
        const QUICK: [&str; 4] =
            ["textDocument/documentSymbol", "textDocument/hover", "textDocument/definition", "textDocument/references"];
        let method = QUICK.into_iter().find(|it| self.session.has(it)).unwrap_or("textDocument/hover");
        Ok(match self.ask_at(&[], method, file, 0).await? {
            Ok(_) | Err(Failure::Refused(_)) => Ok(()),
            Err(failure) => Err(failure),
        })
    }

    /// The files of the server's languages.
    pub(crate) fn own_files(&self) -> Vec<Arc<File>> {
        self.session.own_of(&self.files)
    }

    /// The import graph of these files.
    pub(crate) async fn import_graph(&self) -> Result<Arc<ImportGraph>> {
        let queries = self.clone();
        blocking(move || {
            let known = unpoisoned::lock(&queries.session.import_graph).clone();
            if let Some((_, graph)) = known.as_ref().filter(|it| Arc::ptr_eq(&it.0, &queries.files)) {
                return Ok(graph.clone());
            }
            let before = known.as_ref().map(|it| &*it.1);
            let graph = Arc::new(ImportGraph::new(&queries.files, &queries.own_files(), before));
            *unpoisoned::lock(&queries.session.import_graph) = Some((queries.files.clone(), graph.clone()));
            Ok(graph)
        })
        .await
    }

    /// The files that contain a symbol's name and can see it, its own file first.
    pub(crate) async fn files_naming(&self, found: &ResolvedItem) -> Result<Vec<Arc<File>>> {
        let seeing = self.import_graph().await?.seeing([&*found.file.path]);
        let mut files = self.files_with(&found.item.name).await?;
        files.retain(|it| seeing.as_ref().is_none_or(|seeing| seeing.contains(&it.path)));
        files.sort_by_key(|it| (it.path != found.file.path, it.path.clone()));
        Ok(files)
    }

    pub(crate) fn grammar_of(&self, file: &str) -> Option<&'static Grammar> {
        self.session.service.row_of(file).and_then(|it| Grammar::of(&it.name))
    }

    pub(crate) fn file(&self, name: &str) -> Result<Arc<File>> {
        let unknown = || Error::new(ProblemCode::UnknownFile, format!("there is no file `{name}`"));
        Ok(self.files.get(name).cloned().ok_or_else(unknown)?)
    }

    /// The files that contain this word.
    pub(crate) async fn files_with(&self, word: &str) -> Result<Vec<Arc<File>>> {
        let (files, word) = (self.own_files(), word.to_owned());
        blocking(move || Ok(files.into_iter().filter(|it| !symbol_paths::occurrences(it, &word).is_empty()).collect()))
            .await
    }

    /// The declarations of a file: from its text if there is a grammar, otherwise from the server.
    pub(crate) async fn items(&self, file: &Arc<File>, coverage: &mut Coverage) -> Result<Vec<OutlineItem>> {
        if self.grammar_of(&file.path).is_some() {
            let file = file.clone();
            let (items, lack) = blocking(move || {
                let items = file.outline().items.clone();
                let lack = (items.is_empty() && file.is_too_deep()).then(|| too_deep(&file.path));
                Ok((items, lack))
            })
            .await?;
            lack.into_iter().for_each(|it| coverage.lacks(it));
            return Ok(items);
        }
        let params = json!({"textDocument": {"uri": self.session.root.uri(&file.path)}});
        match self.ask(&[&file.path], "textDocument/documentSymbol", &params).await? {
            Ok(answer) => Ok(wire::document_symbols(file, &answer, &[])),
            Err(failure) => {
                failure.note(&self.session, coverage);
                Ok(Vec::new())
            }
        }
    }

    /// A location in a text of the workspace. `None` outside of the workspace's texts.
    pub(crate) fn place(&self, location: &Location) -> Option<(Arc<File>, Span)> {
        let file = self.files.get(&self.session.root.file(&location.uri)?)?.clone();
        let span = wire::span(&file, location.range);
        Some((file, span))
    }

    /// The same, also outside of the workspace's texts.
    pub(crate) fn any_place(&self, location: &Location) -> Option<Place> {
        if let Some((file, span)) = self.place(location) {
            return Some(file.lines().place(&file.path, span));
        }
        let name = self.session.root.file(&location.uri)?;
        let line = location.range.start.0 as usize + 1;
        Some(Place { line, end_line: location.range.end.0 as usize + 1, ..Place::start_of(&name) })
    }

    /// The declaration whose name is at a place.
    pub(crate) async fn declaration_at(
        &self,
        file: &Arc<File>,
        span: Span,
        coverage: &mut Coverage,
    ) -> Result<Option<ResolvedItem>> {
        let mut found = None;
        for item in &self.items(file, coverage).await? {
            item.walk(&mut |it| {
                let is_it =
                    it.name_span.start <= span.start && span.start < it.name_span.end.max(it.name_span.start + 1);
                // The range of a server that reports the whole declaration starts with the declaration.
                let begins = it.span.start == span.start && span.encloses(it.name_span);
                if is_it || (found.is_none() && begins) {
                    found = Some(ResolvedItem { file: file.clone(), item: it.clone() });
                }
            });
        }
        Ok(found)
    }

    /// The definitions of a name in the code. A server that guesses unknown definitions is first asked whether it knows
    /// the symbol.
    async fn known_definitions(&self, file: &File, offset: usize) -> Result<Asked<Vec<Location>>> {
        if let Some(question) = &self.session.row.keys.known_by {
            match self.ask_at(&[], question, file, offset).await? {
                Ok(answer) if answer.as_array().is_none_or(Vec::is_empty) => return Ok(Ok(Vec::new())),
                Ok(_) | Err(Failure::Refused(_)) => {}
                Err(failure) => return Ok(Err(failure)),
            }
        }
        self.definitions(file, offset).await
    }

    /// The definitions of what is at a position.
    pub(crate) async fn definitions(&self, file: &File, offset: usize) -> Result<Asked<Vec<Location>>> {
        let answer = self.ask_at(&[], "textDocument/definition", file, offset).await?;
        Ok(answer.map(|it| wire::locations(&it)))
    }

    /// The same for a name. An empty answer is requested once more, and repeatedly from a server that has just started.
    pub(crate) async fn settled_definitions(&self, file: &File, offset: usize) -> Result<Asked<Vec<Location>>> {
        let mut is_first = true;
        loop {
            let found = self.known_definitions(file, offset).await?;
            let is_empty = matches!(&found, Ok(locations) if locations.is_empty());
            if !is_empty || !(is_first || self.session.is_young()) || !self.pause().await {
                return Ok(found);
            }
            is_first = false;
        }
    }

    /// The same for several names, in order.
    pub(crate) async fn all_definitions(&self, places: &[(Arc<File>, usize)]) -> Result<Vec<Asked<Vec<Location>>>> {
        self.all_of(places.iter().map(|(file, at)| self.known_definitions(file, *at))).await
    }

    pub(crate) async fn all_settled_definitions(
        &self,
        places: &[(Arc<File>, usize)],
    ) -> Result<Vec<Asked<Vec<Location>>>> {
        self.all_of(places.iter().map(|(file, at)| self.settled_definitions(file, *at))).await
    }

    async fn all_of<T>(&self, asked: impl Iterator<Item = impl Future<Output = Result<T>>>) -> Result<Vec<T>> {
        futures::stream::iter(asked.collect::<Vec<_>>())
            .buffered(AT_ONCE)
            .collect::<Vec<_>>()
            .await
            .into_iter()
            .collect()
    }

    /// Pauses before a request is repeated. Returns false if the deadline would pass.
    pub(crate) async fn pause(&self) -> bool {
        let next = Instant::now() + Duration::from_millis(150);
        if next >= self.deadlines.ready {
            return false;
        }
        tokio::time::sleep_until(next.into()).await;
        true
    }

    pub(crate) fn code(&self, file: &File) -> Code {
        Code::new(self.grammar_of(&file.path), &file.text)
    }
}
