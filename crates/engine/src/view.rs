//! One revision as any engine sees it: the same questions for every language.

use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::engine::impact_unknown;
use super::files::File;
use super::fix::Fix;
use super::{Deadlines, Result, Stop, Tidied, Wanted};
use semdex_model::{
    Answer, Calls, ChangeImpact, Code, Description, Diagnostic, Error, FileEdit, LanguageId, Missing, MissingCode,
    Overview, Package, Place, References, Renaming, Symbol, SymbolAt, SymbolQuery, UsagePage, Window,
};

/// An answer on its way. Whoever serves requests polls it: what computes for long or blocks runs elsewhere.
pub type Answering<T> = BoxFuture<'static, Result<Answer<T>>>;

/// A name in a text that was written, which nothing is known by.
#[derive(Debug, Clone)]
pub struct Unknown {
    /// The text, as it is after the change.
    pub file: Arc<File>,
    /// As it is written, with what qualifies it.
    pub name: String,
    /// It is imported there.
    pub is_import: bool,
}

/// The nearest that there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suggested {
    /// What is wrong, where more can be said than that nothing is known by the name.
    pub detail: Option<String>,
    /// Names that exist there, the likeliest first.
    pub suggestions: Vec<String>,
}

/// How much of an impact is worked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// The errors that go from files which are not edited: an engine may leave out all else.
    FixedElsewhere,
}

/// One revision of a workspace as an engine sees it, asked by a reader. A question ends it, as it may hold up the next
/// change until then. Each answers by its deadlines with what it has, and says in the answer's coverage what is lacking.
pub trait View: Send {
    /// The language whose view it is; of several the first.
    fn language(&self) -> LanguageId;

    /// The one symbol that a query means.
    fn resolve(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> BoxFuture<'static, Result<Symbol>>;

    /// The symbol that a query means, with a stretch of the places that name it.
    fn usages(
        self: Box<Self>,
        query: SymbolQuery,
        window: Window,
        deadlines: Deadlines,
    ) -> Answering<(Symbol, UsagePage)>;

    /// All about the symbol that a query means, with a stretch of its usages.
    fn describe(
        self: Box<Self>,
        query: SymbolQuery,
        window: Window,
        deadlines: Deadlines,
    ) -> Answering<(Description, UsagePage)>;

    /// The symbols of a file as a tree.
    fn symbols(self: Box<Self>, file: String, deadlines: Deadlines) -> Answering<Vec<Symbol>>;

    /// What the text of a file says by itself: no usages are counted.
    fn outline(self: Box<Self>, file: String, deadlines: Deadlines) -> Answering<Overview>;

    /// What a file's symbols are to others. After `until` no more usages are counted, which the answer says.
    fn overview(self: Box<Self>, file: String, deadlines: Deadlines, until: Instant) -> Answering<Overview>;

    /// What stands at a byte offset of a file. Nothing there is an answer too, not an error.
    fn symbol_at(self: Box<Self>, file: String, offset: usize, deadlines: Deadlines) -> Answering<SymbolAt>;

    /// Of these files, or of all where none is named.
    fn diagnostics(self: Box<Self>, files: Vec<String>, deadlines: Deadlines) -> Answering<Vec<Diagnostic>>;

    /// What is offered against the diagnostics that stand just at these places. Nothing is changed.
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

    /// A package by its name, of the workspace or of its dependencies.
    fn package(self: Box<Self>, name: String, deadlines: Deadlines) -> Answering<Package>;

    /// Symbols by parts of their name, with how well each fits, on one scale for all languages (`ranking::fit`).
    fn search(self: Box<Self>, query: String, limit: usize, deadlines: Deadlines) -> Answering<Vec<(Symbol, f64)>>;

    /// Who calls a symbol, and where.
    fn callers(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Calls>)> {
        unanswered(self, query, deadlines, "callers")
    }

    /// What a symbol calls, and where.
    fn callees(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Calls>)> {
        unanswered(self, query, deadlines, "callees")
    }

    /// The symbol that a query means, with what implements it.
    fn implementations(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Symbol>)> {
        unanswered(self, query, deadlines, "implementations")
    }

    /// What each file declares, and which declarations it refers to how often.
    fn references(self: Box<Self>, deadlines: Deadlines) -> Answering<Arc<References>> {
        let _ = deadlines;
        let language = self.language();
        let detail = format!("which files of {} refer to which is not known", language.title);
        let missing = Missing::new(MissingCode::Unsupported, language.name, detail);
        async move { Ok(Answer::lacking(Arc::default(), missing)) }.boxed()
    }

    /// What a symbol's new name changes, or why it cannot have it.
    fn rename(self: Box<Self>, query: SymbolQuery, new_name: String, deadlines: Deadlines) -> Answering<Renaming> {
        let _ = (query, new_name, deadlines);
        let detail = format!("symbols of {} cannot be renamed here: edit their places", self.language().title);
        async { Err(Error::new(Code::RenameRefused, detail).into()) }.boxed()
    }

    /// The nearest to a name that nothing is known by: what it may have been meant to be.
    fn suggest(self: Box<Self>, unknown: Unknown, deadlines: Deadlines) -> Answering<Suggested> {
        let query = SymbolQuery { symbol: unknown.name, package: None, file: None };
        let found = self.resolve(query, deadlines);
        async move {
            match found.await {
                // It is there by another path than was written.
                Ok(symbol) => Ok(Answer::whole(Suggested { suggestions: vec![symbol.path], ..Suggested::default() })),
                Err(Stop::Failed(error)) => {
                    Ok(Answer::whole(Suggested { suggestions: error.help.suggestions, ..Suggested::default() }))
                }
                Err(Stop::Stale) => Err(Stop::Stale),
            }
        }
        .boxed()
    }

    /// What a change would bring, where the engine computes it before the writer has its turn (`Route::View`). Nobody but the
    /// asker sees anything of it.
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

    /// Planned texts as they should be, where the engine works on them before the writer has its turn (`Route::View`).
    /// Texts that stay as they are need not be among them.
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

/// Computes an answer on a thread that may block and has a deep stack: never on one that serves requests.
pub fn blocking<T: Send + 'static>(
    question: impl FnOnce() -> Result<T> + Send + 'static,
) -> BoxFuture<'static, Result<T>> {
    async {
        match tokio::task::spawn_blocking(question).await {
            Ok(answer) => answer,
            Err(error) if error.is_panic() => {
                tracing::error!(%error, "a question panicked");
                let detail = "the analysis failed on this question; the server goes on";
                Err(Stop::Failed(Error::new(Code::Internal, detail)))
            }
            Err(_) => Err(Stop::Failed(Error::new(Code::Internal, "the server is stopping"))),
        }
    }
    .boxed()
}

/// A question that an engine has no answer to: the symbol alone.
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
