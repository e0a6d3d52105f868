//! What the modules of `handed.rs` name by globs and by imports of imports.

#[derive(Clone, Default)]
pub struct Thing {
    pub size: u8,
}

pub struct Pair(pub u8, pub u8);

pub trait Measure {
    type Unit;
    const MOST: u8 = 9;
    fn measure(&self) -> u8;
}

impl Measure for Thing {
    type Unit = u8;
    fn measure(&self) -> u8 {
        self.size
    }
}

pub enum Kind {
    Round,
    Flat(u8),
    Odd { by: u8 },
}

pub type Short = Vec<Thing>;

pub const LIMIT: u8 = 3;

pub static NAMES: [&str; 1] = ["one"];

pub fn helper() -> u8 {
    1
}

pub mod deep {
    pub struct Inner;

    pub fn deepest() -> u8 {
        2
    }
}

#[macro_export]
macro_rules! twice {
    ($it:expr) => {
        $it * 2
    };
}
