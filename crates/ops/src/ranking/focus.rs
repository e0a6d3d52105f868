//! What a request has in focus.

/// A file, or a symbol in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Focus {
    /// Relative to the root.
    pub file: String,
    /// The offset of the name of the symbol.
    pub at: Option<usize>,
}
