#!/usr/bin/env python3
"""The size of replies as a model reads them, and whether they lose something that JSON has.

    replies.py SEMDEX ripgrep=DIR gin=DIR flask=DIR zod=DIR lua=DIR [--before SEMDEX] [--out DIR] [--cache DIR]

Starts SEMDEX on a copy of each workspace, asks for the replies of the table below, and prints the bytes and tokens of
the Markdown beside those of the JSON. The places of the JSON (file and line of broken places, usages, diagnostics,
edited files) that the Markdown does not name are counted as lost, unless the Markdown says how many it leaves out.
With --before the same replies of another build are beside them. With --out each reply is written to a file.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.request

RIPGREP = {
    "open": ("/v1/open", {"file": "crates/searcher/src/searcher/mod.rs"}),
    "usages": ("/v1/usages?symbol=grep_searcher::Searcher", None),
    "describe": ("/v1/describe", {"symbol": "grep_printer::StandardBuilder"}),
    "dry run of a new parameter": (
        "/v1/edit",
        {
            "file": "crates/searcher/src/searcher/mod.rs",
            "search_context": "    pub fn build(&self) -> Searcher {",
            "replacement": "    pub fn build(&self, strict: bool) -> Searcher {",
            "dry_run": True,
        },
    ),
    "impact of a removal": ("/v1/impact", {"symbol": "method@grep_matcher::Match::start", "change": "remove"}),
    "rename": ("/v1/rename", {"symbol": "grep_searcher::SearcherBuilder", "new_name": "Builder2", "dry_run": True}),
    "edit with errors": (
        "/v1/edit",
        {
            "file": "crates/printer/src/util.rs",
            "search_context": "use std::",
            "near_line": 1,
            "replacement": "use stdd::",
            "dry_run": True,
        },
    ),
    "unknown symbol": ("/v1/usages?symbol=Sercher", None),
    "no match": (
        "/v1/edit",
        {"file": "crates/searcher/src/lib.rs", "search_context": "mod searchr;", "replacement": "mod searcher;"},
    ),
}

GIN = {
    "open": ("/v1/open", {"file": "context.go"}),
    "usages": ("/v1/usages?symbol=Context.JSON", None),
    "describe": ("/v1/describe", {"symbol": "Engine.ServeHTTP"}),
    "dry run of a new parameter": (
        "/v1/edit",
        {
            "file": "context.go",
            "search_context": "func (c *Context) JSON(code int, obj any) {",
            "replacement": "func (c *Context) JSON(code int, obj any, pretty bool) {",
            "dry_run": True,
        },
    ),
    "impact of a removal": ("/v1/impact", {"symbol": "Context.Param", "change": "remove"}),
    "rename": ("/v1/rename", {"symbol": "Context.Abort", "new_name": "StopHere", "dry_run": True}),
}

FLASK = {
    "open": ("/v1/open", {"file": "src/flask/app.py"}),
    "usages": ("/v1/usages?symbol=src/flask/app.py::Flask.make_response", None),
    "dry run of a new parameter": (
        "/v1/edit",
        {
            "file": "src/flask/helpers.py",
            "search_context": "def url_for(\n    endpoint: str,\n    *,",
            "replacement": "def url_for(\n    endpoint: str,\n    strict: bool,\n    *,",
            "dry_run": True,
        },
    ),
}

ZOD = {
    "usages": ("/v1/usages?symbol=packages/zod/src/v4/core/util.ts::joinValues", None),
    "impact of a removal": (
        "/v1/impact",
        {"symbol": "packages/zod/src/v4/core/util.ts::joinValues", "change": "remove"},
    ),
    "rename": (
        "/v1/rename",
        {
            "symbol": "packages/zod/src/v4/core/util.ts::floatSafeRemainder",
            "new_name": "remainder",
            "dry_run": True,
            "on_break": "report",
        },
    ),
}

LUA = {
    "usages": ("/v1/usages?symbol=luaC_newobj", None),
    "describe": ("/v1/describe", {"symbol": "luaH_resize"}),
    "dry run of a new parameter": (
        "/v1/edit",
        {
            "file": "lgc.h",
            "search_context": "LUAI_FUNC GCObject *luaC_newobj (lua_State *L, lu_byte tt, size_t sz);",
            "replacement": "LUAI_FUNC GCObject *luaC_newobj (lua_State *L, lu_byte tt, size_t sz, int old);",
            "dry_run": True,
        },
    ),
}

QUESTIONS = {"ripgrep": RIPGREP, "gin": GIN, "flask": FLASK, "zod": ZOD, "lua": LUA}

# How many bytes semdex counts as a token.
BYTES_PER_TOKEN = 4


def ask(hello, token, path, body, accept):
    if body is None:
        path += "&wait_ms=120000"
        data = None
    else:
        data = json.dumps(body | {"wait_ms": 120000}).encode()
    headers = {"Authorization": f"Bearer {token}", "Accept": accept, "Content-Type": "application/json"}
    request = urllib.request.Request(hello["listening"] + path, data=data, headers=headers)
    try:
        return urllib.request.urlopen(request, timeout=170).read()
    except urllib.error.HTTPError as error:
        return error.read()


def places(reply):
    """The places that a reader has to go to: each file with a line."""
    impact = reply.get("impact") or {}
    lists = [impact.get("broken", []), reply.get("items", []), (reply.get("diagnostics") or {}).get("new", [])]
    lists.append((reply.get("usages") or {}).get("items", []))
    return {(it["file"], it["line"]) for some in lists for it in some if "file" in it}


def lost(reply, text):
    """The places of the JSON that the Markdown does not name."""
    named, file = set(), None
    for line in text.splitlines():
        for path, numbers in re.findall(r"([\w./@+-]+\.\w+):([\d,-]+)", line):
            named |= {(path, int(it)) for part in numbers.split(",") if part for it in part.split("-") if it}
        only_file = re.fullmatch(r"- ([\w./@+-]+\.\w+)", line)
        file = only_file[1] if only_file else file
        row = re.match(r"\s+- (\d+)", line)
        if row and file:
            named.add((file, int(row[1])))
    return places(reply) - named


def run(semdex, name, source, cache, out):
    home = tempfile.mkdtemp(prefix="replies-")
    root = os.path.join(home, name)
    shutil.copytree(source, root, symlinks=True)
    environment = os.environ | {
        "XDG_STATE_HOME": f"{home}/state",
        "XDG_CONFIG_HOME": f"{home}/config",
        "XDG_CACHE_HOME": cache or f"{home}/cache",
    }
    server = subprocess.Popen(
        [semdex, "serve", "--trust", "--listen", "127.0.0.1:0", root],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        hello = json.loads(server.stdout.readline())
        with open(hello["token_file"]) as file:
            token = file.read().strip()
        rows = {}
        for title, (path, body) in QUESTIONS[name].items():
            text = ask(hello, token, path, body, "text/markdown")
            whole = ask(hello, token, path, body, "application/json")
            missing = lost(json.loads(whole), text.decode())
            said = "missing `budget`" in text.decode()
            rows[title] = (len(text), len(whole), len(missing), said)
            if out:
                os.makedirs(out, exist_ok=True)
                for content, ending in ((text, "md"), (whole, "json")):
                    with open(os.path.join(out, f"{name}-{title.replace(' ', '-')}.{ending}"), "wb") as file:
                        file.write(content)
        return rows
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(home, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("semdex")
    parser.add_argument("workspaces", nargs="+", metavar="NAME=DIR")
    parser.add_argument("--before", metavar="SEMDEX")
    parser.add_argument("--out")
    parser.add_argument("--cache")
    arguments = parser.parse_args()
    totals = [0, 0, 0]
    print("| reply | JSON, bytes | before, bytes | Markdown, bytes | tokens | places lost |\n|---|---|---|---|---|---|")
    for workspace in arguments.workspaces:
        name, source = workspace.split("=", 1)
        before = run(arguments.before, name, source, arguments.cache, None) if arguments.before else {}
        for title, (text, whole, missing, said) in run(
            arguments.semdex, name, source, arguments.cache, arguments.out
        ).items():
            earlier = before.get(title, (0,))[0]
            totals = [a + b for a, b in zip(totals, (whole, earlier, text))]
            left = f"{missing}, on the next page" if missing and said else missing
            shown = f"{earlier:,}" if earlier else ""
            print(f"| {name}: {title} | {whole:,} | {shown} | {text:,} | {text // BYTES_PER_TOKEN:,} | {left} |")
    whole, earlier, text = totals
    print(f"| all | {whole:,} | {earlier:,} | {text:,} | {text // BYTES_PER_TOKEN:,} | |")


if __name__ == "__main__":
    main()
