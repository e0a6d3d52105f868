//! A row of the table of calls.

use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};

use super::call_table::{CALLS, Request};
use super::request::{Document, NamedSchema};
use semdex_model::{Code, Error, Result};

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Call {
    /// The name of the call for clients and tools: `usages`.
    pub name: &'static str,
    /// The HTTP method.
    pub method: Method,
    /// The HTTP path. `{file}` matches the name of a file including its slashes; another name in braces matches one
    /// segment.
    pub path: &'static str,
    /// Whether it changes anything. Interfaces restrict calls that do.
    pub effect: Effect,
    /// What must be available before it can answer.
    pub needs: Needs,
    /// Documents list calls of the same group together.
    pub group: &'static str,
    /// What the call does, as a heading.
    pub summary: &'static str,
    /// What the call does, in sentences, for `openapi.yaml`. Empty if the summary is enough.
    pub description: &'static str,
    /// The reply in a few words.
    pub answers: &'static str,
    /// The codes that it may be refused with, besides the codes of the interface.
    pub refusals: Refusals,
    /// How its request is parsed, and how request and reply are documented.
    pub shape: Shape,
}

/// The HTTP methods that calls have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads. The request is the query.
    Get,
    /// Sets what the path names. The request is a body.
    Put,
    /// The request is a body.
    Post,
    /// Removes what the path names. The request is the query.
    Delete,
}

impl Method {
    /// As HTTP writes it: `GET`.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Put => "PUT",
            Method::Post => "POST",
            Method::Delete => "DELETE",
        }
    }

    /// Whether the request is a body. Otherwise its fields are in the query.
    pub fn has_body(self) -> bool {
        matches!(self, Method::Put | Method::Post)
    }
}

/// Whether a call changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing.
    Read,
    /// It may change files or the state of the server.
    Change,
    /// It starts work that continues after the reply.
    Begin,
}

/// What a call needs for a complete answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Nothing, not even a token.
    Nothing,
    /// Only the process, no workspace.
    Process,
    /// The texts of a workspace. The call does not wait unless the request says so.
    Text,
    /// The index of a language. The call waits for it.
    Index,
}

/// Codes, grouped by reason.
pub(crate) type Refusals = &'static [&'static [Code]];

/// How the request of a call is parsed, and how request and reply are documented.
#[derive(Clone, Copy)]
pub struct Shape {
    pub from_json: fn(&[u8]) -> Result<Request>,
    pub from_query: fn(&str) -> Result<Request>,
    pub from_text: fn(&str, &str, String) -> Result<Request>,
    /// The media types of text bodies that are accepted in place of JSON.
    pub texts: &'static [&'static str],
    /// The document of the request.
    pub document: fn() -> Document,
    /// The schemas of the reply, its own type first.
    pub reply: fn() -> Vec<NamedSchema>,
}

/// How deep a schema is resolved. The schemas of the calls have three levels.
const DEEPEST: usize = 12;

/// A schema with the named schemas in place of the references to them.
fn resolved(schema: &Value, named: &[(String, Value)], depth: usize) -> Value {
    let inner = |it: &Value| resolved(it, named, depth.saturating_sub(1));
    match schema {
        _ if depth == 0 => schema.clone(),
        Value::Array(several) => several.iter().map(inner).collect(),
        Value::Object(fields) => {
            let name = fields.get("$ref").and_then(Value::as_str).and_then(|it| it.rsplit('/').next());
            match named.iter().find(|it| Some(it.0.as_str()) == name) {
                Some((_, schema)) => inner(schema),
                None => Value::Object(fields.iter().map(|(name, it)| (name.clone(), inner(it))).collect()),
            }
        }
        other => other.clone(),
    }
}

impl Call {
    /// The call with this name.
    pub fn named(name: &str) -> Option<&'static Call> {
        CALLS.iter().find(|it| it.name == name)
    }

    /// Parses a request from a JSON object.
    pub fn from_json(&self, object: &[u8]) -> Result<Request> {
        (self.shape.from_json)(object)
    }

    /// Parses a request from the query of a URL.
    pub fn from_query(&self, query: &str) -> Result<Request> {
        (self.shape.from_query)(query)
    }

    /// Parses a request from a text body of this media type, with the options in the query.
    pub fn from_text(&self, query: &str, media_type: &str, body: String) -> Result<Request> {
        (self.shape.from_text)(query, media_type, body)
    }

    /// The JSON schema of the request's fields, with all references resolved.
    pub fn schema(&self) -> Value {
        let Document { parameters, schemas, .. } = (self.shape.document)();
        let schemas: Vec<(String, Value)> = schemas.into_iter().map(|(name, it)| (name, json!(it))).collect();
        let mut schema = match schemas.first() {
            Some((_, body)) => resolved(body, &schemas, DEEPEST),
            None => json!({"type": "object", "properties": {}}),
        };
        // Next to a body, the parameters belong to a body of another type.
        let of_query = parameters.into_iter().filter(|_| schemas.is_empty());
        for parameter in of_query {
            schema["properties"][&parameter.name] = json!(parameter.schema);
        }
        schema
    }

    /// The names of all request fields, except the field in the path.
    pub fn fields(&self) -> Vec<String> {
        let Document { parameters, schemas, .. } = (self.shape.document)();
        let body = schemas.into_iter().next().map(|(_, schema)| schema);
        let properties = match body {
            Some(RefOr::T(Schema::Object(object))) => object.properties.into_keys().collect(),
            _ => Vec::new(),
        };
        parameters.into_iter().map(|it| it.name).chain(properties).collect()
    }

    /// The request field in the path: `file` if the path ends in `{file}`.
    pub fn named_in_path(&self) -> Option<&'static str> {
        self.path.rsplit_once('{')?.1.strip_suffix('}')
    }

    /// Parses a request from all of its fields, including the field in the path.
    pub fn from_arguments(&self, mut arguments: Map<String, Value>) -> Result<Request> {
        let field = self.named_in_path();
        let named = field.and_then(|it| arguments.remove(it));
        let mut request = self.from_json(Value::Object(arguments).to_string().as_bytes())?;
        match (field, named) {
            (_, Some(Value::String(named))) => request.name_in_path(named),
            (None, _) => {}
            (Some(field), _) => {
                return Err(Error::new(Code::InvalidRequest, format!("`{field}`: say which {field}, as a text")));
            }
        }
        Ok(request)
    }
}
