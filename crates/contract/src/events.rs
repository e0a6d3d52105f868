//! `events`: the events of the workspaces. Each event has a type, an ascending id, and data of one of these types.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::path::Parameter;

use super::change::Impact;
use super::diagnostics::Diagnostic;
use super::enums::{ChangeCause, EventType, RunState, State, VerifyKind};
use super::parse::{from_query, nearest};
use super::request::parameters;
use super::status::Progress;
use semdex_model::{Code, Error, Result};

/// The events to subscribe to.
#[derive(Debug, Clone, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// The types, separated by commas: `state`, `revision`, `change`, `diagnostics`, `verify`, `run`. Default: all.
    #[param(nullable = false, example = "state,change")]
    pub types: Option<String>,
    /// The id or root of the workspace. Default: all workspaces.
    #[param(nullable = false)]
    pub workspace: Option<String>,
}

impl EventsQuery {
    /// Parses the query of a URL. An `invalid_request` names the wrong field.
    pub fn parse(query: &str) -> Result<EventsQuery> {
        from_query(query)
    }

    /// The parameters for the OpenAPI document.
    pub fn parameters() -> Vec<Parameter> {
        parameters::<EventsQuery>()
    }

    /// The requested types.
    pub fn types(&self) -> Result<Vec<EventType>> {
        let Some(types) = &self.types else { return Ok(EventType::ALL.to_vec()) };
        types.split(',').map(|it| EventType::named(it.trim())).collect()
    }
}

impl EventType {
    /// In the order of the documentation.
    pub(crate) const ALL: [EventType; 6] = [
        EventType::State,
        EventType::Revision,
        EventType::Change,
        EventType::Diagnostics,
        EventType::Verify,
        EventType::Run,
    ];

    /// The name in the field `event` of the stream: `revision`.
    pub fn name(self) -> &'static str {
        match self {
            EventType::State => "state",
            EventType::Revision => "revision",
            EventType::Change => "change",
            EventType::Diagnostics => "diagnostics",
            EventType::Verify => "verify",
            EventType::Run => "run",
        }
    }

    fn named(name: &str) -> Result<EventType> {
        let known: BTreeMap<&str, EventType> = EventType::ALL.iter().map(|it| (it.name(), *it)).collect();
        known.get(name).copied().ok_or_else(|| {
            let names: Vec<String> = EventType::ALL.iter().map(|it| it.name().to_owned()).collect();
            let nearest = nearest(name, &names);
            let hint = nearest.map(|it| format!("did you mean `{it}`? ")).unwrap_or_default();
            let detail = format!("`types`: unknown type `{name}`: {hint}Known: {}", names.join(", "));
            Error::new(Code::InvalidRequest, detail).suggesting(nearest.map(str::to_owned).into_iter().collect())
        })
    }
}

/// The data of an event.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EventData {
    /// How much of a workspace is known.
    State(StateEvent),
    /// Contents have changed.
    Revision(RevisionEvent),
    /// semdex changed files.
    Change(Box<ChangeEvent>),
    /// The diagnostics that appeared or disappeared with a change.
    Diagnostics(DiagnosticsEvent),
    /// The progress of a run of tools.
    Verify(VerifyEvent),
    /// The progress of a run of a model.
    Run(RunEvent),
    /// Events were dropped before the client read them.
    Reset(ResetEvent),
}

/// `state`: how much of a workspace is known.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct StateEvent {
    /// The id of the workspace.
    pub workspace: String,
    /// The revision at that time.
    pub revision: u64,
    /// The new state.
    pub state: State,
    /// Absent if nothing is in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub progress: Option<Progress>,
}

/// `revision`: contents have changed, by semdex or by others.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RevisionEvent {
    /// The id of the workspace.
    pub workspace: String,
    /// The new revision.
    pub revision: u64,
    /// What changed them.
    pub cause: ChangeCause,
    /// The first 100 files. Empty if the change is outside the workspace root.
    pub files: Vec<String>,
}

/// `change`: semdex changed files.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ChangeEvent {
    /// The id of the workspace.
    pub workspace: String,
    /// The revision that the change created.
    pub revision: u64,
    /// The token for `undo`.
    pub change: String,
    /// The call that made the change.
    pub cause: ChangeCause,
    /// The `User-Agent` of the client.
    #[schema(required)]
    pub client: Option<String>,
    /// The change that this one undid.
    #[schema(required)]
    pub undoes: Option<String>,
    /// The first 100 entries.
    pub files: Vec<String>,
    /// The impact with the first 100 entries of each list.
    pub impact: Impact,
}

/// `diagnostics`: the diagnostics that appeared or disappeared with a change. Sent only if there are any.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DiagnosticsEvent {
    /// The id of the workspace.
    pub workspace: String,
    /// The revision that the change created.
    pub revision: u64,
    /// The token of the change.
    pub change: String,
    /// The first 100 entries.
    pub new: Vec<Diagnostic>,
    /// The first 100 entries.
    pub fixed: Vec<Diagnostic>,
}

/// `run`: the progress of a run of a model.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunEvent {
    /// The id of the workspace.
    pub workspace: String,
    /// The revision at that time.
    pub revision: u64,
    /// The token of the run.
    pub run: String,
    /// The state of the run.
    pub state: RunState,
    /// The number of the model's reply, from 1.
    pub attempt: usize,
    /// The current step in a few words. Null after the end.
    #[schema(required)]
    pub step: Option<String>,
}

/// `verify`: the progress of a run of the compiler, the linter or the tests.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct VerifyEvent {
    /// The id of the workspace.
    pub workspace: String,
    /// The revision that it runs at.
    pub revision: u64,
    /// The kind of tools.
    pub kind: VerifyKind,
    /// The state: `queued`, `running` or `finished`.
    #[schema(examples("running"))]
    pub state: String,
    /// The progress while it runs. A total of 0 means unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub progress: Option<Progress>,
    /// Whether it succeeded. Only after it has finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ok: Option<bool>,
}

/// `reset`: events between the last one and the next were lost, so the client must query the state of the workspaces
/// again.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ResetEvent {
    /// The id of the workspace, if only one is open.
    #[schema(required)]
    pub workspace: Option<String>,
    /// The revision of that workspace, or the sum over all workspaces.
    pub revision: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_listed_by_name() {
        let types = |text: &str| EventsQuery { types: Some(text.to_owned()), workspace: None }.types();
        assert_eq!(types("state, change").unwrap(), [EventType::State, EventType::Change]);
        assert_eq!(EventsQuery::default().types().unwrap().len(), 6);
        let error = types("state,chnage").unwrap_err();
        assert!(error.detail.contains("did you mean `change`?") && error.code == Code::InvalidRequest, "{error}");
        assert_eq!(types("").unwrap_err().code, Code::InvalidRequest);
        assert!(EventsQuery::parse("typs=state").unwrap_err().detail.contains("`types`"));
    }
}
