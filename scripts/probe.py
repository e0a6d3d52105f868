"""Ground for experiments in a copy of a real workspace: a function of its own code, and files of ours that use it or not.

A probe file's answers are known beforehand: how often it uses the target, and what its functions are called. So a program can change
files from outside and say what every later answer must be, without asking anyone.
"""

import collections
import os
import pathlib
import re

from semdex_client import Failed, source_files

Target = collections.namedtuple("Target", "name file expression")


class Ground:
    """A place in a workspace where probe files live, and the functions that they may use.

    Rust: a module `semdex_probe` in one crate. Go: files of one package, and packages below it that import it.
    """

    def __init__(self, root, language):
        self.root, self.language = pathlib.Path(root), language
        find = {"rust": self._find_rust, "go": self._find_go}[language]
        homes = sorted(find().items(), key=lambda it: (-len(it[1]), it[0]))
        if not homes or not homes[0][1]:
            raise Failed(f"{self.root}: no plain function of {language} found to experiment with")
        self.home, self.candidates = homes[0]
        self.target = self.candidates[0]
        self.suffix = ".rs" if language == "rust" else ".go"
        if language == "rust":
            self.probes = f"{self.home}/semdex_probe"
            with open(self.root / self.crate_root(), "a", newline="") as file:
                file.write("\nmod semdex_probe;\n")
            self.write(f"{self.probes}/mod.rs", "")
        else:
            self.probes = self.home

    # Where things are

    def crate_root(self):
        return next(it for it in (f"{self.home}/lib.rs", f"{self.home}/main.rs") if (self.root / it).exists())

    def flat(self, name):
        """A probe file right in the ground."""
        return f"{self.probes}/{name}.rs" if self.language == "rust" else _join(self.home, f"semdex_probe_{name}.go")

    def nested(self, directory, *parts):
        """A probe file in directories of its own."""
        home = self.probes if self.language == "rust" else _join(self.home, "semdexprobe")
        return "/".join([home, directory, *parts]) + self.suffix

    def manifest(self):
        """The manifest of the package that the ground is in."""
        if self.language == "go":
            return "go.mod"
        return _join(os.path.dirname(self.home), "Cargo.toml")

    # What they contain

    def function(self, serial):
        return f"semdex_probe_{serial:06}" if self.language == "rust" else f"semdexProbe{serial:06}"

    def text(self, serial, uses, nested=False):
        """A file with one function. Each of `uses` is one line: a use of the target, or where it is false a comment of the same length that
        names it."""
        if self.language == "rust":
            lines = [f"    {'let _ =' if use else '// __ ='} {self.target.expression};" for use in uses]
            return "\n".join([f"pub fn {self.function(serial)}() {{", *lines, "}", ""])
        head = f"package {self.package()}\n" if not nested else "package probe\n"
        expression = self.target.name
        if nested and any(uses):
            head += f'\nimport target "{self.import_path()}"\n'
            expression = f"target.{expression}"
        lines = [f"\t{'_ =' if use else '// '} {expression}" for use in uses]
        return "\n".join([head, f"func {self.function(serial)}() {{", *lines, "}", ""])

    def write(self, file, text):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    # Go's own names

    def package(self):
        text = (self.root / self.target.file).read_text()
        return re.search(r"^package (\w+)", text, re.M).group(1)

    def import_path(self):
        module = re.search(r"^module\s+(\S+)", (self.root / "go.mod").read_text(), re.M).group(1)
        return _join(module, self.home)

    # Finding functions that can be used by a bare mention, from anywhere in their crate or package

    def _find_rust(self):
        texts = {it: _read(self.root / it) for it in source_files(self.root, ".rs")}
        count = _Count(texts.values(), r"\bfn\s+(\w+)")
        homes = collections.defaultdict(list)
        for file, text in texts.items():
            home, inner = _crate_of(texts, file)
            if home is None or not (self.root / os.path.dirname(home) / "Cargo.toml").exists():
                continue
            module = _module_of(texts, home, inner)
            if module is None:
                continue
            for line, name in _plain(text, r"^pub(?:\(crate\))? fn (\w+)\("):
                if count.usable(name) and not line.startswith("#"):
                    homes[home].append(Target(name, file, "::".join(["crate", *module, name])))
        return homes

    def _find_go(self):
        texts = {it: _read(self.root / it) for it in source_files(self.root, ".go")}
        count = _Count(texts.values(), r"^func (?:\([^)]*\) )?(\w+)")
        homes = collections.defaultdict(list)
        for file, text in texts.items():
            constrained = re.search(r"^//go:build|^// \+build|^package main\b", text, re.M)
            home = os.path.dirname(file)
            nested_module = any((self.root / it / "go.mod").exists() for it in _parents(home))
            if file.endswith("_test.go") or constrained or nested_module or {"internal", "testdata"} & set(home.split("/")):
                continue
            for _, name in _plain(text, r"^func ([A-Z]\w*)\("):
                if count.usable(name):
                    homes[home].append(Target(name, file, name))
        return homes

    # Choosing one that the server can count

    def settle(self, client, workspace):
        """Takes the first candidate whose usages the server counts completely; the answer is the count before the experiment."""
        tried = []
        for candidate in self.candidates[:12]:
            reply = client.get("/v1/usages", workspace=workspace, symbol=candidate.name, file=candidate.file, limit=1000, wait_ms=60000)
            if reply["meta"]["complete"]:
                self.target = candidate
                return reply
            tried.append(f"{candidate.name}: {reply['meta']['missing']}, {len(reply['possible'])} possible")
        raise Failed(f"{self.language}: the usages of no candidate are complete: {'; '.join(tried)}")

    def usages(self, client, workspace, **more):
        return client.get(
            "/v1/usages", workspace=workspace, symbol=self.target.name, file=self.target.file, **{"limit": 1000, **more}
        )


class _Count:
    """How often names are defined and mentioned: a good target is defined once, and used, but not everywhere."""

    def __init__(self, texts, definition):
        self.defined, self.mentioned = collections.Counter(), collections.Counter()
        for text in texts:
            self.defined.update(re.findall(definition, text, re.M))
            self.mentioned.update(re.findall(r"\w+", text))

    def usable(self, name):
        return self.defined[name] == 1 and 3 <= self.mentioned[name] <= 60 and len(name) > 2


def _plain(text, pattern):
    """(the line before, the name) of declarations that no `#[cfg]` hangs on."""
    for match in re.finditer(pattern, text, re.M):
        before = text[: match.start()].rstrip("\n").rsplit("\n", 1)[-1].strip()
        yield before, match.group(1)


def _crate_of(files, file):
    """(the source directory of the library crate that a file belongs to, its name in there)."""
    for parent in _parents(os.path.dirname(file)):
        if parent.endswith("src") and f"{parent}/lib.rs" in files:
            return parent, file[len(parent) + 1 :]
    return None, None


def _module_of(files, home, inner):
    """['a', 'b'] of a/b.rs, if every step is a plain `mod` line; else None."""
    module = [it for it in inner[: -len(".rs")].split("/")]
    if module[-1] in ("mod", "lib"):
        module.pop()
    for depth, name in enumerate(module):
        above = "/".join(module[:depth])
        parent = next((it for it in (f"{home}/{above}.rs", f"{home}/{above}/mod.rs") if it in files), None) if above else f"{home}/lib.rs"
        plain = parent and [before for before, it in _plain(files[parent], r"^(?:pub(?:\([^)]*\))? )?mod (\w+);") if it == name]
        if not plain or plain[0].startswith("#"):
            return None
    return module


def _parents(directory):
    while directory:
        yield directory
        directory = os.path.dirname(directory)


def _join(*parts):
    return "/".join(part for part in parts if part)


def _read(path):
    return path.read_text(encoding="utf-8", errors="replace")
