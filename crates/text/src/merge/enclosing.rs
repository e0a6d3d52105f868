//! What encloses a place: the lines above it that are indented less, with the lines that open what these close, and the
//! heading above a text that is not indented. Of equal lines a comparison may take others than its author meant: the
//! lines that enclose them tell them apart.

use std::ops::Range;

use super::indentation::{indent, line_start, width};
use super::{Conflict, ThreeWay};
use crate::tokens::{Change, Tokens, is_word, kept};

const ELSEWHERE: &str = "what encloses the place in the text that was read encloses no such place in the file";

impl ThreeWay<'_, '_> {
    /// A conflict if one of our changes is enclosed by other lines in their text than in the base. The texts are whole,
    /// and begin with so many bytes that are the same.
    pub(super) fn check_enclosing(&self, base: &str, theirs: &str, same: usize) -> Result<(), Conflict> {
        let mut of_theirs: Vec<Option<usize>> = vec![None; self.theirs.len()];
        let kept = kept(&self.changed_tokens, self.base.len());
        for (at, there) in kept.iter().enumerate() {
            there.iter().for_each(|it| of_theirs[*it] = Some(at));
        }
        let tokens = |line: &Range<usize>, side: &Tokens<'_>| {
            side.at_or_after(line.start - same)..side.at_or_after(line.end - same)
        };
        // Whether a line of their text is what a line of the base has become. If it differs, neither must be
        // elsewhere: two functions that changed places were not renamed.
        let is_same = |line: &Range<usize>, there: &Range<usize>| {
            if line.end <= same || there.end <= same {
                return line == there;
            }
            let [old, new] = [&base[line.clone()], &theirs[there.clone()]];
            if old != new && (has_line(theirs, old) || has_line(base, new)) {
                return false;
            }
            let (line, there) = (tokens(line, self.base), tokens(there, self.theirs));
            let is_in = |part: &Range<usize>, line: &Range<usize>| {
                !part.is_empty() && line.start <= part.start && part.end <= line.end
            };
            let is_replaced = |it: &Change| is_in(&it.old, &line) && is_in(&it.new, &there);
            let mut from = of_theirs[there.clone()].iter().flatten().peekable();
            (from.peek().is_some() || self.changed_tokens.iter().any(is_replaced)) && from.all(|it| line.contains(it))
        };
        let is_word = |tokens: &Tokens<'_>, at: &usize| tokens.get(*at).starts_with(is_word);
        // Whether a line is in both texts, as a whole or in part.
        let is_gone = |line: &Range<usize>| {
            line.end > same
                && !has_line(theirs, &base[line.clone()])
                && tokens(line, self.base).all(|it| kept[it].is_none() || !is_word(self.base, &it))
        };
        let is_new = |line: &Range<usize>| {
            line.end > same
                && !has_line(base, &theirs[line.clone()])
                && tokens(line, self.theirs).all(|it| of_theirs[it].is_none() || !is_word(self.theirs, &it))
        };
        let is_elsewhere = |at: usize, there: usize| {
            let lines = enclosing(base, self.base.start(at) + same);
            let around = enclosing(theirs, self.theirs.start(there) + same);
            let is_left = |line: &Range<usize>| around.iter().any(|it| is_same(line, it));
            let was_there = |it: &Range<usize>| lines.iter().any(|line| is_same(line, it));
            // They may have wrapped or unwrapped the place, but not moved it out of what encloses it all.
            !(lines.last().is_none_or(is_left)
                && lines.iter().all(|it| is_left(it) || is_gone(it))
                && around.iter().all(|it| was_there(it) || is_new(it)))
        };
        for cluster in self.clusters.iter().filter(|it| it.is_ours && it.changes.is_empty()) {
            let (start, there) = (cluster.base.start, cluster.theirs.start);
            // What is only added is where its neighbours are.
            let first = if cluster.base.is_empty() { start.saturating_sub(1) } else { start };
            let last = if cluster.base.is_empty() { start } else { cluster.base.end - 1 };
            let mut tokens = [first, last].into_iter().filter(|it| *it < self.base.len());
            let is_moved = |at: usize| {
                let kept = self.kept[at].filter(|it| it + start == there + at);
                kept.is_some_and(|it| is_elsewhere(at, it))
            };
            if tokens.any(is_moved) {
                return Err(self.conflict(ELSEWHERE, cluster.ranges()));
            }
        }
        Ok(())
    }
}

/// Whether the same lines enclose two places of two texts.
pub fn is_enclosed_alike([text, other]: [&str; 2], [at, there]: [usize; 2]) -> bool {
    let lines = |text, at| enclosing(text, at).into_iter().map(move |it| &text[it]);
    lines(text, at).eq(lines(other, there))
}

/// The lines that enclose the line at an offset, the innermost first, each as a range without its indentation.
pub(super) fn enclosing(text: &str, at: usize) -> Vec<Range<usize>> {
    let begin = line_start(text, at);
    let own = text[begin..].lines().next().unwrap_or_default();
    let mut found = Vec::new();
    // Lines that are indented less than this are outside.
    let mut outside = width(indent(own));
    // A bracket that closes something is in what a line with its own indentation opens.
    let mut seeks_opening = closes(own);
    let mut end = begin;
    for line in text[..begin].split_inclusive('\n').rev() {
        let start = end - line.len();
        end = start;
        let content = line.trim();
        let indented = width(indent(line));
        let is_heading = indented == 0 && outside == 0 && is_heading(content);
        let is_opening = seeks_opening && indented == outside && !closes(line);
        if content.is_empty() || indented >= outside && !is_heading && !is_opening {
            continue;
        }
        let content_start = start + line.len() - line.trim_start().len();
        found.push(content_start..content_start + content.len());
        seeks_opening = indented < outside && closes(line);
        outside = indented;
        if is_heading {
            break;
        }
    }
    found
}

fn has_line(text: &str, line: &str) -> bool {
    text.lines().any(|it| it.trim() == line)
}

fn closes(line: &str) -> bool {
    line.trim_start().starts_with([')', ']', '}'])
}

/// A heading of Markdown, or a table of TOML.
fn is_heading(line: &str) -> bool {
    let words = line.trim_start_matches('#');
    words.len() < line.len() && words.starts_with(' ') || line.starts_with('[') && line.ends_with(']')
}

#[cfg(test)]
mod tests {
    use super::super::merge;
    use super::*;

    fn lines<'a>(text: &'a str, at: &str) -> Vec<&'a str> {
        enclosing(text, text.find(at).unwrap()).into_iter().map(|it| &text[it]).collect()
    }

    #[test]
    fn lines_that_are_indented_less() {
        let text = "impl A {\n    fn f(\n        a: u8,\n    ) {\n        if a {\n            b();\n        } else {\n            c();\n        }\n    }\n}\n";
        assert_eq!(lines(text, "c()"), ["} else {", "if a {", ") {", "fn f(", "impl A {"]);
        assert_eq!(lines(text, "b()"), ["if a {", ") {", "fn f(", "impl A {"]);
        assert_eq!(lines(text, "impl"), [""; 0]);
        assert_eq!(enclosing(text, text.len() - 2).into_iter().map(|it| &text[it]).collect::<Vec<_>>(), ["impl A {"]);
    }

    /// Functions with equal bodies.
    fn functions(names: &[&str]) -> String {
        let function = |it: &&str| format!("fn {it}() {{\n    a();\n    b();\n    c();\n    d();\n}}\n");
        names.iter().map(function).collect::<Vec<_>>().join("\n")
    }

    /// The body of a function.
    fn body<'a>(text: &'a str, name: &str) -> Option<&'a str> {
        let at = text.find(&format!("fn {name}() {{\n"))?;
        text[at..].split_once("\n").map(|it| it.1.split("}\n").next().unwrap())
    }

    #[test]
    fn a_change_stays_in_what_encloses_it() {
        let base = functions(&["zero", "one", "two"]);
        let at = base.find("fn two").unwrap();
        let ours = base[..at].to_owned() + &base[at..].replace("d();", "D();");
        let theirs = [functions(&["zero"]), functions(&["one"]).replace("b();", "b2();")].join("\n");
        assert_eq!(merge(&base, &ours, &theirs).unwrap_err().reason, ELSEWHERE);
        let base = functions(&["one", "two"]);
        let ours = base.replacen("b();", "B();", 1);
        let theirs = functions(&["one", "new", "two"]).replacen("    a();\n", "", 1);
        assert_eq!(merge(&base, &ours, &theirs).unwrap_err().reason, ELSEWHERE);
        // What encloses it may be renamed, indented and far above.
        let renamed = base.replace("fn one()", "pub fn first()");
        assert_eq!(merge(&base, &ours, &renamed).unwrap().text, ours.replace("fn one()", "pub fn first()"));
        let long = |last: &str| format!("fn f() {{\n{}    {last}();\n}}\n", "    x();\n".repeat(100));
        let theirs = long("last").replacen("    x();\n", "    y();\n", 1);
        assert_eq!(merge(&long("last"), &long("LAST"), &theirs).unwrap().text, theirs.replace("last", "LAST"));
    }

    proptest::proptest! {
        #[test]
        fn a_change_of_one_of_many_like_it_changes_no_other(
            count in 2usize..5, mine in 0usize..4, line in 0usize..4, order in 0usize..24, theirs in 0usize..6,
            other in 0usize..4, other_line in 0usize..4,
        ) {
            let names = &["one", "two", "three", "four"][..count];
            let (mine, other) = (names[mine % count], names[other % count]);
            let lines = ["a", "b", "c", "d"];
            let base = functions(names);
            let changed = |text: &str, name: &str, line: usize, by: &str| {
                let at = text.find(&format!("fn {name}("))?;
                let old = format!("    {}();\n", lines[line]);
                Some(text[..at].to_owned() + &text[at..].replacen(&old, by, 1))
            };
            let ours = changed(&base, mine, line, "    mine();\n").unwrap();
            let mut left: Vec<&str> = names.to_vec();
            let mut order = order;
            let mut ordered = Vec::new();
            while !left.is_empty() {
                ordered.push(left.remove(order % left.len()));
                order /= left.len() + 1;
            }
            let text = match theirs {
                0 => functions(&ordered),
                1 => functions(&names.iter().copied().filter(|it| *it != other).collect::<Vec<_>>()),
                2 => functions(&[&["new"], names].concat()),
                3 => functions(&names.iter().flat_map(|it| if *it == other { vec!["new", it] } else { vec![*it] }).collect::<Vec<_>>()),
                4 => functions(&[names, &["new"]].concat()),
                _ => base.clone(),
            };
            let Some(text) = changed(&text, other, other_line, "    theirs();\n").or(Some(text)) else { return Ok(()) };
            if let Ok(merged) = merge(&base, &ours, &text) {
                let changed: Vec<&str> = names.iter().chain(&["new"]).copied()
                    .filter(|it| body(&merged.text, it).is_some_and(|it| it.contains("mine")))
                    .collect();
                proptest::prop_assert_eq!(changed, [mine], "{}", merged.text);
            }
        }
    }

    #[test]
    fn headings_of_flat_texts() {
        assert_eq!(lines("# A\n\none\n\n## B\n\ntwo\n", "two"), ["## B"]);
        assert_eq!(lines("[a]\nx = 1\n[b]\ny = 2\n", "y"), ["[b]"]);
        assert_eq!(lines("x = 1\ny = 2\n", "y"), [""; 0]);
    }
}
