//! Types and traits of which the parameters get bounds.

pub trait Mark {}

impl Mark for u8 {}

pub struct Plain;

#[derive(Clone, Debug)]
pub struct Wrap<T> {
    pub it: T,
}

impl Wrap<u8> {
    pub fn of_byte(&self) -> u8 {
        self.it
    }
}

pub struct Both<A, B>(pub A, pub B);

pub enum Maybe<T> {
    Some(T),
    Nothing,
}

pub struct Fixed<T, const N: usize> {
    pub all: [T; N],
}

pub struct Loose<T: ?Sized> {
    pub it: Box<T>,
}

pub trait Store<K> {
    fn put(&self, key: K);
}

pub trait Sorted {
    type Item;
    fn first(&self) -> u8 {
        1
    }
}

pub fn wrap<T>(it: T) -> Option<T> {
    Some(it)
}
