//! Cargo's JSON messages during a build: the compiler's diagnostics, and the artifacts.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::cargo::{Target, Workspace};
use semdex_engine::verify::Job;
use semdex_model::{Diagnostic, Place, Severity};

#[derive(Debug, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub(crate) enum Message {
    CompilerMessage(CompilerMessage),
    CompilerArtifact(Artifact),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CompilerMessage {
    pub package_id: String,
    pub target: Target,
    pub message: Rustc,
}

/// An artifact of the build.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Artifact {
    pub package_id: String,
    pub target: Target,
    pub executable: Option<PathBuf>,
    pub profile: Profile,
    #[serde(default)]
    pub filenames: Vec<PathBuf>,
}

impl Artifact {
    /// The source files of this artifact, as the dep-info file next to it names them.
    pub(crate) fn sources(&self) -> Vec<String> {
        let note = |it: &PathBuf| {
            let stem = it.file_stem()?.to_str()?;
            let stem = stem.strip_prefix("lib").unwrap_or(stem);
            std::fs::read_to_string(it.with_file_name(format!("{stem}.d"))).ok()
        };
        let notes: Vec<String> = self.filenames.iter().filter_map(note).collect();
        // Each source also has a line of its own, as a target without dependencies.
        let alone = |line: &str| Some(line.strip_suffix(':')?.replace("\\ ", " "));
        notes.iter().flat_map(|it| it.lines()).filter_map(alone).collect()
    }
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Profile {
    pub test: bool,
}

/// A diagnostic in rustc's JSON format.
#[derive(Debug, Deserialize)]
pub(crate) struct Rustc {
    pub message: String,
    pub code: Option<RustcCode>,
    pub level: String,
    pub spans: Vec<RustcSpan>,
    pub rendered: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RustcCode {
    pub code: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RustcSpan {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
    line_start: usize,
    line_end: usize,
    /// In characters.
    column_start: usize,
    is_primary: bool,
    #[serde(default)]
    text: Vec<SpanText>,
    expansion: Option<Box<Expansion>>,
}

#[derive(Debug, Deserialize)]
struct SpanText {
    text: String,
    highlight_start: usize,
}

#[derive(Debug, Deserialize)]
struct Expansion {
    span: RustcSpan,
}

/// A line of Cargo's output, if it is such a message.
pub(crate) fn message(line: &str) -> Option<Message> {
    if line.starts_with("{\"reason\":") { serde_json::from_str(line).ok() } else { None }
}

impl CompilerMessage {
    pub(crate) fn is_error(&self) -> bool {
        self.message.level.starts_with("error")
    }

    /// The diagnostic with its place. `None` for a summary of others.
    pub(crate) fn diagnostic(&self, job: &Job, workspace: &Workspace) -> Option<Diagnostic> {
        let Rustc { message, code, level, spans, .. } = &self.message;
        let severity = match level.as_str() {
            "warning" => Severity::Warning,
            "note" => Severity::Info,
            "help" => Severity::Hint,
            "failure-note" => return None,
            _ => Severity::Error,
        };
        let code = code.as_ref().map(|it| it.code.clone());
        let primary = spans.iter().find(|it| it.is_primary).or(spans.first());
        let place = match primary {
            Some(span) => span.place(job, workspace.base_of(&self.package_id)),
            None if code.is_none() && sums_up(message) => return None,
            None => Place::start_of(&job.name_of(&self.target.src_path)),
        };
        let source = if code.as_deref().is_some_and(|it| it.starts_with("clippy::")) { "clippy" } else { "rustc" };
        let (message, source) = (message.clone(), source.to_owned());
        Some(Diagnostic { place, severity, code, message, source, symbol: None, confirmed: Some(true), build: None })
    }
}

fn sums_up(message: &str) -> bool {
    message.starts_with("aborting due to ")
        || message.ends_with(" warning emitted")
        || message.ends_with(" warnings emitted")
}

impl RustcSpan {
    /// Its place in code of the workspace, if an external macro was expanded there.
    fn place(&self, job: &Job, base: &Path) -> Place {
        let mut span = self;
        while !span.is_inside(job, base) {
            let Some(expansion) = &span.expansion else { break };
            span = &expansion.span;
        }
        let span = if span.is_inside(job, base) { span } else { self };
        Place {
            file: job.name_of(&base.join(&span.file_name)),
            start: span.byte_start,
            end: span.byte_end,
            line: span.line_start,
            end_line: span.line_end,
            column: span.column(),
        }
    }

    fn is_inside(&self, job: &Job, base: &Path) -> bool {
        base.join(&self.file_name).starts_with(&job.root)
    }

    /// In bytes.
    fn column(&self) -> usize {
        let Some(first) = self.text.first() else { return self.column_start };
        let before = first.text.chars().take(first.highlight_start.saturating_sub(1));
        before.map(char::len_utf8).sum::<usize>() + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read() {
        let line = r#"{"reason":"compiler-artifact","package_id":"p","target":{"kind":["lib"],"name":"a",
            "src_path":"/w/a.rs","test":true},"executable":null,"profile":{"test":true}}"#;
        assert!(matches!(message(line), Some(Message::CompilerArtifact(it)) if it.profile.test));
        assert!(matches!(message(r#"{"reason":"new","x":1}"#), Some(Message::Other)));
        assert!(message("   Compiling a").is_none());
    }

    #[test]
    fn columns_are_bytes() {
        let span = r#"{"file_name":"a.rs","byte_start":9,"byte_end":10,"line_start":1,"line_end":1,"column_start":4,
            "is_primary":true,"text":[{"text":"äöü x","highlight_start":4}],"expansion":null}"#;
        let span: RustcSpan = serde_json::from_str(span).unwrap();
        assert_eq!(span.column(), 7);
        assert!(
            sums_up("aborting due to 2 previous errors") && sums_up("3 warnings emitted") && !sums_up("linking failed")
        );
    }
}
