#!/usr/bin/env python3
"""Counts words that this repository's prose avoids, and Markdown lines that are too long.

It searches
  comments: `//`, `///`, `//!` and `/* */` of Rust sources in src/, crates/, xtask/, tests/ and benches/;
  Markdown: all *.md files, outside code fences.
Text in backticks and link targets are not prose and are not searched. Phrases are also found across a line break.
Each place counts, also where the word has a legitimate technical meaning ("at once" for "at the same time").
Long lines are those of Markdown with more than 120 columns, tables and code fences included.
Skipped: target/, node_modules/, fixtures/, hidden directories, and crates/coder/src/rules.md, which is a prompt for a model.
"""

import argparse
import os
import re
import sys
from collections import Counter
from pathlib import Path

COLUMNS = 120
SOURCES = ("src", "crates", "xtask", "tests", "benches")
SKIPPED = {"target", "node_modules", "fixtures"}
SKIPPED_FILES = {"crates/coder/src/rules.md"}

# What to avoid, the pattern, and what to use instead. A space in a pattern also matches one line break.
WORDS = [
    ("tell, told", r"tells?|told|telling", "report, return"),
    ("stand", r"stands?|stood|standing", "is, appears, is next to"),
    ("mend", r"mends?|mended|mending", "fix"),
    ("bear", r"bears?|bore|borne|bearing", "is named, supports"),
    ("hand on, pass on", r"(?:hand(?:s|ed|ing)?|pass(?:es|ed|ing)?)(?: (?:it|them|all|everything))? on",
     "forward, re-export"),
    ("what is asked, who asks", r"what is asked|who asks|who uses it|whoever", "the query, the client, the caller"),
    ("missed", r"missed", "unresolved, not found"),
    ("lack, has it not", r"lack(?:s|ed|ing)?|has (?:it|them|that) not", "is missing, does not implement"),
    ("no more, any more", r"(?:no|any) more(?! than)", "no longer"),
    ("at once", r"at once", "immediately, at the same time"),
    ("meanwhile", r"meanwhile", "during X"),
    ("anew", r"anew", "again"),
    ("made of what, comes of it", r"made of what|what com(?:es|ing) of|(?:comes?|came) of (?:it|them|this|that)",
     "computed from X, the result"),
    ("room, house, face, door", r"rooms?|houses?|faces?|doors?", "module, codebase, interface, endpoint"),
    ("the one, the other, that of", r"the one|the others?|(?:that|those) of", "the noun itself"),
]
PATTERNS = [(name, re.compile(rf"\b(?:{words})\b".replace(" ", r"(?:[ \t]+|[ \t]*\n[ \t]*)"), re.I))
            for name, words, _ in WORDS]

RUST = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|b?r(?P<hashes>\#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*"|'(?:\\.[^'\n]*|[^'\\])'""",
    re.S | re.X)
FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.S | re.M)
NOT_PROSE = re.compile(r"(`+)(?:(?!\n[ \t]*\n).)+?(?<!`)\1(?!`)|\]\([^)\n]*\)|<!--.*?-->|https?://\S+", re.S)


def blank(text, filler=" "):
    """The same number of lines and columns without a word."""
    return re.sub(r"[^\n]", filler, text)


def prose(text):
    return NOT_PROSE.sub(lambda it: blank(it[0], "·"), text)


def comments(source):
    """The comments of a Rust source, at their lines."""
    kept, end = [], 0
    for found in RUST.finditer(source):
        kept.append(blank(source[end:found.start()]))
        comment = found["comment"]
        kept.append(blank(found[0]) if comment is None else re.sub(r"^//[/!]?|^/\*+|\*/$", "  ", comment))
        end = found.end()
    return prose("".join(kept) + blank(source[end:]))


def markdown(text):
    return prose(FENCE.sub(lambda it: blank(it[0]), text))


def files(root):
    """Relative names of the Rust sources and the Markdown files below `root`."""
    for directory, directories, names in os.walk(root):
        directories[:] = sorted(it for it in directories if it not in SKIPPED and not it.startswith("."))
        for name in sorted(names):
            file = (Path(directory) / name).relative_to(root)
            is_source = file.suffix == ".rs" and file.parts[0] in SOURCES
            if (is_source or file.suffix == ".md") and file.as_posix() not in SKIPPED_FILES:
                yield file


def words_of(text):
    """(line, name of the word, the words as written)"""
    found = [(text.count("\n", 0, it.start()) + 1, name, re.sub(r"\s+", " ", it[0]))
             for name, pattern in PATTERNS for it in pattern.finditer(text)]
    return sorted(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent,
                        help="the repository (default: that this script is in)")
    parser.add_argument("--files", action="store_true", help="counts of each file, too")
    parser.add_argument("--list", action="store_true", help="each place as FILE:LINE, too")
    for name, what in (("comments", "words in comments"), ("markdown", "words in Markdown"), ("long", "long lines")):
        parser.add_argument(f"--max-{name}", type=int, metavar="N", help=f"exit code 1 with more than N {what}")
    arguments = parser.parse_args()

    by_word = {"comments": Counter(), "markdown": Counter()}
    by_file, long_lines, places = Counter(), Counter(), []
    for file in files(arguments.root):
        text = (arguments.root / file).read_text(encoding="utf-8")
        kind = "comments" if file.suffix == ".rs" else "markdown"
        found = words_of(comments(text) if kind == "comments" else markdown(text))
        by_word[kind].update(name for _, name, _ in found)
        by_file[file] = len(found)
        places += [f"{file}:{line}: {written}" for line, _, written in found]
        if kind == "markdown":
            too_long = [(number, len(it)) for number, it in enumerate(text.split("\n"), 1) if len(it) > COLUMNS]
            long_lines[file] = len(too_long)
            places += [f"{file}:{number}: {columns} columns" for number, columns in too_long]

    if arguments.list:
        print("\n".join(places))
    if arguments.files:
        print(f"{'words':>8}{f'>{COLUMNS}':>8}  file")
        for file in sorted(by_file, key=lambda it: (-by_file[it] - long_lines[it], it)):
            if by_file[file] or long_lines[file]:
                print(f"{by_file[file]:>8}{long_lines[file] if file.suffix == '.md' else '':>8}  {file}")
    totals = {kind: sum(counts.values()) for kind, counts in by_word.items()}
    totals["long"] = sum(long_lines.values())
    print(f"{'comments':>8}{'Markdown':>10}  words to avoid → instead")
    for name, _, instead in WORDS:
        print(f"{by_word['comments'][name]:>8}{by_word['markdown'][name]:>10}  {name} → {instead}")
    print(f"{totals['comments']:>8}{totals['markdown']:>10}  in total")
    print(f"{totals['long']:>18}  Markdown lines of more than {COLUMNS} columns")

    exceeded = [(kind, most) for kind in totals if (most := getattr(arguments, f"max_{kind}")) is not None
                and totals[kind] > most]
    for kind, most in exceeded:
        print(f"{kind}: {totals[kind]}, {most} allowed; --list shows each", file=sys.stderr)
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
