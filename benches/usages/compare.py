#!/usr/bin/env python3
"""Usages, implementations and callers of sampled symbols, against what gopls and rust-analyzer themselves say when they are asked by this
program, in sessions of their own.

Symbols of all kinds are drawn from all files of the workspace. Usages are compared by file and byte offset, implementations by the place of
their names, callers by the place of each call. Every difference is printed, with what the text there tells of its cause; fails where of all
that the language server names less than 99.5 % is answered, or of all that is answered it names less. Of Rust, usages are left to a test in
the crate, where rust-analyzer's own find_all_refs can be called; and left aside is what the two mean differently by design:
- rust-analyzer names callers only where a function is around the call: those in constants and statics are ours alone;
- for a type it lists the inherent `impl` blocks too, which implement nothing; and implementations outside the workspace.
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
KINDS = {"function", "method", "struct", "enum", "union", "trait", "interface", "type", "field", "const", "variable"}


def symbols(client, workspace, root):
    """All that can be asked for: (symbol) of every file's tree."""
    found = []
    for file in semdex.source_files(root, ".go") + semdex.source_files(root, ".rs"):
        pending = client.get("/v1/symbols", workspace=workspace, file=file)["symbols"]
        while pending:
            symbol = pending.pop()
            pending += symbol.get("children") or []
            # No server knows `_`, nor has `init` any use.
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


def wanted(verb, server, symbol):
    where = named_at(symbol)
    return {"usages": server.references, "implementations": server.implementations, "callers": server.callers}[verb](*where)


VERBS = {
    "go": {"usages": KINDS, "implementations": {"struct", "interface", "type", "method"}, "callers": {"function", "method"}},
    "rust": {"implementations": {"struct", "enum", "union", "trait", "method", "function"}, "callers": {"function", "method"}},
}


def alike(root, verb, items, ours, theirs):
    """Two lists of Rust places in one form."""
    if verb == "callers":
        # A raw name is reported without its mark.
        plain = {(file, at + 2 if (root / file).read_bytes()[at : at + 2] == b"r#" else at) for file, at in theirs}
        elsewhere = set(places(verb, [it for it in items if it["symbol"]["kind"] not in ("function", "method")]))
        return set(ours) - (elsewhere - plain), plain
    blocks = ({implementation(root, it) for it in those if not it[0].startswith("/")} for those in (ours, theirs))
    return tuple(it - {None} for it in blocks)


def implementation(root, place):
    """The beginning of the `impl … for …` block that a place in its head belongs to, else the place itself; None for an inherent block."""
    file, offset = place
    text = (root / file).read_bytes()
    heads = [it for it in re.finditer(rb"^[ \t]*(?:unsafe )?impl\b[^{;]*\{", text, re.M) if it.start() <= offset < it.end()]
    if not heads:
        return place
    return (file, heads[-1].start()) if re.search(rb"\bfor\b(?!\s*<)", heads[-1].group()) else None


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
        language = next(iter(semdex.languages(root)))
        with semdex.Server(options.server_binary, [root], directory=directory / f"server-{root.name}") as server:
            server.wait_ready(options.ready_timeout)
            client, workspace = server.client, server.workspace(root)
            drawn = sample(symbols(client, workspace, root), 2 * options.symbols, random.Random(options.seed))
            if language == "rust":
                rival = LanguageServer.rust_analyzer(options.rust_analyzer, root)
            else:
                rival = LanguageServer.gopls(find_gopls(options.gopls), root)
            try:
                # Of what the build leaves out a server says nothing, and there is nothing to compare with.
                known = itertools.islice((it for it in drawn if rival.knows(*named_at(it))), options.symbols)
                rows, asked, problems = [], 0, 0
                sums = {verb: collections.Counter() for verb in VERBS[language]}
                for symbol in known:
                    asked += 1
                    for verb in (it for it, kinds in VERBS[language].items() if symbol["kind"] in kinds):
                        row = compare(client, workspace, root, rival, verb, symbol)
                        sums[verb].update({key: row[key] for key in ("both", "lacking", "extra")}, symbols=1, differ=row["verdict"] != "equal")
                        problems += row["verdict"].startswith("problem")
                        rows.append(row)
            finally:
                rival.close()
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


def compare(client, workspace, root, rival, verb, symbol):
    theirs = set(wanted(verb, rival, symbol))
    row = {"verb": verb, "kind": symbol["kind"], "symbol": symbol["path"]}
    try:
        items, reply = pages(client, workspace, verb, symbol)
    except semdex.Problem as problem:
        print(f"{verb} of {symbol['path']}: {problem}", file=sys.stderr)
        return {**row, "both": 0, "lacking": len(theirs), "extra": 0, "complete": "-", "verdict": f"problem {problem.code}"}
    ours = places(verb, items)
    # A file that two crates include declares what it declares in both.
    if len(ours) != len(set(ours)) and verb != "implementations":
        raise semdex.Failed(f"{verb} of {symbol['path']}: a place is listed twice")
    if rival.language == "rust":
        ours, theirs = alike(root, verb, items, ours, theirs)
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
    parser.add_argument("--rust-analyzer", metavar="PATH", default="rust-analyzer", help="the rust-analyzer to ask (default: the one on the PATH)")
    parser.add_argument("--gopls", metavar="PATH", help="the gopls to ask (default: semdex's own, else the one on the PATH)")
    parser.add_argument("--seed", type=int, default=1)
    semdex.main(run, parser.parse_args())
