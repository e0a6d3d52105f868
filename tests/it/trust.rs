//! An untrusted workspace starts no program. And how trust is granted and withdrawn.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Home, RUST, Server, run};

/// A program that leaves its name behind when it is run.
fn trap(home: &Home, path: &Path) {
    let ran = home.path().join("ran");
    fs::create_dir_all(&ran).unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let name = path.strip_prefix(home.path()).unwrap().to_str().unwrap().replace('/', "-");
    fs::write(path, format!("#!/bin/sh\necho \"$0 $*\" >> {}/{name}\nexit 1\n", ran.display())).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The traps that were sprung.
fn ran(home: &Home) -> Vec<String> {
    let mut ran: Vec<String> = fs::read_dir(home.path().join("ran"))
        .unwrap()
        .map(|it| {
            format!(
                "{}: {}",
                it.as_ref().unwrap().file_name().to_string_lossy(),
                fs::read_to_string(it.unwrap().path()).unwrap()
            )
        })
        .collect();
    ran.sort();
    ran
}

/// Everything in Cargo's configuration that names a program, or a place to look for programs.
fn configuration(traps: &Path) -> String {
    let traps = traps.display();
    format!(
        "[env]\nPATH = {{ value = \"{traps}\", force = true }}\nRUSTC = {{ value = \"{traps}/rustc\", force = true }}\n\
         [build]\nrustc = \"{traps}/rustc\"\nrustc-wrapper = \"{traps}/wrapper\"\n\
         rustc-workspace-wrapper = \"{traps}/workspace-wrapper\"\nrustdoc = \"{traps}/rustdoc\"\n\
         rustflags = [\"-C\", \"linker={traps}/linker\"]\n\
         [target.'cfg(all())']\nrunner = \"{traps}/runner\"\nlinker = \"{traps}/linker\"\n\
         [registry]\nglobal-credential-providers = [\"{traps}/credentials\"]\n\
         [credential-alias]\n\"cargo:token\" = \"{traps}/credentials\"\n\
         [alias]\nmetadata = [\"run\"]\nrustc = [\"run\"]\nlocate-project = [\"run\"]\n\
         [net]\ngit-fetch-with-cli = true\n\
         [unstable]\nunstable-options = true\n"
    )
}

const TRAPS: &[&str] = &[
    "rustc",
    "cargo",
    "rustup",
    "rustfmt",
    "go",
    "git",
    "wrapper",
    "workspace-wrapper",
    "rustdoc",
    "linker",
    "runner",
    "credentials",
];

/// A package whose way of naming programs is its name.
fn package(home: &Home, name: &str) -> PathBuf {
    let manifest = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n");
    home.write(&format!("{name}/Cargo.toml"), &manifest);
    home.write(
        &format!("{name}/src/lib.rs"),
        "pub fn made() -> Vec<u8> {\n    Vec::new()\n}\n\npub fn uses() {\n    made();\n}\n",
    );
    home.root().join(name)
}

#[test]
fn nothing_of_an_untrusted_root_runs_and_it_is_known_all_the_same() {
    let home = Home::with(&[]);
    let traps = home.root().join("traps");
    for name in TRAPS {
        trap(&home, &traps.join(name));
    }
    let evil = configuration(&traps);
    let configured = |directory: &Path, file: &str| {
        fs::create_dir_all(directory).unwrap();
        fs::write(directory.join(file), &evil).unwrap();
    };
    configured(&package(&home, "plain").join(".cargo"), "config.toml");
    configured(&package(&home, "old").join(".cargo"), "config");
    configured(&home.root().join("elsewhere"), "config.toml");
    symlink(home.root().join("elsewhere"), package(&home, "linked").join(".cargo")).unwrap();
    let linked = package(&home, "linked_file").join(".cargo");
    fs::create_dir(&linked).unwrap();
    symlink(home.root().join("elsewhere/config.toml"), linked.join("config.toml")).unwrap();
    let marked = package(&home, "marked");
    configured(&marked.join(".cargo"), "config.toml");
    for directory in [marked.join(".cargo"), marked] {
        fs::write(directory.join("CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55\n").unwrap();
    }
    let large = package(&home, "large").join(".cargo");
    fs::create_dir(&large).unwrap();
    fs::write(large.join("config.toml"), format!("{evil}{}", "# padding\n".repeat(1_200_000))).unwrap();
    let including = package(&home, "including").join(".cargo");
    configured(&including, "more.toml");
    fs::write(including.join("config.toml"), "include = [\"more.toml\"]\n").unwrap();
    // A reader of this pipe would wait forever.
    let fifo = package(&home, "fifo").join("Cargo.lock");
    assert!(Command::new("mkfifo").arg(fifo).status().unwrap().success());
    // Of a directory above the root.
    configured(&home.path().join(".cargo"), "config.toml");
    let toolchain = package(&home, "toolchain");
    fs::write(toolchain.join("rust-toolchain.toml"), "[toolchain]\npath = \"../evil-toolchain\"\n").unwrap();
    for name in ["rustc", "cargo", "rustfmt"] {
        trap(&home, &home.root().join("evil-toolchain/bin").join(name));
    }
    // Build scripts, macros, and what they are built with.
    let built = package(&home, "built");
    let mark = |name: &str| format!("std::fs::write({:?}, \"\").unwrap();", home.path().join("ran").join(name));
    fs::write(built.join("build.rs"), format!("fn main() {{ {} }}\n", mark("build.rs"))).unwrap();
    let uses_macros = "\n[dependencies]\nmacros = { path = \"macros\" }\n";
    let manifest = fs::read_to_string(built.join("Cargo.toml")).unwrap();
    fs::write(built.join("Cargo.toml"), manifest + uses_macros).unwrap();
    home.write(
        "built/macros/Cargo.toml",
        "[package]\nname = \"macros\"\nversion = \"0.1.0\"\n\n[lib]\nproc-macro = true\n",
    );
    let macros = format!(
        "#[proc_macro]\npub fn go(_: proc_macro::TokenStream) -> proc_macro::TokenStream {{ {} Default::default() }}\n",
        mark("macro")
    );
    home.write("built/macros/src/lib.rs", &format!("extern crate proc_macro;\n{macros}"));
    let library = fs::read_to_string(built.join("src/lib.rs")).unwrap();
    fs::write(built.join("src/lib.rs"), library + "macros::go!();\n").unwrap();

    let path = format!("traps:.:{}", std::env::var("PATH").unwrap());
    let server = home.serve_with(&["--no-trust"], &[("PATH", Path::new(&path))]);
    server.wait_ready();
    for name in ["plain", "old", "linked", "linked_file", "large", "including", "fifo", "toolchain", "built"] {
        let (status, found) = server.get(&format!("/v1/usages?symbol={name}::made"));
        assert_eq!((status, &found["total"]), (200, &json!(1)), "{name}: {found}");
        let text = server.home.read(&format!("{name}/src/lib.rs"));
        let new = text.find("new()").unwrap();
        let (status, found) = server.get(&format!("/v1/symbols/at?file={name}/src/lib.rs&offset={new}"));
        assert_eq!(status, 200, "{found}");
        assert_eq!(found["symbol"]["path"], "alloc::vec::Vec::new", "{name}: {found}");
    }
    // What needs a formatter asks it in the same way.
    let new = json!({"name": "plain/src/new.rs", "content": "pub fn f( ){}\n", "mode": "create", "dry_run": true});
    assert_eq!(server.post("/v1/write", &new).0, 200);

    let (_, status) = server.get("/v1/status");
    let details: Vec<&str> = untrusted(&status);
    assert!(details.iter().any(|it| it.contains("build scripts and proc macros")), "{status}");
    let files = details.iter().find(|it| it.contains("not read")).unwrap_or_else(|| panic!("{status}"));
    assert!(files.contains(".cargo/config"), "{files}");
    assert_eq!(ran(&server.home), Vec::<String>::new());
}

#[test]
fn of_an_untrusted_workspace_nothing_is_downloaded() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/x", listener.local_addr().unwrap());
    let home = Home::with(&[
        (
            "Cargo.toml",
            &format!(
                "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nx = {{ git = \"{url}\" }}\n"
            ),
        ),
        ("src/lib.rs", "pub fn made() {}\n\npub fn uses() {\n    made();\n}\n"),
    ]);
    let server = home.serve(&["--no-trust"]);
    server.wait_ready();
    let (status, reply) = server.get("/v1/usages?symbol=app::made");
    assert_eq!((status, &reply["total"]), (200, &json!(1)), "{reply}");
    assert!(reply["meta"]["missing"].to_string().contains("which `cargo fetch` does"), "{reply}");
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

/// `GOPROXY=off` does not hold for modules that the user's own settings call private.
#[test]
fn of_an_untrusted_go_module_nothing_private_is_asked_for() {
    const EMPTY: &str = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    let sums = format!("hidden.invalid/x.hg v1.0.0 {EMPTY}\nhidden.invalid/x.hg v1.0.0/go.mod {EMPTY}\n");
    let home = Home::with(&[
        ("go.mod", "module example.com/m\n\ngo 1.21\n\nrequire hidden.invalid/x.hg v1.0.0\n"),
        ("go.sum", &sums),
        ("m.go", "package m\n\nimport _ \"hidden.invalid/x.hg\"\n\nfunc made() {}\n\nfunc uses() { made() }\n"),
    ]);
    let traps = home.path().join("traps");
    trap(&home, &traps.join("hg"));
    let path = format!("{}:{}", traps.display(), std::env::var("PATH").unwrap());
    let variables = [("PATH", Path::new(&path)), ("GOPRIVATE", Path::new("hidden.invalid"))];
    let server = home.serve_with(&["--no-trust"], &variables);
    server.wait_ready();
    let (status, found) = server.get("/v1/usages?symbol=example.com/m.made");
    assert_eq!((status, &found["total"]), (200, &json!(1)), "{found}");
    assert_eq!(ran(&server.home), Vec::<String>::new());
}

fn untrusted(status: &Value) -> Vec<&str> {
    let missing = status["workspaces"][0]["missing"].as_array().unwrap();
    missing.iter().filter(|it| it["code"] == "untrusted").map(|it| it["detail"].as_str().unwrap()).collect()
}

#[test]
fn nothing_of_an_untrusted_go_module_runs() {
    let home = Home::with(&[
        ("go.mod", "module example.com/m\n\ngo 1.21\n\ntoolchain go1.99.9\n"),
        ("main.go", "package main\n\nimport \"example.com/m/inner\"\n\nfunc main() { inner.F() }\n"),
        (
            "inner/inner.go",
            "package inner\n\nimport \"strings\"\n\nfunc F() string { return strings.ToUpper(\"x\") }\n",
        ),
        ("cgo/cgo.go", "package cgo\n\n// #cgo pkg-config: evil\n// #cgo CFLAGS: -Wall\nimport \"C\"\n"),
    ]);
    for name in TRAPS.iter().chain(&["pkg-config", "gcc", "cc", "gopackagesdriver", "hg"]) {
        trap(&home, &home.root().join("traps").join(name));
    }
    let hook = home.root().join("traps/fsmonitor");
    trap(&home, &hook);
    // `git` runs what the repository's own configuration names.
    for arguments in [&["init", "--quiet"][..], &["config", "core.fsmonitor", hook.to_str().unwrap()]] {
        let ended = Command::new("git").args(arguments).current_dir(home.root()).status().unwrap();
        assert!(ended.success());
    }
    let status = Command::new("git").args(["status", "--porcelain"]).current_dir(home.root()).output().unwrap();
    assert!(status.status.success());
    assert_eq!(ran(&home).len(), 1, "the trap works: {:?}", ran(&home));
    fs::remove_dir_all(home.path().join("ran")).unwrap();
    fs::create_dir(home.path().join("ran")).unwrap();

    let path = format!("traps:.:{}:{}", home.root().join("traps").display(), std::env::var("PATH").unwrap());
    let server = home.serve_with(&["--no-trust", "--log", "semdex=debug"], &[("PATH", Path::new(&path))]);
    server.wait_ready();
    // The checker, which is built first, asks `go` for more than gopls does.
    server.wait_for(|it| it.get("/v1/status").0 == 200 && it.log().contains("the checker has loaded"));
    let (status, found) = server.get("/v1/usages?symbol=example.com/m/inner.F");
    assert_eq!((status, &found["total"]), (200, &json!(1)), "{found}");
    assert_eq!(untrusted(&server.get("/v1/status").1).len(), 1);
    assert_eq!(ran(&server.home), Vec::<String>::new());
}

/// As `direnv`, a virtual environment or `node_modules/.bin` make such a search path.
#[test]
fn nothing_of_an_untrusted_root_is_found_by_a_search_path_that_names_it() {
    let home = Home::with(&[
        ("go.mod", "module example.com/m\n\ngo 1.21\n"),
        ("main.go", "package main\n\nfunc main() { f() }\n\nfunc f() {}\n"),
    ]);
    package(&home, "app");
    let made = Command::new("git").args(["init", "--quiet"]).current_dir(home.root()).status().unwrap();
    assert!(made.success());
    let bin = home.root().join("bin");
    for name in TRAPS.iter().chain(&["gopls", "gofmt", "clangd"]) {
        trap(&home, &bin.join(name));
    }
    let link = home.path().join("link");
    symlink(&bin, &link).unwrap();
    // Programs too may be links.
    let linked = home.path().join("linked");
    fs::create_dir(&linked).unwrap();
    for name in ["git", "rustc", "rustfmt", "cargo"] {
        symlink(bin.join(name), linked.join(name)).unwrap();
    }
    let path = format!("{}:{}:{}:{}", bin.display(), link.display(), linked.display(), std::env::var("PATH").unwrap());
    let path = Path::new(&path);
    home.write("c/a.c", "int f(void);\n");
    let doctor = run(home.semdex().arg("doctor").env("PATH", path));
    fs::remove_dir_all(home.root().join("c")).unwrap();
    for directory in [&bin, &link, &linked] {
        assert!(!doctor.output.contains(&format!("{}/", directory.display())), "{}", doctor.output);
    }
    assert!(doctor.output.contains("ok      rustc: "), "{}", doctor.output);
    assert_eq!(ran(&home), Vec::<String>::new());

    let server = home.serve_with(&["--no-trust"], &[("PATH", path)]);
    server.wait_ready();
    let (status, git) = server.get("/v1/git");
    assert_eq!(status, 200, "{git}");
    let (status, found) = server.get("/v1/usages?symbol=app::made");
    assert_eq!((status, &found["total"]), (200, &json!(1)), "{found}");
    let (status, found) = server.get("/v1/usages?symbol=example.com/m.f");
    assert_eq!((status, &found["total"]), (200, &json!(1)), "{found}");
    for (name, content) in [("app/src/new.rs", "pub fn f( ){}\n"), ("new.go", "package main\nfunc  g( ){}\n")] {
        let new = json!({"name": name, "content": content, "mode": "create", "format": true});
        let (status, written) = server.post("/v1/write", &new);
        assert_eq!(status, 200, "{name}: {written}");
    }
    assert_eq!(ran(&server.home), Vec::<String>::new());
}

#[test]
fn what_is_started_for_a_trusted_root_finds_nothing_of_an_untrusted_one() {
    let home = Home::with(&[("a.txt", "text\n")]);
    let bin = home.root().join("bin");
    for name in TRAPS {
        trap(&home, &bin.join(name));
    }
    let other = Home::with(RUST);
    let allowed = run(home.semdex().arg("trust").arg(other.root()));
    assert_eq!(allowed.code, Some(0), "{}", allowed.errors);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let roots = [home.root(), other.root()].map(|it| it.display().to_string());
    let server = home.serve_with(&[&roots[0], &roots[1]], &[("PATH", Path::new(&path))]);
    server.wait_ready();
    let (status, found) = server.get("/v1/usages?symbol=greeter::greet&workspace=workspace-2");
    assert_eq!(status, 200, "{found}");
    let body = json!({"kind": "check", "workspace": "workspace-2"});
    let (status, checked) = server.post("/v1/verify", &body);
    assert_eq!((status, &checked["ok"]), (200, &json!(true)), "{checked}");
    assert_eq!(ran(&server.home), Vec::<String>::new());
}

#[test]
fn what_cgo_declares_is_not_missed_where_it_may_not_run() {
    let home = Home::with(&[
        (
            "go.mod",
            "module example.com/g\n\ngo 1.21\n\nrequire example.com/dep v0.0.0\n\nreplace example.com/dep => ../dep\n",
        ),
        (
            "cg/c.go",
            "package cg\n\n/*\nint one(void){return 1;}\n*/\nimport \"C\"\n\nfunc One() int { return int(C.one()) }\n",
        ),
        (
            "part/c.go",
            "package part\n\nimport \"C\"\n\ntype T struct{}\n\nfunc (T) Do() {}\n\nfunc one() int { return int(C.int(1)) }\n",
        ),
        ("part/p.go", "package part\n\nfunc Pure() int { return one() }\n\nfunc Get() *T { return nil }\n"),
        (
            "use/u.go",
            "package use\n\nimport (\n\t\"example.com/g/cg\"\n\t\"example.com/g/part\"\n)\n\nfunc U() int { return cg.One() + part.Pure() }\n\n\
             var X part.T\n",
        ),
        ("far/far.go", "package far\n\nimport \"example.com/g/use\"\n\nfunc F() { use.X.Do() }\n"),
        ("ext/e.go", "package ext\n\nimport \"example.com/dep\"\n\nfunc E() { dep.Hidden() }\n"),
        ("own/own.go", "package own\n\nfunc Own() int { return 1 }\n"),
    ]);
    let dep = home.path().join("dep");
    fs::create_dir(&dep).unwrap();
    fs::write(dep.join("go.mod"), "module example.com/dep\n\ngo 1.21\n").unwrap();
    fs::write(dep.join("plain.go"), "package dep\n\nfunc Plain() {}\n").unwrap();
    fs::write(dep.join("cgo.go"), "package dep\n\nimport \"C\"\n\nfunc Hidden() { _ = C.int(1) }\n").unwrap();
    let server = home.serve(&["--no-trust"]);
    server.wait_ready();
    let errors = |query: &str| {
        let (status, reply) = server.get(&format!("/v1/diagnostics{query}"));
        assert_eq!(status, 200, "{reply}");
        let all = reply["items"].as_array().unwrap();
        let errors = all.iter().filter(|it| it["severity"] == "error");
        let errors: Vec<String> = errors.map(|it| format!("{}: {}", it["file"], it["message"])).collect();
        (errors, reply["meta"].clone())
    };
    let is_partial = |meta: &Value, cause: &str| {
        let missing = meta["missing"].as_array().unwrap();
        meta["complete"] == false
            && missing.iter().any(|it| it["code"] == "untrusted" && it["detail"].as_str().unwrap().contains(cause))
    };
    for (file, cause) in [
        ("cg/c.go", "cg/c.go"),
        ("part/c.go", "part/c.go"),
        ("part/p.go", "part/c.go"),
        ("use/u.go", "c.go"),
        ("far/far.go", "c.go"),
        ("ext/e.go", "example.com/dep"),
    ] {
        let (found, meta) = errors(&format!("?file={file}"));
        assert_eq!(found, Vec::<String>::new(), "{file}");
        assert!(is_partial(&meta, cause), "{file}: {meta}");
    }
    let (found, meta) = errors("?file=own/own.go");
    assert_eq!((found.len(), &meta["complete"]), (0, &json!(true)), "{meta}");
    let (found, meta) = errors("");
    assert!(found.is_empty() && is_partial(&meta, "cg/c.go"), "{found:?} {meta}");
    let (status, gate) = server.get("/v1/gate");
    assert_eq!((status, &gate["block"]), (200, &json!(false)), "{gate}");
    assert!(is_partial(&gate["meta"], "cg/c.go"), "{gate}");

    // What does not come of cgo is an error all the same.
    server.home.write("use/v.go", "package use\n\nfunc V() int { return nope(\"x\") }\n");
    server.home.write("own/own.go", "package own\n\nfunc Own() int { return nope() }\n");
    let (found, _) = errors("");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|it| it.contains("nope")), "{found:?}");
    // A change there is not judged in full.
    let edit = json!({"file": "use/u.go", "search_context": "cg.One() +", "replacement": "cg.One() + cg.Two() +", "dry_run": true});
    let (status, judged) = server.post("/v1/edit", &edit);
    assert_eq!(status, 200, "{judged}");
    assert_eq!(judged["impact"]["broken"], json!([]), "{judged}");
    assert!(is_partial(&judged["meta"], "c.go"), "{judged}");
}

#[test]
fn a_request_opens_nothing_outside_of_the_permitted_roots() {
    let home = Home::with(&[
        ("member/Cargo.toml", "[package]\nname = \"member\"\nversion = \"0.1.0\"\nworkspace = \"../../private\"\n"),
        ("member/src/lib.rs", "pub fn f() {}\n"),
        ("plain/notes.txt", "nothing\n"),
    ]);
    let put = |name: &str, text: &str| {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("private/Cargo.toml", "[workspace]\nmembers = [\"../workspace/member\"]\n");
    put("private/secret.txt", "secret\n");
    put("outer/go.work", "go 1.21\n\nuse ./inner\n");
    put("outer/inner/go.mod", "module example.com/inner\n\ngo 1.21\n");
    put("alone/a.txt", "text\n");
    let (inner, alone) = (home.path().join("outer/inner"), home.path().join("alone"));
    put("config/semdex/config.toml", &format!("[workspaces]\nroots = [{inner:?}, {alone:?}]\n"));
    symlink(&inner, home.root().join("link")).unwrap();

    let server = home.serve(&["--trust"]);
    let open = |root: &Path| server.post("/v1/workspaces", &json!({"root": root}));
    for outside in [server.home.root().join("member"), inner.clone(), server.home.root().join("link")] {
        let (status, reply) = open(&outside);
        assert_eq!((status, &reply["code"]), (403, &json!("forbidden_root")), "{}: {reply}", outside.display());
        assert!(!reply["detail"].as_str().unwrap().contains("private"), "{reply}");
    }
    assert_eq!(server.get("/v1/status").1["workspaces"].as_array().unwrap().len(), 1);

    // `--trust` is said of what is named at the start, and of what lies below that.
    let trusted = |root: &Path| open(root).1["workspace"]["trusted"].clone();
    assert_eq!(trusted(&server.home.root().join("plain")), true);
    assert_eq!(trusted(&alone), false);
    let allowed = run(server.home.semdex().arg("trust").arg(&alone));
    assert_eq!(allowed.code, Some(0), "{}", allowed.errors);
    server.wait_for(|_| trusted(&alone) == true);
}

/// A manifest may say that its workspace is anywhere.
#[test]
fn what_a_manifest_names_around_a_root_is_trusted_within_its_repository_alone() {
    let member =
        |workspace: &str| format!("[package]\nname = \"member\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{workspace}");
    for (file, own, outer) in [
        ("member/Cargo.toml", member("workspace = \"../../private\"\n"), "private"),
        ("member/Cargo.toml", member(""), "workspace"),
    ] {
        let home = Home::with(&[(file, &own), ("member/src/lib.rs", "pub fn f() {}\n")]);
        let outer = home.path().join(outer);
        fs::create_dir_all(&outer).unwrap();
        fs::write(outer.join("Cargo.toml"), "[workspace]\nmembers = [\"../workspace/member\", \"member\"]\n").unwrap();
        let named = home.root().join("member");
        let serves = |server: &Server, trusted: bool| {
            let (_, status) = server.get("/v1/status");
            let workspace = &status["workspaces"][0];
            assert_eq!((&workspace["root"], &workspace["trusted"]), (&json!(outer), &json!(trusted)), "{status}");
        };
        let arguments = ["--trust", named.to_str().unwrap()];
        let server = home.serve(&arguments);
        serves(&server, false);
        server.wait_for_log(&format!("semdex trust {}", outer.display()));
        // Of one repository that has both all is trusted, and of another nothing.
        fs::create_dir(named.join(".git")).unwrap();
        let server = server.restart(&arguments);
        serves(&server, false);
        fs::remove_dir(named.join(".git")).unwrap();
        fs::create_dir(server.home.path().join(".git")).unwrap();
        let is_around = named.starts_with(&outer);
        let server = server.restart(&arguments);
        serves(&server, is_around);
    }
}

#[test]
fn what_belongs_to_git_is_never_a_workspace() {
    let home = Home::with(&[("a.txt", "text\n"), ("sub/.GIT/hooks/x", "#!/bin/sh\n")]);
    let made = Command::new("git").args(["init", "--quiet"]).current_dir(home.root()).status().unwrap();
    assert!(made.success());
    fs::create_dir_all(home.root().join(".git/hooks")).unwrap();
    symlink(home.root().join(".git/hooks"), home.root().join("link")).unwrap();
    let server = home.serve(&["--trust"]);
    for name in [".git", ".git/hooks", "sub/.GIT", "sub/.GIT/hooks", "link"] {
        let root = server.home.root().join(name);
        let (status, reply) = server.post("/v1/workspaces", &json!({"root": root}));
        assert_eq!((status, &reply["code"]), (403, &json!("forbidden_root")), "{name}: {reply}");
        assert!(reply["detail"].as_str().unwrap().contains("`.git`"), "{reply}");
    }
    assert_eq!(server.get("/v1/status").1["workspaces"].as_array().unwrap().len(), 1);
    let named = run(server.home.semdex().args(["serve", "--trust", "--listen", "127.0.0.1:0", ".git"]));
    assert_eq!(named.code, Some(1), "{}", named.errors);
    assert!(named.errors.contains("`.git`"), "{}", named.errors);
}

#[test]
fn directories_of_semdex_are_closed_to_others() {
    let home = Home::with(RUST);
    let state = home.path().join("state/semdex");
    fs::create_dir_all(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();
    let server: Server = home.serve(&["--no-trust"]);
    assert_eq!(fs::metadata(server.home.path().join("state/semdex")).unwrap().permissions().mode() & 0o777, 0o700);
}
