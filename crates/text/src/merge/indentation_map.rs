//! Translates the indentation of a request to the indentation of the file: by the depths that both have, and beyond
//! them by the file's own unit.

use super::indentation::{indent, width};
use super::written_at_margin::is_written_at_margin;

/// The indentation of a line of the request, and of the same line in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndentationPair<'a> {
    pub(super) asked: &'a str,
    pub(super) there: &'a str,
    /// It is the first line of the request, which may have lost its indentation.
    pub(super) first: bool,
}

/// Translates the indentation of a request to that of the file.
pub(super) struct IndentationMap<'a> {
    /// The file's indentation for each indentation of the search text, the shallowest first. Empty if both agree.
    table: Vec<IndentationPair<'a>>,
    asked_unit: Unit,
    unit: Unit,
    /// By how many columns the file's lines are deeper than the request's, if all depths agree on it.
    shift: Option<isize>,
}

impl<'a> IndentationMap<'a> {
    /// From the indentation of lines that both texts have, in order, and the units of the request and of the file.
    pub(super) fn new(
        pairs: &[IndentationPair<'a>],
        asked: [&str; 2],
        [asked_unit, unit]: [Option<Unit>; 2],
    ) -> IndentationMap<'a> {
        let unit = unit.or(asked_unit).unwrap_or(Unit::Spaces(4));
        let asked_unit = asked_unit.unwrap_or(unit);
        let fit = |pairs: &[IndentationPair<'a>]| {
            let table = table(pairs);
            let shift = common_shift(&table, asked_unit, unit);
            IndentationMap { shift, unit: step_there(&table, asked_unit).unwrap_or(unit), table, asked_unit }
        };
        let [context, replacement] = asked;
        match pairs {
            // One line without its indentation, and a replacement that was written with it.
            [only]
                if only.asked.is_empty()
                    && !context.trim().contains('\n')
                    && !is_written_at_margin(replacement, context, only.there) =>
            {
                fit(&[])
            }
            [first, _, ..] if first.first => {
                // All further lines contradict the first one.
                let (all, others) = (fit(pairs), fit(&pairs[1..]));
                let lost =
                    all.shift.is_none() && first.asked.is_empty() && others.indentation(first.asked) != first.there;
                if lost { others } else { all }
            }
            _ => fit(pairs),
        }
    }

    pub(super) fn indentation(&self, asked: &str) -> String {
        let deeper = self.table.partition_point(|pair| width(pair.asked) <= width(asked));
        let Some(base) = self.table.get(deeper.saturating_sub(1)) else { return asked.to_owned() };
        let (from, to) = (width(base.asked), width(asked));
        // The search text had one blank more or less there; the replacement has the right number.
        if from != to && asked == base.there && from.abs_diff(to) == 1 {
            return asked.to_owned();
        }
        if let (Some(shift), Unit::Spaces(_)) = (self.shift, self.unit) {
            return " ".repeat(to.saturating_add_signed(shift));
        }
        let step = self.asked_unit.width();
        if to >= from {
            let (levels, rest) = ((to - from) / step, (to - from) % step);
            return base.there.to_owned() + &self.unit.text().repeat(levels) + &" ".repeat(rest);
        }
        let mut there = base.there;
        for _ in 0..(from - to).div_ceil(step) {
            let shorter = there.strip_suffix(self.unit.text().as_str()).or_else(|| there.strip_suffix('\t'));
            there = shorter.unwrap_or_default();
        }
        there.to_owned()
    }
}

/// The common shift of at least two depths, or of one depth that is not a multiple of the steps. A shift by different
/// step widths does not count.
fn common_shift(table: &[IndentationPair], asked_unit: Unit, unit: Unit) -> Option<isize> {
    let shift = |pair: &IndentationPair| width(pair.there).cast_signed() - width(pair.asked).cast_signed();
    let first = shift(table.first()?);
    let is_known = match table {
        [only] => {
            let step = width(only.asked) * unit.width() == width(only.there) * asked_unit.width();
            let odd = !width(only.there).is_multiple_of(unit.width());
            // A multiple of the file's steps, as far as one depth shows.
            let same = matches!((asked_unit, unit), (Unit::Spaces(asked), Unit::Spaces(step)) if asked % step == 0);
            !only.asked.contains('\t') && (odd || if only.asked.is_empty() { same } else { !step })
        }
        _ => true,
    };
    let spaces = table.iter().all(|pair| !pair.there.contains('\t'));
    (spaces && is_known && table.iter().all(|pair| shift(pair) == first)).then_some(first)
}

/// How many blanks the place has for each step of the request, if that is the same for all depths.
fn step_there(table: &[IndentationPair], asked_unit: Unit) -> Option<Unit> {
    let steps = table.windows(2).map(|two| {
        let asked = width(two[1].asked) - width(two[0].asked);
        let there = width(two[1].there).checked_sub(width(two[0].there))?;
        let spaces = !two[1].there.contains('\t');
        let whole =
            asked.is_multiple_of(asked_unit.width()) && there.is_multiple_of((asked / asked_unit.width()).max(1));
        (spaces && whole && there > 0).then(|| there / (asked / asked_unit.width()).max(1))
    });
    let steps: Option<Vec<usize>> = steps.collect();
    let steps = steps?;
    let first = *steps.first()?;
    steps.iter().all(|it| *it == first).then_some(Unit::Spaces(first))
}

/// One entry for each depth of the search text: the most frequent indentation that the file has for it.
fn table<'a>(pairs: &[IndentationPair<'a>]) -> Vec<IndentationPair<'a>> {
    if pairs.iter().all(|pair| pair.asked == pair.there) {
        return Vec::new();
    }
    let mut counted: Vec<(IndentationPair<'a>, usize)> = Vec::new();
    let mut sorted = pairs.to_vec();
    sorted.sort_by_key(|pair| (width(pair.asked), pair.there));
    for pair in sorted {
        match counted.last_mut() {
            Some((last, count)) if width(last.asked) == width(pair.asked) && last.there == pair.there => *count += 1,
            _ => counted.push((pair, 1)),
        }
    }
    counted.sort_by_key(|(pair, count)| (width(pair.asked), std::cmp::Reverse(*count)));
    counted.dedup_by_key(|(pair, _)| width(pair.asked));
    counted.into_iter().map(|(pair, _)| pair).collect()
}

/// One step of indentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Tab,
    Spaces(usize),
}

impl Unit {
    /// The unit of most indented lines. `None` if no line is indented.
    pub(super) fn of<const N: usize>(texts: [&str; N]) -> Option<Unit> {
        /// Enough lines to know the file's unit.
        const LINES: usize = 2000;
        let (mut tabs, mut spaces) = (0, 0);
        let mut steps = [0usize; 9];
        let mut before = 0;
        let lines = texts.iter().flat_map(|text| text.lines());
        for line in lines.filter(|line| !line.trim().is_empty()).take(LINES) {
            let indentation = indent(line);
            if indentation.starts_with('\t') {
                tabs += 1;
                continue;
            }
            spaces += usize::from(!indentation.is_empty());
            let step = width(indentation).abs_diff(before);
            before = width(indentation);
            if (2..steps.len()).contains(&step) {
                steps[step] += 1;
            }
        }
        if tabs == 0 && spaces == 0 {
            return None;
        }
        if tabs >= spaces {
            return Some(Unit::Tab);
        }
        let most = steps.iter().max().copied().unwrap_or_default();
        Some(Unit::Spaces(if most == 0 { 4 } else { steps.iter().position(|&count| count == most).unwrap_or(4) }))
    }

    fn width(self) -> usize {
        match self {
            Unit::Tab => 4,
            Unit::Spaces(count) => count,
        }
    }

    fn text(self) -> String {
        match self {
            Unit::Tab => "\t".to_owned(),
            Unit::Spaces(count) => " ".repeat(count),
        }
    }
}
