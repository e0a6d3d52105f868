//! `rename`: another name for a symbol, everywhere at once.

use super::enums::OnBreak;
use super::request::request;

request! { body
    /// Which symbol gets which name.
    #[schema(examples(json!({"symbol": "grep_searcher::Searcher", "new_name": "Scanner", "dry_run": true})))]
    pub struct RenameRequest {
        /// Its path; a shorter one is taken where it is unique.
        pub symbol: String,
        /// An identifier of its language.
        pub new_name: String,
        /// Narrows a short path: a crate, a module or an import path.
        pub package: Option<String>,
        /// Narrows a short path: the name means what it means in this file.
        pub file: Option<String>,
        /// Answer the same, but change nothing.
        #[schema(default = false)]
        pub dry_run: Option<bool>,
        /// What would break something is refused with `rename_refused`, unless it is only to be reported.
        #[schema(default = "reject")]
        pub on_break: Option<OnBreak>,
    }
}
