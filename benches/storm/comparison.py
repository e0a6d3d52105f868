"""A server that went through a storm against one that was started a moment ago on the same files: the answers must be the same. Where
both say that they lack something, what differs is told apart."""

import time

import semdex_client as semdex

SYMBOLS = 60
DRY_RUNS = 12
# The background may still bring something up to date: what differs is asked again for so long.
PATIENCE = 20.0
# More than this say nothing new.
MOST_DIFFERENCES = 20


# Whose gaps count: servers of other languages are missing on either side.
SCOPES = {".rs": "rust", ".go": "go"}


def compare(old, new, root, chance, suffixes):
    """(answers compared, [what differs], [what differs where both say that they lack the same])."""
    scopes = {None, *(SCOPES[it] for it in suffixes)}
    pair = [(it.client, it.workspace(root)) for it in (old, new)]
    files = sorted({it for suffix in suffixes for it in semdex.source_files(root, suffix)})
    questions = [("describe", "POST", "/v1/describe", {"file": it}) for it in files]
    questions += [("symbols", "GET", "/v1/symbols", {"file": it}) for it in files]
    questions += [("diagnostics", "GET", "/v1/diagnostics", {})]
    symbols = []
    for file in files:
        reply = _ask(pair[1], "GET", "/v1/symbols", {"file": file})[1]
        symbols += [(it["path"], file) for symbol in reply.get("symbols", []) for it in _flat(symbol)]
    sample = chance.sample(symbols, min(SYMBOLS, len(symbols)))
    questions += [("usages", "GET", "/v1/usages", {"symbol": path, "file": file}) for path, file in sample]
    questions += [("open", "POST", "/v1/open", {"file": file}) for file in chance.sample(files, min(20, len(files)))]
    for path, file in sample[:DRY_RUNS]:
        questions.append(("impact", "POST", "/v1/impact", {"symbol": path, "file": file, "change": chance.choice(["remove", "signature"])}))
    differences, lacking = [], []
    for name, method, path, what in questions:
        deadline = time.monotonic() + PATIENCE
        while True:
            replies = [_ask(it, method, path, what) for it in pair]
            lacks = [_lacks(it[1], scopes) for it in replies]
            answers = [_essence(name, *it) | {f"lacks {lack}" for lack in lack_of} for it, lack_of in zip(replies, lacks)]
            if answers[0] == answers[1] or time.monotonic() > deadline:
                break
            time.sleep(0.5)
        if answers[0] != answers[1]:
            is_excused = lacks[0] and lacks[0] == lacks[1]
            (lacking if is_excused else differences).append(f"{name} {what}: {_difference(*answers)}")
        if len(differences) == MOST_DIFFERENCES:
            break
    return len(questions), differences, lacking


def _lacks(reply, scopes):
    missing = (reply.get("meta") or {}).get("missing") or []
    return {f"{it['code']} {it.get('scope')}" for it in missing if it.get("scope") in scopes}


def _ask(of, method, path, what):
    client, workspace = of
    what = {"workspace": workspace, "wait_ms": 20000, **what}
    return client.send(method, path, **({"query": what} if method == "GET" else {"body": what}))


def _essence(name, status, reply):
    """What of an answer has to be the same, as a set of lines."""
    if status != 200:
        return {f"{status} {reply.get('code')}"}
    if name == "describe":
        return {str(reply.get("file", {}).get("hash"))}
    if name == "symbols":
        return {f"{it['path']} {it['kind']} {it['line']}" for symbol in reply["symbols"] for it in _flat(symbol)}
    if name == "usages":
        return {f"{it['file']}:{it['start']} {it['role']}" for it in reply["items"] + reply["possible"]}
    if name == "diagnostics":
        return {f"{it['file']}:{it['line']} {it['severity']} {it.get('code')} {it['message'][:200]}" for it in reply["items"]}
    if name == "open":
        streams = {f"{way} {it['package']} {it.get('file')}" for way in ("upstream", "downstream") for it in reply[way]}
        return {reply["hash"], reply["skeleton"]} | streams
    broken = {f"broken {it['file']}:{it['line']} {it.get('code')}" for it in reply["impact"]["broken"]}
    return broken | {f"affected {it['file']}:{it['line']}" for it in reply["impact"]["affected"]}


def _difference(old, new):
    only = [f"only after the storm {sorted(old - new)[:3]}"] if old - new else []
    only += [f"only fresh {sorted(new - old)[:3]}"] if new - old else []
    return "; ".join(only)[:1500]


def _flat(symbol):
    yield symbol
    for child in symbol.get("children") or []:
        yield from _flat(child)
