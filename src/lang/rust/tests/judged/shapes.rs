//! What is edited.

use self::pieces::{Piece, Whole};
use std::fmt;
use std::str::FromStr;

pub trait Area {
    const SIDES: u32;
    type Unit;
    fn area(&self, scale: u32) -> u32;
    fn label(&self) -> String {
        String::new()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Side(pub u32);

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Square {
    pub side: Side,
    hidden: u8,
}

impl Square {
    pub const UNIT: u32 = 1;

    pub fn new(side: u32) -> Square {
        Square { side: Side(side), hidden: 0 }
    }

    pub fn grow(&mut self, by: u32, times: usize) -> usize {
        self.side = Side(self.side.0 + by);
        times
    }

    pub fn hidden(&self) -> u8 {
        self.hidden
    }
}

impl Area for Square {
    const SIDES: u32 = 4;
    type Unit = u32;
    fn area(&self, scale: u32) -> u32 {
        self.side.0 * scale
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.side.0)
    }
}

pub enum Kind {
    Small,
    Large(u32),
    Odd { by: u8 },
}

pub const LIMIT: usize = 3;

pub fn kind_of(square: &Square) -> Kind {
    if square.side.0 > 3 { Kind::Large(square.side.0) } else { Kind::Small }
}

pub fn total<T: Area>(items: &[T]) -> u32 {
    items.iter().map(|it| it.area(1)).sum()
}

pub fn helper() -> u8 {
    1
}

pub struct Steps(u32);

impl Steps {
    pub fn step(&mut self) -> Option<Square> {
        self.0.checked_sub(1).map(Square::new)
    }
}

macro_rules! double {
    ($it:expr) => {
        $it + $it
    };
}

pub fn doubled() -> u32 {
    double!(2)
}

pub mod inner {
    pub fn deep() -> u8 {
        super::helper()
    }
}

pub const MASK: u16 = 1000;

pub fn in_a_body() -> String {
    use std::path;
    path::Path::new("a").display().to_string()
}

pub fn flagged() -> bool {
    true
}

#[cfg(not(unix))]
pub fn twin() -> u8 {
    1
}

#[cfg(unix)]
pub fn twin() -> u8 {
    2
}

pub(crate) fn within() -> u8 {
    3
}

pub trait Told {
    fn told(&self) -> u8;
}

pub fn sized(side: u32) -> usize {
    drop(side);
    1
}

pub trait Bound {
    fn bound(&self) -> u8;
}

pub struct Within<B: Bound>(pub B);

pub struct Kept<B: Bound> {
    pub within: Option<Within<B>>,
    pub by: u8,
}

impl<B: Bound> Kept<B> {
    pub fn new() -> Kept<B> {
        Kept { within: None, by: 1 }
    }

    pub fn by(&self) -> u8 {
        self.by
    }

    pub fn same(&self, other: &B) -> u8 {
        self.by() + other.bound()
    }
}

impl<B: Bound> Kept<B> {
    pub fn more(&mut self) -> u8 {
        self.by += 1;
        self.by
    }
}

pub enum Choice<'a, B: Bound> {
    One(B),
    Borrowed(&'a str),
    None,
}

#[derive(Default)]
pub enum Mode {
    #[default]
    Plain,
    Fancy,
}

pub const SHIFTED: u32 = 1 << 20;

pub const WIDTH: usize = 2;

pub static ROW: [u8; WIDTH + 1] = [0; WIDTH + 1];

pub mod shop {
    pub use super::{Kind, Side};
}

pub trait Size {
    fn size(&self) -> u8;
}

macro_rules! sizes {
    ($($it:ty),*) => {
        $(
            impl Size for $it {
                fn size(&self) -> u8 {
                    1
                }
            }
        )*
    };
}

sizes!(u8, u16);

macro_rules! holds {
    ($name:ident) => {
        pub struct $name(pub self::Side);
    };
}

holds!(Held);
holds!(Kept2);

impl Square {
    pub fn pair(&self) -> (String, u8) {
        (String::new(), 1)
    }
}

macro_rules! matched {
    ($it:expr) => {
        match $it {
            Kind::Small => 1,
            Kind::Large(_) => 2,
            Kind::Odd { .. } => 3,
        }
    };
}

pub fn matched(it: &Kind) -> u8 {
    matched!(it)
}

pub fn lengths<I>(all: I) -> usize
where
    I: IntoIterator,
    I::Item: AsRef<str>,
{
    let mut sum = 0;
    for it in all {
        let it = it.as_ref();
        sum += it.len();
    }
    sum
}

pub type Result<T, E = Side> = std::result::Result<T, E>;

impl From<u8> for Side {
    fn from(it: u8) -> Side {
        Side(it.into())
    }
}

pub struct Stock {
    pub items: Vec<String>,
}

impl Stock {
    pub fn items(self) -> Option<Option<u8>> {
        None
    }
}

macro_rules! copies {
    ($($field:ident),*) => {
        pub fn copy_of(&self) -> Self {
            Self {
                $($field: self.$field.clone(),)*
            }
        }
    };
}

pub struct Parts {
    pub left: String,
    pub right: String,
}

impl Parts {
    copies!(left, right);
}

pub enum Loose<T = Box<u8>> {
    None,
    Plain(u8),
    Other(T),
}

pub struct Bound2 {
    pub it: Loose,
}

impl Bound2 {
    pub const ONE: Bound2 = Bound2 { it: Loose::Plain(1) };

    pub fn none() -> Bound2 {
        Bound2 { it: Loose::None }
    }

    pub fn is_none(&self) -> bool {
        match self.it {
            Loose::None => true,
            _ => false,
        }
    }
}

pub struct Shown<'a> {
    pub with: Option<fmt::Arguments<'a>>,
}

pub enum Unshown {
    Failed(fmt::Error),
}

pub mod failing {
    pub enum Err {
        One,
    }

    pub fn fail() -> Err {
        Err::One
    }

    pub fn is_one(it: &Err) -> bool {
        matches!(it, Err::One)
    }
}

pub fn names_of<I>(name: &Name, other: I) -> String
where
    I: Iterator<Item = u8>,
{
    match *name {
        Name::Plain(ref plain) => {
            let first = plain.trim();
            if is_short(plain) && first.is_empty() { format!("{plain}") } else { format!("{}", other.count()) }
        }
        Name::None => String::new(),
    }
}

pub fn is_short(it: &str) -> bool {
    it.len() < 3
}

pub enum Name {
    Plain(String),
    None,
}

pub struct Wrapped(pub u8);

pub trait Weigh {
    fn weigh(&self) -> u8;
}

pub struct Load<T>(pub T);

impl<T: Area> Weigh for Load<T> {
    fn weigh(&self) -> u8 {
        self.0.label().len() as u8
    }
}

pub trait Weighed {
    fn light(&self) -> bool;
    fn heavy(&self) -> bool;
}

macro_rules! weighed {
    ($name:ident, $least:expr) => {
        fn $name(&self) -> bool {
            let weight = self.weigh();
            weight > $least
        }
    };
}

impl<T: Area> Weighed for Load<T> {
    weighed!(light, 1);
    weighed!(heavy, 100);
}

pub trait Input: Clone {
    fn input_len(&self) -> usize;
}

pub trait Parse<I> {
    fn parse(&self, it: I) -> Option<(I, u8)>;
}

pub fn parse_all<I: Input, P: Parse<I>>(parser: &P, mut it: I) -> usize {
    let mut all = 0;
    loop {
        let len = it.input_len();
        match parser.parse(it.clone()) {
            Some((rest, found)) => {
                if rest.input_len() == len {
                    return all;
                }
                all += usize::from(found);
                it = rest;
            }
            None => return all + it.input_len(),
        }
    }
}

#[derive(Default)]
pub struct Options {
    pub by: u8,
    pub within: u8,
}

pub enum Way {
    North,
    East,
    South,
}

pub mod pieces {
    pub enum Piece {
        One(u8),
    }

    pub struct Whole {
        pub all: Vec<Piece>,
    }
}

pub fn whole() -> Whole {
    Whole { all: vec![Piece::One(1)] }
}

impl FromStr for Side {
    type Err = u8;
    fn from_str(it: &str) -> std::result::Result<Self, Self::Err> {
        it.parse().map(Side).map_err(|_| 1)
    }
}

pub enum Host<S = String> {
    Domain(S),
    Other(u8),
}

pub enum Origin {
    Opaque(u8),
    Tuple(String, Host),
}

pub fn spelled(it: &str) -> (String, u8) {
    (it.to_owned(), 1)
}

#[derive(Clone)]
pub enum Turn {
    Left(u16),
    Right(u16),
}

pub enum Bearing<T> {
    East(T),
    West,
}

pub use self::Bearing::{East, West};

pub fn easterly() -> bool {
    use std::string::String;

    let bearing: Bearing<String> = East(String::new());
    matches!(bearing, East(_))
}

pub struct Settings {
    pub mark: Option<String>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Ranked<T = u8>(pub T);

pub trait Yield {
    type Out;
    fn out(&self, it: Self::Out) -> Option<Self::Out>;
}

pub struct Page<'a>(pub &'a str);

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0, Square::default())
    }
}

pub fn unescaped(it: &str) -> Option<String> {
    Some(it.to_owned())
}

pub fn found(it: u8) -> Option<u8> {
    Some(it)
}

pub const INPUTS: &[u8] = &[1, 2];

pub struct Authority(pub u8);

pub struct Text(String);

impl std::ops::Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl Text {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

pub fn branch() -> u8 {
    1
}

pub struct Placed {
    pub all: Vec<u8>,
}

pub trait Process<I> {
    fn process(&mut self, it: I) -> u8;
}

pub struct Bytes<'a>(pub &'a [u8]);

pub trait Failure: std::fmt::Debug {}

pub trait Decode {
    type Error: Failure;
    fn decode(&self) -> std::result::Result<u8, Self::Error>;
}

#[derive(Debug)]
pub struct Broke;

impl Failure for Broke {}

pub fn spoken<T: fmt::Display>(it: T) -> String {
    it.to_string()
}

pub mod over {
    use std::ops::Add;

    pub struct Sum<L, R>(pub L, pub R);

    impl<L: Add, R> Add<R> for Sum<L, R>
    where
        R: Add<Output = L::Output>,
    {
        type Output = L::Output;
        fn add(self, _: R) -> Self::Output {
            loop {}
        }
    }

    impl Sum<&u8, &u8> {
        pub fn both(self) -> u8 {
            *self.0 + *self.1
        }
    }

    impl Sum<&mut u8, &mut u8> {
        pub fn both(self) -> u8 {
            *self.0 + *self.1
        }
    }
}

pub enum Gear {
    Low,
    High,
}

pub enum Listing {
    Opened { depth: u8, it: std::result::Result<Vec<u8>, Option<String>> },
    Closed(std::vec::IntoIter<std::result::Result<u8, String>>),
}

pub fn listing() -> Listing {
    Listing::Closed(Vec::new().into_iter())
}

pub fn tens() -> std::vec::IntoIter<u8> {
    vec![10, 20].into_iter()
}

pub mod motor {
    pub struct Engine(pub u8);

    pub trait Runs {
        fn runs(&self) -> u8;
    }

    pub struct Car {
        pub engine: Engine,
    }

    pub enum Drive<'a, W> {
        Driven { by: &'a W },
        #[cfg(feature = "towed")]
        Towed { by: &'a W },
        #[cfg(not(feature = "towed"))]
        Stands(std::marker::PhantomData<&'a ()>),
    }
}

pub mod running {
    use super::motor::Engine;
    use super::motor::Runs;

    impl Runs for Engine {
        fn runs(&self) -> u8 {
            self.0
        }
    }

    impl Engine {
        pub fn stops(&self) {}
    }
}

pub fn is_steep(by: u8) -> bool {
    by > 3
}

pub mod coin {
    #[derive(Clone, Copy)]
    pub struct Coin(pub u8);

    #[derive(Debug)]
    pub struct Fault;

    impl std::fmt::Display for Fault {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            Ok(())
        }
    }
}
