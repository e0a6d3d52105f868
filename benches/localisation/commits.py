#!/usr/bin/env python3
"""Commits of public repositories as questions: set (b) of the bench, one JSON object a line.

The question is the message, without the paths and the names that the commit itself adds. The truth is what the commit
changes at its parent: the files, the lines, and the functions that git shows around them (`git diff -W`).
"""

import argparse
import json
import random
import re
import subprocess
from pathlib import Path

SUFFIXES = {
    "rs": "rust",
    "go": "go",
    "py": "python",
    "ts": "typescript",
    "tsx": "typescript",
    "vue": "typescript",
    "js": "javascript",
    "jsx": "javascript",
    "mjs": "javascript",
    "svelte": "javascript",
}
TRAILER = re.compile(r"^(signed-off-by|co-authored-by|reviewed-by|change-id|pr-url|cc|acked-by)\b", re.I)
TEST = re.compile(r"(^|/)(tests?|testdata|testing|benches|examples?|docs?|__tests__|e2e|specs?(-\w+)?)/|_test\.|[.-](test|spec)\.|(^|/)(test_|conftest)")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


def git(repository: Path, *arguments: str) -> str:
    # What a function is, for `-W`.
    attributes = f"core.attributesFile={Path(__file__).resolve().parent / 'attributes'}"
    run = subprocess.run(["git", "-C", repository, "-c", attributes, *arguments], capture_output=True, check=False)
    return run.stdout.decode("utf-8", "replace")


def message(repository: Path, commit: str, added: str) -> str:
    """The message as a question."""
    lines = [it for it in git(repository, "log", "-1", "--format=%B", commit).splitlines() if not TRAILER.match(it)]
    text = re.sub(r"https?://\S+", "", "\n".join(lines))
    # Paths, and names of files with an ending of source files.
    text = re.sub(r"\S*\w/\w\S*\.\w+\S*|\b[\w.-]+\.(?:rs|go|py|tsx?|jsx?|toml|md)\b", "", text)
    new = set(WORD.findall(added))
    for word in sorted(set(WORD.findall(text)) & new):
        is_known = subprocess.run(
            ["git", "-C", repository, "grep", "-qwF", word, f"{commit}^"], capture_output=True, check=False
        )
        if is_known.returncode == 1:
            text = re.sub(rf"\b{word}\b", "", text)
    return text.strip()


def ranges(diff: str) -> dict[str, list[tuple[int, int]]]:
    """The lines of the old side, by file. An insertion is the line before it."""
    found: dict[str, list[tuple[int, int]]] = {}
    file = ""
    for line in diff.splitlines():
        if line.startswith("--- "):
            file = line[6:] if line.startswith("--- a/") else ""
        elif (hunk := HUNK.match(line)) and file:
            start, count = int(hunk[1]), int(hunk[2] or 1)
            found.setdefault(file, []).append((max(start, 1), max(start + count - 1, start, 1)))
    return found


def of_commit(repository: Path, name: str, commit: str) -> dict | None:
    status = [it.split("\t") for it in git(repository, "diff", "--name-status", f"{commit}^", commit).splitlines()]
    source = [it for it in status if it[-1].rsplit(".", 1)[-1] in SUFFIXES and not TEST.search(it[-1])]
    if not 1 <= len(source) <= 6 or any(it[0] != "M" for it in source):
        return None
    files = sorted(it[1] for it in source)
    plain = git(repository, "diff", "-U0", f"{commit}^", commit, "--", *files)
    added = "\n".join(it[1:] for it in plain.splitlines() if it.startswith("+") and not it.startswith("+++"))
    issue = message(repository, commit, added)
    title, _, body = issue.partition("\n")
    if len(body.strip()) < 60 or len(title) < 10:
        return None
    lines = ranges(plain)
    if not lines or sum(end - start + 1 for of_file in lines.values() for start, end in of_file) > 400:
        return None
    functions = ranges(git(repository, "diff", "-U0", "-W", f"{commit}^", commit, "--", *files))
    languages = [SUFFIXES[it.rsplit(".", 1)[-1]] for it in files]
    as_spans = lambda it: [
        {"file": file, "start": start, "end": end} for file, spans in sorted(it.items()) for start, end in spans
    ]
    return {
        "instance": f"{name}@{commit[:10]}",
        "repository": name,
        "language": max(set(languages), key=languages.count),
        "base": git(repository, "rev-parse", f"{commit}^").strip(),
        "issue": issue,
        "files": files,
        "spans": as_spans(lines),
        "functions": as_spans(functions),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", type=Path, required=True, help="has OWNER+NAME/repo for each repository")
    parser.add_argument("--each", type=int, default=25, help="commits of each repository")
    parser.add_argument("repositories", nargs="+", metavar="OWNER/NAME")
    arguments = parser.parse_args()
    for name in arguments.repositories:
        repository = arguments.mirror / name.replace("/", "+") / "repo"
        commits = git(repository, "rev-list", "--no-merges", "-n", "4000", "HEAD").split()
        random.Random(39).shuffle(commits)
        count = 0
        for commit in commits[:1500]:
            if count == arguments.each:
                break
            if instance := of_commit(repository, name, commit):
                print(json.dumps(instance), flush=True)
                count += 1


if __name__ == "__main__":
    main()
