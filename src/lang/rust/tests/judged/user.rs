//! What names the things of `shapes`.

use crate::deep;
use crate::flagged;
use crate::shapes::{self, Area, Kind, LIMIT, Result, Side, Square, helper, kind_of, total};

#[derive(Clone, Debug, PartialEq)]
pub struct Holder {
    pub square: Square,
    pub kinds: [u8; LIMIT],
}

pub struct Line;

impl Area for Line {
    const SIDES: u32 = 1;
    type Unit = u8;
    fn area(&self, scale: u32) -> u32 {
        scale
    }
    fn label(&self) -> String {
        "line".to_owned()
    }
}

pub fn build() -> Holder {
    Holder { square: Square::new(2), kinds: [0, 0, 0] }
}

pub fn grow(square: &mut Square) -> usize {
    square.grow(1, 2) + square.grow(2, 3)
}

pub fn say(kind: Kind) -> u32 {
    match kind {
        Kind::Small => 0,
        Kind::Large(size) => size,
        Kind::Odd { by } => u32::from(by),
    }
}

pub fn sum(squares: &[Square]) -> u32 {
    total(squares) + total(&[Line]) + Square::UNIT
}

pub fn each(squares: &mut [Square]) -> Vec<usize> {
    let by_path = squares.first_mut().map(|it| Square::grow(it, 1, Square::grow(&mut Square::new(1), 2, 3)));
    let grow: fn(&mut Square, u32, usize) -> usize = Square::grow;
    let mut sizes: Vec<usize> = squares.iter_mut().map(|it| it.grow(1, 2).pow(2)).collect();
    sizes.extend(by_path.into_iter().chain(squares.iter_mut().map(|it| grow(it, 1, 1))));
    sizes
}

pub fn hidden(square: &Square) -> u8 {
    square.hidden() + helper() + shapes::inner::deep()
}

pub fn copy(side: Side) -> (Side, Side) {
    (side, side)
}

pub fn same(a: &Square, b: &Square) -> bool {
    a == b
}

pub fn show(square: &Square) -> String {
    format!("{square} {square:?} {}", kind_is_small(square))
}

fn kind_is_small(square: &Square) -> bool {
    matches!(kind_of(square), Kind::Small)
}

pub fn made() -> Square {
    let mut made = Square::default();
    made.side = Side(1);
    made
}

pub fn open(holder: &Holder) -> Side {
    let Holder { square, kinds: _ } = holder.clone();
    square.side
}

pub fn limit() -> usize {
    LIMIT + 1
}

pub fn walk(mut steps: shapes::Steps) -> u8 {
    let mut last = None;
    while let Some(square) = steps.step() {
        if square.hidden() > 0 {
            last = Some(square);
        }
    }
    last.as_ref().map_or(0, hidden)
}

pub fn filled() -> [u8; LIMIT] {
    [0; LIMIT]
}

pub const WIDE: u16 = shapes::MASK * 60;

pub fn first(kind: &Kind) -> &'static str {
    match kind {
        Kind::Small => "small",
        Kind::Large(0) => "none",
        Kind::Large(_) => "large",
        Kind::Odd { .. } => "odd",
    }
}

pub struct Teller(Box<dyn shapes::Told>);

pub fn told_by(teller: &dyn shapes::Told) {
    let _ = teller;
}

pub fn unflagged() -> bool {
    !shapes::flagged()
}

pub fn twins() -> u8 {
    shapes::twin()
}

macro_rules! helped {
    ($it:expr) => {
        helper() + $it
    };
}

pub fn by_macro() -> u8 {
    helped!(1)
}

#[cfg(not(unix))]
pub fn elsewhere(it: Side) -> u8 {
    helper() + shapes::twin()
}

pub fn labels() -> Vec<String> {
    let shapes: Vec<Box<dyn Fn(u32) -> u32>> = vec![Box::new(|it| Line.area(it))];
    vec![Line.label(), shapes.len().to_string()]
}

pub const TELLERS: &[&dyn shapes::Told] = &[];

pub struct Said {
    pub told: &'static dyn shapes::Told,
}

pub fn teller() -> Option<&'static dyn shapes::Told> {
    TELLERS.first().copied()
}

pub fn tell_all() -> u8 {
    let mut all = 0;
    for it in TELLERS.iter() {
        all += it.told();
    }
    let first = TELLERS[0];
    told_by(first);
    match teller() {
        Some(it) => it.told(),
        None => all,
    }
}

pub fn again(it: &Said) -> Option<u8> {
    let said = Some(it.told);
    said.map(|it| it.told())
}

pub fn asked(it: &Said) -> u8 {
    it.told.told()
}

pub struct Around<B: shapes::Bound> {
    pub kept: shapes::Kept<B>,
}

pub fn by<B: shapes::Bound>(it: &shapes::Kept<B>) -> u8 {
    it.by()
}

pub fn keep<B: shapes::Bound>() -> shapes::Kept<B> {
    shapes::Kept::new()
}

pub fn around<B: shapes::Bound>(it: &Around<B>, other: &B) -> u8 {
    it.kept.same(other) + by(&it.kept)
}

pub fn more<B: shapes::Bound>(it: &mut Around<B>) -> u8 {
    it.kept.more()
}

pub fn shown(it: &crate::shapes::shop::Side) -> u32 {
    it.0
}

pub fn is_unit(it: u32) -> bool {
    match it {
        Square::UNIT => true,
        _ => false,
    }
}

pub fn paired(it: &Square) -> usize {
    let (name, by) = Square::pair(it);
    let (other, _) = it.pair();
    let long = other.len() + usize::from(by);
    name.len() + other.trim().len() + long
}

pub fn sum_of(it: &Square) -> bool {
    let sum = it.hidden() + 1 - it.side.0 as u8;
    (sum..=it.hidden()).contains(&3) && sum == 1
}

pub fn halved(it: u8) -> Result<u8> {
    it.checked_div(2).ok_or(it)?;
    Ok(it)
}

pub fn pairs(it: &Square) -> Vec<String> {
    let (name, _) = it.pair();
    vec![name.as_str().into()]
}

macro_rules! group {
    ($name:ident, $($of:expr),*) => {
        group!(@ $name; $($of),*);
    };
    (@ $name:ident; $($of:expr),*) => {
        pub fn $name() -> u8 {
            let mut sum = 0;
            $(sum += $of();)*
            sum
        }
    };
}

group!(grouped, helper);

pub fn counted(it: &shapes::Stock) -> (usize, String) {
    let mut all = (0, String::new());
    if let Some(head) = it.items.first() {
        let mut copy = head.clone();
        let taken = std::mem::take(&mut copy);
        all = (1, taken);
    }
    for one in it.items.iter() {
        all = (one.len(), one.clone());
    }
    let size = if all.0 > 0 {
        it.items.len()
    } else {
        all.0
    };
    match it.items.last() {
        Some(last) if last.is_empty() => all.1 = last.trim().into(),
        _ => all.0 += size,
    }
    for (at, _) in it.items.iter().enumerate() {
        all.1 = it.items[at].clone();
    }
    all
}

pub fn through_the_root() -> u8 {
    if flagged() { deep() } else { 1 }
}

macro_rules! calls {
    ($name:ident, $of:ident) => {
        pub fn $name() -> u8 {
            2 + $of()
        }
    };
}

calls!(called, helper);

#[derive(Clone, Debug)]
pub struct Fed<T, S = Side> {
    pub it: T,
    pub side: S,
}

pub fn fed(it: &Fed<u8>) -> String {
    format!("{it:?}")
}

pub fn fed_again(it: &Fed<u8>) -> Fed<u8> {
    it.clone()
}

pub struct Sides(Vec<Side>);

impl std::fmt::Display for Sides {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for it in &self.0 {
            write!(f, "{:?}", it)?;
        }
        Ok(())
    }
}

pub type Sided<T> = (T, Side);

pub fn sided() -> Option<Sided<u8>> {
    None
}

pub fn tell_sided() -> String {
    let told = sided();
    format!("{told:?}")
}

macro_rules! items {
    ($($it:item)*) => {
        $($it)*
    };
}

items! {
    pub fn in_items(a: &Square, b: &Square) {
        let _ = a;
        assert_eq!(a, b);
        assert_eq!(a.hidden() + 1, 2);
    }
}

macro_rules! asks {
    ($name:ident, $of:ident) => {
        pub fn $name(it: &Square) -> bool {
            it.$of() == it.$of()
        }
    };
}

asks!(asked_hidden, hidden);

pub fn options() -> shapes::Options {
    shapes::Options { by: 1, ..shapes::Options::default() }
}

pub fn is_east(it: &shapes::Way) -> bool {
    use shapes::Way::*;
    match it {
        East => true,
        North | South => false,
    }
}

pub mod all {
    use crate::shapes::*;

    pub fn unwrapped() -> Option<Wrapped> {
        None
    }
}

pub fn origin(it: &shapes::Origin) -> String {
    match *it {
        shapes::Origin::Opaque(_) => String::new(),
        shapes::Origin::Tuple(ref scheme, ref host) => {
            let host = match *host {
                shapes::Host::Domain(ref name) => {
                    let (name, _) = shapes::spelled(name);
                    shapes::Host::Domain(name)
                }
                shapes::Host::Other(it) => shapes::Host::Other(it),
            };
            let by_reference = match &host {
                shapes::Host::Domain(name) => shapes::spelled(name).0,
                shapes::Host::Other(_) => String::new(),
            };
            format!("{scheme}{by_reference}")
        }
    }
}

pub mod marked {
    use crate::shapes::{Settings, spelled};

    pub fn marked(it: &Settings) -> u8 {
        if let Some(ref mark) = it.mark { spelled(mark).1 } else { 0 }
    }
}

pub struct Spread<T>(pub T);

impl<T> shapes::Yield for Spread<T> {
    type Out = T;
    fn out(&self, it: Self::Out) -> Option<Self::Out> {
        let it: Self::Out = it;
        Some(it)
    }
}

impl shapes::Yield for Line {
    type Out = u8;
    fn out(&self, it: Self::Out) -> Option<Self::Out> {
        Some(it)
    }
}

pub mod yielding {
    use crate::shapes::Yield;

    pub struct Few<const N: usize>;

    impl<const N: usize> Yield for Few<N> {
        type Out = u8;
        fn out(&self, it: u8) -> Option<Self::Out> {
            Some(it)
        }
    }
}

pub fn spelt(it: String, is_plain: bool) -> (String, Vec<u8>) {
    let (text, rest) = if is_plain {
        (it, Vec::new())
    } else {
        (it, shapes::unescaped("").unwrap_or_default().into_bytes())
    };
    let (_, size) = shapes::spelled(&text);
    (format!("{}{}", text, size), rest)
}

pub fn finds(it: u8) -> u8 {
    if it > 3 {
        3
    } else if let Some(found) = shapes::found(it) {
        found.max(it)
    } else {
        match shapes::found(1) {
            Some(found) => found,
            None => 1,
        }
    }
}

macro_rules! inputs {
    ($name:ident, $least:expr) => {
        pub fn $name() {
            inputs!(@each $least);
        }
    };
    (@each $least:expr) => {
        for it in shapes::INPUTS {
            assert!(*it > $least);
        }
    };
}

inputs!(few_inputs, 1);

pub struct Uri(u8);

impl TryFrom<&str> for Uri {
    type Error = u8;
    fn try_from(it: &str) -> std::result::Result<Uri, u8> {
        it.parse().map(Uri).map_err(|_| 1)
    }
}

impl From<shapes::Authority> for Uri {
    fn from(it: shapes::Authority) -> Uri {
        Uri(it.0)
    }
}

impl From<u8> for Uri {
    fn from(it: u8) -> Uri {
        Uri(it)
    }
}

pub fn texts(it: &shapes::Text) -> usize {
    assert_eq!(it.as_str(), "");
    it.as_str().len()
}

pub fn branches(it: u8) -> u8 {
    match it {
        0 => match it {
            3 => shapes::branch(),
            _ => 1,
        },
        1 => shapes::branch(),
        2 => {
            if it > 1 {
                shapes::branch()
            } else {
                shapes::branch()
            }
        }
        _ => shapes::branch(),
    }
}

macro_rules! placed {
    ($name:ident, $($it:expr),*) => {
        pub fn $name(of: &shapes::Placed) {
            assert_eq!(
                of.all.len(),
                shapes::Placed {
                    all: vec![$($it),*],
                }
                .all
                .len()
            );
        }
    };
}

placed!(placed_once, 1, 2);

macro_rules! process {
    ($($name:ident),+) => {
        impl<I, $($name),+> shapes::Process<I> for ($($name),+,) {
            fn process(&mut self, it: I) -> u8 {
                drop(it);
                1
            }
        }
    };
}

macro_rules! processes {
    ($first:ident, $($name:ident),+) => {
        processes!(@one $first; $($name),+);
    };
    (@one $($name:ident)+; $next:ident) => {
        process!($($name),+);
        process!($($name),+, $next);
    };
}

processes!(A, B);

pub mod globs {
    use crate::shapes::failing::Err;
    use std::result::Result::*;

    pub fn refuse(it: &Err) -> Result<u8, Err> {
        match it {
            Err::One => Err(Err::One),
        }
    }

    pub fn accept() -> Result<u8, Err> {
        Ok(1)
    }
}

macro_rules! bytes_of {
    ($it:ty) => {
        impl Told for $it {
            fn told(&self) -> u8 {
                Bytes(&[*self as u8]).0[0]
            }
        }
    };
}

pub mod in_bytes {
    use crate::shapes::{Bytes, Told};

    bytes_of!(i16);
    bytes_of!(i32);

    impl Bytes<'_> {
        pub fn shown(&self) -> String {
            let mut all = String::new();
            for &it in self.0 {
                if it == b'\n' {
                    all.push('n');
                } else if (0x20..0x7f).contains(&it) {
                    all.push(it as char);
                    all += &format!("{}", it as char);
                }
            }
            all
        }
    }
}

impl shapes::Decode for Line {
    type Error = shapes::Broke;
    fn decode(&self) -> Result<u8, Self::Error> {
        Err(shapes::Broke)
    }
}

pub mod listed {
    use crate::shapes::{Listing, listing, tens};

    impl Iterator for Listing {
        type Item = Result<u8, String>;
        fn next(&mut self) -> Option<Result<u8, String>> {
            match *self {
                Listing::Closed(ref mut it) => it.next(),
                Listing::Opened { depth, ref mut it } => match *it {
                    Err(ref mut error) => error.take().map(Err),
                    Ok(ref mut all) => all.pop().map(|it| Ok(it + depth)),
                },
            }
        }
    }

    pub fn sorted(is_sorted: bool) -> Listing {
        let mut all = Listing::Opened { depth: 1, it: Ok(Vec::new()) };
        if is_sorted {
            let mut items: Vec<_> = all.collect();
            items.sort_by(|a, b| match (a, b) {
                (Ok(a), Ok(b)) => a.cmp(b),
                _ => std::cmp::Ordering::Equal,
            });
            all = Listing::Closed(items.into_iter());
        }
        all
    }

    pub struct Counter(pub usize);

    impl Counter {
        pub fn count<I>(&self, it: I) -> usize
        where
            I: IntoIterator<Item = Result<u8, String>>,
        {
            self.0 + it.into_iter().count()
        }
    }

    pub fn sum(all: impl IntoIterator<Item = u8>, by: u8) -> u8 {
        all.into_iter().map(|it| it * by).sum()
    }

    pub fn paired<T, I: Iterator<Item = T>>(first: T, others: I) -> Vec<T> {
        std::iter::once(first).chain(others).collect()
    }

    pub fn counted() -> usize {
        let all = listing();
        let first = Counter(1).count(all);
        first + Counter(2).count(listing().take(2))
    }

    pub fn summed() -> u8 {
        let all = tens();
        sum(all, 2) + sum(tens().rev(), 3) + sum(Some(1), 2)
    }

    pub fn all_of_them() -> impl Iterator<Item = u8> {
        tens().skip(1)
    }

    pub fn pairs() -> Vec<u8> {
        paired(1, tens())
    }
}

pub mod driven {
    use crate::shapes::motor::{Car, Runs};

    pub fn drive(it: &Car) -> u8 {
        it.engine.runs()
    }

    pub fn park(it: &Car) {
        it.engine.stops();
    }
}

pub mod towed {
    #[cfg(feature = "towed")]
    use crate::shapes::motor::Engine;

    #[cfg(feature = "towed")]
    pub fn tow(it: &Engine) -> u8 {
        it.0
    }

    pub fn is_towed() -> bool {
        cfg!(feature = "towed")
    }
}

pub mod steep {
    use crate::shapes::is_steep;

    pub fn climbed(mut by: u8) -> u8 {
        while is_steep(by) {
            by -= 1;
        }
        if (is_steep(by)) {
            by += 1;
        } else if by > 1
            && is_steep(by)
        {
            by += 2;
        }
        match by {
            1 if is_steep(by) => 2,
            _ => by,
        }
    }
}

pub mod coins {
    use crate::shapes::coin::{self, Coin, Fault};

    const NONE: Coin = coin::Coin(0);

    #[derive(Clone, Copy)]
    pub struct Purse(Coin);

    impl std::error::Error for Fault {}

    pub fn spent(it: Coin) -> [Coin; 3] {
        let Coin(by) = it;
        [Coin(by); 3]
    }

    pub fn one() -> [Coin; 2] {
        let _ = [NONE; 1];
        [NONE; 2]
    }

    pub fn all(of: &[u8]) -> Vec<Coin> {
        of.iter().copied().map(Coin).collect()
    }

    pub fn is_none(it: &Purse) -> bool {
        match it.0 {
            coin::Coin(0) => true,
            _ => false,
        }
    }
}
