//! `impact`: what a change of a symbol would break, asked without making it.

use super::apply_change::{Mode, OnBreak, Plan, carry_out};
use super::ask::{Ask, Reply};
use super::edit::symbol::find_symbol;
use crate::model::{Alteration, Code, Error, FileEdit, Impact, Result, SymbolQuery};
use crate::workspace::{Cause, Workspace};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImpactRequest {
    pub query: SymbolQuery,
    pub change: Alteration,
}

pub async fn impact(workspace: &Workspace, request: &ImpactRequest, asked: &Ask) -> Result<Reply<Impact>> {
    let mode = Mode::new(Cause::Edit, true, OnBreak::Report);
    let reply = carry_out(workspace, asked, mode, || plan(workspace, request, asked)).await?;
    Ok(Reply { value: reply.value.impact, meta: reply.meta })
}

async fn plan(workspace: &Workspace, request: &ImpactRequest, asked: &Ask) -> Result<Plan> {
    let (symbol, file) = find_symbol(workspace, &request.query, asked).await?;
    let (item, name) = (symbol.place.span(), symbol.name_at.span());
    let altered = file.language.and_then(|it| it.syntax.alter(&file.text, item, name, request.change));
    let Some((span, new)) = altered else {
        let detail = match request.change {
            Alteration::Visibility => format!("`{}` is seen from nowhere outside already", symbol.path),
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
