//! What all requests and all replies have in common, and the macro that declares request types.

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

/// The longest wait that a request may ask for.
const LONGEST_WAIT_MS: u64 = 120_000;

/// The fields of almost every request, declared once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Common {
    /// The id or root of the workspace. None: the only workspace, or the workspace that the server was started with.
    pub workspace: Option<String>,
    /// Wait until the workspace has reached this revision.
    pub min_revision: Option<u64>,
    /// How long to wait for what the answer needs, at most 120,000. None: the default of the call.
    pub wait_ms: Option<u64>,
    /// The longest reply in tokens of four bytes. None: the default of the format.
    pub max_tokens: Option<usize>,
    /// The `next_cursor` of an earlier reply.
    pub cursor: Option<String>,
    /// The largest number of items.
    pub limit: Option<usize>,
}

impl Common {
    /// How long the answer may wait for what it needs. None: the default of the call.
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

/// A named schema of an OpenAPI document.
pub type NamedSchema = (String, RefOr<Schema>);

/// A request in an OpenAPI document: its parameters, its body, and the schemas that these refer to.
#[derive(Default)]
pub struct Document {
    /// The parameters in the path and the query.
    pub parameters: Vec<Parameter>,
    /// The body. None for calls without one.
    pub body: Option<RequestBody>,
    /// The schemas that parameters and body refer to.
    pub schemas: Vec<NamedSchema>,
}

impl Document {
    /// The document of a request with a JSON body.
    pub(crate) fn body<T: ToSchema>() -> Document {
        let body = RequestBodyBuilder::new().content("application/json", content::<T>()).required(Some(Required::True));
        Document { body: Some(body.build()), schemas: schemas::<T>(), ..Document::default() }
    }

    /// The document of a request with a query only.
    pub(crate) fn query(parameters: Vec<Parameter>) -> Document {
        Document { parameters, ..Document::default() }
    }

    /// Adds a parameter in the path.
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

/// A reference to the schema of this type.
fn content<T: ToSchema>() -> utoipa::openapi::Content {
    ContentBuilder::new().schema(Some(Ref::from_schema_name(T::name()))).build()
}

/// The schemas of the type and of all types that it refers to.
pub fn schemas<T: ToSchema>() -> Vec<NamedSchema> {
    let mut schemas = vec![(T::name().into_owned(), T::schema())];
    T::schemas(&mut schemas);
    schemas
}

/// The request type of a call.
pub(crate) trait Arguments: DeserializeOwned {
    /// Its OpenAPI document.
    fn document() -> Document;

    /// The common fields; those that this request does not have are None.
    fn common(&self) -> Common;

    /// Sets the field that is in the path.
    fn name_in_path(&mut self, _named: String) {}

    /// The fields that a query may repeat.
    const REPEATING: &'static [&'static str] = &[];

    /// The media types of text bodies that are accepted in place of JSON.
    const TEXTS: &'static [&'static str] = &[];

    /// Parses such a body of one of these media types, with its options in the query.
    fn of_text(_query: &str, _media_type: &str, _body: String) -> Result<Self> {
        Err(Error::new(Code::UnsupportedMediaType, "this call takes JSON"))
    }
}

/// The reply type of a call.
pub(crate) trait Answer: Serialize + ToSchema + Clone {
    /// Its metadata. None for a reply without them.
    fn meta(&mut self) -> Option<&mut Meta>;

    /// Shortens it to about the budget. Returns descriptions of what was left out, or None if it cannot be shortened.
    fn fit(&mut self, _budget: Budget) -> Option<Vec<String>> {
        None
    }
}

/// Declares a request type with the common fields. serde's `flatten` does not work with `deny_unknown_fields`. `body`
/// makes it a JSON body, `query` the parameters of a query. `about FIELD` before either adds a field that is in the
/// path.
macro_rules! request {
    (body $(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::request::request! { @body $(#[$attribute])* pub struct $name { $($fields)* } }
        $crate::request::request! { @arguments $name, $crate::Document::body::<$name>() }
    };
    // Some of its fields may be repeated.
    (query(repeating $names:expr) $(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::request::request! { @query $(#[$attribute])* pub struct $name { $($fields)* } }
        $crate::request::request! {
            @arguments $name, $crate::Document::query($crate::request::parameters::<$name>()),
            const REPEATING: &'static [&'static str] = $names;
        }
    };
    // It has another form besides JSON.
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
            /// It is in the path, not in the body.
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
            /// It is in the path, not in the query.
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
            /// The id or root of the workspace. Default: the only open one. Required while several are open.
            #[$helper($($not_null)*)]
            pub workspace: Option<String>,
            /// Answer for this revision or a later one, and wait for it within `wait_ms`. Default: any revision.
            #[$helper($($not_null)*)]
            pub min_revision: Option<u64>,
            /// How many milliseconds the request may wait for what it needs. Default: 0 for calls that need only the
            /// texts, 10000 for calls that need the index.
            #[$helper(maximum = 120_000, $($not_null)*)]
            pub wait_ms: Option<u64>,
            /// The largest size of the reply body in tokens of four bytes. `missing` counts what does not fit, and
            /// `next_cursor` continues there. A reply always has at least one item. Default: no limit for JSON; for
            /// Markdown `[answers] max_tokens`, 6000.
            #[$helper($($not_null)*)]
            pub max_tokens: Option<usize>,
            /// The `next_cursor` of the reply to continue. It stays valid when the revision changes: the list continues
            /// at the same position of the new contents. Default: start at the beginning.
            #[$helper($($not_null)*)]
            pub cursor: Option<String>,
            /// The largest number of items of a list. Default: the page size of the call.
            #[$helper($($not_null)*)]
            pub limit: Option<usize>,
        }
    };
}

pub(crate) use request;

/// The parameters of a query type.
pub(crate) fn parameters<T: utoipa::IntoParams>() -> Vec<Parameter> {
    T::into_params(|| Some(ParameterIn::Query))
}
