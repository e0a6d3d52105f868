//! `semdex events`: what the server of the workspace tells, a line for each event, until whoever reads has gone.

use std::io::{self, IsTerminal, Write};
use std::mem;
use std::time::Duration;

use clap::{Args, ValueEnum};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

use super::changes::words;
use super::client;
use super::common::FAILED;
use super::here::Here;
use super::print::{self, Color};
use super::servers::{self, Running};
use semdex_config::Config;
use semdex_engine::Registry;
use semdex_text::visible;

/// How often it is looked for a server after the last one, and for whoever reads.
const PACE: Duration = Duration::from_millis(500);
/// Of the files of an event, so many are named.
const NAMED_FILES: usize = 5;

#[derive(Debug, Args)]
pub struct Follow {
    /// Only these, with commas between them. Default: all.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    types: Vec<Kind>,
    /// A JSON object for each event: `id`, `event`, `data`.
    #[arg(long)]
    json: bool,
}

words! {
    Kind { State, Revision, Change, Diagnostics, Verify, Run }
}

/// Prints each event. Where the connection ends, it is taken up again after the event that was seen last, with the next
/// server if need be. Answers with what the process ends with.
pub async fn follow(asked: Follow, config: &Config, engines: &Registry, color: Color) -> io::Result<u8> {
    let here = Here::new(None, config, engines).await?;
    tokio::select! {
        ended = listen(&asked, &here, config, color) => ended,
        () = reader_has_gone() => Ok(0),
    }
}

async fn listen(asked: &Follow, here: &Here, config: &Config, color: Color) -> io::Result<u8> {
    let mut server = here.server.clone();
    let mut last = String::new();
    loop {
        let query = query(asked, here, &server);
        // A server that does not answer is on its way out, or on its way in.
        if let Ok(answer) = client::events(&server.announcement, &query, &last).await {
            let mut events = match answer {
                Ok(response) => Events { response, read: Vec::new(), event: Event::default() },
                Err(refused) => {
                    let text = if asked.json { refused } else { print::in_words(&refused) };
                    return print::problem(&text, asked.json, color).map(|()| FAILED);
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
        server = next_server(here, config).await;
    }
}

/// All that it is asked with.
fn query(asked: &Follow, here: &Here, server: &Running) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    if !asked.types.is_empty() {
        query.append_pair("types", &asked.types.iter().map(|it| it.word()).collect::<Vec<_>>().join(","));
    }
    if server.roots.contains(&here.root) {
        query.append_pair("workspace", &here.root.to_string_lossy());
    }
    query.finish()
}

/// The server that runs for the workspace, once there is one: none is started in place of one that was ended.
async fn next_server(here: &Here, config: &Config) -> Running {
    let mut is_announced = false;
    loop {
        tokio::time::sleep(PACE).await;
        if let Some(running) = servers::find_running(&config.state_dir, &here.root) {
            return running;
        }
        if !mem::replace(&mut is_announced, true) {
            // Nobody is left to be notified where even this cannot be printed.
            let _ = writeln!(io::stderr(), "semdex: the server has ended; waiting for the next one");
        }
    }
}

/// Whether anybody still reads.
fn say(line: &str, json: bool) -> io::Result<bool> {
    let mut output = io::stdout().lock();
    let line = if json && output.is_terminal() { visible::json(line) } else { line.into() };
    match writeln!(output, "{line}").and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}

/// Where nothing happens nothing is written, and so nothing would tell that nobody reads.
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
    response: reqwest::Response,
    read: Vec<u8>,
    /// What of the next one was read.
    event: Event,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Event {
    id: String,
    of: String,
    data: String,
}

impl Events {
    /// None once the connection has ended.
    async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some(end) = self.read.iter().position(|it| *it == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                if let Some(event) = self.event.take(String::from_utf8_lossy(&line).trim_end()) {
                    return Some(event);
                }
            }
            let read = self.response.chunk().await.ok().flatten()?;
            self.read.extend_from_slice(&read);
        }
    }
}

impl Event {
    /// Takes a line in, and answers with the event that it ends.
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
            // A comment, or what a newer server has to say.
            _ => {}
        }
        None
    }

    fn json(&self) -> String {
        let id = self.id.parse().map_or(Value::Null, |it: u64| it.into());
        format!(r#"{{"id":{id},"event":{},"data":{}}}"#, Value::from(self.of.as_str()), self.data)
    }

    /// In one line, for a reader.
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
            "reset" => "events were lost: ask anew for what you want to know".to_owned(),
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
        // Nobody knows how many steps there are.
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
            "- at revision 9, reset: events were lost: ask anew for what you want to know"
        );
        let json = event("id: 7\nevent: run\ndata: {\"run\":\"x\"}\n\n").json();
        assert_eq!(json, r#"{"id":7,"event":"run","data":{"run":"x"}}"#);
    }
}
