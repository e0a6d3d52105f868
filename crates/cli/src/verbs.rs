//! The verbs on the command line: each becomes one call to the server of the workspace around it.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::changes::{EditText, RenameSymbol, WriteText, words};
use super::client::{self, Call};
use super::common::{Common, FAILED};
use super::git::Commit;
use super::here::Here;
use super::map::Map;
use super::overlay::Overlay;
use super::print::{self, Color};
use super::run::{RunTask, Runs};
use super::verify::{self, VerifyCode};
use super::watched::{self, Watched};
use super::workspaces::Workspaces;
use super::{progress, servers};
use semdex_config::Config;
use semdex_contract::{Name, Problem};
use semdex_engine::Registry;
use semdex_model::{Code, Error};

/// The verbs of the command line; each but `run` is one call to the server.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Shows a file: skeleton, symbols, what it uses and who uses it.
    Open {
        /// The file to show.
        file: PathBuf,
        /// What all verbs take.
        #[command(flatten)]
        common: Common,
    },
    /// Tells all about a symbol; without one, about a package or a file.
    Describe {
        /// Its path; a shorter one is taken where it is unique.
        #[arg(required_unless_present_any = ["file", "package"])]
        symbol: Option<String>,
        /// The file to describe; beside a symbol, the file that it is seen from.
        #[arg(long)]
        file: Option<PathBuf>,
        /// The package to describe; beside a symbol, the one that defines it.
        #[arg(long)]
        package: Option<String>,
        /// What all verbs take.
        #[command(flatten)]
        common: Common,
    },
    /// Tells what a change of a symbol would break, without making it.
    Impact {
        /// What would be done to the symbol.
        #[arg(long)]
        change: Alteration,
        /// The symbol.
        #[command(flatten)]
        about: About,
    },
    /// Replaces one place, found by its text or by its symbol.
    Edit(EditText),
    /// Writes a text into a file.
    Write(WriteText),
    /// Takes back one change, by the token that it was answered with, or a commit.
    Undo {
        /// The token of the change.
        #[arg(required_unless_present = "commit", conflicts_with = "commit")]
        change: Option<String>,
        /// What this commit did is taken back, and that is committed.
        #[arg(long, value_name = "SHA")]
        commit: Option<String>,
        /// Tell the same, but change nothing.
        #[arg(long)]
        dry_run: bool,
        /// What all verbs take.
        #[command(flatten)]
        common: Common,
    },
    /// Tells the branch, the last commit, and which files are not committed.
    Git {
        /// What all verbs take.
        #[command(flatten)]
        common: Common,
    },
    /// Commits the files of changes, and others, and nothing else.
    Commit(Commit),
    /// Lists the changes that were made, the newest first.
    Changes {
        /// Only those of this file.
        file: Option<PathBuf>,
        /// With what each changed.
        #[arg(long)]
        diff: bool,
        /// What all verbs take.
        #[command(flatten)]
        common: Common,
    },
    /// Gives a symbol another name, everywhere at once.
    Rename(RenameSymbol),
    /// Content that is not on the disk, seen by every answer.
    #[command(subcommand)]
    Overlay(Overlay),
    /// Finds symbols by a part of their name, or lists those of a file.
    Symbols {
        /// A part of a name.
        #[arg(required_unless_present = "file", conflicts_with = "file")]
        query: Option<String>,
        /// The file whose symbols are listed.
        #[arg(long)]
        file: Option<PathBuf>,
        /// What all verbs take.
        #[command(flatten)]
        common: Common,
    },
    /// Tells what stands at a position.
    SymbolAt {
        /// The file with the position.
        file: PathBuf,
        /// In bytes, from 0.
        #[arg(long, required_unless_present = "line", conflicts_with_all = ["line", "column"])]
        offset: Option<usize>,
        /// From 1.
        #[arg(long, requires = "column")]
        line: Option<usize>,
        /// In bytes, from 1.
        #[arg(long, requires = "line")]
        column: Option<usize>,
        /// What all verbs take.
        #[command(flatten)]
        common: Common,
    },
    /// Lists who uses a symbol.
    Usages(About),
    /// Lists who calls a symbol.
    Callers(About),
    /// Lists what a symbol calls.
    Callees(About),
    /// Lists what implements a symbol.
    Implementations(About),
    /// What watches over the workspace: diagnostics, baselines, the gate.
    #[command(flatten)]
    Watched(Watched),
    /// Has a model carry out a task, and waits for its end.
    Run(RunTask),
    /// Looks at runs of a model, and ends them.
    #[command(subcommand)]
    Runs(Runs),
    /// Shows the most important symbols, as many as there is room for.
    Map(Map),
    /// Runs the compiler, the linter or the tests; exits with 1 where that fails.
    Verify(VerifyCode),
    /// Tells how the server and its workspaces are doing.
    Status {
        /// JSON instead of Markdown.
        #[arg(long)]
        json: bool,
    },
    /// Tells whether the server lives.
    Health {
        /// JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Lists, opens and closes the server's workspaces.
    #[command(subcommand)]
    Workspaces(Workspaces),
}

/// One symbol, by its path or by a shorter name that a file or package narrows.
#[derive(Debug, Args)]
pub struct About {
    symbol: String,
    #[arg(long)]
    file: Option<PathBuf>,
    #[arg(long)]
    package: Option<String>,
    #[command(flatten)]
    common: Common,
}

words! {
    pub Alteration { Remove, Rename, Signature, Visibility }
}

/// Carries a verb out and prints what the server says: the answer on standard output, a problem on standard error.
/// Answers with what the process ends with.
pub async fn run(verb: Verb, config: &Config, engines: &Registry, color: Color) -> io::Result<u8> {
    let json = verb.is_json();
    let is_gate = matches!(verb, Verb::Watched(Watched::Gate(_)));
    let is_verify = matches!(verb, Verb::Verify(_));
    let said = match ask(verb, config, engines).await {
        Ok(said) => said,
        // With `--json` what went wrong is JSON, whoever says it.
        Err(error) if json => client::Said { well: false, text: problem(&error) },
        Err(error) => return Err(error),
    };
    match said.well {
        true if is_gate => watched::verdict(&said.text, json, color),
        true => {
            print::answer(&said.text, json, color)?;
            Ok(if is_verify && verify::has_failed(&said.text, json) { FAILED } else { 0 })
        }
        // It was asked for JSON, to be read before it is printed.
        false if is_gate && !json => print::problem(&print::in_words(&said.text), json, color).map(|()| FAILED),
        false => print::problem(&said.text, json, color).map(|()| FAILED),
    }
}

async fn ask(verb: Verb, config: &Config, engines: &Registry) -> io::Result<client::Said> {
    let here = Here::new(verb.file(), config, engines).await?;
    let (call, json) = verb.call(&here)?;
    let announcement = &here.server.announcement;
    progress::during(announcement, &call, client::call(announcement, &call, json, None)).await
}

/// An error of this program as the server would tell it.
fn problem(error: &io::Error) -> String {
    let code = match error.kind() {
        _ if servers::is_refused(error) => Code::ForbiddenRoot,
        io::ErrorKind::NotFound => Code::UnknownFile,
        io::ErrorKind::PermissionDenied => Code::OutsideWorkspace,
        io::ErrorKind::InvalidInput => Code::InvalidRequest,
        _ => Code::Internal,
    };
    serde_json::to_string(&Problem::new(Error::new(code, error.to_string()))).unwrap_or_default()
}

impl Verb {
    /// The file that tells which workspace is meant.
    fn file(&self) -> Option<&Path> {
        match self {
            Verb::Open { file, .. } | Verb::SymbolAt { file, .. } => Some(file),
            Verb::Write(WriteText { file, .. }) => Some(file),
            Verb::Overlay(overlay) => overlay.file(),
            Verb::Watched(watched) => watched.file(),
            Verb::Commit(commit) => commit.file(),
            Verb::Edit(EditText { file, .. })
            | Verb::Rename(RenameSymbol { file, .. })
            | Verb::Describe { file, .. }
            | Verb::Symbols { file, .. }
            | Verb::Impact { about: About { file, .. }, .. }
            | Verb::Usages(About { file, .. })
            | Verb::Callers(About { file, .. })
            | Verb::Callees(About { file, .. })
            | Verb::Implementations(About { file, .. })
            | Verb::Changes { file, .. } => file.as_deref(),
            Verb::Map(_)
            | Verb::Verify(_)
            | Verb::Run(_)
            | Verb::Runs(_)
            | Verb::Undo { .. }
            | Verb::Git { .. }
            | Verb::Status { .. }
            | Verb::Health { .. }
            | Verb::Workspaces(_) => None,
        }
    }

    /// Whether the answer is wanted as JSON.
    fn is_json(&self) -> bool {
        match self {
            Verb::Status { json } | Verb::Health { json } => *json,
            Verb::Run(task) => task.json,
            Verb::Runs(runs) => runs.is_json(),
            Verb::Workspaces(workspaces) => workspaces.is_json(),
            Verb::Overlay(overlay) => overlay.common().json,
            Verb::Watched(watched) => watched.is_json(),
            Verb::Commit(commit) => commit.common().json,
            Verb::Open { common, .. }
            | Verb::Describe { common, .. }
            | Verb::Undo { common, .. }
            | Verb::Git { common }
            | Verb::Changes { common, .. }
            | Verb::Map(Map { common, .. })
            | Verb::Symbols { common, .. }
            | Verb::SymbolAt { common, .. }
            | Verb::Edit(EditText { common, .. })
            | Verb::Write(WriteText { common, .. })
            | Verb::Rename(RenameSymbol { common, .. })
            | Verb::Verify(VerifyCode { common, .. })
            | Verb::Impact { about: About { common, .. }, .. }
            | Verb::Usages(About { common, .. })
            | Verb::Callers(About { common, .. })
            | Verb::Callees(About { common, .. })
            | Verb::Implementations(About { common, .. }) => common.json,
        }
    }

    /// The call, and whether its answer is wanted as JSON.
    fn call(self, here: &Here) -> io::Result<(Call, bool)> {
        let (call, common) = match self {
            Verb::Open { file, common } => (Call::of(Name::Open).with("file", Some(here.name(&file)?)), common),
            Verb::Describe { symbol, file, package, common } => {
                let file = here.maybe(file.as_ref())?;
                (Call::of(Name::Describe).with("symbol", symbol).with("package", package).with("file", file), common)
            }
            Verb::Impact { change, about } => {
                let (call, common) = about.over(Call::of(Name::Impact), here)?;
                (call.with("change", Some(change.word())), common)
            }
            Verb::Edit(edit) => edit.call(here)?,
            Verb::Write(write) => write.call(here)?,
            Verb::Undo { change, commit, dry_run, common } => {
                let call = Call::of(Name::Undo).with("change", change).with("commit", commit);
                (call.with("dry_run", dry_run.then_some(true)), common)
            }
            Verb::Changes { file, diff, common } => {
                let call = Call::of(Name::Changes).with("file", here.maybe(file.as_ref())?);
                (call.with("diff", diff.then_some(true)), common)
            }
            Verb::Git { common } => (Call::of(Name::Git), common),
            Verb::Commit(commit) => commit.call(here)?,
            Verb::Rename(rename) => rename.call(here)?,
            Verb::Overlay(overlay) => overlay.call(here)?,
            Verb::Symbols { query, file, common } => {
                let file = here.maybe(file.as_ref())?;
                (Call::of(Name::Symbols).with("query", query).with("file", file), common)
            }
            Verb::SymbolAt { file, offset, line, column, common } => {
                let call = Call::of(Name::SymbolAt).with("file", Some(here.name(&file)?));
                (call.with("offset", offset).with("line", line).with("column", column), common)
            }
            Verb::Usages(about) => about.over(Call::of(Name::Usages), here)?,
            Verb::Callers(about) => about.over(Call::of(Name::Callers), here)?,
            Verb::Callees(about) => about.over(Call::of(Name::Callees), here)?,
            Verb::Implementations(about) => about.over(Call::of(Name::Implementations), here)?,
            Verb::Watched(watched) => return watched.call(here),
            Verb::Run(task) => return task.call(here),
            Verb::Runs(runs) => runs.call(),
            Verb::Map(map) => map.call(here)?,
            Verb::Verify(verify) => verify.call(),
            Verb::Status { json } => return Ok((Call::of(Name::Status), json)),
            Verb::Health { json } => return Ok((Call::of(Name::Health), json)),
            Verb::Workspaces(workspaces) => return workspaces.call(),
        };
        let json = common.json;
        Ok((common.over(call, here), json))
    }
}

impl About {
    fn over(self, call: Call, here: &Here) -> io::Result<(Call, Common)> {
        let file = here.maybe(self.file.as_ref())?;
        let call = call.with("symbol", Some(self.symbol)).with("file", file).with("package", self.package);
        Ok((call, self.common))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::servers::Running;
    use crate::{Announcement, Arguments, Command};
    use semdex_contract::CALLS;

    /// Each verb with all that may be said with it.
    const LINES: &[&str] = &[
        "open a.rs",
        "describe a::b --file a.rs --package a",
        "impact a::b --change remove --file a.rs --package a",
        "edit a.rs --search x --replace y --autofix 90 --near-line 1 --expected-hash h --format --fix-imports --dry-run \
         --on-break reject",
        "edit --symbol a::b --package a --at body --replace y",
        "write a.rs --content x --mode create --expected-hash h --declare --format --fix-imports --dry-run",
        "undo 01 --dry-run",
        "undo --commit abcd --dry-run",
        "git",
        "commit --change 01 --change 02 --file a.rs --message x --author y --dirty commit_first",
        "changes a.rs --diff",
        "rename a::b c --file a.rs --package a --dry-run --on-break report",
        "edit --fix a --expected-hash h",
        "overlay put a.rs --content x --ttl 9 --edits overlay",
        "overlay list",
        "overlay delete a.rs",
        "symbols a --wait-ms 9 --min-revision 9 --max-tokens 9 --limit 9 --cursor c",
        "symbols --file a.rs",
        "symbol-at a.rs --offset 3",
        "symbol-at a.rs --line 3 --column 4",
        "usages a::b --file a.rs --package a",
        "callers a::b",
        "callees a::b",
        "implementations a::b",
        "diagnostics a.rs --severity error,warning --source rustc --fixes --max 9 --format sarif",
        "baseline a.rs b.rs",
        "regressions a.rs",
        "gate --max-errors 1 --max-warnings 2 --block-on-error=false --block-on-warning --new-only",
        "stats --session s",
        "run make it so --model m --max-retries 1 --verify check --verify lint --file a.rs --commit --dry-run --keep",
        "runs show 01",
        "runs cancel 01",
        "map --focus a.rs --focus a::b --query words --max-tokens 9",
        "verify test --package a --package b --test t --change 01 --timeout-ms 9",
        "status",
        "health",
        "workspaces list",
        "workspaces open .",
        "workspaces close a",
    ];

    #[test]
    fn each_call_has_a_verb_that_says_only_what_the_call_takes() {
        let announcement = Announcement { listening: String::new(), token_file: None, pid: 0, version: String::new() };
        let root = std::env::current_dir().unwrap();
        let here = Here { server: Running { announcement, roots: vec![root.clone()] }, root };
        let mut said = Vec::new();
        for line in LINES {
            let words = ["semdex"].into_iter().chain(line.split_whitespace());
            let Command::Verb(verb) = Arguments::try_parse_from(words).unwrap().command else { panic!("{line}") };
            let (call, _) = verb.call(&here).unwrap();
            let known = call.name.call().fields();
            let unknown: Vec<_> = call.fields.keys().filter(|it| !known.contains(it)).collect();
            assert!(unknown.is_empty(), "{line}: {unknown:?}");
            said.push(call.name.call().name);
        }
        for call in CALLS {
            assert!(said.contains(&call.name), "nothing on the command line makes the call `{}`", call.name);
        }
    }
}
