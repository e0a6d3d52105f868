//! Lines of a text: byte offsets to lines and columns, and the UTF-16 columns that language servers speak.

use crate::model::{Place, Span};

/// Where each line of one text begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<usize>,
    len: usize,
}

impl LineIndex {
    pub fn new(text: &str) -> LineIndex {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        LineIndex { starts, len: text.len() }
    }

    /// Lines as an editor counts them: a final newline opens no line.
    pub fn line_count(&self) -> usize {
        match self.starts.last() {
            Some(&last) if last == self.len => self.starts.len() - 1,
            _ => self.starts.len(),
        }
    }

    /// The line of an offset, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset)
    }

    /// Where a line begins, and where the next one does; `line` counts from 1.
    pub fn line_span(&self, line: usize) -> Option<Span> {
        let start = *self.starts.get(line.checked_sub(1)?)?;
        let end = self.starts.get(line).copied().unwrap_or(self.len);
        Some(Span::new(start, end))
    }

    /// A line's text without its line ending.
    pub fn line_text<'a>(&self, text: &'a str, line: usize) -> &'a str {
        let Some(span) = self.line_span(line) else { return "" };
        text[span.start..span.end].trim_end_matches(['\n', '\r'])
    }

    pub fn place(&self, file: &str, span: Span) -> Place {
        let line = self.line(span.start);
        let end_line = if span.end > span.start { self.line(span.end - 1) } else { line };
        let column = span.start - self.starts[line - 1] + 1;
        Place { file: file.to_owned(), start: span.start, end: span.end, line, end_line, column }
    }

    /// The offset of a line and a column, both from 1, the column in UTF-8 bytes. `None` past the line's end or
    /// inside a character.
    pub fn offset(&self, text: &str, line: usize, column: usize) -> Option<usize> {
        let span = self.line_span(line)?;
        let offset = span.start + column.checked_sub(1)?;
        let end = span.start + self.line_text(text, line).len();
        (offset <= end && text.is_char_boundary(offset)).then_some(offset)
    }

    /// A language server's position (line from 0, column in UTF-16 units) as an offset. Past a line's end means
    /// its end, as the protocol has it.
    pub fn offset_of_utf16(&self, text: &str, line: u32, column: u32) -> usize {
        let line = line as usize + 1;
        let Some(span) = self.line_span(line) else { return self.len };
        let content = self.line_text(text, line);
        let mut units = 0;
        for (at, character) in content.char_indices() {
            if units >= column as usize {
                return span.start + at;
            }
            units += character.len_utf16();
        }
        span.start + content.len()
    }

    /// An offset as a language server's position.
    pub fn utf16_of_offset(&self, text: &str, offset: usize) -> (u32, u32) {
        let line = self.line(offset);
        let start = self.starts[line - 1];
        let units: usize = text[start..offset].chars().map(char::len_utf16).sum();
        (u32::try_from(line - 1).unwrap_or(u32::MAX), u32::try_from(units).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns() {
        let text = "a\nbß𝒳c\r\n\nend";
        let index = LineIndex::new(text);
        assert_eq!(index.line_count(), 4);
        let at = text.find('c').unwrap();
        let place = index.place("f", Span::new(at, at + 1));
        assert_eq!((place.line, place.end_line, place.column), (2, 2, 8));
        assert_eq!(index.utf16_of_offset(text, at), (1, 4));
        assert_eq!(index.offset_of_utf16(text, 1, 4), at);
        assert_eq!(index.offset_of_utf16(text, 1, 99), text.find('\r').unwrap());
        assert_eq!(index.offset(text, 2, 8), Some(at));
        assert_eq!(index.offset(text, 2, 3), None, "inside a character");
        assert_eq!(index.offset(text, 2, 10), None, "past the end");
        assert_eq!(index.line_text(text, 2), "bß𝒳c");
        assert_eq!(LineIndex::new("a\n").line_count(), 1);
        assert_eq!(LineIndex::new("").line_count(), 0);
    }
}
