//! Pure text: lines and columns, matching, diffs. No I/O.

pub mod lines;
