//! Runs the tools of a language on the workspace on the disk: its compiler, its linter, its tests. An engine's kind
//! plans what it would run ([`crate::EngineKind::verify`]) and returns it as [`Planned`].

pub mod reach;
pub mod report;
pub mod text;

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::files::{File, Files};
pub use report::{Ended, Report};
use semdex_config::Settings;
use semdex_model::{Place, VerifyKind, VerifyProgress};

/// A run of tools that a client requests.
#[derive(Clone)]
pub struct Job {
    /// Which tool is run.
    pub kind: VerifyKind,
    /// The workspace's directory, absolute.
    pub root: PathBuf,
    /// `$XDG_CACHE_HOME/semdex`. Build output goes below it.
    pub cache_dir: PathBuf,
    /// The settings of this workspace.
    pub settings: Settings,
    /// The texts at the time of the request.
    pub files: Arc<Files>,
    /// The names of the packages to run. All if empty.
    pub packages: Vec<String>,
    /// The tests to run, by their names or the last parts of them. All if empty.
    pub tests: Vec<String>,
    /// Run only what these files can reach.
    pub changed: Option<Vec<String>>,
    /// No client waits for the run, so it runs at low priority.
    pub is_background: bool,
    /// The running tool is ended at this time, and no other is started.
    pub deadline: Instant,
    /// Whether a client still waits for the run. Called between tools and while one runs.
    pub is_wanted: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Called after each step.
    pub progress: Arc<dyn Fn(VerifyProgress) + Send + Sync>,
}

/// What an engine's kind would run for a job. Planning builds nothing. Its methods may block.
pub trait Planned: Send {
    /// Whether there is a package of this name.
    fn knows(&self, package: &str) -> bool;

    /// The names of the packages.
    fn packages(&self) -> Vec<String>;

    /// Runs all tools, even if some fail, until the deadline or until the job is no longer wanted.
    fn run(self: Box<Self>, job: &Job, report: &mut Report);
}

impl Job {
    /// Whether no other tool may be started.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.deadline || !(self.is_wanted)()
    }

    /// Reports progress. A total of 0 is not known.
    pub fn tell(&self, stage: impl Into<String>, done: usize, total: usize) {
        (self.progress)(VerifyProgress { stage: stage.into(), done, total });
    }

    /// A directory for the build output of this workspace alone.
    pub fn build_dir(&self) -> PathBuf {
        let key = blake3::hash(self.root.as_os_str().as_encoded_bytes()).to_hex();
        self.cache_dir.join("verify").join(key.as_str().get(..16).unwrap_or_default())
    }

    /// A path as replies have it: relative to the root, or absolute outside of it.
    pub fn name_of(&self, path: &Path) -> String {
        let path = normal(path);
        path.strip_prefix(&self.root).unwrap_or(&path).to_string_lossy().into_owned()
    }

    /// The text of a file as the tools see it: the disk's content, even if an overlay hides it.
    pub fn text_of(&self, name: &str) -> Option<Arc<File>> {
        match self.files.get(name) {
            Some(file) if !file.overlay => Some(file.clone()),
            Some(_) => {
                let text = std::fs::read_to_string(self.root.join(name)).ok()?;
                Some(Arc::new(self.files.file(name, text)))
            }
            None => None,
        }
    }

    /// The place of a line and a column (in bytes). It extends to the end of the word if the text is known.
    pub fn place(&self, name: &str, line: usize, column: usize) -> Place {
        let at = Place { line, end_line: line, column, ..Place::start_of(name) };
        let Some(file) = self.text_of(name) else { return at };
        let Some((start, text)) = line_of(&file.text, line) else { return at };
        let from = start + column.saturating_sub(1).min(text.len());
        let is_word = |it: &char| it.is_alphanumeric() || *it == '_';
        let word: usize =
            file.text.get(from..).unwrap_or_default().chars().take_while(is_word).map(char::len_utf8).sum();
        Place { start: from, end: from + word, ..at }
    }
}

/// The byte offset at which a line begins, and its text. Lines count from 1.
pub fn line_of(text: &str, line: usize) -> Option<(usize, &str)> {
    let mut start = 0;
    for (number, content) in text.split_inclusive('\n').enumerate() {
        if number + 1 == line {
            return Some((start, content.trim_end_matches(['\n', '\r'])));
        }
        start += content.len();
    }
    None
}

/// At most this many names of a list are written out.
const MOST_NAMED: usize = 20;

/// The first names of a list, with the count of the rest.
pub fn first_names(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_NAMED).map(String::as_str).collect();
    let rest = names.len().saturating_sub(MOST_NAMED);
    if rest > 0 { format!("{} and {rest} more", shown.join(", ")) } else { shown.join(", ") }
}

/// A path without `.` and `..`, computed from the text of the path alone.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_paths() {
        assert_eq!(line_of("a\r\nbc\n", 2), Some((3, "bc")));
        assert_eq!(line_of("a\r\nbc\n", 1), Some((0, "a")));
        assert_eq!(line_of("a", 2), None);
        assert_eq!(normal(Path::new("/a/./b/../c.rs")), Path::new("/a/c.rs"));
    }
}
