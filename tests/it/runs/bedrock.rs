//! A Bedrock on loopback, whose answers follow a script: the frames of `ConverseStream` over HTTP/1.1.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use serde_json::{Value, json};

use crate::support::{Home, Server};

/// What it answers one request with.
#[derive(Debug, Clone)]
pub enum Says {
    /// A whole reply, in pieces of a few letters.
    Text(String),
    /// What it thinks, and then a whole reply.
    Thinks(String, String),
    /// A reply that is over for another reason than its end.
    Stopped(String, &'static str),
    /// The connection breaks after this.
    Cut(String),
    /// An exception in the middle of the stream.
    Breaks(String, &'static str),
    /// No stream, but an error.
    Refuses(u16, &'static str),
    /// It begins to answer, and never goes on.
    Hangs,
}

impl Says {
    pub fn text(text: impl Into<String>) -> Says {
        Says::Text(text.into())
    }
}

/// What each whole reply costs, as it says.
pub const USAGE: (u64, u64) = (100, 10);

pub struct Bedrock {
    pub endpoint: String,
    /// The bodies of all requests.
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Bedrock {
    /// Answers requests one after another by its script; after that, none.
    pub fn new(script: Vec<Says>) -> Bedrock {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Value>>> = Arc::default();
        let script = Arc::new(Mutex::new(VecDeque::from(script)));
        let asked = requests.clone();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let (script, asked) = (script.clone(), asked.clone());
                thread::spawn(move || drop(answer(connection, &script, &asked)));
            }
        });
        Bedrock { endpoint, requests }
    }

    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }

    /// The prompts of all requests.
    pub fn prompts(&self) -> Vec<String> {
        let prompt = |it: &Value| it["messages"][0]["content"][0]["text"].as_str().unwrap().to_owned();
        self.requests().iter().map(prompt).collect()
    }

    /// A server that asks this Bedrock.
    pub fn serve(&self, home: Home, arguments: &[&str]) -> Server {
        let none = home.path().join("nothing");
        let variables = [
            ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", Path::new(&self.endpoint)),
            ("AWS_ACCESS_KEY_ID", Path::new("AKIDEXAMPLE")),
            ("AWS_SECRET_ACCESS_KEY", Path::new("example")),
            ("AWS_REGION", Path::new("eu-central-1")),
            ("AWS_EC2_METADATA_DISABLED", Path::new("true")),
            ("AWS_CONFIG_FILE", &none),
            ("AWS_SHARED_CREDENTIALS_FILE", &none),
        ];
        home.serve_with(arguments, &variables)
    }
}

fn answer(connection: TcpStream, script: &Mutex<VecDeque<Says>>, requests: &Mutex<Vec<Value>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection.try_clone()?);
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    requests.lock().unwrap().push(serde_json::from_slice(&body).unwrap_or_default());
    let says = script.lock().unwrap().pop_front();
    let mut stream = Stream { connection };
    match says {
        None => stream.refuse(400, "ValidationException", "the script has ended"),
        Some(Says::Refuses(status, error)) => stream.refuse(status, error, "as the script says"),
        Some(Says::Text(text)) => {
            stream.begin()?;
            stream.text(&text)?;
            stream.end("end_turn")
        }
        Some(Says::Thinks(thought, text)) => {
            stream.begin()?;
            let delta = json!({"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": thought}}});
            stream.event("contentBlockDelta", &delta)?;
            stream.text(&text)?;
            stream.end("end_turn")
        }
        Some(Says::Stopped(text, why)) => {
            stream.begin()?;
            stream.text(&text)?;
            stream.end(why)
        }
        Some(Says::Cut(text)) => {
            stream.begin()?;
            stream.text(&text)
        }
        Some(Says::Breaks(text, error)) => {
            stream.begin()?;
            stream.text(&text)?;
            stream
                .frame(&[(":message-type", "exception"), (":exception-type", error)], &json!({"message": "broken"}))?;
            stream.connection.write_all(b"0\r\n\r\n")
        }
        Some(Says::Hangs) => {
            stream.begin()?;
            stream.text("One moment.\n")?;
            // Until the client disconnects.
            let _ = reader.read(&mut [0]);
            Ok(())
        }
    }
}

struct Stream {
    connection: TcpStream,
}

impl Stream {
    fn begin(&mut self) -> std::io::Result<()> {
        self.connection.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\nconnection: close\r\n\
              transfer-encoding: chunked\r\n\r\n",
        )?;
        self.event("messageStart", &json!({"role": "assistant"}))
    }

    fn refuse(&mut self, status: u16, error: &str, message: &str) -> std::io::Result<()> {
        let body = json!({"message": message}).to_string();
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} Refused\r\nx-amzn-errortype: {error}\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {length}\r\n\r\n"
        );
        self.connection.write_all(head.as_bytes())?;
        self.connection.write_all(body.as_bytes())
    }

    fn text(&mut self, text: &str) -> std::io::Result<()> {
        let letters: Vec<char> = text.chars().collect();
        for piece in letters.chunks(17) {
            let piece: String = piece.iter().collect();
            self.event("contentBlockDelta", &json!({"contentBlockIndex": 0, "delta": {"text": piece}}))?;
        }
        Ok(())
    }

    fn end(&mut self, why: &str) -> std::io::Result<()> {
        self.event("contentBlockStop", &json!({"contentBlockIndex": 0}))?;
        self.event("messageStop", &json!({"stopReason": why}))?;
        let (input, output) = USAGE;
        let usage = json!({"inputTokens": input, "outputTokens": output, "totalTokens": input + output});
        self.event("metadata", &json!({"usage": usage, "metrics": {"latencyMs": 1}}))?;
        self.connection.write_all(b"0\r\n\r\n")
    }

    fn event(&mut self, of: &str, payload: &Value) -> std::io::Result<()> {
        self.frame(&[(":message-type", "event"), (":event-type", of)], payload)
    }

    fn frame(&mut self, headers: &[(&str, &str)], payload: &Value) -> std::io::Result<()> {
        let mut message = Message::new(payload.to_string().into_bytes());
        for (name, value) in headers.iter().chain(&[(":content-type", "application/json")]) {
            message =
                message.add_header(Header::new((*name).to_owned(), HeaderValue::String((*value).to_owned().into())));
        }
        let mut frame = Vec::new();
        write_message_to(&message, &mut frame).unwrap();
        self.connection.write_all(format!("{:x}\r\n", frame.len()).as_bytes())?;
        self.connection.write_all(&frame)?;
        self.connection.write_all(b"\r\n")
    }
}
