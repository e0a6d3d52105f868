#!/usr/bin/env python3
"""A large Go workspace: how long semdex with its default configuration and gopls alone take until they are ready and until they have answered one
question about a name that much code uses, and the memory of each with everything below it. One after the other, each on its own copy, with its
own empty cache.

semdex is asked as soon as it listens (`wait_ms` 60,000), and again until its answer is complete. Ready: semdex says so in its status; gopls answers
a hover, which waits until all packages are loaded. It falls short where semdex is not ready, where its answer is not complete, or where it lists
fewer places than gopls.
"""

import os
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex
from lsp_client import LanguageServer, find_gopls
from memory import Watched

PATIENCE_S = 600.0


class Steps:
    """Times since the start, and the memory at each."""

    def __init__(self, name, pid):
        self.name, self.began, self.watched = name, time.monotonic(), Watched(pid)
        self.slowdown, self.started = semdex.Slowdown(), time.perf_counter()

    def step(self, what):
        took, now = time.monotonic() - self.began, self.watched.look()
        alone = took / self.slowdown.since(self.started)
        print(f"{self.name:8} {what:48} {took:7.1f} s ({alone:6.1f} s without other work) {now / 1e6:8.0f} MB", flush=True)

    def end(self, rest):
        now = self.watched.rest(rest)
        print(f"{self.name:8} at most {self.watched.largest / 1e6:.0f} MB, at rest {now / 1e6:.0f} MB", flush=True)


def lines(root):
    return sum((root / it).read_bytes().count(b"\n") for it in semdex.source_files(root, ".go"))


def of_semdex(options, root, directory):
    environment = {"XDG_CACHE_HOME": str(directory / "cache"), "GOCACHE": os.environ.get("GOCACHE", str(pathlib.Path.home() / ".cache/go-build"))}
    gopls = pathlib.Path(find_gopls(options.gopls))
    with semdex.Server(options.server_binary, [root], directory=directory / "server", environment=environment) as server:
        steps = Steps("semdex", server.pid)
        ready = None
        until = time.monotonic() + options.ready_timeout
        server.client.timeout = PATIENCE_S

        def ask(what):
            found = server.client.get("/v1/usages", symbol=options.symbol, wait_ms=60_000)
            coverage = "complete" if found["meta"]["complete"] else found["meta"]["missing"]
            steps.step(f"{what}: {found['total']} in {found['files']} files, {coverage}"[:160])
            return found

        ask("first answer")
        while not ready:
            server.must_live()
            workspace = server.workspaces()[0]
            steps.watched.look()
            ready = workspace["state"] == "ready"
            if time.monotonic() > until:
                raise semdex.Failed(f"not ready in {options.ready_timeout:.0f} s: {workspace}")
            time.sleep(0.2)
        steps.step("ready")
        while True:
            found = ask("usages")
            is_complete = found["meta"]["complete"]
            if is_complete or time.monotonic() > until + PATIENCE_S:
                break
        print("semdex  ", server.engine("gopls"), gopls, flush=True)
        steps.end(options.rest)
        return found["total"], is_complete


def of_gopls(options, root):
    text = (root / options.file).read_text()
    declared = re.search(rf"\b(?:func|type|const|var)\s+({options.name})\b", text)
    if not declared:
        raise semdex.Failed(f"{options.file} declares no {options.name}")
    offset = len(text[: declared.start(1)].encode())
    rival = LanguageServer.gopls(find_gopls(options.gopls), root)
    steps = Steps("gopls", rival.process.pid)
    try:
        rival.knows(options.file, offset)
        steps.step("ready")
        found = rival.references(options.file, offset)
        steps.step(f"references: {len(found)}")
        steps.end(options.rest)
        return len(found)
    finally:
        rival.close()


def run(options, directory):
    root = pathlib.Path(options.workspaces[0]).resolve()
    print(f"{lines(root)} lines of Go", flush=True)
    rival = of_gopls(options, root) if not options.without_gopls else 0
    ours, is_complete = of_semdex(options, root, directory)
    return 0 if is_complete and ours >= rival else 1


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--symbol", required=True, help="of the workspace, its path for semdex")
    parser.add_argument("--file", required=True, help="that declares it")
    parser.add_argument("--name", required=True, help="its name there")
    parser.add_argument("--rest", type=float, default=45.0, metavar="S", help="how long each is left alone (default: %(default)s)")
    parser.add_argument("--gopls", metavar="PATH")
    parser.add_argument("--without-gopls", action="store_true")
    semdex.main(run, parser.parse_args())
