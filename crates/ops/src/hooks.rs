//! `hooks`: answers the hooks of an agent after its edits with the present errors, in the JSON of the agent. A hook
//! never breaks the agent: if the payload is not understood, or the errors are unknown, the answer is empty. After an
//! edit and at the end of a turn or session the answer says what is not known in time.

mod agent;
mod event;
mod report_text;
mod reports;

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::Duration;

use futures::FutureExt;
use serde_json::{Value, json};

use super::Service;
use super::access::only_workspace;
pub use agent::Agent;
use event::{Event, Kind};
use semdex_config::access::Access;
use semdex_workspace::Workspace;

/// The deadline of a hook, because the agent waits for it.
const PATIENCE: Duration = Duration::from_millis(2700);
/// The deadline at the end of a session. An agent that ends waits for 1.5 s, regardless of its configuration.
const FAREWELL: Duration = Duration::from_millis(1200);

/// Answers the payload of a hook. `{}` is the empty answer.
pub async fn hook(service: &Service, agent: Agent, payload: &Value, access: &Access) -> Value {
    let nothing = || json!({});
    note_trees(service, payload);
    let Some(event) = Event::read(payload) else { return nothing() };
    let patience = if event.kind == Kind::Ended { FAREWELL } else { PATIENCE };
    let Ok(only) = only_workspace(&service.workspaces, None, access) else { return nothing() };
    let workspaces = only.map_or_else(|| service.workspaces.list(), |it| vec![it]);
    let answered = AssertUnwindSafe(answered(&workspaces, agent, &event)).catch_unwind();
    match tokio::time::timeout(patience, answered).await {
        Ok(Ok(answer)) => answer.unwrap_or_else(nothing),
        Ok(Err(_)) => nothing(),
        Err(_) => {
            tracing::info!(event = event.name, "a hook was not answered in time");
            match event.kind {
                // Silence would read as clean.
                Kind::Edited | Kind::Batch => {
                    let text = reports::put_off(&workspaces, &event);
                    text.map_or_else(nothing, |it| agent.context(&event.name, &it))
                }
                Kind::Stopped => {
                    let text = reports::not_looked(&workspaces, &event);
                    text.and_then(|it| agent.message(&it)).unwrap_or_else(nothing)
                }
                Kind::Ended => nothing(),
            }
        }
    }
}

async fn answered(workspaces: &[Workspace], agent: Agent, event: &Event) -> Option<Value> {
    match event.kind {
        Kind::Edited | Kind::Batch => {
            let report = reports::edited(workspaces, event).await?;
            Some(match report.stops {
                true if agent.can_be_stopped() => agent.stopped(&report.text),
                _ => agent.context(&event.name, &report.text),
            })
        }
        Kind::Stopped => {
            let report = reports::left(workspaces, event).await?;
            match report.stops {
                // After one such report the agent may stop.
                true if agent.can_be_stopped() && !event.is_repeated => Some(agent.kept_going(&report.text)),
                _ => agent.message(&report.text),
            }
        }
        Kind::Ended => agent.farewell(&reports::ended(workspaces, event).await?),
    }
}

/// Records the checkouts that the agent works in.
fn note_trees(service: &Service, payload: &Value) {
    let Some(session) = event::session(payload) else { return };
    let trees = service.workspaces.session_trees();
    event::trees(payload).into_iter().for_each(|it| trees.note(session, &[], it));
}

/// The session of a payload, and the directories that its agent works in.
pub fn directories(payload: &Value) -> Option<(&str, Vec<&Path>)> {
    Some((event::session(payload)?, event::trees(payload)))
}
