//! `overlays`: lists, puts and removes overlays.

use semdex_contract::{
    DeleteOverlayQuery, OverlayEdits, OverlayQuery, OverlayReply, OverlayRequest, OverlayState, OverlaysReply, rfc3339,
};
use semdex_model::{Coverage, Result};
use semdex_workspace::Workspace;
use semdex_workspace::overlays::{Edits, Overlay, Put, Shown};

use super::query::RequestOptions;

pub(crate) async fn put(workspace: &Workspace, request: OverlayRequest, _: &RequestOptions) -> Result<OverlayReply> {
    let lives = request.lives()?;
    let edits = request.edits.map_or(Edits::Refuse, edits_of);
    let put = Put { file: request.file, content: request.content, lives, edits };
    Ok(reply(workspace, workspace.put_overlay(put).await?))
}

pub(crate) async fn delete(
    workspace: &Workspace,
    request: DeleteOverlayQuery,
    _: &RequestOptions,
) -> Result<OverlayReply> {
    Ok(reply(workspace, workspace.remove_overlay(&request.file).await?))
}

pub(crate) async fn overlays(
    workspace: &Workspace,
    _: OverlayQuery,
    options: &RequestOptions,
) -> Result<OverlaysReply> {
    let meta = workspace.meta(None, workspace.status().revision, Coverage::default());
    let overlays = options.page(workspace.overlays().into_iter().map(overlay_state).collect(), usize::MAX)?;
    Ok(OverlaysReply::new(overlays, meta.into()))
}

fn reply(workspace: &Workspace, shown: Shown) -> OverlayReply {
    let meta = workspace.meta(None, shown.revision, Coverage::default());
    OverlayReply { overlay: overlay_state(shown.overlay), old_hash: shown.old_hash, meta: meta.into() }
}

fn overlay_state(overlay: Overlay) -> OverlayState {
    OverlayState {
        file: overlay.file,
        hash: overlay.hash.to_hex().to_string(),
        edits: overlay_edits(overlay.edits),
        ends_at: rfc3339(overlay.ends_at),
    }
}

fn overlay_edits(edits: Edits) -> OverlayEdits {
    match edits {
        Edits::Refuse => OverlayEdits::Refuse,
        Edits::Overlay => OverlayEdits::Overlay,
    }
}

fn edits_of(edits: OverlayEdits) -> Edits {
    match edits {
        OverlayEdits::Refuse => Edits::Refuse,
        OverlayEdits::Overlay => Edits::Overlay,
    }
}
