#!/usr/bin/env python3
"""What edits of Python or TypeScript break, foretold by dry runs of semdex, against a batch checker on the edited files.

--count edits are drawn by --seed over the kinds below and asked as dry runs; then each is made, and basedpyright or tsc checks the whole
workspace. The places that are wrong after and were not before (by file and line) are the truth. Printed are recall and precision, alarms
on harmless edits, answers that were not complete, and the paired ratio of the times. Fails below 0.98 either way, or over 0 alarms.
"""

import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

WANTED = 0.98


def flat(symbols):
    for symbol in symbols:
        yield symbol
        yield from flat(symbol.get("children") or [])


class Python:
    ending = ".py"
    harmless = ("comment", "local")

    def prepare(self, root):
        (root / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}\n')

    def check(self, root):
        done = subprocess.run(["basedpyright", "--outputjson"], cwd=root, capture_output=True, text=True)
        found = json.loads(done.stdout)["generalDiagnostics"]
        return [(str(pathlib.Path(it["file"]).resolve().relative_to(root)), it["range"]["start"]["line"] + 1, it["message"]) for it in found if it["severity"] == "error"]

    def mutations(self, text, symbol):
        kind, start = symbol["kind"], symbol["name_at"]["start"]
        name = symbol["name"]
        head = re.compile(r"\(\s*(self|cls)?\s*(,\s*)?").match(text, start + len(name))
        if name.startswith("__"):
            return
        yield "rename", text[:start] + name + "_moved" + text[start + len(name) :]
        if kind in ("function", "method"):
            if head:
                first = head.group(1)
                inside = text[head.end() :].lstrip()
                after = "" if inside.startswith(")") else ", "
                added = f"({first}, semdex_added{after}" if first else f"(semdex_added{after}"
                yield "add parameter", text[: head.start()] + added + text[head.end() :]
            typed = re.compile(r"->\s*([\w\[\], .|\"']+)\s*:").search(text, start, symbol["end"])
            if typed:
                yield "retype result", text[: typed.start(1)] + "type[NotImplementedError]" + text[typed.end(1) :]
            body = text.rfind("\n", start, symbol["end"]) + 1
            indent = re.match(r"[ \t]*", text[body:]).group()
            if indent:
                yield "local", text[:body] + f"{indent}semdex_local = 1\n" + text[body:]
        line = text.rfind("\n", 0, symbol["start"]) + 1
        yield "comment", text[:line] + re.match(r"[ \t]*", text[line:]).group() + "# A remark.\n" + text[line:]
        if kind == "struct":
            base = re.compile(r"\(([\w.]+)").match(text, start + len(name))
            if base and base.group(1) not in ("object", "Exception"):
                yield "drop base", text[: base.start()] + "(" + text[base.end() :].lstrip(", ")
        if kind in ("field", "const", "variable"):
            typed = re.compile(r":\s*([\w\[\], .|\"']+?)\s*(=|\n)").match(text, start + len(name))
            if typed:
                yield "retype field", text[: typed.start(1)] + "type[NotImplementedError]" + text[typed.end(1) :]


class TypeScript:
    ending = ".ts"
    harmless = ("comment",)

    def prepare(self, root):
        """Takes out the options that this tsc has removed: with one of them it checks nothing."""
        config = root / "tsconfig.json"
        for option in re.findall(r"error TS51\d\d: Option '(\w+)[^']*' has been removed", self.output(root)):
            text = config.read_text()
            kept = re.sub(rf'"{option}"\s*:\s*("[^"]*"|true|false)\s*,?', '"moduleResolution": "bundler",' if option == "moduleResolution" else "", text)
            config.write_text(kept)
        if wrong := re.search(r"^tsconfig\S+: error .*$", self.output(root), re.M):
            raise semdex.Failed(f"tsc does not take the configuration: {wrong.group()}")

    def output(self, root):
        return subprocess.run(["tsc", "--noEmit", "--pretty", "false"], cwd=root, capture_output=True, text=True).stdout

    def check(self, root):
        found = re.findall(r"^(.+?)\((\d+),\d+\): error (.*)$", self.output(root), re.M)
        return [(file, int(line), message) for file, line, message in found]

    def mutations(self, text, symbol):
        kind, start, name = symbol["kind"], symbol["name_at"]["start"], symbol["name"]
        if name == "constructor":
            return
        yield "rename", text[:start] + name + "Moved" + text[start + len(name) :]
        line = text.rfind("\n", 0, symbol["start"]) + 1
        yield "comment", text[:line] + "// A remark.\n" + text[line:]
        if kind in ("function", "method"):
            head = re.compile(r"(<[^()]*>)?\(\s*").match(text, start + len(name))
            if head and not text[head.end() :].startswith("this"):
                after = "" if text[head.end() :].startswith(")") else ", "
                yield "add parameter", text[: head.end()] + f"semdexAdded: unique symbol{after}" + text[head.end() :]
        if kind in ("struct", "interface"):
            brace = text.find("{", start, symbol["end"])
            if brace > 0:
                yield "add member", text[: brace + 1] + " semdexAdded: number;" + text[brace + 1 :] if kind == "interface" else text[: brace + 1] + " semdexAdded = 1;" + text[brace + 1 :]
        if kind == "field":
            typed = re.compile(r"[?!]?:\s*([\w<>\[\]|, .]+?)\s*(;|=|\n)").match(text, start + len(name))
            if typed:
                yield "retype field", text[: typed.start(1)] + "{ semdex: 1 }" + text[typed.end(1) :]
        if text[symbol["start"] :].startswith("export "):
            yield "unexport", text[: symbol["start"]] + text[symbol["start"] + 7 :]


def run(options, directory):
    language = {"python": Python, "typescript": TypeScript}[options.language]()
    source = semdex.copy_workspace(pathlib.Path(options.workspaces[0]), directory).resolve()
    language.prepare(source)
    files = [it for it in semdex.source_files(source, language.ending) if not it.endswith(".d.ts")]
    chance = random.Random(options.seed)
    known, alarms, incomplete, ratios, shown, by_kind = [0, 0, 0], 0, 0, [], 0, {}
    with semdex.Server(options.server_binary, [source]) as server:
        server.wait_ready(options.ready_timeout)
        client = server.client
        symbols = [it for file in files for it in flat(client.get("/v1/symbols", file=file, wait_ms=60000)["symbols"])]
        begun = time.monotonic()
        before = language.check(source)
        print(f"{len(files)} files, {len(symbols)} symbols, {len(before)} errors before, a check takes {time.monotonic() - begun:.2f} s")
        client.get("/v1/diagnostics", file=files[0], wait_ms=120000)
        pool = {}
        for symbol in symbols:
            text = (source / symbol["file"]).read_bytes().decode()
            if not text.isascii():
                continue
            for kind, changed in language.mutations(text, symbol):
                pool.setdefault(kind, []).append((symbol, changed))
        for those in pool.values():
            chance.shuffle(those)
        drawn = []
        while len(drawn) < options.count and any(pool.values()):
            drawn += [(kind, *pool[kind].pop()) for kind in sorted(pool) if pool[kind]]
        for kind, symbol, changed in drawn[: options.count]:
            path = source / symbol["file"]
            text = path.read_text()
            begun = time.monotonic()
            reply = client.post("/v1/write", name=symbol["file"], content=changed, mode="overwrite", dry_run=True, limit=1000, wait_ms=60000)
            ours = time.monotonic() - begun
            told = [*reply["impact"]["broken"], *[it for it in reply["diagnostics"]["new"] if it["severity"] == "error"]]
            found = {(it["file"], it["line"]) for it in told}
            path.write_text(changed)
            begun = time.monotonic()
            after = language.check(source)
            theirs = time.monotonic() - begun
            path.write_text(text)
            truth = new(before, after, source, symbol["file"], text, changed)
            ratios.append(ours / theirs)
            is_complete = reply["meta"]["complete"]
            incomplete += not is_complete
            both = len(truth & found)
            counts = by_kind.setdefault(kind, [0, 0, 0, 0])
            for at, number in enumerate((len(truth), len(found), both, 1)):
                counts[at] += number
            if kind in language.harmless and not truth:
                alarms += len(found)
            known = [known[0] + len(truth), known[1] + len(found), known[2] + both]
            if truth != found and shown < options.show:
                shown += 1
                print(f"  {kind} {symbol['path']}{'' if is_complete else ' (incomplete)'}: missed {sorted(truth - found)[:4]}, false {sorted(found - truth)[:4]}")
    for kind, (truth, found, both, count) in sorted(by_kind.items()):
        print(f"  {kind:15} {count:4} edits, {truth:5} places, {found:5} told, {both:5} both")
    recall, precision = known[2] / max(known[0], 1), known[2] / max(known[1], 1)
    print(f"{len(ratios)} edits: recall {recall:.4f} of {known[0]} places, precision {precision:.4f} of {known[1]}, {alarms} alarms on harmless edits, {incomplete} not complete")
    print(f"time over the batch checker's: median {statistics.median(ratios):.3f}, p95 {semdex.percentile(ratios, 0.95):.3f}")
    return recall < WANTED or precision < WANTED or alarms > 0


def new(before, after, root, edited, old, changed):
    """(file, line) of what is wrong after and was not before: by message and the text of the line, so that what has moved is the same."""
    texts = {}

    def line(file, number, text):
        if (file, text is None) not in texts:
            texts[file, text is None] = (text if text is not None else (root / file).read_text(errors="replace")).splitlines()
        lines = texts[file, text is None]
        return lines[number - 1].strip() if number <= len(lines) else ""

    def key(it, text):
        file, number, message = it
        return file, message, line(file, number, text if file == edited else None)

    left = {}
    for it in before:
        left[key(it, old)] = left.get(key(it, old), 0) + 1
    texts.clear()
    found = set()
    for it in after:
        known = key(it, changed)
        if left.get(known, 0) > 0:
            left[known] -= 1
        else:
            found.add((it[0], it[1]))
    return found


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--language", choices=("python", "typescript"), required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=15)
    semdex.main(run, parser.parse_args())
