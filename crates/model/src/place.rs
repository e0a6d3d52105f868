//! Positions in texts: spans of bytes, and places in files.

/// A stretch of a file. `file` is relative to the workspace root with `/`, or absolute for a file outside it
/// (the standard library, a dependency). Lines and the column count from 1, the column in UTF-8 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// With `/`, relative to the workspace root; absolute where the file lies outside of it.
    pub file: String,
    /// Byte offset of the first byte.
    pub start: usize,
    /// Byte offset after the last byte.
    pub end: usize,
    /// Line of `start`, from 1.
    pub line: usize,
    /// Line of `end`, from 1.
    pub end_line: usize,
    /// Column of `start` in UTF-8 bytes, from 1.
    pub column: usize,
}

impl Place {
    /// Before all that a file holds.
    pub fn start_of(file: &str) -> Place {
        Place { file: file.to_owned(), start: 0, end: 0, line: 1, end_line: 1, column: 1 }
    }

    /// The byte offsets alone, without the file.
    pub fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }
}

/// UTF-8 byte offsets, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte; equal to `start` for an empty span.
    pub end: usize,
}

impl Span {
    /// A span from `start` up to, not including, `end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// Whether the byte at this offset is part of the span; `end` is not.
    pub fn contains(self, offset: usize) -> bool {
        self.start <= offset && offset < self.end
    }

    /// Whether the second span lies within this one. Equal spans enclose each other.
    pub fn encloses(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether a byte is part of both. Spans that only touch do not overlap, nor does an empty one at an edge.
    pub fn overlaps(self, other: Span) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// The span with both ends translated by `offset`, which must keep their order.
    pub fn moved(self, offset: impl Fn(usize) -> usize) -> Span {
        Span::new(offset(self.start), offset(self.end))
    }
}
