//! `overlays`: content that is not on the disk, put before what is, and taken away again.

use crate::contract::{
    DeleteOverlayQuery, OverlayEdits, OverlayQuery, OverlayReply, OverlayRequest, OverlayState, OverlaysReply, list,
    rfc3339,
};
use crate::model::{Coverage, Result};
use crate::workspace::Workspace;
use crate::workspace::overlays::{Edits, Overlay, Put, Shown};

use super::ask::Ask;

pub async fn put(workspace: &Workspace, request: OverlayRequest, _: &Ask) -> Result<OverlayReply> {
    let lives = request.lives()?;
    let edits = request.edits.map_or(Edits::Refuse, Edits::from);
    let put = Put { file: request.file, content: request.content, lives, edits };
    Ok(reply(workspace, workspace.put_overlay(put).await?))
}

pub async fn delete(workspace: &Workspace, request: DeleteOverlayQuery, _: &Ask) -> Result<OverlayReply> {
    Ok(reply(workspace, workspace.remove_overlay(&request.file).await?))
}

pub async fn overlays(workspace: &Workspace, _: OverlayQuery, _: &Ask) -> Result<OverlaysReply> {
    let meta = workspace.meta(None, workspace.status().revision, Coverage::default());
    Ok(OverlaysReply { overlays: list(workspace.overlays()), meta: meta.into() })
}

fn reply(workspace: &Workspace, shown: Shown) -> OverlayReply {
    let meta = workspace.meta(None, shown.revision, Coverage::default());
    OverlayReply { overlay: shown.overlay.into(), old_hash: shown.old_hash, meta: meta.into() }
}

impl From<Overlay> for OverlayState {
    fn from(overlay: Overlay) -> OverlayState {
        OverlayState {
            file: overlay.file,
            hash: overlay.hash.to_hex().to_string(),
            edits: overlay.edits.into(),
            ends_at: rfc3339(overlay.ends_at),
        }
    }
}

impl From<Edits> for OverlayEdits {
    fn from(edits: Edits) -> OverlayEdits {
        match edits {
            Edits::Refuse => OverlayEdits::Refuse,
            Edits::Overlay => OverlayEdits::Overlay,
        }
    }
}

impl From<OverlayEdits> for Edits {
    fn from(edits: OverlayEdits) -> Edits {
        match edits {
            OverlayEdits::Refuse => Edits::Refuse,
            OverlayEdits::Overlay => Edits::Overlay,
        }
    }
}
