#!/usr/bin/env python3
"""A storm: for a while (an hour, for a claim) clients ask and edit without pause, while files come, go, move and change from outside in every way,
gopls is killed, and now and then all is still. On each workspace given, and on one that holds them all.

Wanted: no panic in the log, no request that takes over 15 s, no reply with an internal error, no workspace that is gone, and at each
interval the same answers as a server that is started afresh on the same files.
"""

import collections
import os
import pathlib
import random
import shutil
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import asking
import comparison
import disturbance
import semdex_client as semdex

SUFFIXES = {"rust": ".rs", "go": ".go"}
# Longer than semdex waits before it frees memory and stops what is idle.
STILL = 35.0


class Tree:
    """A workspace to disturb, with its server."""

    def __init__(self, name, root, suffixes, options, directory, number):
        self.name, self.root, self.options, self.directory = name, root, options, directory
        self.suffixes, self.number = suffixes, number
        self.chance = random.Random(f"{options.seed} {name}")
        pristine = directory / "pristine"
        shutil.copytree(root, pristine, symlinks=True)
        self.disturbance = disturbance.Disturbance(root, pristine, suffixes, random.Random(self.chance.random()))
        self.findings = asking.Findings()
        self.lacking = []
        self.differences, self.compared, self.kills, self.intervals, self.unloadable = [], 0, 0, 0, 0

    def storm(self, seconds):
        with semdex.Server(self.options.server_binary, [self.root], directory=self.directory / "server") as server:
            server.client.timeout = 60.0
            server.wait_ready(self.options.ready_timeout)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                self.rage(server, min(self.options.every, end - time.monotonic()))
                self.settle(server)
                self.intervals += 1
            server.must_live()
        self.panics = panics(server.log.read_text(errors="replace").splitlines())

    def rage(self, server, seconds):
        until = threading.Event()
        workspace = server.workspace(self.root)
        files = sorted({it for suffix in self.suffixes for it in semdex.source_files(self.root, suffix)})
        askers = [
            asking.Asker(server.client, workspace, files, random.Random(self.chance.random()), self.findings, until)
            for _ in range(self.options.clients)
        ]
        for it in askers:
            it.start()
        end = time.monotonic() + seconds
        pauses = random.Random(self.chance.random())
        next_kill = time.monotonic() + 20.0
        while time.monotonic() < end:
            self.disturbance.step()
            if time.monotonic() > next_kill:
                self.kill_gopls(server)
                next_kill = time.monotonic() + pauses.uniform(15.0, 40.0)
            pause = STILL if pauses.random() < 0.002 else pauses.choice([0.0, 0.0, 0.001, 0.05, 0.3])
            time.sleep(min(pause, max(0.0, end - time.monotonic())))
            server.must_live()
        until.set()
        for it in askers:
            it.join(timeout=90.0)
            if it.is_alive():
                self.findings.fault("a request was not answered within 90 s")
        askers[0].remove_overlays()

    def kill_gopls(self, server):
        engine = server.engine("gopls")
        if engine and engine.get("pid") and engine["pid"] in semdex.descendants(server.pid):
            os.kill(engine["pid"], signal.SIGKILL)
            self.kills += 1

    def settle(self, server):
        """All is still; then the same questions to this server and to a new one. Where no manifest can be loaded a server keeps what it
        loaded last, which a new one has not: then all is put back before."""
        if self.chance.random() < 0.5:
            self.disturbance.put_all_back()
        server.wait_ready(self.options.ready_timeout)
        if any(it["code"] == "workspace_broken" for it in server.workspaces()[0]["missing"]):
            self.unloadable += 1
            self.disturbance.put_all_back()
            server.client.get("/v1/symbols", query="none", wait_ms=0)
            server.wait_ready(self.options.ready_timeout)
        server.wait_indexed()
        with semdex.Server(self.options.server_binary, [self.root], directory=self.directory / f"fresh{self.intervals}") as fresh:
            fresh.client.timeout = 60.0
            fresh.wait_ready(self.options.ready_timeout)
            fresh.wait_indexed()
            compared, differences, lacking = comparison.compare(server, fresh, self.root, self.chance, self.suffixes)
        self.compared += compared
        self.differences += differences
        self.lacking += lacking

    def tell(self):
        rows = []
        for name in sorted(self.findings.seconds):
            times = semdex.summary(self.findings.seconds[name])
            rows.append({"request": name, "count": times["runs"], "p50 ms": times["p50_ms"], "p95 ms": times["p95_ms"], "max ms": times["max_ms"]})
        print(f"\n== {self.name}")
        semdex.table(rows, ["request", "count", "p50 ms", "p95 ms", "max ms"])
        print("replies:", ", ".join(f"{count} {code}" for code, count in self.findings.codes.most_common()))
        print("disturbances:", ", ".join(f"{count} {kind}" for kind, count in collections.Counter(self.disturbance.counts).most_common()))
        requests = sum(map(len, self.findings.seconds.values()))
        print(
            f"{requests} requests, {sum(self.disturbance.counts.values())} disturbances, {self.kills} kills of gopls, {self.intervals} comparisons ({self.unloadable} after "
            f"all was put back, as nothing could be loaded) of "
            f"{self.compared} answers: {len(self.panics)} panics, {len(self.findings.faults)} faults, {len(self.differences)} differences, "
            f"{len(self.lacking)} more where both sides say that they lack something"
        )
        for what, count in collections.Counter(f"incomplete: {it}" for it in self.lacking).most_common():
            print(f"  {count}x {what[:500]}")
        for what, count in collections.Counter([*self.panics, *self.findings.faults, *self.differences]).most_common():
            print(f"  {count}x {what[:2000]}")
        return bool(self.panics or self.findings.faults or self.differences)


def panics(lines):
    """Where and why, without the threads' numbers."""
    return [f"{line.partition('panicked at ')[2]} {reason}" for line, reason in zip(lines, [*lines[1:], ""]) if "panicked at" in line]


def trees(options, directory):
    found = []
    for source in options.workspaces:
        suffixes = [SUFFIXES[it] for it in semdex.languages(source)]
        if not suffixes:
            raise semdex.Failed(f"no Cargo.toml or go.mod at the root of {source}")
        place = directory / pathlib.Path(source).resolve().name
        place.mkdir()
        found.append((place.name, semdex.copy_workspace(source, place), suffixes, place))
    if len(found) > 1:
        place = directory / "mixed"
        (place / "all").mkdir(parents=True)
        for source in options.workspaces:
            semdex.copy_workspace(source, place / "all")
        found.append(("mixed", place / "all", sorted({it for _, _, suffixes, _ in found for it in suffixes}), place))
    return [Tree(name, root, suffixes, options, place, at) for at, (name, root, suffixes, place) in enumerate(found)]


def run(options, directory):
    storms = trees(options, directory)
    failed = False
    for tree in storms:
        tree.storm(options.minutes * 60.0 / len(storms))
        failed |= tree.tell()
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--minutes", type=float, default=6.0, help="for all workspaces together (default: %(default)s)")
    parser.add_argument("--every", type=float, default=60.0, metavar="S", help="how long until answers are compared (default: %(default)s)")
    parser.add_argument("--clients", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    semdex.main(run, parser.parse_args())
