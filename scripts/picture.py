#!/usr/bin/env python3
"""The README's picture, made of what semdex says: picture.py SEMDEX RIPGREP > docs/session.svg

Runs two commands on a copy of ripgrep as in a terminal, and draws what comes, cut where it is marked.
"""

import html
import os
import pathlib
import re
import subprocess
import sys
import tempfile

WIDTH, LINE, FONT = 108, 17, 13
COLOURS = {"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "36": "c"}
CASES = [
    (["usages", "SearcherBuilder::build", "--limit", "3"], 7),
    (["edit", "crates/searcher/src/searcher/mod.rs", "--search", "pub fn build(&self) -> Searcher",
      "--replace", "pub fn build(&self, strict: bool) -> Searcher", "--dry-run"], 17),
]


def spans(line):
    """The parts of a line with the classes of their colours, no more than so many characters."""
    found, style, left = [], [], WIDTH
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if code := re.fullmatch(r"\x1b\[([0-9;]*)m", part):
            style = [] if code[1] in ("", "0") else style + [COLOURS[it] for it in code[1].split(";") if it in COLOURS]
        elif part:
            shown = part if len(part) <= left else part[: left - 1] + "…"
            left -= len(shown)
            text = html.escape(shown, quote=False)
            found.append(f'<tspan class="{" ".join(style)}">{text}</tspan>' if style else text)
            if len(shown) < len(part) or left <= 1:
                break
    return "".join(found)


def main(semdex, source):
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory) / "ripgrep"
        subprocess.run(["cp", "-r", source, root], check=True)
        environment = {**os.environ, "XDG_STATE_HOME": f"{directory}/state"}
        say = lambda *arguments: subprocess.run([semdex, *arguments], cwd=root, env=environment, capture_output=True, text=True)
        say("trust", ".")
        server = subprocess.Popen([semdex, "serve", "--listen", "127.0.0.1:0"], cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            server.stdout.readline()
            say("usages", "SearcherBuilder::build", "--wait-ms", "120000")
            for arguments, most in CASES:
                said = say(*arguments, "--color", "always", "--wait-ms", "120000")
                assert said.returncode == 0, said.stderr
                shown = " ".join(f"'{it}'" if re.search(r"[ (&<>]", it) else it for it in arguments)
                # As a shell goes on with a long command.
                first, *more = re.sub(r" --search", " \\\\\n    --search", f"semdex {shown}").split("\n")
                rows.append(f'<tspan class="g">$</tspan> <tspan class="b">{html.escape(first, quote=False)}</tspan>')
                rows += [f'<tspan class="b">{html.escape(it, quote=False)}</tspan>' for it in more]
                lines = [it for it in said.stdout.split("\n") if it.strip()]
                rows += [spans(it) for it in lines[:most]] + (['<tspan class="d">…</tspan>'] if len(lines) > most else []) + [""]
        finally:
            server.terminate()
            server.wait()
    height = LINE * len(rows) + 24
    width = round(WIDTH * FONT * 0.602) + 32
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">')
    print("<title>semdex in a terminal: who uses a method, and what another parameter of it breaks</title>")
    print(f"<style>text{{font:{FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d6dbe1;white-space:pre}}"
          ".b{font-weight:700;fill:#fff}.d{fill:#8b949e}.r{fill:#ff8a80}.g{fill:#7ee787}.y{fill:#e3b341}.c{fill:#79c0ff}</style>")
    print(f'<rect width="{width}" height="{height}" rx="8" fill="#12161c"/>')
    for number, row in enumerate(rows):
        if row:
            print(f'<text x="16" y="{LINE * (number + 1) + 8}" xml:space="preserve">{row}</text>')
    print("</svg>")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
