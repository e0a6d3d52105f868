//! The client of a request.

pub use semdex_config::access::Access;
use semdex_workspace::RequestKey;

/// Who makes a request.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// The name that it gives itself, for the journal.
    pub name: Option<String>,
    /// What distinguishes it from other clients from one request to the next: a `session`, or a connection.
    pub session: Option<String>,
    /// What its token allows.
    pub access: Access,
    /// The idempotency key of its request.
    pub request_key: Option<RequestKey>,
}

impl Client {
    /// A client with this name, and without a session.
    pub fn named(name: impl Into<String>) -> Client {
        Client { name: Some(name.into()), ..Client::default() }
    }
}
