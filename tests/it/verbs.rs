//! The four verbs and their helpers in the contract's forms, for both languages of one workspace.

use serde_json::{Value, json};

use crate::support::Server;

/// Of `tests/fixtures/greeters`.
macro_rules! fixture {
    ($($file:literal),*) => { &[$(($file, include_str!(concat!("../fixtures/greeters/", $file)))),*] };
}

const GREETERS: &[(&str, &str)] = fixture![
    "rust/Cargo.toml",
    "rust/src/lib.rs",
    "rust/src/shout.rs",
    "go/go.mod",
    "go/greet.go",
    "go/polite/polite.go"
];

fn greeters() -> Server {
    let server = Server::on(GREETERS);
    server.wait_ready();
    server
}

/// A good answer, whole.
#[track_caller]
fn whole((status, reply): (u16, Value)) -> Value {
    assert_eq!(status, 200, "{reply}");
    assert_eq!(
        (&reply["meta"]["complete"], &reply["meta"]["workspace"]),
        (&json!(true), &json!("workspace")),
        "{reply}"
    );
    assert!(reply["meta"]["elapsed_ms"].as_f64().unwrap() > 0.0);
    reply
}

fn named<'a>(symbols: &'a Value, name: &str) -> &'a Value {
    let found = symbols.as_array().unwrap().iter().find(|it| it["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {symbols}"))
}

/// The fields of an object, in order.
fn fields(object: &Value) -> Vec<&str> {
    object.as_object().unwrap_or_else(|| panic!("{object}")).keys().map(String::as_str).collect()
}

#[test]
fn files_symbols_and_usages_are_told() {
    let server = greeters();
    for (file, language, package, name, path, user) in [
        ("rust/src/lib.rs", "rust", "greeter", "greet", "greeter::greet", "rust/src/shout.rs"),
        ("go/greet.go", "go", "example.com/greeter", "Greet", "example.com/greeter.Greet", "go/polite/polite.go"),
    ] {
        let opened = whole(server.post("/v1/open", &json!({"file": file, "wait_ms": 60_000})));
        assert_eq!((&opened["language"], &opened["package"]), (&json!(language), &json!(package)), "{opened}");
        let text = server.home.read(file);
        assert_eq!(opened["hash"], json!(blake3::hash(text.as_bytes()).to_hex().as_str()));
        assert_eq!(opened["lines"], text.lines().count());
        assert!(opened["skeleton"].as_str().unwrap().contains("{ /* "), "{opened}");
        let symbol = named(&opened["symbols"], name);
        assert_eq!(symbol["path"], path);
        assert!(symbol["usages"]["total"].as_u64().unwrap() >= 2, "{symbol}");
        let users: Vec<&Value> = opened["downstream"].as_array().unwrap().iter().map(|it| &it["file"]).collect();
        assert_eq!(users, [user], "{opened}");
        let place = |it: &Value| it["start"].as_u64().unwrap() as usize..it["end"].as_u64().unwrap() as usize;
        assert_eq!(&text[place(&symbol["name_at"])], name);

        let described = whole(server.post("/v1/describe", &json!({"symbol": path})));
        assert_eq!((&described["kind"], &described["symbol"]["path"]), (&json!("symbol"), &json!(path)));
        assert_eq!(described["source"], text[place(symbol)]);
        assert_eq!(described["usages"]["total"], symbol["usages"]["total"]);

        let used = whole(server.get(&format!("/v1/usages?symbol={path}")));
        let wanted = ["symbol", "total", "files", "items", "possible", "next_cursor", "meta"];
        assert!(wanted.iter().all(|it| fields(&used).contains(it)), "{used}");
        for usage in used["items"].as_array().unwrap() {
            let text = server.home.read(usage["file"].as_str().unwrap());
            assert_eq!(&text[place(usage)], name, "{usage}");
        }
        let one = server.get(&format!("/v1/usages?symbol={path}&limit=1")).1;
        let cursor = one["next_cursor"].as_str().unwrap();
        let next = server.get(&format!("/v1/usages?symbol={path}&limit=1&cursor={cursor}")).1;
        assert_eq!((one["items"].as_array().unwrap().len(), &next["items"][0]), (1, &used["items"][1]));

        let offset = symbol["name_at"]["start"].as_u64().unwrap();
        let at = whole(server.get(&format!("/v1/symbols/at?file={file}&offset={offset}")));
        assert_eq!((&at["symbol"]["path"], &at["definition"]["file"]), (&json!(path), &json!(file)), "{at}");
        let tree = whole(server.get(&format!("/v1/symbols?file={file}")));
        assert_eq!(named(&tree["symbols"], name)["path"], path);
        let found = whole(server.get(&format!("/v1/symbols?query={}", name.to_lowercase())));
        assert!(found["symbols"].as_array().unwrap().iter().any(|it| it["path"] == path), "{found}");
    }
    let clean = whole(server.get("/v1/diagnostics"));
    assert_eq!((&clean["total"], &clean["counts"]["error"]), (&json!(0), &json!(0)), "{clean}");
}

#[test]
fn a_change_tells_what_it_breaks_and_lands_whole() {
    let server = greeters();
    for (file, search, replacement, user) in [
        ("rust/src/lib.rs", "pub fn greet(name: &str)", "pub fn greet(name: &str, _times: usize)", "rust/src/shout.rs"),
        ("go/greet.go", "func Greet(name string)", "func Greet(name string, times int)", "go/polite/polite.go"),
    ] {
        let before = server.home.read(file);
        let edit = |dry_run: bool, on_break: &str| {
            let body = json!({"file": file, "search_context": search, "replacement": replacement, "dry_run": dry_run,
                "on_break": on_break, "wait_ms": 60_000});
            server.post("/v1/edit", &body)
        };
        let (status, dry) = edit(true, "report");
        assert_eq!((status, &dry["applied"], &dry["change"]), (200, &json!(false), &Value::Null), "{dry}");
        let broken: Vec<&str> =
            dry["impact"]["broken"].as_array().unwrap().iter().map(|it| it["file"].as_str().unwrap()).collect();
        assert!(broken.contains(&file) && broken.contains(&user), "{dry}");
        let (status, refused) = edit(false, "reject");
        assert_eq!((status, &refused["code"]), (422, &json!("would_break")), "{refused}");
        assert!(!refused["impact"]["broken"].as_array().unwrap().is_empty());
        assert_eq!(server.home.read(file), before);

        let (status, real) = edit(false, "report");
        assert_eq!((status, &real["applied"]), (200, &json!(true)), "{real}");
        let after = before.replace(search, replacement);
        assert_eq!(server.home.read(file), after);
        assert_eq!(real["files"][0]["hash"], json!(blake3::hash(after.as_bytes()).to_hex().as_str()));
        assert_eq!(real["files"][0]["old_hash"], json!(blake3::hash(before.as_bytes()).to_hex().as_str()));
        assert_eq!((&real["edits"][0]["strategy"], &real["edits"][0]["file"]), (&json!("exact"), &json!(file)));
        assert!(real["change"].is_string() && !real["impact"]["broken"].as_array().unwrap().is_empty(), "{real}");
        // Breakage is reported once.
        let place = |it: &Value| (it["file"].clone(), it["start"].clone(), it["code"].clone());
        let broken: Vec<_> = real["impact"]["broken"].as_array().unwrap().iter().map(place).collect();
        let new = real["diagnostics"]["new"].as_array().unwrap();
        assert!(new.iter().all(|it| !broken.contains(&place(it))), "{real}");

        let fixed =
            server.post("/v1/write", &json!({"name": file, "content": before, "mode": "overwrite", "wait_ms": 60_000}));
        assert_eq!((fixed.0, &fixed.1["files"][0]["created"]), (200, &json!(false)), "{}", fixed.1);
        assert!(!fixed.1["diagnostics"]["fixed"].as_array().unwrap().is_empty(), "{}", fixed.1);
        assert_eq!(server.home.read(file), before);
    }
}
