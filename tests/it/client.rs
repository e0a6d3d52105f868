//! A client that a public generator makes from `openapi.yaml` works with a real server.

use std::path::Path;
use std::process::Command;

use crate::support::{Home, RUST, run};

#[test]
fn a_generated_client_runs_the_four_verbs() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let server = Home::with(RUST).serve(&["--trust"]);
    server.wait_ready();
    let ended = run(Command::new(repository.join("scripts/client-test.sh"))
        .arg(server.base())
        .arg(server.home.token())
        .env("SEMDEX_TOOLS", Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools")));
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.output, ended.errors);
    assert!(ended.output.contains("the four verbs: fine"), "{}", ended.output);
    assert!(server.home.read("src/lib.rs").contains("Good day, {name}!"));
    assert_eq!(server.home.read("src/farewell.rs"), "pub fn bye() {}\n");
}
