//! `max_tokens` holds for every reply, in JSON and in Markdown, and what is cut comes with the cursor.

use serde_json::{Value, json};

use crate::support::Server;

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
        // With its calls, but without what only depends on where the reply was cut.
        Value::Object(_) if item.get("calls").is_some() => item.to_string(),
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
        for tokens in [500, 2000] {
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
                        // Parents stand again above children that did not fit below them.
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
