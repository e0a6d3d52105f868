//! How a request arrived, what clients present, and what a request is granted.

use std::net::IpAddr;
use std::sync::Arc;

use semdex_config::access::{Access, Tokens};

/// The kind of a connection; the listener adds it to every request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Via {
    /// TCP, with the local address of the connection.
    Tcp(IpAddr),
    /// A Unix socket, guarded by the mode of its file; no browser can reach it.
    Unix,
}

/// What clients over TCP present, and by what the server proves itself to them.
#[derive(Debug)]
pub struct Credentials {
    /// The tokens that are accepted.
    pub tokens: Tokens,
    /// Whether a token is required: not with `--no-auth`.
    pub is_token_required: bool,
    /// The address of the server, as clients name it: `http://127.0.0.1:41237`.
    pub address: String,
}

/// What the guard granted to a request. It has no `Debug`, so that the token does not get into a log.
#[derive(Clone, Default)]
pub(crate) struct Grant {
    /// What the request may do.
    pub access: Access,
    /// The token, and those that accept it. `None` if none is required.
    pub token: Option<(Arc<Credentials>, Arc<str>)>,
}

impl Grant {
    /// Whether the token is still accepted. It may have been rotated since, for replies that last.
    pub(crate) fn is_valid(&self) -> bool {
        self.token.as_ref().is_none_or(|(by, token)| by.tokens.access(token).is_some())
    }
}
