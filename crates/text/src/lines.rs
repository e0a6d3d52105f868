//! Lines of a text: byte offsets as lines and columns, and the UTF-16 columns of language servers.

use line_index::{LineCol, TextSize, WideEncoding, WideLineCol};

use semdex_model::{Place, Span};

/// Where each line of a text begins. Lines and columns count from 1, columns in UTF-8 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIndex(line_index::LineIndex);

impl LineIndex {
    /// Finds the line ends of a text.
    pub fn new(text: &str) -> LineIndex {
        LineIndex(line_index::LineIndex::new(text))
    }

    /// The number of lines as an editor counts them: a final newline does not begin a line.
    pub fn line_count(&self) -> usize {
        let end = self.line_col(self.0.len().into());
        end.line as usize + usize::from(end.col > 0)
    }

    /// The line of an offset.
    pub fn line(&self, offset: usize) -> usize {
        self.line_col(offset).line as usize + 1
    }

    /// Where a line begins, and where the next one begins.
    pub fn line_span(&self, line: usize) -> Option<Span> {
        let range = self.0.line(u32::try_from(line.checked_sub(1)?).ok()?)?;
        Some(Span::new(range.start().into(), range.end().into()))
    }

    /// A line's text without its line ending.
    pub fn line_text<'a>(&self, text: &'a str, line: usize) -> &'a str {
        let Some(span) = self.line_span(line) else { return "" };
        text[span.start..span.end].trim_end_matches(['\n', '\r'])
    }

    /// A span of the text with its lines and its column. An empty span ends on the line on which it begins.
    pub fn place(&self, file: &str, span: Span) -> Place {
        let LineCol { line, col } = self.line_col(span.start);
        let (line, column) = (line as usize + 1, col as usize + 1);
        let end_line = if span.end > span.start { self.line(span.end - 1) } else { line };
        Place { file: file.to_owned(), start: span.start, end: span.end, line, end_line, column }
    }

    /// The offset of a line and a column. `None` past the end of the line or inside a character.
    pub fn offset(&self, text: &str, line: usize, column: usize) -> Option<usize> {
        let span = self.line_span(line)?;
        let offset = span.start + column.checked_sub(1)?;
        let end = span.start + self.line_text(text, line).len();
        (offset <= end && text.is_char_boundary(offset)).then_some(offset)
    }

    /// A language server's position (line from 0, column in UTF-16 units) as an offset. A column past the end of the
    /// line means that end, as the protocol says. A column inside a character means the character's end.
    pub fn offset_of_utf16(&self, text: &str, line: u32, column: u32) -> usize {
        let Some(span) = self.line_span((line as usize).saturating_add(1)) else { return self.0.len().into() };
        let content = self.line_text(text, line as usize + 1);
        let at = self.0.to_utf8(WideEncoding::Utf16, WideLineCol { line, col: column });
        let mut column = at.map_or(content.len(), |it| it.col as usize).min(content.len());
        while !content.is_char_boundary(column) {
            column += 1;
        }
        span.start + column
    }

    /// An offset as a language server's position.
    pub fn utf16_of_offset(&self, offset: usize) -> (u32, u32) {
        let at = self.line_col(offset);
        (at.line, self.0.to_wide(WideEncoding::Utf16, at).map_or(at.col, |it| it.col))
    }

    /// Line and column from 0. An offset inside a character counts as the character's start; an offset past the text
    /// counts as the text's end.
    fn line_col(&self, offset: usize) -> LineCol {
        let offset = TextSize::try_from(offset).unwrap_or(self.0.len()).min(self.0.len());
        let before = |back: u32| offset.checked_sub(back.into());
        (0..4).find_map(|it| self.0.try_line_col(before(it)?)).unwrap_or(LineCol { line: 0, col: 0 })
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
        assert_eq!(index.utf16_of_offset(at), (1, 4));
        assert_eq!(index.offset_of_utf16(text, 1, 4), at);
        assert_eq!(index.offset_of_utf16(text, 1, 99), text.find('\r').unwrap());
        let wide = text.find('𝒳').unwrap();
        assert_eq!(index.offset_of_utf16(text, 1, 3), wide + '𝒳'.len_utf8(), "inside a surrogate pair");
        assert_eq!(index.place("f", Span::new(wide, at)).end_line, 2, "its last byte is inside a character");
        assert_eq!(index.line(wide + 1), 2);
        assert_eq!(index.offset(text, 2, 8), Some(at));
        assert_eq!(index.offset(text, 2, 3), None, "inside a character");
        assert_eq!(index.offset(text, 2, 10), None, "past the end");
        assert_eq!(index.line_text(text, 2), "bß𝒳c");
        assert_eq!(LineIndex::new("a\n").line_count(), 1);
        assert_eq!(LineIndex::new("").line_count(), 0);
    }
}
