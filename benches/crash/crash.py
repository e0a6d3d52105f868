#!/usr/bin/env python3
"""kill -9 of semdex at random points of a change, of one file or of several, of making files and of taking changes back.

After each kill, before anything is repaired, every file must be wholly old or wholly new. After the next start, before its first
answer, a change must be made in all its files or in none, made if its client was told so; and no temporary file may be left.
A third of the kills comes at a random moment of the whole change, a third soon after its first temporary file is seen, a third soon
after its first file is seen to be swapped; every fourth comes right after the answer.

Of half the changes that were answered, somebody takes back, edits or deletes one of the files or all of them before the next start. Then
what somebody wrote must stay, and so must the change: in its other files, and in the list of changes.
"""

import http.client
import json
import os
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

FILES = 6
AIMS = ("any moment", "first temporary file", "first swap")
KINDS = ("single", "several", "make", "undo")


class Model:
    """What the files hold: each a generation, or none; and what a change makes of that."""

    def __init__(self, root, random):
        self.root, self.random = root, random
        self.filler = {name: "".join(f"{name} line {i} {random.random()}\n" for i in range(random.choice([5, 500, 2000]))) for name in self.names()}
        self.state = {name: 0 for name in self.names() if not name.startswith("new/")}
        self.undo = None
        for name, generation in self.state.items():
            self.path(name).parent.mkdir(parents=True, exist_ok=True)
            self.path(name).write_text(self.text(name, generation))

    def names(self):
        return [f"f{i}.txt" if i % 2 else f"dir{i}/f{i}.txt" for i in range(FILES)] + ["new/deep/made.txt"]

    def path(self, name):
        return self.root / name

    def text(self, name, generation):
        return f"generation {generation}.\n{self.filler[name]}"

    def found(self, expected):
        """The state on disk, each file read against the states that it may be in; a file in none of them is torn."""
        state, torn = {}, []
        for name in self.names():
            try:
                text = self.path(name).read_text()
            except FileNotFoundError:
                continue
            known = [it[name] for it in expected if name in it and self.text(name, it[name]) == text]
            if known:
                state[name] = known[0]
            else:
                torn.append(f"{name}: {len(text)} characters, begins with {text[:40]!r}")
        return state, torn

    def temporary(self):
        return [str(it) for it in self.root.rglob(".semdex-*")]

    def change(self, kind):
        """The request and the state that it makes."""
        after = dict(self.state)
        if kind == "undo" and self.undo:
            token, before = self.undo
            return ("/v1/undo", {"change": token}), before
        if kind == "make":
            if "new/deep/made.txt" in self.state:
                kind = "several"
            else:
                after["new/deep/made.txt"] = 0
                content = self.text("new/deep/made.txt", 0)
                return ("/v1/write", {"name": "new/deep/made.txt", "content": content, "mode": "create"}), after
        names = sorted(self.state) if kind != "single" else [self.random.choice(sorted(self.state))]
        edits = []
        for name in names:
            old = self.state[name]
            after[name] = old + 1
            edits.append({"file": name, "search_context": f"generation {old}.", "replacement": f"generation {old + 1}."})
        return ("/v1/edit", {"edits": edits, "autofix": 0}), after


def alter(model, before, after):
    """What somebody makes of some of a change's files: taken back, edited or deleted."""
    changed = [name for name in model.names() if before.get(name) != after.get(name)]
    state = dict(after)
    for name in changed if model.random.random() < 0.3 else [model.random.choice(changed)]:
        # Enough is left to change.
        deed = model.random.choice(("revert", "edit", "delete") if len(state) > 4 else ("revert", "edit"))
        generation = before.get(name) if deed == "revert" else after.get(name, 0) + 1000 if deed == "edit" else None
        if generation is None:
            model.path(name).unlink(missing_ok=True)
            state.pop(name, None)
        else:
            model.path(name).parent.mkdir(parents=True, exist_ok=True)
            model.path(name).write_text(model.text(name, generation))
            state[name] = generation
    return state


class Sender(threading.Thread):
    def __init__(self, client, request):
        super().__init__(daemon=True)
        self.client, self.request, self.reply, self.sent = client, request, None, threading.Event()

    def run(self):
        path, body = self.request
        data = json.dumps(body).encode()
        connection = self.client._connection
        headers = {"Authorization": f"Bearer {self.client.token}", "Content-Type": "application/json"}
        try:
            self.sent.set()
            connection.request("POST", path, body=data, headers=headers)
            response = connection.getresponse()
            self.reply = response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError):
            pass


def identities(model):
    found = []
    for name in model.names():
        try:
            found.append(os.stat(model.path(name)).st_ino)
        except OSError:
            found.append(None)
    return found


def wait_until(sees, sender, seconds=5.0):
    until = time.perf_counter() + seconds
    while not sees() and sender.reply is None and time.perf_counter() < until:
        pass


def spin(seconds):
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def run(options, directory):
    chance = random.Random(options.seed)
    # Otherwise a waiting thread would keep its partner from sending.
    sys.setswitchinterval(1e-4)
    root = directory / "workspace"
    root.mkdir()
    model = Model(root, chance)
    wrong, counts = [], {kind: 0 for kind in KINDS}
    outcomes = {"none of it": 0, "half of it": 0, "all of it": 0}
    told, altered, long, begin = 0, 0, {}, time.monotonic()
    pending = None

    def check(server):
        """After a start: what the last change came to. The first answer is one that the journal has no part in."""
        nonlocal pending
        server.client.send("POST", "/v1/describe", body={"file": "f1.txt"})
        if pending is None:
            return
        kind, before, after, reply, theirs = pending
        state, torn = model.found([before, after] if theirs is None else [theirs])
        if torn or state not in ([before, after] if theirs is None else [theirs]):
            wrong.append(f"{kind}: {torn or state} is neither {before} nor {after}, altered to {theirs}")
        is_told = bool(reply and reply[0] == 200)
        if is_told and theirs is None and state != after:
            wrong.append(f"{kind}: told that it was made, and it is not")
        if left := model.temporary():
            wrong.append(f"{kind}: left over: {left}")
        model.state = state
        pending = None
        changes = server.client.get("/v1/changes", limit=1)["changes"]
        if is_told and (not changes or changes[0]["change"] != reply[1]["change"]):
            wrong.append(f"{kind}: told that it was made, and it is not in the list of changes; altered to {theirs}")
        made = state == after and before != after
        model.undo = (changes[0]["change"], before) if made and changes else None

    for number in range(options.rounds + 1):
        with semdex.Server(options.server_binary, [root], directory=directory / "server") as server:
            check(server)
            if number == options.rounds or len(wrong) > 10:
                break
            kind = chance.choice(KINDS + ("several",))
            request, after = model.change(kind)
            counts[kind] += 1
            before = dict(model.state)
            sender = Sender(server.client, request)
            usual = long.get(kind, 0.01)
            aim = AIMS[number % len(AIMS)]
            inodes, directories = identities(model), {it.parent for it in map(model.path, model.names()) if it.parent.exists()}
            seen = {
                "first temporary file": lambda: any(it.startswith(".semdex-") for d in directories for it in os.listdir(d)),
                "first swap": lambda: identities(model) != inodes,
            }
            sender.start()
            sender.sent.wait()
            if number % 4 == 0:
                # Every fourth change shows how long one takes, and is killed as soon as it is answered.
                asked = time.perf_counter()
                sender.join(60.0)
                took = time.perf_counter() - asked
                long[kind] = took if kind not in long else 0.7 * long[kind] + 0.3 * took
            elif aim == "any moment":
                spin(usual * chance.uniform(0.0, 1.1))
            else:
                wait_until(seen[aim], sender)
                spin(chance.uniform(0.0, 0.004 if aim == "first temporary file" else 0.001))
            server.process.kill()
            server.process.wait(60.0)
            sender.join(60.0)
            server.client.close()
        state, torn = model.found([before, after])
        wrong.extend(f"{kind}: torn before the repair: {it}" for it in torn)
        outcomes["all of it" if state == after else "none of it" if state == before else "half of it"] += 1
        told += bool(sender.reply)
        if sender.reply and sender.reply[0] != 200:
            wrong.append(f"{kind}: refused: {str(sender.reply[1])[:300]}")
        theirs = None
        if state == after and before != after and sender.reply and sender.reply[0] == 200 and chance.random() < 0.5:
            theirs = alter(model, before, after)
            altered += 1
        pending = kind, before, after, sender.reply, theirs
    seconds = time.monotonic() - begin
    kills = sum(counts.values())
    print(f"{kills} kills in {seconds:.0f} s ({counts}); a change takes {', '.join(f'{k} {v * 1e3:.1f} ms' for k, v in long.items())}")
    print(f"on the disk right after the kill: {outcomes}; {told} were answered before it, {altered} of them altered by somebody before the next start")
    print(f"torn, half made, falsely told or left over: {len(wrong)}")
    for it in wrong[:20]:
        print(f"  {it}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__, workspace=False)
    parser.add_argument("--rounds", type=int, default=2000, help="kills (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default: %(default)s)")
    semdex.main(run, parser.parse_args())
