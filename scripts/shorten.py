#!/usr/bin/env python3
"""Prints a reply from standard input for a person to read: JSON laid out, long lists and texts cut with a mark that says by how much."""

import json
import sys

ITEMS, CHARACTERS, LINES, WIDTH = 3, 400, 40, 180


def shortened(value):
    if isinstance(value, dict):
        return {key: shortened(it) for key, it in value.items()}
    if isinstance(value, list):
        more = [f"… {len(value) - ITEMS} more"] if len(value) > ITEMS else []
        return [shortened(it) for it in value[:ITEMS]] + more
    if isinstance(value, str) and len(value) > CHARACTERS:
        return f"{value[:CHARACTERS]}… {len(value) - CHARACTERS} more characters"
    return value


def laid_out(value, indent=""):
    """As json.dumps, but what fits stands on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= WIDTH or not isinstance(value, (dict, list)):
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key)}: {laid_out(it, inner)}" for key, it in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + laid_out(it, inner) for it in value) + f"\n{indent}]"


text = sys.stdin.read()
try:
    print(laid_out(shortened(json.loads(text))))
except json.JSONDecodeError:
    lines = text.rstrip("\n").split("\n")
    print("\n".join(it if len(it) <= WIDTH else f"{it[:WIDTH]}… {len(it) - WIDTH} more characters" for it in lines[:LINES]))
    if len(lines) > LINES:
        print(f"… {len(lines) - LINES} more lines")
