//! The command line: what may be said, and the verbs as a client of a running server.

mod client;
mod overlay;
mod servers;
mod verbs;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use servers::{Announcement, Registered, register};
pub use verbs::{Verb, run};

use crate::config::{ConfigError, Listen};

/// A type-aware code knowledge service: a compiler-grade index of a workspace, always equal to the disk.
#[derive(Debug, Parser)]
#[command(name = "semdex", version, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one of it, for a moment")]
pub enum Command {
    Serve(Serve),
    /// Prints the token that lets a client in.
    Token,
    /// Lets code of a directory run: build scripts, proc macros, its toolchain.
    Trust {
        path: PathBuf,
        /// Takes it back.
        #[arg(long)]
        revoke: bool,
    },
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
    #[arg(long, default_value = "127.0.0.1:7878", value_parser = listen)]
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
    #[arg(long, value_name = "FILTER", env = "SEMDEX_LOG", default_value = "warn,semdex=info")]
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
