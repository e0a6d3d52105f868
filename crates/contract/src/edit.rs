//! `edit`: replaces one place, or several as one change.

use serde::Deserialize;
use utoipa::ToSchema;
use utoipa::openapi::ContentBuilder;
use utoipa::openapi::schema::{Object, Type};

use super::enums::{At, Elisions, OnBreak, OnConflict};
use super::parse::from_query;
use super::request::{Document, parameters, request};
use semdex_model::{Code, Error, Result, SymbolQuery};
use semdex_text::blocks::{self, Action};

const DEFAULT_AUTOFIX: u8 = 95;
/// The media type of SEARCH/REPLACE blocks.
const BLOCKS: &str = "text/x-search-replace";

request! { body(EditRequest::document(), {
    const TEXT: Option<&'static str> = Some(BLOCKS);

    fn of_text(query: &str, body: String) -> Result<EditRequest> {
        EditRequest::of_blocks(query, body)
    }
})
    /// An edit of a text (`search_context` in a `file` or in a `symbol`) or of a symbol (`symbol` and `at`).
    /// Alternatively several edits in `edits`, or the `fix` of a diagnostic.
    #[schema(examples(
        json!({"file": "src/lib.rs", "search_context": "fn new() -> Self {", "replacement": "pub fn new() -> Self {"}),
        json!({"symbol": "grep_searcher::Searcher::new", "at": "body", "replacement": "\n    todo!()\n"}),
        json!({"edits": [
            {"file": "src/lib.rs", "search_context": "mod old;", "replacement": "mod new;"},
            {"symbol": "crate::old", "at": "delete"}
        ], "dry_run": true})
    ))]
    pub struct EditRequest {
        /// The file of the text. With `symbol`, it narrows a short path.
        pub file: Option<String>,
        /// The text to replace. It must match exactly one place in the file, or in the symbol.
        pub search_context: Option<String>,
        /// The symbol to edit, or the symbol that contains the text.
        pub symbol: Option<String>,
        /// Narrows a short path: a crate, a module or an import path.
        pub package: Option<String>,
        /// With `symbol` and without `search_context`: the part of the symbol to replace.
        pub at: Option<At>,
        /// The new text. An empty text deletes.
        pub replacement: Option<String>,
        /// The `id` of a fix from `diagnostics`, in place of the other fields. It is refused if the file has changed
        /// since (`hash_mismatch`), or if the fix is no longer offered (`conflict`).
        pub fix: Option<String>,
        /// The BLAKE3 of the bytes of the file that the author saw, in hex: all digits, or the first 12 or more. If the
        /// file has another one, `on_conflict` says what happens.
        pub expected_hash: Option<String>,
        /// What happens if the file changed since its author read it: the file with `expected_hash`, or else the one
        /// that the client was shown last (`session`). Default: `refuse` with `expected_hash`, else `merge`.
        pub on_conflict: Option<OnConflict>,
        /// The name that the client gives itself, any text: its edits are merged with the changes of others that it has
        /// not seen. The header `X-Session` says the same.
        pub session: Option<String>,
        /// If several places match, the one closest to this line is edited.
        #[schema(minimum = 1)]
        pub near_line: Option<usize>,
        /// Several edits as one change: all of them or none. All are matched against the files as they are before the
        /// first of them. Their places must not overlap.
        #[schema(min_items = 1)]
        pub edits: Option<Vec<EditItem>>,
        /// The minimum similarity of a fuzzy match in percent. 0 accepts only exact matches and matches that differ in
        /// white space.
        #[schema(maximum = 100, default = 95)]
        pub autofix: Option<u8>,
        /// Return the same reply, but change nothing.
        #[schema(default = false)]
        pub dry_run: Option<bool>,
        /// Format the changed files with rustfmt or gofmt.
        #[schema(default = false)]
        pub format: Option<bool>,
        /// Remove unused imports from the changed files, and add missing imports that are unambiguous.
        #[schema(default = false)]
        pub fix_imports: Option<bool>,
        /// Whether an edit that breaks something is reported or refused.
        #[schema(default = "report")]
        pub on_break: Option<OnBreak>,
        /// How a change is handled that writes a line such as `// ... existing code ...` and removes more lines there
        /// than it adds.
        #[schema(default = "refuse")]
        pub elisions: Option<Elisions>,
        /// Make an edit again whose replacement is already at its place. Otherwise it is refused with
        /// `already_applied`.
        #[schema(default = false)]
        pub repeat: Option<bool>,
        /// SEARCH/REPLACE blocks in place of all other edits: the body of a request with this media type.
        #[serde(skip)]
        pub blocks: Option<String>,
        /// Edits that are already parsed, in place of all others.
        #[serde(skip)]
        pub parsed: Option<Vec<Edit>>,
    }
}

/// One of several edits.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditItem {
    /// The file of the text. With `symbol`, it narrows a short path.
    pub file: Option<String>,
    /// The text to replace. It must match exactly one place in the file, or in the symbol.
    pub search_context: Option<String>,
    /// The symbol to edit, or the symbol that contains the text.
    pub symbol: Option<String>,
    /// Narrows a short path: a crate, a module or an import path.
    pub package: Option<String>,
    /// With `symbol` and without `search_context`: the part of the symbol to replace.
    pub at: Option<At>,
    /// The new text. An empty text deletes.
    pub replacement: Option<String>,
    /// The BLAKE3 of the bytes of the file that the author saw, in hex: all digits, or the first 12 or more. If the file
    /// has another one, `on_conflict` says what happens.
    pub expected_hash: Option<String>,
    /// As `on_conflict` beside `edits`, for this edit.
    pub on_conflict: Option<OnConflict>,
    /// If several places match, the one closest to this line is edited.
    #[schema(minimum = 1)]
    pub near_line: Option<usize>,
}

request! { query
    /// The options of a body of SEARCH/REPLACE blocks.
    // The schema has no `default`: clients would send it with a JSON body, which has its own options.
    pub struct BlocksQuery {
        /// For a body of blocks: the minimum similarity of a fuzzy match in percent. 0 accepts only exact matches and
        /// matches that differ in white space. Default: 95.
        #[param(maximum = 100, nullable = false)]
        pub autofix: Option<u8>,
        /// For a body of blocks: return the same reply, but change nothing. Default: false.
        #[param(nullable = false)]
        pub dry_run: Option<bool>,
        /// For a body of blocks: format the changed files with rustfmt or gofmt. Default: false.
        #[param(nullable = false)]
        pub format: Option<bool>,
        /// For a body of blocks: remove unused imports, and add missing imports that are unambiguous. Default: false.
        #[param(nullable = false)]
        pub fix_imports: Option<bool>,
        /// For a body of blocks: whether an edit that breaks something is reported or refused. Default: `report`.
        #[param(nullable = false)]
        pub on_break: Option<OnBreak>,
        /// For a body of blocks: what happens if a file changed since the client was shown it. Default: `merge`.
        #[param(nullable = false)]
        pub on_conflict: Option<OnConflict>,
        /// For a body of blocks: how a change is handled that writes a line such as `// ... existing code ...` and
        /// removes more lines there than it adds. Default: `refuse`.
        #[param(nullable = false)]
        pub elisions: Option<Elisions>,
        /// For a body of blocks: make an edit again whose replacement is already at its place. Default: false.
        #[param(nullable = false)]
        pub repeat: Option<bool>,
    }
}

/// What an edit replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A text in a file.
    Text {
        /// Relative to the workspace root.
        file: String,
        /// Must match one place in the file.
        search: TextSearch,
    },
    /// A text in a symbol.
    Within {
        /// Must match one symbol.
        symbol: SymbolQuery,
        /// Must match one place in the text of the symbol.
        search: TextSearch,
    },
    /// A part of a symbol.
    Symbol {
        /// Must match one symbol.
        symbol: SymbolQuery,
        /// Which part.
        at: At,
    },
    /// The places that a fix changes, by the `id` of the fix.
    Fix(String),
    /// A whole file.
    File {
        /// Relative to the workspace root.
        file: String,
        /// The file must not exist yet.
        create: bool,
    },
}

/// The text to search for, and how to choose between several matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSearch {
    /// The text to replace; not empty.
    pub context: String,
    /// If several places match, the one closest to this line, from 1.
    pub near_line: Option<usize>,
    /// Whether the text consists of whole lines.
    pub whole_lines: bool,
}

/// A validated edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced.
    pub target: Target,
    /// The new text; empty to delete.
    pub replacement: String,
    /// The BLAKE3 of the bytes of the file that the author saw, in hex, or its first digits. None: not said.
    pub expected_hash: Option<String>,
    /// What happens if the file has another hash. None: the default.
    pub on_conflict: Option<OnConflict>,
}

/// A validated request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edits {
    /// All are made or none. Not empty.
    pub edits: Vec<Edit>,
    /// The minimum similarity, 0 to 100; 0: exact, or different only in white space.
    pub autofix: u8,
    /// Nothing is written.
    pub dry_run: bool,
    /// Whether an edit that breaks something is refused.
    pub on_break: OnBreak,
    /// Whether the changed files are formatted.
    pub format: bool,
    /// Whether the imports of the changed files are fixed.
    pub fix_imports: bool,
    /// Whether a change that writes an elision in place of code is refused.
    pub elisions: Elisions,
    /// Whether an edit is made although its replacement is already at its place.
    pub repeat: bool,
}

impl EditRequest {
    /// Validates the request. Returns `invalid_request` if the fields match none of the forms, or several.
    pub fn checked(self) -> Result<Edits> {
        let EditRequest { edits: several, blocks, parsed, dry_run, format, fix_imports, on_break, on_conflict, .. } =
            self;
        let (elisions, repeat) = (self.elisions, self.repeat);
        let single = EditItem {
            file: self.file,
            search_context: self.search_context,
            symbol: self.symbol,
            package: self.package,
            at: self.at,
            replacement: self.replacement,
            expected_hash: self.expected_hash,
            near_line: self.near_line,
            on_conflict: None,
        };
        let read = match blocks {
            Some(blocks) => Some(from_blocks(&blocks)?),
            None => parsed,
        };
        let read = match self.fix {
            Some(fix) if read.is_none() => Some(vec![by_fix(fix, &single, several.is_some())?]),
            _ => read,
        };
        let autofix = match self.autofix.unwrap_or(DEFAULT_AUTOFIX) {
            autofix if autofix > 100 => {
                let detail = format!("`autofix`: {autofix} is more than 100, which asks for the very same text");
                return Err(invalid(detail));
            }
            autofix => autofix,
        };
        let mut edits = read.map_or_else(|| edits(single, several), Ok)?;
        edits.iter_mut().for_each(|it| it.on_conflict = it.on_conflict.or(on_conflict));
        Ok(Edits {
            edits,
            autofix,
            dry_run: dry_run.unwrap_or_default(),
            on_break: on_break.unwrap_or(OnBreak::Report),
            format: format.unwrap_or_default(),
            fix_imports: fix_imports.unwrap_or_default(),
            elisions: elisions.unwrap_or(Elisions::Refuse),
            repeat: repeat.unwrap_or_default(),
        })
    }

    /// A request from a body of SEARCH/REPLACE blocks, with the options in the query.
    fn of_blocks(query: &str, blocks: String) -> Result<EditRequest> {
        let query: BlocksQuery = from_query(query)?;
        let BlocksQuery { autofix, dry_run, format, fix_imports, on_break, on_conflict, elisions, repeat, .. } = query;
        let BlocksQuery { workspace, min_revision, wait_ms, max_tokens, cursor, limit, .. } = query;
        let common =
            EditRequest { workspace, min_revision, wait_ms, max_tokens, cursor, limit, ..EditRequest::default() };
        let change =
            EditRequest { autofix, dry_run, format, fix_imports, on_break, on_conflict, elisions, repeat, ..common };
        Ok(EditRequest { blocks: Some(blocks), ..change })
    }

    fn document() -> Document {
        let mut document = Document::body::<EditRequest>();
        let blocks = ContentBuilder::new().schema(Some(Object::with_type(Type::String))).example(Some(EXAMPLE.into()));
        if let Some(body) = &mut document.body {
            body.content.insert(BLOCKS.to_owned(), blocks.build().into());
        }
        Document { parameters: parameters::<BlocksQuery>(), ..document }
    }
}

/// The edits of a body of SEARCH/REPLACE blocks.
pub(crate) fn from_blocks(body: &str) -> Result<Vec<Edit>> {
    Ok(from_parsed(blocks::parse(body)?))
}

/// The edits of parsed blocks.
pub fn from_parsed(blocks: Vec<blocks::Block>) -> Vec<Edit> {
    let edit = |block: blocks::Block| {
        let file = block.file;
        let (target, replacement) = match block.action {
            Action::Replace { search: context, replacement } => {
                let search = TextSearch { context, near_line: None, whole_lines: true };
                (Target::Text { file, search }, replacement)
            }
            Action::Create(content) => (Target::File { file, create: true }, content),
            Action::Whole(content) => (Target::File { file, create: false }, content),
        };
        Edit { target, replacement, expected_hash: None, on_conflict: None }
    };
    blocks.into_iter().map(edit).collect()
}

/// A fix defines its places and texts, so it allows no other field.
fn by_fix(fix: String, single: &EditItem, has_several: bool) -> Result<Edit> {
    let other = EditItem { expected_hash: None, ..single.clone() };
    if let Some(field) = other.first_given().or(has_several.then_some("edits")) {
        return Err(invalid(format!(
            "`{field}` stands beside `fix`, which says itself where it goes and what it writes: send one of them"
        )));
    }
    let expected_hash = single.expected_hash.clone();
    Ok(Edit { target: Target::Fix(fix), replacement: String::new(), expected_hash, on_conflict: None })
}

fn edits(single: EditItem, several: Option<Vec<EditItem>>) -> Result<Vec<Edit>> {
    let Some(several) = several else {
        return Ok(vec![single.checked("")?]);
    };
    if let Some(field) = single.first_given() {
        return Err(invalid(format!(
            "`{field}` stands beside `edits`: with several edits it belongs into each of them"
        )));
    }
    if several.is_empty() {
        return Err(invalid("`edits` is empty: there is nothing to do".to_owned()));
    }
    let place = |index| format!("`edits[{index}]`: ");
    several.into_iter().enumerate().map(|(index, item)| item.checked(&place(index))).collect()
}

impl EditItem {
    fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("file", self.file.is_some()),
            ("search_context", self.search_context.is_some()),
            ("symbol", self.symbol.is_some()),
            ("package", self.package.is_some()),
            ("at", self.at.is_some()),
            ("replacement", self.replacement.is_some()),
            ("expected_hash", self.expected_hash.is_some()),
            ("near_line", self.near_line.is_some()),
            ("on_conflict", self.on_conflict.is_some()),
        ];
        given.into_iter().find_map(|(name, given)| given.then_some(name))
    }

    /// Validates one edit: a text or a symbol, not both.
    fn checked(self, place: &str) -> Result<Edit> {
        let wrong = |detail: &str| Err(invalid(format!("{place}{detail}")));
        let EditItem { file, search_context, symbol, package, at, replacement, expected_hash, near_line, on_conflict } =
            self;
        let search = match search_context {
            Some(context) if context.trim().is_empty() => {
                return wrong("`search_context` is blank, which fits anywhere; `write` makes or extends a file");
            }
            Some(_) if at.is_some() => {
                return wrong(
                    "`at` replaces a part of the `symbol`, and `search_context` a text in it: an edit goes to one of \
                     them, not to both",
                );
            }
            Some(_) if near_line == Some(0) => return wrong("`near_line`: lines count from 1"),
            Some(context) => Some(TextSearch { context, near_line, whole_lines: false }),
            None => None,
        };
        let target = match (symbol, search) {
            (None, None) => {
                return wrong(
                    "say what to edit: `file` and `search_context` (a text in it), or `symbol` and `at` (`body`, \
                     `whole`, `before`, `after`, `delete`), or several of these in `edits`",
                );
            }
            (Some(symbol), Some(search)) => Target::Within { symbol: SymbolQuery { symbol, package, file }, search },
            (Some(symbol), None) => {
                let Some(at) = at else {
                    return wrong(
                        "beside `symbol`, say `at` (`body`, `whole`, `before`, `after` or `delete`), or a \
                         `search_context` in it",
                    );
                };
                if near_line.is_some() {
                    return wrong(
                        "`near_line` is for a `search_context`; a short `symbol` is narrowed by `package` or `file`",
                    );
                }
                if at == At::Delete && replacement.as_deref().is_some_and(|it| !it.is_empty()) {
                    return wrong("`at: delete` takes no `replacement`; `at: whole` replaces the symbol");
                }
                Target::Symbol { symbol: SymbolQuery { symbol, package, file }, at }
            }
            (None, Some(search)) => {
                if package.is_some() {
                    return wrong("`package` is for a `symbol`, not for a `search_context`");
                }
                let Some(file) = file else {
                    return wrong("beside `search_context`, say the `file` or the `symbol` that it stands in");
                };
                Target::Text { file, search }
            }
        };
        let Some(replacement) = replacement.or_else(|| (at == Some(At::Delete)).then(String::new)) else {
            return wrong("missing field `replacement`: the new text, \"\" to delete");
        };
        Ok(Edit { target, replacement, expected_hash, on_conflict })
    }
}

fn invalid(detail: String) -> Error {
    Error::new(Code::InvalidRequest, detail)
}

const EXAMPLE: &str =
    "src/lib.rs\n<<<<<<< SEARCH\nfn new() -> Self {\n=======\npub fn new() -> Self {\n>>>>>>> REPLACE\n";

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Edits> {
        serde_json::from_str::<EditRequest>(text).unwrap().checked()
    }

    fn refuse(text: &str, wanted: &str) {
        let error = parse(text).unwrap_err();
        assert_eq!(error.code, Code::InvalidRequest);
        assert!(error.detail.contains(wanted), "{} lacks {wanted}", error.detail);
    }

    #[test]
    fn each_form_is_understood() {
        let text = parse(r#"{"file":"a.rs","search_context":"x","replacement":"","near_line":3}"#).unwrap();
        assert_eq!((text.autofix, text.dry_run, text.edits.len()), (95, false, 1));
        let symbol = parse(r#"{"symbol":"a::b","at":"delete","autofix":0,"on_break":"reject"}"#).unwrap();
        assert_eq!((symbol.autofix, symbol.on_break), (0, OnBreak::Reject));
        let within = parse(r#"{"symbol":"a::b","search_context":"x","replacement":"","near_line":3}"#).unwrap();
        assert!(matches!(&within.edits[0].target, Target::Within { search, .. } if search.near_line == Some(3)));
        let fix = parse(r#"{"fix":"a","expected_hash":"0","dry_run":true}"#).unwrap();
        assert_eq!((&fix.edits[0].target, fix.dry_run), (&Target::Fix("a".to_owned()), true));
        let several = r#"{"edits":[{"file":"a","search_context":"x","replacement":"y"},
            {"symbol":"b","at":"body","replacement":"z","expected_hash":null}],"dry_run":true}"#;
        let several = parse(several).unwrap();
        assert_eq!((several.edits.len(), several.dry_run), (2, true));
    }

    #[test]
    fn what_is_no_form_is_refused_with_what_to_do() {
        refuse("{}", "say what to edit");
        refuse(r#"{"search_context":"x","replacement":"y"}"#, "say the `file`");
        refuse(r#"{"file":"a","search_context":"x"}"#, "`replacement`");
        refuse(r#"{"file":"a","search_context":" \n","replacement":"y"}"#, "blank");
        refuse(r#"{"file":"a","search_context":"x","replacement":"y","autofix":101}"#, "`autofix`");
        refuse(r#"{"symbol":"a","at":"body","search_context":"x","replacement":"y"}"#, "not to both");
        refuse(r#"{"symbol":"a","replacement":"y"}"#, "say `at`");
        refuse(r#"{"symbol":"a","at":"delete","replacement":"y"}"#, "`at: whole`");
        refuse(r#"{"symbol":"a","at":"body","replacement":"y","near_line":2}"#, "`near_line`");
        refuse(r#"{"file":"a","search_context":"x","replacement":"y","package":"p"}"#, "is for a `symbol`");
        refuse(r#"{"edits":[]}"#, "nothing to do");
        refuse(r#"{"fix":"a","file":"a"}"#, "`file` stands beside `fix`");
        refuse(r#"{"fix":"a","expected_hash":"0","near_line":1}"#, "`near_line` stands beside `fix`");
        refuse(r#"{"fix":"a","edits":[]}"#, "`edits` stands beside `fix`");
        refuse(r#"{"edits":[],"file":"a"}"#, "`file` stands beside `edits`");
        refuse(r#"{"edits":[{"symbol":"a","at":"delete"},{"symbol":"b"}]}"#, "`edits[1]`");
    }
}
