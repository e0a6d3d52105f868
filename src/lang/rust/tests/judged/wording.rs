//! What stands beside the edited file.

pub struct Conf {
    pub level: u8,
    pub title: String,
}
impl Conf {
    pub fn new() -> Self {
        Conf { level: 1, title: String::new() }
    }
    pub fn set(&mut self, l: u8) {
        self.level = l;
    }
}
pub trait Plain {
    fn go(&self) -> u8;
    fn stay(&self) {}
}
pub enum Msg {
    Quit,
    Write(String),
    Move { x: i32 },
}
pub mod deep {
    pub struct Hid;
    pub(super) fn low() {}
    pub fn high() {}
}
pub fn free(a: u8, b: &str) -> Option<u8> {
    None
}
pub const LIM: usize = 3;
