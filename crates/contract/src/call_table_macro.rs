//! What the rows of the table of calls become: requests, replies and what is common to all of them. The rows are in
//! `calls.rs`.

/// Replies that are given in full, whatever their budget.
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
                from_text: |query, body| <$request>::of_text(query, body).map(Request::$variant),
                text: <$request>::TEXT,
                document: <$request as Arguments>::document,
                reply: schemas::<$reply>,
            },
        }),*];

        /// A call by its name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Name {
            $(#[doc = concat!("The call whose request is [`", stringify!($request), "`].")] $variant),*
        }

        /// A request for one of the calls.
        #[derive(Debug)]
        pub enum Request {
            $(#[doc = concat!("Answered by [`", stringify!($reply), "`].")] $variant($request)),*
        }

        impl Request {
            /// The call that it is for.
            pub fn name(&self) -> Name {
                match self { $(Request::$variant(_) => Name::$variant),* }
            }

            /// The fields that almost every request may carry.
            pub fn common(&self) -> Common {
                match self { $(Request::$variant(it) => it.common()),* }
            }

            /// Sets what the call's path names.
            pub fn name_in_path(&mut self, named: String) {
                match self { $(Request::$variant(it) => it.name_in_path(named)),* }
            }
        }

        /// What a call answers with.
        #[derive(Debug, Clone, Serialize)]
        #[serde(untagged)]
        pub enum Reply {
            $(#[doc = concat!("Answers [`", stringify!($request), "`].")] $variant($reply)),*
        }

        impl Reply {
            /// What it says of itself, where it does.
            pub fn meta(&mut self) -> Option<&mut Meta> {
                match self { $(Reply::$variant(it) => it.meta()),* }
            }

            /// Shortens it to about what the budget allows. Answers with what was left out, in words; nothing where it
            /// cannot be shortened.
            pub(crate) fn fit(&mut self, budget: Budget) -> Option<Vec<String>> {
                match self { $(Reply::$variant(it) => Answer::fit(it, budget)),* }
            }
        }
    };
}

pub(super) use calls;
