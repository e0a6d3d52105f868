//! The files in which agents keep their configuration and what the user has answered them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::merge_json;

pub(super) fn is_toml(file: &Path) -> bool {
    file.extension().is_some_and(|it| it == "toml")
}

/// The values of a configuration file. `None` if there is none, or if it cannot be read.
pub(super) fn document(file: &Path) -> Option<Value> {
    let text = fs::read_to_string(file).ok()?;
    match is_toml(file) {
        true => serde_json::to_value(text.parse::<toml::Table>().ok()?).ok(),
        false => serde_json::from_str(&merge_json::without_comments(&text)).ok(),
    }
}

/// The directory of an agent's own files: what a variable says, else below the home directory.
pub(super) fn home(variable: &str, below: &str) -> io::Result<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let home = named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(below)));
    home.ok_or_else(|| io::Error::other(format!("neither {variable} nor HOME is set")))
}
