//! The edit for a real hunk, perturbed, and the expected result.

use std::ops::Range;

use crate::corpus::Hunk;
use crate::perturb::{self, Layout};
use crate::random::Random;
use crate::several;
use semdex_model::Span;
use semdex_text::score;
use semdex_text::words::words;

pub const AUTOFIX: u8 = 95;

/// One edit as a client sends it.
pub struct Edit {
    pub class: String,
    pub text: String,
    pub search: String,
    pub replacement: String,
    pub autofix: u8,
    pub near_line: Option<usize>,
    /// The text from which the search text has drifted.
    pub meant: Option<Span>,
    pub expected: Expected,
}

impl Edit {
    /// The same edit, unless an error of its search text hides a part of the change.
    pub fn unless_hidden(self, [meant, sent, replacement]: [&str; 3]) -> Option<Edit> {
        (!matches!(overlap(meant, sent, replacement), Overlap::Hides)).then_some(self)
    }

    /// The same edit, by how the errors of its search text lie to the change that it makes: those in or beside the
    /// change are a class of their own and may be refused, and where one hides a part of the change there is no edit.
    pub fn counted_apart(mut self, [meant, sent, replacement]: [&str; 3]) -> Option<Edit> {
        match overlap(meant, sent, replacement) {
            Overlap::Hides => return None,
            Overlap::Apart => {}
            Overlap::Touches => {
                self.class = format!("touched: {}", self.class);
                if let Expected::Text(text) = self.expected {
                    self.expected = Expected::TextOrRefusal(text);
                }
            }
        }
        Some(self)
    }

    pub fn new(class: &str, text: &str, search: &str, replacement: &str, expected: Expected) -> Edit {
        Edit {
            class: class.to_owned(),
            text: text.to_owned(),
            search: search.to_owned(),
            replacement: replacement.to_owned(),
            autofix: AUTOFIX,
            near_line: None,
            meant: None,
            expected,
        }
    }
}

pub enum Expected {
    /// This text, byte for byte; a refusal is counted separately.
    Text(String),
    /// This text, or a refusal, which is equally right: another place is nearly as near.
    TextOrRefusal(String),
    /// A refusal, since the intended place is unknown.
    Refusal,
    /// Any replacement of this part, or a refusal. If the old text had these words once, also a place with all of them.
    Place { span: Span, may_move: bool },
}

/// How the errors of a search text lie to what the edit changes.
enum Overlap {
    /// There are other words between them.
    Apart,
    /// An error is in words that the edit changes, or beside them.
    Touches,
    /// With its error the search text is there what the replacement is: by the request, nothing changes there.
    Hides,
}

fn overlap(meant: &str, sent: &str, replacement: &str) -> Overlap {
    /// A gap and a sign.
    const BESIDE: usize = 2;
    let [meant, sent, replacement] = [meant, sent, replacement].map(units);
    type Change = (Range<usize>, Range<usize>);
    let changes = |from: &[&str], to: &[&str]| -> Vec<Change> {
        let ops = similar::capture_diff_slices(similar::Algorithm::Myers, from, to);
        let ops = ops.iter().map(|it| it.as_tag_tuple()).filter(|it| it.0 != similar::DiffTag::Equal);
        ops.map(|(_, old, new)| (old, new)).collect()
    };
    let (errors, edits) = (changes(&meant, &sent), changes(&meant, &replacement));
    // The units that the edit writes, and where it removes some: by the request it does less.
    let asked = changes(&sent, &replacement);
    let writes = |at: usize| asked.iter().any(|it| it.1.contains(&at));
    let words =
        |range: &Range<usize>, of: &[&str]| -> String { of[range.clone()].concat().split_whitespace().collect() };
    let removes = |it: &Change| {
        let gone = words(&it.0, &meant);
        let near = asked.iter().filter(|by| by.1.start <= it.1.end + BESIDE && it.1.start <= by.1.end + BESIDE);
        !gone.is_empty() && near.map(|by| words(&by.0, &sent)).collect::<String>().contains(&gone)
    };
    // Words or a gap that an error has removed, and no others in their place.
    let is_lost = |it: &Change| {
        let gone = |error: &Change| {
            let both = error.0.start.max(it.0.start)..error.0.end.min(it.0.end);
            both.start < both.end && (words(&error.1, &sent).is_empty() || words(&both, &meant).is_empty())
        };
        errors.iter().any(gone)
    };
    let hides = |it: &Change| it.1.clone().any(|at| !writes(at)) || is_lost(it) && !removes(it);
    let touches = |a: &Change, b: &Change| a.0.start <= b.0.end + BESIDE && b.0.start <= a.0.end + BESIDE;
    if edits.iter().any(|edit| errors.iter().any(|it| touches(it, edit)) && hides(edit)) {
        Overlap::Hides
    } else if edits.iter().any(|edit| errors.iter().any(|it| touches(it, edit))) {
        Overlap::Touches
    } else {
        Overlap::Apart
    }
}

/// Words, gaps and signs.
fn units(text: &str) -> Vec<&str> {
    let kind = |it: char| (it.is_whitespace(), it.is_alphanumeric() || it == '_');
    let mut units = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, character) in text.char_indices() {
        let (is_blank, is_word) = kind(character);
        if at > start && !((is_blank || is_word) && before == Some((is_blank, is_word))) {
            units.push(&text[start..at]);
            start = at;
        }
        before = Some((is_blank, is_word));
    }
    units.push(&text[start..]);
    units
}

/// The block that a person would send for a hunk: its lines and as many lines around them as make it unique.
pub struct Block {
    pub search: String,
    pub replacement: String,
    /// Its place in the text before.
    pub span: Span,
    /// Its place in the text after all changes, if the lines around it are still there.
    pub after: Option<Span>,
}

/// The block of a hunk, with a few lines around it.
pub fn block(hunk: &Hunk, random: &mut Random) -> Option<Block> {
    let old: Vec<&str> = hunk.before.split_inclusive('\n').collect();
    let new: Vec<&str> = hunk.after.split_inclusive('\n').collect();
    let (mut above, mut below) = (random.between(0, 3), random.between(0, 3));
    for _ in 0..6 {
        let first = hunk.start.saturating_sub(above);
        let end = (hunk.end + below).min(old.len());
        let search = old[first..end].concat();
        if search.split_whitespace().count() >= 2 && search.len() > 8 && hunk.before.matches(&search).count() == 1 {
            let start = old[..first].concat().len();
            let replacement = [
                old[first..hunk.start].concat(),
                new[hunk.new_start..hunk.new_end].concat(),
                old[hunk.end..end].concat(),
            ];
            let replacement = replacement.concat();
            if replacement == search {
                return None;
            }
            let map = semdex_text::diff::OffsetMap::new(&hunk.before, &hunk.after);
            let core = search.trim();
            let from = start + search.len() - search.trim_start().len();
            let after = map.span(Span::new(from, from + core.len())).or_else(|| {
                // From the unchanged text before it to the unchanged text after it.
                let before = (0..from).rev().take(400).find_map(|at| map.offset(at));
                let next = (from + core.len()..hunk.before.len()).take(400).find_map(|at| map.offset(at));
                Some(Span::new(before?, next?))
            });
            return Some(Block { span: Span::new(start, start + search.len()), search, replacement, after });
        }
        (above, below) = (above + 2, below + 2);
    }
    None
}

/// Where a copy may be inserted: at the start of a line, outside the block and outside literals of several lines.
pub fn cuts(text: &str, block: Span, random: &mut Random) -> Vec<usize> {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1);
    let text = &text.replace("\\\\", "  ").replace("\\\"", "  ").replace("'\"'", "   ");
    let in_code = |at: usize| {
        let before = &text[..at];
        before.matches('`').count().is_multiple_of(2)
            && before.matches("\"\"\"").count().is_multiple_of(2)
            && before.matches("r#").count() == before.matches("\"#").count()
            && before.matches('"').count().is_multiple_of(2)
    };
    let balanced =
        |text: &str| text.matches('"').count().is_multiple_of(2) && text.matches('`').count().is_multiple_of(2);
    if !balanced(&text[block.start..block.end]) || !in_code(block.start) {
        return Vec::new();
    }
    let mut starts: Vec<usize> = starts.filter(|&at| at <= block.start || at >= block.end).collect();
    random.shuffle(&mut starts);
    starts.truncate(8);
    starts.retain(|&at| in_code(at));
    starts
}

pub fn spliced(text: &str, span: Span, new: &str) -> String {
    [&text[..span.start], new, &text[span.end..]].concat()
}

/// Another layout, unless the search text then occurs literally elsewhere.
pub fn with_layout(
    layout: Layout,
    [search, replacement]: [&str; 2],
    text: &str,
    own: Span,
    random: &mut Random,
) -> Option<(String, String)> {
    // If tabs and blanks are mixed, by the edit or otherwise, the indentation of a deeper line is unknown.
    let uses = |indentation: &str| text.contains(indentation) || replacement.contains(indentation);
    if uses("\n\t") && uses("\n  ") {
        return None;
    }
    let made = layout.apply(search, replacement, random)?;
    let begins_line = |at: usize| made.0.starts_with('\n') || at == 0 || text[..at].ends_with('\n');
    let is_other = |at: usize| if own.contains(at) { begins_line(at) && at != own.start } else { true };
    let mut others = text.match_indices(&made.0).filter(|(at, _)| is_other(*at));
    others.next().is_none().then_some(made)
}

/// Whether a perturbed search text accidentally has a line of the replacement: then the edit would leave that line
/// unchanged, which the real edit does not.
pub fn by_chance(search: &str, perturbed: &str, replacement: &str) -> bool {
    let has = |text: &str, line: &str| text.lines().any(|it| it.trim() == line.trim());
    perturbed.lines().any(|it| !has(search, it) && has(replacement, it))
}

/// Whether the words of a search text occur exactly once in a text, in order, whatever is between them.
fn has_words_once(text: &str, search: &str) -> bool {
    let [there, asked] = [text, search].map(|it| words(it).map(|it| it.1).collect::<Vec<_>>());
    !asked.is_empty() && there.windows(asked.len()).filter(|it| *it == asked).count() == 1
}

/// A few classes of edits of one hunk.
pub fn edits(hunk: &Hunk, large: &[String], random: &mut Random) -> Vec<Edit> {
    let Some(block) = block(hunk, random) else { return Vec::new() };
    let text = hunk.before.to_string();
    let truth = spliced(&text, block.span, &block.replacement);
    // A final newline remains, whichever text omits it.
    if text.ends_with('\n') != truth.ends_with('\n') {
        return Vec::new();
    }
    let edit = Edit::new;
    let drifted_edit = |class: &str, text: &str, search: &str, replacement: &str, truth: &str, meant: Span| Edit {
        meant: Some(meant),
        ..edit(class, text, search, replacement, Expected::Text(truth.to_owned()))
    };
    let same = || Expected::Text(truth.clone());
    let mut made = Vec::new();
    let (mut search, mut replacement) = (block.search.clone(), block.replacement.clone());
    // Many clients omit the last line end of both texts.
    if random.chance(2)
        && search.ends_with('\n')
        && replacement.ends_with('\n')
        && !replacement.trim_end_matches('\n').is_empty()
    {
        search.pop();
        replacement.pop();
    }
    let is_drift = |drifted: &String| !by_chance(&block.search, drifted, &replacement);
    let kind = random.below(18);
    if kind >= 10 {
        let block =
            several::Sent { text: &text, truth: &truth, block: &block, search: &search, replacement: &replacement };
        return several::edits(&block, large, random);
    }
    match kind {
        0 => made.push(edit("exact", &text, &search, &replacement, same())),
        1..=3 => {
            let layout = *random.pick(&Layout::ALL);
            if let Some((s, r)) = with_layout(layout, [&search, &replacement], &text, block.span, random) {
                // Several places may be equal except for layout: then the intended one is unknown.
                let squeezed = |text: &str| text.split_whitespace().collect::<String>();
                if squeezed(&text).matches(&squeezed(&s)).count() > 1 {
                    made.push(edit("ambiguous but for layout", &text, &s, &r, Expected::TextOrRefusal(truth.clone())));
                } else {
                    let edit = edit(&format!("layout {layout:?}"), &text, &s, &r, same());
                    made.extend(edit.unless_hidden([&search, &s, &replacement]));
                }
            }
        }
        4 | 5 => {
            let tokens = random.between(1, 3);
            if let Some(drifted) = perturb::drift(&search, tokens, random).filter(is_drift) {
                let within = score::score(&drifted, &block.search) >= f64::from(AUTOFIX);
                let class = if within { format!("drift of {tokens}") } else { format!("drift of {tokens}, too much") };
                let edit = drifted_edit(&class, &text, &drifted, &replacement, &truth, block.span);
                made.extend(edit.counted_apart([&search, &drifted, &replacement]));
                // With another layout in addition.
                let layout =
                    *random.pick(&[Layout::Dedented, Layout::OtherUnit, Layout::TrailingBlanks, Layout::FirstLineLost]);
                if within
                    && let Some((s, r)) = with_layout(layout, [&drifted, &replacement], &text, block.span, random)
                    && score::score(&s, &block.search) >= f64::from(AUTOFIX)
                {
                    let edit = drifted_edit("drift and layout", &text, &s, &r, &truth, block.span);
                    made.extend(edit.counted_apart([&search, &s, &replacement]));
                }
            }
        }
        6 => {
            if hunk.after.matches(&block.search).count() == 0
                && let Some(span) = block.after
            {
                let expected = Expected::Place { span, may_move: has_words_once(&text, &search) };
                made.push(edit("stale", &hunk.after, &search, &replacement, expected));
            }
        }
        7 => {
            if let Some(copy) = perturb::near_copy(&block.search, random) {
                // Elsewhere, at the start of a line.
                let cuts = cuts(&text, block.span, random);
                if let Some(&at) = (!cuts.is_empty()).then(|| random.pick(&cuts)) {
                    let copied = spliced(&text, Span::new(at, at), &copy);
                    let shift = if at <= block.span.start { copy.len() } else { 0 };
                    let span = Span::new(block.span.start + shift, block.span.end + shift);
                    let truth = spliced(&copied, span, &block.replacement);
                    if copied.matches(&block.search).count() == 1 && copied[span.start..span.end] == block.search {
                        made.push(edit(
                            "near-duplicate, exact",
                            &copied,
                            &search,
                            &replacement,
                            Expected::Text(truth.clone()),
                        ));
                        if let Some(drifted) = perturb::drift(&search, 1, random).filter(is_drift)
                            && score::score(&drifted, &block.search) >= f64::from(AUTOFIX)
                        {
                            let class = "near-duplicate, drift";
                            let edit = drifted_edit(class, &copied, &drifted, &replacement, &truth, span);
                            made.extend(edit.counted_apart([&search, &drifted, &replacement]));
                        }
                    }
                }
            }
        }
        8 => {
            let cuts = cuts(&text, block.span, random);
            if block.search.ends_with('\n')
                && let Some(&at) = (!cuts.is_empty()).then(|| random.pick(&cuts))
            {
                let copied = spliced(&text, Span::new(at, at), &block.search);
                made.push(edit("ambiguous", &copied, &search, &replacement, Expected::Refusal));
                if let Some((s, r)) = Layout::Dedented.apply(&search, &replacement, random)
                    && copied.matches(&format!("\n{s}")).count() == 0
                {
                    made.push(edit("ambiguous, dedented", &copied, &s, &r, Expected::Refusal));
                }
                let shift = if at <= block.span.start { block.search.len() } else { 0 };
                let span = Span::new(block.span.start + shift, block.span.end + shift);
                let line = copied[..span.start].matches('\n').count() + 1;
                let truth = spliced(&copied, span, &block.replacement);
                let near = edit("ambiguous, near_line", &copied, &search, &replacement, Expected::Text(truth));
                made.push(Edit { near_line: Some(line), ..near });
            }
        }
        _ => {
            let windows = text.replace('\n', "\r\n");
            let truth = truth.replace('\n', "\r\n");
            let (s, r) = match random.below(3) {
                0 => (search.clone(), replacement.clone()),
                1 => (search.replace('\n', "\r\n"), replacement.replace('\n', "\r\n")),
                _ => with_layout(Layout::Dedented, [&search, &replacement], &text, block.span, random)
                    .unwrap_or((search.clone(), replacement.clone())),
            };
            made.push(edit("CRLF", &windows, &s, &r, Expected::Text(truth.clone())));
            let bom = "\u{feff}".to_owned();
            made.push(edit("CRLF and BOM", &(bom.clone() + &windows), &s, &r, Expected::Text(bom + &truth)));
            // Replaces all existing words by words of other scripts.
            let foreign = |it: &str| it.replace('e', "é").replace("st", "ß").replace("in", "语𝒳");
            if let Some(drifted) = perturb::drift(&search, 1, random).filter(is_drift)
                && score::score(&foreign(&drifted), &foreign(&block.search)) >= f64::from(AUTOFIX)
                && foreign(&text).matches(&foreign(&block.search)).count() == 1
            {
                let truth = spliced_unicode(&text, block.span, &block.replacement, foreign);
                let start = foreign(&text[..block.span.start]).len();
                let meant = Span::new(start, start + foreign(&block.search).len());
                let [text, drifted, replacement, search] =
                    [&text, &drifted, &replacement, &search].map(|it| foreign(it));
                let edit = drifted_edit("Unicode, drift", &text, &drifted, &replacement, &truth, meant);
                made.extend(edit.counted_apart([&search, &drifted, &replacement]));
            }
            if foreign(&text).matches(&foreign(&block.search)).count() == 1 {
                let truth = spliced_unicode(&text, block.span, &block.replacement, foreign);
                let squeezed = |text: &str| text.split_whitespace().collect::<String>();
                let unique = squeezed(&text).matches(&squeezed(&search)).count() == 1;
                let dedented = with_layout(Layout::Dedented, [&search, &replacement], &text, block.span, random);
                let dedented = dedented.filter(|_| unique);
                let (s, r) = dedented.unwrap_or((search, replacement));
                made.push(edit("Unicode", &foreign(&text), &foreign(&s), &foreign(&r), Expected::Text(truth)));
            }
        }
    }
    made
}

fn spliced_unicode(text: &str, span: Span, new: &str, foreign: impl Fn(&str) -> String) -> String {
    [foreign(&text[..span.start]), foreign(new), foreign(&text[span.end..])].concat()
}
