#!/usr/bin/env python3
"""How long an exact edit takes over what the disk itself takes, in pairs: an edit by semdex, and beside it the same bytes written by hand.

By hand is what makes a write durable: a file beside its target, written and synced, renamed over it, and the directory synced; and the
record that allows to take it back, of the same size, appended to another file and synced. The texts are of no language, so that no
impact is asked for.
"""

import os
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

SIZES = {"2 kB": 40, "40 kB": 800, "400 kB": 8000}


def by_hand(directory, record, content):
    begin = time.perf_counter()
    with open(record, "ab", buffering=0) as file:
        file.write(content[:8192])
        os.fdatasync(file.fileno())
    recorded = time.perf_counter() - begin
    begin = time.perf_counter()
    new = directory / "by-hand.new"
    with open(new, "wb", buffering=0) as file:
        file.write(content)
        os.fsync(file.fileno())
    os.rename(new, directory / "by-hand.txt")
    handle = os.open(directory, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)
    return recorded, time.perf_counter() - begin


def milliseconds(values):
    ordered = sorted(values)
    return f"p50 {statistics.median(ordered) * 1e3:.2f}, p95 {ordered[int(len(ordered) * 0.95)] * 1e3:.2f}"


def run(options, directory):
    root, state = directory / "workspace", directory / "beside"
    root.mkdir()
    state.mkdir()
    short = []
    with semdex.Server(options.server_binary, [root], directory=directory / "server") as server:
        for size, lines in SIZES.items():
            name = f"{lines}.txt"
            text = "generation 0.\n" + "".join(f"line {i} of a text that is not code, in {size}\n" for i in range(lines))
            (root / name).write_text(text)
            edits, records, writes, empty = [], [], [], []
            for number in range(options.rounds + 10):
                begin = time.perf_counter()
                server.client.post("/v1/edit", file=name, search_context=f"generation {number}.", replacement=f"generation {number + 1}.", autofix=0)
                took = time.perf_counter() - begin
                recorded, written = by_hand(state, state / "record", text.encode())
                begin = time.perf_counter()
                server.client.get("/healthz")
                asked = time.perf_counter() - begin
                if number >= 10:
                    edits.append(took)
                    records.append(recorded)
                    writes.append(written)
                    empty.append(asked)
            over = [a - b - c for a, b, c in zip(edits, records, writes)]
            over_file = [a - c for a, c in zip(edits, writes)]
            median = statistics.median(over) * 1e3
            print(f"{size}: edit {milliseconds(edits)} ms; by hand: file {milliseconds(writes)} ms, record {milliseconds(records)} ms; an empty call {milliseconds(empty)} ms")
            print(f"{size}: over what the disk takes: {milliseconds(over)} ms; counting the record as semdex's own: {milliseconds(over_file)} ms")
            if median > options.most:
                short.append(f"{size}: {median:.2f} ms over what the disk takes, {options.most} allowed")
    for it in short:
        print(it, file=sys.stderr)
    return 1 if short else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__, workspace=False)
    parser.add_argument("--rounds", type=int, default=300, help="pairs of each size (default: %(default)s)")
    parser.add_argument("--most", type=float, default=2.0, metavar="MS", help="over the disk's time, at the median (default: %(default)s)")
    semdex.main(run, parser.parse_args())
