#!/usr/bin/env python3
"""Answers after requests that nobody waited for, as agents leave them that are stopped or run out of time.

--questions questions about symbols drawn by --seed (usages, callers, a dry run of another name, diagnostics of the file) are asked and their
answers kept. Then in each of --rounds three clients at once ask the like and go away after a moment, while a file is changed from outside and
put back. After each round some of the first questions are asked again: their answers have to be those of before, and as complete. Fails over
one that is not.
"""

import concurrent.futures
import json
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

ENDINGS = {"python": (".py", "# A remark.\n"), "typescript": (".ts", "// A remark.\n"), "c": (".c", "// A remark.\n"), "rust": (".rs", "// A remark.\n"), "go": (".go", "// A remark.\n")}
PATIENCE = 60000
MOST_SECONDS = 0.6


def questions(root, symbols, count, chance):
    found = []
    for symbol in chance.sample(symbols, min(count, len(symbols))):
        kind = chance.choice(["usages", "callers", "dry run", "diagnostics"])
        asked = {"symbol": symbol["path"], "file": symbol["file"]}
        if kind == "diagnostics":
            found.append(("GET", "/v1/diagnostics", {"file": symbol["file"]}))
        elif kind == "dry run":
            text = (root / symbol["file"]).read_text()
            at, end = symbol["name_at"]["start"], symbol["name_at"]["end"]
            found.append(("POST", "/v1/write", {"name": symbol["file"], "content": text[:at] + text[at:end] + "_moved" + text[end:], "mode": "overwrite", "dry_run": True}))
        else:
            found.append(("GET", f"/v1/{kind}", {**asked, "limit": 1000}))
    return found


def answer(client, question):
    """What it says, without what differs each time, and why it is not complete."""
    method, path, given = question
    given = {**given, "wait_ms": PATIENCE}
    status, reply = client.send(method, path, **({"query": given} if method == "GET" else {"body": given}))
    meta = reply.get("meta", {})
    told = reply.get("items") or reply.get("impact", {}).get("broken") or reply.get("code")
    return json.dumps([status, told, reply.get("total"), meta.get("complete")], sort_keys=True), meta.get("missing")


def digest(told):
    status, items, total, complete = json.loads(told[0])
    return f"{status}, {len(items or [])} items of {total}, complete {complete}, missing {json.dumps(told[1])[:300]}"


def give_up(client, question, seconds):
    other = semdex.Client(client.address, client.token, timeout=seconds)
    try:
        answer(other, question)
    except OSError:
        pass
    finally:
        other.close()


def run(options, directory):
    ending, remark = ENDINGS[options.language]
    root = semdex.copy_workspace(pathlib.Path(options.workspaces[0]), directory).resolve()
    chance = random.Random(options.seed)
    wrong, asked_again, left = [], 0, 0
    with semdex.Server(options.server_binary, [root]) as server:
        server.wait_ready(options.ready_timeout)
        client = server.client
        files = [it for it in semdex.source_files(root, ending) if (root / it).read_bytes().isascii()]
        symbols = [it for file in files for it in client.get("/v1/symbols", file=file, wait_ms=PATIENCE)["symbols"]]
        symbols = [it for it in symbols if it.get("name_at")]
        known = questions(root, symbols, options.questions, chance)
        before = [answer(client, it) for it in known]
        complete = sum(json.loads(it[0])[3] is True for it in before)
        for _ in range(options.rounds):
            passing = questions(root, symbols, 6, chance)
            file = root / chance.choice(files)
            text = file.read_text()
            with concurrent.futures.ThreadPoolExecutor(3) as clients:
                going = [clients.submit(give_up, client, it, chance.uniform(0.01, MOST_SECONDS)) for it in passing]
                file.write_text(text + remark)
                time.sleep(chance.uniform(0, MOST_SECONDS))
                file.write_text(text)
                for it in going:
                    it.result()
                left += len(going)
            for at in chance.sample(range(len(known)), min(4, len(known))):
                asked_again += 1
                now = answer(client, known[at])
                if now[0] != before[at][0]:
                    wrong.append((known[at][1], known[at][2].get("symbol") or known[at][2].get("file") or known[at][2].get("name"), before[at], now))
        server.must_live()
    print(f"{options.language}: {left} requests given up, {asked_again} asked again, {len(wrong)} of these answered otherwise; {complete} of {len(known)} questions were complete at first")
    for path, what, old, new in wrong[:10]:
        print(f"  {path} {what}: {digest(old)} became {digest(new)}")
    return bool(wrong)


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--language", choices=ENDINGS, required=True)
    parser.add_argument("--questions", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    semdex.main(run, parser.parse_args())
