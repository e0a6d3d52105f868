//! Edits of texts that others changed since their author read them: both changes are made, or nothing is. And requests
//! that are sent again.

use std::thread;

use serde_json::{Value, json};

use crate::mcp::{NEWEST, call};
use crate::support::{Home, Reply, Server};

const NOTES: &str = "one\n\ntwo\n\nthree\n\nfour\n\nfive\n";

fn server() -> Server {
    Server::on(&[("notes.txt", NOTES)])
}

fn post(server: &Server, path: &str, headers: &[(&str, &str)], body: &Value) -> Reply {
    let request = server.request("POST", path).json(body);
    server.send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)))
}

/// What a client sees of the file; its hash.
fn read(server: &Server, session: &str) -> String {
    let reply = post(server, "/v1/describe", &[("x-session", session)], &json!({"file": "notes.txt"}));
    reply.json()["file"]["hash"].as_str().unwrap().to_owned()
}

/// Somebody else changes a line.
fn others(server: &Server, from: &str, to: &str) {
    server.home.write("notes.txt", &server.home.read("notes.txt").replace(from, to));
}

fn edit(search: &str, replacement: &str) -> Value {
    json!({"file": "notes.txt", "search_context": search, "replacement": replacement})
}

#[track_caller]
fn lines(places: &Value) -> Vec<u64> {
    places
        .as_array()
        .unwrap_or_else(|| panic!("no places: {places}"))
        .iter()
        .map(|it| it["line"].as_u64().unwrap())
        .collect()
}

#[test]
fn a_base_that_is_named_by_its_hash_is_merged_on_request() {
    let server = server();
    let hash = read(&server, "a");
    others(&server, "two", "2");
    let mut wanted = edit("one\n\ntwo\n\nthree\n\nfour", "one\n\ntwo\n\nthree\n\n4");
    wanted["expected_hash"] = json!(hash[..12]);
    let (status, refused) = server.post("/v1/edit", &wanted);
    assert_eq!((status, &refused["code"]), (409, &json!("hash_mismatch")), "{refused}");
    assert_eq!(refused["actual_hash"], blake3::hash(server.home.read("notes.txt").as_bytes()).to_hex().as_str());
    wanted["on_conflict"] = json!("merge");
    let (status, merged) = server.post("/v1/edit", &wanted);
    assert_eq!(
        (status, &merged["applied"], &merged["edits"][0]["merged"]),
        (200, &json!(true), &json!(true)),
        "{merged}"
    );
    assert_eq!(lines(&merged["edits"][0]["kept"]), [3]);
    assert_eq!(server.home.read("notes.txt"), "one\n\n2\n\nthree\n\n4\n\nfive\n");

    // The hash of the present text, in full or in part.
    let present = read(&server, "a");
    for digits in [&present[..], &present[..12], &present.to_uppercase()] {
        let mut same = edit("five", "5");
        same["expected_hash"] = json!(digits);
        same["dry_run"] = json!(true);
        let (status, reply) = server.post("/v1/edit", &same);
        assert_eq!((status, &reply["edits"][0]["merged"]), (200, &Value::Null), "{reply}");
    }
    for digits in ["", &present[..11], &format!("{present}0"), "zz"] {
        let mut other = edit("five", "5");
        other["expected_hash"] = json!(digits);
        let (status, reply) = server.post("/v1/edit", &other);
        assert_eq!((status, &reply["code"]), (400, &json!("invalid_request")), "{digits}: {reply}");
        assert!(reply["detail"].as_str().unwrap().contains("12 hexadecimal digits"), "{reply}");
    }
    let mut other = edit("five", "5");
    other["expected_hash"] = json!("0123456789ab");
    let (status, reply) = server.post("/v1/edit", &other);
    assert_eq!((status, &reply["code"]), (409, &json!("hash_mismatch")), "{reply}");
}

#[test]
fn two_changes_of_one_place_are_a_conflict() {
    let server = server();
    read(&server, "a");
    others(&server, "three", "3, by somebody else");
    let before = server.home.read("notes.txt");
    let wanted = edit("three", "drei");
    let reply = post(&server, "/v1/edit", &[("x-session", "a")], &wanted);
    assert_eq!((reply.status, reply.code().as_str()), (409, "conflict"), "{}", reply.text);
    let conflict = reply.json();
    assert_eq!(server.home.read("notes.txt"), before);
    assert_eq!(
        (&conflict["base"], &conflict["ours"], &conflict["theirs"]),
        (&json!("three\n"), &json!("drei\n"), &json!("3, by somebody else\n")),
        "{conflict}"
    );
    assert_eq!((&conflict["place"]["file"], &conflict["place"]["line"]), (&json!("notes.txt"), &json!(5)));
    let shown = server.request("POST", "/v1/edit").json(&wanted).header("x-session", "a");
    let shown = server.send(shown.header("accept", "text/markdown"));
    assert!(shown.text.contains("## In the file now (notes.txt:5)"), "{}", shown.text);
    // A repetition is no way around it; an edit of what is there is.
    assert_eq!(post(&server, "/v1/edit", &[("x-session", "a")], &wanted).status, 409);
    let theirs = conflict["theirs"].as_str().unwrap();
    let again = post(&server, "/v1/edit", &[("x-session", "a")], &edit(theirs, "drei\n"));
    assert_eq!(again.status, 200, "{}", again.text);
    assert_eq!(server.home.read("notes.txt"), NOTES.replace("three", "drei"));
}

#[test]
fn a_refusal_advises_what_works() {
    let server = server();
    let hash = read(&server, "a");
    others(&server, "two", "two(1)");
    let as_a = |path: &str, body: &Value| post(&server, path, &[("x-session", "a")], body);
    // The search text is gone from the present text, so that no hash gives it a place there.
    let reply = as_a("/v1/edit", &edit("two\n", "zwei\n"));
    assert_eq!((reply.status, reply.code().as_str()), (409, "conflict"), "{}", reply.text);
    let detail = reply.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("send an edit of it") && !detail.contains("expected_hash"), "{detail}");
    // A whole symbol or file has a place there.
    let whole = json!({"name": "notes.txt", "content": NOTES.replace("two", "zwei"), "mode": "overwrite"});
    let reply = as_a("/v1/write", &whole);
    assert_eq!((reply.status, reply.code().as_str()), (409, "conflict"), "{}", reply.text);
    let mut again = whole.clone();
    again["expected_hash"] = reply.json()["actual_hash"].clone();
    again["dry_run"] = json!(true);
    assert!(reply.json()["detail"].as_str().unwrap().contains("with `expected_hash: "));
    assert_eq!(as_a("/v1/write", &again).status, 200);

    // A deletion is not merged, so that it is not advised.
    let delete = json!({"file": "notes.txt", "delete": true});
    let mut by_hash = delete.clone();
    by_hash["expected_hash"] = json!(hash);
    let mut present = Value::Null;
    for (body, session) in [(&delete, "a"), (&by_hash, "b")] {
        for on_conflict in ["refuse", "merge"] {
            let mut body = body.clone();
            body["on_conflict"] = json!(on_conflict);
            let reply = post(&server, "/v1/edit", &[("x-session", session)], &body);
            assert_eq!((reply.status, reply.code().as_str()), (409, "hash_mismatch"), "{}", reply.text);
            let detail = reply.json()["detail"].as_str().unwrap().to_owned();
            assert!(detail.contains("read it again") && !detail.contains("merge"), "{detail}");
            present = reply.json()["actual_hash"].clone();
        }
    }
    by_hash["expected_hash"] = present;
    assert_eq!(as_a("/v1/edit", &by_hash).status, 200);
}

#[test]
fn a_deletion_by_others_is_not_taken_back() {
    let server = server();
    read(&server, "a");
    let path = server.home.root().join("notes.txt");
    std::fs::remove_file(&path).unwrap();
    let whole = json!({"name": "notes.txt", "content": "new\n", "mode": "overwrite"});
    let item = json!({"file": "notes.txt", "content": "new\n", "mode": "overwrite"});
    for (call, body) in [("/v1/write", &whole), ("/v1/edit", &item)] {
        let reply = post(&server, call, &[("x-session", "a")], body);
        assert_eq!((reply.status, reply.code().as_str()), (409, "hash_mismatch"), "{}", reply.text);
        assert!(reply.text.contains("was deleted since you read it"), "{}", reply.text);
        assert!(!path.exists());
    }
    // It can be made again, and whoever deletes it itself may write it.
    let mut create = whole.clone();
    create["mode"] = json!("create");
    assert_eq!(post(&server, "/v1/write", &[("x-session", "a")], &create).status, 200);
    let delete = json!({"file": "notes.txt", "delete": true});
    assert_eq!(post(&server, "/v1/edit", &[("x-session", "a")], &delete).status, 200);
    assert_eq!(post(&server, "/v1/write", &[("x-session", "a")], &whole).status, 200);
    assert_eq!(server.home.read("notes.txt"), "new\n");
}

#[test]
fn the_text_that_a_client_was_shown_last_is_its_base() {
    let server = server();
    read(&server, "a");
    others(&server, "two\n", "two\ntwo and a half\n");
    // Another client, which saw the text with the change, may change it.
    read(&server, "b");
    let block = edit("two\n\nthree\n\nfour\n", "two\n\nthree\n\n4\n");
    for (headers, body) in [
        (&[("x-session", "a")][..], block.clone()),
        (&[], {
            let mut block = edit("two\n\nthree\n\n4\n", "two\n\nthree\n\nfour\n");
            block["session"] = json!("a");
            block
        }),
    ] {
        let reply = post(&server, "/v1/edit", headers, &body);
        assert_eq!((reply.status, &reply.json()["edits"][0]["merged"]), (200, &json!(true)), "{}", reply.text);
        assert!(server.home.read("notes.txt").contains("\ntwo and a half\n"));
    }
    let removed = post(&server, "/v1/edit", &[("x-session", "b")], &edit("two and a half\n", ""));
    assert_eq!(removed.status, 200, "{}", removed.text);
    assert_eq!(server.home.read("notes.txt"), NOTES);
    // Without a merge, what the client has not seen is a reason to refuse.
    others(&server, "five", "5");
    let mut refusing = block;
    refusing["on_conflict"] = json!("refuse");
    let reply = post(&server, "/v1/edit", &[("x-session", "a")], &refusing);
    assert_eq!((reply.status, reply.code().as_str()), (409, "hash_mismatch"), "{}", reply.text);
}

#[test]
fn a_text_that_the_file_had_lately_is_a_base_too() {
    let server = server();
    server.get("/v1/status");
    server.post("/v1/open", &json!({"file": "notes.txt"}));
    others(&server, "two", "2");
    server.post("/v1/open", &json!({"file": "notes.txt"}));
    others(&server, "four", "4");
    let (status, reply) = server.post("/v1/edit", &edit("one\n\ntwo\n\nthree\n\nfour\n", "one\n\ntwo\n\n3\n\nfour\n"));
    assert_eq!(
        (status, &reply["edits"][0]["merged"], &reply["edits"][0]["strategy"]),
        (200, &json!(true), &json!("exact")),
        "{reply}"
    );
    assert_eq!(server.home.read("notes.txt"), "one\n\n2\n\n3\n\n4\n\nfive\n");
    assert_eq!(lines(&reply["edits"][0]["kept"]), [3, 7]);
}

#[test]
fn several_edits_of_an_older_text_are_merged_together() {
    let server = server();
    read(&server, "a");
    others(&server, "three\n", "three\n3\n");
    let edits = json!({"edits": [edit("five", "FIVE and more"), edit("one", "the first\none")]});
    let reply = post(&server, "/v1/edit", &[("x-session", "a")], &edits);
    assert_eq!(reply.status, 200, "{}", reply.text);
    let text = server.home.read("notes.txt");
    assert_eq!(text, "the first\none\n\ntwo\n\nthree\n3\n\nfour\n\nFIVE and more\n");
    let reply = reply.json();
    for (at, line) in [(0, 11), (1, 1)] {
        assert_eq!(
            (&reply["edits"][at]["merged"], &reply["edits"][at]["line"]),
            (&json!(true), &json!(line)),
            "{reply}"
        );
        assert_eq!(lines(&reply["edits"][at]["kept"]), [7]);
    }
}

#[test]
fn a_whole_file_is_merged_with_its_base() {
    let server = server();
    let hash = read(&server, "a");
    others(&server, "two", "2");
    let mut write = json!({"name": "notes.txt", "content": NOTES.replace("five", "5"), "mode": "overwrite"});
    let mut by_hash = write.clone();
    by_hash["expected_hash"] = json!(hash);
    let (status, refused) = server.post("/v1/write", &by_hash);
    assert_eq!((status, &refused["code"]), (409, &json!("hash_mismatch")), "{refused}");
    let reply = post(&server, "/v1/write", &[("x-session", "a")], &write);
    assert_eq!((reply.status, &reply.json()["edits"][0]["merged"]), (200, &json!(true)), "{}", reply.text);
    assert_eq!(server.home.read("notes.txt"), NOTES.replace("five", "5").replace("two", "2"));
    // The client still takes `two` for the file's: it does not take back what it has not seen.
    write["content"] = json!(NOTES.replace("five", "V"));
    let reply = post(&server, "/v1/write", &[("x-session", "a")], &write);
    assert_eq!(reply.status, 200, "{}", reply.text);
    let merged = NOTES.replace("five", "V").replace("two", "2");
    assert_eq!(server.home.read("notes.txt"), merged);
    write["content"] = json!(NOTES.replace("two", "zwei"));
    let reply = post(&server, "/v1/write", &[("x-session", "a")], &write);
    assert_eq!((reply.status, reply.code().as_str()), (409, "conflict"), "{}", reply.text);
    assert_eq!(server.home.read("notes.txt"), merged);
    // Nothing can be merged with a text that is not known.
    write["expected_hash"] = json!("0123456789abcdef");
    write["on_conflict"] = json!("merge");
    let (status, refused) = server.post("/v1/write", &write);
    assert_eq!((status, &refused["code"]), (409, &json!("hash_mismatch")), "{refused}");
}

#[test]
fn an_undo_keeps_what_others_changed_since() {
    let server = server();
    let (_, first) = server.post("/v1/edit", &edit("one", "1"));
    others(&server, "five", "5");
    let refusing = json!({"change": first["change"], "on_conflict": "refuse"});
    let (status, refused) = server.post("/v1/undo", &refusing);
    assert_eq!((status, &refused["code"]), (409, &json!("hash_mismatch")), "{refused}");
    let (status, undone) = server.post("/v1/undo", &json!({"change": first["change"]}));
    assert_eq!((status, &undone["edits"][0]["merged"]), (200, &json!(true)), "{undone}");
    assert_eq!(server.home.read("notes.txt"), NOTES.replace("five", "5"));
    let (status, again) = server.post("/v1/undo", &json!({"change": first["change"]}));
    assert_eq!((status, &again["code"]), (409, &json!("hash_mismatch")), "{again}");

    let (_, second) = server.post("/v1/edit", &edit("three", "3"));
    others(&server, "3", "drei");
    let (status, conflict) = server.post("/v1/undo", &json!({"change": second["change"]}));
    assert_eq!(
        (status, &conflict["code"], &conflict["theirs"]),
        (409, &json!("conflict"), &json!("drei\n")),
        "{conflict}"
    );
    assert!(server.home.read("notes.txt").contains("drei"));
}

#[test]
fn a_base_survives_a_restart() {
    let server = server();
    let hash = read(&server, "a");
    let (_, made) = server.post("/v1/edit", &edit("five", "5"));
    let made = made["files"][0]["hash"].as_str().unwrap().to_owned();
    // A text is written when the journal is idle; a clean end waits for it.
    let server = server.restart(&["--trust"]);
    others(&server, "two", "2");
    for (hash, search, replacement) in [(hash, "one", "1"), (made, "four", "4")] {
        let mut wanted = edit(search, replacement);
        wanted["expected_hash"] = json!(hash[..16]);
        wanted["on_conflict"] = json!("merge");
        let (status, reply) = server.post("/v1/edit", &wanted);
        assert_eq!((status, &reply["edits"][0]["merged"]), (200, &json!(true)), "{reply}");
    }
    assert_eq!(server.home.read("notes.txt"), "1\n\n2\n\nthree\n\n4\n\n5\n");
}

#[test]
fn a_symbol_is_merged_with_what_others_changed_in_it() {
    let before = "fn a() {\n    one();\n\n    two();\n\n    three();\n}\n\nfn b() {}\n";
    let server = Server::on(&[
        ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        ("src/lib.rs", before),
    ]);
    let session = [("x-session", "a")];
    let opened = post(&server, "/v1/open", &session, &json!({"file": "src/lib.rs"}));
    assert_eq!(opened.status, 200, "{}", opened.text);
    server.home.write("src/lib.rs", &before.replace("one()", "one(1)").replace("fn b", "/// B.\nfn b"));
    let body =
        json!({"symbol": "app::a", "at": "body", "replacement": "one();\n\ntwo();\n\nthree(3);", "wait_ms": 120_000});
    let reply = post(&server, "/v1/edit", &session, &body);
    assert_eq!((reply.status, &reply.json()["edits"][0]["merged"]), (200, &json!(true)), "{}", reply.text);
    let merged = before.replace("one()", "one(1)").replace("fn b", "/// B.\nfn b").replace("three()", "three(3)");
    assert_eq!(server.home.read("src/lib.rs"), merged);
}

/// Functions with the same body.
fn functions(names: &[&str]) -> String {
    let function = |it: &&str| format!("fn {it}() {{\n    a();\n    b();\n    c();\n    d();\n}}\n");
    names.iter().map(function).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_edit_stays_in_the_function_that_its_author_saw() {
    let server = server();
    let answer = |shown: &str, now: &str, search: &str, replacement: &str| {
        server.home.write("notes.txt", shown);
        read(&server, "a");
        server.home.write("notes.txt", now);
        let reply = post(&server, "/v1/edit", &[("x-session", "a")], &edit(search, replacement));
        (reply.json()["code"].as_str().map(str::to_owned), server.home.read("notes.txt"))
    };
    let mine = |text: &str| text.replace("b();", "B();");
    let [one, two] = ["one", "two"].map(|it| functions(&[it]));

    // Others put the functions in another order: the text is still there once.
    let now = functions(&["two", "one", "four", "three"]);
    let edited = answer(&functions(&["one", "two", "three", "four"]), &now, &two, &mine(&two));
    assert_eq!(edited, (None, now.replacen(&two, &mine(&two), 1)));

    // Others deleted it, and changed the one before it.
    let now = format!("{}\n{}", functions(&["zero"]), one.replace("b();", "b2();"));
    let edited = answer(&functions(&["zero", "one", "two"]), &now, &two, &two.replace("d();", "D();"));
    assert_eq!(edited, (Some("conflict".to_owned()), now));

    // Others removed a line of it, and added a function behind it that has that line.
    let now = format!("{}\n{}", one.replace("    a();\n", ""), functions(&["new", "two"]));
    let search = "fn one() {\n    a();\n    b();\n";
    let edited = answer(&functions(&["one", "two"]), &now, search, &mine(search));
    assert_eq!(edited, (Some("conflict".to_owned()), now));

    // The line is there once in both texts, but in another function.
    let shown = "fn one() {\n    x();\n}\n\nfn two() {\n    y();\n}\n";
    let now = shown.replace("x();", "z();").replace("y();", "x();");
    assert_eq!(answer(shown, &now, "    x();\n", "    X();\n"), (Some("conflict".to_owned()), now));
}

#[test]
fn a_request_with_a_key_is_made_once() {
    let server = server();
    let append = json!({"name": "notes.txt", "content": "more\n", "mode": "append"});
    let key = [("idempotency-key", "k 1")];
    let first = post(&server, "/v1/write", &key, &append);
    assert_eq!((first.status, first.header("idempotency-replayed")), (200, ""), "{}", first.text);
    let text = server.home.read("notes.txt");
    let again = |server: &Server| {
        let again = post(server, "/v1/write", &key, &append);
        assert_eq!((again.status, again.header("idempotency-replayed")), (200, "true"), "{}", again.text);
        assert_eq!((again.text.as_str(), again.header("content-type")), (first.text.as_str(), "application/json"));
        assert_eq!(server.home.read("notes.txt"), text);
    };
    again(&server);
    let mut other = append.clone();
    other["content"] = json!("other\n");
    let refused = post(&server, "/v1/write", &key, &other);
    assert_eq!((refused.status, refused.code().as_str()), (422, "invalid_content"), "{}", refused.text);
    let by_another_call = post(&server, "/v1/edit", &key, &edit("one", "1"));
    assert_eq!((by_another_call.status, by_another_call.code().as_str()), (422, "invalid_content"));
    for wrong in ["", "  ", &"x".repeat(300)] {
        let refused = post(&server, "/v1/write", &[("idempotency-key", wrong)], &append);
        assert_eq!((refused.status, refused.code().as_str()), (400, "invalid_request"), "{}", refused.text);
    }
    assert_eq!(server.home.read("notes.txt"), text);
    let server = server.restart(&["--trust"]);
    again(&server);

    // A refusal is a reply too; a dry run is not kept.
    let missing = edit("six", "6");
    let refused = post(&server, "/v1/edit", &[("idempotency-key", "k2")], &missing);
    assert_eq!((refused.status, refused.code().as_str()), (409, "no_match"), "{}", refused.text);
    others(&server, "five", "six");
    let same = post(&server, "/v1/edit", &[("idempotency-key", "k2")], &missing);
    assert_eq!(
        (same.status, &same.text, same.header("content-type")),
        (409, &refused.text, "application/problem+json")
    );
    let mut dry = edit("six", "6");
    dry["dry_run"] = json!(true);
    for applied in [json!(false), json!(false)] {
        let reply = post(&server, "/v1/edit", &[("idempotency-key", "k3")], &dry);
        assert_eq!((reply.status, &reply.json()["applied"]), (200, &applied), "{}", reply.text);
    }
    assert_eq!(post(&server, "/v1/edit", &[("idempotency-key", "k3")], &missing).status, 200);
}

#[test]
fn requests_with_one_key_at_the_same_time_are_one() {
    let server = server();
    let body = json!({"name": "notes.txt", "content": "more\n", "mode": "append"});
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let texts: Vec<String> = runtime.block_on(async {
        let sent = (0..8).map(|_| {
            let request = server.request("POST", "/v1/write").header("idempotency-key", "k").json(&body);
            async { request.send().await.unwrap().text().await.unwrap() }
        });
        futures::future::join_all(sent).await
    });
    assert!(texts.iter().all(|it| *it == texts[0] && it.contains("\"applied\":true")), "{texts:?}");
    assert_eq!(server.home.read("notes.txt").matches("more").count(), 1);
    assert_eq!(server.get("/v1/changes").1["total"], 1);
}

#[test]
fn a_tool_takes_a_key_and_a_session() {
    let server = server();
    let append = json!({"name": "notes.txt", "content": "more\n", "mode": "append", "idempotency_key": "k"});
    let (failed, first) = call(&server, NEWEST, "write", append.clone());
    assert!(!failed, "{first}");
    assert_eq!(call(&server, NEWEST, "write", append), (false, first));
    assert_eq!(server.home.read("notes.txt").matches("more").count(), 1);

    let (failed, text) = call(&server, NEWEST, "describe", json!({"file": "notes.txt", "session": "a"}));
    assert!(!failed, "{text}");
    others(&server, "three", "3");
    let mut wanted = edit("three", "drei");
    wanted["session"] = json!("a");
    let (failed, text) = call(&server, NEWEST, "edit", wanted);
    assert!(failed && text.starts_with("# conflict"), "{text}");
}

/// Each of many writers of one file gets through.
#[test]
fn many_writers_of_one_file_take_turns() {
    const WRITERS: usize = 16;
    const EDITS: usize = 20;
    let text: String = (0..WRITERS).map(|it| format!("writer {it}: 0\nbetween\n")).collect();
    let server = Home::with(&[("shared.txt", &text)]).serve(&["--trust"]);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let requests: Vec<_> = (0..EDITS)
                .map(|turn| {
                    let search = format!("writer {writer}: {turn}\n");
                    let replacement = format!("writer {writer}: {}\n", turn + 1);
                    let body = json!({"file": "shared.txt", "search_context": search, "replacement": replacement});
                    server.request("POST", "/v1/edit").json(&body)
                })
                .collect();
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                for request in requests {
                    let (status, text) = runtime.block_on(async {
                        let reply = request.send().await.unwrap();
                        (reply.status().as_u16(), reply.text().await.unwrap())
                    });
                    assert_eq!(status, 200, "writer {writer}: {text}");
                }
            });
        }
    });
    let wanted: String = (0..WRITERS).map(|it| format!("writer {it}: {EDITS}\nbetween\n")).collect();
    assert_eq!(server.home.read("shared.txt"), wanted);
    assert_eq!(server.get("/v1/changes?limit=1").1["total"], WRITERS * EDITS);
}
