//! The command line: the declarations of all commands, and the commands that are clients of a running server.

mod cache;
mod client;
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
mod stop;
mod target;
mod token;
mod trees;
mod verify;
mod workspaces;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use cache::{CacheCommand, cache};
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
    Serve(Serve),
    /// Print the token of the HTTP interface, or one that allows less.
    Token(token::PrintToken),
    /// Trust a directory: allow its build scripts, proc macros and toolchain to run.
    Trust {
        /// The directory; all directories below it are included.
        path: PathBuf,
        /// Withdraw the trust.
        #[arg(long)]
        revoke: bool,
    },
    /// Print the effective settings, and where each comes from.
    Config(settings::ShowSettings),
    /// Print a completion script for a shell.
    Completions(generate::Completions),
    /// Print the manual page.
    Man(generate::Man),
    /// Serve an agent over standard input and output (Model Context Protocol) until its input ends.
    Mcp {
        /// A directory of the workspace. Default: the current one.
        #[arg(value_name = "ROOT")]
        root: Option<PathBuf>,
    },
    /// Print the entries that an agent's configuration needs to find semdex, or merge them into the file.
    Init(init::Init),
    /// Answer an agent's hook: JSON on standard input, the answer on standard output.
    Hook {
        /// The agent.
        agent: hook::Agent,
    },
    /// Report what is installed, what is missing, and the command that installs it.
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
    Stop {
        /// A directory of the workspace. Default: the current one.
        #[arg(value_name = "ROOT", conflicts_with = "all")]
        root: Option<PathBuf>,
        /// End all servers of this user.
        #[arg(long)]
        all: bool,
    },
    /// End the running server of a workspace, and start another one.
    Restart {
        /// A directory of the workspace. Default: the current one.
        #[arg(value_name = "ROOT")]
        root: Option<PathBuf>,
    },
    /// Show or remove what semdex keeps in its cache directory.
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Print the server's events, one a line, until interrupted or until the output is closed.
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
