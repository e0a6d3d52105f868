//! `baseline` and `regressions`: keep the present diagnostics, and report which are new or fixed since.

use std::collections::BTreeMap;

use super::diagnostics::{Collected, OnLine, counts, find, gravest_first};
use super::diagnostics_diff::{Delta, compare, is_kept};
use super::query::RequestOptions;
use semdex_contract::budget::{Listing, positions};
use semdex_contract::{BaselineReply, BaselineRequest, RegressionsQuery, RegressionsReply};
use semdex_model::{Coverage, Diagnostic, Missing, MissingCode, Result, Severity};
use semdex_workspace::Workspace;
use semdex_workspace::journal::{Baseline, Kept};

const MOST: usize = 1000;

pub(crate) async fn baseline(
    workspace: &Workspace,
    request: BaselineRequest,
    options: &RequestOptions,
) -> Result<BaselineReply> {
    let named = request.files.unwrap_or_default();
    let mut named: Vec<String> = named.iter().map(|it| workspace.locate(it)).collect::<Result<_>>()?;
    named.sort();
    named.dedup();
    let Collected { mut diagnostics, files: count, meta } = find(workspace, &named, options).await?;
    diagnostics.retain(|it| is_kept(&it.diagnostic));
    let counts = counts(&diagnostics);
    let is_whole = named.is_empty();
    let mut files: BTreeMap<String, Vec<Kept>> = named.into_iter().map(|it| (it, Vec::new())).collect();
    for OnLine { diagnostic, text } in diagnostics {
        let text = text.trim().to_owned();
        files.entry(diagnostic.place.file.clone()).or_default().push(Kept { diagnostic, text });
    }
    let lacking = if meta.coverage.complete { Vec::new() } else { details(&meta.coverage) };
    let kept = Baseline {
        id: String::new(),
        workspace: String::new(),
        made_at: 0,
        revision: meta.revision.0,
        is_whole,
        lacking,
        files,
    };
    let baseline = workspace.keep_baseline(kept).await?;
    Ok(BaselineReply { baseline, files: count, counts, meta: meta.into() })
}

/// What was missing, one line for each.
fn details(coverage: &Coverage) -> Vec<String> {
    coverage.missing.iter().map(|it| it.detail.replace('\n', " ")).collect()
}

pub(crate) async fn regressions(
    workspace: &Workspace,
    request: RegressionsQuery,
    options: &RequestOptions,
) -> Result<RegressionsReply> {
    let [from_new, from_fixed] = positions(options.cursor.as_deref())?;
    let file = request.file.as_deref().map(|it| workspace.locate(it)).transpose()?;
    let baseline = workspace.baseline().await?;
    let Collected { diagnostics, mut meta, .. } = find(workspace, file.as_slice(), options).await?;
    let Delta { mut new, fixed } =
        since(baseline.as_ref(), file.as_deref(), diagnostics, &mut meta.coverage).unwrap_or_default();
    gravest_first(&mut new);
    let of_new = |severity| count(severity, new.iter().map(|it| &it.diagnostic));
    let of_fixed = |severity| count(severity, fixed.iter());
    let (new_errors, new_warnings) = (of_new(Severity::Error), of_new(Severity::Warning));
    let (fixed_errors, fixed_warnings) = (of_fixed(Severity::Error), of_fixed(Severity::Warning));
    let mut reply = RegressionsReply {
        has_regression: new_errors > 0,
        has_improvement: new_errors == 0 && fixed_errors > 0,
        new_errors,
        fixed_errors,
        new_warnings,
        fixed_warnings,
        new: Listing::after(from_new, new.into_iter().map(|it| it.diagnostic.into()).collect()),
        fixed: Listing::after(from_fixed, fixed.into_iter().map(Into::into).collect()),
        summary: String::new(),
        baseline: baseline.map(|it| it.id),
        next_cursor: None,
        meta: meta.into(),
    };
    let limit = options.limit.unwrap_or(MOST);
    for list in [&mut reply.new, &mut reply.fixed] {
        list.limit(limit);
        list.part.asked_for(options.limit);
    }
    reply.next_cursor = reply.cursor();
    reply.summary = summary(&reply);
    Ok(reply)
}

fn count<'a>(severity: Severity, list: impl Iterator<Item = &'a Diagnostic>) -> usize {
    list.filter(|it| it.severity == severity).count()
}

/// The difference from the baseline, for these files. None if there is no baseline.
pub(super) fn since(
    baseline: Option<&Baseline>,
    file: Option<&str>,
    mut now: Vec<OnLine>,
    coverage: &mut Coverage,
) -> Option<Delta> {
    let lack = |detail: String| Missing::new(MissingCode::NoBaseline, file.unwrap_or("workspace"), detail);
    let Some(baseline) = baseline else {
        coverage.lacks(lack(
            "no baseline was kept here, so nothing can be compared: `semdex baseline` keeps one".to_owned(),
        ));
        return None;
    };
    if !baseline.lacking.is_empty() {
        let detail = format!(
            "the baseline was kept while not all was known ({}): what was there then may be told as new; `semdex \
             baseline` keeps another",
            baseline.lacking.join("; ")
        );
        coverage.lacks(lack(detail));
    }
    let is_of = |name: &str| baseline.is_whole || baseline.files.contains_key(name);
    match file {
        Some(file) if !is_of(file) => {
            coverage.lacks(lack("the baseline is not of this file: `semdex baseline FILE` adds it".to_owned()));
        }
        None if !baseline.is_whole => {
            let detail = format!("the baseline is of {} files; others were not compared", baseline.files.len());
            coverage.note(lack(detail));
        }
        _ => {}
    }
    now.retain(|it| is_of(&it.diagnostic.place.file));
    let is_asked = |it: &&Kept| file.is_none_or(|file| it.diagnostic.place.file == file);
    let before: Vec<&Kept> = baseline.files.values().flatten().filter(is_asked).collect();
    Some(compare(&before, now))
}

fn summary(reply: &RegressionsReply) -> String {
    if reply.baseline.is_none() {
        return "Nothing to compare with: no baseline was kept".to_owned();
    }
    let counted = |count: usize, adjective: &str, what: &str| {
        (count > 0).then(|| format!("{count} {adjective}{what}{}", if count == 1 { "" } else { "s" }))
    };
    let fixed = |count, what| counted(count, "", what).map(|it| format!("{it} fixed"));
    let parts = [
        counted(reply.new_errors, "new ", "error"),
        fixed(reply.fixed_errors, "error"),
        counted(reply.new_warnings, "new ", "warning"),
        fixed(reply.fixed_warnings, "warning"),
    ];
    let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    match (reply.has_regression, reply.has_improvement) {
        (true, _) => format!("Regression detected: {parts}"),
        (_, true) => format!("Improvement: {parts}"),
        _ if parts.is_empty() => "No change since the baseline".to_owned(),
        _ => format!("No regression: {parts}"),
    }
}
