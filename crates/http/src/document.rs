//! The OpenAPI document, generated from the table of calls.

use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{OperationBuilder, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::AnyOf;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{
    self, ContentBuilder, HttpMethod, ObjectBuilder, Ref, RefOr, ResponseBuilder, ResponsesBuilder, Schema,
};
use utoipa::{Modify, OpenApi, ToSchema};

use super::problem::{hello_refusals, hook_refusals, listening_refusals, metrics_refusals, refusals, success};
use super::response_format::SARIF;
use super::{events, hello, hooks, metrics};
use semdex_contract::{
    CALLS, Call, EventData, EventsQuery, Language, Method, Name, NamedSchema, Needs, Problem, ProblemCode, schemas,
};
use semdex_model::Languages;
use semdex_ops::hooks::Agent;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "semdex",
        description = "A type-aware code knowledge service: a compiler-grade index of a workspace, always equal to \
                       the disk.\n\nEvery reply has `meta`: the revision it speaks of, whether it is complete, and if \
                       not, what is missing and why. With `Accept: text/markdown` the same content comes as Markdown, \
                       made for a model to read. Files are named relative to the workspace root; offsets and columns \
                       count UTF-8 bytes. Errors are problems (RFC 9457) with a `code` of a set that grows: a client treats an unknown \
                       code as its status.",
        contact(name = "semdex", url = "https://semdex.dev"),
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    servers((url = "http://127.0.0.1:7878", description = "The default address of `semdex serve`")),
    tags(
        (name = "read", description = "Questions about the code"),
        (name = "diagnostics", description = "What is wrong, watched: baseline, regressions, gate, statistics"),
        (name = "change", description = "Changes of files, with what they bring and break"),
        (name = "runs", description = "Tasks for a model"),
        (name = "workspaces", description = "Which workspaces are open"),
        (name = "process", description = "How the process is doing"),
    ),
    components(schemas(Problem)),
    modifiers(&Token),
    security(("token" = [])),
)]
pub(crate) struct Document;

/// The extension of a schema that marks an enumeration to which later versions add values.
const EXTENSIBLE: &str = "x-extensible-enum";

/// The path of the document.
pub(crate) const PATH: &str = "/openapi.yaml";

struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut openapi::OpenApi) {
        let mut scheme = Http::new(HttpAuthScheme::Bearer);
        scheme.description = Some("Made at the first start; `semdex token` prints it.".to_owned());
        document.components.get_or_insert_default().add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// The document of all calls. `languages`: the languages that the built-in engines analyse.
pub(crate) fn of_calls(languages: &Languages) -> openapi::OpenApi {
    let mut document = Document::openapi();
    let mut schemas = Vec::new();
    for call in CALLS {
        let request = (call.shape.document)();
        let reply = (call.shape.reply)();
        let answer = reply.first().map(|(name, _)| Ref::from_schema_name(name));
        let mut responses = refusals(call);
        responses.insert(success(call).as_u16().to_string(), RefOr::T(answered(call, answer)));
        let mut operation = OperationBuilder::new()
            .tag(call.group)
            .summary(Some(call.summary))
            .description(Some(call.description))
            .operation_id(Some(call.name))
            .parameters(Some([request.parameters, headers(call)].concat()).filter(|it| !it.is_empty()))
            .request_body(request.body)
            .responses(ResponsesBuilder::new().responses_from_iter(responses));
        if call.needs == Needs::Nothing {
            operation = operation.security(openapi::SecurityRequirement::default());
        }
        document.paths.add_path_operation(call.path, vec![method(call.method)], operation);
        schemas.extend(request.schemas.into_iter().chain(reply));
    }
    for (path, operation, named) in streams() {
        document.paths.add_path_operation(path, vec![HttpMethod::Get], operation);
        schemas.extend(named);
    }
    document.paths.add_path_operation(hooks::PATH, vec![HttpMethod::Post], agents_hooks());
    document.paths.add_path_operation(hello::PATH, vec![HttpMethod::Post], greeting());
    let components = &mut document.components.get_or_insert_default().schemas;
    components.extend(schemas);
    components.insert(<Language as ToSchema>::name().into_owned(), language(languages));
    if let Some(data) = components.get_mut(&*EventData::name()) {
        overlap(data);
    }
    if let Some(RefOr::T(Schema::Object(codes))) = components.get_mut(&*<ProblemCode as ToSchema>::name()) {
        let known = serde_json::json!(codes.enum_values);
        codes.extensions.get_or_insert_default().insert(EXTENSIBLE.to_owned(), known);
    }
    document
}

/// The headers that a call takes besides those of every call.
fn headers(call: &Call) -> Vec<Parameter> {
    let header = |name: &str, description: &str| {
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .description(Some(description))
            .schema(Some(openapi::Object::with_type(openapi::schema::Type::String)))
            .build()
    };
    let session = || {
        header(
            "X-Session",
            "The name that the client gives itself, any text. Its changes are merged with those of others that it has not \
             seen. The field `session` of a body comes first. Absent: nothing is known of what the client has seen.",
        )
    };
    let key = || {
        header(
            "Idempotency-Key",
            "Any text of 1 to 255 characters. The same request with the same key gets the first reply again for a day, and \
             is not made again. Another request with the key is refused with `invalid_content`. Absent: each request is \
             made.",
        )
    };
    let session = call.takes_session().then(session);
    session.into_iter().chain(call.takes_idempotency_key().then(key)).collect()
}

/// Operations with a form of their own, which are not calls of the table.
fn streams() -> [(&'static str, OperationBuilder, Vec<NamedSchema>); 2] {
    let string = || ObjectBuilder::new().schema_type(openapi::schema::Type::String);
    let text = |description: &str, kind: &str, string: ObjectBuilder, example: &str| {
        let content = ContentBuilder::new().schema(Some(string)).example(Some(example.into())).build();
        RefOr::T(ResponseBuilder::new().description(description).content(kind, content).build())
    };
    let last = ParameterBuilder::new()
        .name("Last-Event-ID")
        .parameter_in(ParameterIn::Header)
        .description(Some("The `id` of the last event seen. Default: the events begin now."))
        .schema(Some(openapi::Object::with_type(openapi::schema::Type::String)))
        .example(Some("1767323045678017".into()));
    let mut responses = listening_refusals();
    // The schema of each event's data.
    let data = Ref::from_schema_name(EventData::name());
    let data = string().extensions(Some(Extensions::from_iter([("contentSchema", serde_json::json!(data))])));
    let answer = text("The events, for as long as the client listens.", "text/event-stream", data, EVENTS);
    responses.insert("200".to_owned(), answer);
    let events = OperationBuilder::new()
        .tag("process")
        .summary(Some("What happens"))
        .description(Some(
            "Server-sent events: `event` is the type, `data` is JSON (`EventData`), `id` rises, over restarts too. A client \
             that comes back with `Last-Event-ID` gets what it missed, if that is among the last 1,000 events; else, and \
             for an id of the future or of an earlier life, one `reset`. A client that takes nothing for 10 s is cut off.",
        ))
        .operation_id(Some("events"))
        .parameters(Some(EventsQuery::parameters()))
        .parameter(last)
        .responses(ResponsesBuilder::new().responses_from_iter(responses));
    let mut responses = metrics_refusals();
    let answer = text("The metrics.", "application/openmetrics-text", string(), METRICS);
    responses.insert("200".to_owned(), answer);
    let metrics = OperationBuilder::new()
        .tag("process")
        .summary(Some("How it goes, in numbers"))
        .description(Some(
            "The text of OpenMetrics, for Prometheus: `semdex_request_duration_seconds{call,status}`, `semdex_revision`, \
             `semdex_memory_bytes{engine}`, `semdex_engine_restarts_total{engine}`, `semdex_queue_length{queue}`, \
             `semdex_rescans_total`, `semdex_stale_retries_total`. No label holds a path or a symbol.",
        ))
        .operation_id(Some("metrics"))
        .responses(ResponsesBuilder::new().responses_from_iter(responses));
    [(events::PATH, events, schemas::<EventData>()), (metrics::PATH, metrics, Vec::new())]
}

const EVENTS: &str = "event: state\nid: 1767323045678017\n\
    data: {\"workspace\":\"ripgrep\",\"revision\":17,\"state\":\"ready\"}\n\n";
const METRICS: &str = "# TYPE semdex_revision gauge\nsemdex_revision 17\n# EOF\n";

/// The agents define the payloads of their hooks and the answers.
fn agents_hooks() -> OperationBuilder {
    let names: Vec<&str> = Agent::ALL.iter().map(|it| it.name()).collect();
    let string = ObjectBuilder::new().schema_type(openapi::schema::Type::String).enum_values(Some(names));
    let agent = ParameterBuilder::new()
        .name("agent")
        .parameter_in(ParameterIn::Path)
        .required(openapi::Required::True)
        .description(Some("Whose JSON it is."))
        .schema(Some(string));
    // Each agent sends further fields.
    let object = |fields: &[&str]| {
        let text = || ObjectBuilder::new().schema_type(openapi::schema::Type::String);
        let object = fields.iter().fold(ObjectBuilder::new(), |object, it| object.property(*it, text()));
        ContentBuilder::new().schema(Some(object.schema_type(openapi::schema::Type::Object))).build()
    };
    let body = RequestBodyBuilder::new()
        .description(Some("The payload of the agent's hook."))
        .content("application/json", object(&["hook_event_name", "session_id", "cwd"]))
        .required(Some(openapi::Required::True));
    let answer = ResponseBuilder::new()
        .description("What the agent reads of its hooks; `{}` where there is nothing to say.")
        .content("application/json", object(&["decision", "reason", "systemMessage"]))
        .build();
    let mut responses = hook_refusals();
    responses.insert("200".to_owned(), RefOr::T(answer));
    OperationBuilder::new()
        .tag("diagnostics")
        .summary(Some("An agent's hooks"))
        .description(Some(
            "The agent's own hook JSON in, the agent's own hook JSON out: after an edit what is wrong in the file and what \
             the edit broke elsewhere, at the end how much is left. Whatever is not understood, not known or not known in \
             three seconds is answered with `{}`.",
        ))
        .operation_id(Some("hooks"))
        .parameter(agent)
        .request_body(Some(body.build()))
        .responses(ResponsesBuilder::new().responses_from_iter(responses))
}

/// The proof of the server.
fn greeting() -> OperationBuilder {
    let string = || ObjectBuilder::new().schema_type(openapi::schema::Type::String);
    let described = |text: &str| string().description(Some(text.to_owned()));
    let nonce = described("Any text of 1 to 256 bytes without control characters, new for each request.");
    let asked = ObjectBuilder::new().property("nonce", nonce).required("nonce");
    let body = RequestBodyBuilder::new()
        .content("application/json", ContentBuilder::new().schema(Some(asked)).build())
        .required(Some(openapi::Required::True));
    let fields = [
        ("proof", "HMAC-SHA256 of the nonce under the user's token, in hex."),
        ("address", "The address of the server."),
        ("address_proof", "The same of the nonce, a line feed and the address: no other server can have made it."),
        ("version", "The version of semdex."),
    ];
    let answer = fields
        .into_iter()
        .fold(ObjectBuilder::new(), |answer, (name, text)| answer.property(name, described(text)).required(name));
    let pid = ObjectBuilder::new().schema_type(openapi::schema::Type::Integer).description(Some("The server process."));
    let answer = ResponseBuilder::new()
        .description("The proof.")
        .content(
            "application/json",
            ContentBuilder::new().schema(Some(answer.property("pid", pid).required("pid"))).build(),
        )
        .build();
    let mut responses = hello_refusals();
    responses.insert("200".to_owned(), RefOr::T(answer));
    OperationBuilder::new()
        .tag("process")
        .summary(Some("Whether this is the user's server"))
        .description(Some(
            "The server proves that it knows the user's token. Requires no token: a client asks it before it sends its own, \
             because another program may listen on the port of a server that has ended.",
        ))
        .operation_id(Some("hello"))
        .security(openapi::SecurityRequirement::default())
        .request_body(Some(body.build()))
        .responses(ResponsesBuilder::new().responses_from_iter(responses))
}

/// A value may match several forms that share fields.
fn overlap(schema: &mut RefOr<Schema>) {
    if let RefOr::T(Schema::OneOf(one)) = schema {
        let mut any = AnyOf::new();
        any.items.clone_from(&one.items);
        any.description.clone_from(&one.description);
        *schema = RefOr::T(Schema::AnyOf(any));
    }
}

/// The names of the built-in languages, or a language that a user adds.
fn language(languages: &Languages) -> RefOr<Schema> {
    let names: Vec<&str> = languages.iter().map(|it| it.name).collect();
    let description = format!("`{}`, or the NAME of a `[languages.NAME]` in the configuration.", names.join("`, `"));
    let string = ObjectBuilder::new().schema_type(openapi::schema::Type::String);
    string.description(Some(description)).examples(names.first().copied()).into()
}

/// The reply in both of its formats.
fn answered(call: &Call, json: Option<Ref>) -> openapi::Response {
    let text = openapi::Object::with_type(openapi::schema::Type::String);
    let answer = ResponseBuilder::new()
        .description(call.answers)
        .content("application/json", ContentBuilder::new().schema(json).build())
        .content("text/markdown", ContentBuilder::new().schema(Some(text)).build());
    match call.name == Name::Diagnostics.call().name {
        // SARIF is defined by its standard.
        true => answer.content(SARIF, ContentBuilder::new().build()).build(),
        false => answer.build(),
    }
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
pub(crate) fn yaml(document: &openapi::OpenApi) -> String {
    let text = document.to_yaml().unwrap_or_else(|error| {
        tracing::error!(%error, "the document could not be written as YAML");
        String::new()
    });
    format!("# Generated from crates/contract: change it there, then run `cargo xtask openapi`.\n{text}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use semdex_model::Code;

    fn document() -> Value {
        serde_json::to_value(of_calls(&Languages::new([]))).unwrap()
    }

    fn operations(document: &Value) -> Vec<&Value> {
        let paths = document["paths"].as_object().unwrap().values();
        paths.flat_map(|it| it.as_object().unwrap().values()).collect()
    }

    #[test]
    fn every_parameter_says_what_it_is_and_what_holds_without_it() {
        let document = document();
        for operation in operations(&document) {
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let text = parameter["description"].as_str().unwrap_or_default();
                let name = format!("{} of {}", parameter["name"], operation["operationId"]);
                assert!(!text.is_empty(), "{name} has no description");
                let says_default =
                    !parameter["schema"]["default"].is_null() || text.contains("Default:") || text.contains("Absent:");
                assert!(parameter["required"] == true || says_default, "{name} says no default: {text}");
            }
        }
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            let properties = schema["properties"].as_object().into_iter().flatten();
            for (field, property) in properties.filter(|_| name.ends_with("Request")) {
                let described =
                    property["description"].is_string() || property["$ref"].is_string() || property["oneOf"].is_array();
                assert!(described, "{name}.{field} has no description");
            }
        }
    }

    #[test]
    fn no_shape_is_a_free_form_object() {
        fn look(at: &str, schema: &Value) {
            let composed = ["oneOf", "allOf", "anyOf"].iter().any(|it| schema[*it].is_array());
            if schema["type"] == "object" && !composed {
                assert!(schema["properties"].is_object(), "{at} may hold anything");
            }
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                look(&format!("{at}.{name}"), property);
            }
            for inner in ["oneOf", "allOf", "anyOf"].iter().filter_map(|it| schema[*it].as_array()).flatten() {
                look(at, inner);
            }
            if schema["items"].is_object() {
                look(&format!("{at}[]"), &schema["items"]);
            }
        }
        for (name, schema) in document()["components"]["schemas"].as_object().unwrap() {
            look(name, schema);
        }
    }

    #[test]
    fn operations_have_plain_names_and_list_every_code_that_they_may_be_refused_with() {
        let document = document();
        let mut names = BTreeSet::new();
        let mut descriptions = String::new();
        for operation in operations(&document) {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name), "{name} is there twice");
            assert!(name.bytes().all(|it| it.is_ascii_lowercase() || it == b'_'), "{name}");
            assert!(operation["summary"].is_string() && operation["description"].is_string(), "{name}");
            for response in operation["responses"].as_object().unwrap().values() {
                descriptions.push_str(response["description"].as_str().unwrap());
            }
        }
        // Refusals that no call of the document can have: an unknown route or method.
        let elsewhere = [Code::UnknownRoute, Code::MethodNotAllowed, Code::Untrusted];
        let schema = &document["components"]["schemas"]["ProblemCode"];
        assert_eq!(schema[EXTENSIBLE], schema["enum"]);
        let codes = schema["enum"].as_array().unwrap();
        for code in codes.iter().map(|it| it.as_str().unwrap()) {
            let is_listed = descriptions.contains(&format!("`{code}`"));
            assert!(is_listed || elsewhere.iter().any(|it| it.name() == code), "no operation lists {code}");
        }
    }

    /// How a value differs from its schema, in the subset of JSON Schema that the document uses.
    struct Fitting<'d> {
        schemas: &'d Value,
        wrong: Vec<String>,
    }

    impl<'d> Fitting<'d> {
        fn resolved(&self, schema: &'d Value) -> &'d Value {
            let name = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next());
            name.map_or(schema, |it| &self.schemas[it])
        }

        /// The fields that a value may have.
        fn known(&self, schema: &'d Value) -> BTreeSet<&'d str> {
            let schema = self.resolved(schema);
            let own = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
            let parts = ["allOf", "oneOf", "anyOf"].iter().filter_map(|it| schema[*it].as_array()).flatten();
            own.chain(parts.flat_map(|it| self.known(it))).collect()
        }

        fn look(&mut self, at: &str, schema: &'d Value, value: &Value) {
            let schema = self.resolved(schema);
            if let Some(fields) = value.as_object() {
                let known = self.known(schema);
                let unknown = fields.keys().filter(|it| !known.contains(it.as_str()));
                self.wrong.extend(unknown.map(|it| format!("{at}.{it} is no field")));
            }
            self.look_at_parts(at, schema, value);
        }

        fn look_at_parts(&mut self, at: &str, schema: &'d Value, value: &Value) {
            let schema = self.resolved(schema);
            for part in schema["allOf"].as_array().into_iter().flatten() {
                self.look_at_parts(at, part, value);
            }
            for forms in ["oneOf", "anyOf"].iter().filter_map(|it| schema[*it].as_array()) {
                let fits = |form: &Value| {
                    let mut fitting = Fitting { schemas: self.schemas, wrong: Vec::new() };
                    fitting.look(at, form, value);
                    fitting.wrong.is_empty()
                };
                if !forms.iter().any(fits) {
                    self.wrong.push(format!("{at} is of no form: {value}"));
                }
            }
            let types: Vec<&str> = match &schema["type"] {
                Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
                one => one.as_str().into_iter().collect(),
            };
            let is_of = |kind: &&str| match *kind {
                "null" => value.is_null(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_i64() || value.is_u64(),
                "number" => value.is_number(),
                "string" => value.is_string(),
                "array" => value.is_array(),
                _ => value.is_object(),
            };
            if !types.is_empty() && !types.iter().any(is_of) {
                self.wrong.push(format!("{at} is no {types:?}: {value}"));
            }
            if schema["enum"].as_array().is_some_and(|it| !it.contains(value)) {
                self.wrong.push(format!("{at} is none of {}: {value}", schema["enum"]));
            }
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                if value.is_object() && value.get(name).is_none() {
                    self.wrong.push(format!("{at}.{name} is wanted"));
                }
            }
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                if let Some(value) = value.get(name) {
                    self.look(&format!("{at}.{name}"), property, value);
                }
            }
            for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                if schema["items"].is_object() {
                    self.look(&format!("{at}[{index}]"), &schema["items"], item);
                }
            }
        }
    }

    fn misfits(schemas: &Value, name: &str, value: &Value) -> Vec<String> {
        let mut fitting = Fitting { schemas, wrong: Vec::new() };
        fitting.look(name, &schemas[name], value);
        fitting.wrong
    }

    #[test]
    fn every_reply_has_an_example_and_each_example_fits_its_schema() {
        let document = document();
        let schemas = &document["components"]["schemas"];
        let mut wrong = Vec::new();
        for (name, schema) in schemas.as_object().unwrap() {
            for example in schema["examples"].as_array().into_iter().flatten() {
                wrong.extend(misfits(schemas, name, example));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        for call in CALLS {
            let reply = (call.shape.reply)();
            let name = reply[0].0.as_str();
            // A reply with several forms has an example of each.
            let forms = schemas[name]["oneOf"].as_array();
            let forms: Vec<&str> = match forms {
                Some(forms) => forms.iter().filter_map(|it| it["$ref"].as_str()?.rsplit('/').next()).collect(),
                None => vec![name],
            };
            for form in forms {
                let examples = schemas[form]["examples"].as_array();
                assert!(examples.is_some_and(|it| !it.is_empty()), "{}: {form} has no example", call.name);
            }
        }
        // A mismatch is found.
        let mut place = serde_json::json!({"file": "a", "start": 0, "end": 1, "line": 1, "end_line": 1, "column": 1});
        assert_eq!(misfits(schemas, "Place", &place), Vec::<String>::new());
        place["start"] = "0".into();
        place["colour"] = 1.into();
        place.as_object_mut().unwrap().remove("end");
        assert_eq!(misfits(schemas, "Place", &place).len(), 3);
        assert_eq!(misfits(schemas, "State", &"redy".into()).len(), 1);
    }
}
