"""Shapes by what a build compiles: features, systems, generated and included code, code in documentation."""

import rust_items
from cargo_packages import add_consumer, library, program
from recorded import fill


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


def optional(cargo, core):
    """A dependency that only a feature switches on, and code that uses it then."""
    other = library(cargo, f"{cargo.chance.choice(['crates', 'parts'])}/{cargo.names.word()}")
    cargo.members[""].append(other.directory)
    core.enter()
    before = len(core.seen)
    crate = core.needs(other)
    feature, gate, user = core.names.word(), core.names.snake(), core.names.snake()
    core.dependencies[-1] = core.dependencies[-1].replace(" }", ", optional = true }")
    core.features.append(f'{feature} = ["dep:{core.dependencies[-1].split(" = ")[0]}"]')
    seen, core.seen = core.seen[before:], core.seen[:before]
    text = rust_items.consumer(user, seen, cargo.chance)
    core.append("src/lib.rs", f'\n#[cfg(feature = "{feature}")]\n' + fill("pub mod ‹+gate› {\n", gate=gate) + text + "}\n")


def systems(cargo, core):
    """Code for another system than this one, which names what all have."""
    core.enter()
    shared, other, user = core.names.snake(), core.names.snake(), core.names.snake()
    core.append(
        "src/lib.rs",
        fill(
            """
pub fn ‹+shared›() -> u32 {
    3
}

#[cfg(windows)]
pub fn ‹+other›() -> u32 {
    ‹shared›() + 1
}

pub fn ‹+user›() -> u32 {
    if cfg!(windows) {
        #[cfg(windows)]
        return ‹other›();
    }
    0
}
""",
            shared=shared,
            other=other,
            user=user,
        ),
    )


def module_of_build(cargo, core):
    """The build script and the library declare one file as a module."""
    if core.path("build.rs") in cargo.files:
        return
    core.enter()
    module = core.names.snake()
    file = f"src/{module.name}.rs"
    made = rust_items.module_of(core.names, cargo.chance, 2, fill("‹m›::", m=module))
    core.add(file, made.text)
    core.append("src/lib.rs", fill("\npub mod ‹+m›;\n", m=module))
    core.offers += made.offers
    own = [(offer, "crate::") for offer in made.offers if not offer.is_macro]
    program(core, "build.rs", own, fill(f'#[path = "{file}"]\nmod ‹+m›;\n', m=module))


def documented(cargo, core):
    """An example in the documentation of a function, and one in the text of the crate."""
    core.enter()
    shown, used = core.names.snake(), core.names.snake()
    core.append(
        "src/lib.rs",
        fill(
            f"""
/// Shown by
///
/// ```
/// use {core.library}::‹shown›;
/// assert_eq!(‹shown›() + {core.library}::‹used›(), 5);
/// ```
pub fn ‹+shown›() -> u32 {{
    3
}}

pub fn ‹+used›() -> u32 {{
    2
}}
""",
            shown=shown,
            used=used,
        ),
    )
    cargo.checks.append(("", ["cargo", "test", "--offline", "--quiet", "--doc", "-p", core.name]))
