//! Traits, generics, functions and constants that are edited.

pub trait Shape {
    type Unit;
    const SIDES: usize = 1;
    fn area(&self, scale: u32) -> u32;
    fn name(&self) -> String {
        String::new()
    }
    fn make() -> Self
    where
        Self: Sized;
}
pub trait Paint {
    fn paint(&mut self, color: &str) -> bool;
}
pub trait Store<K> {
    fn get(&self, k: &K) -> Option<u8>;
    fn put(&mut self, k: K, v: u8);
}
pub trait Plain {
    fn go(&self);
}
pub struct Grid<T> {
    pub cells: Vec<T>,
    pub width: usize,
}
pub struct Conf {
    pub level: u8,
    pub title: String,
    pub tags: Vec<String>,
    pub opt: Option<u32>,
}
pub enum Msg {
    Quit,
    Move { x: i32, y: i32 },
    Write(String),
    Color(u8, u8, u8),
}
pub fn build(level: u8, title: &str) -> Conf {
    Conf { level, title: title.to_string(), tags: Vec::new(), opt: None }
}
pub fn gen<T>(it: T) -> Grid<T> {
    Grid { cells: vec![it], width: 1 }
}
pub fn cb(f: impl Fn(u8) -> bool) -> bool {
    f(1)
}
pub fn cb2<F: FnMut(&str, u8)>(mut f: F) {
    f("a", 1)
}
pub fn err(n: u8) -> Result<u8, String> {
    Ok(n)
}
pub fn slice(it: &[u8]) -> &[u8] {
    it
}
pub const MAX: usize = 4;
pub static NAME: &str = "n";
pub type Pair = (u8, String);
pub mod inner {
    pub fn deep() -> u8 {
        1
    }
    pub struct Hid {
        pub a: u8,
    }
    pub const K: u8 = 2;
}
pub const fn calc(a: usize) -> usize {
    a + 1
}
pub unsafe fn raw(a: u8) -> u8 {
    a
}
pub fn safe(a: u8) -> u8 {
    a
}
impl Conf {
    pub fn level(&self) -> u8 {
        self.level
    }
    pub fn set(&mut self, l: u8) -> &mut Self {
        self.level = l;
        self
    }
    pub fn into_title(self) -> String {
        self.title
    }
    pub const DEF: u8 = 3;
    pub fn new() -> Self {
        build(1, "a")
    }
}
impl<T> Grid<T> {
    pub fn at(&self, i: usize) -> Option<&T> {
        self.cells.get(i)
    }
    pub fn map<U>(self, f: impl Fn(T) -> U) -> Grid<U> {
        Grid { cells: self.cells.into_iter().map(f).collect(), width: self.width }
    }
}
#[macro_export]
macro_rules! conf {
    ($l:expr) => {
        $crate::parts::build($l, "m")
    };
}
macro_rules! fields {
    ($c:ident) => {
        ($c.level, &$c.title)
    };
}
pub(crate) use fields;
