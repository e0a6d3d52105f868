//! The pages for a browser, complete and without other network access: `/` shows the state of the process, `/docs` the
//! calls. They need no token and contain nothing of a workspace; they request their data with the token that the user
//! enters.

use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// Paths that are served without a token.
pub(crate) const PATHS: &[&str] = &[STATUS, STYLE, SCRIPT, DOCS, DOCS_SCRIPT, RAPIDOC, DOCUMENT];

const STATUS: &str = "/";
const STYLE: &str = "/page/semdex.css";
const SCRIPT: &str = "/page/semdex.js";
const DOCS: &str = "/docs";
const DOCS_SCRIPT: &str = "/docs/docs.js";
const RAPIDOC: &str = "/docs/rapidoc-min.js";
const DOCUMENT: &str = "/docs/openapi.yaml";

/// Nothing from another origin, nothing inline, and no page may show these in a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
/// RapiDoc creates its styles itself, in its shadow trees.
const DOCS_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                           connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

const REFERRER_POLICY: HeaderName = HeaderName::from_static("referrer-policy");

pub(crate) fn is_page(path: &str) -> bool {
    PATHS.contains(&path)
}

/// The pages, with the OpenAPI document as YAML.
pub(crate) fn router(document: String) -> Router {
    let file =
        |kind: &'static str, policy: &'static str, text: &'static str| get(async move || page(kind, policy, text));
    let html = "text/html; charset=utf-8";
    let javascript = "text/javascript; charset=utf-8";
    Router::new()
        .route(STATUS, file(html, POLICY, include_str!("pages/status.html")))
        .route(STYLE, file("text/css; charset=utf-8", POLICY, include_str!("pages/semdex.css")))
        .route(SCRIPT, file(javascript, POLICY, include_str!("pages/semdex.js")))
        .route(DOCS, file(html, DOCS_POLICY, include_str!("pages/docs.html")))
        .route(DOCS_SCRIPT, file(javascript, DOCS_POLICY, include_str!("pages/docs.js")))
        .route(RAPIDOC, file(javascript, DOCS_POLICY, include_str!("pages/rapidoc/rapidoc-min.js")))
        .route(DOCUMENT, get(async move || page("application/yaml", POLICY, document.clone())))
}

fn page(kind: &'static str, policy: &'static str, text: impl IntoResponse) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy)),
        // The browser revalidates the page each time.
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (headers, text).into_response()
}
