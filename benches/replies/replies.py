#!/usr/bin/env python3
"""The size of replies as a model reads them.

    replies.py SEMDEX ripgrep=DIR gin=DIR [--out DIR] [--cache DIR]

Starts SEMDEX on a copy of each workspace, asks for the replies of the table below as Markdown, and prints their bytes.
With --out each reply is written to a file, to be compared with those of another build.
"""

import argparse
import json
import os
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
    "impact of a removal": ("/v1/impact", {"symbol": "grep_matcher::Match::start", "change": "remove"}),
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

QUESTIONS = {"ripgrep": RIPGREP, "gin": GIN}


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
        sizes = {}
        for title, (path, body) in QUESTIONS[name].items():
            if body is None:
                path += "&wait_ms=120000"
                data = None
            else:
                data = json.dumps(body | {"wait_ms": 120000}).encode()
            request = urllib.request.Request(
                hello["listening"] + path,
                data=data,
                headers={
                    "Authorization": f"Bearer {token}",
                    "Accept": "text/markdown",
                    "Content-Type": "application/json",
                },
            )
            try:
                text = urllib.request.urlopen(request, timeout=170).read()
            except urllib.error.HTTPError as error:
                text = error.read()
            sizes[title] = len(text)
            if out:
                os.makedirs(out, exist_ok=True)
                with open(os.path.join(out, f"{name}-{title.replace(' ', '-')}.md"), "wb") as file:
                    file.write(text)
        return sizes
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(home, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("semdex")
    parser.add_argument("workspaces", nargs="+", metavar="NAME=DIR")
    parser.add_argument("--out")
    parser.add_argument("--cache")
    arguments = parser.parse_args()
    total = 0
    for workspace in arguments.workspaces:
        name, source = workspace.split("=", 1)
        for title, size in run(arguments.semdex, name, source, arguments.cache, arguments.out).items():
            print(f"{name:8} {title:28} {size:7} bytes")
            total += size
    print(f"{'total':37} {total:7} bytes")


if __name__ == "__main__":
    main()
