//! Languages that language servers of their own serve: the real servers, installed by scripts/install-missing.sh.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Home, Server};

/// The directory of the programs; a test without them fails.
pub fn tools() -> PathBuf {
    let tools = std::env::var_os("SEMDEX_TOOLS")
        .map_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tools"), PathBuf::from);
    let bin = tools.join("lsp/bin");
    assert!(bin.join("tsc").exists(), "no language servers in {}: scripts/install-missing.sh lsp", bin.display());
    bin
}

/// A trusted workspace with these files, and the servers on the search path.
fn serve(files: &[(&str, &str)]) -> Server {
    let path = format!("{}:{}", tools().display(), std::env::var("PATH").unwrap());
    Home::with(files).serve_with(&["--trust"], &[("PATH", Path::new(&path))])
}

fn engine(server: &Server, language: &str) -> Value {
    let (_, status) = server.get("/v1/status");
    let engines = status["workspaces"][0]["engines"].as_array().unwrap().clone();
    engines
        .into_iter()
        .find(|it| it["language"] == language)
        .unwrap_or_else(|| panic!("no engine of {language}: {status}"))
}

/// The lines of the usages of a symbol, which have to be all.
#[track_caller]
fn usages(server: &Server, symbol: &str) -> Vec<String> {
    let (status, reply) = server.get(&format!("/v1/usages?symbol={symbol}"));
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    let items = reply["items"].as_array().unwrap().iter();
    let mut lines: Vec<String> = items
        .map(|it| format!("{}:{} {}", it["file"].as_str().unwrap(), it["line"], it["role"].as_str().unwrap()))
        .collect();
    lines.sort();
    lines
}

#[track_caller]
fn errors(server: &Server, path: &str) -> Vec<String> {
    let (status, reply) = server.get(path);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    let items = reply["items"].as_array().unwrap().iter().filter(|it| it["severity"] == "error");
    items
        .map(|it| format!("{}:{} {}", it["file"].as_str().unwrap(), it["line"], it["code"].as_str().unwrap_or("-")))
        .collect()
}

fn broken(reply: &Value) -> Vec<String> {
    let broken = reply["impact"]["broken"].as_array().unwrap_or_else(|| panic!("{reply}")).iter();
    broken.map(|it| format!("{}:{}", it["file"].as_str().unwrap(), it["line"])).collect()
}

const PY_LIB: &str = "\"\"\"A shop.\"\"\"\n\n\nclass Shop:\n    \"\"\"Sells.\"\"\"\n\n    def __init__(self, name: str) -> None:\n        self.name = name\n\n    def sell(self, count: int) -> str:\n        \"\"\"Sells some.\"\"\"\n        return self.name * count\n\n\ndef open_shop(name: str) -> Shop:\n    return Shop(name)\n";
const PY_MAIN: &str = "from pkg.shop import Shop, open_shop\n\n\ndef main() -> None:\n    shop: Shop = open_shop(\"a\")\n    # sell\n    print(shop.sell(2), \"sell\")\n";

fn python() -> Server {
    serve(&[
        ("pyproject.toml", "[project]\nname = \"pkg\"\n"),
        ("pkg/__init__.py", ""),
        ("pkg/shop.py", PY_LIB),
        ("main.py", PY_MAIN),
        (
            "tests/test_shop.py",
            "from pkg.shop import open_shop\n\n\ndef test_sell() -> None:\n    assert open_shop(\"b\").sell(1) == \"b\"\n",
        ),
    ])
}

#[test]
fn python_is_read() {
    let server = python();
    assert_eq!(engine(&server, "python")["state"], "idle");
    // The text alone, before any server is up.
    let opened = server.send(server.request("POST", "/v1/open").json(&json!({"file": "pkg/shop.py"}))).json();
    assert_eq!(
        (&opened["language"], &opened["package"], &opened["docs"]),
        (&json!("python"), &json!("pkg.shop"), &json!("A shop."))
    );
    let skeleton = opened["skeleton"].as_str().unwrap();
    assert!(skeleton.contains("        \"\"\"Sells some.\"\"\"\n        ...  # 1 line\n"), "{skeleton}");
    assert_eq!(opened["symbols"][0]["children"][1]["path"], "pkg/shop.py::Shop.sell", "{opened}");

    let sell = ["main.py:7 call", "tests/test_shop.py:5 call"];
    for name in ["pkg/shop.py::Shop.sell", "Shop.sell", "pkg.shop.Shop.sell", "sell"] {
        assert_eq!(usages(&server, name), sell, "{name}");
    }
    assert_eq!(
        usages(&server, "pkg/shop.py::Shop"),
        ["main.py:1 import", "main.py:5 type", "pkg/shop.py:15 type", "pkg/shop.py:16 call"]
    );
    let ready = engine(&server, "python");
    assert_eq!((&ready["name"], &ready["state"]), (&json!("basedpyright"), &json!("ready")), "{ready}");

    let (_, described) = server.post("/v1/describe", &json!({"symbol": "Shop.sell"}));
    assert_eq!(
        (&described["docs"], &described["container"]["path"]),
        (&json!("Sells some."), &json!("pkg/shop.py::Shop")),
        "{described}"
    );
    assert!(described["source"].as_str().unwrap().starts_with("def sell(self"), "{described}");
    assert_eq!(described["examples"][0]["title"], "test_sell", "{described}");
    let (_, at) = server.get("/v1/symbols/at?file=main.py&line=7&column=16");
    assert_eq!(
        (&at["symbol"]["path"], &at["definition"]["line"]),
        (&json!("pkg/shop.py::Shop.sell"), &json!(10)),
        "{at}"
    );
    let (_, callers) = server.get("/v1/callers?symbol=open_shop");
    let names: Vec<&Value> = callers["items"].as_array().unwrap().iter().map(|it| &it["symbol"]["path"]).collect();
    assert_eq!(names, ["main.py::main", "tests/test_shop.py::test_sell"], "{callers}");
    let (_, callees) = server.get("/v1/callees?symbol=main.py::main");
    let names: Vec<&Value> = callees["items"].as_array().unwrap().iter().map(|it| &it["symbol"]["path"]).collect();
    assert_eq!(names, ["pkg/shop.py::Shop.sell", "pkg/shop.py::open_shop"], "{callees}");
    let (_, found) = server.get("/v1/symbols?query=opensh");
    assert_eq!(
        (&found["symbols"][0]["path"], &found["meta"]["complete"]),
        (&json!("pkg/shop.py::open_shop"), &json!(true)),
        "{found}"
    );
    let (status, miss) = server.get("/v1/usages?symbol=pkg/shop.py::Shop.sel");
    assert_eq!((status, &miss["suggestions"][0]), (404, &json!("pkg/shop.py::Shop.sell")), "{miss}");
    assert_eq!(errors(&server, "/v1/diagnostics"), [""; 0]);
}

#[test]
fn python_is_edited_and_others_write() {
    let server = python();
    let edit = |dry_run: bool| json!({"file": "pkg/shop.py", "search_context": "def sell(self, count: int)", "replacement": "def sell(self, count: int, bag: str)", "dry_run": dry_run});
    let (status, planned) = server.post("/v1/edit", &edit(true));
    assert_eq!((status, &planned["applied"]), (200, &json!(false)), "{planned}");
    assert_eq!(broken(&planned), ["main.py:7", "tests/test_shop.py:5"], "{planned}");
    let changed = &planned["impact"]["changed"][0];
    assert_eq!(
        (&changed["symbol"], &changed["kind"]),
        (&json!("pkg/shop.py::Shop.sell"), &json!("signature")),
        "{planned}"
    );
    assert_eq!(planned["impact"]["broken"][0]["code"], "reportCallIssue", "{planned}");
    // Nothing of it stays.
    assert_eq!(errors(&server, "/v1/diagnostics"), [""; 0]);
    let (status, harmless) = server.post("/v1/edit", &json!({"file": "pkg/shop.py", "search_context": "return self.name * count", "replacement": "return count * self.name", "dry_run": true}));
    assert_eq!((status, broken(&harmless)), (200, vec![]), "{harmless}");
    assert_eq!(harmless["impact"]["affected"].as_array().unwrap().len(), 2, "{harmless}");

    let (_, made) = server.post("/v1/edit", &edit(false));
    assert_eq!(made["applied"], true, "{made}");
    assert_eq!(
        errors(&server, "/v1/diagnostics"),
        ["main.py:7 reportCallIssue", "tests/test_shop.py:5 reportCallIssue"]
    );
    // Whoever writes, the next answer knows.
    server.home.write("main.py", &PY_MAIN.replace("sell(2)", "sell(2, \"x\")"));
    assert_eq!(errors(&server, "/v1/diagnostics?file=main.py"), [""; 0]);
    server.home.write("more.py", "from pkg.shop import open_shop\n\nopen_shop(\"c\").sell(3, \"y\")\n");
    assert_eq!(usages(&server, "Shop.sell"), ["main.py:7 call", "more.py:3 call", "tests/test_shop.py:5 call"]);
    std::fs::remove_file(server.home.root().join("more.py")).unwrap();
    assert_eq!(usages(&server, "Shop.sell"), ["main.py:7 call", "tests/test_shop.py:5 call"]);

    let (status, renamed) = server.post("/v1/rename", &json!({"symbol": "Shop.sell", "new_name": "vend"}));
    assert_eq!((status, &renamed["applied"]), (200, &json!(true)), "{renamed}");
    assert!(server.home.read("main.py").contains("shop.vend(2, \"x\"), \"sell\""), "{}", server.home.read("main.py"));
    assert!(server.home.read("pkg/shop.py").contains("def vend(self"));
}

#[test]
fn typescript_is_read_and_edited() {
    let server = serve(&[
        ("package.json", "{\"name\": \"shop\"}\n"),
        (
            "tsconfig.json",
            "{\"compilerOptions\": {\"strict\": true, \"target\": \"es2022\", \"module\": \"esnext\", \"moduleResolution\": \"bundler\", \"jsx\": \"preserve\"}, \"include\": [\"src\"]}\n",
        ),
        (
            "src/shop.ts",
            "/** Sells. */\nexport class Shop {\n  constructor(readonly name: string) {}\n\n  sell(count: number): string {\n    return this.name.repeat(count);\n  }\n}\n\nexport function openShop(name: string): Shop {\n  return new Shop(name);\n}\n",
        ),
        (
            "src/main.ts",
            "import { openShop, type Shop } from './shop';\n\nexport function main(): void {\n  const shop: Shop = openShop('a');\n  // sell\n  console.log(shop.sell(2), 'sell');\n}\n",
        ),
        ("src/again.ts", "export { openShop as begin } from './shop';\n"),
    ]);
    let (_, opened) = server.post("/v1/open", &json!({"file": "src/shop.ts"}));
    assert!(
        opened["skeleton"].as_str().unwrap().contains("  sell(count: number): string { /* 1 line */ }\n"),
        "{opened}"
    );
    assert_eq!(usages(&server, "src/shop.ts::Shop.sell"), ["src/main.ts:6 call"]);
    assert_eq!(
        usages(&server, "openShop"),
        ["src/again.ts:1 import", "src/again.ts:1 import", "src/main.ts:1 import", "src/main.ts:4 call"]
    );
    let running = engine(&server, "typescript");
    assert_eq!((&running["name"], &running["state"]), (&json!("tsc"), &json!("ready")), "{running}");
    assert_eq!(errors(&server, "/v1/diagnostics"), [""; 0]);

    let edit = |dry_run: bool| json!({"symbol": "src/shop.ts::Shop.sell", "at": "whole", "replacement": "sell(count: number, bag: string): string {\n    return bag + this.name.repeat(count);\n  }", "dry_run": dry_run});
    let (_, planned) = server.post("/v1/edit", &edit(true));
    assert_eq!(broken(&planned), ["src/main.ts:6"], "{planned}");
    assert_eq!(planned["impact"]["broken"][0]["code"], "2554", "{planned}");
    assert_eq!(errors(&server, "/v1/diagnostics"), [""; 0]);
    let (_, made) = server.post("/v1/edit", &edit(false));
    assert_eq!(made["applied"], true, "{made}");
    assert_eq!(errors(&server, "/v1/diagnostics"), ["src/main.ts:6 2554"]);
    server.home.write("src/shop.ts", "export const nothing = 1;\n");
    let found = errors(&server, "/v1/diagnostics");
    assert!(found.contains(&"src/again.ts:1 2305".to_owned()) && found.len() >= 3, "{found:?}");
}

#[test]
fn c_is_read_and_edited() {
    let server = serve(&[
        ("compile_flags.txt", "-Wall\n"),
        ("shop.h", "typedef struct Shop {\n  int count;\n} Shop;\n\nint shop_sell(Shop *shop, int count);\n"),
        (
            "shop.c",
            "#include \"shop.h\"\n\nint shop_sell(Shop *shop, int count) {\n  shop->count -= count;\n  return shop->count;\n}\n",
        ),
        ("main.c", "#include \"shop.h\"\n\nint main(void) {\n  Shop shop = {3};\n  return shop_sell(&shop, 1);\n}\n"),
    ]);
    let (_, opened) = server.post("/v1/open", &json!({"file": "shop.c"}));
    assert_eq!(
        (&opened["language"], &opened["symbols"][0]["path"]),
        (&json!("c"), &json!("shop.c::shop_sell")),
        "{opened}"
    );
    let found = usages(&server, "shop_sell");
    assert!(found.contains(&"main.c:5 call".to_owned()), "{found:?}");
    assert!(usages(&server, "shop.h::Shop.count").len() >= 2);
    assert_eq!(errors(&server, "/v1/diagnostics"), [""; 0]);
    // A header that changes is seen by those that include it.
    server
        .home
        .write("shop.h", "typedef struct Shop {\n  int amount;\n} Shop;\n\nint shop_sell(Shop *shop, int count);\n");
    let found = errors(&server, "/v1/diagnostics");
    assert!(found.iter().all(|it| it.starts_with("shop.c:")) && !found.is_empty(), "{found:?}");
}

#[test]
fn shell_scripts_are_read() {
    let server = serve(&[
        ("lib.sh", "#!/bin/bash\ngreet() {\n  echo \"hello $1\"\n}\n"),
        ("main.sh", "#!/bin/bash\nsource ./lib.sh\ngreet you\n# greet\n"),
    ]);
    let (_, opened) = server.post("/v1/open", &json!({"file": "lib.sh"}));
    assert_eq!(
        (&opened["language"], &opened["symbols"][0]["path"]),
        (&json!("bash"), &json!("lib.sh::greet")),
        "{opened}"
    );
    let (status, found) = server.get("/v1/usages?symbol=lib.sh::greet");
    assert_eq!((status, &found["items"][0]["file"]), (200, &json!("main.sh")), "{found}");
    assert_eq!(found["total"], 1, "{found}");
}

#[test]
fn a_server_that_is_missing_is_said_to_be() {
    let home = Home::with(&[
        ("a.py", "def f(): pass\n\n\nf()\n"),
        ("semdex.toml", "[languages.python]\ncommand = ['no-such-server', '--stdio']\n"),
    ]);
    let server = home.serve(&["--trust"]);
    let missing = engine(&server, "python");
    assert_eq!((&missing["state"], &missing["name"]), (&json!("missing"), &json!("no-such-server")), "{missing}");
    for path in ["/v1/diagnostics", "/v1/diagnostics?file=a.py", "/v1/usages?symbol=a.py::f"] {
        let (status, reply) = server.get(path);
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{reply}");
        let codes = &reply["meta"]["missing"][0];
        assert_eq!(codes["code"], "engine_missing", "{reply}");
        assert!(codes["detail"].as_str().unwrap().contains("pip install basedpyright"), "{reply}");
    }
    let (_, edited) =
        server.post("/v1/edit", &json!({"file": "a.py", "search_context": "def f():", "replacement": "def f(x):"}));
    assert_eq!((&edited["applied"], &edited["meta"]["complete"]), (&json!(true), &json!(false)), "{edited}");
    assert_eq!(edited["impact"]["unchecked"][0]["code"], "engine_missing", "{edited}");
    // What the text tells is told.
    let (_, possible) = server.get("/v1/usages?symbol=f");
    assert_eq!(possible["possible"][0]["line"], 4, "{possible}");
    let (status, state) = server.get("/v1/status");
    assert!(
        status == 200 && ["ready", "degraded"].contains(&state["workspaces"][0]["state"].as_str().unwrap()),
        "{state}"
    );
}

/// A workspace that the server of the tests serves, and where it reads how it is to behave.
fn fake(mode: &str, more: &[(&str, &str)]) -> Server {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fake_server.py");
    let mut files =
        vec![("lib.py", "def greet(name):\n    return name\n"), ("main.py", "greet(1)\n# greet\ngreet(2)\n")];
    files.extend(more);
    let home = Home::with(&files);
    let path = home.path();
    let settings = format!(
        "[languages.python]\ncommand = ['python3', '{}']\nreadiness = {{}}\ndeadline_s = 2\nenv = {{FAKE_MODE = '{}', FAKE_PIDS = '{}'}}\n",
        program.display(),
        path.join("mode").display(),
        path.join("pids").display(),
    );
    home.write("semdex.toml", &settings);
    std::fs::write(path.join("mode"), mode).unwrap();
    home.serve(&["--trust"])
}

/// The servers of the tests that live.
fn living(server: &Server) -> Vec<String> {
    let pids = std::fs::read_to_string(server.home.path().join("pids")).unwrap_or_default();
    let is_alive =
        |pid: &&str| std::fs::read_to_string(format!("/proc/{pid}/status")).is_ok_and(|it| !it.contains("State:\tZ"));
    pids.lines().filter(is_alive).map(str::to_owned).collect()
}

#[test]
fn a_server_that_misbehaves_is_never_believed() {
    let mut server = fake("mean", &[]);
    let expected = ["main.py:1 call", "main.py:3 call"];
    let mut right = 0;
    for round in 0..100 {
        let asked = match round % 2 {
            0 => "/v1/usages?symbol=lib.py::greet&wait_ms=1000",
            _ => "/v1/diagnostics?file=main.py&wait_ms=1000",
        };
        let reply = server.send(server.request("GET", asked));
        let is_complete = reply.status == 200 && reply.json()["meta"]["complete"] == true;
        assert!(
            is_complete || reply.status >= 500 || !reply.json()["meta"]["missing"].as_array().unwrap().is_empty(),
            "{}",
            reply.text
        );
        if is_complete {
            let wanted = if round % 2 == 0 { 2 } else { 0 };
            assert_eq!(reply.json()["total"], wanted, "{}", reply.text);
            right += 1;
        }
    }
    assert!(right > 5, "{right} of 100 were answered");
    // Once it behaves, it is believed again.
    std::fs::write(server.home.path().join("mode"), "sound").unwrap();
    server.wait_for(|it| it.get("/v1/usages?symbol=lib.py::greet").1["meta"]["complete"] == true);
    assert_eq!(usages(&server, "lib.py::greet"), expected);
    let (_, planned) = server.post("/v1/edit", &json!({"symbol": "lib.py::greet", "at": "whole", "replacement": "def hail(name):\n    return name\n", "dry_run": true}));
    assert_eq!(broken(&planned), ["main.py:1", "main.py:3"], "{planned}");
    assert_eq!(living(&server).len(), 1);
    server.signal(rustix::process::Signal::KILL);
    server.wait();
    server.wait_for(|it| living(it).is_empty());
}

#[test]
fn what_others_write_is_never_answered_stale() {
    let server = fake("sound", &[]);
    assert_eq!(usages(&server, "lib.py::greet").len(), 2);
    for round in 0..100 {
        let calls = round % 7 + 1;
        server.home.write("main.py", &"greet(1)\n".repeat(calls));
        let (status, reply) = server.get("/v1/usages?symbol=lib.py::greet");
        assert_eq!(
            (status, &reply["total"], &reply["meta"]["complete"]),
            (200, &json!(calls), &json!(true)),
            "{reply}"
        );
    }
    let server = server.restart(&["--trust"]);
    assert_eq!(usages(&server, "lib.py::greet").len(), 99 % 7 + 1);
    assert_eq!(living(&server).len(), 1, "the first ended with its server");
}

#[test]
fn a_language_is_added_by_configuration_alone() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fake_server.py");
    let home = Home::with(&[("a.nim", "proc greet()\n"), ("b.nim", "greet()\n")]);
    let settings = format!(
        "[languages.nim]\ncommand = ['python3', '{}']\nextensions = {{nim = 'nim'}}\nenv = {{FAKE_MODE = '/dev/null', FAKE_PIDS = '/dev/null'}}\n",
        program.display()
    );
    home.write("semdex.toml", &settings);
    let server = home.serve(&["--trust"]);
    assert_eq!(engine(&server, "nim")["name"], "python3");
    let (_, opened) = server.post("/v1/open", &json!({"file": "a.nim"}));
    assert_eq!((&opened["language"], &opened["skeleton"]), (&json!("nim"), &json!("proc greet()\n")), "{opened}");
    // What its server cannot do is said.
    let (status, reply) = server.get("/v1/usages?symbol=a.nim::greet");
    assert!(status != 200 || reply["meta"]["complete"] == false, "{reply}");
}

#[test]
fn an_untrusted_workspace_runs_none_of_its_code() {
    let server = Home::with(&[("a.py", "x = 1\n"), ("semdex.toml", "[languages.python]\ncommand = ['./evil']\n")])
        .serve(&["--no-trust"]);
    let (_, reply) = server.get("/v1/diagnostics?file=a.py");
    assert_eq!(
        (&reply["meta"]["complete"], &reply["meta"]["missing"][0]["code"]),
        (&json!(false), &json!("untrusted")),
        "{reply}"
    );
    assert_eq!(engine(&server, "python")["name"], "basedpyright");
}
