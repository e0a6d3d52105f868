#!/usr/bin/env python3
"""Runs of a model that follows a script, in a Bedrock that this program serves on loopback: right at once, repaired after an error, never
right, throttled, cut off. Each must end as it should, with the files that it should leave, byte for byte, and nothing else changed.

Told are the tokens of the prompts, and how long it takes from the model's last token to what the edit breaks, and to "verified", beside
applying the same edit by hand and running the compiler on a copy.
"""

import collections
import http.server
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import threading
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

KINDS = ["right", "repaired", "never", "throttled", "cut"]


class Bedrock(http.server.ThreadingHTTPServer):
    """Says what `script` has, one part for each request."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.bodies = collections.deque(), []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def environment(self):
        return {
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": f"http://127.0.0.1:{self.server_address[1]}",
            "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "example",
            "AWS_REGION": "eu-central-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(body)
        what, text = self.server.script.popleft() if self.server.script else ("refuse", "")
        if what in ("throttle", "refuse"):
            name, status = ("ThrottlingException", 429) if what == "throttle" else ("ValidationException", 400)
            answer = b'{"message": "as the script says"}'
            self.send_response(status)
            self.send_header("x-amzn-errortype", name)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.amazon.eventstream")
        self.end_headers()
        self.event("messageStart", {"role": "assistant"})
        for at in range(0, len(text), 40):
            self.event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text[at : at + 40]}})
        if what == "cut":
            return
        self.event("messageStop", {"stopReason": "end_turn"})
        self.event("metadata", {"usage": {"inputTokens": 10, "outputTokens": 1, "totalTokens": 11}, "metrics": {"latencyMs": 1}})

    def event(self, name, payload):
        headers = b""
        for key, value in ((":message-type", "event"), (":event-type", name), (":content-type", "application/json")):
            headers += bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        body = json.dumps(payload).encode()
        prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
        message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + body
        self.wfile.write(message + struct.pack(">I", zlib.crc32(message)))
        self.wfile.flush()


LANGUAGES = {
    "rust": {
        "suffix": ".rs",
        "declares": re.compile(r"^(?:pub )?fn \w+\(.*\{$"),
        "right": "#[allow(dead_code)]\nfn semdex_{n}() -> u32 {{\n    {n}\n}}",
        "wrong": '#[allow(dead_code)]\nfn semdex_{n}() -> u32 {{\n    no_such_name_{n}\n}}',
        # What `verify` checks: a benchmark may need a nightly compiler.
        "by_hand": ["cargo", "check", "--workspace", "--lib", "--bins", "--tests", "--examples", "--quiet", "--offline"],
    },
    "go": {
        "suffix": ".go",
        "declares": re.compile(r"^func \w+\(.*\{$"),
        "right": "func semdex{n}() int {{\n\treturn {n}\n}}",
        "wrong": "func semdex{n}() int {{\n\treturn noSuchName{n}\n}}",
        "by_hand": ["go", "vet", "./..."],
    },
}


def places(root, language):
    """Lines that begin a function, with nothing that belongs to it above, and whose text stands once in their files."""
    found = []
    for name in semdex.source_files(root, language["suffix"]):
        if re.search(r"(^|/)(tests?|fuzz|benches|examples|build\.rs|testdata)", name) or name.endswith("_test.go"):
            continue
        text = (root / name).read_text(errors="replace")
        # What another build takes is checked by nobody here, however wrong it is.
        if re.search(r"^//go:build ", text, re.MULTILINE):
            continue
        lines = text.split("\n")
        for at, line in enumerate(lines):
            if at and not lines[at - 1].strip() and language["declares"].match(line) and text.count(line) == 1:
                found.append((name, line))
    return found


def block(name, search, replacement):
    return f"{name}\n<<<<<<< SEARCH\n{search}\n=======\n{replacement}\n>>>>>>> REPLACE\n"


def tree(root):
    files = (it for it in sorted(root.rglob("*")) if it.is_file() and not {".git", "target"} & set(it.relative_to(root).parts))
    return {str(it.relative_to(root)): it.read_bytes() for it in files}


def one(bedrock, server, root, kind, name, line, language, number):
    """Carries a run out. Answers with its state at the end, and with what was wrong."""
    right = block(name, line, language["right"].format(n=number) + "\n\n" + line)
    wrong = block(name, line, language["wrong"].format(n=number) + "\n\n" + line)
    mended = block(name, language["wrong"].format(n=number), language["right"].format(n=number))
    before = tree(root)
    after = dict(before)
    if kind != "never":
        text = before[name].decode()
        after[name] = text.replace(line, language["right"].format(n=number) + "\n\n" + line).encode()
    bedrock.bodies.clear()
    bedrock.script = collections.deque(
        {
            "right": [("say", right)],
            "repaired": [("say", wrong), ("say", mended)],
            "never": [("say", wrong), ("say", "I see nothing wrong.\n")],
            "throttled": [("throttle", ""), ("throttle", ""), ("say", right)],
            "cut": [("cut", right[: len(right) // 2]), ("say", right)],
        }[kind]
    )
    task = {"prompt": f"Add the function number {number} to {name}.", "verify": ["check"], "max_retries": 1}
    token = server.client.post("/v1/runs", **task)["run"]
    run = semdex.wait_for(
        lambda: (it := server.client.get(f"/v1/runs/{token}"))["state"] != "running" and it, 900, f"the end of a run, {kind}"
    )
    wrongs = []
    wanted = "failed" if kind == "never" else "succeeded"
    if run["state"] != wanted:
        wrongs.append(f"{kind} of {name}: {run['state']}, {run['reason']}")
    now = tree(root)
    lost = sorted(it for it in after.keys() | now.keys() if after.get(it) != now.get(it))
    if lost:
        wrongs.append(f"{kind} of {name}: not as they should be: {', '.join(lost[:5])}")
    if run["usage"]["input_tokens"] != 10 * len(run["attempts"]):
        wrongs.append(f"{kind}: usage {run['usage']} of {len(run['attempts'])} replies")
    # What stays is taken back, for the next one.
    for change in reversed(run["changes"]):
        server.client.post("/v1/undo", change=change)
    return run, wrongs


def by_hand(root, name, line, language, number):
    """The same edit, and the compiler."""
    path = root / name
    old = path.read_text()
    started = time.perf_counter()
    path.write_text(old.replace(line, language["right"].format(n=number) + "\n\n" + line))
    ended = subprocess.run(language["by_hand"], cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    took = time.perf_counter() - started
    path.write_text(old)
    if ended.returncode:
        raise semdex.Failed(f"by hand {name} does not compile: {ended.stderr.decode()[-400:]}")
    return took


def run(options, directory):
    short = []
    for workspace in options.workspaces:
        root = semdex.copy_workspace(workspace, directory)
        copy = semdex.copy_workspace(workspace, directory / "by-hand")
        spoken = semdex.languages(root)
        if not spoken:
            raise semdex.Failed(f"{workspace} is neither Rust nor Go")
        language = LANGUAGES[spoken[0]]
        all_places = places(root, language)
        chance = random.Random(options.seed)
        bedrock = Bedrock()
        ended, tokens, impact, verified, hand = collections.Counter(), [], [], [], []
        with semdex.Server(options.server_binary, [root], directory=directory / f"server-{root.name}", environment=bedrock.environment()) as server:
            server.wait_ready(options.ready_timeout)
            server.wait_indexed()
            for number in range(options.count + 1):
                kind = KINDS[number % len(KINDS)] if number else "right"
                name, line = chance.choice(all_places)
                result, wrongs = one(bedrock, server, root, kind, name, line, language, number)
                took = by_hand(copy, name, line, language, number)
                if number == 0:
                    # The first one builds everything.
                    short += wrongs
                    continue
                short += wrongs
                ended[f"{kind}: {result['state']}"] += 1
                tokens += [len(it) / 4 for it in bedrock.bodies]
                if kind == "right" and not wrongs:
                    times = result["attempts"][0]["took"]
                    impact.append(times["edit_ms"] / 1000)
                    verified.append((times["edit_ms"] + times["verify_ms"]) / 1000)
                    hand.append(took)
        print(f"{root.name}: {sum(ended.values())} runs: " + ", ".join(f"{count} {what}" for what, count in sorted(ended.items())))
        ordered = sorted(tokens)
        print(f"  tokens of a prompt: p50 {ordered[len(ordered) // 2]:.0f}, most {ordered[-1]:.0f}, of {len(ordered)} requests")
        print(f"  from the last token to what it breaks: {semdex.summary(impact)}")
        print(f"  from the last token to verified:       {semdex.summary(verified)}")
        print(f"  by hand, with the compiler:            {semdex.summary(hand)}")
        if impact and hand:
            ratio = semdex.percentile(hand, 0.5) / semdex.percentile(impact, 0.5)
            print(f"  what it breaks is known {ratio:.0f} times sooner than by hand")
            if ratio < options.least:
                short.append(f"{root.name}: what an edit breaks is known {ratio:.1f} times sooner, {options.least} wanted")
        bedrock.shutdown()
    for it in short:
        print(it, file=sys.stderr)
    return 1 if short else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--count", type=int, default=50, help="runs in each workspace (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which places are taken (default: %(default)s)")
    parser.add_argument("--least", type=float, default=20.0, help="how many times sooner than by hand, at the median (default: %(default)s)")
    semdex.main(run, parser.parse_args())
