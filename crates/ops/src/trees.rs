//! Which workspace a request is about, if a repository has several checkouts. A session that works in a linked worktree
//! says so by the workspace or the full paths of its requests, or by its hooks. From then on a change that names no
//! tree is refused, because it would be made in the wrong one.

use std::path::{Path, PathBuf};

use super::client::Client;
use semdex_contract::{Common, Effect, Reply, Request};
use semdex_model::{Code, Error, Result};
use semdex_workspace::session_trees::{ambiguous_tree, counterparts};
use semdex_workspace::{Workspace, Workspaces};

/// What a request says about its tree.
pub(super) struct Tree {
    workspace: Option<String>,
    files: Vec<String>,
    session: Option<String>,
    /// It is a change of what it names: without a tree it could be made in the wrong one.
    needs_tree: bool,
    is_change: bool,
    may_open: bool,
}

impl Tree {
    pub(super) fn new(request: &Request, common: &Common, client: &Client) -> Tree {
        Tree {
            workspace: common.workspace.clone(),
            files: request.files().into_iter().map(str::to_owned).collect(),
            session: client.session.clone(),
            needs_tree: matches!(request, Request::Edit(_) | Request::Write(_) | Request::Rename(_)),
            is_change: request.name().call().effect != Effect::Read,
            may_open: !client.access.reads_only,
        }
    }

    /// The workspace that the request is about.
    pub(super) fn pick(&self, workspaces: &Workspaces, roots: &[PathBuf]) -> Result<Workspace> {
        let picked = workspaces.pick_for(self.workspace.as_deref(), &self.files);
        let workspace = match (self.named_path(), picked) {
            (Some(path), Ok(workspace)) if self.workspace.is_none() && self.is_elsewhere(&workspace, path) => {
                self.opened((workspaces, roots), path).unwrap_or(workspace)
            }
            (Some(path), Err(error)) if error.code == Code::UnknownWorkspace => {
                self.opened((workspaces, roots), path).ok_or(error)?
            }
            (_, picked) => picked?,
        };
        let Some(session) = &self.session else { return Ok(workspace) };
        if self.named_path().is_some() || self.workspace.is_some() {
            workspaces.session_trees().note(session, &[], workspace.root());
        } else if self.needs_tree {
            let others = self.others(workspaces, &workspace);
            if !others.is_empty() {
                return Err(ambiguous_tree(workspace.root(), &others));
            }
        }
        Ok(workspace)
    }

    /// The full path in the request.
    fn named_path(&self) -> Option<&Path> {
        let named = self.workspace.iter().chain(&self.files);
        named.map(Path::new).find(|it| it.is_absolute())
    }

    /// The path is a file of another checkout.
    fn is_elsewhere(&self, workspace: &Workspace, path: &Path) -> bool {
        let is_foreign = |it: &String| workspace.locate(it).is_err_and(|it: Error| it.code == Code::OutsideWorkspace);
        path.to_str().is_some_and(|it| is_foreign(&it.to_owned()))
    }

    fn opened(&self, (workspaces, roots): (&Workspaces, &[PathBuf]), path: &Path) -> Option<Workspace> {
        self.may_open.then(|| workspaces.open_tree(path, roots)).flatten()
    }

    /// All further checkouts that the session works in.
    fn others(&self, workspaces: &Workspaces, workspace: &Workspace) -> Vec<PathBuf> {
        let Some(session) = &self.session else { return Vec::new() };
        counterparts(workspace.root(), &workspaces.session_trees().of_session(session))
    }

    /// Names the root in a reply whose reader may take it for another one's.
    pub(super) fn naming_root(&self, mut reply: Reply, workspaces: &Workspaces, workspace: &Workspace) -> Reply {
        let names_root = self.is_change || !self.others(workspaces, workspace).is_empty();
        if let Some(meta) = reply.meta().filter(|_| names_root) {
            meta.root = Some(workspace.root().display().to_string());
        }
        reply
    }
}
