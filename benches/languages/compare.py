#!/usr/bin/env python3
"""Usages by semdex against the language server asked directly, on a workspace of a language that a language server serves.

--count symbols of the workspace, drawn by --seed, are asked of both: semdex's `items`, complete or not, and the references of the server
itself with every file of the language open, asked at each declaration of the path, the declarations taken away. Where the two differ the
server is asked again until --settle seconds are over, for it may not have read everything; and what it does not tell, though its own
definition of the place is the symbol, is right (counted apart). Printed are recall and precision of semdex by places, the answers that
called themselves complete and differ, and the medians of both latencies. Then --changes changes from outside: each appends or takes
away a call of one symbol, and the next answer must have it.
"""

import pathlib
import random
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import lsp_client
import semdex_client as semdex

ANALYSIS = {"autoSearchPaths": True, "useLibraryCodeForTypes": True, "diagnosticMode": "openFilesOnly"}
SETTINGS = {"python": {"analysis": ANALYSIS}, "basedpyright": {"analysis": {**ANALYSIS, "typeCheckingMode": "standard"}}}
SERVERS = {
    "python": (["basedpyright-langserver", "--stdio"], {".py", ".pyi"}, {}),
    "typescript": (["tsc", "--lsp", "--stdio"], {".ts", ".tsx"}, {}),
    "c": (["clangd", "--background-index", "--log=error"], {".c", ".h"}, {"clangdFileStatus": True}),
}


class Direct(lsp_client.LanguageServer):
    def _hear(self, message):
        if message.get("method") == "workspace/configuration" and "id" in message:
            items = [SETTINGS.get((it.get("section") or "").split(".")[0]) for it in message["params"]["items"]]
            return self._send({"id": message["id"], "result": items})
        return super()._hear(message)

    def uses(self, file, offset):
        asked = {**self.at(file, offset), "context": {"includeDeclaration": True}}
        found = [(self._file(it["uri"]), it["range"]["start"]) for it in self.call("textDocument/references", asked) or []]
        return {(name, self._offset(name, start)) for name, start in found if name is not None}

    def leads(self, place, declared):
        """Whether what stands at a place is one of these declarations. clangd guesses where it does not know what stands there."""
        asked = self.at(*place)
        if self.name == "clangd" and not self.call("textDocument/symbolInfo", asked):
            return False
        found = self.call("textDocument/definition", asked) or []
        found = found if isinstance(found, list) else [found]
        ranges = [(it.get("uri") or it["targetUri"], it.get("range") or it["targetSelectionRange"]) for it in found]
        return bool(ranges) and {self.place(uri, it["start"]) for uri, it in ranges} <= declared


def flat(symbols):
    for symbol in symbols:
        yield symbol
        yield from flat(symbol.get("children") or [])


def run(options, directory):
    command, endings, init = SERVERS[options.language]
    source = semdex.copy_workspace(pathlib.Path(options.workspaces[0]), directory)
    if options.language == "c" and not any((source / it).exists() for it in ("compile_commands.json", "compile_flags.txt")):
        # As any project that clangd is used on has one of them: else it does not find the headers.
        above = {directory for header in source.rglob("*.h") for directory in list(header.parents)[:2] if directory.is_relative_to(source)}
        (source / "compile_flags.txt").write_text("".join(f"-I{it.relative_to(source)}\n" for it in sorted(above)))
    files = [it.relative_to(source).as_posix() for it in sorted(source.rglob("*")) if it.suffix in endings and it.is_file()]
    with semdex.Server(options.server_binary, [source]) as server:
        server.wait_ready(options.ready_timeout)
        ask = server.client.get
        symbols = [it for file in files for it in flat(ask("/v1/symbols", file=file, wait_ms=60000)["symbols"])]
        names = {}
        for it in symbols:
            names.setdefault((it["file"], it["path"]), set()).add(it["name_at"]["start"])
        drawn = random.Random(options.seed).sample(symbols, min(options.count, len(symbols)))
        root = pathlib.Path(source).resolve()
        direct = Direct(command, root, options.language, init)
        for file in files[:250]:
            direct.open(file)
        time.sleep(options.settle)
        ours, theirs, both, led, wrong, admitted, incomplete, seconds = 0, 0, 0, 0, [], [], 0, [[], []]
        for it in drawn:
            begun = time.monotonic()
            # By its place: a path may have several declarations.
            reply = ask("/v1/usages", symbol=it["path"], limit=100000, wait_ms=60000)
            seconds[0].append(time.monotonic() - begun)
            found = {(use["file"], use["start"]) for use in reply["items"]}
            declared = {(it["file"], start) for start in names[it["file"], it["path"]]}
            begun, elapsed = time.monotonic(), []
            while True:
                told = set().union(*(direct.uses(*place) for place in sorted(declared))) - declared
                elapsed.append(time.monotonic() - begun)
                more = {place for place in found - told if direct.leads(place, declared)}
                if found - more == told or time.monotonic() > begun + options.settle:
                    break
                time.sleep(0.5)
            seconds[1].append(elapsed[0])
            led += len(more)
            told |= more
            ours, theirs, both = ours + len(found), theirs + len(told), both + len(found & told)
            if not reply["meta"]["complete"]:
                incomplete += 1
                admitted.append((it["path"], [lack["detail"] for lack in reply["meta"]["missing"]][:1]))
            if found != told and reply["meta"]["complete"]:
                wrong.append((it["path"], sorted(found - told)[:3], sorted(told - found)[:3]))
        direct.close()
        print(f"{len(files)} files, {len(symbols)} symbols, {len(drawn)} asked: {theirs} uses by the server, {ours} by semdex, {both} by both")
        print(f"recall {both / max(theirs, 1):.4f}, precision {both / max(ours, 1):.4f} ({led} told by definitions alone), {len(wrong)} complete answers that differ, {incomplete} incomplete")
        print(f"median: semdex {statistics.median(seconds[0]) * 1000:.1f} ms, the server {statistics.median(seconds[1]) * 1000:.1f} ms")
        for one in wrong[: options.show]:
            print("  differs:", *one)
        for one in admitted[: options.show]:
            print("  incomplete:", *one)
        return stale(options, ask, source)


def stale(options, ask, source):
    name, call = {"python": ("semdex_probe.py", "{}()\n"), "typescript": ("semdex_probe.ts", "{}();\n"), "c": ("semdex_probe.c", "int x{1} = {0}();\n")}[options.language]
    declared = {"python": "def probed(): pass\n", "typescript": "function probed() {}\n", "c": "int probed(void) { return 1; }\n"}
    chance, wrong, incomplete, probe = random.Random(options.seed), 0, 0, pathlib.Path(source) / name
    for _ in range(options.changes):
        calls = chance.randrange(6)
        probe.write_text(declared[options.language] + "".join(call.format("probed", number) for number in range(calls)))
        reply = ask("/v1/usages", symbol=f"{name}::probed", limit=1000, wait_ms=60000)
        is_complete = reply["meta"]["complete"]
        incomplete += not is_complete
        wrong += is_complete and reply["total"] != calls
    probe.unlink(missing_ok=True)
    print(f"{options.changes} changes from outside: {wrong} stale answers that claim to be complete, {incomplete} incomplete")
    return wrong > 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--language", choices=sorted(SERVERS), required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--settle", type=float, default=5.0, metavar="S", help="for the server that is asked directly")
    parser.add_argument("--show", type=int, default=10)
    semdex.main(run, parser.parse_args())
