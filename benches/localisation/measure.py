#!/usr/bin/env python3
"""`explore` over HTTP beside `map --query`, ripgrep and aider's map, on instances (JSON lines).

For each instance the repository is checked out at `base`, and a server answers its text: `explore` at 4,000, 8,000 and 16,000 tokens,
`map` at 8,000. The search is by `rg`: the files that have most of the query's words (weighed by how few files have each),
and of them the lines with the words, with three lines around each, until the budget is full.

Printed, as means over the instances, for each language and for all: the share of the truth's files among the first 8 files of the reply;
the share of its lines that are shown at each budget; at 8,000 tokens the share of its functions of which half the lines are shown, and
the share of the shown lines that are in the truth.
"""

import argparse
import json
import math
import pathlib
import re
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
    run = subprocess.run(["git", "-C", tree, "checkout", "-qf", "--detach", instance["base"]], capture_output=True, check=False)
    if run.returncode:
        return None
    subprocess.run(["git", "-C", tree, "clean", "-qfdx"], check=True)
    return tree


def figures(instance, files, shown):
    """`shown`: the lines of each file, by budget."""
    truth = lines_of(instance["spans"])
    total = sum(map(len, truth.values())) or 1
    hit = lambda lines: sum(len(truth[file] & lines.get(file, set())) for file in truth)
    result = {"files": len(set(instance["files"]) & set(files[:FIRST])) / len(instance["files"])}
    for budget, lines in shown.items():
        result[f"lines@{budget}"] = hit(lines) / total
    lines = shown.get(8000, {})
    count = sum(map(len, lines.values()))
    result["precision"] = hit(lines) / count if count else 0.0
    functions = instance.get("functions") or []
    if functions:
        seen = lambda it: 2 * len(lines.get(it["file"], set()) & set(range(it["start"], it["end"] + 1))) > it["end"] - it["start"]
        result["functions"] = sum(map(seen, functions)) / len(functions)
    return result


def explored(client, instance, wait):
    shown, files, times = {}, [], []
    for budget in BUDGETS:
        started = time.perf_counter()
        reply = client.post("/v1/explore", query=instance["issue"], max_tokens=budget, wait_ms=wait)
        times.append(time.perf_counter() - started)
        lines = {}
        for file in reply["files"]:
            for span in file["spans"]:
                lines.setdefault(file["file"], set()).update(range(span["line"], span["end_line"] + 1))
        shown[budget] = lines
        if budget == 8000:
            files = [it["file"] for it in reply["files"]]
            for it in reply["signatures"]:
                if it["file"] not in files:
                    files.append(it["file"])
    return figures(instance, files, shown), times[1]


def mapped(client, instance, wait):
    reply = client.get("/v1/map", query=re.sub(r"[\x00-\x1f]", " ", instance["issue"])[:4000], max_tokens=8000, wait_ms=wait)
    lines = {}
    for file in reply["files"]:
        for symbol in file["symbols"]:
            lines.setdefault(file["file"], set()).add(symbol["name_at"]["line"])
    return figures(instance, [it["file"] for it in reply["files"]], {8000: lines})


def searched(tree, instance):
    """What ripgrep finds: the files with most of the words, and of them the lines with the words and three around each."""
    words = sorted({it.lower() for it in re.findall(r"[A-Za-z_][A-Za-z0-9_]{2,}", instance["issue"])} - STOP)
    if not words:
        return figures(instance, [], {it: {} for it in BUDGETS})
    patterns = "\n".join(words)
    command = ["rg", "-n", "-o", "-i", "-w", "-F", "-f", "-", "--no-heading", "--null", "--max-filesize", "1M", "--sort", "path", "."]
    found = subprocess.run(command, cwd=tree, input=patterns.encode(), capture_output=True, check=False).stdout
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
    return figures(instance, files, shown)


def by_aider(python, tree, instance):
    """aider's map at each budget: its files by their ranks, and the lines that it shows."""
    shown, files = {}, []
    for budget in BUDGETS:
        command = [python, HERE.parent / "map" / "aider_map.py", tree, str(budget)]
        run = subprocess.run(command, input=instance["issue"], capture_output=True, text=True, check=False)
        found = json.loads(run.stdout) if run.returncode == 0 else {"ranked": [], "lines": {}}
        shown[budget] = {file: set(lines) for file, lines in found["lines"].items()}
        if budget == 8000:
            files = found["ranked"]
    return figures(instance, files, shown)


def row(name, results):
    keys = ["files", *(f"lines@{it}" for it in BUDGETS), "functions", "precision"]
    mean = lambda key: [it[key] for it in results if key in it]
    cells = " ".join(f"{statistics.mean(values):9.3f}" if (values := mean(key)) else f"{'-':>9}" for key in keys)
    print(f"{name:28} {len(results):4} {cells}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server-binary", required=True)
    parser.add_argument("--mirror", type=pathlib.Path, required=True, help="has OWNER+NAME/repo, git directories")
    parser.add_argument("--wait-ms", type=int, default=20000, help="for the index; 0 asks the words alone")
    parser.add_argument("--aider", help="a Python that has aider-chat 0.86; without it there is no row of aider")
    parser.add_argument("--limit", type=int, help="instances of each repository")
    parser.add_argument("--each", action="store_true", help="a row for each instance")
    parser.add_argument("instances", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    results = {"explore": [], "map --query": [], "ripgrep": []} | ({"aider": []} if arguments.aider else {})
    times, by_repository = [], {}
    for path in arguments.instances:
        for line in path.read_text().splitlines():
            instance = json.loads(line)
            by_repository.setdefault(instance["repository"], []).append(instance)
    missing = 0
    with tempfile.TemporaryDirectory(prefix="localisation-") as below:
        for instances in by_repository.values():
            for instance in instances[: arguments.limit]:
                tree = checkout(arguments.mirror, instance, pathlib.Path(below))
                if tree is None:
                    missing += 1
                    continue
                with semdex.Server(arguments.server_binary, [tree]) as server:
                    client = server.client
                    found, took = explored(client, instance, arguments.wait_ms)
                    times.append(took)
                    rows = [
                        ("explore", found),
                        ("map --query", mapped(client, instance, arguments.wait_ms)),
                        ("ripgrep", searched(tree, instance)),
                    ]
                    if arguments.aider:
                        rows.append(("aider", by_aider(arguments.aider, tree, instance)))
                    for name, it in rows:
                        results[name].append(it | {"language": instance["language"]})
                        if arguments.each:
                            row(f"{instance['instance'][:16]} {name[:10]}", [it])
            subprocess.run(["rm", "-rf", pathlib.Path(below) / instances[0]["repository"].replace("/", "+")], check=False)
    print(f"{missing} instances are not in the mirror")
    print(f"{'':28} {'n':>4} {'files@8':>9} " + " ".join(f"{f'lines@{it}':>9}" for it in BUDGETS) + f" {'functions':>9} {'precision':>9}")
    for name, of_name in results.items():
        row(name, of_name)
        for language in sorted({it["language"] for it in of_name}):
            row(f"  {language}", [it for it in of_name if it["language"] == language])
    if times:
        print(f"explore took {1000 * statistics.median(times):.0f} ms in the median, the first answers of a workspace included")


if __name__ == "__main__":
    main()
