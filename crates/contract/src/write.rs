//! `write`: a whole text into a file.

use super::enums::{OnBreak, WriteMode};
use super::request::request;

request! { body
    /// What to write where.
    #[schema(examples(json!({"name": "src/new.rs", "content": "pub fn new() {}\n", "mode": "append"})))]
    pub struct WriteRequest {
        /// The file, relative to the workspace root, with `/`. Missing directories are made.
        pub name: String,
        /// Text in UTF-8.
        pub content: String,
        /// What becomes of what the file holds.
        #[schema(default = "append")]
        pub mode: Option<WriteMode>,
        /// Refuse with `hash_mismatch` unless the file's bytes have this BLAKE3.
        pub expected_hash: Option<String>,
        /// A new file of Rust gets the `mod` line that it needs, in the same change.
        #[schema(default = false)]
        pub declare: Option<bool>,
        /// Answer the same, but change nothing.
        #[schema(default = false)]
        pub dry_run: Option<bool>,
        /// Format the changed files, with rustfmt or gofmt.
        #[schema(default = false)]
        pub format: Option<bool>,
        /// Remove the unused imports of the changed files, and add missing ones where only one fits.
        #[schema(default = false)]
        pub fix_imports: Option<bool>,
        /// What is to be done with a text that breaks something.
        #[schema(default = "report")]
        pub on_break: Option<OnBreak>,
    }
}
