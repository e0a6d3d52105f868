#!/usr/bin/env python3
"""What a crate of one function takes: semdex with one database and with two, beside rust-analyzer, each alone on its own copy, after all
that they do in the background.

Tells the resident memory of the process and of everything below it (the server of proc macros, say), at the largest and after half a minute
of rest, since both free what no answer needs any more. It falls short where semdex with one database takes more than rust-analyzer, or a
second database more than a quarter again.
"""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex
from lsp_client import LanguageServer

MANIFEST = '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n'
SOURCE = "/// The only one.\npub fn one(it: u8) -> u8 {\n    it + 1\n}\n"
# What a second database may take beyond the first.
SECOND = 0.25


def crate(directory, name, settings=""):
    root = directory / name
    (root / "src").mkdir(parents=True)
    (root / "Cargo.toml").write_text(MANIFEST)
    (root / "src/lib.rs").write_text(SOURCE)
    if settings:
        (root / "semdex.toml").write_text(settings)
    return root


def peak_bytes(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(it.split()[1]) * 1024 for it in lines if it.startswith("VmHWM:")), 0)


class Watched:
    """The memory of a process and all below it, looked at for as long as something is waited for."""

    def __init__(self, pid):
        self.pid, self.largest = pid, peak_bytes(pid)

    def look(self):
        now = sum(semdex.resident_bytes(it) for it in [self.pid, *semdex.descendants(self.pid)])
        self.largest = max(self.largest, now, peak_bytes(self.pid))
        return now

    def rest(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.look()
            time.sleep(0.1)
        return self.look()


def of_semdex(options, root, directory, wanted):
    with semdex.Server(options.server_binary, [root], directory=directory) as server:
        watched = Watched(server.pid)
        server.wait_ready(options.ready_timeout)
        watched.look()
        server.wait_indexed()
        words = "a second database is there"
        if wanted == 2:
            semdex.wait_for(lambda: watched.look() and words in server.log.read_text(), options.ready_timeout, "a second database")
        rested = watched.rest(options.rest)
        has_second = words in server.log.read_text()
        if has_second != (wanted == 2):
            raise semdex.Failed(f"{'two databases' if has_second else 'one database'}, where {wanted} were wanted")
        return watched.largest, rested


def of_rust_analyzer(options, root):
    # It answers `references` once all is loaded.
    rival = LanguageServer.rust_analyzer(options.rust_analyzer, root)
    try:
        watched = Watched(rival.process.pid)
        rival.references("src/lib.rs", SOURCE.index("one("))
        return watched.largest, watched.rest(options.rest)
    finally:
        rival.close()


def run(options, directory):
    measured = {
        "one database": of_semdex(options, crate(directory, "one"), directory / "server-one", 1),
        "two databases": of_semdex(options, crate(directory, "two", "[rust]\nsecond_database = true\n"), directory / "server-two", 2),
        "rust-analyzer": of_rust_analyzer(options, crate(directory, "rival")),
    }
    print("a crate of one function    at most     at rest")
    for name, (largest, rested) in measured.items():
        print(f"{name:22} {largest / 1e6:8.0f} MB {rested / 1e6:8.0f} MB")
    one, two, rival = (measured[it][1] for it in ("one database", "two databases", "rust-analyzer"))
    short = []
    if one > rival:
        short.append(f"one database takes {(one - rival) / 1e6:.0f} MB more than rust-analyzer")
    if two > one * (1 + SECOND):
        short.append(f"a second database takes {(two - one) / 1e6:.0f} MB, {100 * (two - one) / one:.0f} % of the first")
    for it in short:
        print(f"fell short: {it}")
    return 1 if short else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__, workspace=False)
    parser.add_argument("--rest", type=float, default=45.0, metavar="S", help="how long each is left alone (default: %(default)s)")
    parser.add_argument("--rust-analyzer", metavar="PATH", default="rust-analyzer", help="the one to measure (default: the one on the PATH)")
    semdex.main(run, parser.parse_args())
