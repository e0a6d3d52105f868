//! The commands about errors and warnings: diagnostics, the baseline, the changes since it, the gate, the statistics.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;

use super::client::Call;
use super::edit_commands::words;
use super::output::{self, Color};
use super::request_options::{Limit, RequestOptions};
use super::target::Target;
use semdex_contract::Name;

/// A verdict waits for the index as long as a request may.
const PATIENCE_MS: u64 = 120_000;

#[derive(Debug, Subcommand)]
pub enum DiagnosticsCommand {
    /// List the diagnostics of a file or of the whole workspace.
    #[command(
        after_help = "Examples:\n  semdex diagnostics\n  semdex diagnostics src/lib.rs --severity error --format short"
    )]
    Diagnostics {
        /// Only of this file. Default: of the whole workspace.
        file: Option<PathBuf>,
        /// Severities, separated by commas: error, warning, info, hint. Default: errors and warnings.
        #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
        severity: Vec<Severity>,
        /// Only these sources, separated by commas.
        #[arg(long, value_name = "LIST")]
        source: Option<String>,
        /// Show the available fixes of each, for `semdex edit --fix`.
        #[arg(long)]
        fixes: bool,
        /// The same as --limit.
        #[arg(long, hide = true)]
        max: Option<usize>,
        /// Output format; `short` is one line for each place, for editors; SARIF is a log of version 2.1.0 for other
        /// programs.
        #[arg(long, conflicts_with = "json")]
        format: Option<Format>,
        #[command(flatten)]
        limit: Limit,
        #[command(flatten)]
        common: RequestOptions,
    },
    /// Keep the current errors and warnings, for later comparison.
    #[command(after_help = "Example:\n  semdex baseline")]
    Baseline {
        /// Only of these files; the baseline of other files remains. Default: all files.
        files: Vec<PathBuf>,
        #[command(flatten)]
        common: RequestOptions,
    },
    /// Report which errors and warnings came and went since the baseline.
    #[command(after_help = "Example:\n  semdex regressions")]
    Regressions {
        /// Only of this file. Default: of the whole workspace.
        file: Option<PathBuf>,
        #[command(flatten)]
        limit: Limit,
        #[command(flatten)]
        common: RequestOptions,
    },
    /// Exit with 2 if there are more errors or warnings than allowed.
    #[command(after_help = "Examples:\n  semdex gate --max-warnings 0 --block-on-warning\n  semdex gate --new-only")]
    Gate(Gate),
    /// Report which files were seen since the server's start; with --session, only by an agent with this `session_id`
    /// in its hooks.
    #[command(
        after_help = "Examples:\n  semdex stats\n  semdex stats --session 0d1c2b3a",
        mut_arg("session", |it| it.help("Only what the agent with this `session_id` in its hooks has seen."))
    )]
    Stats {
        #[command(flatten)]
        limit: Limit,
        #[command(flatten)]
        common: RequestOptions,
    },
}

#[derive(Debug, Args)]
pub struct Gate {
    /// Allowed errors. Default: `[gate] max_errors`, 0.
    #[arg(long, value_name = "COUNT")]
    max_errors: Option<usize>,
    /// Allowed warnings. Default: `[gate] max_warnings`, 10.
    #[arg(long, value_name = "COUNT")]
    max_warnings: Option<usize>,
    /// Whether too many errors block. Default: `[gate] block_on_error`, true.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    block_on_error: Option<bool>,
    /// Whether too many warnings block. Default: `[gate] block_on_warning`, false.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    block_on_warning: Option<bool>,
    /// Count only what is new since the baseline.
    #[arg(long)]
    new_only: bool,
    #[command(flatten)]
    common: RequestOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Markdown,
    Json,
    /// A line for each place: `path:line:column: text`.
    Short,
    Sarif,
}

words! {
    pub Severity { Error, Warning, Info, Hint }
}

impl DiagnosticsCommand {
    /// The file that determines the workspace.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            DiagnosticsCommand::Diagnostics { file, .. } | DiagnosticsCommand::Regressions { file, .. } => {
                file.as_deref()
            }
            DiagnosticsCommand::Baseline { files, .. } => files.first().map(PathBuf::as_path),
            DiagnosticsCommand::Gate(_) | DiagnosticsCommand::Stats { .. } => None,
        }
    }

    /// Whether the answer is wanted as JSON.
    pub(crate) fn is_json(&self) -> bool {
        match self {
            DiagnosticsCommand::Diagnostics { format: Some(format), .. } => {
                matches!(format, Format::Json | Format::Sarif)
            }
            DiagnosticsCommand::Diagnostics { common, .. }
            | DiagnosticsCommand::Baseline { common, .. }
            | DiagnosticsCommand::Regressions { common, .. }
            | DiagnosticsCommand::Gate(Gate { common, .. })
            | DiagnosticsCommand::Stats { common, .. } => common.json,
        }
    }

    /// Whether each place is wanted as one line.
    pub(crate) fn is_short(&self) -> bool {
        matches!(self, DiagnosticsCommand::Diagnostics { format: Some(Format::Short), .. })
    }

    /// The call, and whether its answer is wanted as JSON.
    pub(crate) fn call(self, target: &Target) -> io::Result<(Call, bool)> {
        let is_gate = matches!(self, DiagnosticsCommand::Gate(_));
        let json = self.is_json();
        let (call, common) = match self {
            DiagnosticsCommand::Diagnostics { file, severity, source, fixes, max, format, limit, common } => {
                let call = Call::of(Name::Diagnostics).with("file", target.maybe(file.as_ref())?);
                let sarif = format.filter(|it| *it == Format::Sarif).map(|_| "sarif");
                let severity = severity.iter().map(|it| it.word()).collect::<Vec<_>>().join(",");
                let severity = Some(severity).filter(|it| !it.is_empty());
                let call = call.with("severity", severity).with("source", source).with("max", max);
                let call = limit.over(call);
                (call.with("fixes", fixes.then_some(true)).with("format", sarif), common)
            }
            DiagnosticsCommand::Baseline { files, common } => {
                let files = files.iter().map(|it| target.name(it)).collect::<io::Result<Vec<_>>>()?;
                let call = Call::of(Name::Baseline).with("files", (!files.is_empty()).then_some(files));
                (patient(call), common)
            }
            DiagnosticsCommand::Regressions { file, limit, common } => {
                let call = limit.over(patient(Call::of(Name::Regressions)));
                (call.with("file", target.maybe(file.as_ref())?), common)
            }
            DiagnosticsCommand::Gate(gate) => {
                let call = patient(Call::of(Name::Gate))
                    .with("max_errors", gate.max_errors)
                    .with("max_warnings", gate.max_warnings)
                    .with("block_on_error", gate.block_on_error)
                    .with("block_on_warning", gate.block_on_warning)
                    .with("new_only", gate.new_only.then_some(true));
                (call, gate.common)
            }
            DiagnosticsCommand::Stats { limit, common } => {
                (limit.over(Call::of(Name::Stats).with("session", common.session.clone())), common)
            }
        };
        // The verdict is read before it is printed.
        Ok((common.over(call, target), json || is_gate))
    }
}

fn patient(call: Call) -> Call {
    call.with("wait_ms", Some(PATIENCE_MS))
}

/// Prints the gate's verdict. Returns the exit code.
pub(crate) fn verdict(text: &str, json: bool, color: Color) -> io::Result<u8> {
    let reply: Value = serde_json::from_str(text).map_err(io::Error::other)?;
    let printed = if json { text.to_owned() } else { verdict_text(&reply) };
    output::answer(&printed, json, color)?;
    let code = reply["exit_code"].as_u64().and_then(|it| u8::try_from(it).ok());
    code.ok_or_else(|| io::Error::other("the server gave no verdict"))
}

fn verdict_text(reply: &Value) -> String {
    let texts = |list: &Value, key: &str| -> Vec<String> {
        let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
        let text = |it: &Value| if key.is_empty() { it.as_str() } else { it[key].as_str() }.map(str::to_owned);
        items.iter().filter_map(text).collect()
    };
    let verdict = if reply["block"] == true { "Blocked" } else { "Passed" };
    let counts = [&reply["counts"]["error"], &reply["counts"]["warning"]];
    let is_known = reply["meta"]["complete"] == true;
    let mut lines = vec![match (is_known, counts) {
        (true, [errors, warnings]) => format!("{verdict} (errors: {errors}, warnings: {warnings})"),
        (false, [errors, warnings]) if *errors == 0 && *warnings == 0 => format!("{verdict} as far as is known"),
        (false, [errors, warnings]) => {
            format!("{verdict} as far as is known (errors: at least {errors}, warnings: at least {warnings})")
        }
    }];
    lines.extend(texts(&reply["reasons"], "").into_iter().map(|it| format!("- {it}")));
    lines.extend(texts(&reply["notices"], "").into_iter().map(|it| format!("- warning: {it}")));
    if !is_known {
        lines.extend(texts(&reply["meta"]["missing"], "detail").into_iter().map(|it| format!("- not known: {it}")));
    }
    lines.join("\n")
}
