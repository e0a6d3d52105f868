//! Every place that names these with an argument.

use crate::bounded::*;

pub struct Field {
    pub good: Wrap<u8>,
    pub plain: Wrap<Plain>,
    pub deep: Option<Vec<Wrap<String>>>,
    pub pair: Both<Plain, u8>,
}

pub struct Outer<T> {
    pub it: Wrap<T>,
}

pub struct Asked<T: Mark> {
    pub it: Wrap<T>,
}

pub enum Choice<T> {
    One(Wrap<T>),
    Two(Maybe<Plain>),
    Three(Maybe<u8>),
}

pub fn taken(it: &Wrap<Plain>) -> usize {
    let _ = it;
    1
}

pub fn given() -> Option<Wrap<u8>> {
    None
}

pub fn handed_on(it: Option<Wrap<Plain>>) -> Option<Wrap<Plain>> {
    it
}

pub fn fits(it: Wrap<u8>) -> u8 {
    it.of_byte()
}

pub fn generic<T>(it: Both<T, u8>) -> T {
    it.0
}

pub fn generic_that_fits<T>(it: Both<T, u8>) -> T
where
    T: Mark + Clone,
{
    it.0
}

pub fn in_bodies() -> usize {
    let one: Option<Wrap<u8>> = None;
    let two = std::mem::size_of::<Maybe<Plain>>();
    usize::from(one.is_some()) + two
}

pub fn made() -> u8 {
    let good = Wrap { it: 1u8 };
    let plain = Wrap { it: Plain };
    let _ = plain;
    good.it
}

pub fn filled() -> usize {
    let it: Fixed<Plain, 1> = Fixed { all: [Plain] };
    it.all.len()
}

pub fn loose(it: &Loose<str>, by: &Loose<u8>) -> usize {
    it.it.len() + usize::from(*by.it)
}

pub struct Keep;

impl Store<Plain> for Keep {
    fn put(&self, _: Plain) {}
}

impl Store<u8> for Keep {
    fn put(&self, _: u8) {}
}

impl<T> Store<Wrap<T>> for Vec<T> {
    fn put(&self, _: Wrap<T>) {}
}

pub fn stored<S: Store<Plain>>(it: &S) {
    it.put(Plain);
}

pub fn as_object(it: &dyn Store<Plain>) {
    it.put(Plain);
}

pub trait Stores: Store<Plain> {}

impl Sorted for Plain {
    type Item = Wrap<Plain>;
}

impl Sorted for u8 {
    type Item = u8;
}

impl<T> Sorted for Maybe<T> {
    type Item = T;
}

impl Sorted for Wrap<Plain> {
    type Item = Plain;
}

pub fn called() -> bool {
    wrap(Plain).is_some() && wrap(1u8).is_some()
}

pub fn holds_an_impl() -> u8 {
    struct Local;

    impl Sorted for Local {
        type Item = u8;
    }

    impl Store<Plain> for Local {
        fn put(&self, _: Plain) {}
    }

    Local.first()
}
