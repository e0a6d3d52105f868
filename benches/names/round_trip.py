#!/usr/bin/env python3
"""Every path that is printed can be asked again: each symbol in the tree of each file, asked for by its path alone, is the same place.

The same place is the same file and the same offset of the name; the path in the reply must be the one that was asked. Both languages;
fails under 100 %. With --sample only so many symbols of each workspace are asked, drawn at random.
"""

import collections
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

SHOWN = 40


def symbols(client, workspace, root):
    """Every symbol of every file's tree."""
    found = []
    for file in semdex.source_files(root, ".go") + semdex.source_files(root, ".rs"):
        pending = client.get("/v1/symbols", workspace=workspace, file=file)["symbols"]
        while pending:
            symbol = pending.pop()
            pending += symbol.get("children") or []
            found.append(symbol)
    return found


def place(symbol):
    return symbol["file"], symbol["name_at"]["start"]


def ask(client, workspace, symbol):
    """What is wrong with a symbol's path; None if nothing is."""
    try:
        # What the name means is asked for, not the usages: those need not be waited for, nor told.
        reply = client.get("/v1/usages", workspace=workspace, symbol=symbol["path"], limit=1, wait_ms=0)
    except semdex.Problem as problem:
        return f"{problem.status} {problem.code}"
    found = reply["symbol"]
    if place(found) != place(symbol):
        return f"is {found['path']} at {found['file']}:{found['line']}"
    return None if found["path"] == symbol["path"] else f"is printed as {found['path']} then"


def run(options, directory):
    wrong = 0
    roots = [semdex.copy_workspace(source, directory / str(at)) for at, source in enumerate(options.workspaces)]
    with semdex.Server(options.server_binary, roots, directory=directory / "server") as server:
        server.wait_ready(options.ready_timeout)
        for root in roots:
            client, workspace = server.client, server.workspace(root)
            found = symbols(client, workspace, root)
            if not found:
                raise semdex.Failed(f"{root.name}: no symbols at all")
            asked = random.Random(options.seed).sample(found, options.sample) if options.sample and options.sample < len(found) else found
            begin, counts, lost = time.monotonic(), collections.Counter(), []
            for symbol in asked:
                what = ask(client, workspace, symbol)
                counts[symbol["kind"], what is None] += 1
                if what:
                    lost.append(f"  {symbol['kind']} {symbol['path']} at {symbol['file']}:{symbol['line']}: {what}")
            rows = [{"kind": kind, "back": counts[kind, True], "lost": counts[kind, False]} for kind in sorted({kind for kind, _ in counts})]
            semdex.table(rows, ["kind", "back", "lost"])
            print("\n".join(lost[:SHOWN] + ([f"  … and {len(lost) - SHOWN} more"] if len(lost) > SHOWN else [])))
            shared = len(found) - len({it["path"] for it in found})
            took = time.monotonic() - begin
            print(
                f"{root.name}: {len(asked) - len(lost)} of {len(asked)} symbols come back by their path ({100 * (1 - len(lost) / len(asked)):.2f} %), "
                f"{len(found)} in all, {shared} with another's path, {took:.1f} s"
            )
            wrong += len(lost) + shared
    return 1 if wrong else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="ask for so many symbols of each workspace (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    semdex.main(run, parser.parse_args())
