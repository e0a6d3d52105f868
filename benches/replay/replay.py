#!/usr/bin/env python3
"""Recorded patches of agents as dry runs, compared with `cargo check` of the patched tree.

A record has a base commit and a unified diff. The base is served, and each patch sent once with `dry_run=true`: as a diff, and where that
is refused, each changed file whole. Cargo's answer is computed once and kept (`cargo_truth.py`). Only bases that compile are taken.

An error of the compiler counts as named if the answer has a place in that file in the same statement.
"""

import collections
import gzip
import json
import pathlib
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "scripts"), str(HERE.parent / "impact")]

import cargo_truth
import lexing
import semdex_client as semdex

WAIT = 60000
# The outcomes that are failures, the worst first.
FAILURES = ["silent, complete", "false alarm", "silent", "elsewhere", "manifest silent", "refused"]
OUTCOMES = ["reported", *FAILURES[:-1], "manifest reported", "borrow, reported", "borrow, silent", "quiet", "alarm of another build", "alarm of another workspace", "refused"]


def records(path):
    with gzip.open(path) as lines:
        return [json.loads(it) for it in lines]


class Replay:
    """The patches of one repository."""

    def __init__(self, options, source, repository, directory):
        self.options, self.name = options, pathlib.Path(source).name.split(".")[0]
        self.directory, self.repository = directory / self.name, repository
        self.records = [it for it in records(source) if not options.only or any(word in f"{it['instance']} {it['base']}" for word in options.only)]
        self.truth = cargo_truth.Truth(
            pathlib.Path(options.truth) / self.name,
            repository,
            self.directory / "compiler",
            options.target or directory / "target",
            options.kept,
            options.features,
        )

    def rows(self):
        for base in dict.fromkeys(it["base"] for it in self.records):
            healthy = self.truth.of_base(base)
            if not healthy or not healthy["checks"] and (healthy["cargo"] or not self.options.broken_base):
                told = "not known" if not healthy else (healthy["cargo"] or "; ".join(it["message"] for it in healthy["errors"][:2]))[-200:]
                print(f"{self.name}: base {base[:10]} does not compile: {told}", file=sys.stderr)
                continue
            of_base = [(it, told) for it in self.records if it["base"] == base and (told := self.truth.of(it))]
            if of_base:
                yield from self.of_base(base, of_base)

    def of_base(self, base, of_base):
        # One directory for all bases: what semdex has compiled of the dependencies is used again.
        root = self.directory / "tree"
        cargo_truth.Tree(root, self.repository, base, self.truth.lock(base))
        if self.options.features:
            features = "all" if self.options.features == "all" else self.options.features.split(",")
            (root / "semdex.toml").write_text(f"[rust]\nfeatures = {json.dumps(features)}\n")
        patched = cargo_truth.Tree(self.directory / "patched", self.repository, base, self.truth.lock(base))
        with semdex.Server(self.options.server_binary, [root], directory=self.directory / f"server-{base[:12]}") as server:
            loaded = server.wait_ready(self.options.ready_timeout)
            server.wait_indexed()
            self.truth.others_of_base(base, patched)
            patched.reset()
            workspace = server.workspace(root)
            self.wait_complete(server, workspace, root)
            print(f"{self.name}: base {base[:10]}, {len(of_base)} patches, ready after {loaded:.0f} s", file=sys.stderr)
            for record, truth in of_base:
                if "unappliable" in truth:
                    continue
                try:
                    patched.apply(record["patch"])
                    yield self.row(server, workspace, record, truth, patched)
                finally:
                    patched.reset()

    def wait_complete(self, server, workspace, root):
        """Until a question about usages is answered completely. A workspace may have a name of which no answer is complete: several are asked."""
        names = [it["path"] for file in semdex.source_files(root, ".rs")[:40] for it in server.client.get("/v1/symbols", workspace=workspace, file=file)["symbols"]]

        def complete():
            for name in names[:40]:
                status, reply = server.client.send("GET", "/v1/usages", query={"symbol": name, "workspace": workspace, "wait_ms": WAIT})
                if status == 200 and reply["meta"]["complete"] and reply["meta"]["state"] == "ready":
                    return True
            return False

        semdex.wait_for(complete, self.options.ready_timeout, "a complete answer about usages")

    def row(self, server, workspace, record, truth, patched):
        form, took, status, reply, refusal = self.ask(server.client, workspace, record, truth, patched.root)
        server.must_live()
        row = {"record": record, "truth": truth, "form": form, "seconds": took, "refusal": refusal, "reply": reply}
        if status != 200:
            return {**row, "outcome": "refused", "errors": [], "extra": [], "complete": False}
        judged = judge(truth, [], reply, patched.root)
        if judged["extra"]:
            judged = judge(truth, self.truth.others(record, patched), reply, patched.root)
        return {**row, **judged}

    def ask(self, client, workspace, record, truth, patched):
        """(form, seconds, status, reply, why the diff was refused)"""
        options = {"workspace": workspace, "dry_run": "true", "limit": 500, "wait_ms": WAIT}
        begin = time.monotonic()
        status, reply = client.send("POST", "/v1/edit", query=options, body=record["patch"].encode(), content_type="text/x-diff")
        took, refusal = time.monotonic() - begin, None
        if status == 200:
            return "diff", took, status, reply, None
        refusal = f"{status} {reply['code']}: {reply['detail']}" if isinstance(reply, dict) else str(reply)
        edits = []
        for change, file in truth["files"]:
            if change == "D":
                edits.append({"file": file, "delete": True})
            else:
                try:
                    content = (patched / file).read_bytes().decode()
                except (UnicodeDecodeError, OSError):
                    continue
                edits.append({"file": file, "content": content, "mode": "create" if change == "A" else "overwrite"})
        begin = time.monotonic()
        body = {"workspace": workspace, "edits": edits, "dry_run": True, "limit": 500, "wait_ms": WAIT, "elisions": "keep"}
        status, reply = client.send("POST", "/v1/edit", body=body)
        return "files", time.monotonic() - begin, status, reply, refusal


def judge(truth, others, reply, patched):
    """{"outcome", "errors": each error of the compiler with `named`, "extra": alarms that meet no error, "elsewhere": those that meet one in
    another workspace of the tree, "complete"}"""
    texts = {}

    def extent(file, first, last):
        if file not in texts:
            path = patched / file
            texts[file] = path.read_text(errors="replace").split("\n") if path.exists() else [""]
        return lexing.statement(texts[file], first, min(last, first + 200))

    def meet(a, b):
        return a[0] == b[0] and a[1] <= b[2] and b[1] <= a[2]

    broken = reply["impact"]["broken"]
    alarms = [{**it, "span": (it["file"], *extent(it["file"], it["line"], it.get("end_line") or it["line"]))} for it in broken]
    here = [it for it in alarms if not it.get("build")]
    errors, met = [], set()
    for error in truth["errors"]:
        spans = [(file, *extent(file, first, last)) for file, first, last, _ in error["places"]]
        of_error = [at for at, alarm in enumerate(here) if any(meet(alarm["span"], span) for span in spans)]
        met |= set(of_error)
        codes = {here[at].get("code") or "" for at in of_error}
        errors.append({**error, "borrow": cargo_truth.is_borrow(error), "named": bool(of_error), "same_code": error["code"] in codes, "placed": bool(spans)})
    extra = [it for at, it in enumerate(here) if at not in met]
    of_others = [(file, *extent(file, first, last)) for error in others for file, first, last, _ in error["places"]]
    other_workspaces = [it for it in extra if any(meet(it["span"], span) for span in of_others)]
    extra = [it for it in extra if it not in other_workspaces]
    # The rest may follow from those, which is not known without a repair: a patch that compiles counts once.
    if truth["succeeded"] and other_workspaces:
        other_workspaces, extra = other_workspaces + extra, []
    complete = reply["meta"]["complete"]
    judged = {"errors": errors, "extra": extra, "complete": complete, "other_builds": [it for it in alarms if it.get("build")]}
    judged["other_workspaces"] = other_workspaces
    judged["outcome"] = outcome(truth, reply, judged, [it for it in here if it not in other_workspaces])
    return judged


def outcome(truth, reply, judged, here):
    if truth["succeeded"]:
        others = "alarm of another workspace" if judged["other_workspaces"] else "alarm of another build" if judged["other_builds"] else "quiet"
        return "false alarm" if here else others
    if not truth["errors"]:
        known = here or not judged["complete"] or any("manifest" in it["code"] for it in reply["impact"].get("unchecked") or [])
        return "manifest reported" if known else "manifest silent"
    errors = [it for it in judged["errors"] if not it["borrow"]]
    if not errors:
        return "borrow, reported" if any(it["named"] for it in judged["errors"]) else "borrow, silent"
    if any(it["named"] for it in errors):
        return "reported"
    if here:
        return "elsewhere"
    return "silent, complete" if judged["complete"] else "silent"


# The report --------------------------------------------------------------------------------------------------------------


def report(rows, name, options):
    counts = collections.Counter(it["outcome"] for it in rows)
    broken = [it for it in rows if it["outcome"] in ("reported", "silent, complete", "silent", "elsewhere")]
    compiling = [it for it in rows if it["truth"].get("succeeded") and it["outcome"] != "refused"]
    print(f"\n{name}: {len(rows)} patches, {len(rows) - len([it for it in rows if it['truth'].get('succeeded')])} do not compile")
    semdex.table([{"outcome": it, "patches": counts[it]} for it in OUTCOMES if counts[it]], ["outcome", "patches"])
    errors = [error for it in broken for error in it["errors"] if not error["borrow"] and error["placed"]]
    named = [it for it in errors if it["named"]]
    of_complete = [error for it in broken if it["complete"] for error in it["errors"] if not error["borrow"] and error["placed"] and not error["named"]]
    reported = counts["reported"]
    print(f"reported: {percent(reported, len(broken))} of those that do not compile for other reasons than borrows")
    print(f"errors named: {percent(len(named), len(errors))} of {len(errors)}, with the code {percent(sum(it['same_code'] for it in named), len(named))}")
    print(f"errors not named in answers with complete: true: {len(of_complete)}")
    print(f"false alarms: {percent(counts['false alarm'], len(compiling))} of {len(compiling)} that compile")
    print(f"complete: {percent(sum(it['complete'] for it in rows), len(rows))}; sent whole because the diff was refused: {sum(it['form'] != 'diff' for it in rows)}")
    if rows:
        for what, seconds in (("semdex", [it["seconds"] for it in rows]), ("cargo check", [it["truth"].get("seconds", 0) for it in rows])):
            print(f"{what}: p50 {statistics.median(seconds):.3f} s, p95 {semdex.percentile(seconds, 0.95):.3f} s, max {max(seconds):.3f} s")
        ratios = [it["seconds"] / it["truth"]["seconds"] for it in rows if it["truth"].get("seconds")]
        print(f"ratio: p50 {statistics.median(ratios):.3f}, p95 {semdex.percentile(ratios, 0.95):.3f}")
    for failure in FAILURES:
        of_it = [it for it in rows if it["outcome"] == failure]
        if of_it:
            print(f"\n{failure}:")
        for row in of_it:
            print(f"  {label(row)}")
            for line in details(row):
                print(f"      {line}")
    if options.show:
        partial = [it for it in rows if it["outcome"] == "reported" and any(not e["named"] and e["placed"] and not e["borrow"] for e in it["errors"])]
        print("\nreported, but not each error:")
        for row in partial:
            print(f"  {label(row)}{', complete' if row['complete'] else ''}")
            for it in row["errors"]:
                if not it["named"] and it["placed"] and not it["borrow"]:
                    print(f"      {of_error(it)}")
        print("\nplaces of semdex without an error of the compiler, in patches that do not compile:")
        for row in rows:
            if row["extra"] and row["outcome"] != "false alarm":
                print(f"  {label(row)}")
                for it in row["extra"]:
                    print(f"      {of_alarm(it)}")
    return (
        reported >= 0.99 * len(broken)
        and not counts["silent, complete"]
        and counts["false alarm"] <= 0.005 * len(compiling)
    )


def label(row):
    return f"{row['record']['instance']} {row['record']['agent']} ({cargo_truth.key(row['record'])})"


def details(row):
    if row["outcome"] == "refused":
        yield row["refusal"]
        yield json.dumps(row["reply"])[:300]
    elif row["outcome"] == "false alarm":
        yield from map(of_alarm, row["extra"])
    elif row["outcome"].startswith("manifest"):
        yield (row["truth"]["cargo"] or "")[-300:].replace("\n", " ")
    else:
        yield from (of_error(it) for it in row["errors"] if not it["borrow"])
        if row["outcome"] == "elsewhere":
            yield from (f"semdex: {of_alarm(it)}" for it in row["extra"])


def of_error(error):
    places = ", ".join(f"{file}:{line}{' (macro)' if in_macro else ''}" for file, line, _, in_macro in error["places"])
    return f"{error['code'] or 'no code'} {places}: {error['message'][:200]}".replace("\n", " ")


def of_alarm(alarm):
    return f"{alarm.get('code') or 'no code'} {alarm['file']}:{alarm['line']}{' (follows)' if alarm.get('follows') else ''}: {alarm['reason'][:200]}".replace("\n", " ")


def percent(part, whole):
    return f"{100 * part / whole:.1f} % ({part})" if whole else "none"


def run(options, directory):
    directory = pathlib.Path(options.directory) if options.directory else directory
    repositories = dict(it.split("=", 1) for it in options.repository)
    good, all_rows = True, []
    for source in options.patches:
        name = pathlib.Path(source).name.split(".")[0]
        if name not in repositories:
            raise semdex.Failed(f"no repository for {source}: give --repository {name}=PATH")
        rows = []
        for row in Replay(options, source, pathlib.Path(repositories[name]).resolve(), directory).rows():
            rows.append(row)
            if options.rows:
                with open(options.rows, "a") as kept:
                    kept.write(json.dumps(row) + "\n")
        all_rows += rows
        good &= report(rows, name, options)
    if len(options.patches) > 1:
        report(all_rows, "all", options)
    return 0 if good else 1


if __name__ == "__main__":
    parser = semdex.arguments(__doc__, workspace=False)
    parser.add_argument("--patches", required=True, action="append", metavar="FILE", help="NAME.json.gz with records; may be given several times")
    parser.add_argument("--repository", required=True, action="append", metavar="NAME=PATH", help="the git directory with the bases of NAME.json.gz")
    parser.add_argument("--truth", required=True, metavar="DIR", help="where the compiler's answers are kept")
    parser.add_argument("--kept", action="store_true", help="only patches whose truth is kept already: the compiler is not run")
    parser.add_argument("--features", metavar="LIST", help="those of the default build, separated by commas, or `all`; for Cargo and semdex")
    parser.add_argument("--broken-base", action="store_true", help="take a base that does not compile too, and leave out the errors that it has")
    parser.add_argument("--only", action="append", metavar="WORD", help="only instances or bases that contain it; may be given several times")
    parser.add_argument("--target", metavar="DIR", help="Cargo's target directory (default: a temporary one)")
    parser.add_argument("--directory", metavar="DIR", help="where the trees and servers are (default: a temporary directory)")
    parser.add_argument("--rows", metavar="FILE", help="append all answers to it, a line of JSON each")
    parser.add_argument("--show", action="store_true", help="list errors that are not named in patches that are reported, and what else is reported")
    semdex.main(run, parser.parse_args())
