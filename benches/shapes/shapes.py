#!/usr/bin/env python3
"""Generates workspaces of unusual shapes and compares semdex with what is known of them.

Each workspace is made from a seed, and the generator knows who names each symbol. All symbols are asked for their usages. Then symbols are
renamed, and symbols that are "unused, complete" are deleted; after that every target of every workspace is compiled, and the change undone.
Wrong is: an answer that claims to be complete and is short, one that lists what names something else, a rename that breaks a target, and an
"unused, complete" symbol whose deletion does.
"""

import collections
import hashlib
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import cargo_shapes
import go_shapes
import semdex_client as semdex

LANGUAGES = {"cargo": cargo_shapes, "go": go_shapes}
SUFFIXES = (".rs", ".go")
# Items whose rename changes the paths of others.
CONTAINERS = {"module", "struct", "enum", "union", "trait", "interface", "type"}
DELETED = {"function", "method", "struct", "enum", "trait", "interface", "type", "const", "static", "variable", "variant", "macro"}
BATCH = 8


class Generated:
    """A workspace on disk, its truth and its server's answers."""

    def __init__(self, options, directory, language, seed):
        self.options, self.language, self.seed = options, language, seed
        self.chance = random.Random(seed)
        self.source = LANGUAGES[language].generate(seed)
        self.root = directory / f"{language}-{seed}"
        self.root.mkdir(parents=True)
        self.truth = self.source.write(self.root)
        self.target = directory / f"target-{language}-{seed}"
        self.counts = collections.Counter()
        self.wrong, self.refused, self.incomplete, self.unknown = [], [], [], []
        wrong = self.broken()
        if wrong:
            raise semdex.Failed(f"{language} {seed}: the generator wrote what does not compile: {wrong}")

    def broken(self):
        """Nothing, or what the compiler says of the first target that does not compile."""
        for directory, command in self.source.checks:
            environment = {**os.environ, "CARGO_TARGET_DIR": str(self.target), **self.source.environment}
            done = subprocess.run(command, cwd=self.root / directory, env=environment, capture_output=True, text=True)
            if done.returncode:
                lines = (done.stderr + done.stdout).splitlines()
                notable = [it for it in lines if it.startswith("error") or "-->" in it or ".go:" in it]
                return f"in ./{directory}: {' '.join(command)}: " + "; ".join(it.strip() for it in notable[:6] or lines[:6])
        return None

    def hashes(self):
        return {file: hashlib.blake2b((self.root / file).read_bytes()).hexdigest() for file in self.source.files if (self.root / file).exists()}

    def line(self, place):
        file, offset = place
        text = pathlib.Path(self.root, file).read_bytes()
        number = text.count(b"\n", 0, offset) + 1
        return f"{file}:{number} ({offset}): {text.splitlines()[number - 1].decode(errors='replace').strip()[:110]}"

    def is_keyword(self, place):
        """A module is also named by `self`, `super` and `crate`."""
        file, offset = place
        return re.match(rb"(self|super|crate)\b", pathlib.Path(self.root, file).read_bytes()[offset : offset + 6]) is not None

    def report(self, what, path, *details):
        self.wrong.append("\n".join([f"WRONG {self.language} {self.seed}: {what}: {path}", *(f"    {it}" for it in details)]))

    def diagnose(self):
        """A workspace that compiles has no errors."""
        reply = self.get("/v1/diagnostics", severity="error", limit=500, wait_ms=60000)
        files = collections.defaultdict(list)
        for it in reply["items"]:
            files[it["file"]].append(f"{self.line((it['file'], it['start']))}: {it['code']}: {it['message']}")
        for file, lines in files.items():
            self.report("an error where all compiles", file, *lines[:3])

    # Usages -----------------------------------------------------------------------------------------------------------

    def symbols(self):
        """(kind, path, symbol of the truth) of all that is defined in the texts."""
        # What the go command vendors is outside the workspace.
        files = sorted(it for it in self.source.files if it.endswith(SUFFIXES) and not (it.endswith(".go") and "vendor/" in it))
        owners = {place: number for number, places in self.truth.definitions.items() for place in places if place[0] in files}
        found, listed = [], set()
        for file in files:
            pending = self.get("/v1/symbols", file=file)["symbols"]
            while pending:
                symbol = pending.pop()
                pending += symbol.get("children") or []
                place = (symbol.get("declared_at") or symbol)["file"], symbol["name_at"]["start"]
                number = owners.get(place)
                if number is None:
                    self.counts[f"untracked {symbol['kind']}"] += 1
                elif number not in listed:
                    listed.add(number)
                    found.append((symbol["kind"], symbol["path"], number))
        for number in sorted(set(owners.values()) - listed):
            found += self.unlisted(number)
        return found

    def unlisted(self, number):
        """What no outline lists, an item that a macro makes for example, is asked for by its place."""
        for file, offset in sorted(self.truth.definitions[number]):
            status, reply = self.client.send("GET", "/v1/symbols/at", query={"file": file, "offset": offset, "workspace": self.id, "wait_ms": 60000})
            symbol = reply.get("symbol") if status == 200 else None
            if symbol and symbol["name"] == self.source.names.symbols[number].name:
                self.counts["listed by no outline"] += 1
                return [(symbol["kind"], symbol["path"], number)]
        self.counts["unknown to semdex"] += 1
        self.unknown.append(self.line(min(self.truth.definitions[number])))
        return []

    def get(self, path, **query):
        return self.client.get(path, workspace=self.id, **query)

    def usages(self, path):
        """(places, possible places, the last reply)"""
        items, possible, cursor = [], [], None
        while True:
            reply = self.get("/v1/usages", symbol=path, limit=500, cursor=cursor, wait_ms=60000)
            items += reply["items"]
            possible += reply.get("possible") or []
            cursor = reply.get("next_cursor")
            if not cursor:
                return {(it["file"], it["start"]) for it in items}, {(it["file"], it["start"]) for it in possible}, reply

    def ask(self, kind, path, number):
        try:
            found, possible, reply = self.usages(path)
        except semdex.Problem as problem:
            self.report("no answer", f"{kind} {path}", str(problem))
            return None
        self.counts["answers"] += 1
        wanted, optional = self.truth.usages[number], self.truth.optional[number]
        if kind == "module":
            optional = optional | {it for it in found if self.is_keyword(it)}
        complete, missing = reply["meta"]["complete"], reply["meta"]["missing"]
        at = (reply["symbol"].get("declared_at") or reply["symbol"])["file"], reply["symbol"]["name_at"]["start"]
        defined = self.truth.definitions[number]
        short, extra = wanted - found, found - wanted - optional
        if at not in defined:
            self.report("the path names another symbol", f"{kind} {path}", f"wanted {sorted(defined)}, got {at}")
        elif extra or (short and complete) or (short - possible and not missing):
            what = "short" if short and complete else "too many" if extra else "short without a reason"
            self.report(
                f"{what}, complete: {str(complete).lower()}",
                f"{kind} {path} at {self.line(at)}",
                *(f"not listed: {self.line(it)}{' (possible)' if it in possible else ''}" for it in sorted(short)),
                *(f"listed: {self.line(it)}" for it in sorted(extra) if not it[0].startswith("/")),
                f"{len(wanted)} usages, {len(found)} listed, missing: {missing}",
            )
        elif not complete:
            self.incomplete.append((path, missing, sorted(possible)))
            self.counts["right, but incomplete" if not short else "incomplete, rest possible" if short <= possible else "incomplete"] += 1
            for it in missing:
                self.counts[f"incomplete by {it['code']}"] += 1
        else:
            self.counts["right"] += 1
            return not found
        return None

    # Changes ----------------------------------------------------------------------------------------------------------

    def batches(self, drawn):
        """Changes that are compiled together: containers come last, and none that is in the path of another one."""
        drawn = sorted(drawn, key=lambda it: it[0] in CONTAINERS)
        while drawn:
            batch, rest, names = [], [], []
            for it in drawn:
                path = it[1]
                if len(batch) < BATCH and not any(name in path for name in names):
                    batch.append(it)
                    if it[0] in CONTAINERS:
                        names.append(path.rsplit("::", 1)[-1].rsplit(".", 1)[-1])
                else:
                    rest.append(it)
            yield batch
            drawn = rest

    def change(self, what, drawn, send, before):
        """Makes each change by `send`, compiles, and undoes all. Where several together break, each is tried alone."""
        for batch in self.batches(drawn):
            refused, broken = self.together(what, batch, send, before)
            alone = batch if broken and len(batch) > 1 else [it for it, _ in refused]
            wrong = len(self.wrong)
            for one in alone:
                still, _ = self.together(what, [one], send, before, first=False)
                reply = next((reply for it, reply in refused if it is one), None)
                if still:
                    self.counts[f"{what}s refused"] += 1
                    text = f"{still[0][1]['code']}: {still[0][1]['detail'][:240]}"
                    self.refused.append(f"refused {self.language} {self.seed}: {what} {one[0]} {one[1]}: {text}")
                elif reply:
                    self.counts[f"{what}s"] += 1
                # Renaming an item of a trait renames those of its implementations.
                if not still and reply and reply["code"] != "unknown_symbol":
                    others = [path for _, path, _ in batch[: batch.index(one)]]
                    why = f"{reply['code']}: {reply['detail']}"
                    self.report(f"{what} refused among others, but made alone", f"{one[0]} {one[1]}", why, f"after {others or 'nothing'}")
            if broken and len(batch) > 1 and len(self.wrong) == wrong:
                self.report(f"{what}s that do not compile together, but each alone", ", ".join(path for _, path, _ in batch), broken)

    def together(self, what, batch, send, before, first=True):
        """([(change, reply)] of the refused ones, what the compiler says against the others)"""
        refused, tokens, texts = [], [], []
        for one in batch:
            status, reply = send(*one)
            if status >= 400:
                refused.append((one, reply))
                continue
            tokens.append(reply["change"])
            texts += [f"{it['file']}: {it['diff']}" for it in reply["files"]]
        broken = self.broken() if tokens else None
        for token in reversed(tokens):
            self.client.post("/v1/undo", change=token, workspace=self.id)
        if self.hashes() != before:
            raise semdex.Failed(f"{self.language} {self.seed}: undone, but the files differ: {what} of {[path for _, path, _ in batch]}")
        # A change that was made with others is not counted again when it is tried alone.
        if first:
            self.counts[f"{what}s"] += len(tokens)
        if broken and len(batch) == 1:
            self.report(f"{what} that does not compile", f"{batch[0][0]} {batch[0][1]}", broken, *"".join(texts).splitlines()[:40])
        return refused, broken

    def new_name(self, number):
        """A name that nothing has, in the form of the old one; some begin with the old one."""
        name = self.source.names.symbols[number].name
        old = name if number % 3 == 0 else f"OTHER_{number}" if name.isupper() else f"Other{number}" if name[0].isupper() else f"other{number}"
        return f"{old}_RENAMED" if name.isupper() else f"{old}_renamed" if "_" in name or name.islower() else f"{old}Renamed"

    def rename(self, kind, path, number):
        body = {"symbol": path, "new_name": self.new_name(number), "workspace": self.id, "wait_ms": 60000}
        return self.client.send("POST", "/v1/rename", body=body)

    def delete(self, kind, path, number):
        body = {"edits": [{"symbol": path, "at": "delete"}], "workspace": self.id, "wait_ms": 60000}
        return self.client.send("POST", "/v1/edit", body=body)

    def draw(self, found, count):
        """The kinds in turn."""
        by_kind = collections.defaultdict(list)
        for it in found:
            by_kind[it[0]].append(it)
        for those in by_kind.values():
            self.chance.shuffle(those)
        drawn = []
        while len(drawn) < min(count, len(found)):
            drawn += [by_kind[kind].pop() for kind in sorted(by_kind) if by_kind[kind]]
        return drawn[:count]

    def run(self, directory, renames, deletes):
        environment = dict(self.source.environment)
        if self.language == "cargo":
            # What is built for these workspaces is of no use later; gopls stays where it is installed.
            environment["XDG_CACHE_HOME"] = str(directory / "cache")
        with semdex.Server(self.options.server_binary, [self.root], directory=directory / "server", environment=environment) as server:
            server.wait_ready(self.options.ready_timeout)
            self.client, self.id = server.client, server.workspace(self.root)
            self.diagnose()
            found = self.symbols()
            unused = [it for it in found if self.ask(*it)]
            self.counts["unused, complete"] += len(unused)
            before = self.hashes()
            self.change("rename", self.draw(found, renames), self.rename, before)
            unused = [it for it in unused if it[0] in DELETED and not self.source.names.symbols[it[2]].is_kept]
            self.change("deletion", self.draw(unused, deletes), self.delete, before)


def share(total, seeds):
    """So many of each seed that all seeds together make the total."""
    return -(-total // max(1, seeds))


def run(options, directory):
    first, _, last = options.seeds.partition("..")
    seeds = range(int(first), int(last or first) + 1)
    languages = ["cargo", "go"] if options.language == "both" else [options.language]
    total, wrong, refused = collections.Counter(), [], []
    renames, deletes = (share(it, len(seeds) * len(languages)) for it in (options.renames, options.deletes))
    for language in languages:
        for seed in seeds:
            started, place = time.monotonic(), directory / f"{language}-{seed}"
            generated = Generated(options, place, language, seed)
            if options.keep:
                shutil.copytree(generated.root, pathlib.Path(options.keep) / generated.root.name, dirs_exist_ok=True)
            generated.run(place, renames, deletes)
            total.update(generated.counts)
            wrong += generated.wrong
            refused += generated.refused
            seconds = time.monotonic() - started
            shapes = ", ".join(generated.source.shapes)
            print(f"{language} {seed}: {generated.counts['answers']} answers, {len(generated.wrong)} wrong, {seconds:.0f} s: {shapes}", flush=True)
            if options.show_incomplete:
                for it in generated.unknown:
                    print(f"unknown {language} {seed}: {it}")
                for path, missing, possible in generated.incomplete:
                    print(f"incomplete {language} {seed}: {path}: {[it['code'] for it in missing]}: {[generated.line(it) for it in possible[:3]]}")
            for it in generated.wrong + (generated.refused if options.show_refused else []):
                print(it, flush=True)
            shutil.rmtree(place, ignore_errors=True)
    print(f"\nseeds {seeds.start}..{seeds.stop - 1} of {', '.join(languages)}")
    for name, count in sorted(total.items()):
        print(f"  {name}: {count}")
    tried = total["renames"] + total["renames refused"]
    if tried:
        print(f"{100 * total['renames refused'] / tried:.1f} % of {tried} renames refused (at most {options.refused:.0f} %)")
    print(f"{len(wrong)} wrong of {total['answers']} answers, {total['renames']} renames and {total['deletions']} deletions")
    return 1 if wrong or (tried and 100 * total["renames refused"] / tried > options.refused) else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__, workspace=False)
    parser.add_argument("--seeds", default="1..20", metavar="A..B", help="(default: %(default)s)")
    parser.add_argument("--language", choices=["cargo", "go", "both"], default="both")
    parser.add_argument("--renames", type=int, default=500, metavar="N", help="in all (default: %(default)s)")
    parser.add_argument("--deletes", type=int, default=300, metavar="N", help="at most, in all (default: %(default)s)")
    parser.add_argument("--refused", type=float, default=5.0, metavar="PERCENT", help="of the renames may be refused (default: %(default)s)")
    parser.add_argument("--show-refused", action="store_true", help="print each refused rename and deletion")
    parser.add_argument("--show-incomplete", action="store_true", help="print each answer that is not complete, and what is unknown")
    parser.add_argument("--keep", metavar="DIR", help="copy the generated workspaces there")
    semdex.main(run, parser.parse_args())
