//! Files other than Go sources that the go command reads: what cgo compiles and includes, and what `//go:embed` embeds.
//! gopls watches none of them. It keeps its data of a package until it loads everything again.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::document_sync::{is_read, matters};
use super::modules::{base_name, parent};
use super::syntax::imports_c;
use crate::LANGUAGE;
use semdex_engine::files::Files;
use semdex_engine::{FileChange, FileChangeKind};

const EMBED: &str = "//go:embed";

/// The files that these Go sources make the go command read. Computed at the first query.
pub(crate) struct BuildInputs {
    files: Arc<Files>,
    uses_c: OnceCell<bool>,
    embeds: OnceCell<BTreeSet<Embed>>,
}

/// The files that a pattern of `//go:embed` may match.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Embed {
    /// The directory of the Go file with the pattern.
    directory: String,
    /// The first path element of the pattern; none if a wildcard may match any name.
    first: Option<String>,
}

impl BuildInputs {
    pub(crate) fn new(files: Arc<Files>) -> BuildInputs {
        BuildInputs { files, uses_c: OnceCell::new(), embeds: OnceCell::new() }
    }

    /// Whether a change of this file, which is no Go source, may change the go command's view of a package. For an
    /// embedded file only its existence matters, not its content.
    pub(crate) fn concerns(&self, change: &FileChange) -> bool {
        let comes_or_goes = change.kind != FileChangeKind::Changed;
        !matters(&change.path)
            && (self.is_compiled(&change.path, comes_or_goes) || comes_or_goes && self.is_embedded(&change.path))
    }

    /// Without cgo, a C file in a package is an error.
    fn is_compiled(&self, file: &str, comes_or_goes: bool) -> bool {
        let mut go = self.files.of(LANGUAGE);
        is_read(base_name(file)) && (self.uses_c() || comes_or_goes && go.any(|it| parent(&it.path) == parent(file)))
    }

    fn uses_c(&self) -> bool {
        *self.uses_c.get_or_init(|| self.files.of(LANGUAGE).any(|it| imports_c(&it.text)))
    }

    fn is_embedded(&self, file: &str) -> bool {
        let embeds = self.embeds.get_or_init(|| {
            let texts = self.files.of(LANGUAGE);
            texts.flat_map(|it| patterns(&it.text).map(move |pattern| Embed::new(parent(&it.path), pattern))).collect()
        });
        embeds.iter().any(|it| it.may_take(file))
    }
}

impl Embed {
    fn new(directory: &str, pattern: &str) -> Embed {
        let pattern = pattern.strip_prefix("all:").unwrap_or(pattern);
        let first = pattern.split('/').next().unwrap_or(pattern);
        // A pattern in quotes may have been cut at a space.
        let is_plain = first != "." && !first.contains(['*', '?', '[', '\\', '"', '`']);
        Embed { directory: directory.to_owned(), first: is_plain.then(|| first.to_owned()) }
    }

    fn may_take(&self, file: &str) -> bool {
        let below = match self.directory.as_str() {
            "" => Some(file),
            directory => file.strip_prefix(directory).and_then(|it| it.strip_prefix('/')),
        };
        below.is_some_and(|it| self.first.as_deref().is_none_or(|first| it.split('/').next() == Some(first)))
    }
}

fn patterns(text: &str) -> impl Iterator<Item = &str> {
    let has_any = memchr::memmem::find(text.as_bytes(), EMBED.as_bytes()).is_some();
    let searched = if has_any { text } else { "" };
    let lists = searched.lines().filter_map(|it| it.trim_start().strip_prefix(EMBED));
    lists.filter(|it| it.starts_with([' ', '\t'])).flat_map(str::split_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_takes_what_begins_as_it_does() {
        let text = "package a\n\n//go:embed one.txt all:two/*.html\n//go:embedded no\nvar (\n\t//go:embed three\n)\nvar it string\n";
        assert_eq!(patterns(text).collect::<Vec<_>>(), ["one.txt", "all:two/*.html", "three"]);
        for (pattern, file, is_taken) in [
            ("one.txt", "a/one.txt", true),
            ("one.txt", "a/one.txt/inner", true),
            ("one.txt", "a/other.txt", false),
            ("one.txt", "one.txt", false),
            ("all:two/*.html", "a/two/x.html", true),
            ("all:two/*.html", "a/three/x.html", false),
            ("*.txt", "a/x.txt", true),
            (".", "a/x.txt", true),
            ("\"with", "a/with space", true),
        ] {
            assert_eq!(Embed::new("a", pattern).may_take(file), is_taken, "{pattern} {file}");
        }
        assert!(Embed::new("", "one.txt").may_take("one.txt"));
    }
}
