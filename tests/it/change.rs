//! The changing verbs: what matches, what is refused, what is reported.

use serde_json::{Value, json};

use crate::read::GO;
use crate::support::{Home, RUST, Server, breaking_edit, run};

fn broken(reply: &Value) -> Vec<String> {
    let place = |it: &Value| format!("{}:{}", it["file"].as_str().unwrap(), it["line"]);
    reply["impact"]["broken"].as_array().unwrap_or_else(|| panic!("no impact: {reply}")).iter().map(place).collect()
}

#[test]
fn a_rust_edit_tells_what_it_breaks() {
    let server = Server::on(RUST);
    server.wait_ready();
    let before = server.home.read("src/lib.rs");
    let (_, revision) = server.get("/v1/diagnostics");

    let (status, dry) = server.post("/v1/edit", &breaking_edit(true));
    assert_eq!((status, &dry["applied"]), (200, &json!(false)), "{dry}");
    assert_eq!(broken(&dry), ["src/lib.rs:12", "src/shout.rs:5"]);
    assert_eq!(dry["impact"]["broken"][1]["code"], "E0061");
    assert_eq!(dry["impact"]["broken"][1]["cause"], "greeter::greet");
    assert_eq!(dry["impact"]["changed"][0]["kind"], "signature");
    assert!(!dry["impact"]["unchecked"].as_array().unwrap().is_empty());
    // Nobody ever sees it: neither the file, nor the revision, nor an answer.
    assert_eq!(server.home.read("src/lib.rs"), before);
    let (_, after) = server.get("/v1/diagnostics");
    assert_eq!((&after["items"], &after["meta"]["revision"]), (&revision["items"], &revision["meta"]["revision"]));

    let mut rejecting = breaking_edit(false);
    rejecting["on_break"] = json!("reject");
    let (status, rejected) = server.post("/v1/edit", &rejecting);
    assert_eq!((status, &rejected["code"]), (422, &json!("would_break")), "{rejected}");
    assert_eq!(broken(&rejected).len(), 2);
    assert_eq!(server.home.read("src/lib.rs"), before);

    let (status, applied) = server.post("/v1/edit", &breaking_edit(false));
    assert_eq!((status, &applied["applied"], broken(&applied).len()), (200, &json!(true), 2), "{applied}");
    let text = server.home.read("src/lib.rs");
    assert!(text.contains("times: usize"));
    assert_eq!(applied["files"][0]["hash"], blake3::hash(text.as_bytes()).to_hex().as_str());
    let (_, diagnostics) = server.get("/v1/diagnostics?severity=error");
    assert_eq!(diagnostics["total"], 2, "{diagnostics}");

    let back = json!({"file": "src/lib.rs", "search_context": ", times: usize) -> String {\n    format!(\"Hello, {name}!\").repeat(times)", "replacement": ") -> String {\n    format!(\"Hello, {name}!\")"});
    let (_, repaired) = server.post("/v1/edit", &back);
    assert_eq!(server.home.read("src/lib.rs"), before, "{repaired}");
    assert_eq!(repaired["diagnostics"]["fixed"].as_array().unwrap().len(), 2, "{repaired}");
}

/// What is not known is no success; and an edit waits for what judges it, as a question does.
#[test]
fn an_edit_waits_for_the_index_as_long_as_it_may() {
    let home = Home::with(RUST);
    let faults = home.path().join("faults");
    std::fs::create_dir(&faults).unwrap();
    let hold = faults.join("rust.prime");
    std::fs::write(&hold, "stall").unwrap();
    let server = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults)]);
    let edit = |wait_ms: u32| {
        let mut edit = breaking_edit(true);
        edit["wait_ms"] = json!(wait_ms);
        edit
    };
    let soon = server.markdown("/v1/edit", Some(&edit(0)));
    assert!(soon.text.starts_with("# Dry run, nothing written: whether the edit would break"), "{}", soon.text);
    assert!(soon.text.contains("**incomplete**"), "{}", soon.text);
    std::fs::remove_file(&hold).unwrap();
    let (_, waited) = server.post("/v1/edit", &edit(120_000));
    assert_eq!((broken(&waited).len(), &waited["meta"]["complete"]), (2, &json!(true)), "{waited}");
}

/// A change holds everybody else up: what it breaks is looked for so long and no longer.
#[test]
fn what_there_was_no_time_for_is_named() {
    let callers: String = (0..200).map(|it| format!("pub fn user_{it}() -> u8 {{\n    called()\n}}\n")).collect();
    let home = Home::with(&[
        ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        ("src/lib.rs", &format!("pub fn called() -> u8 {{\n    1\n}}\n{callers}")),
    ]);
    let faults = home.path().join("faults");
    std::fs::create_dir(&faults).unwrap();
    let server = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults)]);
    server.wait_ready();
    let edit = json!({
        "file": "src/lib.rs", "search_context": "called() -> u8", "replacement": "called() -> u16", "dry_run": true,
        "wait_ms": 120_000,
    });
    let (status, whole) = server.post("/v1/edit", &edit);
    assert_eq!((status, &whole["meta"]["complete"]), (200, &json!(true)), "{whole}");
    let hold = faults.join("rust.bodies");
    std::fs::write(&hold, "stall").unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| sender.send(server.post("/v1/edit", &edit)));
        assert!(receiver.recv_timeout(std::time::Duration::from_secs(7)).is_err(), "it did not stand still");
        std::fs::remove_file(&hold).unwrap();
        let (status, cut) = receiver.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
        assert_eq!((status, &cut["meta"]["complete"]), (200, &json!(false)), "{cut}");
        assert!(cut["meta"]["missing"].to_string().contains("there was no time"), "{cut}");
    });
    let (_, again) = server.post("/v1/edit", &edit);
    assert_eq!(broken(&again), broken(&whole));
}

#[test]
fn a_go_edit_tells_what_it_breaks() {
    let server = Server::on(GO);
    server.wait_ready();
    let before = server.home.read("greet.go");
    let mut edit = json!({
        "file": "greet.go",
        "search_context": "func (g *Greeter) Greet(name string) string {",
        "replacement": "func (g *Greeter) Greet(name string, loud bool) string {",
        "dry_run": true,
    });
    let (status, dry) = server.post("/v1/edit", &edit);
    assert_eq!((status, &dry["applied"]), (200, &json!(false)), "{dry}");
    assert_eq!(broken(&dry), ["cmd/hello/main.go:11", "greet.go:18", "greet_test.go:7"]);
    assert_eq!(server.home.read("greet.go"), before);
    let (_, diagnostics) = server.get("/v1/diagnostics?severity=error");
    assert_eq!((&diagnostics["total"], &diagnostics["meta"]["complete"]), (&json!(0), &json!(true)), "{diagnostics}");

    edit["dry_run"] = json!(false);
    let (_, applied) = server.post("/v1/edit", &edit);
    assert_eq!(applied["applied"], true, "{applied}");
    let (_, diagnostics) = server.get("/v1/diagnostics?severity=error");
    assert_eq!(diagnostics["total"], 3, "{diagnostics}");
}

/// A line as near to one place as to another, and a line that was left out, are no place: nothing is written.
#[test]
fn ties_and_elisions_are_refused_and_slips_are_not() {
    let step = "first, open the lid of the box\nthen take out all that is in it\nand put it on the table\nlast, close the lid again\n";
    let text = format!("{step}-\n-\n-\n-\n{step}\n...\n");
    let elided = "open the window to the garden\nand look for the cat below\nthen shut the window again\n";
    let notes = format!("{elided}\n...\n");
    let server = Server::on(&[("steps.txt", &text), ("notes.txt", &notes)]);
    let edit = |body: Value| server.post("/v1/edit", &body);

    // The places are the lines 1 to 4 and 9 to 12: line 5 is as far from where both begin.
    let tie = json!({"file": "steps.txt", "search_context": step, "replacement": "x\n", "near_line": 5});
    let (status, reply) = edit(tie);
    assert_eq!((status, &reply["code"]), (409, &json!("ambiguous")), "{reply}");
    let search = elided.replace("and look for the cat below", "...");
    let (status, reply) =
        edit(json!({"file": "notes.txt", "search_context": search, "replacement": search, "autofix": 60}));
    assert_eq!((status, &reply["code"]), (400, &json!("invalid_request")), "{reply}");
    assert!(reply["detail"].as_str().unwrap().contains("elision"), "{reply}");
    let search = "open the window to the garden\n";
    let (status, reply) = edit(json!({"file": "notes.txt", "search_context": search, "replacement": "open it\n...\n"}));
    assert_eq!((status, &reply["code"]), (422, &json!("elided")), "{reply}");
    assert_eq!((server.home.read("steps.txt"), server.home.read("notes.txt")), (text, notes.clone()));

    // Two typing errors and different white space at the same time.
    let search = "  and look for teh cat; below\n  then shut the window again\n";
    let (status, reply) =
        edit(json!({"file": "notes.txt", "search_context": search, "replacement": "  and wait\n", "autofix": 90}));
    assert_eq!((status, &reply["code"]), (409, &json!("conflict")), "the edit rewrites what differs: {reply}");
    assert_eq!(server.home.read("notes.txt"), notes);
    let replacement = search.replace("the window", "the door");
    let (status, reply) =
        edit(json!({"file": "notes.txt", "search_context": search, "replacement": replacement, "autofix": 90}));
    assert_eq!((status, &reply["edits"][0]["strategy"]), (200, &json!("fuzzy")), "{reply}");
    assert_eq!(server.home.read("notes.txt"), notes.replace("shut the window", "shut the door"));
}

#[test]
fn an_edit_lands_in_one_place_or_nowhere() {
    let server = Server::on(RUST);
    let edit = |body: Value| server.post("/v1/edit", &body);
    let before = server.home.read("src/lib.rs");

    let (status, reply) = edit(json!({"file": "src/lib.rs", "search_context": "name", "replacement": "x"}));
    assert_eq!((status, &reply["code"]), (409, &json!("ambiguous")), "{reply}");
    assert!(reply["candidates"].as_array().unwrap().len() > 2);
    let missing =
        json!({"file": "src/lib.rs", "search_context": "pub fn greet(nam: &String) -> Str {", "replacement": "x"});
    let (status, reply) = edit(missing);
    assert_eq!((status, &reply["code"], &reply["nearest"]["line"]), (409, &json!("no_match"), &json!(6)), "{reply}");
    let stale = json!({"file": "src/lib.rs", "search_context": "//! Greetings.", "replacement": "x", "expected_hash": "000000000000"});
    let (status, reply) = edit(stale);
    assert_eq!((status, &reply["code"]), (409, &json!("hash_mismatch")), "{reply}");
    assert_eq!(reply["actual_hash"], blake3::hash(before.as_bytes()).to_hex().as_str());
    for (file, status, code) in [
        ("../secret", 400, "outside_workspace"),
        ("/etc/passwd", 400, "outside_workspace"),
        (".git/config", 400, "outside_workspace"),
        ("src/nothing.rs", 404, "unknown_file"),
    ] {
        let (got, reply) = edit(json!({"file": file, "search_context": "a", "replacement": "b"}));
        assert_eq!((got, &reply["code"]), (status, &json!(code)), "{file}: {reply}");
    }
    assert_eq!(server.home.read("src/lib.rs"), before);

    // White space is forgiven, and brought to the file's own.
    let loose = json!({"file": "src/lib.rs", "search_context": "pub fn greet(name: &str) -> String {\n  format!(\"Hello, {name}!\")\n}",
        "replacement": "pub fn greet(name: &str) -> String {\n  format!(\"Hi, {name}!\")\n}", "autofix": 0});
    let (status, reply) = edit(loose);
    assert_eq!((status, &reply["edits"][0]["score"]), (200, &json!(100.0)), "{reply}");
    assert_eq!(server.home.read("src/lib.rs"), before.replace("Hello", "Hi"));

    // Several edits in one request, all or none; places refer to the text after the change.
    let both = |second: &str| {
        json!({"edits": [
            {"file": "src/shout.rs", "search_context": "/// Greets loudly.", "replacement": "/// Greets\n/// loudly."},
            {"file": "src/lib.rs", "search_context": second, "replacement": "/// Greets all."},
        ]})
    };
    let (status, reply) = edit(both("/// not there at all, nothing like it"));
    assert_eq!((status, &reply["edit"]), (409, &json!(1)), "{reply}");
    assert!(server.home.read("src/shout.rs").contains("/// Greets loudly."));
    let (status, reply) = edit(both("/// Greets everyone."));
    assert_eq!((status, reply["files"].as_array().unwrap().len()), (200, 2), "{reply}");
    assert_eq!((&reply["edits"][0]["line"], &reply["edits"][0]["end_line"]), (&json!(3), &json!(4)));

    // By symbol, docs and attributes included.
    let (_, reply) = edit(json!({"symbol": "greeter::greet_all", "at": "delete"}));
    assert_eq!(reply["edits"][0]["strategy"], "symbol", "{reply}");
    assert!(!server.home.read("src/lib.rs").contains("Greets all"));
    let (_, reply) = edit(json!({"symbol": "greeter::greet", "at": "body", "replacement": "name.to_owned()"}));
    assert_eq!(reply["applied"], true, "{reply}");
    assert!(server.home.read("src/lib.rs").contains("-> String {\n    name.to_owned()\n}"));
}

#[test]
fn files_are_written() {
    let server = Server::on(RUST);
    server.wait_ready();
    let write = |body: Value| server.post("/v1/write", &body);
    let (status, reply) = write(json!({"name": "src/deep/new.rs", "content": "pub fn new() {}\n", "mode": "create"}));
    assert_eq!((status, &reply["files"][0]["created"]), (200, &json!(true)), "{reply}");
    assert_eq!(server.home.read("src/deep/new.rs"), "pub fn new() {}\n");
    let (status, reply) = write(json!({"name": "src/deep/new.rs", "content": "", "mode": "create"}));
    assert_eq!((status, &reply["code"]), (409, &json!("already_exists")), "{reply}");
    let (_, reply) = write(json!({"name": "src/lib.rs", "content": "pub fn extra() {\n    missing::thing();\n}"}));
    assert_eq!(reply["applied"], true, "{reply}");
    assert!(server.home.read("src/lib.rs").ends_with("}\npub fn extra() {\n    missing::thing();\n}\n"));
    let (_, reply) =
        write(json!({"name": "src/shout.rs", "content": "pub fn (", "mode": "overwrite", "dry_run": true}));
    assert_eq!(reply["validation"][0]["kind"], "syntax", "{reply}");
    assert!(server.home.read("src/shout.rs").starts_with("use crate::greet;"));
    let (_, found) = server.get("/v1/symbols?query=extra");
    assert_eq!(found["symbols"][0]["path"], "greeter::extra", "{found}");
}

#[test]
fn blocks_are_one_change() {
    let server = Server::on(RUST);
    let send = |query: &str, body: &str| {
        let request = server.request("POST", &format!("/v1/edit{query}"));
        let request = request.header("content-type", "text/x-search-replace; charset=utf-8").body(body.to_owned());
        let reply = server.send(request);
        (reply.status, reply.json())
    };
    let (lib, shout) = (server.home.read("src/lib.rs"), server.home.read("src/shout.rs"));
    let block = |old: &str, new: &str| format!("<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n");
    let body = [
        "Two files, and a new one.\n\nsrc/lib.rs\n```rust\n",
        &block("/// Greets someone.\n", "/// Greets one.\n"),
        &block("/// Greets everyone.\n", "/// Greets all.\n"),
        "```\n`src/shout.rs`\n",
        &block(
            "pub fn shout(name: &str) -> String {\n  greet(name).to_uppercase()\n",
            "pub fn shout(name: &str) -> String {\n  greet(name).to_lowercase()\n",
        ),
        "src/new.rs\n",
        &block("", "pub fn new() {}\n"),
    ]
    .concat();

    let (status, dry) = send("?dry_run=true", &body);
    assert_eq!((status, &dry["applied"], dry["edits"].as_array().unwrap().len()), (200, &json!(false), 4), "{dry}");
    assert_eq!(server.home.read("src/lib.rs"), lib);
    let (status, reply) = send("", &body);
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    let strategies: Vec<&str> =
        reply["edits"].as_array().unwrap().iter().map(|it| it["strategy"].as_str().unwrap()).collect();
    assert_eq!(strategies, ["exact", "exact", "indent", "whole"]);
    assert_eq!(server.home.read("src/lib.rs"), lib.replace("someone", "one").replace("everyone", "all"));
    assert_eq!(server.home.read("src/shout.rs"), shout.replace("uppercase", "lowercase"));
    assert_eq!(server.home.read("src/new.rs"), "pub fn new() {}\n");

    // All or none: the same request again, whose first edit no longer finds its text.
    let (status, again) = send("", &body);
    assert_eq!((status, &again["code"], &again["edit"]), (409, &json!("already_applied"), &json!(0)), "{again}");
    assert!(again["detail"].as_str().unwrap().contains("already in `src/lib.rs`, at line 5"), "{again}");
    let (status, exists) = send("", &format!("src/new.rs\n{}", block("", "x\n")));
    assert_eq!((status, &exists["code"]), (409, &json!("already_exists")), "{exists}");
    let overlapping =
        ["src/shout.rs\n", &block("use crate::greet;\n", ""), &block("use crate::greet;\n\n", "")].concat();
    let (status, refused) = send("", &overlapping);
    assert_eq!((status, &refused["code"], &refused["edit"]), (400, &json!("invalid_request"), &json!(1)), "{refused}");
    let (status, part) = send("", &format!("src/shout.rs\n{}", block("greet(name)\n", "x\n")));
    assert_eq!((status, &part["code"]), (409, &json!("no_match")), "a block means whole lines: {part}");
    let (status, elsewhere) = send("", &format!("src/new.rs\n{}", block("/// Greets one.\n", "x\n")));
    assert_eq!((status, &elsewhere["suggestions"]), (409, &json!(["src/lib.rs:5"])), "{elsewhere}");

    let (status, whole) = send("?autofix=0", "src/new.rs\n```rust\npub fn newer() {}\n```\n");
    assert_eq!((status, &whole["edits"][0]["strategy"]), (200, &json!("whole")), "{whole}");
    assert_eq!(server.home.read("src/new.rs"), "pub fn newer() {}\n");
    for (query, body, wanted) in [
        ("?autofx=3", "", "`autofix`"),
        ("?autofix=101", "a.rs\n<<<<<<< SEARCH\na\n=======\n>>>>>>> REPLACE\n", "`autofix`"),
        ("", "a.rs\n<<<<<<< SEARCH\na\n=======\n=======\n>>>>>>> REPLACE\n", "line 5 of the body"),
        ("", "", "line 1 of the body"),
    ] {
        let (status, refused) = send(query, body);
        assert_eq!((status, &refused["code"]), (400, &json!("invalid_request")), "{refused}");
        assert!(refused["detail"].as_str().unwrap().contains(wanted), "{refused}");
    }
}

#[test]
fn a_search_is_narrowed_by_a_symbol() {
    let server = Server::on(RUST);
    server.wait_ready();
    let edit = |body: Value| server.post("/v1/edit", &body);
    let within = |symbol: &str| json!({"file": "src/lib.rs", "symbol": symbol, "search_context": "name", "replacement": "x", "near_line": 7});
    let (status, reply) = edit(
        json!({"symbol": "greeter::greet", "search_context": "format!", "replacement": "println!", "dry_run": true}),
    );
    assert_eq!((status, &reply["edits"][0]["line"]), (200, &json!(7)), "{reply}");
    let (status, reply) = edit(within("greet"));
    assert_eq!((status, &reply["edits"][0]["line"]), (200, &json!(7)), "{reply}");
    let (status, reply) =
        edit(json!({"symbol": "greeter::greet", "search_context": "names.iter().map", "replacement": ""}));
    assert_eq!((status, &reply["code"]), (409, &json!("no_match")), "{reply}");
    assert_eq!(reply["suggestions"], json!(["src/lib.rs:12"]), "{reply}");
}

/// A change keeps the byte order mark and the line endings; if they are mixed, it keeps the ending of each line.
#[test]
fn a_file_keeps_its_form_whatever_is_written() {
    let mixed = "one {\r\n    two;\n}\r\nthree {\n    four;\r\n}\n";
    let server = Server::on(&[("crlf.txt", "a\r\nb\r\n"), ("bom.txt", "\u{feff}a\n"), ("mixed.txt", mixed)]);
    let write = |file: &str, content: &str, mode: &str| {
        let (status, reply) = server.post("/v1/write", &json!({"name": file, "content": content, "mode": mode}));
        assert_eq!(status, 200, "{reply}");
        (reply["applied"].clone(), server.home.read(file))
    };
    assert_eq!(write("crlf.txt", "x\nb\n", "overwrite").1, "x\r\nb\r\n");
    assert_eq!(write("bom.txt", "x\n", "overwrite").1, "\u{feff}x\n");
    assert_eq!(write("bom.txt", "y\r\n", "overwrite").1, "\u{feff}y\r\n", "a form of its own");

    let nothing = write("crlf.txt", "", "append");
    assert_eq!(nothing, (json!(false), "x\r\nb\r\n".to_owned()));

    let search = "    two;\n}\nthree {";
    let edit = json!({"file": "mixed.txt", "search_context": search, "replacement": "    two;\n    new;\n}\nthree {"});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!(status, 200, "{reply}");
    let edited = mixed.replace("two;\n", "two;\n    new;\n");
    assert_eq!(server.home.read("mixed.txt"), edited);
    let content = edited.replace("\r\n", "\n").replace("    new;\n", "");
    assert_eq!(write("mixed.txt", &content, "overwrite").1, mixed, "only what changes changes");
}

#[test]
fn a_new_file_that_no_module_declares_is_not_said_to_be_checked() {
    let server = Server::on(RUST);
    server.wait_ready();
    let write = |file: &str, dry_run: bool| {
        let content = "pub fn x(p: crate::Nothing) { p.gone(); }\n";
        server.post("/v1/write", &json!({"file": file, "content": content, "mode": "create", "dry_run": dry_run}))
    };
    let (status, reply) = write("src/new2.rs", true);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{reply}");
    let missing = &reply["meta"]["missing"][0];
    assert_eq!((&missing["code"], &missing["scope"]), (&json!("not_in_a_package"), &json!("src/new2.rs")), "{reply}");
    let markdown =
        run(server.home.semdex().args(["write", "src/new2.rs", "--mode", "create", "--content", "pub fn x() {}\n"]));
    let head = "# Edit successful, but src/new2.rs was not checked, since no module or package includes it\n";
    assert!(markdown.output.starts_with(head), "{}", markdown.output);
    // What Cargo finds by itself is checked.
    let (_, reply) = write("tests/new.rs", true);
    assert_eq!(
        (&reply["meta"]["complete"], reply["impact"]["broken"].as_array().unwrap().is_empty()),
        (&json!(true), false),
        "{reply}"
    );
}
