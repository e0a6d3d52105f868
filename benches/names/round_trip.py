#!/usr/bin/env python3
"""Every path that is printed can be asked again: each symbol in the tree of each file, asked for by its path alone, is the same place.

The same place is the same file and the same offset of the name; the path in the reply must be the one that was asked. Then, of a part of
the symbols each (--others):

- short forms (`Type::f`, `Trait::f`, `<Type as Trait>::f`, `f`; `pkg.Type.f`, `Type.f`, `f`) lead to the symbol, or to another one that
  they fit and that comes first, or are ambiguous;
- what the workspace's dependencies and the standard library offer, by the paths that `describe` prints, is the same place.

Both languages; fails under 100 %. With --sample only so many symbols of each workspace are asked, drawn at random.
"""

import collections
import pathlib
import random
import re
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

SHOWN = 40
MOST_PACKAGES = 30
OFFERED_BY_RUST = ["core", "alloc", "std", "std::collections", "std::io", "std::fs", "core::iter", "core::num", "core::ops", "core::ptr"]
MARK = re.compile(r"^([a-z]+@)(?=[A-Za-z_<])")


def below(symbols):
    found, pending = [], list(symbols)
    while pending:
        symbol = pending.pop()
        pending += symbol.get("children") or []
        found.append(symbol)
    return found


def symbols(client, workspace, root):
    """Every symbol of every file's tree."""
    files = semdex.source_files(root, ".go") + semdex.source_files(root, ".rs")
    return [it for file in files for it in below(client.get("/v1/symbols", workspace=workspace, file=file)["symbols"])]


def offered(client, workspace, root, draw):
    """What is offered by a part of the packages outside that the files use."""
    packages = set()
    files = semdex.source_files(root, ".go") + semdex.source_files(root, ".rs")
    for file in draw.sample(files, min(len(files), 40)):
        upstream = client.post("/v1/open", workspace=workspace, file=file, wait_ms=60000).get("upstream") or []
        packages |= {it["package"] for it in upstream if it["external"]}
    rust = any(it.endswith(".rs") for it in files)
    chosen = (OFFERED_BY_RUST if rust else []) + draw.sample(sorted(packages), min(len(packages), MOST_PACKAGES))
    found = {}
    for package in chosen:
        try:
            described = client.post("/v1/describe", workspace=workspace, package=package)
        except semdex.Problem as problem:
            print(f"  package {package}: {problem.status} {problem.code}")
            continue
        for symbol in below(described["package"]["symbols"] if described["kind"] == "package" else []):
            found.setdefault(symbol["path"], symbol)
    return list(found.values())


def parts(path):
    """A Rust path at its `::` outside of brackets."""
    found, depth, start = [], 0, 0
    for at, character in enumerate(path):
        if character in "<([":
            depth += 1
        elif character in ")]" or character == ">" and path[at - 1] != "-":
            depth -= 1
        elif depth == 0 and path.startswith("::", at) and at >= start:
            found.append(path[start:at])
            start = at + 2
    return found + [path[start:]]


def last_segments(ty):
    """A type with each of its paths by its last segment."""
    return re.sub(r"(?:\w+(?:@[\w.\-/]+)?::)+(?=\w)", "", ty)


def short_forms(path):
    if "::" not in path:
        if "@" in path or "." not in path:
            return []
        names = path[path.rfind("/") + 1 :].split(".")
        return [".".join(names[at:]) for at in range(len(names))]
    mark = MARK.match(path)
    mark = mark.group(1) if mark and mark.group(1)[:-1] not in ("bin", "test", "example", "bench", "build", "lib") else ""
    segments = parts(path[len(mark) :])
    if "~" in path or len(segments) < 2:
        return []
    forms = [segments[-1:], segments[-2:], segments[-3:]]
    head = segments[0]
    if head.startswith("<") and " as " in head:
        ty, of = (last_segments(it) for it in head[1:-1].split(" as ", 1))
        plain = re.sub(r"<.*>$", "", of)
        forms = [segments[-1:], [f"<{ty} as {of}>", *segments[1:]], [plain, *segments[1:]]]
        if re.fullmatch(r"\w+", ty):
            forms.append([ty, *segments[1:]])
    return [mark + "::".join(it) for it in forms]


def place(symbol):
    return symbol["file"], symbol["name_at"]["start"]


class Asker:
    def __init__(self, client, workspace):
        self.client, self.workspace, self.times = client, workspace, []

    def usages(self, path):
        begin = time.monotonic()
        try:
            # What the name means is asked for, not the usages: those need not be waited for, nor told.
            return self.client.get("/v1/usages", workspace=self.workspace, symbol=path, limit=1, wait_ms=0)
        finally:
            self.times.append(time.monotonic() - begin)

    def whole(self, symbol, is_offered=False):
        """What is wrong with a symbol's path; None if nothing is."""
        try:
            found = self.usages(symbol["path"])["symbol"]
        except semdex.Problem as problem:
            return f"{problem.status} {problem.code}"
        if place(found) != place(symbol):
            return f"is {found['path']} at {found['file']}:{found['line']}"
        # What is offered is named by the path of a re-export.
        return None if is_offered or found["path"] == symbol["path"] else f"is printed as {found['path']} then"

    def short(self, symbol, form):
        """What a short form leads to, or what is wrong with it."""
        try:
            found = self.usages(form)["symbol"]
        except semdex.Problem as problem:
            if problem.code == "ambiguous_symbol":
                return "ambiguous", None
            return "lost", f"{problem.status} {problem.code}"
        if place(found) == place(symbol):
            return "itself", None
        # An inherent member comes before a trait's, a package's own function before a method.
        last = re.split(r"::|\.", form)[-1].removesuffix("()")
        return ("another", None) if re.split(r"::|\.", found["path"])[-1].split("~")[0] == last else ("lost", f"is {found['path']}")


def told(lost):
    print("\n".join(lost[:SHOWN] + ([f"  … and {len(lost) - SHOWN} more"] if len(lost) > SHOWN else [])))


def run(options, directory):
    wrong = 0
    draw = random.Random(options.seed)
    roots = [semdex.copy_workspace(source, directory / str(at)) for at, source in enumerate(options.workspaces)]
    with semdex.Server(options.server_binary, roots, directory=directory / "server") as server:
        server.wait_ready(options.ready_timeout)
        for root in roots:
            client, workspace = server.client, server.workspace(root)
            asker = Asker(client, workspace)
            found = symbols(client, workspace, root)
            if not found:
                raise semdex.Failed(f"{root.name}: no symbols at all")
            some = lambda all, count: draw.sample(all, count) if count and count < len(all) else all
            asked = some(found, options.sample)
            counts, lost = collections.Counter(), []
            for symbol in asked:
                what = asker.whole(symbol)
                counts[symbol["kind"], what is None] += 1
                if what:
                    lost.append(f"  {symbol['kind']} {symbol['path']} at {symbol['file']}:{symbol['line']}: {what}")
            rows = [{"kind": kind, "back": counts[kind, True], "lost": counts[kind, False]} for kind in sorted({kind for kind, _ in counts})]
            semdex.table(rows, ["kind", "back", "lost"])
            shared = len(found) - len({it["path"] for it in found})
            forms = collections.Counter()
            for symbol in some(found, options.others):
                for form in dict.fromkeys(short_forms(symbol["path"])):
                    what, why = asker.short(symbol, form)
                    forms[what] += 1
                    if why:
                        lost.append(f"  short `{form}` of {symbol['path']}: {why}")
            outside = some(offered(client, workspace, root, draw), options.others)
            back = 0
            for symbol in outside:
                what = asker.whole(symbol, is_offered=True)
                back += what is None
                if what:
                    lost.append(f"  outside {symbol['kind']} {symbol['path']} at {symbol['file']}:{symbol['line']}: {what}")
            told(lost)
            kept = sum(count for (_, is_back), count in counts.items() if is_back)
            print(
                f"{root.name}: {kept} of {len(asked)} symbols come back by their path ({100 * kept / len(asked):.2f} %), {len(found)} in all, "
                f"{shared} with another's path; short forms: {dict(sorted(forms.items()))}; outside: {back} of {len(outside)}; "
                f"{len(asker.times)} questions, {1000 * statistics.median(asker.times):.1f} ms at the median, {1000 * max(asker.times):.0f} ms at most"
            )
            wrong += len(lost) + shared
    return 1 if wrong else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="ask for so many symbols of each workspace (default: all)")
    parser.add_argument("--others", type=int, default=400, metavar="N", help="so many for their short forms, and so many of outside (0: all)")
    parser.add_argument("--seed", type=int, default=1)
    semdex.main(run, parser.parse_args())
