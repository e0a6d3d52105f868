//! `edit`: one place replaced, or several, all or none.

use serde::Deserialize;
use utoipa::ToSchema;
use utoipa::openapi::ContentBuilder;
use utoipa::openapi::schema::{Object, Type};

use super::enums::{At, OnBreak};
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
    /// One edit, at a text (`search_context` in a `file` or in a `symbol`) or at a symbol (`symbol` and `at`), or several
    /// in `edits`, or the `fix` of a diagnostic.
    #[schema(examples(
        json!({"file": "src/lib.rs", "search_context": "fn new() -> Self {", "replacement": "pub fn new() -> Self {"}),
        json!({"symbol": "grep_searcher::Searcher::new", "at": "body", "replacement": "\n    todo!()\n"}),
        json!({"edits": [
            {"file": "src/lib.rs", "search_context": "mod old;", "replacement": "mod new;"},
            {"symbol": "crate::old", "at": "delete"}
        ], "dry_run": true})
    ))]
    pub struct EditRequest {
        /// Of the text; beside `symbol` it narrows a short path.
        pub file: Option<String>,
        /// The text to be replaced, found once in the file, or in the symbol.
        pub search_context: Option<String>,
        /// The symbol to edit, or the one that the text stands in.
        pub symbol: Option<String>,
        /// Narrows a short path: a crate, a module or an import path.
        pub package: Option<String>,
        /// With `symbol` and without `search_context`: which part of it the replacement takes the place of.
        pub at: Option<At>,
        /// May be empty, which deletes.
        pub replacement: Option<String>,
        /// Instead of all this: the `id` of a fix, as the diagnostics tell it. Refused where the file was changed since
        /// (`hash_mismatch`), or where it is not offered any more (`conflict`).
        pub fix: Option<String>,
        /// Refuse with `hash_mismatch` unless the file's bytes have this BLAKE3.
        pub expected_hash: Option<String>,
        /// Of several places that fit, the one nearest to this line.
        #[schema(minimum = 1)]
        pub near_line: Option<usize>,
        /// Several at once, all or none.
        #[schema(min_items = 1)]
        pub edits: Option<Vec<EditItem>>,
        /// The least similarity that a fuzzy match must reach; 0 takes only an exact match or one but for white space.
        #[schema(maximum = 100, default = 95)]
        pub autofix: Option<u8>,
        /// Answer the same, but change nothing.
        #[schema(default = false)]
        pub dry_run: Option<bool>,
        /// Format the changed files, with rustfmt or gofmt.
        #[schema(default = false)]
        pub format: Option<bool>,
        /// Remove the unused imports of the changed files, and add missing ones where only one fits.
        #[schema(default = false)]
        pub fix_imports: Option<bool>,
        /// What is to be done with an edit that breaks something.
        #[schema(default = "report")]
        pub on_break: Option<OnBreak>,
        /// SEARCH/REPLACE blocks instead of all other edits: the body of a request of another type.
        #[serde(skip)]
        pub blocks: Option<String>,
        /// Edits that this program has already read, instead of all others.
        #[serde(skip)]
        pub parsed: Option<Vec<Edit>>,
    }
}

/// One of several edits.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditItem {
    /// Of the text; beside `symbol` it narrows a short path.
    pub file: Option<String>,
    /// The text to be replaced, found once in the file, or in the symbol.
    pub search_context: Option<String>,
    /// The symbol to edit, or the one that the text stands in.
    pub symbol: Option<String>,
    /// Narrows a short path: a crate, a module or an import path.
    pub package: Option<String>,
    /// With `symbol` and without `search_context`: which part of it the replacement takes the place of.
    pub at: Option<At>,
    /// May be empty, which deletes.
    pub replacement: Option<String>,
    /// Refuse with `hash_mismatch` unless the file's bytes have this BLAKE3.
    pub expected_hash: Option<String>,
    /// Of several places that fit, the one nearest to this line.
    #[schema(minimum = 1)]
    pub near_line: Option<usize>,
}

request! { query
    /// What may be said beside a body of blocks.
    // No `default` in the schema: clients would send it beside a body of JSON, which takes its options itself.
    pub struct BlocksQuery {
        /// Of a body of blocks: the least similarity that a fuzzy match must reach, in percent; 0 takes only an exact match
        /// or one but for white space. Default: 95.
        #[param(maximum = 100, nullable = false)]
        pub autofix: Option<u8>,
        /// Of a body of blocks: answer the same, but change nothing. Default: false.
        #[param(nullable = false)]
        pub dry_run: Option<bool>,
        /// Of a body of blocks: format the changed files, with rustfmt or gofmt. Default: false.
        #[param(nullable = false)]
        pub format: Option<bool>,
        /// Of a body of blocks: remove unused imports, and add missing ones where only one fits. Default: false.
        #[param(nullable = false)]
        pub fix_imports: Option<bool>,
        /// Of a body of blocks: whether what would break something is reported or refused. Default: `report`.
        #[param(nullable = false)]
        pub on_break: Option<OnBreak>,
    }
}

/// Where an edit goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// At a text that is searched in a file.
    Text {
        /// Relative to the workspace root.
        file: String,
        /// Must fit one place of the file.
        search: TextSearch,
    },
    /// At a text that is searched in a symbol.
    Within {
        /// Must fit one symbol.
        symbol: SymbolQuery,
        /// Must fit one place of the symbol's text.
        search: TextSearch,
    },
    /// At a part of a symbol.
    Symbol {
        /// Must fit one symbol.
        symbol: SymbolQuery,
        /// Which part.
        at: At,
    },
    /// At the places that a fix of a diagnostic changes, by its `id`.
    Fix(String),
    /// All of a file; `create`: there is none yet.
    File {
        /// Relative to the workspace root.
        file: String,
        /// The file must not exist yet.
        create: bool,
    },
}

/// What is searched, and how several places are told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSearch {
    /// The text to be found and replaced; not empty.
    pub context: String,
    /// Of several places, the one nearest to this line, from 1.
    pub near_line: Option<usize>,
    /// The text begins and ends with lines.
    pub whole_lines: bool,
}

/// One edit that can be matched: where it goes and what it writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced.
    pub target: Target,
    /// What takes its place; empty where it is deleted.
    pub replacement: String,
    /// The BLAKE3 that the file's bytes must have, in hex. None: any.
    pub expected_hash: Option<String>,
}

/// A request that is one of the forms which there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edits {
    /// All are made, or none. Not empty.
    pub edits: Vec<Edit>,
    /// 0 to 100: the least similarity accepted; 0: exact or white-space-only.
    pub autofix: u8,
    /// Nothing is written.
    pub dry_run: bool,
    /// Whether what breaks something is refused.
    pub on_break: OnBreak,
    /// Each changed file is formatted.
    pub format: bool,
    /// The imports of each changed file are put right.
    pub fix_imports: bool,
}

impl EditRequest {
    /// The edits that are asked for. An `invalid_request` where the fields fit none of the forms, or several.
    pub fn checked(self) -> Result<Edits> {
        let EditRequest { edits: several, blocks, parsed, dry_run, format, fix_imports, on_break, .. } = self;
        let single = EditItem {
            file: self.file,
            search_context: self.search_context,
            symbol: self.symbol,
            package: self.package,
            at: self.at,
            replacement: self.replacement,
            expected_hash: self.expected_hash,
            near_line: self.near_line,
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
        Ok(Edits {
            edits: read.map_or_else(|| edits(single, several), Ok)?,
            autofix,
            dry_run: dry_run.unwrap_or_default(),
            on_break: on_break.unwrap_or(OnBreak::Report),
            format: format.unwrap_or_default(),
            fix_imports: fix_imports.unwrap_or_default(),
        })
    }

    /// The SEARCH/REPLACE blocks of a body, with their options in the query.
    fn of_blocks(query: &str, blocks: String) -> Result<EditRequest> {
        let query: BlocksQuery = from_query(query)?;
        let BlocksQuery { autofix, dry_run, format, fix_imports, on_break, .. } = query;
        let BlocksQuery { workspace, min_revision, wait_ms, max_tokens, cursor, limit, .. } = query;
        let common =
            EditRequest { workspace, min_revision, wait_ms, max_tokens, cursor, limit, ..EditRequest::default() };
        Ok(EditRequest { blocks: Some(blocks), autofix, dry_run, format, fix_imports, on_break, ..common })
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

/// The edits that a body of SEARCH/REPLACE blocks asks for.
pub(crate) fn from_blocks(body: &str) -> Result<Vec<Edit>> {
    Ok(from_parsed(blocks::parse(body)?))
}

/// The same of blocks that are read already.
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
        Edit { target, replacement, expected_hash: None }
    };
    blocks.into_iter().map(edit).collect()
}

/// A fix brings its places and its texts.
fn by_fix(fix: String, single: &EditItem, has_several: bool) -> Result<Edit> {
    let other = EditItem { expected_hash: None, ..single.clone() };
    if let Some(field) = other.first_given().or(has_several.then_some("edits")) {
        return Err(invalid(format!(
            "`{field}` stands beside `fix`, which says itself where it goes and what it writes: send one of them"
        )));
    }
    Ok(Edit { target: Target::Fix(fix), replacement: String::new(), expected_hash: single.expected_hash.clone() })
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
        ];
        given.into_iter().find_map(|(name, given)| given.then_some(name))
    }

    /// Which of the two forms this is, refusing what is neither or both.
    fn checked(self, place: &str) -> Result<Edit> {
        let wrong = |detail: &str| Err(invalid(format!("{place}{detail}")));
        let EditItem { file, search_context, symbol, package, at, replacement, expected_hash, near_line } = self;
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
        Ok(Edit { target, replacement, expected_hash })
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
