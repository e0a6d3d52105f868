//! What a row of the table of calls says.

use serde_json::{Map, Value};
use utoipa::openapi::{RefOr, Schema};

use super::call_table::{CALLS, Request};
use super::request::{Document, NamedSchema};
use semdex_model::{Code, Error, Result};

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Call {
    /// As clients and tools name it: `usages`.
    pub name: &'static str,
    /// Of the call over HTTP.
    pub method: Method,
    /// Of the call over HTTP. `{file}` stands for a file's name, slashes and all; another name in braces for one part.
    pub path: &'static str,
    /// Whether it changes anything; faces guard changes.
    pub effect: Effect,
    /// What has to be there before it can answer.
    pub needs: Needs,
    /// Calls of one group stand together in documents.
    pub group: &'static str,
    /// What it does, as a heading.
    pub summary: &'static str,
    /// What it does, in sentences, for `openapi.yaml`. Empty where the summary says it all.
    pub description: &'static str,
    /// What it answers with, in a few words.
    pub answers: &'static str,
    /// What it may be refused with, besides what its face may refuse.
    pub refusals: Refusals,
    /// How its request is read, and how both are documented.
    pub shape: Shape,
}

/// The HTTP methods that calls have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads; its request is the query.
    Get,
    /// Sets what the path names.
    Put,
    /// Its request is a body.
    Post,
    /// Takes away what the path names.
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

    /// Else its fields stand in the query.
    pub fn has_body(self) -> bool {
        matches!(self, Method::Put | Method::Post)
    }
}

/// Whether anything is another after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing is.
    Read,
    /// Files, or the state of the server, may be.
    Change,
    /// It begins something that goes on after the answer.
    Begin,
}

/// What a call needs to be answered in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Not even a token.
    Nothing,
    /// No workspace.
    Process,
    /// The texts of a workspace: it waits for nothing unless it is told to.
    Text,
    /// The index of a language, for which it waits.
    Index,
}

/// Codes by the reason that they have.
pub(crate) type Refusals = &'static [&'static [Code]];

/// How the request and the reply of a call are read and described.
#[derive(Clone, Copy)]
pub struct Shape {
    pub from_json: fn(&[u8]) -> Result<Request>,
    pub from_query: fn(&str) -> Result<Request>,
    pub from_text: fn(&str, String) -> Result<Request>,
    /// The media type of a body of text that does the same as one of JSON.
    pub text: Option<&'static str>,
    /// Of the request.
    pub document: fn() -> Document,
    /// Of the reply, its own type first.
    pub reply: fn() -> Vec<NamedSchema>,
}

impl Call {
    /// The call of this name.
    pub fn named(name: &str) -> Option<&'static Call> {
        CALLS.iter().find(|it| it.name == name)
    }

    /// A request from the fields of a JSON object.
    pub fn from_json(&self, object: &[u8]) -> Result<Request> {
        (self.shape.from_json)(object)
    }

    /// A request from the query of a URL.
    pub fn from_query(&self, query: &str) -> Result<Request> {
        (self.shape.from_query)(query)
    }

    /// A request from a body of text and the query beside it.
    pub fn from_text(&self, query: &str, body: String) -> Result<Request> {
        (self.shape.from_text)(query, body)
    }

    /// The names of all that its request may say besides what its path names.
    pub fn fields(&self) -> Vec<String> {
        let Document { parameters, schemas, .. } = (self.shape.document)();
        let body = schemas.into_iter().next().map(|(_, schema)| schema);
        let properties = match body {
            Some(RefOr::T(Schema::Object(object))) => object.properties.into_keys().collect(),
            _ => Vec::new(),
        };
        parameters.into_iter().map(|it| it.name).chain(properties).collect()
    }

    /// The field that its path names: `file`, where it ends in `{file}`.
    pub fn named_in_path(&self) -> Option<&'static str> {
        self.path.rsplit_once('{')?.1.strip_suffix('}')
    }

    /// A request from all of its fields, those of the path among them.
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
