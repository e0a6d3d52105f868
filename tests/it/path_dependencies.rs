//! Path dependencies of Rust outside of the root: every change of them is in the next answer.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::{Home, Server};

const APP: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nlib = { path = \"../lib\" }\n",
    ),
    ("src/lib.rs", "pub fn app() -> u8 {\n    lib::size(1)\n}\n"),
];
const ONE: &str = "pub fn size(n: u8) -> u8 {\n    n\n}\n";
const TWO: &str = "pub fn size(n: u8, by: u8) -> u8 {\n    n * by\n}\n";
const MANIFEST: &str = "[package]\nname = \"lib\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

fn write(base: &Path, name: &str, text: &str) {
    let path = base.join("lib").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A workspace with a library beside it.
fn home() -> Home {
    let home = Home::with(APP);
    write(&home.path(), "Cargo.toml", MANIFEST);
    write(&home.path(), "src/lib.rs", "mod inner;\npub use inner::size;\n");
    write(&home.path(), "src/inner.rs", ONE);
    home
}

/// How many errors there are, proved.
fn errors(server: &Server) -> u64 {
    let (status, reply) = server.get("/v1/diagnostics?severity=error");
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    reply["total"].as_u64().unwrap()
}

/// Whether there is a function of the library, proved.
fn is_known(server: &Server) -> bool {
    let (status, reply) = server.get("/v1/usages?symbol=lib::size");
    assert_eq!((matches!(status, 200 | 404), &reply["meta"]["complete"]), (true, &json!(true)), "{reply}");
    status == 200
}

/// Whether an edit that fits the second text of the library would break something.
fn breaks(server: &Server) -> bool {
    let edit = json!({"file": "src/lib.rs", "search_context": "lib::size(1)", "replacement": "lib::size(1, 2)", "dry_run": true});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    !reply["diagnostics"]["new"].as_array().unwrap().is_empty()
        || !reply["impact"]["broken"].as_array().unwrap().is_empty()
}

#[test]
fn a_change_of_a_path_dependency_is_in_the_next_answer() {
    let server = home().serve(&["--trust"]);
    server.wait_ready();
    let base = server.home.path();
    // A file that nobody has touched before.
    fs::rename(base.join("lib/src/inner.rs"), base.join("lib/other")).unwrap();
    assert!(!is_known(&server));
    fs::rename(base.join("lib/other"), base.join("lib/src/inner.rs")).unwrap();
    for _ in 0..2 {
        assert_eq!((errors(&server), breaks(&server)), (0, true));
        write(&base, "src/inner.rs", TWO);
        assert_eq!((errors(&server), breaks(&server)), (1, false));
        // It goes, and comes back as another file.
        fs::remove_file(base.join("lib/src/inner.rs")).unwrap();
        assert!(!is_known(&server));
        write(&base, "src/inner/mod.rs", ONE);
        assert_eq!((errors(&server), breaks(&server)), (0, true));
        // With its directory.
        fs::rename(base.join("lib/src/inner"), base.join("lib/src/elsewhere")).unwrap();
        assert!(!is_known(&server));
        fs::rename(base.join("lib/src/elsewhere/mod.rs"), base.join("lib/src/inner.rs")).unwrap();
    }
    assert_eq!(errors(&server), 0);
    // To touch is no change.
    let (_, status) = server.get("/v1/status");
    let revision = status["workspaces"][0]["revision"].as_u64().unwrap();
    fs::File::open(base.join("lib/src/inner.rs")).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
    assert_eq!(errors(&server), 0);
    assert_eq!(server.get("/v1/status").1["workspaces"][0]["revision"], revision);
}

#[test]
fn a_module_that_is_listed_nowhere_is_read_and_followed() {
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n";
    for (names, files, file) in [
        (
            "pub mod gen;\npub use gen::inner::size;\n",
            &[("generated/mod.rs", "pub mod inner;\n")][..],
            "generated/inner.rs",
        ),
        ("mod cached;\npub use cached::size;\n", &[("src/cached/CACHEDIR.TAG", tag)], "src/cached/mod.rs"),
        ("#[path = \"../node_modules/x/gen.rs\"]\nmod gen;\npub use gen::size;\n", &[], "node_modules/x/gen.rs"),
    ] {
        let home = home();
        let base = home.path();
        write(&base, "src/lib.rs", names);
        files.iter().for_each(|(name, text)| write(&base, name, text));
        write(&base, file, ONE);
        if file.starts_with("generated") {
            symlink("../generated", base.join("lib/src/gen")).unwrap();
        }
        let server = home.serve(&["--trust"]);
        server.wait_ready();
        assert_eq!((errors(&server), breaks(&server)), (0, true), "{file}");
        write(&base, file, TWO);
        assert_eq!((errors(&server), breaks(&server)), (1, false), "{file}");
        fs::remove_file(base.join("lib").join(file)).unwrap();
        assert!(!is_known(&server), "{file}");
        write(&base, file, ONE);
        assert_eq!((errors(&server), breaks(&server)), (0, true), "{file}");
        // The dependency is removed, and then added again.
        write(&base, "src/lib.rs", TWO);
        assert_eq!((errors(&server), breaks(&server)), (1, false), "{file}");
        write(&base, "src/lib.rs", names);
        assert_eq!((errors(&server), breaks(&server)), (0, true), "{file}");
    }
}

#[test]
fn a_module_that_may_not_be_read_is_missing() {
    let home = home();
    let base = home.path();
    fs::write(base.join("inner.rs"), ONE).unwrap();
    fs::remove_file(base.join("lib/src/inner.rs")).unwrap();
    symlink("../../inner.rs", base.join("lib/src/inner.rs")).unwrap();
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    for path in ["/v1/diagnostics?severity=error", "/v1/usages?symbol=app::app"] {
        let (status, reply) = server.get(path);
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{reply}");
        assert!(reply["meta"]["missing"].to_string().contains("it lies outside of its package"), "{reply}");
    }
    fs::remove_file(base.join("lib/src/inner.rs")).unwrap();
    write(&base, "src/inner.rs", ONE);
    assert_eq!((errors(&server), breaks(&server)), (0, true));
}

#[test]
fn a_manifest_of_a_path_dependency_is_read_again() {
    let server = home().serve(&["--trust"]);
    server.wait_ready();
    let base = server.home.path();
    write(
        &base,
        "src/inner.rs",
        "#[cfg(feature = \"wide\")]\npub fn size(n: u8, by: u8) -> u8 {\n    n * by\n}\n#[cfg(not(feature = \"wide\"))]\npub fn size(n: u8) -> u8 {\n    n\n}\n",
    );
    assert_eq!((errors(&server), breaks(&server)), (0, true));
    write(&base, "Cargo.toml", &format!("{MANIFEST}\n[features]\ndefault = [\"wide\"]\nwide = []\n"));
    assert_eq!((errors(&server), breaks(&server)), (1, false));
    write(&base, "Cargo.toml", MANIFEST);
    assert_eq!((errors(&server), breaks(&server)), (0, true));
}

/// A server whose load stops after it has read the sources outside, and a function that lets it continue.
fn server_that_has_read(home: Home) -> (Server, PathBuf) {
    let faults = home.path().join("faults");
    fs::create_dir(&faults).unwrap();
    let point = faults.join("rust.load.read");
    fs::write(&point, "stall").unwrap();
    let server = home.serve_with(&["--trust", "--log", "semdex=debug"], &[("SEMDEX_FAULTS", &faults)]);
    server.wait_for_log("sources outside of the workspace were read");
    (server, point)
}

#[test]
fn a_change_during_the_load_is_not_lost() {
    let (server, point) = server_that_has_read(home());
    write(&server.home.path(), "src/inner.rs", TWO);
    fs::remove_file(point).unwrap();
    server.wait_ready();
    assert_eq!((errors(&server), breaks(&server)), (1, false));

    let (server, point) = server_that_has_read(home());
    fs::rename(server.home.path().join("lib/src/inner.rs"), server.home.path().join("lib/src/other.rs")).unwrap();
    write(
        &server.home.path(),
        "src/lib.rs",
        "mod other;\npub fn size(n: u8, by: u8) -> u8 {\n    other::size(n) * by\n}\n",
    );
    fs::remove_file(point).unwrap();
    server.wait_ready();
    assert_eq!((errors(&server), breaks(&server)), (1, false));

    // Of what Cargo reads.
    let (server, point) = server_that_has_read(home());
    let base = server.home.path();
    write(&base, "src/wide.rs", TWO);
    write(&base, "Cargo.toml", &format!("{MANIFEST}\n[lib]\npath = \"src/wide.rs\"\n"));
    fs::remove_file(point).unwrap();
    server.wait_ready();
    assert_eq!((errors(&server), breaks(&server)), (1, false));
}

#[test]
fn a_path_dependency_that_a_manifest_names_later_is_followed() {
    let server = home().serve(&["--trust"]);
    server.wait_ready();
    let base = server.home.path();
    let other = base.join("other");
    fs::create_dir_all(other.join("src")).unwrap();
    fs::write(other.join("Cargo.toml"), MANIFEST).unwrap();
    fs::write(other.join("src/lib.rs"), TWO).unwrap();
    // By `[patch]` and by a path.
    server.home.write("Cargo.toml", &APP[0].1.replace("../lib", "../other"));
    assert_eq!((errors(&server), breaks(&server)), (1, false));
    fs::write(other.join("src/lib.rs"), ONE).unwrap();
    assert_eq!((errors(&server), breaks(&server)), (0, true));
    server.home.write("Cargo.toml", APP[0].1);
    write(&base, "src/inner.rs", TWO);
    assert_eq!((errors(&server), breaks(&server)), (1, false));
}
