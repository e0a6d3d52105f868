#!/usr/bin/env python3
"""Usages of sampled Go symbols, against what gopls itself says when it is asked by this program, in a session of its own.

Symbols of all kinds are drawn from all files of the workspace; each usage is compared by file and byte offset. (The Rust half is a test in
the crate, where rust-analyzer's own find_all_refs can be called.)
"""

import collections
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

KINDS = {"function", "method", "struct", "interface", "type", "field", "const", "variable"}


class Gopls:
    """A gopls of our own, over its standard input and output."""

    def __init__(self, program, root):
        self.root, self.number, self.opened = root, 0, {}
        self.process = subprocess.Popen(
            [program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=root
        )
        # No answer is waited for without end.
        self.watchdog = threading.Timer(900.0, self.process.kill)
        self.watchdog.daemon = True
        self.watchdog.start()
        uri = self._uri("")
        self.call("initialize", {"processId": os.getpid(), "rootUri": uri, "workspaceFolders": [{"uri": uri, "name": root.name}], "capabilities": {}})
        self._send({"method": "initialized", "params": {}})

    def knows(self, file):
        try:
            self.references(file, 0)
        except semdex.Failed as error:
            return "no package metadata" not in str(error)
        return True

    def references(self, file, offset):
        """[(file, byte offset)] of all references within the root but the declaration."""
        text = self._open(file)
        line = text.count(b"\n", 0, offset)
        start = text.rfind(b"\n", 0, offset) + 1
        character = len(text[start:offset].decode().encode("utf-16-le")) // 2
        found = self.call(
            "textDocument/references",
            {
                "textDocument": {"uri": self._uri(file)},
                "position": {"line": line, "character": character},
                "context": {"includeDeclaration": False},
            },
        )
        places = [(self._file(it["uri"]), it["range"]["start"]) for it in found or []]
        return sorted({(file, self._offset(file, position)) for file, position in places if file is not None})

    def call(self, method, params):
        self.number += 1
        self._send({"id": self.number, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" in message and "id" in message:
                # A request of gopls: it gives up where nobody answers.
                nothing = [None] * len((message.get("params") or {}).get("items", [])) if message["method"] == "workspace/configuration" else None
                self._send({"id": message["id"], "result": nothing})
            elif message.get("id") == self.number:
                if "error" in message:
                    raise semdex.Failed(f"gopls: {method} {json.dumps(params)[:300]}: {message['error']}")
                return message.get("result")

    def close(self):
        self.watchdog.cancel()
        try:
            self.call("shutdown", None)
            self._send({"method": "exit"})
            self.process.wait(10.0)
        except (semdex.Failed, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()

    def _open(self, file):
        if file not in self.opened:
            self.opened[file] = (self.root / file).read_bytes()
            item = {"uri": self._uri(file), "languageId": "go", "version": 1, "text": self.opened[file].decode()}
            self._send({"method": "textDocument/didOpen", "params": {"textDocument": item}})
        return self.opened[file]

    def _offset(self, file, position):
        line = (self.root / file).read_bytes().split(b"\n")[: position["line"] + 1]
        before = line[-1].decode().encode("utf-16-le")[: 2 * position["character"]].decode("utf-16-le").encode()
        return sum(len(it) + 1 for it in line[:-1]) + len(before)

    def _uri(self, file):
        return "file://" + urllib.parse.quote(str(self.root / file).rstrip("/"))

    def _file(self, uri):
        path = pathlib.Path(urllib.parse.unquote(uri.removeprefix("file://")))
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else None

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _receive(self):
        length = None
        while (line := self.process.stdout.readline()) != b"\r\n":
            if not line:
                raise semdex.Failed("gopls ended, or did not answer within 15 minutes")
            if match := re.match(rb"Content-Length: (\d+)", line):
                length = int(match.group(1))
        return json.loads(self.process.stdout.read(length))


def find_gopls(named):
    """The one named, else that of semdex's cache, else the user's."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "semdex"
    cached = [it for it in sorted(cache.rglob("gopls")) if it.is_file() and os.access(it, os.X_OK)] if cache.is_dir() else []
    found = named or (cached and str(cached[-1])) or shutil.which("gopls")
    if not found:
        raise semdex.Failed("no gopls: semdex installs one into its cache at the first need; else name one by --gopls")
    return found


def symbols(client, workspace, root):
    """All that can be asked for: (symbol) of every file's tree."""
    found = []
    for file in semdex.source_files(root, ".go"):
        pending = client.get("/v1/symbols", workspace=workspace, file=file)["symbols"]
        while pending:
            symbol = pending.pop()
            pending += symbol.get("children") or []
            # Those without a name of their own cannot be asked for; `init` and `_` there may be many of.
            if symbol["kind"] in KINDS and symbol["name"] not in ("_", "init", "main"):
                found.append(symbol)
    return found


def sample(found, count, chance):
    """As even over the kinds as it goes."""
    by_kind = collections.defaultdict(list)
    for symbol in found:
        by_kind[symbol["kind"]].append(symbol)
    for those in by_kind.values():
        chance.shuffle(those)
    drawn = []
    while len(drawn) < min(count, len(found)):
        drawn += [by_kind[kind].pop() for kind in sorted(by_kind) if by_kind[kind]]
    return drawn[:count]


def usages(client, workspace, symbol):
    """(all items, possible ones, complete): every page."""
    items, cursor = [], None
    while True:
        reply = client.get(
            "/v1/usages", workspace=workspace, symbol=symbol["path"], file=symbol["file"], limit=500, cursor=cursor, wait_ms=60000
        )
        items += reply["items"]
        cursor = reply.get("next_cursor")
        if not cursor:
            if len(items) != reply["total"]:
                raise semdex.Failed(f"usages of {symbol['path']}: total {reply['total']}, but {len(items)} items on all pages")
            return items, reply["possible"], reply["meta"]


def run(options, directory):
    different = 0
    for source in options.workspaces:
        root = semdex.copy_workspace(source, directory)
        with semdex.Server(options.server_binary, [root], directory=directory / "server") as server:
            server.wait_ready(options.ready_timeout)
            client, workspace = server.client, server.workspace(root)
            drawn = sample(symbols(client, workspace, root), 2 * options.symbols, random.Random(options.seed))
            gopls = Gopls(find_gopls(options.gopls), root)
            try:
                # Of a file that build constraints leave out gopls says nothing, and there is nothing to compare with.
                known = itertools.islice((it for it in drawn if gopls.knows(it["file"])), options.symbols)
                rows = [compare(client, workspace, gopls, symbol) for symbol in known]
            finally:
                gopls.close()
        semdex.table(rows, ["kind", "symbol", "semdex", "gopls", "complete", "verdict"])
        wrong = [it for it in rows if it["verdict"] != "equal"]
        different += len(wrong)
        print(f"{root.name}: {len(rows)} symbols, {sum(it['gopls'] for it in rows)} usages, {len(wrong)} symbols differ")
        if len(rows) < options.symbols:
            raise semdex.Failed(f"{root.name} has only {len(rows)} symbols to ask for, wanted {options.symbols}")
    return 1 if different else 0


def compare(client, workspace, gopls, symbol):
    wanted = gopls.references(symbol["file"], symbol["name_at"]["start"])
    row = {"kind": symbol["kind"], "symbol": symbol["path"], "gopls": len(wanted)}
    try:
        items, possible, meta = usages(client, workspace, symbol)
    except semdex.Problem as problem:
        print(f"{symbol['path']}: {problem}", file=sys.stderr)
        return {**row, "semdex": "-", "complete": "-", "verdict": f"problem {problem.code}"}
    got = sorted((it["file"], it["start"]) for it in items)
    if got != wanted:
        lacking, extra = sorted(set(wanted) - set(got)), sorted(set(got) - set(wanted))
        print(f"{symbol['path']} at {symbol['file']}:{symbol['line']}: lacking {lacking[:8]}, extra {extra[:8]}", file=sys.stderr)
    if possible or not meta["complete"]:
        print(f"{symbol['path']}: {len(possible)} possible, missing {meta['missing']}", file=sys.stderr)
    return {**row, "semdex": len(got), "complete": meta["complete"], "verdict": "equal" if got == wanted else "DIFFERS"}


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--symbols", type=int, default=50, help="how many to draw (default: %(default)s)")
    parser.add_argument("--gopls", metavar="PATH", help="the gopls to ask (default: semdex's own, else the one on the PATH)")
    parser.add_argument("--seed", type=int, default=1)
    semdex.main(run, parser.parse_args())
