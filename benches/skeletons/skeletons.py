#!/usr/bin/env python3
"""The skeleton of every .rs and .go file: it parses again, and holds every signature of the file.

The judges are not semdex: rustfmt and a reader of Rust's items (rust_items.py), and Go's own parser. A file that does not parse itself is
counted and left out. Besides signatures (of functions, methods, types in full, traits, impls, constants without their values) it
tells how much smaller skeletons are, and how long they take.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import rust_items
import semdex_client as semdex

# Prints, for each file named, its declarations without bodies and values, as JSON; or why it does not parse.
GO_JUDGE = r"""
package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"strings"
)

type verdict struct {
	Error      string
	Signatures []string
	Filled     int
}

func main() {
	verdicts := map[string]verdict{}
	var files []string
	if err := json.NewDecoder(os.Stdin).Decode(&files); err != nil {
		panic(err)
	}
	for _, file := range files {
		verdicts[file] = judge(file)
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		panic(err)
	}
}

func judge(file string) verdict {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return verdict{Error: err.Error()}
	}
	found := verdict{Signatures: []string{"package " + parsed.Name.Name}}
	show := func(prefix string, node ast.Node) {
		var out bytes.Buffer
		if err := printer.Fprint(&out, set, node); err != nil {
			panic(err)
		}
		found.Signatures = append(found.Signatures, prefix+strings.Join(strings.Fields(out.String()), " "))
	}
	for _, declaration := range parsed.Decls {
		switch it := declaration.(type) {
		case *ast.FuncDecl:
			if it.Body != nil && len(it.Body.List) > 0 {
				found.Filled++
			}
			it.Body = nil
			show("", it)
		case *ast.GenDecl:
			for _, spec := range it.Specs {
				if values, ok := spec.(*ast.ValueSpec); ok {
					values.Values = nil
				}
				show(it.Tok.String()+" ", spec)
			}
		}
	}
	return found
}
"""


def judge_go(directory, files):
    program = directory / "judge.go"
    program.write_text(GO_JUDGE)
    done = subprocess.run(["go", "run", program.name], cwd=directory, input=json.dumps(files), capture_output=True, text=True)
    if done.returncode:
        raise semdex.Failed(f"the judge of Go: {done.stderr[-2000:]}")
    return {file: (it["Error"], it["Signatures"] or [], it["Filled"]) for file, it in json.loads(done.stdout).items()}


def judge_rust(texts, edition):
    """{file: (error, signatures, functions with code in them)}. rustfmt reads from its standard input, where it follows no `mod`."""
    verdicts = {}
    for file, text in texts.items():
        done = subprocess.run(["rustfmt", "--edition", edition(file), "--emit", "stdout"], input=text, capture_output=True, text=True)
        # What rustfmt cannot lay out is an "internal" error; what does not parse has a place.
        error = next(iter(re.findall(r"^error(?!\[internal\])[^\n]*\n\s*-->[^\n]*", done.stderr, re.M)), "")
        if error:
            verdicts[file] = (error, [], 0)
            continue
        try:
            signatures, filled = rust_items.signatures(text)
            verdicts[file] = ("", signatures, filled)
        except rust_items.Unreadable as unreadable:
            verdicts[file] = (f"{unreadable}", [], 0)
    return verdicts


def edition_of(root):
    """The edition of the package that a file is in, as its manifest says, or its workspace's."""

    def of(file):
        for parent in pathlib.PurePosixPath(file).parents:
            manifest = root / parent / "Cargo.toml"
            if manifest.exists() and (match := re.search(r'^edition\s*=\s*"(\d+)"', manifest.read_text(), re.M)):
                return match.group(1)
        return "2021"

    return of


def run(options, directory):
    failed = False
    for number, source in enumerate(options.workspaces):
        root = semdex.copy_workspace(source, directory / str(number))
        files = [it for suffix in (".rs", ".go") for it in semdex.source_files(root, suffix)]
        with semdex.Server(options.server_binary, [root], directory=directory / f"server-{number}") as server:
            # No waiting: what follows from the text alone is there immediately.
            skeletons, seconds, wrong = open_all(server, root, files)
        wrong += judge(root, directory / f"judge-{number}", files, skeletons)
        for line in wrong[:40]:
            print(line, file=sys.stderr)
        source_bytes = sum((root / it).stat().st_size for it in skeletons)
        skeleton_bytes = sum(len(it.encode()) for it in skeletons.values())
        print(f"{root.name}: {len(files)} files, {len(wrong)} wrong; {skeleton_bytes} bytes of {source_bytes} kept; open: {semdex.summary(seconds)}")
        failed = failed or bool(wrong)
    return 1 if failed else 0


def open_all(server, root, files):
    skeletons, seconds, wrong = {}, [], []
    workspace = server.workspace(root)
    for file in files:
        begin = time.monotonic()
        status, reply = server.client.send("POST", "/v1/open", body={"workspace": workspace, "file": file, "wait_ms": 0})
        seconds.append(time.monotonic() - begin)
        if status == 200:
            skeletons[file] = reply["skeleton"]
        else:
            wrong.append(f"{file}: {status} {str(reply)[:300]}")
    return skeletons, seconds, wrong


def judge(root, directory, files, skeletons):
    """What is wrong with the skeletons, in lines."""
    directory.mkdir()
    wrong, broken, filled, held = [], 0, 0, 0
    go = [it for it in files if it.endswith(".go") and it in skeletons]
    rust = [it for it in files if it.endswith(".rs") and it in skeletons]
    pairs = []
    if go:
        for file in go:
            (directory / file).parent.mkdir(parents=True, exist_ok=True)
            (directory / file).write_text(skeletons[file])
        sources, ours = [str(root / it) for it in go], [str(directory / it) for it in go]
        verdicts = judge_go(directory, sources + ours)
        pairs += [(file, verdicts[str(root / file)], verdicts[str(directory / file)]) for file in go]
    if rust:
        edition = edition_of(root)
        before = judge_rust({it: (root / it).read_text(errors="replace") for it in rust}, edition)
        after = judge_rust({it: skeletons[it] for it in rust}, edition)
        pairs += [(file, before[file], after[file]) for file in rust]
    for file, (error, wanted, _), (our_error, got, still) in pairs:
        if error:
            broken += 1
            continue
        filled += still
        if our_error:
            wrong.append(f"{file}: the skeleton does not parse: {our_error}")
            continue
        held += len(wanted)
        lost = collections.Counter(wanted) - collections.Counter(got)
        made = collections.Counter(got) - collections.Counter(wanted)
        wrong += [f"{file}: lost: {it[:300]}" for it in lost]
        wrong += [f"{file}: made up: {it[:300]}" for it in made]
    print(f"{len(pairs)} judged, {held} signatures compared, {broken} files do not parse themselves, {filled} functions kept code in their bodies")
    return wrong


if __name__ == "__main__":
    semdex.main(run, semdex.arguments(__doc__).parse_args())
