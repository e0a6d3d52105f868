//! Language servers download only what was requested, and a missing download is not reported as an error of the code.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::language_servers::{errors, serve, tools};
use crate::support::{Home, Server};

/// Longer than any download takes to begin.
const DEADLINE: Duration = Duration::from_secs(300);

/// A workspace of JavaScript without the types that it uses, and an npm that notes that it is called.
fn javascript(settings: &str) -> (Server, PathBuf) {
    let home = Home::with(&[
        ("package.json", "{\"name\": \"shop\", \"dependencies\": {\"express\": \"4\"}}\n"),
        (
            "shop.js",
            "const express = require(\"express\");\nfunction sell() {}\nsell();\nmodule.exports = { express };\n",
        ),
        ("semdex.toml", settings),
    ]);
    let (programs, called) = (home.path().join("programs"), home.path().join("called"));
    fs::create_dir(&programs).unwrap();
    fs::write(programs.join("npm"), format!("#!/bin/sh\necho \"$@\" >> '{}'\nexit 1\n", called.display())).unwrap();
    fs::set_permissions(programs.join("npm"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}:{}", programs.display(), tools().display(), std::env::var("PATH").unwrap());
    // What was downloaded before is not downloaded again.
    let cache = home.path().join("empty-home");
    fs::create_dir(&cache).unwrap();
    let server = home.serve_with(&["--trust"], &[("PATH", Path::new(&path)), ("HOME", &cache)]);
    let (status, used) = server.get("/v1/usages?symbol=shop.js::sell");
    assert_eq!((status, &used["total"]), (200, &json!(1)), "{used}");
    (server, called)
}

#[test]
fn no_types_are_downloaded_for_javascript() {
    let (_offline, never) = javascript("");
    // Where the user wants them, they are requested: this shows that the first server had enough time.
    let settings = "[languages.javascript.settings]\n\"js/ts\" = { disableAutomaticTypeAcquisition = false }\n\
                    typescript = { disableAutomaticTypeAcquisition = false }\n\
                    javascript = { disableAutomaticTypeAcquisition = false }\n";
    let (_online, called) =
        javascript(&format!("{settings}{}", settings.replace("javascript.settings", "typescript.settings")));
    let deadline = Instant::now() + DEADLINE;
    while !called.exists() {
        assert!(Instant::now() < deadline, "tsc asks for no types any more: this test shows nothing");
        std::thread::park_timeout(Duration::from_millis(50));
    }
    assert!(!never.exists(), "npm {}", fs::read_to_string(never).unwrap());
}

#[test]
fn codes_that_are_ignored_are_not_told() {
    let text = "import os\n\nos.nothing()\nundefined()\n";
    let both = serve(&[("a.py", text)]);
    assert_eq!(
        errors(&both, "/v1/diagnostics?file=a.py"),
        ["a.py:3 reportAttributeAccessIssue", "a.py:4 reportUndefinedVariable"]
    );
    let settings = "[languages.python]\nignored_codes = [\"reportAttributeAccessIssue\"]\n";
    let one = serve(&[("a.py", text), ("semdex.toml", settings)]);
    assert_eq!(errors(&one, "/v1/diagnostics?file=a.py"), ["a.py:4 reportUndefinedVariable"]);
}
