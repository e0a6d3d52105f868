//! Holds the house in order: the arrows between modules, the only places that may name a foreign thing, the size and
//! head of files, and what prose claims of the repository.
//!
//! Each rule is a function from a file's name and text to what is wrong with it, so that each can be shown to fail.

mod circles;
mod source;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use source::*;

/// Which modules a module may use besides itself. Nothing else is lawful; a new module is entered here.
///
/// `main → api, mcp, cli → ops → workspace → lang → lsp, text → model`, with `contract` beside `workspace`, above `text`
/// and `model`, and `config`, `trust`, `token` below `workspace`, `beneath` at the bottom.
const ARROWS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("beneath", &[]),
    ("text", &["model"]),
    ("lsp", &["model"]),
    ("config", &["beneath", "model"]),
    // Nothing in a release build; tests have what they want fail by it.
    ("fault", &[]),
    ("logging", &[]),
    ("trust", &["config", "model"]),
    ("token", &["config", "model"]),
    ("lang", &["lsp", "text", "config", "beneath", "fault", "model"]),
    ("workspace", &["lang", "text", "trust", "config", "beneath", "fault", "model"]),
    // What is asked and answered, whatever the face: it knows no transport, no workspace and no engine.
    ("contract", &["text", "model"]),
    ("ops", &["contract", "workspace", "lang", "text", "config", "logging", "model"]),
    // Runs of a model, by the calls that every client has: `ops` knows of it by a trait alone, and `main` puts it there.
    ("coder", &["ops", "contract", "render", "workspace", "lang", "config", "text", "model"]),
    // Markdown, for every face that shows answers.
    ("render", &["contract", "text", "model"]),
    ("api", &["mcp", "render", "ops", "contract", "lang", "token", "config", "logging", "model"]),
    ("mcp", &["render", "ops", "contract", "lang", "token", "config", "model"]),
    ("cli", &["mcp", "render", "contract", "workspace", "trust", "config", "text", "model"]),
];

/// The roots of the crate: they name the modules, and may use all of them. What fuzz targets share is of no module.
const ROOTS: &[&str] = &["src/lib.rs", "src/main.rs", "src/fuzz.rs"];

/// A crate that may be named in a few places only. A name that ends in `_` stands for all that begin with it.
struct OnlyPlace {
    names: &'static [&'static str],
    places: &'static [&'static str],
}

const ONLY_PLACES: &[OnlyPlace] = &[
    OnlyPlace { names: &["ra_ap_", "salsa"], places: &["src/lang/rust"] },
    OnlyPlace { names: &["sqlx", "zstd"], places: &["src/workspace/journal"] },
    OnlyPlace { names: &["notify"], places: &["src/workspace/watch"] },
    OnlyPlace { names: &["gen_lsp_types", "async_lsp"], places: &["src/lsp", "src/lang/go", "src/lang/lsp"] },
    OnlyPlace { names: &["axum", "axum_", "tower", "tower_"], places: &["src/api"] },
    // Schemas stand with their types.
    OnlyPlace { names: &["utoipa"], places: &["src/api", "src/contract"] },
    OnlyPlace { names: &["http", "http_", "hyper", "hyper_"], places: &["src/api", "src/cli"] },
    OnlyPlace { names: &["reqwest"], places: &["src/cli"] },
    OnlyPlace { names: &["rmcp"], places: &["src/mcp"] },
    OnlyPlace { names: &["aws_"], places: &["src/coder/bedrock"] },
    OnlyPlace { names: &["opentelemetry", "opentelemetry_", "tracing_opentelemetry"], places: &["src/logging/otel"] },
    OnlyPlace { names: &["clap"], places: &["src/cli", "src/main", "src/config"] },
    OnlyPlace { names: &["tree_sitter", "tree_sitter_"], places: &["src/lang/go", "src/lang/lsp"] },
];

/// A word of the code, wherever it comes from, that belongs to a few places only.
const ONLY_WORDS: &[OnlyPlace] = &[
    OnlyPlace { names: &["StatusCode"], places: &["src/api", "src/cli"] },
    OnlyPlace {
        names: &["Command"],
        places: &[
            "src/lang/go",
            "src/lang/rust",
            "src/lang/lsp",
            "src/lang/process_group",
            "src/lang/child",
            // The user's git, and the hooks of the user's repository.
            "src/workspace/git",
            // It runs what the rooms of the languages have put together.
            "src/lang/verify/report",
            "src/cli",
            "src/main",
        ],
    },
    OnlyPlace { names: &["exit"], places: &["src/main"] },
];

/// Modules that are pure: they compute, and touch neither disk nor network nor processes.
const PURE: &[&str] = &["src/model", "src/text"];

/// Lines that are not blank, tests aside.
const MAX_LINES: usize = 500;

/// What a newcomer reads first, with the most bytes that it may have. The rest is in `docs/`.
const FIRST_PAGES: &[(&str, usize)] = &[("README.md", 9_000), ("ARCHITECTURE.md", 12_000)];

// ---------------------------------------------------------------------------------------------------------------
// The rules

#[test]
fn arrows_between_modules_run_one_way() {
    check_sources(&["src"], arrows);
}

#[test]
fn foreign_things_are_named_in_their_only_place() {
    check_sources(&["src"], only_places);
}

#[test]
fn only_lang_go_names_the_tools_of_go() {
    check_sources(&["src"], tools_of_go);
}

#[test]
fn no_language_is_named_above_lang() {
    check_sources(&["src"], languages);
}

#[test]
fn the_vocabulary_and_the_text_are_pure() {
    check_sources(&["src"], pure);
}

#[test]
fn files_are_short_and_have_a_head() {
    check_sources(&["src", "tests/it"], |file, text| [size(file, text), head(text)].concat());
}

#[test]
fn the_first_pages_are_short() {
    check(FIRST_PAGES.iter().map(|(file, _)| (*file).to_owned()).collect(), too_large);
}

#[test]
fn no_exception_is_silent_and_nothing_is_left_to_do() {
    check_sources(&["src", "tests/it"], leftovers);
}

#[test]
fn tests_neither_sleep_nor_skip() {
    check_sources(&["src", "tests/it"], |file, text| sleeps_and_skips(&test_code(file, text)));
}

#[test]
fn links_in_prose_resolve() {
    let root = root();
    check(files_below(&root, &root, "md"), |file, text| {
        let directory = root.join(file).parent().map(Path::to_path_buf).unwrap_or_default();
        dead_links(text, |target| directory.join(target).exists())
    });
}

#[test]
fn prose_and_ci_name_the_commands_that_there_are() {
    let makefile = read("Makefile");
    let mut wrong = Vec::new();
    for (file, commands) in
        [(".ci/run", ["make test", "make lint"]), ("README.md", ["make run WORKSPACE=", "make test"])]
    {
        wrong.extend(missing_in_order(&read(file), &commands).into_iter().map(|it| format!("{file}: {it}")));
    }
    for file in ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", ".ci/run"] {
        wrong.extend(unknown_targets(&read(file), &makefile).into_iter().map(|it| format!("{file}: {it}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_crates_of_rust_analyzer_are_pinned_to_one_version() {
    passes(pins(&read("Cargo.toml")));
    passes(parser(&read("Cargo.toml"), &read("crates/parser/Cargo.toml")));
}

#[test]
fn the_corpus_needs_nothing_that_semdex_does_not_use() {
    passes(unavailable(&read("tests/fixtures/corpus/Cargo.lock"), &read("Cargo.lock")));
}

#[test]
fn nothing_is_bound_to_the_machine_it_was_written_on() {
    let root = root();
    let files = ["rs", "md", "toml", "sh", "py", "yaml", "json"].iter().flat_map(|it| files_below(&root, &root, it));
    check(files.chain(["Makefile".to_owned(), ".ci/run".to_owned()]).collect(), |_, text| machine_paths(text));
}

fn arrows(file: &str, text: &str) -> Vec<String> {
    if ROOTS.contains(&file) {
        return Vec::new();
    }
    let own = module_path(file);
    let Some(own_top) = own.first() else { return Vec::new() };
    let Some((_, lawful)) = ARROWS.iter().find(|(name, _)| name == own_top) else {
        return vec![format!("module `{own_top}` is not in ARROWS: say what it may use")];
    };
    let mut wrong = Vec::new();
    for (line, used) in modules_used(&own, &code(text)) {
        let known = ARROWS.iter().any(|(name, _)| *name == used);
        if known && used != *own_top && !lawful.contains(&used.as_str()) {
            wrong.push(format!("line {line}: `{own_top}` must not use `{used}`"));
        }
    }
    wrong
}

fn only_places(file: &str, text: &str) -> Vec<String> {
    let code = code(text);
    let mut wrong = misplaced(file, &code, ONLY_PLACES, is_crate);
    // A test may start what it needs.
    if !is_test_file(file) {
        wrong.extend(misplaced(file, &without_tests(&code), ONLY_WORDS, is_path_or_call));
    }
    wrong
}

fn misplaced(file: &str, code: &str, rules: &[OnlyPlace], applies: fn(&[Token], usize) -> bool) -> Vec<String> {
    let tokens = tokens(code);
    let mut wrong = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let names = |rule: &&OnlyPlace| rule.names.iter().any(|name| is_named(&token.text, name));
        let rule = rules.iter().find(names).filter(|rule| !lies_in(file, rule.places) && applies(&tokens, at));
        if let Some(rule) = rule {
            wrong.push(format!("line {}: only {} may name `{}`", token.line, rule.places.join(", "), token.text));
        }
    }
    wrong
}

/// Identifiers and literals, not prose: a sentence in a help text or an attribute may say gopls.
fn tools_of_go(file: &str, text: &str) -> Vec<String> {
    const TOOLS: &[&str] =
        &["gopls", "gofmt", "GOFLAGS", "GOPATH", "GOPROXY", "GOTOOLCHAIN", "GOMEMLIMIT", "GOMODCACHE"];
    if lies_in(file, &["src/lang/go"]) {
        return Vec::new();
    }
    let kept = blank_ranges(&blank(text, Blank::Comments), &test_ranges(&code(text)));
    let kept = without_attributes(&kept);
    let words = |line: &str| {
        line.split('"')
            .enumerate()
            .filter(|(part, literal)| part % 2 == 0 || !literal.contains(' '))
            .flat_map(|(_, it)| it.split(|it: char| !it.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let mut wrong = Vec::new();
    for (number, line) in kept.lines().enumerate() {
        for word in words(line) {
            if TOOLS.iter().any(|it| word.eq_ignore_ascii_case(it)) || line.contains("new(\"go\")") && word == "go" {
                wrong.push(format!("line {}: only src/lang/go may name `{word}`", number + 1));
            }
        }
    }
    wrong
}

/// Above `lang` a language is data. Identifiers there name none, nor do the literals of those modules that do not show
/// examples; a sentence in a comment may.
fn languages(file: &str, text: &str) -> Vec<String> {
    const ABOVE: &[&str] = &[
        "src/workspace",
        "src/ops",
        "src/api",
        "src/mcp",
        "src/contract",
        "src/render",
        "src/coder",
        "src/model",
        "src/lang/engine",
        "src/lang/view",
        "src/lang/files",
    ];
    const WITH_EXAMPLES: &[&str] = &["src/api", "src/contract"];
    const NAMES: &[&str] =
        &["rust", "cargo", "rustc", "rustfmt", "rustdoc", "go", "gopls", "gofmt", "goimports", "golang"];
    const TITLES: &[&str] = &["Rust", "Cargo", "rustc", "rustfmt", "Go", "gopls", "gofmt"];
    if !lies_in(file, ABOVE) || is_test_file(file) {
        return Vec::new();
    }
    let code = code(text);
    let tests = test_ranges(&code);
    let mut wrong = Vec::new();
    for token in tokens(&without_tests(&code)) {
        let named = subwords(&token.text).into_iter().find(|it| NAMES.contains(&it.as_str()));
        wrong.extend(named.map(|it| format!("line {}: `{}` names `{it}`, a language", token.line, token.text)));
    }
    if lies_in(file, WITH_EXAMPLES) {
        return wrong;
    }
    let kept = blank_ranges(&blank(text, Blank::Comments), &tests);
    for (number, line) in kept.lines().enumerate() {
        for literal in line.split('"').skip(1).step_by(2) {
            let mut words = literal.split(|it: char| !it.is_alphanumeric());
            if NAMES.contains(&literal) || words.any(|it| TITLES.contains(&it)) {
                wrong.push(format!("line {}: \"{literal}\" names a language", number + 1));
            }
        }
    }
    wrong
}

/// The words of an identifier in either case: `RustNews`, `go_ready`.
fn subwords(identifier: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for letter in identifier.chars() {
        if letter == '_' || letter.is_uppercase() && was_lower {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter != '_') {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

fn pure(file: &str, text: &str) -> Vec<String> {
    const IMPURE: &[&str] = &["fs", "net", "process", "env", "thread", "serde", "serde_json", "tokio", "tracing"];
    if !lies_in(file, PURE) || is_test_file(file) {
        return Vec::new();
    }
    let tokens = tokens(&without_tests(&code(text)));
    let mut wrong = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let after_std = at >= 2 && tokens[at - 1].text == "::" && tokens[at - 2].text == "std";
        if IMPURE.contains(&token.text.as_str()) && (after_std || is_crate(&tokens, at)) {
            wrong.push(format!("line {}: `{}` has no place in a pure module", token.line, token.text));
        }
    }
    wrong
}

fn size(file: &str, text: &str) -> Vec<String> {
    let counted = if is_test_file(file) { text.to_owned() } else { blank_ranges(text, &test_ranges(&code(text))) };
    let lines = counted.lines().filter(|line| !line.trim().is_empty()).count();
    // A file of tests is a list of cases: long is fine, endless is not.
    let limit = if is_test_file(file) { MAX_LINES * 2 } else { MAX_LINES };
    if lines <= limit { Vec::new() } else { vec![format!("{lines} lines, {limit} allowed: one idea to a file")] }
}

fn too_large(file: &str, text: &str) -> Vec<String> {
    let Some((_, limit)) = FIRST_PAGES.iter().find(|(name, _)| *name == file) else { return Vec::new() };
    let bytes = text.len();
    if bytes <= *limit { Vec::new() } else { vec![format!("{bytes} bytes, {limit} allowed: move detail to docs/")] }
}

fn head(text: &str) -> Vec<String> {
    let first = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default();
    if first.starts_with("//! ") {
        Vec::new()
    } else {
        vec!["does not begin with a `//!` head that says what it is for".into()]
    }
}

fn leftovers(_file: &str, text: &str) -> Vec<String> {
    let code = code(text);
    let tokens = tokens(&code);
    let mut wrong = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1).map_or("", |it| it.text.as_str());
        match (token.text.as_str(), next) {
            ("allow", "(") if at > 0 && matches!(tokens[at - 1].text.as_str(), "[" | ",") => {
                wrong.push(format!("line {}: `#[allow]`; say `#[expect(…, reason = \"…\")]`", token.line));
            }
            ("todo" | "unimplemented" | "dbg", "!") => wrong.push(format!("line {}: `{}!`", token.line, token.text)),
            _ => {}
        }
    }
    wrong
}

/// Takes the code of tests alone. `sleep` is for whoever has nothing to wait for.
fn sleeps_and_skips(tests: &str) -> Vec<String> {
    let tokens = tokens(tests);
    let mut wrong = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1).map_or("", |it| it.text.as_str());
        match (token.text.as_str(), next) {
            ("sleep", "(") => {
                wrong.push(format!("line {}: wait for a condition with a deadline, not `sleep`", token.line));
            }
            ("ignore", "]" | "=") if at > 0 && tokens[at - 1].text == "[" => {
                wrong.push(format!("line {}: `#[ignore]`: a test that does not run is no test", token.line));
            }
            _ => {}
        }
    }
    wrong
}

fn dead_links(text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, line) in prose_lines(text) {
        let mut rest = line.as_str();
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            let path = target.split('#').next().unwrap_or_default();
            let elsewhere = target.contains("://") || target.starts_with("mailto:") || path.is_empty();
            if !elsewhere && !exists(path) {
                wrong.push(format!("line {number}: the link to `{target}` leads nowhere"));
            }
        }
    }
    wrong
}

fn missing_in_order(text: &str, commands: &[&str]) -> Vec<String> {
    let mut rest = text;
    let mut wrong = Vec::new();
    for command in commands {
        match rest.find(command) {
            Some(at) => rest = &rest[at + command.len()..],
            None => wrong.push(format!("does not name `{command}` (in this order: {})", commands.join(", "))),
        }
    }
    wrong
}

fn unknown_targets(text: &str, makefile: &str) -> Vec<String> {
    let targets: BTreeSet<&str> = makefile
        .lines()
        .filter(|line| !line.starts_with(['\t', '#', ' ', '.']) && !line.contains(":="))
        .filter_map(|line| line.split_once(':'))
        .flat_map(|(names, _)| names.split_whitespace())
        .collect();
    let mut wrong = Vec::new();
    for at in text.match_indices("make ").map(|(at, _)| at) {
        let typed = at == 0
            || text[..at].ends_with(['`', '\n', '$'])
            || text[..at].ends_with("run ")
            || text[..at].ends_with("$ ");
        let target: String = text[at + 5..].chars().take_while(|it| it.is_ascii_lowercase() || *it == '-').collect();
        if typed && !target.is_empty() && !targets.contains(target.as_str()) {
            wrong.push(format!("`make {target}`: there is no such target"));
        }
    }
    wrong
}

fn pins(manifest: &str) -> Vec<String> {
    let pins: Vec<(&str, &str)> = manifest
        .lines()
        .filter(|it| !it.contains("{ path = "))
        .filter_map(|line| line.split_once('='))
        .map(|(name, version)| (name.trim(), version.trim()))
        .filter(|(name, _)| name.starts_with("ra_ap_") || name.starts_with("salsa"))
        .collect();
    let expected =
        |name: &str| pins.iter().find(|(it, _)| it.split('_').next() == name.split('_').next()).map(|it| it.1);
    let mut wrong = Vec::new();
    for (name, version) in &pins {
        if !version.starts_with("\"=") {
            wrong.push(format!("`{name}` is not pinned: {version}"));
        } else if name.starts_with("ra_ap_") && expected(name) != Some(version) {
            wrong.push(format!("`{name}` is of another version than its siblings: {version}"));
        }
    }
    wrong
}

/// What stands in the place of the parser has its version, and calls that of another one.
fn parser(manifest: &str, own: &str) -> Vec<String> {
    let pin = manifest.lines().find_map(|it| it.strip_prefix("ra_ap_parser = \"=")).map(|it| it.trim_end_matches('"'));
    let version = own.lines().find_map(|it| it.strip_prefix("version = ")).map(|it| it.trim_matches('"'));
    let real = own.lines().find(|it| it.starts_with("real = ")).and_then(|it| it.split("version = \"=").nth(1));
    let real = real.and_then(|it| it.split('"').next());
    if pin.is_some() && pin == version && real.is_some() && real != version {
        return Vec::new();
    }
    vec![format!("pinned is {pin:?}, ours is {version:?} and calls {real:?}")]
}

/// The packages of a lock file from a registry, with their versions.
fn locked(lock: &str) -> impl Iterator<Item = (&str, &str)> {
    lock.split("[[package]]").filter(|it| it.contains("source = ")).filter_map(|it| {
        let value =
            |key: &str| it.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'));
        Some((value("name")?, value("version")?))
    })
}

/// What a workspace of the tests needs has been downloaded where semdex was built.
fn unavailable(lock: &str, own: &str) -> Vec<String> {
    let there: Vec<(&str, &str)> = locked(own).collect();
    let missing = locked(lock).filter(|it| !there.contains(it));
    missing.map(|(name, version)| format!("`{name}` {version} is not in semdex's lock file")).collect()
}

/// Home and work directories of whoever wrote it. The needles are put together here, not to be found in this file.
fn machine_paths(text: &str) -> Vec<String> {
    let needles = ["root", "work", "home"].map(|directory| format!("/{directory}/"));
    let starts =
        |line: &str, at: usize| !line[..at].ends_with(|it: char| it.is_alphanumeric() || "._-~}*".contains(it));
    let mut wrong = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for needle in &needles {
            if line.match_indices(needle.as_str()).any(|(at, _)| starts(line, at)) {
                wrong.push(format!("line {}: a path of one machine, below `{needle}`", number + 1));
            }
        }
    }
    wrong
}

// ---------------------------------------------------------------------------------------------------------------
// The repository

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Relative names with `/`, sorted. Build output, fixtures and what git does not keep are not the repository's own text.
fn files_below(root: &Path, directory: &Path, extension: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_path_buf()];
    while let Some(directory) = pending.pop() {
        let entries = std::fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        for entry in entries {
            let path = entry.expect("an entry of a directory that could be read").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                let foreign = matches!(name.as_str(), "target" | "fixtures" | "node_modules" | ".git" | ".venv");
                if !foreign && !path.join("CACHEDIR.TAG").exists() {
                    pending.push(path);
                }
            } else if path.extension().is_some_and(|it| it == extension) {
                let relative = path.strip_prefix(root).expect("found below the root");
                found.push(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

fn check_sources(directories: &[&str], rule: impl Fn(&str, &str) -> Vec<String>) {
    let root = root();
    check(directories.iter().flat_map(|it| files_below(&root, &root.join(it), "rs")).collect(), rule);
}

fn check(files: Vec<String>, rule: impl Fn(&str, &str) -> Vec<String>) {
    assert!(!files.is_empty(), "nothing to check: the rule looks in the wrong place");
    let wrong: Vec<String> = files
        .iter()
        .flat_map(|file| rule(file, &read(file)).into_iter().map(|it| format!("{file}: {it}")).collect::<Vec<_>>())
        .collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

fn lies_in(file: &str, places: &[&str]) -> bool {
    places
        .iter()
        .any(|place| file.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.'])))
}

/// `src/lang/go/mod.rs` and `src/lang/go.rs` are both `lang::go`.
fn module_path(file: &str) -> Vec<String> {
    let inner = file.strip_prefix("src/").unwrap_or(file);
    let inner = inner.strip_suffix(".rs").unwrap_or(inner);
    let inner = inner.strip_suffix("/mod").unwrap_or(inner);
    inner.split('/').map(str::to_owned).collect()
}

// ---------------------------------------------------------------------------------------------------------------
// The rules can fail

#[track_caller]
fn fails(wrong: Vec<String>, with: &str) {
    assert!(wrong.len() == 1 && wrong[0].contains(with), "wanted one complaint with {with:?}, got {wrong:?}");
}

#[track_caller]
fn passes(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "wanted no complaint, got {wrong:?}");
}

#[test]
fn an_arrow_that_runs_back_is_found() {
    fails(arrows("src/text/lines.rs", "use crate::lang::files::Files;"), "`text` must not use `lang`");
    fails(
        arrows("src/lang/go/mod.rs", "use crate::{model::Place, ops::{Ask, Reply}};"),
        "line 1: `lang` must not use `ops`",
    );
    fails(arrows("src/lang/mod.rs", "use super::workspace::Workspace;"), "must not use `workspace`");
    fails(arrows("src/lang/go/feed.rs", "\n\nlet x = super::super::super::api::x();"), "line 3");
    fails(arrows("src/model/mod.rs", "mod tests { use super::super::lang; }"), "must not use `lang`");
    fails(arrows("src/ops/open.rs", "fn f() -> crate::api::Wire {}"), "must not use `api`");
    fails(arrows("src/utils.rs", ""), "`utils` is not in ARROWS");
    passes(arrows("src/lang/go/mod.rs", "use super::{files, rust}; use crate::{lsp::Client, model::{self, Place}};"));
    passes(arrows(
        "src/model/mod.rs",
        "mod tests { use super::*; use super::lang; }\n// crate::api\nconst A: &str = \"crate::api\";",
    ));
    passes(arrows("src/lib.rs", "pub mod api;"));
}

#[test]
fn a_name_out_of_its_place_is_found() {
    fails(only_places("src/ops/open.rs", "use ra_ap_hir::Semantics;"), "only src/lang/rust may name `ra_ap_hir`");
    fails(only_places("src/workspace/writer.rs", "fn f() { let w = notify::recommended_watcher(g); }"), "watch");
    fails(only_places("src/workspace/writer.rs", "use notify;"), "watch");
    fails(only_places("src/ops/open.rs", "fn f(x: &axum::Router) {}"), "src/api");
    fails(only_places("src/ops/open.rs", "fn f() { g(Status::StatusCode::OK) }"), "StatusCode");
    fails(only_places("src/api/open.rs", "fn f() { tokio::process::Command::new(\"ls\"); }"), "Command");
    fails(only_places("src/cli.rs", "fn f() { std::process::exit(1) }"), "src/main");
    fails(only_places("src/lang/rusty.rs", "use salsa::Database;"), "salsa");
    passes(only_places("src/lang/rust/load.rs", "use ra_ap_hir as hir; use salsa::Database;"));
    passes(only_places("src/cli.rs", "#[cfg(test)]\nmod tests { fn f() { std::process::exit(1) } }"));
    passes(only_places("src/workspace/watch/tests.rs", "fn f() { Command::new(a); }"));
    fails(only_places("src/workspace/watch/tests.rs", "use axum::Router;"), "src/api");
    passes(only_places("src/lang/rust.rs", "use ra_ap_hir::Semantics;"));
    passes(only_places(
        "src/workspace/writer.rs",
        "fn f() { self.client.notify::<DidOpen>(p); notify.notify_one(); crate::lsp::notify::x(); }",
    ));
    passes(only_places(
        "src/ops/open.rs",
        "//! Unlike axum::Router, this is plain.\nconst A: &str = \"use axum::Router;\"; fn exit() {} fn http() {}",
    ));
}

#[test]
fn a_language_above_its_engine_is_found() {
    for code in [
        "use crate::lang::rust::LANGUAGE;",
        "enum Event { RustNews }",
        "fn go_ready() {}",
        "let touches_rust = 1;",
        "let detail = \"Cargo reads it\";",
        "if name == \"go\" {}",
    ] {
        fails(languages("src/workspace/mod.rs", code), "a language");
    }
    passes(languages(
        "src/workspace/mod.rs",
        "/// Rust, say.\nlet trust = rustix::fs(); let detail = \"they must go\"; forgot();",
    ));
    passes(languages("src/ops/mod.rs", "fn f() {}\n#[cfg(test)]\nmod tests { const A: &str = \"Rust\"; }"));
    passes(languages("src/api/examples.rs", "let language = \"rust\";"));
    passes(languages("src/lang/registry.rs", "use super::{go, rust};"));
}

#[test]
fn a_tool_of_go_out_of_its_place_is_found() {
    fails(tools_of_go("src/ops/status.rs", "let name = \"gopls\";"), "only src/lang/go may name `gopls`");
    fails(tools_of_go("src/ops/status.rs", "\nlet gopls = 1;"), "line 2");
    fails(tools_of_go("src/workspace/mod.rs", "Command::new(\"go\")"), "`go`");
    fails(tools_of_go("src/workspace/mod.rs", "command.env(\"GOFLAGS\", x)"), "GOFLAGS");
    passes(tools_of_go("src/lang/go/mod.rs", "let name = \"gopls\";"));
    passes(tools_of_go(
        "src/api/status.rs",
        "/// gopls says so\n#[schema(example = \"gopls\")]\nlet help = \"installs gopls where it is missing\"; mod go;",
    ));
    passes(tools_of_go("src/api/status.rs", "fn f() {}\n#[cfg(test)]\nmod tests { const A: &str = \"gopls\"; }"));
}

#[test]
fn an_impure_text_is_found() {
    fails(pure("src/text/diff.rs", "use std::fs;"), "`fs`");
    fails(pure("src/model/mod.rs", "#[derive(serde::Serialize)] struct A;"), "`serde`");
    passes(pure("src/text/diff.rs", "use std::fmt;\n#[cfg(test)]\nmod tests { use std::fs; }"));
    passes(pure("src/workspace/disk.rs", "use std::fs;"));
}

#[test]
fn a_long_or_headless_file_is_found() {
    let long = "//! Head.\n".to_owned() + &"fn f() {}\n".repeat(500);
    fails(size("src/a.rs", &long), "501 lines, 500 allowed");
    passes(size("src/a.rs", &"fn f() {}\n\n".repeat(500)));
    let tested = "//! Head.\n".to_owned() + "#[cfg(test)]\nmod tests {\n" + &"fn f() { '}'; }\n".repeat(600) + "}\n";
    passes(size("src/a.rs", &tested));
    fails(head("use std::fs;\n//! Late.\n"), "head");
    passes(head("//! What it is for.\n"));
}

#[test]
fn a_long_first_page_is_found() {
    fails(too_large("README.md", &"x".repeat(9_001)), "9001 bytes, 9000 allowed");
    passes(too_large("README.md", &"x".repeat(9_000)));
    passes(too_large("docs/names.md", &"x".repeat(20_000)));
}

#[test]
fn a_leftover_is_found() {
    fails(leftovers("a.rs", "#[allow(dead_code)] fn f() {}"), "expect");
    fails(leftovers("a.rs", "#![allow(dead_code)]"), "expect");
    fails(leftovers("a.rs", "#[cfg_attr(test, allow(dead_code))] fn f() {}"), "expect");
    fails(leftovers("a.rs", "fn f() {\n    todo!()\n}"), "line 2: `todo!`");
    fails(leftovers("a.rs", "fn f() { dbg!(1); }"), "dbg");
    passes(leftovers(
        "a.rs",
        "#[expect(dead_code, reason = \"x\")] fn allow(todo: u8) { \"todo!()\"; r#\"dbg!(\"#; /* todo!() */ }",
    ));
}

#[test]
fn a_sleeping_or_skipped_test_is_found() {
    fails(sleeps_and_skips(&test_code("tests/it/a.rs", "fn f() { std::thread::sleep(d); }")), "sleep");
    fails(
        sleeps_and_skips(&test_code(
            "src/a.rs",
            "#[cfg(test)]\nmod tests {\n#[test]\n#[ignore = \"slow\"]\nfn f() {} }",
        )),
        "line 4",
    );
    passes(sleeps_and_skips(&test_code(
        "src/a.rs",
        "fn f() { sleep(d); }\n#[cfg(test)]\nmod tests { const A: &str = \"sleep(\"; }\nfn g() { sleep(d) }",
    )));
}

#[test]
fn a_dead_link_is_found() {
    let exists = |path: &str| path == "README.md";
    fails(dead_links("See [this](READMEE.md#top).", exists), "`READMEE.md#top` leads nowhere");
    passes(dead_links(
        "[a](README.md) [b](README.md#x) [c](#y) [d](https://example.com/z) `[e](f)`\n```\n[g](h)\n```",
        exists,
    ));
}

#[test]
fn a_command_that_is_not_there_is_found() {
    fails(missing_in_order("make lint, make test", &["make test", "make lint"]), "make lint");
    passes(missing_in_order("make test\nmake lint", &["make test", "make lint"]));
    let makefile = "TARGET := x\ntest: a\n\tcargo test\n.PHONY: ghost\n";
    fails(unknown_targets("run `make tset` or `make test`", makefile), "make tset");
    fails(unknown_targets("$ make ghost", makefile), "make ghost");
    passes(unknown_targets("run make test\nmake test\nthings that make sense", makefile));
}

#[test]
fn a_loose_pin_is_found() {
    fails(pins("ra_ap_hir = \"0.0.348\""), "not pinned");
    fails(pins("ra_ap_hir = \"=0.0.348\"\nra_ap_ide = \"=0.0.347\""), "`ra_ap_ide` is of another version");
    fails(pins("salsa = \"0.28\""), "not pinned");
    passes(pins("ra_ap_parser = \"=0.0.348\"\nra_ap_parser = { path = \"crates/parser\" }"));
    let pinned = "ra_ap_parser = \"=0.0.348\"";
    let own = |version: &str, real: &str| {
        format!(
            "version = \"{version}\"\n[dependencies]\nreal = {{ package = \"ra_ap_parser\", version = \"={real}\" }}\n"
        )
    };
    fails(parser(pinned, &own("0.0.347", "0.0.349")), "pinned is");
    fails(parser(pinned, &own("0.0.348", "0.0.348")), "pinned is");
    passes(parser(pinned, &own("0.0.348", "0.0.349")));
    let lock = |version: &str| format!("[[package]]\nname = \"a\"\nversion = \"{version}\"\nsource = \"x\"\n");
    fails(unavailable(&lock("1.0.1"), &lock("1.0.0")), "`a` 1.0.1 is not");
    passes(unavailable(&lock("1.0.0"), &lock("1.0.0")));
    passes(pins(
        "ra_ap_hir = \"=0.0.348\"\nra_ap_ide = \"=0.0.348\"\nsalsa = \"=0.28.2\"\nsalsa-macros = \"=0.28.2\"\nserde = \"1\"",
    ));
}

#[test]
fn a_path_of_one_machine_is_found() {
    fails(machine_paths(&format!("see /{}/me/x", "home")), "line 1");
    passes(machine_paths("see https://example.com/home/x, a/work/b and ~/work/x"));
}

#[test]
fn literals_and_comments_are_blanked_where_they_stand() {
    let text = "a /* x /* y */ z */ b \"q\\\"r\" c r#\"s\"t\"# d 'e' f 'g '\\'' h // i\nj";
    let code = code(text);
    assert_eq!(code.len(), text.len());
    assert_eq!(
        tokens(&code)
            .iter()
            .filter(|it| it.text.len() == 1 && it.text != "\"")
            .map(|it| it.text.as_str())
            .collect::<String>()
            .replace(['\'', '#'], ""),
        "abcrdfghj"
    );
}
