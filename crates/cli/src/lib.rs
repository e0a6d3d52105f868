//! The command line: what may be said, and the verbs as a client of a running server.

mod changes;
mod client;
mod common;
mod doctor;
mod events;
mod generate;
mod git;
mod here;
mod hook;
mod init;
mod map;
mod mcp;
mod overlay;
mod print;
mod progress;
mod run;
mod servers;
mod settings;
mod verbs;
mod verify;
mod watched;
mod workspaces;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use doctor::doctor;
pub use events::follow;
pub use hook::hook;
pub use init::init;
pub use mcp::serve as serve_mcp;
pub use print::{Color, errors, output};
pub use run::run as run_task;
pub use servers::{Announcement, Registered, register};
pub use verbs::{Verb, run};

use semdex_config::{ConfigError, DEFAULT_LISTEN, DEFAULT_LOG, Listen};

/// A type-aware code knowledge service: a compiler-grade index of a workspace, always equal to the disk.
#[derive(Debug, Parser)]
#[command(name = "semdex", version, arg_required_else_help = true)]
pub struct Arguments {
    /// Whether to print in colours.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What semdex can be told to do.
#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one of it, for a moment")]
pub enum Command {
    /// Serves workspaces until it is told to stop.
    Serve(Serve),
    /// Prints the token that lets a client in.
    Token,
    /// Lets code of a directory run: build scripts, proc macros, its toolchain.
    Trust {
        /// The directory; what lies below it counts too.
        path: PathBuf,
        /// Takes it back.
        #[arg(long)]
        revoke: bool,
    },
    /// Prints the settings that are in force, and where each comes from.
    Config(settings::ShowSettings),
    /// Prints a script that completes semdex's commands in a shell.
    Completions(generate::Completions),
    /// Prints the manual page.
    Man(generate::Man),
    /// Serves an agent over standard input and output (Model Context Protocol), until its input ends.
    Mcp {
        /// A directory of the workspace. Default: the current one.
        #[arg(value_name = "ROOT")]
        root: Option<PathBuf>,
    },
    /// Prints what an agent's configuration needs to find semdex, or merges it into the file.
    Init(init::Init),
    /// Answers an agent's hook: its JSON on standard input, the answer on standard output.
    Hook {
        /// Whose hook it is.
        agent: hook::Agent,
    },
    /// Tells what is installed, what is missing, and the command that gets it.
    Doctor {
        /// A directory of the workspace. Default: the current one.
        #[arg(value_name = "ROOT")]
        root: Option<PathBuf>,
    },
    /// Prints what the server tells, a line for each event, until it is interrupted or nobody reads.
    Events(events::Follow),
    /// A call to the server of the workspace around the current directory.
    #[command(flatten)]
    Verb(Verb),
}

/// Serves workspaces until it is told to stop.
#[derive(Debug, Args)]
pub struct Serve {
    /// Directories; each one's Cargo workspace or Go module is served. Default: the current one.
    #[arg(value_name = "ROOT")]
    pub roots: Vec<PathBuf>,
    /// ADDRESS:PORT on the loopback interface, the port 0 for any free one, or unix:PATH.
    #[arg(long, default_value = DEFAULT_LISTEN, value_parser = listen)]
    pub listen: Listen,
    /// Want no token: every program on this machine may read and write the workspaces.
    #[arg(long)]
    pub no_auth: bool,
    /// Let code of the workspaces run, this time.
    #[arg(long, overrides_with = "no_trust")]
    pub trust: bool,
    /// Run no code of the workspaces, this time.
    #[arg(long, overrides_with = "trust")]
    pub no_trust: bool,
    /// Instead of $XDG_CONFIG_HOME/semdex/config.toml.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// What to tell on standard error, as `debug` or `warn,semdex=debug`.
    #[arg(long, value_name = "FILTER", env = "SEMDEX_LOG", default_value = DEFAULT_LOG)]
    pub log: String,
    /// Stop after so many minutes without a request.
    #[arg(long, value_name = "MINUTES")]
    pub idle_exit: Option<u64>,
}

impl Serve {
    /// What was said about trust; absent: nothing.
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
