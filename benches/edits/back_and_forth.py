#!/usr/bin/env python3
"""Edits back and forth through the server: the tree ends byte for byte as it began, and memory is flat after the first hundred.

Each edit changes one place of a real file, and the next takes it back: a comment at the end of a line, a new line, a line less, another
name for a function (which breaks its callers). Besides the workspace's own files there are odd ones: CRLF, a byte order mark, no newline
at the end, long lines, letters of several bytes. An edit that does not land, lands elsewhere, or leaves other bytes than it should, fails.
"""

import hashlib
import json
import pathlib
import random
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

# Files that no package includes (or that do, in Go: comments beside a package clause), each odd in its own way.
ODD = {
    "crlf": "// it ends its lines\r\n\r\n// as few files do\r\n",
    "bom": "\ufeff// a mark stands\n// before the first line\n",
    "unended": "// the last line here\n// has no newline at its end",
    "letters": "// größer als früher\n// 漢字 and 🦀 as well\n",
    "long": "// " + "a long line " * 2000 + "\n// a short line\n",
}
FUNCTION = re.compile(r"^(\s*(?:pub(?:\([a-z]+\))? )?(?:fn|func) (?:\([^)]*\) )?\w+)(\(.*)$")
GROWTH = 1.10


class Field:
    def __init__(self, root, chance):
        self.root, self.chance, self.serial = root, chance, 0
        files = [it for suffix in (".rs", ".go") for it in semdex.source_files(root, suffix) if (root / it).stat().st_size < 100_000]
        odd = self._lay_odd("go" if "go" in semdex.languages(root) else "rust")
        self.files = files + odd
        # The odd ones take a fifth of the turns.
        self.weights = [1.0] * len(files) + [len(files) / (4.0 * len(odd))] * len(odd)
        self.begun = hashes(root)

    def _lay_odd(self, language):
        names = []
        for name, text in ODD.items():
            file = f"semdex_odd_{name}.{'go' if language == 'go' else 'rs'}"
            if language == "go":
                newline = "\r\n" if "\r\n" in text else "\n"
                clause = "package semdexodd" if name == "unended" else f"package semdexodd{newline}"
                file = f"semdexodd/{file}"
                text = f"{text}{newline if name == 'unended' else ''}{clause}"
            (self.root / file).parent.mkdir(exist_ok=True)
            (self.root / file).write_bytes(text.encode())
            names.append(file)
        return names

    def begin(self, server):
        self.client, self.workspace = server.client, server.workspace(self.root)

    def edit(self):
        """(file, a text that stands there once, what it becomes), such that the way back is as plain."""
        while True:
            file = self.chance.choices(self.files, self.weights)[0]
            text = (self.root / file).read_bytes().decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
            lines = text.split("\n")
            candidates = [at for at, it in enumerate(lines) if len(it.strip()) > 8 and text.count(it) == 1 and "\ufffd" not in it]
            functions = [at for at in candidates if FUNCTION.match(lines[at])]
            if not candidates:
                continue
            self.serial += 1
            kind = self.chance.choice(["comment", "new line", "line less", "name"])
            at = self.chance.choice(functions if kind == "name" and functions else candidates)
            line = lines[at]
            if kind == "name" and functions:
                return file, line, FUNCTION.sub(rf"\1_semdex_probe_{self.serial}\2", line)
            if kind == "new line":
                return file, line, f"{line}\n// semdex probe {self.serial}"
            if kind == "line less" and at + 2 < len(lines):
                return file, f"{line}\n{lines[at + 1]}", line
            return file, line, f"{line} // semdex probe {self.serial}"

    def back_and_forth(self):
        """Two edits; returns how long each took."""
        file, old, new = self.edit()
        before = (self.root / file).read_bytes()
        times = [self._apply(file, old, new)]
        if (self.root / file).read_bytes() == before:
            raise semdex.Failed(f"{file}: {old[:200]!r} → {new[:200]!r} was said to be applied, but the file is as it was")
        times.append(self._apply(file, new, old))
        after = (self.root / file).read_bytes()
        if after != before:
            at = next((it for it, (a, b) in enumerate(zip(before, after)) if a != b), min(len(before), len(after)))
            raise semdex.Failed(
                f"{file}: {old[:200]!r} → {new[:200]!r} and back differs from byte {at}: "
                f"{before[max(0, at - 40) : at + 40]!r} became {after[max(0, at - 40) : at + 40]!r}"
            )
        return times

    def _apply(self, file, search, replacement):
        begin = time.monotonic()
        reply = self.client.post(
            "/v1/edit", workspace=self.workspace, file=file, search_context=search, replacement=replacement, autofix=0
        )
        took = time.monotonic() - begin
        landed = [(it["file"], it["strategy"]) for it in reply["edits"]]
        if not reply["applied"] or landed not in ([(file, "exact")], [(file, "whitespace")]):
            raise semdex.Failed(f"{file}: {search[:200]!r} → {replacement[:200]!r}: {json.dumps(reply)[:800]}")
        return took


def hashes(root):
    """Of everything below the root: {file: (hash, mode)}."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(root))] = str(path.readlink())
        elif path.is_file():
            found[str(path.relative_to(root))] = (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mode)
    return found


def differences(before, after):
    return sorted(it for it in before.keys() | after.keys() if before.get(it) != after.get(it))


def self_check(options, fields):
    """Without a server: that each edit, done here, can be taken back."""
    for number in range(options.edits):
        field = fields[number % len(fields)]
        file, old, new = field.edit()
        text = (field.root / file).read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
        there = text.replace(old, new, 1)
        if text.count(old) != 1 or there.count(new) != 1 or there.replace(new, old, 1) != text:
            raise semdex.Failed(f"{file}: {old!r} → {new!r} has no plain way back")
    print(f"self-check: {options.edits} edits, each with a plain way back")
    return 0


def run(options, directory):
    chance = random.Random(options.seed)
    roots = [semdex.copy_workspace(source, directory / str(at)) for at, source in enumerate(options.workspaces)]
    fields = [Field(root, chance) for root in roots]
    if options.self_check:
        return self_check(options, fields)
    with semdex.Server(options.server_binary, roots, directory=directory / "server") as server:
        print(f"ready after {server.wait_ready(options.ready_timeout):.1f} s")
        for field in fields:
            field.begin(server)
        times, samples = [], []
        for done in range(0, options.edits, 2):
            times += fields[done // 2 % len(fields)].back_and_forth()
            if (done + 2) % 100 == 0:
                samples.append({"edits": done + 2, **server.memory()})
                print({key: value if key == "edits" or value is None else f"{value / 2**20:.0f} MiB" for key, value in samples[-1].items()})
    wrong = []
    for field in fields:
        if changed := differences(field.begun, hashes(field.root)):
            wrong.append(f"{field.root.name}: {len(changed)} files are not as they were: {changed[:10]}")
    for what in ("server", "children"):
        values = [it[what] for it in samples]
        # The lesser of the last two: what a collection that is due would give back is not growth.
        if len(values) > 2 and values[0] and min(values[-2:]) > GROWTH * values[0]:
            wrong.append(f"memory of the {what} grew from {values[0] >> 20} MiB after a hundred edits to {min(values[-2:]) >> 20} MiB")
    print(json.dumps({"edits": len(times), "latency": semdex.summary(times), "samples": samples}))
    print(f"{len(times)} edits; {'; '.join(wrong) if wrong else 'every byte as it was, memory flat'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--self-check", action="store_true", help="only see that each edit has a way back; needs no server")
    semdex.main(run, parser.parse_args())
