//! Content that is not on the disk: an editor's buffer, a try. It stands before what the disk has, in every answer,
//! until it is taken away or its time is over. It comes and goes through the same door as every change.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use semdex_model::{Code, Error, FileEdit, Help, Result, Revision};

/// All overlays of a workspace together; they stand in memory.
pub(crate) const MOST_BYTES: usize = 64 << 20;

/// What becomes of an edit of a file that has an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Edits {
    /// It is refused: the owner of the overlay has the word.
    #[default]
    Refuse,
    /// It goes to the overlay, and not to the disk.
    Overlay,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Put {
    pub file: String,
    pub content: String,
    pub lives: Duration,
    pub edits: Edits,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    pub file: String,
    pub hash: blake3::Hash,
    pub edits: Edits,
    /// Milliseconds since 1970.
    pub ends_at: i64,
    pub(crate) text: Arc<str>,
    pub(crate) ends: Instant,
}

/// What came of putting or removing one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub overlay: Overlay,
    /// Of what was seen before; absent where there was no file.
    pub old_hash: Option<String>,
    pub revision: Revision,
}

/// By the file's name.
pub(crate) type Overlays = BTreeMap<String, Overlay>;

/// Whether a change goes to overlays; refused where an overlay's owner does not want it, and where it would go to both.
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
