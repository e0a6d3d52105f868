//! A view: one revision of a workspace as an engine sees it, with the same queries for every language.

use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::engine::{Prepared, impact_unknown};
use super::files::File;
use super::fix::Fix;
use super::{Deadlines, Result, Stop, Tidied, Wanted, panic_message};
use semdex_model::{
    Answer, Calls, ChangeImpact, Code, Description, Diagnostic, Error, FileEdit, LanguageId, Missing, MissingCode,
    Overview, Package, Place, References, Renaming, Symbol, SymbolAt, SymbolQuery, UsagePage, Window,
};

/// A pending answer. Threads that serve requests poll it, so work that computes for long or blocks runs elsewhere.
pub type Answering<T> = BoxFuture<'static, Result<Answer<T>>>;

/// An unresolved name in a text that was written.
#[derive(Debug, Clone)]
pub struct Unknown {
    /// The text after the change.
    pub file: Arc<File>,
    /// The name as it is written, with its qualifier.
    pub name: String,
    /// The name is imported there.
    pub is_import: bool,
}

/// The names that an unresolved name may have meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suggested {
    /// What is wrong, if more is known than that the name is unresolved.
    pub detail: Option<String>,
    /// Names that exist, the likeliest first.
    pub suggestions: Vec<String>,
}

/// Which part of an impact is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// Only the errors that the change fixes in files that it does not edit. An engine may leave out everything else.
    FixedElsewhere,
}

/// One revision of a workspace as an engine sees it. A query consumes the view, since a view may delay the next change.
/// Each query returns by its deadlines what it has, and lists in the answer's coverage what is missing.
pub trait View: Send {
    /// The language of the view; the first one if the engine has several.
    fn language(&self) -> LanguageId;

    /// The symbol that a query means.
    fn resolve(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> BoxFuture<'static, Result<Symbol>>;

    /// The symbol that a query means, with a window of its usages.
    fn usages(
        self: Box<Self>,
        query: SymbolQuery,
        window: Window,
        deadlines: Deadlines,
    ) -> Answering<(Symbol, UsagePage)>;

    /// The description of the symbol that a query means, with a window of its usages.
    fn describe(
        self: Box<Self>,
        query: SymbolQuery,
        window: Window,
        deadlines: Deadlines,
    ) -> Answering<(Description, UsagePage)>;

    /// The symbols of a file as a tree.
    fn symbols(self: Box<Self>, file: String, deadlines: Deadlines) -> Answering<Vec<Symbol>>;

    /// The outline of a file from its text alone. Usages are not counted.
    fn outline(self: Box<Self>, file: String, deadlines: Deadlines) -> Answering<Overview>;

    /// The outline of a file, with the usages of its symbols. Usages that are not counted by `until` are listed as
    /// missing.
    fn overview(self: Box<Self>, file: String, deadlines: Deadlines, until: Instant) -> Answering<Overview>;

    /// The symbol at a byte offset of a file. No symbol is an answer too, not an error.
    fn symbol_at(self: Box<Self>, file: String, offset: usize, deadlines: Deadlines) -> Answering<SymbolAt>;

    /// The diagnostics of these files, or of all files if none are named.
    fn diagnostics(self: Box<Self>, files: Vec<String>, deadlines: Deadlines) -> Answering<Vec<Diagnostic>>;

    /// The fixes for the diagnostics at exactly these places. Nothing is changed.
    fn fixes(self: Box<Self>, places: Vec<Place>, deadlines: Deadlines) -> Answering<Vec<Fix>> {
        let _ = (places, deadlines);
        let language = self.language();
        let detail = format!("nothing here offers fixes of {}", language.title);
        let missing = Missing::new(MissingCode::Unsupported, language.name, detail);
        async move {
            let mut answer = Answer::whole(Vec::new());
            answer.coverage.note(missing);
            Ok(answer)
        }
        .boxed()
    }

    /// A package of the workspace or of its dependencies, by its name.
    fn package(self: Box<Self>, name: String, deadlines: Deadlines) -> Answering<Package>;

    /// Symbols by parts of their names, each with its score on a scale that all languages share (`ranking::fit`).
    fn search(self: Box<Self>, query: String, limit: usize, deadlines: Deadlines) -> Answering<Vec<(Symbol, f64)>>;

    /// The callers of a symbol, with the places of the calls.
    fn callers(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Calls>)> {
        unanswered(self, query, deadlines, "callers")
    }

    /// What a symbol calls, with the places of the calls.
    fn callees(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Calls>)> {
        unanswered(self, query, deadlines, "callees")
    }

    /// The symbol that a query means, with its implementations.
    fn implementations(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Symbol>)> {
        unanswered(self, query, deadlines, "implementations")
    }

    /// What each file declares, and how often it refers to which declarations.
    fn references(self: Box<Self>, deadlines: Deadlines) -> Answering<Arc<References>> {
        let _ = deadlines;
        let language = self.language();
        let detail = format!("which files of {} refer to which is not known", language.title);
        let missing = Missing::new(MissingCode::Unsupported, language.name, detail);
        async move { Ok(Answer::lacking(Arc::default(), missing)) }.boxed()
    }

    /// The edits that rename a symbol, or why the symbol cannot have the new name.
    fn rename(self: Box<Self>, query: SymbolQuery, new_name: String, deadlines: Deadlines) -> Answering<Renaming> {
        let _ = (query, new_name, deadlines);
        let detail = format!("symbols of {} cannot be renamed here: edit their places", self.language().title);
        async { Err(Error::new(Code::RenameRefused, detail).into()) }.boxed()
    }

    /// The names that an unresolved name may have meant.
    fn suggest(self: Box<Self>, unknown: Unknown, deadlines: Deadlines) -> Answering<Suggested> {
        let query = SymbolQuery { symbol: unknown.name, ..SymbolQuery::default() };
        let found = self.resolve(query, deadlines);
        async move {
            match found.await {
                // The symbol exists, but under another path.
                Ok(symbol) => Ok(Answer::whole(Suggested { suggestions: vec![symbol.path], ..Suggested::default() })),
                Err(Stop::Failed(error)) => {
                    Ok(Answer::whole(Suggested { suggestions: error.help.suggestions, ..Suggested::default() }))
                }
                Err(Stop::Stale) => Err(Stop::Stale),
            }
        }
        .boxed()
    }

    /// The impact of a change, computed before the writer handles it (`Route::View`). Nobody else sees the change.
    fn impact(
        self: Box<Self>,
        edits: Vec<FileEdit>,
        extent: Extent,
        deadlines: Deadlines,
    ) -> BoxFuture<'static, Result<ChangeImpact>> {
        let _ = (edits, extent, deadlines);
        let language = self.language();
        async move { Ok(impact_unknown(language)) }.boxed()
    }

    /// What the engine needs for the impact of a change and what takes long or starts programs. Computed before the
    /// writer handles the change (`Route::Writer`), which gets it as `Trial::prepared`.
    fn prepare(
        self: Box<Self>,
        edits: Vec<FileEdit>,
        deadlines: Deadlines,
    ) -> BoxFuture<'static, Result<Option<Prepared>>> {
        let _ = (edits, deadlines);
        async { Ok(None) }.boxed()
    }

    /// Planned texts with their imports and format fixed, before the writer handles the change (`Route::View`).
    /// Unchanged texts may be left out.
    fn tidy(
        self: Box<Self>,
        edits: Vec<FileEdit>,
        wanted: Wanted,
        deadlines: Deadlines,
    ) -> BoxFuture<'static, Result<Vec<Tidied>>> {
        let _ = (wanted, deadlines);
        let language = self.language();
        let note = format!("texts of {} are written as they are: nothing here tidies them", language.title);
        async move { Ok(Tidied::untouched(&edits, language, &note)) }.boxed()
    }
}

/// Runs a query on a thread that may block and has a large stack. Threads that serve requests must not block.
pub fn blocking<T: Send + 'static>(
    question: impl FnOnce() -> Result<T> + Send + 'static,
) -> BoxFuture<'static, Result<T>> {
    async {
        match tokio::task::spawn_blocking(question).await {
            Ok(answer) => answer,
            Err(error) if error.is_panic() => {
                tracing::error!(panic = panic_message(&*error.into_panic()), "a question panicked");
                let detail = "the analysis failed on this question; the server goes on";
                Err(Stop::Failed(Error::new(Code::Internal, detail)))
            }
            Err(_) => Err(Stop::Failed(Error::new(Code::Internal, "the server is stopping"))),
        }
    }
    .boxed()
}

/// The answer of an engine that does not implement a query: the symbol alone.
fn unanswered<V: View + ?Sized, T: Send + 'static>(
    view: Box<V>,
    query: SymbolQuery,
    deadlines: Deadlines,
    what: &str,
) -> Answering<(Symbol, Vec<T>)> {
    let language = view.language();
    let detail = format!("{what} of symbols of {} cannot be told", language.title);
    let found = view.resolve(query, deadlines);
    async move {
        let missing = Missing::new(MissingCode::Unsupported, language.name, detail);
        Ok(Answer::lacking((found.await?, Vec::new()), missing))
    }
    .boxed()
}
