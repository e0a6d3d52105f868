#!/usr/bin/env python3
"""Usages, implementations and callers of sampled Go symbols, against what gopls itself says when it is asked by this program, in a session
of its own.

Symbols of all kinds are drawn from all files of the workspace. Usages are compared by file and byte offset, implementations by the place of
their names, callers by the place of each call. Every difference is printed, with what the text there tells of its cause; fails where of all
that gopls names less than 99.5 % is answered, or of all that is answered gopls names less. (The Rust half is a test in the crate, where
rust-analyzer's own find_all_refs can be called.)
"""

import collections
import itertools
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex
from lsp_client import LanguageServer, find_gopls

WANTED = 99.5
KINDS = {"function", "method", "struct", "interface", "type", "field", "const", "variable"}


def symbols(client, workspace, root):
    """All that can be asked for: (symbol) of every file's tree."""
    found = []
    for file in semdex.source_files(root, ".go"):
        pending = client.get("/v1/symbols", workspace=workspace, file=file)["symbols"]
        while pending:
            symbol = pending.pop()
            pending += symbol.get("children") or []
            # gopls knows no `_`, nor has `init` any use.
            if symbol["kind"] in KINDS and symbol["name"] not in ("_", "init"):
                found.append(symbol)
    return found


def sample(found, count, chance):
    """As even over the kinds as it goes."""
    by_kind = collections.defaultdict(list)
    for symbol in found:
        by_kind[symbol["kind"]].append(symbol)
    for those in by_kind.values():
        chance.shuffle(those)
    drawn = []
    while len(drawn) < min(count, len(found)):
        drawn += [by_kind[kind].pop() for kind in sorted(by_kind) if by_kind[kind]]
    return drawn[:count]


def pages(client, workspace, verb, symbol):
    """(all items, the last reply): every page of a list."""
    items, cursor = [], None
    while True:
        reply = client.get(f"/v1/{verb}", workspace=workspace, symbol=symbol["path"], limit=500, cursor=cursor, wait_ms=60000)
        items += reply["items"]
        cursor = reply.get("next_cursor")
        if not cursor:
            if len(items) != reply["total"]:
                raise semdex.Failed(f"{verb} of {symbol['path']}: total {reply['total']}, but {len(items)} items on all pages")
            return items, reply


def named_at(symbol):
    return symbol["file"], symbol["name_at"]["start"]


def places(verb, items):
    if verb == "usages":
        return sorted((it["file"], it["start"]) for it in items)
    if verb == "implementations":
        return sorted(named_at(it) for it in items)
    return sorted((call["file"], call["start"]) for it in items for call in it["calls"])


def wanted(verb, gopls, symbol):
    where = named_at(symbol)
    return {"usages": gopls.references, "implementations": gopls.implementations, "callers": gopls.callers}[verb](*where)


VERBS = {
    "usages": KINDS,
    "implementations": {"struct", "interface", "type", "method"},
    "callers": {"function", "method"},
}


def cause(root, verb, symbol, place, lacking):
    """What the text tells of a difference."""
    file, offset = place
    path = pathlib.Path(file) if file.startswith("/") else root / file
    text = path.read_bytes()
    line = text[text.rfind(b"\n", 0, offset) + 1 : text.find(b"\n", offset)].decode(errors="replace").strip()
    number = text.count(b"\n", 0, offset) + 1
    if not text[offset:].startswith(symbol["name"].encode()) and verb != "implementations":
        why = f"another name stands there than `{symbol['name']}`"
    elif line.startswith("//"):
        why = "in a comment"
    elif re.search(rb"^//go:build .*", text, re.M):
        why = "in a file with build constraints"
    elif verb == "implementations" and file.startswith("/"):
        why = "outside the workspace"
    else:
        why = "unexplained"
    return f"{verb} of {symbol['path']}: {'lacking' if lacking else 'extra'} {file}:{number} ({why}): {line[:120]}"


def run(options, directory):
    short = False
    for source in options.workspaces:
        root = semdex.copy_workspace(source, directory)
        with semdex.Server(options.server_binary, [root], directory=directory / "server") as server:
            server.wait_ready(options.ready_timeout)
            client, workspace = server.client, server.workspace(root)
            drawn = sample(symbols(client, workspace, root), 2 * options.symbols, random.Random(options.seed))
            gopls = LanguageServer.gopls(find_gopls(options.gopls), root)
            try:
                # Of a file that build constraints leave out gopls says nothing, and there is nothing to compare with.
                known = itertools.islice((it for it in drawn if gopls.knows(it["file"])), options.symbols)
                rows, asked, problems = [], 0, 0
                sums = {verb: collections.Counter() for verb in VERBS}
                for symbol in known:
                    asked += 1
                    for verb in (it for it, kinds in VERBS.items() if symbol["kind"] in kinds):
                        row = compare(client, workspace, root, gopls, verb, symbol)
                        sums[verb].update({key: row[key] for key in ("both", "lacking", "extra")}, symbols=1, differ=row["verdict"] != "equal")
                        problems += row["verdict"].startswith("problem")
                        rows.append(row)
            finally:
                gopls.close()
        if options.all:
            semdex.table(rows, ["verb", "kind", "symbol", "both", "lacking", "extra", "complete", "verdict"])
        total = [{"verb": verb, **it, "recall": share(it["both"], it["lacking"]), "precision": share(it["both"], it["extra"])} for verb, it in sums.items()]
        semdex.table(total, ["verb", "symbols", "differ", "both", "lacking", "extra", "recall", "precision"])
        least = min(min(it["recall"], it["precision"]) for it in total)
        print(f"{root.name}: {asked} symbols, {len(rows)} questions, {problems} problems, least share {least:.2f} % (wanted {WANTED} %)")
        short |= least < WANTED or problems > 0
        if asked < options.symbols:
            raise semdex.Failed(f"{root.name} has only {asked} symbols to ask for, wanted {options.symbols}")
    return 1 if short else 0


def share(both, others):
    return round(100 * both / (both + others), 2) if both + others else 100.0


def compare(client, workspace, root, gopls, verb, symbol):
    theirs = set(wanted(verb, gopls, symbol))
    row = {"verb": verb, "kind": symbol["kind"], "symbol": symbol["path"]}
    try:
        items, reply = pages(client, workspace, verb, symbol)
    except semdex.Problem as problem:
        print(f"{verb} of {symbol['path']}: {problem}", file=sys.stderr)
        return {**row, "both": 0, "lacking": len(theirs), "extra": 0, "complete": "-", "verdict": f"problem {problem.code}"}
    ours = places(verb, items)
    if len(ours) != len(set(ours)):
        raise semdex.Failed(f"{verb} of {symbol['path']}: a place is listed twice")
    for place in sorted(theirs - set(ours)):
        print(cause(root, verb, symbol, place, True))
    for place in sorted(set(ours) - theirs):
        print(cause(root, verb, symbol, place, False))
    if not reply["meta"]["complete"]:
        print(f"{verb} of {symbol['path']} is not complete: {len(reply.get('possible') or [])} possible, missing {reply['meta']['missing']}", file=sys.stderr)
    return {
        **row,
        "both": len(theirs & set(ours)),
        "lacking": len(theirs - set(ours)),
        "extra": len(set(ours) - theirs),
        "complete": reply["meta"]["complete"],
        "verdict": "equal" if theirs == set(ours) else "DIFFERS",
    }


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--symbols", type=int, default=300, help="how many to draw (default: %(default)s)")
    parser.add_argument("--all", action="store_true", help="print a line for every question, not only what differs")
    parser.add_argument("--gopls", metavar="PATH", help="the gopls to ask (default: semdex's own, else the one on the PATH)")
    parser.add_argument("--seed", type=int, default=1)
    semdex.main(run, parser.parse_args())
