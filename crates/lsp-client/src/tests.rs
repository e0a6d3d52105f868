//! The client against a fake server over an in-memory pipe.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gen_lsp_types::{
    DidChangeWatchedFilesNotification, DidChangeWatchedFilesParams, ExitNotification, ShutdownRequest,
    WorkspaceSymbolParams, WorkspaceSymbolRequest,
};
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};

use super::{Client, Hooks, Message, RequestError, framing};

struct Server {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl Server {
    async fn receive(&mut self) -> Value {
        let body = framing::read(&mut self.reader).await.unwrap().expect("the client is still there");
        serde_json::from_slice(&body).unwrap()
    }

    async fn send(&mut self, message: Value) {
        let mut frame = Vec::new();
        framing::append(&mut frame, message.to_string().as_bytes());
        self.writer.write_all(&frame).await.unwrap();
    }
}

type Heard = Arc<Mutex<Vec<(String, Value)>>>;

fn connect() -> (Client, Server, Heard) {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(theirs);
    let server = Server { reader: BufReader::new(reader), writer };
    let (reader, writer) = tokio::io::split(ours);
    let heard = Heard::default();
    let hooks = Hooks {
        configuration: Box::new(|section| json!({"asked": section})),
        notified: Box::new({
            let heard = heard.clone();
            move |method, params| heard.lock().unwrap().push((method.to_owned(), params))
        }),
    };
    (Client::start(reader, writer, hooks), server, heard)
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

#[tokio::test]
async fn answers_find_their_requests() {
    let (client, mut server, _) = connect();
    let ask = |query: &str| {
        let client = client.clone();
        let params = WorkspaceSymbolParams { query: query.to_owned(), ..Default::default() };
        tokio::spawn(async move { client.request::<WorkspaceSymbolRequest>(&params, soon()).await })
    };
    let first = ask("a");
    let a = server.receive().await;
    let second = ask("b");
    let b = server.receive().await;
    assert_eq!(b["params"]["query"], "b");
    server.send(json!({"jsonrpc": "2.0", "id": b["id"], "error": {"code": -1, "message": "no"}})).await;
    server.send(json!({"jsonrpc": "2.0", "id": a["id"], "result": null})).await;
    assert_eq!(first.await.unwrap(), Ok(None));
    assert_eq!(second.await.unwrap(), Err(RequestError::Refused { code: -1, message: "no".to_owned() }));
}

#[tokio::test]
async fn what_goes_before_a_request_arrives_before_it() {
    let (client, mut server, _) = connect();
    let changed = Message::notification::<DidChangeWatchedFilesNotification>(&DidChangeWatchedFilesParams {
        changes: Vec::new(),
    });
    let answer = client.slot(soon()).await.unwrap().request::<ShutdownRequest>(&[changed], &()).unwrap();
    assert_eq!(server.receive().await["method"], "workspace/didChangeWatchedFiles");
    let request = server.receive().await;
    assert_eq!(request["method"], "shutdown");
    server.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": null})).await;
    assert_eq!(answer.before(soon()).await, Ok(()));
}

#[tokio::test]
async fn the_servers_questions_are_answered() {
    let (_client, mut server, heard) = connect();
    let asks = [
        ("workspace/configuration", json!({"items": [{"section": "x"}, {}]}), json!([{"asked": "x"}, {"asked": null}])),
        ("client/registerCapability", json!({"registrations": []}), Value::Null),
        ("window/workDoneProgress/create", json!({"token": "1"}), Value::Null),
    ];
    server.send(json!({"jsonrpc": "2.0", "method": "window/logMessage", "params": {"message": "hi"}})).await;
    for (method, params, result) in asks {
        server.send(json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params})).await;
        assert_eq!(server.receive().await, json!({"jsonrpc": "2.0", "id": method, "result": result}));
    }
    server.send(json!({"jsonrpc": "2.0", "id": 4, "method": "workspace/applyEdit", "params": {}})).await;
    assert_eq!(server.receive().await["result"]["applied"], false);
    server.send(json!({"jsonrpc": "2.0", "id": 5, "method": "x/unheard"})).await;
    assert_eq!(server.receive().await["error"]["code"], -32601);
    // The notification hook also gets requests that register capabilities.
    let expected = [
        ("window/logMessage".to_owned(), json!({"message": "hi"})),
        ("client/registerCapability".to_owned(), json!({"registrations": []})),
        ("workspace/applyEdit".to_owned(), json!({})),
    ];
    assert_eq!(*heard.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_deadline_cancels_at_the_server() {
    let (client, mut server, _) = connect();
    let deadline = Instant::now() + Duration::from_millis(50);
    assert_eq!(client.request::<ShutdownRequest>(&(), deadline).await, Err(RequestError::Timeout));
    let request = server.receive().await;
    assert_eq!(
        server.receive().await,
        json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request["id"]}})
    );
    // A late answer to a cancelled request is ignored.
    server.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": null})).await;
    server.send(json!({"jsonrpc": "2.0", "id": 9, "method": "x"})).await;
    assert_eq!(server.receive().await["id"], 9);
}

#[tokio::test]
async fn when_the_stream_ends_all_that_wait_fail_at_once() {
    let (client, mut server, _) = connect();
    let asks: Vec<_> = (0..3)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.request::<ShutdownRequest>(&(), soon()).await })
        })
        .collect();
    for _ in &asks {
        server.receive().await;
    }
    drop(server);
    for ask in asks {
        assert!(matches!(ask.await.unwrap(), Err(RequestError::Closed(_))));
    }
    assert_eq!(&*client.closed().await, "it closed its output");
    assert!(matches!(client.request::<ShutdownRequest>(&(), soon()).await, Err(RequestError::Closed(_))));
}

#[tokio::test]
async fn nonsense_ends_the_connection_with_a_reason() {
    let length = format!("Content-Length: {}\r\n\r\n", usize::MAX);
    let endless = "x".repeat(1 << 14);
    for (sent, reason) in [
        ("Content-Length: 3\r\n\r\n{}}", "not JSON"),
        ("Content-Length: 2\r\n\r\n[]", "not an object"),
        ("Content-Type: x\r\n\r\n", "without Content-Length"),
        (&length, "more than"),
        (&endless, "never ends"),
    ] {
        let (client, mut server, _) = connect();
        server.writer.write_all(sent.as_bytes()).await.unwrap();
        let closed = client.closed().await;
        assert!(closed.contains(reason), "{closed}");
    }
}

#[tokio::test]
async fn the_stream_is_closed_when_the_last_handle_is_dropped() {
    let (client, mut server, _) = connect();
    client.notify::<ExitNotification>(&(), soon()).await.unwrap();
    drop(client);
    assert_eq!(server.receive().await["method"], "exit");
    assert_eq!(framing::read(&mut server.reader).await.unwrap(), None);
}
