//! What the tools of the languages say of a change, by the call `verify`.

use std::time::Duration;

use serde_json::{Value, json};

use super::change::findings;
use super::feedback::Finding;
use crate::contract::{Call, Diagnostic, Severity, VerifyKind};
use crate::model::{Code, Error, Result};
use crate::ops::{self, Service};
use crate::workspace::Workspace;

/// What came of one verification.
#[derive(Debug, Default)]
pub struct Verified {
    pub ok: bool,
    pub duration: Duration,
    pub errors: Vec<Diagnostic>,
    /// The same, and the tests that fail, for the model.
    pub findings: Vec<Finding>,
    pub failed_tests: Vec<String>,
    /// The last lines.
    pub output: String,
    /// Why it could not be run.
    pub refused: Option<String>,
}

/// Of the whole workspace; tests, where one change is all that there is, only those that it reaches.
pub async fn verify(
    service: &Service,
    workspace: &Workspace,
    kind: VerifyKind,
    changes: &[String],
    client: &str,
) -> Verified {
    match ask(service, workspace, kind, changes, client).await {
        Ok(reply) => told(reply, kind),
        Err(error) => Verified { refused: Some(error.to_string()), ..Verified::default() },
    }
}

async fn ask(
    service: &Service,
    workspace: &Workspace,
    kind: VerifyKind,
    changes: &[String],
    client: &str,
) -> Result<Value> {
    let change = match changes {
        [only] if kind == VerifyKind::Test => Some(only),
        _ => None,
    };
    let call = Call::named("verify").ok_or_else(|| Error::new(Code::Internal, "this semdex cannot verify"))?;
    let arguments = json!({"workspace": workspace.id(), "kind": kind.name(), "change": change});
    let request = call.from_arguments(arguments.as_object().cloned().unwrap_or_default())?;
    let reply = Box::pin(ops::answer(service, request, Some(client.to_owned()))).await?;
    Ok(serde_json::to_value(&reply).unwrap_or_default())
}

fn told(mut reply: Value, kind: VerifyKind) -> Verified {
    let diagnostics: Vec<Diagnostic> = serde_json::from_value(reply["diagnostics"].take()).unwrap_or_default();
    let counts = |it: &Diagnostic| kind == VerifyKind::Lint || it.severity == Severity::Error;
    let mut errors: Vec<Diagnostic> = diagnostics.into_iter().filter(counts).collect();
    let mut findings = findings(&errors);
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let failures = reply["tests"]["failures"].as_array().cloned().unwrap_or_default();
    for failure in &failures {
        findings.push(Finding {
            file: failure["file"].as_str().map(str::to_owned),
            line: failure["line"].as_u64().and_then(|it| it.try_into().ok()),
            what: format!("the test `{}` fails", text(&failure["name"])),
            message: text(&failure["message"]),
            output: text(&failure["output"]),
        });
        errors.extend(as_diagnostic(failure));
    }
    if reply["timed_out"] == true {
        let message = "it did not end in time".to_owned();
        findings.push(Finding { what: format!("`{}`", kind.name()), message, ..Finding::default() });
    }
    Verified {
        ok: reply["ok"] == true,
        duration: Duration::try_from_secs_f64(reply["duration_ms"].as_f64().unwrap_or_default() / 1000.0)
            .unwrap_or_default(),
        errors,
        findings,
        failed_tests: failures.iter().map(|it| text(&it["name"])).collect(),
        output: text(&reply["output"]),
        refused: None,
    }
}

/// A failing test as an error at its place.
fn as_diagnostic(failure: &Value) -> Option<Diagnostic> {
    let line = failure["line"].as_u64().unwrap_or(1);
    let message = format!(
        "the test `{}` fails: {}",
        failure["name"].as_str().unwrap_or_default(),
        failure["message"].as_str().unwrap_or_default()
    );
    let diagnostic = json!({
        "file": failure["file"].as_str()?, "start": 0, "end": 0, "line": line, "end_line": line, "column": 1,
        "severity": "error", "message": message, "source": "test", "symbol": failure["symbol"],
    });
    serde_json::from_value(diagnostic).ok()
}
