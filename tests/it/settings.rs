//! `semdex.toml` changes while a workspace is open, and the next answers follow it.

use std::path::Path;

use serde_json::{Value, json};

use crate::language_servers::{engine, errors, serve};
use crate::support::{Home, Server};

/// What the status reports as missing about a file of settings.
fn lack(server: &Server, file: &str) -> Option<Value> {
    let (_, status) = server.get("/v1/status");
    let missing = status["workspaces"][0]["missing"].as_array().unwrap().clone();
    missing.into_iter().find(|it| it["scope"] == file)
}

#[test]
fn a_server_that_runs_hears_of_other_settings() {
    let server = serve(&[("a.py", "def f():\n    return nothing\n")]);
    assert_eq!(errors(&server, "/v1/diagnostics?file=a.py"), ["a.py:2 reportUndefinedVariable"]);
    let overrides = |severity: &str| {
        format!(
            "[languages.python.settings.basedpyright.analysis.diagnosticSeverityOverrides]\nreportUndefinedVariable = '{severity}'\n"
        )
    };
    server.home.write("semdex.toml", &overrides("none"));
    assert_eq!(errors(&server, "/v1/diagnostics?file=a.py"), [""; 0]);
    // In the same second, and of the same length.
    server.home.write("semdex.toml", &overrides("true"));
    assert_eq!(errors(&server, "/v1/diagnostics?file=a.py"), ["a.py:2 reportUndefinedVariable"]);
    server.home.write("semdex.toml", &overrides("none"));
    assert_eq!(errors(&server, "/v1/diagnostics"), [""; 0]);
    std::fs::remove_file(server.home.root().join("semdex.toml")).unwrap();
    assert_eq!(errors(&server, "/v1/diagnostics"), ["a.py:2 reportUndefinedVariable"]);
}

#[test]
fn languages_come_and_go() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fake_server.py");
    let files = [("a.nim", "proc greet()\n"), ("b.py", "def here():\n    return 1\n"), ("c.sh", "here() {\n  :\n}\n")];
    let server = serve(&files);
    let opened = |file: &str| server.post("/v1/open", &json!({"file": file})).1["language"].clone();
    assert_eq!(opened("a.nim"), Value::Null);
    let (_, before) = server.post("/v1/describe", &json!({"symbol": "b.py::here"}));
    assert_eq!(before["symbol"]["kind"], "function", "{before}");
    let pid = engine(&server, "python")["pid"].clone();

    let nim = format!(
        "[languages.nim]\ncommand = ['python3', '{}']\nextensions = {{nim = 'nim'}}\nenv = {{FAKE_MODE = '/dev/null', FAKE_PIDS = '/dev/null'}}\n",
        program.display()
    );
    server.home.write("semdex.toml", &nim);
    assert_eq!(opened("a.nim"), "nim");
    assert_eq!(engine(&server, "nim")["name"], "python3");
    // Settings that the file does not contain stay in force.
    assert_eq!(engine(&server, "python")["pid"], pid);
    assert_eq!(opened("b.py"), "python");

    // Other files, no Bash.
    server.home.write("semdex.toml", &(nim.replace("{nim =", "{nims =") + "[languages.bash]\nenabled = false\n"));
    assert_eq!((opened("a.nim"), opened("c.sh"), opened("b.py")), (Value::Null, Value::Null, json!("python")));
    assert_eq!(engine(&server, "python")["pid"], pid);
    std::fs::remove_file(server.home.root().join("semdex.toml")).unwrap();
    assert_eq!((opened("a.nim"), opened("c.sh")), (Value::Null, json!("bash")));
}

#[test]
fn a_file_that_is_wrong_at_the_start_is_reported_and_the_rest_counts() {
    let long = format!("// {}\n", "x".repeat(2000));
    let wrong = "[limits]\nmax_file_bytes = 1000\n[rust]\nno_such_key = true\n";
    let server = Home::with(&[("a.txt", &long), ("b.txt", "b\n"), ("semdex.toml", wrong)]).serve(&[]);
    let opens = |file: &str| server.post("/v1/open", &json!({"file": file})).0 == 200;
    assert!(opens("b.txt") && !opens("a.txt"));
    let found = lack(&server, "semdex.toml").expect("the status says what is wrong");
    let detail = found["detail"].as_str().unwrap();
    assert!(detail.contains("semdex.toml:4") && detail.contains("defaults"), "{detail}");
    server.home.write("semdex.toml", "[limits]\nmax_file_bytes = 5000\n");
    assert!(opens("a.txt"));
    assert_eq!(lack(&server, "semdex.toml"), None);

    // No key of it can be read.
    for wrong in ["[limits\n", "\u{1}"] {
        let server = Home::with(&[("a.txt", &long), ("semdex.toml", wrong)]).serve(&[]);
        assert_eq!(server.post("/v1/open", &json!({"file": "a.txt"})).0, 200);
        assert!(lack(&server, "semdex.toml").is_some());
    }
}

#[test]
fn a_file_that_is_wrong_changes_nothing_and_is_reported() {
    let long = format!("// {}\n", "x".repeat(2000));
    let server = Home::with(&[("a.txt", &long), ("semdex.toml", "[limits]\nmax_file_bytes = 1000\n")]).serve(&[]);
    let opens = || server.post("/v1/open", &json!({"file": "a.txt"})).0 == 200;
    assert!(!opens());
    server.home.write("semdex.toml", "[limits]\nmax_file_byte = 5000\n");
    assert!(!opens());
    let lack = lack(&server, "semdex.toml").expect("the status says what is wrong");
    assert_eq!(lack["code"], "workspace_broken");
    let detail = lack["detail"].as_str().unwrap();
    assert!(detail.contains("semdex.toml:2") && detail.contains("still counts"), "{detail}");
    server.home.write("semdex.toml", "[limits]\nmax_file_bytes = 5000\n");
    assert!(opens());
    assert_eq!(self::lack(&server, "semdex.toml"), None);
    server.home.write("semdex.toml", "[limits]\nmax_file_bytes = 1000\n");
    assert!(!opens());
}

#[test]
fn the_file_of_the_user_is_followed_too() {
    let long = format!("// {}\n", "x".repeat(2000));
    let server = Home::with(&[("a.txt", &long), ("b.py", "def here():\n    pass\n")]).serve(&[]);
    let opens = || server.post("/v1/open", &json!({"file": "a.txt"})).0 == 200;
    let file = server.home.path().join("config/semdex/config.toml");
    let say = |text: &str| {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
    };
    assert!(opens());
    say("[limits]\nmax_file_bytes = 1000\n[languages.python]\nenabled = false\n");
    assert!(!opens());
    assert_eq!(server.post("/v1/open", &json!({"file": "b.py"})).1["language"], Value::Null);
    // The workspace's own takes precedence.
    server.home.write("semdex.toml", "[limits]\nmax_file_bytes = 5000\n");
    assert!(opens());
    std::fs::remove_file(server.home.root().join("semdex.toml")).unwrap();
    assert!(!opens());
    say("[limits]\nmax_file_byte = 1\n");
    assert!(!opens());
    let detail =
        lack(&server, "config.toml").expect("the status says what is wrong")["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("config.toml:2") && detail.contains("still counts"), "{detail}");
    // It takes nothing from the workspace's own.
    server.home.write("semdex.toml", "[limits]\nmax_file_bytes = 5000\n[gate]\nmax_errors = 7\n");
    assert!(opens());
    assert_eq!(server.get("/v1/gate").0, 200);
    assert_eq!(lack(&server, "semdex.toml"), None);
    std::fs::remove_file(server.home.root().join("semdex.toml")).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(opens());
    assert_eq!(lack(&server, "config.toml"), None);
    assert_eq!(server.post("/v1/open", &json!({"file": "b.py"})).1["language"], "python");
}

#[test]
fn features_that_are_switched_on_are_analysed() {
    let manifest =
        "[package]\nname = 'with'\nversion = '0.1.0'\nedition = '2024'\n[features]\nmore = []\n[workspace]\n";
    let lib = "#[cfg(feature = \"more\")]\npub fn more() {\n    nothing();\n}\n";
    let server = Server::on(&[("Cargo.toml", manifest), ("src/lib.rs", lib)]);
    server.wait_ready();
    let wrong = || {
        server.wait_for(|it| it.get("/v1/diagnostics").1["meta"]["complete"] == true);
        let (_, reply) = server.get("/v1/diagnostics");
        reply["items"].as_array().unwrap().iter().filter(|it| it.get("build").is_none()).count()
    };
    assert_eq!(wrong(), 0);
    server.home.write("semdex.toml", "[rust]\nfeatures = ['more']\n");
    assert_eq!(wrong(), 1);
    server.home.write("semdex.toml", "[rust]\nfeatures = []\n");
    assert_eq!(wrong(), 0);
}
