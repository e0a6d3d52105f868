#!/usr/bin/env python3
"""What reading costs, against the language server that an agent would use instead: rust-analyzer for Rust, gopls for Go, both warm, in one
run, question by question in turn.

- describe: one `POST /v1/describe` against the sum of workspace/symbol, hover, definition, references and the document's text. Every symbol is
  asked for once in semdex, so that no answer comes out of its memory; the language server is asked twice, and the second time counts.
- open: one `POST /v1/open` against documentSymbol and references of every symbol of the file: what its usage counts are made of.
- open after an edit: the same, right after another file was changed in a body, and then in a signature.
- hub: the first page of `GET /v1/usages` of the most used symbol, against references; both on the wire, from the first byte that is sent to the
  last that comes, since Python's clients take longer than the answer. No page is asked for twice.
- again: the same question at the same revision.

Sizes are in tokens of four bytes: of `open` for the ten biggest files, of `describe` for the ten most used symbols, in Markdown, and what a
budget of 1,000 tokens makes of them.
"""

import pathlib
import random
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex
from lsp_client import LanguageServer, find_gopls

SUFFIX = {"rust": ".rs", "go": ".go"}
DESCRIBE, HUB, OPEN_AFTER_EDIT_MS = 0.5, 0.1, 50.0
# How many pages of the hub are timed, and how many edits of each kind.
HUB_PAGES, EDITS = 50, 24
WAIT = 120_000
BUDGET = 1000


def timed(question, *arguments, **named):
    started = time.perf_counter()
    answer = question(*arguments, **named)
    return answer, time.perf_counter() - started


def is_text(path):
    """Whether there is anything to read: fixtures of fuzzers are no text."""
    try:
        return "\0" not in path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False


class Bench:
    def __init__(self, server, root, language, rival, options):
        self.server, self.client, self.root, self.language, self.rival = server, server.client, root, language, rival
        self.workspace = server.workspace(root)
        self.chance = random.Random(options.seed)
        self.count = options.symbols
        self.rows = []
        self.short = []
        self.files = [it for it in semdex.source_files(root, SUFFIX[language]) if is_text(root / it)]
        self.opened = {}
        self.stirred = 0

    def open(self, file, **more):
        return self.client.post("/v1/open", workspace=self.workspace, file=file, wait_ms=WAIT, **more)

    def describe(self, symbol, **more):
        return self.client.post("/v1/describe", workspace=self.workspace, symbol=symbol["path"], wait_ms=WAIT, **more)

    def tell(self, what, ours, theirs, wanted=None):
        ratios = [a / b for a, b in zip(ours, theirs)]
        ratio = statistics.median(ratios)
        row = {"what": what, "n": len(ours), "p50": ms(ours, 0.5), "p99": ms(ours, 0.99), "rival p50": ms(theirs, 0.5), "rival p99": ms(theirs, 0.99)}
        row |= {"ratio p50": round(ratio, 3), "wanted": wanted if wanted is not None else ""}
        self.rows.append(row)
        if wanted is not None and ratio > wanted:
            self.short.append(what)

    def run(self):
        for file in self.files:
            self.opened[file] = self.open(file)
        symbols = [it for file in self.files for it in flat(self.opened[file]["symbols"]) if it.get("usages") and it["kind"] != "impl"]
        self.described(self.chance.sample(symbols, min(self.count, len(symbols))))
        self.read_files()
        self.hub(symbols)
        self.after_edits()
        semdex.table(self.rows, ["what", "n", "p50", "p99", "rival p50", "rival p99", "ratio p50", "wanted"])
        self.sizes(symbols)
        return self.short

    def described(self, symbols):
        ours, again, theirs = [], [], []
        for symbol in symbols:
            theirs.append(min(timed(self.rival_describe, symbol)[1] for _ in range(2)))
            ours.append(timed(self.describe, symbol)[1])
            again.append(timed(self.describe, symbol)[1])
        self.tell("describe", ours, theirs, DESCRIBE)
        self.tell("describe again", again, theirs)

    def rival_describe(self, symbol):
        file, offset = symbol["file"], symbol["name_at"]["start"]
        self.rival.call("workspace/symbol", {"query": symbol["name"]})
        at = self.rival.at(file, offset)
        self.rival.call("textDocument/hover", at)
        self.rival.call("textDocument/definition", at)
        self.references(file, offset)
        (self.root / file).read_bytes()

    def references(self, file, offset):
        return self.rival.call("textDocument/references", {**self.rival.at(file, offset), "context": {"includeDeclaration": False}})

    def read_files(self):
        files = self.chance.sample(self.files, min(20, len(self.files)))
        ours, theirs = [], []
        for file in files:
            names = [it["name_at"]["start"] for it in flat(self.opened[file]["symbols"]) if it["kind"] != "impl"][:100]

            def rival():
                self.rival.call("textDocument/documentSymbol", {"textDocument": self.rival.at(file, 0)["textDocument"]})
                for offset in names:
                    try:
                        self.references(file, offset)
                    except semdex.Failed:
                        # Of a file that build constraints leave out.
                        pass

            theirs.append(timed(rival)[1])
            self.stir()
            ours.append(timed(self.open, file)[1])
        self.tell("open, with all usage counts", ours, theirs)

    def stir(self):
        """Another revision, so that no answer comes out of memory: a file that no source names is written."""
        self.stirred += 1
        (self.root / "explorer-bench.txt").write_text(f"{self.stirred}\n")
        self.client.post("/v1/describe", workspace=self.workspace, file="explorer-bench.txt")

    def hub(self, symbols):
        hub = max(symbols, key=lambda it: it["usages"]["total"])
        at = {**self.rival.at(hub["file"], hub["name_at"]["start"]), "context": {"includeDeclaration": False}}
        theirs = [self.rival.seconds_on_the_wire("textDocument/references", at) for _ in range(HUB_PAGES)]
        query = {"workspace": self.workspace, "symbol": hub["path"]}
        ours = self.client.seconds_on_the_wire([("/v1/usages", query | {"limit": 100 - number}) for number in range(HUB_PAGES)])
        self.tell(f"first page of the {hub['usages']['total']} usages of {hub['path']}", ours, theirs, HUB)

    def after_edits(self):
        """`open` of the file whose number of symbols is nearest to 100, after another file was changed from outside."""
        size = {file: len(list(flat(it["symbols"]))) for file, it in self.opened.items()}
        file = min(self.files, key=lambda it: abs(size[it] - 100))
        others = [it for it in self.files if it != file and function_of(self.opened[it])]
        for what, change in (("a body", in_body), ("a signature", in_signature)):
            times = []
            for other in self.chance.sample(others, min(EDITS, len(others))):
                path = self.root / other
                before = path.read_bytes()
                path.write_bytes(change(before, function_of(self.opened[other]), self.language))
                times.append(timed(self.open, file)[1])
                path.write_bytes(before)
                self.open(file)
                time.sleep(0.5)
            row = {"what": f"open of {size[file]} symbols after an edit of {what} elsewhere", "n": len(times), "p50": ms(times, 0.5), "p99": ms(times, 0.99)}
            self.rows.append(row | {"wanted": f"{OPEN_AFTER_EDIT_MS:.0f} ms"})
            if self.language == "rust" and 1000 * statistics.median(times) > OPEN_AFTER_EDIT_MS:
                self.short.append(row["what"])

    def sizes(self, symbols):
        rows = []
        biggest = sorted(self.files, key=lambda it: -self.opened[it]["lines"])[:10]
        for file in biggest:
            rows.append({"what": f"open {file}"} | self.size("/v1/open", {"file": file, "wait_ms": WAIT}))
        for symbol in sorted(symbols, key=lambda it: -it["usages"]["total"])[:10]:
            rows.append({"what": f"describe {symbol['path']}"} | self.size("/v1/describe", {"symbol": symbol["path"], "wait_ms": WAIT}))
        semdex.table(rows, ["what", "tokens", f"of {BUDGET}"])
        self.short += [it["what"] for it in rows if it[f"of {BUDGET}"] > BUDGET]

    def size(self, path, body):
        def tokens(**more):
            status, text = self.client.send("POST", path, body={**body, "workspace": self.workspace, **more}, accept="text/markdown")
            if status != 200:
                raise semdex.Failed(f"{path} {body}: {text}")
            return -(-len(text.encode()) // 4)

        return {"tokens": tokens(), f"of {BUDGET}": tokens(max_tokens=BUDGET)}


def ms(seconds, fraction):
    return round(1000 * semdex.percentile(seconds, fraction), 2)


def flat(symbols):
    for symbol in symbols:
        yield symbol
        yield from flat(symbol.get("children") or [])


def function_of(opened):
    """A function of several lines whose body a line can be put into."""
    functions = [it for it in flat(opened["symbols"]) if it["kind"] == "function" and it["end_line"] > it["line"] and not it["test"]]
    return functions[0] if functions else None


def in_body(text, function, language):
    end = text.rindex(b"}", function["start"], function["end"])
    line = b"let _ = 0;" if language == "rust" else b"_ = 0"
    if language == "rust":
        # Before what the function returns.
        end = text.index(b"{\n", function["name_at"]["end"], function["end"]) + 2
    return text[:end] + b"    " + line + b"\n" + text[end:]


def in_signature(text, function, language):
    at = text.index(b"(", function["name_at"]["end"]) + 1
    parameter = b"extra: u8, " if language == "rust" else b"extra uint8, "
    return text[:at] + parameter + text[at:]


def run(options, directory):
    short = []
    for source in options.workspaces:
        root = semdex.copy_workspace(source, directory)
        language = next(iter(semdex.languages(root)))
        with semdex.Server(options.server_binary, [root], directory=directory / f"server-{root.name}") as server:
            server.wait_ready(options.ready_timeout)
            server.wait_indexed()
            memory = server.memory()
            print(f"\n{root.name}: ready and indexed after {time.monotonic() - server.started:.1f} s; {memory['server'] >> 20} MiB, its children {memory['children'] >> 20} MiB")
            if language == "rust":
                rival = LanguageServer.rust_analyzer(options.rust_analyzer, root)
            else:
                rival = LanguageServer.gopls(find_gopls(options.gopls), root)
            try:
                short += [f"{root.name}: {it}" for it in Bench(server, root, language, rival, options).run()]
            finally:
                rival.close()
    for it in short:
        print(f"fell short: {it}")
    return 1 if short else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--symbols", type=int, default=100, help="how many to describe (default: %(default)s)")
    parser.add_argument("--rust-analyzer", metavar="PATH", default="rust-analyzer", help="the rust-analyzer to ask (default: the one on the PATH)")
    parser.add_argument("--gopls", metavar="PATH", help="the gopls to ask (default: semdex's own, else the one on the PATH)")
    parser.add_argument("--seed", type=int, default=1)
    semdex.main(run, parser.parse_args())
