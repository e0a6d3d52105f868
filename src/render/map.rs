//! A map: paths of files, and below each the lines and signatures of its symbols.

use super::lists::more;
use super::{counted, line};
use crate::contract::MapReply;

/// The rows stand in one fence, so that no sign in a signature is taken for Markdown.
pub fn map(map: &MapReply) -> String {
    let symbols: usize = map.files.iter().map(|it| it.symbols.len()).sum();
    let mut text = String::new();
    let (symbols, files) = (counted(symbols, "symbol"), map.files.len());
    line(&mut text, format_args!("# Map: {symbols} in {files} of {}\n\n~~~", counted(map.total, "file")));
    map.files.iter().for_each(|it| text += &it.rows());
    line(&mut text, format_args!("~~~"));
    more(&mut text, map.next_cursor.as_deref());
    text
}
