//! `rename`: renames a symbol everywhere, as one change.

use super::enums::{OnBreak, PossiblePlaces};
use super::request::request;

request! { body
    /// The symbol and its new name.
    #[schema(examples(json!({"symbol": "grep_searcher::Searcher", "new_name": "Scanner", "dry_run": true})))]
    pub struct RenameRequest {
        /// The path of the symbol. A shorter path is accepted if it is unique.
        pub symbol: String,
        /// The new name, an identifier of the language.
        pub new_name: String,
        /// Narrows a short path: a crate, a module or an import path.
        pub package: Option<String>,
        /// Narrows a short path: a file in which the path resolves to the symbol.
        pub file: Option<String>,
        /// Return the same reply, but change nothing.
        #[schema(default = false)]
        pub dry_run: Option<bool>,
        /// Whether a rename that breaks something is refused with `rename_refused` or reported.
        #[schema(default = "reject")]
        pub on_break: Option<OnBreak>,
        /// Whether places that may name the symbol prevent the rename (`refuse`, with `candidates`), or stay as they are
        /// and are listed in `possible` (`leave`).
        #[schema(default = "refuse")]
        pub possible: Option<PossiblePlaces>,
        /// The name that the client gives itself, any text. The header `X-Session` says the same.
        pub session: Option<String>,
    }
}
