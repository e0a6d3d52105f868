//! A file into which wrong things are written.

use crate::wording::{self as a, Conf, Msg, Plain};
use std::collections::HashMap;
use std::fmt;

pub struct Thing {
    pub n: u32,
    pub name: String,
}

#[derive(Clone, Debug)]
pub enum Kind {
    One,
    Two(u8),
}

impl Thing {
    pub fn size(&self) -> u32 {
        self.n
    }
    pub fn grow(&mut self, by: u32) {
        self.n += by;
    }
}

impl Plain for Thing {
    fn go(&self) -> u8 {
        1
    }
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

pub fn work(c: &Conf, k: Kind) -> Result<u32, String> {
    let mut map: HashMap<String, u32> = HashMap::new();
    map.insert(c.title.clone(), 1);
    let total: u32 = map.values().sum();
    let v = vec![1, 2, 3];
    let first = v.first().copied().unwrap_or(0);
    match k {
        Kind::One => {}
        Kind::Two(n) => drop(n),
    }
    for (name, n) in &map {
        println!("{name} {n}");
    }
    let add = |x: u32| x + first;
    let text = format!("{} {}", total, c.level);
    if text.is_empty() {
        return Err("empty".to_string());
    }
    let got = a::free(1, &text).ok_or("none")?;
    Ok(add(total) + got as u32)
}

pub fn tail() -> u32 {
    3
}

pub async fn later(n: u32) -> u32 {
    n
}

pub async fn waits() -> u32 {
    let a = later(1).await;
    a + 1
}

pub struct Gen<T> {
    pub it: T,
}

impl<T: Clone> Gen<T> {
    pub fn twice(&self) -> (T, T) {
        (self.it.clone(), self.it.clone())
    }
}

pub static NAMES: [&str; 2] = ["a", "b"];
pub const SUM: usize = a::LIM + 1;
pub type Map = HashMap<u8, Conf>;

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn tails() {
        assert_eq!(tail(), 3);
    }
}
