//! `semdex overlay`: puts, lists and removes content that is not on the disk.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::client::Call;
use super::edit_commands::text;
use super::request_options::{Limit, RequestOptions};
use super::target::Target;
use semdex_contract::Name;

#[derive(Debug, Subcommand)]
pub enum Overlay {
    /// Put content in place of what the disk has of a file.
    #[command(after_help = "Example:\n  semdex overlay put src/lib.rs --ttl 600 < buffer.rs")]
    Put(Put),
    /// List the overlays.
    #[command(after_help = "Example:\n  semdex overlay list")]
    List {
        #[command(flatten)]
        limit: Limit,
        #[command(flatten)]
        common: RequestOptions,
    },
    /// Remove an overlay: the content of the disk is used again.
    #[command(after_help = "Example:\n  semdex overlay delete src/lib.rs")]
    Delete {
        /// The file with the overlay.
        file: PathBuf,
        #[command(flatten)]
        common: RequestOptions,
    },
}

#[derive(Debug, Args)]
pub struct Put {
    /// The file whose content is replaced.
    file: PathBuf,
    /// The content; default without --from: standard input.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "from")]
    content: Option<String>,
    /// Read the content from a file; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// How long the overlay lasts.
    #[arg(long, value_name = "SECONDS")]
    ttl: Option<u64>,
    /// Whether edits of the file are refused as long as the overlay exists, or change the overlay.
    #[arg(long)]
    edits: Option<Edits>,
    #[command(flatten)]
    common: RequestOptions,
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

    pub(super) fn common(&self) -> &RequestOptions {
        match self {
            Overlay::Put(Put { common, .. }) | Overlay::List { common, .. } | Overlay::Delete { common, .. } => common,
        }
    }

    pub(super) fn call(self, target: &Target) -> io::Result<(Call, RequestOptions)> {
        Ok(match self {
            Overlay::Put(put) => {
                let from = put.from.or_else(|| Some(PathBuf::from("-")));
                let edits = put.edits.and_then(|it| Some(it.to_possible_value()?.get_name().to_owned()));
                let call = Call::of(Name::PutOverlay)
                    .about(target.name(&put.file)?)
                    .with("content", text(put.content, from)?)
                    .with("ttl_s", put.ttl)
                    .with("edits", edits);
                (call, put.common)
            }
            Overlay::List { limit, common } => (limit.over(Call::of(Name::ListOverlays)), common),
            Overlay::Delete { file, common } => (Call::of(Name::DeleteOverlay).about(target.name(&file)?), common),
        })
    }
}
