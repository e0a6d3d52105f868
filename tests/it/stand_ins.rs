//! The tools that replace a language server: they leave the user's files alone, whatever a workspace says.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::language_servers::tools;
use crate::support::{Home, Server};

/// A workspace whose server is missing according to the user's configuration, so that a tool replaces it.
fn with_stand_in(language: &str, files: &[(&str, &str)]) -> Home {
    let home = Home::with(files);
    let directory = home.path().join("config/semdex");
    fs::create_dir_all(&directory).unwrap();
    let row = format!("[languages.{language}]\ncommand = [\"no-such-server\"]\n");
    fs::write(directory.join("config.toml"), row).unwrap();
    home
}

fn serve_with_tools(home: Home, flag: &str) -> Server {
    let path = format!("{}:{}", tools().display(), std::env::var("PATH").unwrap());
    home.serve_with(&[flag], &[("PATH", Path::new(&path))])
}

#[test]
fn what_stands_in_for_a_server_writes_no_file_that_a_project_names() {
    for flag in ["--no-trust", "--trust"] {
        let home = with_stand_in("typescript", &[("a.ts", "export const made: number = \"a\";\n")]);
        let precious = home.path().join("precious");
        fs::write(&precious, "precious\n").unwrap();
        let traces = home.path().join("traces");
        let project = json!({"compilerOptions": {
            "incremental": true, "tsBuildInfoFile": precious, "generateTrace": traces, "types": [],
        }});
        home.write("tsconfig.json", &project.to_string());
        let server = serve_with_tools(home, flag);
        let (status, reply) = server.get("/v1/diagnostics?file=a.ts");
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{reply}");
        if flag == "--trust" {
            assert_eq!((&reply["fallback"], &reply["items"][0]["code"]), (&json!("tsc"), &json!("TS2322")), "{reply}");
        } else {
            let is_said = |it: &Value| it["code"] == "untrusted" && it["detail"].as_str().unwrap().contains("tsconfig");
            assert!(reply["meta"]["missing"].as_array().unwrap().iter().any(is_said), "{reply}");
            assert_eq!((&reply["fallback"], &reply["items"]), (&Value::Null, &json!([])), "{reply}");
        }
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious\n", "{flag}");
        assert!(!traces.exists() && !server.home.root().join("tsconfig.tsbuildinfo").exists(), "{flag}");
    }
}

#[test]
fn what_stands_in_for_a_server_mends_nothing_and_keeps_no_cache() {
    let source = "import os\n";
    for configured in ["fix = true\nunsafe-fixes = true\n", "fix-only = true\n"] {
        let home = with_stand_in("python", &[("a.py", source)]);
        let cache = home.path().join("cache");
        home.write("ruff.toml", &format!("cache-dir = {cache:?}\n{configured}"));
        let server = serve_with_tools(home, "--no-trust");
        let (status, reply) = server.get("/v1/diagnostics?file=a.py");
        assert_eq!(
            (status, &reply["fallback"], &reply["items"][0]["code"]),
            (200, &json!("ruff"), &json!("F401")),
            "{reply}"
        );
        assert_eq!(server.home.read("a.py"), source, "{configured}");
        assert!(!cache.exists() && !server.home.root().join(".ruff_cache").exists(), "{configured}");
    }
}

#[test]
fn what_stands_in_for_a_server_ends_with_the_request() {
    let home = with_stand_in("python", &[("a.py", "import os\n")]);
    let file = home.path().join("config/semdex/config.toml");
    let row = fs::read_to_string(&file).unwrap();
    fs::write(&file, row + "fallback = ['sh', '-c', 'sleep 600']\n").unwrap();
    let server = serve_with_tools(home, "--trust");
    let (status, reply) = server.get("/v1/diagnostics?file=a.py&wait_ms=0");
    assert_eq!((status, &reply["fallback"], &reply["items"]), (200, &Value::Null, &json!([])), "{reply}");
    let is_late =
        |it: &Value| it["detail"].as_str().unwrap().contains("sh did not end in time: ask again with a longer");
    assert!(reply["meta"]["missing"].as_array().unwrap().iter().any(is_late), "{reply}");
}
