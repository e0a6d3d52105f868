#!/usr/bin/env python3
"""How long a baseline of many diagnostics takes to be kept and to be compared.

A crate with --count errors in --files files is asked for its diagnostics, warm (`limit=1`); in turn with that a baseline of it is kept, and
what came and went since is asked. The differences of the medians are what keeping (loading included) and comparing add to the diagnostics
themselves. Half of the errors change their lines before each comparison.

Exit code 1 where keeping adds more than 50 ms, or comparing more than 60 ms (loading and comparing), or where anything is told as new.
"""

import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

MANIFEST = '[package]\nname = "many"\nversion = "0.1.0"\nedition = "2021"\n'


def text(file, count, moved):
    lines = ["// Moved." for _ in range(moved)]
    lines += [f"pub fn f{n}() {{\n    missing_{file}_{n}();\n}}" for n in range(count)]
    return "\n".join(lines) + "\n"


def timed(call):
    begun = time.perf_counter()
    answer = call()
    return time.perf_counter() - begun, answer


def run(options, directory):
    root = directory / "many"
    (root / "src").mkdir(parents=True)
    (root / "Cargo.toml").write_text(MANIFEST)
    each = options.count // options.files
    (root / "src/lib.rs").write_text("".join(f"pub mod m{n};\n" for n in range(options.files)))
    for file in range(options.files):
        (root / f"src/m{file}.rs").write_text(text(file, each, 0))
    plain, keeping, comparing, wrong = [], [], [], []
    with semdex.Server(options.server_binary, [root]) as server:
        server.wait_ready(options.ready_timeout)
        server.wait_indexed()
        client = server.client
        diagnostics = lambda: client.get("/v1/diagnostics", severity="error", limit=1, wait_ms=120000)
        total = diagnostics()["total"]
        if total != each * options.files:
            raise semdex.Failed(f"{total} errors where {each * options.files} were made")
        for turn in range(options.rounds):
            plain.append(timed(diagnostics)[0])
            taken, kept = timed(lambda: client.post("/v1/baseline"))
            keeping.append(taken)
            if kept["counts"]["error"] != total:
                wrong.append(f"a baseline of {kept['counts']}")
            for file in range(0, options.files, 2):
                (root / f"src/m{file}.rs").write_text(text(file, each, turn % 3 + 1))
            diagnostics()
            plain.append(timed(diagnostics)[0])
            taken, since = timed(lambda: client.get("/v1/regressions", limit=1))
            comparing.append(taken)
            if since["new_errors"] or since["fixed_errors"]:
                wrong.append(f"{since['new_errors']} new, {since['fixed_errors']} gone")
    rows = [{"what": it, **semdex.summary(seconds)} for it, seconds in (("diagnostics", plain), ("keep", keeping), ("compare", comparing))]
    print(f"{total} errors in {options.files} files")
    semdex.table(rows, ["what", "runs", "p50_ms", "p95_ms", "max_ms"])
    base = statistics.median(plain)
    adds = [1000 * (statistics.median(it) - base) for it in (keeping, comparing)]
    print(f"keeping adds {adds[0]:.1f} ms, loading and comparing {adds[1]:.1f} ms; {len(wrong)} wrong")
    for it in wrong[:5]:
        print(f"  {it}")
    return 0 if not wrong and adds[0] <= 50 and adds[1] <= 60 else 1


if __name__ == "__main__":
    parser = semdex.arguments(__doc__, workspace=False)
    parser.add_argument("--count", type=int, default=10000, help="errors (default: %(default)s)")
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=20)
    semdex.main(run, parser.parse_args())
