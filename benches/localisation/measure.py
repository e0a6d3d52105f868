#!/usr/bin/env python3
"""`explore` over HTTP beside `map --query`, ripgrep and aider's map, on instances (JSON lines).

For each instance the repository is checked out at `base`, and a server answers its text at 4,000, 8,000 and 16,000 tokens. A server has
`--wait` seconds for its engines, then it answers with what is there. The search is by `rg`: the files that have most of the query's words
(weighed by how few files have each), and of them the lines with the words, with three lines around each, until the budget is full.

Printed, as means over the instances, for each language and for all: the share of the truth's files among the first 8 files of the reply;
the share of its lines that are shown at each budget (L4, L8, L16), and the share of the shown lines that are in the truth (P4, P8, P16);
at 8,000 tokens the share of its functions of which half the lines are shown (func), and the share of the lines of the workspace that the
question names, as messages of compilers and stack traces do, that are shown (named).
"""

import argparse
import contextlib
import json
import math
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))

import semdex_client as semdex

BUDGETS = (4000, 8000, 16000)
FIRST = 8
WAYS = ("explore", "map", "ripgrep", "aider")
KEYS = ("files", "L4", "L8", "L16", "P4", "P8", "P16", "func", "named")
# For one run of ripgrep or aider.
SECONDS = 600
STOP = set("the a an and or of to in is it that this for on with as be are was not but if when from by at we you i can has have".split())


def lines_of(spans):
    found = {}
    for span in spans:
        found.setdefault(span["file"], set()).update(range(span["start"], span["end"] + 1))
    return found


def checkout(mirror, instance, below):
    name = instance["repository"].replace("/", "+")
    source = next((it for it in mirror.iterdir() if it.name.lower() == name.lower()), None)
    if source is None:
        return None
    tree = below / name
    if not tree.exists():
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", source / "repo", tree], check=True)
    git = lambda *command: subprocess.run(["git", "-C", tree, *command], capture_output=True, check=False).returncode == 0
    # A mirror may lack its largest objects: then these files are missing.
    if not git("checkout", "-qf", "--detach", instance["base"]):
        if not git("read-tree", "--reset", instance["base"]):
            return None
        git("checkout-index", "-qfa")
        git("update-ref", "--no-deref", "HEAD", instance["base"])
    subprocess.run(["git", "-C", tree, "clean", "-qfdx"], check=True)
    return tree


def named_lines(tree, instance):
    """The lines of the workspace that the question names: `a.rs:10:5`, `File "x.py", line 3`, `/srv/me/NAME/foo.go:12`."""
    found = set()
    home = f"/srv/me/{instance['repository'].rsplit('/', 1)[-1]}/"
    pattern = r'File "(?P<a>[^"]+)", line (?P<b>\d+)|(?P<c>[\w./@+-]+\.[a-z]{1,4}):(?P<d>\d+)'
    for it in re.finditer(pattern, instance["issue"]):
        path = (it["a"] or it["c"]).removeprefix(home).removeprefix("./")
        file, line = tree / path, int(it["b"] or it["d"])
        if not path.startswith("/") and file.is_file() and 1 <= line <= file.read_bytes().count(b"\n") + 1:
            found.add((path, line))
    return found


def figures(instance, files, shown, named):
    """`shown`: the lines of each file, by budget. `named`: the lines that the question names."""
    truth = lines_of(instance["spans"])
    total = sum(map(len, truth.values())) or 1
    hit = lambda lines: sum(len(truth[file] & lines.get(file, set())) for file in truth)
    result = {"files": len(set(instance["files"]) & set(files[:FIRST])) / len(instance["files"])}
    for budget in BUDGETS:
        lines = shown.get(budget, {})
        count = sum(map(len, lines.values()))
        result[f"L{budget // 1000}"] = hit(lines) / total
        result[f"P{budget // 1000}"] = hit(lines) / count if count else 0.0
    lines = shown.get(8000, {})
    functions = instance.get("functions") or []
    if functions:
        seen = lambda it: 2 * len(lines.get(it["file"], set()) & set(range(it["start"], it["end"] + 1))) > it["end"] - it["start"]
        result["func"] = sum(map(seen, functions)) / len(functions)
    if named:
        result["named"] = sum(line in lines.get(file, set()) for file, line in named) / len(named)
    return result


def explored(client, instance):
    """The files, the lines of each budget, and the seconds of the answer at 8,000 tokens."""
    shown, files, took = {}, [], 0.0
    for budget in BUDGETS:
        started = time.perf_counter()
        reply = client.post("/v1/explore", query=instance["issue"], max_tokens=budget, wait_ms=0)
        lines = shown[budget] = {}
        for file in reply["files"]:
            for span in file["spans"]:
                lines.setdefault(file["file"], set()).update(range(span["line"], span["end_line"] + 1))
        if budget == 8000:
            took = time.perf_counter() - started
            further = sorted(reply["signatures"], key=lambda it: -it["rank"])
            files = list(dict.fromkeys(it["file"] for it in reply["files"] + further))
    return files, shown, took


def mapped(client, instance):
    shown, files = {}, []
    for budget in BUDGETS:
        query = re.sub(r"[\x00-\x1f]", " ", instance["issue"])[:4000]
        reply = client.get("/v1/map", query=query, max_tokens=budget, wait_ms=0)
        lines = shown[budget] = {}
        for file in reply["files"]:
            for symbol in file["symbols"]:
                lines.setdefault(file["file"], set()).add(symbol["name_at"]["line"])
        if budget == 8000:
            files = [it["file"] for it in reply["files"]]
    return files, shown


def searched(tree, instance):
    """What ripgrep finds: the files with most of the words, and of them the lines with the words and three around each."""
    words = sorted({it.lower() for it in re.findall(r"[A-Za-z_][A-Za-z0-9_]{2,}", instance["issue"])} - STOP)
    if not words:
        return [], {}
    patterns = "\n".join(words)
    command = ["rg", "-n", "-o", "-i", "-w", "-F", "-f", "-", "--no-heading", "--null", "--max-filesize", "1M", "--sort", "path", "."]
    found = subprocess.run(command, cwd=tree, input=patterns.encode(), capture_output=True, check=False, timeout=SECONDS).stdout
    hits = {}
    for line in found.decode("utf-8", "replace").splitlines():
        name, _, rest = line.partition("\0")
        number, _, word = rest.partition(":")
        if number.isdigit():
            hits.setdefault(name.removeprefix("./"), {}).setdefault(word.lower(), []).append(int(number))
    weight = {word: math.log(1 + len(hits) / (1 + sum(word in it for it in hits.values()))) for word in words}
    files = sorted(hits, key=lambda it: (-sum(weight.get(word, 0) for word in hits[it]), it))
    shown = {}
    for budget in BUDGETS:
        room, lines = budget * 4, {}
        for name in files:
            texts = (tree / name).read_text(errors="replace").split("\n")
            numbers = sorted({at + near for at_word in hits[name].values() for at in at_word for near in range(-3, 4)})
            for number in numbers:
                if 1 <= number <= len(texts) and room > 0:
                    room -= len(texts[number - 1]) + 6
                    lines.setdefault(name, set()).add(number)
            if room <= 0:
                break
        shown[budget] = lines
    return files, shown


def by_aider(python, tree, instance):
    """aider's map at each budget: its files by their ranks, and the lines that it shows."""
    command = [python, HERE.parent / "map" / "aider_map.py", tree, *map(str, BUDGETS)]
    environment = dict(os.environ, AIDER_TAGS=f"{tree}.tags")
    run = subprocess.run(command, input=instance["issue"], capture_output=True, text=True, check=True, timeout=SECONDS, env=environment)
    maps = [json.loads(it) for it in run.stdout.strip().split("\n")[-len(BUDGETS) :]]
    shown = {budget: {file: set(lines) for file, lines in it["lines"].items()} for budget, it in zip(BUDGETS, maps)}
    return maps[BUDGETS.index(8000)]["ranked"], shown


def asked_first(client, **query):
    """The first question, again as long as the files of the workspace are being read."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return client.get("/v1/map", **query)
        except semdex.Problem as problem:
            if problem.code != "not_ready" or time.monotonic() > deadline:
                raise


def by_server(arguments, tree, instance):
    """The answers of `explore` and `map`, the seconds of the first, and whether all engines were ready."""
    with semdex.Server(arguments.server_binary, [tree], environment={"SEMDEX_LOG": "error"}) as server:
        # Ready at the latest then; what is not is missing, as for a client that does not wait longer.
        asked_first(server.client, max_tokens=1000, wait_ms=int(1000 * arguments.wait))
        is_ready = all(it["state"] == "ready" for it in server.workspaces())
        *found, took = explored(server.client, instance)
        answers = {"explore": found} | ({"map": mapped(server.client, instance)} if "map" in arguments.ways else {})
    shutil.rmtree(server.directory, ignore_errors=True)
    return answers, took, is_ready


def measured(arguments, tree, instance):
    """The figures of each way to find it. One that fails or takes too long has found nothing."""
    named = named_lines(tree, instance)
    answers, took, is_ready = dict.fromkeys(arguments.ways, ([], {})), None, False
    if {"explore", "map"} & set(answers):
        with told(instance, "the server"):
            found, took, is_ready = by_server(arguments, tree, instance)
            answers |= found
    if "ripgrep" in answers:
        with told(instance, "ripgrep"):
            answers["ripgrep"] = searched(tree, instance)
    if "aider" in answers:
        with told(instance, "aider"):
            answers["aider"] = by_aider(arguments.aider, tree, instance)
    return {name: figures(instance, *answer, named) for name, answer in answers.items()}, took, is_ready


@contextlib.contextmanager
def told(instance, who):
    try:
        yield
    except (semdex.Failed, OSError, subprocess.SubprocessError, ValueError) as failure:
        print(f"{instance['instance']}: {who}: {failure}", file=sys.stderr)


def row(name, results):
    of = lambda key: [it[key] for it in results if key in it]
    cells = " ".join(f"{statistics.mean(values):6.3f}" if (values := of(key)) else f"{'-':>6}" for key in KEYS)
    print(f"{name:28} {len(results):4} {cells}", flush=True)


def sampled(instances, count):
    """So many of each language, the same ones each time."""
    by_language = {}
    for it in sorted(instances, key=lambda it: it["instance"]):
        by_language.setdefault(it["language"], []).append(it)
    return [it for _, all in sorted(by_language.items()) for it in random.Random(39).sample(all, min(count, len(all)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server-binary", required=True)
    parser.add_argument("--mirror", type=pathlib.Path, required=True, help="has OWNER+NAME/repo, git directories")
    parser.add_argument("--wait", type=float, default=20.0, metavar="S", help="for the engines (default: %(default)s)")
    parser.add_argument("--aider", help="a Python that has aider-chat 0.86")
    parser.add_argument("--ways", nargs="+", choices=WAYS, help="default: all; without --aider all but aider")
    parser.add_argument("--sample", type=int, metavar="N", help="N instances of each language")
    parser.add_argument("--each", action="store_true", help="a row for each instance")
    parser.add_argument("instances", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    arguments.ways = arguments.ways or [it for it in WAYS if it != "aider" or arguments.aider]
    instances = [json.loads(line) for path in arguments.instances for line in path.read_text().splitlines()]
    if arguments.sample:
        instances = sampled(instances, arguments.sample)
    results, times, ready, missing, last = {}, [], 0, 0, None
    with tempfile.TemporaryDirectory(prefix="localisation-") as below:
        for instance in sorted(instances, key=lambda it: (it["repository"].lower(), it["instance"])):
            if last and last != instance["repository"]:
                # The texts of one repository at a time.
                shutil.rmtree(below)
                pathlib.Path(below).mkdir()
            last = instance["repository"]
            tree = checkout(arguments.mirror, instance, pathlib.Path(below))
            if tree is None:
                missing += 1
                continue
            found, took, is_ready = measured(arguments, tree, instance)
            times += [took] if took is not None else []
            ready += is_ready
            for name, it in found.items():
                results.setdefault(name, []).append(it | {"language": instance["language"]})
                if arguments.each:
                    row(f"{instance['instance'][-16:]} {name[:10]}", [it])
    print(f"{missing} instances are not in the mirror; of {len(times)} the engines of {ready} were ready")
    print(f"{'':28} {'n':>4} " + " ".join(f"{key:>6}" for key in KEYS))
    for name, of_name in results.items():
        row(name, of_name)
        for language in sorted({it["language"] for it in of_name}):
            row(f"  {language}", [it for it in of_name if it["language"] == language])
    if times:
        print(f"explore took {1000 * statistics.median(times):.0f} ms in the median")


if __name__ == "__main__":
    main()
