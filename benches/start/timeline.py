#!/usr/bin/env python3
"""The first minutes as a new user sees them: semdex is started on a workspace with an empty cache and an empty state directory, and asked the
same few questions each second until it is ready and for some seconds more. Tells when the state and the answers changed, and how long each
question took at most between two changes.

It falls short where an answer took much longer than it was allowed to wait, where an error calls itself complete, or where an answer is not
complete though the state is `ready`.
"""

import collections
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

SUFFIX = {"rust": ".rs", "go": ".go"}
WAIT_MS = 1000
# What an answer may take beyond the wait: computing, giving up, and the machine's other work.
BEYOND_MS = 5000


def subject(root):
    """The largest source file, and the item at its top level, declared nowhere else, whose name stands in the most files."""
    suffix = SUFFIX[semdex.languages(root)[0]]
    texts = {it: (root / it).read_text(errors="replace") for it in semdex.source_files(root, suffix)}
    plain = {it: text for it, text in texts.items() if not re.search(r"(^|/)(tests?|benches|examples)/|_test\.go$", it)}
    declares = re.compile(r"^(?:pub(?:\([^)]*\))?\s+)?(?:fn|struct|enum|trait|func|type)\s+(\w+)", re.MULTILINE)
    declared = collections.Counter(name for text in texts.values() for name in declares.findall(text))
    for file in sorted(plain, key=lambda it: len(plain[it]), reverse=True):
        if once := sorted(it for it in declares.findall(plain[file]) if declared[it] == 1 and it != "main"):
            return file, max(once, key=lambda name: sum(bool(re.search(rf"\b{name}\b", text)) for text in texts.values()))
    raise SystemExit(f"{root} declares nothing at the top level of a file")


def asked(client, method, path, query=None, body=None):
    """(what came of it, milliseconds, whether it is complete, what is wrong with it)."""
    begin = time.perf_counter()
    status, reply = client.send(method, path, query, body)
    took = (time.perf_counter() - begin) * 1000
    meta = reply.get("meta") or {}
    # What is switched off for this target stays unknown however long one waits.
    complete = meta.get("complete", False) or {it["code"] for it in meta.get("missing", [])} == {"cfg_off"}
    codes = ",".join(sorted({it["code"] for it in meta.get("missing", [])}))
    told = codes or ("complete" if complete else "incomplete")
    if status >= 400:
        wrong = f"{status} {reply.get('code')} says that it is complete" if complete and status >= 500 else None
        return f"{status} {reply.get('code')} {told}", took, complete, wrong
    return told, took, complete, None


def questions(file, symbol):
    about = {"symbol": symbol, "file": file}
    wait = {"wait_ms": WAIT_MS}
    return {
        "open": (0, "POST", "/v1/open", None, {"file": file}),
        "open+1s": (WAIT_MS, "POST", "/v1/open", None, {"file": file, **wait}),
        "usages": (WAIT_MS, "GET", "/v1/usages", {**about, **wait}, None),
        "describe": (WAIT_MS, "POST", "/v1/describe", None, {**about, **wait}),
        "dry run": (WAIT_MS, "POST", "/v1/edit", None, {"dry_run": True, "edits": [{"symbol": symbol, "file": file, "at": "delete"}], **wait}),
    }


class Stretch:
    """Rounds in which nothing changed."""

    def __init__(self, since, state, told):
        self.since, self.state, self.told, self.rounds, self.most = since, state, told, 0, {}

    def add(self, took):
        self.rounds += 1
        self.most = {name: max(ms, self.most.get(name, 0.0)) for name, ms in took.items()}

    def tell(self):
        answers = "; ".join(f"{name} {self.told[name]} ({self.most[name]:.0f} ms)" for name in self.told)
        print(f"{self.since:6.1f} s  {self.state:32}  {self.rounds:3} rounds  {answers}", flush=True)


def watch(server, root, options, file, symbol):
    print(f"\n{root.name}: {file}, {symbol}")
    short, stretch, ready_since, asks = [], None, None, questions(file, symbol)
    while True:
        round_begun = time.monotonic()
        since = round_begun - server.started
        server.must_live()
        status = server.workspaces()[0]
        stage = (status.get("progress") or {}).get("stage", "")
        told, took = {}, {}
        for name, (wait, *ask) in asks.items():
            told[name], took[name], complete, wrong = asked(server.client, *ask)
            if took[name] > wait + BEYOND_MS:
                short.append(f"{since:.0f} s: {name} took {took[name]:.0f} ms, with {wait} ms to wait")
            if wrong:
                short.append(f"{since:.0f} s: {name}: {wrong}")
            if not complete and ready_since:
                short.append(f"{since:.0f} s: {name} is not complete, though the workspace was ready: {told[name]}")
        state = f"{status['state']} {re.sub(r'[0-9/]+', '', stage)[:22]}".strip()
        if stretch is None or (stretch.state, stretch.told) != (state, told):
            if stretch:
                stretch.tell()
            stretch = Stretch(since, state, told)
        stretch.add(took)
        if status["state"] == "ready":
            ready_since = ready_since or time.monotonic()
            if time.monotonic() - ready_since > options.after:
                break
        elif since > options.ready_timeout:
            short.append(f"not ready after {since:.0f} s: {status}")
            break
        time.sleep(max(0.0, 1.0 - (time.monotonic() - round_begun)))
    stretch.tell()
    return short


def run(options, directory):
    short = []
    for source in options.workspaces:
        root = semdex.copy_workspace(source, directory)
        # Before the start: it takes seconds.
        file, symbol = subject(root)
        home = directory / f"server-{root.name}"
        cache = home / "cache"
        cache.mkdir(parents=True)
        with semdex.Server(options.server_binary, [root], directory=home, environment={"XDG_CACHE_HOME": str(cache)}) as server:
            short += [f"{root.name}: {it}" for it in watch(server, root, options, file, symbol)]
    for line in short:
        print(line, file=sys.stderr)
    return 1 if short else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--after", type=float, default=5.0, metavar="S", help="how long to go on once all is ready (default: %(default)s)")
    semdex.main(run, parser.parse_args())
