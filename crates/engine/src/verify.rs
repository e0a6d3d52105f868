//! The tools of a language asked about the workspace as it lies on the disk: its compiler, its linter, its tests. The seam
//! is [`Planned`]: an engine's kind says what it would run ([`super::engine::EngineKind::verify`]), and runs it.

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

/// What is asked of the tools.
#[derive(Clone)]
pub struct Job {
    /// Which tool is run.
    pub kind: VerifyKind,
    /// The workspace's directory, absolute.
    pub root: PathBuf,
    /// `$XDG_CACHE_HOME/semdex`: what is built lies below it.
    pub cache_dir: PathBuf,
    /// What the configuration says for this workspace.
    pub settings: Settings,
    /// The texts when it was asked.
    pub files: Arc<Files>,
    /// Only these, by their names; all where none is named.
    pub packages: Vec<String>,
    /// Only these tests, by their names or the last parts of them; all where none is named.
    pub tests: Vec<String>,
    /// Only what these files can reach.
    pub changed: Option<Vec<String>>,
    /// Nobody waits for it: it leaves the machine to others.
    pub is_background: bool,
    /// The running tool is ended then, and no other is started.
    pub deadline: Instant,
    /// Whether anybody still waits for it; asked between tools and while one runs.
    pub is_wanted: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Called whenever a step is done.
    pub progress: Arc<dyn Fn(VerifyProgress) + Send + Sync>,
}

/// What an engine's kind would run for a job. Found out without building anything; both may block.
pub trait Planned: Send {
    /// Whether it knows a package by this name.
    fn knows(&self, package: &str) -> bool;

    /// The packages that it knows.
    fn packages(&self) -> Vec<String>;

    /// Runs all of it, whatever fails, until the deadline or until it is not wanted any more.
    fn run(self: Box<Self>, job: &Job, report: &mut Report);
}

impl Job {
    /// Whether no other tool is to be started.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.deadline || !(self.is_wanted)()
    }

    /// Reports how far it is; a total of 0 is not known.
    pub fn tell(&self, stage: impl Into<String>, done: usize, total: usize) {
        (self.progress)(VerifyProgress { stage: stage.into(), done, total });
    }

    /// A directory for what is built of the workspace, nobody else's.
    pub fn build_dir(&self) -> PathBuf {
        let key = blake3::hash(self.root.as_os_str().as_encoded_bytes()).to_hex();
        self.cache_dir.join("verify").join(key.as_str().get(..16).unwrap_or_default())
    }

    /// A path as replies name it: relative to the root, or absolute outside of it.
    pub fn name_of(&self, path: &Path) -> String {
        let path = normal(path);
        path.strip_prefix(&self.root).unwrap_or(&path).to_string_lossy().into_owned()
    }

    /// The text of a file as the tools see it: that of the disk, also where an overlay stands before it.
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

    /// A line of a file, and the column (in bytes) on it, as a place; where the text is known, to the end of the word.
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

/// Where a line begins, and its text. Lines count from 1.
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

/// Without `.` and `..`, by the text alone.
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
