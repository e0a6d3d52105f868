#!/usr/bin/env python3
"""A language server that crashes, hangs, floods, lies and sends garbage at random, asked --rounds questions through semdex.

An answer that calls itself complete has to be right, and one that does not has to say why. At the end semdex is ended, once by SIGTERM and
once by SIGKILL: no server may be left. Fails over one wrong answer, one empty success, one orphan.
"""

import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

FAKE = pathlib.Path(__file__).resolve().parents[2] / "tests/fixtures/fake_server.py"
QUESTIONS = [
    ("/v1/usages", {"symbol": "lib.py::greet"}, 2),
    ("/v1/diagnostics", {"file": "main.py"}, 0),
    ("/v1/diagnostics", {"file": "bad.py"}, 1),
    ("/v1/callers", {"symbol": "lib.py::greet"}, 1),
]


def living(pids):
    found = []
    for pid in pids.read_text().split() if pids.exists() else []:
        status = pathlib.Path(f"/proc/{pid}/status")
        if status.exists() and "State:\tZ" not in status.read_text():
            found.append(pid)
    return found


def run(options, directory):
    root, mode, pids = directory / "workspace", directory / "mode", directory / "pids"
    root.mkdir()
    (root / "lib.py").write_text("def greet(name):\n    return name\n")
    (root / "main.py").write_text("def both():\n    greet(1)\n    # greet\n    greet(2)\n")
    (root / "bad.py").write_text("nothing_such(1)\n")
    (root / "semdex.toml").write_text(
        f"[languages.python]\ncommand = ['python3', '{FAKE}']\nreadiness = {{}}\ndeadline_s = 2\nenv = {{FAKE_MODE = '{mode}', FAKE_PIDS = '{pids}'}}\n"
    )
    mode.write_text("mean")
    wrong, right, honest, orphans = [], 0, 0, 0
    for ending in (signal.SIGTERM, signal.SIGKILL):
        with semdex.Server(options.server_binary, [root]) as server:
            server.wait_ready(options.ready_timeout)
            for number in range(options.rounds // 2):
                path, query, total = QUESTIONS[number % len(QUESTIONS)]
                status, reply = server.client.send("GET", path, query={**query, "wait_ms": 1000})
                meta = reply.get("meta") or {}
                if status == 200 and meta.get("complete"):
                    right += reply["total"] == total
                    if reply["total"] != total:
                        wrong.append((path, query, reply["total"], total))
                elif status >= 500 or meta.get("missing"):
                    honest += 1
                else:
                    wrong.append((path, query, status, "no reason"))
            os.kill(server.pid, ending)
            server.process.wait(60)
            deadline = time.monotonic() + 3
            while living(pids) and time.monotonic() < deadline:
                time.sleep(0.05)
            orphans += len(living(pids))
    print(f"{options.rounds} rounds: {right} right and complete, {honest} honest, {len(wrong)} wrong, {orphans} orphans, {len(pids.read_text().split())} servers started")
    for it in wrong[:10]:
        print("  wrong:", *it)
    return bool(wrong or orphans or not right)


if __name__ == "__main__":
    parser = semdex.arguments(__doc__, workspace=False)
    parser.add_argument("--rounds", type=int, default=300)
    semdex.main(run, parser.parse_args())
