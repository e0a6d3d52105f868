//! More of what names the things of `shapes`.

use crate::shapes::{Bearing, East, Gear, Page, Turn, West};

pub fn width(of: &Page<'_>, lines: usize) -> usize {
    let mut count = of.0.lines().count();
    if of.0.ends_with('x') {
        count += 1;
    }
    let size = if count <= 1 { 0 } else { count.to_string().len() };
    let mut found = Read { size, lines: vec![] };
    found.lines.push(count);
    found.size + lines.to_string().len()
}

pub struct Read {
    pub size: usize,
    pub lines: Vec<usize>,
}

pub struct Reader;

#[cfg(not(unix))]
impl Drop for Reader {
    fn drop(&mut self) {
        use crate::shapes::Page;

        drop(Page(""));
    }
}

macro_rules! either {
    ($value:expr, $of:pat => $to:expr) => {
        match $value {
            Turn::Left($of) => $to,
            Turn::Right($of) => $to,
        }
    };
}

pub struct Turned {
    pub turn: Turn,
}

impl Turned {
    pub fn degrees(&self) -> u16 {
        either!(self.turn, it => it)
    }

    pub fn far(&mut self) -> u16 {
        either!(&mut self.turn, it => *it) + either!(Turn::clone(&self.turn), ref it => *it)
    }

    pub fn near(turn: Turn) -> u16 {
        either!(turn, it => it)
    }
}

pub fn bearing() -> u16 {
    use std::string::String;

    let name = String::from("north");
    let bearing: Bearing<usize> = East(name.len());
    match bearing {
        East(it) => it as u16,
        West => 0,
    }
}

pub fn over(it: Option<usize>, found: Bearing<usize>) -> Option<Bearing<usize>> {
    match found {
        East(_) => it.map(Bearing::East),
        West => None,
    }
}

pub fn speed(gear: Gear) -> u8 {
    #[cfg(feature = "never")]
    {
        match gear {
            Gear::High => return 9,
            Gear::Low => {}
        }
    }
    #[cfg(not(feature = "never"))]
    {
        if matches!(gear, Gear::Low) {
            return 1;
        }
    }
    #[cfg(feature = "never")]
    let fast = Gear::High;
    match gear {
        #[cfg(feature = "never")]
        Gear::High => 3,
        Gear::Low => 1,
        _ => 2,
    }
}
