//! `semdex run`: a run from its start to its end, with what it does on standard error. An interrupt cancels it.

use std::io::{self, Write};
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::changes::text;
use super::client::{self, Call, Said};
use super::common::{Common, FAILED};
use super::here::Here;
use super::print::{self, Color};
use super::servers::Announcement;
use super::verify::Kind;
use semdex_config::Config;
use semdex_contract::Name;
use semdex_engine::Registry;
use semdex_text::visible::one_line;

const INTERRUPTED: u8 = 130;
/// How often it is asked how far it is.
const PACE: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub struct RunTask {
    /// What is to be done, in plain words; `-` is standard input.
    #[arg(required = true, value_name = "PROMPT")]
    prompt: Vec<String>,
    /// The model, by its id in Bedrock.
    #[arg(long)]
    model: Option<String>,
    /// How often the model may try again.
    #[arg(long, value_name = "COUNT")]
    max_retries: Option<u32>,
    /// What has to succeed; may be repeated. Default: check and test.
    #[arg(long, value_name = "KIND", conflicts_with = "no_verify")]
    verify: Vec<Kind>,
    /// Verify nothing.
    #[arg(long)]
    no_verify: bool,
    /// A file that the model is to see in full; may be repeated.
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<std::path::PathBuf>,
    /// Commit what has changed, if it succeeds.
    #[arg(long)]
    commit: bool,
    /// Show the first edits that fit, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Leave the edits of a run that fails.
    #[arg(long)]
    keep: bool,
    /// JSON instead of Markdown.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
pub enum Runs {
    /// Tells how far a run is, and what came of it.
    Show {
        run: String,
        #[command(flatten)]
        common: Common,
    },
    /// Ends a run, and takes its changes back.
    Cancel {
        run: String,
        #[command(flatten)]
        common: Common,
    },
}

impl Runs {
    pub(super) fn is_json(&self) -> bool {
        let (Runs::Show { common, .. } | Runs::Cancel { common, .. }) = self;
        common.json
    }

    pub(super) fn call(self) -> (Call, Common) {
        match self {
            Runs::Show { run, common } => (Call::of(Name::Run).about(run), common),
            Runs::Cancel { run, common } => (Call::of(Name::CancelRun).about(run), common),
        }
    }
}

impl RunTask {
    /// The call that starts it.
    pub(super) fn call(self, here: &Here) -> io::Result<(Call, bool)> {
        let prompt = match self.prompt.as_slice() {
            [only] if only == "-" => text(None, Some("-".into()))?,
            words => Some(words.join(" ")),
        };
        let kinds = self.verify.iter().map(|it| it.name());
        let verify = (self.no_verify || !self.verify.is_empty()).then(|| Value::from_iter(kinds));
        let files = self.files.iter().map(|it| here.name(it)).collect::<io::Result<Vec<String>>>()?;
        let workspace = here.server.roots.contains(&here.root).then(|| here.root.to_string_lossy().into_owned());
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

/// A run from its start to its end. Answers with the code that the process ends with.
pub async fn run(task: RunTask, config: &Config, engines: &Registry, color: Color) -> io::Result<u8> {
    let json = task.json;
    let here = Here::new(None, config, engines).await?;
    let (call, _) = task.call(&here)?;
    let server = &here.server.announcement;
    let begun = client::call(server, &call, true, None).await?;
    let token = serde_json::from_str::<Value>(&begun.text).ok().and_then(|it| Some(it["run"].as_str()?.to_owned()));
    let Some(token) = token.filter(|_| begun.well) else {
        print::problem(&if json { begun.text } else { print::in_words(&begun.text) }, json, color)?;
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
    if last.well { print::answer(&last.text, json, color) } else { print::problem(&last.text, json, color) }?;
    Ok(match ended.as_ref().map(|it| it["state"].as_str()) {
        None | Some(Some("cancelled")) => INTERRUPTED,
        Some(Some("succeeded")) => 0,
        Some(_) => FAILED,
    })
}

/// Says each step, and returns when there is no further one.
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

/// Nobody is left to be notified where even this cannot be printed.
fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "semdex: {}", one_line(line));
}
