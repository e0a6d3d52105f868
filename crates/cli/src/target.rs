//! The workspace that a command is about, and its server.

use std::io;
use std::path::{Path, PathBuf};

use super::running_servers::{self, Running};
use semdex_config::Config;
use semdex_engine::Registry;
use semdex_fs::worktree_between;
use semdex_workspace::disk::path_of_uri;

pub(crate) struct Target {
    pub root: PathBuf,
    pub server: Running,
}

impl Target {
    pub(crate) async fn new(file: Option<&Path>, config: &Config, engines: &Registry) -> io::Result<Target> {
        let current = std::env::current_dir()?;
        let own = engines.find_root(&current)?;
        let around = match file.map(resolved).transpose()? {
            Some(file) if !file.starts_with(&own) => match running_servers::find_running(&config.state_dir, &file) {
                Some(running) => return Ok(Target::of(running, &file, &own)),
                None => elsewhere(&file, &own, engines)?,
            },
            Some(file) => {
                let root = within(&file, own, engines)?;
                // No server would be started there, so a running one that serves the file is used.
                if engines.is_everything(&root)?
                    && let Some(running) = running_servers::find_running(&config.state_dir, &file)
                {
                    return Ok(Target::of(running, &file, &root));
                }
                root
            }
            None => own,
        };
        let server = running_servers::find_or_start(&config.state_dir, &around, engines).await?;
        Ok(Target::of(server, &around, &around))
    }

    /// The running server of the workspace around the current directory. None is started.
    pub(crate) fn running(config: &Config, engines: &Registry) -> io::Result<Target> {
        let current = std::env::current_dir()?;
        let own = engines.find_root(&current)?;
        let running = running_servers::find_running(&config.state_dir, &own);
        let running = running.ok_or_else(|| io::Error::other(NoServer(own.clone())))?;
        Ok(Target::of(running, &own, &own))
    }

    /// A server of a parent directory names files relative to that directory.
    fn of(server: Running, path: &Path, otherwise: &Path) -> Target {
        let root = server.root_of(path).unwrap_or(otherwise).to_owned();
        Target { root, server }
    }

    /// The file as the server names it. A file outside of the workspace keeps its name, and the server refuses it.
    pub(crate) fn name(&self, file: &Path) -> io::Result<String> {
        let file = resolved(file)?;
        Ok(file.strip_prefix(&self.root).unwrap_or(&file).to_string_lossy().into_owned())
    }

    /// An existing file, as the server names it; any other name may be a symbol.
    pub(crate) fn focus(&self, named: String) -> io::Result<String> {
        let file = Path::new(&named);
        if file.exists() { self.name(file) } else { Ok(named) }
    }

    pub(crate) fn maybe(&self, file: Option<&PathBuf>) -> io::Result<Option<String>> {
        file.map(|it| self.name(it)).transpose()
    }
}

/// Why nothing can be said of a server.
#[derive(Debug, thiserror::Error)]
#[error("no server runs for {}: a request starts one, or `semdex serve`", .0.display())]
struct NoServer(PathBuf);

/// Whether a command that starts no server found none.
pub(crate) fn is_no_server(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|it| it.is::<NoServer>())
}

/// The root of a file that lies in the directory `own`: usually `own` itself, so that all commands there are about the
/// same workspace. Only if `own` has no manifest, a manifest further down determines the root. A file in a linked
/// worktree is of the workspace there, as if the command ran in that directory.
fn within(file: &Path, own: PathBuf, engines: &Registry) -> io::Result<PathBuf> {
    if worktree_between(&own, file).is_some()
        && let Some(directory) = file.ancestors().skip(1).find(|it| it.is_dir())
    {
        return engines.find_root(directory);
    }
    if engines.manifest_root(&own)?.is_some() {
        return Ok(own);
    }
    let further_down = manifest_root_of(file, engines)?.filter(|it| it.starts_with(&own));
    Ok(further_down.unwrap_or(own))
}

/// The root of a file outside of the workspace around the current directory. A server is started only for a root that
/// has a manifest, neither for a directory without one nor for a parent of the current directory.
fn elsewhere(file: &Path, own: &Path, engines: &Registry) -> io::Result<PathBuf> {
    manifest_root_of(file, engines)?.filter(|root| !own.starts_with(root)).ok_or_else(|| {
        let message = format!(
            "{} lies outside of the workspace {}, and no server runs that serves it: go to its directory, or start one \
             with `semdex serve DIRECTORY`",
            file.display(),
            own.display()
        );
        io::Error::new(io::ErrorKind::PermissionDenied, message)
    })
}

/// The root with a manifest around the directory of a file. The file need not exist.
fn manifest_root_of(file: &Path, engines: &Registry) -> io::Result<Option<PathBuf>> {
    match file.ancestors().skip(1).find(|it| it.is_dir()) {
        Some(directory) => engines.manifest_root(directory),
        None => Ok(None),
    }
}

/// An absolute path with the links of its directory and `..` resolved, as in roots. The file itself need not exist.
fn resolved(file: &Path) -> io::Result<PathBuf> {
    let by_uri = file.to_str().and_then(path_of_uri).transpose();
    let by_uri = by_uri.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error.detail))?;
    let absolute = by_uri.map_or_else(|| std::path::absolute(file), Ok)?;
    let existing = absolute.ancestors().skip(1).find_map(|it| Some((it, it.canonicalize().ok()?)));
    Ok(match existing {
        Some((named, real)) => match absolute.strip_prefix(named) {
            Ok(rest) => real.join(rest),
            Err(_) => absolute,
        },
        None => absolute,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_file_in_the_current_directory_is_of_its_workspace() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        for (file, text) in [
            ("plain/package/a.py", ""),
            ("plain/rust/Cargo.toml", "[workspace]\n"),
            ("plain/rust/src/lib.rs", ""),
            ("made/go.mod", "module m\n"),
            ("made/inner/go.mod", "module inner\n"),
        ] {
            fs::create_dir_all(top.join(file).parent().unwrap()).unwrap();
            fs::write(top.join(file), text).unwrap();
        }
        let engines = Registry::new(vec![Arc::new(semdex_rust::RustKind), Arc::new(semdex_go::GoKind)], |_, _| vec![]);
        for (own, file, root) in [
            ("plain", "plain/package/a.py", "plain"),
            ("plain", "plain/package/no/such/file", "plain"),
            ("plain/package", "plain/package/a.py", "plain/package"),
            ("plain", "plain/rust/src/lib.rs", "plain/rust"),
            ("made", "made/inner/a.go", "made"),
        ] {
            let found = within(&top.join(file), top.join(own), &engines).unwrap();
            assert_eq!(found, top.join(root), "{file} in {own}");
        }
    }
}
