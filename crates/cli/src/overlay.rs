//! `semdex overlay`: content that is not on the disk, put, listed and taken away.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::changes::text;
use super::client::Call;
use super::common::Common;
use super::here::Here;
use semdex_contract::Name;

#[derive(Debug, Subcommand)]
pub enum Overlay {
    /// Puts content before what the disk has of a file.
    Put(Put),
    /// Lists the overlays that there are.
    List {
        #[command(flatten)]
        common: Common,
    },
    /// Takes an overlay away: what the disk has is seen again.
    Delete {
        file: PathBuf,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Debug, Args)]
pub struct Put {
    file: PathBuf,
    /// The content; without it and --from, standard input.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "from")]
    content: Option<String>,
    /// The content, out of a file; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// How long it lasts.
    #[arg(long, value_name = "SECONDS")]
    ttl: Option<u64>,
    /// Whether edits of the file are refused meanwhile, or go to the overlay.
    #[arg(long)]
    edits: Option<Edits>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Edits {
    Refuse,
    Overlay,
}

impl Overlay {
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Overlay::Put(Put { file, .. }) | Overlay::Delete { file, .. } => Some(file),
            Overlay::List { .. } => None,
        }
    }

    pub(super) fn common(&self) -> &Common {
        match self {
            Overlay::Put(Put { common, .. }) | Overlay::List { common } | Overlay::Delete { common, .. } => common,
        }
    }

    pub(super) fn call(self, here: &Here) -> io::Result<(Call, Common)> {
        Ok(match self {
            Overlay::Put(put) => {
                let from = put.from.or_else(|| Some(PathBuf::from("-")));
                let edits = put.edits.and_then(|it| Some(it.to_possible_value()?.get_name().to_owned()));
                let call = Call::of(Name::PutOverlay)
                    .about(here.name(&put.file)?)
                    .with("content", text(put.content, from)?)
                    .with("ttl_s", put.ttl)
                    .with("edits", edits);
                (call, put.common)
            }
            Overlay::List { common } => (Call::of(Name::ListOverlays), common),
            Overlay::Delete { file, common } => (Call::of(Name::DeleteOverlay).about(here.name(&file)?), common),
        })
    }
}
