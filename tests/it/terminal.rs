//! The command line for a person and a shell: outside of a workspace, with typing errors, in a pipe, on a terminal.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Ended, Home, RUST, SEMDEX, Server, Started, run, wait};

const DEADLINE: Duration = Duration::from_secs(300);

fn semdex(home: &Home, arguments: &[&str]) -> Ended {
    run(home.semdex().args(arguments))
}

/// Whether no server was started for this home.
fn is_without_server(home: &Home) -> bool {
    let servers = fs::read_dir(home.path().join("state/semdex/servers"));
    servers.map_or(true, |it| it.flatten().all(|it| it.path().extension().is_none_or(|it| it != "json")))
}

#[test]
fn no_server_is_started_over_a_directory_above() {
    let home = Home::with(RUST);
    home.write(
        "nested/Cargo.toml",
        "[package]\nname = \"nested\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    home.write("nested/src/lib.rs", "//! Nested.\n");
    fs::write(home.path().join("outside.txt"), "private\n").unwrap();
    let passwd = format!("{}etc/passwd", "../".repeat(30));
    let inside = home.root().join("nested");
    for (directory, file) in [
        (home.root(), passwd.as_str()),
        (home.root(), "../outside.txt"),
        (home.root(), "../no/such/file"),
        // A workspace, but one further up.
        (inside, "../src/lib.rs"),
    ] {
        for verb in ["open", "symbols"] {
            let file: &[&str] = if verb == "open" { &[file] } else { &["--file", file] };
            let ended = run(home.semdex().current_dir(&directory).arg(verb).args(file));
            assert_eq!((ended.code, ended.output.as_str()), (Some(1), ""), "{file:?}");
            assert!(ended.errors.contains("outside of the workspace"), "{}", ended.errors);
            assert!(is_without_server(&home), "{file:?} started a server");
        }
    }
    let json = semdex(&home, &["open", &passwd, "--json"]);
    let problem: Value = serde_json::from_str(&json.errors).unwrap_or_else(|_| panic!("{}", json.errors));
    assert_eq!((json.code, &problem["code"]), (Some(1), &Value::from("outside_workspace")));
}

#[test]
fn no_server_is_started_over_everything() {
    let home = Home::with(&[("notes/a.txt", "one\n")]);
    let (root, notes) = (home.root(), home.root().join("notes"));
    let said = |home: &Home, directory: &Path, arguments: &[&str]| {
        run(home.semdex().env("HOME", &root).current_dir(directory).args(arguments))
    };
    for (directory, arguments) in
        [(Path::new("/"), &["map"][..]), (root.as_path(), &["map"]), (root.as_path(), &["open", "notes/a.txt"])]
    {
        let ended = said(&home, directory, arguments);
        assert_eq!((ended.code, ended.output.as_str()), (Some(1), ""), "{arguments:?}");
        assert!(ended.errors.contains("semdex serve DIRECTORY"), "{}", ended.errors);
        assert!(is_without_server(&home), "{arguments:?} started a server");
    }
    let json = said(&home, &root, &["map", "--json"]);
    let problem: Value = serde_json::from_str(&json.errors).unwrap_or_else(|_| panic!("{}", json.errors));
    assert_eq!((json.code, &problem["code"]), (Some(1), &Value::from("forbidden_root")));
    {
        // A server that serves the file is asked.
        let _started = Started(&home);
        assert_eq!(said(&home, &notes, &["map"]).code, Some(0));
        let open = said(&home, &root, &["open", "notes/a.txt"]);
        assert!(open.output.starts_with("# a.txt"), "{}{}", open.output, open.errors);
    }
    // So is a server that was started for a parent directory.
    let server = home.serve_with(&["--no-trust"], &[("HOME", &root)]);
    let status = said(&server.home, &root, &["status", "--json"]);
    let json: Value = serde_json::from_str(&status.output).unwrap_or_else(|_| panic!("{}", status.errors));
    assert_eq!(json["pid"], server.pid());
}

#[test]
fn a_server_that_runs_is_asked_about_its_files_from_anywhere() {
    let server = Server::shared(RUST);
    let elsewhere = server.home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let file = server.home.root().join("src/lib.rs");
    let open = run(server.home.semdex().current_dir(&elsewhere).arg("open").arg(&file));
    assert_eq!(open.code, Some(0), "{}", open.errors);
    assert!(open.output.starts_with("# src/lib.rs"), "{}", open.output);
}

#[test]
fn what_was_mistyped_is_answered_with_what_was_meant() {
    let server = Server::shared(RUST);
    for (line, code, wanted) in [
        ("usags greeter::greet", 2, "usages"),
        ("usages greeter::greet --jsn", 2, "--json"),
        ("impact greeter::greet --change signatur", 2, "signature"),
        ("open src/lbi.rs", 1, "src/lib.rs"),
        ("describe --file src/shuot.rs", 1, "src/shout.rs"),
        ("symbols --file src/lbi.rs", 1, "src/lib.rs"),
        ("diagnostics src/lbi.rs", 1, "src/lib.rs"),
        ("describe", 2, "<SYMBOL>"),
        ("diagnostics --severity warning,eror", 2, "'error'"),
        ("impact greeter::greet --change remove --limit 1", 2, "--limit"),
        ("open src/lib.rs --limit 1", 2, "--limit"),
        ("events --types chnage", 2, "'change'"),
        ("edit src/lbi.rs --search a --replace b", 1, "src/lib.rs"),
        ("usages greeter::gret --wait-ms 120000", 1, "greeter::greet"),
    ] {
        let ended = semdex(&server.home, &line.split(' ').collect::<Vec<_>>());
        assert_eq!((ended.code, ended.output.as_str()), (Some(code), ""), "{line}: {}", ended.errors);
        assert!(ended.errors.contains(wanted), "{line}: {}", ended.errors);
    }
}

#[test]
fn a_problem_is_one_line_and_what_to_do_another() {
    let server = Server::shared(RUST);
    let beginning = |line: &str| {
        let ended = semdex(&server.home, &line.split(' ').collect::<Vec<_>>());
        ended.errors.lines().take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let unknown = beginning("usages NoSuchThing --wait-ms 120000");
    assert_eq!(unknown[0], "error[unknown_symbol]: there is no symbol `NoSuchThing`");
    assert!(unknown[1].starts_with("  `semdex symbols PART` finds names"), "{unknown:?}");
    let misspelt = beginning("opn x");
    assert_eq!(misspelt, ["error: unrecognized subcommand 'opn'", "  a similar subcommand exists: 'open'"]);
    let local = beginning("man nosuch");
    assert_eq!(local, ["error: there is no command `nosuch`", "  `semdex help` lists all"]);
}

#[test]
fn places_are_listed_for_editors() {
    let server = Server::shared(RUST);
    let lines = |line: &str| {
        let arguments: Vec<&str> = line.split(' ').chain(["--wait-ms", "120000"]).collect();
        let ended = semdex(&server.home, &arguments);
        assert_eq!(ended.code, Some(0), "{line}: {}", ended.errors);
        ended.output.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let usages = lines("usages greeter::greet --format short");
    assert!(usages.iter().any(|it| it.starts_with("src/shout.rs:1:12: use crate::greet;")), "{usages:?}");
    for verb in ["callers greeter::greet", "symbols greet", "impact greeter::greet --change remove"] {
        let found = lines(&format!("{verb} --format short"));
        let is_place = |it: &String| it.splitn(4, ':').skip(1).take(2).all(|it| it.parse::<usize>().is_ok());
        assert!(!found.is_empty() && found.iter().all(is_place), "{verb}: {found:?}");
    }
    let json = lines("usages greeter::greet --format json");
    assert!(json[0].starts_with('{'), "{json:?}");
}

#[test]
fn a_gate_that_cannot_decide_says_why_in_words() {
    let server = Server::on(RUST);
    server.home.write("semdex.toml", "[gate]\nmax_error = 1\n");
    let ended = semdex(&server.home, &["gate"]);
    assert_eq!((ended.code, ended.output.as_str()), (Some(1), ""), "{}", ended.errors);
    let first = ended.errors.lines().next().unwrap_or_default();
    let is_told = first.starts_with("error[") && first.ends_with("semdex.toml:2: [gate] max_error");
    let is_told = is_told && ended.errors.contains("max_errors");
    assert!(is_told && !ended.errors.contains("\"code\""), "{}", ended.errors);
    let json = semdex(&server.home, &["gate", "--json"]);
    let problem: Value = serde_json::from_str(&json.errors).unwrap_or_else(|_| panic!("{}", json.errors));
    assert!(problem["detail"].as_str().is_some_and(|it| it.contains("max_errors")), "{problem}");
}

#[test]
fn every_call_has_a_verb_for_the_process_too() {
    let server = Server::on(RUST);
    let json = |arguments: &[&str]| -> Value {
        let ended = semdex(&server.home, arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.errors);
        serde_json::from_str(&ended.output).unwrap()
    };
    assert_eq!(json(&["health", "--json"])["status"], "ok");
    assert_eq!(json(&["workspaces", "list", "--json"])["workspaces"][0]["id"], "workspace");
    assert_eq!(json(&["workspaces", "open", "src", "--json"])["workspace"]["id"], "workspace");
    assert_eq!(json(&["workspaces", "close", "workspace", "--json"])["workspace"]["id"], "workspace");
    assert_eq!(json(&["workspaces", "list", "--json"])["workspaces"], Value::Array(Vec::new()));
}

#[test]
fn a_reader_that_goes_is_no_failure() {
    let server = Server::shared(RUST);
    for arguments in [
        &["man"][..],
        &["completions", "bash"],
        &["config"],
        &["token"],
        &["open", "src/lib.rs"],
        &["doctor"],
        &["init", "claude"],
        &["init", "codex", "--write", "--yes"],
    ] {
        let codex = server.home.path().join("codex");
        let mut command = server.home.semdex();
        command.args(arguments).env("CODEX_HOME", codex).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        let is_quiet = errors.is_empty() || arguments.contains(&"init") && !errors.contains("error: ");
        assert_eq!((wait(&mut child).code(), is_quiet), (Some(0), true), "{arguments:?}: {errors}");

        // Nor is one who hears neither of the two.
        let mut child = command.spawn().unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(wait(&mut child).code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let home = Home::with(RUST);
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = semdex(&home, &["completions", shell]);
        assert_eq!((script.code, script.errors.as_str()), (Some(0), ""), "{shell}");
        for word in ["implementations", "symbol-at", "workspaces", "on-break"] {
            assert!(script.output.contains(word), "{shell} lacks {word}");
        }
    }
    let page = semdex(&home, &["man"]);
    assert!(page.output.starts_with(".ie") && page.output.contains(".TH semdex 1"), "{}", page.output);
    let pages = semdex(&home, &["man", "--directory", "man"]);
    assert_eq!((pages.code, pages.errors.as_str()), (Some(0), ""));
    for name in ["semdex.1", "semdex-usages.1", "semdex-overlay-put.1"] {
        assert!(home.read(&format!("man/{name}")).contains(".SH"), "{name}");
    }
    let page = semdex(&home, &["man", "usages"]).output;
    assert!(page.contains(".SH EXAMPLES\n  semdex usages "), "{page}");
    assert_eq!(home.read("man/semdex-usages.1"), page);
    let page = semdex(&home, &["man", "overlay", "put"]).output;
    assert_eq!(home.read("man/semdex-overlay-put.1"), page);
    for file in fs::read_dir(home.root().join("man")).unwrap().map(|it| it.unwrap().path()) {
        let page = fs::read_to_string(&file).unwrap();
        assert!(!page.contains(".SH EXTRA"), "{}", file.display());
    }
    let page = semdex(&home, &["man", "stats"]).output;
    assert!(!page.contains("merged") && page.contains("with this `session_id`"), "{page}");
    let unknown = semdex(&home, &["man", "overlay", "get"]);
    assert!(unknown.code == Some(1) && unknown.errors.contains("`overlay get`"), "{}", unknown.errors);
}

#[test]
fn the_settings_say_where_they_come_from() {
    let home = Home::with(RUST);
    home.write("semdex.toml", "[limits]\nmax_file_bytes = '1MiB'\n");
    let config = home.path().join("config/semdex/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "[limits]\nmax_file_bytes = 5\n[go]\nmemory_limit = '2GiB'\n[log]\nslow_ms = 7\n").unwrap();
    let ended = run(home.semdex().args(["config", "--json", "--listen", "127.0.0.1:9"]).env("SEMDEX_LOG", "debug"));
    assert_eq!(ended.code, Some(0), "{}", ended.errors);
    let json: Value = serde_json::from_str(&ended.output).unwrap();
    let setting = |key: &str| {
        let all = json["settings"].as_array().unwrap();
        let it = all.iter().find(|it| it["key"] == key).unwrap_or_else(|| panic!("no {key} in {json}"));
        (it["value"].clone(), it["from"].as_str().unwrap().to_owned(), it["where"].as_str().unwrap().to_owned())
    };
    let own = format!("file {}", home.root().join("semdex.toml").display());
    let users = format!("file {}", config.display());
    assert_eq!(setting("limits.max_file_bytes"), (1_048_576.into(), "file".into(), own));
    assert_eq!(setting("go.memory_limit"), (2_147_483_648_u64.into(), "file".into(), users.clone()));
    assert_eq!(setting("log.slow_ms"), (7.into(), "file".into(), users));
    assert_eq!(setting("log"), ("debug".into(), "environment".into(), "environment SEMDEX_LOG".into()));
    assert_eq!(setting("listen"), ("127.0.0.1:9".into(), "flag".into(), "flag --listen".into()));
    assert_eq!(setting("journal.keep_days"), (30.into(), "default".into(), "default".into()));
    assert_eq!(setting("state_dir").1, "environment");
    // Its owner never trusted it.
    let build_scripts = setting("rust.build_scripts");
    assert_eq!(build_scripts.0, false);
    assert!(build_scripts.2.contains("not trusted"), "{}", build_scripts.2);

    let text = semdex(&home, &["config"]).output;
    assert!(text.lines().any(|it| it.starts_with("log.slow_ms = 7 ") && it.contains("# file ")), "{text}");
    home.write("semdex.toml", "[limits]\nmax_file_byte = 1\n");
    let wrong = semdex(&home, &["config"]);
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.errors.contains("max_file_bytes"), "{}", wrong.errors);
}

/// A command on a terminal of its own; its output is written to the file.
fn on_terminal(home: &Home, command: &str, shows: &Path, variables: &[(&str, &str)]) -> Child {
    talking(home, command, shows, variables, Stdio::null())
}

/// The same with input.
fn talking(home: &Home, command: &str, shows: &Path, variables: &[(&str, &str)], types: Stdio) -> Child {
    let own = home.semdex();
    let mut script = Command::new("script");
    script.args(["--quiet", "--flush", "--return", "--command", command]).arg(shows).current_dir(home.root());
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    script.env("TERM", "xterm").env_remove("NO_COLOR").envs(variables.iter().copied());
    script.stdin(types).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_terminal_gets_colours_unless_it_wants_none() {
    let server = Server::shared(RUST);
    let shown = |variables: &[(&str, &str)]| {
        let file = server.home.path().join("typescript");
        let mut child = on_terminal(&server.home, &format!("{SEMDEX} open src/lib.rs"), &file, variables);
        assert_eq!(wait(&mut child).code(), Some(0));
        fs::read_to_string(&file).unwrap()
    };
    let coloured = shown(&[]);
    assert!(coloured.contains("\u{1b}[1m# src/lib.rs"), "{coloured:?}");
    let plain = shown(&[("NO_COLOR", "1")]);
    assert!(plain.contains("# src/lib.rs") && !plain.contains('\u{1b}'), "{plain:?}");

    assert!(!semdex(&server.home, &["open", "src/lib.rs"]).output.contains('\u{1b}'));
    assert!(semdex(&server.home, &["open", "src/lib.rs", "--color", "always"]).output.contains('\u{1b}'));
    assert!(!semdex(&server.home, &["open", "src/lib.rs", "--color", "always", "--json"]).output.contains('\u{1b}'));
}

#[test]
fn a_terminal_obeys_nothing_that_a_file_holds() {
    let server = Server::on(RUST);
    server.home.write("steers.txt", "\u{1b}[31mred\u{9b}2J\r\n");
    for (more, wanted) in [("", "\\u{1b}[31mred\\u{9b}2J"), ("--json", "\\u001b[31mred\\u009b2J")] {
        let file = server.home.path().join("typescript");
        let command = format!("{SEMDEX} describe --file steers.txt {more}");
        let mut child = on_terminal(&server.home, &command, &file, &[("NO_COLOR", "1")]);
        assert_eq!(wait(&mut child).code(), Some(0));
        let shown = fs::read_to_string(&file).unwrap();
        // Of the bar's own there may be some.
        let obeys = shown.contains("\u{1b}[31m") || shown.contains('\u{9b}');
        assert!(shown.contains(wanted) && !obeys, "{shown:?}");
    }
    // A pipe gets the unchanged text.
    let piped = semdex(&server.home, &["describe", "--file", "steers.txt"]).output;
    assert!(piped.contains("\u{1b}[31mred\u{9b}2J"), "{piped:?}");
}

#[test]
fn a_server_on_a_terminal_says_what_to_do_next() {
    let home = Home::with(RUST);
    let file = home.path().join("typescript");
    let mut child = on_terminal(&home, &format!("{SEMDEX} serve --trust --listen 127.0.0.1:0"), &file, &[]);
    let deadline = Instant::now() + DEADLINE;
    let shown = loop {
        let shown = fs::read_to_string(&file).unwrap_or_default();
        if shown.contains("look:") {
            break shown;
        }
        assert!(Instant::now() < deadline, "it said only {shown:?}");
        std::thread::park_timeout(Duration::from_millis(20));
    };
    let hello = shown.lines().find(|it| it.starts_with('{')).unwrap();
    let hello: Value = serde_json::from_str(hello.trim()).unwrap();
    let pid = Pid::from_raw(i32::try_from(hello["pid"].as_i64().unwrap()).unwrap()).unwrap();
    let address = hello["listening"].as_str().unwrap();
    for wanted in [format!("{address}/v1/status"), "semdex init claude".to_owned(), format!("look:   {address}/")] {
        assert!(shown.contains(&wanted), "no {wanted} in {shown}");
    }
    kill_process(pid, Signal::TERM).unwrap();
    wait(&mut child);
}

#[test]
fn init_asks_on_a_terminal_before_it_writes() {
    let home = Home::with(RUST);
    let file = home.root().join(".mcp.json");
    for (answer, is_written) in [("n", false), ("", false), ("y", true)] {
        let shows = home.path().join("typescript");
        let mut child = talking(&home, &format!("{SEMDEX} init claude --write"), &shows, &[], Stdio::piped());
        let deadline = Instant::now() + DEADLINE;
        while !fs::read_to_string(&shows).unwrap_or_default().contains("Make ") {
            assert!(Instant::now() < deadline, "it did not ask");
            std::thread::park_timeout(Duration::from_millis(20));
        }
        assert!(!file.exists(), "it wrote before it was answered");
        // It asks for the server's file and for the settings.
        writeln!(child.stdin.as_mut().unwrap(), "{answer}\n{answer}").unwrap();
        let code = wait(&mut child).code();
        let shown = fs::read_to_string(&shows).unwrap();
        assert_eq!((code == Some(0), file.exists()), (is_written, is_written), "{answer:?}: {shown}");
    }
    assert!(fs::read_to_string(&file).unwrap().contains("\"semdex\""));
}

#[test]
fn a_terminal_sees_how_far_the_index_is() {
    let home = Home::with(RUST);
    let shows = home.path().join("typescript");
    // What holds the load up until the bar was seen.
    let faults = home.path().join("faults");
    fs::create_dir(&faults).unwrap();
    fs::write(faults.join("rust.load.read"), "stall").unwrap();
    let server = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults)]);
    let command = format!("{SEMDEX} usages greeter::greet --wait-ms 120000");
    let mut child = on_terminal(&server.home, &command, &shows, &[]);
    let deadline = Instant::now() + DEADLINE;
    let shown = || fs::read_to_string(&shows).unwrap_or_default();
    while !shown().contains("workspace: ") {
        assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none(), "no bar: {}", shown());
        std::thread::park_timeout(Duration::from_millis(20));
    }
    fs::remove_file(faults.join("rust.load.read")).unwrap();
    assert_eq!(wait(&mut child).code(), Some(0));
    assert!(shown().contains("3 usages"), "{}", shown());
}
