//! The OpenAPI document around the calls: what they have in common, and how it is served.

use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use super::problem::Problem;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "semdex",
        description = "A type-aware code knowledge service: a compiler-grade index of a workspace, always equal to \
                       the disk.\n\nEvery reply has `meta`: the revision it speaks of, whether it is complete, and if \
                       not, what is missing and why. With `Accept: text/markdown` the same content comes as Markdown, \
                       made for a model to read. Files are named relative to the workspace root; offsets and columns \
                       count UTF-8 bytes. Errors are problems (RFC 9457) with a `code` of a closed set.",
        contact(name = "semdex", url = "https://semdex.dev"),
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    servers((url = "http://127.0.0.1:7878", description = "Where `semdex serve` listens unless told otherwise")),
    tags(
        (name = "read", description = "Questions about the code"),
        (name = "change", description = "Changes of files, with what they bring and break"),
        (name = "workspaces", description = "Which workspaces are open"),
        (name = "process", description = "How the process is doing"),
    ),
    components(schemas(Problem)),
    modifiers(&Token),
    security(("token" = [])),
)]
pub struct Document;

struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let mut scheme = Http::new(HttpAuthScheme::Bearer);
        scheme.description = Some("Made at the first start; `semdex token` prints it.".to_owned());
        document.components.get_or_insert_default().add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// The document as it is checked in and served.
pub fn yaml(document: &utoipa::openapi::OpenApi) -> String {
    let text = document.to_yaml().unwrap_or_else(|error| {
        tracing::error!(%error, "the document could not be written as YAML");
        String::new()
    });
    format!("# Generated from src/api: change it there, then run `UPDATE_OPENAPI=1 cargo test openapi`.\n{text}")
}
