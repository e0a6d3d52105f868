"""Items of Rust, by families: each is a text, and offers of how code elsewhere uses it as a number (`u32`).

In an offer `@` is the path of the module that has the item, with its `::` (or nothing), and `#` is the item, however it is imported.
"""

import dataclasses
import re

from recorded import Symbol, fill


@dataclasses.dataclass
class Offer:
    expression: str
    head: Symbol
    # Where `@` leads: a module and its `::`, from the root of the crate.
    module: str = ""
    # Reached by the name of a crate alone, as exported macros are.
    is_macro: bool = False

    def within(self, module):
        return self if self.is_macro else dataclasses.replace(self, module=module + self.module)


@dataclasses.dataclass
class Family:
    text: str
    offers: list


def function(names, chance):
    total, part = names.snake(), names.snake()
    doc = fill("/// Adds to [`‹part›`].\n", part=part) if chance.random() < 0.4 else ""
    text = doc + fill(
        """pub fn ‹+total›(start: u32) -> u32 {
    ‹part›(start) + 1
}

fn ‹+part›(start: u32) -> u32 {
    start.wrapping_add(2)
}
""",
        total=total,
        part=part,
    )
    return Family(text, [Offer("#(2)", total)])


def structure(names, chance):
    """A field, a method and an associated function that share one name, and a function of that name beside."""
    kind, field, other = names.camel(), names.snake(), names.snake()
    method, free, new = names.same(field), names.same(field), names.snake()
    text = fill(
        """#[derive(Clone, Debug, Default)]
pub struct ‹+kind› {
    pub ‹+field›: u32,
    pub ‹+other›: u32,
}

impl ‹kind› {
    pub fn ‹+new›(‹~field›: u32) -> ‹kind:Self› {
        ‹kind:Self› { ‹field›, ‹other›: 1 }
    }

    pub fn ‹+method›(&self) -> u32 {
        let ‹kind› { ‹field›, ‹other›: rest } = self;
        ‹~field› + rest + self.‹other›
    }
}

pub fn ‹+free›() -> u32 {
    ‹kind›::‹new›(3).‹field›
}
""",
        kind=kind,
        field=field,
        other=other,
        method=method,
        free=free,
        new=new,
    )
    offers = [
        Offer(fill("#::‹new›(4).‹method›()", new=new, method=method), kind),
        Offer(fill("#::‹new›(4).‹field›", new=new, field=field), kind),
        Offer(fill("(# { ‹field›: 1, ..Default::default() }).‹other›", field=field, other=other), kind),
        Offer("#()", free),
    ]
    return Family(text, chance.sample(offers, 3))


def enumeration(names, chance):
    kind, first, second, third = names.camel(), names.camel(), names.camel(), names.camel()
    size, method = names.snake(), names.snake()
    text = fill(
        """#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ‹+kind› {
    ‹+first›,
    ‹+second›(u32),
    ‹+third› { ‹+size›: u32 },
}

impl ‹kind› {
    pub fn ‹+method›(self) -> u32 {
        match self {
            ‹kind:Self›::‹first› => 0,
            ‹kind›::‹second›(it) => it,
            ‹kind:Self›::‹third› { ‹size› } => ‹~size›,
        }
    }
}
""",
        kind=kind,
        first=first,
        second=second,
        third=third,
        size=size,
        method=method,
    )
    offers = [
        Offer(fill("#::‹first›.‹method›()", first=first, method=method), kind),
        Offer(fill("(match #::‹second›(3) { #::‹second›(it) => it, _ => 0 })", second=second), kind),
        Offer(fill("#::‹third› { ‹size›: 2 }.‹method›()", third=third, size=size, method=method), kind),
    ]
    return Family(text, chance.sample(offers, 2))


def constant(names, chance):
    limit, spare = names.upper(), names.upper()
    word = chance.choice(["const", "static"])
    text = fill(f"pub {word} ‹+limit›: u32 = 7;\npub const ‹+spare›: u32 = 8;\n", limit=limit, spare=spare)
    return Family(text, [Offer("#", limit)])


def interface(names, chance):
    """A trait with a required and a default method, for a type of its own and for `u32`."""
    kind, holder, required, default, most = names.camel(), names.camel(), names.snake(), names.snake(), names.upper()
    own, foreign, own_most = names.same(required), names.same(required), names.same(most)
    text = fill(
        """pub trait ‹+kind› {
    const ‹+most›: u32 = 5;

    fn ‹+required›(&self) -> u32;

    fn ‹+default›(&self) -> u32 {
        self.‹required›() + <Self as ‹kind›>::‹most›
    }
}

pub struct ‹+holder›(pub u32);

impl ‹kind› for ‹holder› {
    const ‹+own_most/most›: u32 = 6;

    fn ‹+own/required›(&self) -> u32 {
        self.0
    }
}

impl ‹kind› for u32 {
    fn ‹+foreign/required›(&self) -> u32 {
        *self
    }
}
""",
        kind=kind,
        holder=holder,
        required=required,
        default=default,
        most=most,
        own=own,
        foreign=foreign,
        own_most=own_most,
    )
    # Asked of the method of the trait, the methods of its implementations are usages too; a call of one of these is a usage of both.
    offers = [
        Offer(fill("{ use @‹kind›; #(9).‹call›() }", kind=kind, call=[own, required]), holder),
        Offer(fill("{ use @‹kind›; #(9).‹default›() }", kind=kind, default=default), holder),
        Offer(fill("#::‹call›(&3u32)", call=[foreign, required]), kind),
        Offer(fill("<u32 as #>::‹call›(&3)", call=[foreign, required]), kind),
    ]
    names.keep(own, foreign, own_most)
    return Family(text, chance.sample(offers, 2))


def generic(names, chance):
    hold, value, get, pick = names.camel(), names.snake(), names.snake(), names.snake()
    text = fill(
        """pub struct ‹+hold›<T> {
    ‹+value›: T,
}

impl<T: Copy> ‹hold›<T> {
    pub fn ‹+get›(&self) -> T {
        self.‹value›
    }
}

pub fn ‹+pick›<T>(value: T) -> ‹hold›<T> {
    ‹hold› { ‹value›: value }
}
""",
        hold=hold,
        value=value,
        get=get,
        pick=pick,
    )
    return Family(text, [Offer(fill("#(8u32).‹get›()", get=get), pick), Offer(fill("#::<u32>(8).‹get›()", get=get), pick)])


def alias(names, chance):
    whole, short, make, field = names.camel(), names.camel(), names.snake(), names.snake()
    text = fill(
        """pub struct ‹+whole› {
    pub ‹+field›: u32,
}

pub type ‹+short› = ‹whole›;

impl ‹short› {
    pub fn ‹+make›() -> ‹short› {
        ‹whole› { ‹field›: 2 }
    }
}
""",
        whole=whole,
        short=short,
        make=make,
        field=field,
    )
    return Family(text, [Offer(fill("#::‹make›().‹field›", make=make, field=field), short), Offer(fill("(# { ‹field›: 4 }).‹field›", field=field), whole)])


def inline_module(names, chance):
    module, inner, deep, back = names.snake(), names.snake(), names.snake(), names.snake()
    text = fill(
        """pub mod ‹+module› {
    pub fn ‹+inner›() -> u32 {
        super::‹back›() + self::‹deep›::‹leaf›()
    }

    mod ‹+deep› {
        pub(super) fn ‹+leaf›() -> u32 {
            super::super::‹back›()
        }
    }
}

fn ‹+back›() -> u32 {
    11
}
""",
        module=module,
        inner=inner,
        deep=deep,
        back=back,
        leaf=names.same(back),
    )
    return Family(text, [Offer(fill("#::‹inner›()", inner=inner), module)])


def reexport(names, chance):
    """A private module whose item is public by another path, also under another name."""
    module, shown, hidden, other = names.snake(), names.snake(), names.snake(), names.snake()
    style = chance.choice(["pub use ‹module›::‹shown›;", "pub use ‹module›::*;", "pub use self::‹module›::{‹shown›};"])
    text = fill(
        f"""mod ‹+module› {{
    pub fn ‹+shown›() -> u32 {{
        ‹hidden›()
    }}

    fn ‹+hidden›() -> u32 {{
        1
    }}
}}

{style}
pub use ‹module›::‹shown› as ‹?shown:{other.name}›;
""",
        module=module,
        shown=shown,
        hidden=hidden,
    )
    return Family(text, [Offer("#()", shown), Offer(fill("@‹?shown:" + other.name + "›()", shown=shown), shown)])


def exported_macro(names, chance):
    """`macro_rules!` of the crate's root which calls a function by `$crate`, and one that defines functions."""
    call, helper, define, made = names.snake(), names.snake(), names.snake(), names.snake()
    text = fill(
        """#[macro_export]
macro_rules! ‹+call› {
    ($it:expr) => {
        $crate::@‹helper›($it)
    };
}

pub fn ‹+helper›(it: u32) -> u32 {
    it + 3
}

macro_rules! ‹+define› {
    ($name:ident) => {
        pub fn $name() -> u32 {
            6
        }
    };
}

‹define›!(‹+made›);
""",
        call=call,
        helper=helper,
        define=define,
        made=made,
    )
    return Family(text, [Offer("@@‹m›!(4)".replace("‹m›", fill("‹m›", m=call)), call, is_macro=True), Offer("#()", made)])


def switched(names, chance):
    """One item in two texts, of which a build has one; and a function that only tests call."""
    both = names.snake()
    twin, only = names.same(both), names.snake()
    condition = chance.choice(["test", "debug_assertions", "unix"])
    text = fill(
        f"""#[cfg({condition})]
pub fn ‹+both›() -> u32 {{
    1
}}

#[cfg(not({condition}))]
pub fn ‹+twin›() -> u32 {{
    2
}}

pub fn ‹+only›() -> u32 {{
    ‹all›() + 1
}}

#[cfg(test)]
mod ‹+tests› {{
    use super::*;

    #[test]
    fn ‹+works›() {{
        assert!(‹only›() > ‹all›());
    }}
}}
""",
        both=both,
        twin=twin,
        all=[both, twin],
        only=only,
        tests=names.snake(),
        works=names.snake(),
    )
    return Family(text, [Offer("#()", [both, twin]), Offer("#()", only)])


FAMILIES = [function, structure, enumeration, constant, interface, generic, alias, inline_module, reexport, exported_macro, switched]


def module_of(names, chance, count, path="", without=()):
    """`count` families in one text, and their offers. `path` leads to the module from the root of its crate, with its `::`."""
    from rust_forms import FORMS

    made = [family(names, chance) for family in chance.sample([it for it in FAMILIES + FORMS if it not in without], count)]
    text = "\n".join(it.text for it in made).replace("$crate::@", "$crate::" + path)
    return Family(text, [offer.within(path) for it in made for offer in it.offers])


# Not the `#` of a raw name.
HEAD = re.compile(r"(?<!\br)#")
STYLES = ["path", "path", "use", "glob", "alias"]


def use(offer, crate, chance):
    """An expression of type `u32` which uses the offer; `crate` is how its crate is named there, with its `::`."""
    if offer.is_macro:
        return offer.expression.replace("@@", crate)
    prefix = crate + offer.module
    head = fill("‹it›", it=offer.head)
    style = chance.choice(STYLES) if HEAD.search(offer.expression) else "path"
    if style == "path":
        return HEAD.sub(prefix + head, offer.expression).replace("@", prefix)
    inner = offer.expression.replace("@", prefix)
    if style == "use":
        return f"{{ use {prefix}{head}; {HEAD.sub(head, inner)} }}"
    if style == "glob":
        # A path of the crate's root in an edition that knows it by `crate::` alone.
        return f"{{ use {prefix}*; {HEAD.sub(head, inner)} }}"
    other = "Renamed" if (offer.head[0] if isinstance(offer.head, list) else offer.head).name[0].isupper() else "renamed"
    shown = fill(f"‹?it:{other}›", it=offer.head)
    return f"{{ use {prefix}{head} as {shown}; {HEAD.sub(shown, inner)} }}"


def wrapped(expression, chance):
    """The same number, also as macro input."""
    return chance.choice(
        [
            "{}",
            "{}",
            "(|| {})()",
            "vec![{}].len() as u32",
            'format!("{{}}", {}).len() as u32',
            "[{}].iter().copied().sum::<u32>()",
        ]
    ).format(expression)


def consumer(name, offers, chance, many=None):
    """A function which uses some offers: pairs of (offer, its crate)."""
    drawn = chance.sample(offers, min(len(offers), many or chance.randint(2, 5)))
    lines = [f"    sum += {wrapped(use(offer, crate, chance), chance)};" for offer, crate in drawn]
    head = fill("pub fn ‹+name›() -> u32 {\n    let mut sum = 0u32;\n", name=name)
    return head + "\n".join(lines) + "\n    sum\n}\n"
