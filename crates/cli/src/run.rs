//! `semdex run`: a run from its start to its end, with its steps on standard error. An interrupt cancels it.

use std::io::{self, Write};
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::client::{self, Call, Said};
use super::edit_commands::text;
use super::output::{self, Color};
use super::request_options::{FAILED, RequestOptions};
use super::running_servers::Announcement;
use super::target::Target;
use super::verify::Kind;
use semdex_config::Config;
use semdex_contract::Name;
use semdex_engine::Registry;
use semdex_text::visible::one_line;

const INTERRUPTED: u8 = 130;
/// How often the state of the run is requested.
const PACE: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub struct RunTask {
    /// Task in plain words; `-` is standard input.
    #[arg(required = true, value_name = "PROMPT")]
    prompt: Vec<String>,
    /// Model, by its id in Bedrock.
    #[arg(long)]
    model: Option<String>,
    /// How often the model may retry.
    #[arg(long, value_name = "COUNT")]
    max_retries: Option<u32>,
    /// Check that has to succeed; may be repeated. Default: check and test.
    #[arg(long, value_name = "KIND", conflicts_with = "no_verify")]
    verify: Vec<Kind>,
    /// Verify nothing.
    #[arg(long)]
    no_verify: bool,
    /// File that the model sees in full; may be repeated.
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<std::path::PathBuf>,
    /// Commit the changes if the run succeeds.
    #[arg(long)]
    commit: bool,
    /// Show the first edits that match, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Keep the edits of a run that fails.
    #[arg(long)]
    keep: bool,
    /// Print JSON instead of Markdown.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
pub enum Runs {
    /// Report the progress and the result of a run.
    #[command(after_help = "Example:\n  semdex runs show 01M8F1HQ9DYP0EY18TQ8C2MRY0")]
    Show {
        /// Id of the run.
        run: String,
        #[command(flatten)]
        common: RequestOptions,
    },
    /// Cancel a run, and take its changes back.
    #[command(after_help = "Example:\n  semdex runs cancel 01M8F1HQ9DYP0EY18TQ8C2MRY0")]
    Cancel {
        /// Id of the run.
        run: String,
        #[command(flatten)]
        common: RequestOptions,
    },
}

impl Runs {
    pub(super) fn is_json(&self) -> bool {
        let (Runs::Show { common, .. } | Runs::Cancel { common, .. }) = self;
        common.json
    }

    pub(super) fn call(self) -> (Call, RequestOptions) {
        match self {
            Runs::Show { run, common } => (Call::of(Name::Run).about(run), common),
            Runs::Cancel { run, common } => (Call::of(Name::CancelRun).about(run), common),
        }
    }
}

impl RunTask {
    /// The call that starts the run.
    pub(super) fn call(self, target: &Target) -> io::Result<(Call, bool)> {
        let prompt = match self.prompt.as_slice() {
            [only] if only == "-" => text(None, Some("-".into()))?,
            words => Some(words.join(" ")),
        };
        let kinds = self.verify.iter().map(|it| it.name());
        let verify = (self.no_verify || !self.verify.is_empty()).then(|| Value::from_iter(kinds));
        let files = self.files.iter().map(|it| target.name(it)).collect::<io::Result<Vec<String>>>()?;
        let workspace = target.server.roots.contains(&target.root).then(|| target.root.to_string_lossy().into_owned());
        let call = Call::of(Name::StartRun)
            .with("prompt", prompt)
            .with("model", self.model)
            .with("max_retries", self.max_retries)
            .with("verify", verify)
            .with("files", (!files.is_empty()).then_some(files))
            .with("commit", self.commit.then_some(true))
            .with("dry_run", self.dry_run.then_some(true))
            .with("keep", self.keep.then_some(true))
            .with("workspace", workspace);
        Ok((call, self.json))
    }
}

/// Runs a task from start to end. Returns the exit code.
pub async fn run(task: RunTask, config: &Config, engines: &Registry, color: Color) -> io::Result<u8> {
    let json = task.json;
    let target = Target::new(None, config, engines).await?;
    let (call, _) = task.call(&target)?;
    let server = &target.server.announcement;
    let begun = client::call(server, &call, true, None).await?;
    let token = serde_json::from_str::<Value>(&begun.text).ok().and_then(|it| Some(it["run"].as_str()?.to_owned()));
    let Some(token) = token.filter(|_| begun.well) else {
        output::problem(&if json { begun.text } else { output::in_words(&begun.text) }, json, color)?;
        return Ok(FAILED);
    };
    complain(&format!("run {token} has begun"));
    let workspace = call.fields.get("workspace").cloned();
    let about = |name| Call::of(name).about(token.clone()).with("workspace", workspace.clone());
    let asked = about(Name::Run);
    let ended = tokio::select! {
        ended = follow(server, &asked) => Some(ended?),
        _ = tokio::signal::ctrl_c() => {
            complain("cancelling: its changes are taken back");
            client::call(server, &about(Name::CancelRun), true, None).await?;
            None
        }
    };
    let last = client::call(server, &about(Name::Run), json, None).await?;
    if last.well { output::answer(&last.text, json, color) } else { output::problem(&last.text, json, color) }?;
    Ok(match ended.as_ref().map(|it| it["state"].as_str()) {
        None | Some(Some("cancelled")) => INTERRUPTED,
        Some(Some("succeeded")) => 0,
        Some(_) => FAILED,
    })
}

/// Prints each step. Returns after the last one.
async fn follow(server: &Announcement, call: &Call) -> io::Result<Value> {
    let mut said = String::new();
    loop {
        let state = state(server, call).await?;
        let replies = state["attempts"].as_array().map_or(0, Vec::len);
        let step = match state["step"].as_str() {
            Some(step) => format!("[{}] {step}", replies + 1),
            None => String::new(),
        };
        if !step.is_empty() && step != said {
            complain(&step);
            said = step;
        }
        if state["state"] != "running" {
            return Ok(state);
        }
        tokio::time::sleep(PACE).await;
    }
}

async fn state(server: &Announcement, call: &Call) -> io::Result<Value> {
    let Said { well, text } = client::call(server, call, true, None).await?;
    if well { serde_json::from_str(&text).map_err(io::Error::other) } else { Err(io::Error::other(text)) }
}

/// If even this cannot be printed, nobody reads the output.
fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "semdex: {}", one_line(line));
}
