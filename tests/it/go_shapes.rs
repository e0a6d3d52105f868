//! Go workspaces of unusual shapes: fields of generic types, files of other builds, modules joined by `replace`, methods
//! of interfaces, and changes with a manifest in them.

use serde_json::{Value, json};

use rustix::process::{Pid, Signal, kill_process};

use crate::language_servers::engine;
use crate::support::{Home, Server, sorted_places};

const MODULE: (&str, &str) = ("go.mod", "module example.com/one\n\ngo 1.24\n");

fn serve(files: &[(&str, &str)]) -> Server {
    let home = Home::with(&[MODULE]);
    files.iter().for_each(|(name, text)| home.write(name, text));
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    server
}

fn usages(server: &Server, symbol: &str) -> Value {
    let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}"));
    assert_eq!(status, 200, "{reply}");
    reply
}

fn rename(server: &Server, symbol: &str, new_name: &str) -> (u16, Value) {
    server.post("/v1/rename", &json!({"symbol": symbol, "new_name": new_name}))
}

/// Each file with all its text, so that a rename that should not be made is seen.
#[track_caller]
fn is_refused(server: &Server, symbol: &str, new_name: &str, candidates: &[&str]) -> Value {
    let (status, reply) = rename(server, symbol, new_name);
    assert_eq!((status, &reply["code"]), (422, &json!("rename_refused")), "{reply}");
    let found = reply.get("candidates").map(sorted_places).unwrap_or_default();
    assert_eq!(found, candidates, "{reply}");
    reply
}

#[track_caller]
fn is_renamed(server: &Server, symbol: &str, new_name: &str, files: &[&str]) {
    let (status, reply) = rename(server, symbol, new_name);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    let changed: Vec<&str> = reply["files"].as_array().unwrap().iter().map(|it| it["file"].as_str().unwrap()).collect();
    assert_eq!(changed, files, "{reply}");
    assert_eq!(server.get("/v1/diagnostics?severity=error").1["total"], 0);
}

const HOLD: &str = "package p\n\ntype Hold[T any] struct {\n\tValue T\n\tInner struct{ Deep T }\n}\n\n\
                    func (it Hold[T]) Get() T {\n\treturn it.Value\n}\n";
const OUTER: &str = "package p_test\n\nimport \"example.com/one/p\"\n\nvar outer = p.Hold[int]{Value: 1}\n";
const USER: &str = "package q\n\nimport \"example.com/one/p\"\n\ntype Wide struct{ p.Hold[int] }\n\n\
                    var Q = p.Hold[int]{Value: 3}.Inner.Deep + Wide{}.Value + Wide{}.Get()\n";

#[test]
fn fields_of_generic_types_are_found_in_every_package() {
    let server = serve(&[("p/p.go", HOLD), ("p/out_test.go", OUTER), ("q/q.go", USER)]);
    let all = ["p/out_test.go:5", "p/p.go:9", "q/q.go:7", "q/q.go:7"];
    for more in 0..3 {
        let reply = usages(&server, "p.Hold.Value");
        assert_eq!(
            (sorted_places(&reply["items"]).as_slice(), &reply["meta"]["complete"]),
            (&all.map(str::to_owned)[..], &json!(true)),
            "{reply}"
        );
        let reply = usages(&server, "p.Hold.Inner.Deep");
        assert_eq!(
            (sorted_places(&reply["items"]), &reply["meta"]["complete"]),
            (vec!["q/q.go:7".to_owned()], &json!(true)),
            "{reply}"
        );
        // A new file: gopls answers in place of the checker.
        server.home.write(&format!("p/more{more}.go"), "package p\n");
    }
    is_renamed(&server, "p.Hold.Value", "Worth", &["p/out_test.go", "p/p.go", "q/q.go"]);
}

const PICKED: &[(&str, &str)] = &[
    ("one.go", "package one\n\nfunc Base() int {\n\treturn 1\n}\n\nfunc Plain() int {\n\treturn Home()\n}\n"),
    ("extra.go", "//go:build !go1.4\n\npackage one\n\nfunc Extra() int {\n\treturn Base() + help()\n}\n"),
    (
        "x/gen.go",
        "//go:build ignore && !go1.4\n\npackage main\n\nimport \"example.com/one\"\n\nfunc main() {\n\tprintln(one.Base())\n}\n",
    ),
    ("home_linux.go", "package one\n\nfunc Home() int {\n\treturn help()\n}\n\nfunc help() int { return 1 }\n"),
    ("home_old.go", "//go:build !go1.4\n\npackage one\n\nfunc Home() int {\n\treturn 2\n}\n\nvar Taken = 1\n"),
];

#[test]
#[cfg(target_os = "linux")]
fn a_rename_that_files_of_no_build_need_is_refused() {
    let server = serve(PICKED);
    let tagged = ["extra.go:6", "x/gen.go:8"];
    let reply = usages(&server, "example.com/one.Base");
    assert_eq!(
        (sorted_places(&reply["possible"]), &reply["meta"]["complete"]),
        (tagged.map(str::to_owned).to_vec(), &json!(false))
    );
    is_refused(&server, "example.com/one.Base", "Ground", &tagged);
    is_refused(&server, "example.com/one.help", "assist", &["extra.go:6"]);
    // A declaration that another build would have in its place.
    let reply = usages(&server, "example.com/one.Home");
    assert_eq!(sorted_places(&reply["items"]), ["one.go:8"], "{reply}");
    assert_eq!(
        (sorted_places(&reply["possible"]), &reply["meta"]["complete"]),
        (vec!["home_old.go:5".to_owned()], &json!(false)),
        "{reply}"
    );
    is_refused(&server, "example.com/one.Home", "Den", &["home_old.go:5"]);
    let (status, reply) = rename(&server, "home_old.go@example.com/one.Home", "Den");
    assert_eq!(status, 422, "{reply}");
    // A name that is free in this build only.
    let reply = is_refused(&server, "example.com/one.Plain", "Taken", &[]);
    assert!(reply["detail"].as_str().unwrap().contains("taken in home_old.go:9"), "{reply}");
    is_renamed(&server, "example.com/one.Plain", "Simple", &["one.go"]);
    // As the refusal proposes.
    let body = json!({"symbol": "example.com/one.Base", "new_name": "Ground", "possible": "leave"});
    let (status, reply) = server.post("/v1/rename", &body);
    assert_eq!((status, sorted_places(&reply["possible"])), (200, tagged.map(str::to_owned).to_vec()), "{reply}");
    assert_eq!(reply["possible"][0]["reason"], "cfg", "{reply}");
    assert!(server.home.read("extra.go").contains("Base()") && server.home.read("one.go").contains("Ground()"));
}

#[test]
#[cfg(target_os = "linux")]
fn methods_and_embedded_types_of_no_build_prevent_a_rename() {
    let server = serve(&[
        (
            "one.go",
            "package one\n\ntype Kind interface {\n\tRun() int\n}\n\ntype Base struct{ Size int }\n\ntype Wide struct {\n\tBase\n\tExtra int\n}\n",
        ),
        (
            "one_old.go",
            "//go:build !go1.4\n\npackage one\n\ntype Real struct{}\n\nfunc (Real) Run() int {\n\treturn Wide{}.Base.Size\n}\n\nvar _ Kind = Real{}\n",
        ),
        ("two/two.go", "package two\n\ntype Two struct{}\n\nfunc (Two) Walk() {}\n"),
        (
            "two/two_old.go",
            "//go:build !go1.4\n\npackage two\n\nvar _ interface{ Walk() } = Two{}\n\nvar other struct{ Extra int }\n\nvar _ = other.Extra\n",
        ),
    ]);
    is_refused(&server, "one.Kind.Run", "Go", &["one_old.go:7"]);
    is_refused(&server, "one.Base", "Ground", &["one_old.go:8"]);
    is_refused(&server, "two.Two.Walk", "Go", &["two/two_old.go:5"]);
    is_refused(&server, "one.Base.Size", "Length", &["one_old.go:8"]);
    // Code that cannot name a member of the package.
    is_renamed(&server, "one.Wide.Extra", "More", &["one.go"]);
}

const JOINED: &[(&str, &str)] = &[
    (
        "go.mod",
        "module example.com/one\n\ngo 1.24\n\nrequire example.org/low v0.0.0\n\nreplace example.org/low => ./lib/low\n",
    ),
    (
        "p/p.go",
        "package p\n\nimport \"example.org/low\"\n\nfunc Use() int {\n\treturn low.Base() + low.Box{Size: 2}.Size\n}\n",
    ),
    (
        "p/run.go",
        "package p\n\nimport \"example.org/low\"\n\nfunc Run(kind low.Kind) int {\n\treturn kind.Run() + low.Box{}.Count()\n}\n",
    ),
    ("lib/low/go.mod", "module example.org/low\n\ngo 1.24\n"),
    (
        "lib/low/low.go",
        "package low\n\nfunc Base() int {\n\treturn 1\n}\n\ntype Box struct{ Size int }\n\nfunc (Box) Count() int { return 1 }\n\ntype Kind interface{ Run() int }\n",
    ),
];

#[test]
fn a_rename_reaches_modules_that_replace_joins() {
    let server = serve(JOINED);
    let both = ["lib/low/low.go", "p/p.go"];
    is_renamed(&server, "example.org/low.Base", "Ground", &both);
    is_renamed(&server, "example.org/low.Box.Size", "Length", &both);
    is_renamed(&server, "example.org/low.Box.Count", "Number", &["lib/low/low.go", "p/run.go"]);
    is_renamed(&server, "example.org/low.Kind.Run", "Go", &["lib/low/low.go", "p/run.go"]);
    // What an importer says of the type's members is not known between the two modules.
    let (status, reply) = rename(&server, "example.org/low.Box", "Crate");
    let files: Vec<&str> = reply["files"].as_array().unwrap().iter().map(|it| it["file"].as_str().unwrap()).collect();
    assert_eq!((status, files), (200, vec!["lib/low/low.go", "p/p.go", "p/run.go"]), "{reply}");
    assert_eq!(server.get("/v1/diagnostics?severity=error").1["total"], 0);
}

#[test]
fn a_method_of_an_interface_is_renamed_by_the_interface() {
    let server = serve(&[(
        "one.go",
        "package one\n\nimport \"io\"\n\ntype Kind interface {\n\tRun() int\n}\n\ntype One struct{}\n\nfunc (One) Run() int { return 1 }\n\n\
         func (One) Close() error { return nil }\n\nvar _ Kind = One{}\n\nvar _ io.Closer = One{}\n",
    )]);
    let reply = is_refused(&server, "One.Run", "Go", &[]);
    let detail = reply["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("`example.com/one.One.Run` implements `example.com/one.Kind.Run`: rename that method"),
        "{reply}"
    );
    assert_eq!(reply["suggestions"], json!(["example.com/one.Kind.Run"]), "{reply}");
    let reply = is_refused(&server, "One.Close", "End", &[]);
    assert!(reply["detail"].as_str().unwrap().contains("implements `io.Closer.Close`, which is not part"), "{reply}");
    is_renamed(&server, "Kind.Run", "Go", &["one.go"]);
}

const LOW: &[(&str, &str)] = &[
    ("p/p.go", "package p\n\nfunc Use() int {\n\treturn 1\n}\n"),
    ("lib/low/go.mod", "module example.org/low\n\ngo 1.24\n"),
    ("lib/low/low.go", "package low\n\nfunc Base() int {\n\treturn 1\n}\n"),
];

/// A change that requires a module and returns an expression of it.
fn requiring(manifest: &str, path: &str, returned: &str) -> Value {
    json!({
        "edits": [
            {"file": "go.mod", "content": format!("{}\n{manifest}", MODULE.1), "mode": "overwrite"},
            {"file": "p/p.go", "content": format!("package p\n\nimport \"{path}\"\n\nfunc Use() int {{\n\treturn {returned}\n}}\n"), "mode": "overwrite"},
        ],
        "on_break": "reject",
        "dry_run": true,
    })
}

#[test]
fn a_change_with_a_manifest_is_judged_by_the_modules_that_result() {
    let server = serve(LOW);
    let joined = "require example.org/low v0.0.0\n\nreplace example.org/low => ./lib/low\n";
    let edit = |body: &Value| server.post("/v1/edit", body);
    let (status, reply) = edit(&requiring(joined, "example.org/low", "low.Base()"));
    assert_eq!(
        (status, &reply["meta"]["complete"], &reply["impact"]["broken"]),
        (200, &json!(true), &json!([])),
        "{reply}"
    );
    let (status, reply) = edit(&requiring(joined, "example.org/low", "low.Base(1)"));
    assert_eq!((status, &reply["impact"]["broken"][0]["code"]), (422, &json!("WrongArgCount")), "{reply}");
    // A module that is not downloaded: nothing is known, and nothing is broken.
    let (status, reply) = edit(&requiring("require example.net/gone v1.0.0\n", "example.net/gone", "gone.Base()"));
    assert_eq!(
        (status, &reply["meta"]["complete"], &reply["impact"]["broken"]),
        (200, &json!(false), &json!([])),
        "{reply}"
    );
    assert_eq!(reply["impact"]["unchecked"][0]["code"], "manifest", "{reply}");
    // A module that the same change makes.
    let mut new = requiring(
        "require example.org/neu v0.0.0\n\nreplace example.org/neu => ./lib/neu\n",
        "example.org/neu",
        "neu.Base()",
    );
    for (file, content) in [
        ("lib/neu/go.mod", "module example.org/neu\n\ngo 1.24\n"),
        ("lib/neu/neu.go", "package neu\n\nfunc Base() int { return 1 }\n"),
    ] {
        new["edits"].as_array_mut().unwrap().push(json!({"file": file, "content": content, "mode": "overwrite"}));
    }
    let (status, reply) = edit(&new);
    assert_eq!((status, &reply["impact"]["broken"]), (200, &json!([])), "{reply}");
    new["dry_run"] = json!(false);
    let (status, reply) = edit(&new);
    assert_eq!(status, 200, "{reply}");
    assert_eq!(server.get("/v1/diagnostics?severity=error").1["total"], 0);
}

/// Stops gopls, and replaces a text in a file, so that the index has no answer for its names.
fn change_without_gopls(server: &Server, file: &str, old: &str, new: &str) {
    let pid = engine(server, "go")["pid"].as_i64().and_then(|it| i32::try_from(it).ok()).and_then(Pid::from_raw);
    kill_process(pid.unwrap(), Signal::STOP).unwrap();
    let text = server.home.read(file);
    assert!(text.contains(old), "{text}");
    server.home.write(file, &text.replace(old, new));
}

#[test]
fn usages_beside_code_with_errors_need_no_gopls() {
    let broken = "package r\n\nimport \"example.com/one/p\"\n\nfunc f() {\n\tvar it p.Job = gone()\n\tlost.Job(it)\n\t\
                  _ = it.Name + lost.Name\n}\n\ntype Job = missing.Job\n";
    let server = serve(&[
        ("p/p.go", "package p\n\ntype Job struct {\n\tName string\n}\n\nvar one = Job{Name: \"a\"}\n"),
        ("q/q.go", "package q\n\nimport \"example.com/one/p\"\n\nfunc Of(it p.Job) string {\n\treturn it.Name\n}\n"),
        ("r/r.go", broken),
    ]);
    change_without_gopls(&server, "q/q.go", "return it.Name", "return p.Job{}.Name + it.Name");
    let known = |symbol: &str| {
        let reply = usages(&server, symbol);
        let missing = reply["meta"]["missing"].as_array().unwrap().iter();
        let missing: Vec<String> = missing.map(|it| format!("{} {}", it["code"], it["scope"])).collect();
        (sorted_places(&reply["items"]), sorted_places(&reply["possible"]), missing)
    };
    let lost = vec!["\"workspace_broken\" \"r/r.go\"".to_owned()];
    let places = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        known("p.Job"),
        (places(&["p/p.go:7", "q/q.go:5", "q/q.go:6", "r/r.go:6"]), places(&["r/r.go:11", "r/r.go:7"]), lost.clone())
    );
    assert_eq!(
        known("p.Job.Name"),
        (places(&["p/p.go:7", "q/q.go:6", "q/q.go:6", "r/r.go:8"]), places(&["r/r.go:8"]), lost)
    );
}

#[test]
fn usages_beside_a_module_that_is_not_there_need_no_gopls() {
    let user = "package s\n\nimport (\n\t\"example.com/one/p\"\n\t\"example.net/gone\"\n)\n\n\
                var a p.Job = gone.Make()\n\nvar b = gone.Job(a)\n\nfunc Of(it p.Job) string { return a.Name + it.Name }\n";
    let server = serve(&[
        ("go.mod", &format!("{}\nrequire example.net/gone v1.0.0\n", MODULE.1)),
        ("p/p.go", "package p\n\ntype Job struct {\n\tName string\n}\n"),
        ("q/q.go", "package q\n\nimport \"example.com/one/p\"\n\nfunc Of(it p.Job) string {\n\treturn it.Name\n}\n"),
        ("s/s.go", user),
    ]);
    change_without_gopls(&server, "q/q.go", "return it.Name", "return p.Job{}.Name + it.Name");
    let job = usages(&server, "p.Job");
    assert_eq!(sorted_places(&job["items"]), ["q/q.go:5", "q/q.go:6", "s/s.go:12", "s/s.go:8"], "{job}");
    assert_eq!(sorted_places(&job["possible"]), ["s/s.go:10"], "{job}");
    let name = usages(&server, "p.Job.Name");
    assert_eq!(sorted_places(&name["items"]), ["q/q.go:6", "q/q.go:6", "s/s.go:12", "s/s.go:12"], "{name}");
    assert_eq!(sorted_places(&name["possible"]), Vec::<String>::new(), "{name}");
}

#[test]
fn usages_in_all_modules_that_replace_a_module_need_no_gopls() {
    let server = serve(&[
        ("go.mod", &format!("{}\nrequire example.com/api v0.0.0\n\nreplace example.com/api => ./api\n", MODULE.1)),
        (
            "main.go",
            "package one\n\nimport (\n\t\"net/http\"\n\n\t\"example.com/api\"\n)\n\nvar All = api.Base() + api.Wide{}.Low() + http.StatusOK\n",
        ),
        ("api/go.mod", "module example.com/api\n\ngo 1.24\n"),
        (
            "api/api.go",
            "package api\n\ntype Wide struct{}\n\nfunc (Wide) Low() int { return Base() }\n\nfunc Base() int { return 1 }\n",
        ),
        ("api/api_test.go", "package api\n\nvar _ = Base() + Wide{}.Low()\n"),
        (
            "tool/go.mod",
            "module example.com/tool\n\ngo 1.24\n\nrequire example.com/api v0.0.0\n\nreplace example.com/api => ../api\n",
        ),
        (
            "tool/tool.go",
            "package tool\n\nimport (\n\t\"regexp\"\n\n\t\"example.com/api\"\n)\n\nvar Tool = api.Base()\n\nvar Used *regexp.Regexp\n",
        ),
    ]);
    change_without_gopls(&server, "api/api.go", "return Base()", "return Base() + Wide{}.Low()");
    let base = usages(&server, "example.com/api.Base");
    assert_eq!(
        sorted_places(&base["items"]),
        ["api/api.go:5", "api/api_test.go:3", "main.go:9", "tool/tool.go:9"],
        "{base}"
    );
    let low = usages(&server, "example.com/api.Wide.Low");
    assert_eq!(sorted_places(&low["items"]), ["api/api.go:5", "api/api_test.go:3", "main.go:9"], "{low}");
    assert!(base["meta"]["complete"] == true && low["meta"]["complete"] == true, "{base} {low}");
}
