#!/usr/bin/env python3
"""Recorded sessions of coding agents: which of what they read would `explore` have given at once? Bounds, not a forecast.

The sessions are those of repowise-bench that answer questions of SWE-QA without any index (`C0_bare`): --sessions is its git directory.
Each starts with a question. The repository is checked out where most of the lines that the sessions read are as they were read, and a
server answers each question once by `explore`, by the words of the texts alone.

For each Read of a session:
- repeated: lines that an earlier Read or Grep of the session had shown: `seen` leaves them out;
- explored: lines that the answer to the question has.
A Read is whole if all of its lines with code are one or the other, and half if half of them are. For each Grep: whether the pattern is
one bare name (`usages`, `describe` and `search` answer that), and which of its hits the answer has. Calls that later steps no longer
need are at least the whole Reads, at most the half Reads and the Greps for bare names.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))

import semdex_client as semdex

SESSIONS = "logs/swe_qa_overnight_v1/raw_outputs"
NUMBERED = re.compile(r"^ *(\d+)[\t→](.*)$")
HIT = re.compile(r"^(.*?\.\w+)[:-](\d+)[:-]")
NAME = re.compile(r"^\\?b?(?:class |def |async def )?[A-Za-z_][A-Za-z0-9_]*\(?\\?b?$")


def git(repository, *arguments):
    return subprocess.run(["git", "-C", repository, *arguments], capture_output=True, check=False).stdout.decode("utf-8", "replace")


def relative(path, repository):
    """A path of the machine that recorded the session, relative to the root of the repository."""
    path = path.replace("\\", "/")
    marker = f"/repos/{repository}/"
    if marker in path:
        return path.split(marker, 1)[1]
    # Some are checked out below the name alone.
    marker = f"/repos/{repository.split('/')[0]}/"
    return path.split(marker, 1)[1] if marker in path else path


def calls(stream, repository):
    """The calls of a session in their order: name, input, text of the result."""
    begun = {}
    for line in stream.get("_raw_stream_lines", []):
        event = json.loads(line)
        for part in (event.get("message") or {}).get("content") or []:
            if not isinstance(part, dict):
                continue
            if part.get("type") == "tool_use":
                begun[part["id"]] = (part["name"], part["input"])
            elif part.get("type") == "tool_result" and part["tool_use_id"] in begun:
                content = part["content"]
                text = content if isinstance(content, str) else "".join(it.get("text", "") for it in content if isinstance(it, dict))
                name, given = begun[part["tool_use_id"]]
                yield name, given, text


def read_lines(given, text, repository):
    """The lines that a Read showed: file, and text by number."""
    lines = {int(it[1]): it[2] for it in map(NUMBERED.match, text.splitlines()) if it}
    return relative(str(given.get("file_path", "")), repository), lines


def hits(text, repository):
    """The lines that a Grep showed: file and number."""
    return {(relative(it[1], repository), int(it[2])) for it in map(HIT.match, text.splitlines()) if it}


def fitting_commit(repository, reads):
    """The commit at which most of the lines are as they were read, among 60 in equal distances."""
    commits = git(repository, "rev-list", "--first-parent", "-n", "6000", "HEAD").split()
    best = (-1, "")
    for commit in commits[:: max(1, len(commits) // 60)]:
        same = 0
        for file, lines in reads:
            texts = git(repository, "show", f"{commit}:{file}").splitlines()
            same += sum(0 < number <= len(texts) and texts[number - 1].rstrip() == text.rstrip() for number, text in lines.items())
        best = max(best, (same, commit))
    return best


def replay(session, explored, repository):
    """The sums of one session."""
    sums = collections.Counter(sessions=1)
    shown = set()
    for name, given, text in calls(session, repository):
        sums["calls"] += 1
        sums["characters"] += len(text)
        if name == "Read":
            file, lines = read_lines(given, text, repository)
            code = {(file, number): it for number, it in lines.items() if it.strip()}
            sums["reads"] += 1
            sums["read characters"] += len(text)
            if not code:
                continue
            repeated = set(code) & shown
            found = (set(code) & explored) - repeated
            size = lambda keys: sum(len(code[it]) + 1 for it in keys)
            sums["repeated characters"] += size(repeated)
            sums["explored characters"] += size(found)
            share = len(repeated | found) / len(code)
            sums["whole reads"] += share == 1
            sums["half reads"] += share >= 0.5
            shown |= set(code)
        elif name == "Grep":
            found = hits(text, repository)
            sums["greps"] += 1
            sums["grep characters"] += len(text)
            sums["greps for a name"] += bool(NAME.match(str(given.get("pattern", ""))))
            sums["hits"] += len(found)
            sums["explored hits"] += len(found & explored)
            shown |= found
        elif name in ("Bash", "Glob"):
            sums[f"{name.lower()} calls"] += 1
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server-binary", required=True)
    parser.add_argument("--sessions", type=pathlib.Path, required=True, help="the git directory of repowise-bench")
    parser.add_argument("--repository", type=pathlib.Path, required=True, help="the git directory of what the sessions are about")
    parser.add_argument("--name", default="astropy/astropy", help="OWNER/NAME of it")
    parser.add_argument("--max-tokens", type=int, default=6000)
    parser.add_argument("--limit", type=int, default=1000, help="sessions")
    arguments = parser.parse_args()
    repository = arguments.name
    tasks = json.loads(git(arguments.sessions, "show", "HEAD:data/swe_qa/tasks.json"))
    questions = {it["id"]: it["question"] for it in tasks if it["repo"] == repository}
    sessions = {}
    for path in git(arguments.sessions, "ls-tree", "-r", "--name-only", "HEAD", SESSIONS).split():
        name = path.rsplit("/", 1)[-1]
        if name.endswith("_C0_bare.json") and (identity := name.removesuffix("_C0_bare.json")) in questions and len(sessions) < arguments.limit:
            sessions[identity] = json.loads(git(arguments.sessions, "show", f"HEAD:{path}"))
    reads = [
        read_lines(given, text, repository) for it in sessions.values() for name, given, text in calls(it, repository) if name == "Read"
    ]
    reads = [it for it in reads if it[1]]
    total = sum(len(it[1]) for it in reads)
    same, commit = fitting_commit(arguments.repository, reads[:40])
    print(f"{len(sessions)} sessions, at {commit[:10]}: {same} of {sum(len(it[1]) for it in reads[:40])} sampled lines are as they were read ({total} in all)")
    sums = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="sessions-") as below:
        tree = pathlib.Path(below) / repository.split("/")[1]
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", arguments.repository, tree], check=True)
        subprocess.run(["git", "-C", tree, "checkout", "-qf", "--detach", commit], check=True)
        with semdex.Server(arguments.server_binary, [tree]) as server:
            for identity, session in sessions.items():
                reply = server.client.post("/v1/explore", query=questions[identity], max_tokens=arguments.max_tokens, wait_ms=0)
                explored = {
                    (file["file"], line)
                    for file in reply["files"]
                    for span in file["spans"]
                    for line in range(span["line"], span["end_line"] + 1)
                }
                found = replay(session, explored, repository)
                found["characters of explore"] = sum(len(it["text"]) for file in reply["files"] for it in file["spans"])
                sums += found
    for name, value in sums.items():
        print(f"{name:24} {value}")
    reads, greps = max(1, sums["read characters"]), max(1, sums["hits"])
    print(f"of the characters of Reads: {sums['repeated characters'] / reads:.3f} repeated, {sums['explored characters'] / reads:.3f} explored")
    print(f"of the hits of Greps: {sums['explored hits'] / greps:.3f} explored")
    least, most = sums["whole reads"], sums["half reads"] + sums["greps for a name"]
    print(f"calls that later steps no longer need: {least} to {most} of {sums['calls']}")


if __name__ == "__main__":
    main()
