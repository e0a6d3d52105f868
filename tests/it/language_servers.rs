//! Languages with a language server: the real servers, installed by scripts/install-missing.sh.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bad_servers::lacks_at_once;
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
pub fn serve(files: &[(&str, &str)]) -> Server {
    serve_home(Home::with(files))
}

/// The same, of what a test has prepared.
pub fn serve_home(home: Home) -> Server {
    let path = format!("{}:{}", tools().display(), std::env::var("PATH").unwrap());
    home.serve_with(&["--trust"], &[("PATH", Path::new(&path))])
}

pub fn engine(server: &Server, language: &str) -> Value {
    let (_, status) = server.get("/v1/status");
    let engines = status["workspaces"][0]["engines"].as_array().unwrap().clone();
    engines
        .into_iter()
        .find(|it| it["language"] == language)
        .unwrap_or_else(|| panic!("no engine of {language}: {status}"))
}

/// The lines of the usages of a symbol, which have to be all.
#[track_caller]
pub fn usages(server: &Server, symbol: &str) -> Vec<String> {
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
pub fn errors(server: &Server, path: &str) -> Vec<String> {
    let (status, reply) = server.get(path);
    assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
    let items = reply["items"].as_array().unwrap().iter().filter(|it| it["severity"] == "error");
    items
        .map(|it| format!("{}:{} {}", it["file"].as_str().unwrap(), it["line"], it["code"].as_str().unwrap_or("-")))
        .collect()
}

pub fn broken(reply: &Value) -> Vec<String> {
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
    // The next answer includes a write of any program.
    server.home.write("main.py", &PY_MAIN.replace("sell(2)", "sell(2, \"x\")"));
    assert_eq!(errors(&server, "/v1/diagnostics?file=main.py"), [""; 0]);
    server.home.write("more.py", "from pkg.shop import open_shop\n\nopen_shop(\"c\").sell(3, \"y\")\n");
    assert_eq!(usages(&server, "Shop.sell"), ["main.py:7 call", "more.py:3 call", "tests/test_shop.py:5 call"]);
    std::fs::remove_file(server.home.root().join("more.py")).unwrap();
    assert_eq!(usages(&server, "Shop.sell"), ["main.py:7 call", "tests/test_shop.py:5 call"]);

    // A body by its indentation is replaced without a line too many.
    let body = json!({"symbol": "Shop.sell", "at": "body", "replacement": "        count += 1\n        return self.name * count\n"});
    let before = server.home.read("pkg/shop.py");
    let (status, done) = server.post("/v1/edit", &body);
    let (doc, code) =
        ("\"\"\"Sells some.\"\"\"\n        return self.name * count", "count += 1\n        return self.name * count");
    let wanted = before.replace(doc, code);
    assert_eq!((status, server.home.read("pkg/shop.py")), (200, wanted), "{done}");
    // What an import of one part names is no part of the package around.
    server.home.write("pkg/paths.py", "import os\n\nHERE = os.getcwd()\n");
    let (_, opened) = server.post("/v1/open", &json!({"file": "pkg/paths.py"}));
    let upstream = opened["upstream"].as_array().unwrap();
    assert!(upstream.iter().all(|it| it["package"] == "os" && it["external"] == true), "{opened}");

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

/// What a server says while a new file is only tried, and is not on the disk, does not count once it is written.
#[test]
fn a_file_that_comes_is_known_to_who_imports_it() {
    let server = serve(&[
        ("py/pkg/__init__.py", ""),
        ("tsconfig.json", "{\"compilerOptions\": {\"module\": \"esnext\", \"moduleResolution\": \"bundler\"}}\n"),
        ("ts/first.ts", "export const first = 1;\n"),
    ]);
    assert_eq!(errors(&server, "/v1/diagnostics"), [""; 0]);
    let write = |name: &str, content: &str| {
        let (status, made) = server.post("/v1/write", &json!({"name": name, "content": content}));
        assert_eq!((status, &made["applied"]), (200, &json!(true)), "{made}");
    };
    // In its first five seconds nothing is kept of what a server says: so again and again for longer.
    let begun = Instant::now();
    let mut round = 0;
    while begun.elapsed() < Duration::from_secs(7) {
        round += 1;
        write(&format!("py/pkg/x{round}.py"), &format!("from .y{round} import zz\n"));
        assert_eq!(errors(&server, &format!("/v1/diagnostics?file=py/pkg/x{round}.py")).len(), 1, "round {round}");
        write(&format!("py/pkg/y{round}.py"), "zz = 1\n");
        assert_eq!(errors(&server, &format!("/v1/diagnostics?file=py/pkg/x{round}.py")), [""; 0], "round {round}");
        write(&format!("ts/x{round}.ts"), &format!("import {{ zz }} from './y{round}';\nzz;\n"));
        assert_eq!(errors(&server, &format!("/v1/diagnostics?file=ts/x{round}.ts")).len(), 1, "round {round}");
        write(&format!("ts/y{round}.ts"), "export const zz = 1;\n");
        assert_eq!(errors(&server, &format!("/v1/diagnostics?file=ts/x{round}.ts")), [""; 0], "round {round}");
    }
    let (_, gate) = server.get("/v1/gate");
    assert_eq!(gate["block"], false, "{gate}");
}

#[test]
fn how_c_is_compiled_is_followed() {
    let source = "int f(void) {\n#ifdef FOO\n  return nothing;\n#else\n  return 1;\n#endif\n}\n";
    let home = Home::with(&[("fl.c", source), ("deep/fl.c", source)]);
    let root = home.root();
    let commands = |flag: &str| {
        let command = |file: &str| json!({"directory": root, "file": file, "arguments": ["cc", flag, "-c", file]});
        json!([command("fl.c")]).to_string()
    };
    home.write("compile_commands.json", &commands("-DFOO"));
    let server = serve_home(home);
    let found = |file: &str| errors(&server, &format!("/v1/diagnostics?file={file}"));
    assert_eq!(found("fl.c"), ["fl.c:3 undeclared_var_use"]);
    server.home.write("compile_commands.json", &commands("-DBAR"));
    assert_eq!(found("fl.c"), [""; 0]);
    // A file that comes nearer to another one counts for it, and a file that is removed no longer does.
    assert_eq!(found("deep/fl.c"), [""; 0]);
    server.home.write("deep/compile_flags.txt", "-DFOO\n");
    assert_eq!(found("deep/fl.c"), ["deep/fl.c:3 undeclared_var_use"]);
    std::fs::remove_file(server.home.root().join("deep/compile_flags.txt")).unwrap();
    assert_eq!(found("deep/fl.c"), [""; 0]);
    server.home.write(".clangd", "CompileFlags:\n  Add: [-DFOO]\n");
    assert_eq!(found("fl.c"), ["fl.c:3 undeclared_var_use"]);
}

#[test]
fn a_root_that_comes_below_the_workspace_counts() {
    let server = serve(&[("py/a.py", "import os\n\n\ndef f(x):\n    return x\n"), ("b.py", "import os\n")]);
    assert_eq!(errors(&server, "/v1/diagnostics"), [""; 0]);
    server.home.write("py/pyrightconfig.json", "{\"typeCheckingMode\": \"strict\"}\n");
    let found = errors(&server, "/v1/diagnostics?file=py/a.py");
    assert!(found.contains(&"py/a.py:1 reportUnusedImport".to_owned()), "{found:?}");
    std::fs::remove_file(server.home.root().join("py/pyrightconfig.json")).unwrap();
    assert_eq!(errors(&server, "/v1/diagnostics?file=py/a.py"), [""; 0]);
}

#[test]
fn the_configuration_of_python_counts_at_once() {
    let project = |rule: &str| format!("[project]\nname = \"x\"\nversion = \"1\"\n\n[tool.basedpyright]\n{rule}\n");
    let server = serve(&[
        ("pyproject.toml", &project("")),
        ("m.py", "def f(x: str) -> int:\n    return 1\n\n\nf(1)\n"),
        ("n.py", "import lx\n"),
        ("libs/lx.py", "y = 1\n"),
    ]);
    let (argument, import) = ("m.py:5 reportArgumentType", "n.py:1 reportMissingImports");
    assert_eq!(errors(&server, "/v1/diagnostics"), [argument, import]);
    for _ in 0..2 {
        server.home.write("pyproject.toml", &project("reportArgumentType = false"));
        assert_eq!(errors(&server, "/v1/diagnostics"), [import]);
        server.home.write("pyproject.toml", &project("reportArgumentType = true\nextraPaths = [\"libs\"]"));
        assert_eq!(errors(&server, "/v1/diagnostics"), [argument]);
    }
    server.home.write("pyrightconfig.json", "{\"reportArgumentType\": false, \"extraPaths\": [\"libs\"]}\n");
    assert_eq!(errors(&server, "/v1/diagnostics"), [""; 0]);
}

/// Of a dry run the places that it breaks.
#[track_caller]
fn breaks(server: &Server, file: &str, old: &str, new: &str) -> Vec<String> {
    let edit = json!({"file": file, "search_context": old, "replacement": new, "dry_run": true});
    let (status, planned) = server.post("/v1/edit", &edit);
    assert_eq!((status, &planned["meta"]["complete"]), (200, &json!(true)), "{planned}");
    broken(&planned)
}

#[test]
fn a_change_reaches_who_does_not_name_it() {
    let server = serve(&[
        ("pyproject.toml", "[project]\nname = \"pkg\"\n"),
        ("a.py", "from dataclasses import dataclass\n\n\n@dataclass\nclass A:\n    one: int\n"),
        ("b.py", "from a import A\n\nx = A(1)\n"),
        ("c.py", "class K:\n    def __init__(self) -> None:\n        self.size = 1\n"),
        ("d.py", "from c import K\n\n\ndef f(k: K) -> int:\n    return k.size\n"),
        ("e.py", "from d import f as g\n"),
        ("h.py", "from e import g\n\ng\n"),
    ]);
    assert_eq!(breaks(&server, "a.py", "    one: int\n", "    one: int\n    two: int\n"), ["b.py:3"]);
    assert_eq!(breaks(&server, "c.py", "self.size = 1", "self.size = \"x\""), ["d.py:5"]);
    assert_eq!(breaks(&server, "d.py", "def f(k: K)", "def h(k: K)"), ["e.py:1", "h.py:1"]);
    assert_eq!(breaks(&server, "e.py", "from d import f as g\n", "from d import f as other\n\nx = 1\n"), ["h.py:1"]);

    let server = serve(&[
        ("package.json", "{\"name\": \"x\"}\n"),
        (
            "tsconfig.json",
            "{\"compilerOptions\": {\"strict\": true, \"module\": \"esnext\", \"moduleResolution\": \"bundler\"}, \"include\": [\"src\"]}\n",
        ),
        ("src/i.ts", "export interface I {\n  a: number;\n}\n"),
        (
            "src/use.ts",
            "import type { I } from './i';\nexport const x: I = { a: 1 };\nexport function take(i: I): void {}\n",
        ),
        ("src/far.ts", "import { take } from './use';\ntake({ a: 2 });\n"),
        ("src/def.ts", "export default function whatever(n: number): number {\n  return n;\n}\n"),
        ("src/other.ts", "import mine from './def';\nmine(1);\n"),
        ("src/again.ts", "export { x as y } from './use';\nexport const here = 1;\n"),
        ("src/last.ts", "import { y } from './again';\nconsole.log(y);\n"),
    ]);
    assert_eq!(
        breaks(&server, "src/i.ts", "  a: number;\n", "  a: number;\n  b: string;\n"),
        ["src/far.ts:2", "src/use.ts:2"]
    );
    assert_eq!(
        breaks(&server, "src/def.ts", "whatever(n: number)", "whatever(n: string)"),
        ["src/def.ts:2", "src/other.ts:2"]
    );
    let re_export = "export { x as y } from './use';\nexport const here = 1;\n";
    assert_eq!(
        breaks(&server, "src/again.ts", re_export, "export const here = 1;\nexport const more = 2;\n"),
        ["src/last.ts:1"]
    );
}

#[test]
fn a_tool_stands_in_for_a_server_that_is_missing() {
    let row =
        "[languages.python]\ncommand = ['no-such-server']\nruns_code = false\n[languages.bash]\ncommand = ['none']\n";
    let files = [
        ("a.py", "import os\n\n\ndef f():\n    return nothing\n"),
        ("run.sh", "if true; then\n"),
        ("semdex.toml", row),
    ];
    let server = serve(&files);
    let (status, reply) = server.get("/v1/diagnostics?file=a.py");
    assert_eq!(
        (status, &reply["fallback"], &reply["meta"]["fallback"]),
        (200, &json!("ruff"), &json!("ruff")),
        "{reply}"
    );
    assert_eq!(reply["meta"]["complete"], false, "{reply}");
    assert_eq!(reply["meta"]["missing"][0]["code"], "engine_missing", "{reply}");
    let found: Vec<String> = reply["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            format!(
                "{} {} {} {}",
                it["source"].as_str().unwrap(),
                it["severity"].as_str().unwrap(),
                it["code"].as_str().unwrap(),
                it["line"]
            )
        })
        .collect();
    assert_eq!(found, ["ruff error F821 5", "ruff warning F401 1"], "{reply}");
    // A text that is only planned is checked as it would be.
    let edit =
        json!({"file": "a.py", "search_context": "    return nothing", "replacement": "    return (", "dry_run": true});
    let (_, planned) = server.post("/v1/edit", &edit);
    assert_eq!(
        (&planned["meta"]["complete"], &planned["meta"]["fallback"]),
        (&json!(false), &json!("ruff")),
        "{planned}"
    );
    assert!(planned.to_string().contains("invalid-syntax"), "{planned}");
    let (_, reply) = server.get("/v1/diagnostics?file=run.sh");
    assert_eq!((&reply["fallback"], &reply["items"][0]["source"]), (&json!("bash"), &json!("bash")), "{reply}");

    let files = [
        ("a.py", "import os\n"),
        ("semdex.toml", "[languages.python]\ncommand = ['no-such-server']\nfallback = ['no-such-tool']\n"),
    ];
    let (_, reply) = serve(&files).get("/v1/diagnostics?file=a.py");
    let missing = reply["meta"]["missing"].to_string();
    assert!(missing.contains("diagnostics unavailable") && missing.contains("engine_missing"), "{reply}");
    assert_eq!((&reply["items"], &reply["fallback"]), (&json!([]), &Value::Null), "{reply}");
}

#[test]
fn what_is_no_longer_exported_breaks_who_imports_it() {
    let server = serve(&[
        ("package.json", "{\"name\": \"x\"}\n"),
        (
            "tsconfig.json",
            "{\"compilerOptions\": {\"strict\": true, \"module\": \"esnext\", \"moduleResolution\": \"bundler\"}, \"include\": [\"src\"]}\n",
        ),
        (
            "src/a.ts",
            "export function identity(x: number): number {\n  return x;\n}\n\nexport interface Shape {\n  side: number;\n}\n\n\
             export class Box {\n  size = 1;\n}\n\nconst late = 1;\nexport { late };\n",
        ),
        ("src/b.ts", "export function alone(): number {\n  return 1;\n}\n"),
        ("src/c.ts", "export const twice = 1;\n"),
        (
            "src/use.ts",
            "import { identity } from './a';\nimport type { Shape } from './a';\nexport const s: Shape = { side: identity(1) };\n",
        ),
        ("src/all.ts", "export * from './a';\nexport * from './b';\nexport * from './c';\n"),
        ("src/named.ts", "export { Box as Crate, identity } from './a';\n"),
        ("src/far.ts", "import { identity, late } from './all';\nidentity(late);\n"),
        ("src/farther.ts", "import { Crate } from './named';\nnew Crate().size;\n"),
    ]);
    let unexport = |declared: &str| breaks(&server, "src/a.ts", &format!("export {declared}"), declared);
    assert_eq!(unexport("function identity(x: number): number {"), ["src/far.ts:1", "src/named.ts:1", "src/use.ts:1"]);
    assert_eq!(unexport("interface Shape {"), ["src/use.ts:2"]);
    assert_eq!(unexport("class Box {"), ["src/named.ts:1"]);
    assert_eq!(
        breaks(&server, "src/a.ts", "const late = 1;\nexport { late };\n", "const late = 1;\n"),
        ["src/far.ts:1"]
    );
    // A module that re-exports everything does not name it.
    assert_eq!(breaks(&server, "src/b.ts", "export function alone", "function alone"), ["src/all.ts:2"]);
    assert_eq!(
        breaks(&server, "src/b.ts", "  return 1;\n}\n", "  return 1;\n}\n\nexport const twice = 2;\n"),
        ["src/all.ts:3"]
    );
    let edit = json!({"file": "src/b.ts", "search_context": "export function alone", "replacement": "function alone", "dry_run": true});
    let (_, planned) = server.post("/v1/edit", &edit);
    let changed = &planned["impact"]["changed"][0];
    assert_eq!(
        (&changed["kind"], &changed["before"], &changed["after"]),
        (&json!("visibility"), &json!("export function alone(): number"), &json!("function alone(): number")),
        "{planned}"
    );

    // Text before a declaration of Python counts as well.
    let server = serve(&[
        ("pyproject.toml", "[project]\nname = \"pkg\"\n"),
        ("a.py", "class Box:\n    @property\n    def size(self) -> int:\n        return 1\n"),
        ("b.py", "from a import Box\n\nBox().size + 1\n"),
    ]);
    assert_eq!(breaks(&server, "a.py", "    @property\n    def size", "    def size"), ["b.py:3"]);
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
    // A new signature is that of the prototype too: what breaks are the calls.
    for symbol in ["shop.c::shop_sell", "shop.h::shop_sell"] {
        let (_, reply) = server.post("/v1/impact", &json!({"symbol": symbol, "change": "signature"}));
        let broken = reply["impact"]["broken"].as_array().unwrap_or_else(|| panic!("{reply}"));
        let places: Vec<String> = broken.iter().map(|it| format!("{}:{}", it["file"], it["line"])).collect();
        assert_eq!(places, ["\"main.c\":5"], "{reply}");
    }
    // A struct and the typedef of its name are one symbol: usages of either are reported and renamed.
    server.home.write("tag.c", "#include \"shop.h\"\n\nint tagged(struct Shop *it) {\n  return it->count;\n}\n");
    let found = usages(&server, "shop.h::Shop");
    for place in ["main.c:4 type", "shop.c:3 type", "shop.h:5 type", "tag.c:3 type"] {
        assert!(found.contains(&place.to_owned()), "{found:?}");
    }
    let rename = |from: &str, to: &str| {
        let (status, renamed) = server.post("/v1/rename", &json!({"symbol": from, "new_name": to}));
        assert_eq!((status, &renamed["applied"]), (200, &json!(true)), "{renamed}");
    };
    rename("shop.h::Shop", "Store");
    let header = std::fs::read_to_string(server.home.root().join("shop.h")).unwrap();
    assert!(
        header.starts_with("typedef struct Store {\n  int count;\n} Store;\n\nint shop_sell(Store *shop"),
        "{header}"
    );
    assert_eq!(errors(&server, "/v1/diagnostics"), [""; 0]);
    // What is gone while the server has it in its queue holds no answer up.
    std::fs::remove_file(server.home.root().join("tag.c")).unwrap();
    let (_, reply) = server.get("/v1/diagnostics");
    assert_eq!(reply["meta"]["complete"], true, "{reply}");
    rename("shop.h::Store", "Shop");
    // A header that changes is seen by those that include it.
    server
        .home
        .write("shop.h", "typedef struct Shop {\n  int amount;\n} Shop;\n\nint shop_sell(Shop *shop, int count);\n");
    let found = errors(&server, "/v1/diagnostics");
    assert!(found.iter().all(|it| it.starts_with("shop.c:")) && !found.is_empty(), "{found:?}");
}

/// The lines of the possible usages of a symbol.
fn possible(reply: &Value) -> Vec<String> {
    let items = reply["possible"].as_array().unwrap_or_else(|| panic!("{reply}")).iter();
    items.map(|it| format!("{}:{}", it["file"].as_str().unwrap(), it["line"])).collect()
}

#[test]
fn what_the_preprocessor_leaves_out_is_no_usage() {
    let server = serve(&[
        ("compile_flags.txt", "-Wall\n"),
        (
            "lang.h",
            "typedef struct Lang {\n  const char *name;\n  int size;\n} Lang;\n\n#define OTHER(it, size) ((it)->size)\n",
        ),
        (
            "lang.c",
            "#include \"lang.h\"\n\nconst char *name_of(const Lang *it) {\n  return it->size ? it->name : 0;\n}\n\n\
             #ifdef TRACE\nvoid trace(void) {\n  const char *name = \"x\";\n  puts(name);\n}\n#endif\n",
        ),
        ("local.c", "int local(void) {\n  const char *name = \"y\";\n  return *name;\n}\n"),
    ]);
    // For a name in code that is left out, clangd returns a symbol of the same name.
    let (status, reply) = server.get("/v1/usages?symbol=lang.h::Lang.name");
    let lines: Vec<&Value> = reply["items"].as_array().unwrap().iter().map(|it| &it["line"]).collect();
    assert_eq!((status, lines), (200, vec![&json!(4)]), "{reply}");
    assert_eq!((&reply["items"][0]["file"], &reply["meta"]["complete"]), (&json!("lang.c"), &json!(false)), "{reply}");
    assert_eq!(possible(&reply), ["lang.c:9", "lang.c:10"], "{reply}");
    let (_, at) = server.get("/v1/symbols/at?file=lang.c&line=10&column=8");
    assert_eq!((&at["definition"], &at["meta"]["complete"]), (&Value::Null, &json!(false)), "{at}");
    // The parameter of a macro is another thing.
    assert_eq!(usages(&server, "lang.h::Lang.size"), ["lang.c:4 read"]);
}

/// A server that knows nothing of code that is left out knows the workspace all the same.
#[test]
fn code_that_the_preprocessor_leaves_out_keeps_no_answer_incomplete() {
    let both = "#ifdef _WIN32\nint win(void) { return 1; }\n#else\nint posix(void) { return 2; }\n#endif\n";
    let server = serve(&[("only.c", both)]);
    assert_eq!(errors(&server, "/v1/diagnostics?file=only.c"), [""; 0]);
    let edit =
        json!({"file": "only.c", "search_context": "return 2;", "replacement": "return 3;", "on_break": "reject"});
    let (status, made) = server.post("/v1/edit", &edit);
    assert_eq!((status, &made["applied"]), (200, &json!(true)), "{made}");

    // Nothing that it has to know: it is believed once it is up for a while.
    let server = serve(&[("only.c", "#ifdef _WIN32\nint win(void) { return 1; }\n#endif\n")]);
    server.wait_for(|it| it.get("/v1/diagnostics?file=only.c").1["meta"]["complete"] == true);
    // A guard against a second inclusion is no such condition.
    server.home.write("guarded.h", "#ifndef GUARDED_H\n#define GUARDED_H\nint known(void);\n#endif\n");
    assert_eq!(errors(&server, "/v1/diagnostics"), [""; 0]);
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
    // Beside other languages too, whose engines run while this one is started on request alone, a bare name is found.
    let beside = serve(&[("lib.sh", "greet() {\n  echo hello\n}\n"), ("main.py", "def other(): pass\n")]);
    let (status, found) = beside.get("/v1/usages?symbol=greet");
    assert_eq!((status, &found["symbol"]["path"]), (200, &json!("lib.sh::greet")), "{found}");
    let (status, found) = beside.get("/v1/symbols?query=gree");
    assert_eq!((status, &found["symbols"][0]["path"]), (200, &json!("lib.sh::greet")), "{found}");
    // The server says nothing of a script without shellcheck: the shell itself does.
    server.home.write("main.sh", "if true; then\n");
    let (_, found) = server.get("/v1/diagnostics?file=main.sh");
    assert_eq!((&found["total"], &found["items"][0]["source"]), (&json!(1), &json!("bash")), "{found}");
}

#[test]
fn what_no_language_has_is_said_of_none() {
    let server = serve(&[("a.c", "int helped(void) { return 1; }\n"), ("b.py", "def other() -> int:\n    return 1\n")]);
    for (name, detail) in [
        ("nowhere", "there is no symbol `nowhere`"),
        ("helpe", "there is no symbol `helpe`: did you mean `a.c::helped`?"),
    ] {
        let (status, miss) = server.get(&format!("/v1/usages?symbol={name}"));
        assert_eq!((status, &miss["detail"]), (404, &json!(detail)), "{miss}");
    }
}

#[test]
fn a_server_that_is_missing_is_said_to_be() {
    let home = Home::with(&[
        ("a.py", "def f(): pass\n\n\nf()\n"),
        ("semdex.toml", "[languages.python]\ncommand = ['no-such-server', '--stdio']\n"),
    ]);
    let server = home.serve(&["--trust"]);
    server.wait_for(|it| engine(it, "python")["state"] == "missing");
    let missing = engine(&server, "python");
    assert_eq!(missing["name"], "no-such-server", "{missing}");
    let status = server.markdown("/v1/status", None).text;
    assert!(status.contains("engine no-such-server: missing\n"), "{status}");
    for path in ["/v1/diagnostics", "/v1/diagnostics?file=a.py", "/v1/usages?symbol=a.py::f"] {
        let (status, reply) = server.get(path);
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(false)), "{reply}");
        let codes = &reply["meta"]["missing"][0];
        assert_eq!(codes["code"], "engine_missing", "{reply}");
        assert!(codes["detail"].as_str().unwrap().contains("pip install basedpyright"), "{reply}");
    }
    // Nobody is asked to wait for what does not come.
    assert_eq!(lacks_at_once(&server, "a.py"), ["engine_missing"]);
    let (_, edited) =
        server.post("/v1/edit", &json!({"file": "a.py", "search_context": "def f():", "replacement": "def f(x):"}));
    assert_eq!((&edited["applied"], &edited["meta"]["complete"]), (&json!(true), &json!(false)), "{edited}");
    assert_eq!(edited["impact"]["unchecked"][0]["code"], "engine_missing", "{edited}");
    // Answers from the text alone are given.
    let (_, possible) = server.get("/v1/usages?symbol=f");
    assert_eq!(possible["possible"][0]["line"], 4, "{possible}");
    let (status, state) = server.get("/v1/status");
    assert!(
        status == 200 && ["ready", "degraded"].contains(&state["workspaces"][0]["state"].as_str().unwrap()),
        "{state}"
    );
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
    // Nobody knows what its files declare, so not what a change breaks in others.
    let edit =
        json!({"file": "a.nim", "search_context": "proc greet()", "replacement": "proc hail()", "dry_run": true});
    let (status, planned) = server.post("/v1/edit", &edit);
    assert_eq!((status, &planned["meta"]["complete"]), (200, &json!(false)), "{planned}");
    assert_eq!(planned["impact"]["changed"], json!([]), "{planned}");
    let unchecked = &planned["impact"]["unchecked"][0];
    assert_eq!(unchecked["code"], "unsupported", "{planned}");
    assert!(unchecked["detail"].as_str().unwrap().contains("the edited files alone were judged"), "{planned}");
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
    assert_eq!(lacks_at_once(&server, "a.py"), ["untrusted"]);
}

/// Only the workspace is listed, which is said: a function without callees is another thing.
#[test]
fn calls_of_other_code_are_counted() {
    let server = serve(&[
        ("pyproject.toml", "[project]\nname = \"pkg\"\n"),
        ("a.py", "def f() -> int:\n    return len(str(1))\n"),
    ]);
    let (_, found) = server.get("/v1/callees?symbol=a.py::f");
    let detail = "2 of its calls lead to code outside of the workspace, which is not listed";
    let missing = &found["meta"]["missing"];
    assert_eq!((&found["total"], &found["meta"]["complete"]), (&json!(0), &json!(true)), "{found}");
    assert!(missing.as_array().unwrap().iter().any(|it| it["detail"] == detail), "{found}");
}

/// The same error with and without clangd's remark about its fixes is one error.
#[test]
fn what_clangd_says_of_its_fixes_is_no_part_of_a_message() {
    let server = serve(&[("a.c", "struct S { int count; };\nint f(struct S *s) { return s->cuont; }\n")]);
    let (_, found) = server.get("/v1/diagnostics?file=a.c");
    let item = &found["items"][0];
    assert!(item["message"].as_str().is_some_and(|it| it.contains("cuont") && !it.contains("available")), "{found}");
}
