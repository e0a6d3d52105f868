#!/usr/bin/env python3
"""Makes a workspace of half a million lines of Rust out of what Cargo has downloaded to build semdex: the crates of rust-analyzer, as the
members of one Cargo workspace, each in place of the published one.

    benches/explorer/big_workspace.py DIRECTORY && make bench WORKSPACES=DIRECTORY
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

PREFIX = "ra_ap_"


def sources():
    """Each crate, of the newest version of which all are there."""
    home = pathlib.Path(os.environ.get("CARGO_HOME") or pathlib.Path.home() / ".cargo")
    found = {}
    for path in sorted(home.glob(f"registry/src/*/{PREFIX}*-0.0.*")):
        name, _, version = path.name.rpartition("-")
        found.setdefault(tuple(int(it) for it in version.split(".")), {})[name] = path
    if not found:
        sys.exit(f"no crates {PREFIX}* in {home}: build semdex first")
    return found[max(found, key=lambda version: (len(found[version]), version))]


def manifest(text):
    """Without what only the crate's own tests and benches need: Cargo would look for that too."""
    parts = re.split(r"(?m)^(?=\[)", text)
    dropped = re.compile(r"\[\[?(dev-dependencies|test|bench|example|target\..*\.dev-dependencies|lints)\b")
    return "".join(it for it in parts if not dropped.match(it))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    options = parser.parse_args()
    root = options.directory
    crates = sources()
    lines = 0
    for name, source in crates.items():
        target = root / "crates" / name
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(".cargo*", "Cargo.lock", "Cargo.toml.orig"))
        (target / "Cargo.toml").write_text(manifest((source / "Cargo.toml").read_text()))
        lines += sum(it.read_bytes().count(b"\n") for it in target.rglob("*.rs"))
    patches = "".join(f'{name} = {{ path = "crates/{name}" }}\n' for name in crates)
    (root / "Cargo.toml").write_text(f'[workspace]\nresolver = "2"\nmembers = ["crates/*"]\n\n[patch.crates-io]\n{patches}')
    shutil.copy(pathlib.Path(__file__).resolve().parents[2] / "Cargo.lock", root / "Cargo.lock")
    subprocess.run(["cargo", "metadata", "--format-version", "1"], cwd=root, check=True, stdout=subprocess.DEVNULL)
    print(f"{root}: {len(crates)} crates, {lines} lines of Rust")


if __name__ == "__main__":
    main()
