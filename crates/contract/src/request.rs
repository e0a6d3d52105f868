//! What all requests and all replies have in common.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::{ContentBuilder, Object, Ref, RefOr, Required, Schema, schema};

use super::budget::Budget;
use super::shared_types::Meta;
use semdex_model::{Code, Error, Result};

/// The longest that a question may ask to wait.
const LONGEST_WAIT_MS: u64 = 120_000;

/// The fields that almost every request may carry, declared once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Common {
    /// By its id or its root. None: the only one, or the one that the server was started with.
    pub workspace: Option<String>,
    /// Wait until the workspace has reached this revision.
    pub min_revision: Option<u64>,
    /// How long to wait for what the answer needs, at most 120,000. None: the call's own default.
    pub wait_ms: Option<u64>,
    /// How long the reply may be, a token counted as four bytes. None: the default of its form.
    pub max_tokens: Option<usize>,
    /// The `next_cursor` of an earlier reply.
    pub cursor: Option<String>,
    /// At most so many items.
    pub limit: Option<usize>,
}

impl Common {
    /// How long the answer may wait for what it needs; absent: the call's own default.
    pub fn wait(&self) -> Result<Option<Duration>> {
        match self.wait_ms {
            Some(wait) if wait > LONGEST_WAIT_MS => {
                let detail =
                    format!("`wait_ms`: {wait} is more than {LONGEST_WAIT_MS}, the longest that a request may wait");
                Err(Error::new(Code::InvalidRequest, detail))
            }
            wait => Ok(wait.map(Duration::from_millis)),
        }
    }
}

/// A type of the schema section of a document, by its name.
pub type NamedSchema = (String, RefOr<Schema>);

/// How a request stands in an OpenAPI document: what it takes beside a body, its body, and the types that these name.
#[derive(Default)]
pub struct Document {
    /// In the path and the query.
    pub parameters: Vec<Parameter>,
    /// None for calls without one.
    pub body: Option<RequestBody>,
    /// What parameters and body refer to by name.
    pub schemas: Vec<NamedSchema>,
}

impl Document {
    /// Of a request that is one JSON object.
    pub(crate) fn body<T: ToSchema>() -> Document {
        let body = RequestBodyBuilder::new().content("application/json", content::<T>()).required(Some(Required::True));
        Document { body: Some(body.build()), schemas: schemas::<T>(), ..Document::default() }
    }

    /// Of a call that takes a query alone.
    pub(crate) fn query(parameters: Vec<Parameter>) -> Document {
        Document { parameters, ..Document::default() }
    }

    /// What the call is about stands in its path.
    pub(crate) fn about(mut self, field: &str, description: &str) -> Document {
        let string = Object::with_type(schema::Type::String);
        let named = ParameterBuilder::new()
            .name(field)
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .description(Some(description))
            .schema(Some(string));
        self.parameters.insert(0, named.build());
        self
    }
}

/// What a body of this type holds.
fn content<T: ToSchema>() -> utoipa::openapi::Content {
    ContentBuilder::new().schema(Some(Ref::from_schema_name(T::name()))).build()
}

/// The type and all that it names.
pub fn schemas<T: ToSchema>() -> Vec<NamedSchema> {
    let mut schemas = vec![(T::name().into_owned(), T::schema())];
    T::schemas(&mut schemas);
    schemas
}

/// What a call takes.
pub(crate) trait Arguments: DeserializeOwned {
    /// How it stands in an OpenAPI document.
    fn document() -> Document;

    /// The fields that almost every request may carry; those that this one cannot are None.
    fn common(&self) -> Common;

    /// Sets what the call's path names.
    fn name_in_path(&mut self, _named: String) {}

    /// The fields that a query may say several times.
    const REPEATING: &'static [&'static str] = &[];

    /// The media type of a body of text that does the same as one of JSON.
    const TEXT: Option<&'static str> = None;

    /// Such a body, with its options in the query.
    fn of_text(_query: &str, _body: String) -> Result<Self> {
        Err(Error::new(Code::UnsupportedMediaType, "this call takes JSON"))
    }
}

/// What a call answers.
pub(crate) trait Answer: Serialize + ToSchema + Clone {
    /// What the reply says of itself, where it does.
    fn meta(&mut self) -> Option<&mut Meta>;

    /// Shortens it to about what the budget allows. Answers with what was left out, in words; nothing where it cannot
    /// be shortened.
    fn fit(&mut self, _budget: Budget) -> Option<Vec<String>> {
        None
    }
}

/// A request type with the fields that every request may carry. serde's `flatten` would do, were it not that it
/// cannot refuse unknown fields. `body` makes it a JSON body, `query` the parameters of a query; `about file`, or another
/// field, stands before both where that is named in the path beside them.
macro_rules! request {
    (body $(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::request::request! { @body $(#[$attribute])* pub struct $name { $($fields)* } }
        $crate::request::request! { @arguments $name, $crate::Document::body::<$name>() }
    };
    // Some of its fields may be said several times.
    (query(repeating $names:expr) $(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::request::request! { @query $(#[$attribute])* pub struct $name { $($fields)* } }
        $crate::request::request! {
            @arguments $name, $crate::Document::query($crate::request::parameters::<$name>()),
            const REPEATING: &'static [&'static str] = $names;
        }
    };
    // Beside the usual form another one.
    (body($document:expr, { $($more:tt)* })
        $(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::request::request! { @body #[derive(Default)] $(#[$attribute])* pub struct $name { $($fields)* } }
        $crate::request::request! { @arguments $name, $document, $($more)* }
    };
    (query $(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::request::request! { @query $(#[$attribute])* pub struct $name { $($fields)* } }
        $crate::request::request! {
            @arguments $name, $crate::Document::query($crate::request::parameters::<$name>())
        }
    };
    (about $field:ident($description:literal) body $(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::request::request! { @body $(#[$attribute])* pub struct $name {
            /// Not a part of the body: the call's path names it.
            #[serde(skip)]
            pub $field: String,
            $($fields)*
        } }
        $crate::request::request! {
            @arguments $name, $crate::Document::body::<$name>().about(stringify!($field), $description),
            fn name_in_path(&mut self, named: String) { self.$field = named; }
        }
    };
    (about $field:ident($description:literal) query $(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::request::request! { @query $(#[$attribute])* pub struct $name {
            /// Not a part of the query: the call's path names it.
            #[serde(skip)]
            pub $field: String,
            $($fields)*
        } }
        $crate::request::request! {
            @arguments $name,
            $crate::Document::query($crate::request::parameters::<$name>()).about(stringify!($field), $description),
            fn name_in_path(&mut self, named: String) { self.$field = named; }
        }
    };
    (@body $($struct:tt)*) => {
        $crate::request::request! { @schema()
            #[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
            $($struct)*
        }
    };
    (@query $($struct:tt)*) => {
        $crate::request::request! { @param(nullable = false)
            #[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
            #[into_params(parameter_in = Query)]
            $($struct)*
        }
    };
    (@arguments $name:ident, $document:expr $(, $($more:tt)*)?) => {
        impl $crate::Arguments for $name {
            fn document() -> $crate::Document {
                $document
            }

            fn common(&self) -> $crate::Common {
                $crate::Common {
                    workspace: self.workspace.clone(),
                    min_revision: self.min_revision,
                    wait_ms: self.wait_ms,
                    max_tokens: self.max_tokens,
                    cursor: self.cursor.clone(),
                    limit: self.limit,
                }
            }

            $($($more)*)?
        }
    };
    (@$helper:ident($($not_null:tt)*) $(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $(#[$attribute])*
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($fields)*
            /// The workspace's id or root. Default: the only one that is open; while several are, it is wanted.
            #[$helper($($not_null)*)]
            pub workspace: Option<String>,
            /// Answer of this revision or a later one; waited for within `wait_ms`. Default: of any.
            #[$helper($($not_null)*)]
            pub min_revision: Option<u64>,
            /// How many milliseconds the question may wait for what it needs. Default: 0 for what the text alone
            /// answers, 10000 for what needs the index.
            #[$helper(maximum = 120_000, $($not_null)*)]
            pub wait_ms: Option<u64>,
            /// How many tokens the body of the reply may have, a token counted as four bytes. What does not fit is
            /// counted in `missing` and left to `next_cursor`; something is always given. Default: no limit for JSON, for
            /// Markdown that of `[answers] max_tokens`, 6000.
            #[$helper($($not_null)*)]
            pub max_tokens: Option<usize>,
            /// The `next_cursor` of the reply that this one continues. It outlives a change of revision: the list then
            /// goes on at the same position of what there is by then. Default: from the beginning.
            #[$helper($($not_null)*)]
            pub cursor: Option<String>,
            /// How many items of a list to answer with at most. Default: as many as the call gives at once.
            #[$helper($($not_null)*)]
            pub limit: Option<usize>,
        }
    };
}

pub(crate) use request;

/// The fields of a query.
pub(crate) fn parameters<T: utoipa::IntoParams>() -> Vec<Parameter> {
    T::into_params(|| Some(ParameterIn::Query))
}
