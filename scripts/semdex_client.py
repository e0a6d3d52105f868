"""A semdex server for black-box programs: start it on copies of workspaces, ask it, measure it, stop it by its pid.

Only the standard library, and only the words of the HTTP contract: whatever a program here finds, a client would find too.
"""

import argparse
import collections
import contextlib
import http.client
import json
import math
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse


class Failed(Exception):
    """What a program was to show is not so; the message says what was wanted and what came."""


class Problem(Failed):
    """An error reply of the server."""

    def __init__(self, request, status, body):
        self.status, self.body = status, body
        self.code = body.get("code") if isinstance(body, dict) else None
        super().__init__(f"{request}: {status} {self.code}: {_shortened(body)}")


def _shortened(value, limit=1200):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


class Client:
    """One keep-alive connection. Make one for each thread."""

    # The server may close an idle connection; a request must not be the one to find out.
    IDLE = 4.0

    def __init__(self, address, token, timeout=150.0):
        self.address, self.token, self.timeout = address, token, timeout
        self._connection, self._used = None, 0.0

    def another(self):
        return Client(self.address, self.token, self.timeout)

    def close(self):
        if self._connection:
            self._connection.close()
            self._connection = None

    def seconds_on_the_wire(self, targets):
        """How long each reply to these GETs takes from the first byte that is sent to the last that comes: what Python's own client adds is
        more than a quick answer takes."""
        head = f"Host: {self.address[0]}:{self.address[1]}\r\nAuthorization: Bearer {self.token}\r\nAccept: application/json\r\n\r\n"
        found = []
        with socket.create_connection(self.address, self.timeout) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for path, query in targets:
                request = f"GET {path}?{urllib.parse.urlencode(query)} HTTP/1.1\r\n{head}".encode()
                started, reply, end = time.perf_counter(), b"", None
                connection.sendall(request)
                while end is None or len(reply) < end:
                    piece = connection.recv(1 << 20)
                    if not piece:
                        raise Failed(f"GET {path} {query}: the connection ended: {reply[:300]!r}")
                    reply += piece
                    head_end = reply.find(b"\r\n\r\n")
                    if end is None and head_end >= 0:
                        end = head_end + 4 + int(re.search(rb"(?i)content-length: *(\d+)", reply[:head_end]).group(1))
                found.append(time.perf_counter() - started)
                if b" 200 " not in reply.split(b"\r\n", 1)[0]:
                    raise Failed(f"GET {path} {query}: {reply[:300]!r}")
        return found

    def send(self, method, path, query=None, body=None, accept="application/json", content_type="application/json"):
        """(status, decoded body); raises only where there is no reply. A body of bytes is sent as it is."""
        query = {key: value for key, value in (query or {}).items() if value is not None}
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        headers = {"Accept": accept}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            headers["Content-Type"] = content_type
        if self._connection and time.monotonic() - self._used > self.IDLE:
            self.close()
        if not self._connection:
            host, port = self.address
            self._connection = http.client.HTTPConnection(host, port, timeout=self.timeout)
            self._connection.connect()
            self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._connection.request(method, target, body=data, headers=headers)
            response = self._connection.getresponse()
            raw = response.read()
        except Exception:
            self.close()
            raise
        self._used = time.monotonic()
        if "json" in (response.headers.get("Content-Type") or ""):
            return response.status, json.loads(raw)
        return response.status, raw.decode("utf-8", "replace")

    def get(self, path, **query):
        return self._good("GET", path, query=query)

    def post(self, path, **body):
        return self._good("POST", path, body=body)

    def _good(self, method, path, **what):
        status, body = self.send(method, path, **what)
        if status >= 400:
            raise Problem(f"{method} {path} {_shortened(what, 300)}", status, body)
        return body


class Server:
    """A semdex process on some roots, with a state directory of its own (the journal, trust and token of the user stay untouched) and
    the user's cache (gopls is installed there once)."""

    def __init__(self, binary, roots, trust=True, directory=None, environment=None, preexec=None):
        self.roots = [pathlib.Path(root).resolve() for root in roots]
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="semdex-server-"))
        self.log = self.directory / "stderr.log"
        state = self.directory / "state"
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        command = [str(pathlib.Path(binary).resolve()), "serve", *map(str, self.roots), "--listen", "127.0.0.1:0"]
        command.append("--trust" if trust else "--no-trust")
        self.started = time.monotonic()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self.directory,
                env={**os.environ, "XDG_STATE_HOME": str(state), **(environment or {})},
                preexec_fn=preexec,
            )
        try:
            self.hello = json.loads(self._first_line(60.0))
            token = pathlib.Path(self.hello["token_file"]).read_text().strip()
            url = urllib.parse.urlsplit(self.hello["listening"])
            self.client = Client((url.hostname, url.port), token)
        except Exception:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.stop()
        if kind:
            print(f"\nthe server's last words ({self.log}):\n{self.last_words()}", file=sys.stderr)

    @property
    def pid(self):
        return self.process.pid

    def _first_line(self, seconds):
        deadline, line = time.monotonic() + seconds, b""
        pipe = self.process.stdout.fileno()
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
            piece = os.read(pipe, 4096) if ready else b""
            if not piece:
                why = "ended" if ready else f"said nothing within {seconds:.0f} s"
                raise Failed(f"the server {why} before it said where it listens (so far: {line!r}):\n{self.last_words()}")
            line += piece
        return line.decode()

    def last_words(self, lines=25):
        with contextlib.suppress(OSError):
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        return "(none)"

    def workspaces(self):
        return self.client.get("/v1/status")["workspaces"]

    def workspace(self, root):
        """The id of the workspace at a root."""
        root = pathlib.Path(root).resolve()
        found = self.workspaces()
        for workspace in found:
            if pathlib.Path(workspace["root"]).resolve() == root:
                return workspace["id"]
        raise Failed(f"no workspace at {root}: {_shortened(found)}")

    def engine(self, name):
        """What the status says of an engine, wherever it runs."""
        return next((it for workspace in self.workspaces() for it in workspace["engines"] if it["name"] == name), None)

    def wait_ready(self, seconds=600.0):
        """Until every workspace is ready. One that stays degraded is as ready as it gets, and is told."""
        degraded_since = None

        def ready():
            nonlocal degraded_since
            self.must_live()
            states = {it["id"]: it["state"] for it in self.workspaces()}
            if all(it in ("ready", "degraded") for it in states.values()) and "degraded" in states.values():
                degraded_since = degraded_since or time.monotonic()
            else:
                degraded_since = None
            settled = degraded_since and time.monotonic() - degraded_since > 10.0
            return states if settled or all(it == "ready" for it in states.values()) else None

        states = wait_for(ready, seconds, lambda: f"the workspaces to be ready: {_shortened(self.workspaces())}")
        if "degraded" in states.values():
            missing = {it["id"]: it["missing"] for it in self.workspaces()}
            print(f"note: not all of it is ready: {states}; missing: {_shortened(missing)}", file=sys.stderr)
        return time.monotonic() - self.started

    def wait_indexed(self, seconds=1800.0):
        """Until the background has done its work, which goes on after all is ready: for two seconds nothing is under way."""
        quiet_since = None

        def indexed():
            nonlocal quiet_since
            self.must_live()
            is_quiet = all(it.get("progress") is None for it in self.workspaces())
            quiet_since = (quiet_since or time.monotonic()) if is_quiet else None
            return quiet_since and time.monotonic() - quiet_since > 2.0

        wait_for(indexed, seconds, lambda: f"the background to be done: {_shortened(self.workspaces())}")

    def wait_built(self, workspace, seconds=1800.0):
        """Until further builds are read too. They are made while nobody asks, so each question comes after a pause."""

        def built():
            self.must_live()
            time.sleep(3.0)
            reply = self.client.get("/v1/diagnostics", workspace=workspace, severity="error", limit=1, wait_ms=60000)
            return all(it["code"] != "indexing" for it in reply["meta"]["missing"])

        wait_for(built, seconds, lambda: "further builds to be read")

    def must_live(self):
        if self.process.poll() is not None:
            raise Failed(f"the server ended by itself with {self.process.returncode}:\n{self.last_words()}")

    def stop(self, seconds=30.0):
        """SIGTERM, and its exit code; after `seconds` SIGKILL."""
        if hasattr(self, "client"):
            self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                print(f"the server did not end within {seconds:.0f} s of SIGTERM", file=sys.stderr)
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        return self.process.returncode

    def memory(self):
        """{what: bytes} of the server and everything below it, as the kernel sees it, beside what the status says."""
        status = self.client.get("/v1/status")
        children = descendants(self.pid)
        return {
            "server": resident_bytes(self.pid),
            "children": sum(resident_bytes(pid) for pid in children),
            "said": status.get("memory_bytes"),
            "said_engines": sum(it.get("memory_bytes") or 0 for w in status["workspaces"] for it in w["engines"]),
        }


# Processes -----------------------------------------------------------------------------------------------------------


def resident_bytes(pid):
    with contextlib.suppress(OSError):
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return 0


def _stat(pid):
    """The fields of /proc/PID/stat after the name in brackets, which may hold anything; None where there is no such process."""
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return None


def started_at(pid):
    """Tells a process from a later one with its pid; None where it is gone, or a zombie."""
    stat = _stat(pid)
    return stat[19] if stat and stat[0] not in "ZX" else None


def descendants(pid):
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and (stat := _stat(entry.name)):
            parents.setdefault(int(stat[1]), []).append(int(entry.name))
    found, pending = [], [pid]
    while pending:
        children = parents.get(pending.pop(), [])
        found += children
        pending += children
    return found


# Waiting, measuring, telling -----------------------------------------------------------------------------------------


def wait_for(condition, seconds, what):
    """The first true value of `condition`; `what` says, or is called to say, what did not come."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failed(f"waited {seconds:.0f} s in vain for {what() if callable(what) else what}")
        time.sleep(0.02)


class Slowdown(threading.Thread):
    """How many times longer work takes than on a machine without other work, from moment to moment: a little work is done again and again, and
    its time compared with the processor's time for it. A time of a request divided by this can be compared with a limit on a shared machine."""

    WORK, PAUSE = 0.02, 0.08

    def __init__(self):
        super().__init__(daemon=True)
        self.samples = collections.deque(maxlen=100_000)
        self.start()

    def run(self):
        while True:
            began, processor = time.perf_counter(), time.thread_time()
            while time.thread_time() - processor < self.WORK:
                pass
            ended = time.perf_counter()
            self.samples.append((began, ended, max(1.0, (ended - began) / (time.thread_time() - processor))))
            time.sleep(self.PAUSE)

    def since(self, moment):
        """The mean since this moment of `time.perf_counter()`; if nothing was measured since then, what was measured last."""
        samples = list(self.samples)
        found = [it[2] for it in samples if it[1] > moment] or [it[2] for it in samples[-1:]] or [1.0]
        return statistics.fmean(found)


def percentile(values, fraction):
    """The least value that at least this part of all values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(fraction * len(ordered)) - 1)]


def summary(seconds):
    """Milliseconds."""
    if not seconds:
        return {"runs": 0}
    millis = [it * 1000 for it in seconds]
    return {
        "runs": len(millis),
        "p50_ms": round(statistics.median(millis), 1),
        "p95_ms": round(percentile(millis, 0.95), 1),
        "max_ms": round(max(millis), 1),
    }


def table(rows, columns):
    cells = [columns] + [[str(row.get(column, "")) for column in columns] for row in rows]
    widths = [max(len(row[at]) for row in cells) for at in range(len(columns))]
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


# Workspaces ----------------------------------------------------------------------------------------------------------


def copy_workspace(source, into):
    """A copy to change at will: without version control and build output."""
    source = pathlib.Path(source).resolve()
    if not source.is_dir():
        raise Failed(f"no workspace there: {source}")
    target = pathlib.Path(into) / source.name
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(".git", "target", "node_modules"))
    return target


def languages(root):
    """By the manifests at the root of a workspace."""
    root = pathlib.Path(root)
    return [name for name, manifest in (("rust", "Cargo.toml"), ("go", "go.mod")) if (root / manifest).exists()]


def source_files(root, suffix):
    """Relative names of the files that end in `suffix`, without hidden directories and build output."""
    root, found = pathlib.Path(root), []
    for directory, names, files in os.walk(root):
        names[:] = sorted(it for it in names if not it.startswith(".") and it not in ("target", "node_modules", "vendor"))
        found += [pathlib.Path(directory, it).relative_to(root).as_posix() for it in sorted(files) if it.endswith(suffix)]
    return found


# The frame of a program ----------------------------------------------------------------------------------------------


def arguments(description, workspace=True):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server-binary", required=True, metavar="PATH", help="the semdex program")
    if workspace:
        parser.add_argument(
            "--workspace", required=True, action="append", metavar="PATH", dest="workspaces", help="copied first; may be given several times"
        )
    parser.add_argument("--ready-timeout", type=float, default=600.0, metavar="S", help="how long loading may take (default: %(default)s)")
    return parser


def main(run, options):
    """Runs `run(options, directory)` with a temporary directory; whatever is `Failed` is told in one line, and is exit code 1."""
    binary = pathlib.Path(options.server_binary)
    if not os.access(binary, os.X_OK):
        print(f"no program to run at {binary}: `make build` makes it", file=sys.stderr)
        sys.exit(2)
    with tempfile.TemporaryDirectory(prefix="semdex-bench-", ignore_cleanup_errors=True) as directory:
        try:
            sys.exit(run(options, pathlib.Path(directory)) or 0)
        except Failed as failure:
            print(f"FAILED: {failure}", file=sys.stderr)
            sys.exit(1)
