//! Finds the program of a language server.

use std::path::{Path, PathBuf};

use super::session::Session;
use super::table::Row;
use semdex_process::search_path::{self, is_program, lies_in};

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub path: PathBuf,
    pub arguments: Vec<String>,
}

/// Searches the program of a row on the search path, and in a trusted workspace also among its own tools.
pub(crate) fn find(session: &Session) -> Option<Program> {
    find_in(&session.row, session.root.directory(), session.trusted, search_path::directories())
}

fn find_in(row: &Row, root: &Path, trusted: bool, directories: Vec<PathBuf>) -> Option<Program> {
    let (name, arguments) = row.keys.command.as_ref()?.split_first()?;
    // A program inside the workspace, through any links, is code of the workspace.
    let is_lawful = |it: &PathBuf| is_program(it) && (trusted || !lies_in(it, root));
    let found = candidates(name, root, trusted, directories).into_iter().find(is_lawful)?;
    let native = row.keys.native.iter().flatten().find_map(|it| native(&found, it));
    let mut arguments = arguments.to_vec();
    if !trusted {
        arguments.extend(row.keys.untrusted_arguments.iter().flatten().cloned());
    }
    Some(Program { path: native.unwrap_or(found), arguments })
}

fn candidates(name: &str, root: &Path, trusted: bool, directories: Vec<PathBuf>) -> Vec<PathBuf> {
    if name.contains('/') {
        return vec![root.join(name)];
    }
    let lawful = directories.into_iter().filter(|it| it.is_absolute() && (trusted || !lies_in(it, root)));
    let own = ["node_modules/.bin", ".venv/bin", "venv/bin"].iter().map(|it| root.join(it)).filter(|_| trusted);
    lawful.chain(own).map(|it| it.join(name)).collect()
}

/// Finds an executable program by its name or path.
pub(crate) fn find_named(name: &str, root: &Path, trusted: bool) -> Option<PathBuf> {
    let all = candidates(name, root, trusted, search_path::directories());
    all.into_iter().find(|it| is_program(it) && (trusted || !lies_in(it, root)))
}

/// The native program in a `node_modules` directory above the script that starts it.
fn native(script: &Path, pattern: &str) -> Option<PathBuf> {
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let os = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let below = pattern.replace("{os}", os).replace("{arch}", arch);
    let real = script.canonicalize().ok()?;
    let modules = real.ancestors().filter(|it| it.file_name().is_some_and(|it| it == "node_modules"));
    let within = real.ancestors().take(4).map(|it| it.join("node_modules"));
    modules.map(Path::to_path_buf).chain(within).map(|it| it.join(&below)).find(|it| is_program(it))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use semdex_config::LanguageKeys;

    fn program(path: &Path) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_owned()
    }

    #[test]
    fn a_program_of_the_workspace_counts_only_where_it_is_trusted() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("w");
        let own = program(&root.join("node_modules/.bin/srv"));
        let keys = LanguageKeys { command: Some(vec!["srv".to_owned(), "--x".to_owned()]), ..LanguageKeys::default() };
        let row = Row { name: "x".to_owned(), keys };
        let find = |trusted, path: &[PathBuf]| find_in(&row, &root, trusted, path.to_vec()).map(|it| it.path);
        assert_eq!(find(true, &[]), Some(own.clone()));
        assert_eq!(find(false, &[]), None);
        assert_eq!(find(false, &[root.join("node_modules/.bin")]), None, "nor by the search path");
        let link = home.path().join("link");
        std::os::unix::fs::symlink(root.join("node_modules/.bin"), &link).unwrap();
        assert_eq!(find(false, std::slice::from_ref(&link)), None, "nor by a link");
        let other = home.path().join("other");
        fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&own, other.join("srv")).unwrap();
        assert_eq!(find(false, std::slice::from_ref(&other)), None, "nor by a link to the program");
        assert!(find(true, &[other]).is_some());
        let users = program(&home.path().join("bin/srv"));
        assert_eq!(find(true, &[home.path().join("bin")]), Some(users.clone()));
        assert_eq!(find(false, &[home.path().join("bin")]), Some(users));
        for name in
            ["node_modules/.bin/srv".to_owned(), own.display().to_string(), "../w/node_modules/.bin/srv".to_owned()]
        {
            let keys = LanguageKeys { command: Some(vec![name]), ..LanguageKeys::default() };
            let row = Row { name: "x".to_owned(), keys };
            assert_eq!(find_in(&row, &root, false, Vec::new()), None, "nor by its path");
            assert!(find_in(&row, &root, true, Vec::new()).is_some());
        }
    }

    #[test]
    fn a_server_is_called_with_more_where_the_workspace_is_not_trusted() {
        let home = tempfile::tempdir().unwrap();
        program(&home.path().join("bin/srv"));
        fs::create_dir(home.path().join("w")).unwrap();
        let list = |it: &[&str]| Some(it.iter().map(|it| (*it).to_owned()).collect());
        let (command, untrusted_arguments) = (list(&["srv", "--x"]), list(&["--no-cache"]));
        let keys = LanguageKeys { command, untrusted_arguments, ..LanguageKeys::default() };
        let row = Row { name: "x".to_owned(), keys };
        let arguments = |trusted| {
            let found = find_in(&row, &home.path().join("w"), trusted, vec![home.path().join("bin")]);
            found.map(|it| it.arguments.join(" "))
        };
        assert_eq!(arguments(true).as_deref(), Some("--x"));
        assert_eq!(arguments(false).as_deref(), Some("--x --no-cache"));
    }

    #[test]
    fn the_program_itself_is_started_in_place_of_its_script() {
        let home = tempfile::tempdir().unwrap();
        let modules = home.path().canonicalize().unwrap().join("lib/node_modules");
        let script = program(&modules.join("typescript/bin/tsc"));
        let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        let real = program(&modules.join(format!("@typescript/typescript-linux-{arch}/lib/tsc")));
        assert_eq!(native(&script, "@typescript/typescript-{os}-{arch}/lib/tsc"), Some(real));
        assert_eq!(native(&script, "nothing/{os}"), None);
    }
}
