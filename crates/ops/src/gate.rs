//! `gate`: whether the numbers of errors and warnings are within the thresholds.

use super::baseline::since;
use super::diagnostics::{Collected, counts, find};
use super::query::RequestOptions;
use semdex_config::Gate;
use semdex_contract::{Counts, GateQuery, GateReply};
use semdex_model::{Code, Error, Result};
use semdex_workspace::Workspace;

/// The exit code for a gate that blocks.
const BLOCKED: u8 = 2;

pub(crate) async fn gate(workspace: &Workspace, request: GateQuery, options: &RequestOptions) -> Result<GateReply> {
    let configured = configured(workspace).await?;
    let gate = Gate {
        max_errors: request.max_errors.unwrap_or(configured.max_errors),
        max_warnings: request.max_warnings.unwrap_or(configured.max_warnings),
        block_on_error: request.block_on_error.unwrap_or(configured.block_on_error),
        block_on_warning: request.block_on_warning.unwrap_or(configured.block_on_warning),
        ..configured
    };
    let is_new_only = request.new_only.unwrap_or_default();
    let baseline = if is_new_only { workspace.baseline().await? } else { None };
    let Collected { mut diagnostics, mut meta, .. } = find(workspace, &[], options).await?;
    if is_new_only {
        // Without a baseline, all diagnostics count as new.
        let delta = since(baseline.as_ref(), None, diagnostics.clone(), &mut meta.coverage);
        diagnostics = delta.map_or(diagnostics, |it| it.new);
    }
    diagnostics.retain(|it| gate.builds.counts(it.diagnostic.build.as_deref()));
    let counts = counts(&diagnostics);
    let (reasons, notices) = exceeded(&gate, &counts, is_new_only && baseline.is_some());
    let block = !reasons.is_empty();
    let exit_code = if block { BLOCKED } else { 0 };
    Ok(GateReply { block, exit_code, reasons, notices, counts, meta: meta.into() })
}

/// The thresholds of the present configuration.
pub(super) async fn configured(workspace: &Workspace) -> Result<Gate> {
    let workspace = workspace.clone();
    let read = tokio::task::spawn_blocking(move || workspace.gate());
    read.await.map_err(|_| Error::new(Code::Internal, "the configuration could not be read"))?
}

/// The exceeded thresholds that block, and those that do not.
fn exceeded(gate: &Gate, counts: &Counts, is_new: bool) -> (Vec<String>, Vec<String>) {
    let (mut reasons, mut notices) = (Vec::new(), Vec::new());
    for (count, most, blocks, what) in [
        (counts.error, gate.max_errors, gate.block_on_error, "error"),
        (counts.warning, gate.max_warnings, gate.block_on_warning, "warning"),
    ] {
        if count <= most {
            continue;
        }
        let (new, plural) = (if is_new { "new " } else { "" }, if count == 1 { "" } else { "s" });
        let excess = format!("{count} {new}{what}{plural}, {most} allowed");
        if blocks { reasons.push(excess) } else { notices.push(excess) }
    }
    (reasons, notices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_blocks_or_is_reported() {
        let gate = Gate {
            max_errors: 0,
            max_warnings: 10,
            block_on_error: true,
            block_on_warning: false,
            stops_agents: false,
            builds: Default::default(),
        };
        let exceeded =
            |gate: &Gate, error, warning| exceeded(gate, &Counts { error, warning, ..Counts::default() }, false);
        let list = |lines: &[&str]| lines.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        assert_eq!(exceeded(&gate, 0, 10), (list(&[]), list(&[])));
        assert_eq!(exceeded(&gate, 1, 11), (list(&["1 error, 0 allowed"]), list(&["11 warnings, 10 allowed"])));
        let strict = Gate { max_errors: 2, block_on_warning: true, ..gate };
        assert_eq!(exceeded(&strict, 2, 11), (list(&["11 warnings, 10 allowed"]), list(&[])));
        let lax = Gate { block_on_error: false, ..gate };
        assert_eq!(exceeded(&lax, 3, 0), (list(&[]), list(&["3 errors, 0 allowed"])));
    }
}
