#!/usr/bin/env python3
"""From `semdex init claude` in a workspace never seen before to the first complete usages of a named symbol, each step timed; and
the same from the start of rust-analyzer or gopls over LSP, in the same run.

    first_contact.py --server-binary SEMDEX --workspace DIR --symbol PATH --file FILE --name NAME

A first start has empty caches: an empty `XDG_CACHE_HOME`, for the language server too (with Go's build cache and that of gopls in
it), and no `target/`. A second start finds what the first one left. PATH names
the symbol for semdex; for the language server it is the first NAME in FILE that follows `fn`, `func`, `struct` or `type`. A reply
that says 0 before it is complete fails the run: nothing known yet is not none. Ends with 1 above a target: of rust-analyzer's time
0.9 at the first start and 0.5 at the second, of gopls' 1.2. Build with --release, on a machine that does nothing else.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex
from lsp_client import LanguageServer, find_gopls

PATIENCE_S = 600.0


class Steps:
    """Prints how long each step took; `total` from the beginning to the end of the last one."""

    def __init__(self, title):
        print(f"== {title}", flush=True)
        self.began = self.last = time.monotonic()

    def step(self, name):
        now = time.monotonic()
        print(f"{name:<48} {now - self.last:>8.2f} s", flush=True)
        self.last = now

    def total(self, name):
        took = self.last - self.began
        print(f"{name:<48} {took:>8.2f} s", flush=True)
        return took


class Agent:
    """What an agent does with `.mcp.json`: starts the server in it, and speaks the Model Context Protocol over standard input."""

    def __init__(self, root, environment):
        entry = json.loads((root / ".mcp.json").read_text())["mcpServers"]["semdex"]
        self.process = subprocess.Popen([entry["command"], *entry["args"]], cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.asked = 0

    def ask(self, method, params, is_answered=True):
        self.asked += is_answered
        message = {"jsonrpc": "2.0", "method": method, "params": params, **({"id": self.asked} if is_answered else {})}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        while is_answered:
            reply = json.loads(self.process.stdout.readline())
            if reply.get("id") == self.asked:
                return reply["result"]

    def begin(self):
        client = {"name": "first-contact", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self.ask("notifications/initialized", {}, is_answered=False)
        return self.ask("tools/list", {})["tools"]

    def usages(self, symbol):
        result = self.ask("tools/call", {"name": "usages", "arguments": {"symbol": symbol}})
        return "".join(it["text"] for it in result["content"])

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


def is_complete(reply):
    # The last line of a reply is the state of the workspace.
    return re.search(r"^`[^`]*` at revision \d+, .*\bcomplete\b", reply, re.M) and "**incomplete**" not in reply


def through_semdex(steps, root, environment, symbol):
    """The head of the first complete answer. Every earlier one is printed, and must not say that there is nothing."""
    agent = Agent(root, environment)
    try:
        tools = agent.begin()
        steps.step(f"semdex mcp answers, {len(tools)} tools")
        deadline = time.monotonic() + PATIENCE_S
        while True:
            reply = agent.usages(symbol)
            head = reply.split("\n", 1)[0]
            steps.step(f"usages: {head}"[:48])
            if is_complete(reply):
                return head
            print("\n".join(it for it in reply.splitlines() if it.startswith("- ") or "incomplete" in it)[-600:])
            if re.match(r"# 0 ", head):
                raise semdex.Failed(f"an incomplete answer says 0:\n{reply}")
            if time.monotonic() > deadline:
                raise semdex.Failed(f"no complete answer in {PATIENCE_S} s:\n{reply}")
    finally:
        agent.close()


def through_server(steps, arguments, root, environment):
    file, name = arguments.file, arguments.name
    declared = re.search(rf"\b(?:fn|func|struct|type|trait|enum)\s+(?:\([^)]*\)\s*)?({name})\b", (root / file).read_text())
    if not declared:
        raise semdex.Failed(f"{file} declares no {name}")
    offset = len((root / file).read_text()[: declared.start(1)].encode())
    if file.endswith(".rs"):
        server = LanguageServer.rust_analyzer(arguments.rust_analyzer, root, environment)
    else:
        server = LanguageServer.gopls(find_gopls(arguments.gopls), root, environment)
    try:
        steps.step(f"{server.name} is ready")
        found = server.references(file, offset)
        steps.step(f"references: {len(found)}")
        return len(found)
    finally:
        server.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server-binary", required=True)
    parser.add_argument("--workspace", required=True)
    parser.add_argument("--symbol", required=True)
    parser.add_argument("--file", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--rust-analyzer", default="rust-analyzer")
    parser.add_argument("--gopls")
    arguments = parser.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="first-contact-"))
    binary = pathlib.Path(arguments.server_binary).resolve()
    environment = os.environ | {
        "XDG_STATE_HOME": str(directory / "state"), "XDG_CACHE_HOME": str(directory / "cache"),
        "XDG_CONFIG_HOME": str(directory / "config"), "PATH": f"{binary.parent}:{os.environ['PATH']}",
    }
    gopls = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "semdex/gopls"
    if gopls.is_dir():
        # The program, not what it has kept: that is downloaded and compiled once for all workspaces.
        shutil.copytree(gopls, directory / "cache/semdex/gopls", symlinks=True)
    took = {}
    try:
        ours, other = (semdex.copy_workspace(pathlib.Path(arguments.workspace), directory / it) for it in ("semdex", "lsp"))
        run = lambda *words: subprocess.run([binary, *words], cwd=ours, env=environment, capture_output=True, check=True)
        steps = Steps("before the agent starts")
        run("init", "claude", "--write", "--yes", "--hook")
        steps.step("semdex init claude --write --hook")
        run("trust", ".")
        steps.step("semdex trust .")
        for start in ("first", "second"):
            steps = Steps(f"{start} start: semdex, from the agent's start of `semdex mcp`")
            through_semdex(steps, ours, environment, arguments.symbol)
            took["semdex", start] = steps.total("to the first complete usages")
            run("stop", "--all")
            steps = Steps(f"{start} start: language server, from its start")
            through_server(steps, arguments, other, os.environ | {"XDG_CACHE_HOME": str(directory / "cache-lsp")})
            took["lsp", start] = steps.total("to the first references")
    finally:
        subprocess.run([binary, "stop", "--all"], env=environment, capture_output=True)
        shutil.rmtree(directory, ignore_errors=True)
    targets = {"first": 0.9, "second": 0.5} if arguments.file.endswith(".rs") else {"first": 1.2, "second": 1.2}
    is_well = True
    for start, target in targets.items():
        ratio = took["semdex", start] / took["lsp", start]
        is_well &= ratio <= target
        print(f"{start} start: {ratio:.2f} of the language server's time; target {target}")
    return 0 if is_well else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except semdex.Failed as failed:
        sys.exit(f"FAILED: {failed}")
