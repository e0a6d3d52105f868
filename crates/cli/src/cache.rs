//! `semdex cache`: what semdex keeps in its cache directory, and its removal. Everything there is made again when it is
//! needed.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::Subcommand;

use super::output::output;
use super::running_servers;
use semdex_config::Config;

/// What is done with the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub enum CacheCommand {
    /// Print the size of each part, and of all together.
    #[command(after_help = "Example:\n  semdex cache size")]
    Size,
    /// Remove everything. Refused while a server runs, which uses it.
    #[command(after_help = "Example:\n  semdex stop --all && semdex cache clean")]
    Clean,
}

/// Prints the size of the cache, or removes it. Returns whether everything succeeded.
pub fn cache(command: CacheCommand, config: &Config) -> io::Result<bool> {
    let directory = &config.cache_dir;
    let parts = match fs::read_dir(directory) {
        Ok(parts) => parts.collect::<io::Result<Vec<_>>>()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    if command == CacheCommand::Clean && !running_servers::all(&config.state_dir).is_empty() {
        let detail = "a server runs and uses the cache: `semdex stop --all` ends it";
        return Err(io::Error::other(detail));
    }
    let mut sum = 0;
    for part in &parts {
        let size = size(&part.path());
        sum += size;
        match command {
            CacheCommand::Size => writeln!(output(), "{:>8}  {}", mebibytes(size), part.path().display())?,
            CacheCommand::Clean if part.file_type()?.is_dir() => remove(&part.path())?,
            CacheCommand::Clean => fs::remove_file(part.path())?,
        }
    }
    let done = if command == CacheCommand::Clean { "removed from" } else { "in" };
    writeln!(output(), "{:>8}  {done} {}", mebibytes(sum), directory.display())?;
    Ok(true)
}

/// The bytes of all files below a path. Links are not followed.
fn size(path: &Path) -> u64 {
    let Ok(found) = path.symlink_metadata() else { return 0 };
    if !found.is_dir() {
        return found.len();
    }
    fs::read_dir(path).into_iter().flatten().flatten().map(|it| size(&it.path())).sum()
}

/// Removes a directory. The module cache of Go is read-only.
fn remove(directory: &Path) -> io::Result<()> {
    if fs::remove_dir_all(directory).is_ok() {
        return Ok(());
    }
    make_writable(directory);
    fs::remove_dir_all(directory)
}

fn make_writable(directory: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    // If it fails, removing reports it.
    let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir())).for_each(|it| make_writable(&it.path()));
}

fn mebibytes(bytes: u64) -> String {
    format!("{}.{} MiB", bytes >> 20, ((bytes % (1 << 20)) * 10) >> 20)
}
