//! Unified diffs, as git and models write them.

use super::hunk::{self, Head, Line, Sign};
use super::{Action, PatchEdit, PlaceHints, lines, wrong};
use crate::blocks::{Fence, fence};
use semdex_model::Result;

const NOWHERE: &str = "/dev/null";

/// Whether a file's part of a diff begins in this line. The lines have no line ends.
pub(super) fn begins_file(lines: &[&str], at: usize) -> bool {
    let line = lines[at];
    line.starts_with("diff --git ")
        || (line.starts_with("--- ") && lines.get(at + 1).is_some_and(|it| it.starts_with("+++ ")))
}

pub(super) fn parse(patch: &str) -> Result<Vec<PatchEdit>> {
    let lines = lines(patch);
    let bare = lines.iter().map(|it| it.trim_end()).collect();
    let mut parser = Parser { lines, bare, at: 0, file: None, fence: None, after_hunk: false, edits: Vec::new() };
    while parser.at < parser.lines.len() {
        parser.outside()?;
    }
    parser.end_file()?;
    if parser.edits.is_empty() {
        return Err(wrong(
            1,
            "there is no change in the diff, which has `--- a/FILE` and `+++ b/FILE`, then `@@` and the lines of the \
             hunk: ` ` before those that stay, `-` and `+` before the others",
        ));
    }
    Ok(parser.edits)
}

struct Parser<'a> {
    /// With their line ends.
    lines: Vec<&'a str>,
    /// Without line ends and blanks at the end.
    bare: Vec<&'a str>,
    at: usize,
    file: Option<FilePart<'a>>,
    /// The fence around the diff.
    fence: Option<Fence>,
    /// The line above is the end of a hunk, or blank lines or a fence after it.
    after_hunk: bool,
    edits: Vec<PatchEdit>,
}

/// The part of the diff about one file.
#[derive(Default)]
struct FilePart<'a> {
    /// Its first line, from 1.
    line: usize,
    /// The names of `diff --git`.
    git: Option<(String, String)>,
    /// The names of `---` and `+++`.
    sides: Option<(String, String)>,
    rename: (Option<String>, Option<String>),
    is_new: bool,
    is_deleted: bool,
    hunks: Vec<(Head, usize, Vec<Line<'a>>)>,
}

impl<'a> Parser<'a> {
    /// Reads one line between hunks, or a whole hunk.
    fn outside(&mut self) -> Result<()> {
        let (number, line) = (self.at + 1, self.bare[self.at]);
        let after_hunk = std::mem::replace(&mut self.after_hunk, false);
        if begins_file(&self.bare, self.at) {
            return self.begin_file(line, number);
        }
        if line.starts_with("@@@") {
            return Err(wrong(number, "a combined diff of a merge: send the diff against one parent"));
        }
        if line.starts_with("@@") {
            self.at += 1;
            return self.hunk(Head::of(line), number);
        }
        if let Some(found) = fence(line, number) {
            self.fence = match &self.fence {
                Some(open) if open.closed_by(line) => None,
                _ => Some(found),
            };
            self.after_hunk = after_hunk;
            self.at += 1;
            return Ok(());
        }
        let is_added = line.starts_with('+') && !line.starts_with("+++");
        if let Some(file) = &mut self.file
            && file.hunks.is_empty()
        {
            let has_name = file.sides.is_some() || file.git.is_some();
            if has_name && (is_added || self.lines[self.at].starts_with([' ', '-'])) {
                return self.hunk(Head::default(), number);
            }
            file.header(line, number)?;
        } else if is_added && after_hunk {
            return Err(wrong(
                number,
                "this line belongs to no hunk, which the line above ends: write ` ` before a line that stays",
            ));
        }
        self.after_hunk = after_hunk && line.is_empty();
        self.at += 1;
        Ok(())
    }

    fn begin_file(&mut self, line: &str, number: usize) -> Result<()> {
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.end_file()?;
            self.file = Some(FilePart { line: number, git: git_names(names), ..FilePart::default() });
            self.at += 1;
            return Ok(());
        }
        let sides = (side(line), side(self.bare[self.at + 1]));
        self.at += 2;
        match &mut self.file {
            Some(file) if file.sides.is_none() && file.hunks.is_empty() => file.sides = Some(sides),
            _ => {
                self.end_file()?;
                self.file = Some(FilePart { line: number, sides: Some(sides), ..FilePart::default() });
            }
        }
        Ok(())
    }

    fn hunk(&mut self, head: Head, number: usize) -> Result<()> {
        let mut lines: Vec<Line<'a>> = Vec::new();
        // Old and new lines so far.
        let mut seen = (0, 0);
        let closes = |line: &str| self.fence.as_ref().is_some_and(|it| it.closed_by(line));
        let is_end =
            |at: usize| begins_file(&self.bare, at) || self.bare[at].starts_with("@@") || closes(self.bare[at]);
        let end = (self.at..self.lines.len()).find(|at| is_end(*at)).unwrap_or(self.lines.len());
        let last_change = (self.at..end).rfind(|at| is_change(self.bare[*at]));
        while self.at < end {
            let (raw, line) = (self.lines[self.at], self.bare[self.at]);
            let is_complete = head.counts.is_some_and(|counts| counts.0 <= seen.0 && counts.1 <= seen.1);
            // The signature of a mail, not a deleted line.
            if is_complete && line == "--" {
                break;
            }
            let (sign, text) = hunk::sign(raw);
            if raw.starts_with('\\') {
                if let Some(last) = lines.last_mut() {
                    last.ends_file = true;
                }
                self.at += 1;
                continue;
            }
            // Prose after the diff.
            let is_apart = is_complete || lines.last().is_some_and(|it| it.sign == Sign::Blank);
            if sign == Sign::None && is_apart && last_change.is_none_or(|at| at < self.at) {
                break;
            }
            lines.push(Line { number: self.at + 1, sign, text, ends_file: false });
            seen.0 += usize::from(sign != Sign::Added);
            seen.1 += usize::from(sign != Sign::Deleted);
            self.at += 1;
        }
        self.refuse_cut_off(&head, seen)?;
        hunk::without_blank_end(&mut lines);
        self.after_hunk = true;
        let Some(file) = &mut self.file else {
            return Err(wrong(
                number,
                "no file is named above this hunk: write `--- a/FILE` and `+++ b/FILE` before it",
            ));
        };
        if !lines.iter().any(|it| matches!(it.sign, Sign::Added | Sign::Deleted)) {
            return Err(wrong(number, "this hunk changes nothing: no line of it begins with `+` or `-`"));
        }
        file.hunks.push((head, number, lines));
        Ok(())
    }

    /// Refuses a diff that ends within a line of a hunk which has fewer lines than its head says. Only both together
    /// show that the rest is missing: models often count wrong.
    fn refuse_cut_off(&self, head: &Head, seen: (usize, usize)) -> Result<()> {
        let Some((old, new)) = head.counts.filter(|it| seen.0 < it.0 || seen.1 < it.1) else { return Ok(()) };
        if self.at < self.lines.len() || self.lines.last().is_none_or(|it| it.ends_with('\n')) {
            return Ok(());
        }
        Err(wrong(
            self.lines.len(),
            &format!(
                "the diff ends here, in a hunk that has {} old and {} new lines and should have {old} and {new}, so the \
                 rest of it may be cut off: send all of it, with a line end after the last line",
                seen.0, seen.1
            ),
        ))
    }

    /// Adds the edits of the file that ends here.
    fn end_file(&mut self) -> Result<()> {
        let Some(part) = self.file.take() else { return Ok(()) };
        let (old, new) = part.names()?;
        let edit = |file: &str, line, action| PatchEdit { file: file.to_owned(), line, action };
        let (file, action) = match (old, new) {
            (None, Some(new)) => (new, Action::Create(part.content(Sign::Added)?)),
            (Some(old), None) => {
                let content = part.content(Sign::Deleted)?;
                (old, Action::Delete { content: (!part.hunks.is_empty()).then_some(content) })
            }
            (Some(old), Some(new)) => {
                if old != new {
                    self.edits.push(edit(&old, part.line, Action::Move { to: new }));
                } else if part.hunks.is_empty() {
                    return Err(wrong(part.line, "nothing of this file changes: there is no hunk of it"));
                }
                for (head, number, lines) in &part.hunks {
                    self.edits.push(edit(&old, *number, replace(head, *number, lines)?));
                }
                return Ok(());
            }
            (None, None) => return Err(wrong(part.line, "the name of the file is missing on both sides")),
        };
        self.edits.push(edit(&file, part.line, action));
        Ok(())
    }
}

/// Whether a line is certainly added or deleted: it is no header and no item of a list in prose.
fn is_change(line: &str) -> bool {
    let rest = line.strip_prefix(['+', '-']).filter(|_| !line.starts_with("+++") && !line.starts_with("---"));
    rest.is_some_and(|it| it.strip_prefix(' ').is_none_or(|it| it.is_empty() || it.starts_with(char::is_whitespace)))
}

/// The edit of a hunk in a file that exists.
fn replace(head: &Head, number: usize, lines: &[Line<'_>]) -> Result<Action> {
    let place = PlaceHints {
        line: head.line.filter(|it| *it > 0),
        headings: head.heading.iter().cloned().collect(),
        ..PlaceHints::default()
    };
    let hunk = hunk::hunk(lines, place);
    if !hunk.search.trim().is_empty() {
        return Ok(Action::Replace(hunk));
    }
    // This is how a diff fills an empty file.
    if head.line == Some(0) {
        return Ok(Action::Create(hunk::content(lines)));
    }
    Err(wrong(
        number,
        "nothing but a line number says where this hunk belongs: add lines with text that stay (` `) around it",
    ))
}

impl FilePart<'_> {
    /// Reads a line of the header.
    fn header(&mut self, line: &str, number: usize) -> Result<()> {
        if let Some(name) = line.strip_prefix("rename from ") {
            self.rename.0 = Some(unquoted(name));
        } else if let Some(name) = line.strip_prefix("rename to ") {
            self.rename.1 = Some(unquoted(name));
        } else if line.starts_with("new file mode") {
            self.is_new = true;
        } else if line.starts_with("deleted file mode") {
            self.is_deleted = true;
        } else if line.starts_with("copy from ") || line.starts_with("copy to ") {
            return Err(wrong(number, "files are not copied: create the file with its content"));
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err(wrong(number, "only text is edited, and this file is binary"));
        }
        Ok(())
    }

    /// The old and the new name. None: the file does not exist on that side.
    fn names(&self) -> Result<(Option<String>, Option<String>)> {
        if let (Some(from), Some(to)) = &self.rename {
            return Ok((Some(from.clone()), Some(to.clone())));
        }
        if self.rename != (None, None) {
            return Err(wrong(self.line, "`rename from` and `rename to` belong together: one of them is missing"));
        }
        let Some((old, new)) = self.sides.as_ref().or(self.git.as_ref()) else {
            return Err(wrong(self.line, "the name of the file cannot be read: write `--- a/FILE` and `+++ b/FILE`"));
        };
        let is_new = self.is_new || old == NOWHERE;
        let is_deleted = self.is_deleted || new == NOWHERE;
        if is_new && is_deleted {
            return Err(wrong(self.line, "the file is new and deleted in one"));
        }
        if is_new {
            return Ok((None, Some(without_prefix(new).to_owned())));
        }
        if is_deleted {
            return Ok((Some(without_prefix(old).to_owned()), None));
        }
        let (bare_old, bare_new) = (without_prefix(old), without_prefix(new));
        let name = match () {
            () if old == new => old,
            () if bare_old == bare_new || bare_old == new => bare_old,
            () if old == bare_new => old,
            () => {
                return Err(wrong(
                    self.line,
                    &format!(
                        "the names `{bare_old}` and `{bare_new}` differ: write the same name twice, or `rename from` \
                         and `rename to` above them to move the file"
                    ),
                ));
            }
        };
        Ok((Some(name.to_owned()), Some(name.to_owned())))
    }

    /// The content of a file that is new or deleted: all its lines have this sign.
    fn content(&self, sign: Sign) -> Result<String> {
        let (what, expected) = if sign == Sign::Added { ("new", '+') } else { ("deleted", '-') };
        let all: Vec<Line<'_>> = self.hunks.iter().flat_map(|it| &it.2).copied().collect();
        match all.iter().find(|it| it.sign != sign && it.sign != Sign::Blank) {
            Some(other) => Err(wrong(
                other.number,
                &format!("the file is {what}, so that each of its lines begins with `{expected}`"),
            )),
            None => Ok(hunk::content(&all)),
        }
    }
}

/// The name in a line `--- NAME` or `+++ NAME`, without a time.
fn side(line: &str) -> String {
    let name = line.get(4..).unwrap_or_default();
    unquoted(name.split('\t').next().unwrap_or_default())
}

/// A name without the prefix of its side: `a/`, `b/`, and those of `diff.mnemonicPrefix`.
fn without_prefix(name: &str) -> &str {
    let mut characters = name.chars();
    match (characters.next(), characters.next()) {
        (Some('a' | 'b' | 'c' | 'i' | 'o' | 'w'), Some('/')) => &name[2..],
        _ => name,
    }
}

/// The names of `a/NAME b/NAME`. Both are the same unless `rename from` and `rename to` follow.
fn git_names(line: &str) -> Option<(String, String)> {
    if line.starts_with('"') {
        let end = line.match_indices('"').map(|it| it.0).skip(1).find(|at| !line[..*at].ends_with('\\'))?;
        let (old, new) = line.split_at(end + 1);
        return Some((unquoted(old), unquoted(new)));
    }
    // Names may contain blanks.
    let mut pairs = line.match_indices(' ').map(|(at, _)| (&line[..at], &line[at + 1..]));
    let pair = pairs.find(|(old, new)| without_prefix(old) == without_prefix(new));
    pair.or_else(|| line.split_once(' ')).map(|(old, new)| (old.to_owned(), new.to_owned()))
}

/// A name that may be quoted as git quotes it.
fn unquoted(name: &str) -> String {
    let name = name.trim();
    let Some(inner) = name.strip_prefix('"').and_then(|it| it.strip_suffix('"')) else { return name.to_owned() };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(next) = rest.next_if(|it| (b'0'..=b'7').contains(it)) else { break };
                    value = value * 8 + u32::from(next - b'0');
                }
                bytes.push(value.to_le_bytes()[0]);
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
