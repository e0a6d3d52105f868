//! `semdex map`: the most important symbols of the workspace.

use std::io;

use clap::Args;

use super::client::Call;
use super::common::Common;
use super::here::Here;
use semdex_contract::Name;

#[derive(Debug, Args)]
pub struct Map {
    /// A file, a directory or a symbol that it is to be about; may be repeated.
    #[arg(long)]
    focus: Vec<String>,
    /// What it is to be about, in words.
    #[arg(long, value_name = "WORDS")]
    query: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

impl Map {
    pub(crate) fn call(self, here: &Here) -> io::Result<(Call, Common)> {
        let focus: Vec<String> = self.focus.into_iter().map(|it| here.focus(it)).collect::<io::Result<_>>()?;
        let call = Call::of(Name::Map).with("focus", (!focus.is_empty()).then_some(focus));
        Ok((call.with("query", self.query), self.common))
    }
}
