//! Every call of the contract's table, answered without a socket: what all interfaces share.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::Arc;

use futures::future::BoxFuture;
use semdex::coder::Coder;
use semdex::coder::model::{self, Model, Question, Trouble};
use semdex::config::{Config, Flags};
use semdex::contract::{self, render};
use semdex::contract::{CALLS, Call, Effect, Needs};
use semdex::model::{Code, Error};
use semdex::ops::{self, Service};
use semdex::workspace::Workspaces;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::support::{Home, RUST};

/// As large as the program's own: rust-analyzer recurses deeply.
const STACK: usize = 64 << 20;

/// What the program answers from, in this process.
struct Asked {
    service: Service,
    runtime: Runtime,
    home: Home,
}

impl Asked {
    fn on(files: &[(&str, &str)]) -> Asked {
        let home = Home::with(files);
        for arguments in [&["init", "-q"][..], &["config", "user.name", "A"], &["config", "user.email", "a@x.org"]] {
            let ran = Command::new("git").args(arguments).current_dir(home.root()).status().unwrap();
            assert!(ran.success(), "git {arguments:?}");
        }
        let settings = home.path().join("config.toml");
        fs::write(&settings, "").unwrap();
        let flags = Flags { config_file: Some(settings), trust: Some(true) };
        let mut config = Config::load(&flags).unwrap();
        (config.state_dir, config.cache_dir) = (home.path().join("state"), home.path().join("cache"));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().thread_stack_size(STACK).enable_all().build().unwrap();
        let workspaces = Workspaces::new(config, runtime.handle().clone(), semdex::engines());
        workspaces.open(&home.root()).unwrap();
        let service = Service::new(workspaces, [home.root()].into(), None);
        Asked { service: service.with_runs(Arc::new(Coder::new(Arc::new(Silent)))), runtime, home }
    }

    fn ask(&self, call: &Call, arguments: &Value) -> Result<contract::Reply, Error> {
        let request = call.from_arguments(arguments.as_object().unwrap().clone())?;
        self.runtime.block_on(ops::answer(&self.service, request, ops::Client::named("a test")))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.runtime.block_on(self.service.workspaces.shutdown());
    }
}

/// A model that is asked, and never says a word.
struct Silent;

impl Model for Silent {
    fn default_name(&self) -> &str {
        "silent"
    }

    fn check(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async { Ok(()) })
    }

    fn reply<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<model::Reply, Trouble>> {
        Box::pin(futures::future::pending())
    }
}

/// What a call is asked, and what its reply has where. `change` is the token of the change, or of the run, before.
fn example(call: &str, root: &str, change: &str) -> (Value, &'static str, Value) {
    let greet = || json!({"symbol": "greeter::greet"});
    match call {
        "open" => (json!({"file": "src/lib.rs"}), "/symbols/1/path", "greeter::greet".into()),
        "describe" => (greet(), "/kind", "symbol".into()),
        "symbols" => (json!({"query": "shout"}), "/symbols/0/name", "shout".into()),
        "symbol_at" => (json!({"file": "src/lib.rs", "line": 6, "column": 8}), "/symbol/path", "greeter::greet".into()),
        "usages" => (greet(), "/total", 3.into()),
        "callers" => (greet(), "/total", 2.into()),
        "callees" => (json!({"symbol": "greeter::shout::shout"}), "/items/0/symbol/path", "greeter::greet".into()),
        "implementations" => (greet(), "/symbol/path", "greeter::greet".into()),
        "diagnostics" => (json!({}), "/counts/error", 0.into()),
        "baseline" => (json!({"files": ["src/lib.rs"]}), "/files", 1.into()),
        "regressions" => (json!({"file": "src/lib.rs"}), "/summary", "No change since the baseline".into()),
        "gate" => (json!({}), "/block", false.into()),
        "stats" => (json!({}), "/edits", 0.into()),
        "explore" => (json!({"query": "greet"}), "/files/0/file", "src/lib.rs".into()),
        "map" => (json!({"focus": ["src/lib.rs"]}), "/files/0/file", "src/lib.rs".into()),
        "impact" => {
            (json!({"symbol": "greeter::greet", "change": "signature"}), "/impact/changed/0/kind", "signature".into())
        }
        "edit" => {
            let edit = json!({"file": "src/lib.rs", "search_context": "Hello", "replacement": "Hi"});
            (edit, "/edits/0/strategy", "exact".into())
        }
        "write" => {
            (json!({"name": "notes.txt", "content": "one\n", "mode": "create"}), "/files/0/created", true.into())
        }
        "undo" => (json!({"change": change}), "/applied", true.into()),
        "git" => (json!({}), "/head", Value::Null),
        "commit" => (json!({"files": ["src/lib.rs"], "message": "feat: greet"}), "/files/0", "src/lib.rs".into()),
        "changes" => (json!({}), "/changes/0/client", "a test".into()),
        "rename" => {
            let rename = json!({"symbol": "greeter::greet", "new_name": "welcome"});
            (rename, "/impact/broken", json!([]))
        }
        "verify" => (json!({"kind": "check"}), "/ok", true.into()),
        "list_overlays" => (json!({}), "/overlays", json!([])),
        "put_overlay" => (json!({"file": "src/a b.rs", "content": "// New.\n"}), "/old_hash", Value::Null),
        "delete_overlay" => (json!({"file": "src/a b.rs"}), "/file", "src/a b.rs".into()),
        // Its model never says a word.
        "start_run" => (json!({"prompt": "Greet louder.", "verify": []}), "/meta/workspace", "workspace".into()),
        "run" => (json!({"run": change}), "/model", "silent".into()),
        "cancel_run" => (json!({"run": change}), "/state", "cancelled".into()),
        "list_workspaces" => (json!({}), "/workspaces/0/trusted", true.into()),
        "open_workspace" => (json!({"root": root}), "/workspace/root", root.into()),
        "close_workspace" => (json!({"workspace": "workspace"}), "/workspace/id", "workspace".into()),
        "status" => (json!({}), "/workspaces", json!([])),
        "health" => (json!({}), "/status", "ok".into()),
        other => panic!("the table has the call `{other}`, which nobody makes here: give an example of it"),
    }
}

#[test]
fn every_call_is_answered_without_a_socket() {
    let asked = Asked::on(RUST);
    let root = asked.home.root().display().to_string();
    let mut change = String::new();
    for call in CALLS {
        let (mut arguments, place, wanted) = example(call.name, &root, &change);
        if call.needs >= Needs::Text {
            arguments["wait_ms"] = 120_000.into();
        }
        let reply = asked.ask(call, &arguments).unwrap_or_else(|error| panic!("{}: {error}", call.name));
        let json = serde_json::to_value(&reply).unwrap();
        assert_eq!(json.pointer(place), Some(&wanted), "{}: {json}", call.name);
        assert_eq!(json["meta"]["complete"] == true, call.needs > Needs::Nothing, "{}: {json}", call.name);
        let lacks = lacking(call.name, &optional(call), &documented(call, &json), &json);
        assert!(lacks.is_empty(), "the document's example of {} lacks {lacks:?}: {json}", call.name);
        // These count their Markdown.
        if !matches!(call.name, "map" | "explore") {
            let short = contract::shorten::json(reply.clone(), Some(300), |_| {}).unwrap();
            assert!(short.len() <= 1200, "{}: {} bytes: {}", call.name, short.len(), String::from_utf8_lossy(&short));
        }
        let text = render::reply(&reply);
        let says_so = text.contains("complete (0.0 ms)");
        assert_eq!(says_so, call.needs >= Needs::Text, "{}: {text}", call.name);
        if let Some(run) = json["run"].as_str() {
            change = run.to_owned();
        }
        if json["change"].is_string() {
            assert_eq!((call.effect, &json["applied"]), (Effect::Change, &json!(true)), "{}: {json}", call.name);
            change = json["change"].as_str().unwrap().to_owned();
        }
    }
}

/// The example that the document has of such a reply.
fn documented(call: &Call, reply: &Value) -> Value {
    let schemas = (call.shape.reply)();
    let named = |name: &str| schemas.iter().find(|it| it.0 == name).map(|it| serde_json::to_value(&it.1).unwrap());
    let first = serde_json::to_value(&schemas[0].1).unwrap();
    let form = match reply["kind"].as_str().filter(|_| first["oneOf"].is_array()) {
        Some("symbol") => named("DescribedSymbol").unwrap(),
        Some(other) => panic!("{other}"),
        None => first,
    };
    form["examples"][0].clone()
}

/// The fields that a reply may go without.
fn optional(call: &Call) -> BTreeSet<String> {
    fn walk(schema: &Value, found: &mut BTreeSet<String>) {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let fields = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name);
        found.extend(fields.filter(|name| !required.contains(&Value::from(name.as_str()))).cloned());
        let inner = schema.as_object().into_iter().flatten().map(|(_, it)| it);
        inner.chain(schema.as_array().into_iter().flatten()).for_each(|it| walk(it, found));
    }
    let mut found = BTreeSet::new();
    (call.shape.reply)().iter().for_each(|it| walk(&serde_json::to_value(&it.1).unwrap(), &mut found));
    found
}

/// The fields of a reply that its example does not have at that place. The first item of a list represents all items.
fn lacking(at: &str, optional: &BTreeSet<String>, example: &Value, reply: &Value) -> Vec<String> {
    match (example, reply) {
        (Value::Object(example), Value::Object(reply)) => {
            let of = |(name, value): (&String, &Value)| match example.get(name) {
                Some(known) => lacking(&format!("{at}.{name}"), optional, known, value),
                None if optional.contains(name) => Vec::new(),
                None => vec![format!("{at}.{name}")],
            };
            reply.iter().flat_map(of).collect()
        }
        (Value::Array(example), Value::Array(reply)) => match (example.first(), reply.first()) {
            (Some(example), Some(reply)) => lacking(&format!("{at}[]"), optional, example, reply),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

#[test]
fn a_request_says_only_what_its_call_takes() {
    for call in CALLS.iter().filter(|it| it.needs > Needs::Nothing) {
        let mut arguments = serde_json::Map::from_iter([("nonesuch".to_owned(), Value::from(1))]);
        if let Some(named) = call.named_in_path() {
            let error = call.from_arguments(arguments.clone()).unwrap_err();
            assert_eq!(error.code, Code::InvalidRequest, "{}", call.name);
            arguments.insert(named.to_owned(), "a.rs".into());
        }
        let error = call.from_arguments(arguments).unwrap_err();
        assert!(error.code == Code::InvalidRequest && error.detail.contains("nonesuch"), "{}: {error}", call.name);
    }
}

#[test]
fn a_row_of_the_table_is_found_by_its_name_and_by_its_route() {
    let names: BTreeSet<&str> = CALLS.iter().map(|it| it.name).collect();
    let routes: BTreeSet<(&str, &str)> = CALLS.iter().map(|it| (it.method.name(), it.path)).collect();
    assert_eq!((names.len(), routes.len()), (CALLS.len(), CALLS.len()));
    for call in CALLS {
        assert_eq!(Call::named(call.name).map(|it| it.path), Some(call.path));
        assert!(!call.summary.ends_with('.') && call.description.ends_with('.'), "{}", call.name);
    }
}
