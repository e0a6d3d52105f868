//! Requests with several kinds of errors, and requests that must not be guessed: ties and elisions.

use crate::edits::{AUTOFIX, Block, Edit, Expected, by_chance, cuts, spliced, with_layout};
use crate::perturb::{self, Layout};
use crate::random::Random;
use semdex_model::Span;
use semdex_text::score;

/// The edit for a hunk, before it is perturbed.
pub struct Sent<'a> {
    pub text: &'a str,
    pub truth: &'a str,
    pub block: &'a Block,
    pub search: &'a str,
    pub replacement: &'a str,
}

pub fn edits(sent: &Sent, large: &[String], random: &mut Random) -> Vec<Edit> {
    match random.below(8) {
        0 => typos(sent, random),
        1 | 2 => typo_and_white_space(sent, random),
        3 => lowered(sent, random),
        4 => in_a_large_file(sent, large, random),
        5 => ties(sent, random),
        6 => elided(sent, random),
        _ => others(sent, random),
    }
}

impl Sent<'_> {
    /// An edit whose search text was made from the block. None if the search text occurs literally elsewhere.
    fn perturbed(&self, class: &str, search: &str, replacement: &str) -> Option<Edit> {
        let expected = Expected::Text(self.truth.to_owned());
        // None either if a line accidentally equals a line of the replacement.
        let by_chance = by_chance(self.search, search, replacement) && class != "typo in both texts";
        let is_typo = !by_chance && !squeezed(self.text).contains(&squeezed(search));
        let edit = Edit::new(class, self.text, search, replacement, expected);
        let edit = is_typo.then_some(Edit { meant: Some(self.block.span), ..edit })?;
        // An error in both texts is nothing that the edit changes.
        match class == "typo in both texts" {
            true => Some(edit),
            false => edit.counted_apart([self.search, search, self.replacement]),
        }
    }

    fn score(&self, search: &str) -> f64 {
        score::score(search, &self.block.search)
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The class with what the threshold allows; none if the search text has drifted too far.
fn within(edit: Option<Edit>, sent: &Sent) -> Option<Edit> {
    edit.filter(|it| sent.score(&it.search) >= f64::from(it.autofix))
}

fn typos(sent: &Sent, random: &mut Random) -> Vec<Edit> {
    let mut made = Vec::new();
    for count in [1, random.between(2, 5)] {
        let class = if count == 1 { "typo" } else { "typos" };
        let typos = perturb::typos(sent.search, count, random);
        made.extend(typos.and_then(|it| within(sent.perturbed(class, &it, sent.replacement), sent)));
    }
    let signs = random.between(1, 2);
    if let Some(other) = perturb::punctuation(sent.search, signs, random) {
        made.extend(within(sent.perturbed("punctuation", &other, sent.replacement), sent));
    }
    // An unchanged line that is recalled wrongly is repeated in the replacement.
    if let Some((search, replacement)) = perturb::typo_in_both(sent.search, sent.replacement, random) {
        made.extend(within(sent.perturbed("typo in both texts", &search, &replacement), sent));
    }
    made
}

fn typo_and_white_space(sent: &Sent, random: &mut Random) -> Vec<Edit> {
    let mut made = Vec::new();
    let layout = *random.pick(&Layout::ALL);
    let other_words = [
        ("typo", perturb::typos(sent.search, random.between(1, 3), random)),
        ("drift", perturb::drift(sent.search, random.between(1, 2), random)),
    ];
    for (name, search) in other_words.into_iter().filter_map(|(name, it)| Some((name, it?))) {
        let both = [search.as_str(), sent.replacement];
        if let Some((search, replacement)) = with_layout(layout, both, sent.text, sent.block.span, random) {
            let class = format!("{name} and white space, {layout:?}");
            made.extend(within(sent.perturbed(&class, &search, &replacement), sent));
        }
    }
    made
}

/// Many words have drifted, and `autofix` was lowered to reach them.
fn lowered(sent: &Sent, random: &mut Random) -> Vec<Edit> {
    let count = random.between(2, 8);
    let drifted = if random.chance(2) {
        perturb::drift(sent.search, count, random)
    } else {
        perturb::typos(sent.search, count + 2, random)
    };
    let Some(mut search) = drifted else { return Vec::new() };
    let mut replacement = sent.replacement.to_owned();
    if random.chance(2) {
        let layout = *random.pick(&Layout::ALL);
        if let Some(made) = with_layout(layout, [&search, &replacement], sent.text, sent.block.span, random) {
            (search, replacement) = made;
        }
    }
    let score = sent.score(&search);
    if !(70.0..f64::from(AUTOFIX)).contains(&score) {
        return Vec::new();
    }
    let autofix = score as u8 - random.between(0, 5) as u8;
    let class = if score < 85.0 { "lowered threshold, below 85" } else { "lowered threshold, from 85" };
    let edit = sent.perturbed(class, &search, &replacement);
    edit.map(|it| Edit { autofix, ..it }).into_iter().collect()
}

fn in_a_large_file(sent: &Sent, large: &[String], random: &mut Random) -> Vec<Edit> {
    if large.is_empty() {
        return Vec::new();
    }
    let around = random.pick(large);
    let lines: Vec<usize> = around.match_indices("\n\n").map(|(at, _)| at + 2).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let at = *random.pick(&lines);
    // With its own text in the middle it would be one of two copies.
    if around.contains(sent.search.trim()) {
        return Vec::new();
    }
    let text = [&around[..at], sent.text, "\n", &around[at..]].concat();
    let truth = [&around[..at], sent.truth, "\n", &around[at..]].concat();
    let span = Span::new(at + sent.block.span.start, at + sent.block.span.end);
    let block = Block { search: sent.search.to_owned(), replacement: sent.replacement.to_owned(), span, after: None };
    let sent = Sent { text: &text, truth: &truth, block: &block, ..*sent };
    let mut made = Vec::new();
    let count = random.between(2, 5);
    let words =
        [("typos", perturb::typos(sent.search, count, random)), ("drift", perturb::drift(sent.search, count, random))];
    for (name, search) in words.into_iter().filter_map(|(name, it)| Some((name, it?))) {
        let class = format!("10,000 lines, several {name}");
        made.extend(within(sent.perturbed(&class, &search, sent.replacement), &sent));
        let score = sent.score(&search);
        if (80.0..f64::from(AUTOFIX)).contains(&score) {
            let edit = sent.perturbed("10,000 lines, lowered threshold", &search, sent.replacement);
            made.extend(edit.map(|it| Edit { autofix: score as u8, ..it }));
        }
    }
    made
}

/// Two copies, and a line that is equally near to both.
fn ties(sent: &Sent, random: &mut Random) -> Vec<Edit> {
    let cuts = cuts(sent.text, sent.block.span, random);
    if cuts.is_empty() || !sent.block.search.ends_with('\n') {
        return Vec::new();
    }
    let at = *random.pick(&cuts);
    let copied = spliced(sent.text, Span::new(at, at), &sent.block.search);
    // A third place that is equal except for white space may be the nearest.
    if squeezed(&copied).matches(&squeezed(&sent.block.search)).count() != 2 {
        return Vec::new();
    }
    // A place begins with its first line that is not blank.
    let core = sent.block.search.trim_start();
    let head = sent.block.search.len() - core.len();
    let line = |offset: usize| copied[..offset + head].matches('\n').count() + 1;
    let length = sent.block.search.len();
    let [first, second] =
        if at <= sent.block.span.start { [at, sent.block.span.start + length] } else { [sent.block.span.start, at] };
    let lines = core.trim_end().matches('\n').count() + 1;
    let (first, second) = (line(first), line(second));
    let mut made = Vec::new();
    let mut push = |class: &str, search: &str, near: usize| {
        let edit = Edit::new(class, &copied, search, sent.replacement, Expected::Refusal);
        made.push(Edit { near_line: Some(near), ..edit });
    };
    // Between the places, and between their starts.
    let (gap, starts) = (first + lines - 1 + second, first + second);
    let typo = perturb::typos(sent.search, 1, random).filter(|it| !squeezed(&copied).contains(&squeezed(it)));
    for (class, sum) in [("tie between places", gap), ("tie between their starts", starts)] {
        let near = sum / 2;
        if sum % 2 == 0 && first + lines <= near && near < second {
            push(class, sent.search, near);
            if let Some(typo) = &typo {
                push(&format!("{class}, typo"), typo, near);
            }
        }
    }
    made
}

/// One of several lines is left out.
fn elided(sent: &Sent, random: &mut Random) -> Vec<Edit> {
    const ELISIONS: [&str; 16] = [
        "...",
        "…",
        "// ...",
        "// …",
        "# ...",
        "/* ... */",
        "// existing code",
        "// ... existing code ...",
        "// … rest …",
        "// ... rest of the function",
        "// ... (unchanged)",
        "// [...]",
        "// other fields ...",
        "// (rest of the code)",
        "[...]",
        "<!-- ... -->",
    ];
    let lines: Vec<&str> = sent.search.split('\n').collect();
    if lines.len() < 4 {
        return Vec::new();
    }
    let at = random.between(1, lines.len() - 2);
    let indent = &lines[at][..lines[at].len() - lines[at].trim_start().len()];
    let elision = format!("{indent}{}", random.pick(&ELISIONS));
    let mut search: Vec<&str> = lines.clone();
    search[at] = &elision;
    let search = search.join("\n");
    let left_out = format!("\n{}\n", lines[at]);
    let replacement = sent.replacement.replacen(&left_out, &format!("\n{elision}\n"), 1);
    let mut made = Vec::new();
    let autofix = (sent.score(&search) as u8).saturating_sub(1).clamp(50, AUTOFIX);
    let edit = Edit::new("elision", sent.text, &search, &replacement, Expected::Refusal);
    if sent.text.contains(&search) {
        return Vec::new();
    }
    made.push(Edit { autofix, ..edit });
    // The same words occur elsewhere in the file.
    if let Some(&cut) = cuts(sent.text, sent.block.span, random).first() {
        let text = spliced(sent.text, Span::new(cut, cut), &format!("{elision}\n"));
        if !squeezed(&text).contains(&squeezed(&search)) {
            let edit = Edit::new("elision that occurs elsewhere", &text, &search, &replacement, Expected::Refusal);
            made.push(Edit { autofix, ..edit });
        }
    }
    made
}

/// The name of another item: only a neighbour of it is there.
fn others(sent: &Sent, random: &mut Random) -> Vec<Edit> {
    let mut made = Vec::new();
    let refused = || Expected::TextOrRefusal(String::new());
    let is_there = |search: &str| squeezed(sent.text).contains(&squeezed(search));
    if let Some(search) = perturb::other_number(sent.search, random).filter(|it| !is_there(it)) {
        made.push(Edit::new("another number", sent.text, &search, sent.replacement, refused()));
    }
    if let Some(search) = perturb::other_declaration(sent.search, random).filter(|it| !is_there(it)) {
        made.push(Edit::new("another name declared", sent.text, &search, sent.replacement, refused()));
    }
    made
}
