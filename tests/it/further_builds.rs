//! Code that only another build compiles: with other features, for another system, with other flags.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Home, Server};

const MANIFEST: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[features]\ndefault = [\"std\"]\nstd = []\nextra = []\n\n[lints.rust]\nunexpected_cfgs = { level = \"allow\" }\n";

const LIB: &str = "pub fn level() -> u8 {
    1
}
#[cfg(feature = \"extra\")]
pub fn more() -> u8 {
    level()
}
#[cfg(feature = \"extra\")]
pub mod only;
#[cfg(windows)]
pub fn home() -> u8 {
    level() + 1
}
#[cfg(not(windows))]
pub fn home() -> u8 {
    2
}
#[cfg(not(feature = \"std\"))]
pub fn bare() -> u8 {
    level() * 3
}
#[cfg(loom)]
pub fn weave() -> u8 {
    level()
}
pub fn user() -> u8 {
    home()
}
";

const ONLY: &str = "use crate::level;

pub struct Only {
    pub depth: u8,
}

impl Only {
    pub fn new() -> Only {
        Only { depth: level() }
    }
}
";

/// The usages of a symbol once further builds are known: each place with its build.
fn usages(server: &Server, symbol: &str) -> Vec<String> {
    let path = format!("/v1/usages?symbol={symbol}");
    server.wait_for(|it| it.get(&path).1["meta"]["complete"] == true);
    let (status, reply) = server.get(&path);
    assert_eq!((status, &reply["possible"]), (200, &json!([])), "{reply}");
    let items = reply["items"].as_array().unwrap().iter();
    let place = |it: &Value| {
        let build = it["build"].as_str().map(|it| format!(" {it}")).unwrap_or_default();
        format!("{}:{}{build}", it["file"].as_str().unwrap(), it["line"])
    };
    let mut places: Vec<String> = items.map(place).collect();
    places.sort();
    places
}

fn app() -> Server {
    Server::on(&[("Cargo.toml", MANIFEST), ("src/lib.rs", LIB), ("src/only.rs", ONLY)])
}

#[test]
fn usages_cover_features_systems_and_flags() {
    let server = app();
    assert_eq!(
        usages(&server, "app::level"),
        [
            "src/lib.rs:12 target_os=windows",
            "src/lib.rs:20 not(feature=std)",
            "src/lib.rs:24 loom",
            "src/lib.rs:6 feature=extra",
            "src/only.rs:1 feature=extra",
            "src/only.rs:9 feature=extra",
        ]
    );
    let (_, reply) = server.get("/v1/usages?symbol=app::level");
    assert_eq!(
        reply["meta"]["builds"],
        json!(["features=all", "features=none", "target_os=windows", "loom"]),
        "{reply}"
    );
}

#[test]
fn a_question_that_waits_covers_the_builds_that_are_read_meanwhile() {
    let server = app();
    let (status, reply) = server.get("/v1/usages?symbol=app::level&wait_ms=120000");
    assert_eq!((status, &reply["meta"]["missing"]), (200, &json!([])), "{reply}");
    assert_eq!((&reply["total"], &reply["possible"]), (&json!(6), &json!([])), "{reply}");
}

#[test]
fn a_question_is_narrowed_to_one_build() {
    let server = app();
    usages(&server, "app::level");
    let total = |symbol: &str, build: &str| {
        let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}&build={build}"));
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
        let mut lines: Vec<u64> =
            reply["items"].as_array().unwrap().iter().filter_map(|it| it["line"].as_u64()).collect();
        lines.sort_unstable();
        (lines, reply["meta"]["builds"].clone())
    };
    assert_eq!(total("app::level", "default"), (vec![], Value::Null));
    let of_feature = (vec![1, 6, 9], json!(["features=all"]));
    assert_eq!(total("app::level", "features=all"), of_feature);
    assert_eq!(total("app::level", "feature=extra"), of_feature, "as a place has it");
    assert_eq!(total("app::level", "target_os=windows"), (vec![12], json!(["target_os=windows"])));
    // What the default build compiles too.
    for build in ["default", "features=all", "loom"] {
        assert_eq!(total("app::home", build).0, [27], "{build}");
    }
    assert_eq!(total("app::home", "target_os=windows").0, [27], "of the `home` that is compiled there");
    let (status, reply) = server.get("/v1/callers?symbol=app::level&build=loom");
    assert_eq!((status, &reply["items"][0]["symbol"]["path"]), (200, &json!("app::weave")), "{reply}");
    let (status, reply) = server.get("/v1/usages?symbol=app::level&build=windows");
    assert_eq!((status, &reply["code"]), (400, &json!("invalid_request")), "{reply}");
    assert!(reply["detail"].as_str().unwrap().contains("`default`, `doctest`, `features=all`"), "{reply}");
}

#[test]
fn what_names_one_of_several_declarations_counts_for_all() {
    let lib = "\
#[cfg(feature = \"extra\")]
pub const STEP: u8 = 1;
#[cfg(not(feature = \"extra\"))]
pub const STEP: u8 = 2;
pub struct Held {
    #[cfg(feature = \"extra\")]
    pub size: u8,
    #[cfg(not(feature = \"extra\"))]
    pub size: u16,
}
impl Held {
    #[cfg(feature = \"extra\")]
    pub fn shown(&self) -> u8 {
        STEP + self.size
    }
    #[cfg(not(feature = \"extra\"))]
    pub fn shown(&self) -> u16 {
        u16::from(STEP) + self.size
    }
}
#[cfg(unix)]
#[path = \"unix.rs\"]
pub mod sys;
#[cfg(windows)]
#[path = \"windows.rs\"]
pub mod sys;
pub fn all(it: &Held) -> String {
    format!(\"{} {} {}\", it.shown(), sys::home(), it.place())
}
#[cfg(windows)]
pub fn away() -> u8 {
    sys::home()
}
";
    let server = Server::on(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", lib),
        (
            "src/unix.rs",
            "pub fn home() -> u8 {\n    1\n}\nimpl crate::Held {\n    pub fn place(&self) -> u8 {\n        1\n    }\n}\n",
        ),
        (
            "src/windows.rs",
            "pub fn home() -> u8 {\n    2\n}\nimpl crate::Held {\n    pub fn place(&self) -> u8 {\n        2\n    }\n}\n",
        ),
    ]);
    for symbol in ["app::STEP", "app::STEP~2", "app::Held::size", "app::Held::size~2"] {
        assert_eq!(usages(&server, symbol), ["src/lib.rs:14 feature=extra", "src/lib.rs:18"], "{symbol}");
    }
    for symbol in ["app::Held::shown", "app::Held::shown~2", "app::Held::place", "app::Held::place~2"] {
        assert_eq!(usages(&server, symbol), ["src/lib.rs:28"], "{symbol}");
    }
    for symbol in ["app::sys::home", "app::sys~2::home"] {
        assert_eq!(usages(&server, symbol), ["src/lib.rs:28", "src/lib.rs:32 target_os=windows"], "{symbol}");
    }
    let (_, opened) = server.post("/v1/open", &json!({"file": "src/windows.rs"}));
    assert_eq!(opened["symbols"][0]["usages"]["total"], 2, "{opened}");
    let rename = json!({"symbol": "app::sys::home", "new_name": "base"});
    let (status, renamed) = server.post("/v1/rename", &rename);
    assert_eq!((status, &renamed["applied"]), (200, &json!(true)), "{renamed}");
    let rename = json!({"symbol": "app::Held::place", "new_name": "spot"});
    let (status, renamed) = server.post("/v1/rename", &rename);
    assert_eq!((status, &renamed["applied"]), (200, &json!(true)), "{renamed}");
    for file in ["src/unix.rs", "src/windows.rs"] {
        let text = server.home.read(file);
        assert!(text.starts_with("pub fn base()") && text.contains("pub fn spot("), "{text}");
    }
    let text = server.home.read("src/lib.rs");
    assert_eq!((text.matches("sys::base()").count(), text.matches("it.spot()").count()), (2, 1), "{text}");
}

#[test]
fn a_symbol_of_another_build_has_a_path_and_usages() {
    let server = app();
    let places = [7, 8, 9].map(|line| format!("src/only.rs:{line} feature=extra"));
    assert_eq!(usages(&server, "app::only::Only"), places);
    assert_eq!(usages(&server, "app::only::Only::depth"), ["src/only.rs:9 feature=extra"]);
    let (_, reply) = server.get("/v1/usages?symbol=app::more");
    assert_eq!(reply["symbol"]["package"], "app", "{reply}");
}

/// An answer from before the further builds is not repeated after them.
#[test]
fn what_was_asked_too_early_is_answered_later() {
    let server = app();
    let path = "/v1/callers?symbol=app::more";
    let (status, reply) = server.get(path);
    assert_eq!(status, 200, "{reply}");
    server.wait_for(|it| it.get(path).1["meta"]["complete"] == true);
}

#[test]
fn an_edit_is_followed_in_all_builds() {
    let server = app();
    assert_eq!(usages(&server, "app::more"), [""; 0]);
    let edit = json!({"edits": [{"file": "src/only.rs", "search_context": "Only { depth: level() }", "replacement": "Only { depth: crate::more() }"}]});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!(status, 200, "{reply}");
    assert_eq!(usages(&server, "app::more"), ["src/only.rs:9 feature=extra"]);
}

/// What an edit breaks: each place with its build and code.
fn broken(reply: &Value) -> Vec<String> {
    let broken = reply["impact"]["broken"].as_array().unwrap_or_else(|| panic!("{reply}")).iter();
    let place = |it: &Value| {
        let build = it["build"].as_str().map(|it| format!(" {it}")).unwrap_or_default();
        format!("{}:{}{build} {}", it["file"].as_str().unwrap(), it["line"], it["code"].as_str().unwrap_or_default())
    };
    let mut places: Vec<String> = broken.map(place).collect();
    places.sort();
    places
}

fn with_another_parameter() -> Value {
    json!([{
        "file": "src/lib.rs",
        "search_context": "pub fn level() -> u8 {\n    1",
        "replacement": "pub fn level(by: u8) -> u8 {\n    by"
    }])
}

#[test]
fn impact_says_what_breaks_in_other_builds() {
    let server = app();
    usages(&server, "app::level");
    let (status, reply) = server.post("/v1/edit", &json!({"edits": with_another_parameter(), "dry_run": true}));
    assert_eq!(status, 200, "{reply}");
    assert_eq!(
        broken(&reply),
        [
            "src/lib.rs:12 target_os=windows E0061",
            "src/lib.rs:20 not(feature=std) E0061",
            "src/lib.rs:24 loom E0061",
            "src/lib.rs:6 feature=extra E0061",
            "src/only.rs:9 feature=extra E0061",
        ]
    );
    // Only the default build counts.
    let edit = json!({"edits": with_another_parameter(), "on_break": "reject"});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!(status, 200, "{reply}");
}

#[test]
fn what_is_gone_is_reported_where_other_builds_import_it() {
    let server = app();
    usages(&server, "app::level");
    let (status, reply) =
        server.post("/v1/edit", &json!({"edits": [{"symbol": "app::level", "at": "delete"}], "dry_run": true}));
    assert_eq!(status, 200, "{reply}");
    let found = broken(&reply);
    assert!(found.contains(&"src/only.rs:1 feature=extra E0432".to_owned()), "{found:?}");
    assert!(found.contains(&"src/lib.rs:9 target_os=windows E0425".to_owned()), "{found:?}");
}

#[test]
fn an_error_in_the_code_of_another_build_is_told() {
    let server = app();
    usages(&server, "app::level");
    let edit = json!({"edits": [{"file": "src/only.rs", "search_context": "depth: level()", "replacement": "depth: level(1)"}], "dry_run": true});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!((status, broken(&reply)), (200, vec!["src/only.rs:9 feature=extra E0061".to_owned()]), "{reply}");
}

#[test]
fn a_rename_changes_all_builds() {
    let server = app();
    usages(&server, "app::level");
    let (status, reply) = server.post("/v1/rename", &json!({"symbol": "app::level", "new_name": "height"}));
    assert_eq!(status, 200, "{reply}");
    let (lib, only) = (server.home.read("src/lib.rs"), server.home.read("src/only.rs"));
    assert_eq!((lib.matches("height").count(), lib.matches("level").count()), (5, 0), "{lib}");
    assert_eq!((only.matches("height").count(), only.matches("level").count()), (2, 0), "{only}");
}

#[test]
fn without_further_builds_code_that_is_off_is_possible() {
    let server = Server::on(&[
        ("Cargo.toml", MANIFEST),
        ("semdex.toml", "[rust]\nmax_builds = 0\n"),
        ("src/lib.rs", LIB),
        ("src/only.rs", ONLY),
    ]);
    server.wait_ready();
    let (status, reply) = server.get("/v1/usages?symbol=app::level");
    assert_eq!((status, &reply["meta"]["complete"], &reply["total"]), (200, &json!(false), &json!(0)), "{reply}");
    assert_eq!(reply["possible_total"], 6, "{reply}");
}

#[test]
fn a_build_for_another_system_has_features_that_no_other_build_has() {
    let level = "pub fn level() -> u8 {\n    3\n}\n".to_owned();
    let calling = |condition: &str, name: &str, calls: usize| {
        let calls = "    level();\n".repeat(calls);
        format!("#[cfg({condition})]\npub fn {name}() {{\n{calls}}}\n")
    };
    let lib = level
        + &calling("feature = \"extra\"", "more", 7)
        + &calling("windows", "home", 8)
        + &calling("all(feature = \"std\", windows)", "roam", 1)
        + &calling("not(feature = \"std\")", "bare", 1)
        + &calling("not(feature = \"color\")", "grey", 1);
    let manifest = MANIFEST.replace("default = [\"std\"]", "default = [\"std\", \"color\"]\ncolor = []");
    assert_ne!(manifest, MANIFEST);
    let builds = "[rust]\nmax_builds = 2\n";
    let server = Server::on(&[("Cargo.toml", &*manifest), ("semdex.toml", builds), ("src/lib.rs", &*lib)]);
    server.wait_for(|it| it.get("/v1/usages?symbol=app::level").1["meta"]["builds"].as_array().is_some());
    server.wait_for(|it| !it.get("/v1/usages?symbol=app::level").1.to_string().contains("indexing"));
    let (_, reply) = server.get("/v1/usages?symbol=app::level");
    // Without `std` it would no longer have `roam`.
    assert_eq!(reply["meta"]["builds"], json!(["not(feature=color),target_os=windows", "features=all"]), "{reply}");
    assert_eq!((&reply["total"], &reply["possible_total"]), (&json!(17), &json!(1)), "{reply}");
    assert_eq!(reply["possible"][0]["line"], json!(31), "{reply}");
}

#[test]
fn a_condition_of_a_file_counts_for_the_modules_in_it() {
    let manifest = MANIFEST.replace("default = [\"std\"]", "default = [\"extra\", \"color\"]\ncolor = []");
    assert_ne!(manifest, MANIFEST);
    let server = Server::on(&[
        ("Cargo.toml", &*manifest),
        ("src/lib.rs", "pub fn level() -> u8 {\n    1\n}\n"),
        ("tests/all/main.rs", "#![cfg(feature = \"extra\")]\n\nmod part;\n"),
        ("tests/all/part.rs", "#[cfg(not(feature = \"color\"))]\npub fn grey() -> u8 {\n    app::level()\n}\n"),
    ]);
    assert_eq!(usages(&server, "app::level"), ["tests/all/part.rs:3 not(feature=color)"]);
    let (_, reply) = server.get("/v1/usages?symbol=app::level");
    assert_eq!(reply["meta"]["builds"], json!(["features=none,feature=extra"]), "{reply}");
}

#[test]
fn the_configuration_lists_builds() {
    let server = Server::on(&[
        ("Cargo.toml", MANIFEST),
        ("semdex.toml", "[rust]\nbuilds = [\"default\"]\n"),
        ("src/lib.rs", LIB),
        ("src/only.rs", ONLY),
    ]);
    server.wait_ready();
    let usages = || server.get("/v1/usages?symbol=app::level").1;
    let covered = |builds: &str, names: &[&str]| {
        server.home.write("semdex.toml", &format!("[rust]\nbuilds = {builds}\n"));
        let is_known = |it: &Value| it["meta"]["builds"] == json!(names) && !it.to_string().contains("indexing");
        server.wait_for(|_| is_known(&usages()));
        usages()
    };
    let listed = "[{ features = [\"extra\"] }, { target = \"x86_64-pc-windows-msvc\", cfg = [\"loom\"] }]";
    let reply = covered(listed, &["feature=extra", "target_os=windows,loom"]);
    // No listed build compiles `not(feature = "std")`.
    assert_eq!((&reply["total"], &reply["possible_total"]), (&json!(5), &json!(1)), "{reply}");
    let names = ["features=none", "features=all", "target_os=windows", "loom"];
    let reply = covered("[{ features = \"none\" }, \"auto\"]", &names);
    assert_eq!((&reply["total"], &reply["meta"]["complete"]), (&json!(6), &json!(true)), "{reply}");
    let wrong = |builds: &str, says: &str| {
        server.home.write("semdex.toml", &format!("[rust]\nbuilds = {builds}\n"));
        server.wait_for(|_| usages().to_string().contains(says));
    };
    wrong("[{ target = \"x86_64-pc-nothing\" }]", "`rustc --print target-list` lists them");
    wrong("[{ features = [\"more\"] }]", "no Cargo workspace here has all of these features: more");
    server.home.write("semdex.toml", "[rust]\nbuilds = [\"all\"]\n");
    server.wait_for(|it| {
        usages();
        it.get("/v1/status").1.to_string().contains("\\\"default\\\" or a table")
    });
}

#[test]
fn code_of_a_feature_has_diagnostics_that_the_gate_counts_on_request() {
    let lib = LIB.replace("pub fn more() -> u8 {\n    level()", "pub fn more() -> u8 {\n    level(1)");
    let windows = lib.replace("level() + 1", "level(2) + 1");
    let only = ONLY.replace("depth: level()", "deep: level()");
    let server = Server::on(&[("Cargo.toml", MANIFEST), ("src/lib.rs", &windows), ("src/only.rs", &only)]);
    server.wait_for(|it| it.get("/v1/diagnostics").1["meta"]["complete"] == true);
    let (status, reply) = server.get("/v1/diagnostics?severity=error");
    let place = |it: &Value| {
        let text = |name: &str| it[name].as_str().unwrap_or_default();
        format!("{}:{} {} {}", text("file"), it["line"], text("code"), text("build"))
    };
    let found: Vec<String> = reply["items"].as_array().unwrap().iter().map(place).collect();
    // The standard library for Windows is not there: no error of its code is certain.
    let expected =
        ["src/lib.rs:6 E0061 feature=extra", "src/only.rs:9 E0063 feature=extra", "src/only.rs:9 E0560 feature=extra"];
    assert_eq!((status, found.as_slice()), (200, expected.map(str::to_owned).as_slice()), "{reply}");
    let gate = || server.get("/v1/gate").1;
    assert_eq!((&gate()["block"], &gate()["counts"]["error"]), (&json!(false), &json!(0)), "{}", gate());
    let level = |status: u16| {
        let edit = json!({"dry_run": true, "on_break": "reject", "edits": [
            {"file": "src/lib.rs", "search_context": "pub fn level() -> u8", "replacement": "pub fn level() -> u16"}
        ]});
        server.wait_for(|it| it.post("/v1/edit", &edit).0 == status);
    };
    // Only code of other builds has its result as a `u8`.
    level(200);
    server.home.write("semdex.toml", "[gate]\nbuilds = \"all\"\n");
    assert_eq!((&gate()["block"], &gate()["counts"]["error"]), (&json!(true), &json!(3)), "{}", gate());
    level(422);
}

/// In a file that `include!` takes in, in several crates and builds, a local name is not the function of the same name.
#[test]
fn each_build_reads_an_included_file_for_itself() {
    let items = "pub fn tint() -> u8 {\n    1\n}\npub fn shade(tint: u8) -> u8 {\n    let kept = tint;\n    kept + tint\n}\n\
                 #[cfg(feature = \"extra\")]\npub fn more(tint: u8) -> u8 {\n    tint + shade(self::tint())\n}\n";
    let included = "include!(\"../src/items.rs\");\n\n#[test]\nfn it() {\n    shade(tint());\n}\n";
    let server = Server::on(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "include!(\"items.rs\");\n#[cfg(feature = \"extra\")]\npub fn last() -> u8 {\n    tint()\n}\n"),
        ("src/items.rs", items),
        ("src/main.rs", "include!(\"items.rs\");\n\nfn main() {\n    shade(2);\n}\n"),
        ("tests/a.rs", included),
        ("tests/b.rs", included),
    ]);
    assert_eq!(
        usages(&server, "app::tint"),
        ["src/items.rs:10 feature=extra", "src/lib.rs:4 feature=extra", "tests/a.rs:5", "tests/b.rs:5"]
    );
}

/// What a macro writes has a meaning where it is called. Here only another build, or a doctest, calls it.
#[test]
fn what_macros_write_in_other_builds_is_named() {
    let lib = "pub mod parts {
    pub fn level() -> u8 { 1 }
    pub fn depth() -> u8 { 2 }
}
#[macro_export]
macro_rules! level_of {
    () => { $crate::parts::level() };
}
#[macro_export]
macro_rules! depth_of {
    () => { $crate::parts::depth() };
}
#[cfg(feature = \"extra\")]
pub fn more() -> u8 { level_of!() }
/// ```
/// assert_eq!(app::depth_of!(), 2);
/// ```
pub fn user() {}
#[cfg(feature = \"extra\")]
pub mod only;
";
    let only = "pub fn outer() -> u8 {\n    const INNER: u8 = 1;\n    INNER\n}\n";
    let test = "#[test]\nfn runs() {}\n";
    let files = [("Cargo.toml", MANIFEST), ("src/lib.rs", lib), ("src/only.rs", only), ("tests/all.rs", test)];
    let server = Server::on(&files);
    let listed = |symbol: &str| {
        let path = format!("/v1/usages?symbol={symbol}");
        server.wait_for(|it| it.get(&path).1["meta"]["complete"] == true);
        let items = server.get(&path).1["items"].take();
        items
            .as_array()
            .unwrap()
            .iter()
            .map(|it| (it["line"].clone(), it["build"].clone(), it["calls"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(listed("app::parts::level"), [(json!(7), json!("feature=extra"), json!(1))]);
    assert_eq!(listed("app::parts::depth"), [(json!(11), json!("doctest"), json!(1))]);
    // An item of a body has the same path before and after further builds are known.
    assert_eq!(listed("app::only::outer::INNER"), [(json!(3), json!("feature=extra"), Value::Null)]);
    let edit = json!({"edits": [{"file": "src/lib.rs", "search_context": "pub fn level()", "replacement": "pub fn height()"}], "dry_run": true});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!(status, 200, "{reply}");
    let broken: Vec<_> =
        reply["impact"]["broken"].as_array().unwrap().iter().map(|it| (&it["line"], &it["build"])).collect();
    assert_eq!(broken, [(&json!(7), &json!("feature=extra"))], "{reply}");
}

/// The last branch of `cfg_if!` is compiled where no condition before it holds.
#[test]
fn the_other_branch_of_a_condition_in_a_macro_is_built() {
    let choice = "macro_rules! choose {
    (if #[cfg($a:meta)] { $($x:tt)* } else { $($y:tt)* }) => {
        #[cfg(all($a))] choose! { @ $($x)* }
        #[cfg(all(not(any($a))))] choose! { @ $($y)* }
    };
    (@ $($x:tt)*) => { $($x)* };
}
choose! {
    if #[cfg(target_pointer_width = \"64\")] {
        mod wide;
        use wide as imp;
    } else {
        mod narrow;
        use narrow as imp;
    }
}
";
    let lib = format!("{choice}pub fn level() -> u8 {{ imp::level() }}\npub fn base() -> u8 {{ 1 }}\n");
    let of = "pub fn level() -> u8 { crate::base() }\n";
    let files = [("Cargo.toml", MANIFEST), ("src/lib.rs", &lib), ("src/wide.rs", of), ("src/narrow.rs", of)];
    let server = Server::on(&files);
    let found = usages(&server, "app::base");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("src/narrow.rs:1 "), "{found:?}");
}

#[test]
fn each_package_of_a_workspace_has_builds_of_its_own() {
    let manifest = |name: &str, rest: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{rest}\n[lints.rust]\nunexpected_cfgs = {{ level = \"allow\" }}\n"
        )
    };
    // One package has much code for four systems and two features.
    let mut wide = String::from("pub fn level() -> u8 {\n    1\n}\n");
    for condition in [
        "windows",
        "target_os = \"macos\"",
        "target_arch = \"wasm32\"",
        "target_os = \"android\"",
        "feature = \"more\"",
    ] {
        let name: String = condition.chars().filter(char::is_ascii_alphanumeric).collect();
        wide += &format!(
            "#[cfg({condition})]\npub fn of_{name}() -> u8 {{\n{}    level()\n}}\n",
            "    level();\n".repeat(9)
        );
    }
    let weave = "#[cfg(weave)]
use loomed::Shuttle;
pub fn level() -> u8 {
    2
}
#[cfg(weave)]
pub fn woven(it: &Shuttle) -> u8 {
    level() + it.turns()
}
#[cfg(all(feature = \"core-error\", not(feature = \"std\")))]
pub fn bare() -> u8 {
    level()
}
";
    let server = Server::on(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"wide\", \"weave\", \"loomed\"]\nresolver = \"3\"\n"),
        ("wide/Cargo.toml", &manifest("wide", "[features]\nmore = []\n")),
        ("wide/src/lib.rs", &wide),
        (
            "weave/Cargo.toml",
            &manifest(
                "weave",
                "[features]\ndefault = [\"std\"]\nstd = []\ncore-error = []\nsilk = [\"dep:loomed\"]\n[target.'cfg(weave)'.dependencies]\nloomed = { path = \"../loomed\", optional = true }\n",
            ),
        ),
        ("weave/src/lib.rs", weave),
        ("loomed/Cargo.toml", &manifest("loomed", "")),
        (
            "loomed/src/lib.rs",
            "pub struct Shuttle;\nimpl Shuttle {\n    pub fn turns(&self) -> u8 {\n        3\n    }\n}\n",
        ),
    ]);
    assert_eq!(
        usages(&server, "weave::level"),
        ["weave/src/lib.rs:12 feature=core-error,not(feature=std)", "weave/src/lib.rs:8 weave"]
    );
    assert_eq!(usages(&server, "loomed::Shuttle::turns"), ["weave/src/lib.rs:8 weave"]);
    let (_, reply) = server.get("/v1/usages?symbol=wide::level");
    assert_eq!((&reply["total"], &reply["possible_total"]), (&json!(40), &json!(10)), "four builds of five: {reply}");
}

#[test]
fn a_test_that_needs_a_feature_is_read_in_the_build_that_has_it() {
    let test = "use app::only::Only;

#[test]
fn depth() {
    let only = Only::new();
    assert_eq!(only.depth, 1);
}
";
    let files = [("Cargo.toml", MANIFEST), ("src/lib.rs", LIB), ("src/only.rs", ONLY), ("tests/depth.rs", test)];
    let server = Server::on(&files);
    assert_eq!(
        usages(&server, "app::only::Only::depth"),
        ["src/only.rs:9 feature=extra", "tests/depth.rs:6 feature=extra"]
    );
}

#[test]
fn a_file_that_a_module_has_under_a_condition_is_read_in_the_build_that_has_it() {
    let lib = "pub fn level() -> u8 {\n    1\n}\n#[cfg_attr(windows, path = \"narrow.rs\")]\npub mod wide;\n";
    let code = "pub fn deep() -> u8 {\n    crate::level()\n}\n";
    let files = [("Cargo.toml", MANIFEST), ("src/lib.rs", lib), ("src/wide.rs", code), ("src/narrow.rs", code)];
    let server = Server::on(&files);
    assert_eq!(usages(&server, "app::level"), ["src/narrow.rs:2 target_os=windows", "src/wide.rs:2"]);
}

/// A module that needs a feature has code that needs another one to be off.
#[test]
fn a_condition_is_met_together_with_those_of_the_modules_around_it() {
    let lib = "pub fn level() -> u8 {\n    1\n}\n#[cfg(feature = \"extra\")]\npub mod only;\n";
    let only = "mod below;\n";
    let below = "#[cfg(not(feature = \"std\"))]\npub fn bare() -> u8 {\n    crate::level()\n}\n";
    let files = [("Cargo.toml", MANIFEST), ("src/lib.rs", lib), ("src/only.rs", only), ("src/only/below.rs", below)];
    let server = Server::on(&files);
    assert_eq!(usages(&server, "app::level"), ["src/only/below.rs:3 feature=extra,not(feature=std)"]);
}

/// `$crate` in a macro that nobody calls, and that only another build has.
#[test]
fn a_path_from_the_crate_in_a_macro_of_another_build_is_resolved() {
    let lib = "\
pub fn level() -> u8 {
    1
}
#[cfg(feature = \"extra\")]
pub mod parts {
    pub fn depth() -> u8 {
        2
    }
}
#[cfg(feature = \"extra\")]
#[macro_export]
macro_rules! level_of {
    () => {
        $crate::level() + $crate::parts::depth()
    };
}
";
    let server = Server::on(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib)]);
    for symbol in ["app::level", "app::parts::depth", "app::parts"] {
        assert_eq!(usages(&server, symbol), ["src/lib.rs:14 feature=extra"]);
    }
}

/// An item that implements one of a trait is not renamed alone.
#[test]
fn a_rename_in_another_build_keeps_implementations_and_traits_together() {
    let lib = "#[cfg(feature = \"extra\")]\npub mod only;\n";
    let only = "\
pub trait Level {
    fn level(&self) -> u8;
}
pub struct Deep;
impl Level for Deep {
    fn level(&self) -> u8 {
        1
    }
}
impl Default for Deep {
    fn default() -> Deep {
        Deep
    }
}
pub fn both() -> u8 {
    Deep::default().level()
}
";
    let server = Server::on(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib), ("src/only.rs", only)]);
    usages(&server, "app::only::Deep");
    let rename = |symbol: &str| server.post("/v1/rename", &json!({"symbol": symbol, "new_name": "height"}));
    for symbol in
        ["<app::only::Deep as core::default::Default>::default", "<app::only::Deep as app::only::Level>::level"]
    {
        let (status, reply) = rename(symbol);
        assert_eq!((status, &reply["code"]), (422, &json!("rename_refused")), "{reply}");
    }
    let (status, reply) = rename("app::only::Level::level");
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    assert_eq!(server.home.read("src/only.rs"), only.replace("level", "height"));
}

/// What a macro writes that only another build defines, or in a part that only another build has.
#[test]
fn what_a_macro_of_another_build_writes_is_certain() {
    let lib = "\
#[cfg(feature = \"extra\")]
macro_rules! methods {
    ($each:expr) => {
        fn depth(&self) -> usize {
            self.parts.iter().map($each).count()
        }
    };
}
macro_rules! level {
    ($name:ident) => {
        #[cfg(not(feature = \"extra\"))]
        pub fn $name(it: &crate::Held) -> usize {
            it.parts.len()
        }
        #[cfg(feature = \"extra\")]
        pub fn $name(it: &crate::Held) -> usize {
            only::Depth::depth(it) + it.parts.len()
        }
    };
}
level!(level);
pub struct Held {
    pub parts: Vec<u8>,
}
#[cfg(feature = \"extra\")]
pub mod only;
";
    let only = "\
pub trait Depth {
    fn depth(&self) -> usize;
}
impl Depth for crate::Held {
    methods!(|it| *it);
}
";
    let server = Server::on(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib), ("src/only.rs", only)]);
    let extra = |line: u64| format!("src/lib.rs:{line} feature=extra");
    assert_eq!(usages(&server, "app::Held::parts"), ["src/lib.rs:13".to_owned(), extra(17), extra(5)]);
    assert_eq!(usages(&server, "app::only::Depth::depth"), [extra(17), extra(4)]);
}

/// A crate that only another build depends on.
#[test]
fn a_dependency_of_another_build_has_its_name() {
    let manifest = MANIFEST.replace("extra = []", "extra = [\"dep:base\"]");
    let manifest = format!("{manifest}\n[dependencies]\nbase = {{ path = \"../base\", optional = true }}\n");
    let lib = "#[cfg(feature = \"extra\")]\nimpl base::Depth for crate::Held {\n    fn depth(&self) -> u8 {\n        1\n    }\n}\npub struct Held;\n";
    let home = Home::with(&[("Cargo.toml", &manifest), ("src/lib.rs", lib)]);
    let base = home.path().join("base");
    fs::create_dir_all(base.join("src")).unwrap();
    fs::write(base.join("Cargo.toml"), "[package]\nname = \"base\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
        .unwrap();
    fs::write(base.join("src/lib.rs"), "pub trait Depth {\n    fn depth(&self) -> u8;\n}\n").unwrap();
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    usages(&server, "app::Held");
    let symbol = "<app::Held as base::Depth>::depth";
    let (status, reply) = server.get("/v1/symbols?file=src/lib.rs");
    let listed = reply["symbols"].to_string();
    assert!(status == 200 && listed.contains(symbol), "{reply}");
    assert_eq!(usages(&server, "%3Capp::Held%20as%20base::Depth%3E::depth"), Vec::<String>::new());
}

#[test]
fn an_edit_of_a_file_that_only_another_build_compiles_says_so() {
    let server = app();
    usages(&server, "app::level");
    let edit = json!({"file": "src/only.rs", "search_context": "{ depth: level() }", "replacement": "{ depth: level() + 1 }", "dry_run": true});
    let (status, reply) = server.post("/v1/edit", &edit);
    let missing = &reply["meta"]["missing"][0];
    assert_eq!(status, 200, "{reply}");
    assert_eq!((&missing["code"], &missing["scope"]), (&json!("cfg_off"), &json!("src/only.rs")), "{reply}");
}

/// A target comes or goes, and a script has written code: the further builds stay as they are, while it is tried and
/// afterwards.
#[test]
fn a_target_that_comes_or_goes_leaves_other_builds_as_they_are() {
    let lib =
        format!("{LIB}include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));\npub fn asks() -> u8 {{\n    made()\n}}\n");
    let script = "fn main() {\n    let at = std::path::Path::new(&std::env::var_os(\"OUT_DIR\").unwrap()).join(\"made.rs\");\n    \
                  std::fs::write(at, \"pub fn made() -> u8 { 1 }\").unwrap();\n}\n";
    let test = "use app::level;\n\n#[test]\nfn it() {\n    level();\n}\n";
    let files = [
        ("Cargo.toml", MANIFEST),
        ("build.rs", script),
        ("src/lib.rs", &lib),
        ("src/only.rs", ONLY),
        ("tests/it.rs", test),
    ];
    let server = Home::with(&files).serve(&["--trust"]);
    server.wait_ready();
    let all = usages(&server, "app::level");
    let deletes = "diff --git a/tests/it.rs b/tests/it.rs\ndeleted file mode 100644\n--- a/tests/it.rs\n+++ /dev/null\n@@ -1,6 +0,0 @@\n\
                   -use app::level;\n-\n-#[test]\n-fn it() {\n-    level();\n-}\n";
    let patch = server.request("POST", "/v1/edit?dry_run=true").header("content-type", "text/x-diff");
    let reply = server.send(patch.body(deletes.to_owned())).json();
    assert_eq!((&reply["impact"]["broken"], &reply["meta"]["complete"]), (&json!([]), &json!(true)), "{reply}");
    let write = json!({"file": "tests/new.rs", "content": "fn it() -> u8 {\n    app::asks(1)\n}\n", "dry_run": true});
    let (_, reply) = server.post("/v1/write", &write);
    assert_eq!(broken(&reply), ["tests/new.rs:2 E0061"], "{reply}");
    // What was tried is forgotten, and what the script wrote is not.
    assert_eq!(usages(&server, "app::level"), all);
    let (_, reply) = server.get("/v1/diagnostics?severity=error");
    assert_eq!((&reply["items"], &reply["meta"]["complete"]), (&json!([]), &json!(true)), "{reply}");
    // Cargo is asked about the default build alone where packages change.
    let mut edits = with_another_parameter();
    edits[0]["replacement"] = json!("pub fn level<T: From<u8>>() -> T {\n    T::from(1)");
    let manifest = json!({"file": "Cargo.toml", "search_context": "std = []", "replacement": "std = []\nother = []"});
    edits.as_array_mut().unwrap().push(manifest);
    let (_, reply) = server.post("/v1/edit", &json!({"edits": edits, "dry_run": true}));
    let missing = reply["meta"]["missing"].to_string();
    assert!(missing.contains("places that only further builds compile"), "{reply}");
    assert!(broken(&reply).iter().all(|it| it.starts_with("tests/it.rs")), "{reply}");
}
