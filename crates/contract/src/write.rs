//! `write`: writes a text to a file.

use super::enums::{OnBreak, WriteMode};
use super::request::request;

request! { body
    /// The file and its new text.
    #[schema(examples(json!({"name": "src/new.rs", "content": "pub fn new() {}\n", "mode": "append"})))]
    pub struct WriteRequest {
        /// The file, relative to the workspace root, with `/`. Missing directories are created.
        pub name: String,
        /// Text in UTF-8.
        pub content: String,
        /// How the text is combined with the existing content.
        #[schema(default = "append")]
        pub mode: Option<WriteMode>,
        /// The expected BLAKE3 of the bytes of the file, in hex. Otherwise the call is refused with `hash_mismatch`.
        pub expected_hash: Option<String>,
        /// Add the `mod` declaration of a new Rust file in the same change.
        #[schema(default = false)]
        pub declare: Option<bool>,
        /// Return the same reply, but change nothing.
        #[schema(default = false)]
        pub dry_run: Option<bool>,
        /// Format the changed files with rustfmt or gofmt.
        #[schema(default = false)]
        pub format: Option<bool>,
        /// Remove unused imports from the changed files, and add missing imports that are unambiguous.
        #[schema(default = false)]
        pub fix_imports: Option<bool>,
        /// Whether a text that breaks something is reported or refused.
        #[schema(default = "report")]
        pub on_break: Option<OnBreak>,
    }
}
