//! Spans for an OpenTelemetry collector, as a collector on loopback receives them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Home, Server};

/// Longer than anything takes.
const DEADLINE: Duration = Duration::from_secs(300);
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// What a collector was sent.
struct Collector {
    address: String,
    exports: Receiver<Value>,
    spans: Vec<Value>,
}

impl Collector {
    fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (sender, exports) = channel();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let sender = sender.clone();
                std::thread::spawn(move || take_exports(connection, &sender));
            }
        });
        Collector { address, exports, spans: Vec::new() }
    }

    /// The span for which this holds, with the resource that it is of.
    fn wait_for(&mut self, holds: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(span) = self.spans.iter().find(|it| holds(it)) {
                return span.clone();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let export = self.exports.recv_timeout(left).unwrap_or_else(|_| panic!("only {:#?}", self.spans));
            for resource in export["resourceSpans"].as_array().unwrap() {
                for scope in resource["scopeSpans"].as_array().unwrap() {
                    self.spans.extend(scope["spans"].as_array().unwrap().iter().map(|span| {
                        let mut span = span.clone();
                        span["resource"] = resource["resource"].clone();
                        span
                    }));
                }
            }
        }
    }
}

/// All that is sent over a connection: a head, and a body as long as that says.
fn take_exports(connection: TcpStream, sender: &Sender<Value>) {
    let mut reader = BufReader::new(connection);
    loop {
        let (mut line, mut head, mut length) = (String::new(), String::new(), 0);
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line).unwrap_or_default() == 0 {
                return;
            }
            let lower = line.to_ascii_lowercase();
            if let Some(it) = lower.strip_prefix("content-length:") {
                length = it.trim().parse().unwrap();
            }
            head += &lower;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        assert!(head.starts_with("post /v1/traces ") && head.contains("content-type: application/json"), "{head}");
        let _ = sender.send(serde_json::from_slice(&body).unwrap());
        reader
            .get_mut()
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
            .unwrap();
    }
}

fn serve(address: &str) -> Server {
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", Path::new(address)), ("OTEL_BSP_SCHEDULE_DELAY", Path::new("100"))];
    Home::with(&[("notes.txt", "one\ntwo\n")]).serve_with(&["--log", "warn"], &variables)
}

/// An attribute of a span or a resource, without its type.
fn attribute<'a>(of: &'a Value, key: &str) -> &'a Value {
    let attributes = of["attributes"].as_array().unwrap();
    let found = attributes.iter().find(|it| it["key"] == key);
    found.map_or(&Value::Null, |it| it["value"].as_object().unwrap().values().next().unwrap())
}

#[test]
fn a_request_and_its_call_are_spans_of_the_callers_trace() {
    let mut collector = Collector::start();
    let server = serve(&collector.address);
    let open = |path: &str| {
        let question = server.request("POST", "/v1/open").json(&json!({ "file": path }));
        server.send(question.header("traceparent", format!("00-{TRACE}-{CALLER}-01")).header("x-request-id", path))
    };
    assert_eq!(open("notes.txt").status, 200);
    assert_eq!(open("none.txt").status, 404);

    for (path, status, error) in [("notes.txt", 200, Value::Null), ("none.txt", 404, json!("unknown_file"))] {
        let request = collector.wait_for(|it| it["name"] == "request" && attribute(it, "id") == path);
        assert_eq!((&request["traceId"], &request["parentSpanId"]), (&json!(TRACE), &json!(CALLER)), "{request:#}");
        assert_eq!(attribute(&request, "url.path"), "/v1/open", "{request:#}");
        assert_eq!(attribute(&request, "http.response.status_code").to_string().trim_matches('"'), status.to_string());
        assert_eq!(attribute(&request["resource"], "service.name"), "semdex", "{request:#}");

        let call = collector.wait_for(|it| it["name"] == "open" && it["parentSpanId"] == request["spanId"]);
        assert_eq!(call["traceId"], TRACE, "{call:#}");
        assert!(attribute(&call, "semdex.engine_ms").is_number(), "{call:#}");
        assert_eq!(attribute(&call, "error.type"), &error, "{call:#}");
    }
}

#[test]
fn a_collector_that_is_away_holds_nothing_up() {
    let address = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let mut server = serve(&address);
    for _ in 0..20 {
        assert_eq!(server.post("/v1/open", &json!({ "file": "notes.txt" })).0, 200);
    }
    server.signal(Signal::TERM);
    assert!(server.wait().success());
}

#[test]
fn settings_of_a_collector_that_make_no_sense_end_the_start() {
    let home = Home::with(&[]);
    let mut command = home.semdex();
    command.args(["serve", "--listen", "127.0.0.1:0"]).env("OTEL_EXPORTER_OTLP_ENDPOINT", "not a url");
    let ended = crate::support::run(&mut command);
    assert_eq!(ended.code, Some(1), "{}", ended.errors);
    assert!(ended.errors.contains("OpenTelemetry"), "{}", ended.errors);
}
