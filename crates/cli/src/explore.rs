//! `semdex explore`: the lines that a question, an error or an issue is about.

use std::io::{self, Read as _};

use clap::{Args, ValueEnum};

use super::client::Call;
use super::edit_commands::words;
use super::request_options::{Limit, RequestOptions};
use super::target::Target;
use semdex_contract::Name;

#[derive(Debug, Args)]
pub struct Explore {
    /// The question, the error message, the stack trace or the issue; `-` reads it from standard input.
    #[arg(required = true, value_name = "TEXT")]
    query: Vec<String>,
    /// Show this file, directory or symbol first; may be repeated.
    #[arg(long)]
    focus: Vec<String>,
    /// How tests are shown. Default: named.
    #[arg(long)]
    tests: Option<ShownTests>,
    /// Whether lines that the session was shown are repeated.
    #[arg(long)]
    seen: Option<Seen>,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    pub(super) common: RequestOptions,
}

words! {
    pub(crate) ShownTests { Named, Full, None }
}

words! {
    pub(crate) Seen { Omit, Repeat }
}

impl Explore {
    pub(crate) fn call(self, target: &Target) -> io::Result<(Call, RequestOptions)> {
        let focus: Vec<String> = self.focus.into_iter().map(|it| target.focus(it)).collect::<io::Result<_>>()?;
        let mut query = self.query.join(" ");
        if query == "-" {
            query.clear();
            io::stdin().read_to_string(&mut query)?;
        }
        let call = Call::of(Name::Explore).with("query", Some(query));
        let call = call.with("focus", (!focus.is_empty()).then_some(focus));
        let call = call.with("tests", self.tests.map(ShownTests::word)).with("seen", self.seen.map(Seen::word));
        Ok((self.limit.over(call), self.common))
    }
}
