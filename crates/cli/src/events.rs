//! `semdex events`: prints the events of the workspace's server, one a line, until its output is closed.

use std::io::{self, IsTerminal, Write};
use std::mem;
use std::time::Duration;

use clap::{Args, ValueEnum};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

use super::client;
use super::complaint::{Severity, complain};
use super::connection::Response;
use super::edit_commands::words;
use super::output::{self, Color};
use super::request_options::FAILED;
use super::running_servers::{self, Running};
use super::target::Target;
use semdex_config::Config;
use semdex_engine::Registry;
use semdex_text::visible;

/// How often a new server is looked for after the last one ended, and whether the output is closed.
const PACE: Duration = Duration::from_millis(500);
/// At most so many files of an event are named.
const NAMED_FILES: usize = 5;

#[derive(Debug, Args)]
pub struct Follow {
    /// Print only these kinds of events, separated by commas. Default: all.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    types: Vec<Kind>,
    /// Print a JSON object for each event: `id`, `event`, `data`.
    #[arg(long)]
    json: bool,
}

words! {
    Kind { State, Revision, Change, Diagnostics, Verify, Run }
}

/// Prints each event. After the end of a connection it continues with the next server, after the last event that was
/// seen. Returns the exit code.
pub async fn follow(asked: Follow, config: &Config, engines: &Registry, color: Color) -> io::Result<u8> {
    let target = Target::new(None, config, engines).await?;
    tokio::select! {
        ended = listen(&asked, &target, config, color) => ended,
        () = reader_has_gone() => Ok(0),
    }
}

async fn listen(asked: &Follow, target: &Target, config: &Config, color: Color) -> io::Result<u8> {
    let mut server = target.server.clone();
    let mut last = String::new();
    loop {
        let query = query(asked, target, &server);
        // A server that does not answer is stopping or starting.
        if let Ok(answer) = client::events(&server.announcement, &query, &last).await {
            let mut events = match answer {
                Ok(response) => Events { response, read: Vec::new(), event: Event::default() },
                Err(refused) => {
                    let text = if asked.json { refused } else { output::in_words(&refused) };
                    return output::problem(&text, asked.json, color).map(|()| FAILED);
                }
            };
            while let Some(event) = events.next().await {
                let line = if asked.json { event.json() } else { event.to_line() };
                if !say(&line, asked.json)? {
                    return Ok(0);
                }
                last = event.id;
            }
        }
        server = next_server(target, config, color).await;
    }
}

/// The query of the request.
fn query(asked: &Follow, target: &Target, server: &Running) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    if !asked.types.is_empty() {
        query.append_pair("types", &asked.types.iter().map(|it| it.word()).collect::<Vec<_>>().join(","));
    }
    if server.roots.contains(&target.root) {
        query.append_pair("workspace", &target.root.to_string_lossy());
    }
    query.finish()
}

/// Waits for a server of the workspace. None is started in place of one that was ended.
async fn next_server(target: &Target, config: &Config, color: Color) -> Running {
    let mut is_announced = false;
    loop {
        tokio::time::sleep(PACE).await;
        if let Some(running) = running_servers::find_running(&config.state_dir, &target.root) {
            return running;
        }
        if !mem::replace(&mut is_announced, true) {
            complain(Severity::Warning, "the server has ended; waiting for the next one", color);
        }
    }
}

/// Returns when the output is closed.
fn say(line: &str, json: bool) -> io::Result<bool> {
    let mut output = io::stdout().lock();
    let line = if json && output.is_terminal() { visible::json(line) } else { line.into() };
    match writeln!(output, "{line}").and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}

/// Without events nothing is written, so that no write would fail.
async fn reader_has_gone() {
    loop {
        tokio::time::sleep(PACE).await;
        let output = io::stdout();
        let mut looked = [PollFd::new(&output, PollFlags::empty())];
        let is_looked = poll(&mut looked, Some(&Timespec::default())).is_ok();
        if is_looked && looked.iter().any(|it| it.revents().intersects(PollFlags::ERR | PollFlags::HUP)) {
            return;
        }
    }
}

/// The events of one connection.
struct Events {
    response: Response,
    read: Vec<u8>,
    /// What was received of the next event.
    event: Event,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Event {
    id: String,
    of: String,
    data: String,
}

impl Events {
    /// `None` at the end of the connection.
    async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some(end) = self.read.iter().position(|it| *it == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                if let Some(event) = self.event.take(String::from_utf8_lossy(&line).trim_end()) {
                    return Some(event);
                }
            }
            let read = self.response.piece().await.ok().flatten()?;
            self.read.extend_from_slice(&read);
        }
    }
}

impl Event {
    /// Takes a line. Returns the event that it completes.
    fn take(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            return Some(mem::take(self)).filter(|it| !it.data.is_empty());
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => self.id = value.to_owned(),
            "event" => self.of = value.to_owned(),
            "data" => self.data.push_str(value),
            // A comment, or a field of a newer server.
            _ => {}
        }
        None
    }

    fn json(&self) -> String {
        let id = self.id.parse().map_or(Value::Null, |it: u64| it.into());
        format!(r#"{{"id":{id},"event":{},"data":{}}}"#, Value::from(self.of.as_str()), self.data)
    }

    /// One line for a reader.
    fn to_line(&self) -> String {
        let data: Value = serde_json::from_str(&self.data).unwrap_or_default();
        let word = |name: &str| data[name].as_str().unwrap_or_default();
        let length = |name: &str| data[name].as_array().map_or(0, Vec::len);
        let what = match self.of.as_str() {
            "state" => format!("{}{}", word("state"), progress(&data)),
            "revision" => format!("{}: {}", word("cause"), files(&data)),
            "change" => {
                let broken = match data["impact"]["broken"].as_array().map_or(0, Vec::len) {
                    0 => String::new(),
                    broken => format!(", broken places: {broken}"),
                };
                format!("{} {}: {}{broken}", word("cause"), word("change"), files(&data))
            }
            "diagnostics" => format!("{}: {} new, {} fixed", word("change"), length("new"), length("fixed")),
            "verify" => {
                let ok = data["ok"].as_bool().map_or("", |it| if it { ", ok" } else { ", failed" });
                format!("{} {}{ok}{}", word("kind"), word("state"), progress(&data))
            }
            "run" => {
                let step = data["step"].as_str().map(|it| format!(": {it}")).unwrap_or_default();
                format!("{} {}{step}", word("run"), word("state"))
            }
            "reset" => "events were lost: ask again for what you want to know".to_owned(),
            _ => String::new(),
        };
        let workspace = data["workspace"].as_str().unwrap_or("-");
        let line = format!("{workspace} at revision {}, {}: {what}", data["revision"], self.of);
        visible::one_line(&line).into_owned()
    }
}

fn progress(data: &Value) -> String {
    let progress = &data["progress"];
    match progress["stage"].as_str() {
        // The number of steps is unknown.
        Some(stage) if progress["total"] == 0 => format!(", {stage}"),
        Some(stage) => format!(", {stage}: {} of {}", progress["done"], progress["total"]),
        None => String::new(),
    }
}

fn files(data: &Value) -> String {
    let files: Vec<&str> = data["files"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let named = files.iter().take(NAMED_FILES).copied().collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(NAMED_FILES) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> Event {
        let mut event = Event::default();
        text.lines().find_map(|it| event.take(it)).unwrap()
    }

    #[test]
    fn an_event_becomes_a_line() {
        let line_of =
            |of: &str, data: &str| event(&format!(": alive\n\nid: 7\nevent: {of}\ndata: {data}\n\n")).to_line();
        assert_eq!(
            line_of(
                "revision",
                r#"{"workspace":"w","revision":3,"cause":"outside","files":["a\nb","c","d","e","f","g"]}"#
            ),
            "w at revision 3, revision: outside: a\\nb, c, d, e, f and 1 more"
        );
        assert_eq!(
            line_of(
                "state",
                r#"{"workspace":"w","revision":1,"state":"indexing","progress":{"stage":"prime","done":1,"total":9}}"#
            ),
            "w at revision 1, state: indexing, prime: 1 of 9"
        );
        assert_eq!(
            line_of(
                "state",
                r#"{"workspace":"w","revision":1,"state":"indexing","progress":{"stage":"load","done":0,"total":0}}"#
            ),
            "w at revision 1, state: indexing, load"
        );
        assert_eq!(
            line_of("verify", r#"{"workspace":"w","revision":1,"kind":"test","state":"finished","ok":false}"#),
            "w at revision 1, verify: test finished, failed"
        );
        assert_eq!(
            line_of("reset", r#"{"workspace":null,"revision":9}"#),
            "- at revision 9, reset: events were lost: ask again for what you want to know"
        );
        let json = event("id: 7\nevent: run\ndata: {\"run\":\"x\"}\n\n").json();
        assert_eq!(json, r#"{"id":7,"event":"run","data":{"run":"x"}}"#);
    }
}
