//! Where a place may begin: one pass over the file that bounds, for each line, the score of a place that begins there.

use crate::score::collapse;
use semdex_model::Span;

/// Characters in a group. One edit changes at most so many groups.
const GROUP: usize = 3;

/// So many places are examined whatever their bound, so that a failure can report the nearest one.
pub(super) const TRIES: usize = 12;

/// A line where a place may begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    /// A lower bound of the distance.
    pub(super) absent: usize,
    pub(super) line: usize,
    /// The line after the last line.
    pub(super) end_line: usize,
}

/// A text collapsed line by line, as the score compares it.
pub(super) struct Lines {
    text: String,
    /// The lines that are not blank.
    lines: Vec<Line>,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    /// Its span in the collapsed text.
    start: usize,
    end: usize,
    /// The offset of its first character that is not white space, in the original.
    original: usize,
    /// The groups of characters that begin on the line, counted through the collapsed text.
    first_group: usize,
    last_group: usize,
}

impl Lines {
    pub(super) fn new(original: &str) -> Lines {
        let mut made = Lines { text: String::with_capacity(original.len()), lines: Vec::new() };
        let (mut at, mut group) = (0, 0);
        let ends = memchr::memchr_iter(b'\n', original.as_bytes()).map(|it| it + 1);
        // The text may not end with a line end.
        for end in ends.chain([original.len()]) {
            let new = collapse(&original[at..end]);
            if !new.is_empty() {
                if !made.text.is_empty() {
                    made.text.push(' ');
                    group += 1;
                }
                let start = made.text.len();
                made.text.push_str(&new);
                let length = new.chars().count();
                made.lines.push(Line {
                    start,
                    end: made.text.len(),
                    original: at + original[at..end].len() - original[at..end].trim_start().len(),
                    first_group: group,
                    // Only groups that also end on the line.
                    last_group: (group + length).saturating_sub(GROUP - 1),
                });
                group += length;
            }
            at = end;
        }
        made
    }

    /// From one line to another, inclusive, in the collapsed text.
    pub(super) fn part(&self, first: usize, last: usize) -> Span {
        Span::new(self.lines[first].start, self.lines[last.min(self.lines.len() - 1)].end)
    }

    pub(super) fn text(&self, part: Span) -> &str {
        &self.text[part.start..part.end]
    }

    pub(super) fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.start <= offset).saturating_sub(1)
    }

    /// A part of the collapsed text as a span of the original.
    pub(super) fn original(&self, original: &str, part: Span) -> Span {
        let last = part.end.saturating_sub(1).max(part.start);
        // The end of the last character, not the start of the character after it.
        let last = (part.start..=last).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(part.start);
        let length = self.text[last..].chars().next().map_or(0, char::len_utf8);
        Span::new(self.original_of(original, part.start), self.original_of(original, last) + length)
    }

    fn original_of(&self, original: &str, offset: usize) -> usize {
        let line = self.lines[self.line_of(offset)];
        let mut left = offset - line.start;
        let mut characters = original[line.original..].char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            if left == 0 {
                return line.original + at;
            }
            if character.is_whitespace() {
                while characters.next_if(|(_, next)| next.is_whitespace()).is_some() {}
                left = left.saturating_sub(1);
            } else {
                left = left.saturating_sub(character.len_utf8());
            }
        }
        original.len()
    }

    /// Where places with a relevant score may begin, the most promising first; `first_line` is the length of the search
    /// text's first line. Linear, except for their sort.
    pub(super) fn starts(&self, asked: &str, first_line: usize, is_relevant: impl Fn(usize) -> bool) -> Vec<Start> {
        let mut starts = self.bounded(asked, first_line);
        let order = |start: &Start| (start.absent, start.line);
        let count = starts.iter().filter(|start| is_relevant(start.absent)).count().max(TRIES);
        if count < starts.len() {
            starts.select_nth_unstable_by_key(count, order);
            starts.truncate(count);
        }
        starts.sort_unstable_by_key(order);
        starts
    }

    /// Every line, with the least distance of a place that begins there.
    fn bounded(&self, asked: &str, first_line: usize) -> Vec<Start> {
        let lines = &self.lines;
        let rest = asked.len().saturating_sub(first_line);
        let mut absent = Absent::new(asked);
        let (slots, extents) = slots(self, &absent);
        let mut starts = Vec::with_capacity(lines.len());
        let (mut end, mut added) = (0, 0);
        for (at, line) in lines.iter().enumerate() {
            // Enough lines to hold the search text, also if it begins in the middle of the first one.
            let holds = |end: usize| {
                let reach = lines[end - 1].end;
                reach - line.start >= asked.len() && reach.saturating_sub(line.end) >= rest
            };
            while end < lines.len() && (end <= at || !holds(end)) {
                end += 1;
            }
            let reach = extents[end - 1].1.max(added);
            slots[added..reach].iter().for_each(|&slot| absent.add(slot));
            added = reach;
            starts.push(Start { absent: absent.count.div_ceil(GROUP), line: at, end_line: end });
            let next = extents.get(at + 1).map_or(added, |extent| extent.0.min(added));
            slots[extents[at].0.min(added)..next].iter().for_each(|&slot| absent.remove(slot));
        }
        starts
    }
}

/// For each line, how many groups of the search text occur before its first group and before the end of its last.
type Extents = Vec<(usize, usize)>;

/// The slots of the file's groups that the search text also has, in order. Most groups are not in it, and are left out.
fn slots(collapsed: &Lines, absent: &Absent) -> (Vec<u16>, Extents) {
    let groups = groups(&collapsed.text);
    let mut slots = vec![0; groups.len() + 1];
    let (mut seen, mut count) = (0, 0);
    let mut count_to = |to: usize| {
        let to = to.min(groups.len());
        for group in &groups[seen.min(to)..to] {
            // The next slot overwrites it if the search text does not have the group.
            let slot = absent.slots[usize::from(*group)];
            slots[count] = slot;
            count += usize::from(slot != 0);
        }
        seen = seen.max(to);
        count
    };
    let extents = collapsed.lines.iter().map(|line| {
        // The last group of a line with one character ends before the line begins.
        let is_short = line.last_group < line.first_group;
        let early = count_to(line.first_group.min(line.last_group));
        let late = count_to(line.first_group.max(line.last_group));
        if is_short { (late, early) } else { (early, late) }
    });
    let extents = extents.collect();
    (slots, extents)
}

/// A text's groups of neighbouring characters, folded to 16 bits. Different groups may become equal.
fn groups(text: &str) -> Vec<u16> {
    // In ASCII a group holds all three characters side by side.
    let folded = |group: [u32; GROUP]| {
        let mixed = group[0] ^ group[1].rotate_left(8) ^ group[2].rotate_left(16);
        (mixed.wrapping_mul(0x9E37_79B1) >> 16) as u16
    };
    if text.is_ascii() {
        let bytes = text.as_bytes().windows(GROUP);
        return bytes.map(|it| folded([it[0], it[1], it[2]].map(u32::from))).collect();
    }
    let characters: Vec<u32> = text.chars().map(u32::from).collect();
    characters.windows(GROUP).map(|it| folded([it[0], it[1], it[2]])).collect()
}

/// The groups that the search text has more often than some lines. Groups that it does not have are ignored: they share
/// slot 0 and are never added.
struct Absent {
    /// Slots by group.
    slots: Vec<u16>,
    /// Counts by slot.
    more: Vec<i32>,
    count: usize,
}

impl Absent {
    fn new(asked: &str) -> Absent {
        let mut absent = Absent { slots: vec![0; 1 << 16], more: vec![0], count: 0 };
        for group in groups(asked) {
            let slot = &mut absent.slots[usize::from(group)];
            if *slot == 0 {
                *slot = u16::try_from(absent.more.len()).unwrap_or(0);
                absent.more.push(0);
            }
            absent.more[usize::from(*slot)] += 1;
            absent.count += 1;
        }
        absent
    }

    fn add(&mut self, slot: u16) {
        let more = &mut self.more[usize::from(slot)];
        self.count -= usize::from(*more > 0);
        *more -= 1;
    }

    fn remove(&mut self, slot: u16) {
        let more = &mut self.more[usize::from(slot)];
        *more += 1;
        self.count += usize::from(*more > 0);
    }
}
