//! The calls that a run makes. They are the calls of every client, and are parsed and validated in the same way.

use serde_json::Value;

use semdex_contract::{Name, Reply};
use semdex_model::{Code, Error, Result};
use semdex_ops::{Client, Service};

/// Makes a call with these fields of a JSON object.
pub(super) async fn ask(service: &Service, name: Name, arguments: Value, client: &str) -> Result<Reply> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    Box::pin(semdex_ops::answer(service, name.call().from_arguments(arguments)?, Client::named(client))).await
}

/// The error for a reply of another call.
pub(super) fn unexpected(name: Name) -> Error {
    Error::new(Code::Internal, format!("`{}` was answered as something else", name.call().name))
}
