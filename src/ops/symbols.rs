//! `symbols`: search by name, the tree of a file, and what stands at a place.

use std::borrow::Cow;
use std::ops::Range;

use super::ask::{Ask, Listing, Reply, ask, check_name, not_indexed};
use super::fit::{Budget, Fit, Part, left_out, next_cursor, positions, symbol_cost};
use super::open::text_of;
use crate::model::{Answer, Code, Error, Result, Symbol, SymbolAt};
use crate::workspace::Workspace;

const PAGE: usize = 50;
/// So many are ranked besides those of exactly the name; who needs more narrows the query.
const MOST: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    Offset(usize),
    LineColumn { line: usize, column: usize },
}

pub async fn search(workspace: &Workspace, query: &str, asked: &Ask) -> Result<Reply<Listing<Symbol>>> {
    if query.trim().is_empty() {
        return Err(Error::new(Code::InvalidRequest, "`query` is empty: give a part of a name"));
    }
    check_name("query", query)?;
    let first = workspace.snapshot(asked.needs(None, false)).await?;
    let mut meta = workspace.meta(None, first.revision, Default::default());
    let mut found: Vec<(Symbol, f64)> = Vec::new();
    for language in workspace.status().languages {
        let memo = Some(format!("search {} {query}", language.name));
        let reply = ask(workspace, asked.needs(Some(language), true), memo, |it| async move {
            match it.view {
                Some(view) => view.search(query.trim().to_owned(), MOST).await,
                None => Ok(Answer::lacking(Vec::new(), not_indexed(language))),
            }
        })
        .await?;
        found.extend(reply.value);
        meta.revision = reply.meta.revision;
        meta.coverage.absorb(reply.meta.coverage);
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.path.cmp(&b.0.path)));
    let symbols = found.into_iter().map(|it| it.0).collect();
    Ok(Reply { value: asked.page(symbols, PAGE)?, meta })
}

/// The symbols of a file as a tree, and the stretch of it that is given: each symbol counts as one, parents before
/// their children.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tree {
    pub part: Part,
    symbols: Vec<Symbol>,
}

impl Tree {
    pub(super) fn after(from: usize, symbols: Vec<Symbol>) -> Tree {
        Tree { part: Part::after(from, symbols.iter().map(size).sum()), symbols }
    }

    pub fn next_cursor(&self) -> Option<String> {
        next_cursor(&[self.part])
    }

    /// The symbols that are given. Parents stand above those of their children that are, though they came before.
    pub fn shown(&self) -> Cow<'_, [Symbol]> {
        if self.part.count == self.part.total {
            return Cow::Borrowed(&self.symbols);
        }
        let wanted = self.part.from..self.part.from + self.part.count;
        let mut position = 0;
        Cow::Owned(self.symbols.iter().filter_map(|it| shown(it, &wanted, &mut position)).collect())
    }

    pub fn into_shown(self) -> Vec<Symbol> {
        match self.shown() {
            Cow::Owned(shown) => shown,
            Cow::Borrowed(_) => self.symbols,
        }
    }

    /// What each symbol from the first given on takes.
    pub(super) fn costs(&self) -> Vec<usize> {
        fn walk(symbol: &Symbol, costs: &mut Vec<usize>) {
            costs.push(symbol_cost(symbol));
            symbol.children.iter().for_each(|it| walk(it, costs));
        }
        let mut costs = Vec::new();
        self.symbols.iter().for_each(|it| walk(it, &mut costs));
        costs.split_off(self.part.from)
    }

    /// Without what the text of the file says too.
    pub(super) fn without_docs(&mut self) {
        fn walk(symbol: &mut Symbol) {
            symbol.docs = None;
            symbol.children.iter_mut().for_each(walk);
        }
        self.symbols.iter_mut().for_each(walk);
    }
}

fn size(symbol: &Symbol) -> usize {
    1 + symbol.children.iter().map(size).sum::<usize>()
}

fn shown(symbol: &Symbol, wanted: &Range<usize>, position: &mut usize) -> Option<Symbol> {
    let is_wanted = wanted.contains(position);
    *position += 1;
    let children: Vec<Symbol> = symbol.children.iter().filter_map(|it| shown(it, wanted, position)).collect();
    let docs = symbol.docs.clone().filter(|_| is_wanted);
    (is_wanted || !children.is_empty()).then(|| Symbol { children, docs, ..symbol.clone() })
}

impl Fit for Tree {
    fn fit(&mut self, mut budget: Budget) -> Vec<String> {
        let costs = self.costs();
        budget.share(&mut [(&mut self.part, costs, 100)]);
        left_out(&[("symbols", self.part)])
    }
}

/// The symbols of one file as a tree.
pub async fn symbols_of(workspace: &Workspace, file: &str, asked: &Ask) -> Result<Reply<Tree>> {
    let [from] = positions(asked.cursor.as_deref())?;
    let name = workspace.locate(file)?;
    let language = workspace.language_of(&name);
    let needs = asked.needs(language, asked.wait.is_some_and(|it| !it.is_zero()));
    let reply = ask(workspace, needs, None, |it| {
        let name = name.clone();
        async move {
            text_of(&it.files, &name)?;
            match it.view {
                Some(view) => view.symbols(name).await,
                None => Ok(match language {
                    Some(language) => Answer::lacking(Vec::new(), not_indexed(language)),
                    None => Answer::whole(Vec::new()),
                }),
            }
        }
    })
    .await?;
    Ok(reply.map(|symbols| Tree::after(from, symbols)))
}

pub async fn symbol_at(workspace: &Workspace, file: &str, at: Position, asked: &Ask) -> Result<Reply<SymbolAt>> {
    let name = workspace.locate(file)?;
    let Some(language) = workspace.language_of(&name) else {
        let extensions: Vec<String> =
            workspace.languages().iter().flat_map(|it| it.extensions).map(|it| format!("`.{it}`")).collect();
        let only = extensions.join(" and ");
        let detail = format!("`{name}` is of no language that is analysed: only {only} files have symbols");
        return Err(Error::new(Code::InvalidRequest, detail));
    };
    ask(workspace, asked.needs(Some(language), true), Some(format!("at {name} {at:?}")), |it| {
        let name = name.clone();
        async move {
            let file = text_of(&it.files, &name)?;
            let offset = match at {
                Position::Offset(offset) => Some(offset).filter(|it| file.text.is_char_boundary(*it)),
                Position::LineColumn { line, column } => file.lines().offset(&file.text, line, column),
            };
            let Some(offset) = offset else {
                let detail = format!(
                    "there is no such place in `{name}`: it has {} bytes and {} lines; offsets and columns count bytes of \
                     UTF-8, lines and columns from 1, and must not lie inside a character",
                    file.text.len(),
                    file.lines().line_count(),
                );
                return Err(Error::new(Code::InvalidRequest, detail).into());
            };
            match it.view {
                Some(view) => view.symbol_at(name, offset, it.deadlines).await,
                None => Err(Error::new(Code::NotReady, "the engine of this language is not running yet: ask again").into()),
            }
        }
    })
    .await
}
