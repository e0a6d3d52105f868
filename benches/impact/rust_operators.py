"""Edits of Rust: those that break what uses the edited, and those that break nothing. Each takes a text, a symbol out of semdex's tree
of the file and a random source, and answers with the new text, or None where it does not fit."""

import re

import lexing
from lexing import put

FUNCTIONS = ("function", "method")
TYPES = ("struct", "enum", "trait", "union", "type")


def encoded(function):
    """Offsets are of bytes; operators work on texts that are ASCII, or not at all."""
    return lambda text, symbol, rng: function(text, symbol, rng) if text.isascii() else None


class Function:
    """The parts of a function's declaration."""

    def __init__(self, text, symbol):
        self.ok = False
        at = symbol["name_at"]["end"]
        if text[at : at + 1] == "<":
            end = lexing.closing_angle(text, at)
            if end is None:
                return
            self.generics = (at, end + 1)
            at = end + 1
        else:
            self.generics = None
        if text[at : at + 1] != "(":
            return
        close = lexing.closing(text, at)
        if close is None:
            return
        self.params_at = (at + 1, close)
        self.params = lexing.split(text, at + 1, close)
        self.receiver = bool(self.params) and re.match(r"\s*(&\s*('\w+\s+)?)?(mut\s+)?self\b", text[self.params[0][0] : self.params[0][1]]) is not None
        end = close + 1
        while end < symbol["end"] and text[end] not in "{;":
            after = lexing.skip(text, end)
            end = after if after != end else end + 1
        head = text[close + 1 : end]
        arrow = re.match(r"\s*->\s*", head)
        self.result = None
        if arrow:
            where = re.search(r"\bwhere\b", head)
            stop = where.start() if where else len(head)
            self.result = (close + 1 + arrow.end(), close + 1 + len(head[:stop].rstrip()))
        self.after_params = close + 1
        self.body = None
        if end < len(text) and text[end] == "{":
            body_end = lexing.closing(text, end)
            if body_end is None:
                return
            self.body = (end, body_end + 1)
        self.keyword = text.rfind("fn", symbol["start"], symbol["name_at"]["start"])
        self.ok = self.keyword >= 0

    @property
    def named(self):
        return self.params[1:] if self.receiver else self.params


def function(text, symbol, body=False):
    if symbol["kind"] not in FUNCTIONS or symbol["test"]:
        return None
    found = Function(text, symbol)
    if not found.ok or (body and not found.body) or symbol["name"] == "main":
        return None
    return found


def own(symbol):
    """Not the implementation of a trait's member."""
    return not symbol["path"].startswith("<") and " as " not in symbol["path"]


def rename(text, symbol, _):
    name = symbol["name_at"]
    return put(text, name["start"], name["end"], symbol["name"] + "_renamed")


def rename_function(text, symbol, rng):
    return rename(text, symbol, rng) if function(text, symbol) and own(symbol) else None


def rename_type(text, symbol, _):
    name = symbol["name_at"]
    return put(text, name["start"], name["end"], symbol["name"] + "Renamed") if symbol["kind"] in TYPES and own(symbol) else None


def rename_constant(text, symbol, _):
    name = symbol["name_at"]
    return put(text, name["start"], name["end"], symbol["name"] + "_RENAMED") if symbol["kind"] in ("const", "static") and own(symbol) else None


def rename_field(text, symbol, rng):
    return rename(text, symbol, rng) if symbol["kind"] == "field" and not symbol["name"].isdigit() else None


def rename_variant(text, symbol, _):
    name = symbol["name_at"]
    return put(text, name["start"], name["end"], symbol["name"] + "Renamed") if symbol["kind"] == "variant" else None


def delete_function(text, symbol, _):
    return put(text, symbol["start"], symbol["end"], "") if function(text, symbol) else None


def delete_type(text, symbol, _):
    return put(text, symbol["start"], symbol["end"], "") if symbol["kind"] in TYPES and own(symbol) else None


def add_parameter(text, symbol, _):
    it = function(text, symbol)
    if not it or not own(symbol):
        return None
    end = it.params[-1][1] if it.params else it.params_at[0]
    return put(text, end, end, ", extra: u8" if it.params else "extra: u8")


def drop_parameter(text, symbol, _):
    it = function(text, symbol)
    if not it or not it.named or not own(symbol):
        return None
    start, end = it.named[-1]
    if it.params.index((start, end)) > 0:
        start -= 1
    return put(text, start, end, "")


def swap_parameters(text, symbol, _):
    it = function(text, symbol)
    if not it or len(it.named) < 2 or not own(symbol):
        return None
    (a, b), (c, d) = it.named[:2]
    if text[a:b].partition(":")[2].strip() == text[c:d].partition(":")[2].strip():
        return None
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def retype_parameter(text, symbol, rng):
    it = function(text, symbol)
    if not it or not it.named or not own(symbol):
        return None
    start, end = rng.choice(it.named)
    name, colon, ty = text[start:end].partition(":")
    return put(text, start, end, f"{name}: Option<{ty.strip()}>") if colon and "impl " not in ty else None


def change_result(text, symbol, _):
    it = function(text, symbol)
    if not it or not own(symbol):
        return None
    if it.result:
        start, end = it.result
        return put(text, start, end, f"Option<{text[start:end]}>") if "impl " not in text[start:end] else None
    return put(text, it.after_params, it.after_params, " -> u8")


def narrow(text, symbol, _):
    head = text[symbol["start"] : symbol["name_at"]["start"]]
    found = list(re.finditer(r"\bpub(\([^)]*\))?\s+", head))
    if not found or symbol["kind"] == "module":
        return None
    it = found[-1]
    return put(text, symbol["start"] + it.start(), symbol["start"] + it.end(), "")


def retype_field(text, symbol, _):
    if symbol["kind"] != "field" or symbol["name"].isdigit():
        return None
    colon = text.find(":", symbol["name_at"]["end"])
    if not 0 <= colon < symbol["end"]:
        return None
    ty = text[colon + 1 : symbol["end"]].strip().rstrip(",")
    return put(text, colon + 1, symbol["end"], f" Option<{ty}>" + ("," if text[symbol["end"] - 1] == "," else ""))


def remove_field(text, symbol, _):
    if symbol["kind"] != "field" or symbol["name"].isdigit():
        return None
    end = symbol["end"]
    if text[end : end + 1] == ",":
        end += 1
    return put(text, symbol["start"], end, "")


def _inside(text, symbol):
    at = text.find("{", symbol["name_at"]["end"])
    return at if 0 <= at < symbol["end"] else None


def add_field(text, symbol, _):
    at = _inside(text, symbol) if symbol["kind"] == "struct" else None
    return put(text, at + 1, at + 1, " extra: u8, ") if at else None


def add_variant(text, symbol, _):
    at = _inside(text, symbol) if symbol["kind"] == "enum" else None
    return put(text, at + 1, at + 1, " Extra, ") if at else None


def remove_variant(text, symbol, _):
    if symbol["kind"] != "variant":
        return None
    end = symbol["end"]
    if text[end : end + 1] == ",":
        end += 1
    return put(text, symbol["start"], end, "")


def add_required_method(text, symbol, _):
    at = _inside(text, symbol) if symbol["kind"] == "trait" else None
    return put(text, at + 1, at + 1, " fn extra(&self) -> u8; ") if at else None


def change_trait_method(text, symbol, rng):
    """Adds a parameter to a trait's method: its implementations and its callers break."""
    it = function(text, symbol)
    if not it or not it.receiver or not symbol.get("in_trait"):
        return None
    end = it.params[-1][1]
    return put(text, end, end, ", extra: u8")


def retype_trait_method(text, symbol, _):
    it = function(text, symbol)
    if not it or not it.receiver or not symbol.get("in_trait") or it.body:
        return None
    if it.result:
        start, end = it.result
        return put(text, start, end, f"Option<{text[start:end]}>")
    return put(text, it.after_params, it.after_params, " -> u8")


def drop_derive(text, symbol, rng):
    if symbol["kind"] not in ("struct", "enum"):
        return None
    head = text[symbol["start"] : symbol["name_at"]["start"]]
    found = re.search(r"#\[derive\(([^)]*)\)\]", head)
    names = [it.strip() for it in found.group(1).split(",") if it.strip()] if found else []
    if not names:
        return None
    gone = rng.choice(names)
    rest = ", ".join(it for it in names if it != gone)
    start = symbol["start"] + found.start()
    return put(text, start, symbol["start"] + found.end(), f"#[derive({rest})]")


def make_async(text, symbol, _):
    it = function(text, symbol, body=True)
    if not it or not own(symbol) or re.search(r"\b(const|async|extern)\b", text[symbol["start"] : it.keyword].split("\n")[-1]):
        return None
    return put(text, it.keyword, it.keyword, "async ")


def const_to_function(text, symbol, _):
    if symbol["kind"] != "const" or not own(symbol):
        return None
    found = re.match(r"(.*?)\bconst(\s+\w+)\s*:\s*(.*?)\s*=\s*(.*);\s*$", text[symbol["start"] : symbol["end"]], re.S)
    if not found:
        return None
    head, name, ty, value = found.groups()
    ty = re.sub(r"&(?!')", "&'static ", ty)
    return put(text, symbol["start"], symbol["end"], f"{head}fn{name}() -> {ty} {{ {value} }}")


def retype_constant(text, symbol, _):
    if symbol["kind"] not in ("const", "static"):
        return None
    found = re.search(r":\s*(u8|u16|u32|u64|usize|i32|i64|bool)\s*=", text[symbol["start"] : symbol["end"]])
    if not found:
        return None
    start = symbol["start"] + found.start(1)
    new = {"usize": "u16", "bool": "u8"}.get(found.group(1), "i16")
    return put(text, start, symbol["start"] + found.end(1), new)


def narrow_bound(text, symbol, _):
    it = function(text, symbol)
    if not it or not it.generics or not own(symbol):
        return None
    start, end = it.generics
    found = re.search(r"\b([A-Z]\w*)\s*:\s*(?!')", text[start:end])
    if not found:
        return None
    at = start + found.end()
    return put(text, at, at, "std::ops::Neg + ")


def bound_type(text, symbol, rng):
    """A bound that a parameter of a type or a trait has not had."""
    start = symbol["name_at"]["end"]
    if symbol["kind"] not in ("struct", "enum", "union", "trait") or text[start : start + 1] != "<":
        return None
    end = lexing.closing_angle(text, start)
    parameters = [it for it in lexing.split(text, start + 1, end)] if end else []
    found = [(a, re.fullmatch(r"\s*([A-Z]\w*)\s*(:?)(.*)", text[a:b], re.S)) for a, b in parameters]
    found = [(a, it) for a, it in found if it and "=" not in it.group(0)]
    if not found:
        return None
    at, it = rng.choice(found)
    bound = rng.choice(["Copy", "std::fmt::Display", "Default"])
    if it.group(2):
        return put(text, at + it.end(2), at + it.end(2), f" {bound} +")
    return put(text, at + it.end(1), at + it.end(1), f": {bound}")


def add_supertrait(text, symbol, rng):
    at = _inside(text, symbol) if symbol["kind"] == "trait" else None
    start = symbol["name_at"]["end"]
    if text[start : start + 1] == "<":
        start = lexing.closing_angle(text, start) or start
    head = text[start:at] if at else "where"
    if re.search(r"\bwhere\b", head):
        return None
    bound = rng.choice(["Copy", "std::fmt::Display", "Default"])
    return put(text, at, at, f"+ {bound} " if ":" in head.replace("::", "") else f": {bound} ")


def rename_module(text, symbol, rng):
    inline = symbol["kind"] == "module" and re.match(r"\s*\{", text[symbol["name_at"]["end"] :]) and not symbol["test"]
    return rename(text, symbol, rng) if inline and symbol["name"] != "tests" else None


def drop_receiver(text, symbol, _):
    it = function(text, symbol)
    if not it or not it.receiver or not own(symbol):
        return None
    start, end = it.params[0]
    if text[end : end + 1] == ",":
        end += 1
    return put(text, start, end, "")


def move_item(text, symbol, _):
    if symbol["kind"] not in ("function", "struct", "enum", "const") or not own(symbol) or symbol["depth"]:
        return None
    item = text[symbol["start"] : symbol["end"]]
    return put(text, symbol["start"], symbol["end"], f"pub mod moved_here {{ #[allow(unused_imports)] use super::*; {item} }}")


def remove_import(text, symbol, rng):
    # With its attributes, which would go over to the next item.
    uses = list(re.finditer(r"^(#\[.*\]\n)*use [\w:]+(::\{[^}]*\})?;\n", text, re.M))
    if not uses:
        return None
    it = rng.choice(uses)
    return put(text, it.start(), it.end(), "\n" * it.group(0).count("\n"))


BREAKING = {
    it.__name__: encoded(it)
    for it in (
        rename_function, rename_type, rename_constant, rename_field, rename_variant, delete_function, delete_type, add_parameter, drop_parameter,
        swap_parameters, retype_parameter, change_result, narrow, retype_field, remove_field, add_field, add_variant, remove_variant,
        add_required_method, change_trait_method, retype_trait_method, drop_derive, make_async, const_to_function, retype_constant,
        narrow_bound, bound_type, add_supertrait, rename_module, drop_receiver, move_item, remove_import,
    )
}  # fmt: skip


# Harmless ------------------------------------------------------------------------------------------------------------


def _before(text, symbol, new):
    line = text.rfind("\n", 0, symbol["start"]) + 1
    indent = text[line : symbol["start"]]
    if indent.strip():
        return None
    return put(text, line, line, "".join(f"{indent}{it}\n" if it else "\n" for it in new))


def comment(text, symbol, _):
    return _before(text, symbol, ["// A remark."]) if symbol["kind"] in FUNCTIONS + TYPES else None


def document(text, symbol, _):
    return _before(text, symbol, ["/// A remark."]) if symbol["kind"] in FUNCTIONS + TYPES else None


def blank_lines(text, symbol, _):
    return _before(text, symbol, ["", ""]) if symbol["kind"] in FUNCTIONS else None


def _body(text, symbol):
    it = function(text, symbol, body=True)
    return it.body if it else None


def statement(text, symbol, _):
    body = _body(text, symbol)
    return put(text, body[0] + 1, body[0] + 1, " let _ = 0_u8; ") if body else None


def comment_in_body(text, symbol, _):
    body = _body(text, symbol)
    return put(text, body[0] + 1, body[0] + 1, "\n        // A remark.\n") if body else None


def braces(text, symbol, _):
    body = _body(text, symbol)
    return text[: body[0]] + "{" + text[body[0] : body[1]] + "}" + text[body[1] :] if body else None


def inline(text, symbol, _):
    return _before(text, symbol, ["#[inline]"]) if _body(text, symbol) and "#[" not in text[symbol["start"] : symbol["name_at"]["start"]] else None


def allow(text, symbol, _):
    return _before(text, symbol, ["#[allow(dead_code)]"]) if symbol["kind"] in FUNCTIONS + ("struct", "enum") else None


def private_function(text, symbol, _):
    return text + "\n#[allow(dead_code)]\nfn added_for_nothing() {}\n"


def public_function(text, symbol, _):
    return text + "\n/// Added.\npub fn added_for_all() -> u8 {\n    0\n}\n"


def structure(text, symbol, _):
    return text + "\n/// Added.\n#[derive(Clone, Debug)]\npub struct AddedForAll {\n    _field: u8,\n}\n"


def constant(text, symbol, _):
    return text + "\n/// Added.\npub const ADDED_FOR_ALL: usize = 3;\n"


def alias(text, symbol, _):
    return text + "\n/// Added.\npub type AddedForAll = u8;\n"


def test(text, symbol, _):
    return text + "\n#[cfg(test)]\nmod added_tests {\n    #[test]\n    fn added() {\n        assert_eq!(1, 1);\n    }\n}\n"


def implementation(text, symbol, _):
    if symbol["kind"] not in ("struct", "enum") or symbol["depth"] or "<" in symbol["signature"]:
        return None
    return text + f"\nimpl {symbol['name']} {{\n    /// Added.\n    pub fn added_for_all() -> u8 {{\n        0\n    }}\n}}\n"


def default_method(text, symbol, _):
    at = _inside(text, symbol) if symbol["kind"] == "trait" else None
    return put(text, at + 1, at + 1, " /// Added.\n fn added_for_all(&self) -> u8 { 0 } ") if at else None


def widen(text, symbol, _):
    head = text[symbol["start"] : symbol["name_at"]["start"]]
    found = re.search(r"\bpub\((crate|super)\)", head)
    return put(text, symbol["start"] + found.start(), symbol["start"] + found.end(), "pub") if found else None


def literal(text, symbol, rng):
    body = _body(text, symbol)
    if not body:
        return None
    found = list(re.finditer(r'(?<![\w#"\\])"([a-z ]{3,})"', text[body[0] : body[1]]))
    if not found:
        return None
    at = body[0] + rng.choice(found).end(1)
    return put(text, at, at, "x")


def swap_items(text, symbol, _):
    after = symbol.get("next")
    if not after or symbol["kind"] not in FUNCTIONS or after["kind"] not in FUNCTIONS:
        return None
    a, b, c, d = symbol["start"], symbol["end"], after["start"], after["end"]
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:] if b <= c else None


def unused_import(text, symbol, _):
    found = re.search(r"^use ", text, re.M)
    return put(text, found.start(), found.start(), "#[allow(unused_imports)]\nuse std::fmt as added_fmt;\n") if found else None


def must_use(text, symbol, _):
    it = function(text, symbol, body=True)
    return _before(text, symbol, ["#[cold]"]) if it and "#[" not in text[symbol["start"] : symbol["name_at"]["start"]] else None


HARMLESS = {
    it.__name__: encoded(it)
    for it in (
        comment, document, blank_lines, statement, comment_in_body, braces, inline, allow, private_function, public_function, structure, constant,
        alias, test, implementation, default_method, widen, literal, swap_items, unused_import, must_use,
    )
}  # fmt: skip
