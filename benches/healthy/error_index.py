#!/usr/bin/env python3
"""What semdex says of broken crates, beside `cargo check`: the diagnostics of the code on disk, or with `--edits` what a dry run of the
edit that writes it breaks.

Each example of the compiler's error index (`rustc --explain`) becomes a crate, or with `--mistakes` each of the everyday mistakes in
`mistakes.json`, in the edition that is given. A file is judged by the errors that the compiler reports in
it; those of the borrow checker and of lifetimes are left out, since semdex leaves them to the compiler. A file is *silent* if it has
errors and semdex reports none, and an *alarm* if it has none and semdex reports one.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

BORROWS = {f"E{it:04}" for it in (
    309, 310, 311, 312, 373, 381, 382, 383, 384, 478, 491, 492, 493, 499, 500, 501, 502, 503, 505, 506, 507, 508, 509, 510, 515, 516, 521,
    524, 594, 595, 596, 597, 621, 626, 700, 712, 713, 716,
)}


def examples():
    """The code blocks of each explanation, but for those that need a nightly compiler or another crate."""
    for number in range(1, 1000):
        code = f"E{number:04}"
        said = subprocess.run(["rustc", "--explain", code], capture_output=True, text=True)
        blocks, block = [], None
        for line in said.stdout.splitlines() if said.returncode == 0 else []:
            if line.startswith("```"):
                if block is not None:
                    blocks.append("\n".join(block) + "\n")
                block = [] if block is None else None
            elif block is not None:
                block.append("" if line == "#" else line.removeprefix("# "))
        for nth, text in enumerate(blocks):
            if text.strip() and "#![feature" not in text and "extern crate" not in text:
                yield f"{code.lower()}_{nth}", text


def mistakes():
    return json.loads((pathlib.Path(__file__).parent / "mistakes.json").read_text()).items()


def within_macro(text):
    """The items of a file in a call of a macro that writes what it is given, as `cfg_if!` or `lazy_static!` do."""
    lines = text.split("\n")
    is_inner = lambda it: it.startswith(("#![", "//!"))
    head = [it for it in lines if is_inner(it)]
    return "\n".join([*head, "macro_rules! same { ($($it:tt)*) => { $($it)* } }", "same! {", *(it for it in lines if not is_inner(it)), "}", ""])


def write(root, crates, edition, is_empty=False):
    (root / "Cargo.toml").write_text('[workspace]\nmembers = ["m/*"]\nresolver = "2"\n')
    for name, text in crates:
        (root / "m" / name / "src").mkdir(parents=True)
        manifest = f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "{edition}"\n'
        (root / "m" / name / "Cargo.toml").write_text(manifest)
        empty = "fn main() {}\n" if "fn main" in text else ""
        (root / file_of(name, text)).write_text(empty if is_empty else text)


def file_of(name, text):
    return f"m/{name}/src/{'main' if 'fn main' in text else 'lib'}.rs"


def diagnostics(client, file, text):
    return client.get("/v1/diagnostics", file=file, severity="error", limit=500, wait_ms=60000)


def dry_run(client, file, text):
    reply = client.post("/v1/write", name=file, content=text, mode="overwrite", dry_run=True)
    return {"items": reply["impact"]["broken"], "meta": reply["meta"]}


def of_compiler(root):
    """The errors of each file, with their first and last lines, and the files in which macros of the library fail."""
    command = ["cargo", "check", "--workspace", "--all-targets", "--keep-going", "--message-format=json", "--offline", "--quiet"]
    # Beside the workspace: an unread directory in it makes every answer incomplete.
    environment = {**os.environ, "CARGO_TARGET_DIR": str(root.parent / "target")}
    said = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    found, elsewhere = {}, set()
    for message in map(json.loads, said.stdout.splitlines()):
        if message.get("reason") != "compiler-message" or message["message"]["level"] != "error":
            continue
        error = message["message"]
        code = (error.get("code") or {}).get("code") or ""
        own = message["target"]["src_path"].removeprefix(f"{root}/")
        for span in [it for it in error["spans"] if it["is_primary"]][:1]:
            if span["file_name"] == own:
                found.setdefault(own, set()).add((span["line_start"], span["line_end"], code, error["message"][:100]))
            else:
                elsewhere.add(own)
    return found, elsewhere


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--server-binary", required=True)
    arguments.add_argument("--show", action="store_true", help="print each file that differs")
    arguments.add_argument("--mistakes", action="store_true", help="everyday mistakes instead of the error index")
    arguments.add_argument("--edits", action="store_true", help="dry runs instead of diagnostics")
    arguments.add_argument("--in-macro", action="store_true", help="all items of a file in a call of a macro that writes them as they are")
    arguments.add_argument("--edition", default="2021")
    given = arguments.parse_args()
    crates = list(mistakes() if given.mistakes else examples())
    if given.in_macro:
        crates = [(name, within_macro(text)) for name, text in crates]
    ask = dry_run if given.edits else diagnostics
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory).resolve() / "index"
        root.mkdir()
        write(root, crates, given.edition)
        truth, elsewhere = of_compiler(root)
        if given.edits:
            shutil.rmtree(root)
            root.mkdir()
            write(root, crates, given.edition, is_empty=True)
        own, complete = {}, {}
        with semdex.Server(given.server_binary, [root], directory=pathlib.Path(directory) / "server") as server:
            server.wait_indexed()
            server.wait_built(server.workspace(root))
            for name, text in crates:
                file = file_of(name, text)
                reply = ask(server.client, file, text)
                own[file] = [(it["line"], it["end_line"], it.get("code") or "", it.get("message", "")) for it in reply["items"]]
                complete[file] = reply["meta"]["complete"]
    broken = silent = complete_and_silent = errors = missing = alarms = 0
    for file in own:
        expected = {it for it in truth.get(file, ()) if it[2] not in BORROWS}
        touches = lambda a, b: a[0] <= b[1] and b[0] <= a[1]
        left = sorted(it for it in expected if not any(touches(it, other) for other in own[file]))
        broken += bool(expected)
        errors += len(expected)
        missing += len(left)
        is_silent = bool(expected) and not own[file]
        silent += is_silent
        complete_and_silent += is_silent and complete[file]
        is_alarm = bool(own[file]) and file not in truth and file not in elsewhere
        alarms += is_alarm
        if given.show and (left or is_alarm):
            print(file, "silent" if is_silent else "", "alarm" if is_alarm else "")
            for it in left if not is_alarm else own[file]:
                print("   ", *it[:1], *it[2:])
    print(f"{len(crates)} crates, {broken} with errors: {silent} silent, {complete_and_silent} of them complete; ", end="")
    print(f"{missing} of {errors} errors missing; {alarms} false alarms")


if __name__ == "__main__":
    main()
