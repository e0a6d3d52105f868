#!/usr/bin/env python3
"""How soon an agent's hook is answered after an edit, and whether it says what the edit broke.

Files of each workspace are edited on the disk as an agent would, drawn by --seed: a function gets another name, a statement that names nothing
comes into a body, or a comment into a file. Then the hook is asked, over HTTP or by `semdex hook claude` in turn, and the file is put back,
which is an edit with a hook too. The time runs from the end of the write to the answer. Of each new name the errors of the whole workspace
are asked before and after: those in other files are what the hook had to say. The times are told by way of asking, and by kind of edit.

Exit code 1 where p95 over HTTP is above --limit milliseconds, where a harmless edit is told to break something, or where what broke in the
file itself is not told.
"""

import json
import pathlib
import random
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

# The definition of a function at the beginning of a line, a statement that names nothing, and a comment.
LANGUAGES = {
    ".rs": (re.compile(r"^(?:pub(?:\([a-z]+\))? )?fn ([a-z_]\w{3,})(\([^{}]*\{\n)", re.M), "    nothing_of_this_name();\n", "// A comment.\n"),
    ".go": (re.compile(r"^func ([A-Za-z_]\w{3,})(\([^{}]*\{\n)", re.M), "\tnothingOfThisName()\n", "// A comment.\n"),
    ".py": (re.compile(r"^def ([a-z_]\w{3,})(\([^()]*\)[^:\n]*:\n)", re.M), "    nothing_of_this_name()\n", "# A comment.\n"),
}


def edits(root, suffix, rng):
    """Endless: what kind of edit, the file, and its text before and after."""
    pattern, statement, comment = LANGUAGES[suffix]
    files = [it for it in semdex.source_files(root, suffix) if "test" not in it and pattern.search((root / it).read_text(errors="ignore"))]
    if not files:
        raise semdex.Failed(f"no functions in the files {suffix} of {root}")
    while True:
        file = rng.choice(files)
        before = (root / file).read_text()
        found = rng.choice(list(pattern.finditer(before)))
        kind = rng.choice(["name", "name", "statement", "comment"])
        if kind == "name":
            after = before[: found.start(1)] + found.group(1) + "_renamed" + before[found.end(1) :]
        elif kind == "statement":
            after = before[: found.end(2)] + statement + before[found.end(2) :]
        else:
            after = before + comment
        yield kind, file, before, after


# What is lacking may come: what was answered is no truth to hold anything against. A language without a server stays unknown, and so does one
# that no tool checks.
PASSES = {"indexing", "timeout", "engine_down", "engine_restarting"}
SCOPES = {".rs": "rust", ".go": "go", ".py": "python"}


def errors(client, workspace, suffix):
    reply = client.get("/v1/diagnostics", workspace=workspace, severity="error", wait_ms=60000)
    found = {(it["file"], it["line"], it["message"]) for it in reply["items"] if it["file"].endswith(suffix)}
    return found, not any(it["code"] in PASSES and it.get("scope") in (None, SCOPES[suffix]) for it in reply["meta"]["missing"])


def measure(options, source, directory):
    root = semdex.copy_workspace(source, directory)
    counted = {suffix: len(semdex.source_files(root, suffix)) for suffix in LANGUAGES}
    suffix = max(counted, key=counted.get)
    rng = random.Random(options.seed)
    times = {"HTTP": [], "process": []}
    of_kinds = {"name": [], "statement": [], "comment": [], "build script": []}
    wrong, named, silent, truth, also = [], 0, 0, 0, 0
    state = directory / f"{source.name}-server"
    with semdex.Server(options.server_binary, [root], directory=state) as server:
        server.wait_ready(options.ready_timeout)
        server.wait_indexed()
        client, workspace = server.client, server.workspace(root)
        healthy, _ = errors(client, workspace, suffix)

        def told(file, text, by, kind=None):
            event = {
                "session_id": "bench", "cwd": str(root), "hook_event_name": "PostToolUse", "tool_name": "Edit",
                "tool_input": {"file_path": str(root / file)},
            }
            (root / file).write_text(text)
            started = time.perf_counter()
            if by == "HTTP":
                _, answer = client.send("POST", "/v1/hooks/claude", body=event)
            else:
                environment = {**semdex.os.environ, "XDG_STATE_HOME": str(state / "state")}
                ended = subprocess.run(
                    [options.server_binary, "hook", "claude"], input=json.dumps(event), capture_output=True, text=True, env=environment, cwd=root
                )
                answer = json.loads(ended.stdout or "{}")
            times[by].append(time.perf_counter() - started)
            of_kinds.get(kind, []).append(times[by][-1])
            return answer.get("hookSpecificOutput", {}).get("additionalContext", "")

        # Once, so that what is loaded at the first need is there.
        kind, file, before, after = next(edits(root, suffix, random.Random(0)))
        told(file, after, "HTTP")
        told(file, before, "HTTP")
        times["HTTP"].clear()
        for nth, (kind, file, before, after) in zip(range(options.count), edits(root, suffix, rng)):
            by = "process" if nth % 4 == 3 else "HTTP"
            # A build script is run before anything is known.
            timed_as = "build script" if file.endswith("build.rs") else kind
            text = told(file, after, by, timed_as)
            if kind == "comment" and "This edit broke" in text:
                wrong.append(f"{file}: a comment broke something: {text[:300]!r}")
            if kind == "statement" and not (text.startswith("LSP: ") and "[ERROR] Line" in text):
                known = client.get("/v1/diagnostics", workspace=workspace, file=file, wait_ms=60000)["meta"]["complete"]
                # A file that a build leaves out is in no package.
                if known:
                    wrong.append(f"{file}: what broke in it is not told: {text[:300]!r}")
            if kind == "name" and nth % options.check == 0:
                now, complete = errors(client, workspace, suffix)
                broken = {(it[0], it[1]) for it in now - healthy if it[0] != file}
                said = {(it, int(line)) for it, line in re.findall(r"^  - \[ERROR\] (\S+?):(\d+): ", text, re.M)}
                if complete and "… and " not in text:
                    truth += len(broken)
                    named += len(broken & said)
                    also += len(said - broken)
                    silent += bool(broken) and not said
            text = told(file, before, by, timed_as)
            if "This edit broke" in text:
                wrong.append(f"{file}: put back, and it broke something: {text[:300]!r}")
        left = errors(client, workspace, suffix)[0] - healthy
    rows = [{"workspace": source.name, "by": by, **semdex.summary(seconds)} for by, seconds in (times | of_kinds).items() if seconds]
    print(f"{source.name}: {named} of {truth} places that a new name broke in other files are told, {also} more, {silent} edits silent; {len(wrong)} wrong; {len(left)} errors left")
    for it in wrong[:10]:
        print(f"  {it}")
    too_slow = rows[0]["p95_ms"] > options.limit
    return rows, not wrong and not left and not too_slow


def run(options, directory):
    rows, good = [], True
    for source in map(pathlib.Path, options.workspaces):
        more, fine = measure(options, source.resolve(), directory)
        rows += more
        good &= fine
    semdex.table(rows, ["workspace", "by", "runs", "p50_ms", "p95_ms", "max_ms"])
    return 0 if good else 1


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--count", type=int, default=80, help="edits of each workspace, each put back again (default: %(default)s)")
    parser.add_argument("--check", type=int, default=2, help="hold every so manieth new name against all errors (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=300.0, metavar="MS", help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    semdex.main(run, parser.parse_args())
