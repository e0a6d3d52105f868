"""Random small Cargo workspaces of unusual shapes, with the truth of what each symbol is and who names it.

A workspace is a core package and some `shapes` around it, drawn by a seed. Nothing is taken from a registry.
"""

import rust_items
from cargo_builds import documented, featured, generated, included, module_of_build, optional, systems
from cargo_macros import own_macros
from cargo_packages import Cargo, Package, add_consumer, library, program, test_file
from recorded import fill

CHECK = ["check", "--offline", "--quiet", "--workspace"]


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


def implements(cargo, core):
    """A member that implements the traits of the core for a type of its own, and its own traits for the core's types."""
    core.enter()
    kind, required, holder = core.names.camel(), core.names.snake(), core.names.camel()
    core.append(
        "src/lib.rs",
        fill("\npub trait ‹+kind› {\n    fn ‹+required›(&self) -> u32;\n}\n\npub struct ‹+holder›;\n", kind=kind, required=required, holder=holder),
    )
    other = member(cargo, core)
    crate = other.needs(core)
    other.enter()
    own, mine, trait, method = other.names.camel(), other.names.same(required), other.names.camel(), other.names.snake()
    theirs, user = other.names.same(method), other.names.snake()
    other.names.keep(mine, theirs)
    other.append(
        "src/lib.rs",
        fill(
            f"""
pub struct ‹+own›;

impl {crate}‹kind› for ‹own› {{
    fn ‹+mine/required›(&self) -> u32 {{
        1
    }}
}}

pub trait ‹+trait› {{
    fn ‹+method›(&self) -> u32;
}}

impl ‹trait› for {crate}‹holder› {{
    fn ‹+theirs/method›(&self) -> u32 {{
        2
    }}
}}

pub fn ‹+user›() -> u32 {{
    use {crate}‹kind› as _;
    ‹own›.‹mine_call›() + {crate}‹holder›.‹theirs_call›()
}}
""",
            **{"trait": trait, "own": own, "kind": kind, "required": required, "mine": mine, "method": method, "holder": holder, "theirs": theirs},
            user=user,
            mine_call=[mine, required],
            theirs_call=[theirs, method],
        ),
    )


def custom_targets(cargo, core):
    """Targets whose files and names the manifest gives."""
    core.enter()
    names = [core.names.word() for _ in range(2)]
    core.tail += ["[[bin]]", f'name = "{names[0]}"', f'path = "programs/{names[0]}/start.rs"', ""]
    core.tail += ["[[test]]", f'name = "{names[1]}"', f'path = "checks/{names[1]}.rs"', "harness = false", ""]
    part = core.names.snake()
    made = rust_items.module_of(core.names, cargo.chance, 2, fill("‹m›::", m=part))
    core.add(f"programs/{names[0]}/{part.name}.rs", made.text)
    own = [(offer, "crate::") for offer in made.offers]
    program(core, f"programs/{names[0]}/start.rs", own + core.from_outside(), fill("mod ‹+m›;\n", m=part))
    program(core, f"checks/{names[1]}.rs", core.from_outside())


def extern_crate(cargo, core):
    """`extern crate … as …`, and macros by `#[macro_use]`."""
    other = member(cargo, core)
    other.needs(core)
    other.enter()
    called = other.names.word()
    other.append("src/lib.rs", f"\n#[macro_use]\nextern crate {core.library} as {called};\n")
    add_consumer(other, "src/lib.rs", [(offer, f"crate::{called}::") for offer in core.offers])


# In the order in which they are put together: what offers comes before what uses.
SHAPES = [
    vendored,
    own_macros,
    elsewhere,
    included,
    generated,
    module_of_build,
    featured,
    optional,
    systems,
    documented,
    module_of_both,
    targets,
    common_of_tests,
    custom_targets,
    dependent,
    implements,
    extern_crate,
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
    drawn = set(chance.sample(range(len(SHAPES)), chance.randint(4, 7)))
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
