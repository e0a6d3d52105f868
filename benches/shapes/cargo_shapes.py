"""Random small Cargo workspaces of unusual shapes, with the truth of what each symbol is and who names it.

A workspace is a core package and some `shapes` around it, drawn by a seed. Nothing is taken from a registry.
"""

import random

import rust_items
from recorded import Names, Workspace, fill

CHECK = ["check", "--offline", "--quiet", "--workspace"]


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


# Shapes: each takes the workspace and its core package -----------------------------------------------------------------


def targets(cargo, core):
    """A binary, an example, a bench and an integration test of one package."""
    core.enter()
    for file in ("src/main.rs", f"src/bin/{core.names.word()}.rs", f"examples/{core.names.word()}.rs", f"benches/{core.names.word()}.rs"):
        if file == "src/main.rs" or cargo.chance.random() < 0.7:
            if core.path(file) not in cargo.files:
                program(core, file, core.from_outside())
    test_file(core, f"tests/{core.names.word()}.rs", core.from_outside() + core.seen_by_tests)


def module_of_both(cargo, core):
    """The library and the binary declare one file as a module."""
    core.enter()
    module = core.names.snake()
    symbol, offers = core.module(f"src/{module.name}.rs", module, "src/lib.rs")
    main = core.path("src/main.rs")
    declared = fill("mod ‹+m›;\n", m=symbol)
    own = [(offer, "crate::") for offer in offers if not offer.is_macro]
    if main in cargo.files:
        cargo.append(main, "\n" + declared)
        add_consumer(core, "src/main.rs", own + core.from_outside())
    else:
        program(core, "src/main.rs", own + core.from_outside(), declared)
    core.offers += offers


def common_of_tests(cargo, core):
    """Several integration tests declare `tests/common/mod.rs`."""
    core.enter()
    common = core.names.make(f"common_{core.names.word()}")
    made = rust_items.module_of(core.names, cargo.chance, 3, fill("‹m›::", m=common))
    _, helper = core.consumer(core.from_outside())
    core.add(f"tests/{common.name}/mod.rs", made.text + "\n" + helper)
    declared = fill("mod ‹+m›;\n", m=common)
    for _ in range(cargo.chance.randint(2, 3)):
        own = [(offer, "crate::") for offer in made.offers]
        test_file(core, f"tests/{core.names.word()}.rs", own + core.from_outside(), declared)


def elsewhere(cargo, core):
    """A module whose file is named by `#[path]`; a test has it as a module too."""
    core.enter()
    module, file = core.names.snake(), core.names.word()
    made = rust_items.module_of(core.names, cargo.chance, 2, fill("‹m›::", m=module))
    core.add(f"src/parts/{file}.rs", made.text)
    core.append("src/lib.rs", fill(f'\n#[path = "parts/{file}.rs"]\npub mod ‹+m›;\n', m=module))
    core.offers += made.offers
    if cargo.chance.random() < 0.5:
        own = [(offer, "crate::") for offer in made.offers if not offer.is_macro]
        test_file(core, f"tests/{core.names.word()}.rs", own, fill(f'#[path = "../src/parts/{file}.rs"]\nmod ‹+m›;\n', m=module))


def included(cargo, core):
    """Items and an expression by `include!`."""
    core.enter()
    # A macro that an expansion exports cannot be named by a path in its own crate.
    made = rust_items.module_of(core.names, cargo.chance, 2, without=[rust_items.exported_macro])
    file, value, holder = core.names.word(), core.names.word(), core.names.snake()
    core.add(f"src/{file}.rs", made.text)
    core.append("src/lib.rs", f'\ninclude!("{file}.rs");\n')
    core.offers += made.offers
    expression = rust_items.use(cargo.chance.choice(core.offers), "crate::", cargo.chance)
    core.add(f"src/{value}.in.rs", f"({expression}) + 1\n")
    core.append("src/lib.rs", fill(f'\npub fn ‹+holder›() -> u32 {{\n    include!("{value}.in.rs")\n}}\n', holder=holder))


def generated(cargo, core):
    """A build script writes code which calls a function of the crate, and which the crate calls."""
    core.enter()
    helper, made, holder = core.names.snake(), core.names.snake(), core.names.snake()
    core.append(
        "src/lib.rs",
        fill(
            """
include!(concat!(env!("OUT_DIR"), "/made.rs"));

pub fn ‹+helper›() -> u32 {
    4
}

pub fn ‹+holder›() -> u32 {
    ‹~made›()
}
""",
            helper=helper,
            made=made,
            holder=holder,
        ),
    )
    text = f'''fn main() {{
    let file = std::path::Path::new(&std::env::var("OUT_DIR").unwrap()).join("made.rs");
    std::fs::write(file, "pub fn {made.name}() -> u32 {{ crate::{helper.name}() }}").unwrap();
    println!("cargo:rerun-if-changed=build.rs");
}}
'''
    core.add("build.rs", text)


def own_macros(cargo, core):
    """A proc-macro package: a derive, an attribute and a function-like macro."""
    macros = Package(cargo, f"{core.name}-macros")
    macros.enter()
    macros.package, macros.tail = [], ["[lib]", "proc-macro = true", ""]
    derive, attribute, call = macros.names.camel(), macros.names.snake(), macros.names.snake()
    core.enter()
    kind, method, impl_method, holder = core.names.camel(), core.names.snake(), core.names.snake(), core.names.camel()
    target, marked, twin = core.names.snake(), core.names.snake(), core.names.snake()
    impl_method = core.names.same(method)
    macros.enter()
    macros.add(
        "src/lib.rs",
        fill(
            """use proc_macro::{TokenStream, TokenTree};

#[proc_macro_derive(‹?derive›)]
pub fn ‹+derive:make_it›(input: TokenStream) -> TokenStream {
    let mut words = input.into_iter().filter_map(|it| match it {
        TokenTree::Ident(it) => Some(it.to_string()),
        _ => None,
    });
    words.find(|it| it == "struct");
    let name = words.next().unwrap();
    format!("impl ‹~kind› for {name} {{ fn ‹~method›(&self) -> u32 {{ 21 }} }}").parse().unwrap()
}

#[proc_macro_attribute]
pub fn ‹+attribute›(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}

#[proc_macro]
pub fn ‹+call›(input: TokenStream) -> TokenStream {
    let mut output: TokenStream = input;
    output.extend("(5)".parse::<TokenStream>());
    output
}
""",
            derive=derive,
            attribute=attribute,
            call=call,
            kind=kind,
            method=method,
        ),
    )
    crate = core.needs(macros)
    core.append(
        "src/lib.rs",
        fill(
            f"""
pub trait ‹+kind› {{
    fn ‹+method›(&self) -> u32;
}}

#[derive({crate}‹derive›)]
pub struct ‹+holder›;

pub fn ‹+target›(it: u32) -> u32 {{
    it
}}

#[{crate}‹attribute›]
pub fn ‹+marked›() -> u32 {{
    {crate}‹call›!(crate::‹target›) + ‹holder›.‹method›()
}}
""",
            derive=derive,
            kind=kind,
            method=method,
            holder=holder,
            target=target,
            attribute=attribute,
            marked=marked,
            call=call,
        ),
    )
    core.offers.append(rust_items.Offer("#()", marked))
    cargo.members[""].append(macros.directory)


def member(cargo, core, **how):
    other = library(cargo, cargo.chance.choice(["", "crates/", "parts/"]) + cargo.names.word(), **how)
    cargo.members[""].append(other.directory)
    return other


def dependent(cargo, core):
    """A member that uses the core, perhaps by another name, and one that the core uses."""
    other = member(cargo, core)
    called = cargo.names.word() if cargo.chance.random() < 0.5 else None
    other.needs(core, called)
    other.enter()
    add_consumer(other, "src/lib.rs", other.seen + other.own())
    if cargo.chance.random() < 0.6:
        test_file(other, f"tests/{other.names.word()}.rs", other.from_outside())


def cycle(cargo, core):
    """The tests of the core use a package which uses the core."""
    other = member(cargo, core)
    other.needs(core)
    other.enter()
    add_consumer(other, "src/lib.rs", other.seen)
    core.enter()
    core.needs(other, dev=True)
    test_file(core, f"tests/{core.names.word()}.rs", core.from_outside() + core.seen_by_tests)
    name, works = core.names.snake(), core.names.snake()
    text = rust_items.consumer(name, core.seen_by_tests, cargo.chance)
    core.append(
        "src/lib.rs",
        "\n#[cfg(test)]\n" + fill("mod ‹+m› {\n", m=core.names.snake()) + text + fill("\n#[test]\nfn ‹+works›() {\n    ‹it›();\n}\n}\n", works=works, it=name),
    )


def nested(cargo, core):
    """A Cargo workspace of its own below the first: `fuzz/` or `xtask/`."""
    tool = Package(cargo, cargo.chance.choice(["fuzz", "xtask", "tools/run"]), f"run-{cargo.names.word()}")
    tool.enter()
    tool.needs(core, cargo.names.word() if cargo.chance.random() < 0.3 else None)
    program(tool, "src/main.rs", tool.seen)
    cargo.workspace_of(tool)


def excluded_examples(cargo, core):
    """`examples/NAME` with a manifest, excluded from the workspace."""
    example = library(cargo, f"examples/{cargo.names.word()}")
    example.needs(core)
    example.enter()
    program(example, "src/main.rs", example.from_outside())
    cargo.workspace_of(example)


def vendored(cargo, core):
    """A foreign package in `vendor/`, by path and excluded, which nobody changes."""
    other = library(cargo, f"{cargo.chance.choice(['vendor', 'third_party'])}/{cargo.names.word()}")
    core.enter()
    core.needs(other)
    add_consumer(core, "src/lib.rs", core.seen)
    cargo.workspace_of(other, None)


def featured(cargo, core):
    """Items under a feature, both ways, and a target that requires it."""
    core.enter()
    feature, on = core.names.word(), core.names.snake()
    off, extra, used = core.names.same(on), core.names.snake(), core.names.snake()
    core.features.append(f"{feature} = []")
    core.append(
        "src/lib.rs",
        fill(
            f"""
#[cfg(feature = "{feature}")]
pub fn ‹+on›() -> u32 {{
    1
}}

#[cfg(not(feature = "{feature}"))]
pub fn ‹+off›() -> u32 {{
    2
}}

#[cfg(feature = "{feature}")]
pub fn ‹+extra›() -> u32 {{
    ‹used›() + ‹both›()
}}

pub(crate) fn ‹+used›() -> u32 {{
    3
}}
""",
            on=on,
            off=off,
            both=[on, off],
            extra=extra,
            used=used,
        ),
    )
    core.offers.append(rust_items.Offer("#()", [on, off]))
    name = core.names.word()
    core.tail += ["[[example]]", f'name = "{name}"', f'required-features = ["{feature}"]', ""]
    # A directory of examples that are packages of their own is no directory of targets.
    program(core, f"examples/{name}.rs", core.from_outside() + [(rust_items.Offer("#()", extra), core.library + "::")])


def glob_root(cargo, core):
    """A member re-exports all of the core, and another uses that."""
    front = Package(cargo, cargo.names.word())
    front.enter()
    crate = front.needs(core)
    front.add("src/lib.rs", f"pub use {crate.removesuffix('::')}::*;\n")
    front.offers = list(core.offers)
    back = Package(cargo, cargo.names.word())
    back.enter()
    back.needs(front)
    back.add("src/lib.rs", "#![allow(unused)]\n")
    add_consumer(back, "src/lib.rs", back.seen)
    cargo.members[""] += [front.directory, back.directory]


# In the order in which they are put together: what offers comes before what uses.
SHAPES = [
    vendored,
    own_macros,
    elsewhere,
    included,
    generated,
    featured,
    module_of_both,
    targets,
    common_of_tests,
    dependent,
    cycle,
    nested,
    excluded_examples,
    glob_root,
]


def generate(seed):
    cargo = Cargo(seed)
    chance = cargo.chance
    at_root = chance.random() < 0.4
    core = library(cargo, "" if at_root else f"crates/{cargo.names.word()}", cargo.names.word().replace("_", "-"))
    if not at_root:
        cargo.members[""].append(core.directory)
    drawn = set(chance.sample(range(len(SHAPES)), chance.randint(3, 6)))
    for at in sorted(drawn):
        SHAPES[at](cargo, core)
        cargo.shapes.append(SHAPES[at].__name__)
    finish(cargo, core, at_root)
    return cargo


def finish(cargo, core, at_root):
    outside = [it for it in cargo.tables if it]
    quoted = lambda those: ", ".join(f'"{it}"' for it in those)
    table = f"[workspace]\nmembers = [{quoted(cargo.members[''])}]\n"
    if not at_root:
        table += 'resolver = "2"\n'
    if outside:
        table += f"exclude = [{quoted(outside)}]\n"
    if cargo.chance.random() < 0.3 and len(cargo.members[""]) > 1:
        defaults = cargo.members[""][:1]
        table += f"default-members = [{quoted(defaults)}]\n"
    for package in cargo.packages:
        if package.directory == "":
            package.add("Cargo.toml", package.manifest(table))
        else:
            package.add("Cargo.toml", package.manifest(cargo.tables.get(package.directory) or ""))
    if not at_root:
        cargo.add("Cargo.toml", table)
    for directory in [""] + [it for it in outside if cargo.tables[it]]:
        cargo.checks.append((directory, ["cargo", *CHECK, "--all-targets"]))
        features = any(it.features for it in cargo.packages if (it.directory == directory) or directory == "")
        if features:
            cargo.checks.append((directory, ["cargo", *CHECK, "--all-targets", "--all-features"]))
    if cargo.chance.random() < 0.5:
        cargo.checks.append(("", ["cargo", *CHECK, "--all-targets", "--release"]))
