//! The names of files: git's are bytes from the top of the work tree, the workspace's are text from its root, which may
//! lie deeper.

use std::fmt::Write as _;

/// A file as git names it.
pub(super) type GitPath = Vec<u8>;

/// Where the workspace's root lies in the work tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Naming {
    /// Empty, or with a slash at its end.
    pub(super) prefix: Vec<u8>,
}

impl Naming {
    /// Git's name of a file of the workspace.
    pub(super) fn of(&self, name: &str) -> GitPath {
        [self.prefix.as_slice(), name.as_bytes()].concat()
    }

    /// The workspace's name of a file. `None` if the file is outside, or its name is not text.
    pub(super) fn inside(&self, path: &[u8]) -> Option<String> {
        String::from_utf8(path.strip_prefix(self.prefix.as_slice())?.to_vec()).ok()
    }

    /// The name for messages: relative to the workspace's root, with `../` if needed, and quoted as git does if it is
    /// not UTF-8.
    pub(super) fn shown(&self, path: &[u8]) -> String {
        text(&self.relative(path))
    }

    fn relative(&self, path: &[u8]) -> Vec<u8> {
        let slashes = |it: &[u8]| it.iter().filter(|it| **it == b'/').count();
        let equal = self.prefix.iter().zip(path).take_while(|(a, b)| a == b).count();
        // Only whole directories are compared.
        let common =
            self.prefix.get(..equal).and_then(|it| it.iter().rposition(|it| *it == b'/')).map_or(0, |it| it + 1);
        let up = slashes(self.prefix.get(common..).unwrap_or_default());
        let mut relative = b"../".repeat(up);
        relative.extend_from_slice(path.get(common..).unwrap_or_default());
        relative
    }
}

/// Bytes as text. Bytes that are not UTF-8 are quoted and escaped as git does.
pub(crate) fn text(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b'\n' => quoted.push_str("\\n"),
            b'\t' => quoted.push_str("\\t"),
            b' '..=b'~' => quoted.push(char::from(byte)),
            // Writing to a `String` cannot fail.
            _ => drop(write!(quoted, "\\{byte:03o}")),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_given_from_the_root_of_the_workspace() {
        let top = Naming::default();
        assert_eq!(
            (top.shown(b"a/b"), top.of("a/b"), top.inside(b"a/b")),
            ("a/b".into(), b"a/b".to_vec(), Some("a/b".into()))
        );
        let below = Naming { prefix: b"crates/one/".to_vec() };
        for (path, shown) in [
            ("crates/one/src/a.rs", "src/a.rs"),
            ("crates/two/a.rs", "../two/a.rs"),
            ("crates/one2/a.rs", "../one2/a.rs"),
            ("Cargo.toml", "../../Cargo.toml"),
            ("crates/one", "../one"),
        ] {
            assert_eq!(below.shown(path.as_bytes()), shown);
        }
        assert_eq!(below.of("src/a.rs"), b"crates/one/src/a.rs");
        assert_eq!((below.inside(b"crates/one/a"), below.inside(b"crates/one2/a")), (Some("a".into()), None));
    }

    #[test]
    fn what_is_not_text_is_escaped() {
        assert_eq!(text("a \"b\"\n".as_bytes()), "a \"b\"\n");
        assert_eq!(text(b"caf\xe9 \"x\"\n"), "\"caf\\351 \\\"x\\\"\\n\"");
    }
}
