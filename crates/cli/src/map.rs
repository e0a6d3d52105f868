//! `semdex map`: the most important symbols of the workspace.

use std::io;

use clap::Args;

use super::client::Call;
use super::request_options::{Limit, RequestOptions};
use super::target::Target;
use semdex_contract::Name;

#[derive(Debug, Args)]
pub struct Map {
    /// Focus on a file, a directory or a symbol; may be repeated.
    #[arg(long)]
    focus: Vec<String>,
    /// Focus on a topic, in words.
    #[arg(long, value_name = "WORDS")]
    query: Option<String>,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    pub(super) common: RequestOptions,
}

impl Map {
    pub(crate) fn call(self, target: &Target) -> io::Result<(Call, RequestOptions)> {
        let focus: Vec<String> = self.focus.into_iter().map(|it| target.focus(it)).collect::<io::Result<_>>()?;
        let call = Call::of(Name::Map).with("focus", (!focus.is_empty()).then_some(focus));
        Ok((self.limit.over(call.with("query", self.query)), self.common))
    }
}
