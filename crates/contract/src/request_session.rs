//! The name that a client gives itself in a request, and whether a request is made once.

use super::call::{Call, Effect};
use super::call_table::Request;

impl Call {
    /// Whether a session makes a difference: the call shows texts, or changes them.
    pub fn takes_session(&self) -> bool {
        matches!(self.name, "open" | "explore" | "describe" | "usages" | "edit" | "write" | "rename" | "undo")
    }

    /// Whether an idempotency key protects the call from being made twice.
    pub fn takes_idempotency_key(&self) -> bool {
        matches!(self.name, "edit" | "write" | "rename" | "undo" | "commit")
    }
}

impl Request {
    /// The name that the client gives itself in the body.
    pub fn session(&self) -> Option<&str> {
        let session = match self {
            Request::Open(it) => &it.session,
            Request::Explore(it) => &it.session,
            Request::Describe(it) => &it.session,
            Request::Edit(it) => &it.session,
            Request::Write(it) => &it.session,
            Request::Rename(it) => &it.session,
            Request::Undo(it) => &it.session,
            _ => &None,
        };
        session.as_deref()
    }

    /// Whether the request makes a change that an idempotency key protects from being made twice. A dry run changes
    /// nothing, and a cursor continues an earlier reply.
    pub fn is_made_once(&self) -> bool {
        self.name().call().takes_idempotency_key() && !self.is_dry_run() && self.common().cursor.is_none()
    }

    /// Whether the request only reads: it changes nothing and starts no program of the workspace.
    pub fn only_reads(&self) -> bool {
        let call = self.name().call();
        self.is_dry_run() || call.effect == Effect::Read && !matches!(self, Request::Verify(_))
    }

    fn is_dry_run(&self) -> bool {
        let dry_run = match self {
            Request::Edit(it) => it.dry_run,
            Request::Write(it) => it.dry_run,
            Request::Rename(it) => it.dry_run,
            Request::Undo(it) => it.dry_run,
            _ => None,
        };
        dry_run == Some(true)
    }
}
