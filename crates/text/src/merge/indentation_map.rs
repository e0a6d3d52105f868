//! Translates the indentation of a request to the indentation of the file: by the depths that both have, and beyond
//! them by as many columns, or by the file's own unit.

use super::indentation::{TAB, indent, width};
use super::written_at_margin::is_written_at_margin;

/// The indentation of a line of the request, and of the same line in the file.
pub(super) struct IndentationPair<'a> {
    pub(super) asked: &'a str,
    pub(super) there: &'a str,
    /// It is the first line of the request, which may have lost its indentation.
    pub(super) first: bool,
}

/// Translates the indentation of a request to that of the file.
pub(super) struct IndentationMap<'a> {
    /// The file's indentation for each width in the search text, the shallowest first. Empty if both agree.
    table: Vec<(usize, &'a str)>,
    /// So many columns in the file are so many of the request.
    scale: [usize; 2],
    /// New depths are written with tabs.
    tabs: bool,
    /// The lines around are indented with tabs and the request with blanks, or the reverse, and no line of the place
    /// shows which is right.
    pub(super) is_doubtful: bool,
}

impl<'a> IndentationMap<'a> {
    /// From the indentation of lines that both texts have, in order, and the units of the request and of the file.
    /// `above` is what the file has before the first line.
    pub(super) fn new(
        pairs: &[IndentationPair<'a>],
        [context, replacement]: [&str; 2],
        [asked_unit, unit]: [Option<usize>; 2],
        with_tabs: Option<bool>,
        above: &str,
    ) -> IndentationMap<'a> {
        let pairs = match pairs {
            [first, others @ ..] if first.first && first.asked.is_empty() => {
                // It may have lost its indentation: the other lines know better.
                let is_absolute =
                    !context.trim().contains('\n') && !is_written_at_margin(replacement, first.there, above);
                if others.is_empty() && !is_absolute { pairs } else { others }
            }
            _ => pairs,
        };
        let mut counted: Vec<(usize, &str, usize)> = Vec::new();
        for pair in pairs {
            let key = (width(pair.asked), pair.there);
            match counted.iter_mut().find(|it| (it.0, it.1) == key) {
                Some(known) => known.2 += 1,
                None => counted.push((key.0, key.1, 1)),
            }
        }
        counted.sort_by_key(|it| (it.0, std::cmp::Reverse(it.2)));
        counted.dedup_by_key(|it| it.0);
        let mut table: Vec<(usize, &str)> = counted.into_iter().map(|it| (it.0, it.1)).collect();
        let uses_tabs = |it: &str| it.starts_with('\t');
        let tabs = [pairs.iter().any(|it| uses_tabs(it.asked)), pairs.iter().any(|it| uses_tabs(it.there))];
        // Lines at the margin do not show what the file is indented with.
        let at_margin = pairs.iter().all(|it| it.there.is_empty());
        let asks_tabs = [context, replacement].iter().any(|text| text.lines().any(uses_tabs));
        let is_doubtful = at_margin && with_tabs.is_some_and(|it| it != asks_tabs);
        let tabs = if at_margin && with_tabs.is_some() { [asks_tabs; 2] } else { tabs };
        let steps = |two: &[(usize, &str)]| Some([width(two[1].1).checked_sub(width(two[0].1))?, two[1].0 - two[0].0]);
        let scale = match table.windows(2).map(steps).next() {
            Some(Some(steps)) if steps[0] > 0 => steps,
            _ => match (tabs, asked_unit, unit) {
                ([false, true], Some(asked), _) => [TAB, asked],
                ([true, false], _, Some(unit)) => [unit, TAB],
                _ => [1, 1],
            },
        };
        if pairs.iter().all(|it| it.asked == it.there) {
            table.clear();
        }
        IndentationMap { table, scale, tabs: tabs[1], is_doubtful }
    }

    pub(super) fn indentation(&self, asked: &str) -> String {
        let to = width(asked);
        let nearest = self.table.partition_point(|it| it.0 <= to).saturating_sub(1);
        let Some(&(from, there)) = self.table.get(nearest) else { return asked.to_owned() };
        // The search text had one blank more or less there; the replacement has the right number.
        if from == to || asked == there && from.abs_diff(to) == 1 {
            return there.to_owned();
        }
        let by = |columns: usize| columns * self.scale[0] / self.scale[1];
        let columns = if to > from { width(there) + by(to - from) } else { width(there).saturating_sub(by(from - to)) };
        let tabs = if self.tabs { columns / TAB } else { 0 };
        "\t".repeat(tabs) + &" ".repeat(columns - TAB * tabs)
    }
}

/// Enough lines to know how a file is indented.
const LINES: usize = 2000;

/// Whether more lines of a text begin with a tab than with two blanks. `None` if no line does.
pub(super) fn is_indented_with_tabs(text: &str) -> Option<bool> {
    let count = |indentation: &str| text.lines().take(LINES).filter(|it| it.starts_with(indentation)).count();
    let (tabs, blanks) = (count("\t"), count("  "));
    (tabs + blanks > 0).then_some(tabs > blanks)
}

/// The columns of one step of indentation: the most frequent difference between two lines. `None` if no line is
/// indented. Lines that are further apart are aligned with something else.
pub(super) fn unit<const N: usize>(texts: [&str; N]) -> Option<usize> {
    let mut steps = [0usize; 9];
    let mut before = 0;
    for line in texts.iter().flat_map(|text| text.lines()).filter(|it| !it.trim().is_empty()).take(LINES) {
        let own = width(indent(line));
        if let Some(count) = steps.get_mut(own.abs_diff(before)) {
            *count += 1;
        }
        before = own;
    }
    // No difference, or one column, is no step.
    let most = steps.iter().skip(2).max().filter(|it| **it > 0)?;
    steps.iter().skip(2).position(|it| it == most).map(|it| it + 2)
}
