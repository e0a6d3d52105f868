#!/usr/bin/env python3
"""Compare the names of the tests of two revisions, without compiling them.

    compare_tests.py BEFORE [AFTER]

Prints how many tests each revision has, and every test of BEFORE whose name AFTER does not have. AFTER is the work tree
if it is not given. Counted are functions under `#[test]` and `#[tokio::test]`, and Go's `Test…` functions.
"""
import argparse
import collections
import re
import subprocess

RUST = re.compile(
    r"^[ \t]*#\[(?:tokio::)?test(?:\([^\]]*\))?\]\s*(?:(?:#\[[^\]]*\]|//[^\n]*)\s*)*(?:pub(?:\([a-z]+\))? )?(?:async )?fn (\w+)", re.M
)
GO = re.compile(r"^func (Test\w+)\(t \*testing\.T\)", re.M)


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True, errors="replace").stdout


def tests(revision):
    """The file of each test, by name: names may occur in several files."""
    found = collections.defaultdict(list)
    listed = git("ls-tree", "-r", "--name-only", revision) if revision else git("ls-files")
    for path in listed.splitlines():
        form = RUST if path.endswith(".rs") else GO if path.endswith("_test.go") else None
        if form is None or "/fixtures/" in path or "/corpus/" in path:
            continue
        text = git("show", f"{revision}:{path}") if revision else open(path, encoding="utf-8").read()
        for name in form.findall(text):
            found[name].append(path)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after", nargs="?")
    arguments = parser.parse_args()
    before, after = tests(arguments.before), tests(arguments.after)
    print(f"{sum(map(len, before.values()))} tests before, {sum(map(len, after.values()))} after; gone:")
    gone = [(path, name) for name, paths in before.items() for path in paths[len(after.get(name, ())) :]]
    for path, name in sorted(gone):
        print(f"  {path} {name}")


if __name__ == "__main__":
    main()
