//! `describe`: everything about a symbol, a package or a file.

use super::ask::{Ask, Reply, ask, ask_by_name};
use super::open::text_of;
use super::usages::{UsageList, list};
use crate::model::{Answer, Code, Description, Error, Language, Package, Result, SymbolQuery};
use crate::workspace::Workspace;

#[derive(Debug, Clone, PartialEq)]
pub struct FileText {
    pub file: String,
    pub language: Option<Language>,
    pub content: String,
    pub hash: String,
    pub lines: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Described {
    Symbol { description: Box<Description>, usages: UsageList },
    Package(Package),
    File(FileText),
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
    let found = ask_by_name(workspace, asked, &query, |view, query, deadline| view.describe(query, deadline)).await;
    match found {
        Ok(Reply { value: (description, usages), meta }) => {
            let usages = list(usages, asked)?;
            Ok(Reply { value: Described::Symbol { description: Box::new(description), usages }, meta })
        }
        // A path that names no item may name a module or package.
        Err(miss) if miss.code == Code::UnknownSymbol && query.package.is_none() && query.file.is_none() => {
            describe_package(workspace, &query.symbol, asked).await.map_err(|_| miss)
        }
        Err(error) => Err(error),
    }
}

async fn describe_package(workspace: &Workspace, package: &str, asked: &Ask) -> Result<Reply<Described>> {
    let query = SymbolQuery { symbol: String::new(), package: Some(package.to_owned()), file: None };
    let found = ask_by_name(workspace, asked, &query, |view, query, _| async move {
        view.package(query.package.unwrap_or_default()).await
    })
    .await?;
    Ok(Reply { value: Described::Package(found.value), meta: found.meta })
}

async fn describe_file(workspace: &Workspace, file: &str, asked: &Ask) -> Result<Reply<Described>> {
    let name = workspace.locate(file)?;
    ask(workspace, asked.needs(None, false), |it| {
        let name = name.clone();
        async move {
            let file = text_of(&it.files, &name)?;
            Ok(Answer::whole(Described::File(FileText {
                file: name.clone(),
                language: Language::of(&name),
                content: file.text.to_string(),
                hash: file.hash.to_hex().to_string(),
                lines: file.lines().line_count(),
            })))
        }
    })
    .await
}
