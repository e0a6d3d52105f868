//! `describe`: everything about a symbol, a package or a file.

use super::ask::{Ask, Listing, Reply, ask, ask_by_name, look_up, unless_loading};
use super::fit::{Budget, Fit, Part, left_out, line_costs, next_cursor, positions, symbol_cost, text_cost};
use super::open::text_of;
use super::symbols::Tree;
use super::usages::{PAGE, UsageList, spend_on};
use crate::model::{
    Answer, Code, Description, Error, Example, LanguageId, Package, Result, Symbol, SymbolQuery, UsageCount, UsagePage,
    Window,
};
use crate::workspace::Workspace;

/// A symbol, from where the cursor says.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribedSymbol {
    pub symbol: Symbol,
    pub source: Option<String>,
    pub docs: Option<String>,
    /// The line of the file that the given source begins with.
    pub line: usize,
    pub examples: Listing<Example>,
    pub usages: UsageList,
    pub implementations: Listing<Symbol>,
    pub container: Option<Symbol>,
    pub version: Option<String>,
    /// The lines that are given of the source, or of the docs where there is no source to read.
    text: Part,
}

impl DescribedSymbol {
    fn new(description: Description, page: UsagePage, window: Window, from: [usize; 4]) -> DescribedSymbol {
        let Description { symbol, source, docs, examples, implementations, container, version } = description;
        let usages = UsageList::new(page, window);
        let count = UsageCount { total: usages.total, files: usages.files };
        let paged = source.as_deref().or(docs.as_deref()).unwrap_or_default();
        let text = Part::after(from[0], paged.split_inclusive('\n').count());
        let mut described = DescribedSymbol {
            line: symbol.place.line + text.from,
            symbol: Symbol { usages: Some(count), ..symbol },
            source,
            docs,
            examples: Listing::after(from[1], examples),
            usages,
            implementations: Listing::after(from[3], implementations),
            container,
            version,
            text,
        };
        if from[0] > 0 {
            described.cut_text();
        }
        described
    }

    fn cut_text(&mut self) {
        match (&mut self.source, &mut self.docs) {
            (Some(source), docs) => {
                *source = self.text.lines(source);
                // Once, with the beginning of the source that holds them.
                *docs = None;
            }
            (None, Some(docs)) => *docs = self.text.lines(docs),
            (None, None) => {}
        }
    }

    fn parts(&self) -> [Part; 4] {
        [self.text, self.examples.part, self.usages.part, self.implementations.part]
    }

    pub fn next_cursor(&self) -> Option<String> {
        next_cursor(&self.parts())
    }
}

impl Fit for DescribedSymbol {
    fn fit(&mut self, mut budget: Budget) -> Vec<String> {
        spend_on(&mut self.symbol, &mut budget);
        let uncut = Part::default();
        let text = line_costs(self.source.as_deref().or(self.docs.as_deref()).unwrap_or_default(), uncut);
        let example = |it: &Example| text_cost(&it.code) + text_cost(&it.title) + it.file.len() + 100;
        let examples = self.examples.items.iter().map(example).collect();
        let usages = self.usages.costs();
        let implementations = self.implementations.items.iter().map(symbol_cost).collect();
        budget.share(&mut [
            (&mut self.text, text, 50),
            (&mut self.examples.part, examples, 35),
            (&mut self.usages.part, usages, 65),
            (&mut self.implementations.part, implementations, 100),
        ]);
        let kept = |text: &str| text.split_inclusive('\n').take(self.text.count).collect::<String>();
        if budget.is_limited() {
            match &self.source {
                Some(source) => (self.source, self.docs) = (Some(kept(source)), None),
                None => self.docs = self.docs.as_deref().map(kept),
            }
        }
        self.examples.items.truncate(self.examples.part.count);
        self.usages.truncate();
        self.implementations.items.truncate(self.implementations.part.count);
        let [text, examples, usages, implementations] = self.parts();
        let what = if self.source.is_some() { "lines of the source" } else { "lines of the docs" };
        left_out(&[(what, text), ("examples", examples), ("usages", usages), ("implementations", implementations)])
    }
}

/// A package: its docs, and its symbols from where the cursor says.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribedPackage {
    /// Without its symbols, which stand beside it.
    pub package: Package,
    pub symbols: Tree,
    docs: Part,
    files: Part,
}

impl DescribedPackage {
    fn new(mut package: Package, from: [usize; 3]) -> DescribedPackage {
        let lines = package.docs.as_deref().unwrap_or_default().split_inclusive('\n').count();
        let docs = Part::after(from[0], lines);
        package.docs = package.docs.map(|it| docs.lines(&it)).filter(|it| !it.is_empty());
        let files = Part::after(from[1], package.files.len());
        package.files.drain(..files.from);
        let symbols = Tree::after(from[2], std::mem::take(&mut package.symbols));
        DescribedPackage { package, docs, files, symbols }
    }

    pub fn next_cursor(&self) -> Option<String> {
        next_cursor(&[self.docs, self.files, self.symbols.part])
    }
}

impl Fit for DescribedPackage {
    fn fit(&mut self, mut budget: Budget) -> Vec<String> {
        budget.spend(200);
        let docs = line_costs(self.package.docs.as_deref().unwrap_or_default(), Part::default());
        let files = self.package.files.iter().map(|it| text_cost(it) + 4).collect();
        let symbols = self.symbols.costs();
        budget.share(&mut [
            (&mut self.docs, docs, 40),
            (&mut self.files, files, 20),
            (&mut self.symbols.part, symbols, 100),
        ]);
        let lines = self.docs.count;
        self.package.docs = self.package.docs.as_deref().map(|it| it.split_inclusive('\n').take(lines).collect());
        self.package.files.truncate(self.files.count);
        left_out(&[("lines of the docs", self.docs), ("files", self.files), ("symbols", self.symbols.part)])
    }
}

/// A file's text, from the line that the cursor says.
#[derive(Debug, Clone, PartialEq)]
pub struct FileText {
    pub file: String,
    pub language: Option<LanguageId>,
    pub content: String,
    pub hash: String,
    /// It is the content of an overlay.
    pub overlay: bool,
    /// Of the whole file.
    pub lines: usize,
    pub part: Part,
}

impl FileText {
    pub fn next_cursor(&self) -> Option<String> {
        next_cursor(&[self.part])
    }
}

impl Fit for FileText {
    fn fit(&mut self, mut budget: Budget) -> Vec<String> {
        budget.spend(200);
        let costs = line_costs(&self.content, Part::default());
        budget.share(&mut [(&mut self.part, costs, 100)]);
        self.content = self.content.split_inclusive('\n').take(self.part.count).collect();
        left_out(&[("lines", self.part)])
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Described {
    Symbol(Box<DescribedSymbol>),
    Package(DescribedPackage),
    File(FileText),
}

impl Fit for Described {
    fn fit(&mut self, budget: Budget) -> Vec<String> {
        match self {
            Described::Symbol(it) => it.fit(budget),
            Described::Package(it) => it.fit(budget),
            Described::File(it) => it.fit(budget),
        }
    }
}

/// At least a package, a file or a full path; `symbol` may be absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DescribeQuery {
    pub symbol: Option<String>,
    pub package: Option<String>,
    pub file: Option<String>,
}

pub async fn describe(workspace: &Workspace, query: &DescribeQuery, asked: &Ask) -> Result<Reply<Described>> {
    match (&query.symbol, &query.package, &query.file) {
        (Some(symbol), package, file) => {
            let file = file.as_deref().map(|it| workspace.locate(it)).transpose()?;
            describe_symbol(workspace, SymbolQuery { symbol: symbol.clone(), package: package.clone(), file }, asked)
                .await
        }
        (None, Some(package), _) => describe_package(workspace, package, asked).await,
        (None, None, Some(file)) => describe_file(workspace, file, asked).await,
        (None, None, None) => Err(Error::new(
            Code::InvalidRequest,
            "nothing to describe: give `symbol` (a full path, or with `package` or `file`), or `package`, or `file`",
        )),
    }
}

async fn describe_symbol(workspace: &Workspace, query: SymbolQuery, asked: &Ask) -> Result<Reply<Described>> {
    let from: [usize; 4] = match positions(asked.cursor.as_deref()) {
        Ok(from) => from,
        // A path that names a package goes on as one.
        Err(error) if positions::<3>(asked.cursor.as_deref()).is_ok() && query.package.is_none() => {
            return describe_package(workspace, &query.symbol, asked).await.map_err(|_| error);
        }
        Err(error) => return Err(error),
    };
    let window = Window { from: from[2], limit: asked.limit.unwrap_or(PAGE) };
    let found =
        look_up(workspace, asked, "describe", &query, |view, query, deadlines| view.describe(query, window, deadlines))
            .await;
    match found {
        Ok(found) => Ok(found.map(|(description, usages)| {
            Described::Symbol(Box::new(DescribedSymbol::new(description, usages, window, from)))
        })),
        // A path that names no item may name a module or package.
        Err(miss) if miss.code == Code::UnknownSymbol && query.package.is_none() && query.file.is_none() => {
            describe_package(workspace, &query.symbol, asked).await.map_err(|_| unless_loading(miss))
        }
        Err(error) => Err(unless_loading(error)),
    }
}

async fn describe_package(workspace: &Workspace, package: &str, asked: &Ask) -> Result<Reply<Described>> {
    let from = positions(asked.cursor.as_deref())?;
    let query = SymbolQuery { symbol: String::new(), package: Some(package.to_owned()), file: None };
    let found = ask_by_name(workspace, asked, "package", &query, |view, query, _| async move {
        view.package(query.package.unwrap_or_default()).await
    })
    .await?;
    Ok(found.map(|package| Described::Package(DescribedPackage::new(package, from))))
}

async fn describe_file(workspace: &Workspace, file: &str, asked: &Ask) -> Result<Reply<Described>> {
    let [from] = positions(asked.cursor.as_deref())?;
    let name = workspace.locate(file)?;
    ask(workspace, asked.needs(None, false), None, |it| {
        let name = name.clone();
        async move {
            let file = text_of(&it.files, &name)?;
            let part = Part::after(from, file.text.split_inclusive('\n').count());
            Ok(Answer::whole(Described::File(FileText {
                file: name.clone(),
                language: file.language,
                content: if from == 0 { file.text.to_string() } else { part.lines(&file.text) },
                part,
                hash: file.hash.to_hex().to_string(),
                overlay: file.overlay,
                lines: file.lines().line_count(),
            })))
        }
    })
    .await
}
