//! The OpenAPI document, made from the table of calls.

use utoipa::openapi::path::OperationBuilder;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{
    self, ContentBuilder, HttpMethod, ObjectBuilder, Ref, RefOr, ResponseBuilder, ResponsesBuilder, Schema,
};
use utoipa::{Modify, OpenApi, ToSchema};

use super::problem::refusals;
use crate::contract::{CALLS, Call, Language, Method, Needs, Problem};
use crate::lang::registry::Registry;

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
    fn modify(&self, document: &mut openapi::OpenApi) {
        let mut scheme = Http::new(HttpAuthScheme::Bearer);
        scheme.description = Some("Made at the first start; `semdex token` prints it.".to_owned());
        document.components.get_or_insert_default().add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// The document of all calls.
pub fn of_calls() -> openapi::OpenApi {
    let mut document = Document::openapi();
    let mut schemas = Vec::new();
    for call in CALLS {
        let request = (call.shape.document)();
        let reply = (call.shape.reply)();
        let answer = reply.first().map(|(name, _)| Ref::from_schema_name(name));
        let mut responses = refusals(call);
        responses.insert("200".to_owned(), RefOr::T(answered(call, answer)));
        let mut operation = OperationBuilder::new()
            .tag(call.group)
            .summary(Some(call.summary))
            .description(Some(call.description))
            .operation_id(Some(call.name))
            .parameters(Some(request.parameters).filter(|it| !it.is_empty()))
            .request_body(request.body)
            .responses(ResponsesBuilder::new().responses_from_iter(responses));
        if call.needs == Needs::Nothing {
            operation = operation.security(openapi::SecurityRequirement::default());
        }
        document.paths.add_path_operation(call.path, vec![method(call.method)], operation);
        schemas.extend(request.schemas.into_iter().chain(reply));
    }
    let components = &mut document.components.get_or_insert_default().schemas;
    components.extend(schemas);
    components.insert(<Language as ToSchema>::name().into_owned(), language());
    document
}

/// Those that the registry of engines has.
fn language() -> RefOr<Schema> {
    let names: Vec<&str> = Registry::default().languages().iter().map(|it| it.name).collect();
    ObjectBuilder::new().schema_type(openapi::schema::Type::String).enum_values(Some(names)).into()
}

/// The reply in both of its forms.
fn answered(call: &Call, json: Option<Ref>) -> openapi::Response {
    let text = openapi::Object::with_type(openapi::schema::Type::String);
    ResponseBuilder::new()
        .description(call.answers)
        .content("application/json", ContentBuilder::new().schema(json).build())
        .content("text/markdown", ContentBuilder::new().schema(Some(text)).build())
        .build()
}

fn method(method: Method) -> HttpMethod {
    match method {
        Method::Get => HttpMethod::Get,
        Method::Put => HttpMethod::Put,
        Method::Post => HttpMethod::Post,
        Method::Delete => HttpMethod::Delete,
    }
}

/// The document as it is checked in and served.
pub fn yaml(document: &openapi::OpenApi) -> String {
    let text = document.to_yaml().unwrap_or_else(|error| {
        tracing::error!(%error, "the document could not be written as YAML");
        String::new()
    });
    format!("# Generated from src/api: change it there, then run `UPDATE_OPENAPI=1 cargo test openapi`.\n{text}")
}
