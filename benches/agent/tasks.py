#!/usr/bin/env python3
"""Ten tasks of an agent on ripgrep and gin: through MCP, and with grep, read and edit alone; calls and tokens of each.

    tasks.py --server-binary semdex --workspace ripgrep --workspace gin

Both sides are scripts, not models: they do what a careful agent would do that knows what it looks for, and need no second
try. A token is four bytes of what a call is given and what it answers. Tools' definitions are counted once, apart. The plain
side searches by `grep -rn` over the language's files and reads as agents do: whole files of at most 2,000 lines, or the
lines around hits. It proves nothing: what it found may be too much or too little, which the last column says.

Ends with 1 where semdex takes more tokens than the plain way over all tasks, or the definitions more than 7,000 characters.
"""

import json
import pathlib
import re
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import semdex_client as semdex

BYTES_PER_TOKEN = 4
LONGEST_READ = 2000


class Cost:
    def __init__(self):
        self.calls, self.bytes = 0, 0

    def add(self, given, answered):
        self.calls += 1
        self.bytes += len(given.encode()) + len(answered.encode())

    def __str__(self):
        return f"{self.calls:>5} {self.bytes // BYTES_PER_TOKEN:>7}"


class Tools:
    """semdex, by JSON-RPC over HTTP."""

    def __init__(self, server, root):
        (host, port), self.token = server.client.address, server.client.token
        self.url, self.workspace, self.cost = f"http://{host}:{port}/mcp", server.workspace(root), Cost()

    def ask(self, method, params):
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        headers = {
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25",
        }
        with urllib.request.urlopen(urllib.request.Request(self.url, message, headers), timeout=150) as reply:
            return json.load(reply)["result"]

    def __call__(self, tool, **arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": {**arguments, "workspace": self.workspace}})
        text = "".join(it["text"] for it in result["content"])
        if result.get("isError"):
            raise semdex.Failed(f"{tool} {arguments}: {text[:600]}")
        self.cost.add(json.dumps(arguments), text)
        return text


class Plain:
    """What every agent has: a search, a reader, an editor."""

    def __init__(self, root, suffix):
        self.root, self.cost = root, Cost()
        self.texts = {it: (root / it).read_text(errors="replace").split("\n") for it in semdex.source_files(root, suffix)}

    def grep(self, pattern, around=0):
        found, wanted = [], re.compile(pattern)
        for file, lines in self.texts.items():
            hits = {at for at, line in enumerate(lines) if wanted.search(line)}
            shown = sorted({at for hit in hits for at in range(hit - around, hit + around + 1) if 0 <= at < len(lines)})
            found += [(file, at, lines[at], at in hits) for at in shown]
        self.cost.add(f"grep -rn {pattern!r} -C{around}", "\n".join(f"{file}:{at + 1}:{text}" for file, at, text, _ in found))
        return [it for it in found if it[3]]

    def read(self, file, first=0, count=LONGEST_READ):
        lines = self.texts[file][first:first + count]
        self.cost.add(f"read {file} {first} {count}", "\n".join(f"{first + at + 1:>6}\t{line}" for at, line in enumerate(lines)))

    def read_all(self, file):
        for first in range(0, len(self.texts[file]), LONGEST_READ):
            self.read(file, first)

    def replace_in(self, file, old, new):
        self.cost.add(json.dumps({"file": file, "old": old, "new": new, "all": True}), f"{file} has been updated")


def files(hits):
    return list(dict.fromkeys(it[0] for it in hits))


def ripgrep(tools, plain):
    build, searcher = "grep_searcher::SearcherBuilder::build", "crates/searcher/src/searcher/mod.rs"

    def users():
        tools("usages", symbol=build)
        hits = plain.grep(r"\.build\(\)")
        plain.grep(r"SearcherBuilder")
        return f"{len(hits)} hits, of which 124 are meant"

    def signature():
        tools("edit", file=searcher, search_context="pub fn build(&self) -> Searcher", replacement="pub fn build(&self, extra: u8) -> Searcher", dry_run=True)
        hits = plain.grep(r"\.build\(\)", around=4)
        plain.read(searcher, 300, 60)
        return f"{len(hits)} hits to be judged; then the compiler, crate by crate"

    def rename():
        tools("rename", symbol="grep_searcher::Searcher::search_reader", new_name="search_from", dry_run=True)
        hits = plain.grep(r"\bsearch_reader\b")
        for file in files(hits):
            plain.read(file)
            plain.replace_in(file, "search_reader", "search_from")
        return f"{len(hits)} hits in {len(files(hits))} files, two functions of that name among them"

    def field():
        tools("describe", symbol="grep_searcher::searcher::Config", file=searcher)
        tools("edit", symbol="grep_searcher::searcher::Config", search_context="    multi_line: bool,\n", replacement="    multi_line: bool,\n    strict: bool,\n", file=searcher, dry_run=True)
        plain.grep(r"struct Config\b")
        plain.read(searcher, 150, 120)
        hits = plain.grep(r"\bConfig \{")
        return f"{len(hits)} hits of several types `Config`"

    def tests():
        tools("impact", symbol="grep_searcher::Searcher::search_slice", change="signature")
        hits = plain.grep(r"search_slice\(")
        for file in files(hits)[:4]:
            plain.grep(r"fn \w+\(\)")
        return "tests that call it by others are not found"

    return [("who uses a method", users), ("change its signature", signature), ("rename a method", rename), ("add a field", field), ("find the tests", tests)]


def gin(tools, plain):
    context = "github.com/gin-gonic/gin.Context"

    def users():
        tools("usages", symbol=f"{context}.Query")
        hits = plain.grep(r"\.Query\(")
        return f"{len(hits)} hits, those of url.URL among them"

    def outline():
        tools("open", file="context.go", max_tokens=6000)
        plain.read_all("context.go")
        return "the whole text, which is more than the outline"

    def understand():
        tools("describe", symbol="github.com/gin-gonic/gin.HandlersChain")
        plain.grep(r"HandlersChain\b")
        plain.read("gin.go", 40, 40)
        return "the same"

    def rename():
        tools("rename", symbol=f"{context}.GetHeader", new_name="HeaderOf", dry_run=True)
        hits = plain.grep(r"\bGetHeader\b")
        for file in files(hits):
            plain.read(file)
            plain.replace_in(file, "GetHeader", "HeaderOf")
        return f"{len(hits)} hits in {len(files(hits))} files"

    def word():
        # What grep does as well: a plain word in a comment.
        plain.grep(r"SSE|server-sent")
        tools.cost.calls, tools.cost.bytes = plain.cost.calls, plain.cost.bytes
        return "grep is right here, on both sides"

    return [("who uses a method", users), ("see a long file", outline), ("understand a type", understand), ("rename a method", rename), ("find a word of prose", word)]


def run(options, directory):
    known = [it for it in map(pathlib.Path, options.workspaces) if (it / "crates/searcher").is_dir() or (it / "gin.go").is_file()]
    if not known:
        print("neither ripgrep nor gin is among the workspaces: the tasks are about these")
        return
    roots = [semdex.copy_workspace(it, directory) for it in known]
    totals = [Cost(), Cost()]
    with semdex.Server(options.server_binary, roots, directory=directory / "server") as server:
        server.wait_ready(options.ready_timeout)
        server.wait_indexed()
        print(f"{'':<34} {'semdex':>13} {'plain':>13}\n{'task':<34} {'calls':>5} {'tokens':>7} {'calls':>5} {'tokens':>7}  plain finds")
        for root in roots:
            is_rust = (root / "Cargo.toml").is_file()
            tools, plain = Tools(server, root), Plain(root, ".rs" if is_rust else ".go")
            for name, task in (ripgrep if is_rust else gin)(tools, plain):
                tools.cost, plain.cost = Cost(), Cost()
                note = task()
                for total, cost in zip(totals, (tools.cost, plain.cost)):
                    total.calls, total.bytes = total.calls + cost.calls, total.bytes + cost.bytes
                print(f"{root.name + ': ' + name:<34} {tools.cost} {plain.cost}  {note}")
        print(f"{'all':<34} {totals[0]} {totals[1]}")
        definitions = json.dumps(tools.ask("tools/list", {})["tools"], ensure_ascii=False, separators=(",", ":"))
        print(f"definitions of the tools: {len(definitions)} characters, once in a conversation")
        if len(definitions) > 7000 or totals[0].bytes >= totals[1].bytes:
            raise semdex.Failed("the tools take more than 7,000 characters, or all tasks more tokens than the plain way")


if __name__ == "__main__":
    semdex.main(run, semdex.arguments(__doc__).parse_args())
