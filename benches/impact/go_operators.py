"""Edits of Go: those that break what uses the edited, and those that break nothing. As `rust_operators.py`."""

import re

import lexing
from lexing import put

TYPES = ("struct", "interface", "type")
FUNCTIONS = ("function", "method")


def ascii_only(function):
    return lambda text, symbol, rng: function(text, symbol, rng) if text.isascii() and not symbol["file"].endswith("_test.go") else None


class Function:
    def __init__(self, text, symbol):
        self.ok = False
        at = symbol["name_at"]["end"]
        if text[at : at + 1] == "[":
            at = (lexing.closing(text, at) or at) + 1
        if text[at : at + 1] != "(":
            return
        close = lexing.closing(text, at)
        if close is None:
            return
        self.params_at = (at + 1, close)
        self.params = lexing.split(text, at + 1, close)
        at = close + 1
        while at < symbol["end"] and text[at] in " \t":
            at += 1
        self.result = None
        begin = at
        while at < symbol["end"] and text[at] not in "{\n":
            if text[at] in "([":
                at = lexing.closing(text, at) or at
            elif re.match(r"(interface|struct)\s*\{", text[at:]):
                at = lexing.closing(text, text.find("{", at)) or at
            at += 1
        if text[begin:at].strip():
            self.result = (begin, begin + len(text[begin:at].rstrip()))
        self.after_params = close + 1
        self.body = None
        if at < len(text) and text[at] == "{":
            end = lexing.closing(text, at)
            if end is not None:
                self.body = (at, end + 1)
        self.keyword = text.rfind("func", symbol["start"], symbol["name_at"]["start"])
        receiver = re.match(r"func\s*\((\s*\w+)?\s*(\*?)(\w+)", text[self.keyword :]) if self.keyword >= 0 else None
        self.receiver = receiver
        self.ok = self.keyword >= 0 and symbol["name"] not in ("main", "init", "_")


def function(text, symbol):
    if symbol["kind"] not in FUNCTIONS:
        return None
    found = Function(text, symbol)
    return found if found.ok and found.body else None


def declared(symbol):
    return symbol["name"] not in ("_", "main", "init") and not symbol.get("embedded")


def _rename(text, symbol, new):
    at = symbol["name_at"]
    return put(text, at["start"], at["end"], new) if text[at["start"] : at["end"]] == symbol["name"] else None


def rename_function(text, symbol, _):
    return _rename(text, symbol, symbol["name"] + "Renamed") if function(text, symbol) else None


def rename_type(text, symbol, _):
    return _rename(text, symbol, symbol["name"] + "Renamed") if symbol["kind"] in TYPES and declared(symbol) else None


def rename_value(text, symbol, _):
    return _rename(text, symbol, symbol["name"] + "Renamed") if symbol["kind"] in ("const", "variable") and declared(symbol) else None


def rename_field(text, symbol, _):
    return _rename(text, symbol, symbol["name"] + "Renamed") if symbol["kind"] == "field" and symbol["depth"] else None


def unexport(text, symbol, _):
    name = symbol["name"]
    return _rename(text, symbol, name[0].lower() + name[1:] + "0") if name[:1].isupper() and symbol["kind"] != "package" else None


def delete_function(text, symbol, _):
    return put(text, symbol["start"], symbol["end"], "") if function(text, symbol) else None


def delete_type(text, symbol, _):
    item = text[symbol["start"] : symbol["end"]]
    return put(text, symbol["start"], symbol["end"], "") if symbol["kind"] in TYPES and re.search(r"^type ", item, re.M) else None


def add_parameter(text, symbol, _):
    it = function(text, symbol)
    if not it:
        return None
    if not it.params:
        return put(text, *it.params_at, "extra uint8")
    last = text[it.params[-1][0] : it.params[-1][1]]
    if "..." in last or len(last.split()) < 2:
        return None
    return put(text, it.params[0][0], it.params[0][0], "extra uint8, ")


def drop_parameter(text, symbol, _):
    it = function(text, symbol)
    if not it or not it.params:
        return None
    start, end = it.params[-1]
    if len(text[start:end].split()) < 2:
        return None
    if len(it.params) > 1:
        if len(text[it.params[-2][0] : it.params[-2][1]].split()) < 2:
            return None
        start -= 1
    return put(text, start, end, "")


def retype_parameter(text, symbol, rng):
    it = function(text, symbol)
    if not it or not it.params:
        return None
    start, end = rng.choice(it.params)
    found = re.match(r"(\s*\w+\s+)([^.].*)$", text[start:end], re.S)
    return put(text, start, end, f"{found.group(1)}[]{found.group(2)}") if found else None


def swap_parameters(text, symbol, _):
    it = function(text, symbol)
    if not it or len(it.params) < 2:
        return None
    (a, b), (c, d) = it.params[:2]
    one, two = text[a:b].split(None, 1), text[c:d].split(None, 1)
    if len(one) < 2 or len(two) < 2 or one[1].strip() == two[1].strip() or "..." in two[1]:
        return None
    return text[:a] + text[c:d].strip() + text[b:c] + " " + text[a:b].strip() + text[d:]


def add_result(text, symbol, _):
    it = function(text, symbol)
    if not it:
        return None
    if not it.result:
        return put(text, it.after_params, it.after_params, " uint8")
    start, end = it.result
    old = text[start:end]
    if old.startswith("("):
        return put(text, end - 1, end - 1, ", extra uint8" if len(lexing.split(text, start + 1, end - 1)[0:1]) and " " in text[start + 1 : end - 1].split(",")[-1].strip() else ", uint8")
    return put(text, start, end, f"({old}, uint8)")


def drop_result(text, symbol, _):
    it = function(text, symbol)
    return put(text, it.result[0], it.result[1], "") if it and it.result else None


def retype_result(text, symbol, _):
    it = function(text, symbol)
    if not it or not it.result or text[it.result[0]] == "(":
        return None
    return put(text, it.result[0], it.result[0], "[]")


def retype_field(text, symbol, _):
    if symbol["kind"] != "field" or not symbol["depth"]:
        return None
    at = symbol["name_at"]["end"]
    found = re.match(r"[ \t]+(?=[\w*\[\]])", text[at:])
    return put(text, at + found.end(), at + found.end(), "[]") if found else None


def remove_field(text, symbol, _):
    return put(text, symbol["start"], symbol["end"], "") if symbol["kind"] == "field" and symbol["depth"] else None


def add_interface_method(text, symbol, _):
    if symbol["kind"] != "interface" or symbol["depth"]:
        return None
    at = text.find("{", symbol["name_at"]["end"])
    return put(text, at + 1, at + 1, "\n\tAddedForAll() uint8\n") if 0 <= at < symbol["end"] else None


def change_interface_method(text, symbol, _):
    if symbol["kind"] != "method" or not symbol.get("in_trait"):
        return None
    at = symbol["name_at"]["end"]
    return put(text, at + 1, at + 1, "extra uint8" if text[at + 1] == ")" else "uint8, ") if text[at : at + 1] == "(" and not re.match(r"\(\s*\w+\s+[\w*.\[]", text[at:]) else None


def drop_embedded(text, symbol, _):
    if symbol["kind"] != "struct":
        return None
    body = text[symbol["start"] : symbol["end"]]
    found = re.search(r"\n\t\*?(\w+\.)?[A-Z]\w*\n", body)
    return put(text, symbol["start"] + found.start(), symbol["start"] + found.end(), "\n\n") if found else None


def pointer_receiver(text, symbol, _):
    it = function(text, symbol)
    if not it or not it.receiver or symbol["kind"] != "method":
        return None
    at = it.keyword + it.receiver.start(2)
    return put(text, at, at + len(it.receiver.group(2)), "" if it.receiver.group(2) else "*")


def retype_value(text, symbol, _):
    item = text[symbol["start"] : symbol["end"]]
    found = re.search(r'=\s*("[^"\\]*")', item) if symbol["kind"] in ("const", "variable") else None
    return put(text, symbol["start"] + found.start(1), symbol["start"] + found.end(1), "7") if found else None


def remove_import(text, symbol, rng):
    found = list(re.finditer(r'^\t"[\w./]+"\n', text, re.M))
    if not found:
        return None
    it = rng.choice(found)
    return put(text, it.start(), it.end(), "\n")


BREAKING = {
    it.__name__: ascii_only(it)
    for it in (
        rename_function, rename_type, rename_value, rename_field, unexport, delete_function, delete_type, add_parameter, drop_parameter,
        retype_parameter, swap_parameters, add_result, drop_result, retype_result, retype_field, remove_field, add_interface_method,
        change_interface_method, drop_embedded, pointer_receiver, retype_value, remove_import,
    )
}  # fmt: skip


# Harmless ------------------------------------------------------------------------------------------------------------


def _before(text, symbol, new):
    line = text.rfind("\n", 0, symbol["start"]) + 1
    if text[line : symbol["start"]].strip() or symbol["depth"]:
        return None
    return put(text, line, line, new)


def comment(text, symbol, _):
    return _before(text, symbol, "// A remark.\n\n")


def document(text, symbol, _):
    return _before(text, symbol, "// A remark.\n") if function(text, symbol) else None


def blank_lines(text, symbol, _):
    return _before(text, symbol, "\n\n")


def _into(text, symbol, new):
    it = function(text, symbol)
    return put(text, it.body[0] + 1, it.body[0] + 1, new) if it else None


def statement(text, symbol, _):
    return _into(text, symbol, "\n\t_ = 0\n")


def comment_in_body(text, symbol, _):
    return _into(text, symbol, "\n\t// A remark.\n")


def local(text, symbol, _):
    return _into(text, symbol, "\n\taddedHere := 1\n\t_ = addedHere\n")


def block(text, symbol, _):
    return _into(text, symbol, "\n\t{\n\t}\n")


def deferred(text, symbol, _):
    return _into(text, symbol, "\n\tdefer func() {}()\n")


def private_function(text, symbol, _):
    return text + "\nfunc addedForNothing() {}\n"


def public_function(text, symbol, _):
    return text + "\n// AddedForAll is added.\nfunc AddedForAll() int {\n\treturn 0\n}\n"


def structure(text, symbol, _):
    return text + "\n// AddedForAll is added.\ntype AddedForAll struct {\n\tField int\n}\n"


def interface(text, symbol, _):
    return text + "\n// AddedForAll is added.\ntype AddedForAll interface {\n\tAdded() int\n}\n"


def constant(text, symbol, _):
    return text + "\nconst addedForAll = 3\n"


def variable(text, symbol, _):
    return text + '\nvar addedForAll = "added"\n'


def alias(text, symbol, _):
    return text + "\ntype addedForAll = int\n"


def method(text, symbol, _):
    if symbol["kind"] != "struct" or symbol["depth"] or "[" in symbol["signature"].split("struct")[0]:
        return None
    return text + f"\nfunc (it *{symbol['name']}) addedForAll() int {{\n\treturn 0\n}}\n"


def literal(text, symbol, rng):
    it = function(text, symbol)
    found = list(re.finditer(r'(?<!\\)"([a-z ]{3,})"', text[it.body[0] : it.body[1]])) if it else []
    if not found:
        return None
    at = it.body[0] + rng.choice(found).end(1)
    return put(text, at, at, "x")


def swap_items(text, symbol, _):
    after = symbol.get("next")
    if not after or symbol["depth"] or symbol["kind"] not in FUNCTIONS or after["kind"] not in FUNCTIONS:
        return None
    a, b, c, d = symbol["start"], symbol["end"], after["start"], after["end"]
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:] if b <= c else None


def blank_import(text, symbol, _):
    found = re.search(r"^import \(\n", text, re.M)
    return put(text, found.end(), found.end(), '\t_ "errors"\n') if found and '"errors"' not in text else None


def initialiser(text, symbol, _):
    return text + "\nfunc init() {}\n"


HARMLESS = {
    it.__name__: ascii_only(it)
    for it in (
        comment, document, blank_lines, statement, comment_in_body, local, block, deferred, private_function, public_function, structure, interface,
        constant, variable, alias, method, literal, swap_items, blank_import, initialiser,
    )
}  # fmt: skip
