//! Edits that are refused although their place is found: they would lose code, or were made before. And what `append`
//! writes.

use serde_json::{Value, json};

use crate::support::{Home, RUST, Server};

const SHOP: &str = "impl Shop {\n    fn open(&self) {\n        self.lights.on();\n    }\n    fn sell(&self) {\n        self.count();\n        self.pay();\n    }\n}\n";

fn check(reply: &(u16, Value), status: u16, code: &str) {
    assert_eq!((reply.0, &reply.1["code"]), (status, &json!(code)), "{}", reply.1);
}

#[test]
fn an_elision_is_refused_in_every_verb() {
    let server = Server::on(&[("shop.rs", SHOP)]);
    let blocks = |body: String| {
        let request = server.request("POST", "/v1/edit").header("content-type", "text/x-search-replace");
        let reply = server.send(request.body(body));
        (reply.status, reply.json())
    };
    for elision in ["// ... existing code ...", "// other methods unchanged", "(rest of methods ...)", "..."] {
        let new =
            format!("impl Shop {{\n    fn open(&self) {{\n        self.lights.on(1);\n    }}\n    {elision}\n}}\n");
        let edit = json!({"file": "shop.rs", "search_context": SHOP, "replacement": new});
        let refused = server.post("/v1/edit", &edit);
        check(&refused, 422, "elided");
        assert_eq!(refused.1["lost"][0], json!({"line": 3, "text": "        self.lights.on();"}), "{}", refused.1);
        assert!(refused.1["detail"].as_str().unwrap().contains("line 5 of the new `shop.rs`"), "{}", refused.1);
        check(&server.post("/v1/edit", &json!({"edits": [edit]})), 422, "elided");
        check(
            &server.post("/v1/write", &json!({"name": "shop.rs", "content": new, "mode": "overwrite"})),
            422,
            "elided",
        );
        check(&blocks(format!("shop.rs\n```rust\n{new}```\n")), 422, "elided");
        check(&blocks(format!("shop.rs\n<<<<<<< SEARCH\n{SHOP}=======\n{new}>>>>>>> REPLACE\n")), 422, "elided");
    }
    let markdown = server.markdown(
        "/v1/write",
        Some(&json!({"name": "shop.rs", "content": "impl Shop {\n    // ...\n}\n", "mode": "overwrite"})),
    );
    assert!(markdown.text.contains("## Lines that would be lost\n\n```\n2:     fn open(&self) {"), "{}", markdown.text);
    assert_eq!(server.home.read("shop.rs"), SHOP);

    // A comment that loses nothing is written, and so is any on purpose.
    let added = json!({"file": "shop.rs", "search_context": "    fn sell", "replacement": "    // ...\n    fn sell"});
    assert_eq!(server.post("/v1/edit", &added).0, 200);
    let kept =
        json!({"name": "shop.rs", "content": "// ... existing code ...\n", "mode": "overwrite", "elisions": "keep"});
    assert_eq!(server.post("/v1/write", &kept).0, 200);
    assert_eq!(server.home.read("shop.rs"), "// ... existing code ...\n");
}

#[test]
fn an_edit_is_not_made_twice() {
    let text = "fn run() {\n    open_log();\n    start();\n}\n\nfn stop() {}\n";
    let server = Server::on(&[("a.rs", text)]);
    let twice = |edit: Value, after: &str| {
        let (status, reply) = server.post("/v1/edit", &edit);
        assert_eq!(status, 200, "{reply}");
        assert_eq!(server.home.read("a.rs"), after);
        let refused = server.post("/v1/edit", &edit);
        check(&refused, 409, "already_applied");
        assert!(refused.1["candidates"][0]["line"].is_u64(), "{}", refused.1);
        assert_eq!(server.home.read("a.rs"), after);
    };
    let edit = |old: &str, new: &str| json!({"file": "a.rs", "search_context": old, "replacement": new});
    let checked = text.replace("open_log();\n", "open_log();\n    check_disk();\n");
    let around = edit("    open_log();\n", "    open_log();\n    check_disk();\n");
    twice(around.clone(), &checked);
    let mut repeated = around;
    repeated["repeat"] = json!(true);
    assert_eq!(server.post("/v1/edit", &repeated).0, 200);
    assert_eq!(server.home.read("a.rs"), checked.replace("check_disk();\n", "check_disk();\n    check_disk();\n"));
    let back = edit("    check_disk();\n    check_disk();\n", "");
    assert_eq!(server.post("/v1/edit", &back).0, 200);
    assert_eq!(server.home.read("a.rs"), text);

    twice(edit("fn stop()", "pub fn stop()"), &text.replace("fn stop", "pub fn stop"));
    let body = "    start_with(Options::default());\n    report();\n";
    let after = text.replace("fn stop", "pub fn stop").replace("    start();\n", body);
    twice(edit("    start();\n", body), &after);
    // The same text as it is changes nothing.
    let (status, reply) = server.post("/v1/edit", &edit("fn run() {", "fn run() {"));
    assert_eq!((status, &reply["applied"]), (200, &json!(false)), "{reply}");
}

#[test]
fn a_symbol_gets_the_same_neighbour_once() {
    let server = Server::on(RUST);
    server.wait_ready();
    let before = server.home.read("src/lib.rs");
    for at in ["after", "before"] {
        let edit = json!({"symbol": "greeter::greet_all", "at": at, "replacement": format!("fn is_{at}() {{}}\n")});
        let (status, reply) = server.post("/v1/edit", &edit);
        assert_eq!(status, 200, "{reply}");
        check(&server.post("/v1/edit", &edit), 409, "already_applied");
    }
    let edit = json!({"symbol": "greeter::greet", "at": "body", "replacement": "name.to_owned()"});
    assert_eq!(server.post("/v1/edit", &edit).0, 200);
    check(&server.post("/v1/edit", &edit), 409, "already_applied");
    let after = server.home.read("src/lib.rs");
    assert!(after.len() > before.len() && after.matches("fn is_").count() == 2, "{after}");
}

#[test]
fn edits_of_one_change_match_the_state_before_it() {
    let text = "fn a() { one(); }\nfn b() {}\nfn c() {}\n";
    let server = Server::on(&[("b.rs", text)]);
    let item = |old: &str, new: &str| json!({"file": "b.rs", "search_context": old, "replacement": new});
    let all = |edits: Value| server.post("/v1/edit", &json!({"edits": edits}));
    let later = all(json!([item("fn a() { one(); }", "fn a() { uno(); }"), item("uno();", "uno(1);")]));
    check(&later, 409, "no_match");
    assert_eq!(later.1["edit"], 1, "{}", later.1);
    assert!(later.1["detail"].as_str().unwrap().contains("only after `edits[0]`"), "{}", later.1);
    let overlap = all(json!([item("fn c() {}", "fn c();"), item("b() {}\nfn c", "b();\nfn d")]));
    check(&overlap, 400, "invalid_request");
    let detail = overlap.1["detail"].as_str().unwrap();
    assert!(detail.contains("`edits[0]` (`b.rs`, line 3) and `edits[1]` (line 2) overlap"), "{detail}");
    assert_eq!(server.home.read("b.rs"), text);
    let (status, reply) = all(json!([item("fn b() {}\n", "fn b2() {}\n"), item("fn c() {}\n", "fn c2() {}\n")]));
    assert_eq!(status, 200, "{reply}");
    assert_eq!(server.home.read("b.rs"), text.replace("b()", "b2()").replace("c()", "c2()"));
}

#[test]
fn append_adds_lines_and_nothing_else() {
    let files = [
        ("data.csv", "id,name\n1,ann\t\n"),
        ("open.txt", "a\nb"),
        ("Makefile", "all:\n\ta \\\n"),
        ("crlf.txt", "a\r\n\r\n"),
        ("mac.txt", "a\rb\r"),
        ("odd.txt", "a\r\r\nb\r\r\n"),
        ("main.go", "// Package main runs.\npackage main\n\nfunc main() {}\n"),
        ("lib.rs", "//! A crate.\n\nfn f() {}\n"),
        ("one.log", "tick\n"),
    ];
    let server = Server::on(&files);
    let append = |file: &str, content: &str| {
        server.post("/v1/write", &json!({"name": file, "content": content, "mode": "append"}))
    };
    for (file, content, added) in [
        ("data.csv", "2,bob\t\n", "2,bob\t\n"),
        ("open.txt", "c\n", "\nc\n"),
        ("Makefile", "\tb\n", "\tb\n"),
        ("crlf.txt", "b\nc\n", "b\r\nc\r\n"),
        ("mac.txt", "c\nd\n", "c\rd\r"),
        ("odd.txt", "c\n", "c\r\r\n"),
        ("main.go", "func f() {}\n", "func f() {}\n"),
        ("lib.rs", "\n/// G.\nfn g() {}\n", "\n/// G.\nfn g() {}\n"),
        ("one.log", "tick\n", "tick\n"),
    ] {
        let before = server.home.read(file);
        let (status, reply) = append(file, content);
        assert_eq!(status, 200, "{file}: {reply}");
        assert_eq!(server.home.read(file), before + added, "{file}");
    }
    for (file, content) in [
        ("main.go", "package main\n\nfunc g() {}\n"),
        ("lib.rs", "//! The crate.\n\nfn f() {}\n"),
        ("lib.rs", "#![allow(dead_code)]\n\nfn f() {}\n"),
        ("data.csv", "id,name\n1,ann\n"),
        ("open.txt", "a\nb\nd\n"),
    ] {
        let before = server.home.read(file);
        let refused = append(file, content);
        check(&refused, 409, "already_exists");
        assert!(refused.1["detail"].as_str().unwrap().contains("overwrite"), "{}", refused.1);
        assert_eq!(server.home.read(file), before);
    }
    let repeated = json!({"name": "open.txt", "content": "a\nb\nd\n", "mode": "append", "repeat": true});
    assert_eq!(server.post("/v1/write", &repeated).0, 200);
    assert_eq!(server.home.read("open.txt"), "a\nb\nc\na\nb\nd\n");
}

#[test]
fn line_ends_of_lines_that_stay_are_kept() {
    let mac = "alpha\rbeta\rgamma\r";
    let odd = "a\r\r\nb\r\r\nc\r\r\n";
    let server = Server::on(&[("mac.txt", mac), ("odd.txt", odd)]);
    let edit = json!({"file": "mac.txt", "search_context": "beta", "replacement": "BETA"});
    assert_eq!(server.post("/v1/edit", &edit).0, 200);
    assert_eq!(server.home.read("mac.txt"), "alpha\rBETA\rgamma\r");
    let write = |file: &str, content: &str| {
        let (status, reply) = server.post("/v1/write", &json!({"name": file, "content": content, "mode": "overwrite"}));
        assert_eq!(status, 200, "{reply}");
        server.home.read(file)
    };
    assert_eq!(write("mac.txt", "alpha\nnew\ngamma\n"), "alpha\rnew\rgamma\r");
    assert_eq!(write("odd.txt", "a\nb2\nc\n"), "a\r\r\nb2\r\r\nc\r\r\n");
}

/// A file that exists is never reported as missing: an agent would create it.
#[test]
fn a_file_that_is_not_text_is_not_missing() {
    let home = Home::with(&[("a.txt", "a\n")]);
    std::fs::write(home.root().join("latin.txt"), b"gr\xfc\xdfe\n").unwrap();
    std::fs::write(home.root().join("data.bin"), b"a\0b").unwrap();
    let server = home.serve(&["--trust"]);
    for (file, why) in [("latin.txt", "byte 2 is not UTF-8"), ("data.bin", "byte 1 is NUL")] {
        let edit = json!({"file": file, "search_context": "a", "replacement": "b"});
        let replies = [
            server.post("/v1/open", &json!({"file": file})),
            server.post("/v1/describe", &json!({"file": file})),
            server.get(&format!("/v1/symbols?file={file}")),
            server.get(&format!("/v1/diagnostics?file={file}")),
            server.post("/v1/edit", &edit),
            server.post(
                "/v1/edit",
                &json!({"edits": [{"file": "a.txt", "search_context": "a", "replacement": "b"}, edit]}),
            ),
            server.post("/v1/write", &json!({"name": file, "content": "b\n", "mode": "append"})),
        ];
        for reply in &replies {
            check(reply, 422, "not_text");
            assert!(reply.1["detail"].as_str().unwrap().contains(why), "{}", reply.1);
        }
        assert_eq!(replies[5].1["edit"], 1, "{}", replies[5].1);
    }
    check(&server.post("/v1/open", &json!({"file": "b.txt"})), 404, "unknown_file");
    assert_eq!(server.home.read("a.txt"), "a\n");
}
