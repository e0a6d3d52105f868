#!/usr/bin/env python3
"""Patches for `replay.py` from the history of any repository: commits taken back in part, at one base.

A commit that is taken back as a whole often compiles, one that is taken back in part often does not: what an edit that is half done looks
like. All patches have the newest commit as their base, so one server and one target directory are enough. The same seed chooses the same.
"""

import argparse
import gzip
import json
import pathlib
import random
import re
import subprocess
import tempfile

# The commits that are looked at, and the parts of each that are taken: all hunks, or each with this probability.
COMMITS = 1500
SHARES = [1.0, 0.75, 0.5, 0.25]
MOST_FILES = 12
MOST_BYTES = 60_000


def git(directory, *arguments, text=None):
    done = subprocess.run(["git", "-C", directory, *arguments], capture_output=True, input=text and text.encode("utf-8", "surrogateescape"))
    return done.returncode, done.stdout.decode("utf-8", "surrogateescape")


def hunks_of(patch):
    """The files of a patch, each as its head and its hunks. A file that comes or goes is one hunk."""
    for file in re.split(r"(?m)^(?=diff --git )", patch)[1:]:
        start = file.find("\n@@ ") + 1
        if start:
            is_whole = "new file mode" in file[:start] or "deleted file mode" in file[:start]
            yield file[:start], [file[start:]] if is_whole else re.split(r"(?m)^(?=@@ )", file[start:])[1:]


def parts_of(repository, commit, chance):
    """Parts of the patch that takes a commit back, each with its share in percent."""
    _, patch = git(repository, "diff", "--no-renames", "--full-index", commit, f"{commit}^", "--", "*.rs", "Cargo.toml", "*/Cargo.toml")
    files = list(hunks_of(patch))
    if not files or len(files) > MOST_FILES or len(patch) > MOST_BYTES:
        return
    is_one_hunk = sum(len(hunks) for _, hunks in files) < 2
    shares = [1.0] * (chance.random() < 0.3) if is_one_hunk else chance.sample(SHARES, 2)
    for share in shares:
        kept = [(head, [it for it in hunks if chance.random() <= share]) for head, hunks in files]
        part = "".join(head + "".join(hunks) for head, hunks in kept if hunks)
        # Comments and blank lines alone decide nothing.
        if re.search(r"(?m)^[-+](?![-+])\s*(?!//)\S", part):
            yield part, round(100 * share)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", help="a git directory; its newest commit is the base")
    parser.add_argument("output", type=pathlib.Path, help="for `replay.py --patches`: NAME.json.gz")
    parser.add_argument("--count", type=int, default=40, help="the most patches (40)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    name = options.output.name.split(".")[0]
    base = git(options.repository, "rev-parse", "HEAD")[1].strip()
    commits = git(options.repository, "log", "--no-merges", f"-{COMMITS}", "--format=%H", base, "--", "*.rs")[1].split()
    chance.shuffle(commits)
    records = []
    with tempfile.TemporaryDirectory() as checkout:
        subprocess.run(["git", "clone", "-q", "-s", options.repository, checkout], check=True)
        for commit in commits:
            for patch, percent in parts_of(options.repository, commit, chance):
                applies = git(checkout, "apply", "--check", "-", text=patch)[0] == 0
                if applies and len(records) < options.count:
                    agent = f"{commit[:9]}, {percent} % taken back"
                    records.append({"instance": f"{name}-{base[:9]}", "agent": agent, "base": base, "patch": patch})
            if len(records) >= options.count:
                break
    with gzip.open(options.output, "wt", errors="surrogateescape") as lines:
        lines.writelines(json.dumps(it) + "\n" for it in records)
    print(f"{len(records)} patches")


if __name__ == "__main__":
    main()
