//! Overlays: content that is not on the disk, such as an editor's buffer or an experiment. An overlay hides the disk's
//! content in every answer until it is removed or expires. It passes the same checks as every change.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use semdex_model::{Code, Error, FileEdit, Help, Result, Revision};

/// The size limit of all overlays of a workspace together, in bytes. They are kept in memory.
pub(crate) const MOST_BYTES: usize = 64 << 20;

/// What happens to an edit of a file with an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Edits {
    /// It is refused: the overlay's owner decides.
    #[default]
    Refuse,
    /// It changes the overlay, not the disk.
    Overlay,
}

/// A request to put an overlay.
#[derive(Debug, Clone)]
pub struct Put {
    /// The file's name.
    pub file: String,
    /// The content.
    pub content: String,
    /// How long the overlay exists.
    pub lives: Duration,
    /// What happens to edits of the file.
    pub edits: Edits,
}

/// The overlay of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// The file's name.
    pub file: String,
    /// BLAKE3 of the content.
    pub hash: blake3::Hash,
    /// What happens to edits of the file.
    pub edits: Edits,
    /// When it expires, in milliseconds since 1970.
    pub ends_at: i64,
    pub(crate) text: Arc<str>,
    pub(crate) ends: Instant,
}

/// The result of putting or removing an overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The overlay.
    pub overlay: Overlay,
    /// The hash of the content that was visible before, in hex. `None` if there was no file.
    pub old_hash: Option<String>,
    /// The revision after it.
    pub revision: Revision,
}

/// Overlays by their files' names.
pub(crate) type Overlays = BTreeMap<String, Overlay>;

/// Whether a change goes to overlays. An error if an overlay's owner refuses edits, or if the change would go to
/// overlays and to the disk.
pub(crate) fn takes(overlays: &Overlays, edits: &[FileEdit]) -> Result<bool> {
    let over = |edit: &FileEdit| overlays.get(&edit.file);
    let refusing = edits.iter().filter_map(over).find(|it| it.edits == Edits::Refuse);
    let count = edits.iter().filter(|it| over(it).is_some()).count();
    let refused = |file: &str, why: &str| {
        let help = Help { file: Some(file.to_owned()), ..Help::default() };
        Err(Error::new(Code::Conflict, format!("nothing was changed: `{file}` {why}")).with_help(help))
    };
    if let Some(overlay) = refusing {
        let why = "has an overlay, content that is not on the disk: take it away first (`delete_overlay`), or \
                   put it with `edits: \"overlay\"` to have edits go to it";
        return refused(&overlay.file, why);
    }
    match edits.iter().filter_map(over).next() {
        Some(overlay) if count < edits.len() || edits.iter().any(|it| it.new.is_none()) => {
            refused(&overlay.file, "has an overlay, and a change goes to overlays or to the disk, not to both")
        }
        found => Ok(found.is_some()),
    }
}
