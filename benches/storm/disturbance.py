"""Changes of a workspace from outside: what editors, git, formatters, generators and mishaps do to files."""

import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import threading

# So many places of the tree differ from the original at the most; then the oldest is put back first.
MOST_DIRTY = 12

NAMES = ["probe", "näme", "a b", "x-y", "zz'q", "Ünï", "mod_a", "tilde~", "pct%41"]
WORD = re.compile(r"\b[a-z_][a-z0-9_]{3,}\b")


class Disturbance:
    """Random changes of one tree, with the original beside it to put back from."""

    def __init__(self, root, pristine, suffixes, chance):
        self.root, self.pristine, self.suffixes, self.chance = pathlib.Path(root), pathlib.Path(pristine), suffixes, chance
        self.outside = self.root.parent / "outside"
        self.outside.mkdir(exist_ok=True)
        (self.outside / "secret.rs").write_text("pub fn from_outside() {}\n")
        self.original = [it for it in self._walk(self.pristine)]
        self.serial = 0
        self.made = []
        self.dirty = []
        self.lock = threading.Lock()
        self.counts = {}
        self.kinds = {
            self.alter: 30,
            self.append: 12,
            self.break_syntax: 6,
            self.empty: 2,
            self.delete: 5,
            self.rename: 4,
            self.exchange_files: 2,
            self.module: 8,
            self.orphan: 8,
            self.orphan_goes: 6,
            self.directory_moves: 2,
            self.manifest: 3,
            self.nested_package: 2,
            self.link: 2,
            self.link_out: 1,
            self.fifo: 1,
            self.directory_for_link: 1,
            self.put_back: 14,
            self.put_all_back: 1,
        }

    def step(self):
        """One random change; answers its name."""
        kind = self.chance.choices(list(self.kinds), list(self.kinds.values()))[0]
        if len(self.dirty) > MOST_DIRTY:
            kind = self.put_back
        with self.lock, contextlib.suppress(OSError):
            kind()
        self.counts[kind.__name__] = self.counts.get(kind.__name__, 0) + 1
        return kind.__name__

    def put_all_back(self):
        while self.dirty:
            self._restore(self.dirty.pop(0))
        while self.made:
            _remove(self.made.pop())

    def put_back(self):
        if self.dirty:
            self._restore(self.dirty.pop(0))
        elif self.made:
            _remove(self.made.pop(0))

    # Texts

    def alter(self):
        """A word of a line becomes another, lines go, or stand twice."""
        file = self._pick()
        lines = self._read(file).splitlines(keepends=True)
        if not lines:
            return
        at = self.chance.randrange(len(lines))
        match self.chance.randrange(4):
            case 0:
                lines[at] = WORD.sub(lambda it: it.group() + "_2", lines[at], count=1)
            case 1:
                del lines[at : at + self.chance.randrange(1, 5)]
            case 2:
                lines.insert(at, lines[self.chance.randrange(len(lines))])
            case _:
                lines[at] = lines[at].replace("(", "(&", 1)
        self._write(file, "".join(lines))

    def append(self):
        file = self._pick()
        self.serial += 1
        body = f"\nfunc storm{self.serial}() int {{ return {self.serial} }}\n" if file.suffix == ".go" else f"\nfn storm_{self.serial}() -> u32 {{ {self.serial} }}\n"
        self._write(file, self._read(file) + body)

    def break_syntax(self):
        file = self._pick()
        text = self._read(file)
        at = self.chance.randrange(len(text) + 1)
        self._write(file, text[:at] + self.chance.choice(["{", "}", "(", '"', "/*", "fn (", "`", "<<<<<<< HEAD\n", "\0"]) + text[at:])

    def empty(self):
        self._write(self._pick(), "")

    # Files

    def delete(self):
        file = self._pick()
        self._soil(file)
        file.unlink()

    def rename(self):
        file = self._pick()
        self._soil(file)
        other = self._fresh(file.parent, file.suffix)
        self.made.append(other)
        os.rename(file, other)

    def exchange_files(self):
        one, other = self._pick(), self._pick()
        if one.suffix == other.suffix and one != other:
            self._soil(one), self._soil(other)
            _exchange(one, other)

    def module(self):
        """A file beside another that names it, where the language wants that."""
        beside = self._pick()
        file = self._fresh(beside.parent, beside.suffix)
        if beside.suffix == ".go":
            package = re.search(r"^package (\w+)", self._read(beside), re.M)
            text = f"package {package.group(1) if package else 'main'}\n\nfunc Storm{self.serial}() {{}}\n"
        else:
            text = f"pub fn storm_{self.serial}() {{}}\n"
            self._write(beside, self._read(beside) + f'\n#[path = "{file.name}"]\nmod storm_{self.serial};\n')
        self._make(file, text)

    # Directories

    def orphan(self):
        """A source file that no package includes, in a directory that comes with it."""
        directory = self.root / f"orphans{self.chance.randrange(3)}"
        self.made.append(directory)
        suffix = self.chance.choice(self.suffixes)
        text = "package orphan\n\nfunc Alone() {}\n" if suffix == ".go" else "pub fn alone() { helper() }\nfn helper() {}\n"
        self._make(self._fresh(directory, suffix), text)

    def orphan_goes(self):
        directory = self.root / f"orphans{self.chance.randrange(3)}"
        if self.chance.random() < 0.5:
            _remove(directory)
        elif directory.exists():
            for file in sorted(directory.iterdir())[:1]:
                _remove(file)

    def directory_moves(self):
        """A directory of sources under another name, and soon back by `put_back`."""
        directory = self._pick().parent
        if directory == self.root:
            return
        other = directory.with_name(f"{directory.name}_moved{self.serial}")
        self.serial += 1
        for file in self.original:
            if (self.root / file).is_relative_to(directory):
                self._soil(self.root / file)
        self.made.append(other)
        os.rename(directory, other)

    def nested_package(self):
        directory = self.root / f"nested{self.chance.randrange(2)}"
        if directory.exists():
            return _remove(directory)
        self.made.append(directory)
        if ".go" in self.suffixes and (self.suffixes == [".go"] or self.chance.random() < 0.5):
            self._make(directory / "go.mod", f"module example.com/nested{self.serial}\n\ngo 1.21\n")
            self._make(directory / "n.go", "package nested\n\nfunc N() int { return 1 }\n")
        else:
            self._make(directory / "Cargo.toml", '[package]\nname = "nested"\nversion = "0.1.0"\nedition = "2021"\n\n[workspace]\n')
            self._make(directory / "src" / "lib.rs", "pub fn nested() {}\n#[test]\nfn t() { nested() }\n")

    def manifest(self):
        names = ("Cargo.toml", "go.mod")
        file = self.root / self.chance.choice([it for it in self.original if it.name in names])
        text = self._read(file)
        comment = "# storm\n" if file.name == "Cargo.toml" else "// storm\n"
        self._write(file, text + (comment if self.chance.random() < 0.7 else "[[[broken\n"))

    # What is no ordinary file

    def link(self):
        file = self._fresh(self._pick().parent, self.chance.choice(self.suffixes))
        self.made.append(file)
        os.symlink(self._pick(), file)

    def link_out(self):
        file = self._fresh(self._pick().parent, ".rs")
        self.made.append(file)
        os.symlink(self.outside / "secret.rs", file)

    def fifo(self):
        file = self._pick()
        self._soil(file)
        file.unlink()
        os.mkfifo(file)

    def directory_for_link(self):
        """A directory exchanged for a link to the outside, and back at once."""
        directory = self._pick().parent
        if directory == self.root:
            return
        link = directory.with_name(f"{directory.name}_link{self.serial}")
        self.serial += 1
        os.symlink(self.outside, link)
        try:
            for _ in range(20):
                _exchange(directory, link)
                _exchange(directory, link)
        finally:
            link.unlink()

    # The parts

    def _pick(self):
        files = [it for it in self.original if it.suffix in self.suffixes]
        return self.root / self.chance.choice(files)

    def _fresh(self, directory, suffix):
        self.serial += 1
        return directory / f"{self.chance.choice(NAMES)}{self.serial}{suffix}"

    def _read(self, file):
        if not file.is_file():
            raise FileNotFoundError(file)
        return file.read_bytes().decode("utf-8", "replace")

    def _write(self, file, text):
        self._soil(file)
        data = text.encode()
        if self.chance.random() < 0.5:
            file.write_bytes(data)
        else:
            # As editors and git do it.
            beside = file.with_name(f".{file.name}.swp")
            beside.write_bytes(data)
            os.rename(beside, file)

    def _make(self, file, text):
        file.parent.mkdir(parents=True, exist_ok=True)
        if file not in self.made:
            self.made.append(file)
        file.write_text(text)

    def _soil(self, file):
        name = file.relative_to(self.root)
        if name not in self.dirty:
            self.dirty.append(name)

    def _restore(self, name):
        source, target = self.pristine / name, self.root / name
        if not source.exists():
            return _remove(target)
        if target.is_symlink() or (target.exists() and not target.is_file()):
            _remove(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)

    @staticmethod
    def _walk(root):
        for directory, names, files in os.walk(root):
            names[:] = sorted(it for it in names if it not in (".git", "target", "node_modules"))
            for file in sorted(files):
                yield (pathlib.Path(directory) / file).relative_to(root)


def _remove(path):
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _exchange(one, other):
    """Both names at once (renameat2 with RENAME_EXCHANGE)."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, os.fsencode(one), -100, os.fsencode(other), 2):
        raise OSError(ctypes.get_errno(), "renameat2")
