//! `map`: the most important symbols of a workspace, ranked by references, within a budget.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::support::{Home, Server, run};

const BYTES_PER_TOKEN: usize = 4;
/// More than any workspace here takes.
const ALL: &str = "max_tokens=10000000";

/// Real code: the modules of semdex that need few crates.
fn corpus() -> Home {
    fn copy(home: &Home, from: &Path, below: &str) {
        for entry in std::fs::read_dir(from.join(below)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{below}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                copy(home, from, &format!("{name}/"));
            } else {
                home.write(&name, &std::fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    let home = Home::with(&[]);
    copy(&home, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/corpus"), "");
    home
}

const GO: &[(&str, &str)] = &[
    ("go/go.mod", "module example.com/shop\n\ngo 1.24\n"),
    (
        "go/money/money.go",
        "// Package money counts.\npackage money\n\n// An Amount of cents.\ntype Amount struct{ Cents int }\n\n// Add adds.\nfunc (a Amount) Add(b Amount) Amount { return Amount{a.Cents + b.Cents} }\n",
    ),
    (
        "go/shop/shop.go",
        "package shop\n\nimport \"example.com/shop/money\"\n\n// Sell sells.\nfunc Sell(prices []money.Amount) money.Amount {\n\tvar sum money.Amount\n\tfor _, it := range prices {\n\t\tsum = sum.Add(it)\n\t}\n\treturn sum\n}\n",
    ),
    (
        "go/shop/shop_test.go",
        "package shop\n\nimport \"testing\"\n\nfunc TestSell(t *testing.T) {\n\tif Sell(nil).Cents != 0 {\n\t\tt.Fail()\n\t}\n}\n",
    ),
    (
        "go/main.go",
        "package main\n\nimport \"example.com/shop/shop\"\n\nfunc main() { println(shop.Sell(nil).Cents) }\n",
    ),
];

const PYTHON: &[(&str, &str)] = &[
    ("py/pkg/__init__.py", ""),
    (
        "py/pkg/shop.py",
        "class Shop:\n    \"\"\"Sells.\"\"\"\n\n    def sell(self, count: int) -> str:\n        return \"a\" * count\n",
    ),
    (
        "py/pkg/street.py",
        "from pkg.shop import Shop\n\n\ndef walk() -> str:\n    return Shop().sell(2) + Shop().sell(3)\n",
    ),
    ("py/other.py", "def unrelated() -> int:\n    return 1\n"),
];

const TYPESCRIPT: &[(&str, &str)] = &[
    (
        "ts/cart.ts",
        "export interface Cart { items: string[] }\n\nexport function emptyCart(): Cart { return { items: [] } }\n",
    ),
    (
        "ts/main.ts",
        "import { emptyCart } from \"./cart\"\n\nconst cart = emptyCart()\nconsole.log(cart, emptyCart())\n",
    ),
];

#[track_caller]
fn map(server: &Server, query: &str) -> Value {
    let (status, reply) = server.get(&format!("/v1/map?{query}"));
    assert_eq!(status, 200, "{query}: {reply}");
    reply
}

fn files(map: &Value) -> Vec<&str> {
    map["files"].as_array().unwrap().iter().map(|it| it["file"].as_str().unwrap()).collect()
}

/// Each symbol with its file, in the order of the reply.
fn symbols(map: &Value) -> Vec<String> {
    let of = |file: &Value| {
        let symbols = file["symbols"].as_array().unwrap().clone();
        let file = file["file"].as_str().unwrap().to_owned();
        symbols.into_iter().map(move |it| format!("{file} {}", it["path"].as_str().unwrap())).collect::<Vec<_>>()
    };
    map["files"].as_array().unwrap().iter().flat_map(of).collect()
}

fn rank_of(map: &Value, file: &str) -> f64 {
    let found = map["files"].as_array().unwrap().iter().find(|it| it["file"] == file);
    found.unwrap_or_else(|| panic!("{file} is not in {:?}", files(map)))["rank"].as_f64().unwrap()
}

/// If nothing of an outside file is referred to.
#[track_caller]
fn assert_complete(map: &Value) {
    assert_eq!(map["meta"]["complete"], true, "{}", map["meta"]);
}

#[test]
fn a_budget_is_used_and_both_forms_say_the_same() {
    let server = corpus().serve(&["--trust"]);
    server.wait_ready();
    for (query, tokens) in [
        ("query=a", 2000),
        ("max_tokens=300", 300),
        ("max_tokens=700&query=fuzzy%20matching%20of%20lines", 700),
        ("max_tokens=1000&focus=src/text/lines.rs", 1000),
        ("max_tokens=6500", 6500),
    ] {
        let reply = map(&server, query);
        assert_complete(&reply);
        let markdown = server.markdown(&format!("/v1/map?{query}&wait_ms=120000"), None);
        let used = markdown.text.len() as f64 / (tokens * BYTES_PER_TOKEN) as f64;
        assert!((0.85..=1.0).contains(&used), "{query}: {used}\n{}", markdown.text);
        // Whole paths in the order of the JSON, and below each the signatures of its symbols.
        let mut rest = markdown.text.as_str();
        for file in reply["files"].as_array().unwrap() {
            let path = file["file"].as_str().unwrap();
            rest = rest.split_once(&format!("\n{path}\n")).unwrap_or_else(|| panic!("{path}: {}", markdown.text)).1;
            let end = rest.find("\nsrc/").unwrap_or(rest.len());
            // The next file's name begins with the end of this one's last line.
            let mut rows = &rest[..end];
            let mut line = 0;
            for symbol in file["symbols"].as_array().unwrap() {
                let at = symbol["name_at"]["line"].as_u64().unwrap();
                assert!(at >= line, "{path} is not in the order of the text");
                line = at;
                let row = format!("{at} {}", symbol["signature"].as_str().unwrap());
                rows = rows.split_once(&row).unwrap_or_else(|| panic!("{row} is not in {rows}")).1;
            }
            rest = &markdown.text[markdown.text.len() - rest.len() - 1..];
        }
        let listed = markdown.text.lines().filter(|it| it.starts_with("src/")).count();
        assert_eq!(listed, files(&reply).iter().filter(|it| it.starts_with("src/")).count(), "{}", markdown.text);
        let ranks: Vec<f64> =
            reply["files"].as_array().unwrap().iter().map(|it| it["rank"].as_f64().unwrap()).collect();
        assert!(ranks.is_sorted_by(|a, b| a >= b), "{ranks:?}");
    }
}

#[test]
fn a_large_one_lists_every_used_file_and_pages_repeat_nothing() {
    let server = corpus().serve(&["--trust"]);
    server.wait_ready();
    let all = map(&server, ALL);
    assert_eq!((all["next_cursor"].is_null(), all["total"].as_u64()), (true, Some(files(&all).len() as u64)));
    let listed: BTreeSet<&str> = files(&all).into_iter().collect();
    for file in listed.iter().filter(|it| it.ends_with(".rs")) {
        let (_, opened) = server.post("/v1/open", &serde_json::json!({"file": file}));
        for user in opened["downstream"].as_array().unwrap() {
            assert!(listed.contains(user["file"].as_str().unwrap()), "{user}");
        }
    }
    // Types that all others use come before unused ones.
    assert!(rank_of(&all, "src/model.rs") > rank_of(&all, "src/lib.rs"), "{all}");
    let mut found: Vec<String> = Vec::new();
    let mut cursor = String::new();
    for page in 1.. {
        assert!(page < 100, "it does not come to an end");
        let reply = map(&server, &format!("max_tokens=3000{cursor}"));
        found.extend(symbols(&reply));
        let Some(next) = reply["next_cursor"].as_str() else { break };
        let missing = reply["meta"]["missing"].as_array().unwrap();
        assert!(missing.iter().any(|it| it["code"] == "budget"), "{missing:?}");
        cursor = format!("&cursor={next}");
    }
    let once: BTreeSet<&String> = found.iter().collect();
    assert_eq!((found.len(), once), (symbols(&all).len(), symbols(&all).iter().collect()));
}

#[test]
fn words_and_focus_draw_the_map_to_what_they_name() {
    let server = corpus().serve(&["--trust"]);
    server.wait_ready();
    let plain = map(&server, "max_tokens=800");
    let nowhere = map(&server, "max_tokens=800&query=qqzzxx%20wwvvkk");
    assert_eq!(plain["files"], nowhere["files"], "words that stand nowhere change nothing");
    let all = |query: &str| map(&server, &format!("{ALL}&{query}"));
    let (base, asked) = (all(""), all("query=parsing%20SEARCH%2FREPLACE%20blocks"));
    assert!(rank_of(&asked, "src/text/blocks.rs") > 3.0 * rank_of(&base, "src/text/blocks.rs"));
    let small = map(&server, "max_tokens=500&query=elisions");
    assert!(files(&small).contains(&"src/text/matching/elision.rs"), "{small}");
    let focused = all("focus=src/store/ring.rs");
    assert!(rank_of(&focused, "src/store/ring.rs") > 3.0 * rank_of(&base, "src/store/ring.rs"));
    let both = all("focus=src/store/ring.rs&focus=src/text/diff.rs");
    for file in ["src/store/ring.rs", "src/text/diff.rs"] {
        assert!(rank_of(&both, file) > 2.0 * rank_of(&base, file), "{file}");
    }
    let symbol = all("focus=text::lines::LineIndex");
    assert!(rank_of(&symbol, "src/text/lines.rs") > 2.0 * rank_of(&base, "src/text/lines.rs"), "{symbol}");
    let directory = all("focus=src/store");
    assert!(rank_of(&directory, "src/store/units.rs") > rank_of(&base, "src/store/units.rs"));
    for (focus, code) in [
        ("src/nonesuch.rs", "unknown_file"),
        ("nonesuch.rs", "unknown_file"),
        ("nonesuch::Thing", "unknown_symbol"),
        ("Nonesuch", "unknown_symbol"),
    ] {
        let (status, reply) = server.get(&format!("/v1/map?focus={focus}"));
        assert_eq!((status, reply["code"].as_str()), (404, Some(code)), "{focus}: {reply}");
    }
    for bad in ["focus=", "cursor=c1-3", "query=%07", "focus=a%01b"] {
        let (status, reply) = server.get(&format!("/v1/map?{bad}"));
        assert_eq!((status, reply["code"].as_str()), (400, Some("invalid_request")), "{bad}: {reply}");
    }
}

#[test]
fn it_is_the_same_after_a_restart_and_another_after_an_edit() {
    let server = corpus().serve(&["--trust"]);
    server.wait_ready();
    let query = "max_tokens=1500&query=lines%20of%20a%20diff";
    let edit = serde_json::json!({
        "name": "src/text/extra.rs",
        "content": "use super::lines::LineIndex;\n\n/// Counts.\npub fn brand_new(index: &LineIndex) -> usize {\n    index.line_count()\n}\n",
        "declare": true,
    });
    let before = map(&server, ALL);
    let (status, made) = server.post("/v1/write", &edit);
    assert_eq!(status, 200, "{made}");
    let after = map(&server, ALL);
    assert!(symbols(&after).contains(&"src/text/extra.rs corpus::text::extra::brand_new".to_owned()), "{after}");
    assert!(!files(&before).contains(&"src/text/extra.rs"));
    let first = map(&server, query);
    assert_eq!(first["files"], map(&server, query)["files"]);
    let server = server.restart(&["--trust"]);
    server.wait_ready();
    let again = map(&server, query);
    assert_complete(&again);
    assert_eq!(first["files"], again["files"]);
}

#[test]
fn languages_are_ranked_together_and_names_are_labelled() {
    let files_of: Vec<(&str, &str)> = [GO, PYTHON, TYPESCRIPT].concat();
    let server = Server::on(&files_of);
    server.wait_ready();
    let all = map(&server, ALL);
    assert_complete(&all);
    // Go, resolved.
    assert!(rank_of(&all, "go/money/money.go") > rank_of(&all, "go/shop/shop.go"), "{all}");
    assert!(rank_of(&all, "go/shop/shop.go") > rank_of(&all, "go/main.go"), "{all}");
    let go = symbols(&all);
    for symbol in ["Amount", "Amount.Add"] {
        assert!(go.contains(&format!("go/money/money.go example.com/shop/money.{symbol}")), "{go:?}");
    }
    assert!(!go.iter().any(|it| it.ends_with(".Cents")), "a field is a part of its type: {go:?}");
    // By names.
    assert!(rank_of(&all, "py/pkg/shop.py") > rank_of(&all, "py/other.py"), "{all}");
    assert!(rank_of(&all, "ts/cart.ts") > rank_of(&all, "ts/main.ts"), "{all}");
    assert!(go.contains(&"py/pkg/shop.py py/pkg/shop.py::Shop.sell".to_owned()), "{go:?}");
    let missing = all["meta"]["missing"].as_array().unwrap();
    for language in ["python", "typescript"] {
        let is_of = |it: &&Value| it["scope"].as_str().is_some_and(|it| it.contains(language));
        let label = missing.iter().find(is_of).unwrap_or_else(|| panic!("{missing:?}"));
        assert!(label["detail"].as_str().unwrap().contains("by name"), "{label}");
    }
    let text = server.markdown(&format!("/v1/map?{ALL}&wait_ms=120000"), None).text;
    assert!(text.contains("py/pkg/shop.py\n 1 class Shop\n  4 def sell(self, count: int) -> str\n"), "{text}");
    // A focus in one language, and one by its path in another.
    let focused = map(&server, &format!("{ALL}&focus=py/pkg/shop.py::Shop.sell&focus=example.com/shop/money.Amount"));
    for file in ["py/pkg/shop.py", "go/money/money.go"] {
        assert!(rank_of(&focused, file) > rank_of(&all, file), "{file}: {focused}");
    }
}

#[test]
fn what_is_not_read_yet_is_missing() {
    let server = corpus().serve(&["--trust"]);
    let (status, early) = server.get("/v1/map?wait_ms=0");
    if status == 200 {
        // A machine may be quick enough.
        let is_whole = early["meta"]["state"] == "ready";
        assert!(is_whole || early["meta"]["complete"] == false, "{early}");
        assert!(is_whole || !early["meta"]["missing"].as_array().unwrap().is_empty(), "{early}");
    } else {
        assert!(early["code"] == "not_ready" || early["code"] == "timeout", "{early}");
    }
    server.wait_ready();
    assert_complete(&map(&server, ""));
}

#[test]
fn the_command_line_and_a_model_are_told_the_same() {
    let server = Server::on(GO);
    server.wait_ready();
    let said =
        run(server.home.semdex().args(["map", "--query", "sell", "--focus", "go/shop/shop.go", "--wait-ms", "120000"]));
    assert_eq!(said.code, Some(0), "{}", said.errors);
    assert!(
        said.output.contains("go/shop/shop.go\n 6 func Sell(prices []money.Amount) money.Amount\n"),
        "{}",
        said.output
    );
    let body = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "map", "arguments": {"focus": ["go/shop/shop.go"], "query": "sell", "wait_ms": 120_000}}
    });
    let request = server.request("POST", "/mcp").json(&body);
    let reply = server.send(request.header("accept", "application/json, text/event-stream"));
    assert!(reply.text.contains("func Sell(prices []money.Amount) money.Amount"), "{}", reply.text);
}
