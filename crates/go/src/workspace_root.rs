//! Finds the root of a Go module or workspace, as the go command would.

use std::fs;
use std::path::{Path, PathBuf};

use semdex_engine::read_manifest;

/// The directories are ordered from the innermost.
pub(super) fn go_root(around: &[&Path]) -> Option<PathBuf> {
    let module = around.iter().find(|directory| directory.join("go.mod").is_file());
    let workspace = around.iter().find_map(|directory| Some((*directory, read_manifest(&directory.join("go.work"))?)));
    let root = match (module, workspace) {
        // A module that the enclosing `go.work` does not use is its own root.
        (Some(module), Some((root, text))) if module.starts_with(root) && !uses(root, &text, module) => module,
        (_, Some((root, _))) => root,
        (Some(module), None) => module,
        (None, None) => return None,
    };
    Some(root.to_path_buf())
}

/// Whether the text of a `go.work` names a module's directory in a `use` directive.
fn uses(root: &Path, text: &str, module: &Path) -> bool {
    let mut block = false;
    text.lines().any(|line| {
        let line = line.split_once("//").map_or(line, |(code, _)| code).trim();
        let entry = match line.strip_prefix("use") {
            Some(rest) if rest.trim() == "(" => {
                block = true;
                return false;
            }
            Some(rest) if rest.starts_with([' ', '\t']) => rest.trim(),
            _ if line == ")" => {
                block = false;
                return false;
            }
            _ if block => line,
            _ => return false,
        };
        let entry = entry.trim_matches(['"', '`']);
        !entry.is_empty() && fs::canonicalize(root.join(entry)).is_ok_and(|used| used == module)
    })
}
