//! Items, attributes and expressions that the compiler refuses by their form alone, and paths that an edit shortens.

use super::truth::{Edit, Suite, hold};

const FORMS: &str = "src/forms.rs";

const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"judged\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
    ("src/lib.rs", "pub mod forms;\n"),
    (FORMS, include_str!("fixtures/forms.rs")),
];

/// What is written at the end of the file.
const WRITTEN: &[&str] = &[
    "#[repr(u8)]\npub enum Empty {}",
    "#[repr(packed)]\npub enum Packed {\n    A,\n}",
    "#[repr(u8)]\npub struct Small(u8);",
    "#[repr = \"C\"]\npub struct Equal(u8);",
    "#[repr(D)]\npub struct Unknown(u8);",
    "#[repr(\"C\")]\npub struct Quoted(u8);",
    "#[repr(u32, u64)]\npub enum Both {\n    A,\n}",
    "#[repr(packed, align(8))]\npub struct Mixed(u8);",
    "#[repr(align(15))]\npub struct Odd(u8);",
    "#[repr(packed(1), packed(2))]\npub struct Twice(u8);",
    "#[repr(transparent, C)]\npub struct Clear(u8);",
    "#[repr(align = 8)]\npub struct Assigned(u8);",
    "#[repr(transparent)]\npub enum Several {\n    A(u8),\n    B,\n}",
    "pub enum Partly {\n    A(u8) = 1,\n    B,\n}",
    "#[repr(u8)]\npub enum Numbered {\n    A(u8) = 1,\n    B = 3,\n}",
    "#[repr(C, align(16))]\n#[derive(Clone)]\npub struct Aligned(u8);",
    "#[repr(C, u8)]\npub enum Tagged {\n    A(u8),\n}",
    "#[inline()]\npub fn inlined() {}",
    "#[inline(sometimes)]\npub fn inlined() {}",
    "#[inline(always)]\npub fn inlined() {}",
    "#[deprecated(since = \"1\", since = \"2\")]\npub fn old() {}",
    "#[deprecated(reason = \"old\")]\npub fn old() {}",
    "#[deprecated(since = \"1\", note = \"old\")]\npub fn old() {}",
    "#[allow(foo = \"\")]\npub fn quiet() {}",
    "#[allow(clipp::all)]\npub fn quiet() {}",
    "#[allow(clippy::all, reason = \"so\")]\n#[expect(dead_code, reason = \"so\")]\nfn quiet() {}",
    "#[stable(feature = \"a\", since = \"1\")]\npub fn stable() {}",
    "#[track_caller]\npub extern \"C\" fn tracked() {}",
    "#[track_caller]\npub struct Tracked;",
    "#[non_exhaustive]\npub trait Closed {}",
    "unsafe extern \"C\" {\n    fn generic<T>(it: T);\n}",
    "unsafe extern \"C\" {\n    fn pattern((a, b): (u32, u32));\n}",
    "unsafe extern \"C\" {\n    fn any(it: u8, ...);\n    fn some<'a>(it: &'a u8, _: u8) -> &'a u8;\n}",
    "unsafe extern \"Rust\" {\n    fn variadic(it: u8, ...);\n}",
    "pub struct Later<T = U, U = ()>(T, U);",
    "pub struct Earlier<T = (), U = T>(T, U);",
    "pub struct Selfish<T = Box<Self>>(T);",
    "pub fn counted<T, const N: T>() {}",
    "pub struct Held<T>(T);\nimpl<T> Held<T> {\n    pub fn with<T>(self, _: T) {}\n}",
    "pub struct Lent<'a>(&'a u8);\nimpl<'a> Lent<'a> {\n    pub fn with<'a>(self, _: &'a u8) {}\n}",
    "pub struct Lent<'a>(&'a u8);\nimpl<'a> Lent<'a> {\n    pub fn with<'b>(self, _: &'b u8) {}\n}",
    "pub fn quantified<T>(_: T)\nwhere\n    for<'a> &'a T: for<'b> PartialEq<&'b u8>,\n{\n}",
    "pub fn bounded<T: Into<&u32>>(_: T) {}",
    "pub fn called<T: Fn(&u32) -> &u32>(_: T) {}",
    "pub fn shown(_: impl PartialEq<&'static u32>) {}",
    "impl Sized for Plain {}",
    "impl *mut Plain {}",
    "pub fn captured() -> impl Sized + use<U> {}",
    "pub fn captured<T>(_: T) -> impl Sized + use<T> {}",
    "impl Plain {\n    pub fn taken<R: std::ops::Deref<Target = Self>>(self: R) {}\n}",
    "impl Plain {\n    pub fn taken(self: Box<Self>) {}\n}",
    "pub(in crate::nowhere) struct Hidden;",
    "pub(in crate::forms) struct Hidden;",
    "pub fn ranged(it: u8) -> bool {\n    matches!(it, 0) || match it {\n        9..=5 => true,\n        _ => false,\n    }\n}",
    "pub fn ranged(it: u8) -> bool {\n    match it {\n        5..5 => true,\n        _ => false,\n    }\n}",
    "pub fn ranged(it: i8) -> bool {\n    match it {\n        -5..=5 | 7..8 => true,\n        _ => false,\n    }\n}",
    "pub fn named(it: Kind) -> u8 {\n    match it {\n        One => 1,\n        _ => 2,\n    }\n}",
    "pub fn named(it: Kind) -> u8 {\n    use Kind::*;\n    match it {\n        One => 1,\n        Two => 2,\n    }\n}",
    "pub fn unlabeled() {\n    loop {\n        'a: {\n            if true {\n                break 'a;\n            }\n            continue;\n        }\n    }\n}",
    "pub fn unlabeled() {\n    'a: {\n        loop {\n            break;\n        }\n        if true {\n            break 'a;\n        }\n    }\n}",
    "pub fn address() -> *const u8 {\n    &raw const 2\n}",
    "pub fn address() -> *const u8 {\n    let it = 2u8;\n    &raw const it\n}",
    "#[cfg(any())]\npub fn off() {\n    struct Shape;\n    impl super::forms::Shape for Shape {\n        fn size(&self) -> u8 {\n            1\n        }\n    }\n}",
    "pub struct Determined<T: Copy, I: Iterator<Item = T>>(I);",
    "pub struct Undetermined<T: Copy, I: Iterator>(I);",
    "pub fn joined(it: &str) -> String {\n    let mut all = String::new();\n    all += &format!(\"{it}\");\n    all = all + &it.to_owned();\n    all\n}",
    "pub fn unsized_result() -> dyn Shape {\n    panic!()\n}",
    "pub fn boxed_result() -> Box<dyn Shape> {\n    panic!()\n}",
    "pub type Again = Box<dyn Iterator<Item = u32, Item = u32>>;",
    "pub fn twice(_: impl Iterator<Item = u32, Item: Copy>) {}",
    "pub fn bare<'a>(_: &'a (Shape + 'a)) {}",
    "pub type Alias = u32<i32>;",
    "pub const NUMBER: u8 = 1;\nimpl NUMBER {}",
    "pub type Never = dyn Copy;",
    "impl Shape for Plain {\n    fn size(&self) -> u8 {\n        1\n    }\n    sized_as!(1);\n}",
    "impl Plain {\n    sized_as!(1);\n}",
];

/// The text that is replaced, and its replacement.
const SHORTENED: &[(&str, &str)] = &[
    ("std::process::exit", "process::exit"),
    ("core::hint::spin_loop", "hint::spin_loop"),
    ("it: &mut std::fmt::Formatter", "it: &mut fmt::Formatter"),
    ("std::process::exit", "::std::process::exit"),
    ("core::hint::spin_loop", "std::hint::spin_loop"),
    ("core::hint::spin_loop", "core::hints::spin_loop"),
];

#[test]
fn what_the_compiler_refuses_by_its_form_is_reported() {
    let written = WRITTEN.iter().map(|&to| Edit { name: to, file: FORMS, from: "// Here.", to });
    let shortened = SHORTENED.iter().map(|&(from, to)| Edit { name: to, file: FORMS, from, to });
    let edits: Vec<Edit<'_>> = written.chain(shortened).collect();
    hold(&Suite { name: "forms", files: FILES, is_built: false }, &edits);
}
