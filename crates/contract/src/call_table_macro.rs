//! The macro that turns the rows of the table of calls (`call_table.rs`) into the enums of requests, replies and names.

/// Replies that are never shortened.
macro_rules! given_in_full {
    ($($reply:ident),* $(,)?) => { $(
        impl Answer for $reply {
            fn meta(&mut self) -> Option<&mut Meta> {
                Some(&mut self.meta)
            }
        }
    )* };
}

pub(super) use given_in_full;

macro_rules! calls {
    ($($variant:ident($request:ty) -> $reply:ty { $($fields:tt)* })*) => {
        /// All calls.
        pub const CALLS: &[Call] = &[$(Call {
            $($fields)*
            shape: Shape {
                from_json: |object| from_json(object).map(Request::$variant),
                from_query: |query| {
                    let read = match <$request>::REPEATING {
                        [] => from_query(query),
                        names => from_repeating_query(query, names),
                    };
                    read.map(Request::$variant)
                },
                from_text: |query, media_type, body| {
                    <$request>::of_text(query, media_type, body).map(Request::$variant)
                },
                texts: <$request>::TEXTS,
                document: <$request as Arguments>::document,
                reply: schemas::<$reply>,
            },
        }),*];

        /// The names of the calls.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Name {
            $(#[doc = concat!("The call whose request is [`", stringify!($request), "`].")] $variant),*
        }

        /// A request for one of the calls.
        #[expect(clippy::large_enum_variant, reason = "a request is moved a few times and never kept")]
        #[derive(Debug)]
        pub enum Request {
            $(#[doc = concat!("Answered by [`", stringify!($reply), "`].")] $variant($request)),*
        }

        impl Request {
            /// The call that the request is for.
            pub fn name(&self) -> Name {
                match self { $(Request::$variant(_) => Name::$variant),* }
            }

            /// The fields that almost every request may carry.
            pub fn common(&self) -> Common {
                match self { $(Request::$variant(it) => it.common()),* }
            }

            /// Sets the field that is in the path.
            pub fn name_in_path(&mut self, named: String) {
                match self { $(Request::$variant(it) => it.name_in_path(named)),* }
            }
        }

        /// The reply of a call.
        #[derive(Debug, Clone, Serialize)]
        #[serde(untagged)]
        pub enum Reply {
            $(#[doc = concat!("Answers [`", stringify!($request), "`].")] $variant($reply)),*
        }

        impl Reply {
            /// Its metadata. None for a reply without them.
            pub fn meta(&mut self) -> Option<&mut Meta> {
                match self { $(Reply::$variant(it) => it.meta()),* }
            }

            /// Shortens it to about the budget. Returns descriptions of what was left out, or None if it cannot be
            /// shortened.
            pub(crate) fn fit(&mut self, budget: Budget) -> Option<Vec<String>> {
                match self { $(Reply::$variant(it) => Answer::fit(it, budget)),* }
            }
        }
    };
}

pub(super) use calls;
