//! Parses `git status --porcelain=v2 -z`: the branch, and the files that differ from the last commit.

use super::file_paths::{GitPath, text};

/// The state of a work tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Status {
    /// `None` before the first commit.
    pub(super) head: Option<String>,
    /// As git prints it. `(detached)` may also be a branch's name.
    pub(super) branch: Option<String>,
    pub(super) entries: Vec<Entry>,
}

/// A file that differs from the last commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: GitPath,
    pub(super) kind: Kind,
    /// The index differs from the last commit.
    pub(super) staged: bool,
    /// The work tree differs from the index.
    pub(super) unstaged: bool,
    /// The earlier name of a renamed or copied file.
    pub(super) from: Option<GitPath>,
    pub(super) is_submodule: bool,
}

/// How a file differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Its content has changed.
    Modified,
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It was renamed.
    Renamed,
    /// It is a copy.
    Copied,
    /// For example, a file has become a link.
    TypeChanged,
    /// A merge has conflicts in it.
    Unmerged,
    /// Git does not track it.
    Untracked,
}

/// Parses the output. `None` if it has another form.
pub(super) fn parse(output: &[u8]) -> Option<Status> {
    let mut status = Status::default();
    let mut records = output.split(|it| *it == 0);
    while let Some(record) = records.next() {
        let Some((&kind, rest)) = record.split_first() else { continue };
        let rest = rest.strip_prefix(b" ").unwrap_or_default();
        match kind {
            b'#' => header(&mut status, rest),
            b'1' => status.entries.push(changed(rest, 6, None)?),
            b'2' => status.entries.push(changed(rest, 7, Some(records.next().filter(|it| !it.is_empty())?))?),
            b'u' => {
                let (_, path) = fields(rest, 9)?;
                let entry = Entry { staged: true, unstaged: true, ..entry(path, Kind::Unmerged) };
                status.entries.push(entry);
            }
            b'?' => status.entries.push(Entry { unstaged: true, ..entry(rest, Kind::Untracked) }),
            b'!' => {}
            _ => return None,
        }
    }
    Some(status)
}

fn header(status: &mut Status, line: &[u8]) {
    if let Some(oid) = line.strip_prefix(b"branch.oid ") {
        status.head = (oid != b"(initial)").then(|| text(oid));
    } else if let Some(branch) = line.strip_prefix(b"branch.head ") {
        status.branch = Some(text(branch));
    }
}

/// Parses `XY sub …`, then `more` fields, then the path.
fn changed(rest: &[u8], more: usize, from: Option<&[u8]>) -> Option<Entry> {
    let (fields, path) = fields(rest, more + 1)?;
    let [x, y] = **fields.first()? else { return None };
    let is_submodule = fields.get(1).is_some_and(|it| it.first() == Some(&b'S'));
    let has = |letter| x == letter || y == letter;
    let kind = if from.is_some() {
        if has(b'C') { Kind::Copied } else { Kind::Renamed }
    } else if x == b'A' || x == b'.' && y == b'A' {
        Kind::Added
    } else if has(b'D') {
        Kind::Deleted
    } else if has(b'T') {
        Kind::TypeChanged
    } else {
        Kind::Modified
    };
    let from = from.map(<[u8]>::to_vec);
    Some(Entry { staged: x != b'.', unstaged: y != b'.', from, is_submodule, ..entry(path, kind) })
}

fn entry(path: &[u8], kind: Kind) -> Entry {
    Entry { path: path.to_vec(), kind, staged: false, unstaged: false, from: None, is_submodule: false }
}

/// The first fields, and the rest of the line, which may contain blanks.
fn fields(line: &[u8], count: usize) -> Option<(Vec<&[u8]>, &[u8])> {
    let mut parts = line.splitn(count + 1, |it| *it == b' ');
    let fields: Vec<&[u8]> = parts.by_ref().take(count).collect();
    Some((fields, parts.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<(String, Kind, bool, bool)> {
        let status = parse(text.replace('|', "\0").as_bytes()).unwrap();
        let summary = |it: Entry| (text_of(&it.path), it.kind, it.staged, it.unstaged);
        status.entries.into_iter().map(summary).collect()
    }

    fn text_of(path: &[u8]) -> String {
        String::from_utf8(path.to_vec()).unwrap()
    }

    #[test]
    fn kinds_are_distinguished() {
        let file = "N... 100644 100644 100644 aaaa bbbb";
        for (line, kind, staged, unstaged) in [
            (format!("1 .M {file} a b|"), Kind::Modified, false, true),
            (format!("1 M. {file} a b|"), Kind::Modified, true, false),
            (format!("1 MM {file} a b|"), Kind::Modified, true, true),
            (format!("1 A. {file} a b|"), Kind::Added, true, false),
            (format!("1 AD {file} a b|"), Kind::Added, true, true),
            (format!("1 .A {file} a b|"), Kind::Added, false, true),
            (format!("1 .D {file} a b|"), Kind::Deleted, false, true),
            (format!("1 D. {file} a b|"), Kind::Deleted, true, false),
            (format!("1 .T {file} a b|"), Kind::TypeChanged, false, true),
            (format!("2 R. {file} R100 a b|old name|"), Kind::Renamed, true, false),
            (format!("2 C. {file} C90 a b|old name|"), Kind::Copied, true, false),
            ("u UU N... 1 2 3 4 a b c a b|".to_owned(), Kind::Unmerged, true, true),
            ("? a b|".to_owned(), Kind::Untracked, false, true),
        ] {
            assert_eq!(parsed(&line), [("a b".to_owned(), kind, staged, unstaged)], "{line}");
        }
        let renamed = parse(format!("2 R. {file} R100 new|old name|? x|").replace('|', "\0").as_bytes()).unwrap();
        assert_eq!((renamed.entries[0].from.as_deref(), renamed.entries.len()), (Some(&b"old name"[..]), 2));
        assert_eq!(parsed("! ignored|"), []);
        assert!(
            parse(format!("1 .M S.C. {} s|", &file[5..]).replace('|', "\0").as_bytes()).unwrap().entries[0]
                .is_submodule
        );
    }

    #[test]
    fn fuzz_git_status() {
        const SAMPLES: &[&str] = &[
            "# branch.oid abc|# branch.head main|1 .M N... 100644 100644 100644 aa bb a b|? c|",
            "2 R. N... 100644 100644 100644 aa bb R100 new|old|u UU N... 1 2 3 4 a b c d|! e|",
        ];
        semdex_testing::fuzz::fuzz(
            "git-status",
            semdex_testing::fuzz::mutated(SAMPLES, &["|", " ", "1", "2", "u", "?", "#", "R", "\n"]),
            |text| {
                // Any input gives a status or none.
                let _ = parse(text.replace('|', "\0").as_bytes());
            },
        );
    }

    #[test]
    fn the_head_is_reported() {
        let status = parse(b"# branch.oid abc\0# branch.head a b\0# stash 3\0").unwrap();
        assert_eq!((status.head.as_deref(), status.branch.as_deref()), (Some("abc"), Some("a b")));
        assert_eq!(parse(b"# branch.oid (initial)\0# branch.head main\0").unwrap().head, None);
        for broken in [&b"1 .M\0"[..], b"x y\0", b"2 R. N... 1 2 3 a b R100 new\0"] {
            assert_eq!(parse(broken), None, "{}", String::from_utf8_lossy(broken));
        }
    }
}
