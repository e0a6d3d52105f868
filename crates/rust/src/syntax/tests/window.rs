//! An outline that is updated from an earlier one equals the complete outline.

use super::*;
use crate::syntax::window;

const PIECES: [&str; 24] = [
    "",
    "",
    "x",
    "\n",
    ";",
    "}",
    "{",
    "//",
    "/*",
    "*/",
    "\"",
    "r#\"",
    "#",
    "#[inline]\n",
    "#![allow(unused)]\n",
    "//! Docs.\n",
    "/// Docs.\n",
    "pub ",
    "struct S;\n",
    "pub(crate) enum E { A }\n",
    "fn f() { g() }\n",
    "\nuse a::{b, c as d};\n",
    "impl S { fn m(&self) {} }\n",
    "macro_rules! m { () => {} }\n",
];

#[test]
fn an_outline_out_of_an_earlier_one_is_the_outline() {
    let mut below = chance(0x9e6c_63d0_876a_3f17);
    let (mut asked, mut reused) = (0, 0);
    for (path, text) in corpus() {
        let old = outline(&text);
        for _ in 0..60 {
            let character = |at: usize| (0..=at).rev().find(|it| text.is_char_boundary(*it)).unwrap();
            let line = |at: usize| text[..at].rfind('\n').map_or(0, |it| it + 1);
            let at = character(below(text.len() + 1));
            let at = if below(2) == 0 { line(at) } else { at };
            let length = [0, 0, 1, 10, 200][below(5)];
            let end = character((at + length).min(text.len())).max(at);
            let end = if below(3) == 0 { line(end).max(at) } else { end };
            let new = format!("{}{}{}", &text[..at], PIECES[below(PIECES.len())], &text[end..]);
            asked += 1;
            if let Some(found) = window::outline_after(&old, &text, &new) {
                reused += 1;
                let (derived, anew) = (format!("{found:#?}"), format!("{:#?}", outline(&new)));
                let differing = derived.lines().zip(anew.lines()).find(|(derived, anew)| derived != anew);
                assert!(derived == anew, "{} {at}..{end} {differing:?}:\n{new}", path.display());
            }
        }
    }
    assert!(reused * 6 > asked, "{reused} of {asked}");
}
