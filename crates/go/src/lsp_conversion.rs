//! Conversion between the model and LSP: URIs and paths, UTF-16 positions and byte offsets. No other module uses
//! UTF-16.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gen_lsp_types::{
    Diagnostic, DocumentDiagnosticParams, LspRequestMethod, Message, MessageDirection, Position, Range, Request, Uri,
};
use serde::{Deserialize, Serialize};

use super::language::is_hidden;
use semdex_engine::files::{File, Files};
use semdex_fs::read_file;
use semdex_lsp_client::file_uri;
use semdex_model::{Place, Span};

/// The limit for a file outside the workspace.
const MOST_BYTES: usize = 10 << 20;

/// `textDocument/diagnostic` as gopls answers it: gopls leaves out the required `kind`.
pub(crate) enum PullDiagnostics {}

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct PulledDiagnostics {
    #[serde(default)]
    pub items: Option<Vec<Diagnostic>>,
}

impl Request for PullDiagnostics {
    type Params = DocumentDiagnosticParams;
    type Result = PulledDiagnostics;
    const METHOD: LspRequestMethod<'static> = LspRequestMethod::TextDocumentDiagnostic;
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ClientToServer;
}

/// The URI of an absolute path.
pub(crate) fn uri(path: &Path) -> Uri {
    Uri(file_uri::of_path(path))
}

/// The path of a `file:` URI; none for another scheme or a path that is not UTF-8.
pub(crate) fn path(uri: &Uri) -> Option<PathBuf> {
    file_uri::path(&uri.0)
}

/// The root of a workspace, and the conversion of file names.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    directory: PathBuf,
    /// The path that gopls uses.
    alias: PathBuf,
    /// The path without links, which the go command may return.
    real: Option<PathBuf>,
}

impl Root {
    /// gopls loads a module with `go list DIRECTORY/...`, which finds nothing if the directory's own name begins with a
    /// dot or an underscore, or is `testdata`. gopls would then answer as if there were no usages. Such a root gets
    /// another path, a link below `links`.
    pub(crate) fn new(directory: PathBuf, links: &Path) -> Root {
        let name = directory.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let hash = || blake3::hash(directory.as_os_str().as_encoded_bytes()).to_hex();
        let alias = if is_hidden(name) { links.join(format!("root-{}", &hash()[..16])) } else { directory.clone() };
        let real = directory.canonicalize().ok();
        Root { directory, alias, real }
    }

    /// Creates the link, if it is needed.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        if self.alias == self.directory {
            return Ok(());
        }
        if let Some(links) = self.alias.parent() {
            std::fs::create_dir_all(links)?;
        }
        match std::os::unix::fs::symlink(&self.directory, &self.alias) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
        if std::fs::read_link(&self.alias)? != self.directory {
            return Err(io::Error::other(format!("{} is not a link to the workspace", self.alias.display())));
        }
        Ok(())
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The working directory of gopls.
    pub(crate) fn alias(&self) -> &Path {
        &self.alias
    }

    pub(crate) fn uri(&self, file: &str) -> Uri {
        if file.is_empty() {
            return uri(&self.alias);
        }
        // The absolute name of an outside file replaces the root.
        uri(&self.alias.join(file))
    }

    /// Relative with `/` inside the workspace, else absolute.
    pub(crate) fn file(&self, uri: &Uri) -> Option<String> {
        let path = path(uri)?;
        let names = [Some(&self.alias), Some(&self.directory), self.real.as_ref()];
        let inside = names.into_iter().flatten().find_map(|it| path.strip_prefix(it).ok());
        inside.unwrap_or(&path).to_str().map(str::to_owned)
    }
}

/// Loads a file: of the workspace from the queried revision, otherwise from disk.
pub(crate) fn load(files: &Files, file: &str) -> Option<Arc<File>> {
    if !file.starts_with('/') {
        return files.get(file).cloned();
    }
    let bytes = read_file(Path::new(file), MOST_BYTES).ok()?;
    Some(Arc::new(crate::file(file, String::from_utf8(bytes).ok()?)))
}

/// The message of a diagnostic.
pub(crate) fn message(diagnostic: &Diagnostic) -> &str {
    match &diagnostic.message {
        Message::String(text) => text,
        Message::MarkupContent(markup) => &markup.value,
    }
}

pub(crate) fn offset(file: &File, position: Position) -> usize {
    file.lines().offset_of_utf16(&file.text, position.line, position.character)
}

pub(crate) fn span(file: &File, range: Range) -> Span {
    let start = offset(file, range.start);
    Span::new(start, offset(file, range.end).max(start))
}

pub(crate) fn place(file: &File, range: Range) -> Place {
    file.lines().place(&file.path, span(file, range))
}

/// The nearest character boundary at or before this offset.
pub(crate) fn position(file: &File, offset: usize) -> Position {
    let mut offset = offset.min(file.text.len());
    while !file.text.is_char_boundary(offset) {
        offset -= 1;
    }
    let (line, character) = file.lines().utf16_of_offset(offset);
    Position { line, character }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_survive_the_way_to_a_uri_and_back() {
        let root = Root::new(PathBuf::from("/w s/ü"), Path::new("/nowhere"));
        for file in ["a.go", "sp ace/#?%41.go", "日本/[x].go", "a+b&c=d;e:f@g.go", "/elsewhere/x.go"] {
            let uri = root.uri(file);
            assert_eq!(root.file(&uri).as_deref(), Some(file), "{}", uri.0.as_str());
        }
        let inside = root.uri("a b.go");
        assert_eq!(inside.0, "file:///w%20s/%C3%BC/a%20b.go");
        assert_eq!(root.file(&"untitled:x".into()), None);
    }

    #[test]
    fn a_root_that_go_would_pass_over_gets_another_name() {
        let directory = tempfile::Builder::new().prefix(".hidden").tempdir().unwrap();
        let links = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            let root = Root::new(directory.path().to_owned(), links.path());
            root.prepare().unwrap();
            assert!(root.alias().starts_with(links.path()));
            let uri = root.uri("a.go");
            assert_eq!(root.file(&uri).as_deref(), Some("a.go"));
        }
    }

    #[test]
    fn positions_count_in_utf16() {
        let file = crate::file("a.go", "x\n// 😀é x\r\n");
        let at = file.text.rfind('x').unwrap();
        let position = position(&file, at);
        assert_eq!((position.line, position.character), (1, 7));
        assert_eq!(offset(&file, position), at);
    }
}
