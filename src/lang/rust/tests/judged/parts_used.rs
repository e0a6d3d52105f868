//! Many ways to use them.

use crate::parts::*;
pub struct Sq(u32);
impl Shape for Sq {
    type Unit = u8;
    fn area(&self, scale: u32) -> u32 {
        self.0 * scale
    }
    fn make() -> Self {
        Sq(1)
    }
}
pub struct Ci;
impl Shape for Ci {
    type Unit = ();
    const SIDES: usize = 0;
    fn area(&self, _: u32) -> u32 {
        3
    }
    fn name(&self) -> String {
        "c".into()
    }
    fn make() -> Self {
        Ci
    }
}
impl Paint for Sq {
    fn paint(&mut self, color: &str) -> bool {
        color.is_empty()
    }
}
impl Store<String> for Sq {
    fn get(&self, k: &String) -> Option<u8> {
        k.bytes().next()
    }
    fn put(&mut self, k: String, v: u8) {
        let _ = (k, v);
    }
}
impl Plain for Sq {
    fn go(&self) {}
}
impl<T: Plain> Plain for Vec<T> {
    fn go(&self) {
        for it in self {
            it.go()
        }
    }
}
impl Plain for Box<dyn Plain> {
    fn go(&self) {
        (**self).go()
    }
}
pub fn total<S: Shape>(all: &[S]) -> u32 {
    all.iter().map(|it| it.area(2)).sum()
}
pub fn unit<S: Shape<Unit = u8>>(_: &S) -> usize {
    S::SIDES
}
pub fn dynamic(it: &dyn Plain, p: &mut dyn Paint) -> bool {
    it.go();
    p.paint("red")
}
pub fn store(s: &mut impl Store<String>) {
    s.put("a".to_string(), 1);
    if let Some(x) = s.get(&"b".to_string()) {
        drop(x)
    }
}
pub fn calls() {
    let sq = Sq::make();
    let _ = sq.area(3) + 1;
    let _ = <Sq as Shape>::area(&sq, 2);
    let _ = Shape::name(&sq).len();
    let _: <Sq as Shape>::Unit = 3;
    let _ = [0u8; Ci::SIDES];
    let _ = total(&[sq]);
    unit(&Sq(2));
    let b: Box<dyn Plain> = Box::new(Sq(1));
    b.go();
    vec![Sq(1)].go();
    let f = Sq::area;
    let _ = f(&Sq(1), 2);
    let mut q = Sq(3);
    q.paint("x");
    Paint::paint(&mut q, "y");
}
pub fn grids() {
    let g: Grid<u8> = gen(1);
    let _ = g.at(0).copied().unwrap_or(2);
    let h = g.map(|it| it as u32 + 1);
    let Grid { cells, width } = h;
    let _ = cells.len() + width;
    let z = Grid { cells: vec![1u8], width: 3 };
    let y = Grid::<u8> { width: 4, ..z };
    let _: Vec<Grid<String>> = Vec::new();
    let _ = gen::<u8>(3);
    let n = Grid { cells: vec![gen("a")], width: y.width };
    let _ = n.at(0).map(|it| it.width);
}
pub struct Keeps {
    pub grid: Grid<Conf>,
    pub all: [u8; MAX],
}
pub fn confs() -> u8 {
    let mut c = build(1, "a");
    c.level += 1;
    c.title.push('x');
    let t: &str = &c.title;
    let n = t.len() + c.tags.len();
    c.set(2).set(3);
    let l = c.level() as usize + n;
    let Conf { level, ref title, .. } = c;
    let _ = (level, title);
    match c {
        Conf { level: 0, .. } => {}
        Conf { opt: Some(k), .. } if k > 1 => {}
        Conf { .. } => {}
    }
    let d = Conf { level: 2, ..Conf::new() };
    let e = Conf { level: 1, title: "t".into(), tags: vec![], opt: None };
    let s = d.into_title();
    let _ = e.opt.map(|it| it + 1).unwrap_or(Conf::DEF as u32);
    for tag in &e.tags {
        let _: &String = tag;
    }
    let _ = e.tags.iter().map(|it| it.len()).max();
    let f = |c: &Conf| c.level;
    f(&e) + conf!(3).level + l as u8 + s.len() as u8
}
pub fn macros(c: &Conf) {
    let (a, b) = fields!(c);
    let _: u8 = a;
    let _: &String = b;
    let _ = conf!(4).title;
}
pub fn msgs(m: Msg) -> i32 {
    let _ = Msg::Move { x: 1, y: 2 };
    let w = Msg::Write;
    let _ = w("a".into());
    if let Msg::Color(r, ..) = &m {
        let _: &u8 = r;
    }
    let _ = matches!(m, Msg::Quit);
    match m {
        Msg::Quit => 0,
        Msg::Move { x, y } => x + y,
        Msg::Write(s) => s.len() as i32,
        Msg::Color(r, g, b) => (r + g + b) as i32,
    }
}
pub fn msgs2(m: &Msg) -> bool {
    use Msg::*;
    match m {
        Quit | Write(_) => true,
        Move { x, .. } => *x > 1,
        _ => false,
    }
}
pub fn funs() -> Result<u8, String> {
    let a = err(1)?;
    let b = err(2).unwrap_or(3);
    let _ = err(3).map(|it| it + 1).and_then(err)?;
    let Ok(c) = err(4) else { return Err("x".into()) };
    match err(5) {
        Ok(n) => drop(n),
        Err(e) => drop(e.len()),
    }
    if cb(|it| it > 2) {
        cb2(|s, n| {
            let _ = s.len() + n as usize;
        });
    }
    cb(is_even);
    let p: fn(u8, &str) -> Conf = build;
    let q = slice(&[1, 2]).first();
    let v = vec![1, 2].iter().copied().map(err).collect::<Result<Vec<_>, _>>()?;
    let _ = v.len();
    Ok(a + b + c + q.copied().unwrap_or(0) + p(1, "a").level)
}
fn is_even(n: u8) -> bool {
    n % 2 == 0
}
pub const ARR: [u8; MAX] = [0; MAX];
pub static LEN: usize = calc(MAX) + NAME.len();
pub const TABLE: [[u8; calc(2)]; 2] = [[0; 3]; 2];
pub fn pairs(p: Pair) -> usize {
    let (a, b) = p;
    a as usize + b.len()
}
pub fn pairs2() -> Pair {
    (1, "a".to_string())
}
pub fn mods() -> u8 {
    inner::deep() + crate::parts::inner::K + inner::Hid { a: 1 }.a
}
pub fn raws() -> u8 {
    let x = unsafe { raw(1) };
    let f: fn(u8) -> u8 = safe;
    safe(x) + f(2) + [1u8].iter().map(|it| safe(*it)).sum::<u8>()
}
pub fn idx(a: &[u8]) -> u8 {
    match a.len() {
        MAX => 1,
        _ => a[MAX],
    }
}
pub async fn waits() -> u8 {
    let c = build(1, "z");
    c.level()
}
pub fn borrowed<'a>(c: &'a Conf) -> &'a str {
    &c.title
}
