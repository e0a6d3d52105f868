//! `overlays`: content that is not on the disk, put before what is, and taken away again.

use super::ask::Reply;
use crate::model::{Coverage, Result};
use crate::workspace::Workspace;
use crate::workspace::overlays::{Overlay, Put, Shown};

pub async fn put(workspace: &Workspace, put: Put) -> Result<Reply<Shown>> {
    let shown = workspace.put_overlay(put).await?;
    Ok(replied(workspace, shown))
}

pub async fn remove(workspace: &Workspace, file: &str) -> Result<Reply<Shown>> {
    let shown = workspace.remove_overlay(file).await?;
    Ok(replied(workspace, shown))
}

pub fn list(workspace: &Workspace) -> Reply<Vec<Overlay>> {
    let meta = workspace.meta(None, workspace.status().revision, Coverage::default());
    Reply { value: workspace.overlays(), meta }
}

fn replied(workspace: &Workspace, shown: Shown) -> Reply<Shown> {
    let meta = workspace.meta(None, shown.revision, Coverage::default());
    Reply { value: shown, meta }
}
