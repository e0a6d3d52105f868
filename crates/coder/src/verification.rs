//! Verifies a change with the call `verify`.

use std::time::Duration;

use serde_json::json;

use super::apply_edits::findings;
use super::feedback::Finding;
use super::service_calls::{self, unexpected};
use semdex_contract::{Diagnostic, Name, Place, Reply, Severity, TestFailure, VerifyKind, VerifyReply};
use semdex_model::Result;
use semdex_ops::Service;
use semdex_workspace::Workspace;

/// The result of one verification.
#[derive(Debug, Default)]
pub(crate) struct Verified {
    pub ok: bool,
    pub duration: Duration,
    pub errors: Vec<Diagnostic>,
    /// The errors and the failed tests, for the model.
    pub findings: Vec<Finding>,
    pub failed_tests: Vec<String>,
    /// The last lines of the output.
    pub output: String,
    /// Why it could not be run.
    pub refused: Option<String>,
}

/// Verifies the whole workspace. If the run has a single change, only tests that depend on it run.
pub(crate) async fn verify(
    service: &Service,
    workspace: &Workspace,
    kind: VerifyKind,
    changes: &[String],
    client: &str,
) -> Verified {
    match ask(service, workspace, kind, changes, client).await {
        Ok(reply) => to_verified(reply, kind),
        Err(error) => Verified { refused: Some(error.to_string()), ..Verified::default() },
    }
}

async fn ask(
    service: &Service,
    workspace: &Workspace,
    kind: VerifyKind,
    changes: &[String],
    client: &str,
) -> Result<VerifyReply> {
    let change = match changes {
        [only] if kind == VerifyKind::Test => Some(only),
        _ => None,
    };
    let arguments = json!({"workspace": workspace.id(), "kind": kind.name(), "change": change});
    match service_calls::ask(service, Name::Verify, arguments, client).await? {
        Reply::Verify(reply) => Ok(reply),
        _ => Err(unexpected(Name::Verify)),
    }
}

fn to_verified(reply: VerifyReply, kind: VerifyKind) -> Verified {
    let counts = |it: &Diagnostic| kind == VerifyKind::Lint || it.severity == Severity::Error;
    let mut errors: Vec<Diagnostic> = reply.diagnostics.into_iter().filter(counts).collect();
    let mut findings = findings(&errors);
    let failures = reply.tests.map(|it| it.failures).unwrap_or_default();
    for failure in &failures {
        findings.push(Finding {
            file: failure.file.clone(),
            line: failure.line,
            what: format!("the test `{}` fails", failure.name),
            message: failure.message.clone(),
            output: failure.output.clone(),
        });
        errors.extend(as_diagnostic(failure));
    }
    if reply.timed_out {
        let message = "it did not end in time".to_owned();
        findings.push(Finding { what: format!("`{}`", kind.name()), message, ..Finding::default() });
    }
    Verified {
        ok: reply.ok,
        duration: Duration::try_from_secs_f64(reply.duration_ms / 1000.0).unwrap_or_default(),
        errors,
        findings,
        failed_tests: failures.into_iter().map(|it| it.name).collect(),
        output: reply.output,
        refused: None,
    }
}

/// Converts a failed test to an error at its place.
fn as_diagnostic(failure: &TestFailure) -> Option<Diagnostic> {
    let line = failure.line.unwrap_or(1);
    Some(Diagnostic {
        place: Place { file: failure.file.clone()?, start: 0, end: 0, line, end_line: line, column: 1 },
        severity: Severity::Error,
        code: None,
        message: format!("the test `{}` fails: {}", failure.name, failure.message),
        source: "test".to_owned(),
        symbol: failure.symbol.clone(),
        confirmed: None,
        build: None,
        fixes: Vec::new(),
    })
}
