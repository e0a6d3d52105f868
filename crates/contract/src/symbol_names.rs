//! Validation of the names of symbols in requests.

use semdex_model::{Code, Error, Result, SymbolQuery};

/// Longer than any path of a symbol.
const LONGEST_NAME: usize = 8192;

/// Refuses a text that is not a name in any language, before an engine searches for it.
pub fn check_name(field: &str, name: &str) -> Result<()> {
    let why = if name.len() > LONGEST_NAME {
        format!("is {} bytes long, {LONGEST_NAME} are the most", name.len())
    } else if name.contains(char::is_control) {
        "holds control characters".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::new(Code::InvalidRequest, format!("`{field}` {why}: give a name or a path")))
}

/// Validates all fields that name a symbol.
pub fn check_query(query: &SymbolQuery) -> Result<()> {
    check_name("symbol", &query.symbol)?;
    check_name("package", query.package.as_deref().unwrap_or_default())?;
    if query.symbol.trim().is_empty() && query.package.is_none() {
        return Err(Error::new(Code::InvalidRequest, "`symbol` is empty: give a path, or the end of one"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_name_in_any_language_is_refused() {
        assert!(check_name("symbol", "a\u{7}b").is_err() && check_name("symbol", &"x".repeat(9000)).is_err());
    }
}
