"""What the compiler says of a mutated Rust workspace: `cargo check` on all targets, and again with the broken bodies taken away, until
nothing new comes. Cargo stops at a crate that fails, so its dependants are reached by such repairs or not at all."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import lexing

ROUNDS = 8
IMPORTS = {"E0432", "E0433", "E0603"}
NAMES = IMPORTS | {"E0404", "E0405", "E0412", "E0422", "E0425", "E0531"}
PATIENCE = 300.0


class Compiler:
    name = "cargo check"

    def __init__(self, root, directory):
        self.root = pathlib.Path(root)
        # The column of each error of an import that was seen.
        self.imports = {}
        self.environment = {**os.environ, "CARGO_TARGET_DIR": str(pathlib.Path(directory) / "target"), "CARGO_INCREMENTAL": "1"}
        # Lints are no errors here: they would end a crate before its errors are all told.
        self.environment["RUSTFLAGS"] = "--cap-lints=warn"
        metadata = subprocess.run(
            ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"], cwd=root, env=self.environment, capture_output=True, check=True
        )
        self.targets = [
            (package["name"], target["name"], tuple(target["kind"]), os.path.relpath(target["src_path"], self.root))
            for package in json.loads(metadata.stdout)["packages"]
            for target in package["targets"]
        ]
        # Dependencies are built too.
        _, self.warm_errors, _ = self.check(patience=None)

    def check(self, patience=PATIENCE):
        """(seconds, errors as (file, line, end, code, message), the targets that were reached)."""
        command = ["cargo", "check", "--workspace", "--all-targets", "--keep-going", "--message-format=json", "--offline", "--quiet"]
        begin = time.monotonic()
        stdout = self._run(command, patience)
        took = time.monotonic() - begin
        errors, reached = set(), set()
        for line in stdout.splitlines():
            message = json.loads(line)
            if "target" in message:
                target = message["target"]
                reached.add((target["name"], tuple(target["kind"])))
            if message.get("reason") != "compiler-message" or message["message"]["level"] != "error":
                continue
            inner = message["message"]
            for span in inner["spans"]:
                if span["is_primary"]:
                    span = self._outermost(span)
                    if span:
                        # A `#[path]` leads to one file in several ways.
                        file, code = os.path.normpath(span["file_name"]), (inner["code"] or {}).get("code", "")
                        errors.add((file, span["line_start"], span["line_end"], code, inner["message"]))
                        if code in IMPORTS:
                            self.imports[file, span["line_start"], code] = span["column_start"]
        return took, errors, reached

    def _run(self, command, patience):
        """What it says; a constant may be one that the compiler evaluates without end."""
        with subprocess.Popen(
            command, cwd=self.root, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        ) as process:
            try:
                return process.communicate(timeout=patience)[0]
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise TimeoutError(f"`{' '.join(command)}` did not come to its end in {patience:.0f} s") from None

    def _outermost(self, span):
        """Where the workspace's own text has it: what a macro of elsewhere makes stands at its call."""
        while span:
            if not os.path.isabs(span["file_name"]) and (self.root / span["file_name"]).exists():
                return span
            span = (span.get("expansion") or {}).get("span")
        return None

    def broken(self, file, text):
        """(errors of the first run, errors that repairs bring to light, what a broken import hides, files that no run reached)."""
        changed = {file: text}
        original = {}
        try:
            self._write(changed, original)
            _, first, reached = self.check()
            all_errors, latest = set(first), set(first)
            texts = dict(changed)
            for _ in range(ROUNDS):
                if not latest or not self._repair(latest, texts, original):
                    break
                _, found, more = self.check()
                reached |= more
                latest = found - all_errors
                all_errors |= latest
            later = all_errors - first
            self._restore(original)
            self._write(changed, original)
            follows = self._hidden_by_imports(first, dict(changed), original) - all_errors
        finally:
            self._restore(original)
        old = {it[0::4] for it in self.warm_errors}
        fresh = [sorted(it for it in errors if it[0::4] not in old) for errors in (first, later, follows)]
        return *fresh, self._unreached(reached)

    def _hidden_by_imports(self, latest, texts, original):
        """The names that are missed once each import that is an error is taken away: what came by it has to be edited too."""
        hidden = set()
        for _ in range(ROUNDS):
            repaired = {}
            # One of a line at a time: what is taken away moves what is behind it.
            for file, line, code in sorted({(it[0], it[1], it[3]) for it in latest}, key=lambda it: (it[0], -it[1])):
                text = repaired.get(file) or texts.get(file) or (self.root / file).read_text()
                without = without_import(text, line, self.imports.get((file, line, code), 1)) if code in IMPORTS else None
                if without:
                    repaired[file] = without
            if not repaired:
                break
            texts.update(repaired)
            self._write(repaired, original)
            _, found, _ = self.check()
            latest = found
            hidden |= {it for it in found if it[3] in NAMES or it[4].startswith("cannot find macro")}
        return hidden

    def consequences(self, file, text, errors):
        """Of these errors of an edit that gives a thing another name: those that are gone once the new name is written wherever the old one is
        missed, and in no other line. Of any other edit nobody can tell without knowing how it is to be mended."""
        renamed = new_name((self.root / file).read_text(), text)
        if not renamed:
            return []
        texts, original, edited = {file: text}, {}, set()
        try:
            self._write(texts, original)
            left = {(it[0], it[1]) for it in errors}
            for _ in range(ROUNDS):
                mended = {}
                for name, line in left - edited:
                    lines = (mended.get(name) or texts.get(name) or (self.root / name).read_text()).split("\n")
                    new = re.sub(rf"\b{renamed[0]}\b", renamed[1], lines[line - 1])
                    if new != lines[line - 1]:
                        lines[line - 1] = new
                        mended[name] = "\n".join(lines)
                        edited.add((name, line))
                if not mended:
                    break
                texts.update(mended)
                self._write(mended, original)
                left = {(it[0], it[1]) for it in self.check()[1]}
        finally:
            self._restore(original)
        return [it for it in errors if (it[0], it[1]) not in edited | left]

    def seconds(self, file, text):
        """How long a warm incremental run takes after one edit of the healthy workspace."""
        self.check()
        original = {}
        try:
            self._write({file: text}, original)
            return self.check()[0]
        finally:
            self._restore(original)

    def _restore(self, original):
        for name, old in original.items():
            (self.root / name).write_text(old)

    def _write(self, texts, original):
        for name, text in texts.items():
            path = self.root / name
            if name not in original:
                original[name] = path.read_text()
            path.write_text(text)

    def _repair(self, errors, texts, original):
        """Takes the bodies with errors away; answers whether there were any."""
        repaired = {}
        for file, line, *_ in errors:
            # Cargo runs build scripts: one without a body would not end.
            if os.path.basename(file) == "build.rs":
                continue
            text = repaired.get(file) or texts.get(file) or (self.root / file).read_text()
            body = outermost_body(text, line)
            if not body:
                continue
            start, end = body
            hollow = "{ loop {} " + "\n" * text.count("\n", start, end) + "}"
            if text[start:end] != hollow:
                repaired[file] = text[:start] + hollow + text[end:]
        texts.update(repaired)
        self._write(repaired, original)
        return bool(repaired)

    def _unreached(self, reached):
        return [source for _, name, kind, source in self.targets if (name, kind) not in reached]


UNMET = re.compile(r"the trait bound `(?P<ty>[^`]+): (?P<of>[^`]+)` is not satisfied|`(?P<shown>[^`]+)` doesn't implement `(?P<by>[^`]+)`")
PATH = re.compile(r"\b(?:\w+::)+")
HEAD = re.compile(r"\b(?:impl\b|(?:fn|struct|enum|union|trait)\s+\w+)\s*(?=<)")


def of_met_bounds(errors, text_of):
    """Of the errors of bounds that are not met those that go with another: in the body of what declares the parameter, where its head has the
    same error, and anywhere in a body, where a declaration (a field, a signature, the head of an implementation) has it of the same type: who
    mends that bounds the parameter, has the type meet the bound, or declares another type."""
    bounds = {}
    for it in errors:
        found = UNMET.fullmatch(it[4]) if it[3] == "E0277" else None
        if found:
            bounds[tuple(it)] = tuple(PATH.sub("", found[a] or found[b]) for a, b in (("ty", "shown"), ("of", "by")))
    texts = {file: text_of(file) for file in {it[0] for it in bounds}}
    heads = {file: list(_heads(text)) for file, text in texts.items()}
    of_heads, declared, in_bodies = set(), set(), []
    for it, (ty, of) in bounds.items():
        text = texts[it[0]]
        at, end = _offset(text, it[1]), _offset(text, it[2] + 1)
        around = [head for head in heads[it[0]] if head[0] < end and at <= head[2] and ty in head[3]]
        if around:
            start, brace, *_ = min(around, key=lambda head: head[2] - head[0])
            bound = (it[0], start, ty, of)
            if at <= brace:
                of_heads.add(bound)
            else:
                in_bodies.append((it, bound))
        elif outermost_body(text, it[1]):
            in_bodies.append((it, (ty, of)))
        else:
            declared.add((ty, of))
    return [it for it, bound in in_bodies if bound in of_heads or bound in declared]


def _offset(text, line):
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1 or len(text)
    return at


def _heads(text):
    """What declares parameters: (start, opening brace, end, parameters)."""
    for found in HEAD.finditer(text):
        close = lexing.closing_angle(text, found.end())
        if close is None:
            continue
        declared = (re.match(r"\s*(?:const\s+)?(\w+)", text[a:b]) for a, b in lexing.split(text, found.end() + 1, close))
        parameters = {it.group(1) for it in declared if it}
        brace = _end_of_head(text, close + 1)
        if brace >= len(text):
            continue
        stop = lexing.closing(text, brace) if text[brace] == "{" else brace
        yield found.start(), brace, stop or len(text), parameters


def _end_of_head(text, at):
    """Where the body opens or the semicolon stands; the end of the text where neither does."""
    while at < len(text) and text[at] not in "{;":
        after = lexing.skip(text, at)
        if after == at and text[at] in "([":
            after = (lexing.closing(text, at) or at) + 1
        at = after if after != at else at + 1
    return at


FUNCTION = re.compile(r"\bfn\s+\w+")


def outermost_body(text, line):
    """The span of the body, with its braces, of the outermost function around a line."""
    offset = _offset(text, line)
    stop = text.find("\n", offset)
    at = 0
    while at < len(text):
        after = lexing.skip(text, at)
        if after != at:
            at = after
            continue
        found = FUNCTION.match(text, at) if text[at] == "f" and not (at and (text[at - 1].isalnum() or text[at - 1] == "_")) else None
        if not found:
            at += 1
            continue
        at = _end_of_head(text, found.end())
        if at >= len(text) or text[at] == ";":
            continue
        end = lexing.closing(text, at)
        if end is None:
            return None
        if text.rfind("\n", 0, found.start()) + 1 <= stop and end >= offset:
            # In the signature it is no error of the body.
            return (at, end + 1) if at <= stop else None
        at = end + 1
    return None


USE = re.compile(r"^[ \t]*((?:pub(?:\s*\([^)]*\))?\s+)?use\s[^;]*;)", re.M)


def without_import(text, line, column):
    """The text without the part of an import that stands there, its lines kept; None where there is no import."""
    at = sum(len(it) for it in text.splitlines(keepends=True)[: line - 1]) + column - 1
    found = next((it for it in USE.finditer(text) if it.start(1) <= at < it.end(1)), None)
    if not found:
        return None
    start, depth = at, 0
    while start > found.start(1) and (depth or text[start - 1] not in ",{"):
        start -= 1
        depth += {"}": 1, "{": -1}.get(text[start], 0)
    end, depth = at, 0
    while depth or text[end] not in ",};":
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    if start == found.start(1):
        return _put(text, *found.span(1), "use core as _;")
    return _put(text, start, end + (text[end] == ","), "")


def _put(text, start, end, new):
    return text[:start] + new + "\n" * text.count("\n", start, end) + text[end:]


WORD = re.compile(r"\w+")


def new_name(old, new):
    """The old and the new name, where a text gives something another name and is else the same."""
    if WORD.sub("", old) != WORD.sub("", new):
        return None
    before, after = WORD.findall(old), WORD.findall(new)
    differing = {(a, b) for a, b in zip(before, after) if a != b} if len(before) == len(after) else set()
    if len(differing) != 1:
        return None
    (renamed,) = differing
    return renamed if renamed[1] not in before else None


def lies_in(file, sources):
    """Whether a file may belong to one of these targets, by their root files: a module of a test stands beside it."""
    for source in sources:
        directory = os.path.dirname(source)
        if file == source or file.startswith(directory + "/"):
            return True
    return False
