#!/usr/bin/env python3
"""Changes files from outside, asks at once, and compares with what the answer must be: 0 stale answers.

Each change is one of: in place, atomic rename over, in place with the old size and modification time, new nested directories with a
file, delete, rename of a directory, `git checkout` of another commit. Rust and Go take turns if workspaces of both are given. After
each, four questions are asked, each of them the first one in turn: the usages of a function, the symbols of the file, the file opened, the
file's text; of what is gone, that it is gone.

An answer that is wrong and says `complete` is stale. One that is wrong and says that it is incomplete is honest, but not what was
promised: it is counted apart, and fails too unless --allow-incomplete is given.
"""

import collections
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import probe
import semdex_client as semdex

FLAT = 8
KINDS = {"in place": 24, "rename over": 20, "same size and time": 12, "nested directories": 16, "delete": 12, "directory rename": 9, "checkout": 7}


class Field:
    """One workspace under change, and the model of what every answer must be."""

    def __init__(self, ground, seed):
        self.ground, self.root = ground, ground.root
        self.random = random.Random(seed)
        self.serial = 0
        self.files = {}  # file → (the name of its function, the number of its uses), of all that exist
        self.nested = []
        self.branch = "main"
        self.git_files = {}
        self._git("init", "--quiet", "--initial-branch=main")
        self._git("add", "--all", "--force")
        self._git("commit", "--quiet", "--message=as it came")

    def begin(self, server):
        """After the server is ready: chooses the target, counts what was there before, and lays the first probe files."""
        self.client, self.workspace = server.client, server.workspace(self.root)
        self.before = self.ground.settle(self.client, self.workspace)["total"]
        self.lay()

    def lay(self):
        self._begin_git()
        for at in range(FLAT):
            self._put(self.ground.flat(f"f{at}"), [True] * (at % 3))
        self._declare()

    # What is done to the disk. Each returns the files to ask for, those that exist and those that no longer do.

    def change(self, kind):
        action = getattr(self, "_" + kind.replace(" ", "_"))
        changed = action()
        return kind if changed else "in place", changed or self._in_place()

    def _uses(self):
        return [self.random.random() < 0.7 for _ in range(self.random.randint(1, 4))]

    def _flat(self):
        return self.ground.flat(f"f{self.random.randrange(FLAT)}")

    def _in_place(self):
        file = self._flat()
        self._put(file, self._uses())
        return [file], []

    def _rename_over(self):
        file = self._flat()
        text = self._model(file, self._uses())
        path = self.root / file
        fresh = path.with_name(path.name + ".new~")
        fresh.write_bytes(text.encode())
        os.replace(fresh, path)
        return [file], []

    def _same_size_and_time(self):
        file = next((it for it in self.random.sample(sorted(self.files), len(self.files)) if it in self._flats() and self.files[it][1]), None)
        if not file:
            return None
        path = self.root / file
        old = path.stat()
        count = path.read_text().count(self.ground.target.expression)
        text = self._model(file, [False] * (count - self.files[file][1] + 1) + [True] * (self.files[file][1] - 1))
        with open(path, "r+b") as opened:
            opened.write(text.encode())
            opened.truncate()
        os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
        if path.stat().st_size != old.st_size:
            raise semdex.Failed(f"this program is wrong: {file} was to keep its size of {old.st_size}")
        return [file], []

    def _nested_directories(self):
        if len(self.nested) >= 6:
            self._remove_nested()
        name = f"n{self.serial + 1}"
        file = self.ground.nested(name, "deep", "leaf")
        # The line that names the module comes before or after the directory.
        declare_first = self.random.random() < 0.3
        if declare_first:
            self._declare(self.nested + [name])
        if self.ground.language == "rust":
            self.ground.write(self.ground.nested(name, "deep", "mod"), "pub mod leaf;\n")
            self.ground.write(self.ground.nested(name, "mod"), "pub mod deep;\n")
        self._put(file, self._uses(), nested=True)
        self.nested.append(name)
        if not declare_first:
            self._declare()
        return [file], []

    def _delete(self):
        if self.nested and self.random.random() < 0.5:
            return [], [self._remove_nested()]
        files = [it for it in self._flats() if it in self.files]
        if not files:
            return None
        file = self.random.choice(files)
        (self.root / file).unlink()
        del self.files[file]
        return [], [file]

    def _directory_rename(self):
        if not self.nested:
            return None
        old, new = self.random.choice(self.nested), f"n{self.serial + 1}"
        self.serial += 1
        was, now = self.ground.nested(old, "deep", "leaf"), self.ground.nested(new, "deep", "leaf")
        os.rename((self.root / was).parent.parent, (self.root / now).parent.parent)
        self.nested[self.nested.index(old)] = new
        self.files[now] = self.files.pop(was)
        self._declare()
        return [now], [was]

    def _checkout(self):
        self.branch = "other" if self.branch == "main" else "main"
        self._git("checkout", "--quiet", self.branch)
        here, there = self.git_files[self.branch], self.git_files["other" if self.branch == "main" else "main"]
        gone = [it for it in there if it not in here]
        for file in gone:
            self.files.pop(file, None)
        self.files.update(here)
        return list(here), gone

    # The disk and the model together

    def _model(self, file, uses, nested=False):
        self.serial += 1
        self.files[file] = (self.ground.function(self.serial), sum(uses))
        return self.ground.text(self.serial, uses, nested)

    def _put(self, file, uses, nested=False):
        self.ground.write(file, self._model(file, uses, nested))

    def _remove_nested(self):
        name = self.nested.pop(0)
        file = self.ground.nested(name, "deep", "leaf")
        shutil.rmtree((self.root / file).parent.parent)
        del self.files[file]
        self._declare()
        return file

    def _flats(self):
        return [self.ground.flat(f"f{at}") for at in range(FLAT)]

    def _declare(self, nested=None):
        """Rust wants every module named in its parent. A line for a flat file that is deleted stays: broken code is ordinary."""
        if self.ground.language == "rust":
            names = ["git", *(f"f{at}" for at in range(FLAT)), *(self.nested if nested is None else nested)]
            self.ground.write(f"{self.ground.probes}/mod.rs", "".join(f"pub mod {it};\n" for it in names))

    # Two commits: `other` has one more probe file, another text of the first, and a line more in twenty real files

    def _begin_git(self):
        rust = self.ground.language == "rust"
        first, second, module = (self.ground.nested("git", it) for it in ("a", "b", "mod"))
        real = [it for it in semdex.source_files(self.root, self.ground.suffix) if "probe" not in it][:20]
        for branch, files in (("main", {first: [True]}), ("other", {first: [True, True], second: [True]})):
            if branch == "other":
                self._git("checkout", "--quiet", "-b", "other")
                for file in real:
                    with open(self.root / file, "a", newline="") as opened:
                        opened.write("\n// the other commit\n")
            self.git_files[branch] = {}
            for file, uses in files.items():
                self._put(file, uses, nested=True)
                self.git_files[branch][file] = self.files[file]
            if rust:
                self.ground.write(module, "".join(f"pub mod {pathlib.PurePath(it).stem};\n" for it in files))
            self._git("add", "--force", "--", *files, *([module] if rust else []), *(real if branch == "other" else []))
            self._git("commit", "--quiet", f"--message={branch}")
        self._git("checkout", "--quiet", "main")
        self.files = dict(self.git_files["main"])

    def _git(self, *words):
        identity = ["-c", "user.name=probe", "-c", "user.email=probe@example.invalid", "-c", "commit.gpgsign=false", "-c", "gc.auto=0"]
        done = subprocess.run(["git", *identity, *words], cwd=self.root, capture_output=True, text=True)
        if done.returncode:
            raise semdex.Failed(f"git {' '.join(words[:3])}: {done.stderr.strip()}")

    # What every answer must be

    def expected_usages(self):
        return self.before + sum(uses for _, uses in self.files.values())


class Question:
    """A question about a change, and whether its answer is right: (what is wrong or None, whether it said that it is complete)."""

    def __init__(self, field, here, gone):
        self.field, self.here, self.gone = field, here, gone

    def usages(self):
        reply = self.field.ground.usages(self.field.client, self.field.workspace)
        wanted = self.field.expected_usages()
        wrong = None if reply["total"] == wanted else f"usages: {reply['total']}, wanted {wanted}"
        if not wrong and reply.get("next_cursor") is None:
            counts = collections.Counter(it["file"] for it in reply["items"])
            for file in [*self.here, *self.gone]:
                uses = self.field.files.get(file, ("", 0))[1]
                if counts[file] != uses:
                    wrong = f"usages in {file}: {counts[file]}, wanted {uses}"
        return wrong, reply["meta"]

    def symbols(self):
        return self._each("GET", "/v1/symbols", self._names)

    def open(self):
        return self._each("POST", "/v1/open", self._skeleton)

    def text(self):
        return self._each("POST", "/v1/describe", self._content)

    def _names(self, file, reply):
        names, wanted = [it["name"] for it in reply["symbols"]], self.field.files[file][0]
        return None if wanted in names and len(names) == 1 else f"symbols of {file}: {names}, wanted {wanted}"

    def _skeleton(self, file, reply):
        wanted = self.field.files[file][0]
        return None if wanted in reply["skeleton"] else f"{file} opened has no {wanted}: {reply['skeleton']!r}"

    def _content(self, file, reply):
        wanted = (self.field.root / file).read_bytes().decode()
        content = reply["file"]["content"]
        return None if content == wanted else f"text of {file}: {content!r}, wanted {wanted!r}"

    def _each(self, method, path, check):
        meta = {"complete": True}
        for file in [*self.here, *self.gone]:
            what = {"workspace": self.field.workspace, "file": file}
            status, reply = self.field.client.send(method, path, **{"query" if method == "GET" else "body": what})
            if file in self.gone:
                if (status, reply.get("code")) != (404, "unknown_file"):
                    return f"{path} of {file}, which is gone: {status} {str(reply)[:200]}", {"complete": True}
                continue
            if status != 200:
                return f"{path} of {file}: {status} {str(reply)[:300]}", reply.get("meta") or {"complete": True}
            # What a file's own text says is never a matter of the index: its answer is judged as if it were complete.
            if wrong := check(file, reply):
                return wrong, {"complete": True}
        return None, meta


def self_check(options, fields):
    """Without a server: after each change, the model against a count of the lines on the disk."""
    chance = random.Random(options.seed)
    for field in fields:
        field.before = 0
        field.lay()
    for number in range(options.changes):
        field = fields[number % len(fields)]
        kind, (here, gone) = field.change(chance.choices(list(KINDS), KINDS.values())[0])
        use = re.compile(rf"^\s+(?:let )?_ = (?:target\.)?{re.escape(field.ground.target.expression)};?$", re.M)
        files = [it for it in semdex.source_files(field.root, field.ground.suffix) if "probe" in it]
        found = sum(len(use.findall((field.root / it).read_text())) for it in files)
        missing = [it for it in here if not (field.root / it).exists()] + [it for it in gone if (field.root / it).exists()]
        if found != field.expected_usages() or missing:
            raise semdex.Failed(f"change {number} ({kind}): the disk has {found} uses, the model {field.expected_usages()}; {missing}")
    print(f"self-check: the model agrees with the disk after each of {options.changes} changes")
    return 0


def run(options, directory):
    fields = []
    for source in options.workspaces:
        for language in semdex.languages(source):
            root = semdex.copy_workspace(source, directory / f"{len(fields)}")
            fields.append(Field(probe.Ground(root, language), options.seed + len(fields)))
    if not fields:
        raise semdex.Failed("none of the workspaces has a Cargo.toml or go.mod at its root")
    if options.self_check:
        return self_check(options, fields)
    with semdex.Server(options.server_binary, [it.root for it in fields], directory=directory / "server") as server:
        print(f"ready after {server.wait_ready(options.ready_timeout):.1f} s")
        for field in fields:
            field.begin(server)
            print(f"{field.ground.language}: {field.root.name}, usages of {field.ground.target.name} ({field.before} before)")
        return stress(options, server, fields)


def stress(options, server, fields):
    chance = random.Random(options.seed)
    asked = ["usages", "symbols", "open", "text"]
    counts, stale, incomplete, seconds = collections.Counter(), collections.Counter(), collections.Counter(), collections.defaultdict(list)
    told = 0
    for number in range(options.changes):
        field = fields[number % len(fields)]
        kind, (here, gone) = field.change(chance.choices(list(KINDS), KINDS.values())[0])
        row = (field.ground.language, kind)
        counts[row] += 1
        question = Question(field, here, gone)
        verdicts = set()
        for turn in range(len(asked)):
            name = asked[(number // len(fields) + turn) % len(asked)]
            begin = time.monotonic()
            wrong, meta = getattr(question, name)()
            if turn == 0:
                seconds[row].append(time.monotonic() - begin)
            if wrong:
                verdicts.add("stale" if meta["complete"] else "incomplete")
                told += 1
                if told <= 20:
                    print(f"change {number} ({' '.join(row)}), question {turn + 1}: {wrong}; meta {meta}", file=sys.stderr)
        stale[row] += "stale" in verdicts
        incomplete[row] += verdicts == {"incomplete"}
        if told and number % 50 == 0:
            server.must_live()
    rows = []
    for row in sorted(counts):
        times = semdex.summary(seconds[row])
        rows.append(
            {"language": row[0], "change": row[1], "runs": counts[row], "stale": stale[row], "incomplete": incomplete[row]}
            | {"first answer p50 ms": times["p50_ms"], "p95 ms": times["p95_ms"]}
        )
    semdex.table(rows, ["language", "change", "runs", "stale", "incomplete", "first answer p50 ms", "p95 ms"])
    total_stale, total_incomplete = sum(stale.values()), sum(incomplete.values())
    print(f"{sum(counts.values())} changes, {total_stale} stale, {total_incomplete} wrong but said to be incomplete")
    return 1 if total_stale or (total_incomplete and not options.allow_incomplete) else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--self-check", action="store_true", help="only see that this program's own model is right; needs no server")
    parser.add_argument("--allow-incomplete", action="store_true")
    semdex.main(run, parser.parse_args())
