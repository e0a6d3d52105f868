//! `semdex commit`: commits the files of changes, and other files.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::client::Call;
use super::request_options::RequestOptions;
use super::target::Target;
use semdex_contract::Name;

#[derive(Debug, Args)]
pub struct Commit {
    /// Commit all files of this change, by its token; may be repeated.
    #[arg(long, value_name = "CHANGE")]
    change: Vec<String>,
    /// Commit this file; may be repeated.
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Message of the commit. Default: generated from the changes.
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    message: Option<String>,
    /// Author, `Name <mail>`. Default: git's user.
    #[arg(long)]
    author: Option<String>,
    /// Whether other uncommitted work stays, is committed first, or makes the commit fail.
    #[arg(long)]
    dirty: Option<Dirty>,
    #[command(flatten)]
    common: RequestOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Dirty {
    Leave,
    CommitFirst,
    Refuse,
}

impl Commit {
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.first().map(PathBuf::as_path)
    }

    pub(super) fn common(&self) -> &RequestOptions {
        &self.common
    }

    pub(super) fn call(self, target: &Target) -> io::Result<(Call, RequestOptions)> {
        let files = self.file.iter().map(|it| target.name(it)).collect::<io::Result<Vec<String>>>()?;
        let call = Call::of(Name::Commit)
            .with("changes", Some(self.change))
            .with("files", Some(files))
            .with("message", self.message)
            .with("author", self.author)
            .with("dirty", self.dirty.and_then(|it| Some(it.to_possible_value()?.get_name().to_owned())));
        Ok((call, self.common))
    }
}
