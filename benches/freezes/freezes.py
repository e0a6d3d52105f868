#!/usr/bin/env python3
"""Generated texts whose analysis costs much: deep, doubling, recursive, huge, growing (`costly_texts.py` has the classes of each language). Each is
written into a workspace, and while questions about it are answered, everything else is asked too. Then the text is fixed.

Wanted for each text: every other request is answered (never 503 or 504) within the limit, the writer is free within it, questions about the text are
answered or refused within their deadline, the peak of the server's memory is at most 1.3 times that beside harmless texts, and after the text is
fixed every answer is complete and as before. A limit is beyond the longest time of the same request beside harmless
texts of the same run, and times are divided by how much other work slows this machine down at that moment.

A text is named by its language, its class and a number, which are all that makes it: `--only "rust/doubling/7"` makes it again, `--print` shows it.
"""

import collections
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import costly_texts
import semdex_client as semdex

SLOWDOWN = semdex.Slowdown()
TRIES = 60.0
# The deadlines of the server are times of the clock. From this slowdown on, a refusal at one is counted and is no failure.
SLOW = 2.0
# The questions about the text say this themselves; a change has a deadline of the server's.
DEADLINE_MS = 2000
LANGUAGES = {
    "rust": {
        "files": {
            "Cargo.toml": '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": "#![deny(unused_variables)]\npub mod costly;\npub mod good;\n",
            "src/good.rs": "pub fn good(x: u8) -> u8 { x }\npub fn user() -> u8 { good(1) }\n",
        },
        "costly": ("src/costly.rs", "p::costly::costly"),
        "fixed": "pub fn costly() -> u8 { crate::good::good(2) }\n",
        "good": ("src/good.rs", "p::good::good", "fn user()", "fn other()"),
        "also": ("src/lib.rs", "deny", "warn"),
    },
    "go": {
        "files": {
            "go.mod": "module example.com/p\n\ngo 1.21\n",
            "good/good.go": "package good\n\nfunc Good(x int) int { return x }\n\nfunc User() int { return Good(1) }\n",
        },
        "costly": ("costly.go", "example.com/p.costly"),
        "fixed": 'package p\n\nimport "example.com/p/good"\n\nfunc costly() int { return good.Good(2) }\n',
        "good": ("good/good.go", "example.com/p/good.Good", "func User()", "func Other()"),
    },
    "python": {
        "files": {"pyproject.toml": '[project]\nname = "p"\n', "good.py": "def good(x: int) -> int:\n    return x\n\n\ndef user() -> int:\n    return good(1)\n"},
        "costly": ("costly.py", "costly.py::costly"),
        "fixed": "from good import good\n\n\ndef costly() -> int:\n    return good(2)\n",
        "good": ("good.py", "good.py::good", "def user()", "def other()"),
    },
    "typescript": {
        "files": {
            "package.json": '{"name": "p"}\n',
            "tsconfig.json": '{"compilerOptions": {"strict": true}}\n',
            "good.ts": "export function good(x: number): number { return x; }\nexport function user(): number { return good(1); }\n",
        },
        "costly": ("costly.ts", "costly.ts::costly"),
        "fixed": 'import { good } from "./good";\nexport function costly(): number { return good(2); }\n',
        "good": ("good.ts", "good.ts::good", "function user()", "function other()"),
    },
}


def peak_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


class Trial:
    """A workspace of one language, and the server that answers about it."""

    def __init__(self, language, options, directory):
        self.language, self.options, self.plan = language, options, LANGUAGES[language]
        self.directory = directory / language
        self.root = self.directory / "workspace"
        for name, text in self.plan["files"].items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        self.starts, self.server = 0, None
        self.calm, self.peak = {}, 0
        self.failures, self.longest, self.refused_when_slow = [], collections.Counter(), 0
        self.write(self.plan["fixed"])

    def write(self, text):
        (self.root / self.plan["costly"][0]).write_text(text)

    def start(self):
        if self.server:
            self.server.stop()
        self.starts += 1
        self.server = semdex.Server(self.options.server_binary, [self.root], True, self.directory / f"server{self.starts}")
        self.server.client.timeout = 180.0
        self.server.wait_ready(self.options.ready_timeout)
        for _ in range(3):
            self.one("harmless", self.plan["fixed"], is_calm=True)
        self.peak = peak_bytes(self.server.pid)

    def others(self, client):
        """Each request about other code, and its name."""
        file, symbol, before, after = self.plan["good"]
        yield "diagnostics", "GET", "/v1/diagnostics", {"file": file}, None
        yield "usages", "GET", "/v1/usages", {"symbol": symbol}, None
        yield "describe", "POST", "/v1/describe", None, {"symbol": symbol}
        yield "open", "POST", "/v1/open", None, {"file": file}
        yield "dry run", "POST", "/v1/edit", None, {"file": file, "search_context": before, "replacement": after, "dry_run": True}
        if also := self.plan.get("also"):
            yield "dry run of lints", "POST", "/v1/edit", None, {"file": also[0], "search_context": also[1], "replacement": also[2], "dry_run": True}
        yield "write", "POST", "/v1/write", None, {"name": "note.txt", "content": str(time.monotonic()), "mode": "overwrite"}

    def questions(self, text):
        """About the text itself."""
        file, symbol = self.plan["costly"]
        at = max(text.rfind(" x"), text.find("costly")) + 1
        yield "diagnostics", "GET", "/v1/diagnostics", {"file": file, "wait_ms": DEADLINE_MS}, None
        yield "symbol at", "GET", "/v1/symbols/at", {"file": file, "offset": len(text[:at].encode()), "wait_ms": DEADLINE_MS}, None
        yield "describe", "POST", "/v1/describe", None, {"symbol": symbol, "wait_ms": DEADLINE_MS}
        yield "callees", "GET", "/v1/callees", {"symbol": symbol, "wait_ms": DEADLINE_MS}, None
        yield "open", "POST", "/v1/open", None, {"file": file, "wait_ms": DEADLINE_MS}
        edit = {"file": file, "search_context": "costly(", "replacement": "costly2(", "near_line": 1, "dry_run": True, "wait_ms": DEADLINE_MS}
        yield "dry run", "POST", "/v1/edit", None, edit

    def one(self, name, text, is_calm=False):
        """Writes the text, asks, fixes it, asks again."""
        found, client = [], self.server.client.another()
        client.timeout = 180.0
        stop = threading.Event()

        def note(kind, what, whole, seconds, status, reply):
            slowdown = whole / seconds if seconds else 1.0
            if status in (503, 504) and kind == "others" and slowdown >= SLOW:
                self.refused_when_slow += 1
            elif status not in (200, 404, 409) and kind == "others":
                found.append(f"{what}: {status} {reply.get('code')} {reply.get('detail')}"[:300])
            if kind == "own" and status >= 500 and status not in (503, 504):
                found.append(f"about it, {what}: {status} {reply}"[:400])
            key = f"{kind}: {what}"
            if is_calm:
                self.calm[key] = max(self.calm.get(key, 0.0), seconds)
                return
            allowed = self.calm.get(key, 0.0) + (self.options.within if kind == "others" else self.options.within + 2 * DEADLINE_MS / 1000)
            self.longest[key] = max(self.longest[key], seconds)
            if seconds > allowed:
                found.append(f"{key}: {seconds:.1f} s ({whole:.1f} s on this machine), {allowed:.1f} s allowed")

        def send(kind, which, mine):
            for what, method, path, query, body in which:
                started = time.perf_counter()
                try:
                    status, reply = mine.send(method, path, query, body)
                except OSError as error:
                    found.append(f"{kind}: {what}: {error!r} after {time.perf_counter() - started:.1f} s")
                    continue
                seconds = time.perf_counter() - started
                note(kind, what, seconds, seconds / SLOWDOWN.since(started), status, reply)

        def others():
            own = self.server.client.another()
            own.timeout = 180.0
            while True:
                send("others", self.others(own), own)
                if stop.is_set():
                    return

        self.write(text)
        beside = threading.Thread(target=others, daemon=True)
        beside.start()
        send("own", self.questions(text), client)
        stop.set()
        beside.join()
        self.write(self.plan["fixed"])
        self.check_fixed(client, found)
        client.close()
        if is_calm and found:
            print(f"beside a harmless text of {self.language}: {found}", file=sys.stderr)
        if not is_calm:
            peak = peak_bytes(self.server.pid)
            if peak > 1.3 * self.peak:
                found.append(f"memory: {peak >> 20} MiB, {self.peak >> 20} MiB beside harmless texts")
                self.peak = peak
            self.failures += [(name, it) for it in found]
        return found

    def check_fixed(self, client, found):
        """Everything is as before, soon."""
        file, symbol = self.plan["costly"][0], self.plan["good"][1]
        started, last = time.perf_counter(), None
        while (time.perf_counter() - started) / SLOWDOWN.since(started) < TRIES:
            last = []
            for path, query, right in (
                ("/v1/usages", {"symbol": symbol}, lambda it: it["total"] >= 2),
                ("/v1/diagnostics", {"file": file}, lambda it: it["items"] == []),
                ("/v1/diagnostics", {"file": self.plan["good"][0]}, lambda it: it["items"] == []),
            ):
                status, reply = client.send("GET", path, {**query, "wait_ms": 30_000})
                if status != 200 or not right(reply) or not reply["meta"]["complete"]:
                    last.append(f"after it is fixed, {path}: {status} {reply['meta']['missing']} {str(reply)[:300]}")
            if not last:
                break
        seconds = (time.perf_counter() - started) / SLOWDOWN.since(started)
        self.longest["fixed"] = max(self.longest["fixed"], seconds)
        found += last or []


def named(name):
    language, kind, number = name.split("/")
    return costly_texts.GENERATORS[language][kind](random.Random(name)), language


def plan(options):
    if options.only:
        return options.only
    kinds = [f"{language}/{kind}" for language in options.language or LANGUAGES for kind in costly_texts.GENERATORS[language]]
    return [f"{kinds[it % len(kinds)]}/{options.seed + it // len(kinds)}" for it in range(options.count)]


def run(options, directory):
    names = plan(options)
    if options.print:
        for name in names:
            print(f"==== {name}\n{named(name)[0]}")
        return 0
    trials, counted, end = {}, collections.Counter(), time.monotonic() + options.minutes * 60
    for name in names:
        if time.monotonic() > end:
            print(f"the time is over: {sum(counted.values())} of {len(names)} texts")
            break
        text, language = named(name)
        trial = trials.get(language)
        if not trial:
            trial = trials[language] = Trial(language, options, directory)
            trial.start()
        started = time.monotonic()
        found = trial.one(name, text)
        counted[language] += 1
        print(f"{name}: {len(text)} bytes, {time.monotonic() - started:.1f} s{'' if found else ', fine'}", flush=True)
        for it in found:
            print(f"    {it}", flush=True)
        if trial.server.process.poll() is not None:
            trial.failures.append((name, f"the server ended: {trial.server.last_words(3)}"))
            trial.start()
        elif found:
            # What this text left behind is not the next one's fault.
            trial.start()
        elif counted[language] % 10 == 0:
            trial.one("harmless", trial.plan["fixed"], is_calm=True)
    for trial in trials.values():
        trial.server.stop()
        rows = [{"request": it, "harmless s": f"{trial.calm.get(it, 0):.2f}", "longest s": f"{seconds:.2f}"} for it, seconds in sorted(trial.longest.items())]
        print(f"\n== {trial.language}: {counted[trial.language]} texts, {len({it[0] for it in trial.failures})} fail; {trial.refused_when_slow} other requests refused while the machine was slow")
        semdex.table(rows, ["request", "harmless s", "longest s"])
        for kind, count in collections.Counter(name.split("/")[1] for name in {it[0] for it in trial.failures}).most_common():
            print(f"  {count}x {kind}")
    return 1 if any(it.failures for it in trials.values()) else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__, workspace=False)
    parser.add_argument("--count", type=int, default=1000, help="texts (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=600.0, help="stop after this time (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="the first number of each class (default: %(default)s)")
    parser.add_argument("--language", action="append", choices=list(LANGUAGES), help="may be given several times (default: all)")
    parser.add_argument("--only", action="append", metavar="NAME", help="one text, by its name; may be given several times")
    parser.add_argument("--print", action="store_true", help="print the texts instead")
    parser.add_argument("--within", type=float, default=1.0, metavar="S", help="(default: %(default)s)")
    semdex.main(run, parser.parse_args())
