//! `semdex backup`: copies what cannot be made again: the journal, the trusted directories, the token and the settings.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::output::output;
use super::running_servers;
use semdex_config::{Config, create_private_dir};

/// The files of the state directory that are worth keeping. Others belong to a process, or are made again. The journal
/// of a server that was killed has two more files.
const KEPT: [&str; 5] = ["journal.db", "journal.db-wal", "journal.db-shm", "trust.json", "token"];

/// Copies the files into a new or empty directory, which only its owner can read. A journal that is written to cannot be
/// copied, so no server may run.
pub fn backup(target: &Path, config: &Config) -> io::Result<()> {
    is_quiet(config)?;
    create_private_dir(target)?;
    if fs::read_dir(target)?.next().is_some() {
        let detail = format!("{} is not empty: name a new directory", target.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, detail));
    }
    let of_state = KEPT.iter().map(|it| (config.state_dir.join(it), *it));
    let settings = config.config_file.iter().map(|it| (it.clone(), "config.toml"));
    let mut copied = Vec::new();
    for (file, name) in of_state.chain(settings) {
        match fs::copy(&file, target.join(name)) {
            Ok(_) => copied.push(name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", file.display()))),
        }
    }
    // One that started during the copy may have written.
    is_quiet(config)?;
    writeln!(output(), "{} has {}", target.display(), copied.join(", "))
}

fn is_quiet(config: &Config) -> io::Result<()> {
    match running_servers::all(&config.state_dir).is_empty() {
        true => Ok(()),
        false => Err(io::Error::other("a server runs and may write the journal: `semdex stop --all` ends it")),
    }
}
