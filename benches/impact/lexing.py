"""As much of a lexer of Rust and Go as mutations need: brackets are found past strings, characters and comments."""

import re

OPEN, CLOSE = "([{", ")]}"
CHARACTER = re.compile(r"'(\\[^\n]+?|[^\\'\n])'")
RAW = re.compile(r'b?c?r(#*)"')


def skip(text, at):
    """Past the string, character or comment that begins there; `at` itself where none does."""
    here = text[at]
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if text.startswith("/*", at):
        depth, at = 1, at + 2
        while at < len(text) and depth:
            if text.startswith("/*", at):
                depth, at = depth + 1, at + 2
            elif text.startswith("*/", at):
                depth, at = depth - 1, at + 2
            else:
                at += 1
        return at
    raw = RAW.match(text, at) if here in "bcr" and not (at and (text[at - 1].isalnum() or text[at - 1] == "_")) else None
    if raw:
        end = text.find('"' + raw.group(1), raw.end())
        return len(text) if end < 0 else end + 1 + len(raw.group(1))
    if here == "`":
        end = text.find("`", at + 1)
        return len(text) if end < 0 else end + 1
    if here == '"':
        at += 1
        while at < len(text) and text[at] != '"':
            at += 2 if text[at] == "\\" else 1
        return at + 1
    if here == "'":
        character = CHARACTER.match(text, at)
        return character.end() if character else at
    return at


def closing(text, at):
    """Where the bracket that opens at `at` closes (the offset of the closing one); None where it does not."""
    depth = 0
    while at < len(text):
        after = skip(text, at)
        if after != at:
            at = after
            continue
        if text[at] in OPEN:
            depth += 1
        elif text[at] in CLOSE:
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return None


def closing_angle(text, at):
    depth = 0
    while at < len(text):
        if text[at] == "<":
            depth += 1
        elif text[at] == ">" and text[at - 1] not in "-=":
            depth -= 1
            if depth == 0:
                return at
        elif text[at] in "([{":
            inner = closing(text, at)
            if inner is None:
                return None
            at = inner
        at += 1
    return None


def split(text, start, end):
    """The stretches between the top-level commas of a stretch."""
    parts, at, begin, angles = [], start, start, 0
    while at < end:
        after = skip(text, at)
        if after != at:
            at = after
            continue
        if text[at] in OPEN:
            at = closing(text, at) or end
        elif text[at] == "<":
            angles += 1
        elif text[at] == ">" and text[at - 1] not in "-=":
            angles -= 1
        elif text[at] == "," and angles <= 0:
            parts.append((begin, at))
            begin = at + 1
        at += 1
    parts.append((begin, end))
    return [(a, b) for a, b in parts if text[a:b].strip()]


def statement(lines, first, last):
    """The lines (from 1) of the statement that these lines are part of."""

    def ends(line):
        stripped = line.split("//")[0].rstrip()
        return not stripped or stripped[-1] in ";{}"

    while first > 1 and not ends(lines[first - 2]):
        first -= 1
    while last < len(lines) and not ends(lines[last - 1]):
        last += 1
    return first, last


def put(text, start, end, new):
    """The text with something else in place of a stretch."""
    return text[:start] + new + text[end:]
