//! Errors in the parameters of a known method. The library takes such a request for an unknown method.

use rmcp::model::{CallToolRequestParams, ErrorData, InitializeRequestParams, PaginatedRequestParams};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Why a request with a known method cannot be read.
pub(crate) fn refused(method: &str, params: Option<&Value>) -> Option<ErrorData> {
    let params = params.cloned().unwrap_or_else(|| json!({}));
    let detail = match method {
        "initialize" => wrong::<InitializeRequestParams>(params),
        "tools/call" => wrong::<CallToolRequestParams>(params),
        "tools/list" => wrong::<PaginatedRequestParams>(params),
        _ => None,
    }?;
    Some(ErrorData::invalid_params(format!("{method}: {detail}"), None))
}

/// The error, with the name of the field.
fn wrong<T: DeserializeOwned>(params: Value) -> Option<String> {
    if !params.is_object() {
        return Some("`params` must be an object".to_owned());
    }
    let error = serde_path_to_error::deserialize::<_, T>(params).err()?;
    let (path, error) = (error.path().to_string(), error.inner());
    Some(if path == "." { error.to_string() } else { format!("`{path}`: {error}") })
}
