//! Shows the progress of the index on a terminal while a command waits for it.

use std::future::Future;
use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

use super::client::{self, Call};
use super::running_servers::Announcement;
use semdex_contract::{Name, Needs};

/// A faster answer needs no bar.
const UNNOTICED: Duration = Duration::from_millis(400);
const PACE: Duration = Duration::from_millis(200);

/// Waits for the answer, and shows the progress until then.
pub(crate) async fn during<T>(server: &Announcement, call: &Call, answer: impl Future<Output = T>) -> T {
    if call.name.call().needs < Needs::Index || !io::stderr().is_terminal() {
        return answer.await;
    }
    tokio::select! {
        answer = answer => answer,
        never = show(server) => match never {},
    }
}

async fn show(server: &Announcement) -> std::convert::Infallible {
    tokio::time::sleep(UNNOTICED).await;
    let bar = Bar::new();
    loop {
        if let Ok(said) = client::call(server, &Call::of(Name::Status), true, None).await {
            bar.show(&serde_json::from_str(&said.text).unwrap_or_default());
        }
        tokio::time::sleep(PACE).await;
    }
}

/// Cleared when this value is dropped, also if the answer came first.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Bar {
        // The style before the first report.
        Bar(ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(uncounted()))
    }

    fn show(&self, status: &Value) {
        let empty = Vec::new();
        let workspaces = status["workspaces"].as_array().unwrap_or(&empty);
        let is_loading =
            |it: &&Value| it["progress"].is_object() || !matches!(it["state"].as_str(), Some("ready" | "degraded"));
        let Some(loading) = workspaces.iter().find(is_loading) else { return };
        let (name, progress) = (loading["id"].as_str().unwrap_or_default(), &loading["progress"]);
        let stage = progress["stage"].as_str().or_else(|| loading["state"].as_str());
        self.0.set_message(format!("{name}: {}", stage.unwrap_or_default()));
        // Without a count it is only a spinner.
        let total = progress["total"].as_u64().unwrap_or_default();
        self.0.set_style(if total > 0 { counted() } else { uncounted() });
        self.0.set_length(total);
        self.0.set_position(progress["done"].as_u64().unwrap_or_default());
        self.0.tick();
    }
}

fn counted() -> ProgressStyle {
    style("{spinner} {msg} {wide_bar} {pos}/{len}", ProgressStyle::default_bar())
}

fn uncounted() -> ProgressStyle {
    style("{spinner} {msg}", ProgressStyle::default_spinner())
}

fn style(template: &str, otherwise: ProgressStyle) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or(otherwise)
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
