#!/usr/bin/env python3
"""Renames real symbols of a copy of a workspace, one at a time, and asks the compiler after each whether it still compiles.

The symbols are drawn by a seed: functions, methods, types, fields, constants, variants, as many of each kind as there are. Each rename is
made, checked with `cargo check --all-targets` or `go vet` in a target directory of its own, and taken back by its token; the tree must then
be byte for byte what it was. A refusal is no failure, but is told with its reason; a rename that does not compile is.
"""

import collections
import hashlib
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

KINDS = ["function", "method", "struct", "enum", "trait", "interface", "type", "field", "const", "variant", "static", "macro", "module"]


def symbols(client, workspace, root):
    """Every symbol of the workspace's own files: (kind, path, name)."""
    found = []

    def take(symbol, file):
        named = not symbol["name"][:1].isdigit()
        if named and symbol["kind"] in KINDS and symbol["file"] == file and not symbol["external"]:
            found.append((symbol["kind"], symbol["path"], symbol["name"]))
        for child in symbol.get("children") or []:
            take(child, file)

    for suffix in (".rs", ".go"):
        for file in semdex.source_files(root, suffix):
            for symbol in client.get("/v1/symbols", file=str(file), workspace=workspace)["symbols"]:
                take(symbol, str(file))
    return found


def draw(found, count, chance):
    """So many, the kinds in turn."""
    by_kind = collections.defaultdict(list)
    for kind, path, name in found:
        by_kind[kind].append((kind, path, name))
    for of_kind in by_kind.values():
        chance.shuffle(of_kind)
    drawn = []
    while len(drawn) < count and any(by_kind.values()):
        for kind in KINDS:
            if by_kind[kind] and len(drawn) < count:
                drawn.append(by_kind[kind].pop())
    return drawn


def renamed(kind, name):
    """A name that nothing has, in the form that its kind has."""
    if name.isupper():
        return f"{name}_RENAMED"
    return f"{name}Renamed" if "_" not in name and name != name.lower() else f"{name}_renamed"


def hashes(root):
    """Of all files but what compilers make."""
    made = {"target", ".git"}
    files = (it for it in sorted(root.rglob("*")) if it.is_file() and not made & set(it.relative_to(root).parts))
    return {str(it.relative_to(root)): hashlib.blake2b(it.read_bytes()).hexdigest() for it in files}


CARGO = ["cargo", "check", "--workspace", "--quiet", "--message-format", "short", "--offline"]


def checks(root, target):
    """How the workspace is checked: with all targets that a stable toolchain compiles. Benches may need another."""
    if not (root / "Cargo.toml").exists():
        return ["go", "vet", "./..."]
    for targets in (["--all-targets"], ["--lib", "--bins", "--tests", "--examples"]):
        wrong = compiles(root, target, CARGO + targets)
        if not wrong:
            return CARGO + targets
    raise semdex.Failed(f"{root.name} does not compile as it is: {wrong}")


def compiles(root, target, command):
    """Nothing, or what the compiler says."""
    done = subprocess.run(command, cwd=root, env={**os.environ, "CARGO_TARGET_DIR": str(target)}, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    lines = [it for it in (done.stderr + done.stdout).splitlines() if "error" in it or ".go:" in it]
    return "; ".join(lines[:3]) or done.stderr[-400:]


def run(options, directory):
    short = []
    for source in options.workspaces:
        root = semdex.copy_workspace(source, directory / "copies")
        target = directory / f"target-{root.name}"
        with semdex.Server(options.server_binary, [root], directory=directory / f"server-{root.name}") as server:
            server.wait_ready(options.ready_timeout)
            client, workspace = server.client, server.workspace(root)
            command = checks(root, target)
            begun = hashes(root)
            chance = random.Random(options.seed)
            drawn = draw(symbols(client, workspace, root), options.count, chance)
            done, refused, broken, times = 0, [], [], []
            for kind, path, name in drawn:
                body = {"symbol": path, "new_name": renamed(kind, name), "workspace": workspace, "wait_ms": 60000}
                status, reply = client.send("POST", "/v1/rename", body=body)
                if status >= 400:
                    refused.append(f"{kind} {path}: {reply['code']}: {reply['detail'][:220]}")
                    if reply["code"] not in ("rename_refused", "ambiguous_symbol", "unknown_symbol"):
                        broken.append(f"{kind} {path}: answered {status} {reply['code']}")
                    continue
                times.append(reply["meta"]["elapsed_ms"])
                wrong = compiles(root, target, command)
                if wrong:
                    broken.append(f"{kind} {path} -> {body['new_name']}: {wrong}")
                else:
                    done += 1
                client.post("/v1/undo", change=reply["change"], workspace=workspace)
                if hashes(root) != begun:
                    broken.append(f"{kind} {path}: undone, but the tree is another")
                    break
            kinds = collections.Counter(kind for kind, _, _ in drawn)
            took = f"p50 {sorted(times)[len(times) // 2]:.0f} ms, at most {max(times):.0f} ms" if times else "-"
            print(f"{root.name}: {len(drawn)} symbols ({', '.join(f'{count} {kind}' for kind, count in kinds.items())}), seed {options.seed}")
            print(f"{root.name}: checked by {' '.join(command)}")
            print(f"{root.name}: {done} renamed and compiling, {len(refused)} refused, {len(broken)} broken; {took}")
            for it in refused:
                print(f"  refused: {it}")
            for it in broken:
                print(f"  BROKEN: {it}")
            short += broken
    return 1 if short else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--count", type=int, default=25, help="symbols of each workspace (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    semdex.main(run, parser.parse_args())
