//! `status`, `health`, and the calls that open, close and list workspaces.

use std::path::{Path, PathBuf};

use super::Service;
use semdex_contract::{
    CloseWorkspaceQuery, Engine, Health, Meta, OpenWorkspaceRequest, Progress, SlowQuestion, StatusReply,
    WorkspaceReply, WorkspaceStatus, WorkspacesReply, list, milliseconds, rfc3339,
};
use semdex_engine::EngineStatus;
use semdex_model::{Code, Error, Result, State};
use semdex_process::resource_usage;
use semdex_workspace::{Workspace, telemetry};

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn health() -> Health {
    Health { status: "ok", version: VERSION }
}

/// `workspace`: the only one that is reported.
pub(crate) fn status(service: &Service, workspace: Option<&str>) -> Result<StatusReply> {
    let statuses = statuses(service, workspace)?;
    Ok(StatusReply {
        version: VERSION,
        pid: std::process::id(),
        memory_bytes: resource_usage::resident_memory(std::process::id()),
        meta: meta_of(&statuses),
        workspaces: statuses.into_iter().map(workspace_status).collect(),
        slow_questions: service.workspaces.telemetry().slow_questions().into_iter().map(slow_question).collect(),
    })
}

/// `workspace`: the only one that is listed.
pub(crate) fn list_workspaces(service: &Service, workspace: Option<&str>) -> Result<WorkspacesReply> {
    let statuses = statuses(service, workspace)?;
    Ok(WorkspacesReply { meta: meta_of(&statuses), workspaces: statuses.into_iter().map(workspace_status).collect() })
}

fn statuses(service: &Service, workspace: Option<&str>) -> Result<Vec<semdex_workspace::WorkspaceStatus>> {
    let workspaces = match workspace {
        Some(workspace) => vec![service.workspaces.pick(Some(workspace))?],
        None => service.workspaces.list(),
    };
    Ok(workspaces.iter().map(Workspace::status).collect())
}

pub(crate) fn open_workspace(service: &Service, request: &OpenWorkspaceRequest) -> Result<WorkspaceReply> {
    let directory = permitted(&request.root, &service.roots)?;
    let status = service.workspaces.open_below(&directory, &service.roots)?.status();
    Ok(reply(status))
}

pub(crate) async fn close_workspace(service: &Service, request: &CloseWorkspaceQuery) -> Result<WorkspaceReply> {
    let workspace = service.workspaces.pick(Some(&request.workspace))?;
    let status = workspace.status();
    if let Some(runs) = &service.runs {
        runs.leave(Some(&workspace)).await;
    }
    service.workspaces.close(&request.workspace).await?;
    Ok(reply(status))
}

fn reply(status: semdex_workspace::WorkspaceStatus) -> WorkspaceReply {
    WorkspaceReply { meta: meta_of(std::slice::from_ref(&status)), workspace: workspace_status(status) }
}

/// The directory with symbolic links resolved, if it is in or below a permitted root.
fn permitted(root: &Path, roots: &[PathBuf]) -> Result<PathBuf> {
    if !root.is_absolute() {
        let detail = format!("`root`: `{}` is not an absolute path", root.display());
        return Err(Error::new(Code::InvalidRequest, detail));
    }
    // The error for a directory outside is the same whether it exists or not, so that this call does not reveal which
    // exist.
    let resolved = root.canonicalize().ok().filter(|it| it.is_dir());
    let inside = |path: &Path| roots.iter().any(|permitted| path.starts_with(permitted));
    match resolved {
        Some(resolved) if inside(&resolved) => Ok(resolved),
        None if inside(root) && !root.components().any(|it| it == std::path::Component::ParentDir) => {
            let detail = format!("`root`: there is no directory `{}`", root.display());
            Err(Error::new(Code::InvalidRequest, detail))
        }
        _ => {
            let permitted: Vec<String> = roots.iter().map(|it| format!("`{}`", it.display())).collect();
            let detail = format!(
                "only directories in or below {} may be opened: name others when starting `semdex serve`",
                permitted.join(", ")
            );
            Err(Error::new(Code::ForbiddenRoot, detail))
        }
    }
}

/// The metadata of a reply about several workspaces: the least advanced state, and the sum of the revisions, which also
/// increases with every change.
pub(super) fn meta_of(statuses: &[semdex_workspace::WorkspaceStatus]) -> Meta {
    let state = statuses.iter().map(|it| it.state).min_by_key(|&state| match state {
        // `Degraded` counts as less advanced than all states of loading.
        State::Degraded => (0, state),
        _ => (1, state),
    });
    Meta {
        workspace: if let [only] = statuses { Some(only.id.clone()) } else { None },
        root: None,
        revision: statuses.iter().map(|it| it.revision.0).sum(),
        state: state.unwrap_or(State::Ready).into(),
        // This reply itself is complete. What the answers of a workspace may be missing is listed in its status.
        complete: true,
        missing: Vec::new(),
        fallback: None,
        builds: Vec::new(),
        overlays: Vec::new(),
        elapsed_ms: 0.0,
    }
}

/// Lists each engine once for each of its languages in the workspace.
fn by_language(status: &semdex_workspace::WorkspaceStatus) -> Vec<EngineStatus> {
    let of = |engine: &EngineStatus| {
        let present = status.present.iter().find(|it| it.first() == Some(&engine.language));
        let languages = present.and_then(|it| it.get(1..)).filter(|it| !it.is_empty()).map(<[_]>::to_vec);
        let languages = languages.unwrap_or_else(|| vec![engine.language]);
        let named = |language| EngineStatus { language, ..engine.clone() };
        languages.into_iter().map(named).collect::<Vec<_>>()
    };
    status.engines.iter().flat_map(of).collect()
}

fn workspace_status(status: semdex_workspace::WorkspaceStatus) -> WorkspaceStatus {
    let engines = by_language(&status);
    WorkspaceStatus {
        id: status.id,
        root: status.root.display().to_string(),
        languages: list(engines.iter().map(|it| it.language).collect()),
        state: status.state.into(),
        revision: status.revision.0,
        progress: status.progress.map(|it| Progress { stage: it.stage, done: it.done, total: it.total }),
        engines: engines.into_iter().map(engine).collect(),
        trusted: status.trusted,
        missing: list(status.missing),
    }
}

fn slow_question(slow: telemetry::SlowQuestion) -> SlowQuestion {
    SlowQuestion {
        call: slow.call,
        at: rfc3339(slow.at),
        request_id: slow.request_id,
        elapsed_ms: milliseconds(slow.elapsed),
        reading_ms: milliseconds(slow.reading),
        queue_ms: milliseconds(slow.waits.queue),
        barrier_ms: milliseconds(slow.waits.barrier),
        index_ms: milliseconds(slow.waits.index),
        engine_ms: milliseconds(slow.waits.engine),
        computing_ms: milliseconds(slow.waits.computing),
        rendering_ms: milliseconds(slow.rendering),
    }
}

fn engine(status: EngineStatus) -> Engine {
    Engine {
        language: status.language.into(),
        state: status.engine_state().into(),
        name: status.name,
        version: status.version,
        pid: status.pid,
        memory_bytes: status.memory_bytes,
        restarts: status.restarts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_below_a_named_root_may_be_opened() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        for name in ["root/inner", "other", "root-like"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(base.join("other"), base.join("root/link")).unwrap();
        let roots = [base.join("root")];
        let code = |path: PathBuf| permitted(&path, &roots).map_err(|it| it.code);
        assert_eq!(code(base.join("root")), Ok(base.join("root")));
        assert_eq!(code(base.join("root/inner/../inner")), Ok(base.join("root/inner")));
        assert_eq!(code(base.join("other")), Err(Code::ForbiddenRoot));
        assert_eq!(code(base.join("root-like")), Err(Code::ForbiddenRoot));
        assert_eq!(code(base.join("root/../other")), Err(Code::ForbiddenRoot));
        assert_eq!(code(base.join("root/../missing")), Err(Code::ForbiddenRoot));
        assert_eq!(code(base.join("root/link")), Err(Code::ForbiddenRoot));
        assert_eq!(code(base.join("missing")), Err(Code::ForbiddenRoot));
        assert_eq!(code(base.join("root/missing")), Err(Code::InvalidRequest));
        assert_eq!(code("root".into()), Err(Code::InvalidRequest));
    }
}
