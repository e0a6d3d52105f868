#!/usr/bin/env python3
"""What a change of semdex costs its users: two builds side by side in one run, each on a copy of the same workspace, question by question in
turn, the order changed each time. No question asks to wait for what is read in the background. Prints, for each kind of question, both
medians and the median of the ratios (new by old).

Kinds: `describe` of a symbol for the first time and again, `open` at a new revision, the first page of usages, `open` after a body and after a
signature was changed elsewhere, a dry run of an edit in a body and of one in a signature, an edit that is applied and taken back. Besides: the
time to be ready and indexed with a warm cache, and the memory of the process after each stage.

It falls short where a ratio is above --most, or the memory above --most-memory.
"""

import pathlib
import random
import re
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

SUFFIX = {"rust": ".rs", "go": ".go"}
FUNCTION = {"rust": re.compile(rb"(?m)^    ?(?:pub(?:\([a-z]+\))? )?fn (\w+)\("), "go": re.compile(rb"(?m)^func (?:\([^)]*\) )?(\w+)\(")}


def timed(call, *arguments, **named):
    begin = time.perf_counter()
    value = call(*arguments, **named)
    return value, time.perf_counter() - begin


def flat(symbols):
    for symbol in symbols:
        yield symbol
        yield from flat(symbol.get("children") or [])


class Side:
    """One build, on its own copy of the workspace."""

    def __init__(self, name, binary, source, directory, ready_timeout):
        self.name = name
        self.root = semdex.copy_workspace(source, directory / name)
        self.binary, self.directory = binary, directory / f"server-{name}-{self.root.name}"
        self.ready_timeout = ready_timeout
        self.stirred = 0
        # The first start fills the cache; the second counts.
        self.start()
        self.settle()
        self.server.stop()
        self.start()
        self.started = self.settle()

    def start(self):
        self.server = semdex.Server(self.binary, [self.root], directory=self.directory)

    def settle(self):
        self.server.wait_ready(self.ready_timeout)
        ready = time.monotonic() - self.server.started
        self.server.wait_indexed()
        self.workspace = self.server.workspace(self.root)
        self.client = self.server.client
        # wait_indexed waits for two quiet seconds.
        return ready, time.monotonic() - self.server.started - 2.0

    def open(self, file):
        return self.client.post("/v1/open", workspace=self.workspace, file=file)

    def describe(self, path):
        return self.client.post("/v1/describe", workspace=self.workspace, symbol=path)

    def usages(self, path):
        return self.client.get("/v1/usages", workspace=self.workspace, symbol=path)

    def edit(self, file, search, replacement, dry_run):
        return self.client.post(
            "/v1/edit", workspace=self.workspace, file=file, search_context=search, replacement=replacement, dry_run=dry_run
        )

    def stir(self):
        """Another revision, so that no answer comes out of memory."""
        self.stirred += 1
        (self.root / "versions-bench.txt").write_text(f"{self.stirred}\n")
        self.client.post("/v1/describe", workspace=self.workspace, file="versions-bench.txt")

    def after_change(self, other, change, file):
        path = self.root / other
        before = path.read_bytes()
        path.write_bytes(change(before))
        took = timed(self.open, file)[1]
        path.write_bytes(before)
        self.open(file)
        time.sleep(0.3)
        return took

    def memory(self):
        return self.server.memory()["server"]


class Pair:
    def __init__(self, sides, language, chance):
        self.sides, self.language, self.chance, self.rows, self.turn = sides, language, chance, [], 0

    def measure(self, what, subjects, question):
        """question(side, subject) returns seconds."""
        times = {side.name: [] for side in self.sides}
        for subject in subjects:
            self.turn += 1
            order = self.sides if self.turn % 2 else self.sides[::-1]
            took = {}
            for side in order:
                try:
                    took[side.name] = question(side, subject)
                except semdex.Problem as problem:
                    print(f"note: {what}: {side.name}: {problem}", file=sys.stderr)
            if len(took) == 2:
                for name, seconds in took.items():
                    times[name].append(seconds)
        if not times["new"]:
            return
        ratio = statistics.median(new / old for new, old in zip(times["new"], times["old"]))
        row = {"what": what, "n": len(times["new"])}
        for name in ("old", "new"):
            row |= {f"{name} p50 ms": round(1000 * semdex.percentile(times[name], 0.5), 2), f"{name} p95 ms": round(1000 * semdex.percentile(times[name], 0.95), 2)}
        self.rows.append(row | {"ratio": round(ratio, 3)})


def function_in(side, file, language):
    found = FUNCTION[language].search((side.root / file).read_bytes())
    return found


def in_body(language):
    def change(text):
        start = FUNCTION[language].search(text).end()
        at = text.index(b"{\n", start) + 2
        return text[:at] + (b"    let _ = 0;\n" if language == "rust" else b"\t_ = 0\n") + text[at:]

    return change


def in_signature(language):
    def change(text):
        at = FUNCTION[language].search(text).end()
        return text[:at] + (b"extra: u8, " if language == "rust" else b"extra uint8, ") + text[at:]

    return change


def header(side, file, language):
    """The first line of a file's first function that says only itself: what a search can name."""
    text = (side.root / file).read_bytes()
    found = FUNCTION[language].search(text)
    if not found:
        return None
    line = text[found.start() : text.index(b"\n", found.start())].decode()
    return line if text.decode().count(line) == 1 and line.endswith("{") else None


def run(options, directory):
    short = []
    for source in options.workspaces:
        chance = random.Random(options.seed)
        sides = []
        try:
            # In sequence: they would share the processors.
            for name, binary in (("old", options.against), ("new", options.server_binary)):
                sides.append(Side(name, binary, source, directory, options.ready_timeout))
            old, new = sides
            language = next(iter(semdex.languages(new.root)))
            print(f"\n{new.root.name}: ready / indexed after " + ", ".join(f"{it.started[0]:.1f} / {it.started[1]:.1f} s ({it.name})" for it in sides))
            memory = {"indexed": [it.memory() for it in sides]}
            pair = Pair(sides, language, chance)
            files = [str(it.relative_to(new.root)) for it in sorted(new.root.rglob(f"*{SUFFIX[language]}")) if "target" not in it.parts]
            opened = {}
            for file in list(files):
                try:
                    opened[file] = new.open(file)
                    old.open(file)
                except semdex.Problem:
                    files.remove(file)
            symbols = [it for file in files for it in flat(opened[file]["symbols"]) if it.get("usages") and it["kind"] != "impl"]
            chosen = chance.sample(symbols, min(options.symbols, len(symbols)))
            pair.measure("describe", chosen, lambda side, it: timed(side.describe, it["path"])[1])
            pair.measure("describe again", chosen, lambda side, it: timed(side.describe, it["path"])[1])

            def fresh(side, file):
                side.stir()
                return timed(side.open, file)[1]

            pair.measure("open at a new revision", chance.sample(files, min(40, len(files))), fresh)
            hubs = sorted(symbols, key=lambda it: -it["usages"]["total"])[:20]
            pair.measure("first page of usages", hubs, lambda side, it: timed(side.usages, it["path"])[1])
            changeable = [it for it in files if function_in(new, it, language)]
            largest = max(files, key=lambda it: len(list(flat(opened[it]["symbols"]))))
            others = [it for it in changeable if it != largest]
            some = chance.sample(others, min(24, len(others)))
            pair.measure("open after a body was changed elsewhere", some, lambda side, it: side.after_change(it, in_body(language), largest))
            pair.measure("open after a signature was changed elsewhere", some, lambda side, it: side.after_change(it, in_signature(language), largest))
            memory["after reading"] = [it.memory() for it in sides]
            headers = [(it, line) for it in changeable if (line := header(new, it, language))]
            some = chance.sample(headers, min(30, len(headers)))
            body = "\n    let _ = 0;" if language == "rust" else "\n\t_ = 0"
            extra = "(extra: u8, " if language == "rust" else "(extra uint8, "

            def dry(replace):
                def question(side, it):
                    file, line = it
                    return timed(side.edit, file, line, replace(line), True)[1]

                return question

            pair.measure("dry run of an edit in a body", some, dry(lambda line: line + body))
            # After the name of the function, which for Go stands behind the receiver.
            def signature(line):
                at = re.search(r"(?:fn|func (?:\([^)]*\) )?) ?\w+\(", line).end() - 1
                return line[:at] + extra + line[at + 1 :]

            pair.measure("dry run of an edit in a signature", some, dry(signature))

            def apply(side, it):
                file, line = it
                reply, took = timed(side.edit, file, line, line + body, False)
                side.client.post("/v1/undo", workspace=side.workspace, change=reply["change"])
                return took

            pair.measure("an edit in a body, applied", some, apply)
            memory["at the end"] = [it.memory() for it in sides]
            semdex.table(pair.rows, ["what", "n", "old p50 ms", "old p95 ms", "new p50 ms", "new p95 ms", "ratio"])
            for stage, (before, now) in memory.items():
                print(f"memory, {stage}: {before >> 20} MiB (old), {now >> 20} MiB (new), ratio {now / before:.3f}")
                if now / before > options.most_memory:
                    short.append(f"{new.root.name}: memory, {stage}: {now / before:.3f}")
            short += [f"{new.root.name}: {it['what']}: {it['ratio']}" for it in pair.rows if it["ratio"] > options.most]
        finally:
            for side in sides:
                side.server.stop()
    for it in short:
        print(f"fell short: {it}")
    return 1 if short else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--against", metavar="PATH", required=True, help="the older semdex program")
    parser.add_argument("--symbols", type=int, default=150, help="how many to describe (default: %(default)s)")
    parser.add_argument("--most", type=float, default=1.05, help="the highest ratio of new by old (default: %(default)s)")
    parser.add_argument("--most-memory", type=float, default=1.05, help="the highest ratio of memory (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    semdex.main(run, parser.parse_args())
