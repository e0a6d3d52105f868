//! A toy language and its engine: `def NAME PARAMETER…` begins a definition, the indented lines below it are calls,
//! `NAME ARGUMENT…`. It uses only the engine seam of semdex.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use semdex::engine::files::{File, Files};
use semdex::engine::{
    Answering, Applied, Condition, Deadlines, Engine, EngineKind, EngineStatus, Extent, Handle, Readiness, Result,
    Setup, View, ranking,
};
use semdex::model::{
    Affected, Answer, Broken, ChangeImpact, ChangeKind, Changed, Code, Description, Diagnostic, Error, FileEdit,
    FindingKind, Language, LanguageId, Missing, MissingCode, Outline, OutlineItem, Overview, Package, Role, Severity,
    Span, State, Symbol, SymbolAt, SymbolKind, SymbolQuery, Syntax, SyntaxError, Usage, UsageCount, UsagePage, Window,
};
use tokio::sync::watch;

pub const LANGUAGE: LanguageId = LanguageId(&TOY);

static TOY: Language =
    Language { name: "toy", title: "Toy", extensions: &["toy"], file_names: &[], indent: "  ", syntax: &ToySyntax };

#[derive(Debug)]
struct ToySyntax;

impl Syntax for ToySyntax {
    fn outline(&self, text: &str) -> Outline {
        let parsed = Parsed::of(text);
        let items = parsed.definitions.iter().map(|it| OutlineItem {
            kind: SymbolKind::Function,
            name: it.name.clone(),
            container: Vec::new(),
            signature: it.signature.clone(),
            docs: None,
            span: it.span,
            name_span: it.name_span,
            body: None,
            public: true,
            test: false,
            children: Vec::new(),
        });
        let heads = text.lines().enumerate().filter(|it| it.1.starts_with("def "));
        let (skeleton_lines, heads): (Vec<usize>, Vec<&str>) = heads.map(|(at, line)| (at + 1, line)).unzip();
        Outline {
            items: items.collect(),
            skeleton: heads.iter().map(|it| format!("{it}\n")).collect(),
            skeleton_lines,
            errors: parsed.errors,
            ..Outline::default()
        }
    }

    fn is_path(&self, name: &str) -> bool {
        name.contains(".toy::")
    }

    fn finding(&self, code: &str) -> Option<FindingKind> {
        match code {
            "T1" => Some(FindingKind::UnknownSymbol),
            "T2" => Some(FindingKind::WrongArguments),
            _ => None,
        }
    }
}

struct Definition {
    name: String,
    signature: String,
    parameters: usize,
    span: Span,
    name_span: Span,
}

struct Call {
    name: String,
    arguments: usize,
    span: Span,
    within: Option<usize>,
}

#[derive(Default)]
struct Parsed {
    definitions: Vec<Definition>,
    calls: Vec<Call>,
    errors: Vec<SyntaxError>,
}

impl Parsed {
    fn of(text: &str) -> Parsed {
        let mut parsed = Parsed::default();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let content = line.trim_end();
            let span = Span::new(at, at + content.len());
            let words: Vec<&str> = content.split_whitespace().collect();
            if let Some(head) = content.strip_prefix("def ") {
                let name = words.get(1).copied().unwrap_or_default();
                let start = at + 4 + (head.len() - head.trim_start().len());
                parsed.definitions.push(Definition {
                    name: name.to_owned(),
                    signature: content.to_owned(),
                    parameters: words.len().saturating_sub(2),
                    span,
                    name_span: Span::new(start, start + name.len()),
                });
            } else if let (true, Some(name)) = (line.starts_with("  "), words.first()) {
                let start = at + (content.len() - content.trim_start().len());
                let span = Span::new(start, start + name.len());
                let within = parsed.definitions.len().checked_sub(1);
                parsed.calls.push(Call { name: (*name).to_owned(), arguments: words.len() - 1, span, within });
                if let Some(last) = parsed.definitions.last_mut() {
                    last.span.end = at + content.len();
                }
            } else if !content.is_empty() && !content.starts_with('#') {
                parsed.errors.push(SyntaxError { message: "neither a definition nor a call".to_owned(), span });
            }
            at += line.len();
        }
        parsed
    }
}

/// The engine before it is started.
pub struct ToyKind;

impl EngineKind for ToyKind {
    fn name(&self) -> &str {
        "toyls"
    }

    fn languages(&self) -> &[LanguageId] {
        &[LANGUAGE]
    }

    fn root_of(&self, around: &[&Path]) -> Option<PathBuf> {
        around.iter().find(|it| it.join("toys.list").is_file()).map(|it| it.to_path_buf())
    }

    fn start(&self, setup: Setup) -> std::result::Result<Box<dyn Engine>, Missing> {
        let status = EngineStatus {
            name: self.name().to_owned(),
            language: LANGUAGE,
            version: Some("1".to_owned()),
            state: State::Ready,
            condition: Condition::Normal,
            progress: None,
            pid: None,
            memory_bytes: None,
            restarts: setup.restarts,
            missing: Vec::new(),
            warm: true,
            on_demand: false,
        };
        Ok(Box::new(Toy { status: watch::Sender::new(status) }))
    }
}

struct Toy {
    status: watch::Sender<EngineStatus>,
}

impl Engine for Toy {
    fn handle(&self) -> Handle {
        let reached = Arc::new(|_| ready(()).boxed());
        Handle { status: self.status.subscribe(), reached, close: Arc::new(|| ready(()).boxed()) }
    }

    fn readiness(&self) -> Readiness {
        Readiness::Settled
    }

    fn view(&self, files: Arc<Files>) -> Box<dyn View> {
        Box::new(ToyView { files })
    }

    fn apply(&mut self, change: Applied<'_>) {
        let names = change.edits.iter().filter(|it| LANGUAGE.takes(&it.file));
        assert!(names.into_iter().all(|it| it.new.as_deref() != Some("# panic\n")), "the toy breaks");
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        ready(()).boxed()
    }
}

struct ToyView {
    files: Arc<Files>,
}

impl ToyView {
    fn symbol(file: &File, definition: &Definition) -> Symbol {
        Symbol {
            language: LANGUAGE,
            path: format!("{}::{}", file.path, definition.name),
            kind: SymbolKind::Function,
            name: definition.name.clone(),
            signature: definition.signature.clone(),
            package: "toys".to_owned(),
            place: file.lines().place(&file.path, definition.span),
            name_at: file.lines().place(&file.path, definition.name_span),
            declared_at: None,
            docs: None,
            external: false,
            origin: None,
            public: true,
            test: false,
            usages: None,
            also: Vec::new(),
            children: Vec::new(),
        }
    }

    fn symbols_of(file: &File) -> Vec<Symbol> {
        Parsed::of(&file.text).definitions.iter().map(|it| ToyView::symbol(file, it)).collect()
    }

    fn all(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.files.of(LANGUAGE).flat_map(|it| ToyView::symbols_of(it))
    }

    fn find(&self, query: &SymbolQuery) -> Result<Symbol> {
        let found = self.all().find(|it| it.path == query.symbol || it.name == query.symbol);
        found.ok_or_else(|| {
            let suggestions = self.all().map(|it| it.path).collect();
            Error::new(Code::UnknownSymbol, format!("no toy is called `{}`", query.symbol))
                .suggesting(suggestions)
                .into()
        })
    }

    fn file(&self, name: &str) -> Result<&Arc<File>> {
        self.files.get(name).ok_or_else(|| Error::new(Code::UnknownFile, "no such file").into())
    }

    fn calls_of(&self, name: &str) -> Vec<Usage> {
        let mut usages = Vec::new();
        for file in self.files.of(LANGUAGE) {
            let parsed = Parsed::of(&file.text);
            for call in parsed.calls.iter().filter(|it| it.name == name) {
                let place = file.lines().place(&file.path, call.span);
                usages.push(Usage {
                    build: None,
                    text: file.lines().line_text(&file.text, place.line).to_owned(),
                    symbol: call.within.map(|it| format!("{}::{}", file.path, parsed.definitions[it].name)),
                    role: Role::Call,
                    test: false,
                    calls: None,
                    doubt: None,
                    place,
                });
            }
        }
        usages
    }

    fn page(&self, name: &str, window: Window) -> UsagePage {
        let usages = self.calls_of(name);
        let files: std::collections::BTreeSet<&str> = usages.iter().map(|it| it.place.file.as_str()).collect();
        let count = UsageCount { total: usages.len(), files: files.len(), outside_builds: 0 };
        UsagePage { count, items: window.of(&usages).to_vec(), ..UsagePage::default() }
    }

    fn problems(files: &Files, wanted: &[String]) -> Vec<Diagnostic> {
        let definitions: Vec<Definition> = files.of(LANGUAGE).flat_map(|it| Parsed::of(&it.text).definitions).collect();
        let mut found = Vec::new();
        for file in files.of(LANGUAGE).filter(|it| wanted.is_empty() || wanted.contains(&it.path.to_string())) {
            let parsed = Parsed::of(&file.text);
            for call in &parsed.calls {
                let (code, message) = match definitions.iter().find(|it| it.name == call.name) {
                    None => ("T1", format!("nothing is called `{}`", call.name)),
                    Some(it) if it.parameters != call.arguments => {
                        ("T2", format!("`{}` takes {}, {} given", it.name, it.parameters, call.arguments))
                    }
                    Some(_) => continue,
                };
                found.push(Diagnostic {
                    place: file.lines().place(&file.path, call.span),
                    severity: Severity::Error,
                    code: Some(code.to_owned()),
                    message,
                    source: "toyls".to_owned(),
                    symbol: call.within.map(|it| format!("{}::{}", file.path, parsed.definitions[it].name)),
                    confirmed: None,
                    build: None,
                });
            }
        }
        found
    }

    fn overview_of(&self, file: &str) -> Result<Answer<Overview>> {
        let symbols = ToyView::symbols_of(self.file(file)?).into_iter().map(|it| {
            let usages = Some(self.page(&it.name, Window::ALL).count);
            Symbol { usages, ..it }
        });
        let symbols = symbols.collect();
        Ok(Answer::whole(Overview { package: Some("toys".to_owned()), symbols, ..Overview::default() }))
    }

    fn effects(&self, edits: &[FileEdit]) -> ChangeImpact {
        let mut after = Files::clone(&self.files);
        for edit in edits {
            match &edit.new {
                Some(text) => drop(after.insert(Arc::new(after.file(&edit.file, text.clone())))),
                None => drop(after.remove(&edit.file)),
            }
        }
        let (old, new) = (ToyView::problems(&self.files, &[]), ToyView::problems(&after, &[]));
        let mut change_impact = ChangeImpact::nothing();
        change_impact.new = new.iter().filter(|it| !old.contains(it)).cloned().collect();
        change_impact.fixed = old.iter().filter(|it| !new.contains(it)).cloned().collect();
        let now = ToyView { files: Arc::new(after) };
        for before in self.all() {
            let Some(after) = now.all().find(|it| it.path == before.path) else { continue };
            if before.signature != after.signature {
                change_impact.impact.changed.push(Changed {
                    symbol: before.path,
                    kind: ChangeKind::Signature,
                    before: Some(before.signature),
                    after: Some(after.signature),
                });
            }
        }
        let broken = change_impact.new.iter().map(|it| Broken {
            at: Affected {
                build: None,
                place: it.place.clone(),
                text: String::new(),
                symbol: it.symbol.clone(),
                cause: change_impact.impact.changed.first().map(|it| it.symbol.clone()),
                test: false,
            },
            code: it.code.clone(),
            reason: it.message.clone(),
            follows: false,
        });
        change_impact.impact.broken = broken.collect();
        change_impact
    }
}

fn now<T: Send + 'static>(answer: Result<Answer<T>>) -> Answering<T> {
    ready(answer).boxed()
}

impl View for ToyView {
    fn language(&self) -> LanguageId {
        LANGUAGE
    }

    fn resolve(self: Box<Self>, query: SymbolQuery, _: Deadlines) -> BoxFuture<'static, Result<Symbol>> {
        ready(self.find(&query)).boxed()
    }

    fn usages(self: Box<Self>, query: SymbolQuery, window: Window, _: Deadlines) -> Answering<(Symbol, UsagePage)> {
        now(self.find(&query).map(|it| {
            let page = self.page(&it.name, window);
            Answer::whole((it, page))
        }))
    }

    fn describe(
        self: Box<Self>,
        query: SymbolQuery,
        window: Window,
        _: Deadlines,
    ) -> Answering<(Description, UsagePage)> {
        now(self.find(&query).and_then(|symbol| {
            let file = self.file(&symbol.place.file)?;
            let page = self.page(&symbol.name, window);
            let description = Description {
                source: Some(file.text[symbol.place.start..symbol.place.end].to_owned()),
                symbol,
                docs: None,
                examples: Vec::new(),
                implementations: Vec::new(),
                container: None,
                version: None,
            };
            Ok(Answer::whole((description, page)))
        }))
    }

    fn symbols(self: Box<Self>, file: String, _: Deadlines) -> Answering<Vec<Symbol>> {
        now(self.file(&file).map(|it| Answer::whole(ToyView::symbols_of(it))))
    }

    fn outline(self: Box<Self>, file: String, _: Deadlines) -> Answering<Overview> {
        now(self.overview_of(&file))
    }

    fn overview(self: Box<Self>, file: String, _: Deadlines, _: Instant) -> Answering<Overview> {
        now(self.overview_of(&file))
    }

    fn symbol_at(self: Box<Self>, file: String, offset: usize, _: Deadlines) -> Answering<SymbolAt> {
        now(self.file(&file).map(|it| {
            let at = it.lines().place(&file, Span::new(offset, offset));
            let call = Parsed::of(&it.text).calls.into_iter().find(|it| it.span.contains(offset));
            let symbol = call.and_then(|call| self.all().find(|it| it.name == call.name));
            let definition = symbol.as_ref().map(|it| it.name_at.clone());
            Answer::whole(SymbolAt { symbol, definition, ..SymbolAt::nothing(at) })
        }))
    }

    fn diagnostics(self: Box<Self>, files: Vec<String>, _: Deadlines) -> Answering<Vec<Diagnostic>> {
        now(Ok(Answer::whole(ToyView::problems(&self.files, &files))))
    }

    fn package(self: Box<Self>, name: String, _: Deadlines) -> Answering<Package> {
        now(Err(Error::new(Code::UnknownPackage, format!("there is no package `{name}`")).into()))
    }

    fn search(self: Box<Self>, query: String, limit: usize, _: Deadlines) -> Answering<Vec<(Symbol, f64)>> {
        let fits = self.all().filter_map(|it| ranking::fit(&query, &it.name, true, false).map(|fit| (it, fit)));
        now(Ok(Answer::whole(fits.take(limit).collect())))
    }

    fn impact(
        self: Box<Self>,
        edits: Vec<FileEdit>,
        _: Extent,
        _: Deadlines,
    ) -> BoxFuture<'static, Result<ChangeImpact>> {
        let has = |mark: &str| edits.iter().any(|it| it.new.as_deref().is_some_and(|text| text.contains(mark)));
        let mut change_impact = self.effects(&edits);
        for (mark, code) in [("# slow", MissingCode::Timeout), ("# large", MissingCode::TooMany)] {
            if has(mark) {
                change_impact.lacks(Missing::new(code, LANGUAGE.name, "the toy judged a part of the change"));
            }
        }
        if has("# untrusted") {
            change_impact.coverage.lacks(Missing::new(MissingCode::Untrusted, LANGUAGE.name, "no toy runs here"));
        }
        ready(Ok(change_impact)).boxed()
    }
}
