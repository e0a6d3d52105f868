//! Types and what they implement.

use std::cmp::Ordering;
use std::marker::PhantomData;

pub trait Marked: Clone {}
pub trait Hinted: Marked {}

#[derive(Clone)]
pub struct Hint;

impl Marked for Hint {}

impl Hinted for Hint {}

#[derive(Copy, Eq)]
pub enum Half<L, R> {
    Left(L),
    Right(R),
}

impl<L: Clone, R: Clone> Clone for Half<L, R> {
    fn clone(&self) -> Self {
        match self {
            Half::Left(it) => Half::Left(it.clone()),
            Half::Right(it) => Half::Right(it.clone()),
        }
    }
}

impl<L: PartialEq, R: PartialEq> PartialEq for Half<L, R> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Half::Left(a), Half::Left(b)) => a == b,
            (Half::Right(a), Half::Right(b)) => a == b,
            _ => false,
        }
    }
}

#[derive(Debug)]
pub struct Label(String);

impl Label {
    pub fn new(it: &str) -> Option<Label> {
        Some(Label(it.to_owned()))
    }

    pub fn first(&self) -> &Label {
        self
    }

    pub fn is_empty(&self) -> bool {
        self == "" || *self == *"" || self.0 == ""
    }
}

impl PartialEq for Label {
    fn eq(&self, other: &Label) -> bool {
        self.0 == other.0
    }
}

impl PartialEq<str> for Label {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Label {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<usize> for Label {
    fn eq(&self, other: &usize) -> bool {
        self.0.len() == *other
    }
}

impl PartialEq<String> for Label {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}

impl PartialEq<Label> for str {
    fn eq(&self, other: &Label) -> bool {
        other == self
    }
}

impl PartialOrd<str> for Label {
    fn partial_cmp(&self, other: &str) -> Option<Ordering> {
        self.0.as_str().partial_cmp(other)
    }
}

impl PartialOrd<&str> for Label {
    fn partial_cmp(&self, other: &&str) -> Option<Ordering> {
        self.0.as_str().partial_cmp(*other)
    }
}

pub fn compared(label: &Label, other: Label, all: Vec<Label>) -> bool {
    let made = Label::new("x").unwrap();
    let first = label.first();
    assert_eq!(other, "other");
    assert!(made != "made");
    first == "first"
        || other == String::new()
        || other < "other"
        || *label == String::from("label")
        || all[0] == 1
        || *"label" == *label
        || all.len() == 2
}

pub struct Count(usize);

impl PartialEq<usize> for Count {
    fn eq(&self, other: &usize) -> bool {
        self.0 == *other
    }
}

impl PartialEq for Count {
    fn eq(&self, other: &Count) -> bool {
        self.0 == other.0
    }
}

pub fn is_none(of: &Count) -> bool {
    *of == 0
}

pub const WIDE: usize = 8;

pub fn shares(of: &[u8]) -> Vec<u8> {
    let each = WIDE / of.len().max(1);
    let both = each * 2;
    let mut all = Vec::with_capacity(of.len().min(both));
    all.resize(each << 1, 0);
    all
}

pub struct Mapped<I, F> {
    pub iter: I,
    pub by: F,
}

pub struct By<R>(PhantomData<R>);

pub type Turned<I, R> = Mapped<I, By<R>>;

pub fn turned<I, R>(iter: I) -> Turned<I, R> {
    Mapped { iter, by: By(PhantomData) }
}

pub fn turn<I, R>(iter: I) -> Turned<I, R> {
    turned(iter)
}

pub enum Order<A, B> {
    First(A),
    Second(B),
}

pub mod firsts {
    pub use super::Order::First;
}

impl<A, B> Order<A, B> {
    pub fn is_first(&self) -> bool {
        match self {
            Order::First(_) => true,
            Order::Second(_) => false,
        }
    }

    pub fn is_second(&self) -> bool {
        !self.is_first()
    }

    pub fn made_first(it: A) -> Self {
        firsts::First(it)
    }
}

pub struct Ordered<A, B> {
    inner: Order<A, B>,
}

impl<A, B> Ordered<A, B> {
    pub fn new(inner: Order<A, B>) -> Self {
        Ordered { inner }
    }

    pub fn is_first(&self) -> bool {
        matches!(self.inner, firsts::First(_))
    }
}

pub fn spoken(first: Option<&str>, last: &'static str) -> Vec<String> {
    let mut all: Vec<String> = first.unwrap_or("").split(':').chain([last]).map(str::to_owned).collect();
    all.extend(last.bytes().chain(*b"ab").map(|it| it.to_string()));
    all
}
