//! `events`: the events of the workspaces, converted to the types of the contract.

use super::Service;
use super::access::only_workspace;
use super::changes::change_cause;
use super::status::meta_of;
use semdex_config::access::Access;
use semdex_contract::{
    ChangeEvent, DiagnosticsEvent, EventData, EventType, EventsQuery, Progress, ResetEvent, RevisionEvent, RunEvent,
    StateEvent, VerifyEvent, list,
};
use semdex_model::Result;
use semdex_workspace::Workspace;
use semdex_workspace::events::{Event, News, Next, Reader, RunNews};

/// The events that one client subscribed to, in their order.
pub struct Listener {
    reader: Reader,
    types: Vec<EventType>,
    /// The id of the only workspace whose events are sent. None: all.
    workspace: Option<String>,
    service: Service,
}

/// An event as it is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct SentEvent {
    /// Increases from event to event.
    pub id: u64,
    /// The type. None for a reset.
    pub of: Option<EventType>,
    /// As it is serialized.
    pub data: EventData,
}

impl Listener {
    /// Listens from now on, or after the event `last`.
    pub fn new(service: &Service, query: &EventsQuery, last: Option<u64>, access: &Access) -> Result<Listener> {
        let named = query.workspace.as_deref();
        let workspace = match only_workspace(&service.workspaces, named, access)? {
            Some(only) => Some(only),
            None => named.map(|it| service.workspaces.pick(Some(it))).transpose()?,
        };
        Ok(Listener {
            reader: service.workspaces.telemetry().events.read(last),
            types: query.types()?,
            workspace: workspace.map(|it| it.id().to_owned()),
            service: service.clone(),
        })
    }

    /// Waits for the next event.
    pub async fn next(&mut self) -> SentEvent {
        loop {
            match self.reader.next().await {
                Next::Behind(id) => return SentEvent { id, of: None, data: self.reset() },
                Next::Event(event) => {
                    let of = type_of(&event.news);
                    let is_own = self.workspace.as_ref().is_none_or(|it| *it == event.workspace);
                    if is_own && self.types.contains(&of) {
                        return SentEvent { id: event.id, of: Some(of), data: data(&event) };
                    }
                }
            }
        }
    }

    fn reset(&self) -> EventData {
        let open = self.service.workspaces.list();
        let statuses: Vec<_> = match &self.workspace {
            Some(workspace) => open.iter().filter(|it| it.id() == workspace).map(Workspace::status).collect(),
            None => open.iter().map(Workspace::status).collect(),
        };
        let meta = meta_of(&statuses);
        EventData::Reset(ResetEvent { workspace: meta.workspace, revision: meta.revision })
    }
}

fn type_of(news: &News) -> EventType {
    match news {
        News::State { .. } => EventType::State,
        News::Revision { .. } => EventType::Revision,
        News::Change(_) => EventType::Change,
        News::Diagnostics { .. } => EventType::Diagnostics,
        News::Run(_) => EventType::Run,
        News::Verify { .. } => EventType::Verify,
    }
}

fn data(event: &Event) -> EventData {
    let (workspace, revision) = (event.workspace.clone(), event.revision.0);
    match event.news.clone() {
        News::State { state, progress } => {
            let progress = progress.map(|it| Progress { stage: it.stage, done: it.done, total: it.total });
            EventData::State(StateEvent { workspace, revision, state: state.into(), progress })
        }
        News::Revision { cause, files } => {
            EventData::Revision(RevisionEvent { workspace, revision, cause: change_cause(cause), files })
        }
        News::Change(made) => EventData::Change(Box::new(ChangeEvent {
            workspace,
            revision,
            change: made.change,
            cause: change_cause(made.cause),
            client: made.client,
            undoes: made.undoes,
            files: made.files,
            impact: made.impact.into(),
        })),
        News::Run(RunNews { run, state, attempt, step }) => {
            EventData::Run(RunEvent { workspace, revision, run, state: state.into(), attempt, step })
        }
        News::Diagnostics { change, new, fixed } => {
            EventData::Diagnostics(DiagnosticsEvent { workspace, revision, change, new: list(new), fixed: list(fixed) })
        }
        News::Verify { kind, state, progress, ok } => {
            let progress = progress.map(|it| Progress { stage: it.stage, done: it.done, total: it.total });
            EventData::Verify(VerifyEvent { workspace, revision, kind: kind.into(), state, progress, ok })
        }
    }
}
