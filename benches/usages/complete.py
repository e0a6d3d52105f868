#!/usr/bin/env python3
"""The share of usages answers that are complete, and why the others are not.

Each symbol of a workspace is queried, or a sample of them. The symbols with the most uses are counted apart: of the symbols whose names are
the most frequent words of the sources, those with the highest `total`. For an answer that is not complete, each reason is counted once: of
`possible`, and the code of each entry of `missing`.
"""

import collections
import pathlib
import random
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

WORD = re.compile(r"[A-Za-z_]\w*")
UNNAMED = {"impl", "file", "package", "crate"}


def symbols(client, workspace, root):
    found, seen = [], set()
    for file in semdex.source_files(root, ".rs") + semdex.source_files(root, ".go"):
        status, reply = client.send("GET", "/v1/symbols", query={"workspace": workspace, "file": file, "wait_ms": 60000})
        pending = reply["symbols"] if status == 200 else []
        while pending:
            symbol = pending.pop()
            pending += symbol.get("children") or []
            place = symbol["path"], symbol["file"]
            if symbol["kind"] not in UNNAMED and symbol["name"] not in ("_", "") and place not in seen:
                seen.add(place)
                found.append(symbol)
    return sorted(found, key=lambda it: (it["file"], it["start"]))


def words(root):
    counts = collections.Counter()
    for file in semdex.source_files(root, ".rs") + semdex.source_files(root, ".go"):
        counts.update(WORD.findall((root / file).read_text(errors="replace")))
    return counts


class Asked:
    """The answers about usages, each queried once."""

    def __init__(self, client, workspace):
        self.client, self.workspace = client, workspace
        self.known = {}

    def of(self, symbol):
        place = symbol["path"], symbol["file"]
        if place not in self.known:
            query = {"symbol": symbol["path"], "workspace": self.workspace, "limit": 500, "wait_ms": 60000}
            begin = time.monotonic()
            status, reply = self.client.send("GET", "/v1/usages", query=query)
            if status == 409:
                # Several files have an item of this path.
                status, reply = self.client.send("GET", "/v1/usages", query={**query, "file": symbol["file"]})
            self.known[place] = self.row(symbol, status, reply, time.monotonic() - begin)
        return self.known[place]

    @staticmethod
    def row(symbol, status, reply, took):
        row = {"symbol": symbol["path"], "kind": symbol["kind"], "at": f"{symbol['file']}:{symbol.get('line')}", "seconds": took}
        if status != 200:
            code = reply.get("code") if isinstance(reply, dict) else str(reply)[:80]
            return {**row, "total": 0, "complete": False, "reasons": {f"problem {code}": f"{status} {reply.get('detail', '')[:160]}"}}
        reasons = {}
        for it in reply.get("possible") or []:
            reasons.setdefault(f"possible: {it['reason']}", f"{it['file']}:{it['line']} {it.get('detail') or ''} | {(it.get('text') or '').strip()[:100]}")
        for it in reply["meta"]["missing"]:
            if it["code"] != "budget":
                reasons.setdefault(f"missing: {it['code']}", f"{it.get('scope') or ''} {it.get('detail') or ''}"[:260])
        return {**row, "total": reply["total"], "complete": reply["meta"]["complete"], "possible": reply.get("possible_total") or 0, "reasons": reasons}


def report(name, rows, examples):
    complete = sum(it["complete"] for it in rows)
    print(f"\n{name}: {len(rows)} symbols, complete {100 * complete / max(1, len(rows)):.2f} % ({complete})")
    reasons = collections.defaultdict(list)
    for row in rows:
        if not row["complete"]:
            for reason, example in row["reasons"].items():
                reasons[reason].append((row, example))
            if not row["reasons"]:
                reasons["none given"].append((row, ""))
    ordered = sorted(reasons.items(), key=lambda it: -len(it[1]))
    alone = {reason: sum(len(row["reasons"]) == 1 for row, _ in of_it) for reason, of_it in ordered}
    semdex.table(
        [{"reason": reason, "symbols": len(of_it), "alone": alone[reason], "share": f"{100 * len(of_it) / len(rows):.2f} %"} for reason, of_it in ordered],
        ["reason", "symbols", "alone", "share"],
    )
    for reason, of_it in ordered:
        for row, example in random.Random(1).sample(of_it, min(examples, len(of_it))):
            print(f"    {reason}: {row['kind']} {row['symbol']} ({row['at']}): {example}".replace("\n", " "))
    return complete / max(1, len(rows))


def run(options, directory):
    good, summary = True, []
    for source in options.workspaces:
        root = semdex.copy_workspace(source, directory)
        with semdex.Server(options.server_binary, [root], directory=directory / f"server-{root.name}") as server:
            server.wait_ready(options.ready_timeout)
            server.wait_indexed(options.ready_timeout)
            workspace = server.workspace(root)
            server.wait_built(workspace, options.ready_timeout)
            found, counts, asked = symbols(server.client, workspace, root), words(root), Asked(server.client, workspace)
            chance = random.Random(options.seed)
            sample = found if options.symbols == 0 or options.symbols >= len(found) else chance.sample(found, options.symbols)
            rows = [asked.of(it) for it in sample]
            frequent = sorted(found, key=lambda it: -counts[it["name"]])[: 4 * options.most_used]
            most_used = sorted((asked.of(it) for it in frequent), key=lambda it: -it["total"])[: options.most_used]
            states = {it["state"] for it in server.workspaces()}
        shares = [report(f"{root.name}, {what}", of_it, options.examples) for what, of_it in (("sample", rows), ("most used", most_used))]
        seconds = [it["seconds"] for it in asked.known.values()]
        summary.append(
            {
                "workspace": root.name,
                "symbols": len(found),
                "queried": len(rows),
                "complete": f"{100 * shares[0]:.2f} %",
                "most used": len(most_used),
                "complete of these": f"{100 * shares[1]:.2f} %",
                "p50_ms": f"{1000 * semdex.percentile(seconds, 0.5):.0f}",
                "p95_ms": f"{1000 * semdex.percentile(seconds, 0.95):.0f}",
                "state": " ".join(sorted(states)),
            }
        )
        good &= shares[0] >= options.wanted / 100 and shares[1] >= options.wanted_most_used / 100
        sys.stdout.flush()
    print()
    semdex.table(summary, list(summary[0]))
    return 0 if good else 1


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--symbols", type=int, default=300, help="how many to draw, 0 for all (default: %(default)s)")
    parser.add_argument("--most-used", type=int, default=200, help="how many of those with the most uses (default: %(default)s)")
    parser.add_argument("--examples", type=int, default=3, help="examples of each reason (default: %(default)s)")
    parser.add_argument("--wanted", type=float, default=97.0, help="share in percent below which it fails (default: %(default)s)")
    parser.add_argument("--wanted-most-used", type=float, default=95.0, help="the same for the most used (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    semdex.main(run, parser.parse_args())
