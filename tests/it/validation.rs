//! A new text is checked against the existing code before it is written.

use serde_json::{Value, json};

use crate::support::{RUST, Server};

const GO: &[(&str, &str)] = &[
    ("go.mod", "module example.com/site\n\ngo 1.22\n"),
    (
        "auth/auth.go",
        "// Package auth lets people in.\npackage auth\n\n// Login lets one in.\nfunc Login(name string) bool { return name != \"\" }\n",
    ),
    ("web/web.go", "package web\n\nimport \"example.com/site/auth\"\n\nfunc In() bool { return auth.Login(\"a\") }\n"),
];

#[track_caller]
fn finding<'a>(reply: &'a Value, kind: &str) -> &'a Value {
    let findings = reply["validation"].as_array().unwrap_or_else(|| panic!("{reply}"));
    findings.iter().find(|it| it["kind"] == kind).unwrap_or_else(|| panic!("no {kind}: {reply}"))
}

#[test]
fn go_is_validated() {
    let server = Server::on(GO);
    server.wait_ready();
    let content = "import (\n\t\"fmt\"\n\t\"example.com/site/auth\"\n\t\"example.com/site/ath\"\n)\n\n\
                   func Out() bool { return auth.SignIn(\"a\") || auth.Login(\"a\", 2) || ath.X() }\n";
    let (status, reply) = server.post("/v1/write", &json!({"name": "web/out.go", "content": content, "dry_run": true}));
    assert_eq!((status, &reply["applied"]), (200, &json!(false)), "{reply}");
    let unknown = finding(&reply, "unknown_symbol");
    assert_eq!((&unknown["text"], &unknown["suggestions"]), (&json!("auth.SignIn"), &json!(["Login"])), "{reply}");
    assert_eq!(unknown["detail"], "you used `auth.SignIn`, but package `auth` only exports `Login`");
    assert_eq!(finding(&reply, "unknown_import")["suggestions"][0], "example.com/site/auth", "{reply}");
    assert_eq!(finding(&reply, "unused_import")["text"], "fmt", "{reply}");
    assert_eq!(finding(&reply, "wrong_arguments")["file"], "web/out.go", "{reply}");

    let wrong = json!({"name": "web/out.go", "content": "import \"example.com/site/auth\"\n\nvar X = auth.SignIn\n",
        "on_break": "reject"});
    let (status, reply) = server.post("/v1/write", &wrong);
    assert_eq!((status, &reply["code"]), (422, &json!("would_break")), "{reply}");
    assert!(!server.home.root().join("web/out.go").exists());

    // The package clause matches the directory.
    let (_, reply) =
        server.post("/v1/write", &json!({"name": "auth/more.go", "content": "// Two is more.\nconst Two = 2\n"}));
    assert_eq!((&reply["applied"], &reply["validation"]), (&json!(true), &json!([])), "{reply}");
    assert_eq!(server.home.read("auth/more.go"), "package auth\n\n// Two is more.\nconst Two = 2\n");
}

#[test]
fn rust_is_validated() {
    let server = Server::on(RUST);
    server.wait_ready();
    let append = |content: &str, on_break: &str| {
        server.post("/v1/write", &json!({"name": "src/lib.rs", "content": content, "on_break": on_break}))
    };
    let before = server.home.read("src/lib.rs");
    let wrong = "use crate::shout::shuot;\n\npub fn twice() -> String {\n    greet(\"a\", 2)\n}\n";
    let (status, reply) = append(wrong, "reject");
    assert_eq!((status, &reply["code"]), (422, &json!("would_break")), "{reply}");
    assert_eq!(server.home.read("src/lib.rs"), before);
    let (status, reply) = append(wrong, "report");
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    let import = finding(&reply, "unknown_import");
    assert_eq!(
        (&import["text"], &import["suggestions"][0]),
        (&json!("crate::shout::shuot"), &json!("greeter::shout::shout")),
        "{reply}"
    );
    assert_eq!(finding(&reply, "wrong_arguments")["line"], 17, "{reply}");
}

#[test]
fn a_new_rust_file_is_declared() {
    let server = Server::on(RUST);
    server.wait_ready();
    let write = |declare: bool| json!({"name": "src/calm.rs", "content": "pub fn calm() {}\n", "dry_run": !declare, "declare": declare});
    let (_, reply) = server.post("/v1/write", &write(false));
    let finding = finding(&reply, "undeclared");
    assert_eq!((&finding["file"], &finding["text"]), (&json!("src/lib.rs"), &json!("mod calm;")), "{reply}");
    let (_, reply) = server.post("/v1/write", &write(true));
    assert_eq!((&reply["applied"], &reply["validation"]), (&json!(true), &json!([])), "{reply}");
    assert!(server.home.read("src/lib.rs").contains("pub mod shout;\nmod calm;\n"));
    let (_, found) = server.get("/v1/symbols?query=calm");
    assert!(found.to_string().contains("greeter::calm::calm"), "{found}");
}

#[test]
fn what_declares_a_new_file_ends_as_the_lines_around_it() {
    let lib = "mod shout;\n\npub fn one() {\r\n}\r\n";
    let server = Server::on(&[RUST[0], ("src/lib.rs", lib), RUST[2]]);
    let body = json!({"name": "src/calm.rs", "content": "pub fn calm() {}\n", "declare": true});
    let (status, reply) = server.post("/v1/write", &body);
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    assert_eq!(server.home.read("src/lib.rs"), lib.replace("mod shout;\n", "mod shout;\nmod calm;\n"));
}
