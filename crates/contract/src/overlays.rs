//! `overlays`: content of files that is not on disk.

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Listing, left_out, text_cost};
use super::enums::OverlayEdits;
use super::examples;
use super::request::{Answer, request};
use super::shared_types::Meta;
use semdex_model::{Code, Error, Result};

const DEFAULT_TTL_S: u64 = 3600;
const LONGEST_TTL_S: u64 = 7 * 24 * 3600;

request! { about file("Relative to the workspace root, with `/`. Slashes need not be escaped.") body
    /// The content of an overlay, which answers use in place of the content on disk.
    #[schema(examples(json!({"content": "pub fn new() {}\n", "ttl_s": 3600})))]
    pub struct OverlayRequest {
        /// Text in UTF-8.
        pub content: String,
        /// The overlay is removed after this number of seconds, unless it is put again.
        #[schema(default = 3600, minimum = 1, maximum = 604_800)]
        pub ttl_s: Option<u64>,
        /// Whether edits of the file are refused or go to the overlay while it exists.
        #[schema(default = "refuse")]
        pub edits: Option<OverlayEdits>,
    }
}

impl OverlayRequest {
    /// The lifetime of the overlay, validated.
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
    /// The workspace.
    pub struct OverlayQuery {}
}

request! { about file("Relative to the workspace root.") query
    /// The overlay to remove.
    pub struct DeleteOverlayQuery {}
}

/// The overlay that was put or removed.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::overlay))]
pub struct OverlayReply {
    /// The overlay that exists now, or that was removed.
    #[serde(flatten)]
    pub overlay: OverlayState,
    /// BLAKE3 of the content before the call, in hex. Null if there was no file.
    #[schema(required)]
    pub old_hash: Option<String>,
    /// The revision after the call.
    pub meta: Meta,
}

/// An overlay.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OverlayState {
    /// Relative to the workspace root.
    pub file: String,
    /// BLAKE3 of its bytes, in hex.
    pub hash: String,
    /// Whether edits of the file are refused or go to the overlay.
    pub edits: OverlayEdits,
    /// When the overlay expires, as RFC 3339.
    #[schema(format = "date-time")]
    pub ends_at: String,
}

/// All overlays.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::overlays))]
pub struct OverlaysReply {
    /// In the order of the file names.
    #[schema(value_type = Vec<OverlayState>)]
    pub overlays: Listing<OverlayState>,
    /// How many overlays there are, including those on other pages.
    pub total: usize,
    /// Continues the overlays. Null if nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision at which they were listed.
    pub meta: Meta,
}

impl OverlaysReply {
    /// The total and the cursor follow from the list.
    pub fn new(overlays: Listing<OverlayState>, meta: Meta) -> OverlaysReply {
        OverlaysReply { total: overlays.total(), next_cursor: overlays.next_cursor(), overlays, meta }
    }
}

impl Answer for OverlaysReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        let form = budget.form();
        // The hash and the time have a fixed length.
        self.overlays.cut(&mut budget, |it| text_cost(&it.file) + form.or(110, 170));
        self.next_cursor = self.overlays.next_cursor();
        Some(left_out(&[("overlays", self.overlays.part)]))
    }
}

impl Answer for OverlayReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    /// Only the names of other overlays can be left out.
    fn fit(&mut self, _: Budget) -> Option<Vec<String>> {
        Some(Vec::new())
    }
}
