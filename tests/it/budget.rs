//! `max_tokens` limits every reply, in JSON and in Markdown, and a shortened reply has a cursor.

use serde_json::{Value, json};

use crate::support::{Home, Server};

const BYTES_PER_TOKEN: usize = 4;

/// Real code, more than any of the budgets below takes.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
    ("src/lib.rs", "//! A sample.\npub mod lines;\npub mod model;\n"),
    ("src/model.rs", include_str!("../fixtures/corpus/src/model.rs")),
    ("src/model/error.rs", include_str!("../fixtures/corpus/src/model/error.rs")),
    ("src/lines.rs", include_str!("../fixtures/corpus/src/text/lines.rs")),
];

struct Case {
    path: &'static str,
    body: Option<Value>,
    /// Where the reply's list, tree or text is.
    parts: &'static [&'static str],
}

impl Case {
    fn ask(&self, server: &Server, accept: &str, options: &[(&str, Value)]) -> (String, Value) {
        let request = match &self.body {
            Some(body) => {
                let mut body = body.clone();
                for (name, value) in options {
                    body[*name] = value.clone();
                }
                server.request("POST", self.path).header("content-type", "application/json").body(body.to_string())
            }
            None => {
                let plain = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
                let options: Vec<String> =
                    options.iter().map(|(name, value)| format!("&{name}={}", plain(value))).collect();
                server.request("GET", &format!("{}{}", self.path, options.concat()))
            }
        };
        let reply = server.send(request.header("accept", accept));
        assert_eq!(reply.status, 200, "{}: {}", self.path, reply.text);
        let value = if accept == "application/json" { reply.json() } else { Value::Null };
        (reply.text, value)
    }
}

/// What a part holds: the lines of a text, or the paths and places of a list's or tree's items.
fn pieces(reply: &Value, part: &str) -> Vec<String> {
    match reply.pointer(part) {
        Some(Value::String(text)) => text.split_inclusive('\n').map(str::to_owned).collect(),
        Some(Value::Array(items)) => items.iter().flat_map(piece).collect(),
        _ => Vec::new(),
    }
}

fn piece(item: &Value) -> Vec<String> {
    let own = match item {
        Value::String(text) => text.clone(),
        // With its calls, but without texts, which are cut where even one item is too long.
        Value::Object(_) if item.get("calls").is_some() => {
            let calls = item["calls"].as_array().into_iter().flatten();
            let places: Vec<String> = calls.map(|it| format!("{}:{}", it["file"], it["start"])).collect();
            format!("{} {}", item["symbol"]["path"], places.join(" "))
        }
        _ => format!("{} {} {}", item["path"], item["file"], item["start"]),
    };
    let children = item["children"].as_array().into_iter().flatten().flat_map(piece);
    std::iter::once(own).chain(children).collect()
}

#[test]
fn no_reply_takes_more_tokens_than_it_may_and_its_cursor_brings_the_rest() {
    let server = Server::on(FILES);
    server.wait_ready();
    let case = |path, body, parts| Case { path, body, parts };
    let cases = [
        case(
            "/v1/open",
            Some(json!({"file": "src/model.rs"})),
            &["/skeleton", "/symbols", "/downstream", "/imports"][..],
        ),
        case("/v1/describe", Some(json!({"symbol": "sample::model::Symbol"})), &["/source", "/usages/items"]),
        case("/v1/describe", Some(json!({"symbol": "String", "package": "alloc"})), &["/source", "/examples"]),
        case("/v1/describe", Some(json!({"package": "sample::model"})), &["/package/symbols"]),
        case("/v1/describe", Some(json!({"file": "src/model.rs"})), &["/file/content"]),
        case("/v1/usages?symbol=sample::model::Symbol", None, &["/items"]),
        case("/v1/callers?symbol=sample::model::Error::new", None, &["/items"]),
        case("/v1/symbols?query=symbol&limit=1000", None, &["/symbols"]),
        case("/v1/symbols?file=src/model.rs", None, &["/symbols"]),
        case("/v1/implementations?symbol=sample::model::Symbol", None, &["/items"]),
    ];
    for case in &cases {
        let (_, whole) = case.ask(&server, "application/json", &[]);
        for tokens in [300, 500, 2000] {
            let (markdown, _) = case.ask(&server, "text/markdown", &[("max_tokens", json!(tokens))]);
            assert!(markdown.len() <= tokens * BYTES_PER_TOKEN, "{} in {tokens}: {}", case.path, markdown.len());
            let mut found: Vec<Vec<String>> = case.parts.iter().map(|_| Vec::new()).collect();
            let mut options = vec![("max_tokens", json!(tokens))];
            for page in 1.. {
                assert!(page < 400, "{} does not come to an end", case.path);
                let (text, reply) = case.ask(&server, "application/json", &options);
                assert!(text.len() <= tokens * BYTES_PER_TOKEN, "{} in {tokens}: {}\n{text}", case.path, text.len());
                for (found, part) in found.iter_mut().zip(case.parts) {
                    for piece in pieces(&reply, part) {
                        // Parents are repeated above children that did not fit below them.
                        if !part.ends_with("symbols") || !found.contains(&piece) {
                            found.push(piece);
                        }
                    }
                }
                let is_cut = reply["meta"]["missing"].as_array().unwrap().iter().any(|it| it["code"] == "budget");
                let cursor = &reply["next_cursor"];
                assert!(!is_cut || cursor.is_string(), "{} was cut and has no cursor: {text}", case.path);
                if cursor.is_null() {
                    break;
                }
                options = vec![("max_tokens", json!(tokens)), ("cursor", cursor.clone())];
            }
            for (found, part) in found.iter().zip(case.parts) {
                let mut wanted = pieces(&whole, part);
                if part.ends_with("symbols") {
                    let mut seen = std::collections::HashSet::new();
                    wanted.retain(|it| seen.insert(it.clone()));
                }
                assert!(
                    found == &wanted,
                    "{} {part} in pages of {tokens} differs:\n{found:#?}\n{wanted:#?}",
                    case.path
                );
            }
        }
    }
}

/// A function with many callers, in code and in tests.
fn called_often() -> Server {
    let mut files = vec![
        ("Cargo.toml".to_owned(), "[package]\nname = \"often\"\nversion = \"0.1.0\"\nedition = \"2021\"\n".to_owned()),
        (
            "src/lib.rs".to_owned(),
            (0..8).map(|it| format!("mod m{it};\n")).collect::<String>() + "pub fn one() -> u8 {\n    1\n}\n",
        ),
    ];
    for module in 0..8 {
        let calls: String = (0..12).map(|it| format!("pub fn f{it}() -> u8 {{\n    crate::one()\n}}\n")).collect();
        let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {\n        crate::one();\n        crate::one();\n    }\n}\n";
        files.push((format!("src/m{module}.rs"), calls + tests));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
    let server = Server::on(&files);
    server.wait_ready();
    server
}

fn places(reply: &Value) -> Vec<String> {
    let list = reply.pointer("/impact/broken").unwrap().as_array().unwrap();
    list.iter().map(|it| format!("{}:{}", it["file"].as_str().unwrap(), it["line"])).collect()
}

fn one_more(dry_run: bool) -> Value {
    json!({
        "file": "src/lib.rs", "search_context": "pub fn one() -> u8 {", "replacement": "pub fn one(more: u8) -> u8 {",
        "dry_run": dry_run, "wait_ms": 120_000,
    })
}

#[test]
fn a_change_tells_all_places_in_few_words_and_in_pages() {
    let server = called_often();
    let (status, whole) = server.post("/v1/edit", &one_more(true));
    assert_eq!((status, places(&whole).len(), &whole["next_cursor"]), (200, 8 * 14, &Value::Null), "{whole}");
    assert_eq!(whole["diagnostics"]["new"], json!([]), "{whole}");

    let markdown = server.markdown("/v1/edit", Some(&one_more(true))).text;
    assert!(markdown.len() <= 6000, "{} bytes: {markdown}", markdown.len());
    assert!(markdown.contains("112 places") && markdown.contains("[2 in tests]"), "{markdown}");
    for place in places(&whole) {
        let (file, line) = place.split_once(':').unwrap();
        let row = markdown.lines().find_map(|it| it.strip_prefix(&format!("- {file}:"))).unwrap();
        let numbers = row.split(' ').next().unwrap();
        assert!(numbers.split(',').any(|it| it == line), "{place} is not in {markdown}");
    }

    for (tokens, path, body) in [
        (300, "/v1/edit", one_more(true)),
        (1500, "/v1/edit", one_more(true)),
        (1000, "/v1/impact", json!({"symbol": "often::one", "change": "signature", "wait_ms": 120_000})),
    ] {
        let mut found = Vec::new();
        let mut body = body.clone();
        body["max_tokens"] = json!(tokens);
        for page in 1.. {
            assert!(page < 400, "it does not come to an end");
            let reply = server.send(server.request("POST", path).json(&body));
            assert_eq!(reply.status, 200, "{}", reply.text);
            assert!(reply.text.len() <= tokens * BYTES_PER_TOKEN, "{} in {tokens}: {}", reply.text.len(), reply.text);
            let reply = reply.json();
            found.extend(places(&reply));
            if reply["next_cursor"].is_null() {
                break;
            }
            assert!(reply["meta"]["missing"].as_array().unwrap().iter().any(|it| it["code"] == "budget"), "{reply}");
            body["cursor"] = reply["next_cursor"].clone();
        }
        assert_eq!(found, places(&whole), "in pages of {tokens}");
    }
}

#[test]
fn lines_that_a_program_wrote_are_cut() {
    let minified = format!("{}\n", "function f(a){return a+1};".repeat(20_000));
    let data = format!("def f():\n    return 1\nDATA = \"{}\"\n\ndef g():\n    return f()\n", "y".repeat(200_000));
    let text = format!("{}\nlast\n", "x ".repeat(100_000));
    let server = Home::with(&[("min.js", &minified), ("data.py", &data), ("plain.txt", &text)]).serve(&[]);
    let asked = [
        ("/v1/open", json!({"file": "min.js"})),
        ("/v1/describe", json!({"file": "min.js"})),
        ("/v1/describe", json!({"symbol": "data.py::DATA"})),
        ("/v1/open", json!({"file": "plain.txt"})),
    ];
    for (path, mut body) in asked {
        body["wait_ms"] = json!(0);
        let reply = server.markdown(path, Some(&body));
        assert_eq!(reply.status, 200, "{body}: {}", reply.text);
        let (length, start) = (reply.text.len(), &reply.text[..200]);
        assert!((20_000..=6000 * BYTES_PER_TOKEN).contains(&length), "{body}: {length}: {start}");
        assert!(
            reply.text.contains("…\n") && reply.text.contains("lines that end with `…` are cut"),
            "{body}: {start}"
        );
        if path == "/v1/open" {
            body["max_tokens"] = json!(1000);
            let reply = server.send(server.request("POST", path).json(&body));
            assert!(reply.text.len() <= 1000 * BYTES_PER_TOKEN, "{body}: {}", reply.text.len());
            let reply = reply.json();
            let is_cut = reply["skeleton"].as_str().unwrap().contains('…');
            assert_eq!(is_cut, body["file"] == "plain.txt", "there are symbols to give before: {body}");
            assert!(reply["meta"]["missing"].to_string().contains("budget"), "{reply}");
        }
    }
}

#[test]
fn the_rest_of_a_report_changes_nothing_and_refusals_are_short_too() {
    let server = called_often();
    let mut refused = one_more(false);
    refused["on_break"] = json!("reject");
    let reply = server.markdown("/v1/edit", Some(&refused));
    assert_eq!(reply.status, 422, "{}", reply.text);
    assert!(reply.text.len() <= 6000 * BYTES_PER_TOKEN, "{}", reply.text.len());

    let mut body = one_more(false);
    body["max_tokens"] = json!(300);
    let (_, first) = server.post("/v1/edit", &body);
    assert_eq!(first["applied"], true, "{first}");
    let cursor = first["next_cursor"].as_str().unwrap();
    let text = server.home.read("src/lib.rs");
    let (status, rest) = server.post("/v1/edit", &json!({"cursor": cursor}));
    assert_eq!((status, &rest["change"]), (200, &first["change"]), "{rest}");
    assert!(!places(&rest).is_empty(), "{rest}");
    assert_eq!(server.home.read("src/lib.rs"), text);
    let (_, changes) = server.get("/v1/changes");
    assert_eq!(changes["total"], 1, "{changes}");
    let (status, gone) = server.post("/v1/edit", &json!({"cursor": "c10-0.0.0.0.0.0.0.0.0.0@01J"}));
    assert_eq!((status, &gone["code"]), (400, &json!("invalid_request")), "{gone}");
}
