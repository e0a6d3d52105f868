#!/usr/bin/env python3
"""kill -9, in a Go workspace: of gopls in the middle of a request, and of semdex itself.

gopls: no request may answer an empty or wrong success; each answers rightly, or says that something is missing, or is an error of the
closed set; and without anyone's help the answers are right again, from another gopls process. So that the request is surely under way, gopls
is stopped (SIGSTOP) before it is asked in every second round.
semdex: within ten seconds none of its processes is left: no gopls, no child of gopls. After SIGTERM likewise, and the exit code is 0.
"""

import os
import pathlib
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import probe
import semdex_client as semdex

HONEST = {"engine_unavailable", "not_ready", "timeout", "busy"}


class Asker(threading.Thread):
    """Asks one question, on a connection of its own."""

    def __init__(self, client, question):
        super().__init__(daemon=True)
        self.client, self.question, self.verdict = client.another(), question, None
        self.start()

    def run(self):
        try:
            self.verdict = self.question(self.client)
        except Exception as error:
            self.verdict = ("lost", f"no reply at all: {error!r}")
        finally:
            self.client.close()


class Truth:
    """What is known before anything is killed, and how an answer compares with it: ("right" | "honest" | "wrong", the reply)."""

    def __init__(self, server, ground):
        self.ground, self.workspace = ground, server.workspace(ground.root)
        # An error, so that "no diagnostics" is never the right answer.
        self.broken = ground.flat("broken")
        ground.write(self.broken, f"package {ground.package()}\n\nfunc semdexProbeBroken() int {{ return semdexProbeNowhere }}\n")
        self.total = ground.settle(server.client, self.workspace)["total"]

    def usages(self, client):
        what = {"workspace": self.workspace, "symbol": self.ground.target.name, "file": self.ground.target.file}
        return self._judge(client.send("GET", "/v1/usages", query=what), lambda it: it["total"] == self.total)

    def diagnostics(self, client):
        what = {"workspace": self.workspace, "file": self.broken}
        return self._judge(client.send("GET", "/v1/diagnostics", query=what), lambda it: it["counts"]["error"] >= 1)

    def describe(self, client):
        what = {"workspace": self.workspace, "symbol": self.ground.target.name, "file": self.ground.target.file}
        return self._judge(client.send("POST", "/v1/describe", body=what), lambda it: it["usages"]["total"] == self.total)

    def _judge(self, answered, right):
        status, reply = answered
        if status == 200 and right(reply):
            return "right", reply
        if status == 200:
            meta = reply["meta"]
            return ("honest" if not meta["complete"] and meta["missing"] else "wrong"), reply
        return ("honest" if reply.get("code") in HONEST else "wrong"), reply


def gopls_pid(server):
    engine = server.engine("gopls")
    return engine["pid"] if engine and engine.get("pid") and semdex.started_at(engine["pid"]) else None


def kill_gopls(server, truth, options):
    questions = [truth.usages, truth.diagnostics, truth.describe]
    wrong, counts, recovery = [], {"right": 0, "honest": 0}, []
    for number in range(options.rounds):
        pid = semdex.wait_for(lambda: gopls_pid(server), 120.0, lambda: f"a running gopls: {server.engine('gopls')}")
        stop_first = number % 2 == 0
        try:
            if stop_first:
                os.kill(pid, signal.SIGSTOP)
        except ProcessLookupError:
            pass
        askers = [Asker(server.client, it) for it in questions]
        # Not a wait for a condition: the kill comes at different moments of the request, from its first millisecond on.
        time.sleep(0.3 if stop_first else 0.005 * number)
        begin = time.monotonic()
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            # It was a change of the round before, answered for by what was kept of its answers; it is gone all the same.
            pass
        for asker, question in zip(askers, questions):
            asker.join(150.0)
            verdict, reply = asker.verdict or ("lost", "no reply within 150 s")
            if verdict in counts:
                counts[verdict] += 1
            else:
                wrong.append(f"round {number}, {question.__name__}: {verdict}: {str(reply)[:500]}")

        def right_again():
            server.must_live()
            verdicts = [it(server.client) for it in questions]
            wrong.extend(f"round {number}, after the kill: {str(reply)[:500]}" for verdict, reply in verdicts if verdict == "wrong")
            return all(verdict == "right" for verdict, _ in verdicts)

        semdex.wait_for(right_again, 180.0, lambda: f"right answers after kill {number}: {server.engine('gopls')}\n{server.last_words()}")
        recovery.append(time.monotonic() - begin)
        # What was kept of earlier answers serves before the death is noticed; another gopls must come all the same.
        another = lambda: gopls_pid(server) not in (None, pid) and not semdex.started_at(pid)
        semdex.wait_for(another, 60.0, lambda: f"another gopls after kill {number} of {pid}: {server.engine('gopls')}")
    restarts = server.engine("gopls")["restarts"]
    if restarts < options.rounds:
        wrong.append(f"{options.rounds} kills, but the status says {restarts} restarts")
    print(f"kill -9 of gopls, {options.rounds} rounds: {counts}, recovered in {semdex.summary(recovery)}")
    return wrong


def family(server):
    return {pid: semdex.started_at(pid) for pid in semdex.descendants(server.pid) if semdex.started_at(pid)}


def left_of(processes):
    return [pid for pid, began in processes.items() if semdex.started_at(pid) == began]


def end_semdex(options, root, directory, how):
    with semdex.Server(options.server_binary, [root], directory=directory / how.name) as server:
        server.wait_ready(options.ready_timeout)
        gopls = semdex.wait_for(lambda: gopls_pid(server), 120.0, lambda: f"a running gopls: {server.engine('gopls')}")
        processes = family(server)
        if gopls not in processes:
            raise semdex.Failed(f"gopls {gopls} is no descendant of semdex {server.pid}: {processes}")
        begin = time.monotonic()
        os.kill(server.pid, how)
        code = server.process.wait(60.0)
        semdex.wait_for(lambda: not left_of(processes), 10.0, lambda: f"the end of {left_of(processes)} after {how.name} of semdex")
        print(f"{how.name} of semdex: it and its {len(processes)} processes gone after {time.monotonic() - begin:.2f} s, exit code {code}")
        return [f"exit code {code} after SIGTERM"] if how == signal.SIGTERM and code else []


def run(options, directory):
    wrong = []
    for source in options.workspaces:
        if "go" not in semdex.languages(source):
            raise semdex.Failed(f"{source} has no go.mod at its root")
        root = semdex.copy_workspace(source, directory)
        ground = probe.Ground(root, "go")
        with semdex.Server(options.server_binary, [root], directory=directory / "server") as server:
            server.wait_ready(options.ready_timeout)
            wrong += kill_gopls(server, Truth(server, ground), options)
        for how in (signal.SIGKILL, signal.SIGTERM):
            wrong += end_semdex(options, root, directory, how)
    for line in wrong[:20]:
        print(line, file=sys.stderr)
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="kills of gopls (default: %(default)s)")
    semdex.main(run, parser.parse_args())
