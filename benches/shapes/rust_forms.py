"""More items of Rust, by the form in which they are named: shadowed, captured by format strings, made by macros, behind `Deref`, …"""

from recorded import fill
from rust_items import Family, Offer


def shadowed(names, chance):
    """Local variables, parameters and inner functions with the name of an item."""
    item, user, label = names.snake(), names.snake(), names.snake()
    text = fill(
        """pub fn ‹+item›() -> u32 {
    5
}

pub fn ‹+user›(‹~item›: u32) -> u32 {
    let mut sum = ‹~item›;
    let ‹~label› = |‹~item›: u32| ‹~item› + 1;
    sum += ‹~label›(2);
    {
        fn ‹+inner›() -> u32 {
            1
        }
        sum += ‹inner›();
    }
    // ‹~item› in a comment, and "‹~item›" in a string.
    sum + "‹~item›".len() as u32 + self::‹item›() + self::‹label›()
}

fn ‹+label›() -> u32 {
    let ‹~item› = 1;
    ‹~item›
}
""",
        item=item,
        user=user,
        label=label,
        inner=names.same(item),
    )
    return Family(text, [Offer("#()", item), Offer("#(3)", user)])


def patterns(names, chance):
    """Constants in patterns, lengths, format strings and arguments of types; a table of functions."""
    limit, size, table = names.upper(), names.upper(), names.upper()
    one, two, hold, count = names.snake(), names.snake(), names.camel(), names.snake()
    text = fill(
        """pub const ‹+limit›: u32 = 9;
pub const ‹+size›: usize = 2;

pub static ‹+table›: [fn() -> u32; ‹size›] = [‹one›, self::‹two›];

fn ‹+one›() -> u32 {
    match ‹table›.len() as u32 {
        ‹limit› => 1,
        0..=‹limit› => 2,
        _ => 3,
    }
}

fn ‹+two›() -> u32 {
    format!("{‹limit›} {0:?} {‹size›:>4}", [0u8; ‹size›]).len() as u32
}

pub struct ‹+hold›<const N: usize>;

impl<const N: usize> ‹hold›<N> {
    pub const fn ‹+count›(&self) -> u32 {
        N as u32 + ‹limit›
    }
}
""",
        limit=limit,
        size=size,
        table=table,
        one=one,
        two=two,
        hold=hold,
        count=count,
    )
    offers = [
        Offer("(match 9 { # => 1, _ => 2 })", limit),
        Offer("#[0]()", table),
        Offer(fill("#::<{ @‹size› }>.‹count›()", size=size, count=count), hold),
        Offer('format!("{}", #).len() as u32', limit),
    ]
    return Family(text, chance.sample(offers, 3))


def variants(names, chance):
    """Variants that are imported, and a union."""
    kind, one, two, union = (names.camel() for _ in range(4))
    read, left, right = (names.snake() for _ in range(3))
    text = fill(
        """#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ‹+kind› {
    #[default]
    ‹+one› = 3,
    ‹+two› = 4,
}

pub fn ‹+read›() -> u32 {
    use ‹kind›::{‹one›, ‹two›};
    let them = [‹one›, ‹kind›::‹two›];
    them.iter().filter(|it| matches!(it, ‹two›)).map(|it| *it as u32).sum()
}

pub union ‹+union› {
    pub ‹+left›: u32,
    pub ‹+right›: [u8; 4],
}
""",
        kind=kind,
        one=one,
        two=two,
        read=read,
        union=union,
        left=left,
        right=right,
    )
    offers = [
        Offer(fill("{ use @‹kind›::*; ‹one› as u32 }", kind=kind, one=one), kind),
        Offer("#()", read),
        Offer(fill("(#::‹two› as u32)", two=two), kind),
        Offer(fill("unsafe { # { ‹left›: 2 }.‹left› }", left=left), union),
    ]
    return Family(text, chance.sample(offers, 3))


def associated(names, chance):
    """A trait with an associated type and a function without `self`, objects of it, and a trait for all types that have it."""
    kind, item, new, take, holder = names.camel(), names.camel(), names.snake(), names.snake(), names.camel()
    other, extra, dynamic, run, run_it = names.camel(), names.snake(), names.camel(), names.snake(), names.snake()
    own_item, own_new, own_take, own_extra, own_run = (names.same(it) for it in (item, new, take, extra, run))
    text = fill(
        """pub trait ‹+kind›: Sized {
    type ‹+item/own_item›: Into<u32>;

    fn ‹+new›() -> Self;

    fn ‹+take›(self) -> <Self as ‹kind›>::‹item/own_item›;
}

pub struct ‹+holder›;

impl ‹kind› for ‹holder› {
    type ‹+own_item/item› = u8;

    fn ‹+own_new/new›() -> ‹holder:Self› {
        ‹holder:Self›
    }

    fn ‹+own_take/take›(self) -> <‹holder› as ‹kind›>::‹own_item/item› {
        4
    }
}

pub trait ‹+other› {
    fn ‹+extra›(self) -> u32;
}

impl<T: ‹kind›> ‹other› for T {
    fn ‹+own_extra/extra›(self) -> u32 {
        self.‹take›().into()
    }
}

pub trait ‹+dynamic› {
    fn ‹+run›(&self) -> u32;
}

impl ‹dynamic› for ‹holder› {
    fn ‹+own_run/run›(&self) -> u32 {
        8
    }
}

pub fn ‹+run_it›(it: &dyn ‹dynamic›) -> u32 {
    it.‹run›() + ‹holder›::‹new_call›().‹take_call›() as u32
}
""",
        kind=kind,
        item=item,
        new=new,
        take=take,
        holder=holder,
        other=other,
        extra=extra,
        dynamic=dynamic,
        run=run,
        run_it=run_it,
        own_item=own_item,
        own_new=own_new,
        own_take=own_take,
        own_extra=own_extra,
        own_run=own_run,
        new_call=[own_new, new],
        take_call=[own_take, take],
    )
    names.keep(own_item, own_new, own_take, own_extra, own_run)
    calls = {"new": [own_new, new], "take": [own_take, take], "extra": [own_extra, extra]}
    offers = [
        Offer(fill("{ use @{‹kind›, ‹other›}; #::‹new›().‹extra›() }", kind=kind, other=other, **calls), holder),
        Offer(fill("(<@‹holder› as #>::‹take›(@‹holder›) as u32)", holder=holder, **calls), kind),
        Offer(fill("#(&@‹holder›)", holder=holder), run_it),
    ]
    return Family(text, chance.sample(offers, 2))


def behind_deref(names, chance):
    inner, outer, field, method, wrap = names.camel(), names.camel(), names.snake(), names.snake(), names.snake()
    text = fill(
        """/// Has a [`‹inner›::‹method›`]; see [the field](‹inner›::‹field›).
#[derive(Clone)]
pub struct ‹+inner› {
    pub ‹+field›: u32,
}

impl ‹inner› {
    pub fn ‹+method›(&self) -> u32 {
        self.‹field›
    }
}

pub struct ‹+outer›(Box<‹inner›>);

impl std::ops::Deref for ‹outer› {
    type Target = ‹inner›;

    fn deref(&self) -> &‹inner› {
        &self.0
    }
}

pub fn ‹+wrap›() -> ‹outer› {
    ‹outer›(Box::new(‹inner› { ‹field›: 1 }))
}
""",
        inner=inner,
        outer=outer,
        field=field,
        method=method,
        wrap=wrap,
    )
    return Family(text, [Offer(fill("#().‹method›()", method=method), wrap), Offer(fill("#().‹field›", field=field), wrap)])


def made_by_macros(names, chance):
    """Macros that define a type with its field, call a method by name, and call each other.

    What defines the type there names it too, for the macro has an `impl` block of it."""
    define, call, twice, kind, field, method = names.snake(), names.snake(), names.snake(), names.camel(), names.snake(), names.snake()
    user, outside = names.snake(), names.snake()
    text = fill(
        """macro_rules! ‹+define› {
    ($name:ident { $field:ident }, $method:ident) => {
        #[derive(Default)]
        pub struct $name {
            pub $field: u32,
        }

        impl $name {
            pub fn $method(&self) -> u32 {
                self.$field + ‹outside›()
            }
        }
    };
}

macro_rules! ‹+call› {
    ($it:expr, $method:ident) => {
        $it.$method()
    };
}

macro_rules! ‹+twice› {
    ($($it:tt)*) => {
        ‹call›!($($it)*) + ‹call›!($($it)*)
    };
}

‹define›!(‹+kind/kind› { ‹+field/field› }, ‹+method›);

fn ‹+outside›() -> u32 {
    2
}

pub fn ‹+user›() -> u32 {
    ‹twice›!(‹kind› { ‹field›: 3 }, ‹method›)
}
""",
        define=define,
        call=call,
        twice=twice,
        kind=kind,
        field=field,
        method=method,
        user=user,
        outside=outside,
    )
    offers = [Offer(fill("# { ‹field›: 2 }.‹method›()", field=field, method=method), kind), Offer("#()", user)]
    return Family(text, offers)


def raw(names, chance):
    """A function whose name is a keyword."""
    user = names.snake()
    own = names.of_package[names.package]
    keyword = names.make(chance.choice([it for it in ("type", "match", "loop", "where", "move") if it not in own] or ["yield"]))
    # The place of a definition begins with the mark of a raw name, that of a usage after it.
    text = f"""pub fn ‹+it:r#{keyword.name}›() -> u32 {{
    3
}}

pub fn ‹+user›() -> u32 {{
    r#‹it›()
}}
"""
    return Family(fill(text, it=keyword, user=user), [Offer(fill("@r#‹it›()", it=keyword), user), Offer("#()", user)])


def grouped(names, chance):
    """Imports in groups, of a module itself, and visible in a part of the crate."""
    module, one, two, user = names.snake(), names.snake(), names.snake(), names.snake()
    text = fill(
        """pub mod ‹+module› {
    pub(crate) mod ‹+deep› {
        pub fn ‹+two›() -> u32 {
            super::‹one›() + 1
        }

        pub use super::‹one›;
    }

    pub fn ‹+one›() -> u32 {
        2
    }
}

pub fn ‹+user›() -> u32 {
    use self::‹module›::{self as ‹?module:here›, ‹deep›::{self, ‹two› as ‹?two:second›}};
    ‹?module:here›::‹one›() + ‹deep›::‹one›() + ‹?two:second›()
}
""",
        module=module,
        deep=names.snake(),
        one=one,
        two=two,
        user=user,
    )
    return Family(text, [Offer("#()", user), Offer(fill("#::‹one›()", one=one), module)])


FORMS = [shadowed, patterns, variants, associated, behind_deref, made_by_macros, raw, grouped]
