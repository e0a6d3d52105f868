#!/usr/bin/env python3
"""What semdex says of symbols outside a Go workspace, against go/doc: documentation and examples, in full.

Exported symbols are drawn from packages of the standard library and from those of the dependencies that the workspace imports, half of them
among those that have examples. The documentation must be go/doc's word for word (doc links aside, which semdex prints as whole paths), and
every Example function that go/doc assigns to a symbol must be there with its code. `go list` tells where the packages lie.
"""

import json
import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

STANDARD = "bufio bytes context encoding/json errors fmt io net/http net/url os regexp sort strconv strings sync time".split()
TRUTH = pathlib.Path(__file__).resolve().parent / "truth.go"


def go(root, *arguments):
    done = subprocess.run(["go", *arguments], cwd=root, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise semdex.Failed(f"go {' '.join(arguments)[:200]}: {done.stderr[:800]}")
    return done.stdout


def packages(root):
    """{import path: directory}: of the standard library's, and of the dependencies that the workspace's own code imports."""
    imported = set(go(root, "list", "-e", "-f", '{{join .Imports "\\n"}}', "./...").split())
    listed = go(root, "list", "-e", "-f", "{{.ImportPath}}\t{{.Dir}}\t{{.Standard}}\t{{with .Module}}{{.Main}}{{end}}", *STANDARD, *sorted(imported))
    standard, dependencies = {}, {}
    for path, directory, is_standard, is_main in (line.split("\t") for line in listed.splitlines()):
        if is_standard == "true" and path in STANDARD:
            standard[path] = directory
        elif is_standard != "true" and is_main != "true" and directory:
            dependencies[path] = directory
    return standard, dependencies


def draw(found, count, chance):
    chance.shuffle(found)
    shown = [it for it in found if it["examples"]][: count // 2]
    names = {(it["package"], it["name"]) for it in shown}
    return (shown + [it for it in found if (it["package"], it["name"]) not in names])[:count]


def plain(text):
    """Without white space and without what a doc link says beyond its last word."""
    text = re.sub(r"\[\*?([\w./-]+)\]", lambda it: f"[{re.split('[./]', it[1])[-1]}]", text or "")
    return re.sub(r"\s+", "", text)


def compare(client, workspace, wanted):
    path = f"{wanted['package']}.{wanted['name']}"
    row = {"symbol": path, "examples": len(wanted["examples"]), "docs": len(wanted["doc"])}
    try:
        reply = client.post("/v1/describe", workspace=workspace, symbol=path)
    except semdex.Problem as problem:
        return {**row, "verdict": f"problem {problem.code}"}
    wrong = []
    symbol = reply["symbol"]
    if not symbol["external"] or symbol["path"] != path or not symbol["signature"]:
        wrong.append(f"is {symbol['path']}, {symbol['signature']!r}")
    if plain(reply.get("docs")) != plain(wanted["doc"]):
        wrong.append(f"docs differ: {(reply.get('docs') or '')[:300]!r}, wanted {wanted['doc'][:300]!r}")
    got = {it["title"]: it["code"] for it in reply["examples"] if it["origin"] == "example"}
    for title, code in wanted["examples"].items():
        if title not in got:
            wrong.append(f"no {title}")
        elif "".join(got[title].split()) != "".join(code.split()):
            wrong.append(f"{title} differs")
    for what in wrong:
        print(f"{path}: {what}", file=sys.stderr)
    return {**row, "verdict": "; ".join(it.split(":")[0] for it in wrong) or "complete"}


def run(options, directory):
    wrong = 0
    for source in options.workspaces:
        root = semdex.copy_workspace(source, directory)
        chance, drawn = random.Random(options.seed), []
        for homes in packages(root):
            pairs = [it for path, home in sorted(homes.items()) for it in (path, home)]
            drawn += draw(json.loads(go(TRUTH.parent, "run", str(TRUTH), *pairs)), options.symbols // 2, chance)
        with semdex.Server(options.server_binary, [root], directory=directory / "server") as server:
            server.wait_ready(options.ready_timeout)
            client, workspace = server.client, server.workspace(root)
            rows = [compare(client, workspace, it) for it in drawn]
        semdex.table(rows, ["symbol", "docs", "examples", "verdict"])
        lacking = sum(it["verdict"] != "complete" for it in rows)
        wrong += lacking
        print(f"{root.name}: {len(rows) - lacking} of {len(rows)} symbols complete, {sum(it['examples'] for it in rows)} examples")
        if len(rows) < options.symbols:
            raise semdex.Failed(f"only {len(rows)} symbols to ask for, wanted {options.symbols}")
    return 1 if wrong else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--symbols", type=int, default=50, help="half of the standard library, half of dependencies (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    semdex.main(run, parser.parse_args())
