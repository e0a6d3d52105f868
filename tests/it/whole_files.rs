//! Changes of whole files next to edits of text: files are made, deleted and moved, all or none, and undone byte for
//! byte. Patches as models write them (unified diffs, the form of Codex, SEARCH/REPLACE blocks) are the same edits.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::mcp::{NEWEST, call};
use crate::support::{RUST, Server, run};

const DIFF: &str = "text/x-diff";
const CODEX: &str = "text/x-apply-patch";
/// A workspace without any engine.
const TEXTS: &[(&str, &str)] =
    &[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "alpha\nbeta\n"), ("dir/c.txt", "x\r\ny\r\nz\r\n"), ("d.txt", "last")];

fn edit(server: &Server, body: &Value) -> (u16, Value) {
    server.post("/v1/edit", body)
}

fn patch(server: &Server, media_type: &str, query: &str, patch: &str) -> (u16, Value) {
    let request = server.request("POST", &format!("/v1/edit{query}")).header("content-type", media_type);
    let reply = server.send(request.body(patch.to_owned()));
    (reply.status, reply.json())
}

#[track_caller]
fn done(reply: (u16, Value)) -> Value {
    assert_eq!((reply.0, &reply.1["applied"]), (200, &json!(true)), "{}", reply.1);
    reply.1
}

#[track_caller]
fn refused(reply: (u16, Value), status: u16, code: &str, wanted: &str) -> Value {
    assert_eq!((reply.0, &reply.1["code"]), (status, &json!(code)), "{}", reply.1);
    assert!(reply.1["detail"].as_str().unwrap().contains(wanted), "{}", reply.1);
    reply.1
}

/// All files of the workspace with their contents and permissions.
fn tree(server: &Server) -> Vec<(String, Vec<u8>, u32)> {
    let mut files = Vec::new();
    let mut directories = vec![server.home.root()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let name = path.strip_prefix(server.home.root()).unwrap().to_str().unwrap().to_owned();
            files.push((name, fs::read(&path).unwrap(), fs::metadata(&path).unwrap().permissions().mode()));
        }
    }
    files.sort();
    files
}

fn file<'a>(reply: &'a Value, name: &str) -> &'a Value {
    reply["files"].as_array().unwrap().iter().find(|it| it["file"] == name).unwrap_or_else(|| panic!("{name}: {reply}"))
}

#[test]
fn files_are_made_deleted_and_moved_in_one_change_and_back() {
    let server = Server::on(TEXTS);
    let script = server.home.root().join("dir/c.txt");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o754)).unwrap();
    let before = tree(&server);
    let edits = json!({"edits": [
        {"file": "a.txt", "search_context": "two", "replacement": "2"},
        {"file": "new/n.txt", "content": "made\n", "mode": "create"},
        {"file": "b.txt", "delete": true},
        {"file": "dir/c.txt", "move_to": "other/e.txt"},
        {"file": "dir/c.txt", "search_context": "y", "replacement": "Y"},
        {"file": "d.txt", "content": "whole\n", "mode": "overwrite"},
    ]});
    let mut dry = edits.clone();
    dry["dry_run"] = json!(true);
    let (status, reply) = edit(&server, &dry);
    assert_eq!((status, &reply["applied"], &reply["change"]), (200, &json!(false), &Value::Null), "{reply}");
    assert_eq!(tree(&server), before);

    let reply = done(edit(&server, &edits));
    let of = |name| file(&reply, name);
    assert_eq!((&of("b.txt")["deleted"], &of("b.txt")["hash"]), (&json!(true), &Value::Null), "{reply}");
    assert_eq!((&of("new/n.txt")["created"], of("new/n.txt").get("deleted")), (&json!(true), None));
    let moved = of("other/e.txt");
    assert_eq!(moved["moved_from"], "dir/c.txt");
    assert!(moved["diff"].as_str().unwrap().contains("rename from dir/c.txt\nrename to other/e.txt\n"), "{moved}");
    assert!(moved["diff"].as_str().unwrap().contains("\n-y\r\n+Y\r\n"), "{moved}");
    assert_eq!((&of("dir/c.txt")["deleted"], &of("dir/c.txt")["diff"]), (&json!(true), &json!("")));
    let landed: Vec<&str> = reply["edits"].as_array().unwrap().iter().map(|it| it["file"].as_str().unwrap()).collect();
    assert_eq!(landed, ["a.txt", "new/n.txt", "b.txt", "other/e.txt", "other/e.txt", "d.txt"]);
    assert_eq!(reply["edits"][4]["line"], 2, "{reply}");
    let after = tree(&server);
    let names: Vec<&str> = after.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(names, ["a.txt", "d.txt", "new/n.txt", "other/e.txt"]);
    assert_eq!((&after[3].1[..], after[3].2 & 0o777), (&b"x\r\nY\r\nz\r\n"[..], 0o754));
    assert_eq!(server.home.read("a.txt"), "one\n2\nthree\n");

    let (_, changes) = server.get("/v1/changes");
    assert_eq!(changes["changes"][0]["files"].as_array().unwrap().len(), 6, "{changes}");
    let undone = done(server.post("/v1/undo", &json!({"change": reply["change"]})));
    assert_eq!(tree(&server), before);
    assert!(!server.home.root().join("new").exists() && !server.home.root().join("other").exists());
    done(server.post("/v1/undo", &json!({"change": undone["change"]})));
    assert_eq!(tree(&server), after);
}

#[test]
fn moves_may_take_the_place_of_each_other() {
    let server = Server::on(TEXTS);
    done(edit(
        &server,
        &json!({"edits": [{"file": "a.txt", "move_to": "b.txt"}, {"file": "b.txt", "move_to": "a.txt"}]}),
    ));
    assert_eq!((server.home.read("a.txt"), server.home.read("b.txt")), (TEXTS[1].1.into(), TEXTS[0].1.into()));
    let reply = done(edit(
        &server,
        &json!({"edits": [{"file": "a.txt", "delete": true}, {"file": "b.txt", "move_to": "a.txt"}]}),
    ));
    assert_eq!(server.home.read("a.txt"), TEXTS[0].1);
    assert_eq!(
        (&file(&reply, "a.txt")["moved_from"], &file(&reply, "a.txt")["created"]),
        (&json!("b.txt"), &json!(false))
    );
    done(edit(&server, &json!({"file": "a.txt", "content": "four\n", "mode": "append"})));
    assert!(server.home.read("a.txt").ends_with("four\n"));
    let reply = server.markdown("/v1/edit", Some(&json!({"file": "a.txt", "move_to": "z.txt"})));
    assert!(
        reply.text.contains("z.txt, moved from a.txt, hash `") && reply.text.contains("a.txt, moved\n"),
        "{}",
        reply.text
    );
}

#[test]
fn what_contradicts_itself_is_refused_and_changes_nothing() {
    let server = Server::on(TEXTS);
    std::os::unix::fs::symlink("a.txt", server.home.root().join("link.txt")).unwrap();
    fs::write(server.home.root().join("binary"), [0, 255]).unwrap();
    let before = tree(&server);
    let delete = json!({"file": "a.txt", "delete": true});
    let moves = json!({"file": "a.txt", "move_to": "z.txt"});
    let text = json!({"file": "a.txt", "search_context": "two", "replacement": "2"});
    let whole = json!({"file": "a.txt", "content": "1\n", "mode": "overwrite"});
    for (edits, status, code, wanted) in [
        (json!([text, delete]), 400, "invalid_request", "edit 0 edits `a.txt`, and edit 1 deletes it"),
        (json!([delete, moves]), 400, "invalid_request", "edit 0 deletes `a.txt`, and edit 1 moves it"),
        (json!([delete, delete]), 400, "invalid_request", "edit 0 deletes `a.txt`, and edit 1 deletes it"),
        (
            json!([delete, {"file": "a.txt", "content": "x"}]),
            400,
            "invalid_request",
            "edit 0 deletes `a.txt`, and edit 1 creates it: all edits refer to the files before the change; replace the \
             content in one edit",
        ),
        (
            json!([{"file": "a.txt", "content": "x", "mode": "create"}, delete]),
            400,
            "invalid_request",
            "edit 1 deletes `a.txt`, and edit 0 creates it",
        ),
        (json!([whole, text]), 400, "invalid_request", "edit 0 overwrites `a.txt`, and edit 1 edits it"),
        (json!([moves, {"file": "b.txt", "move_to": "z.txt"}]), 409, "already_exists", "`z.txt`"),
        (json!([{"file": "a.txt", "move_to": "b.txt"}]), 409, "already_exists", "`b.txt`"),
        (json!([moves, {"file": "z.txt", "content": "x"}]), 409, "already_exists", "`z.txt`"),
        (
            json!([moves, {"file": "z.txt", "search_context": "two", "replacement": "2"}]),
            404,
            "unknown_file",
            "name it `a.txt`",
        ),
        (
            json!([{"file": "n.txt", "content": "x"}, {"file": "n.txt", "search_context": "x", "replacement": "y"}]),
            404,
            "unknown_file",
            "edit 0 makes it",
        ),
        (json!([{"file": "a.txt", "content": "x"}]), 409, "already_exists", "overwrite"),
        (json!([{"file": "no.txt", "delete": true}]), 404, "unknown_file", "no.txt"),
        (json!([{"file": "dir", "delete": true}]), 400, "invalid_request", "directory"),
        (json!([{"file": "a.txt", "move_to": "dir"}]), 400, "invalid_request", "directory"),
        (json!([{"file": "a.txt", "move_to": "a.txt"}]), 400, "invalid_request", "the name that the file has"),
        (json!([{"file": "a.txt", "move_to": "../a.txt"}]), 400, "outside_workspace", ""),
        (json!([{"file": "link.txt", "delete": true}]), 400, "invalid_request", "is a link to `a.txt`"),
        (json!([{"file": "binary", "delete": true}]), 422, "not_text", "binary"),
        (json!([{"file": "a.txt", "delete": true, "expected_hash": "000000000000"}]), 409, "hash_mismatch", ""),
        (
            json!([{"file": "n.txt", "content": "x", "expected_hash": "000000000000"}]),
            409,
            "hash_mismatch",
            "does not exist",
        ),
        (
            json!([{"file": "a.txt", "delete": true, "search_context": "two"}]),
            400,
            "invalid_request",
            "`search_context` cannot be combined with `delete`",
        ),
        (json!([{"delete": true}]), 400, "invalid_request", "say the `file`"),
        (json!([{"file": "a.txt", "mode": "append"}]), 400, "invalid_request", "there is no `content`"),
    ] {
        refused(edit(&server, &json!({"edits": edits})), status, code, wanted);
        assert_eq!(tree(&server), before, "{edits}");
    }
    // Fields that say nothing.
    let idle = json!({"file": "a.txt", "search_context": "two", "replacement": "2", "content": "", "delete": false});
    done(edit(&server, &idle));
    done(edit(&server, &json!({"file": "a.txt", "delete": true, "content": "", "replacement": ""})));
}

#[test]
fn a_change_of_files_is_judged_like_any_other() {
    let server = Server::on(RUST);
    server.wait_ready();
    let reject = |edits: Value| edit(&server, &json!({"edits": edits, "on_break": "reject"}));
    let lib = server.home.read("src/lib.rs");
    // The module is used, and its line in lib.rs stays.
    let reply = refused(reject(json!([{"file": "src/shout.rs", "delete": true}])), 422, "would_break", "");
    let broken = reply["impact"]["broken"].as_array().unwrap();
    assert_eq!((&broken[0]["file"], &broken[0]["code"]), (&json!("src/lib.rs"), &json!("E0583")), "{reply}");
    assert_eq!(reply["impact"]["changed"][0]["symbol"], "greeter::shout::shout", "{reply}");
    assert_eq!(server.home.read("src/lib.rs"), lib);
    let moved = json!([
        {"file": "src/shout.rs", "move_to": "src/cry.rs"},
        {"file": "src/lib.rs", "search_context": "pub mod shout;", "replacement": "pub mod cry;"},
    ]);
    let reply = done(reject(moved));
    assert_eq!((&reply["impact"]["broken"], &reply["validation"]), (&json!([]), &json!([])), "{reply}");
    let (_, found) = server.get("/v1/symbols?file=src/cry.rs");
    assert_eq!(found["symbols"][0]["path"], "greeter::cry::shout", "{found}");
    // The agent adds the `mod` line itself; without it the reply names it.
    let new = json!({"file": "src/extra.rs", "content": "pub fn extra() {}\n"});
    let reply = done(edit(&server, &json!({"edits": [new], "dry_run": false})));
    assert_eq!(reply["validation"][0]["text"], "mod extra;", "{reply}");
    let other =
        json!({"file": "src/other.rs", "content": "pub fn other() -> u8 { crate::cry::shout(\"\").len() as u8 }\n"});
    let line =
        json!({"file": "src/lib.rs", "search_context": "pub mod cry;", "replacement": "pub mod cry;\npub mod other;"});
    let reply = done(reject(json!([other, line])));
    assert_eq!((&reply["validation"], &reply["impact"]["broken"]), (&json!([]), &json!([])), "{reply}");
}

#[test]
fn a_unified_diff_is_located_like_any_edit() {
    let server = Server::on(TEXTS);
    let all = "diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -40,9 +40,2 @@ nothing\n one\n-two\n+2\n\
               three\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+made\n+here\n\\ No newline at end of file\n\
               diff --git a/b.txt b/b.txt\ndeleted file mode 100644\n--- a/b.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-alpha\n-beta\n\
               diff --git a/dir/c.txt b/dir/e.txt\nrename from dir/c.txt\nrename to dir/e.txt\n--- a/dir/c.txt\n\
               +++ b/dir/e.txt\n@@ -1,3 +1,3 @@\n x\n-y\n+Y\n z\n--- a/d.txt\n+++ b/d.txt\n@@ -1 +1 @@\n-last\n\
               \\ No newline at end of file\n+last\n+line\n";
    let before = tree(&server);
    let (status, dry) = patch(&server, DIFF, "?dry_run=true", all);
    assert_eq!((status, &dry["applied"]), (200, &json!(false)), "{dry}");
    assert_eq!(tree(&server), before);
    let reply = done(patch(&server, DIFF, "", all));
    assert_eq!(server.home.read("a.txt"), "one\n2\nthree\n");
    assert_eq!(server.home.read("new.txt"), "made\nhere");
    assert_eq!(server.home.read("dir/e.txt"), "x\r\nY\r\nz\r\n");
    assert_eq!(server.home.read("d.txt"), "last\nline\n");
    assert!(!server.home.root().join("b.txt").exists() && !server.home.root().join("dir/c.txt").exists());
    done(server.post("/v1/undo", &json!({"change": reply["change"]})));
    assert_eq!(tree(&server), before);

    // What semdex prints as a diff can be sent.
    let (_, shown) = edit(
        &server,
        &json!({"edits": [
        {"file": "a.txt", "search_context": "three", "replacement": "3\nfour"},
        {"file": "dir/c.txt", "move_to": "c.txt"}, {"file": "dir/c.txt", "search_context": "z", "replacement": "Z"},
        {"file": "d.txt", "delete": true}, {"file": "n", "content": "1\n"}], "dry_run": true}),
    );
    let printed: String = shown["files"].as_array().unwrap().iter().map(|it| it["diff"].as_str().unwrap()).collect();
    done(patch(&server, DIFF, "", &printed));
    assert_eq!(
        (server.home.read("a.txt"), server.home.read("c.txt")),
        ("one\ntwo\n3\nfour\n".into(), "x\r\ny\r\nZ\r\n".into())
    );

    // A deleted file that somebody else has changed stays.
    server.home.write("b.txt", "alpha\nbeta\ngamma\n");
    let deletes = "--- a/b.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-alpha\n-beta\n";
    refused(patch(&server, DIFF, "", deletes), 409, "hash_mismatch", "other lines than the patch deletes");
    assert_eq!(server.home.read("b.txt"), "alpha\nbeta\ngamma\n");
    let missed = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n@@ -3 +3 @@\n-nowhere at all\n+x\n";
    refused(patch(&server, DIFF, "", missed), 409, "no_match", "line 6 of the patch: ");
    refused(
        patch(&server, DIFF, "", "--- a/b.txt\n+++ b/b.txt\n@@ -1,0 +1 @@\n+x\n"),
        400,
        "invalid_request",
        "line 3 of the patch",
    );
    refused(patch(&server, DIFF, "", deletes.replace("b.txt", "a b").as_str()), 404, "unknown_file", "a b");
    let cut_off = "--- a/b.txt\n+++ b/b.txt\n@@ -1,2 +1,4 @@\n alpha\n-beta\n+beta(ar";
    refused(patch(&server, DIFF, "", cut_off), 400, "invalid_request", "may be cut off");
    assert_eq!(server.home.read("b.txt"), "alpha\nbeta\ngamma\n");

    // Only the last newline changes.
    const MARK: &str = "\\ No newline at end of file\n";
    for (ends, text) in [("\n", "x\ny"), ("", "x\ny\n"), ("\r\n", "x\r\ny")] {
        server.home.write("end.txt", text);
        let (before, after) = if ends.is_empty() { ("", MARK) } else { (MARK, "") };
        let diff = format!("--- a/end.txt\n+++ b/end.txt\n@@ -1,2 +1,2 @@\n x\n-y\n{before}+y\n{after}");
        done(patch(&server, DIFF, "", &diff));
        assert_eq!(server.home.read("end.txt"), format!("{}{ends}", text.trim_end()), "{diff}");
    }
}

#[test]
fn a_line_number_is_never_what_decides_alone() {
    let text = "fn f() {\n    go();\n}\n\nfn g() {\n    go();\n}\n";
    let server = Server::on(&[("x.txt", text)]);
    let hunk = |head: &str| format!("--- a/x.txt\n+++ b/x.txt\n{head}\n-    go();\n+    stop();\n");
    for ambiguous in ["@@", "@@ -3 +3 @@", "@@ -5 +5 @@", "@@ -99 +99 @@"] {
        refused(patch(&server, DIFF, "", &hunk(ambiguous)), 409, "ambiguous", "");
    }
    for (head, first) in
        [("@@ -2 +2 @@", true), ("@@ -6 +6 @@", false), ("@@ fn g() {", false), ("@@ -44 +44 @@ fn f() {", true)]
    {
        let reply = done(patch(&server, DIFF, "", &hunk(head)));
        let at = if first { text.find("go") } else { text.rfind("go") }.unwrap();
        assert_eq!(server.home.read("x.txt"), format!("{}stop{}", &text[..at], &text[at + 2..]), "{head}");
        done(server.post("/v1/undo", &json!({"change": reply["change"]})));
    }
    // In the form of Codex the place is below the line after `@@`, or nowhere.
    let below = |head: &str, old: &str| {
        format!("*** Begin Patch\n*** Update File: x.txt\n@@ {head}\n-{old}\n+new\n*** End Patch\n")
    };
    done(patch(&server, CODEX, "", &below("fn g()", "    go();")));
    assert_eq!(server.home.read("x.txt"), "fn f() {\n    go();\n}\n\nfn g() {\nnew\n}\n");
    refused(patch(&server, CODEX, "", &below("fn g()", "    go();")), 409, "no_match", "not below `@@ fn g()`");
    refused(patch(&server, CODEX, "", &below("fn h()", "}")), 409, "ambiguous", "");
}

#[test]
fn the_form_of_codex_is_the_same_change() {
    let server = Server::on(TEXTS);
    let all = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Add File: new/n.txt\n+made\n+\n+here\n\
               *** Delete File: b.txt\n*** Update File: dir/c.txt\n*** Move to: dir/e.txt\n@@ x\n-y\n+Y\n*** Update File: d.txt\n\
               +more\n*** End Patch\n";
    let before = tree(&server);
    let reply = done(patch(&server, CODEX, "", all));
    assert_eq!(server.home.read("a.txt"), "one\n2\nthree\n");
    assert_eq!(server.home.read("new/n.txt"), "made\n\nhere\n");
    assert_eq!(server.home.read("dir/e.txt"), "x\r\nY\r\nz\r\n");
    assert!(server.home.read("d.txt").starts_with("last\n") && server.home.read("d.txt").ends_with("more\n"));
    assert!(!server.home.root().join("b.txt").exists());
    done(server.post("/v1/undo", &json!({"change": reply["change"]})));
    assert_eq!(tree(&server), before);
    refused(
        patch(&server, CODEX, "", "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n"),
        409,
        "already_exists",
        "`a.txt` exists",
    );
    refused(
        patch(
            &server,
            CODEX,
            "",
            "*** Begin Patch\n*** Delete File: a.txt\n*** Add File: b.txt\n+fn moved() {\n+    let",
        ),
        400,
        "invalid_request",
        "without `*** End Patch`",
    );
    refused(
        patch(&server, CODEX, "", "*** Begin Patch\n*** Update File: a.txt\n@@\n x\n"),
        400,
        "invalid_request",
        "line 3 of the patch",
    );
}

#[test]
fn a_patch_comes_by_every_interface() {
    let server = Server::on(TEXTS);
    let diff = |from: &str, to: &str| format!("--- a/a.txt\n+++ b/a.txt\n@@\n-{from}\n+{to}\n");
    let codex =
        |from: &str, to: &str| format!("*** Begin Patch\n*** Update File: a.txt\n@@\n-{from}\n+{to}\n*** End Patch\n");
    let block = |from: &str, to: &str| format!("a.txt\n<<<<<<< SEARCH\n{from}\n=======\n{to}\n>>>>>>> REPLACE\n");
    // In JSON the text shows its form.
    for (at, patch) in [diff("one", "1"), codex("1", "one"), block("one", "1")].into_iter().enumerate() {
        done(edit(&server, &json!({"patch": patch})));
        assert!(server.home.read("a.txt").starts_with(["1\n", "one\n"][at % 2]));
    }
    refused(
        edit(&server, &json!({"patch": diff("1", "one"), "file": "a.txt"})),
        400,
        "invalid_request",
        "`file` cannot be combined with `patch`",
    );
    let (failed, text) = call(&server, NEWEST, "edit", json!({"patch": diff("1", "one")}));
    assert!(!failed && server.home.read("a.txt").starts_with("one\n"), "{text}");
    // From standard input the command line reads each form, and by a flag from a file.
    let given = |arguments: &[&str], input: &str| {
        server.home.write("../input", input);
        let mut command = server.home.semdex();
        command.args(arguments).current_dir(server.home.root());
        command.stdin(Stdio::from(fs::File::open(server.home.root().join("../input")).unwrap()));
        let ended = run(&mut command);
        assert_eq!(ended.code, Some(0), "{arguments:?} {}{}", ended.output, ended.errors);
    };
    given(&["edit"], &diff("one", "1"));
    assert!(server.home.read("a.txt").starts_with("1\n"));
    given(&["edit"], &codex("1", "one"));
    given(&["edit", "--diff", "-"], &diff("one", "1"));
    given(&["edit", "--apply-patch", "-"], &codex("1", "one"));
    given(&["edit", "--dry-run"], &block("one", "1"));
    assert!(server.home.read("a.txt").starts_with("one\n"));
    given(&["edit", "a.txt", "--move-to", "m.txt"], "");
    given(&["edit", "b.txt", "--delete"], "");
    assert!(server.home.read("m.txt").starts_with("one\n") && !server.home.root().join("b.txt").exists());
}

#[test]
fn an_agent_may_send_arguments_as_text() {
    let server = Server::on(TEXTS);
    let edits = json!([{"file": "a.txt", "search_context": "two", "replacement": "2", "symbol": "", "near_line": "2"}]);
    let (failed, text) = call(
        &server,
        NEWEST,
        "edit",
        json!({"edits": edits.to_string(), "dry_run": "false", "fix": "", "autofix": 95.0}),
    );
    assert!(!failed && server.home.read("a.txt") == "one\n2\nthree\n", "{text}");
    for noted in
        ["note: ", "`edits` from JSON text", "`edits[0].near_line` \"2\" as 2", "`dry_run` \"false\" as false", "`fix`"]
    {
        assert!(text.contains(noted), "{noted}: {text}");
    }
    let (_, plain) =
        call(&server, NEWEST, "edit", json!({"file": "a.txt", "search_context": "2", "replacement": "two"}));
    assert!(!plain.contains("note: "), "{plain}");
    let (failed, text) = call(
        &server,
        NEWEST,
        "edit",
        json!({"file": "a.txt", "search_context": "two", "replacement": "2", "dry_run": "yes"}),
    );
    assert!(failed && text.contains("`dry_run`"), "{text}");
    // Over HTTP the document gives the types.
    refused(edit(&server, &json!({"edits": edits.to_string()})), 400, "invalid_request", "`edits`");
    refused(edit(&server, &json!({"edits": edits})), 400, "invalid_request", "near_line");
    let (_, opened) = call(&server, NEWEST, "describe", json!({"file": "b.txt"}));
    let (_, full) = server.post("/v1/describe", &json!({"file": "b.txt"}));
    let hash = full["file"]["hash"].as_str().unwrap();
    assert!(opened.contains(&format!("hash `{}`", &hash[..12])), "{opened}");
    let by_hash = json!({"file": "b.txt", "search_context": "beta", "replacement": "b", "expected_hash": &hash[..12]});
    assert!(!call(&server, NEWEST, "edit", by_hash).0);
}
