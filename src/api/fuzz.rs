//! Fuzz target of requests: JSON bodies, bodies of blocks, and queries.

use axum::body::Body;
use axum::extract::{FromRequest as _, FromRequestParts as _, Request};
use axum::http::Uri;
use serde::de::DeserializeOwned;

use super::edit::{BlocksQuery, EditRequest};
use super::extract::{Asked, Posted, PostedOr};
use super::problem::Refusal;
use super::write::WriteRequest;
use crate::fuzz::{fuzz, mutated};
use crate::model::Code;
use crate::ops::edit::from_blocks;

const BODIES: &[&str] = &[
    r#"{"file":"src/lib.rs","search_context":"fn a() {","replacement":"pub fn a() {","autofix":95,"near_line":3,"dry_run":true}"#,
    r#"{"edits":[{"file":"a","search_context":"b","replacement":""},{"symbol":"a::b","at":"body","replacement":"\n"}],"on_break":"reject"}"#,
    r#"{"name":"src/new.rs","content":"\u00e9\ud834\udd1e","mode":"create"}"#,
    "src/a.rs\n<<<<<<< SEARCH\nfn a() {}\n=======\nfn b() {}\n>>>>>>> REPLACE\n",
];
const SIGNS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "null",
    "true",
    "-1",
    "95.5",
    "1e400",
    "\"file\"",
    "\"edits\"",
    "\"autofix\"",
    "\"at\"",
    "\"fiel\"",
    "\\ud800",
    "\\u0000",
    "`, expected `x",
    "<<<<<<< SEARCH\n",
    "=======\n",
    ">>>>>>> REPLACE\n",
];
const QUERIES: &[&str] =
    &["autofix=95&dry_run=true&on_break=reject", "dry_run=%74rue&&format=+", "autofix=%C3%A9&autofix=1"];
const PARTS: &[&str] =
    &["&", "=", "%", "%2", "%00", "%ff", "+", ";", "autofix", "autofx", "on_break", "true", "1e9", "-1", "256"];

/// What is refused says why.
fn check<T>(outcome: Result<T, Refusal>) -> Option<T> {
    outcome
        .map_err(|Refusal(error, ..)| assert!(!error.detail.is_empty() && error.code != Code::Internal, "{error}"))
        .ok()
}

async fn posted<T: DeserializeOwned>(body: &str) {
    let request = Request::post("/").header("content-type", "application/json");
    check(Posted::<T>::from_request(request.body(Body::from(body.to_owned())).unwrap(), &()).await);
}

#[test]
fn fuzz_requests() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    fuzz("requests", (mutated(BODIES, SIGNS), mutated(QUERIES, PARTS)), |(body, query)| {
        runtime.block_on(async {
            posted::<EditRequest>(&body).await;
            posted::<WriteRequest>(&body).await;
            let Ok(uri) = format!("/?{query}").parse::<Uri>() else { return };
            let (mut parts, ()) = Request::get(uri.clone()).body(()).unwrap().into_parts();
            check(Asked::<BlocksQuery>::from_request_parts(&mut parts, &()).await);
            let request = Request::post(uri).header("content-type", "text/x-search-replace");
            let request = request.body(Body::from(body.clone())).unwrap();
            let read = PostedOr::<EditRequest, BlocksQuery>::from_request(request, &()).await;
            if let Some(PostedOr::Text(_, text)) = check(read) {
                assert_eq!(text, body);
                let _ = from_blocks(&text);
            }
        });
    });
}
