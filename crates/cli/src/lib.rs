//! The command line: the declarations of all commands, and the commands that are clients of a running server.

mod backup;
mod cache;
mod client;
mod complaint;
mod connection;
mod diagnostics;
mod doctor;
mod edit_commands;
mod events;
mod explore;
mod generate;
mod git;
mod hook;
mod init;
mod map;
mod mcp;
mod output;
mod overlay;
mod progress;
mod request_commands;
mod request_options;
mod run;
mod running_servers;
mod settings;
mod short_lines;
mod stop;
mod target;
mod token;
mod trees;
mod verify;
mod workspaces;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use backup::backup;
pub use cache::{CacheCommand, cache};
pub use complaint::{Severity, complain, usage};
pub use doctor::{Doctor, doctor};
pub use events::follow;
pub use hook::hook;
pub use init::init;
pub use mcp::serve as serve_mcp;
pub use output::{Color, errors, output};
pub use request_commands::{Verb, run};
pub use run::run as run_task;
pub use running_servers::{Announcement, Registered, register};
pub use stop::{restart, stop};

use semdex_config::{ConfigError, DEFAULT_LISTEN, DEFAULT_LOG, Listen};

/// A type-aware code knowledge service: a compiler-grade index of a workspace, always equal to the disk.
#[derive(Debug, Parser)]
#[command(name = "semdex", version, arg_required_else_help = true)]
pub struct Arguments {
    /// When to print in colours.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Color,
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands of semdex.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve workspaces until the process is ended.
    #[command(
        after_help = "Examples:\n  semdex serve --trust path/to/project\n  semdex serve --listen unix:/tmp/semdex.sock"
    )]
    Serve(Serve),
    /// Print the token of the HTTP interface, or one that allows less.
    #[command(after_help = "Examples:\n  semdex token\n  semdex token --read --workspace .")]
    Token(token::PrintToken),
    /// Trust a directory: allow its build scripts, proc macros and toolchain to run.
    #[command(after_help = "Examples:\n  semdex trust .\n  semdex trust . --revoke")]
    Trust {
        /// The directory; all directories below it are included.
        path: PathBuf,
        /// Withdraw the trust.
        #[arg(long)]
        revoke: bool,
    },
    /// Print the effective settings, and where each comes from.
    #[command(after_help = "Example:\n  semdex config")]
    Config(settings::ShowSettings),
    /// Print a completion script for a shell.
    #[command(after_help = "Example:\n  source <(semdex completions bash)")]
    Completions(generate::Completions),
    /// Print the manual page.
    #[command(
        after_help = "Examples:\n  semdex man usages | man -l -\n  semdex man --directory ~/.local/share/man/man1"
    )]
    Man(generate::Man),
    /// Serve an agent over standard input and output (Model Context Protocol) until its input ends.
    #[command(after_help = "Example:\n  semdex mcp path/to/project")]
    Mcp {
        /// A directory of the workspace. Default: the current one.
        #[arg(value_name = "ROOT")]
        root: Option<PathBuf>,
    },
    /// Print the entries that an agent's configuration needs to find semdex, or merge them into the file.
    Init(init::Init),
    /// Answer an agent's hook: JSON on standard input, the answer on standard output.
    #[command(after_help = "Example:\n  semdex hook claude < event.json")]
    Hook {
        /// The agent.
        agent: hook::Agent,
    },
    /// Report what is installed, what is missing, and the command that installs it.
    #[command(after_help = "Examples:\n  semdex doctor\n  semdex doctor --agents")]
    Doctor {
        /// A directory of the workspace. Default: the current one.
        #[arg(value_name = "ROOT")]
        root: Option<PathBuf>,
        /// Report instead which agents are configured here, whether they find semdex, and what they will ask.
        #[arg(long)]
        agents: bool,
        /// Also report what languages need of which the workspace has no file.
        #[arg(long)]
        all: bool,
    },
    /// End the running server of a workspace, after it has finished what it has begun.
    #[command(after_help = "Examples:\n  semdex stop\n  semdex stop --all")]
    Stop {
        /// A directory of the workspace. Default: the current one.
        #[arg(value_name = "ROOT", conflicts_with = "all")]
        root: Option<PathBuf>,
        /// End all servers of this user.
        #[arg(long)]
        all: bool,
    },
    /// End the running server of a workspace, and start another one.
    #[command(after_help = "Example:\n  semdex restart")]
    Restart {
        /// A directory of the workspace. Default: the current one.
        #[arg(value_name = "ROOT")]
        root: Option<PathBuf>,
    },
    /// Show or remove what semdex keeps in its cache directory.
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Copy the journal, the trusted directories, the token and the settings into a new directory.
    #[command(after_help = "Example:\n  semdex stop --all && semdex backup ~/semdex-backup")]
    Backup {
        /// The directory to make.
        directory: PathBuf,
    },
    /// Print the server's events, one a line, until interrupted or until the output is closed.
    #[command(after_help = "Example:\n  semdex events --types change,diagnostics")]
    Events(events::Follow),
    /// A request to the server of the workspace around the current directory.
    #[command(flatten)]
    Verb(Verb),
}

/// Serve workspaces until the process is ended.
#[derive(Debug, Args)]
pub struct Serve {
    /// Directories; the Cargo workspace or Go module of each is served. Default: the current one.
    #[arg(value_name = "ROOT")]
    pub roots: Vec<PathBuf>,
    /// ADDRESS:PORT on the loopback interface (port 0: any free port), or unix:PATH.
    #[arg(long, default_value = DEFAULT_LISTEN, value_parser = listen)]
    pub listen: Listen,
    /// Require no token: every program on this machine can read and write the workspaces.
    #[arg(long)]
    pub no_auth: bool,
    /// Allow code of the workspaces to run, for this process.
    #[arg(long, overrides_with = "no_trust")]
    pub trust: bool,
    /// Run no code of the workspaces, for this process.
    #[arg(long, overrides_with = "trust")]
    pub no_trust: bool,
    /// Configuration file, instead of $XDG_CONFIG_HOME/semdex/config.toml.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Log filter for standard error, for example `debug` or `warn,semdex=debug`.
    #[arg(long, value_name = "FILTER", env = "SEMDEX_LOG", default_value = DEFAULT_LOG)]
    pub log: String,
    /// Stop after so many minutes without a request.
    #[arg(long, value_name = "MINUTES")]
    pub idle_exit: Option<u64>,
}

impl Serve {
    /// The flags about trust; `None` without one.
    pub fn trusts(&self) -> Option<bool> {
        match (self.trust, self.no_trust) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
}

fn listen(text: &str) -> Result<Listen, ConfigError> {
    text.parse()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn serve(arguments: &[&str]) -> Serve {
        let all = ["semdex", "serve"].iter().chain(arguments);
        match Arguments::try_parse_from(all).unwrap().command {
            Command::Serve(serve) => serve,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_declarations_agree_with_each_other() {
        Arguments::command().debug_assert();
    }

    /// A user who asks for help gets it for each word of the command, and sees how it is used.
    #[test]
    fn every_command_and_argument_is_explained() {
        let mut root = Arguments::command();
        root.build();
        let mut rest = vec![(String::new(), root)];
        let mut silent = Vec::new();
        while let Some((path, command)) = rest.pop() {
            let path = format!("{path} {}", command.get_name());
            if command.get_about().is_none() {
                silent.push(path.clone());
            }
            let shown = command.get_arguments().filter(|it| !it.is_hide_set());
            silent.extend(shown.filter(|it| it.get_help().is_none()).map(|it| format!("{path}: {}", it.get_id())));
            let below: Vec<_> = command.get_subcommands().filter(|it| it.get_name() != "help").cloned().collect();
            let is_shown = command.get_after_help().is_some_and(|it| it.to_string().starts_with("Example"));
            if below.is_empty() && !is_shown {
                silent.push(format!("{path}: no example"));
            }
            rest.extend(below.into_iter().map(|it| (path.clone(), it)));
        }
        assert!(silent.is_empty(), "{silent:#?}");
    }

    /// Each example is a command that this program takes.
    #[test]
    fn the_examples_can_be_run() {
        let mut root = Arguments::command();
        root.build();
        let mut rest = vec![root];
        let mut count = 0;
        while let Some(command) = rest.pop() {
            rest.extend(command.get_subcommands().cloned());
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines().filter(|it| it.contains("semdex ")) {
                // A part of a pipeline, without what the shell makes of the rest.
                let own = line.split("semdex ").last().unwrap_or_default();
                let mut words = vec!["semdex".to_owned()];
                for (at, part) in own.split('\'').enumerate() {
                    if at % 2 == 1 {
                        words.push(part.to_owned());
                        continue;
                    }
                    let mut pieces = part.split([')', '|', '<', '>']);
                    words.extend(pieces.next().unwrap_or_default().split_whitespace().map(str::to_owned));
                    if pieces.next().is_some() {
                        break;
                    }
                }
                assert!(Arguments::try_parse_from(&words).is_ok(), "{line}: {words:?}");
                count += 1;
            }
        }
        assert!(count >= 40, "{count} examples");
    }

    #[test]
    fn the_last_word_about_trust_counts() {
        assert_eq!(serve(&[]).trusts(), None);
        assert_eq!(serve(&["--trust"]).trusts(), Some(true));
        assert_eq!(serve(&["--trust", "--no-trust"]).trusts(), Some(false));
        assert_eq!(serve(&["--listen", "unix:s"]).listen, Listen::Unix("s".into()));
        let usage = Arguments::try_parse_from(["semdex", "serve", "--listen", "0.0.0.0:1"]).unwrap_err();
        assert_eq!(usage.exit_code(), 2);
    }
}
