//! The text of a manifest, by which an engine finds roots.

use std::path::Path;

use semdex_fs::read_file;

/// Bytes of a manifest; a longer one is none.
const LONGEST: usize = 10 << 20;

/// The text of a regular file; whatever else has the name (a FIFO would never end) is not a manifest.
pub fn read_text(path: &Path) -> Option<String> {
    let bytes = read_file(path, LONGEST).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
