#!/usr/bin/env python3
"""aider's map of a directory for a message, by its own RepoMap, to be run where aider-chat 0.86 is installed.

    aider_map.py ROOT MAX_TOKENS… < message

The files and the words of the message are passed as aider's coder passes them where nothing is in the chat. A token is four
bytes, as semdex counts, and the budget is the one that is said (aider would multiply it by 8 with an empty chat). Prints a line of JSON
for each budget: the files of the map, the same by their ranks, its bytes, the lines that it shows of each file, and the seconds that a
second, warm map took. What aider keeps of the files is in the directory AIDER_TAGS, or in ROOT if it is not set.
"""

import json
import os
import sys
import time

from aider.coders.base_coder import Coder
from aider.repomap import RepoMap


class Quiet:
    def __getattr__(self, name):
        return lambda *arguments, **options: None

    def read_text(self, name, silent=False):
        try:
            with open(name, encoding="utf-8") as file:
                return file.read()
        except (OSError, UnicodeError):
            return None


class Model:
    def token_count(self, text):
        return len(text.encode()) / 4


class Mentions:
    """What the coder finds in a message, without a coder."""

    def __init__(self, root, files):
        self.files = files
        self.abs_fnames, self.abs_read_only_fnames, self.root = set(), set(), root

    def get_all_relative_files(self):
        return self.files

    get_addable_relative_files = get_all_relative_files

    def get_inchat_relative_files(self):
        return []


def shown_lines(text, root, files):
    """The numbers of the lines that a map shows of each file: it has their texts, in the order of the file."""
    shown, of_file, left, at = {}, None, [], 0
    for row in text.split("\n"):
        if row.rstrip(":") in files:
            of_file, at = shown.setdefault(row.rstrip(":"), []), 0
            with open(os.path.join(root, row.rstrip(":")), encoding="utf-8", errors="replace") as file:
                left = file.read().split("\n")
        elif row.startswith("│") and of_file is not None and row[1:] in left[at:]:
            at = left.index(row[1:], at) + 1
            of_file.append(at)
    return shown


def main():
    root, budgets, message = sys.argv[1], [int(it) for it in sys.argv[2:]], sys.stdin.read()
    files = []
    for directory, names, found in os.walk(root):
        names[:] = sorted(it for it in names if not it.startswith(".") or it == ".github")
        files += [os.path.relpath(os.path.join(directory, it), root) for it in sorted(found)]
    mentions = Mentions(root, files)
    names = Coder.get_file_mentions(mentions, message)
    words = Coder.get_ident_mentions(mentions, message)
    names |= Coder.get_ident_filename_matches(mentions, words)
    os.chdir(root)
    RepoMap.TAGS_CACHE_DIR = os.environ.get("AIDER_TAGS", RepoMap.TAGS_CACHE_DIR)
    every = {os.path.join(root, it) for it in files}
    for tokens in budgets:
        maker = RepoMap(map_tokens=tokens, root=root, main_model=Model(), io=Quiet(), map_mul_no_files=1, refresh="always")
        print(json.dumps(map_of(maker, root, files, every, names, words)), flush=True)


def map_of(maker, root, files, every, names, words):
    text, took = "", 0.0
    for _ in range(2):
        begun = time.monotonic()
        text = maker.get_repo_map(set(), every, mentioned_fnames=names, mentioned_idents=words) or ""
        took = time.monotonic() - begun
    lines = {it.rstrip(":") for it in text.split("\n")}
    tags = maker.get_ranked_tags(set(), every, names, words)
    ranked = list(dict.fromkeys(it[0] for it in tags))
    return {
        "files": sorted(lines & set(files)),
        "ranked": [it for it in ranked if it in lines],
        "bytes": len(text.encode()),
        "lines": shown_lines(text, root, lines & set(files)),
        "seconds": took,
    }


if __name__ == "__main__":
    main()
