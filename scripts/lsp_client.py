"""A language server for programs that hold semdex against it: what an editor would ask, asked directly.

Only the standard library, and only the words of LSP.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import time
import urllib.parse

import semdex_client as semdex


def find_gopls(named):
    """The one named, else that of semdex's cache, else the user's."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "semdex"
    cached = [it for it in sorted(cache.rglob("gopls")) if it.is_file() and os.access(it, os.X_OK)] if cache.is_dir() else []
    found = named or (cached and str(cached[-1])) or shutil.which("gopls")
    if not found:
        raise semdex.Failed("no gopls: semdex installs one into its cache at the first need; else name one by --gopls")
    return found


class LanguageServer:
    """A language server of our own on one root, over its standard input and output. Places are byte offsets outside, UTF-16 inside."""

    def __init__(self, command, root, language, options=None, environment=None):
        self.root, self.language, self.number, self.opened, self.is_quiet = root, language, 0, {}, False
        self.name = pathlib.Path(command[0]).name
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=root, env=environment
        )
        # No answer is waited for without end.
        self.watchdog = threading.Timer(900.0, self.process.kill)
        self.watchdog.daemon = True
        self.watchdog.start()
        uri = self._uri("")
        parameters = {
            "processId": os.getpid(),
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": root.name}],
            "capabilities": {"experimental": {"serverStatusNotification": True}},
            "initializationOptions": options or {},
        }
        self.call("initialize", parameters)
        self._send({"method": "initialized", "params": {}})

    @classmethod
    def gopls(cls, program, root, environment=None):
        return cls([program, "serve"], root, "go", environment=environment)

    @classmethod
    def rust_analyzer(cls, program, root, environment=None):
        """Ready: everything is loaded and its caches are primed."""
        server = cls([program], root, "rust", {"checkOnSave": False, "cachePriming": {"enable": True}}, environment)
        while not server.is_quiet:
            server._hear(server._receive())
        return server

    def knows(self, file, offset):
        """Whether the build takes what stands there."""
        try:
            return self.call("textDocument/hover", self.at(file, offset)) is not None or self.language == "go"
        except semdex.Failed as error:
            if self.language == "go" and "no package metadata" in str(error):
                return False
            raise

    def references(self, file, offset):
        """[(file, byte offset)] of all references within the root but the declaration."""
        found = self.call("textDocument/references", {**self.at(file, offset), "context": {"includeDeclaration": False}})
        places = [(self._file(it["uri"]), it["range"]["start"]) for it in found or []]
        return sorted({(file, self._offset(file, position)) for file, position in places if file is not None})

    def implementations(self, file, offset):
        """[(file, byte offset)] of the names of what implements this, or what it implements; those outside too."""
        try:
            found = self.call("textDocument/implementation", self.at(file, offset))
        except semdex.Failed:
            # What can have none is refused.
            return []
        return sorted({self.place(it["uri"], it["range"]["start"]) for it in found or []})

    def callers(self, file, offset):
        """[(file, byte offset)] of every call of a function within the root."""
        items = self.call("textDocument/prepareCallHierarchy", self.at(file, offset))
        calls = [call for item in items or [] for call in self.call("callHierarchy/incomingCalls", {"item": item}) or []]
        ranges = [(call["from"]["uri"], it["start"]) for call in calls for it in call["fromRanges"]]
        return sorted({self.place(uri, start) for uri, start in ranges if self._file(uri) is not None})

    def at(self, file, offset):
        text = self.open(file)
        line = text.count(b"\n", 0, offset)
        start = text.rfind(b"\n", 0, offset) + 1
        character = len(text[start:offset].decode().encode("utf-16-le")) // 2
        return {"textDocument": {"uri": self._uri(file)}, "position": {"line": line, "character": character}}

    def place(self, uri, position):
        """A file outside the root has an absolute name."""
        file = self._file(uri) or urllib.parse.unquote(uri.removeprefix("file://"))
        return file, self._offset(file, position)

    def call(self, method, params):
        self.number += 1
        self._send({"id": self.number, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" in message:
                self._hear(message)
            elif message.get("id") == self.number:
                if "error" in message:
                    raise semdex.Failed(f"{self.name}: {method} {json.dumps(params)[:300]}: {message['error']}")
                return message.get("result")

    def seconds_on_the_wire(self, method, params):
        """How long a reply takes from the first byte that is sent to the last that comes; what is in it is not read."""
        self.number += 1
        started = time.perf_counter()
        self._send({"id": self.number, "method": method, "params": params})
        while True:
            message = self._bytes()
            seconds = time.perf_counter() - started
            message = json.loads(message)
            if "method" in message:
                self._hear(message)
            elif message.get("id") == self.number:
                return seconds

    def _hear(self, message):
        if "id" in message:
            # A request of the server: it gives up where nobody answers.
            nothing = [None] * len((message.get("params") or {}).get("items", [])) if message["method"] == "workspace/configuration" else None
            self._send({"id": message["id"], "result": nothing})
        elif message["method"] == "experimental/serverStatus":
            self.is_quiet = message["params"]["quiescent"]

    def close(self):
        self.watchdog.cancel()
        try:
            self.call("shutdown", None)
            self._send({"method": "exit"})
            self.process.wait(10.0)
        except (semdex.Failed, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()

    def open(self, file):
        if file not in self.opened:
            self.opened[file] = (self.root / file).read_bytes()
            item = {"uri": self._uri(file), "languageId": self.language, "version": 1, "text": self.opened[file].decode()}
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
        return json.loads(self._bytes())

    def _bytes(self):
        length = None
        while (line := self.process.stdout.readline()) != b"\r\n":
            if not line:
                raise semdex.Failed(f"{self.name} ended, or did not answer within 15 minutes")
            if match := re.match(rb"Content-Length: (\d+)", line):
                length = int(match.group(1))
        return self.process.stdout.read(length)
