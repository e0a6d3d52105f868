//! One incoming message, and the error for a message that cannot be read: the library ignores it, or drops it without a
//! JSON-RPC reply.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::async_rw::DEFAULT_MAX_LINE_LENGTH;
use serde::Deserialize;
use serde_json::Value;

use super::parameters;

/// The message of a line, or the error to send: `None` for an empty line and for a notification.
pub(crate) fn read(line: &[u8]) -> Result<ClientJsonRpcMessage, Option<Box<ServerJsonRpcMessage>>> {
    // Some clients begin with a byte order mark.
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    let refused = |error, id| Err(Some(Box::new(ServerJsonRpcMessage::error(error, id))));
    if line.is_empty() {
        return Err(None);
    }
    if line.len() > DEFAULT_MAX_LINE_LENGTH {
        let detail = format!("a message may have at most {} MiB", DEFAULT_MAX_LINE_LENGTH >> 20);
        return refused(ErrorData::invalid_request(detail, None), None);
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => return refused(ErrorData::parse_error(format!("the message is not JSON: {error}"), None), None),
    };
    let id = value.get("id").and_then(|it| RequestId::deserialize(it).ok());
    let wrong = || parameters::refused(value.get("method")?.as_str()?, value.get("params"));
    match ClientJsonRpcMessage::deserialize(&value) {
        Ok(message) if !is_unread(&message) => Ok(message),
        Ok(message) => match wrong() {
            Some(error) => refused(error, id),
            None => Ok(message),
        },
        Err(_) if value.get("method").is_some() && value.get("id").is_none() => Err(None),
        Err(_) => {
            let detail = match value.is_array() {
                true => "batches are not taken, in no version of the protocol: send each message by itself",
                false => "the message is JSON, but no request, notification or response of JSON-RPC 2.0",
            };
            refused(wrong().unwrap_or_else(|| ErrorData::invalid_request(detail, None)), id)
        }
    }
}

/// Whether the library does not read it as a known request.
fn is_unread(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(it) if matches!(it.request, ClientRequest::CustomRequest(_)))
}

/// The error for an unreadable message, as JSON.
pub fn refusal(message: &[u8]) -> Option<String> {
    let refused = read(message).err()??;
    serde_json::to_string(&*refused).ok()
}
