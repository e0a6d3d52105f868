#!/usr/bin/env python3
"""From a change on disk to the first right answer, and from the start of the process to its first answers.

  file      a file gets one more use of a function; asked: the function's usages
  member    Rust: a manifest gets a new crate as a dependency; asked: the symbol that a call to it stands for, and its usages
  feature   Rust: a manifest gets a default feature that some code waits for; asked: that code's function
  replace   Go: go.mod gets a module replaced by a directory; asked: the symbol that a call into it stands for
  cold      the process starts; asked: a file opened without waiting, and the usages of a function, complete

The clock starts before the first byte is written and stops when the right answer has come. A wrong answer that says `complete` is a
stale one and fails the run; an incomplete one is asked again.
"""

import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import probe
import semdex_client as semdex

GATE_MS = 2000.0
DEADLINE = 60.0


class Field:
    def __init__(self, ground):
        self.ground, self.root, self.language = ground, ground.root, ground.language
        self.serial = 0
        self.stale = []

    def begin(self, server):
        self.client, self.workspace = server.client, server.workspace(self.root)
        self.total = self.ground.settle(self.client, self.workspace)["total"]
        if self.language == "rust":
            self.declared = ["changing"]
            self._declare()
        self._file_text([False])
        self.until("laying the first probe", lambda: self._counts(0))

    def until(self, what, right):
        """Asks until the answer is right. `right` gives (whether it is, the reply)."""
        deadline = time.monotonic() + DEADLINE
        attempts = 0
        while True:
            attempts += 1
            good, reply = right()
            if good:
                return attempts
            if reply.get("meta", {}).get("complete"):
                self.stale.append(f"{what}: {str(reply)[:400]}")
            if time.monotonic() > deadline:
                raise semdex.Failed(f"{self.language}: {what}: not right within {DEADLINE:.0f} s; last: {str(reply)[:800]}")

    # The changes. Each returns what it is called and a function that decides whether the answer is right.

    def file(self):
        self.serial += 1
        uses = 1 + self.serial % 2
        return lambda: self._file_text([True] * uses), lambda: self._counts(uses)

    def member(self):
        """A crate of its own, whose call stands in the code already."""
        self.serial += 1
        name, function = f"semdex_dep_{self.serial}", f"answer_{self.serial}"
        caller = f"{self.ground.probes}/calls_{self.serial}.rs"
        text = f"pub fn call_{self.serial}() {{\n    {name}::{function}();\n}}\n"
        self.ground.write(caller, text)
        self._declare(f"calls_{self.serial}")
        # Seen by every later answer: what is measured begins with the manifest.
        self._symbol_at(caller, text.index(function))
        manifest = self.root / self.ground.manifest()

        def change():
            self.ground.write(f"{name}/Cargo.toml", f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n')
            self.ground.write(f"{name}/src/lib.rs", f"pub fn {function}() {{}}\n")
            up = "../" * len(pathlib.PurePosixPath(self.ground.manifest()).parent.parts)
            _replace(manifest, manifest.read_text() + f'\n[dependencies.{name}]\npath = "{up}{name}"\n')

        def right():
            good, reply = self._symbol_at(caller, text.index(function), f"{name}::{function}")
            if not good:
                return good, reply
            status, reply = self.client.send("GET", "/v1/usages", query={"workspace": self.workspace, "symbol": f"{name}::{function}"})
            return status == 200 and reply["total"] == 1, reply

        return change, right

    def feature(self):
        self.serial += 1
        name = f"semdex_feature_{self.serial}"
        gated = f"gated_{self.serial}"
        file = f"{self.ground.probes}/{gated}.rs"
        self.ground.write(
            file,
            f'#[cfg(feature = "{name}")]\npub fn {gated}() {{\n    let _ = {self.ground.target.expression};\n}}\n',
        )
        self._declare(gated)
        manifest = self.root / self.ground.manifest()

        def change():
            _replace(manifest, _with_default_feature(manifest.read_text(), name))

        def right():
            # Without the feature there is no such function.
            query = {"workspace": self.workspace, "symbol": gated, "file": file}
            status, reply = self.client.send("GET", "/v1/usages", query=query)
            return status == 200, {} if status == 404 else reply

        return change, right

    def replace(self):
        self.serial += 1
        name, function = f"semdexdep{self.serial}", f"Answer{self.serial}"
        module = f"example.invalid/{name}"
        outside = self.root.parent / f"{self.root.name}-{name}"
        outside.mkdir()
        (outside / "go.mod").write_text(f"module {module}\n\ngo 1.21\n")
        (outside / "answer.go").write_text(f"package {name}\n\n// {function} answers.\nfunc {function}() {{}}\n")
        caller = self.ground.flat(f"calls_{self.serial}")
        text = f'package {self.ground.package()}\n\nimport "{module}"\n\nfunc semdexProbeCall{self.serial}() {{\n\t{name}.{function}()\n}}\n'
        self.ground.write(caller, text)
        self._symbol_at(caller, text.index(function))
        manifest = self.root / "go.mod"

        def change():
            lines = f"\nrequire {module} v0.0.0\n\nreplace {module} => ../{outside.name}\n"
            _replace(manifest, manifest.read_text() + lines)

        return change, lambda: self._symbol_at(caller, text.index(function), f"{module}.{function}")

    # Asking

    def _counts(self, uses):
        status, reply = self.client.send(
            "GET",
            "/v1/usages",
            query={"workspace": self.workspace, "symbol": self.ground.target.name, "file": self.ground.target.file, "limit": 1},
        )
        return status == 200 and reply["total"] == self.total + uses, reply

    def _symbol_at(self, file, offset, path=None):
        status, reply = self.client.send("GET", "/v1/symbols/at", query={"workspace": self.workspace, "file": file, "offset": offset, "wait_ms": 10000})
        symbol = (reply.get("symbol") or {}) if status == 200 else {}
        found = status == 200 and path is not None and symbol.get("path") == path
        # An empty answer is an honest answer as long as the manifest is still being read.
        return found, reply

    # Writing

    def _file_text(self, uses):
        self.uses = sum(uses)
        file = f"{self.ground.probes}/changing.rs" if self.language == "rust" else self.ground.flat("changing")
        _replace(self.root / file, self.ground.text(self.serial, uses))

    def _declare(self, name=None):
        self.declared += [name] if name else []
        self.ground.write(f"{self.ground.probes}/mod.rs", "".join(f"pub mod {it};\n" for it in self.declared))


def _replace(path, text):
    """As an editor saves: a new file, renamed over the old one."""
    fresh = path.with_name(path.name + ".new~")
    fresh.write_text(text)
    fresh.replace(path)


def _with_default_feature(manifest, name):
    default = re.search(r"(?m)^default\s*=\s*\[", manifest)
    if default:
        manifest = f'{manifest[: default.end()]}"{name}", {manifest[default.end() :]}'
    features = re.search(r"(?m)^\[features\]\s*$", manifest)
    lines = f"{name} = []\n" + ("" if default else f'default = ["{name}"]\n')
    if features:
        return f"{manifest[: features.end()]}\n{lines}{manifest[features.end() :]}"
    return f"{manifest}\n[features]\n{lines}"


def measure(field, kind, runs):
    seconds, attempts = [], []
    for _ in range(runs):
        change, right = getattr(field, kind)()
        begin = time.monotonic()
        change()
        attempts.append(field.until(kind, right))
        seconds.append(time.monotonic() - begin)
    return {"what": kind, **semdex.summary(seconds), "most_attempts": max(attempts)}


def cold(options, field, directory):
    """Several starts; the workspace's files are in the page cache, as they are for anyone who works on them."""
    syntax, complete = [], []
    file = field.ground.target.file
    for number in range(options.cold_runs):
        with semdex.Server(options.server_binary, [field.root], directory=directory / f"cold-{field.language}-{number}") as server:

            def opened():
                status, reply = server.client.send("POST", "/v1/open", body={"file": file, "wait_ms": 0})
                return status == 200 and reply["symbols"] and reply["skeleton"]

            semdex.wait_for(opened, options.ready_timeout, f"{file} opened")
            syntax.append(time.monotonic() - server.started)

            def counted():
                query = {"symbol": field.ground.target.name, "file": file, "wait_ms": 60000, "limit": 1}
                status, reply = server.client.send("GET", "/v1/usages", query=query)
                server.must_live()
                return status == 200 and reply["meta"]["complete"]

            semdex.wait_for(counted, options.ready_timeout, "the usages to be complete")
            complete.append(time.monotonic() - server.started)
    return [{"what": "cold: first open", **semdex.summary(syntax)}, {"what": "cold: first complete usages", **semdex.summary(complete)}]


def run(options, directory):
    rows, failed = [], []
    for source in options.workspaces:
        for language in semdex.languages(source):
            root = semdex.copy_workspace(source, directory / language)
            field = Field(probe.Ground(root, language))
            kinds = {"rust": ["member", "feature"], "go": ["replace"]}[language]
            with semdex.Server(options.server_binary, [root], directory=directory / f"server-{language}") as server:
                print(f"{root.name} ({language}): ready after {server.wait_ready(options.ready_timeout):.1f} s", file=sys.stderr)
                field.begin(server)
                measured = [measure(field, "file", options.runs)]
                measured += [measure(field, kind, options.manifest_runs) for kind in kinds]
            for row in measured:
                row["gate"] = "ok" if row["p95_ms"] <= GATE_MS else "MISSED"
            measured += cold(options, field, directory)
            rows += [{"workspace": root.name, "language": language, **row} for row in measured]
            failed += [f"{language}: stale: {it}" for it in field.stale]
    semdex.table(rows, ["workspace", "language", "what", "runs", "p50_ms", "p95_ms", "max_ms", "most_attempts", "gate"])
    print(json.dumps({"gate_ms": GATE_MS, "rows": rows}))
    for row in failed[:10]:
        print(row, file=sys.stderr)
    return 1 if failed or any(row.get("gate") == "MISSED" for row in rows) else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--runs", type=int, default=30, help="changes of one file (default: %(default)s)")
    parser.add_argument("--manifest-runs", type=int, default=10, help="changes of a manifest (default: %(default)s)")
    parser.add_argument("--cold-runs", type=int, default=5, help="starts of the process (default: %(default)s)")
    semdex.main(run, parser.parse_args())
