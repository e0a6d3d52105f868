//! The origin of a definition outside of the root: the package in its path if it is in a directory of installed
//! packages, otherwise its directory. No file is read.

use std::sync::Arc;

use semdex_model::Origin;

/// Directories that contain installed packages, each in a directory of its own.
const INSTALLED: [&str; 5] = ["site-packages", "dist-packages", "node_modules", "typeshed-fallback", "gems"];

pub(crate) fn of(file: &str) -> Option<Arc<Origin>> {
    let (directory, _) = file.rsplit_once('/').filter(|_| file.starts_with('/'))?;
    let parts: Vec<&str> = directory.split('/').collect();
    let store = parts.iter().rposition(|it| INSTALLED.contains(it)).filter(|at| at + 1 < parts.len());
    let first = store.map_or(parts.len().saturating_sub(1), |at| at + 1);
    // A scope and the package in it form one name.
    let is_scope = parts.get(first).is_some_and(|it| it.starts_with('@')) && first + 1 < parts.len();
    let last = if is_scope { first + 1 } else { first };
    let package = parts.get(first..=last)?.join("/");
    let root = parts.get(..=last)?.join("/");
    (!package.is_empty()).then(|| Arc::new(Origin { package, version: None, root }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_named_by_its_package() {
        for (file, expected) in [
            ("/v/lib/python3.13/site-packages/requests/api.py", "requests: api.py"),
            ("/v/lib/python3.13/site-packages/six.py", "site-packages: six.py"),
            ("/t/basedpyright/typeshed-fallback/stdlib/json/__init__.pyi", "stdlib: json/__init__.pyi"),
            ("/w/node_modules/@types/node/fs.d.ts", "@types/node: fs.d.ts"),
            ("/w/node_modules/a/node_modules/b/lib/i.js", "b: lib/i.js"),
            ("/usr/include/stdio.h", "include: stdio.h"),
        ] {
            assert_eq!(of(file).map(|it| it.short(file)).as_deref(), Some(expected));
        }
        assert_eq!((of("src/a.py"), of("/a.py")), (None, None));
    }
}
