"""Reads the items of a Rust file, knowing nothing of semdex or rust-analyzer: each signature as one line of tokens.

Functions and methods stand without their bodies, types in full, constants without their values, macros by name; what belongs to an impl,
a trait or an inline module has its header in front. Comments do not count. Test modules stand for themselves alone.
"""

import re

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
      | (?P<block>/\*)
      | (?P<raw>(?:b|c)?r(?P<hashes>\#*)"(?s:.*?)"(?P=hashes))
      | (?P<string>(?:b|c)?"(?:[^"\\]|\\(?s:.))*")
      | (?P<char>b?'(?:[^'\\]|\\(?:x[0-9a-fA-F]{2}|u\{[0-9a-fA-F_]+\}|.))')
      | (?P<lifetime>'\w+)
      | (?P<word>(?:r\#)?\w+)
      | (?P<other>.)""",
    re.X,
)
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
QUALIFIERS = {"default", "const", "async", "unsafe", "safe", "extern", "auto"}


class Unreadable(Exception):
    pass


def signatures(text):
    """(signatures, number of functions whose bodies hold code)."""
    reader = _Reader(_tokens(text.removeprefix("\ufeff")))
    if reader.tokens[:2] == ["#", "!"] and reader.tokens[2:3] != ["["]:
        raise Unreadable("begins with a shebang line")
    reader.items(len(reader.tokens), "")
    return reader.found, reader.filled


def _tokens(text):
    tokens, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match.lastgroup == "block" or match.group("block"):
            at = _after_comment(text, at)
            continue
        if not match.group("space"):
            tokens.append(match.group())
        at = match.end()
    return tokens


def _after_comment(text, at):
    depth = 0
    for mark in re.finditer(r"/\*|\*/", text[at:]):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return at + mark.end()
    raise Unreadable("a comment without an end")


class _Reader:
    def __init__(self, tokens):
        self.tokens, self.at, self.found, self.filled = tokens, 0, [], 0

    def items(self, end, container):
        while self.at < end:
            self._item(container)

    def _item(self, container):
        attributes = []
        while self._is("#"):
            self.at += 2 if self.tokens[self.at + 1 : self.at + 2] == ["!"] else 1
            attributes += self._group()
        if self.at >= len(self.tokens) or self.tokens[self.at] in CLOSE:
            return
        start = self.at
        kind = self._kind()
        begin = self._until("{;=" if kind in ("const", "static") else "{;" if kind != "use" else ";")
        header = " ".join(self.tokens[start:begin])
        closer = self.tokens[begin] if begin < len(self.tokens) else ";"
        self.at = begin
        # What an attribute says of conditions belongs to the item.
        test_only = re.search(r"\bcfg \( (?:all \( )?test\b", " ".join(attributes))
        if kind == "fn":
            self._keep(container, header)
            self.filled += closer == "{" and len(self._group()) > 2
            self.at += closer == ";"
        elif kind in ("trait", "impl", "mod", "extern") and closer == "{":
            self._keep(container, header)
            if test_only:
                self._group()
            else:
                close = self._matching(self.at)
                self.at += 1
                self.items(close, f"{container}{header} / ")
                self.at = close + 1
        elif kind in ("struct", "enum", "union"):
            body = self._group() if closer == "{" else []
            self._keep(container, " ".join([header, *body]))
            self.at += closer == ";"
        elif kind == "macro":
            # A macro by its name; of an invocation not what it is given.
            self._keep(container, " ".join(header.split()[:3] if header.startswith("macro_rules") else header.split(" (")[:1]))
            if closer == "{":
                self._group()
                self.at += self._is(";")
            else:
                self.at += 1
        else:
            self.at = self._until(";") + 1
            if kind != "use":
                self._keep(container, header)

    def _kind(self):
        at = self.at
        if self.tokens[at] == "pub":
            at += 1
            if self.tokens[at] == "(":
                at = self._matching(at) + 1
        while at + 1 < len(self.tokens) and self.tokens[at] in QUALIFIERS:
            following = self.tokens[at + 1]
            if self.tokens[at] == "const" and following not in ("fn", "unsafe", "async", "extern"):
                return "const"
            if self.tokens[at] == "extern":
                if following == "crate":
                    return "use"
                after = at + 1 + (self.tokens[at + 1].endswith(('"', "#")))
                if self.tokens[after] == "{":
                    return "extern"
                at = after
                continue
            at += 1
        word = self.tokens[at]
        if word == "union" and self.tokens[at + 1] in ("!", "::"):
            return "macro"
        if word in ("fn", "struct", "enum", "union", "trait", "impl", "mod", "use", "type", "static"):
            return word
        return "macro"

    def _until(self, stops):
        """The next token out of `stops` that no bracket hides."""
        at = self.at
        while at < len(self.tokens) and self.tokens[at] not in stops:
            if self.tokens[at] in OPEN:
                at = self._matching(at)
            elif self.tokens[at] in CLOSE:
                raise Unreadable(f"a stray {self.tokens[at]} after {' '.join(self.tokens[max(0, at - 12) : at])}")
            at += 1
        return at

    def _matching(self, at):
        awaited = []
        for here in range(at, len(self.tokens)):
            token = self.tokens[here]
            if token in OPEN:
                awaited.append(OPEN[token])
            elif token in CLOSE:
                if awaited.pop() != token:
                    raise Unreadable(f"brackets do not match near {' '.join(self.tokens[max(0, here - 12) : here])}")
                if not awaited:
                    return here
        raise Unreadable("a bracket without an end")

    def _group(self):
        """Passes a bracketed group and returns its tokens."""
        start, self.at = self.at, self._matching(self.at) + 1
        return self.tokens[start : self.at]

    def _is(self, token):
        return self.at < len(self.tokens) and self.tokens[self.at] == token

    def _keep(self, container, signature):
        self.found.append(container + signature)
