//! `overlays`: content that is not on the disk.

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

use super::enums::OverlayEdits;
use super::examples;
use super::request::request;
use super::shared_types::Meta;
use semdex_model::{Code, Error, Result};

const DEFAULT_TTL_S: u64 = 3600;
const LONGEST_TTL_S: u64 = 7 * 24 * 3600;

request! { about file("Relative to the workspace root, with `/`, which need not be escaped.") body
    /// What is to stand before the file's content on the disk.
    #[schema(examples(json!({"content": "pub fn new() {}\n", "ttl_s": 3600})))]
    pub struct OverlayRequest {
        /// Text in UTF-8.
        pub content: String,
        /// After so many seconds it goes by itself, unless it is put again.
        #[schema(default = 3600, minimum = 1, maximum = 604_800)]
        pub ttl_s: Option<u64>,
        /// What becomes of edits of this file as long as it lasts.
        #[schema(default = "refuse")]
        pub edits: Option<OverlayEdits>,
    }
}

impl OverlayRequest {
    /// How long it lasts.
    pub fn lives(&self) -> Result<Duration> {
        match self.ttl_s.unwrap_or(DEFAULT_TTL_S) {
            0 => Err(Error::new(
                Code::InvalidRequest,
                "`ttl_s`: an overlay lives at least a second; DELETE takes it away",
            )),
            ttl if ttl > LONGEST_TTL_S => {
                let detail =
                    format!("`ttl_s`: {ttl} is more than {LONGEST_TTL_S}, a week; put it again to have it longer");
                Err(Error::new(Code::InvalidRequest, detail))
            }
            ttl => Ok(Duration::from_secs(ttl)),
        }
    }
}

request! { query
    /// Which workspace.
    pub struct OverlayQuery {}
}

request! { about file("Relative to the workspace root.") query
    /// Which overlay.
    pub struct DeleteOverlayQuery {}
}

/// An overlay, as it was put or taken away.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::overlay))]
pub struct OverlayReply {
    /// The overlay that is there now, or that was taken away.
    #[serde(flatten)]
    pub overlay: OverlayState,
    /// BLAKE3 of what was seen before, in hex; null where there was no file.
    #[schema(required)]
    pub old_hash: Option<String>,
    /// The revision after it.
    pub meta: Meta,
}

/// Content that is not on the disk.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OverlayState {
    /// Relative to the workspace root.
    pub file: String,
    /// BLAKE3 of its bytes, in hex.
    pub hash: String,
    /// What becomes of edits of the file while the overlay is there.
    pub edits: OverlayEdits,
    /// RFC 3339.
    #[schema(format = "date-time")]
    pub ends_at: String,
}

/// The overlays that there are.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::overlays))]
pub struct OverlaysReply {
    /// In the order of the file names.
    pub overlays: Vec<OverlayState>,
    /// The revision at which they were listed.
    pub meta: Meta,
}
