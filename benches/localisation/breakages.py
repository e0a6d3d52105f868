#!/usr/bin/env python3
"""Stack traces and compiler errors of real breakages: set (c) of the bench, one JSON object a line.

A commit is checked out, and one of its source files is set back to the parent, in part: each hunk alone, until the compiler or a test
that the commit touches fails with a message. The question is that message. The truth is what was set back: the file, its lines, and
the functions around them. The commit with the file set back is written to the mirror as a commit of its own (`base`), so that the
programs of this directory can read its texts.
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from commits import SUFFIXES, TEST, git, ranges

HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.M)
# What a person would paste: the end of the output is what a terminal shows.
MOST = 6000
# So many hunks of a file are tried.
HUNKS = 4
# The form of a message that names a place in the code.
PLACES = {
    "python": r'(?m)^\S+\.py:\d+:|File ".*", line \d+',
    "go": r"\.go:\d+",
    "rust": r"(?m)^ *--> \S+:\d+|panicked at \S+\.rs:\d+",
    "typescript": r"\.tsx?[(:]\d+",
}


def commands(language: str, tests: list[str], has_new_tests: bool, python: str) -> list[list[str]]:
    if language == "python":
        return [[python, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests]] if tests else []
    if language == "go":
        packages = sorted({f"./{Path(it).parent}" for it in tests})
        return [["go", "test", *packages]] if packages else [["go", "vet", "./..."]]
    if language == "rust":
        return [["cargo", "test", "-q", "--tests"] if has_new_tests else ["cargo", "check", "-q", "--all-targets"]]
    if language == "typescript":
        return [["npx", "--no-install", "tsc", "--noEmit", "--pretty", "false"]]
    return []


def run(tree: Path, name: str, command: list[str], seconds: int) -> tuple[int, str]:
    """The exit code and the output as a terminal has it; -1 if it takes too long or is not there."""
    environment = dict(os.environ, PYTHONPATH=f"{tree}/src:{tree}", NO_COLOR="1", CARGO_TERM_COLOR="never", PYTHONDONTWRITEBYTECODE="1")
    environment |= {"CARGO_TARGET_DIR": str(tree.parent / "target")}
    try:
        process = subprocess.Popen(
            command, cwd=tree, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        )
    except FileNotFoundError:
        return -1, ""
    try:
        text = process.communicate(timeout=seconds)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return -1, ""
    # Compilers print paths in the workspace, stack traces those of the machine: a person's has the workspace at another place.
    return process.returncode, text.replace(str(tree), f"/srv/me/{name.rsplit('/', 1)[-1]}")


def set_back(after: list[str], diff: str, number: int) -> tuple[list[str], tuple[int, int]]:
    """The lines with one hunk of the diff undone, and where they are then."""
    hunks = list(HUNK.finditer(diff))
    hunk = hunks[number]
    body = diff[hunk.end() : hunks[number + 1].start() if number + 1 < len(hunks) else len(diff)].split("\n")[1:]
    old = [it[1:] for it in body if it.startswith("-")]
    start, count = int(hunk[3]), int(hunk[4]) if hunk[4] is not None else 1
    first = start - 1 if count else start
    lines = after[:first] + old + after[first + count :]
    return lines, (max(first, 1), max(first + len(old), first, 1)) if not old else (first + 1, first + len(old))


def broken(repository: Path, name: str, commit: str, tree: Path, python: str, seconds: int) -> dict | None:
    status = [it.split("\t") for it in git(repository, "diff", "--name-status", f"{commit}^", commit).splitlines()]
    changed = [it[-1] for it in status if it[0] == "M" and it[-1].rsplit(".", 1)[-1] in SUFFIXES]
    source = [it for it in changed if not TEST.search(it)]
    tests = [it[-1] for it in status if it[0] in "AM" and re.search(r"(^|/)test_[^/]*\.py$|_test\.(py|go)$", it[-1])]
    if not 1 <= len(source) <= 6:
        return None
    has_new_tests = "+#[test]" in re.sub(r"(?m)^\+\s+", "+", git(repository, "diff", "-U0", f"{commit}^", commit, "--", "*.rs"))
    asked = {}
    for command in (["checkout", "-qf", "--detach", commit], ["clean", "-qfd"]):
        subprocess.run(["git", "-C", tree, *command], capture_output=True, check=False)
    for file in source:
        language = SUFFIXES[file.rsplit(".", 1)[-1]]
        of_language = [it for it in tests if SUFFIXES[it.rsplit(".", 1)[-1]] == language]
        # What fails anyway says nothing. The first run compiles what the later ones need as well.
        if language not in asked:
            wanted = commands(language, of_language, has_new_tests, python)
            asked[language] = [it for it in wanted if run(tree, name, it, 4 * seconds)[0] == 0]
        after = (tree / file).read_text(errors="replace").split("\n")
        diff = git(repository, "diff", "-U0", f"{commit}^", commit, "--", file)
        for number in range(min(HUNKS, len(HUNK.findall(diff))) if asked[language] else 0):
            lines, span = set_back(after, diff, number)
            if language == "rust" and any(it.strip() == "#[cfg(test)]" for it in lines[: span[0]]):
                continue
            (tree / file).write_text("\n".join(lines))
            for command in asked[language]:
                code, text = run(tree, name, command, seconds)
                if code > 0 and re.search(PLACES[language], text):
                    return instance(repository, name, commit, tree, file, language, span, text)
            (tree / file).write_text("\n".join(after))
    return None


def instance(repository, name, commit, tree, file, language, span, text) -> dict:
    subprocess.run(["git", "-C", tree, "add", file], capture_output=True, check=True)
    # A merge: the history of changes passes over it, or it would name the file.
    parents = ["-p", f"{commit}^", "-p", f"{commit}~2"]
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    base = git(tree, *identity, "commit-tree", git(tree, "write-tree").strip(), *parents, "-m", "A part of a commit is set back").strip()
    subprocess.run(["git", "-C", tree, "push", "-q", str(repository), f"{base}:refs/breakages/{base}"], capture_output=True, check=True)
    back = ranges(git(tree, "diff", "-U0", "-W", base, commit, "--", file))
    as_spans = lambda it: [{"file": file, "start": start, "end": end} for spans in it.values() for start, end in spans]
    return {
        "instance": f"{name}@{commit[:10]}!",
        "repository": name,
        "language": language,
        "base": base,
        "issue": text[-MOST:],
        "files": [file],
        "spans": [{"file": file, "start": span[0], "end": span[1]}],
        "functions": as_spans(back),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, required=True, help="has OWNER+NAME/repo for each repository")
    parser.add_argument("--each", type=int, default=10, help="breakages of each repository")
    parser.add_argument("--commits", type=int, default=150, help="the last commits of each repository are tried, in random order")
    parser.add_argument("--python", default=sys.executable, help="a Python that has pytest and what the repositories import")
    parser.add_argument("--seconds", type=int, default=120, help="for one command")
    parser.add_argument("repositories", nargs="+", metavar="OWNER/NAME")
    arguments = parser.parse_args()
    for name in arguments.repositories:
        repository = arguments.mirror / name.replace("/", "+") / "repo"
        commits = git(repository, "rev-list", "--no-merges", "-n", str(arguments.commits), "HEAD").split()
        random.Random(39).shuffle(commits)
        with tempfile.TemporaryDirectory(prefix="breakages-") as below:
            tree = Path(below) / "tree"
            subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", repository, tree], check=True)
            count = 0
            for commit in commits:
                if count == arguments.each:
                    break
                if found := broken(repository, name, commit, tree, arguments.python, arguments.seconds):
                    print(json.dumps(found), flush=True)
                    count += 1
                print(f"{name} {commit[:10]} {'breaks' if found else ''}", file=sys.stderr)


if __name__ == "__main__":
    main()
