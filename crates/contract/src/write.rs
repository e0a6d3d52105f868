//! `write`: writes a text to a file.

use super::enums::{Elisions, OnBreak, OnConflict, WriteMode};
use super::request::request;

request! { body
    /// The file and its new text.
    #[schema(examples(json!({"name": "src/new.rs", "content": "pub fn new() {}\n", "mode": "append"})))]
    pub struct WriteRequest {
        /// The file, relative to the workspace root, with `/`. Missing directories are created. `file` is the same
        /// field.
        #[serde(alias = "file")]
        pub name: String,
        /// Text in UTF-8.
        pub content: String,
        /// How the text is combined with the existing content.
        #[schema(default = "append")]
        pub mode: Option<WriteMode>,
        /// The BLAKE3 of the bytes of the file that the author saw, in hex: all digits, or the first 12 or more. If the
        /// file has another one, `on_conflict` says what happens.
        pub expected_hash: Option<String>,
        /// What happens if the file changed since its author read it: the file with `expected_hash`, or else the one
        /// that the client was shown last (`session`). Default: `refuse` with `expected_hash`, else `merge`.
        pub on_conflict: Option<OnConflict>,
        /// The name that the client gives itself, any text: its changes are merged with those of others that it has not
        /// seen. The header `X-Session` says the same.
        pub session: Option<String>,
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
        /// How a text is handled that has a line such as `// ... existing code ...` and removes more lines there than
        /// it adds.
        #[schema(default = "refuse")]
        pub elisions: Option<Elisions>,
        /// Append a text that begins like the file itself. Otherwise it is refused with `already_exists`.
        #[schema(default = false)]
        pub repeat: Option<bool>,
    }
}
