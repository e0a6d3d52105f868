//! Where a place may begin: one pass over the file that bounds, for each line, the score of a place that begins there.

use super::collapsed::{Asked, Collapsed, GROUP};
use super::rivals_down_to;

/// So many places are examined whatever their bound, so that a failure can report the nearest one.
pub(super) const TRIES: usize = 12;

/// A line where a place may begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    /// A lower bound of the distance.
    pub absent: usize,
    pub line: usize,
    /// The line after the last line.
    pub end_line: usize,
}

/// Where places with a relevant score may begin, the most promising first. Linear, except for their sort.
pub(super) fn starts(asked: &Asked, collapsed: &Collapsed, autofix: f64) -> Vec<Start> {
    let mut starts = bounded(asked, collapsed);
    let least = if autofix > 0.0 { rivals_down_to(autofix) } else { 100.0 };
    let order = |start: &Start| (start.absent, start.line);
    let promising = starts.iter().filter(|start| asked.at_most(start.absent) >= least).count();
    let count = promising.max(TRIES);
    if count < starts.len() {
        starts.select_nth_unstable_by_key(count, order);
        starts.truncate(count);
    }
    starts.sort_unstable_by_key(order);
    starts
}

/// Every line, with the least distance of a place that begins there.
fn bounded(asked: &Asked, collapsed: &Collapsed) -> Vec<Start> {
    let lines = &collapsed.lines;
    let first_line = asked.lines.first().map_or(0, String::len);
    let rest = asked.text.len().saturating_sub(first_line);
    let mut absent = Absent::new(&asked.text);
    let (slots, extents) = slots(collapsed, &absent);
    let mut starts = Vec::with_capacity(lines.len());
    let (mut end, mut added) = (0, 0);
    for (at, line) in lines.iter().enumerate() {
        // Enough lines to hold the search text, also if it begins in the middle of the first one.
        let holds = |end: usize| {
            let reach = lines[end - 1].end;
            reach - line.start >= asked.text.len() && reach.saturating_sub(line.end) >= rest
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

/// For each line, how many groups of the search text occur before its first group and before the end of its last.
type Extents = Vec<(usize, usize)>;

/// The slots of the file's groups that the search text also has, in order. Most groups are not in it, and are left out.
fn slots(collapsed: &Collapsed, absent: &Absent) -> (Vec<u16>, Extents) {
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

/// How often a text has each of its characters, folded to a byte. Different characters may become equal.
pub(super) struct Characters([i32; 256]);

impl Characters {
    pub(crate) fn of(text: &str) -> Characters {
        let mut counts = [0; 256];
        text.chars().for_each(|character| counts[folded(character)] += 1);
        Characters(counts)
    }

    /// How many of these characters are missing in some lines: each costs at least one edit.
    pub(crate) fn absent_in(&self, lines: &str) -> usize {
        let mut more = self.0;
        lines.chars().for_each(|character| more[folded(character)] -= 1);
        more.iter().map(|&more| usize::try_from(more).unwrap_or(0)).sum()
    }
}

fn folded(character: char) -> usize {
    let code = character as usize;
    (code ^ (code >> 8) ^ (code >> 16)) & 255
}
