"""What Cargo workspaces are put together from: packages, their targets, and the workspace that has them."""

import random

import rust_items
from recorded import Names, Workspace, fill


class Package:
    """A package that is being put together. `offers` is what its library offers to others."""

    def __init__(self, cargo, directory, name=None, edition=None):
        self.cargo, self.names, self.chance = cargo, cargo.names, cargo.chance
        self.directory = directory
        self.name = name or directory.rsplit("/", 1)[-1].replace("_", "-")
        self.library = self.name.replace("-", "_")
        self.edition = edition or self.chance.choice(["2018", "2021", "2021", "2024"])
        self.package, self.tail, self.features = [], [], []
        self.dependencies, self.dev_dependencies = [], []
        # (offer, the name of its crate with `::`): what code of the library, and what code of the tests can use as well.
        self.seen, self.seen_by_tests = [], []
        self.offers = []
        cargo.packages.append(self)

    def path(self, file):
        return f"{self.directory}/{file}" if self.directory else file

    def add(self, file, text):
        self.cargo.add(self.path(file), text)

    def append(self, file, text):
        self.cargo.append(self.path(file), text)

    def enter(self):
        self.names.enter(self)

    def needs(self, other, called=None, dev=False):
        """A path dependency, perhaps under another name."""
        steps = self.directory.count("/") + 1 if self.directory else 0
        path = "../" * steps + other.directory or "."
        key = called or other.name
        package = f', package = "{other.name}"' if called else ""
        line = f'{key} = {{ path = "{path.rstrip("/") or "."}"{package} }}'
        crate = (called.replace("-", "_") if called else other.library) + "::"
        (self.dev_dependencies if dev else self.dependencies).append(line)
        (self.seen_by_tests if dev else self.seen).extend((offer, crate) for offer in other.offers)
        return crate

    def own(self, crate="crate::"):
        return [(offer, crate) for offer in self.offers]

    def from_outside(self):
        """What a binary, a test or an example of the package can use."""
        return self.own(self.library + "::") + self.seen

    def module(self, file, name, declared, count=2, public=True):
        """A module in a file of its own, declared in another."""
        symbol = self.names.make(name) if isinstance(name, str) else name
        path = fill("‹m›::", m=symbol)
        made = rust_items.module_of(self.names, self.chance, count, path)
        self.append(declared, fill(("pub " if public else "") + "mod ‹+m›;\n", m=symbol))
        self.add(file, made.text)
        return symbol, made.offers

    def consumer(self, offers, many=None):
        name = self.names.snake()
        return name, rust_items.consumer(name, offers, self.chance, many)

    def manifest(self, workspace=""):
        lines = ["[package]", f'name = "{self.name}"', 'version = "0.1.0"', f'edition = "{self.edition}"', *self.package, ""]
        for title, content in (("features", self.features), ("dependencies", self.dependencies), ("dev-dependencies", self.dev_dependencies)):
            if content:
                lines += [f"[{title}]", *content, ""]
        return "\n".join(lines + self.tail) + ("\n" + workspace if workspace else "")


class Cargo(Workspace):
    def __init__(self, seed):
        self.chance = random.Random(f"cargo {seed}")
        super().__init__(Names(self.chance))
        self.packages = []
        # {directory of a Cargo workspace: lines of its `[workspace]`}
        self.tables, self.members = {}, {"": []}

    def workspace_of(self, package, table="[workspace]\n"):
        self.tables[package.directory] = table


def library(cargo, directory, name=None, count=3, edition=None, root="src/lib.rs"):
    """A package with a library: some items in its root, some in a module."""
    package = Package(cargo, directory, name, edition)
    package.enter()
    made = rust_items.module_of(package.names, package.chance, count)
    package.append(root, "#![allow(dead_code, unused)]\n\n" if root.endswith("lib.rs") else "")
    module = package.names.snake()
    _, offers = package.module(f"src/{module.name}.rs", module, root, 2)
    package.append(root, "\n" + made.text)
    package.offers += made.offers + offers
    return package


def add_consumer(package, file, offers):
    name, text = package.consumer(offers)
    package.append(file, "\n" + text)
    return name


def program(package, file, offers, before="", inner=""):
    """A file with `main` which calls a consumer."""
    name, text = package.consumer(offers)
    package.add(file, "#![allow(dead_code, unused)]\n" + before + text + fill('\nfn main() {\n    println!("{}", ‹it›());\n}\n', it=name) + inner)


def test_file(package, file, offers, before=""):
    name, text = package.consumer(offers)
    works = package.names.snake()
    package.add(
        file,
        "#![allow(dead_code, unused)]\n" + before + text + fill("\n#[test]\nfn ‹+works›() {\n    assert!(‹it›() > 0);\n}\n", works=works, it=name),
    )
