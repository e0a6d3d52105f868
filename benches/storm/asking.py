"""What clients do meanwhile: questions, edits, dry runs, overlays, undo, at random and without pause."""

import collections
import threading
import time
import urllib.parse

# A request may take so long, whatever goes on.
LONGEST = 15.0
# A request that cannot be served right now is refused by one of these.
HONEST = {"engine_unavailable", "not_ready", "timeout", "busy", "revision_not_reached"}
WAIT_MS = 3000


def overlay_path(file):
    return f"/v1/overlays/{urllib.parse.quote(file)}"


class Findings:
    """What all clients saw, together."""

    def __init__(self):
        self.lock = threading.Lock()
        self.seconds = collections.defaultdict(list)
        self.codes = collections.Counter()
        self.faults = []

    def note(self, name, seconds, status, reply):
        code = reply.get("code") if isinstance(reply, dict) else None
        with self.lock:
            self.seconds[name].append(seconds)
            self.codes[code or str(status)] += 1
            if seconds > LONGEST:
                self.faults.append(f"{name} took {seconds:.1f} s ({status} {code})")
            if code == "unknown_workspace" or (status >= 500 and code not in HONEST):
                self.faults.append(f"{name}: {status} {str(reply)[:400]}")

    def fault(self, text):
        with self.lock:
            self.faults.append(text)


class Asker(threading.Thread):
    """One client. `until` ends it."""

    def __init__(self, client, workspace, files, chance, findings, until):
        super().__init__(daemon=True)
        self.client, self.workspace, self.files = client.another(), workspace, files
        self.chance, self.findings, self.until = chance, findings, until
        self.symbols, self.texts, self.changes, self.overlaid = [], {}, [], []
        self.kinds = {
            self.open: 8,
            self.symbols_of_file: 8,
            self.describe_file: 8,
            self.describe: 8,
            self.search: 3,
            self.at: 4,
            self.usages: 8,
            self.callers: 3,
            self.implementations: 2,
            self.diagnostics: 3,
            self.all_diagnostics: 1,
            self.impact: 6,
            self.edit: 6,
            self.dry_run: 12,
            self.dry_symbol: 5,
            self.rename: 2,
            self.write: 2,
            self.overlay: 3,
            self.overlay_goes: 3,
            self.undo: 4,
            self.journal: 1,
            self.status: 2,
        }

    def run(self):
        while not self.until.is_set():
            kind = self.chance.choices(list(self.kinds), list(self.kinds.values()))[0]
            try:
                kind()
            except Exception as error:
                if self.until.is_set():
                    break
                self.findings.fault(f"{kind.__name__}: no reply: {error!r}")
                time.sleep(0.5)
        self.client.close()

    def remove_overlays(self):
        for overlay in self.client.get("/v1/overlays", workspace=self.workspace)["overlays"]:
            self.client.send("DELETE", overlay_path(overlay["file"]), query={"workspace": self.workspace})

    # Questions

    def open(self):
        self._post("/v1/open", file=self._file())

    def symbols_of_file(self):
        file = self._file()
        reply = self._get("/v1/symbols", file=file)
        if reply and "symbols" in reply:
            found = [it for symbol in reply["symbols"] for it in _flat(symbol)]
            self.symbols = (self.symbols + [(it["path"], file) for it in found])[-400:]

    def describe_file(self):
        file = self._file()
        reply = self._post("/v1/describe", file=file)
        if reply and reply.get("kind") == "file":
            self.texts[file] = reply["file"]["content"]

    def describe(self):
        if symbol := self._symbol():
            self._post("/v1/describe", symbol=symbol[0], file=symbol[1])

    def search(self):
        self._get("/v1/symbols", query=self.chance.choice(["new", "build", "srch", "Context", "main", "x"]), limit=20)

    def at(self):
        self._get("/v1/symbols/at", file=self._file(), line=self.chance.randrange(1, 200), column=self.chance.randrange(1, 40))

    def usages(self):
        self._relation("/v1/usages")

    def callers(self):
        self._relation(self.chance.choice(["/v1/callers", "/v1/callees"]))

    def implementations(self):
        self._relation("/v1/implementations")

    def diagnostics(self):
        self._get("/v1/diagnostics", file=self._file())

    def all_diagnostics(self):
        self._get("/v1/diagnostics")

    def impact(self):
        if symbol := self._symbol():
            change = self.chance.choice(["remove", "rename", "signature", "visibility"])
            self._post("/v1/impact", symbol=symbol[0], file=symbol[1], change=change)

    def journal(self):
        self._get("/v1/changes", limit=5)

    def status(self):
        self._send("status", "GET", "/v1/status")

    # Changes

    def edit(self):
        if edit := self._planned():
            self._remember(self._post("/v1/edit", **edit, on_break=self.chance.choice(["report", "report", "reject"])))

    def dry_run(self):
        if edit := self._planned():
            self._post("/v1/edit", **edit, dry_run=True)

    def dry_symbol(self):
        if symbol := self._symbol():
            at = self.chance.choice(["delete", "body", "after"])
            what = {} if at == "delete" else {"replacement": "{}" if at == "body" else "\n// storm\n"}
            self._post("/v1/edit", symbol=symbol[0], file=symbol[1], at=at, dry_run=True, **what)

    def rename(self):
        if symbol := self._symbol():
            self._post("/v1/rename", symbol=symbol[0], file=symbol[1], new_name="storm_name", dry_run=True)

    def write(self):
        file = self._file()
        text = "\n// written\n"
        self._remember(self._post("/v1/write", name=file, content=text))

    def undo(self):
        if self.changes:
            self._post("/v1/undo", change=self.changes.pop())

    def overlay(self):
        file = self._file()
        text = self.texts.get(file)
        if text is not None:
            body = {"content": text + "\n// overlaid\n", "ttl_s": 600}
            self._send("overlay", "PUT", overlay_path(file), {"workspace": self.workspace}, body)
            self.overlaid.append(file)

    def overlay_goes(self):
        if self.overlaid:
            self._send("overlay_goes", "DELETE", overlay_path(self.overlaid.pop()), {"workspace": self.workspace})

    # The parts

    def _planned(self):
        """A line of a file as it was a moment ago, and what is to stand there."""
        if not self.texts:
            return None
        file = self.chance.choice(list(self.texts))
        lines = [it for it in self.texts[file].splitlines() if it.strip()]
        if not lines:
            return None
        line = self.chance.choice(lines)
        other = self.chance.choice([line.replace("(", "(storm, ", 1), "", f"{line}\n{line}", line.replace("pub ", "", 1), f"// {line}"])
        return {"file": file, "search_context": line, "replacement": other}

    def _remember(self, reply):
        if reply and reply.get("change"):
            self.changes.append(reply["change"])

    def _file(self):
        return self.chance.choice(self.files)

    def _symbol(self):
        if not self.symbols or self.chance.random() < 0.1:
            self.symbols_of_file()
        return self.chance.choice(self.symbols) if self.symbols else None

    def _relation(self, path):
        if symbol := self._symbol():
            self._get(path, symbol=symbol[0], file=symbol[1], limit=20)

    def _get(self, path, **query):
        waits = {} if path == "/v1/changes" else {"wait_ms": WAIT_MS}
        return self._send(path, "GET", path, query={"workspace": self.workspace, **waits, **query})

    def _post(self, path, **body):
        waits = {} if path == "/v1/undo" else {"wait_ms": WAIT_MS}
        return self._send(path, "POST", path, body={"workspace": self.workspace, **waits, **body})

    def _send(self, name, method, path, query=None, body=None):
        started = time.monotonic()
        status, reply = self.client.send(method, path, query=query, body=body)
        self.findings.note(name, time.monotonic() - started, status, reply)
        return reply if status == 200 else None


def _flat(symbol):
    yield symbol
    for child in symbol.get("children") or []:
        yield from _flat(child)
