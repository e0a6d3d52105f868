//! The replies about the status of workspaces.

use super::markdown::{apart, line, missing, one};
use crate::{Engine, EngineState, Missing, SlowQuestion, StatusReply, WorkspaceStatus};
use semdex_model::MissingCode;

/// The status of the process and its workspaces.
pub(crate) fn status(reply: &StatusReply) -> String {
    let megabytes = reply.memory_bytes.map(|it| format!(", {} MB", it / 1_000_000)).unwrap_or_default();
    let workspaces = workspaces(&reply.workspaces);
    let mut text = one(format_args!("semdex {}, process {}{megabytes}", reply.version, reply.pid)) + "\n" + &workspaces;
    slow(&mut text, &reply.slow_questions);
    text
}

/// How many slow requests are shown.
const SHOWN: usize = 5;

/// The last slow requests, each with where its time went, the most first.
fn slow(text: &mut String, questions: &[SlowQuestion]) {
    if questions.is_empty() {
        return;
    }
    apart(text, format_args!("## Slow requests: the last {} of {}", questions.len().min(SHOWN), questions.len()));
    for it in questions.iter().take(SHOWN) {
        let mut parts = [
            ("reading", it.reading_ms),
            ("queue", it.queue_ms),
            ("barrier", it.barrier_ms),
            ("index", it.index_ms),
            ("engine", it.engine_ms),
            ("computing", it.computing_ms),
            ("rendering", it.rendering_ms),
        ];
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let shown = parts.iter().filter(|it| it.1 >= 1.0).map(|(name, ms)| format!("{name} {ms:.0}"));
        let shown = shown.collect::<Vec<_>>().join(", ");
        line(text, format_args!("- {} at {}: {:.0} ms ({shown})", it.call, it.at, it.elapsed_ms));
    }
}

pub(crate) fn workspaces(statuses: &[WorkspaceStatus]) -> String {
    if statuses.is_empty() {
        return "No workspace is open.\n".to_owned();
    }
    let mut text = String::new();
    for status in statuses {
        let trust = if status.trusted { "trusted" } else { "not trusted" };
        let languages: Vec<&str> = status.languages.iter().map(|it| it.name()).collect();
        line(&mut text, format_args!("## {} ({})", status.id, status.root));
        text.push('\n');
        line(
            &mut text,
            format_args!("{} at revision {}, {trust}, {}", status.state.name(), status.revision, languages.join(", ")),
        );
        if let Some(progress) = &status.progress {
            text.push('\n');
            line(&mut text, format_args!("{}: {} of {}", progress.stage, progress.done, progress.total));
        }
        text.push('\n');
        for engine in &status.engines {
            let version = engine.version.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
            let process = engine.pid.map(|it| format!(", process {it}")).unwrap_or_default();
            let memory = engine.memory_bytes.map(|it| format!(", {} MB", it / 1_000_000)).unwrap_or_default();
            let restarts = match engine.restarts {
                0 => String::new(),
                1 => ", restarted once".to_owned(),
                times => format!(", restarted {times} times"),
            };
            let state =
                if is_untrusted(engine, &status.missing) { "not started: not trusted" } else { engine.state.name() };
            line(&mut text, format_args!("- engine {}{version}: {state}{process}{memory}{restarts}", engine.name));
        }
        missing(&mut text, &status.missing);
    }
    text
}

/// Whether an engine is installed but not started because the workspace is not trusted.
fn is_untrusted(engine: &Engine, missing: &[Missing]) -> bool {
    let by_name = format!("{} ", engine.name);
    let is_of_it =
        |it: &&Missing| it.scope.as_deref() == Some(engine.language.name()) || it.detail.starts_with(&by_name);
    let lacks = |code: MissingCode| missing.iter().filter(is_of_it).any(|it| it.code == code.name());
    engine.state == EngineState::Missing && lacks(MissingCode::Untrusted) && !lacks(MissingCode::EngineMissing)
}
