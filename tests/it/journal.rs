//! Changes are listed and taken back; a change that a kill interrupted is repaired.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::read::GO;
use crate::support::{Home, RUST, Server, breaking_edit};

const TEXTS: &[(&str, &str)] = &[("a.txt", "one\ntwo\n"), ("b.txt", "three\n")];

fn edit(server: &Server, file: &str, search: &str, replacement: &str) -> Value {
    let (status, reply) =
        server.post("/v1/edit", &json!({"file": file, "search_context": search, "replacement": replacement}));
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    reply
}

fn undo(server: &Server, change: &Value) -> (u16, Value) {
    server.post("/v1/undo", &json!({"change": change}))
}

/// The changes, each with its cause, what it undoes and what undid it, by position in the list.
fn history(server: &Server) -> Vec<(String, Option<usize>, Option<usize>)> {
    let (_, reply) = server.get("/v1/changes");
    let changes = reply["changes"].as_array().unwrap();
    let place = |token: &Value| changes.iter().position(|it| it["change"] == *token);
    let told = |it: &Value| (it["cause"].as_str().unwrap().to_owned(), place(&it["undoes"]), place(&it["undone_by"]));
    changes.iter().map(told).collect()
}

#[test]
fn a_change_is_taken_back_and_brought_back() {
    let server = Server::on(TEXTS);
    let first = edit(&server, "a.txt", "two", "2");
    let second = edit(&server, "b.txt", "three", "3");
    let (status, dry) = server.post("/v1/undo", &json!({"change": first["change"], "dry_run": true}));
    assert_eq!((status, &dry["applied"], &dry["change"]), (200, &json!(false), &json!(null)), "{dry}");
    assert_eq!(server.home.read("a.txt"), "one\n2\n");

    let (status, undone) = undo(&server, &first["change"]);
    assert_eq!((status, &undone["applied"]), (200, &json!(true)), "{undone}");
    assert_eq!(server.home.read("a.txt"), "one\ntwo\n");
    assert_eq!(undone["files"][0]["hash"], first["files"][0]["old_hash"]);
    assert!(undone["files"][0]["diff"].as_str().unwrap().contains("-2\n+two"), "{undone}");
    let (status, again) = undo(&server, &first["change"]);
    assert_eq!((status, &again["code"]), (409, &json!("hash_mismatch")), "{again}");
    assert!(again["detail"].as_str().unwrap().contains(undone["change"].as_str().unwrap()), "{again}");
    assert_eq!(
        history(&server),
        [("undo".into(), Some(2), None), ("edit".into(), None, None), ("edit".into(), None, Some(0))]
    );

    let (status, redone) = undo(&server, &undone["change"]);
    assert_eq!((status, server.home.read("a.txt").as_str()), (200, "one\n2\n"), "{redone}");
    assert_eq!(history(&server)[3], ("edit".into(), None, None), "it holds again");

    // The work of others is not taken back with it.
    server.home.write("b.txt", "3\nand more\n");
    let refusing = json!({"change": second["change"], "on_conflict": "refuse"});
    let (status, refused) = server.post("/v1/undo", &refusing);
    assert_eq!((status, &refused["code"], &refused["file"]), (409, &json!("hash_mismatch"), &json!("b.txt")));
    assert_eq!(refused["diff"], "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1,2 @@\n 3\n+and more\n", "{refused}");
    assert_eq!(refused["actual_hash"], blake3::hash(b"3\nand more\n").to_hex().as_str());
    assert_eq!(server.home.read("b.txt"), "3\nand more\n");
    for unknown in ["01JD8M2Q6Z5V9K3T7W1X4Y0ABC", "", "../x"] {
        let (status, reply) = undo(&server, &json!(unknown));
        assert_eq!((status, &reply["code"]), (404, &json!("unknown_change")), "{reply}");
    }
}

#[test]
fn how_much_a_change_reached_is_kept() {
    let server = Server::on(RUST);
    let (status, made) = server.post("/v1/edit", &breaking_edit(false));
    assert_eq!(status, 200, "{made}");
    let length = |list: &str| made["impact"][list].as_array().unwrap().len();
    let wanted = json!({
        "changed": length("changed"), "broken": length("broken"), "affected": length("affected"),
        "tests": length("tests"), "complete": made["meta"]["complete"],
    });
    assert_eq!(wanted["broken"], 2, "{made}");
    let kept = |server: &Server| server.get("/v1/changes").1["changes"][0]["impact"].clone();
    assert_eq!(kept(&server), wanted);
    let server = server.restart(&["--trust"]);
    assert_eq!(kept(&server), wanted);
    let listed = server.markdown("/v1/changes", None);
    assert!(listed.text.contains(", broke 2 places"), "{}", listed.text);
}

#[test]
fn the_changes_are_listed() {
    let server = Server::on(TEXTS);
    let (_, none) = server.get("/v1/changes");
    assert_eq!((&none["changes"], &none["total"], &none["next_cursor"]), (&json!([]), &json!(0), &json!(null)));
    for number in 0..5 {
        let (from, to) = (format!("line {number}"), format!("line {}", number + 1));
        if number == 0 {
            edit(&server, "a.txt", "two", &to);
        } else {
            edit(&server, "a.txt", &from, &to);
        }
    }
    let request = server.request("POST", "/v1/edit").header("user-agent", "agent/7");
    let body = json!({"edits": [{"file": "b.txt", "search_context": "three", "replacement": "3"},
        {"file": "a.txt", "search_context": "one", "replacement": "1"}]});
    assert_eq!(server.send(request.json(&body)).status, 200);

    let (_, newest) = server.get("/v1/changes?limit=1&diff=true");
    let change = &newest["changes"][0];
    assert_eq!((&change["client"], &change["cause"], &newest["total"]), (&json!("agent/7"), &json!("edit"), &json!(6)));
    assert_eq!(change["revision"], newest["meta"]["revision"]);
    assert!(change["at"].as_str().unwrap().ends_with('Z'));
    let files: Vec<&Value> = change["files"].as_array().unwrap().iter().map(|it| &it["file"]).collect();
    assert_eq!(files, ["a.txt", "b.txt"]);
    assert_eq!(change["files"][1]["diff"], "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-three\n+3\n");
    assert_eq!(change["files"][1]["hash"], blake3::hash(b"3\n").to_hex().as_str());

    // Page by page; new changes do not shift the pages.
    let mut seen = vec![change["change"].clone()];
    let mut cursor = newest["next_cursor"].clone();
    edit(&server, "b.txt", "3", "4");
    while let Some(next) = cursor.as_str() {
        let (_, page) = server.get(&format!("/v1/changes?limit=2&cursor={next}"));
        seen.extend(page["changes"].as_array().unwrap().iter().map(|it| it["change"].clone()));
        assert_eq!(page["changes"][0]["files"][0].get("diff"), None);
        cursor = page["next_cursor"].clone();
    }
    assert_eq!(seen.len(), 6);
    assert!(seen.windows(2).all(|pair| pair[0].as_str() > pair[1].as_str()));
    let (_, of_b) = server.get("/v1/changes?file=./b.txt");
    assert_eq!(of_b["total"], 2, "{of_b}");
    let (_, short) = server.get("/v1/changes?max_tokens=200");
    assert_eq!(short["meta"]["missing"][0]["code"], "budget", "{short}");
    assert!(short["next_cursor"].is_string());
    let (status, refused) = server.get("/v1/changes?cursor=c1-3");
    assert_eq!((status, &refused["code"]), (400, &json!("invalid_request")));
    let markdown = server.markdown("/v1/changes?diff=true&limit=1", None).text;
    assert!(markdown.starts_with("# 7 changes\n") && markdown.contains("+4") && markdown.contains("` edit at 20"));
}

#[test]
fn an_undo_tells_what_it_brings_and_breaks() {
    for (files, body, broken) in [
        (RUST, breaking_edit(false), 2),
        (
            GO,
            json!({"file": "greet.go", "search_context": "func (g *Greeter) Greet(name string) string {",
                "replacement": "func (g *Greeter) Greet(name string, loud bool) string {"}),
            3,
        ),
    ] {
        let server = Server::on(files);
        server.wait_ready();
        let (_, made) = server.post("/v1/edit", &body);
        assert_eq!(made["impact"]["broken"].as_array().unwrap().len(), broken, "{made}");
        let (status, undone) = undo(&server, &made["change"]);
        assert_eq!(status, 200, "{undone}");
        assert_eq!(undone["diagnostics"]["fixed"].as_array().unwrap().len(), broken, "{undone}");
        assert_eq!(undone["impact"]["changed"][0]["kind"], "signature", "{undone}");
        let (_, redone) = undo(&server, &undone["change"]);
        assert_eq!(redone["impact"]["broken"].as_array().unwrap().len(), broken, "{redone}");
    }
}

#[test]
fn what_was_made_goes_and_comes_back_as_it_was() {
    let server = Server::on(TEXTS);
    let (_, made) = server.post("/v1/write", &json!({"name": "deep/er/new.sh", "content": "true\n"}));
    let path = server.home.root().join("deep/er/new.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    let (status, undone) = undo(&server, &made["change"]);
    assert_eq!((status, &undone["files"][0]["hash"]), (200, &json!(null)), "{undone}");
    assert!(!server.home.root().join("deep").exists(), "the directories were made for it");
    let (status, _) = undo(&server, &undone["change"]);
    assert_eq!((status, server.home.read("deep/er/new.sh").as_str()), (200, "true\n"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
}

#[test]
fn changes_outlive_the_server() {
    let server = Server::on(TEXTS);
    let made = edit(&server, "a.txt", "two", "2");
    let server = server.restart(&["--trust"]);
    let (_, listed) = server.get("/v1/changes");
    assert_eq!((&listed["total"], &listed["changes"][0]["change"]), (&json!(1), &made["change"]), "{listed}");
    let (status, _) = undo(&server, &made["change"]);
    assert_eq!((status, server.home.read("a.txt").as_str()), (200, "one\ntwo\n"));
    let journal = server.home.path().join("state/semdex/journal.db");
    assert!(journal.exists());
    let left: Vec<_> = fs::read_dir(server.home.root()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left.len(), TEXTS.len(), "nothing of it is in the workspace: {left:?}");
}

/// An answered change persists, even without time to record its end.
#[test]
fn a_change_outlives_a_kill_right_after_it() {
    let mut server = Server::on(TEXTS);
    let body = json!({"edits": [{"file": "a.txt", "search_context": "two", "replacement": "2"},
        {"file": "b.txt", "search_context": "three", "replacement": "3"}]});
    let (_, made) = server.post("/v1/edit", &body);
    server.signal(rustix::process::Signal::KILL);
    server.wait();
    let server = server.beside(&["--trust"]);
    let (_, listed) = server.get("/v1/changes");
    assert_eq!(listed["changes"][0]["change"], made["change"], "{listed}");
    assert_eq!((server.home.read("a.txt").as_str(), server.home.read("b.txt").as_str()), ("one\n2\n", "3\n"));
    let (status, undone) = undo(&server, &made["change"]);
    assert_eq!((status, undone["files"].as_array().unwrap().len()), (200, 2), "{undone}");
    assert_eq!((server.home.read("a.txt").as_str(), server.home.read("b.txt").as_str()), ("one\ntwo\n", "three\n"));
}

/// A change that could not be taken back is not made.
#[test]
fn without_a_journal_nothing_is_changed() {
    let home = Home::with(TEXTS);
    // Not even root can make a file there.
    fs::create_dir_all(home.path().join("state/semdex/journal.db")).unwrap();
    let server = home.serve(&["--trust"]);
    let body = json!({"file": "a.txt", "search_context": "two", "replacement": "2"});
    let (status, reply) = server.post("/v1/edit", &body);
    assert!(matches!(reply["code"].as_str(), Some("permission_denied" | "internal")), "{status} {reply}");
    let detail = reply["detail"].as_str().unwrap();
    assert!(detail.starts_with("nothing was changed: ") && detail.contains("XDG_STATE_HOME"), "{detail}");
    assert_eq!(server.home.read("a.txt"), "one\ntwo\n");
    // Reads still work.
    let (status, _) = server.post("/v1/describe", &json!({"file": "a.txt"}));
    assert_eq!(status, 200);
    fs::remove_dir(server.home.path().join("state/semdex/journal.db")).unwrap();
    edit(&server, "a.txt", "two", "2");
}

#[test]
fn an_unreadable_journal_is_put_aside_and_told() {
    let home = Home::with(TEXTS);
    fs::create_dir_all(home.path().join("state/semdex")).unwrap();
    fs::write(home.path().join("state/semdex/journal.db"), vec![7; 10_000]).unwrap();
    let server = home.serve(&["--trust"]);
    let made = edit(&server, "a.txt", "two", "2");
    let (_, listed) = server.get("/v1/changes");
    assert_eq!((&listed["total"], &listed["meta"]["complete"]), (&json!(1), &json!(false)), "{listed}");
    assert!(listed["meta"]["missing"][0]["detail"].as_str().unwrap().contains("put aside"), "{listed}");
    assert_eq!(undo(&server, &made["change"]).0, 200);
}

#[test]
fn what_was_answered_stays_whatever_somebody_does_before_the_next_start() {
    let mut server = Server::on(TEXTS);
    let mut tokens = Vec::new();
    // Each change is answered, the server is killed immediately, and its output is altered by another program.
    type Alteration<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)]);
    let alterations: [Alteration<'_>; 4] = [
        (&["a.txt", "b.txt"], &[("a.txt", "one\ntwo\n")]),
        (&["a.txt", "b.txt"], &[("b.txt", "edited\n")]),
        (&["a.txt", "b.txt"], &[("a.txt", "edited\n"), ("b.txt", "edited\n")]),
        (&["a.txt"], &[("a.txt", "edited\n")]),
    ];
    for (files, theirs) in alterations {
        for (name, text) in TEXTS {
            server.home.write(name, text);
        }
        let edits: Vec<Value> = files
            .iter()
            .map(|file| json!({"file": file, "search_context": if *file == "a.txt" { "two" } else { "three" }, "replacement": "changed"}))
            .collect();
        let (status, made) = server.post("/v1/edit", &json!({"edits": edits}));
        server.signal(rustix::process::Signal::KILL);
        server.wait();
        assert_eq!((status, &made["applied"]), (200, &json!(true)), "{made}");
        tokens.push(made["change"].clone());
        let mut expected: Vec<(&str, String)> = files.iter().map(|file| (*file, server.home.read(file))).collect();
        for (name, text) in theirs {
            server.home.write(name, text);
            expected.iter_mut().filter(|it| it.0 == *name).for_each(|it| (*text).clone_into(&mut it.1));
        }
        server = server.beside(&["--trust"]);
        let (_, changes) = server.get("/v1/changes");
        let listed: Vec<&Value> = changes["changes"].as_array().unwrap().iter().map(|it| &it["change"]).collect();
        assert_eq!(listed, tokens.iter().rev().collect::<Vec<_>>(), "{theirs:?}");
        for (file, text) in expected {
            assert_eq!(server.home.read(file), text, "{file}, {theirs:?}");
        }
    }
    // Unaltered changes can be taken back: their files are as the change left them.
    server.home.write("a.txt", "one\nchanged\n");
    assert_eq!(undo(&server, &tokens[3]).0, 200);
    assert_eq!(server.home.read("a.txt"), "one\ntwo\n");
}

#[test]
fn the_command_line_undoes() {
    let server = Server::on(TEXTS);
    let made = edit(&server, "a.txt", "two", "2");
    let token = made["change"].as_str().unwrap();
    let ran = |arguments: &[&str]| crate::support::run(server.home.semdex().args(arguments));
    let listed = ran(&["changes", "a.txt", "--diff"]);
    assert!(listed.output.contains(token) && listed.output.contains("-two"), "{} {}", listed.output, listed.errors);
    let undone = ran(&["undo", token]);
    assert_eq!((undone.code, server.home.read("a.txt").as_str()), (Some(0), "one\ntwo\n"), "{}", undone.errors);
    let (_, changes) = server.get("/v1/changes");
    assert!(changes["changes"][0]["client"].as_str().unwrap().starts_with("semdex-cli/"), "{changes}");
    let again = ran(&["undo", token]);
    assert!(again.code == Some(1) && again.errors.contains("hash_mismatch"), "{}", again.errors);
}
