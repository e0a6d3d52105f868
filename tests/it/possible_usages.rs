//! Places that may name a symbol: only those that can, each with its reason, before all other usages.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::Server;

/// A package with a dependency table and a library.
fn package(name: &str, dependencies: &str) -> (String, String) {
    let manifest = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{dependencies}");
    (format!("{name}/Cargo.toml"), manifest)
}

fn serve(packages: &[(&str, &str, &str)]) -> Server {
    let members: Vec<String> = packages.iter().map(|it| format!("\"{}\"", it.0)).collect();
    let root = format!("[workspace]\nresolver = \"2\"\nmembers = [{}]\n", members.join(", "));
    // Code that is switched off stays so.
    let settings = ("semdex.toml".to_owned(), "[rust]\nmax_builds = 0\n".to_owned());
    let mut files = vec![("Cargo.toml".to_owned(), root), settings];
    for (name, dependencies, lib) in packages {
        files.push(package(name, dependencies));
        files.push((format!("{name}/src/lib.rs"), (*lib).to_owned()));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
    let server = Server::on(&files);
    server.wait_ready();
    server
}

fn usages(server: &Server, symbol: &str) -> Value {
    let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}"));
    assert_eq!(status, 200, "{reply}");
    let total = reply["possible"].as_array().unwrap().len();
    assert_eq!(
        (reply["possible_total"].as_u64(), &reply["next_cursor"]),
        (Some(total as u64), &Value::Null),
        "{reply}"
    );
    assert_eq!(reply["meta"]["complete"], total == 0, "{reply}");
    let says_possible = reply["meta"]["missing"].to_string().contains("possible");
    assert_eq!(says_possible, total > 0, "{reply}");
    reply
}

/// `file:line reason` of the possible usages.
fn possible(server: &Server, symbol: &str) -> Vec<String> {
    let reply = usages(server, symbol);
    let text = |it: &Value| it.as_str().unwrap_or_else(|| panic!("{reply}")).to_owned();
    let items = reply["possible"].as_array().unwrap().iter();
    items.map(|it| format!("{}:{} {}", text(&it["file"]), it["line"], text(&it["reason"]))).collect()
}

fn lines(server: &Server, symbol: &str) -> Vec<u64> {
    usages(server, symbol)["possible"].as_array().unwrap().iter().filter_map(|it| it["line"].as_u64()).collect()
}

const ENGINE: &str = "pub struct Builder;\n\nimpl Builder {\n    pub fn build(&self) -> u8 {\n        1\n    }\n}\n";
const BUILDS: &str = "macro_rules! build_it {\n    ($x:expr) => {\n        $x.build()\n    };\n}\n";

#[test]
fn a_package_names_only_what_it_can_see() {
    let features = "[features]\non = [\"dep:engine\"]\n\n";
    let optional = format!("{features}[dependencies]\nengine = {{ path = \"../engine\", optional = true }}\n");
    let server = serve(&[
        ("engine", "", ENGINE),
        ("apart", "", BUILDS),
        ("direct", "[dependencies]\nengine = { path = \"../engine\" }\n", BUILDS),
        ("indirect", "[dependencies]\ndirect = { path = \"../direct\" }\n", BUILDS),
        ("renamed", "[dependencies]\nmotor = { path = \"../engine\", package = \"engine\" }\n", BUILDS),
        ("optional", &optional, BUILDS),
        ("tests-only", "[dev-dependencies]\nengine = { path = \"../engine\" }\n", BUILDS),
        ("uses-tests-only", "[dependencies]\ntests-only = { path = \"../tests-only\" }\n", BUILDS),
        ("by-script", "[build-dependencies]\nengine = { path = \"../engine\" }\n", BUILDS),
        ("elsewhere", "[target.'cfg(windows)'.dependencies]\nengine = { path = \"../engine\" }\n", BUILDS),
        // Its macro is compiled in the packages that use it.
        ("exports", "", &format!("#[macro_export]\n{BUILDS}")),
        (
            "uses-exports",
            "[dependencies]\nengine = { path = \"../engine\" }\nexports = { path = \"../exports\" }\n",
            "",
        ),
        // Here nobody does.
        ("exports-alone", "", &format!("#[macro_export]\n{BUILDS}")),
        (
            "takes-in",
            "[dependencies]\nengine = { path = \"../engine\" }\n",
            "#[path = \"../../taken/src/part.rs\"]\nmod part;\n",
        ),
        ("taken", "", "#[cfg(windows)]\nmod part;\n"),
    ]);
    server
        .home
        .write("taken/src/part.rs", "macro_rules! build_part {\n    ($x:expr) => {\n        $x.build()\n    };\n}\n");
    server.wait_ready();
    let found: BTreeSet<String> = possible(&server, "engine::Builder::build").into_iter().collect();
    let line = |package: &str, line: usize| format!("{package}/src/lib.rs:{line} macro_input");
    let mut wanted: BTreeSet<String> =
        ["by-script", "direct", "elsewhere", "indirect", "optional", "renamed", "tests-only"]
            .iter()
            .map(|it| line(it, 3))
            .collect();
    wanted.insert(line("exports", 4));
    wanted.insert("taken/src/part.rs:3 macro_input".to_owned());
    assert_eq!(found, wanted);
}

#[test]
fn a_private_symbol_is_named_only_in_its_crate() {
    let lib = "fn helper(n: u8) -> u8 {\n    n\n}\n\nmacro_rules! help {\n    () => {\n        helper(1)\n    };\n}\n";
    let server = serve(&[("one", "", lib), ("two", "[dependencies]\none = { path = \"../one\" }\n", lib)]);
    assert_eq!(possible(&server, "one::helper"), ["one/src/lib.rs:7 macro_input"]);
    assert_eq!(possible(&server, "two::helper"), ["two/src/lib.rs:7 macro_input"]);
}

const SYNTAX: &str = r#"pub struct Builder { pub width: u8 }
impl Builder {
    pub fn build(&self, size: u8) -> u8 { size }
    pub fn new(width: u8) -> Builder { Builder { width } }
}
pub fn free(size: u8) -> u8 { size }
macro_rules! made { () => {} }
macro_rules! rules {
    (build $build:ident free $free:expr) => { $build + $free };
    ($x:expr, 1) => { $x.build };
    ($x:expr, 2) => { $x.build(1, 2) };
    ($x:expr, 3) => { $x.build(1) };
    ($x:expr, 4) => { build!($x) };
    ($x:expr, 5) => { build($x) };
    ($x:expr, 6) => { Builder::build($x, 1) };
    ($x:expr, 7) => { Builder::build($x) };
    ($x:expr, 8) => { other!($x.build) };
    ($x:expr, 9) => { $x.free(1) };
    ($x:expr, 10) => { free(1, 2) };
    ($x:expr, 11) => { free(1) };
    ($x:expr, 12) => { fn free() {} };
    ($x:expr, 13) => { $x.width() };
    ($x:expr, 14) => { $x.width + $x.made };
    ($x:expr, 15) => { let width = 1; width };
    ($x:expr, 16) => { Builder { width: 1 } };
    ($x:expr, 17) => { $x.build(|a, b| a) };
}
#[cfg(windows)]
pub fn away(it: Unknown) {
    it.build;
    it.build(1, 2);
    it.build(1);
    build(it);
    Builder::build(it, 1);
    Other::build(it);
    it.width();
    it.width;
    let _ = Unknown { width: 1 };
    it.free(1);
    free(1);
    made!();
    let made = 1;
}
mod inner {
    pub struct Hidden { secret: u8 }
    impl Hidden { fn quiet(&self) -> u8 { self.secret } }
    #[cfg(windows)]
    fn here(it: Hidden) { it.quiet(); it.secret; }
}
#[cfg(windows)]
fn outside(it: inner::Hidden) { it.quiet(); it.secret; }
"#;

#[test]
fn syntax_and_visibility_decide() {
    let server = serve(&[("shapes", "", SYNTAX)]);
    assert_eq!(lines(&server, "Builder::build"), [12, 15, 16, 17, 26, 32, 34]);
    assert_eq!(lines(&server, "shapes::free"), [20, 40]);
    assert_eq!(lines(&server, "Builder::width"), [23, 25, 37, 38]);
    assert_eq!(lines(&server, "macro@shapes::made"), [41]);
    assert_eq!(lines(&server, "Hidden::quiet"), [48]);
    assert_eq!(lines(&server, "Hidden::secret"), [48]);
}

#[test]
fn possible_usages_come_first_and_their_number_is_in_the_head() {
    let uses = format!("{ENGINE}\npub fn twice() -> u8 {{\n    Builder.build() + Builder.build()\n}}\n\n{BUILDS}");
    let server = serve(&[("engine", "", &uses)]);
    let (_, first) = server.get("/v1/usages?symbol=Builder::build&limit=1");
    assert_eq!(
        (&first["total"], &first["possible_total"], &first["items"]),
        (&json!(2), &json!(1), &json!([])),
        "{first}"
    );
    let doubt = &first["possible"][0];
    assert_eq!((&doubt["line"], &doubt["reason"]), (&json!(15), &json!("macro_input")), "{first}");
    assert!(doubt["detail"].as_str().is_some_and(|it| it.contains("macro")), "{first}");
    let cursor = first["next_cursor"].as_str().unwrap();
    let (_, rest) = server.get(&format!("/v1/usages?symbol=Builder::build&cursor={cursor}"));
    assert_eq!((rest["items"].as_array().map(Vec::len), &rest["possible"]), (Some(2), &json!([])), "{rest}");
    assert_eq!(rest["items"][0].get("reason"), None);

    let text = server.markdown("/v1/usages?symbol=Builder::build", None).text;
    assert!(
        text.starts_with("# 2 usages of method `engine::Builder::build` in 1 file, and 1 possible usage\n"),
        "{text}"
    );
    let (doubt, usage) = (text.find("engine/src/lib.rs:15 (macro_input"), text.find("- engine/src/lib.rs\n"));
    assert!(doubt.is_some() && doubt < usage, "{text}");
    let (_, described) = server.post("/v1/describe", &json!({"symbol": "Builder::build"}));
    assert_eq!(described["usages"]["possible_total"], 1, "{described}");
    // A reply without the list says where it is.
    let (_, callers) = server.get("/v1/callers?symbol=Builder::build");
    assert!(callers["meta"]["missing"].to_string().contains("`usages` lists"), "{callers}");
}

#[test]
fn a_rename_leaves_possible_usages_on_request() {
    let uses = format!("// build\n{ENGINE}\npub fn once() -> u8 {{\n    Builder.build()\n}}\n\n{BUILDS}");
    let server = serve(&[("engine", "", &uses), ("apart", "", BUILDS)]);
    let rename = |more: &Value| {
        let mut request = json!({"symbol": "Builder::build", "new_name": "construct"});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/rename", &request)
    };
    for refuse in [json!({}), json!({"possible": "refuse"})] {
        let (status, refused) = rename(&refuse);
        assert_eq!((status, &refused["code"]), (422, &json!("rename_refused")), "{refused}");
        assert_eq!(refused["candidates"].as_array().map(Vec::len), Some(1), "{refused}");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains("engine/src/lib.rs:16 (in the input of a macro"), "{detail}");
        assert!(detail.contains("`possible: \"leave\"`"), "{detail}");
    }
    let (status, wrong) = rename(&json!({"possible": "guess"}));
    assert_eq!((status, &wrong["code"]), (400, &json!("invalid_request")), "{wrong}");
    let (status, dry) = rename(&json!({"possible": "leave", "dry_run": true}));
    assert_eq!((status, &dry["applied"], &dry["possible"][0]["line"]), (200, &json!(false), &json!(16)), "{dry}");
    assert_eq!(server.home.read("engine/src/lib.rs"), uses);

    let (status, reply) = rename(&json!({"possible": "leave"}));
    assert_eq!((status, &reply["applied"]), (200, &json!(true)), "{reply}");
    let after = server.home.read("engine/src/lib.rs");
    assert!(after.contains("pub fn construct(") && after.contains("Builder.construct()"), "{after}");
    assert!(after.contains("$x.build()"), "{after}");
    let left = &reply["possible"][0];
    let span = |name: &str| usize::try_from(left[name].as_u64().unwrap()).unwrap();
    assert_eq!(&after[span("start")..span("end")], "build", "{reply}");
    assert_eq!(
        (reply["possible"].as_array().map(Vec::len), &left["reason"]),
        (Some(1), &json!("macro_input")),
        "{reply}"
    );
}

#[test]
fn a_rename_is_not_refused_for_places_that_cannot_be_meant() {
    let server = serve(&[("engine", "", ENGINE), ("apart", "", BUILDS)]);
    assert_eq!(usages(&server, "Builder::build")["meta"]["complete"], true);
    let (status, reply) = server.post("/v1/rename", &json!({"symbol": "Builder::build", "new_name": "construct"}));
    assert_eq!((status, &reply["applied"], reply.get("possible")), (200, &json!(true), None), "{reply}");
    assert_eq!(server.home.read("apart/src/lib.rs"), BUILDS);
}

/// A file that no crate includes, in code of no build, can be the root of a crate, which names what libraries export.
#[test]
fn a_file_outside_of_all_crates_names_only_what_is_exported() {
    let server = Server::on(&[
        ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        (
            "src/lib.rs",
            "pub fn shown() {}\nfn hidden() {}\npub fn user() {\n    hidden()\n}\n#[cfg(windows)]\nmod later;\n",
        ),
        ("src/later.rs", "pub fn late() {\n    super::hidden()\n}\n"),
        ("tests/one.rs", "struct Case;\n#[test]\nfn one() {\n    let _ = Case;\n    app::shown();\n}\n"),
        ("tests/ui/alone.rs", "mod beside;\nfn main() {\n    app::shown();\n    hidden();\n    let _ = Case;\n}\n"),
        ("tests/ui/beside.rs", "fn hidden() {}\nfn other() {\n    hidden();\n    super::Case;\n}\n"),
    ]);
    let listed = |symbol: &str, list: &str| {
        let path = format!("/v1/usages?symbol={symbol}");
        server.wait_for(|it| {
            let (_, reply) = it.get(&path);
            !reply["meta"]["missing"].to_string().contains("indexing")
        });
        let (_, reply) = server.get(&path);
        let places = reply[list].as_array().unwrap_or_else(|| panic!("{reply}")).iter();
        places.map(|it| format!("{}:{}", it["file"].as_str().unwrap(), it["line"])).collect::<Vec<_>>()
    };
    assert_eq!(listed("app::shown", "outside_builds"), ["tests/ui/alone.rs:3"]);
    for symbol in ["app::shown", "one::Case", "app::hidden"] {
        assert_eq!(listed(symbol, "possible"), [""; 0], "{symbol}");
    }
    for symbol in ["one::Case", "app::hidden"] {
        assert_eq!(listed(symbol, "outside_builds"), [""; 0], "{symbol}");
    }
}

/// Attributes of the language name no symbol, and a path from a macro's crate means the same in every call.
#[test]
fn attributes_and_paths_in_macros_that_nobody_calls_are_known() {
    let lib = "pub mod parts {
    pub struct Part(pub u8);
    impl Part {
        pub fn of(it: u8) -> Part { Part(it) }
        pub fn not(&self) -> u8 { self.0 }
        pub fn inline(&self) -> u8 { self.0 }
    }
    pub fn level() -> u8 { 1 }
}
pub struct Other;
impl Other {
    pub fn of(_: u8) -> Other { Other }
}
#[macro_export]
macro_rules! parts {
    ($x:expr) => {{
        #[cfg(not(feature = \"std\"))]
        #[inline]
        fn helper() {}
        use $crate::parts::{Part, level};
        ($crate::parts::Part::of($x), Part::of($x), $crate::Other::<>::of(level()))
    }};
}
";
    let server = serve(&[("app", "", lib)]);
    let of = |symbol: &str| {
        let reply = server.get(&format!("/v1/usages?symbol={symbol}")).1;
        let lines =
            |it: &Value| it.as_array().unwrap().iter().map(|it| it["line"].as_u64().unwrap()).collect::<Vec<_>>();
        (lines(&reply["items"]), lines(&reply["possible"]))
    };
    assert_eq!(of("app::parts::Part::not"), (vec![], vec![]));
    assert_eq!(of("app::parts::Part::inline"), (vec![], vec![]));
    assert_eq!(of("app::parts::Part::of"), (vec![21], vec![21]));
    assert_eq!(of("app::Other::of"), (vec![21], vec![21]));
    assert_eq!(of("app::parts").0, [20, 21]);
    assert_eq!(of("app::parts::level").0, [20]);
    assert_eq!(of("app::Other"), (vec![11, 12, 12, 21], vec![]));
}

/// Whether a file is compiled at all is decided by all texts as they are now, not by those that the index has read.
#[test]
fn a_file_that_was_just_declared_may_name_what_is_private() {
    let server = serve(&[("app", "", "struct Tag;\nfn first() -> Tag { Tag }\n")]);
    server.home.write("app/src/extra.rs", "use super::Tag;\npub fn second() -> Tag { Tag }\n");
    server.wait_for(|it| it.get("/v1/usages?symbol=app::Tag").1["meta"]["complete"] == true);
    for round in 0..5 {
        let declared = format!("struct Tag;\nfn first() -> Tag {{ Tag }}\n#[cfg(loom)]\nmod extra;\n// {round}\n");
        server.home.write("app/src/lib.rs", &declared);
        let reply = server.get("/v1/usages?symbol=app::Tag").1;
        assert_eq!((&reply["meta"]["complete"], &reply["possible_total"]), (&json!(false), &json!(3)), "{reply}");
        server.home.write("app/src/lib.rs", "struct Tag;\nfn first() -> Tag { Tag }\n");
        let reply = server.get("/v1/usages?symbol=app::Tag").1;
        assert_eq!(reply["meta"]["complete"], true, "{reply}");
    }
}
