//! The first minutes: loading does not delay answers, each answer says what is missing, and ready means ready.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::read::GO;
use crate::support::{Home, RUST, Server, run};

/// What an answer may take that waits for a third of a second: not as long as a build takes.
const SOON: Duration = Duration::from_secs(15);
/// On a busy machine so many times what an answer takes that needs nothing.
const PACE: u32 = 50;
const WAIT_MS: u64 = 300;

/// A `go` that builds and installs nothing as long as the home is there; else the real one.
fn go_that_builds_for_ever(home: &Home) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|it| it.join("go")).find(|it| it.is_file()).expect("Go is installed");
    let tools = home.path().join("tools");
    fs::create_dir(&tools).unwrap();
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in\ninstall|build) while [ -d '{}' ]; do sleep 0.1; done; exit 1;;\nesac\nexec '{}' \"$@\"\n",
        home.root().display(),
        real.display()
    );
    fs::write(tools.join("go"), script).unwrap();
    fs::set_permissions(tools.join("go"), fs::Permissions::from_mode(0o755)).unwrap();
    let system = ["/usr/bin", "/bin"].map(PathBuf::from);
    std::env::join_paths([tools].into_iter().chain(system)).unwrap().into()
}

/// How long something takes, after what it may take now.
fn timed<T>(server: &Server, ask: impl FnOnce() -> T) -> (T, Duration, Duration) {
    let begun = Instant::now();
    server.get("/v1/status");
    let most = SOON + begun.elapsed() * PACE;
    let begun = Instant::now();
    let answer = ask();
    (answer, begun.elapsed(), most)
}

/// An answer that came soon, and says that it is not whole.
fn soon(server: &Server, ask: impl FnOnce() -> (u16, Value)) -> Value {
    let ((status, reply), took, most) = timed(server, ask);
    assert!(took < most, "{took:?} of {most:?}: {reply}");
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{reply}");
    let missing = reply["meta"]["missing"].as_array().unwrap();
    assert!(missing.iter().any(|it| it["code"] == "indexing"), "{reply}");
    reply
}

#[test]
fn what_is_being_built_holds_no_answer() {
    let home = Home::with(GO);
    let (path, cache) = (go_that_builds_for_ever(&home), home.path().join("cache"));
    let server = home.serve_with(&["--trust"], &[("PATH", &path), ("XDG_CACHE_HOME", &cache)]);
    let (_, status) = server.get("/v1/status");
    assert_eq!(status["workspaces"][0]["state"], "starting", "{status}");

    let opened = soon(&server, || server.post("/v1/open", &json!({"file": "greet.go", "wait_ms": WAIT_MS})));
    assert_eq!(opened["symbols"].as_array().unwrap().len(), 3, "{opened}");
    assert_eq!(opened["upstream"][0]["package"], "strings", "{opened}");
    let at_once = soon(&server, || server.post("/v1/open", &json!({"file": "greet.go", "wait_ms": 0})));
    assert_eq!(at_once["upstream"], opened["upstream"]);

    let usages = soon(&server, || server.get(&format!("/v1/usages?symbol=Greeter.Greet&wait_ms={WAIT_MS}")));
    assert_eq!(usages["possible"].as_array().unwrap().len(), 3, "{usages}");
    let described =
        soon(&server, || server.post("/v1/describe", &json!({"symbol": "Greeter.Greet", "wait_ms": WAIT_MS})));
    assert!(described["source"].as_str().unwrap().contains("return g.Prefix + name"), "{described}");
    soon(&server, || server.get(&format!("/v1/diagnostics?wait_ms={WAIT_MS}")));

    let edit = json!({"file": "greet.go", "search_context": "Greet(name string)", "replacement": "Greet()",
        "dry_run": true, "wait_ms": WAIT_MS});
    let dry = soon(&server, || server.post("/v1/edit", &edit));
    assert_eq!(dry["impact"]["broken"], json!([]), "{dry}");
    assert!(dry["impact"]["unchecked"].as_array().unwrap().iter().any(|it| it["code"] == "indexing"), "{dry}");
    // What is not found may be in what is not there yet.
    let asked = || server.get(&format!("/v1/usages?symbol=strings.NoSuch&wait_ms={WAIT_MS}"));
    let ((status, miss), took, most) = timed(&server, asked);
    assert!(took < most && status >= 400, "{took:?} of {most:?}: {miss}");
    assert_eq!(miss["meta"]["complete"], false, "{miss}");
}

#[test]
fn ready_is_ready() {
    for (files, file) in [(RUST, "src/lib.rs"), (GO, "greet.go")] {
        let server = Server::on(files);
        server.wait_ready();
        // Nothing is waited for.
        let (_, opened) = server.post("/v1/open", &json!({"file": file, "wait_ms": 0}));
        assert_eq!(opened["meta"]["complete"], true, "{opened}");
        let counted = |it: &Value| it["usages"]["total"].is_u64();
        let mut items = opened["symbols"].as_array().unwrap().iter().filter(|it| it["kind"] != "module");
        assert!(items.all(counted), "{opened}");
        assert!(!opened["downstream"].as_array().unwrap().is_empty(), "{opened}");
        let (_, status) = server.get("/v1/status");
        assert_eq!(status["workspaces"][0]["state"], "ready", "{status}");
    }
}

/// `GOMEMLIMIT` of the running gopls.
fn limit_of_gopls(server: &Server) -> u64 {
    let (_, status) = server.get("/v1/status");
    let pid = status["workspaces"][0]["engines"][0]["pid"].as_u64().unwrap();
    let environment = String::from_utf8(fs::read(format!("/proc/{pid}/environ")).unwrap()).unwrap();
    let limit = environment.split('\0').find_map(|it| it.strip_prefix("GOMEMLIMIT=")).expect("gopls has a limit");
    limit.parse().unwrap()
}

#[test]
fn the_configured_limit_reaches_the_processes_of_go() {
    let files: Vec<_> = GO.iter().copied().chain([("semdex.toml", "[go]\nmemory_limit = \"700MiB\"\n")]).collect();
    let server = Server::on(&files);
    server.wait_ready();
    assert_eq!(limit_of_gopls(&server), 700 << 20);
}

#[test]
fn without_a_configured_limit_gopls_has_room() {
    let server = Server::on(GO);
    server.wait_ready();
    assert!(limit_of_gopls(&server) >= 548 << 20);
    let (_, status) = server.get("/v1/status");
    assert!(!status.to_string().contains("collects garbage"), "{status}");
}

#[test]
fn a_limit_that_is_too_low_for_gopls_is_in_the_status() {
    let files: Vec<_> = GO.iter().copied().chain([("semdex.toml", "[go]\nmemory_limit = \"16MiB\"\n")]).collect();
    let server = Server::on(&files);
    server.wait_ready();
    let reported = |it: &Value| {
        let detail = it["detail"].as_str().unwrap_or_default();
        it["code"] == "timeout" && detail.starts_with("gopls needs") && detail.contains("`[go] memory_limit`")
    };
    server.wait_for(|it| it.get("/v1/status").1["workspaces"][0]["missing"].as_array().unwrap().iter().any(reported));
}

/// What a workspace beside the first one cannot see does not wait for its build scripts.
#[test]
fn a_question_waits_only_for_the_packages_that_can_name_its_symbol() {
    let package = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}")
    };
    let depends = |names: &[&str], up: &str| {
        let line = |it: &&str| format!("{it} = {{ path = \"{up}{it}\" }}\n");
        format!("[dependencies]\n{}", names.iter().map(line).collect::<String>())
    };
    let home = Home::with(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"base\", \"top\"]\nexclude = [\"fuzz\"]\nresolver = \"2\"\n"),
        ("base/Cargo.toml", &package("base", "")),
        ("base/src/lib.rs", "pub fn shared() {}\n"),
        ("top/Cargo.toml", &package("top", &depends(&["base"], "../"))),
        ("top/build.rs", "fn main() {\n    println!(\"cargo::rerun-if-changed=made.in\");\n}\n"),
        ("top/made.in", ""),
        ("top/src/lib.rs", "pub fn alone() {\n    base::shared()\n}\n\npub fn user() {\n    alone()\n}\n"),
        ("fuzz/Cargo.toml", &package("fuzz", &format!("{}[workspace]\n", depends(&["base"], "../")))),
        ("fuzz/build.rs", "fn main() {}\n"),
        ("fuzz/src/main.rs", "fn main() {\n    base::shared()\n}\n"),
    ]);
    let faults = home.path().join("faults");
    fs::create_dir(&faults).unwrap();
    let stall = faults.join("rust.load.built");
    fs::write(&stall, "stall").unwrap();
    let server = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults)]);
    let asked = |symbol: &str, wait_ms: u32| server.get(&format!("/v1/usages?symbol={symbol}&wait_ms={wait_ms}")).1;
    let alone = asked("top::alone", 60_000);
    assert_eq!((&alone["meta"]["complete"], &alone["total"]), (&json!(true), &json!(1)), "{alone}");
    for (verb, key) in [("callers", "items"), ("callees", "items"), ("implementations", "items")] {
        let reply = server.get(&format!("/v1/{verb}?symbol=top::alone&wait_ms=60000")).1;
        assert_eq!((&reply["meta"]["complete"], reply[key].is_array()), (&json!(true), true), "{verb}: {reply}");
    }
    for body in [json!({"symbol": "top::alone"}), json!({"symbol": "base::shared", "wait_ms": 0})] {
        let is_alone = body["symbol"] == "top::alone";
        let (_, reply) = server.post("/v1/describe", &body);
        assert_eq!(reply["meta"]["complete"], is_alone, "{reply}");
    }
    let at = server.get("/v1/symbols/at?file=top/src/lib.rs&line=6&column=5").1;
    assert_eq!((&at["meta"]["complete"], &at["symbol"]["path"]), (&json!(true), &json!("top::alone")), "{at}");
    let shared = asked("base::shared", 0);
    assert_eq!(shared["meta"]["complete"], false, "{shared}");
    // A file that a build script has read changes: its output is that of before.
    server.home.write("top/made.in", "changed");
    let alone = asked("top::alone", 0);
    assert_eq!(alone["meta"]["complete"], false, "{alone}");
    fs::remove_file(&stall).unwrap();
    server.wait_ready();
    let alone = asked("top::alone", 60_000);
    assert_eq!((&alone["meta"]["complete"], &alone["total"]), (&json!(true), &json!(1)), "{alone}");
    let shared = asked("base::shared", 60_000);
    assert_eq!((&shared["meta"]["complete"], &shared["total"]), (&json!(true), &json!(2)), "{shared}");
}

/// Before the crates are known, nothing is said to be in none of them.
#[test]
fn what_is_not_loaded_is_not_said_to_be_left_out() {
    let home = Home::with(RUST);
    let faults = home.path().join("faults");
    fs::create_dir(&faults).unwrap();
    let stall = faults.join("rust.load");
    fs::write(&stall, "stall").unwrap();
    let server = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults)]);
    let markdown = |verb: &[&str]| {
        let ended = run(server.home.semdex().args(verb).args(["--wait-ms", "0"]));
        format!("{}{}", ended.output, ended.errors)
    };
    for verb in [&["usages", "greet_all"][..], &["describe", "greet_all"], &["rename", "greet_all", "all", "--dry-run"]]
    {
        let text = markdown(verb);
        let is_false = ["no crate includes", "not_in_a_package", "of ``", "rename_refused", "ask for less"];
        assert!(!is_false.iter().any(|it| text.contains(it)), "{text}");
    }
    let (status, reply) =
        server.post("/v1/rename", &json!({"symbol": "greet_all", "new_name": "all", "dry_run": true, "wait_ms": 0}));
    assert_eq!((status, &reply["code"]), (503, &json!("not_ready")), "{reply}");
    let gate = || {
        let asked = server.request("GET", "/v1/gate?wait_ms=0").header("accept", "text/markdown");
        server.send(asked).text
    };
    let early = gate();
    assert!(
        early.starts_with("# Passed as far as is known; errors are not known: ") && !early.contains("0 errors"),
        "{early}"
    );
    fs::remove_file(&stall).unwrap();
    server.wait_ready();
    assert!(gate().starts_with("# Passed: 0 errors, 0 warnings\n"), "{}", gate());
}
