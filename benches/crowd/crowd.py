#!/usr/bin/env python3
"""64 clients change the same 50 files, and a person's editor writes them too: nothing is lost, and each loser is told so.

Half of the clients read a file and expect its hash; who comes too late is told 409 `hash_mismatch` or `conflict`, reads again and tries again.
The others name a place that each of them fills anew, so that nobody's words go but by an edit that names them. The editor appends lines in
place, as `>>` does, and saves whole files by exchanging them, taking its file back where somebody was quicker. At the end each line that
somebody was told is written must be there once, in its file, and nothing else.
"""

import collections
import ctypes
import os
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

MARK = "-- clients write above this line --"
RENAME_EXCHANGE = 2
AT_FDCWD = -100
LIBC = ctypes.CDLL(None, use_errno=True)


class Shared:
    def __init__(self, root, files):
        self.root, self.names = root, [f"dir{i % 5}/f{i}.txt" for i in range(files)]
        self.lock, self.written = threading.Lock(), collections.defaultdict(list)
        self.counts, self.wrong = collections.Counter(), []
        for name in self.names:
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(f"{MARK}\n" + "".join(f"filler {i}\n" for i in range(200)))

    def note(self, name, line):
        with self.lock:
            self.written[name].append(line)

    def count(self, what):
        with self.lock:
            self.counts[what] += 1


class Writer(threading.Thread):
    def __init__(self, shared, client, number, edits):
        super().__init__(daemon=True)
        self.shared, self.client, self.number, self.edits = shared, client.another(), number, edits
        self.chance = random.Random(number)

    def run(self):
        try:
            for turn in range(self.edits):
                self.edit(f"client {self.number} edit {turn}")
        except Exception as error:
            self.shared.wrong.append(f"client {self.number}: {error!r}")
        finally:
            self.client.close()

    def edit(self, line):
        name = self.chance.choice(self.shared.names)
        expects = self.number % 2 == 0
        until = time.monotonic() + 120.0
        while time.monotonic() < until:
            body = {"file": name, "search_context": MARK, "replacement": f"{line}\n{MARK}", "autofix": 0}
            if expects:
                read = self.client.post("/v1/describe", file=name)["file"]
                body["expected_hash"] = read["hash"]
            status, reply = self.client.send("POST", "/v1/edit", body=body)
            if status == 200:
                self.shared.note(name, line)
                self.shared.count("applied")
                return
            self.shared.count(f"told {status} {reply['code']}")
            if reply["code"] not in ("hash_mismatch", "conflict", "busy"):
                raise semdex.Failed(f"{line}: {status} {reply}")
        raise semdex.Failed(f"{line}: not applied in 120 s")


class Editor(threading.Thread):
    """A person's."""

    def __init__(self, shared, done):
        super().__init__(daemon=True)
        self.shared, self.done, self.chance, self.number = shared, done, random.Random(0), 0

    def run(self):
        while not self.done.is_set():
            name = self.chance.choice(self.shared.names)
            self.number += 1
            line = f"editor {self.number}"
            if self.number % 2:
                with open(self.shared.root / name, "ab", buffering=0) as file:
                    file.write(f"{line}\n".encode())
                self.shared.note(name, line)
                self.shared.count("appended in place")
            elif self.save(self.shared.root / name, line):
                self.shared.note(name, line)
                self.shared.count("saved by exchange")
            else:
                self.shared.count("the editor was told that the file has changed")
            self.done.wait(0.002)

    def save(self, path, line):
        old = path.read_bytes()
        # A name that no semdex process takes for its own.
        new = path.parent / f".person-{self.number}"
        new.write_bytes(old + f"{line}\n".encode())
        exchange(new, path)
        taken = new.read_bytes() == old
        if not taken:
            exchange(new, path)
        new.unlink()
        return taken


def exchange(a, b):
    if LIBC.renameat2(AT_FDCWD, os.fsencode(a), AT_FDCWD, os.fsencode(b), RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def check(shared):
    missing = extra = 0
    for name in shared.names:
        lines = (shared.root / name).read_text().splitlines()
        found = collections.Counter(it for it in lines if it.startswith(("client", "editor")))
        expected = collections.Counter(shared.written[name])
        for line in expected - found:
            shared.wrong.append(f"{name}: lost: {line}")
            missing += 1
        for line in found - expected:
            shared.wrong.append(f"{name}: nobody was told: {line}")
            extra += 1
        if [it for it in lines if not it.startswith(("client", "editor"))] != [MARK] + [f"filler {i}" for i in range(200)]:
            shared.wrong.append(f"{name}: what was there before is not as it was")
    left = [str(it) for it in shared.root.rglob(".semdex-*")]
    shared.wrong += [f"left over: {left}"] if left else []
    return missing, extra


def run(options, directory):
    root = directory / "workspace"
    root.mkdir()
    shared = Shared(root, options.files)
    with semdex.Server(options.server_binary, [root], directory=directory / "server") as server:
        server.wait_ready()
        begin, done = time.monotonic(), threading.Event()
        writers = [Writer(shared, server.client, number, options.edits) for number in range(options.clients)]
        editor = Editor(shared, done)
        editor.start()
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        done.set()
        editor.join()
        seconds = time.monotonic() - begin
        changes = server.client.get("/v1/changes", limit=1)["total"]
    missing, extra = check(shared)
    if changes != shared.counts["applied"]:
        shared.wrong.append(f"the journal has {changes} changes, and {shared.counts['applied']} were answered as applied")
    print(f"{options.clients} clients, {options.files} files, {seconds:.0f} s: {dict(shared.counts)}")
    print(f"lost lines: {missing}; lines that nobody was told of: {extra}")
    for it in shared.wrong[:20]:
        print(f"  {it}", file=sys.stderr)
    return 1 if shared.wrong else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__, workspace=False)
    parser.add_argument("--clients", type=int, default=64, help="(default: %(default)s)")
    parser.add_argument("--files", type=int, default=50, help="(default: %(default)s)")
    parser.add_argument("--edits", type=int, default=25, help="of each client (default: %(default)s)")
    semdex.main(run, parser.parse_args())
