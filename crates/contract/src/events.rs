//! `events`: what the workspaces tell without being asked. Each event has its type, an id that rises, and data that is
//! one of these shapes.

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

/// Which events to tell.
#[derive(Debug, Clone, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// Only these types, with commas between them: `state`, `revision`, `change`, `diagnostics`, `verify`, `run`. Default:
    /// all.
    #[param(nullable = false, example = "state,change")]
    pub types: Option<String>,
    /// Only those of this workspace: its id or root. Default: those of all.
    #[param(nullable = false)]
    pub workspace: Option<String>,
}

impl EventsQuery {
    /// Reads a URL's query. An `invalid_request` names the field that is wrong.
    pub fn parse(query: &str) -> Result<EventsQuery> {
        from_query(query)
    }

    /// As an OpenAPI document has them.
    pub fn parameters() -> Vec<Parameter> {
        parameters::<EventsQuery>()
    }

    /// The types that are asked for.
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

    /// As the field `event` of the stream has it: `revision`.
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
    /// What a change brought and took away.
    Diagnostics(DiagnosticsEvent),
    /// How far a run of tools is.
    Verify(VerifyEvent),
    /// How far a run of a model is.
    Run(RunEvent),
    /// Events are lost to the reader.
    Reset(ResetEvent),
}

/// `state`: how much of a workspace is known.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct StateEvent {
    /// The workspace's id.
    pub workspace: String,
    /// The state of the contents at that moment.
    pub revision: u64,
    /// How much is known now.
    pub state: State,
    /// Absent where nothing is going on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub progress: Option<Progress>,
}

/// `revision`: contents have changed, whoever changed them.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RevisionEvent {
    /// The workspace's id.
    pub workspace: String,
    /// The new one.
    pub revision: u64,
    /// Who changed them.
    pub cause: ChangeCause,
    /// The first 100 of them; none where the change is outside of the workspace's root.
    pub files: Vec<String>,
}

/// `change`: semdex changed files.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ChangeEvent {
    /// The workspace's id.
    pub workspace: String,
    /// The one that the change made.
    pub revision: u64,
    /// The token that takes it back.
    pub change: String,
    /// Which call made the change.
    pub cause: ChangeCause,
    /// Who asked for it, as it calls itself: its `User-Agent`.
    #[schema(required)]
    pub client: Option<String>,
    /// The change that this one took back.
    #[schema(required)]
    pub undoes: Option<String>,
    /// The first 100 of them.
    pub files: Vec<String>,
    /// The first 100 of each list.
    pub impact: Impact,
}

/// `diagnostics`: what a change brought and took away; told where there is any.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DiagnosticsEvent {
    /// The workspace's id.
    pub workspace: String,
    /// The one that the change made.
    pub revision: u64,
    /// The change's token.
    pub change: String,
    /// The first 100 of them.
    pub new: Vec<Diagnostic>,
    /// The first 100 of them.
    pub fixed: Vec<Diagnostic>,
}

/// `run`: a run of a model has come further.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunEvent {
    /// The workspace's id.
    pub workspace: String,
    /// The state of the contents at that moment.
    pub revision: u64,
    /// The run's token.
    pub run: String,
    /// Whether it still works, or how it ended.
    pub state: RunState,
    /// Of the model's replies, from 1.
    pub attempt: usize,
    /// What is being done, in a few words; null when it has ended.
    #[schema(required)]
    pub step: Option<String>,
}

/// `verify`: how far a run of the compiler, the linter or the tests is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct VerifyEvent {
    /// The workspace's id.
    pub workspace: String,
    /// The one that it runs at.
    pub revision: u64,
    /// Which tools run.
    pub kind: VerifyKind,
    /// `queued`, `running` or `finished`.
    #[schema(examples("running"))]
    pub state: String,
    /// While it runs; a total of 0 is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub progress: Option<Progress>,
    /// Once it has finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ok: Option<bool>,
}

/// `reset`: events were lost between the last one seen and the next, so what is known of the workspaces has to be asked
/// for anew.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ResetEvent {
    /// The only workspace that is open, if there is one.
    #[schema(required)]
    pub workspace: Option<String>,
    /// Of that workspace, or of all together.
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
