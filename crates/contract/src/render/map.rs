//! A map: the paths of files, and below each the lines and signatures of its symbols.

use super::code::fence;
use super::lists::more;
use super::markdown::{counted, one};
use crate::{MapFile, MapReply};

/// The rows are in one fence, so that nothing in a signature is interpreted as Markdown.
pub(crate) fn map(map: &MapReply) -> String {
    let symbols: usize = map.files.iter().map(|it| it.symbols.len()).sum();
    let (symbols, files) = (counted(symbols, "symbol"), map.files.len());
    let mut text = one(format_args!("# Map: {symbols} in {files} of {}", counted(map.total, "file")));
    let rows: String = map.files.iter().map(MapFile::rows).collect();
    let fence = fence('~', &rows);
    text += &format!("\n{fence}\n{rows}{fence}\n");
    more(&mut text, map.next_cursor.as_deref());
    text
}
