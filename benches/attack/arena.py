"""The workspace under attack: its server, its owner, who asks and edits meanwhile, and what an attack shows."""

import contextlib
import http.client
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

SECRET = "the_text_of_the_owner"
FILES = {
    "Cargo.toml": '[package]\nname = "owned"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": f"pub fn {SECRET}() -> u8 {{ 1 }}\npub fn user() -> u8 {{ {SECRET}() }}\n",
    "count.txt": "count 0.\n",
}
SLOWDOWN = semdex.Slowdown()


# The owner -----------------------------------------------------------------------------------------------------------


class SocketClient(semdex.Client):
    """Over the own socket, as the command line."""

    def __init__(self, path, timeout):
        super().__init__(("localhost", 0), None, timeout)
        self.path = path

    def send(self, *arguments, **named):
        if not self._connection:
            connection = http.client.HTTPConnection("localhost", timeout=self.timeout)
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.settimeout(self.timeout)
            connection.sock.connect(str(self.path))
            connection.connect = lambda: None
            self._connection, self._used = connection, time.monotonic()
        return super().send(*arguments, **named)


class Owner:
    """Asks and edits until it is stopped. Each request has a connection of its own, as those of the command line have."""

    def __init__(self, server, tcp=True):
        self.server, self.until = server, threading.Event()
        self.is_rust = (server.roots[0] / "Cargo.toml").exists()
        self.seconds, self.faults, self.refusals = {}, [], []
        self.count = number(server)
        self.acknowledged = []
        ways = [("socket", self.ask_socket), ("command line", self.ask_command)]
        ways += [("TCP", self.ask_tcp)] if tcp else []
        ways += [("edit", self.edit)]
        self.threads = [threading.Thread(target=self.repeat, args=it, daemon=True) for it in ways]

    def __enter__(self):
        for it in self.threads:
            it.start()
        return self

    def __exit__(self, *_):
        self.until.set()
        for it in self.threads:
            it.join(timeout=60.0)

    def repeat(self, way, ask):
        while not self.until.is_set():
            started = time.perf_counter()
            try:
                ask()
            except (OSError, http.client.HTTPException, semdex.Failed) as error:
                self.faults.append(f"{way}: {type(error).__name__} {error}"[:400])
            self.seconds.setdefault(way, []).append((time.perf_counter() - started) / SLOWDOWN.since(started))
            self.until.wait(0.02)

    def asked(self, client):
        with contextlib.closing(client):
            if self.is_rust:
                found = client.get("/v1/usages", symbol=f"owned::{SECRET}")
            else:
                found = client.post("/v1/describe", file="src/lib.rs")
        if found["total"] != 1 if self.is_rust else SECRET not in found["file"]["content"]:
            raise semdex.Failed(f"another answer: {found}")

    def ask_socket(self):
        self.asked(SocketClient(self.server.hello["socket"], 30.0))

    def ask_tcp(self):
        self.asked(self.server.client.another())

    def ask_command(self):
        words = ("usages", f"owned::{SECRET}") if self.is_rust else ("describe", "--file", "src/lib.rs")
        ended = command(self.server, *words)
        if ended.returncode != 0 or SECRET not in ended.stdout:
            raise semdex.Failed(f"exit code {ended.returncode}: {ended.stdout} {ended.stderr}")

    def edit(self):
        with contextlib.closing(SocketClient(self.server.hello["socket"], 30.0)) as client:
            text = {"file": "count.txt", "search_context": f"count {self.count}.", "replacement": f"count {self.count + 1}.", "autofix": 0}
            status, reply = client.send("POST", "/v1/edit", body=text)
        if status == 200 and reply["applied"]:
            self.count += 1
            self.acknowledged.append((self.count, reply["change"]))
        elif status in (403, 429, 503, 507):
            self.refusals.append(f"{status} {reply.get('code')}: {reply.get('detail')}")
        else:
            raise semdex.Failed(f"edit: {status} {reply}")
        if (now := number(self.server)) != self.count:
            self.faults.append(f"edit: the file has {now}, {self.count} is acknowledged")
            self.count = now


def number(server):
    return int((server.roots[0] / "count.txt").read_text().split()[1].rstrip("."))


def command(server, *arguments, text=None):
    """A program of the user, in the workspace."""
    environment = {**os.environ, "XDG_STATE_HOME": str(server.directory / "state")}
    return subprocess.run(
        [server.binary, *arguments], cwd=server.roots[0], env=environment, input=text or "", capture_output=True, text=True, timeout=120.0
    )


# The arena -----------------------------------------------------------------------------------------------------------


class Arena:
    """A workspace and its server for one attack, and what the attack shows."""

    def __init__(self, name, is_rust, options, directory):
        self.name, self.options = name, options
        self.directory = directory
        self.root = directory / "workspace"
        self.is_rust = is_rust
        self.write_files()
        self.tries, self.let_in, self.lost, self.shown, self.owner = 0, [], [], [], None
        # The longest time of each way without an attack: the machine may have other work.
        self.calm = None

    def write_files(self):
        for file, text in FILES.items():
            if self.is_rust or file != "Cargo.toml":
                (self.root / file).parent.mkdir(parents=True, exist_ok=True)
                (self.root / file).write_text(text)

    def serve(self, **limits):
        server = semdex.Server(self.options.server_binary, [self.root], True, self.directory / "server", **limits)
        server.binary = str(pathlib.Path(self.options.server_binary).resolve())
        server.client.timeout = 30.0
        if self.is_rust:
            server.wait_ready(self.options.ready_timeout)
        # What is loaded at the first need is there before an attack begins.
        for _ in range(3):
            Owner(server).ask_socket()
        if self.calm is None:
            with Owner(server) as calm:
                time.sleep(self.options.seconds)
            self.calm = {way: max(it) for way, it in calm.seconds.items()}
        return server

    def refused(self, what, status, allowed=(400, 401, 403, 404, 405, 408, 411, 413, 414, 415, 422, 429, 431)):
        """A reply to the attacker."""
        self.tries += 1
        if status is not None and status not in allowed:
            self.let_in.append(f"{what}: {status}")

    def check_undo(self, server, changes, after):
        """What was acknowledged is in the journal: the last changes can be taken back, one after the other, by a new server too."""
        for count, change in reversed(changes):
            status, reply = server.client.send("POST", "/v1/undo", body={"change": change})
            if status != 200 or number(server) != count - 1:
                self.lost.append(f"after {after}, change {count} cannot be taken back: {status} {reply.get('detail')}")

    def row(self):
        owner = self.owner
        ways = {way: max(it) for way, it in owner.seconds.items()} if owner else {}
        calm = self.calm or {}
        slow = {way: it for way, it in ways.items() if it > self.options.within + calm.get(way, 0.0)}
        faults = owner.faults if owner else []
        row = {"attack": self.name, "tries": self.tries, "let in": len(self.let_in), "lost": len(self.lost), "faults": len(faults),
               "owner's requests": sum(map(len, owner.seconds.values())) if owner else 0,
               "refused edits": len(owner.refusals) if owner else 0,
               "longest, and without an attack (s)": ", ".join(f"{way} {it:.2f} {calm.get(way, 0.0):.2f}" for way, it in sorted(ways.items()))}  # fmt: skip
        findings = [f"LET IN {it}" for it in self.let_in] + [f"LOST {it}" for it in self.lost] + [f"FAULT {it}" for it in faults]
        findings += [f"SLOW {way}: {seconds:.2f} s, {calm.get(way, 0.0):.2f} s without an attack" for way, seconds in slow.items()]
        return row, findings
