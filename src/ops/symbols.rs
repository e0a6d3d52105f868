//! `symbols`: search by name, the tree of a file, and what stands at a place.

use super::ask::{Ask, Listing, Reply, ask, not_indexed, tokens};
use super::open::text_of;
use crate::model::{Answer, Code, Error, Language, Result, Symbol, SymbolAt};
use crate::workspace::Workspace;

const PAGE: usize = 50;
/// So many are ranked; who needs more narrows the query.
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
    let first = workspace.snapshot(asked.needs(None, false)).await?;
    let mut meta = workspace.meta(None, first.revision, Default::default());
    let mut found: Vec<(Symbol, f64)> = Vec::new();
    for language in workspace.status().languages {
        let reply = ask(workspace, asked.needs(Some(language), true), |it| async move {
            match it.view {
                Some(view) => view.search(query.trim().to_owned(), MOST).await,
                None => Ok(Answer::default()),
            }
        })
        .await?;
        found.extend(reply.value);
        meta.revision = reply.meta.revision;
        meta.coverage.absorb(reply.meta.coverage);
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.path.cmp(&b.0.path)));
    let symbols = found.into_iter().map(|it| it.0).collect();
    let cost = |it: &Symbol| tokens(&[&it.path, &it.signature, &it.place.file]) + 40;
    Ok(Reply { value: asked.page(symbols, PAGE, cost)?, meta })
}

/// The symbols of one file as a tree; `total` counts all of them.
pub async fn symbols_of(workspace: &Workspace, file: &str, asked: &Ask) -> Result<Reply<Listing<Symbol>>> {
    let name = workspace.locate(file)?;
    let language = Language::of(&name);
    let needs = asked.needs(language, asked.wait.is_some_and(|it| !it.is_zero()));
    let reply = ask(workspace, needs, |it| {
        let name = name.clone();
        async move {
            text_of(&it.files, &name)?;
            match it.view {
                Some(view) => view.symbols(name).await,
                None => Ok(match language {
                    Some(language) => Answer::lacking(Vec::new(), not_indexed(language)),
                    None => Answer::default(),
                }),
            }
        }
    })
    .await?;
    let total = reply.value.iter().map(size).sum();
    Ok(Reply { value: Listing { total, items: reply.value, next_cursor: None }, meta: reply.meta })
}

fn size(symbol: &Symbol) -> usize {
    1 + symbol.children.iter().map(size).sum::<usize>()
}

pub async fn symbol_at(workspace: &Workspace, file: &str, at: Position, asked: &Ask) -> Result<Reply<SymbolAt>> {
    let name = workspace.locate(file)?;
    let Some(language) = Language::of(&name) else {
        let detail = format!("`{name}` is of no language that is analysed: only `.rs` and `.go` files have symbols");
        return Err(Error::new(Code::InvalidRequest, detail));
    };
    ask(workspace, asked.needs(Some(language), true), |it| {
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
                Some(view) => view.symbol_at(name, offset, it.deadline).await,
                None => Err(Error::new(Code::NotReady, "the engine of this language is not running yet: ask again").into()),
            }
        }
    })
    .await
}
