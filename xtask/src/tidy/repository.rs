//! The texts of the repository that the rules look at.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

const EXTENSIONS: &[&str] = &["rs", "md", "toml", "sh", "py", "yaml", "json"];
/// Files that are checked although their names have none of the extensions.
const OTHERS: &[&str] = &["Makefile", ".ci/run", "Cargo.lock", "tests/fixtures/corpus/Cargo.lock"];
/// Build output, fixtures, and directories that git does not keep.
const FOREIGN: &[&str] = &["target", "fixtures", "node_modules", ".git", ".venv"];

pub(crate) struct Repository {
    pub(crate) root: PathBuf,
    /// By names relative to the root, with `/`.
    texts: BTreeMap<String, String>,
}

impl Repository {
    pub(crate) fn read(root: &Path) -> io::Result<Self> {
        let mut files: Vec<String> = OTHERS.iter().map(|it| (*it).to_owned()).collect();
        let mut pending = vec![root.to_path_buf()];
        while let Some(directory) = pending.pop() {
            for entry in fs::read_dir(&directory)? {
                let path = entry?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if path.is_dir() {
                    if !FOREIGN.contains(&name.as_str()) && !path.join("CACHEDIR.TAG").exists() {
                        pending.push(path);
                    }
                } else if path.extension().is_some_and(|it| EXTENSIONS.iter().any(|wanted| it == *wanted)) {
                    let relative = path.strip_prefix(root).unwrap_or(&path);
                    files.push(relative.to_string_lossy().replace('\\', "/"));
                }
            }
        }
        let mut texts = BTreeMap::new();
        for file in files {
            let text = fs::read_to_string(root.join(&file))
                .map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))?;
            texts.insert(file, text);
        }
        Ok(Repository { root: root.to_path_buf(), texts })
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(file, text)| (file.as_str(), text.as_str()))
    }

    pub(crate) fn texts_of(&self, ending: &str) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(move |(file, _)| file.ends_with(ending))
    }

    /// Empty if there is no such file.
    pub(crate) fn text(&self, file: &str) -> &str {
        self.texts.get(file).map_or("", String::as_str)
    }

    pub(crate) fn is_executable(&self, file: &str) -> bool {
        fs::metadata(self.root.join(file)).is_ok_and(|it| it.permissions().mode() & 0o100 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_look_at_the_files_that_are_there() {
        let repository = Repository::read(&crate::root()).unwrap();
        for file in ["Cargo.toml", "src/main.rs", "xtask/src/main.rs", "README.md", "Makefile", "tests/it/main.rs"] {
            assert!(!repository.text(file).is_empty(), "{file}");
        }
        assert!(repository.texts().all(|(file, _)| !file.contains("target/")));
        let fixtures = repository.texts().filter(|(file, _)| file.contains("/fixtures/")).count();
        assert_eq!(fixtures, 1, "only the lock file of the corpus");
    }
}
