//! Go code that only another build compiles: for other systems, with tags, and programs that no build has.

use serde_json::{Value, json};

use crate::support::{Home, Server};

const MODULE: (&str, &str) = ("go.mod", "module example.com/one\n\ngo 1.24\n");

const FILES: &[(&str, &str)] = &[
    ("one.go", "package one\n\nfunc Base() int {\n\treturn 1\n}\n\nfunc Plain() int {\n\treturn Home()\n}\n"),
    (
        "home_unix.go",
        "//go:build unix\n\npackage one\n\nfunc Home() int {\n\treturn help()\n}\n\nfunc help() int { return 1 }\n",
    ),
    (
        "home_windows.go",
        "package one\n\nfunc Home() int {\n\treturn Base() + drive()\n}\n\nfunc drive() int { return 2 }\n",
    ),
    ("more_windows.go", "package one\n\nvar _ = Home() + drive()\n"),
    (
        "deep_test.go",
        "//go:build integration\n\npackage one\n\nimport \"testing\"\n\nfunc TestDeep(t *testing.T) {\n\tif Base() != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
    ),
    (
        "x/gen.go",
        "//go:build ignore\n\npackage main\n\nimport \"example.com/one\"\n\nfunc main() {\n\tprintln(one.Base())\n}\n",
    ),
    ("never.go", "//go:build ignore && !go1.4\n\npackage one\n\nvar _ = help()\n"),
];

fn serve(files: &[(&str, &str)]) -> Server {
    let home = Home::with(&[MODULE]);
    files.iter().for_each(|(name, text)| home.write(name, text));
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    server
}

/// Waits until the further builds are read.
fn wait_for_builds(server: &Server, symbol: &str) -> Value {
    let path = format!("/v1/usages?symbol={symbol}");
    server.wait_for(|it| {
        let (status, reply) = it.get(&path);
        assert_eq!(status, 200, "{reply}");
        let missing = reply["meta"]["missing"].as_array().unwrap();
        reply["meta"].get("builds").is_some() && !missing.iter().any(|it| it["code"] == "indexing")
    });
    server.get(&path).1
}

fn places(list: &Value) -> Vec<String> {
    let place = |it: &Value| {
        let build = it["build"].as_str().map(|it| format!(" {it}")).unwrap_or_default();
        format!("{}:{}{build}", it["file"].as_str().unwrap(), it["line"])
    };
    let mut places: Vec<String> = list.as_array().unwrap_or_else(|| panic!("{list}")).iter().map(place).collect();
    places.sort();
    places
}

#[test]
#[cfg(target_os = "linux")]
fn usages_cover_systems_tags_and_programs() {
    let server = serve(FILES);
    let reply = wait_for_builds(&server, "example.com/one.Base");
    assert_eq!(
        places(&reply["items"]),
        ["deep_test.go:8 tags=integration", "home_windows.go:4 GOOS=windows", "x/gen.go:8 tags=ignore"],
        "{reply}"
    );
    assert_eq!((&reply["meta"]["complete"], &reply["total"]), (&json!(true), &json!(3)), "{reply}");
    assert_eq!(reply["meta"]["builds"], json!(["tags=integration", "GOOS=windows", "tags=ignore"]), "{reply}");
    // Twins are one question.
    let all = ["more_windows.go:3 GOOS=windows", "one.go:8"];
    for twin in ["example.com/one.Home", "home_windows.go@example.com/one.Home"] {
        let reply = wait_for_builds(&server, twin);
        assert_eq!(
            (places(&reply["items"]), &reply["meta"]["complete"]),
            (all.map(str::to_owned).to_vec(), &json!(true)),
            "{reply}"
        );
    }
    // Declared in one build alone.
    let reply = wait_for_builds(&server, "example.com/one.drive");
    assert_eq!(
        places(&reply["items"]),
        ["home_windows.go:4 GOOS=windows", "more_windows.go:3 GOOS=windows"],
        "{reply}"
    );
    // One build alone.
    for (build, all) in [
        ("default", &[][..]),
        ("GOOS=windows", &["home_windows.go:4 GOOS=windows"]),
        ("tags=ignore", &["x/gen.go:8 tags=ignore"]),
    ] {
        let (status, reply) = server.get(&format!("/v1/usages?symbol=example.com/one.Base&build={build}"));
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
        assert_eq!(places(&reply["items"]), all, "{reply}");
    }
    let (status, reply) = server.get("/v1/usages?symbol=example.com/one.help&build=default");
    assert_eq!(
        (status, &reply["possible_total"], &reply["meta"]["complete"]),
        (200, &json!(0), &json!(true)),
        "{reply}"
    );
    let (status, reply) = server.get("/v1/usages?symbol=example.com/one.Base&build=GOOS=plan9");
    assert_eq!((status, &reply["code"]), (400, &json!("invalid_request")), "{reply}");
    // A line that no build compiles.
    let reply = wait_for_builds(&server, "example.com/one.help");
    assert_eq!(
        (places(&reply["possible"]), &reply["meta"]["complete"]),
        (vec!["never.go:5".to_owned()], &json!(false)),
        "{reply}"
    );
    assert_eq!(reply["possible"][0]["reason"], "cfg", "{reply}");
    let (status, reply) = server.get("/v1/callers?symbol=example.com/one.Base");
    let callers: Vec<&str> =
        reply["items"].as_array().unwrap().iter().map(|it| it["symbol"].as_str().unwrap_or_default()).collect();
    assert_eq!((status, callers.len(), &reply["meta"]["complete"]), (200, 3, &json!(true)), "{reply}");
}

#[test]
#[cfg(target_os = "linux")]
fn impact_says_what_breaks_in_other_builds() {
    let server = serve(FILES);
    wait_for_builds(&server, "example.com/one.Base");
    let edit = json!({"file": "one.go", "search_context": "Base() int", "replacement": "Base(by int) int"});
    let (status, reply) = server.post("/v1/edit", &json!({"edits": [edit], "dry_run": true}));
    assert_eq!(
        (status, places(&reply["impact"]["broken"])),
        (
            200,
            vec![
                "deep_test.go:8 tags=integration".to_owned(),
                "home_windows.go:4 GOOS=windows".to_owned(),
                "x/gen.go:8 tags=ignore".to_owned()
            ]
        ),
        "{reply}"
    );
    // The code of another build is checked too.
    let wrong = json!({"file": "home_windows.go", "search_context": "return Base() + drive()", "replacement": "return Base() + drove()"});
    let (status, reply) = server.post("/v1/edit", &json!({"edits": [wrong], "dry_run": true}));
    assert_eq!(
        (status, places(&reply["impact"]["broken"])),
        (200, vec!["home_windows.go:4 GOOS=windows".to_owned()]),
        "{reply}"
    );
    assert_eq!(reply["meta"]["complete"], true, "{reply}");
    let right = json!({"file": "home_windows.go", "search_context": "return Base() + drive()", "replacement": "return Base() - drive()"});
    let (_, reply) = server.post("/v1/edit", &json!({"edits": [right], "dry_run": true}));
    assert_eq!((places(&reply["impact"]["broken"]), &reply["meta"]["complete"]), (Vec::new(), &json!(true)), "{reply}");
    // Only the default build counts.
    let edit = json!({"file": "one.go", "search_context": "Base() int", "replacement": "Base(by int) int"});
    let (status, reply) = server.post("/v1/edit", &json!({"edits": [edit], "on_break": "reject"}));
    assert_eq!(status, 200, "{reply}");
}

/// A workspace compiles in each of its builds.
#[track_caller]
fn compiles(server: &Server) {
    let vet = |system: &str, arguments: &[&str]| {
        let done = std::process::Command::new("go")
            .args(["vet", "-unreachable"])
            .args(arguments)
            .current_dir(server.home.root())
            .envs([("GOOS", system), ("CGO_ENABLED", "0"), ("GOFLAGS", "")])
            .output()
            .unwrap();
        assert!(done.status.success(), "{system} {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    vet("linux", &["./..."]);
    vet("windows", &["./..."]);
    vet("linux", &["-tags", "integration", "./..."]);
    vet("linux", &["x/gen.go"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_rename_changes_all_builds() {
    let server = serve(&FILES[..6]);
    compiles(&server);
    wait_for_builds(&server, "example.com/one.Base");
    for (symbol, name) in [
        ("example.com/one.Base", "Ground"),
        ("example.com/one.Home", "Den"),
        ("home_windows.go@example.com/one.Den", "Lair"),
        ("example.com/one.drive", "letter"),
    ] {
        let body = json!({"symbol": symbol, "new_name": name});
        let (status, reply) = server.post("/v1/rename", &body);
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
        compiles(&server);
        wait_for_builds(&server, &format!("example.com/one.{name}"));
    }
    let (windows, unix) = (server.home.read("home_windows.go"), server.home.read("home_unix.go"));
    assert!(
        windows.contains("func Lair() int {\n\treturn Ground() + letter()") && unix.contains("func Lair()"),
        "{windows}"
    );
    // A name that another build has.
    let (status, reply) = server.post("/v1/rename", &json!({"symbol": "example.com/one.help", "new_name": "letter"}));
    assert_eq!((status, &reply["code"]), (422, &json!("rename_refused")), "{reply}");
}

#[test]
#[cfg(target_os = "linux")]
fn methods_and_embedded_types_of_other_builds_are_renamed() {
    let server = serve(&[
        (
            "one.go",
            "package one\n\ntype Kind interface {\n\tRun() int\n}\n\ntype Base struct{ Size int }\n\ntype Wide struct {\n\tBase\n\tExtra int\n}\n",
        ),
        (
            "one_windows.go",
            "package one\n\ntype Real struct{}\n\nfunc (Real) Run() int {\n\treturn Wide{}.Base.Size\n}\n\nvar _ Kind = Real{}\n",
        ),
        ("x/gen.go", "//go:build ignore\n\npackage main\n\nfunc main() {}\n"),
    ]);
    wait_for_builds(&server, "example.com/one.Kind");
    for (symbol, name) in [("one.Kind.Run", "Go"), ("one.Base", "Ground"), ("one.Ground.Size", "Length")] {
        let (status, reply) = server.post("/v1/rename", &json!({"symbol": symbol, "new_name": name}));
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
        compiles(&server);
        wait_for_builds(&server, "example.com/one.Kind");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_edit_is_followed_in_all_builds() {
    let server = serve(FILES);
    wait_for_builds(&server, "example.com/one.drive");
    let edit =
        json!({"edits": [{"file": "more_windows.go", "search_context": "Home() + drive()", "replacement": "Home()"}]});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!(status, 200, "{reply}");
    let reply = wait_for_builds(&server, "example.com/one.drive");
    assert_eq!(places(&reply["items"]), ["home_windows.go:4 GOOS=windows"], "{reply}");
    // A new build.
    server.home.write("moon.go", "//go:build moon\n\npackage one\n\nvar _ = Base()\n");
    server.wait_for(|it| {
        places(&it.get("/v1/usages?symbol=example.com/one.Base").1["items"])
            .iter()
            .any(|it| it.starts_with("moon.go:5"))
    });
}

#[test]
#[cfg(target_os = "linux")]
fn the_configuration_lists_builds() {
    let home = Home::with(&[MODULE, ("semdex.toml", "[go]\nbuilds = [{ goos = \"windows\" }]\n")]);
    FILES.iter().for_each(|(name, text)| home.write(name, text));
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let reply = wait_for_builds(&server, "example.com/one.Base");
    assert_eq!(
        (places(&reply["items"]), &reply["meta"]["builds"]),
        (vec!["home_windows.go:4 GOOS=windows".to_owned()], &json!(["GOOS=windows"])),
        "{reply}"
    );
    assert_eq!((&reply["possible_total"], &reply["meta"]["complete"]), (&json!(2), &json!(false)), "{reply}");
    server.home.write("semdex.toml", "[go]\nbuilds = [\"default\"]\n");
    server.wait_for(|it| {
        let (_, reply) = it.get("/v1/usages?symbol=example.com/one.Base");
        (&reply["total"], &reply["possible_total"]) == (&json!(0), &json!(3))
    });
}
