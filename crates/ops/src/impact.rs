//! `impact`: what a change of a symbol would break, computed without making it.

use std::sync::{Arc, Mutex, PoisonError};

use super::apply_change::{Mode, Plan, apply_change};
use super::edit::symbol_edit::find_symbol;
use super::query::RequestOptions;
use semdex_contract::{Affected, ImpactReport, ImpactRequest, OnBreak};
use semdex_engine::files::{File, Files};
use semdex_model::{Alteration, Code, Error, FileEdit, LanguageId, OutlineItem, Result, Span, SymbolQuery};
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
    let request =
        Asked { query: SymbolQuery { symbol, package, file, ..SymbolQuery::default() }, change: change.into() };
    let mode = Mode::new(Cause::Edit, true, OnBreak::Report);
    let made: Mutex<Vec<Altered>> = Mutex::default();
    let planned = || async {
        let (plan, altered) = plan(workspace, &request, options).await?;
        *made.lock().unwrap_or_else(PoisonError::into_inner) = altered;
        Ok(plan)
    };
    let report = apply_change(workspace, options, mode, planned).await?;
    let mut impact = report.impact;
    for altered in made.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let broken = impact.broken.iter_mut().map(|it| &mut it.at);
        let tests = impact.tests.iter_mut().map(|it| &mut it.at);
        broken.chain(&mut impact.affected).chain(tests).for_each(|it| altered.place_today(it));
    }
    Ok(ImpactReport { impact, next_cursor: None, meta: report.meta, pages: Default::default() })
}

/// The change that was tried. Its text exists nowhere, so places in it are reported as they are in the file.
struct Altered {
    file: Arc<File>,
    /// What was replaced.
    span: Span,
    /// The length of the text in its place.
    length: usize,
}

impl Altered {
    fn place_today(&self, at: &mut Affected) {
        if *at.place.file != *self.file.path {
            return;
        }
        let today = |offset: usize| match offset {
            before if before < self.span.start => before,
            after if after >= self.span.start + self.length => after - self.length + self.span.end - self.span.start,
            within => within.min(self.span.end),
        };
        let (start, end) = (today(at.place.start), today(at.place.end));
        let place = self.file.lines().place(&self.file.path, Span::new(start, end.max(start)));
        self.file.lines().line_text(&self.file.text, place.line).clone_into(&mut at.text);
        at.place = place.into();
    }
}

async fn plan(workspace: &Workspace, request: &Asked, options: &RequestOptions) -> Result<(Plan, Vec<Altered>)> {
    let (symbol, file) = find_symbol(workspace, &request.query, options).await?;
    // For a module with its own file, the `mod` declaration is changed, because it contains the name.
    let item = symbol.declared_at.as_ref().unwrap_or(&symbol.place).span();
    let name = symbol.name_at.span();
    let Some(own) = altered(&file, item, name, request.change) else {
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
    let mut all = vec![own];
    if request.change == Alteration::Signature {
        let files = workspace.snapshot(options.needs(None, false)).await?.files;
        let found = tokio::task::spawn_blocking(move || counterparts(&files, &file, name)).await;
        all.extend(found.map_err(|_| Error::new(Code::Internal, "the prototypes could not be looked for"))?);
    }
    let (edits, altered) = all.into_iter().unzip();
    Ok((Plan::new(edits, Vec::new()), altered))
}

fn altered(file: &Arc<File>, item: Span, name: Span, change: Alteration) -> Option<(FileEdit, Altered)> {
    let (span, new) = file.language?.syntax.alter(&file.text, item, name, change)?;
    let mut text = file.text.to_string();
    text.replace_range(span.start..span.end, &new);
    let edit = FileEdit { file: file.path.to_string(), old: Some(file.text.clone()), new: Some(text.into()) };
    Some((edit, Altered { file: file.clone(), span, length: new.len() }))
}

/// The same function as other files declare it, with another signature: a prototype that stays would be what breaks, and
/// hide the callers.
fn counterparts(files: &Files, file: &File, name: Span) -> Vec<(FileEdit, Altered)> {
    let Some(syntax) = file.language.map(|it| it.syntax) else { return Vec::new() };
    let enclosing = file.outline().enclosing(name.start);
    let Some(own) = enclosing.into_iter().find(|it| it.name_span == name) else { return Vec::new() };
    let prototype = OutlineItem { body: None, ..own.clone() };
    if !syntax.are_of_one_function(own, &prototype) {
        return Vec::new();
    }
    let is_of = |it: &LanguageId| it.syntax.are_of_one_function(&prototype, &prototype);
    let mut others: Vec<(&Arc<File>, &OutlineItem)> = Vec::new();
    for other in files.iter().filter(|it| it.path != file.path && it.language.as_ref().is_some_and(is_of)) {
        if other.words().offsets(&other.text, &own.name).next().is_some() {
            let mut first = None;
            other.outline().walk(&mut |it| first = first.or(Some(it).filter(|it| syntax.are_of_one_function(own, it))));
            others.extend(first.map(|it| (other, it)));
        }
    }
    // Several definitions are those of several programs, and which one a prototype is of is not known.
    let defined = others.iter().filter(|it| it.1.body.is_some()).count() + usize::from(own.body.is_some());
    others.retain(|it| it.1.body.is_none() || defined == 1);
    let altered = |(file, it): (&Arc<File>, &OutlineItem)| altered(file, it.span, it.name_span, Alteration::Signature);
    others.into_iter().filter_map(altered).collect()
}
