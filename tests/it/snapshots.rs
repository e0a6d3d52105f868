//! Replies for a model, verb by verb, on real code: a file for each in `tests/fixtures/snapshots`.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use serde_json::{Value, json};

use crate::support::{Home, Server};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// A copy of the corpus.
fn corpus() -> Home {
    let home = Home::with(&[]);
    let from = fixtures().join("corpus");
    let mut pending = vec![from.clone()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(&from).unwrap();
                home.write(name.to_str().unwrap(), &fs::read_to_string(&path).unwrap());
            }
        }
    }
    home
}

/// The text with what is another on each machine and at each time under one name.
fn masked(text: &str, home: &Path) -> String {
    let text = text.replace(home.to_str().unwrap(), "HOME").replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let mut masked = String::new();
    let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | ':');
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|it| !is_part(it)).unwrap_or(rest.len()).max(first.len_utf8());
        let (word, after) = rest.split_at(length);
        let is_number = word.bytes().all(|it| it.is_ascii_digit() || it == b'.');
        let is_token = word.len() == 26 && word.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit());
        let is_time = word.len() == 24 && word.ends_with('Z') && word.as_bytes()[10] == b'T';
        masked += match word {
            _ if is_token => "CHANGE",
            _ if is_time => "TIME",
            _ if is_number && (after.starts_with(" ms)") || after.starts_with(" MB")) => "N",
            _ if is_number && masked.ends_with("process ") => "N",
            _ if masked.ends_with("request `") => "ID",
            word => word,
        };
        rest = after;
    }
    masked
}

/// The reply equals the file. `cargo xtask snapshots` writes the files: read the difference as a model would.
struct Snapshots {
    server: Server,
}

impl Snapshots {
    /// The reply, as text.
    fn reply(&self, method: &str, path: &str, body: Option<&Value>) -> String {
        let mut request = self.server.request(method, path).header("accept", "text/markdown");
        if let Some(body) = body {
            request = request.json(body);
        }
        self.server.send(request).text
    }

    fn compare(&self, name: &str, asked: &str, reply: &str) {
        let text = format!("<!-- {asked} -->\n{}", masked(reply, &self.server.home.path()));
        expect_file![fixtures().join("snapshots").join(format!("{name}.md"))].assert_eq(&text);
    }

    fn check(&self, name: &str, method: &str, path: &str, body: Option<Value>) -> String {
        let reply = self.reply(method, path, body.as_ref());
        let body = body.map(|it| format!(" {it}")).unwrap_or_default();
        self.compare(name, &format!("{method} {path}{body}"), &reply);
        reply
    }

    /// Of a reply that says what is done in the background: what it says when nothing is.
    fn get_at_rest(&self, name: &str, path: &str) {
        let mut reply = String::new();
        self.server.wait_for(|_| {
            reply = self.reply("GET", path, None);
            !reply.contains("\nusages: ")
        });
        self.compare(name, &format!("GET {path}"), &reply);
    }

    fn get(&self, name: &str, path: &str) -> String {
        self.check(name, "GET", path, None)
    }

    fn post(&self, name: &str, path: &str, body: Value) -> String {
        self.check(name, "POST", path, Some(body))
    }
}

#[test]
fn each_verb_on_real_code_reads_as_it_did() {
    let home = corpus().with_real_std();
    // Which requests are slow differs from machine to machine.
    let settings = home.path().join("config/semdex");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("config.toml"), "[log]\nslow_ms = 0\n").unwrap();
    let server = home.serve(&["--trust"]);
    server.wait_ready();
    let it = Snapshots { server };
    it.post("open", "/v1/open", json!({"file": "src/text/diff.rs"}));
    it.post("describe", "/v1/describe", json!({"symbol": "corpus::store::aggregate::Aggregate"}));
    it.post("describe_function", "/v1/describe", json!({"symbol": "text::lines::LineIndex::place"}));
    it.post("describe_package", "/v1/describe", json!({"package": "corpus::store"}));
    it.post("describe_file", "/v1/describe", json!({"file": "src/text/mod.rs"}));
    it.post("describe_external", "/v1/describe", json!({"symbol": "strsim::levenshtein"}));
    it.get("symbols", "/v1/symbols?query=elide&limit=10");
    it.get("symbols_of_a_file", "/v1/symbols?file=src/store/units.rs");
    it.get("symbol_at", "/v1/symbols/at?file=src/text/diff.rs&line=34&column=16");
    it.get("usages", "/v1/usages?symbol=corpus::model::Span");
    it.get("callers", "/v1/callers?symbol=text::diff::between");
    it.get("callees", "/v1/callees?symbol=text::diff::unified");
    it.get("implementations", "/v1/implementations?symbol=store::aggregate::Aggregate");
    it.get("diagnostics", "/v1/diagnostics");
    it.post("impact", "/v1/impact", json!({"symbol": "text::lines::LineIndex::place", "change": "signature"}));
    it.get("problem_unknown_symbol", "/v1/usages?symbol=text::diff::unifed");
    let no_match =
        json!({"file": "src/text/diff.rs", "search_context": "pub fn unifid(old: Option<&str>)", "replacement": ""});
    it.post("problem_no_match", "/v1/edit", no_match);
    let signature = "pub fn between(old_name: &str, old: &str, new_name: &str, new: &str) -> String {";
    let edit = json!({
        "file": "src/text/diff.rs", "search_context": signature,
        "replacement": signature.replace("new: &str)", "new: &str, radius: usize)"),
    });
    let mut tried = edit.clone();
    tried["dry_run"] = json!(true);
    it.post("edit_dry_run", "/v1/edit", tried);
    it.post(
        "rename",
        "/v1/rename",
        json!({"symbol": "text::diff::unified", "new_name": "as_unified", "dry_run": true}),
    );
    let mut refused = edit.clone();
    refused["on_break"] = json!("reject");
    it.post("problem_would_break", "/v1/edit", refused);
    let edited = it.post("edit", "/v1/edit", edit);
    it.get("diagnostics_of_a_break", "/v1/diagnostics?severity=error");
    let change = edited.split('`').find(|it| it.len() == 26).unwrap().to_owned();
    it.post(
        "write",
        "/v1/write",
        json!({"name": "src/text/count.rs", "content": "use crate::model::Spam;\n\npub fn count(of: Spam) {}\n"}),
    );
    it.server.send(it.server.request("POST", "/v1/undo").json(&json!({"change": change})));
    it.get("changes", "/v1/changes?limit=3");
    it.check("overlay", "PUT", "/v1/overlays/src/text/units.rs", Some(json!({"content": "// Not on the disk.\n"})));
    it.get("overlays", "/v1/overlays");
    it.check("overlay_deleted", "DELETE", "/v1/overlays/src/text/units.rs", None);
    it.get_at_rest("workspaces", "/v1/workspaces");
    it.get_at_rest("status", "/v1/status");
}

#[test]
fn a_model_gets_six_thousand_tokens_unless_the_owner_says_otherwise() {
    let whole = json!({"file": "src/model.rs"});
    let server = corpus().serve(&["--no-trust"]);
    let cut = server.markdown("/v1/describe", Some(&whole));
    assert!(cut.text.len() <= 24_000 && cut.text.len() > 20_000, "{} bytes", cut.text.len());
    assert!(cut.text.contains("- missing `budget`") && cut.text.contains("More with `cursor`"), "{}", cut.text);

    let home = corpus();
    let config = home.path().join("config.toml");
    fs::write(&config, "[answers]\nmax_tokens = 0\n").unwrap();
    let server = home.serve(&["--no-trust", "--config", config.to_str().unwrap()]);
    let all = server.markdown("/v1/describe", Some(&whole));
    let last = server.home.read("src/model.rs").lines().count();
    assert!(!all.text.contains("`budget`") && all.text.contains(&format!("\n{last}| ")), "{}", all.text);
}
