#!/usr/bin/env python3
"""What an edit breaks: semdex's answer beside the compiler's.

A healthy workspace is mutated, one edit at a time: by operators that break what uses the edited thing, and by as many that break nothing.
The compiler says which places no longer compile (`rust_truth.py`, `go_truth.py`); semdex is asked by a dry run. A place counts as named
when semdex's reply has that file and a line of the same statement. An alarm in code that the compiler never reached is not false, only
unverifiable, and is counted apart.

The compiler's warm incremental run is timed beside semdex's answer, in the same minute, for --pairs of the edits. Two questions that were not
asked before are asked around each dry run, to see whether it makes the next read slower.

Everything is drawn from --seed, and --truth keeps what the compiler said, so that a run can be repeated without it.
"""

import collections
import functools
import hashlib
import json
import pathlib
import random
import re
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import lexing
import strata
import semdex_client as semdex

SHOWN = 60
PAUSE = 0.2
LINT = re.compile(r"[a-z][a-z_:]+")
HOLLOW = re.compile(r"`\(\)(: |`)")


class Language:
    def __init__(self, name):
        if name == "rust":
            import rust_operators as operators
            import rust_truth as truth
        else:
            import go_operators as operators
            import go_truth as truth
        self.name, self.truth = name, truth
        self.suffix = {"rust": ".rs", "go": ".go"}[name]
        self.breaking, self.harmless = operators.BREAKING, operators.HARMLESS


def symbols_of(client, workspace, file):
    """The symbols of a file, flat, each with what operators ask for."""
    found = []

    def walk(level, depth, in_trait):
        level = [it for it in level if it["file"] == file and not it.get("declared_at")]
        for symbol, after in zip(level, level[1:] + [None]):
            symbol.update(depth=depth, next=after, in_trait=in_trait)
            if symbol["kind"] != "impl":
                found.append(symbol)
            walk(symbol.get("children") or [], depth + 1, symbol["kind"] in ("trait", "interface"))

    walk(client.get("/v1/symbols", workspace=workspace, file=file, wait_ms=60000)["symbols"], 0, False)
    return found


def mutations(files, symbols, count, operators, rng):
    """`count` edits, as many of each operator as of any other while there are places for it."""
    pools = {name: rng.sample(symbols, len(symbols)) for name in operators}
    found, seen = [], set()
    while len(found) < count and pools:
        for name in sorted(pools):
            while pools[name] and len(found) < count:
                symbol = pools[name].pop()
                text = files[symbol["file"]]
                new = operators[name](text, symbol, rng)
                if new and new != text and (symbol["file"], new) not in seen:
                    seen.add((symbol["file"], new))
                    found.append({"operator": name, "file": symbol["file"], "symbol": symbol["path"], "text": new})
                    break
            if not pools[name]:
                del pools[name]
    return found


class Truth:
    """What the compiler said, kept on the disk by what was asked."""

    def __init__(self, language, root, directory, cache, only_kept):
        self.only_kept = only_kept
        self.language, self.root, self.directory = language, root, directory
        self.cache = pathlib.Path(cache) if cache else None

    @functools.cached_property
    def compiler(self):
        return self.language.truth.Compiler(self.root, self.directory)

    def of(self, mutation):
        name = hashlib.sha256(f"{self.root.name}\0{mutation['file']}\0{mutation['text']}".encode()).hexdigest()[:24]
        kept = self.cache / f"{name}.json" if self.cache else None
        if kept and kept.exists():
            return json.loads(kept.read_text())
        if self.only_kept:
            return None
        try:
            file, text = mutation["file"], mutation["text"]
            first, later, follows, unreached = self.compiler.broken(file, text)
            answer = {"first": first, "later": later, "follows": follows, "unreached": unreached}
            if hasattr(self.compiler, "consequences"):
                answer["consequences"] = self.compiler.consequences(file, text, first + later)
        except TimeoutError as endless:
            print(f"{mutation['operator']} of {mutation['symbol']} is left out: {endless}", file=sys.stderr)
            answer = None
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(answer))
        return answer


class Reads:
    """Questions that nobody asked before, each once."""

    def __init__(self, client, workspace, symbols, rng):
        self.client, self.workspace = client, workspace
        self.waiting = rng.sample(symbols, len(symbols))

    def seconds(self):
        if not self.waiting:
            return None
        symbol = self.waiting.pop()
        begin = time.monotonic()
        self.client.post("/v1/describe", workspace=self.workspace, symbol=symbol["path"], file=symbol["file"], wait_ms=60000)
        return time.monotonic() - begin


def judge(mutation, truth, reply, root, language, strata_of):
    """Which of the compiler's places were named, and which alarms are false."""
    texts = {}

    def lines(file):
        if file not in texts:
            path = root / file
            text = mutation["text"] if file == mutation["file"] else path.read_text(errors="replace") if path.exists() else ""
            texts[file] = text.split("\n")
        return texts[file]

    def extent(file, first, last):
        return lexing.statement(lines(file), first, min(last, first + 200))

    def strata_at(place, first, last):
        return strata_of((place[0], first, last, *place[3:]), mutation["file"], lines(place[0]))

    def meet(a, b):
        return a[0] == b[0] and a[1] <= b[2] and b[1] <= a[2]

    broken = reply["impact"]["broken"]
    alarms = [(it["file"], it["line"], it["end_line"], it.get("code"), ("(follows) " if it.get("follows") else "") + it["reason"]) for it in broken]
    spans = [(file, *extent(file, first, last)) for file, first, last, *_ in alarms]
    # What a workspace denies as a lint is its own policy, and bodies that are taken away leave parameters unused.
    later = [it for it in truth["later"] if not is_hollow(it, "\n".join(lines(it[0])[it[1] - 1 : it[2]]))]
    told = [it for it in truth["first"] + later if not LINT.fullmatch(it[3] or "")]
    places, codes, to_edit = {}, collections.defaultdict(set), set()
    consequences = {tuple(it) for it in truth.get("consequences", [])}
    if hasattr(language.truth, "of_met_bounds"):
        consequences |= set(language.truth.of_met_bounds(told, lambda file: "\n".join(lines(file))))
    for it in told:
        span = (it[0], *extent(*it[:3]))
        places[span] = tuple(it)
        codes[span].add(it[3] or "")
        if tuple(it) not in consequences:
            to_edit.add(span)
    hidden = {(it[0], *extent(*it[:3])): tuple(it) for it in truth.get("follows", [])}
    hidden = {span: it for span, it in hidden.items() if span not in places}
    row = {"places": [], "consequences": [], "alarms": [], "follows": []}
    for span, it in hidden.items():
        row["follows"].append({"told": it, "good": any(meet(span, alarm) for alarm in spans), "strata": []})
    for place, it in places.items():
        met = [alarm for alarm, span in zip(alarms, spans) if meet(place, span)]
        judged = {"told": it, "good": bool(met), "strata": strata_at(it, *place[1:])}
        judged["code"] = any((alarm[3] or "") in codes[place] for alarm in met)
        row["places" if place in to_edit else "consequences"].append(judged)
    for it, alarm, span in zip(broken, alarms, spans):
        true = any(meet(span, place) for place in places) or it.get("follows", False) and any(meet(span, place) for place in hidden)
        # The compiler ran in the default build alone.
        is_reached = not it.get("build") and not language.truth.lies_in(alarm[0], truth["unreached"])
        if true or is_reached:
            row["alarms"].append({"told": alarm, "good": true, "strata": strata_at(alarm, *span[1:])})
    row["unverifiable"] = len(alarms) - len(row["alarms"])
    return row


def is_hollow(place, text):
    """Of a function that promises `impl Trait` and whose body was taken away, the result is `()` or not known: that is our own doing."""
    if place[3] == "E0283":
        return re.search(r"->.*\bimpl\b", text) is not None
    return place[3] == "E0277" and HOLLOW.search(place[4]) is not None and re.search(r"\bimpl\b", text) is not None


def measure(options, language, source, directory):
    root = semdex.copy_workspace(source, directory / "semdex")
    compiled = semdex.copy_workspace(source, directory / "compiler")
    rows = []
    with semdex.Server(options.server_binary, [root], directory=directory / "server") as server:
        server.wait_ready(options.ready_timeout)
        client, workspace = server.client, server.workspace(root)
        server.wait_indexed()
        server.wait_built(workspace, options.ready_timeout)
        files = {file: (root / file).read_bytes().decode("utf-8", "replace") for file in semdex.source_files(root, language.suffix)}
        symbols = [it for file in files for it in symbols_of(client, workspace, file)]
        for symbol in symbols:
            symbol["test"] = bool(symbol.get("test"))
        rng = random.Random(options.seed)
        wanted = [(True, language.breaking), (False, language.harmless)]
        drawn = [(breaks, it) for breaks, operators in wanted for it in mutations(files, symbols, options.count, operators, rng)]
        if options.only:
            drawn = [it for it in drawn if it[1]["operator"] in options.only.split(",")]
        truth = Truth(language, compiled, directory, options.truth and pathlib.Path(options.truth) / source.name, options.kept)
        known = [(*it, told) for it in drawn if (told := truth.of(it[1]))]
        paired = set(random.Random(options.seed).sample(range(len(known)), min(options.pairs, len(known))))
        reads = Reads(client, workspace, symbols, random.Random(options.seed))
        strata_of = strata.Strata(root, language.name).of
        for nth, (breaks, mutation, told) in enumerate(known):
            # Every second time as an agent would ask, that reads the answer first. Who has slept is slower by that alone.
            pause = PAUSE if nth % 2 else 0
            time.sleep(pause)
            before = reads.seconds()
            begin = time.monotonic()
            reply = client.post(
                "/v1/write", workspace=workspace, name=mutation["file"], content=mutation["text"], mode="overwrite", dry_run=True, wait_ms=60000
            )
            took = time.monotonic() - begin
            time.sleep(pause)
            after = reads.seconds()
            row = judge(mutation, told, reply, root, language, strata_of)
            row.update(breaks=breaks, mutation=mutation, seconds=took, before=before, after=after, pause=pause)
            row["compiler"] = truth.compiler.seconds(mutation["file"], mutation["text"]) if nth in paired else None
            rows.append(row)
    return rows


def report(rows, name, options):
    breaking = [it for it in rows if it["places"] or it["consequences"]]
    quiet = [it for it in rows if not it["places"] and not it["consequences"]]
    places = [it for row in rows for it in row["places"]]
    alarms = [it for row in rows for it in row["alarms"]]
    by_operator = collections.defaultdict(list)
    for row in breaking:
        by_operator[row["mutation"]["operator"]].append(row)
    print(f"\n{name}: edits that break something")
    told = [line_of(operator, of_it) for operator, of_it in sorted(by_operator.items())] + [line_of("all", breaking)]
    semdex.table(told, ["operator", "edits", "places", "recall", "code", "consequences", "named", "alarms", "false", "unverifiable", "precision", "p50_ms"])
    found = collections.Counter(stratum for it in places + alarms for stratum in it["strata"])
    told = [line_of_stratum(stratum, places, alarms) for stratum in sorted(found, key=lambda it: (it not in strata.WHERE, it))]
    semdex.table(told, ["stratum", "places", "recall", "alarms", "false", "precision"])
    alarmed = [it for it in quiet if bad(it["alarms"])]
    follows = [it for row in rows for it in row["follows"]]
    print(f"places that a broken import hides: {len(follows)}, recall {part(follows)}")
    print(f"edits that break nothing: {len(quiet)}, with a false alarm {len(alarmed)} ({100 * len(alarmed) / max(1, len(quiet)):.2f} %)")
    for what, of_them in (("all", rows), ("breaking", breaking), ("harmless", quiet)):
        pairs = [it for it in of_them if it["compiler"]]
        if pairs:
            ratios = [it["seconds"] / it["compiler"] for it in pairs]
            print(
                f"semdex's time by the compiler's warm incremental run beside it, {what}, {len(pairs)} pairs: "
                f"p50 {statistics.median(ratios):.3f}, p95 {semdex.percentile(ratios, 0.95):.3f} "
                f"(p50 {1000 * statistics.median(it['seconds'] for it in pairs):.0f} ms by {statistics.median(it['compiler'] for it in pairs):.2f} s)"
            )
    if rows:
        print("a dry run: " + quantiles([it["seconds"] for it in rows]))
    for pause in (0, PAUSE):
        pairs = [it for it in rows if it["before"] and it["after"] and it["pause"] == pause]
        if pairs:
            before, after = ([it[when] for it in pairs] for when in ("before", "after"))
            ratio = semdex.percentile(after, 0.95) / semdex.percentile(before, 0.95)
            print(f"a describe before it: {quantiles(before)}; {pause} s after it: {quantiles(after)}; ratio of p95 {ratio:.2f}")
    if options.show:
        show("missed", rows, "places")
        show("not named, and nothing to edit", rows, "consequences")
        show("missed behind a broken import", rows, "follows")
        show("false", rows, "alarms")
    recall, precision = share(places), share(alarms)
    return (recall is None or recall >= 0.99) and (precision is None or precision >= 0.98) and len(alarmed) <= 0.005 * len(quiet)


def quantiles(seconds):
    return f"p50 {1000 * statistics.median(seconds):.1f} ms, p95 {1000 * semdex.percentile(seconds, 0.95):.1f} ms"


def bad(judged):
    return [it["told"] for it in judged if not it["good"]]


def share(judged):
    return sum(it["good"] for it in judged) / len(judged) if judged else None


def part(judged):
    return f"{share(judged):.4f}" if judged else "-"


def show(title, rows, what):
    lines = [(row["mutation"], it) for row in rows for it in bad(row[what])]
    codes = collections.Counter((it[3] or "") for _, it in lines)
    print(f"{title}: {len(lines)} {dict(codes.most_common())}")
    random.Random(1).shuffle(lines)
    for mutation, it in lines[:SHOWN]:
        print(f"  {mutation['operator']} {mutation['symbol']} ({mutation['file']}) -> {it[0]}:{it[1]} {it[3]} {it[4][:140]!r}")


def line_of(operator, rows):
    places, consequences, alarms = ([it for row in rows for it in row[what]] for what in ("places", "consequences", "alarms"))
    unverifiable = sum(it["unverifiable"] for it in rows)
    return {
        "operator": operator,
        "edits": len(rows),
        "places": len(places),
        "recall": part(places),
        "code": part([{"good": it["code"]} for it in places if it["good"]]),
        "consequences": len(consequences),
        "named": part(consequences),
        "alarms": len(alarms) + unverifiable,
        "false": len(bad(alarms)),
        "unverifiable": unverifiable,
        "precision": part(alarms),
        "p50_ms": round(1000 * statistics.median(it["seconds"] for it in rows)) if rows else "",
    }


def line_of_stratum(stratum, places, alarms):
    places, alarms = ([it for it in judged if stratum in it["strata"]] for judged in (places, alarms))
    return {
        "stratum": stratum,
        "places": len(places),
        "recall": part(places),
        "alarms": len(alarms),
        "false": len(bad(alarms)),
        "precision": part(alarms),
    }


def run(options, directory):
    good = True
    for source in map(pathlib.Path, options.workspaces):
        for name in semdex.languages(source):
            rows = measure(options, Language(name), source.resolve(), directory / f"{source.name}-{name}")
            good &= bool(report(rows, f"{source.name} ({name})", options))
    return 0 if good else 1


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--count", type=int, default=300, help="edits that are meant to break, and as many that are not (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--truth", metavar="DIR", help="where the compiler's answers are kept")
    parser.add_argument("--kept", action="store_true", help="only edits whose truth is kept already: the compiler is not run")
    parser.add_argument("--pairs", type=int, default=100, help="edits beside which the compiler is timed (default: %(default)s)")
    parser.add_argument("--only", metavar="OPERATORS", help="only these, with commas between")
    parser.add_argument("--show", action="store_true", help="list what was missed and what was false")
    semdex.main(run, parser.parse_args())
