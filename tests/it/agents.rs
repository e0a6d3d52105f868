//! What the configuration of each agent gets, how it is taken back, and what its hooks and replies say at first sight.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::language_servers::serve;
use crate::support::{Ended, Home, RUST, SEMDEX, Server, run};

/// `semdex` with these arguments, and the directories of all agents below the home of the test.
fn semdex(home: &Home, arguments: &[&str]) -> Ended {
    let mut command = home.semdex();
    command.args(arguments).env("HOME", home.path().join("user"));
    for variable in ["CODEX_HOME", "COPILOT_HOME", "CLINE_DIR", "WINDSURF_HOME", "CLAUDE_CONFIG_DIR"] {
        command.env_remove(variable);
    }
    run(&mut command)
}

/// Each agent with the file of its server and the keys of the entry.
const AGENTS: &[(&str, &str, &[&str])] = &[
    ("claude", "workspace/.mcp.json", &["mcpServers", "semdex"]),
    ("cursor", "workspace/.cursor/mcp.json", &["mcpServers", "semdex"]),
    ("gemini", "workspace/.gemini/settings.json", &["mcpServers", "semdex"]),
    ("qwen", "workspace/.qwen/settings.json", &["mcpServers", "semdex"]),
    ("opencode", "workspace/opencode.json", &["mcp", "semdex"]),
    ("copilot", "user/.copilot/mcp-config.json", &["mcpServers", "semdex"]),
    ("cline", "user/.cline/data/settings/cline_mcp_settings.json", &["mcpServers", "semdex"]),
    ("vscode", "workspace/.vscode/mcp.json", &["servers", "semdex"]),
    ("zed", "workspace/.zed/settings.json", &["context_servers", "semdex"]),
    ("windsurf", "user/.codeium/windsurf/mcp_config.json", &["mcpServers", "semdex"]),
];

fn below(home: &Home, file: &str) -> PathBuf {
    home.path().join(file)
}

#[test]
fn each_agent_gets_its_entry_and_gives_it_back() {
    let home = Home::with(&[("go.mod", "module x\n")]);
    for (agent, file, keys) in AGENTS {
        let own = "{ // mine\n  \"own\": [1, 2],\n}\n";
        let path = below(&home, file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, own).unwrap();
        let written = semdex(&home, &["init", agent, "--write", "--yes"]);
        assert_eq!(written.code, Some(0), "{agent}: {}", written.errors);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("{ // mine\n") && text.ends_with("\"own\": [1, 2],\n}\n"), "{agent}: {text}");
        let plain = text.replace(" // mine", "").replace("[1, 2],\n}", "[1, 2]\n}");
        let document: Value = serde_json::from_str(&plain).unwrap_or_else(|error| panic!("{agent}: {error}: {text}"));
        let entry = keys.iter().fold(&document, |below, key| &below[key]);
        assert!(entry.to_string().contains("\"mcp\""), "{agent}: {text}");
        // The second time nothing is to be done.
        assert_eq!(semdex(&home, &["init", agent, "--write", "--yes"]).code, Some(0));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        let removed = semdex(&home, &["init", agent, "--remove", "--yes"]);
        assert_eq!(removed.code, Some(0), "{agent}: {}", removed.errors);
        let left = fs::read_to_string(&path).unwrap();
        assert!(left.contains("// mine") && left.contains("\"own\": [1, 2]") && !left.contains("mcp\""), "{left}");
    }
}

#[test]
fn what_was_shown_to_be_needed_is_written() {
    let home = Home::with(&[("go.mod", "module x\n")]);
    let read =
        |file: &str| -> Value { serde_json::from_str(&fs::read_to_string(below(&home, file)).unwrap()).unwrap() };
    let claude = semdex(&home, &["init", "claude", "--write", "--yes", "--hook", "--agents-md"]);
    assert_eq!(claude.code, Some(0), "{}", claude.errors);
    assert!(claude.errors.contains("asks once about the new server"), "{}", claude.errors);
    assert_eq!(read("workspace/.mcp.json")["mcpServers"]["semdex"]["alwaysLoad"], true);
    let settings = read("workspace/.claude/settings.json");
    let allowed: Vec<&str> =
        settings["permissions"]["allow"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    for reads in ["usages", "explore", "open", "describe", "map", "impact", "diagnostics"] {
        assert!(allowed.contains(&format!("mcp__semdex__{reads}").as_str()), "{reads}: {settings}");
    }
    for other in ["edit", "write", "rename", "undo", "verify"] {
        assert!(!allowed.contains(&format!("mcp__semdex__{other}").as_str()), "{other}: {settings}");
    }
    assert!(settings["hooks"]["PreToolUse"][0]["matcher"].as_str().unwrap().contains("mcp__semdex__"), "{settings}");
    let section = home.read("CLAUDE.md");
    assert!(section.chars().count() <= 900 && section.contains("`usages "), "{section}");
    let changes = semdex(&home, &["init", "claude", "--write", "--yes", "--allow", "changes"]);
    assert_eq!(changes.code, Some(0), "{}", changes.errors);
    assert!(home.read(".claude/settings.json").contains("mcp__semdex__edit"));

    assert_eq!(semdex(&home, &["init", "codex", "--write", "--yes"]).code, Some(0));
    let codex = fs::read_to_string(below(&home, "user/.codex/config.toml")).unwrap();
    for line in ["[mcp_servers.semdex]\n", "default_tools_approval_mode = \"approve\"\n", "\"XDG_STATE_HOME\""] {
        assert!(codex.contains(line), "{codex}");
    }
    assert_eq!(semdex(&home, &["init", "copilot", "--write", "--yes"]).code, Some(0));
    let copilot = read("user/.copilot/mcp-config.json");
    assert_eq!(copilot["mcpServers"]["semdex"]["deferTools"], "never", "{copilot}");
    let qwen = semdex(&home, &["init", "qwen", "--write", "--yes"]);
    assert!(qwen.code == Some(0) && qwen.errors.contains("qwen mcp approve semdex"), "{}", qwen.errors);
    assert_eq!(read("workspace/.qwen/settings.json")["mcpServers"]["semdex"]["alwaysLoadTools"], true);
    assert_eq!(semdex(&home, &["init", "cline", "--write", "--yes"]).code, Some(0));
    let cline = read("user/.cline/data/settings/cline_mcp_settings.json");
    // By default it gives up a call after a minute.
    assert!(cline["mcpServers"]["semdex"]["timeout"].as_u64() > Some(600), "{cline}");
    assert_eq!(semdex(&home, &["init", "gemini", "--write", "--yes", "--allow", "none"]).code, Some(0));
    assert_eq!(read("workspace/.gemini/settings.json")["mcpServers"]["semdex"]["trust"], Value::Null);

    let seen = semdex(&home, &["doctor", "--agents"]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.output, seen.errors);
    for line in ["ok      claude: ", "ok      claude: hooks", "ok      codex: ", "absent  zed: ", "note    qwen: "] {
        assert!(seen.output.contains(line), "{line}: {}", seen.output);
    }
    home.write(".cursor/mcp.json", "{\"mcpServers\": {\"semdex\": {\"command\": \"/no/such/semdex\"}}}");
    let seen = semdex(&home, &["doctor", "--agents"]);
    assert!(seen.code == Some(1) && seen.output.contains("MISSING cursor: "), "{}", seen.output);

    for agent in ["claude", "codex", "copilot", "gemini"] {
        let removed = semdex(&home, &["init", agent, "--remove", "--yes"]);
        assert_eq!(removed.code, Some(0), "{}", removed.errors);
    }
    for file in ["workspace/.mcp.json", "workspace/.claude/settings.json", "workspace/CLAUDE.md"] {
        assert!(!below(&home, file).exists(), "{file} had nothing else");
    }
    assert!(!fs::read_to_string(below(&home, "user/.codex/config.toml")).unwrap_or_default().contains("semdex"));
}

/// Lets `init` write hooks, and changes the file.
fn with_hooks_of_the_user(home: &Home, agent: &str, file: &str, change: impl Fn(&mut Value)) {
    let written = semdex(home, &["init", agent, "--write", "--hook", "--yes"]);
    assert_eq!(written.code, Some(0), "{agent}: {}", written.errors);
    let mut settings: Value = serde_json::from_str(&home.read(file)).unwrap();
    change(&mut settings);
    home.write(file, &serde_json::to_string_pretty(&settings).unwrap());
}

#[test]
fn hooks_of_the_user_stay() {
    let own = |agent: &str| {
        let command = |it: &str| json!({"type": "command", "command": it});
        [
            command("notify-send done"),
            command("systemctl --user start semdex"),
            command(&format!("./my-guard.sh --except 'semdex hook {agent}'")),
        ]
    };
    let names = |agent: &str, text: &str| own(agent).iter().all(|it| text.contains(it["command"].as_str().unwrap()));
    for (agent, file, stop, before) in [
        ("claude", ".claude/settings.json", "Stop", "PreToolUse"),
        ("codex", ".codex/hooks.json", "Stop", "PostToolUse"),
        ("gemini", ".gemini/settings.json", "AfterAgent", "AfterTool"),
    ] {
        let home = Home::with(&[("go.mod", "module x\n")]);
        with_hooks_of_the_user(&home, agent, file, |settings| {
            let [done, start, guard] = own(agent);
            // One in semdex's own group, one beside it, and one with the command among its words.
            settings["hooks"][stop][0]["hooks"].as_array_mut().unwrap().push(done);
            let add = |list: &mut Value, hook: Value| list.as_array_mut().unwrap().push(json!({"hooks": [hook]}));
            add(&mut settings["hooks"][stop], start);
            add(&mut settings["hooks"][before], guard);
        });
        let text = home.read(file);
        let again = semdex(&home, &["init", agent, "--write", "--hook", "--yes"]);
        assert_eq!(again.code, Some(0), "{agent}: {}", again.errors);
        assert_eq!(home.read(file), text, "{agent}");
        let removed = semdex(&home, &["init", agent, "--remove", "--yes"]);
        assert_eq!(removed.code, Some(0), "{agent}: {}", removed.errors);
        let left = home.read(file);
        assert!(names(agent, &left), "{agent}: {left}");
        assert_eq!(left.matches("\"command\":").count(), 3, "{agent}: {left}");
    }
    let home = Home::with(&[("go.mod", "module x\n")]);
    with_hooks_of_the_user(&home, "cursor", ".cursor/hooks.json", |settings| {
        settings["hooks"]["stop"].as_array_mut().unwrap().push(json!({"command": "nice semdex hook cursor"}));
    });
    assert_eq!(semdex(&home, &["init", "cursor", "--remove", "--yes"]).code, Some(0));
    let left: Value = serde_json::from_str(&home.read(".cursor/hooks.json")).unwrap();
    assert_eq!(left, json!({"version": 1, "hooks": {"stop": [{"command": "nice semdex hook cursor"}]}}));
}

#[test]
fn what_is_removed_leaves_the_rest_as_it_was() {
    let home = Home::with(&[("go.mod", "module x\n")]);
    let zed =
        "{\n  \"context_servers\": {\n    // the issues\n    \"issues\": { \"command\": \"i\" }, // end\n  }\n}\n";
    let vscode = "{\n  // none yet\n  \"servers\": {},\n  \"inputs\": []\n}\n";
    for (agent, file, text) in [("zed", ".zed/settings.json", zed), ("vscode", ".vscode/mcp.json", vscode)] {
        home.write(file, text);
        assert_eq!(semdex(&home, &["init", agent, "--write", "--yes"]).code, Some(0));
        assert!(home.read(file).contains("\"semdex\""), "{agent}");
        assert_eq!(semdex(&home, &["init", agent, "--remove", "--yes"]).code, Some(0));
        assert_eq!(home.read(file), text, "{agent}");
    }
    let codex = below(&home, "user/.codex/config.toml");
    assert_eq!(semdex(&home, &["init", "codex", "--write", "--yes"]).code, Some(0));
    let later = "\n# IMPORTANT: not the other one\n[projects.\"/srv/x\"]\ntrust_level = \"trusted\"\n";
    fs::write(&codex, fs::read_to_string(&codex).unwrap() + later).unwrap();
    assert_eq!(semdex(&home, &["init", "codex", "--remove", "--yes"]).code, Some(0));
    assert_eq!(fs::read_to_string(&codex).unwrap(), later);
    fs::write(&codex, "[mcp_servers.\"semdex\"] # here\ncommand = \"semdex\"\nargs = [\"mcp\"]\n").unwrap();
    let removed = semdex(&home, &["init", "codex", "--remove", "--yes"]);
    assert!(removed.code == Some(0) && !codex.exists(), "{}", removed.errors);
}

#[test]
fn another_server_of_the_name_is_left_alone() {
    let home = Home::with(&[("go.mod", "module x\n")]);
    for entry in [
        json!({"type": "http", "url": "http://127.0.0.1:7878/mcp"}),
        json!({"command": "/opt/wrap/semdex", "args": ["--ws", "x"], "env": {"A": "1"}}),
    ] {
        let text = json!({"mcpServers": {"semdex": entry}}).to_string();
        home.write(".mcp.json", &text);
        let written = semdex(&home, &["init", "claude", "--write", "--yes"]);
        assert!(written.code == Some(1) && written.errors.contains("it has another `semdex`"), "{}", written.errors);
        let removed = semdex(&home, &["init", "claude", "--remove", "--yes"]);
        assert!(removed.errors.contains("has a `semdex` that `init` did not write"), "{}", removed.errors);
        assert_eq!(home.read(".mcp.json"), text);
    }
    let codex = below(&home, "user/.codex/config.toml");
    fs::create_dir_all(codex.parent().unwrap()).unwrap();
    let text = "[mcp_servers.semdex]\nurl = \"http://127.0.0.1:7878/mcp\"\n";
    fs::write(&codex, text).unwrap();
    assert_eq!(semdex(&home, &["init", "codex", "--write", "--yes"]).code, Some(1));
    let removed = semdex(&home, &["init", "codex", "--remove", "--yes"]);
    assert!(removed.errors.contains("did not write"), "{}", removed.errors);
    assert_eq!(fs::read_to_string(&codex).unwrap(), text);
}

#[test]
fn permissions_are_taken_back() {
    let home = Home::with(&[("go.mod", "module x\n")]);
    for (agent, file, permission) in [
        ("claude", "workspace/.claude/settings.json", "mcp__semdex__usages"),
        ("gemini", "workspace/.gemini/settings.json", "\"trust\""),
        ("qwen", "workspace/.qwen/settings.json", "\"trust\""),
        ("codex", "user/.codex/config.toml", "default_tools_approval_mode"),
        ("cline", "user/.cline/data/settings/cline_mcp_settings.json", "\"usages\""),
    ] {
        let has = || fs::read_to_string(below(&home, file)).unwrap_or_default().contains(permission);
        let init = |allow: &[&str]| {
            let written = semdex(&home, &[&["init", agent, "--write", "--yes"], allow].concat());
            assert_eq!(written.code, Some(0), "{agent}: {}", written.errors);
            written.errors
        };
        let trusts = "`\"trust\": true` lets it";
        assert_eq!(init(&[]).contains(trusts), permission.contains("trust"), "{agent}");
        assert!(has(), "{agent}");
        let none = init(&["--allow", "none"]);
        assert!(!has() && !none.contains(trusts) && none.contains(" is "), "{agent}: {none}");
        // Without the option nothing is allowed that was taken back.
        assert!(init(&[]).contains("stays as it is: `--allow` changes it"), "{agent}");
        assert!(!has(), "{agent}");
        init(&["--allow", "changes"]);
        assert!(has(), "{agent}");
    }
    let tools = || home.read(".claude/settings.json");
    assert!(tools().contains("mcp__semdex__edit"));
    home.write(".claude/settings.json", &tools().replacen('[', "[\"Bash(semdex)\", ", 1));
    assert_eq!(semdex(&home, &["init", "claude", "--write", "--yes", "--allow", "reading"]).code, Some(0));
    assert!(!tools().contains("mcp__semdex__edit") && tools().contains("mcp__semdex__map"), "{}", tools());
    assert_eq!(semdex(&home, &["init", "claude", "--write", "--yes", "--allow", "none"]).code, Some(0));
    assert!(tools().contains("\"Bash(semdex)\"") && !tools().contains("mcp__"), "{}", tools());
}

#[test]
fn doctor_examines_what_an_agent_starts() {
    let home = Home::with(&[("go.mod", "module x\n")]);
    home.write(".mcp.json", &json!({"mcpServers": {"semdex": {"command": "cat", "args": ["x"]}}}).to_string());
    home.write(
        ".vscode/mcp.json",
        &json!({"servers": {"semdex": {"type": "http", "url": "http://x/mcp"}}}).to_string(),
    );
    let seen = semdex(&home, &["doctor", "--agents"]);
    assert_eq!(seen.code, Some(0), "{}", seen.output);
    let has = |output: &str, line: &str| output.lines().any(|it| it.starts_with("note    ") && it.contains(line));
    assert!(has(&seen.output, "starts `cat x`, not `semdex mcp`"), "{}", seen.output);
    assert!(has(&seen.output, "starts no program"), "{}", seen.output);
    home.write(".mcp.json", "{\"mcpServers\":");
    let seen = semdex(&home, &["doctor", "--agents"]);
    let invalid = seen.output.lines().find(|it| it.starts_with("INVALID claude: ")).unwrap_or_default();
    assert!(seen.code == Some(1) && invalid.contains("it is not JSON"), "{}", seen.output);
    assert!(!seen.output.contains("absent  claude: no entry"), "{}", seen.output);
}

#[test]
fn doctor_says_what_each_agent_will_still_ask() {
    let home = Home::with(&[("go.mod", "module x\n")]);
    for agent in ["claude", "codex", "gemini"] {
        let written = semdex(&home, &["init", agent, "--write", "--yes", "--hook"]);
        assert_eq!(written.code, Some(0), "{}", written.errors);
    }
    let doctor = |code: i32, lines: &[&str]| {
        let seen = semdex(&home, &["doctor", "--agents"]);
        assert_eq!(seen.code, Some(code), "{}{}", seen.output, seen.errors);
        for line in lines {
            assert!(seen.output.lines().any(|it| it.starts_with(line)), "{line}: {}", seen.output);
        }
    };
    let write = |file: &str, text: &str| {
        let path = below(&home, file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    doctor(
        0,
        &[
            "asks    claude: Claude Code will ask whether it trusts this project",
            "asks    claude: Claude Code will ask about the new server",
            "asks    codex: Codex will ask whether it trusts this project",
            "asks    codex: Codex will ask to review 2 of 2 hooks",
            "asks    gemini: Gemini CLI will ask whether it trusts the folder",
        ],
    );

    let root = home.root().canonicalize().unwrap();
    let trusted = json!({"projects": {root.to_str().unwrap(): {"hasTrustDialogAccepted": true}}});
    write("user/.claude.json", &trusted.to_string());
    write("workspace/.claude/settings.local.json", "{\"enabledMcpjsonServers\": [\"semdex\"]}");
    let parent = root.parent().unwrap().to_str().unwrap();
    write("user/.gemini/trustedFolders.json", &json!({parent: "TRUST_FOLDER"}).to_string());
    let mut codex = fs::read_to_string(below(&home, "user/.codex/config.toml")).unwrap();
    codex += &format!("\n[projects.\"{}\"]\ntrust_level = \"trusted\"\n", root.display());
    let hooks = root.join(".codex/hooks.json");
    codex += &format!("[hooks.state.\"{}:post_tool_use:0:0\"]\ntrusted_hash = \"sha256:1\"\n", hooks.display());
    write("user/.codex/config.toml", &codex);
    doctor(
        0,
        &[
            "ok      claude: Claude Code trusts this project",
            "ok      claude: the server of `.mcp.json` is approved (",
            "ok      codex: Codex trusts this project",
            "asks    codex: Codex will ask to review 1 of 2 hooks",
            "ok      gemini: Gemini CLI trusts this folder",
        ],
    );
    codex += &format!("[hooks.state.\"{}:stop:0:0\"]\ntrusted_hash = \"sha256:2\"\n", hooks.display());
    write("user/.codex/config.toml", &codex);
    doctor(0, &["ok      codex: Codex has reviewed the hooks"]);

    // What was refused is not asked again, and semdex is never started.
    write("user/.claude/settings.json", "{\"disabledMcpjsonServers\": [\"semdex\"]}");
    write("user/.gemini/trustedFolders.json", &json!({root.to_str().unwrap(): "DO_NOT_TRUST"}).to_string());
    doctor(
        1,
        &[
            "REFUSED claude: Claude Code does not start the server: `disabledMcpjsonServers` in ",
            "REFUSED gemini: Gemini CLI does not trust this folder",
        ],
    );
}

#[test]
fn opencode_gets_its_hook_as_a_plugin() {
    let home = Home::with(&[("go.mod", "module x\n")]);
    for _ in 0..2 {
        let written = semdex(&home, &["init", "opencode", "--write", "--yes", "--hook"]);
        assert_eq!(written.code, Some(0), "{}", written.errors);
    }
    let plugin = home.read(".opencode/plugins/semdex.js");
    assert!(plugin.contains("tool.execute.after") && !plugin.contains("\"SEMDEX\""), "{plugin}");
    assert!(semdex(&home, &["doctor", "--agents"]).output.contains("ok      opencode: hooks"));
    assert_eq!(semdex(&home, &["init", "opencode", "--remove", "--yes"]).code, Some(0));
    assert!(!below(&home, "workspace/.opencode/plugins/semdex.js").exists());
    // A plugin of the user.
    home.write(".opencode/plugins/semdex.js", "export const Own = 1;\n");
    assert_eq!(semdex(&home, &["init", "opencode", "--write", "--yes", "--hook"]).code, Some(1));
    assert_eq!(semdex(&home, &["init", "opencode", "--remove", "--yes"]).code, Some(0));
    assert_eq!(home.read(".opencode/plugins/semdex.js"), "export const Own = 1;\n");
}

#[test]
fn the_plugins_have_what_init_writes() {
    let home = Home::with(&[("go.mod", "module x\n")]);
    let read =
        |file: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins").join(file)).unwrap();
    let hooks = |text: &str| serde_json::from_str::<Value>(text).unwrap()["hooks"].clone();
    for agent in ["claude", "gemini"] {
        let printed = semdex(&home, &["init", agent, "--hook"]).output.replace(SEMDEX, "semdex");
        // A plugin's server has another name among the agent's tools.
        let printed = printed.replace("mcp__semdex__", "mcp__plugin_semdex_semdex__");
        assert_eq!(hooks(&printed), hooks(&read(&format!("{agent}/hooks/hooks.json"))), "{agent}");
    }
    assert_eq!(semdex(&home, &["init", "claude", "--write", "--yes", "--agents-md"]).code, Some(0));
    let file = home.read("CLAUDE.md");
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    let section = lines[1..lines.len() - 1].concat();
    assert_eq!(read("gemini/GEMINI.md"), section);
    assert!(read("claude/skills/semdex/SKILL.md").ends_with(&section), "{section}");
}

#[test]
fn an_older_hook_is_replaced() {
    let home = Home::with(&[("go.mod", "module x\n")]);
    let older = json!({"hooks": {"PreToolUse": [
        {"matcher": "Grep|Read", "hooks": [{"type": "command", "command": "semdex hook claude", "timeout": 5}]},
        {"matcher": "Bash", "hooks": [{"type": "command", "command": "own"}]},
    ]}});
    home.write(".claude/settings.json", &older.to_string());
    assert_eq!(semdex(&home, &["init", "claude", "--write", "--yes", "--hook"]).code, Some(0));
    let settings: Value = serde_json::from_str(&home.read(".claude/settings.json")).unwrap();
    let before = settings["hooks"]["PreToolUse"].as_array().unwrap();
    assert_eq!(before.len(), 2, "{settings}");
    assert!(before.iter().any(|it| it["hooks"][0]["command"] == "own"), "{settings}");
    assert!(before.iter().all(|it| it["matcher"] != "Grep|Read"), "{settings}");
}

/// The first line of a reply in Markdown.
#[track_caller]
fn head(server: &Server, path: &str, body: Option<&Value>) -> String {
    server.markdown(path, body).text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn the_head_of_an_edit_has_its_own_errors() {
    let edit = |file: &str, from: &str, to: &str, dry_run: bool| json!({"file": file, "search_context": from, "replacement": to, "dry_run": dry_run, "wait_ms": 120_000});
    let server = serve(&[
        ("pyproject.toml", "[project]\nname = \"p\"\nversion = \"1\"\n"),
        ("main.py", "def shout(name: str) -> str:\n    return name.upper()\n"),
    ]);
    let body = edit("main.py", "name.upper()", "nmae.upper()", true);
    let (_, planned) = server.post("/v1/edit", &body);
    let broken = &planned["impact"]["broken"];
    assert_eq!((broken[0]["file"].as_str(), broken[0]["line"].as_u64()), (Some("main.py"), Some(2)), "{planned}");
    let dry = head(&server, "/v1/edit", Some(&body));
    assert_eq!(dry, "# Dry run, nothing written: the edit would have 1 new error (main.py:2)");
    let made = head(&server, "/v1/edit", Some(&edit("main.py", "name.upper()", "nmae.upper()", false)));
    assert_eq!(made, "# Edit made, with 1 new error (main.py:2)");

    let server = Server::on(RUST);
    server.wait_ready();
    let made = head(&server, "/v1/edit", Some(&edit("src/shout.rs", "greet(name)", "greet(nmae)", false)));
    assert_eq!(made, "# Edit made, with 1 new error (src/shout.rs:5)");
}

/// A dry run of one edit.
fn planned(file: &str, from: &str, to: &str) -> Value {
    json!({"file": file, "search_context": from, "replacement": to, "dry_run": true, "wait_ms": 120_000})
}

#[test]
fn the_head_of_an_edit_has_the_worst_first() {
    let dry = |server: &Server, file: &str, from: &str, to: &str| {
        let head = head(server, "/v1/edit", Some(&planned(file, from, to)));
        head.strip_prefix("# Dry run, nothing written: ").unwrap_or_else(|| panic!("{head}")).to_owned()
    };
    let server = serve(&[
        ("pyproject.toml", "[project]\nname = \"p\"\nversion = \"1\"\n"),
        ("greet.py", "def greet(name: str) -> str:\n    return name\n\n\nclass Greeter:\n    name: str = \"x\"\n"),
        ("use.py", "from greet import Greeter, greet\n\nprint(greet(\"a\"), Greeter().name)\n"),
    ]);
    // What does not parse comes before what it breaks elsewhere.
    let unclosed = dry(&server, "greet.py", "return name", "return (name");
    assert!(unclosed.starts_with("the edit would have ") && unclosed.contains("greet.py:2"), "{unclosed}");
    assert!(unclosed.ends_with(", and break references in file use.py"), "{unclosed}");
    // The compiler reports the import alone; what follows from it has to be edited too.
    let (_, removed) = server.post("/v1/impact", &json!({"symbol": "greet.py::greet", "change": "remove"}));
    let places: Vec<(u64, bool)> = removed["impact"]["broken"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["line"].as_u64().unwrap(), it["follows"] == true))
        .collect();
    assert_eq!(places, [(1, false), (3, true)], "{removed}");

    let server = serve(&[
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"noEmit\": true}, \"include\": [\"src\"]}\n"),
        ("src/greet.ts", "export function greet(name: string): string {\n  return name;\n}\n"),
        ("src/use.ts", "import { greet } from \"./greet\";\nexport const hi = greet(\"a\") + greet(\"b\");\n"),
    ]);
    // The parameter that is tried is no error itself.
    let signature = json!({"symbol": "src/greet.ts::greet", "change": "signature"});
    assert_eq!(head(&server, "/v1/impact", Some(&signature)), "# 2 places would break");
    let remove = json!({"symbol": "src/greet.ts::greet", "change": "remove"});
    assert_eq!(head(&server, "/v1/impact", Some(&remove)), "# 3 places would break");

    let server = serve(&[
        ("compile_flags.txt", "-xc\n"),
        ("greet.h", "int greet(const char *name);\n"),
        (
            "greet.c",
            "#include \"greet.h\"\n#include <stdio.h>\nint greet(const char *name) {\n    return printf(\"%s\", name);\n}\n",
        ),
        ("main.c", "#include \"greet.h\"\nint main(void) {\n    return greet(\"a\");\n}\n"),
    ]);
    assert_eq!(dry(&server, "greet.c", "\"%s\"", "\"%d\""), "the edit would succeed, with 1 new warning (greet.c:4)");
    // It compiles without its definition, and does not link.
    for change in ["remove", "rename"] {
        let (_, found) = server.post("/v1/impact", &json!({"symbol": "greet.c::greet", "change": change}));
        let broken = &found["impact"]["broken"];
        let place = (broken[0]["file"].as_str(), broken[0]["line"].as_u64(), broken[0]["code"].as_str());
        assert_eq!(place, (Some("main.c"), Some(3), Some("undefined_reference")), "{found}");
        assert_eq!(broken.as_array().unwrap().len(), 1, "{found}");
    }
    let rename = json!({"symbol": "greet.c::greet", "new_name": "hail", "dry_run": true});
    assert_eq!(head(&server, "/v1/rename", Some(&rename)), "# Dry run, nothing written: the edit would succeed");
}

#[test]
fn a_workspace_is_degraded_if_nothing_reads_its_code() {
    let nothing = [("tsconfig.json", "{}\n"), ("package.json", "{}\n"), ("src/a.ts", "export const a = 1;\n")];
    for (files, state) in [(&nothing[..], "degraded"), (RUST, "ready")] {
        let home = Home::with(files);
        // A script and data lie in most projects; no server for them does not matter.
        home.write("run.sh", "echo\n");
        let path = std::env::var("PATH").unwrap();
        let has_servers =
            |it: &&str| ["tsc", "bash-language-server"].iter().any(|server| Path::new(it).join(server).exists());
        let path: Vec<&str> = path.split(':').filter(|it| !has_servers(it)).collect();
        let server = home.serve_with(&["--trust"], &[("PATH", Path::new(&path.join(":")))]);
        if state == "ready" {
            server.wait_ready();
        }
        let (status, found) = server.get("/v1/diagnostics?wait_ms=120000");
        assert_eq!(status, 200, "{found}");
        let (_, status) = server.get("/v1/status");
        assert_eq!(status["workspaces"][0]["state"], state, "{status}");
    }
}

#[test]
fn a_limit_that_was_asked_for_leaves_nothing_out() {
    let server = Server::on(RUST);
    server.wait_ready();
    let (_, page) = server.get("/v1/usages?symbol=greeter::greet&limit=1");
    assert_eq!(page["items"].as_array().unwrap().len(), 1, "{page}");
    assert!(page["total"].as_u64() > Some(1) && page["next_cursor"].is_string(), "{page}");
    assert_eq!(page["meta"]["complete"], true, "{page}");
    assert_eq!(page["meta"]["missing"], json!([]), "{page}");
    let shown = server.markdown("/v1/usages?symbol=greeter::greet&limit=1", None).text;
    assert!(shown.contains("More with `cursor`") && !shown.contains("missing"), "{shown}");

    let (_, described) = server.post("/v1/describe", &json!({"symbol": "greeter::greet", "limit": 1}));
    let usages = &described["usages"];
    assert!(usages["items"].as_array().unwrap().len() == 1 && usages["total"].as_u64() > Some(1), "{described}");
    assert_eq!(described["meta"]["missing"], json!([]), "{described}");
}

#[test]
fn an_edit_that_was_merged_says_so() {
    let server = Server::on(RUST);
    server.wait_ready();
    let (_, seen) = server.post("/v1/open", &json!({"file": "src/shout.rs"}));
    server.home.write("src/shout.rs", &(server.home.read("src/shout.rs") + "\n// Of another agent.\n"));
    let mut edit = planned("src/shout.rs", "greet(name)", "greet(&name)");
    edit["expected_hash"] = seen["hash"].clone();
    edit["on_conflict"] = json!("merge");
    let head = head(&server, "/v1/edit", Some(&edit));
    assert!(head.ends_with("the edit would succeed, merged with changes of others"), "{head}");
}

#[test]
fn the_impact_of_a_removal_has_lines_of_the_text_as_it_is() {
    let lib = "pub fn twice(of: u8) -> u8 {\n    of * 2\n}\n\npub fn user() -> u8 {\n    twice(1)\n}\n\n#[test]\nfn tested() {\n    assert_eq!(twice(2), 4);\n}\n";
    let server = Server::on(&[RUST[0], ("src/lib.rs", lib)]);
    server.wait_ready();
    for change in ["remove", "rename", "signature", "visibility"] {
        let (status, found) = server.post("/v1/impact", &json!({"symbol": "twice", "change": change}));
        assert_eq!(status, 200, "{found}");
        let impact = &found["impact"];
        let lists = ["broken", "affected", "tests"].into_iter().flat_map(|it| impact[it].as_array().unwrap());
        for place in lists {
            let line = usize::try_from(place["line"].as_u64().unwrap()).unwrap();
            assert_eq!(place["text"].as_str(), lib.lines().nth(line - 1), "{change}: {place}");
            let word = &lib[usize::try_from(place["start"].as_u64().unwrap()).unwrap()..];
            assert!(change != "remove" || word.starts_with("twice("), "{change}: {place}");
        }
        let lines: Vec<u64> =
            impact["broken"].as_array().unwrap().iter().map(|it| it["line"].as_u64().unwrap()).collect();
        assert!(change != "remove" || lines == [6, 11], "{found}");
    }
}

#[test]
fn what_is_not_known_yet_is_not_called_zero() {
    let home = Home::with(RUST).with_real_std();
    // The index is not complete as long as this file exists.
    let faults = home.path().join("faults");
    fs::create_dir(&faults).unwrap();
    fs::write(faults.join("rust.prime"), "stall").unwrap();
    let server = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults)]);
    for path in ["/v1/usages?symbol=greet&wait_ms=0", "/v1/callers?symbol=greet&wait_ms=0", "/v1/diagnostics?wait_ms=0"]
    {
        let text = server.markdown(path, None).text;
        let head = text.lines().next().unwrap();
        assert!(!head.starts_with("# 0 "), "{path}: {text}");
    }
    fs::remove_file(faults.join("rust.prime")).unwrap();
}

#[test]
fn replies_name_the_nearest_tests_and_say_once_what_is_equal() {
    let tests: String =
        (0..30).map(|it| format!("    #[test]\n    fn t{it}() {{\n        super::greet(\"x\");\n    }}\n")).collect();
    let lib = format!(
        "pub fn greet(name: &str) -> String {{\n    name.to_owned()\n}}\n\n#[cfg(test)]\nmod tests {{\n{tests}}}\n"
    );
    let server = Server::on(&[RUST[0], ("src/lib.rs", &lib)]);
    server.wait_ready();
    let edit = json!({"file": "src/lib.rs", "search_context": "(name: &str)", "replacement": "(name: &str, n: usize)",
        "wait_ms": 120_000});
    let (_, planned) = server.post("/v1/edit", &{
        let mut dry = edit.clone();
        dry["dry_run"] = json!(true);
        dry
    });
    assert_eq!(planned["impact"]["tests"].as_array().unwrap().len(), 30, "{planned}");
    let text = server.markdown("/v1/edit", Some(&edit)).text;
    assert!(text.contains("\n## Tests that reach it: 30; `verify` with `kind: test` and `change: "), "{text}");
    assert!(text.contains("- and 10 more\n") && !text.contains("missing `budget`"), "{text}");
    assert!(text.contains("\nNot checked, as always: `borrow_checker`"), "{text}");
    assert!(!text.contains("## Edited"), "the diff has the place: {text}");
    // Equal errors share a row, in diagnostics and in hooks.
    let found = server.markdown("/v1/diagnostics?wait_ms=120000", None).text;
    let rows: Vec<&str> = found.lines().filter(|it| it.contains("E0061") || it.contains("E0107")).collect();
    assert_eq!(rows.len(), 1, "{found}");
    let touched = json!({"session_id": "s", "hook_event_name": "PostToolUse", "cwd": server.home.root(),
        "tool_name": "Edit", "tool_input": {"file_path": server.home.root().join("src/lib.rs")}});
    let told = server.send(server.request("POST", "/v1/hooks/claude").json(&touched)).json();
    let told = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned();
    assert!(told.lines().count() < 5 && told.contains("[ERROR] Lines "), "{told}");
}

#[test]
fn a_hook_says_that_something_is_not_known_yet_and_then_what_it_is() {
    let home = Home::with(RUST).with_real_std();
    let faults = home.path().join("faults");
    fs::create_dir(&faults).unwrap();
    fs::write(faults.join("rust.prime"), "stall").unwrap();
    let server = home.serve_with(&["--trust"], &[("SEMDEX_FAULTS", &faults)]);
    let hook = |event: &str, tool: &str, input: Value| {
        let told = json!({"session_id": "s", "hook_event_name": event, "cwd": server.home.root(), "tool_name": tool,
            "tool_input": input});
        server.send(server.request("POST", "/v1/hooks/claude").json(&told)).json()
    };
    let edited = |file: &str| hook("PostToolUse", "Edit", json!({"file_path": server.home.root().join(file)}));
    let text = |told: &Value| told["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned();
    server.home.write("src/shout.rs", "pub fn shout() -> u8 {\n    nothing()\n}\n");
    let first = text(&edited("src/shout.rs"));
    assert!(first.is_empty() || first.starts_with("LSP: ") && first.contains("src/shout.rs"), "{first}");
    fs::remove_file(faults.join("rust.prime")).unwrap();
    server.wait_ready();
    // The next hook, about another file, has the answer.
    let next = text(&edited("src/lib.rs"));
    if first.contains("not known yet") {
        assert!(next.contains("1 error(s), 0 warning(s) in src/shout.rs"), "{next}");
    }
    // A file that no crate includes.
    server.home.write("src/lost.rs", "pub fn lost() {}\n");
    let lost = text(&edited("src/lost.rs"));
    assert!(lost.contains("src/lost.rs"), "{lost}");
    // The end of the turn counts what our own tools broke.
    let own = hook("PostToolUse", "mcp__semdex__edit", json!({"file": "src/shout.rs"}));
    assert_eq!(own, json!({}), "the reply of the tool has said it");
    let left = hook("Stop", "", Value::Null);
    assert!(left["systemMessage"].as_str().unwrap_or_default().contains("src/shout.rs: 1 error(s)"), "{left}");
}

#[test]
fn the_end_of_a_turn_counts_changes_whose_arguments_name_no_file() {
    let server = Server::on(RUST);
    server.wait_ready();
    let broken = json!({"file": "src/shout.rs", "content": "pub fn shout() -> u8 {\n    nothing()\n}\n",
        "mode": "overwrite", "wait_ms": 120_000});
    let (_, made) = server.post("/v1/write", &broken);
    let reply = format!("# Undone\n\nChange `{}` in `/w`: `undo` takes it back\n", made["change"].as_str().unwrap());
    let hook = |event: &Value| server.send(server.request("POST", "/v1/hooks/claude").json(event)).json();
    let undone = json!({"session_id": "s", "hook_event_name": "PostToolUse", "cwd": server.home.root(),
        "tool_name": "mcp__semdex__undo", "tool_input": {"change": "01M8"},
        "tool_response": [{"type": "text", "text": reply}]});
    assert_eq!(hook(&undone), json!({}), "the reply of the tool has said it");
    let left = hook(&json!({"session_id": "s", "hook_event_name": "Stop", "cwd": server.home.root()}));
    assert!(left["systemMessage"].as_str().unwrap_or_default().contains("src/shout.rs: 1 error(s)"), "{left}");
}

#[test]
fn sessions_and_subagents_begin_with_what_to_ask() {
    let home = Home::with(RUST);
    for event in ["SessionStart", "SubagentStart"] {
        let file = home.path().join("event.json");
        fs::write(&file, json!({"session_id": "s", "hook_event_name": event, "cwd": home.root()}).to_string()).unwrap();
        let told = run(home.semdex().args(["hook", "claude"]).stdin(fs::File::open(&file).unwrap()));
        let told: Value = serde_json::from_str(&told.output).unwrap();
        let text = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(text.contains("`usages ") && text.chars().count() <= 900, "{told}");
    }
}

#[test]
fn what_init_adds_is_removed_whole_and_each_file_is_named_once() {
    let home = Home::with(&[("go.mod", "module x\n")]);
    for agent in ["claude", "codex", "cursor", "gemini", "opencode"] {
        let written = semdex(&home, &["init", agent, "--write", "--yes", "--hook", "--agents-md"]);
        assert_eq!(written.code, Some(0), "{agent}: {}", written.errors);
        let removed = semdex(&home, &["init", agent, "--remove", "--yes"]);
        assert_eq!(removed.code, Some(0), "{agent}: {}", removed.errors);
        let mut files: Vec<&str> = removed.errors.lines().filter_map(|it| it.split(" is ").next()).collect();
        let all = files.len();
        files.sort_unstable();
        files.dedup();
        assert_eq!(files.len(), all, "{agent}: {}", removed.errors);
        let (mut pending, mut left) = (vec![home.root()], Vec::new());
        while let Some(directory) = pending.pop() {
            for path in fs::read_dir(directory).unwrap().map(|it| it.unwrap().path()) {
                if path.is_dir() { pending.push(path) } else { left.push(path) }
            }
        }
        assert_eq!(left, [home.root().join("go.mod")], "{agent}");
    }
}
