#!/usr/bin/env python3
"""aider's map of a directory for a message, by its own RepoMap, to be run where aider-chat 0.86 is installed.

    aider_map.py ROOT MAX_TOKENS < message

The files and the words of the message are passed as aider's coder passes them where nothing is in the chat. A token is four
bytes, as semdex counts, and the budget is the one that is said (aider would multiply it by 8 with an empty chat). Prints JSON:
the files of the map, its bytes, and the seconds that a second, warm map took.
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


def main():
    root, tokens, message = sys.argv[1], int(sys.argv[2]), sys.stdin.read()
    files = []
    for directory, names, found in os.walk(root):
        names[:] = sorted(it for it in names if not it.startswith(".") or it == ".github")
        files += [os.path.relpath(os.path.join(directory, it), root) for it in sorted(found)]
    mentions = Mentions(root, files)
    names = Coder.get_file_mentions(mentions, message)
    words = Coder.get_ident_mentions(mentions, message)
    names |= Coder.get_ident_filename_matches(mentions, words)
    os.chdir(root)
    maker = RepoMap(map_tokens=tokens, root=root, main_model=Model(), io=Quiet(), map_mul_no_files=1, refresh="always")
    every = {os.path.join(root, it) for it in files}
    text, took = "", 0.0
    for _ in range(2):
        begun = time.monotonic()
        text = maker.get_repo_map(set(), every, mentioned_fnames=names, mentioned_idents=words) or ""
        took = time.monotonic() - begun
    lines = {it.rstrip(":") for it in text.split("\n")}
    print(json.dumps({"files": sorted(lines & set(files)), "bytes": len(text.encode()), "seconds": took}))


if __name__ == "__main__":
    main()
