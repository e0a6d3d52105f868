//! The queries of the engine interface. Each runs on a blocking thread and returns what is known by its deadline.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::LANGUAGE;
use crate::load::planned::is_planned;
use crate::view::View;
use semdex_engine::fix::Fix;
use semdex_engine::{Answering, Deadlines, Prepared, Readiness, Result, Stop, Suggested, Unknown};
use semdex_model::{
    Answer, Calls, Code, Description, Diagnostic, Error, FileEdit, LanguageId, Overview, Package, Place, References,
    Renaming, Symbol, SymbolAt, SymbolQuery, UsagePage, Window,
};
use semdex_process::{fault, priority};

impl semdex_engine::View for View {
    fn language(&self) -> LanguageId {
        LANGUAGE
    }

    fn resolve(self: Box<Self>, query: SymbolQuery, _: Deadlines) -> BoxFuture<'static, Result<Symbol>> {
        blocking(*self, move |view| view.resolve(&query))
    }

    fn usages(
        self: Box<Self>,
        query: SymbolQuery,
        window: Window,
        deadlines: Deadlines,
    ) -> Answering<(Symbol, UsagePage)> {
        let view = self.by(deadlines.answer);
        early(view, deadlines, move |view| view.usages(&query, window))
    }

    fn describe(
        self: Box<Self>,
        query: SymbolQuery,
        window: Window,
        deadlines: Deadlines,
    ) -> Answering<(Description, UsagePage)> {
        let view = self.by(deadlines.answer);
        early(view, deadlines, move |view| view.describe(&query, window))
    }

    fn prepare(
        self: Box<Self>,
        edits: Vec<FileEdit>,
        deadlines: Deadlines,
    ) -> BoxFuture<'static, Result<Option<Prepared>>> {
        if !edits.iter().any(is_planned) {
            return async { Ok(None) }.boxed();
        }
        let plan = move || Ok(self.plan(&edits, deadlines.answer));
        semdex_engine::blocking(plan)
    }

    fn symbols(self: Box<Self>, file: String, _: Deadlines) -> Answering<Vec<Symbol>> {
        blocking(*self, move |view| view.symbols(&file))
    }

    fn outline(self: Box<Self>, file: String, _: Deadlines) -> Answering<Overview> {
        blocking(*self, move |view| {
            let symbols = view.symbols(&file)?;
            Ok(symbols.map(|symbols| Overview { symbols, ..Overview::default() }))
        })
    }

    fn overview(self: Box<Self>, file: String, _: Deadlines, until: Instant) -> Answering<Overview> {
        blocking(*self, move |view| view.overview(&file, until))
    }

    fn symbol_at(self: Box<Self>, file: String, offset: usize, deadlines: Deadlines) -> Answering<SymbolAt> {
        let view = self.by(deadlines.answer);
        early(view, deadlines, move |view| view.symbol_at(&file, offset))
    }

    fn diagnostics(self: Box<Self>, files: Vec<String>, deadlines: Deadlines) -> Answering<Vec<Diagnostic>> {
        let view = self.by(deadlines.answer);
        blocking(view, move |view| view.diagnostics(&files))
    }

    fn fixes(self: Box<Self>, places: Vec<Place>, deadlines: Deadlines) -> Answering<Vec<Fix>> {
        let view = self.by(deadlines.answer);
        blocking(view, move |view| view.fixes(&places))
    }

    fn package(self: Box<Self>, name: String, _: Deadlines) -> Answering<Package> {
        blocking(*self, move |view| view.package(&name))
    }

    fn search(self: Box<Self>, query: String, limit: usize, _: Deadlines) -> Answering<Vec<(Symbol, f64)>> {
        blocking(*self, move |view| view.search(&query, limit))
    }

    fn callers(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Calls>)> {
        let view = self.by(deadlines.answer);
        early(view, deadlines, move |view| view.callers(&query))
    }

    fn callees(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Calls>)> {
        let view = self.by(deadlines.answer);
        early(view, deadlines, move |view| view.callees(&query))
    }

    fn implementations(self: Box<Self>, query: SymbolQuery, deadlines: Deadlines) -> Answering<(Symbol, Vec<Symbol>)> {
        let view = self.by(deadlines.answer);
        early(view, deadlines, move |view| view.implementations(&query))
    }

    fn references(self: Box<Self>, deadlines: Deadlines) -> Answering<Arc<References>> {
        let view = self.by(deadlines.answer);
        blocking(view, move |view| view.references())
    }

    fn rename(self: Box<Self>, query: SymbolQuery, new_name: String, deadlines: Deadlines) -> Answering<Renaming> {
        let view = self.by(deadlines.answer);
        blocking(view, move |view| view.rename(&query, &new_name))
    }

    fn suggest(self: Box<Self>, unknown: Unknown, _: Deadlines) -> Answering<Suggested> {
        let prefixes = ["crate::", "super::", "self::"];
        let name = prefixes.iter().fold(unknown.name.as_str(), |name, it| name.trim_start_matches(it));
        if name.is_empty() || name.contains(char::is_whitespace) {
            return std::future::ready(Ok(Answer::whole(Suggested::default()))).boxed();
        }
        let query = SymbolQuery { symbol: name.to_owned(), ..SymbolQuery::default() };
        blocking(*self, move |view| {
            let suggestions = match view.resolve(&query) {
                // The symbol exists under another path than the written one.
                Ok(symbol) => vec![symbol.path],
                Err(Stop::Failed(error)) => error.help.suggestions,
                Err(Stop::Stale) => return Err(Stop::Stale),
            };
            Ok(Answer::whole(Suggested { suggestions, ..Suggested::default() }))
        })
    }
}

/// Answers a question that may come before anything is built. It is then asked again after the build, which is what the
/// client waits for: this one only takes the time that is left.
fn early<T: Send + 'static>(
    view: View,
    deadlines: Deadlines,
    question: impl FnOnce(View) -> Result<T> + Send + 'static,
) -> BoxFuture<'static, Result<T>> {
    let is_asked_again = view.readiness() == Readiness::Unbuilt && Instant::now() < deadlines.ready;
    if !is_asked_again {
        return blocking(view, question);
    }
    blocking(view, move |view| {
        // The threads of requests are used again.
        let aside = std::thread::Builder::new().name("rust-early".to_owned()).stack_size(crate::STACK_BYTES);
        let run = move || {
            priority::lower_thread();
            question(view)
        };
        match aside.spawn(run).map(JoinHandle::join) {
            Ok(Ok(answer)) => answer,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(error) => Err(Stop::Failed(Error::new(Code::Internal, format!("no thread could be started: {error}")))),
        }
    })
}

fn blocking<T: Send + 'static>(
    view: View,
    question: impl FnOnce(View) -> Result<T> + Send + 'static,
) -> BoxFuture<'static, Result<T>> {
    // A query whose client has disconnected is cancelled.
    let asker = view.cancel_on_drop();
    let answer = semdex_engine::blocking(move || {
        fault::point("rust.question");
        question(view)
    });
    async move {
        let _asker = asker;
        answer.await
    }
    .boxed()
}
