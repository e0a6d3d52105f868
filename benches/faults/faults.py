#!/usr/bin/env python3
"""Each open, write, fsync and rename of a change fails in turn, with EIO, ENOSPC and EACCES, in the program as it is: strace makes the system
call of the thread that writes the files, or of the one that writes the journal, fail at its first, second, … time.

Whatever fails: no file is torn; what is answered as applied is on the disk in all its files, what is refused in none, unless the
answer says what could not be taken back, which the next start or change then does; no temporary file is left; the next edit works.
"""

import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

ERRORS = ("EIO", "ENOSPC", "EACCES")
CALLS = {
    "writer": ("openat", "pwrite64", "fsync", "renameat2", "fchmod"),
    "journal-db": ("openat", "pwrite64", "fsync", "fdatasync"),
}
NAMES = ("a.txt", "dir/b.txt", "c.txt")
FILLER = "".join(f"line {i}\n" for i in range(2000))
MOST = 80


class Files:
    def __init__(self, root):
        self.root, self.generation = root, {name: 0 for name in NAMES}
        for name in NAMES:
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text(0))

    def change(self, several):
        """The request, and what the files hold after it."""
        names = NAMES if several else NAMES[:1]
        edits = [edit(name, self.generation[name]) for name in names]
        return {"edits": edits, "autofix": 0}, {name: self.generation[name] + (name in names) for name in NAMES}

    def found(self, after):
        """The generations on the disk, and what is torn."""
        state, torn = {}, []
        for name in NAMES:
            content = (self.root / name).read_text()
            known = [it for it in (self.generation[name], after[name]) if text(it) == content]
            state[name] = known[0] if known else None
            torn += [] if known else [f"{name}: {len(content)} characters, {content[:30]!r}"]
        return state, torn

    def temporary(self):
        return [it.name for it in self.root.rglob(".semdex-*")]


def text(generation):
    return f"generation {generation}.\n{FILLER}"


def edit(name, old):
    return {"file": name, "search_context": f"generation {old}.", "replacement": f"generation {old + 1}."}


def thread(pid, name):
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().startswith(name):
            return int(task.name)
    return None


class Failing:
    """Has a thread's system call fail at its n-th time from now on."""

    def __init__(self, thread, call, error, number, log):
        what = f"inject={call}:error={error}:when={number}"
        self.log = log
        command = ["strace", "-p", str(thread), "-e", f"trace={call}", "-e", what, "-o", str(log)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        first = self.process.stderr.readline().decode()
        if "attached" not in first:
            raise semdex.Failed(f"strace did not attach: {first}")

    def end(self):
        """How often it failed, and how often it was called."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20.0)
        self.process.stderr.close()
        said = self.log.read_text(errors="replace")
        return said.count("(INJECTED)"), len(re.findall(r"^\w+\(", said, re.MULTILINE))


class Trial:
    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.root = directory / "workspace"
        self.root.mkdir()
        self.files, self.wrong, self.counts = Files(self.root), [], {}
        self.server = None
        self.start()

    def start(self):
        self.server = semdex.Server(self.options.server_binary, [self.root], directory=self.directory / "server")
        # The journal's thread is there after the first change.
        self.send(*self.files.change(False), "a first change")

    def send(self, body, after, what, failing=None):
        """Makes a change, and judges what came of it. Answers with whether it was applied."""
        try:
            status, reply = self.server.client.send("POST", "/v1/edit", body=body)
        finally:
            injected, calls = failing.end() if failing else (0, 0)
        applied = status == 200 and reply["applied"]
        state, torn = self.files.found(after)
        expected = after if applied else self.files.generation
        remains = not applied and "not taken back everywhere" in reply.get("detail", "")
        told = f"{what}: {status} {str(reply.get('detail', reply))[:300]}"
        if torn:
            self.wrong.append(f"{told}: torn: {torn}")
        elif remains:
            self.restore(told)
        elif state != expected:
            self.wrong.append(f"{told}: the files are {state}, not {expected}")
            self.files.generation = state
        else:
            self.files.generation = expected
        if left := self.files.temporary():
            self.wrong.append(f"{told}: left over: {left}")
        hidden = "openat EACCES" in what and reply.get("code") == "unknown_file"
        if status != 200 and not hidden and reply.get("code") not in ("internal", "disk_full", "permission_denied", "busy", "not_ready", "conflict"):
            self.wrong.append(f"{told}: an unexpected code")
        if status == 200 and not applied:
            self.wrong.append(f"{told}: neither applied nor refused")
        return applied, injected, calls

    def restore(self, told):
        """What could not be taken back is by the next start, or by the next change, whatever that is of."""
        starts = self.counts.get("taken back by the next start", 0) <= self.counts.get("taken back by the next change", 0)
        how = f"taken back by the next {'start' if starts else 'change'}"
        self.counts[how] = self.counts.get(how, 0) + 1
        if starts:
            self.server.stop()
            self.server = semdex.Server(self.options.server_binary, [self.root], directory=self.directory / "server")
            self.server.client.get("/v1/changes", limit=1)
        else:
            self.server.client.post("/v1/write", name="other.txt", content=f"{told}\n", mode="overwrite")
        state, torn = self.files.found(self.files.generation)
        if torn or state != self.files.generation:
            self.wrong.append(f"{told}: {how}: {torn or state}")

    def one(self, role, call, error, number, several):
        """Whether the call still came so often."""
        target = thread(self.server.pid, role)
        if target is None:
            raise semdex.Failed(f"the server has no thread {role}:\n{self.server.last_words()}")
        failing = Failing(target, call, error, number, self.directory / "strace.log")
        what = f"{role} {call} {error} #{number} {'several' if several else 'single'}"
        applied, injected, _ = self.send(*self.files.change(several), what, failing)
        outcome = "applied all the same" if applied else "refused, nothing changed"
        if injected:
            self.counts[outcome] = self.counts.get(outcome, 0) + 1
        # What may not be read is not part of the workspace before its permissions change.
        for name in NAMES:
            (self.root / name).chmod(0o644)
        # It goes on as if nothing had been.
        applied, *_ = self.send(*self.files.change(True), f"after {what}")
        if not applied:
            self.wrong.append(f"after {what}: the next edit was refused")
        self.server.must_live()
        return injected > 0


def run(options, directory):
    if not shutil.which("strace"):
        raise semdex.Failed("strace is not installed")
    trial, begin = Trial(options, directory), time.monotonic()
    injections = {}
    try:
        for role, calls in CALLS.items():
            for call in calls:
                for error in ERRORS:
                    for several in (False, True):
                        for number in range(1, MOST):
                            if not trial.one(role, call, error, number, several):
                                break
                            injections[f"{role} {call}"] = injections.get(f"{role} {call}", 0) + 1
                    # And as on a disk that has died: this one and all after it, the taking back included.
                    for number in range(1, 5):
                        if role == "writer" and trial.one(role, call, error, f"{number}+", True):
                            injections["on a dead disk"] = injections.get("on a dead disk", 0) + 1
                        if len(trial.wrong) > 20:
                            raise semdex.Failed("\n".join(trial.wrong))
    finally:
        trial.server.stop()
    print(f"{sum(injections.values())} failures in {time.monotonic() - begin:.0f} s: {injections}")
    print(f"what came of them: {trial.counts}")
    print(f"torn, half made, falsely told or left over: {len(trial.wrong)}")
    for it in trial.wrong[:20]:
        print(f"  {it}", file=sys.stderr)
    for needed in ("writer fsync", "writer renameat2", "writer pwrite64", "journal-db pwrite64"):
        if not injections.get(needed):
            raise semdex.Failed(f"{needed} never failed: nothing was shown of it")
    return 1 if trial.wrong else 0


if __name__ == "__main__":
    semdex.main(run, semdex.arguments(__doc__, workspace=False).parse_args())
