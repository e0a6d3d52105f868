#!/usr/bin/env python3
"""Real commits as questions: the message is all that is told, and the files that the commit touched are what a map should name.

    commits.py REPOSITORY [--set report|tune] [--count 20]

A commit counts if it is no merge, touches 1 to 10 source files that were there before, and is younger than the bound below.
Those are shuffled with a fixed seed; the first 20 are reported, the next 20 are what weights were tuned on. Prints JSON.
"""

import argparse
import json
import random
import subprocess

SOURCES = (".rs", ".go")
SINCE = {"ripgrep": "2020-01-01", "gin": "2019-01-01"}
REPORTED = 20


def git(repository, *arguments):
    done = subprocess.run(["git", "-C", repository, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def touched(repository, commit):
    """The files that a commit changed or took away: what it made anew nobody could name."""
    out = git(repository, "diff-tree", "-r", "--no-renames", "--name-status", f"{commit}^", commit)
    rows = [line.split("\t", 1) for line in out.splitlines()]
    return [name for status, name in rows if status in ("M", "D", "T")]


def commits(repository, chosen, count=REPORTED):
    name = next(it for it in SINCE if it in repository)
    head = git(repository, "rev-list", "HEAD", "--no-merges", f"--since={SINCE[name]}", "--reverse", "--topo-order").split()
    fitting = []
    for commit in sorted(head):
        if len(git(repository, "rev-list", "--parents", "-n", "1", commit).split()) != 2:
            continue
        files = touched(repository, commit)
        sources = [it for it in files if it.endswith(SOURCES)]
        message = git(repository, "log", "-1", "--format=%B", commit).strip()
        if 1 <= len(sources) <= 10 and len(message) >= 20:
            fitting.append({"commit": commit, "message": message, "files": files, "sources": sources})
    random.Random(21).shuffle(fitting)
    start = {"report": 0, "tune": REPORTED}[chosen]
    return fitting[start : start + count]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository")
    parser.add_argument("--set", choices=["report", "tune"], default="report")
    parser.add_argument("--count", type=int, default=REPORTED)
    arguments = parser.parse_args()
    print(json.dumps(commits(arguments.repository, arguments.set, arguments.count), indent=1))
