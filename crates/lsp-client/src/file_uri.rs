//! Converts paths to `file:` URIs and back.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// All characters except those that RFC 3986 allows in a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The URI of an absolute path.
pub fn of_path(path: &Path) -> String {
    format!("file://{}", percent_encode(path.as_os_str().as_bytes(), ESCAPED))
}

/// The path of a `file:` URI. `None` for another scheme, and for a path that is not UTF-8.
pub fn path(uri: &str) -> Option<PathBuf> {
    let escaped = uri.strip_prefix("file://")?;
    percent_decode_str(escaped).decode_utf8().ok().map(|path| PathBuf::from(path.as_ref()))
}
