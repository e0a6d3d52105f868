//! `describe`: everything about a symbol, a package or a file.

use super::open::text_of;
use super::query::{RequestOptions, query_by_name, run_query, unless_loading};
use super::relations::PAGE;
use super::unanalysed_files;
use semdex_contract::budget::{Listing, Part, positions};
use semdex_contract::{
    Container, DescribeRequest, Described, DescribedFile, DescribedPackage, DescribedSymbol, Example, FileText,
    OfSymbol, Symbol, UsageList,
};
use semdex_model::{Answer, Code, Coverage, Description, Error, Meta, Result, SymbolQuery, Window};
use semdex_workspace::Workspace;

pub(crate) async fn describe(
    workspace: &Workspace,
    request: DescribeRequest,
    options: &RequestOptions,
) -> Result<Described> {
    match (request.symbol, request.package, request.file) {
        (Some(symbol), package, file) => {
            let file = file.map(|it| workspace.locate(&it)).transpose()?;
            describe_symbol(workspace, SymbolQuery { symbol, package, file, ..SymbolQuery::default() }, options).await
        }
        (None, Some(package), _) => describe_package(workspace, &package, options).await,
        (None, None, Some(file)) => describe_file(workspace, &file, options).await,
        (None, None, None) => Err(Error::new(
            Code::InvalidRequest,
            "nothing to describe: give `symbol` (a full path, or with `package` or `file`), or `package`, or `file`",
        )),
    }
}

async fn describe_symbol(workspace: &Workspace, query: SymbolQuery, options: &RequestOptions) -> Result<Described> {
    let from: [usize; 4] = match positions(options.cursor.as_deref()) {
        Ok(from) => from,
        // A cursor of a package continues as a package.
        Err(error) if positions::<3>(options.cursor.as_deref()).is_ok() && query.package.is_none() => {
            return describe_package(workspace, &query.symbol, options).await.map_err(|_| error);
        }
        Err(error) => return Err(error),
    };
    let window = Window { from: from[2], limit: options.limit.unwrap_or(PAGE) };
    let found = query_by_name(workspace, &options.early(), "describe", &query, |view, query, deadlines| {
        view.describe(query, window, deadlines)
    })
    .await;
    match found {
        Ok(found) => {
            let (description, usages) = found.value;
            if let Some(file) = found.files.get(&description.symbol.place.file) {
                workspace.seen_texts().note_shown(options.session.as_deref(), file);
            }
            let mut usages = UsageList::new(usages, window);
            usages.part.asked_for(options.limit);
            Ok(Described::Symbol(Box::new(described(description, usages, from, found.meta))))
        }
        // A path that is not an item may be a module or package.
        Err(miss) if miss.code == Code::UnknownSymbol && query.package.is_none() && query.file.is_none() => {
            describe_package(workspace, &query.symbol, options).await.map_err(|_| unless_loading(miss))
        }
        Err(error) => Err(unless_loading(error)),
    }
}

fn described(description: Description, usages: UsageList, from: [usize; 4], meta: Meta) -> DescribedSymbol {
    let Description { symbol, source, docs, examples, implementations, container, version } = description;
    let described = DescribedSymbol {
        kind: OfSymbol::Symbol,
        symbol: Symbol { usages: Some(usages.count()), ..symbol.into() },
        source,
        docs,
        examples: Listing::after(from[1], examples).map(Example::from),
        usages,
        implementations: Listing::after(from[3], implementations).map(Symbol::from),
        container: container.map(Container::from),
        version,
        next_cursor: None,
        meta: meta.into(),
        first_line: 0,
        text_part: Part::default(),
    };
    described.after(from[0])
}

async fn describe_package(workspace: &Workspace, package: &str, options: &RequestOptions) -> Result<Described> {
    let from = positions(options.cursor.as_deref())?;
    let query = SymbolQuery { package: Some(package.to_owned()), ..SymbolQuery::default() };
    let found = query_by_name(workspace, options, "package", &query, |view, query, deadlines| {
        view.package(query.package.unwrap_or_default(), deadlines)
    })
    .await
    .map_err(unless_loading)?;
    Ok(Described::Package(DescribedPackage::after(from, found.value, found.meta.into())))
}

async fn describe_file(workspace: &Workspace, file: &str, options: &RequestOptions) -> Result<Described> {
    let [from] = positions(options.cursor.as_deref())?;
    let name = workspace.locate(file)?;
    let found = run_query(workspace, options.needs(None, false), None, |it| {
        let name = name.clone();
        async move {
            let file = text_of(&it.files, &name)?;
            let part = Part::after(from, file.text.split_inclusive('\n').count());
            let mut coverage = Coverage::default();
            if file.language.is_none() {
                coverage.lacks(unanalysed_files::lack_of_file(&name));
            }
            let value = FileText {
                file: name.clone(),
                language: file.language.map(Into::into),
                content: if from == 0 { file.text.to_string() } else { part.lines(&file.text) },
                part,
                hash: file.hash.to_hex().to_string(),
                overlay: file.overlay,
                lines: file.lines().line_count(),
            };
            Ok(Answer { value, coverage })
        }
    })
    .await?;
    if let Some(file) = found.files.get(&name) {
        workspace.seen_texts().note_shown(options.session.as_deref(), file);
    }
    Ok(Described::File(DescribedFile::new(found.value, found.meta.into())))
}
