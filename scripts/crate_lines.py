#!/usr/bin/env python3
"""Print the lines of Rust of each crate that are not blank, code and tests apart, as a table in Markdown.

Tests are the files and folders `tests` and `fuzz`, and items under `#[cfg(test)]`; fixtures are not counted.
"""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = re.compile(r"(^|/)(tests|fuzz)(/|\.rs$)")


def lines(text):
    """The lines outside and inside of items for tests. rustfmt puts the brace that ends an item under its first line."""
    code, tests, end = 0, 0, None
    for line in text.splitlines():
        if end is None and line.lstrip() == "#[cfg(test)]":
            end = line[: len(line) - len(line.lstrip())] + "}"
        if not line.strip():
            continue
        if end is None:
            code += 1
        else:
            tests += 1
            is_outermost = not line[len(end) - 1 :].startswith(" ")
            if line == end or is_outermost and line.endswith(";"):
                end = None
    return code, tests


def main():
    counts = {}
    listed = subprocess.run(["git", "ls-files", "*.rs"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for path in listed.split():
        parts = path.split("/")
        if "fixtures" in parts or parts[0] in ("benches", "spikes"):
            continue
        crate = parts[1] if parts[0] == "crates" else "xtask" if parts[0] == "xtask" else "semdex"
        code, tests = lines((ROOT / path).read_text())
        if TESTS.search(path):
            code, tests = 0, code + tests
        so_far = counts.get(crate, (0, 0))
        counts[crate] = so_far[0] + code, so_far[1] + tests
    print("| crate | code | tests |\n|---|---|---|")
    for crate, (code, tests) in sorted(counts.items(), key=lambda it: -it[1][0]):
        print(f"| `{crate}` | {code:,} | {tests:,} |")
    code, tests = (sum(it[at] for it in counts.values()) for at in (0, 1))
    print(f"| all | {code:,} | {tests:,} |")


if __name__ == "__main__":
    main()
