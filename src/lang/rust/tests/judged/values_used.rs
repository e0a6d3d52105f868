//! Many ways to need what they lose.

use crate::values::*;
use std::collections::*;
pub fn keys() {
    let mut m: HashMap<Id, u8> = HashMap::new();
    m.insert(Id(1), 2);
    let _ = m.get(&Id(1));
    let mut b: BTreeMap<Id, u8> = BTreeMap::new();
    b.insert(Id(1), 2);
    let s: HashSet<Id> = [Id(1)].into_iter().collect();
    let t: BTreeSet<Id> = BTreeSet::from([Id(1)]);
    s.contains(&Id(1));
    t.contains(&Id(2));
}
pub fn orders(mut v: Vec<Id>) {
    v.sort();
    v.sort_unstable();
    v.sort_by_key(|it| *it);
    v.dedup();
    let _ = v.contains(&Id(3));
    let _ = v.iter().max();
    let _ = v.iter().min_by_key(|it| **it);
    let _ = v.binary_search(&Id(1));
    let _ = Id(1) < Id(2);
    let _ = Id(1) == Id(2);
    let _ = Id(1).cmp(&Id(2));
    let _ = Id(1).max(Id(2));
    let _ = std::cmp::max(Id(1), Id(2));
    let _ = v.iter().position(|it| *it == Id(1));
    assert_eq!(v, vec![Id(1)]);
    assert_ne!(v[0], Id(1));
    let _ = v == [Id(1)];
    let _ = Some(Id(1)) == v.first().copied();
    let _ = (Id(1), 2) == (Id(2), 3);
    matches!(v.first(), Some(it) if *it == Id(2));
}
pub fn copies(v: &[Id]) {
    let _ = v.iter().copied().collect::<Vec<_>>();
    let _ = v.iter().cloned().next();
    let _ = v.to_vec();
    let _ = vec![Id(1); 3];
    let _ = [Id(1); 3];
    let _ = v[0].clone();
    let _ = Vec::from(v);
    let _ = v.first().cloned();
    let c = std::cell::Cell::new(Id(1));
    let _ = c.get();
    let _ = vec![v.to_vec()].clone();
    let _ = v.iter().map(|&it| it).count();
    let x = Some(Id(1));
    let _ = x.clone();
    let _ = std::borrow::Cow::Borrowed(v).into_owned();
    let mut w = v.to_owned();
    w.extend_from_slice(v);
    w.resize(9, Id(0));
    w.fill(Id(1));
    let _ = w.repeat(2);
}
pub fn prints(v: &[Id], n: &Name) {
    println!("{:?}", v);
    println!("{:?} {}", v[0], n);
    println!("{n}");
    let _ = format!("{:?}", Some(Id(1)));
    let _ = n.to_string();
    let r: Result<u8, Id> = Ok(1);
    r.unwrap();
    let r: Result<Id, u8> = Err(1);
    let _ = r.unwrap_err();
    let _ = format_args!("{}", n).to_string();
    assert!(v.is_empty(), "{:?}", v);
    let r: Result<u8, Id> = Ok(1);
    r.expect("x");
}
pub fn defaults() -> Id {
    let _ = Id::default();
    let _: Id = Default::default();
    let _ = Some(Id(1)).unwrap_or_default();
    let mut x = Id(1);
    let _ = std::mem::take(&mut x);
    let m: HashMap<u8, Id> = HashMap::new();
    let mut m = m;
    *m.entry(1).or_default() = Id(2);
    let _ = <(Id, u8)>::default();
    let _: [Id; 2] = Default::default();
    Default::default()
}
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Holder {
    pub id: Id,
    pub more: Vec<Id>,
}
#[derive(Clone, Debug, PartialEq)]
pub enum Either {
    L(Id),
    R { name: Name },
}
#[derive(Clone, Copy)]
pub struct Light(Id);
pub fn generic<T: Clone + PartialEq>(_: T) {}
pub fn shown<T: std::fmt::Display + ?Sized>(_: &T) {}
pub fn hashed(_: impl std::hash::Hash) {}
pub fn uses() {
    generic(Id(1));
    generic(Either::L(Id(1)));
    generic(vec![Id(1)]);
    shown(&Name::from(1));
    hashed(Id(1));
    let _: Box<dyn std::fmt::Display> = Box::new(Name::from(2));
    let _: Box<dyn std::error::Error> = Box::new(Bad);
    let _: &dyn std::fmt::Debug = &Id(1);
    let _: Name = 3.into();
    let _ = Name::from(3) + Name::from(4);
    let _ = Name::from(3)[0];
    let _ = Wrap(Name::from(1)).text.len();
    let _: Option<Name> = "a".parse().ok();
    let _ = "a".parse::<Name>();
    shown::<Name>(&1.into());
    let b: Bag = Seq.collect();
    for _ in Seq {}
    for _ in &b {}
    let mut b = b;
    b.extend(Seq);
    let _ = std::path::Path::new(Name::from(1).as_ref());
    let _ = Seq.map(|it| it.0).sum::<u32>();
    let _ = Wrap(Name::from(2)) == *"a";
    let _ = Seq.filter(|it| it.0 > 1).last();
    let _ = Some(Name::from(1)).map(|it| it.to_string());
    takes(Name::from(1));
    let c: fn(u8) -> Name = Name::from;
    let _ = [1u8].map(Name::from);
    let _ = [1u8].into_iter().map(Name::from).map(|it| it.text);
    let _ = [1u8].into_iter().map(Into::<Name>::into).count();
}
pub fn takes(_: impl Into<String> + AsRef<str>) {}
impl From<Name> for String {
    fn from(it: Name) -> String {
        it.text
    }
}
pub fn fails() -> Result<u8, Box<dyn std::error::Error>> {
    let n: Name = "a".parse()?;
    Err(Bad)?;
    Err(Box::new(Bad))
}
pub fn fails2() -> Result<Name, Bad> {
    let n: Name = "a".parse()?;
    Ok(2u8.into())
}
