//! The files in which agents keep their configuration and what the user has answered them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{merge_json, merge_toml};

pub(super) fn is_toml(file: &Path) -> bool {
    file.extension().is_some_and(|it| it == "toml")
}

/// The values of a configuration file. `None` if there is none, or if it is empty.
pub(super) fn document(file: &Path) -> Result<Option<Value>, String> {
    match fs::read_to_string(file) {
        Ok(text) => parsed(&text, is_toml(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// The values of a configuration file that can be read.
pub(super) fn readable(file: &Path) -> Option<Value> {
    document(file).ok().flatten()
}

/// The values of a text. `None` if it is empty.
pub(super) fn parsed(text: &str, is_toml: bool) -> Result<Option<Value>, String> {
    match is_toml {
        _ if text.trim().is_empty() => Ok(None),
        true => merge_toml::parse(text).and_then(|it| serde_json::to_value(it).map_err(|it| it.to_string())).map(Some),
        false => merge_json::parse(text).map(Some),
    }
}

/// The directory of an agent's own files: what a variable says, else below the home directory.
pub(super) fn home(variable: &str, below: &str) -> io::Result<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let home = named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(below)));
    home.ok_or_else(|| io::Error::other(format!("neither {variable} nor HOME is set")))
}
