//! More of what names the things of `shapes`.

use crate::shapes::Page;

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
