//! Inputs of a Rust workspace besides its sources: macros, build scripts and what they read, configuration, the
//! toolchain. A change of one is in the next answer, or the answer says that it is not complete.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use crate::support::{Home, Server};

const NARROW: &str = "pub fn made(n: u8) -> u8 { n }";
const WIDE: &str = "pub fn made(n: u8, by: u8) -> u8 { n * by }";

/// A package of this name whose only function calls `made` with one argument.
fn manifest(name: &str, more: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
}

const CALL: &str = "pub fn call() -> u8 {\n    made(1)\n}\n";

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn errors(server: &Server) -> Value {
    let (status, reply) = server.get("/v1/diagnostics?severity=error");
    assert_eq!(status, 200, "{reply}");
    reply
}

/// The number of errors of the default build, as a complete answer.
fn count(server: &Server) -> u64 {
    server.wait_for(|it| errors(it)["meta"]["complete"] == true);
    let reply = errors(server);
    let of_default = reply["items"].as_array().unwrap().iter().filter(|it| it.get("build").is_none());
    of_default.count() as u64
}

/// `change` makes `made` take two arguments, `back` one: each answer follows, also the first one after it, which does
/// not wait.
#[track_caller]
fn check(server: &Server, change: impl Fn(&Path), back: impl Fn(&Path)) {
    let base = server.home.path();
    assert_eq!(count(server), 0);
    for (alter, expected) in [(&change as &dyn Fn(&Path), 1), (&back, 0)] {
        alter(&base);
        let (status, at_once) = server.get("/v1/diagnostics?severity=error&wait_ms=0");
        assert!(status == 200 || at_once["meta"]["complete"] == false, "{at_once}");
        assert!(at_once["total"] == expected || at_once["meta"]["complete"] == false, "{at_once}");
        assert_eq!(count(server), expected);
    }
}

/// A change of one file from one text to another, and back.
#[track_caller]
fn check_file(server: &Server, file: &str, narrow: &str, wide: &str) {
    check(server, |base| write(&base.join(file), wide), |base| write(&base.join(file), narrow));
}

/// A workspace whose macro takes its output from a library, from a module and from a text.
fn with_macro() -> Home {
    Home::with(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"app\", \"mac\", \"text\"]\nresolver = \"2\"\n"),
        ("app/Cargo.toml", &manifest("app", "\n[dependencies]\nmac = { path = \"../mac\" }\n")),
        ("app/src/lib.rs", &format!("mac::make!();\n\n{CALL}")),
        (
            "mac/Cargo.toml",
            &manifest("mac", "\n[lib]\nproc-macro = true\n\n[dependencies]\ntext = { path = \"../text\" }\n"),
        ),
        (
            "mac/src/lib.rs",
            "mod inner;\n\n#[proc_macro]\npub fn make(_: proc_macro::TokenStream) -> proc_macro::TokenStream {\n    \
             format!(\"{}{}{}\", inner::TEXT, text::TEXT, include_str!(\"made.txt\")).parse().unwrap()\n}\n",
        ),
        ("mac/src/inner.rs", "pub const TEXT: &str = \"\";\n"),
        ("mac/src/made.txt", NARROW),
        ("text/Cargo.toml", &manifest("text", "")),
        ("text/src/lib.rs", "pub const TEXT: &str = \"\";\n"),
    ])
}

#[test]
fn a_change_of_what_a_macro_is_made_of_is_in_the_next_answer() {
    let server = with_macro().serve(&["--trust"]);
    server.wait_ready();
    check_file(&server, "workspace/mac/src/made.txt", NARROW, WIDE);
    server.home.write("mac/src/made.txt", "");
    let constant = |text: &str| format!("pub const TEXT: &str = {text:?};\n");
    server.home.write("text/src/lib.rs", &constant(NARROW));
    check_file(&server, "workspace/text/src/lib.rs", &constant(NARROW), &constant(WIDE));
    server.home.write("text/src/lib.rs", &constant(""));
    server.home.write("mac/src/inner.rs", &constant(NARROW));
    check_file(&server, "workspace/mac/src/inner.rs", &constant(NARROW), &constant(WIDE));

    // A macro that could not be built is built as soon as it can be.
    server.home.write("mac/src/inner.rs", "pub const TEXT: &str = 1;\n");
    let reply = errors(&server);
    assert_eq!(reply["meta"]["complete"], false, "{reply}");
    server.home.write("mac/src/inner.rs", &constant(WIDE));
    assert_eq!(count(&server), 1);

    // The effect of a macro's edit on other files is known after it was made; an overlay is not built.
    let edit = |dry_run: bool| {
        let edit = json!({"file": "mac/src/inner.rs", "search_context": constant(WIDE), "replacement": constant(NARROW), "dry_run": dry_run});
        let (status, reply) = server.post("/v1/edit", &edit);
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{reply}");
        assert!(reply["meta"]["missing"].to_string().contains("macro_output"), "{reply}");
    };
    edit(true);
    assert_eq!(count(&server), 1);
    edit(false);
    assert_eq!(count(&server), 0);
    let overlay = server.request("PUT", "/v1/overlays/mac/src/inner.rs").json(&json!({"content": ""}));
    assert_eq!(server.send(overlay).code(), "invalid_content");
}

/// A build that fails for a reason that is not in the sources is tried again in the background after edits. They do not
/// load everything again. A newer `rust-version` is no failure.
#[test]
fn an_edit_that_cannot_fix_a_build_does_not_load_everything_again() {
    let home = Home::with(&[
        ("Cargo.toml", &manifest("app", "rust-version = \"1.999\"\n")),
        ("src/lib.rs", "#[cfg(made)]\npub fn made() -> u8 {\n    1\n}\n\npub fn call() -> u8 {\n    made()\n}\n"),
    ]);
    let library = home.path().join("library");
    let script = format!(
        "fn main() {{\n    std::fs::read({library:?}).unwrap();\n    println!(\"cargo::rustc-check-cfg=cfg(made)\");\n    \
         println!(\"cargo::rustc-cfg=made\");\n}}\n"
    );
    home.write("build.rs", &script);
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let loads = |it: &Server| it.log().matches("Cargo workspaces loaded").count();
    let before = loads(&server);
    for n in 0..4 {
        server.home.write("src/lib.rs", &format!("{}// {n}\n", server.home.read("src/lib.rs")));
        assert_eq!(errors(&server)["meta"]["complete"], false);
    }
    assert_eq!(loads(&server), before);
    fs::write(&library, "").unwrap();
    server.home.write("src/lib.rs", &format!("{}// last\n", server.home.read("src/lib.rs")));
    assert_eq!(count(&server), 0);
}

/// A workspace with a build script that prints this, and generates the content of the file at `from`.
fn with_script(says: &str, from: &str) -> Home {
    let script = format!(
        "fn main() {{\n    {says}\n    let made = std::fs::read_to_string({from:?}).unwrap_or_default();\n    \
         let out = std::env::var(\"OUT_DIR\").unwrap();\n    std::fs::write(out + \"/made.rs\", made).unwrap();\n}}\n"
    );
    let home = Home::with(&[
        ("Cargo.toml", &manifest("app", "build = \"build/main.rs\"\n")),
        ("src/lib.rs", &format!("include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));\n\n{CALL}")),
        ("build/main.rs", &script),
    ]);
    write(&home.root().join(from), NARROW);
    home
}

#[test]
fn a_change_of_what_a_build_script_reads_is_in_the_next_answer() {
    let try_one = |says: &str, from: &str| {
        let home = with_script(says, from);
        if from.starts_with("target") {
            home.write("target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
        }
        let server = home.serve(&["--trust"]);
        server.wait_ready();
        check_file(&server, &format!("workspace/{from}"), NARROW, WIDE);
        // It is removed, and comes back as something else.
        fs::remove_file(server.home.root().join(from)).unwrap();
        assert_eq!(count(&server), 1, "{says}");
        write(&server.home.root().join(from), NARROW);
        assert_eq!(count(&server), 0, "{says}");
    };
    // Each waits for Cargo most of the time.
    thread::scope(|scope| {
        for (says, from) in [
            ("println!(\"cargo::rerun-if-changed=made.in\");", "made.in"),
            ("println!(\"cargo:rerun-if-changed=../made.in\");", "../made.in"),
            ("println!(\"cargo::rerun-if-changed=data\");", "data/deep/made.in"),
            ("println!(\"cargo::rerun-if-changed=../data\");", "../data/deep/made.in"),
            ("println!(\"cargo::rerun-if-changed=target/made.in\");", "target/made.in"),
            // If a script names no inputs, Cargo takes the whole package.
            ("println!(\"cargo::rustc-cfg=unheard\");", "assets/made.in"),
        ] {
            scope.spawn(move || try_one(says, from));
        }
    });
}

/// A script that prints nothing about its inputs, and whose text does not name the file.
fn with_silent_script(says: &str) -> Home {
    let home = with_script(&format!("println!(\"cargo::rustc-cfg=unheard\");{says}"), "made.in");
    let script = fs::read_to_string(home.root().join("build/main.rs")).unwrap();
    home.write("build/main.rs", &script.replace("\"made.in\"", "[\"made\", \"in\"].join(\".\")"));
    home
}

/// Polls until there are so many errors in a complete answer; until then no reply says that it is complete. The errors
/// are requested last: after another complete reply, theirs describes the same or a later state.
#[track_caller]
fn wait_for_count(server: &Server, expected: u64) {
    server.wait_for(|it| {
        let usages = it.get("/v1/usages?symbol=app::made").1;
        let replies = [usages, errors(it)];
        let is_proved = |it: &Value| it["meta"]["complete"] == true;
        assert!(replies[1]["total"] == expected || !replies.iter().any(is_proved), "{replies:?}");
        replies.iter().all(is_proved)
    });
}

#[test]
fn a_build_script_that_does_not_say_what_it_reads_holds_no_answer_up() {
    let server = with_silent_script("").serve(&["--trust", "--log", "semdex=debug"]);
    server.wait_ready();
    assert_eq!(count(&server), 0);
    let loads = || server.log().matches("Cargo workspaces loaded").count();
    let before = loads();
    let source = fs::read_to_string(server.home.root().join("src/lib.rs")).unwrap();
    server.home.write("src/lib.rs", &format!("{source}\npub fn other() {{}}\n"));
    let (status, reply) = server.get("/v1/usages?symbol=app::other");
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    assert_eq!(loads(), before);
    // It runs again, and its new output is known.
    server.home.write("made.in", WIDE);
    wait_for_count(&server, 1);
    server.wait_ready();
    assert_eq!(count(&server), 1);
    assert_eq!(loads(), before + 2, "one load has two steps");
    // Its output is the same.
    server.home.write("other.in", "");
    assert_eq!(errors(&server)["meta"]["complete"], false);
    wait_for_count(&server, 1);
    assert_eq!(loads(), before + 2);
}

#[test]
fn what_a_build_script_makes_is_doubtful_until_it_was_run_again() {
    let home = with_silent_script("");
    let faults = home.path().join("faults");
    let point = faults.join("rust.rebuild");
    write(&point, "always");
    let server = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults)]);
    server.wait_ready();
    assert_eq!(count(&server), 0);
    server.home.write("made.in", WIDE);
    server.wait_for(|it| {
        let reply = errors(it);
        assert_eq!((&reply["total"], &reply["meta"]["complete"]), (&json!(0), &json!(false)), "{reply}");
        assert!(reply["meta"]["missing"].to_string().contains("`made.in` was changed"), "{reply}");
        it.log().matches("a fault at rust.rebuild").count() >= 2
    });
    fs::remove_file(point).unwrap();
    wait_for_count(&server, 1);
}

#[test]
fn a_build_script_that_looks_for_sources_may_read_them() {
    let says = "let _ = std::fs::read_dir([\"s\", \"rc\"].concat()).unwrap().count();";
    let server = with_silent_script(says).serve(&["--trust"]);
    server.wait_ready();
    assert_eq!(count(&server), 0);
    let source = fs::read_to_string(server.home.root().join("src/lib.rs")).unwrap();
    server.home.write("src/lib.rs", &format!("{source}\npub fn other() {{}}\n"));
    let reply = errors(&server);
    assert_eq!((&reply["total"], &reply["meta"]["complete"]), (&json!(0), &json!(false)), "{reply}");
    wait_for_count(&server, 0);
}

#[test]
fn what_a_build_script_makes_no_more_is_gone() {
    let says = "println!(\"cargo::rerun-if-changed=made.in\"); let other = std::path::Path::new(&std::env::var(\"OUT_DIR\").unwrap()).join(\"other.rs\"); \
                let _ = std::fs::remove_file(&other); if std::fs::read_to_string(\"made.in\").unwrap().contains(\"mod other\") { std::fs::write(other, \"pub fn other() {}\").unwrap(); }";
    let server = with_script(says, "made.in").serve(&["--trust"]);
    server.wait_ready();
    server.home.write("made.in", &format!("{NARROW}\nmod other;\n"));
    let known = |symbol: &str| {
        let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}"));
        assert_eq!(reply["meta"]["complete"], true, "{reply}");
        status == 200
    };
    assert!(known("app::other::other"));
    server.home.write("made.in", NARROW);
    assert!(!known("app::other::other"));
}

#[test]
fn a_change_of_a_variable_that_a_build_script_reads_is_in_the_next_answer() {
    let says = "println!(\"cargo::rerun-if-env-changed=MADE\"); let made = std::env::var(\"MADE\").unwrap_or_default();\
                std::fs::write(\"made.in\", if made == \"wide\" { WIDE } else { NARROW }).unwrap();";
    let says = says.replace("WIDE", &format!("{WIDE:?}")).replace("NARROW", &format!("{NARROW:?}"));
    let server = with_script(&says, "made.in").serve(&["--trust"]);
    server.wait_ready();
    let set = |to: &str| format!("[env]\nMADE = {{ value = {to:?}, force = true }}\n");
    check_file(&server, ".cargo/config.toml", &set("narrow"), &set("wide"));
}

const BY_CFG: &str =
    "#[cfg(wide)]\npub fn made(n: u8, by: u8) -> u8 { n * by }\n#[cfg(not(wide))]\npub fn made(n: u8) -> u8 { n }\n";

fn by_cfg() -> Home {
    Home::with(&[("Cargo.toml", &manifest("app", "")), ("src/lib.rs", &format!("{BY_CFG}\n{CALL}"))])
}

#[test]
fn a_change_of_configuration_around_the_workspace_is_in_the_next_answer() {
    let wide = "[build]\nrustflags = [\"--cfg\", \"wide\"]\n";
    // A second home of Cargo, with the downloads of the first.
    let home = by_cfg();
    let own = home.path().join("cargo-home");
    fs::create_dir(&own).unwrap();
    let theirs = std::env::var_os("CARGO_HOME").map(Into::into);
    let theirs = theirs.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cargo"));
    for name in ["registry", "bin", "git"] {
        symlink(theirs.join(name), own.join(name)).unwrap();
    }
    let server = home.serve_with(&["--trust"], &[("CARGO_HOME", &own)]);
    server.wait_ready();
    for file in [".cargo/config.toml", ".cargo/config", "cargo-home/config.toml", "workspace/.cargo/config.toml"] {
        let remove = |base: &Path| fs::remove_file(base.join(file)).unwrap();
        check(&server, |base| write(&base.join(file), wide), remove);
    }
    // Through a link to a file elsewhere, and by an `include`.
    let base = server.home.path();
    write(&base.join("elsewhere/config.toml"), "");
    fs::remove_dir(server.home.root().join(".cargo")).unwrap();
    symlink("../elsewhere", server.home.root().join(".cargo")).unwrap();
    check_file(&server, "elsewhere/config.toml", "", wide);
    write(&base.join(".cargo/config.toml"), "include = [\"more.toml\"]\n");
    write(&base.join(".cargo/more.toml"), "");
    check_file(&server, ".cargo/more.toml", "", wide);
}

#[test]
fn another_toolchain_is_followed() {
    // The caller of the tests may have set one.
    let server = by_cfg().serve_with(&["--trust"], &[("RUSTUP_TOOLCHAIN", Path::new(""))]);
    server.wait_ready();
    let file = server.home.path().join("rust-toolchain.toml");
    for _ in 0..2 {
        assert_eq!(count(&server), 0);
        fs::write(&file, "[toolchain]\nchannel = \"no such\"\n").unwrap();
        let reply = errors(&server);
        assert_eq!(reply["meta"]["complete"], false, "{reply}");
        // Another one takes its place, and the answer says so.
        server.wait_for(|it| errors(it)["meta"]["missing"].to_string().contains("is used in its place"));
        assert_eq!(errors(&server)["total"], 0);
        fs::remove_file(&file).unwrap();
    }
    assert_eq!(count(&server), 0);
}

#[test]
fn a_change_of_an_input_during_the_load_is_not_lost() {
    let home = with_macro();
    let faults = home.path().join("faults");
    write(&faults.join("rust.load.built"), "stall");
    let server = home.serve_with(&["--trust", "--log", "semdex=debug"], &[("SEMDEX_FAULTS", &faults)]);
    server.wait_for_log("what runs at compile time was built and run");
    server.home.write("mac/src/made.txt", WIDE);
    // It is seen before the inputs of the macro are known.
    assert_eq!(server.post("/v1/describe", &json!({"file": "mac/Cargo.toml"})).0, 200);
    fs::remove_file(faults.join("rust.load.built")).unwrap();
    server.wait_ready();
    assert_eq!(count(&server), 1);
    // Then it is seen while it is loaded again.
    write(&faults.join("rust.load.built"), "stall");
    server.home.write("mac/src/made.txt", NARROW);
    let (_, reply) = server.get("/v1/diagnostics?severity=error&wait_ms=0");
    assert_eq!(reply["meta"]["complete"], false, "{reply}");
    server.home.write("mac/src/made.txt", WIDE);
    let (_, reply) = server.get("/v1/diagnostics?severity=error&wait_ms=0");
    assert_eq!(reply["meta"]["complete"], false, "{reply}");
    fs::remove_file(faults.join("rust.load.built")).unwrap();
    assert_eq!(count(&server), 1);
}

#[test]
fn a_build_script_that_changes_what_it_reads_comes_to_an_end() {
    let says = "let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();\
                std::fs::write(\"src/stamp.rs\", format!(\"pub const NOW: u128 = {now};\\n\")).unwrap();";
    let server = with_script(says, "made.in").serve(&["--trust", "--log", "semdex=debug"]);
    server.wait_ready();
    server.wait_for(|it| {
        let reply = errors(it);
        reply["meta"]["missing"].to_string().contains("changes what it reads")
    });
    let loads = || server.log().matches("Cargo workspaces loaded").count();
    let before = loads();
    for _ in 0..5 {
        let reply = errors(&server);
        assert_eq!((&reply["total"], &reply["meta"]["complete"]), (&json!(0), &json!(false)), "{reply}");
    }
    assert_eq!(loads(), before);
    // A change of another program counts.
    server.home.write("made.in", WIDE);
    assert_eq!(errors(&server)["total"], 1);
}

#[test]
fn code_that_a_build_script_wrote_is_a_use_like_any_other() {
    let home = with_script("println!(\"cargo::rerun-if-changed=made.in\");", "made.in");
    home.write("made.in", "pub fn made(n: u8) -> u8 { crate::hidden(n) }");
    home.write(
        "src/lib.rs",
        "include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));\n\npub fn hidden(n: u8) -> u8 { n }\npub fn other() {}\n",
    );
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    assert_eq!(count(&server), 0);
    let is_told = |reply: &Value| {
        let missing = &reply["meta"]["missing"];
        assert_eq!(reply["meta"]["complete"], false, "{reply}");
        assert!(missing.to_string().contains("macro_output") && missing.to_string().contains("made.rs:1"), "{reply}");
    };
    let (status, reply) = server.get("/v1/usages?symbol=app::hidden");
    assert_eq!((status, &reply["total"]), (200, &json!(0)), "{reply}");
    is_told(&reply);
    let (_, reply) = server.get("/v1/usages?symbol=app::other");
    assert_eq!((&reply["total"], &reply["meta"]["complete"]), (&json!(0), &json!(true)), "{reply}");
    // A change with an unknown impact is not made if it must break nothing.
    let edit = |symbol: &str, on_break: &str| {
        server.post("/v1/edit", &json!({"symbol": symbol, "at": "delete", "on_break": on_break, "wait_ms": 1000}))
    };
    let (status, reply) = edit("app::hidden", "reject");
    assert_eq!((status, &reply["code"]), (503, &json!("engine_unavailable")), "{reply}");
    let (status, reply) = edit("app::other", "reject");
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    let (status, reply) = edit("app::hidden", "report");
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    is_told(&reply);
}

#[test]
fn what_is_wrong_in_code_that_a_build_script_wrote_is_not_unsaid() {
    let home = with_script("println!(\"cargo::rerun-if-changed=made.in\");", "made.in");
    home.write("made.in", "pub fn made(n: u8) -> u8 { crate::hidden(n) }");
    let text = |parameters: &str| {
        format!("include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));\n\npub fn hidden({parameters}) -> u8 {{ n }}\n")
    };
    home.write("src/lib.rs", &text("n: u8"));
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    assert_eq!(count(&server), 0);
    server.home.write("src/lib.rs", &text("n: u8, _by: u8"));
    let reply = errors(&server);
    assert_eq!((&reply["total"], &reply["meta"]["complete"]), (&json!(0), &json!(false)), "{reply}");
    assert!(reply["meta"]["missing"].to_string().contains("what a build script wrote has 1 error"), "{reply}");
}
