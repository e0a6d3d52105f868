//! `impact`: what a change of a symbol would break, computed without making it.

use super::apply_change::{Mode, Plan, apply_change};
use super::edit::symbol_edit::find_symbol;
use super::query::RequestOptions;
use semdex_contract::{ImpactReport, ImpactRequest, OnBreak};
use semdex_model::{Alteration, Code, Error, FileEdit, Result, SymbolQuery};
use semdex_workspace::{Cause, Workspace};

/// The query, with the file as the workspace names it.
struct Asked {
    query: SymbolQuery,
    change: Alteration,
}

pub(crate) async fn impact(
    workspace: &Workspace,
    request: ImpactRequest,
    options: &RequestOptions,
) -> Result<ImpactReport> {
    let ImpactRequest { symbol, package, file, change, .. } = request;
    let file = file.map(|it| workspace.locate(&it)).transpose()?;
    let request = Asked { query: SymbolQuery { symbol, package, file }, change: change.into() };
    let mode = Mode::new(Cause::Edit, true, OnBreak::Report);
    let report = apply_change(workspace, options, mode, || plan(workspace, &request, options)).await?;
    Ok(ImpactReport { impact: report.impact, next_cursor: None, meta: report.meta, pages: Default::default() })
}

async fn plan(workspace: &Workspace, request: &Asked, options: &RequestOptions) -> Result<Plan> {
    let (symbol, file) = find_symbol(workspace, &request.query, options).await?;
    // For a module with its own file, the `mod` declaration is changed, because it contains the name.
    let item = symbol.declared_at.as_ref().unwrap_or(&symbol.place).span();
    let name = symbol.name_at.span();
    let altered = file.language.and_then(|it| it.syntax.alter(&file.text, item, name, request.change));
    let Some((span, new)) = altered else {
        let detail = match request.change {
            Alteration::Visibility => {
                format!(
                    "`{}` is seen from nowhere outside already, or nothing in its head says that it is",
                    symbol.path
                )
            }
            _ => format!(
                "`{}` is a {} and has no signature or type to change: ask what `remove` or `rename` would break",
                symbol.path,
                symbol.kind.name()
            ),
        };
        return Err(Error::new(Code::InvalidRequest, detail));
    };
    let mut text = file.text.to_string();
    text.replace_range(span.start..span.end, &new);
    let edit = FileEdit { file: file.path.to_string(), old: Some(file.text.clone()), new: Some(text.into()) };
    Ok(Plan::new(vec![edit], Vec::new()))
}
