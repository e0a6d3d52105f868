//! The replies of `baseline`, `regressions`, `gate` and `stats`.

use super::lists::{diagnostic_rows, more};
use super::markdown::{apart, counted, errors_not_known, line, one};
use crate::{BaselineReply, Counts, GateReply, RegressionsReply, StatsReply};

pub(crate) fn baseline(kept: &BaselineReply) -> String {
    let BaselineReply { baseline, files, counts, .. } = kept;
    one(format_args!("# Baseline `{baseline}`: {} in {}", summary(counts), counted(*files, "file")))
}

pub(crate) fn regressions(found: &RegressionsReply) -> String {
    let mut text = one(format_args!("# {}", found.summary));
    for (heading, list) in [("New", &found.new), ("Fixed", &found.fixed)] {
        if !list.items.is_empty() {
            apart(&mut text, format_args!("## {heading}"));
            diagnostic_rows(&mut text, &list.items);
        }
    }
    more(&mut text, found.next_cursor.as_deref());
    text
}

pub(crate) fn gate(gate: &GateReply) -> String {
    let verdict = if gate.block { "Blocked" } else { "Passed" };
    let counts = summary(&gate.counts);
    let mut text = match errors_not_known(&gate.meta) {
        Some(why) if gate.counts.error + gate.counts.warning == 0 => {
            one(format_args!("# {verdict} as far as is known; errors are not known: {why}"))
        }
        Some(_) => one(format_args!("# {verdict} as far as is known: at least {counts}")),
        None => one(format_args!("# {verdict}: {counts}")),
    };
    for (heading, list) in [("Reasons", &gate.reasons), ("Warnings", &gate.notices)] {
        if !list.is_empty() {
            text.push('\n');
            line(&mut text, format_args!("{heading}: {}", list.join("; ")));
        }
    }
    text
}

pub(crate) fn stats(stats: &StatsReply) -> String {
    let of = stats.session.as_ref().map(|it| format!(" in session `{it}`")).unwrap_or_default();
    let since = stats.since.as_deref().unwrap_or("never");
    let edits = counted(usize::try_from(stats.edits).unwrap_or(usize::MAX), "edit");
    let mut text = one(format_args!("# {edits}{of} since {since}: {}", summary(&stats.counts)));
    text.push('\n');
    for file in &stats.files.items {
        // The last states are enough to show the trend.
        const SHOWN: usize = 8;
        let skipped = file.history.len().saturating_sub(SHOWN);
        let errors: Vec<String> = file.history.iter().skip(skipped).map(|it| it.errors.to_string()).collect();
        let (of_file, errors) = (&file.file, errors.join(" → "));
        let (count, warnings) = (counted(file.errors, "error"), counted(file.warnings, "warning"));
        line(&mut text, format_args!("- {of_file}: {count}, {warnings} (errors: {errors})"));
    }
    more(&mut text, stats.next_cursor.as_deref());
    text
}

fn summary(counts: &Counts) -> String {
    format!("{}, {}", counted(counts.error, "error"), counted(counts.warning, "warning"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Meta, Missing, State};

    #[test]
    fn a_gate_counts_nothing_that_is_not_known() {
        let reply = |complete: bool, error: usize| {
            let detail = "the workspace is being loaded".to_owned();
            let meta = Meta {
                workspace: None,
                root: None,
                revision: 1,
                state: State::Indexing,
                complete,
                missing: vec![Missing { code: "indexing".to_owned(), detail, scope: None }],
                fallback: None,
                builds: Vec::new(),
                overlays: Vec::new(),
                elapsed_ms: 0.0,
            };
            let counts = Counts { error, ..Counts::default() };
            GateReply { block: false, exit_code: 0, reasons: Vec::new(), notices: Vec::new(), counts, meta }
        };
        assert_eq!(gate(&reply(true, 0)), "# Passed: 0 errors, 0 warnings\n");
        let unknown = "# Passed as far as is known; errors are not known: the workspace is being loaded\n";
        assert_eq!(gate(&reply(false, 0)), unknown);
        assert_eq!(gate(&reply(false, 2)), "# Passed as far as is known: at least 2 errors, 0 warnings\n");
    }
}
