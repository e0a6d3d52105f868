//! Types whose values lose what they can do.

use std::fmt;
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Id(pub u32);
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    pub text: String,
}
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
#[derive(Debug)]
pub struct Bad;
impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bad")
    }
}
impl std::error::Error for Bad {}
impl From<u8> for Name {
    fn from(_: u8) -> Self {
        Name { text: String::new() }
    }
}
impl std::ops::Add for Name {
    type Output = Name;
    fn add(self, _: Name) -> Name {
        self
    }
}
impl std::ops::Index<usize> for Name {
    type Output = u8;
    fn index(&self, i: usize) -> &u8 {
        &self.text.as_bytes()[i]
    }
}
impl std::ops::Deref for Wrap {
    type Target = Name;
    fn deref(&self) -> &Name {
        &self.0
    }
}
pub struct Wrap(pub Name);
impl Iterator for Seq {
    type Item = Id;
    fn next(&mut self) -> Option<Id> {
        None
    }
}
pub struct Seq;
impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.text
    }
}
impl std::str::FromStr for Name {
    type Err = Bad;
    fn from_str(s: &str) -> Result<Self, Bad> {
        Err(Bad)
    }
}
impl Extend<Id> for Bag {
    fn extend<T: IntoIterator<Item = Id>>(&mut self, _: T) {}
}
impl FromIterator<Id> for Bag {
    fn from_iter<T: IntoIterator<Item = Id>>(_: T) -> Self {
        Bag
    }
}
pub struct Bag;
impl Drop for Bag {
    fn drop(&mut self) {}
}
impl PartialEq<str> for Wrap {
    fn eq(&self, o: &str) -> bool {
        self.0.text == o
    }
}
impl<'a> IntoIterator for &'a Bag {
    type Item = Id;
    type IntoIter = Seq;
    fn into_iter(self) -> Seq {
        Seq
    }
}
