//! `edit`: replaces one place, or several as one change.

use serde::Deserialize;
use utoipa::ToSchema;
use utoipa::openapi::ContentBuilder;
use utoipa::openapi::schema::{Object, Type};

use super::enums::{At, Elisions, OnBreak, OnConflict, WriteMode};
use super::parse::from_query;
use super::patch;
use super::request::{Document, parameters, request};
use semdex_model::{Code, Error, Result, SymbolQuery};
use semdex_text::patches::{FinalNewline, Form, PlaceHints};

const DEFAULT_AUTOFIX: u8 = 95;

request! { body(EditRequest::document(), {
    const TEXTS: &'static [&'static str] = patch::PATCHES;

    fn of_text(query: &str, media_type: &str, body: String) -> Result<EditRequest> {
        EditRequest::of_patch(query, patch::form_of(media_type), body)
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
        #[schema(min_length = 0)]
        pub replacement: Option<String>,
        /// The content of a whole `file`, combined with the existing one as `mode` says.
        #[schema(min_length = 0)]
        pub content: Option<String>,
        /// With `content`: `create` refuses to replace a file with text, `overwrite` replaces it, `append` extends it.
        /// Absent: `create`.
        pub mode: Option<WriteMode>,
        /// Delete the `file`.
        #[schema(default = false)]
        pub delete: Option<bool>,
        /// The new name of the `file`, relative to the workspace root. Missing directories are created.
        pub move_to: Option<String>,
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
        /// A patch in place of all other edits: SEARCH/REPLACE blocks, a unified diff, or the `*** Begin Patch` form.
        /// The text shows which.
        pub patch: Option<String>,
        /// The form of `patch`, which the media type of a body says.
        #[serde(skip)]
        pub patch_form: Option<Form>,
        /// Edits that are already parsed, in place of all others.
        #[serde(skip)]
        pub parsed: Option<Vec<Edit>>,
    }
}

/// One of several edits: of a text, of a symbol, or of a whole file (`content`, `delete` or `move_to`).
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
    #[schema(min_length = 0)]
    pub replacement: Option<String>,
    /// The content of a whole `file`, combined with the existing one as `mode` says.
    #[schema(min_length = 0)]
    pub content: Option<String>,
    /// With `content`: `create` refuses to replace a file with text, `overwrite` replaces it, `append` extends it.
    /// Absent: `create`.
    pub mode: Option<WriteMode>,
    /// Delete the `file`.
    #[schema(default = false)]
    pub delete: Option<bool>,
    /// The new name of the `file`, relative to the workspace root. Missing directories are created. Other edits of the
    /// same change use the old name.
    pub move_to: Option<String>,
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
    /// The options of a body that is a patch.
    // The schema has no `default`: clients would send it with a JSON body, which has its own options.
    pub struct PatchQuery {
        /// For a body that is a patch: the minimum similarity of a fuzzy match in percent. 0 accepts only exact matches
        /// and matches that differ in white space. Default: 95.
        #[param(maximum = 100, nullable = false)]
        pub autofix: Option<u8>,
        /// For a body that is a patch: return the same reply, but change nothing. Default: false.
        #[param(nullable = false)]
        pub dry_run: Option<bool>,
        /// For a body that is a patch: format the changed files with rustfmt or gofmt. Default: false.
        #[param(nullable = false)]
        pub format: Option<bool>,
        /// For a body that is a patch: remove unused imports, and add missing imports that are unambiguous. Default:
        /// false.
        #[param(nullable = false)]
        pub fix_imports: Option<bool>,
        /// For a body that is a patch: whether an edit that breaks something is reported or refused. Default: `report`.
        #[param(nullable = false)]
        pub on_break: Option<OnBreak>,
        /// For a body that is a patch: what happens if a file changed since the client was shown it. Default: `merge`.
        #[param(nullable = false)]
        pub on_conflict: Option<OnConflict>,
        /// For a body that is a patch: how a change is handled that writes a line such as `// ... existing code ...` and
        /// removes more lines there than it adds. Default: `refuse`.
        #[param(nullable = false)]
        pub elisions: Option<Elisions>,
        /// For a body that is a patch: make an edit again whose replacement is already at its place. Default: false.
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
        /// How the content is combined with the existing one. [`WriteMode::Create`] also replaces a blank file.
        mode: WriteMode,
    },
    /// A file that is deleted.
    Delete {
        /// Relative to the workspace root.
        file: String,
        /// The content that it must have, except for line ends. None: any.
        content: Option<String>,
    },
    /// A file that is moved. Its other edits use the old name.
    Move {
        /// The old name, relative to the workspace root.
        file: String,
        /// The new name.
        to: String,
    },
}

/// The text to search for, and how to choose between several matches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextSearch {
    /// The text to replace; not empty.
    pub context: String,
    /// If several places match, the one closest to this line, from 1.
    pub near_line: Option<usize>,
    /// Whether the text consists of whole lines.
    pub whole_lines: bool,
    /// What the hunk of a patch says of the place besides. None: the text is not from a hunk.
    pub place: Option<PlaceHints>,
    /// What happens to the newline at the end of the file.
    pub final_newline: FinalNewline,
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
    /// The line of the patch that the edit is from. None: it is not from a patch.
    pub line: Option<usize>,
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
        let EditRequest { edits: several, patch, parsed, dry_run, format, fix_imports, on_break, on_conflict, .. } =
            self;
        let (elisions, repeat) = (self.elisions, self.repeat);
        let single = EditItem {
            file: self.file,
            search_context: self.search_context,
            symbol: self.symbol,
            package: self.package,
            at: self.at,
            replacement: self.replacement,
            content: self.content,
            mode: self.mode,
            delete: self.delete,
            move_to: self.move_to,
            expected_hash: self.expected_hash,
            near_line: self.near_line,
            on_conflict: None,
        };
        let read = match patch {
            Some(patch) => {
                let other = single.first_given().or(several.is_some().then_some("edits"));
                Some(by_patch(self.patch_form, &patch, other.or(self.fix.is_some().then_some("fix")))?)
            }
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

    /// A request from a body that is a patch, with the options in the query.
    fn of_patch(query: &str, form: Option<Form>, patch: String) -> Result<EditRequest> {
        let query: PatchQuery = from_query(query)?;
        let PatchQuery { autofix, dry_run, format, fix_imports, on_break, on_conflict, elisions, repeat, .. } = query;
        let PatchQuery { workspace, min_revision, wait_ms, max_tokens, cursor, limit, .. } = query;
        let common =
            EditRequest { workspace, min_revision, wait_ms, max_tokens, cursor, limit, ..EditRequest::default() };
        let change =
            EditRequest { autofix, dry_run, format, fix_imports, on_break, on_conflict, elisions, repeat, ..common };
        Ok(EditRequest { patch: Some(patch), patch_form: form, ..change })
    }

    fn document() -> Document {
        let mut document = Document::body::<EditRequest>();
        if let Some(body) = &mut document.body {
            for (media_type, example) in patch::examples() {
                let text = ContentBuilder::new().schema(Some(Object::with_type(Type::String)));
                body.content.insert(media_type.to_owned(), text.example(Some(example.into())).build().into());
            }
        }
        Document { parameters: parameters::<PatchQuery>(), ..document }
    }
}

/// A patch names its files and places itself, so it allows no other edit.
fn by_patch(form: Option<Form>, patch: &str, other: Option<&str>) -> Result<Vec<Edit>> {
    if let Some(field) = other {
        return Err(invalid(format!(
            "`{field}` cannot be combined with `patch`, which says itself what it edits: send one of them"
        )));
    }
    patch::from_patch(form, patch)
}

/// A fix defines its places and texts, so it allows no other field.
fn by_fix(fix: String, single: &EditItem, has_several: bool) -> Result<Edit> {
    let other = EditItem { expected_hash: None, ..single.clone() };
    if let Some(field) = other.first_given().or(has_several.then_some("edits")) {
        return Err(invalid(format!(
            "`{field}` cannot be combined with `fix`, which says where it goes and what it writes: send one of them"
        )));
    }
    let expected_hash = single.expected_hash.clone();
    Ok(Edit { target: Target::Fix(fix), replacement: String::new(), expected_hash, on_conflict: None, line: None })
}

fn edits(single: EditItem, several: Option<Vec<EditItem>>) -> Result<Vec<Edit>> {
    let Some(several) = several else {
        return Ok(vec![single.checked("")?]);
    };
    if let Some(field) = single.first_given() {
        return Err(invalid(format!(
            "`{field}` cannot be combined with `edits`: with several edits it belongs into each of them"
        )));
    }
    if several.is_empty() {
        return Err(invalid("`edits` is empty: there is nothing to do".to_owned()));
    }
    let place = |index| format!("`edits[{index}]`: ");
    several.into_iter().enumerate().map(|(index, item)| item.checked(&place(index))).collect()
}

impl EditItem {
    /// The first field that is given and says something: `delete: false` does not.
    fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("file", self.file.is_some()),
            ("search_context", self.search_context.is_some()),
            ("symbol", self.symbol.is_some()),
            ("package", self.package.is_some()),
            ("at", self.at.is_some()),
            ("replacement", self.replacement.is_some()),
            ("content", self.content.is_some()),
            ("mode", self.mode.is_some()),
            ("delete", self.delete == Some(true)),
            ("move_to", self.move_to.is_some()),
            ("expected_hash", self.expected_hash.is_some()),
            ("near_line", self.near_line.is_some()),
            ("on_conflict", self.on_conflict.is_some()),
        ];
        given.into_iter().find_map(|(name, given)| given.then_some(name))
    }

    /// Validates one edit: a text, a symbol or a whole file.
    fn checked(self, place: &str) -> Result<Edit> {
        let wrong = |detail: &str| Err(invalid(format!("{place}{detail}")));
        let item = self.without_idle_fields();
        if let Some(form) = item.whole_file_form() {
            return item.of_whole_file(form).map_err(|detail| invalid(format!("{place}{detail}")));
        }
        if item.mode.is_some() {
            return wrong("`mode` says how `content` is written, and there is no `content`");
        }
        let EditItem { file, search_context, symbol, package, at, replacement, .. } = item;
        let EditItem { expected_hash, near_line, on_conflict, .. } = item;
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
            Some(context) => Some(TextSearch { context, near_line, ..TextSearch::default() }),
            None => None,
        };
        let target = match (symbol, search) {
            (None, None) => {
                return wrong(
                    "say what to edit: `file` and `search_context` (a text in it), or `symbol` and `at` (`body`, \
                     `whole`, `before`, `after`, `delete`), or a whole `file` (`content`, `delete` or `move_to`), or \
                     several of these in `edits`",
                );
            }
            (Some(symbol), Some(search)) => {
                Target::Within { symbol: SymbolQuery { symbol, package, file, build: None }, search }
            }
            (Some(symbol), None) => {
                let Some(at) = at else {
                    return wrong(
                        "with `symbol`, say `at` (`body`, `whole`, `before`, `after` or `delete`), or a \
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
                Target::Symbol { symbol: SymbolQuery { symbol, package, file, build: None }, at }
            }
            (None, Some(search)) => {
                if package.is_some() {
                    return wrong("`package` is for a `symbol`, not for a `search_context`");
                }
                let Some(file) = file else {
                    return wrong("with `search_context`, say the `file` or the `symbol` that contains it");
                };
                Target::Text { file, search }
            }
        };
        let Some(replacement) = replacement.or_else(|| (at == Some(At::Delete)).then(String::new)) else {
            return wrong("missing field `replacement`: the new text, \"\" to delete");
        };
        Ok(Edit { target, replacement, expected_hash, on_conflict, line: None })
    }
}

/// What an edit does with a whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WholeFile {
    Content,
    Delete,
    Move,
}

impl WholeFile {
    /// The field that selects it.
    fn field(self) -> &'static str {
        match self {
            WholeFile::Content => "content",
            WholeFile::Delete => "delete",
            WholeFile::Move => "move_to",
        }
    }
}

impl EditItem {
    /// Without fields of whole files that say nothing: `delete: false`, and an empty `content` without a `mode` next to
    /// another form.
    fn without_idle_fields(mut self) -> EditItem {
        self.delete = self.delete.filter(|it| *it);
        let has_other =
            self.search_context.is_some() || self.symbol.is_some() || self.delete.is_some() || self.move_to.is_some();
        if has_other && self.mode.is_none() {
            self.content = self.content.filter(|it| !it.is_empty());
        }
        self
    }

    /// The first of `delete`, `move_to` and `content` that is given.
    fn whole_file_form(&self) -> Option<WholeFile> {
        let form = |form, given: bool| given.then_some(form);
        form(WholeFile::Delete, self.delete.is_some())
            .or(form(WholeFile::Move, self.move_to.is_some()))
            .or(form(WholeFile::Content, self.content.is_some()))
    }

    fn of_whole_file(self, form: WholeFile) -> std::result::Result<Edit, String> {
        let field = form.field();
        let mut others = EditItem { file: None, expected_hash: None, on_conflict: None, ..self.clone() };
        others.replacement = others.replacement.filter(|it| !it.is_empty());
        match form {
            WholeFile::Content => (others.content, others.mode) = (None, None),
            WholeFile::Delete => others.delete = None,
            WholeFile::Move => others.move_to = None,
        }
        if let Some(other) = others.first_given() {
            return Err(format!(
                "`{other}` cannot be combined with `{field}`: an edit of a whole file does one thing: send each in an item of \
                 `edits`"
            ));
        }
        let Some(file) = self.file else {
            return Err(format!("with `{field}`, say the `file`"));
        };
        let (target, replacement) = match (form, self.content, self.move_to) {
            (WholeFile::Move, _, Some(to)) => (Target::Move { file, to }, String::new()),
            (WholeFile::Content, Some(content), _) => {
                (Target::File { file, mode: self.mode.unwrap_or(WriteMode::Create) }, content)
            }
            _ => (Target::Delete { file, content: None }, String::new()),
        };
        Ok(Edit { target, replacement, expected_hash: self.expected_hash, on_conflict: self.on_conflict, line: None })
    }
}

fn invalid(detail: String) -> Error {
    Error::new(Code::InvalidRequest, detail)
}

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
        refuse(r#"{"fix":"a","file":"a"}"#, "`file` cannot be combined with `fix`");
        refuse(r#"{"fix":"a","expected_hash":"0","near_line":1}"#, "`near_line` cannot be combined with `fix`");
        refuse(r#"{"fix":"a","edits":[]}"#, "`edits` cannot be combined with `fix`");
        refuse(r#"{"edits":[],"file":"a"}"#, "`file` cannot be combined with `edits`");
        refuse(r#"{"edits":[{"symbol":"a","at":"delete"},{"symbol":"b"}]}"#, "`edits[1]`");
    }
}
