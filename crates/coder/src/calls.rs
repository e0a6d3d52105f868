//! The calls that a run makes: those that every client has, read and checked as a client's are.

use serde_json::Value;

use semdex_contract::{Name, Reply};
use semdex_model::{Code, Error, Result};
use semdex_ops::Service;

/// Makes a call with these fields, a JSON object.
pub(super) async fn ask(service: &Service, name: Name, arguments: Value, client: &str) -> Result<Reply> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    Box::pin(semdex_ops::answer(service, name.call().from_arguments(arguments)?, Some(client.to_owned()))).await
}

/// A call was answered with the reply of another one.
pub(super) fn unexpected(name: Name) -> Error {
    Error::new(Code::Internal, format!("`{}` was answered as something else", name.call().name))
}
