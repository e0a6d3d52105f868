//! The commands that send a request: each becomes one call to the server of the surrounding workspace.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;

use super::client::{self, Call};
use super::complaint::{Severity, complain};
use super::diagnostics::{self, DiagnosticsCommand};
use super::edit_commands::{EditText, OnConflict, Once, RenameSymbol, WriteText, words};
use super::explore::Explore;
use super::git::Commit;
use super::map::Map;
use super::output::{self, Color};
use super::overlay::Overlay;
use super::request_options::{FAILED, Limit, RequestOptions};
use super::run::{RunTask, Runs};
use super::short_lines::{Listing, short_lines};
use super::target::{self, Target};
use super::verify::{self, VerifyCode};
use super::workspaces::Workspaces;
use super::{progress, running_servers};
use semdex_config::Config;
use semdex_contract::{Name, Problem};
use semdex_engine::Registry;
use semdex_model::{Code, Error};

const EDIT_EXAMPLES: &str = "Examples:
  semdex edit src/lib.rs --search 'fn a()' --replace 'fn b()' --dry-run
  semdex edit --symbol Searcher::new --at body --replace 'todo!()'
  semdex edit < change.diff";

/// The commands that send a request. Each but `run` is one call to the server.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Show the lines that a question, an error or an issue is about.
    #[command(
        after_help = "Examples:\n  semdex explore 'why does --replace drop the newline'\n  cargo test 2>&1 | semdex explore -"
    )]
    Explore(Explore),
    /// Show a file: skeleton, symbols, dependencies and users.
    #[command(after_help = "Examples:\n  semdex open src/lib.rs\n  semdex open src/lib.rs --json --max-tokens 2000")]
    Open {
        /// The file to show.
        file: PathBuf,
        /// The common options.
        #[command(flatten)]
        common: RequestOptions,
    },
    /// Describe a symbol, a package or a file.
    #[command(after_help = "Examples:\n  semdex describe Searcher::new\n  semdex describe --package serde_json")]
    Describe {
        /// Path of the symbol; a unique short form is enough.
        #[arg(required_unless_present_any = ["file", "package"])]
        symbol: Option<String>,
        /// The file to describe; with a symbol, the file from which it is seen.
        #[arg(long)]
        file: Option<PathBuf>,
        /// The package to describe; with a symbol, the package that defines it.
        #[arg(long)]
        package: Option<String>,
        /// The limit.
        #[command(flatten)]
        limit: Limit,
        /// The common options.
        #[command(flatten)]
        common: RequestOptions,
    },
    /// Report what a change of a symbol would break, without making it.
    #[command(after_help = "Example:\n  semdex impact Searcher::new --change signature")]
    Impact {
        /// The kind of change.
        #[arg(long)]
        change: Alteration,
        /// The symbol.
        #[command(flatten)]
        about: About,
    },
    /// Replace one place, found by its text or its symbol.
    #[command(after_help = EDIT_EXAMPLES)]
    Edit(Box<EditText>),
    /// Write a text into a file.
    #[command(
        after_help = "Examples:\n  semdex write src/new.rs --mode create --declare < new.rs\n  semdex write notes.md --mode append --content 'one more line'"
    )]
    Write(WriteText),
    /// Take back one change, by its token, or a commit.
    #[command(
        after_help = "Examples:\n  semdex undo 01M8F1HQ9DYP0EY18TQ8C2MRY0\n  semdex undo --commit 9d0f1c7 --dry-run"
    )]
    Undo {
        /// Token of the change.
        #[arg(required_unless_present = "commit", conflicts_with = "commit")]
        change: Option<String>,
        /// Take back this commit, in a new commit.
        #[arg(long, value_name = "SHA")]
        commit: Option<String>,
        /// Report the result without changing anything.
        #[arg(long)]
        dry_run: bool,
        /// Whether the undo of a change whose files changed since is refused, or keeps the changes of others.
        #[arg(long)]
        on_conflict: Option<OnConflict>,
        /// The idempotency key.
        #[command(flatten)]
        once: Once,
        /// The common options.
        #[command(flatten)]
        common: RequestOptions,
    },
    /// Show the branch, the last commit, and the uncommitted files.
    #[command(after_help = "Example:\n  semdex git")]
    Git {
        /// The limit.
        #[command(flatten)]
        limit: Limit,
        /// The common options.
        #[command(flatten)]
        common: RequestOptions,
    },
    /// Commit the files of changes, and other files, and nothing else.
    #[command(
        after_help = "Examples:\n  semdex commit --change 01M8F1HQ9DYP0EY18TQ8C2MRY0\n  semdex commit --file src/lib.rs --message 'Take a path'"
    )]
    Commit(Commit),
    /// List the changes, newest first.
    #[command(after_help = "Examples:\n  semdex changes\n  semdex changes src/lib.rs --diff --limit 1")]
    Changes {
        /// Only changes of this file.
        file: Option<PathBuf>,
        /// Include what each change altered.
        #[arg(long)]
        diff: bool,
        /// The limit.
        #[command(flatten)]
        limit: Limit,
        /// The common options.
        #[command(flatten)]
        common: RequestOptions,
    },
    /// Rename a symbol everywhere.
    #[command(after_help = "Example:\n  semdex rename Searcher::new create --dry-run")]
    Rename(RenameSymbol),
    /// Manage content that is not on the disk, which every answer sees.
    #[command(subcommand)]
    Overlay(Overlay),
    /// Find symbols by a part of their name, or list the symbols of a file.
    #[command(after_help = "Examples:\n  semdex symbols srchr\n  semdex symbols --file src/lib.rs --format short")]
    Symbols {
        /// Part of a name.
        #[arg(required_unless_present = "file", conflicts_with = "file")]
        query: Option<String>,
        /// File whose symbols are listed.
        #[arg(long)]
        file: Option<PathBuf>,
        /// The format.
        #[command(flatten)]
        listing: Listing,
        /// The limit.
        #[command(flatten)]
        limit: Limit,
        /// The common options.
        #[command(flatten)]
        common: RequestOptions,
    },
    /// Describe what is at a position.
    #[command(after_help = "Example:\n  semdex symbol-at src/lib.rs --line 12 --column 9")]
    SymbolAt {
        /// File of the position.
        file: PathBuf,
        /// Offset in bytes, from 0.
        #[arg(long, required_unless_present = "line", conflicts_with_all = ["line", "column"])]
        offset: Option<usize>,
        /// Line, from 1.
        #[arg(long, requires = "column")]
        line: Option<usize>,
        /// Column in bytes, from 1.
        #[arg(long, requires = "line")]
        column: Option<usize>,
        /// The common options.
        #[command(flatten)]
        common: RequestOptions,
    },
    /// List the usages of a symbol.
    #[command(
        after_help = "Examples:\n  semdex usages Searcher::new\n  vim -q <(semdex usages Searcher::new --format short)"
    )]
    Usages(Uses),
    /// List the callers of a symbol.
    #[command(after_help = "Example:\n  semdex callers Searcher::new")]
    Callers(Uses),
    /// List the callees of a symbol.
    #[command(after_help = "Example:\n  semdex callees Searcher::new")]
    Callees(Related),
    /// List the implementations of a symbol.
    #[command(after_help = "Example:\n  semdex implementations Matcher")]
    Implementations(Related),
    /// Diagnostics, baselines, the gate and statistics.
    #[command(flatten)]
    Diagnostics(DiagnosticsCommand),
    /// Let a model carry out a task, and wait for its end.
    #[command(
        after_help = "Example:\n  semdex run 'give Searcher::new a parameter for the size of its buffer' --commit"
    )]
    Run(RunTask),
    /// Show runs of a model, and cancel them.
    #[command(subcommand)]
    Runs(Runs),
    /// Show the most important symbols, within a budget.
    #[command(
        after_help = "Examples:\n  semdex map --max-tokens 4000\n  semdex map --focus src/lib.rs --query 'line endings'"
    )]
    Map(Map),
    /// Run the compiler, the linter or the tests; exit with 1 if they fail.
    #[command(
        after_help = "Examples:\n  semdex verify check\n  semdex verify test --change 01M8F1HQ9DYP0EY18TQ8C2MRY0"
    )]
    Verify(VerifyCode),
    /// Show the state of the server and its workspaces.
    #[command(after_help = "Example:\n  semdex status")]
    Status {
        /// Print JSON instead of Markdown.
        #[arg(long)]
        json: bool,
    },
    /// Check whether the server is alive.
    #[command(after_help = "Example:\n  semdex health")]
    Health {
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// List, open and close the server's workspaces.
    #[command(subcommand)]
    Workspaces(Workspaces),
}

/// One symbol, by its path or by a shorter name that a file or package narrows.
#[derive(Debug, Args)]
pub struct About {
    /// Path of the symbol; a unique short form is enough.
    symbol: String,
    /// The file from which a short name is seen.
    #[arg(long)]
    file: Option<PathBuf>,
    /// The package that defines the symbol.
    #[arg(long)]
    package: Option<String>,
    #[command(flatten)]
    listing: Listing,
    #[command(flatten)]
    common: RequestOptions,
}

/// A symbol whose relations are listed.
#[derive(Debug, Args)]
pub struct Related {
    #[command(flatten)]
    about: About,
    #[command(flatten)]
    limit: Limit,
}

/// A symbol and the builds that may name it.
#[derive(Debug, Args)]
pub struct Uses {
    #[command(flatten)]
    related: Related,
    /// One build alone: its name in a reply, or `default`. [default: all builds]
    #[arg(long)]
    build: Option<String>,
}

words! {
    pub Alteration { Remove, Rename, Signature, Visibility }
}

/// Runs a command and prints the server's reply: an answer on standard output, a problem on standard error. Returns the
/// exit code.
pub async fn run(verb: Verb, config: &Config, engines: &Registry, color: Color) -> io::Result<u8> {
    let json = verb.is_json();
    let is_gate = matches!(verb, Verb::Diagnostics(DiagnosticsCommand::Gate(_)));
    let is_verify = matches!(verb, Verb::Verify(_));
    let is_short = verb.is_short();
    let said = match ask(verb, config, engines).await {
        Ok((root, said)) if is_short && said.well => return print_short(&said.text, &root, color),
        // The reply was requested as JSON, to be read before it is printed.
        Ok((_, said)) if is_short => {
            return output::problem(&output::in_words(&said.text), false, color).map(|()| FAILED);
        }
        Ok((_, said)) => said,
        // With `--json`, errors are JSON, whatever their source.
        Err(error) if json => client::Said { well: false, text: problem(&error) },
        Err(error) => return Err(error),
    };
    match said.well {
        true if is_gate => diagnostics::verdict(&said.text, json, color),
        true => {
            output::answer(&said.text, json, color)?;
            Ok(if is_verify && verify::has_failed(&said.text, json) { FAILED } else { 0 })
        }
        // The reply was requested as JSON, to be read before it is printed.
        false if is_gate && !json => output::problem(&output::in_words(&said.text), json, color).map(|()| FAILED),
        false => output::problem(&said.text, json, color).map(|()| FAILED),
    }
}

/// Prints a line for each place of a JSON reply. What is missing is on standard error.
fn print_short(reply: &str, root: &Path, color: Color) -> io::Result<u8> {
    let reply: Value = serde_json::from_str(reply)?;
    let (lines, doubts) = short_lines(&reply, root, &std::env::current_dir()?);
    if !lines.is_empty() {
        output::answer(&lines, false, Color::Never)?;
    }
    for doubt in doubts {
        complain(Severity::Warning, &format!("incomplete, {doubt}"), color);
    }
    if let Some(cursor) = reply["next_cursor"].as_str() {
        complain(Severity::Warning, &format!("there is more: `--cursor {cursor}`"), color);
    }
    Ok(0)
}

/// The root of the workspace, and what its server says.
async fn ask(verb: Verb, config: &Config, engines: &Registry) -> io::Result<(PathBuf, client::Said)> {
    let target = match &verb {
        Verb::Status { .. } | Verb::Health { .. } => Target::running(config, engines)?,
        _ => Target::new(verb.file(), config, engines).await?,
    };
    let wants_json = verb.is_json() || verb.is_short();
    let (call, json) = verb.call(&target)?;
    let announcement = &target.server.announcement;
    let said =
        progress::during(announcement, &call, client::call(announcement, &call, json || wants_json, None)).await?;
    Ok((target.root, said))
}

/// An error of this program in the form of the server's problems.
fn problem(error: &io::Error) -> String {
    let code = match error.kind() {
        _ if running_servers::is_refused(error) => Code::ForbiddenRoot,
        _ if target::is_no_server(error) => Code::UnknownWorkspace,
        io::ErrorKind::NotFound => Code::UnknownFile,
        io::ErrorKind::PermissionDenied => Code::OutsideWorkspace,
        io::ErrorKind::InvalidInput => Code::InvalidRequest,
        _ => Code::Internal,
    };
    serde_json::to_string(&Problem::new(Error::new(code, error.to_string()))).unwrap_or_default()
}

impl Verb {
    /// The file that determines the workspace.
    fn file(&self) -> Option<&Path> {
        match self {
            Verb::Open { file, .. } | Verb::SymbolAt { file, .. } => Some(file),
            Verb::Write(WriteText { file, .. }) => Some(file),
            Verb::Overlay(overlay) => overlay.file(),
            Verb::Diagnostics(command) => command.file(),
            Verb::Commit(commit) => commit.file(),
            Verb::Edit(edit) => edit.file.as_deref(),
            Verb::Rename(RenameSymbol { file, .. })
            | Verb::Describe { file, .. }
            | Verb::Symbols { file, .. }
            | Verb::Impact { about: About { file, .. }, .. }
            | Verb::Usages(Uses { related: Related { about: About { file, .. }, .. }, .. })
            | Verb::Callers(Uses { related: Related { about: About { file, .. }, .. }, .. })
            | Verb::Callees(Related { about: About { file, .. }, .. })
            | Verb::Implementations(Related { about: About { file, .. }, .. })
            | Verb::Changes { file, .. } => file.as_deref(),
            Verb::Map(_)
            | Verb::Explore(_)
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
            Verb::Diagnostics(command) => command.is_json(),
            Verb::Commit(commit) => commit.common().json,
            Verb::Edit(edit) => edit.common.json,
            Verb::Open { common, .. }
            | Verb::Describe { common, .. }
            | Verb::Undo { common, .. }
            | Verb::Git { common, .. }
            | Verb::Changes { common, .. }
            | Verb::Map(Map { common, .. })
            | Verb::Explore(Explore { common, .. })
            | Verb::SymbolAt { common, .. }
            | Verb::Write(WriteText { common, .. })
            | Verb::Rename(RenameSymbol { common, .. })
            | Verb::Verify(VerifyCode { common, .. }) => common.json,
            Verb::Symbols { listing, common, .. }
            | Verb::Impact { about: About { listing, common, .. }, .. }
            | Verb::Usages(Uses { related: Related { about: About { listing, common, .. }, .. }, .. })
            | Verb::Callers(Uses { related: Related { about: About { listing, common, .. }, .. }, .. })
            | Verb::Callees(Related { about: About { listing, common, .. }, .. })
            | Verb::Implementations(Related { about: About { listing, common, .. }, .. }) => {
                common.json || listing.is_json()
            }
        }
    }

    /// Whether each place is wanted as one line.
    fn is_short(&self) -> bool {
        match self {
            Verb::Symbols { listing, .. }
            | Verb::Impact { about: About { listing, .. }, .. }
            | Verb::Usages(Uses { related: Related { about: About { listing, .. }, .. }, .. })
            | Verb::Callers(Uses { related: Related { about: About { listing, .. }, .. }, .. })
            | Verb::Callees(Related { about: About { listing, .. }, .. })
            | Verb::Implementations(Related { about: About { listing, .. }, .. }) => listing.is_short(),
            Verb::Diagnostics(command) => command.is_short(),
            _ => false,
        }
    }

    /// The call, and whether its answer is wanted as JSON.
    fn call(self, target: &Target) -> io::Result<(Call, bool)> {
        let (call, common) = match self {
            Verb::Open { file, common } => (Call::of(Name::Open).with("file", Some(target.name(&file)?)), common),
            Verb::Describe { symbol, file, package, limit, common } => {
                let file = target.maybe(file.as_ref())?;
                let call = Call::of(Name::Describe).with("symbol", symbol).with("package", package);
                (limit.over(call.with("file", file)), common)
            }
            Verb::Impact { change, about } => {
                let (call, common) = about.over(Call::of(Name::Impact), target)?;
                (call.with("change", Some(change.word())), common)
            }
            Verb::Edit(edit) => edit.call(target)?,
            Verb::Write(write) => write.call(target)?,
            Verb::Undo { change, commit, dry_run, on_conflict, once, common } => {
                let call = Call::of(Name::Undo).with("change", change).with("commit", commit);
                let call = call.with("on_conflict", on_conflict.map(OnConflict::word));
                (once.over(call.with("dry_run", dry_run.then_some(true))), common)
            }
            Verb::Changes { file, diff, limit, common } => {
                let call = limit.over(Call::of(Name::Changes).with("file", target.maybe(file.as_ref())?));
                (call.with("diff", diff.then_some(true)), common)
            }
            Verb::Git { limit, common } => (limit.over(Call::of(Name::Git)), common),
            Verb::Commit(commit) => commit.call(target)?,
            Verb::Rename(rename) => rename.call(target)?,
            Verb::Overlay(overlay) => overlay.call(target)?,
            Verb::Symbols { query, file, limit, common, .. } => {
                let file = target.maybe(file.as_ref())?;
                (limit.over(Call::of(Name::Symbols).with("query", query).with("file", file)), common)
            }
            Verb::SymbolAt { file, offset, line, column, common } => {
                let call = Call::of(Name::SymbolAt).with("file", Some(target.name(&file)?));
                (call.with("offset", offset).with("line", line).with("column", column), common)
            }
            Verb::Usages(uses) => uses.over(Call::of(Name::Usages), target)?,
            Verb::Callers(uses) => uses.over(Call::of(Name::Callers), target)?,
            Verb::Callees(related) => related.over(Call::of(Name::Callees), target)?,
            Verb::Implementations(related) => related.over(Call::of(Name::Implementations), target)?,
            Verb::Diagnostics(command) => return command.call(target),
            Verb::Run(task) => return task.call(target),
            Verb::Runs(runs) => runs.call(),
            Verb::Map(map) => map.call(target)?,
            Verb::Explore(explore) => explore.call(target)?,
            Verb::Verify(verify) => verify.call(),
            Verb::Status { json } => return Ok((Call::of(Name::Status), json)),
            Verb::Health { json } => return Ok((Call::of(Name::Health), json)),
            Verb::Workspaces(workspaces) => return workspaces.call(),
        };
        let json = common.json;
        Ok((common.over(call, target), json))
    }
}

impl About {
    fn over(self, call: Call, target: &Target) -> io::Result<(Call, RequestOptions)> {
        let file = target.maybe(self.file.as_ref())?;
        let call = call.with("symbol", Some(self.symbol)).with("file", file).with("package", self.package);
        Ok((call, self.common))
    }
}

impl Related {
    fn over(self, call: Call, target: &Target) -> io::Result<(Call, RequestOptions)> {
        self.about.over(self.limit.over(call), target)
    }
}

impl Uses {
    fn over(self, call: Call, target: &Target) -> io::Result<(Call, RequestOptions)> {
        self.related.over(call.with("build", self.build), target)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::running_servers::Running;
    use crate::{Announcement, Arguments, Command};
    use semdex_contract::CALLS;

    /// Each command with all its options.
    const LINES: &[&str] = &[
        "open a.rs",
        "explore why is it so --focus a.rs --focus a::b --tests full --seen repeat --session s --max-tokens 9",
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
        "usages a::b --file a.rs --package a --build default",
        "callers a::b --build default",
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
        let (listening, version) = (String::new(), String::new());
        let announcement = Announcement { listening, token_file: None, socket: None, pid: 0, version };
        let root = std::env::current_dir().unwrap();
        let target = Target { server: Running { announcement, roots: vec![root.clone()] }, root };
        let mut said = Vec::new();
        for line in LINES {
            let words = ["semdex"].into_iter().chain(line.split_whitespace());
            let Command::Verb(verb) = Arguments::try_parse_from(words).unwrap().command else { panic!("{line}") };
            let (call, _) = verb.call(&target).unwrap();
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
