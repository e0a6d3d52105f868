#!/usr/bin/env python3
"""What is healthy has no errors, and what is broken has some.

Workspaces that the compiler takes are opened --starts times. Each time the diagnostics of all files, of the workspace and after edits that
are taken back are asked in another order, before the index is there and once it is: no reply may hold an error. Then a small crate is
broken in each of the ways below, one at a time: the file that is broken must have an error each time, and none once it is as it was.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

LIB = """use std::collections::HashMap;

pub mod shapes;

use shapes::{Area, Kind, Square};

#[derive(Clone, Debug, Default)]
pub struct Conf {
    pub name: String,
    pub size: u32,
}

pub fn total(items: &[Square]) -> u32 {
    items.iter().map(|it| it.area()).sum()
}

pub fn named(it: &Conf) -> Option<HashMap<String, u32>> {
    let mut found = HashMap::new();
    found.insert(it.name.clone(), it.size);
    Some(found)
}

pub fn kind(it: Kind) -> u8 {
    match it {
        Kind::Small => 1,
        Kind::Large(by) => by,
    }
}

pub fn made() -> Conf {
    Conf { name: String::new(), size: 1 }
}
"""

SHAPES = """pub trait Area {
    fn area(&self) -> u32;
}

pub struct Square {
    side: u32,
}

impl Area for Square {
    fn area(&self) -> u32 {
        self.side * self.side
    }
}

impl Square {
    pub fn new(side: u32) -> Square {
        Square { side }
    }

    pub fn grow(&mut self, by: u32) {
        self.side += by;
    }
}

pub enum Kind {
    Small,
    Large(u8),
}
"""

# Code of the compiler's, what is in `src/lib.rs`, and its replacement.
BROKEN = [
    ("syntax", "pub fn made() -> Conf {", "pub fn made() -> Conf {{"),
    ("E0432", "use shapes::{Area,", "use shapes::{Missing, Area,"),
    ("E0425", "    Some(found)", "    Some(missing)"),
    ("E0433", "HashMap::new()", "Missing::new()"),
    ("E0308", "    Conf { name: String::new(), size: 1 }", "    1u8"),
    ("E0308 of an argument", "found.insert(it.name.clone(), it.size)", "found.insert(1u8, it.size)"),
    ("E0061", "    Conf { name", "    let _ = Square::new();\n    Conf { name"),
    ("E0599", "it.area()", "it.missing()"),
    ("E0609", "it.size);", "it.missing);"),
    ("E0616", "    Conf { name", "    let _ = Square::new(1).side;\n    Conf { name"),
    ("E0063", "size: 1 }", "}"),
    ("E0560", "size: 1 }", "size: 1, more: 2 }"),
    ("E0004", "        Kind::Small => 1,\n", ""),
    ("E0023", "Kind::Large(by) => by", "Kind::Large(by, _) => by"),
    ("E0277", "    Conf { name", "    let _: u32 = [1u8].iter().map(|_| String::new()).sum();\n    Conf { name"),
    ("E0107", "Option<HashMap<String, u32>>", "Option<HashMap<String, u32, u8, u8, u8>>"),
    ("E0282", "    Conf { name", "    let unused = Vec::new();\n    Conf { name"),
    ("E0614", "Kind::Large(by) => by", "Kind::Large(by) => *by"),
    ("E0618", "    Conf { name", "    let _ = 1u8();\n    Conf { name"),
    ("E0728", "    Conf { name", "    let _ = std::future::ready(1).await;\n    Conf { name"),
    ("E0133", "    Conf { name", "    let _ = std::mem::zeroed::<u8>();\n    Conf { name"),
    ("a macro", "    Conf { name", "    missing!();\n    Conf { name"),
]


def errors(client, **query):
    reply = client.get("/v1/diagnostics", wait_ms=60000, severity="error", **query)
    return [f"{it['file']}:{it['line']} {it.get('code')} {it['message'][:150]!r}" for it in reply["items"]], reply


def is_healthy(options, source, directory):
    wrong, asked = [], 0
    root = semdex.copy_workspace(source, directory / source.name)
    files = semdex.source_files(root, ".rs")
    for start in range(options.starts):
        rng = random.Random(options.seed + start)
        with semdex.Server(options.server_binary, [root], directory=directory / f"{source.name}-{start}") as server:
            server.wait_ready(options.ready_timeout)
            client, workspace = server.client, server.workspace(root)
            if start % 2:
                server.wait_indexed()
            order = rng.sample(files, len(files))
            queries = [{"file": file} for file in order] + [{}]
            rng.shuffle(queries)
            for nth, query in enumerate(queries):
                if nth % 5 == 4:
                    there_and_back(client, workspace, rng.choice(files))
                found, _ = errors(client, workspace=workspace, **query)
                asked += 1
                wrong += [f"start {start}, question {nth} {query}: {it}" for it in found]
    print(f"{source.name}: {asked} questions in {options.starts} starts, {len(wrong)} errors")
    for it in sorted(set(wrong))[:20]:
        print(f"  {it}")
    return not wrong


def there_and_back(client, workspace, file):
    """A line more at the end of a file, and gone again."""
    text = client.post("/v1/describe", workspace=workspace, file=file)["file"]["content"]
    done = client.post("/v1/write", workspace=workspace, name=file, content=f"{text}\npub fn added_for_nothing() -> u8 {{\n    1\n}}\n", mode="overwrite")
    client.post("/v1/undo", workspace=workspace, change=done["change"])


def shows_what_is_broken(options, directory):
    root = directory / "broken"
    (root / "src").mkdir(parents=True)
    (root / "Cargo.toml").write_text('[package]\nname = "broken"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n')
    (root / "src/lib.rs").write_text(LIB)
    (root / "src/shapes.rs").write_text(SHAPES)
    hidden, left = [], []
    with semdex.Server(options.server_binary, [root], directory=directory / "broken-server") as server:
        server.wait_ready(options.ready_timeout)
        server.wait_indexed()
        client, workspace = server.client, server.workspace(root)
        for code, old, new in BROKEN:
            if old not in LIB:
                raise semdex.Failed(f"{code}: there is no {old!r}")
            client.post("/v1/write", workspace=workspace, name="src/lib.rs", content=LIB.replace(old, new, 1), mode="overwrite")
            found, _ = errors(client, workspace=workspace, file="src/lib.rs")
            if not found:
                hidden.append(code)
            elif options.show:
                print(f"  {code}: {found}")
            client.post("/v1/write", workspace=workspace, name="src/lib.rs", content=LIB, mode="overwrite")
            found, _ = errors(client, workspace=workspace)
            left += [f"after {code}: {it}" for it in found]
    print(f"broken states: {len(BROKEN) - len(hidden)} of {len(BROKEN)} show an error, not: {hidden}; left behind: {left}")
    return not hidden and not left


def run(options, directory):
    good = shows_what_is_broken(options, directory)
    for source in map(pathlib.Path, options.workspaces):
        good &= is_healthy(options, source.resolve(), directory)
    return 0 if good else 1


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--starts", type=int, default=6, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="list what each broken state shows")
    semdex.main(run, parser.parse_args())
