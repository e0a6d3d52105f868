#!/usr/bin/env python3
"""How long each verb's reply is, in characters of Markdown and of JSON, without a limit that was asked for; and the
definitions of the tools.

    sizes.py --server-binary semdex --workspace ripgrep --workspace gin [--save DIRECTORY]

The flagship is one edit that gives `SearcherBuilder::build` one parameter more: every place that it breaks has to be in
the reply. Ends with 1 where that takes more than 6,000 characters or lacks a place, where any reply is longer than the
6,000 tokens of four bytes that it has by default, or where the definitions take more than 7,000 characters. Workspaces
other than ripgrep and gin are left out.
"""

import json
import pathlib
import re
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import semdex_client as semdex

FLAGSHIP, FLAGSHIP_CHARACTERS, FLAGSHIP_PLACES = "edit: the flagship", 6000, 124
REPLY_BYTES, DEFINITIONS_CHARACTERS = 4 * 6000, 7000

# The queries that are the same everywhere, last.
COMMON = [
    ("changes", "GET", "/v1/changes", {}),
    ("overlays", "GET", "/v1/overlays", {}),
    ("workspaces", "GET", "/v1/workspaces", {}),
    ("status", "GET", "/v1/status", {}),
]

CASES = {
    "ripgrep": [
        ("open a file", "POST", "/v1/open", {"file": "crates/searcher/src/searcher/mod.rs"}),
        ("describe a struct", "POST", "/v1/describe", {"symbol": "grep_searcher::Searcher"}),
        ("describe a method", "POST", "/v1/describe", {"symbol": "grep_searcher::SearcherBuilder::build"}),
        ("describe a package", "POST", "/v1/describe", {"package": "grep_searcher"}),
        ("describe of std", "POST", "/v1/describe", {"symbol": "std::collections::HashMap"}),
        ("describe a file", "POST", "/v1/describe", {"file": "crates/core/main.rs"}),
        ("usages of a struct", "GET", "/v1/usages", {"symbol": "grep_searcher::Searcher"}),
        ("usages of a method", "GET", "/v1/usages", {"symbol": "grep_searcher::SearcherBuilder::build"}),
        ("symbols by name", "GET", "/v1/symbols", {"query": "searcher"}),
        ("symbols of a file", "GET", "/v1/symbols", {"file": "crates/searcher/src/searcher/mod.rs"}),
        ("what stands there", "GET", "/v1/symbols/at", {"file": "crates/core/search.rs", "line": 20, "column": 5}),
        ("callers", "GET", "/v1/callers", {"symbol": "grep_searcher::SearcherBuilder::build"}),
        ("callees", "GET", "/v1/callees", {"symbol": "grep_searcher::SearcherBuilder::build"}),
        ("implementations", "GET", "/v1/implementations", {"symbol": "grep_matcher::Matcher"}),
        ("diagnostics", "GET", "/v1/diagnostics", {}),
        ("impact: signature", "POST", "/v1/impact", {"symbol": "grep_searcher::SearcherBuilder::build", "change": "signature"}),
        ("impact: remove", "POST", "/v1/impact", {"symbol": "grep_searcher::Searcher", "change": "remove"}),
        (FLAGSHIP, "POST", "/v1/edit", {
            "file": "crates/searcher/src/searcher/mod.rs", "search_context": "pub fn build(&self) -> Searcher",
            "replacement": "pub fn build(&self, extra: u8) -> Searcher", "dry_run": True,
        }),
        ("rename", "POST", "/v1/rename", {"symbol": "grep_searcher::Searcher::search_reader", "new_name": "search_from", "dry_run": True}),
        ("write", "POST", "/v1/write", {"name": "crates/core/new.rs", "content": "pub fn new() {}\n", "dry_run": True}),
    ],
    "gin": [
        ("open a file", "POST", "/v1/open", {"file": "context.go"}),
        ("describe a struct", "POST", "/v1/describe", {"symbol": "github.com/gin-gonic/gin.Context"}),
        ("describe a method", "POST", "/v1/describe", {"symbol": "github.com/gin-gonic/gin.Context.JSON"}),
        ("describe a package", "POST", "/v1/describe", {"package": "github.com/gin-gonic/gin"}),
        ("usages of a struct", "GET", "/v1/usages", {"symbol": "github.com/gin-gonic/gin.Context"}),
        ("usages of a method", "GET", "/v1/usages", {"symbol": "github.com/gin-gonic/gin.Context.JSON"}),
        ("symbols by name", "GET", "/v1/symbols", {"query": "context"}),
        ("symbols of a file", "GET", "/v1/symbols", {"file": "context.go"}),
        ("what stands there", "GET", "/v1/symbols/at", {"file": "context.go", "line": 60, "column": 6}),
        ("callers", "GET", "/v1/callers", {"symbol": "github.com/gin-gonic/gin.Context.JSON"}),
        ("callees", "GET", "/v1/callees", {"symbol": "github.com/gin-gonic/gin.Context.JSON"}),
        ("implementations", "GET", "/v1/implementations", {"symbol": "github.com/gin-gonic/gin.ResponseWriter"}),
        ("describe of std", "POST", "/v1/describe", {"package": "net/http"}),
        ("describe a file", "POST", "/v1/describe", {"file": "context.go"}),
        ("diagnostics", "GET", "/v1/diagnostics", {}),
        ("impact: signature", "POST", "/v1/impact", {"symbol": "github.com/gin-gonic/gin.Context.JSON", "change": "signature"}),
        ("edit: one parameter more", "POST", "/v1/edit", {
            "file": "context.go", "search_context": "Context) JSON(code int, obj any)",
            "replacement": "Context) JSON(code int, obj any, extra int)", "dry_run": True,
        }),
        ("rename", "POST", "/v1/rename", {"symbol": "github.com/gin-gonic/gin.Context.GetHeader", "new_name": "HeaderOf", "dry_run": True}),
        ("write", "POST", "/v1/write", {"name": "new.go", "content": "package gin\n", "dry_run": True}),
    ],
}


def definitions(client):
    """The tools as a client gets them, byte for byte; their compact JSON is what stands in a conversation."""
    host, port = client.address
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
    headers = {
        "Authorization": f"Bearer {client.token}", "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25",
    }
    with urllib.request.urlopen(urllib.request.Request(f"http://{host}:{port}/mcp", message, headers), timeout=60) as reply:
        return json.dumps(json.load(reply)["result"]["tools"], ensure_ascii=False, separators=(",", ":"))


def places(markdown):
    """How many places stand below the heading of what is broken."""
    broken = markdown.split("\n## Broken", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^- [^\n:]+:([0-9,]+)", broken, re.M)
    return sum(len(it.split(",")) for it in rows)


def run(options, directory):
    short = []
    for source in map(pathlib.Path, options.workspaces):
        root = semdex.copy_workspace(source, directory)
        known = "ripgrep" if (root / "crates/searcher").is_dir() else "gin" if (root / "gin.go").is_file() else None
        if not known:
            print(f"{root.name} is left out")
            continue
        rows = []
        with semdex.Server(options.server_binary, [root], directory=directory / f"server-{root.name}") as server:
            server.wait_ready(options.ready_timeout)
            server.wait_indexed()
            for name, method, path, fields in CASES[known] + COMMON:
                sizes = {}
                for form, accept in [("markdown", "text/markdown"), ("json", "application/json")]:
                    asked = {"query": fields} if method == "GET" else {"body": fields}
                    status, body = server.client.send(method, path, accept=accept, **asked)
                    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, separators=(",", ":"))
                    if status != 200:
                        raise semdex.Failed(f"{name}: {status}: {text[:400]}")
                    sizes[form] = len(text)
                    if form == "markdown" and len(text.encode()) > REPLY_BYTES:
                        short.append(f"{name}: {len(text.encode())} bytes, {REPLY_BYTES} by default")
                    if form == "markdown" and name == FLAGSHIP:
                        found = places(text)
                        if len(text) > FLAGSHIP_CHARACTERS or found != FLAGSHIP_PLACES:
                            short.append(f"the flagship: {len(text)} characters with {found} of {FLAGSHIP_PLACES} places")
                    if options.save:
                        saved = pathlib.Path(options.save)
                        saved.mkdir(parents=True, exist_ok=True)
                        (saved / f"{root.name}-{name.replace(' ', '-').replace(':', '')}.{form}").write_text(text)
                rows.append((name, sizes["markdown"], sizes["json"]))
            tools = definitions(server.client)
        print(f"{root.name + ': reply':<34} {'Markdown':>9} {'JSON':>9}")
        for name, markdown, as_json in [*rows, ("all", sum(it[1] for it in rows), sum(it[2] for it in rows))]:
            print(f"{name:<34} {markdown:>9} {as_json:>9}")
        print(f"{'definitions of the tools':<34} {'':>9} {len(tools):>9}")
        if len(tools) > DEFINITIONS_CHARACTERS:
            short.append(f"the definitions of the tools: {len(tools)} characters")
    if short:
        raise semdex.Failed("; ".join(short))


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--save", metavar="DIRECTORY", help="where each reply is kept, to be read")
    semdex.main(run, parser.parse_args())
