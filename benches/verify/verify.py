#!/usr/bin/env python3
"""What `verify` says of 40 broken workspaces, against the tools' own JSON.

Small workspaces of Rust and Go are broken in the ways below: errors and warnings in each kind of target, tests that fail, panic, abort,
exit, hang and print without end. Each is verified by a server, and then by the tool itself with its machine format: `cargo --message-format=json`,
libtest's JSON (RUSTC_BOOTSTRAP), `go build`, `go vet -json`, `go test -json`. Places, codes and messages of diagnostics, and names and counts of
tests must be the same, no more and no less; hangs end at their deadline; the reply stays below 2 MiB; no process is left. For each kind one build
of the user's own runs beside, and must not wait for a lock. Ends with exit code 1 where anything differs.
"""

import json
import os
import pathlib
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

LIB = """pub fn one() -> u32 {
    1
}

/// ```
/// assert_eq!(a::two(), 2);
/// ```
pub fn two() -> u32 {
    one() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(two(), 2);
    }

    #[test]
    #[ignore]
    fn later() {}
}
"""

USER = "pub fn three() -> u32 {\n    a::two() + a::one()\n}\n\n#[test]\nfn counts() {\n    assert_eq!(three(), 3);\n}\n"

RUST = {
    "Cargo.toml": '[workspace]\nmembers = ["a", "b"]\nresolver = "2"\n',
    "a/Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
    "a/src/lib.rs": LIB,
    "b/Cargo.toml": '[package]\nname = "b"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\na = { path = "../a" }\n',
    "b/src/lib.rs": USER,
    "b/src/main.rs": "fn main() {\n    println!(\"{}\", b::three());\n}\n",
    "b/tests/whole.rs": "#[test]\nfn whole() {\n    assert_eq!(b::three(), 3);\n}\n",
    "b/examples/shown.rs": "fn main() {\n    println!(\"{}\", b::three());\n}\n",
    "b/build.rs": "fn main() {}\n",
}


def appended(file, text):
    return {file: RUST[file] + text}


def test(name, body, attribute=""):
    return f"\n{attribute}#[test]\nfn {name}() {{\n    {body}\n}}\n"


FLOOD = 'for at in 0..200_000 { println!("line {at} of a flood \\u{1}"); } panic!("after the flood");'
RAW = "use std::io::Write; let mut out = std::io::stdout().lock(); for _ in 0..200_000 { out.write_all(&[b'x'; 997]).unwrap(); } drop(out); panic!(\"after it\");"

# (name, kind, changed files)
OF_RUST = [
    ("a type that does not fit", "check", {"a/src/lib.rs": LIB.replace("    1\n", '    "1"\n', 1)}),
    ("an error in a dependant", "check", appended("b/src/lib.rs", "\npub fn lost() -> u32 {\n    a::none()\n}\n")),
    ("a moved value", "check", {"b/src/main.rs": "fn main() {\n    let v = vec![b::three()];\n    drop(v);\n    drop(v);\n}\n"}),
    ("an error in a test alone", "check", appended("b/tests/whole.rs", "\n#[test]\nfn x() {\n    nothing();\n}\n")),
    ("an error in an example", "check", {"b/examples/shown.rs": "fn main() {\n    let x: u8 = 256;\n    drop(x);\n}\n"}),
    ("an error in a build script", "check", {"b/build.rs": "fn main() {\n    let x: u8 = \"\";\n}\n"}),
    ("warnings in all targets", "check", appended("a/src/lib.rs", "\nfn unused(ä: u32) {\n    let never = 1;\n}\n")),
    ("many errors", "check", appended("b/src/lib.rs", "".join(f"\npub fn f{at}() -> u32 {{ \"{at}\" }}\n" for at in range(60)))),
    ("an error in a macro", "check", appended("b/src/lib.rs", "\nmacro_rules! m {\n    ($x:expr) => { let _: u8 = $x; };\n}\npub fn made() {\n    m!(\"x\");\n    m!(1);\n}\n")),
    ("a syntax error", "check", appended("b/src/lib.rs", "\npub fn broken( {\n")),
    ("what clippy says", "lint", appended("b/src/lib.rs", "\npub fn empty(v: &[u8]) -> bool {\n    v.len() == 0\n}\n")),
    ("clippy and an error", "lint", appended("b/tests/whole.rs", "\n#[test]\nfn y() {\n    let v = vec![1];\n    assert!(v.len() == 0);\n    nothing();\n}\n")),
    ("a failed assertion", "test", appended("b/src/lib.rs", test("fails", "assert_eq!(three(), 4, \"not four\");"))),
    ("a panic in a thread", "test", appended("b/src/lib.rs", test("threads", "std::thread::spawn(|| panic!(\"inside\")).join().unwrap();"))),
    ("no panic where one is wanted", "test", appended("b/tests/whole.rs", test("calm", "b::three();", "#[should_panic]\n"))),
    ("a failed doctest", "test", {"a/src/lib.rs": LIB.replace("two(), 2);\n/// ```", "two(), 3);\n/// ```")}),
    ("a doctest that does not compile", "test", {"a/src/lib.rs": LIB.replace("a::two()", "a::none()", 1)}),
    ("a changed constant", "test", {"a/src/lib.rs": LIB.replace("    1\n", "    5\n", 1)}),
    ("an error returned", "test", appended("b/tests/whole.rs", "\n#[test]\nfn errs() -> Result<(), String> {\n    Err(\"bad\".into())\n}\n")),
    ("many failures", "test", appended("b/src/lib.rs", "".join(test(f"t{at}", f"assert!({at} > 50);") for at in range(100)))),
    ("a test that does not compile", "test", appended("b/tests/whole.rs", "\n#[test]\nfn x() {\n    nothing();\n}\n")),
    ("a flood of lines", "test", appended("b/src/lib.rs", test("floods", FLOOD))),
    ("a flood without lines", "test", appended("b/src/lib.rs", test("floods", RAW))),
    ("an abort", "abort", appended("b/tests/whole.rs", test("aborts", "std::process::abort();"))),
    ("a hang", "hang", appended("b/tests/whole.rs", test("hangs", "loop { std::thread::park(); }"))),
]

GO = {
    "go.mod": "module example.com/m\n\ngo 1.21\n",
    "a/a.go": "package a\n\nfunc One() int { return 1 }\n",
    "a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal(One())\n\t}\n}\n",
    "b/b.go": "package b\n\nimport \"example.com/m/a\"\n\nfunc Two() int { return a.One() + 1 }\n",
    "b/b_test.go": "package b\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif Two() != 2 {\n\t\tt.Errorf(\"got %d\", Two())\n\t}\n}\n",
    "main.go": "package main\n\nimport \"example.com/m/b\"\n\nfunc main() { println(b.Two()) }\n",
}


def go_test(name, body):
    return {"b/more_test.go": f'package b\n\nimport (\n\t"fmt"\n\t"os"\n\t"testing"\n)\n\nvar _, _ = fmt.Sprint, os.Exit\n\nfunc {name}(t *testing.T) {{\n\t{body}\n}}\n'}


OF_GO = [
    ("a type that does not fit", "check", {"a/a.go": "package a\n\nfunc One() int { return \"1\" }\n"}),
    ("an unknown name in a dependant", "check", {"b/b.go": GO["b/b.go"].replace("a.One", "a.None")}),
    ("an error in a test alone", "check", go_test("TestX", "nothing()")),
    ("an unused import", "check", {"b/b.go": GO["b/b.go"].replace("import ", 'import "os"\nimport ')}),
    ("several errors", "check", {"b/b.go": GO["b/b.go"] + "".join(f"\nfunc f{at}() int {{ return x{at} }}\n" for at in range(8))}),
    ("what vet says", "lint", {"b/b.go": GO["b/b.go"].replace('import "example', 'import "fmt"\nimport "example') + '\nfunc P() { fmt.Printf("%d\\n", "x") }\n'}),
    ("a changed value", "test", {"a/a.go": "package a\n\nfunc One() int { return 2 }\n"}),
    ("parts of a test", "test", go_test("TestParts", 't.Run("good", func(t *testing.T) {})\n\tt.Run("bad", func(t *testing.T) { t.Fatal("no") })')),
    ("a panic", "test", go_test("TestPanics", "var m map[string]int\n\tm[\"x\"] = 1")),
    ("an exit", "exit", go_test("TestExits", "os.Exit(3)")),
    ("a skipped test", "test", go_test("TestSkips", 't.Skip("not now")')),
    ("a failed example", "test", {"b/ex_test.go": 'package b\n\nimport "fmt"\n\nfunc ExampleTwo() {\n\tfmt.Println(Two())\n\t// Output: 3\n}\n'}),
    ("a test that does not compile", "test", go_test("TestX", "nothing()")),
    ("a flood of lines", "test", go_test("TestFloods", 'for at := 0; at < 200000; at++ {\n\t\tfmt.Println("line of a flood", at)\n\t}\n\tt.Fatal("after it")')),
    ("a hang", "hang", go_test("TestHangs", "select {}")),
]


def written(directory, files):
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def tool(command, root, **environment):
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, errors="replace", env={**os.environ, "CARGO_TERM_COLOR": "never", **environment})
    return done.stdout, done.stderr, done.returncode


def json_lines(text):
    for line in text.split("\n"):
        # What a test printed without the end of a line stands before it.
        start = max(line.find('{ "type"'), 0)
        if line.startswith("{", start):
            try:
                yield json.loads(line[start:])
            except ValueError:
                continue


# ------------------------------------------------------------------------------------------------------------------
# What the tools say themselves


def cargo_says(root, target, kind):
    flags = ["--lib", "--bins", "--tests", "--examples"] if kind == "check" else ["--all-targets"]
    out, _, code = tool(["cargo", "check" if kind == "check" else "clippy", "--workspace", "--keep-going", "--message-format=json", "--target-dir", target, *flags], root)
    found = set()
    for message in json_lines(out):
        if message["reason"] != "compiler-message":
            continue
        said = message["message"]
        span = next((it for it in said["spans"] if it["is_primary"]), None)
        while span and not (root / span["file_name"]).is_file() and span["expansion"]:
            span = span["expansion"]["span"]
        if span is None:
            continue
        text = span["text"][0]["text"] if span["text"] else ""
        column = len(text[: span["column_start"] - 1].encode()) + 1
        found.add((span["file_name"], span["line_start"], column, said["level"], (said["code"] or {}).get("code"), said["message"]))
    return found, code


def libtest_says(root, target):
    command = ["cargo", "test", "--workspace", "--no-fail-fast", "--target-dir", target, "--", "-Z", "unstable-options", "--format", "json"]
    out, _, code = tool(command, root, RUSTC_BOOTSTRAP="1")
    counts, failed = [0, 0, 0], []
    for event in json_lines(out):
        if event.get("type") == "suite" and event["event"] != "started":
            counts = [counts[0] + event["passed"], counts[1] + event["failed"], counts[2] + event["ignored"]]
        elif event.get("type") == "test" and event["event"] == "failed":
            failed.append(event["name"])
    return counts, sorted(failed), code


def go_says(root, kind):
    found = set()
    if kind == "lint":
        out, errors, _ = tool(["go", "vet", "-json", "./..."], root)
        text = "\n".join(it for it in (out + errors).splitlines() if not it.startswith("#"))
        decoder, at = json.JSONDecoder(), 0
        while at < len(text):
            value, at = decoder.raw_decode(text, at)
            at += len(text[at:]) - len(text[at:].lstrip())
            for analyzers in value.values():
                for analyzer, findings in analyzers.items():
                    for it in findings:
                        file, line, column = it["posn"].rsplit(":", 2)
                        found.add((os.path.relpath(file, root), int(line), int(column), "warning", analyzer, it["message"]))
        return found, tool(["go", "vet", "./..."], root)[2]
    code = 0
    for command in (["go", "build", "-json", "-o", os.devnull, "./..."], ["go", "test", "-json", "-exec", "true", "-vet=off", "./..."]):
        out, errors, ended = tool(command, root)
        code = code or ended
        for event in json_lines(out + errors):
            if event.get("Action") == "build-output":
                parts = event["Output"].rstrip("\n").split(":", 3)
                if len(parts) == 4 and parts[1].isdigit():
                    found.add((os.path.normpath(parts[0]), int(parts[1]), int(parts[2]), "error", None, parts[3].strip()))
    return found, code


def go_test_says(root):
    out, _, code = tool(["go", "test", "-json", "./..."], root)
    counts, failed = [0, 0, 0], []
    for event in json_lines(out):
        at = {"pass": 0, "fail": 1, "skip": 2}.get(event.get("Action"))
        if at is not None and event.get("Test"):
            counts[at] += 1
            failed += [event["Test"]] * (at == 1)
    return counts, sorted(failed), code


# ------------------------------------------------------------------------------------------------------------------


def build_beside(command, root):
    """A build of the user's, begun now; its result says whether it waited for a lock."""
    result = {}

    def run():
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
        result["waited"] = "Blocking waiting for file lock on build directory" in done.stderr

    thread = threading.Thread(target=run)
    thread.start()
    return thread, result


def compare(options, directory, language, name, kind, files, beside):
    root = directory / f"{language}-{name.replace(' ', '-')}" / "work"
    written(root, {**(RUST if language == "rust" else GO), **files})
    if language == "rust":
        tool(["cargo", "generate-lockfile", "--offline"], root)
    wrong = []
    before = sorted(str(it) for it in root.rglob("*") if "target" not in it.parts)
    with semdex.Server(options.server_binary, [root], directory=root.parent / "server") as server:
        server.client.timeout = 900
        if beside:
            thread, result = build_beside(["cargo", "build"] if language == "rust" else ["go", "build", "-o", os.devnull, "./..."], root)
        body = {"kind": {"hang": "test", "abort": "test", "exit": "test"}.get(kind, kind)}
        if kind == "hang":
            body["timeout_ms"] = 20_000
        started = time.monotonic()
        reply = server.client.post("/v1/verify", **body)
        elapsed = time.monotonic() - started
        if beside:
            thread.join()
            wrong += ["the user's build waited"] * result["waited"]
        size = len(json.dumps(reply))
        wrong += [f"a reply of {size} bytes"] * (size > 2 << 20)
        deadline = time.monotonic() + 3
        # Of those that the reply left behind: gopls runs programs there too, whenever it likes.
        left = {it for it in semdex.descendants(server.pid) if runs_in(it, root)}
        while left and time.monotonic() < deadline:
            time.sleep(0.05)
            left &= set(semdex.descendants(server.pid))
        wrong += [f"processes are left: {sorted(left)}"] * bool(left)
    after = sorted(str(it) for it in root.rglob("*") if "target" not in it.parts)
    wrong += [f"written in the workspace: {set(after) ^ set(before)}"] * (after != before)
    tests = reply.get("tests") or {"failures": []}
    names = sorted(it["name"] for it in tests["failures"])
    target = str(root.parent / "truth")
    if kind in ("check", "lint"):
        said, code = cargo_says(root, target, kind) if language == "rust" else go_says(root, kind)
        told = {(it["file"], it["line"], it["column"], it["severity"], it.get("code"), it["message"]) for it in reply["diagnostics"]}
        wrong += [f"only the tool: {it}" for it in sorted(said - told, key=str)] + [f"only verify: {it}" for it in sorted(told - said, key=str)]
        wrong += [f"{len(reply['diagnostics'])} diagnostics, {len(told)} of them different"] * (len(told) != len(reply["diagnostics"]))
        wrong += [f"ok is {reply['ok']}, the tool's code {code}"] * (reply["ok"] != (code == 0))
    elif kind == "test":
        counts, failed, code = libtest_says(root, target) if language == "rust" else go_test_says(root)
        told = [tests[it] for it in ("passed", "failed", "skipped")]
        if not reply["diagnostics"]:
            # Where something does not compile, cargo runs nothing, and verify what does not depend on it.
            wrong += [f"counts {told}, the tool's {counts}"] * (told != counts) + [f"failed {names}, the tool's {failed}"] * (names != failed)
        wrong += [f"ok is {reply['ok']}, the tool's code {code}"] * (reply["ok"] != (code == 0))
    elif kind == "hang":
        wrong += [f"timed_out {reply['timed_out']} after {elapsed:.1f} s"] * (not reply["timed_out"] or reply["ok"] or not 19 < elapsed < 30)
    else:
        wanted = "aborts" if kind == "abort" else "TestExits"
        wrong += [f"failed {names}, and not only {wanted}"] * (names != [wanted])
    for it in tests["failures"]:
        wrong += [f"no place: {it['name']}"] * (not it.get("file") or not (root / it["file"]).is_file() or not it.get("line"))
    print(f"{language:5} {kind:6} {name:34} {elapsed:6.1f} s  {'same' if not wrong else 'DIFFERENT'}", flush=True)
    for it in wrong:
        print(f"      {it}")
    return not wrong


def runs_in(pid, root):
    """Whether a process is one of a run: not an engine of semdex, which works in the workspace too."""
    try:
        command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        is_engine = "/semdex/" in command and "/semdex/verify/" not in command or "proc-macro-srv" in command
        return str(root) in os.readlink(f"/proc/{pid}/cwd") and not is_engine
    except OSError:
        return False


def run(options, directory):
    cases = [("rust", *it) for it in OF_RUST] + [("go", *it) for it in OF_GO]
    if options.only:
        cases = [it for it in cases if options.only in f"{it[0]} {it[1]}"]
    beside = {("rust", "check"), ("rust", "test"), ("go", "test")}
    good = 0
    for language, name, kind, files in cases:
        first = (language, kind) in beside
        beside.discard((language, kind))
        good += compare(options, directory, language, name, kind, files, first)
    print(f"{good} of {len(cases)} workspaces: what verify says is what the tools say")
    return 0 if good == len(cases) else 1


if __name__ == "__main__":
    parser = semdex.arguments(__doc__, workspace=False)
    parser.add_argument("--only", help="the cases with this in their language and name")
    semdex.main(run, parser.parse_args())
