//! `semdex config`: the effective settings, and where each comes from.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::output::output;
use semdex_config::{Config, Effective, Flags, Listen, Origin, effective};
use semdex_engine::Registry;

#[derive(Debug, Args)]
pub struct ShowSettings {
    /// Show the settings of the workspace around this directory. Default: the current one.
    #[arg(value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
    /// Configuration file, instead of $XDG_CONFIG_HOME/semdex/config.toml.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Address, as `semdex serve` takes it.
    #[arg(long, value_parser = super::listen)]
    listen: Option<Listen>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

impl ShowSettings {
    /// `is_trusted`: whether the owner trusts a root.
    pub fn print(
        self,
        engines: &Registry,
        is_trusted: impl FnOnce(&Config, &Path) -> bool,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let root = engines.find_root(&self.directory.map_or_else(std::env::current_dir, Ok)?)?;
        let flags = Flags { config_file: self.config, trust: None };
        let settings = effective(&flags, self.listen.as_ref(), &root, |config| is_trusted(config, &root))?;
        let text = if self.json { as_json(&settings) } else { as_text(&settings) };
        Ok(output().write_all(text.as_bytes())?)
    }
}

fn as_text(settings: &[Effective]) -> String {
    let width = settings.iter().map(|it| it.key.len() + it.value.to_string().len() + 3).max().unwrap_or_default();
    let line = |it: &Effective| {
        let setting = format!("{} = {}", it.key, it.value);
        format!("{setting:width$}  # {}\n", from(&it.origin))
    };
    settings.iter().map(line).collect()
}

fn as_json(settings: &[Effective]) -> String {
    let one =
        |it: &Effective| json!({"key": it.key, "value": it.value, "from": it.origin.name(), "where": from(&it.origin)});
    let all: Vec<_> = settings.iter().map(one).collect();
    format!("{}\n", json!({ "settings": all }))
}

fn from(origin: &Origin) -> String {
    match origin {
        Origin::Default => "default".to_owned(),
        Origin::Flag(flag) => format!("flag {flag}"),
        Origin::Environment(variable) => format!("environment {variable}"),
        Origin::File(file) => format!("file {}", file.display()),
        Origin::Untrusted => "default: the workspace is not trusted".to_owned(),
    }
}
