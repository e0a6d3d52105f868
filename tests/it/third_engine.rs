//! A third engine, which no crate of semdex knows: the server gets it in a registry, and it answers the same calls.

mod toy;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use semdex::config::{Config, Flags};
use semdex::http::{self, IdleTimer, Listener};
use semdex::ops::Service;
use semdex::workspace::Workspaces;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

const LIB: &str = "# Toys.\ndef greet name\n  print name\n\ndef print text\n";
const MAIN: &str = "def main\n  greet you\n";

/// A server in this process, with the toy's engine beside those that are built in.
struct Server {
    directory: TempDir,
    base: String,
    runtime: Runtime,
    client: reqwest::Client,
    workspaces: Workspaces,
    stop: CancellationToken,
}

impl Server {
    fn on(files: &[(&str, &str)]) -> Server {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("toys");
        fs::create_dir(&root).unwrap();
        for (name, text) in files {
            fs::write(root.join(name), text).unwrap();
        }
        fs::create_dir(root.join("inner")).unwrap();
        fs::write(root.join("toys.list"), "").unwrap();
        let settings = directory.path().join("config.toml");
        fs::write(&settings, "").unwrap();
        let mut config = Config::load(&Flags { config_file: Some(settings), trust: Some(true) }).unwrap();
        config.state_dir = directory.path().join("state");
        config.cache_dir = directory.path().join("cache");
        fs::create_dir(&config.state_dir).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let engines = semdex::engines().with(Arc::new(toy::ToyKind));
        let workspaces = Workspaces::new(config, runtime.handle().clone(), engines);
        workspaces.open(&root).unwrap();
        // By the manifest above it.
        let opened = workspaces.open(&root.join("inner")).unwrap();
        assert_eq!(opened.root(), root.canonicalize().unwrap());
        let stop = CancellationToken::new();
        let base = runtime.block_on(async {
            let listener = Listener::bind(&"127.0.0.1:0".parse().unwrap()).unwrap();
            let base = listener.address().unwrap();
            let service = Service::new(workspaces.clone(), Arc::new([]), None);
            tokio::spawn(listener.serve(http::router(service, None, IdleTimer::new()), stop.clone()));
            base
        });
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(300)).build().unwrap();
        Server { directory, base, runtime, client, workspaces, stop }
    }

    fn root(&self) -> std::path::PathBuf {
        self.directory.path().join("toys")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).unwrap()
    }

    fn send(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        self.runtime.block_on(async {
            let reply = request.send().await.unwrap();
            (reply.status().as_u16(), reply.json().await.unwrap())
        })
    }

    fn get(&self, path: &str) -> (u16, Value) {
        self.send(self.client.get(format!("{}{path}", self.base)))
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send(self.client.post(format!("{}{path}", self.base)).json(body))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
        self.runtime.block_on(self.workspaces.shutdown());
    }
}

fn toys() -> Server {
    let server = Server::on(&[("lib.toy", LIB), ("main.toy", MAIN), ("notes.txt", "greet\n")]);
    let deadline = Instant::now() + Duration::from_secs(300);
    while server.get("/v1/status").1["workspaces"][0]["state"] != "ready" {
        assert!(Instant::now() < deadline, "not ready in time");
        thread::park_timeout(Duration::from_millis(10));
    }
    server
}

#[test]
fn a_toy_is_read() {
    let server = toys();
    let (_, status) = server.get("/v1/status");
    let workspace = &status["workspaces"][0];
    assert_eq!((&workspace["languages"], &workspace["engines"][0]["name"]), (&json!(["toy"]), &json!("toyls")));

    let (status, opened) = server.post("/v1/open", &json!({"file": "lib.toy"}));
    assert_eq!((status, &opened["language"], &opened["package"]), (200, &json!("toy"), &json!("toys")), "{opened}");
    assert_eq!(opened["skeleton"], "def greet name\ndef print text\n");
    assert_eq!(
        (&opened["symbols"][0]["path"], &opened["symbols"][0]["usages"]["total"]),
        (&json!("lib.toy::greet"), &json!(1))
    );
    assert_eq!(opened["meta"]["complete"], true, "{opened}");

    for symbol in ["greet", "lib.toy::greet"] {
        let (_, described) = server.post("/v1/describe", &json!({"symbol": symbol}));
        assert_eq!(described["source"], "def greet name\n  print name", "{described}");
        let (_, usages) = server.get(&format!("/v1/usages?symbol={symbol}"));
        let first = &usages["items"][0];
        assert_eq!((&usages["total"], &usages["meta"]["complete"]), (&json!(1), &json!(true)), "{usages}");
        assert_eq!(
            (&first["file"], &first["line"], &first["symbol"]),
            (&json!("main.toy"), &json!(2), &json!("main.toy::main"))
        );
    }
    let (_, found) = server.get("/v1/symbols?query=gret");
    assert_eq!(found["symbols"][0]["path"], "lib.toy::greet", "{found}");
    let (_, at) = server.get("/v1/symbols/at?file=main.toy&line=2&column=3");
    assert_eq!(at["definition"]["file"], "lib.toy", "{at}");
    let (status, miss) = server.get("/v1/usages?symbol=lib.toy::gret");
    assert_eq!(
        (status, &miss["code"], &miss["suggestions"][0]),
        (404, &json!("unknown_symbol"), &json!("lib.toy::greet"))
    );

    // Queries that its engine does not implement are reported as missing, not as an empty success.
    let (status, callers) = server.get("/v1/callers?symbol=greet");
    assert_eq!((status, &callers["meta"]["complete"]), (200, &json!(false)), "{callers}");
    assert_eq!(callers["meta"]["missing"][0]["code"], "unsupported", "{callers}");
    let (status, refused) = server.post("/v1/rename", &json!({"symbol": "greet", "new_name": "hail"}));
    assert_eq!((status, &refused["code"]), (422, &json!("rename_refused")), "{refused}");
    // The languages of a workspace are the languages of its registry.
    let (status, none) = server.get("/v1/symbols/at?file=notes.txt&line=1&column=1");
    assert_eq!(status, 400);
    assert!(none["detail"].as_str().unwrap().contains("`.toy`"), "{none}");
}

#[test]
fn a_toy_is_edited() {
    let server = toys();
    let edit =
        json!({"file": "lib.toy", "search_context": "def greet name\n", "replacement": "def greet name times\n"});
    let with = |more: Value| {
        let mut edit = edit.clone();
        edit.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        edit
    };
    let (status, planned) = server.post("/v1/edit", &with(json!({"dry_run": true})));
    assert_eq!((status, &planned["applied"]), (200, &json!(false)), "{planned}");
    let impact = &planned["impact"];
    assert_eq!(
        (&impact["changed"][0]["symbol"], &impact["changed"][0]["kind"]),
        (&json!("lib.toy::greet"), &json!("signature"))
    );
    let broken = &impact["broken"][0];
    assert_eq!(
        (&broken["file"], &broken["line"], &broken["code"]),
        (&json!("main.toy"), &json!(2), &json!("T2")),
        "{impact}"
    );
    let (status, refused) = server.post("/v1/edit", &with(json!({"on_break": "reject"})));
    assert_eq!((status, &refused["code"]), (422, &json!("would_break")), "{refused}");
    assert_eq!(server.read("lib.toy"), LIB);
    assert_eq!(server.get("/v1/diagnostics").1["total"], 0);

    let (status, made) = server.post("/v1/edit", &edit);
    assert_eq!((status, &made["applied"]), (200, &json!(true)), "{made}");
    assert_eq!(server.read("lib.toy"), LIB.replace("greet name\n", "greet name times\n"));
    let (_, diagnostics) = server.get("/v1/diagnostics?file=main.toy");
    assert_eq!((&diagnostics["items"][0]["code"], &diagnostics["meta"]["complete"]), (&json!("T2"), &json!(true)));
    // At a symbol, with the indentation of the language.
    let body = json!({"name": "main.toy", "content": "def main\n  greet you twice\n  wave\n", "mode": "overwrite"});
    let (_, written) = server.post("/v1/write", &body);
    assert_eq!(written["diagnostics"]["fixed"][0]["code"], "T2", "{written}");
    let finding = &written["validation"][0];
    assert_eq!((&finding["kind"], &finding["text"]), (&json!("unknown_symbol"), &json!("wave")), "{written}");
    assert_eq!(finding["suggestions"][0], "lib.toy::greet", "{written}");

    // What others write is in the next answer.
    fs::write(server.root().join("more.toy"), "def wave\n").unwrap();
    assert_eq!(server.get("/v1/diagnostics").1["total"], 0);
}

#[test]
fn what_an_engine_analysed_in_part_is_refused_on_reject() {
    let server = toys();
    let write = |mark: &str, more: Value| {
        let mut body = json!({"name": "lib.toy", "content": format!("{LIB}# {mark}\n"), "mode": "overwrite"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/write", &body)
    };
    for (mark, code) in [("slow", "not_ready"), ("large", "engine_unavailable")] {
        for dry_run in [false, true] {
            let (status, refused) = write(mark, json!({"on_break": "reject", "dry_run": dry_run}));
            assert_eq!((status, &refused["code"]), (503, &json!(code)), "{refused}");
            let detail = refused["detail"].as_str().unwrap();
            assert!(detail.contains("nothing was written") && detail.contains("judged a part"), "{detail}");
            assert_eq!(refused["meta"]["complete"], false, "{refused}");
            assert_eq!(server.read("lib.toy"), LIB);
        }
    }
    assert_eq!(server.get("/v1/changes").1["total"], 0);
    // What breaks is reported before what is unknown.
    let breaking = LIB.replace("greet name\n", "greet name times\n") + "# slow\n";
    let body = json!({"name": "lib.toy", "content": breaking, "mode": "overwrite", "on_break": "reject"});
    let (status, refused) = server.post("/v1/write", &body);
    assert_eq!((status, &refused["code"]), (422, &json!("would_break")), "{refused}");
    // A deficit of the workspace is no reason, and a client that takes the risk is not stopped.
    for (mark, on_break) in [("untrusted", "reject"), ("slow", "report")] {
        let (status, made) = write(mark, json!({"on_break": on_break}));
        assert_eq!((status, &made["applied"], &made["meta"]["complete"]), (200, &json!(true), &json!(false)), "{made}");
    }
}

/// Asks until the answer is complete.
fn wait_until_complete(server: &Server, path: &str) -> Value {
    let deadline = Instant::now() + Duration::from_secs(300);
    loop {
        let (status, reply) = server.get(path);
        if status == 200 && reply["meta"]["complete"] == true {
            return reply;
        }
        assert!(Instant::now() < deadline, "{status} {reply}");
        thread::park_timeout(Duration::from_millis(10));
    }
}

#[test]
fn a_toy_that_panics_is_made_anew() {
    let server = toys();
    fs::write(server.root().join("broken.toy"), "# panic\n").unwrap();
    let usages = wait_until_complete(&server, "/v1/usages?symbol=greet");
    assert_eq!(usages["total"], 1);
    let (_, status) = server.get("/v1/status");
    assert_eq!(status["workspaces"][0]["engines"][0]["restarts"], 1, "{status}");
}

#[test]
fn the_toy_is_known_nowhere_else() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pending = vec![root.join("src"), root.join("crates")];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                assert!(!text.contains("toyls") && !text.contains(".toy"), "{} knows the toy", path.display());
            }
        }
    }
}
