//! Fuzz targets for input from a server: frames, and the messages in them.

use std::task::{Context, Poll, Waker};

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::strategy::Strategy;
use serde_json::json;

use super::client::Hooks;
use super::framing;
use super::incoming::{Incoming, answer, parse};
use semdex_testing::fuzz::{JSON, fuzz, mutated, words_of};

const FRAMES: &[&str] = &[
    "Content-Length: 2\r\n\r\n{}Content-Length: 5\r\nContent-Type: x\r\n\r\n12345",
    "content-length:3\n\nabcContent-Length: 99999999999999999999\r\n\r\n",
    "Content-Length: 4\r\nContent-Length: 1\r\n\r\nabcd",
];
const HEADERS: &[&str] = &[
    "Content-Length",
    ":",
    " ",
    "0",
    "1",
    "3",
    "-1",
    "18446744073709551615",
    "67108865",
    "\r\n",
    "\n",
    "\r\n\r\n",
    "{}",
    "x",
];

const MESSAGES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"result":{"a":[1,null]}}"#,
    r#"{"jsonrpc":"2.0","id":"x","method":"workspace/configuration","params":{"items":[{"section":"server"},{}]}}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///a","diagnostics":[]}}"#,
    r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}"#,
];
const SIGNS: &[&str] = &[
    "9223372036854775808",
    "\"id\"",
    "\"method\"",
    "\"params\"",
    "\"result\"",
    "\"error\"",
    "workspace/configuration",
    "window/showDocument",
];

/// The whole input is available, so the future is ready without waiting.
fn read(stream: &mut &[u8]) -> std::io::Result<Option<Vec<u8>>> {
    let mut reading = std::pin::pin!(framing::read(stream));
    match reading.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(read) => read,
        Poll::Pending => panic!("a slice is never waited for"),
    }
}

#[test]
fn fuzz_lsp_frames() {
    let bodies = vec(vec(any::<u8>(), 0..40), 0..5);
    fuzz("lsp_frames", (mutated(FRAMES, HEADERS), bodies), |(text, bodies)| {
        let mut stream = text.as_bytes();
        while let Ok(Some(body)) = read(&mut stream) {
            assert!(body.len() <= text.len());
        }
        let mut frames = Vec::new();
        bodies.iter().for_each(|body| framing::append(&mut frames, body));
        let mut stream = frames.as_slice();
        for body in bodies {
            assert_eq!(read(&mut stream).unwrap(), Some(body));
        }
        assert_eq!(read(&mut stream).unwrap(), None);
    });
}

#[test]
fn fuzz_lsp_messages() {
    let hooks = Hooks { configuration: Box::new(|section| json!(section)), notified: Box::new(|_, _| {}) };
    fuzz("lsp_messages", mutated(MESSAGES, words_of(&[JSON, SIGNS])).prop_map(String::into_bytes), |body| {
        if let Ok(Incoming::Request { id, method, params }) = parse(&body) {
            let answer = answer(&hooks, &id, &method, &params);
            assert_eq!(answer["id"], id);
            assert!(answer.get("result").is_some() != answer.get("error").is_some());
        }
    });
}
