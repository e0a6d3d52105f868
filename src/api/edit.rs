//! `POST /v1/edit`: one place replaced, or several, all or none.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

use super::Service;
use super::ask::request;
use super::extract::{Client, Posted};
use super::face::Face;
use super::problem::{Editing, Refusal};
use super::shapes::{At, ChangeReport, OnBreak};
use crate::model::{Code, Error, Result};
use crate::ops::edit::{self, Edit, Target};
use crate::ops::report;
use crate::render;

const DEFAULT_AUTOFIX: u8 = 95;

request! { body
    /// One edit, at a text (`file` and `search_context`) or at a symbol (`symbol` and `at`), or several in `edits`.
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
        /// The text to be replaced, found once in the file.
        pub search_context: Option<String>,
        /// Of the symbol to edit.
        pub symbol: Option<String>,
        /// Narrows a short path: a crate, a module or an import path.
        pub package: Option<String>,
        pub at: Option<At>,
        /// May be empty, which deletes.
        pub replacement: Option<String>,
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
        #[schema(default = "report")]
        pub on_break: Option<OnBreak>,
    }
}

/// One of several edits.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditItem {
    /// Of the text; beside `symbol` it narrows a short path.
    pub file: Option<String>,
    /// The text to be replaced, found once in the file.
    pub search_context: Option<String>,
    /// Of the symbol to edit.
    pub symbol: Option<String>,
    /// Narrows a short path: a crate, a module or an import path.
    pub package: Option<String>,
    pub at: Option<At>,
    /// May be empty, which deletes.
    pub replacement: Option<String>,
    /// Refuse with `hash_mismatch` unless the file's bytes have this BLAKE3.
    pub expected_hash: Option<String>,
    /// Of several places that fit, the one nearest to this line.
    #[schema(minimum = 1)]
    pub near_line: Option<usize>,
}

impl TryFrom<EditRequest> for edit::EditRequest {
    type Error = Error;

    fn try_from(request: EditRequest) -> Result<edit::EditRequest> {
        let autofix = request.autofix.unwrap_or(DEFAULT_AUTOFIX);
        if autofix > 100 {
            return Err(invalid(format!("`autofix`: {autofix} is more than 100, which asks for the very same text")));
        }
        let single = EditItem {
            file: request.file,
            search_context: request.search_context,
            symbol: request.symbol,
            package: request.package,
            at: request.at,
            replacement: request.replacement,
            expected_hash: request.expected_hash,
            near_line: request.near_line,
        };
        Ok(edit::EditRequest {
            edits: edits(single, request.edits)?,
            autofix,
            dry_run: request.dry_run.unwrap_or_default(),
            on_break: request.on_break.map(report::OnBreak::from).unwrap_or_default(),
        })
    }
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
        let target = match (self.symbol, self.search_context) {
            (Some(_), Some(_)) => {
                return wrong("an edit goes either to a `symbol` or to a `search_context`, not to both");
            }
            (None, None) => {
                return wrong(
                    "say what to edit: `file` and `search_context` (a text in it), or `symbol` and `at` (`body`, \
                     `whole`, `before`, `after`, `delete`), or several of these in `edits`",
                );
            }
            (Some(symbol), None) => {
                let Some(at) = self.at else {
                    return wrong("beside `symbol`, say `at`: `body`, `whole`, `before`, `after` or `delete`");
                };
                if self.near_line.is_some() {
                    return wrong(
                        "`near_line` is for a `search_context`; a short `symbol` is narrowed by `package` or `file`",
                    );
                }
                if at == At::Delete && self.replacement.as_deref().is_some_and(|it| !it.is_empty()) {
                    return wrong("`at: delete` takes no `replacement`; `at: whole` replaces the symbol");
                }
                let (package, file, expected_hash) = (self.package, self.file, self.expected_hash);
                (Target::Symbol { symbol, package, file, at: at.into(), expected_hash }, at == At::Delete)
            }
            (None, Some(search_context)) => {
                let Some(file) = self.file else {
                    return wrong("beside `search_context`, say the `file` that it stands in");
                };
                if self.at.is_some() || self.package.is_some() {
                    return wrong("`at` and `package` are for a `symbol`, not for a `search_context`");
                }
                if search_context.trim().is_empty() {
                    return wrong(
                        "`search_context` is blank, which fits anywhere; `/v1/write` makes or extends a file",
                    );
                }
                if self.near_line == Some(0) {
                    return wrong("`near_line`: lines count from 1");
                }
                let (near_line, expected_hash) = (self.near_line, self.expected_hash);
                (Target::Text { file, search_context, near_line, expected_hash }, false)
            }
        };
        let (target, deletes) = target;
        let Some(replacement) = self.replacement.or_else(|| deletes.then(String::new)) else {
            return wrong("missing field `replacement`: the new text, \"\" to delete");
        };
        Ok(Edit { target, replacement })
    }
}

fn invalid(detail: String) -> Error {
    Error::new(Code::InvalidRequest, detail)
}

/// Edit
///
/// Replaces one place, found by its text or by its symbol, or several at once, all or none. Says where each landed and
/// what the change brings and breaks. No match and several are refused with what helps.
#[utoipa::path(
    post, path = "/v1/edit", operation_id = "edit", tag = "change", request_body = EditRequest,
    responses(
        (status = 200, description = "What changed.",
            content((ChangeReport = "application/json"), (String = "text/markdown"))),
        Editing
    )
)]
pub async fn edit(
    State(service): State<Service>,
    face: Face,
    client: Client,
    Posted(request): Posted<EditRequest>,
) -> Result<Response, Refusal> {
    let common = request.common();
    let workspace = service.pick(common.workspace)?;
    let ask = client.asks(common.ask()?);
    let reply = edit::edit(&workspace, &request.try_into()?, &ask).await?;
    Ok(face.answer(reply, ChangeReport::new, render::change))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<edit::EditRequest> {
        serde_json::from_str::<EditRequest>(text).unwrap().try_into()
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
        assert_eq!((symbol.autofix, symbol.on_break), (0, report::OnBreak::Reject));
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
        refuse(r#"{"symbol":"a","search_context":"x","replacement":"y"}"#, "not to both");
        refuse(r#"{"symbol":"a","replacement":"y"}"#, "say `at`");
        refuse(r#"{"symbol":"a","at":"delete","replacement":"y"}"#, "`at: whole`");
        refuse(r#"{"symbol":"a","at":"body","replacement":"y","near_line":2}"#, "`near_line`");
        refuse(r#"{"file":"a","search_context":"x","replacement":"y","at":"body"}"#, "are for a `symbol`");
        refuse(r#"{"edits":[]}"#, "nothing to do");
        refuse(r#"{"edits":[],"file":"a"}"#, "`file` stands beside `edits`");
        refuse(r#"{"edits":[{"symbol":"a","at":"delete"},{"symbol":"b"}]}"#, "`edits[1]`");
    }
}
