"""A proc-macro package of the workspace itself, and what its output names."""

import rust_items
from cargo_packages import Package
from recorded import fill


def own_macros(cargo, core):
    """A proc-macro package: a derive, an attribute and a function-like macro. What they write by a string has the place of
    the call."""
    macros = Package(cargo, f"{core.name}-macros")
    macros.enter()
    macros.package, macros.tail = [], ["[lib]", "proc-macro = true", ""]
    derive, attribute, call = macros.names.camel(), macros.names.snake(), macros.names.snake()
    core.enter()
    kind, method, holder = core.names.camel(), core.names.snake(), core.names.camel()
    target, marked, doubled, told, user = (core.names.snake() for _ in range(5))
    macros.enter()
    by_text, double = macros.names.snake(), macros.names.snake()
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

/// Its output has no place in the input: it is parsed from a string.
#[proc_macro]
pub fn ‹+by_text›(input: TokenStream) -> TokenStream {
    format!("{}(6)", input.to_string()).parse().unwrap()
}

/// Adds a function with the name of the item and `_twice`.
#[proc_macro_attribute]
pub fn ‹+double›(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut words = item.clone().into_iter().skip_while(|it| it.to_string() != "fn");
    let name = words.nth(1).unwrap().to_string();
    let mut output = item;
    output.extend(format!("pub fn {name}_twice() -> u32 {{ {name}() * 2 }}").parse::<TokenStream>());
    output
}
""",
            derive=derive,
            attribute=attribute,
            call=call,
            by_text=by_text,
            double=double,
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

#[derive({crate}‹derive/kind/method/holder›)]
pub struct ‹+holder›;

pub fn ‹+target›(it: u32) -> u32 {{
    it
}}

#[{crate}‹attribute›]
pub fn ‹+marked›() -> u32 {{
    {crate}‹call›!(crate::‹target›) + ‹holder›.‹method›()
}}

pub fn ‹+told›(it: u32) -> u32 {{
    it + 1
}}

#[{crate}‹double/doubled›]
pub fn ‹+doubled›() -> u32 {{
    7
}}

pub fn ‹+user›() -> u32 {{
    {crate}‹by_text›!(crate::‹told›) + ‹~doubled›_twice()
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
            told=told,
            double=double,
            doubled=doubled,
            by_text=by_text,
            user=user,
        ),
    )
    core.offers.append(rust_items.Offer("#()", marked))
    cargo.members[""].append(macros.directory)
