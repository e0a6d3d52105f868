//! What every request may say besides its question, declared once.

use std::time::Duration;

use crate::model::{Code, Error, Result};
use crate::ops::Ask;

/// The longest that a question may ask to wait.
const LONGEST_WAIT_MS: u64 = 120_000;

/// The common fields of a request, as they came.
#[derive(Debug, Default)]
pub struct Common<'a> {
    pub workspace: Option<&'a str>,
    pub min_revision: Option<u64>,
    pub wait_ms: Option<u64>,
    pub max_tokens: Option<usize>,
    pub cursor: Option<&'a str>,
    pub limit: Option<usize>,
}

impl Common<'_> {
    pub fn ask(&self) -> Result<Ask> {
        if let Some(wait) = self.wait_ms.filter(|&it| it > LONGEST_WAIT_MS) {
            let detail =
                format!("`wait_ms`: {wait} is more than {LONGEST_WAIT_MS}, the longest that a request may wait");
            return Err(Error::new(Code::InvalidRequest, detail));
        }
        Ok(Ask {
            min_revision: self.min_revision,
            wait: self.wait_ms.map(Duration::from_millis),
            max_tokens: self.max_tokens,
            cursor: self.cursor.map(str::to_owned),
            limit: self.limit,
            ..Ask::default()
        })
    }
}

/// A request type with the fields that every request may carry. serde's `flatten` would do, were it not that it
/// cannot refuse unknown fields. `body` makes it a JSON body, `query` the parameters of a query.
macro_rules! request {
    (body $(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::api::ask::request! { @schema()
            #[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
            $(#[$attribute])*
            pub struct $name { $($fields)* }
        }
    };
    (query $(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $crate::api::ask::request! { @param(nullable = false)
            #[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
            #[into_params(parameter_in = Query)]
            $(#[$attribute])*
            pub struct $name { $($fields)* }
        }
    };
    (@$helper:ident($($not_null:tt)*) $(#[$attribute:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $(#[$attribute])*
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($fields)*
            /// The workspace's id or root: needed only while several are open.
            #[$helper($($not_null)*)]
            pub workspace: Option<String>,
            /// Answer of this revision or a later one; waited for within `wait_ms`.
            #[$helper($($not_null)*)]
            pub min_revision: Option<u64>,
            /// How many milliseconds the question may wait for what it needs. Default: 0 for what the text alone
            /// answers, 10000 for what needs the index.
            #[$helper(maximum = 120_000, $($not_null)*)]
            pub wait_ms: Option<u64>,
            /// How many tokens the body of the reply may have, a token counted as four bytes. What does not fit is
            /// counted in `missing` and left to `next_cursor`; something is always given.
            #[$helper($($not_null)*)]
            pub max_tokens: Option<usize>,
            /// The `next_cursor` of the reply that this one continues. It outlives a change of revision: the list then
            /// goes on at the same position of what there is by then.
            #[$helper($($not_null)*)]
            pub cursor: Option<String>,
            /// How many items of a list to answer with at most.
            #[$helper($($not_null)*)]
            pub limit: Option<usize>,
        }

        impl $name {
            pub fn common(&self) -> $crate::api::ask::Common<'_> {
                $crate::api::ask::Common {
                    workspace: self.workspace.as_deref(),
                    min_revision: self.min_revision,
                    wait_ms: self.wait_ms,
                    max_tokens: self.max_tokens,
                    cursor: self.cursor.as_deref(),
                    limit: self.limit,
                }
            }
        }
    };
}

pub(crate) use request;
