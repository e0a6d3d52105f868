//! The `*** Begin Patch` form of Codex.
//!
//! ```text
//! *** Begin Patch
//! *** Update File: src/lib.rs
//! @@ impl Searcher {
//!      fn new() -> Self {
//! -        todo!()
//! +        Self { depth: 0 }
//!      }
//! *** Add File: src/new.rs
//! +pub fn new() {}
//! *** Delete File: src/old.rs
//! *** End Patch
//! ```

use super::hunk::{self, Head, Line, Sign};
use super::{Action, PatchEdit, PlaceHints, lines, wrong};
use semdex_model::Result;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";
const MOVE: &str = "*** Move to:";
const FILES: [(&str, Kind); 3] =
    [("*** Add File:", Kind::Add), ("*** Update File:", Kind::Update), ("*** Delete File:", Kind::Delete)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Add,
    Update,
    Delete,
}

/// Whether a line begins a patch, or the part of a file in one.
pub(super) fn is_directive(line: &str) -> bool {
    line.trim_end() == BEGIN || file_of(line).is_some()
}

/// What a patch does with a file, and the name of the file.
fn file_of(line: &str) -> Option<(Kind, &str)> {
    FILES.iter().find_map(|(start, kind)| Some((*kind, line.strip_prefix(start)?.trim())))
}

pub(super) fn parse(patch: &str) -> Result<Vec<PatchEdit>> {
    let lines = lines(patch);
    let mut parser = Parser { lines, at: 0, edits: Vec::new(), is_ended: false, is_closed: false };
    parser.skip_wrapper();
    while let Some(line) = parser.line() {
        match file_of(line) {
            Some((kind, name)) => parser.file(kind, name)?,
            None => parser.between(line)?,
        }
    }
    if parser.edits.is_empty() {
        return Err(wrong(
            1,
            "there is no file in the patch: after `*** Begin Patch` comes `*** Update File: NAME`, `*** Add File: \
             NAME` or `*** Delete File: NAME`",
        ));
    }
    if !(parser.is_ended || parser.is_closed) {
        return Err(wrong(
            parser.lines.len(),
            "the patch ends here without `*** End Patch`, so the rest of it may be cut off: send all of it",
        ));
    }
    Ok(parser.edits)
}

struct Parser<'a> {
    /// With their line ends.
    lines: Vec<&'a str>,
    at: usize,
    edits: Vec<PatchEdit>,
    /// `*** End Patch` follows the last file.
    is_ended: bool,
    /// The here document or the fence around the patch is closed.
    is_closed: bool,
}

impl<'a> Parser<'a> {
    /// The current line without its line end and blanks at the end.
    fn line(&self) -> Option<&'a str> {
        Some(self.lines.get(self.at)?.trim_end())
    }

    /// Skips what is before the patch: a command with a here document, a fence, prose. The line that ends the here
    /// document or the fence ends the patch.
    fn skip_wrapper(&mut self) {
        let begin = self.lines.iter().position(|it| is_directive(it.trim_end())).unwrap_or(self.lines.len());
        let above = self.lines[..begin].iter().rev().map(|it| it.trim()).find(|it| !it.is_empty());
        let end = above.and_then(|line| {
            let after = line.rsplit_once("<<").and_then(|it| it.1.trim_start_matches('-').split_whitespace().next());
            let word = after.map(|it| it.trim_matches(['\'', '"']));
            let fence = line.starts_with("```").then_some("```");
            word.or(fence).filter(|it| !it.is_empty())
        });
        if let Some(end) = end
            && let Some(at) = self.lines.iter().rposition(|it| it.trim_end() == end)
            && at > begin
        {
            self.lines.truncate(at);
            self.is_closed = true;
        }
        self.at = begin;
    }

    /// Reads a line that belongs to no file.
    fn between(&mut self, line: &str) -> Result<()> {
        let number = self.at + 1;
        self.at += 1;
        if line == END {
            self.is_ended = true;
            // Whatever follows is no part of the patch, unless another one begins.
            let next = self.lines[self.at..].iter().position(|it| is_directive(it.trim_end()));
            self.at = next.map_or(self.lines.len(), |it| self.at + it);
            return Ok(());
        }
        if line.is_empty() || line == BEGIN || line.starts_with("*** Environment ID:") {
            return Ok(());
        }
        Err(wrong(
            number,
            &format!(
                "`{line}` is neither a line of a hunk nor `*** Update File: NAME`, `*** Add File: NAME`, `*** Delete \
                 File: NAME` or `*** End Patch`"
            ),
        ))
    }

    fn file(&mut self, kind: Kind, name: &str) -> Result<()> {
        let number = self.at + 1;
        if name.is_empty() {
            return Err(wrong(number, "the name of the file is missing after the colon"));
        }
        self.at += 1;
        self.is_ended = false;
        match kind {
            Kind::Delete => self.push(name, number, Action::Delete { content: None }),
            Kind::Add => {
                let content = self.added()?;
                self.push(name, number, Action::Create(content));
            }
            Kind::Update => self.update(name, number)?,
        }
        Ok(())
    }

    fn push(&mut self, file: &str, line: usize, action: Action) {
        self.edits.push(PatchEdit { file: file.to_owned(), line, action });
    }

    /// The lines of a new file.
    fn added(&mut self) -> Result<String> {
        let lines = self.hunk_lines()?;
        match lines.iter().find(|it| !matches!(it.sign, Sign::Added | Sign::Blank)) {
            Some(other) => Err(wrong(other.number, "the file is new, so that each of its lines begins with `+`")),
            None => Ok(hunk::content(&lines)),
        }
    }

    fn update(&mut self, file: &str, number: usize) -> Result<()> {
        let before = self.edits.len();
        if let Some(to) = self.line().and_then(|it| it.strip_prefix(MOVE)) {
            let to = to.trim();
            if to.is_empty() {
                return Err(wrong(self.at + 1, "the new name of the file is missing after the colon"));
            }
            self.push(file, number, Action::Move { to: to.to_owned() });
            self.at += 1;
        }
        loop {
            while self.line().is_some_and(str::is_empty) {
                self.at += 1;
            }
            let first = self.at + 1;
            let mut place = PlaceHints { is_below: true, ..PlaceHints::default() };
            while let Some(line) = self.line().filter(|it| it.starts_with("@@")) {
                let head = Head::of(line);
                place.line = head.line.filter(|it| *it > 0).or(place.line);
                place.headings.extend(head.heading);
                self.at += 1;
            }
            let lines = self.hunk_lines()?;
            if self.line() == Some(END_OF_FILE) {
                place.at_end = true;
                self.at += 1;
            }
            if lines.is_empty() && self.at + 1 == first {
                break;
            }
            let action = replace(first, &lines, place)?;
            self.push(file, first, action);
        }
        if self.edits.len() == before {
            return Err(wrong(number, "nothing of this file changes: there is no hunk of it, and no `*** Move to:`"));
        }
        Ok(())
    }

    /// The lines up to the next `@@` or `***`.
    fn hunk_lines(&mut self) -> Result<Vec<Line<'a>>> {
        let mut lines: Vec<Line<'a>> = Vec::new();
        while let Some(&raw) = self.lines.get(self.at) {
            if raw.starts_with("@@") || raw.starts_with("*** ") {
                break;
            }
            let (sign, text) = hunk::sign(raw);
            if raw.starts_with("\\ ") {
                if let Some(last) = lines.last_mut() {
                    last.ends_file = true;
                }
            } else {
                lines.push(Line { number: self.at + 1, sign, text, ends_file: false });
            }
            self.at += 1;
        }
        hunk::without_blank_end(&mut lines);
        Ok(lines)
    }
}

/// The edit of a hunk in a file that exists.
fn replace(number: usize, lines: &[Line<'_>], place: PlaceHints) -> Result<Action> {
    if !lines.iter().any(|it| matches!(it.sign, Sign::Added | Sign::Deleted)) {
        return Err(wrong(number, "this hunk changes nothing: no line of it begins with `+` or `-`"));
    }
    let says_where = !place.headings.is_empty() || place.line.is_some();
    let hunk = hunk::hunk(lines, place);
    if !hunk.search.trim().is_empty() {
        return Ok(Action::Replace(hunk));
    }
    if !says_where {
        return Ok(Action::Append(hunk.replacement));
    }
    Err(wrong(
        number,
        "this hunk only adds lines, and nothing says where below `@@`: add lines that stay (` `) around them",
    ))
}
