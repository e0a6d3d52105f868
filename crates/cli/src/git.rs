//! `semdex commit`: files of changes, and others, in a commit.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::client::Call;
use super::common::Common;
use super::here::Here;
use semdex_contract::Name;

#[derive(Debug, Args)]
pub struct Commit {
    /// All files of this change, by its token; may be repeated.
    #[arg(long, value_name = "CHANGE")]
    change: Vec<String>,
    /// This file; may be repeated.
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// The message; without it one is made from what changed.
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    message: Option<String>,
    /// `Name <mail>`; without it git's own user.
    #[arg(long)]
    author: Option<String>,
    /// What becomes of other work that is not committed: it stays, it is committed first, or it refuses the commit.
    #[arg(long)]
    dirty: Option<Dirty>,
    #[command(flatten)]
    common: Common,
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

    pub(super) fn common(&self) -> &Common {
        &self.common
    }

    pub(super) fn call(self, here: &Here) -> io::Result<(Call, Common)> {
        let files = self.file.iter().map(|it| here.name(it)).collect::<io::Result<Vec<String>>>()?;
        let call = Call::of(Name::Commit)
            .with("changes", Some(self.change))
            .with("files", Some(files))
            .with("message", self.message)
            .with("author", self.author)
            .with("dirty", self.dirty.and_then(|it| Some(it.to_possible_value()?.get_name().to_owned())));
        Ok((call, self.common))
    }
}
