//! The two texts of a fuzzy comparison, collapsed as the score compares them, and their words.

use crate::score::collapse;
use semdex_model::Span;

/// Characters in a group. One edit changes at most so many groups.
pub(super) const GROUP: usize = 3;

/// The search text, prepared for the comparison.
pub(super) struct Asked<'a> {
    /// The text as it was sent.
    context: &'a str,
    whole_lines: bool,
    pub text: String,
    /// Its length in characters.
    pub length: usize,
    /// Its lines, collapsed, without the blank ones.
    pub lines: Vec<String>,
    /// Whether one of its lines is only an indentation.
    pub has_blanks_alone: bool,
}

impl<'a> Asked<'a> {
    pub(crate) fn new(context: &'a str, whole_lines: bool) -> Asked<'a> {
        let text = collapse(context).into_owned();
        let lines = context.lines().map(|line| collapse(line).into_owned()).filter(|line| !line.is_empty()).collect();
        let has_blanks_alone = context.lines().any(|line| !line.is_empty() && line.trim().is_empty());
        Asked { context, whole_lines, length: text.chars().count(), text, lines, has_blanks_alone }
    }

    /// The best score at this distance or more: a place that is longer than the search text also has a greater
    /// distance.
    pub(crate) fn at_most(&self, distance: usize) -> f64 {
        100.0 * (1.0 - distance as f64 / self.length as f64)
    }

    /// A place with this score is at most so many edits away. It may be longer than the search text by its additional
    /// characters.
    pub(crate) fn most_edits(&self, score: f64) -> usize {
        let edits = self.length as f64 * (100.0 - score) / score.max(1.0);
        (edits.ceil() as usize).min(self.length)
    }

    pub(crate) fn first_atom(&self) -> &str {
        first_atom(&self.text)
    }

    pub(crate) fn last_atom(&self) -> &str {
        last_atom(&self.text)
    }

    /// Whether the search text itself shows that it begins with a line, by an indentation or a line end.
    pub(crate) fn begins_line(&self) -> bool {
        self.whole_lines || self.context.starts_with(char::is_whitespace)
    }

    pub(crate) fn ends_line(&self) -> bool {
        self.whole_lines || self.context.trim_end_matches([' ', '\t', '\r']).ends_with('\n')
    }
}

/// A text collapsed line by line, as the score compares it. Each part of it is the collapsed text of a part of the
/// file.
pub(super) struct Collapsed {
    pub text: String,
    /// The lines that are not blank.
    pub lines: Vec<Line>,
    /// Whether one of its lines is only an indentation.
    pub has_blanks_alone: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// Its span in the collapsed text.
    pub start: usize,
    pub end: usize,
    /// The offset of its first character that is not white space, in the original.
    original: usize,
    /// The groups of characters that begin on the line, counted through the collapsed text.
    pub first_group: usize,
    pub last_group: usize,
}

impl Collapsed {
    pub(crate) fn new(original: &str) -> Collapsed {
        let mut collapsed =
            Collapsed { text: String::with_capacity(original.len()), lines: Vec::new(), has_blanks_alone: false };
        let (mut at, mut group) = (0, 0);
        let ends = memchr::memchr_iter(b'\n', original.as_bytes()).map(|it| it + 1);
        // The text may not end with a line end.
        for end in ends.chain([original.len()]) {
            let line = &original[at..end];
            let new = collapse(line);
            if !new.is_empty() {
                if !collapsed.text.is_empty() {
                    collapsed.text.push(' ');
                    group += 1;
                }
                let start = collapsed.text.len();
                collapsed.text.push_str(&new);
                let original = at + line.len() - line.trim_start().len();
                let length = new.chars().count();
                // Only groups that also end on the line.
                let last_group = (group + length).saturating_sub(GROUP - 1);
                collapsed.lines.push(Line {
                    start,
                    end: collapsed.text.len(),
                    original,
                    first_group: group,
                    last_group,
                });
                group += length;
            } else {
                collapsed.has_blanks_alone |= line.starts_with([' ', '\t']);
            }
            at = end;
        }
        collapsed
    }

    pub(crate) fn line_text(&self, line: usize) -> &str {
        &self.text[self.lines[line].start..self.lines[line].end]
    }

    /// The lines from one line to another, or to the last.
    pub(crate) fn lines_between(&self, first: usize, last: usize) -> &[Line] {
        &self.lines[first..(last + 1).min(self.lines.len())]
    }

    /// The lines of a place; of the first and the last one the part that belongs to it.
    pub(crate) fn texts_between(&self, begin: usize, end: usize) -> Vec<&str> {
        let lines = self.lines_between(self.line_of(begin), self.line_of(end - 1)).iter();
        lines.map(|line| &self.text[line.start.max(begin)..line.end.min(end)]).collect()
    }

    /// Where this word or sign occurs on some lines.
    pub(crate) fn atoms_like<'a>(&'a self, lines: &'a [Line], atom: &'a str) -> impl Iterator<Item = Span> + 'a {
        let atoms = lines.iter().flat_map(|&line| atoms(&self.text, line));
        atoms.filter(move |span| &self.text[span.start..span.end] == atom)
    }

    /// The words and signs of a line.
    pub(crate) fn atoms_on(&self, line: usize) -> impl Iterator<Item = Span> + '_ {
        atoms(&self.text, self.lines[line])
    }

    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.start <= offset).saturating_sub(1)
    }

    /// A range of the collapsed text as a range of the original.
    pub(crate) fn original(&self, original: &str, start: usize, end: usize) -> Span {
        let last = end.saturating_sub(1).max(start);
        let from = self.original_of(original, start);
        // The end of the last character, not the start of the character after it.
        let character = (start..=last).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(start);
        let length = self.text[character..].chars().next().map_or(0, char::len_utf8);
        Span::new(from, self.original_of(original, character) + length)
    }

    fn original_of(&self, original: &str, offset: usize) -> usize {
        let line = self.lines[self.line_of(offset)];
        let mut left = offset - line.start;
        let mut characters = original[line.original..].char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            if left == 0 {
                return line.original + at;
            }
            if character.is_whitespace() {
                while characters.next_if(|(_, next)| next.is_whitespace()).is_some() {}
                left = left.saturating_sub(1);
            } else {
                left = left.saturating_sub(character.len_utf8());
            }
        }
        original.len()
    }
}

pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character| !is_word(character)).filter(|word| !word.is_empty())
}

/// Where a word occurs in a text, at most so many times.
pub(super) fn occurrences_of_word(text: &str, word: &str, most: usize) -> Vec<usize> {
    let whole = |&at: &usize| !text[..at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word);
    memchr::memmem::find_iter(text.as_bytes(), word).filter(whole).take(most).collect()
}

/// The words and single signs of a line.
fn atoms(text: &str, line: Line) -> impl Iterator<Item = Span> {
    let mut at = line.start;
    std::iter::from_fn(move || {
        let rest = text[at..line.end].trim_start();
        at = line.end - rest.len();
        let length = first_atom(rest).len();
        at += length;
        (length > 0).then(|| Span::new(at - length, at))
    })
}

pub(super) fn first_atom(text: &str) -> &str {
    let mut characters = text.char_indices();
    match characters.next() {
        None => text,
        Some((_, first)) if is_word(first) => &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())],
        Some((_, first)) => &text[..first.len_utf8()],
    }
}

pub(super) fn last_atom(text: &str) -> &str {
    match text.chars().next_back() {
        None => text,
        Some(last) if is_word(last) => text.rsplit(|c| !is_word(c)).next().unwrap_or(text),
        Some(last) => &text[text.len() - last.len_utf8()..],
    }
}
