//! Three-way merge: two independent changes of one text are both made, or the conflict is reported.
//!
//! The unit is the token: a change is a run of replaced, removed or added tokens, and two changes conflict if they touch
//! the same or adjacent tokens (diff3, with tokens in place of lines). The white space between two tokens is merged for
//! itself, so that re-indented or re-wrapped text conflicts with nothing. The result is a patch of *their* text: what
//! *ours* does not change stays byte for byte.

mod clusters;
mod enclosing;
mod equal_tokens;
pub(crate) mod indentation;
mod indentation_map;
mod quotes;
mod rewritten_lines;
mod slips;
pub(crate) mod written_at_margin;

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::endings;
use crate::tokens::{Change, Tokens, changes, is_word, kept};
use crate::words::has_word;
use clusters::{Cluster, clusters, of_whole_lines};
pub use enclosing::is_enclosed_alike;
use indentation::indent_of;
use indentation_map::{IndentationMap, IndentationPair, is_indented_with_tabs, unit};
use semdex_model::Span;
pub(crate) use slips::{digits, is_misspelt, is_slip};

/// A text with both changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The whole text.
    pub text: String,
    /// What *they* have changed, as spans of the new text. A removed part is an empty span.
    pub kept: Vec<Span>,
    /// What *we* have changed, as spans of the new text.
    pub landed: Vec<Span>,
}

/// Two changes that cannot both be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Why not.
    pub reason: &'static str,
    /// The part in the base, in our text and in theirs.
    pub base: String,
    /// See `base`.
    pub ours: String,
    /// See `base`.
    pub theirs: String,
    /// Where the part is in their text.
    pub place: Span,
}

const SAME_TOKENS: &str = "both changes touch the same or adjacent words";
const MOVED: &str = "the removed text is elsewhere in the file";
const SHARED_ERROR: &str =
    "the replacement has a word or sign that the search text has as well, and the file has otherwise";
const OTHER_LAYOUT: &str = "both changes lay out the same lines, in different ways";
const IN_LITERAL: &str = "the edit adds lines of what may be a literal, and the file is indented otherwise";
const OTHER_UNIT: &str =
    "the edit adds indented lines, and the lines around are indented with tabs instead of blanks, or the reverse";
const OTHER_WRAPPING: &str = "the lines are wrapped differently in the file, where a line end may have a meaning";

/// Makes our change of `base` in `theirs`, which is another change of `base`.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<Merged, Conflict> {
    if ours == theirs || base == ours {
        return Ok(Merged { text: theirs.to_owned(), kept: Vec::new(), landed: Vec::new() });
    }
    if base == theirs {
        let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        let start = (0..=same(ours, base)).rev().find(|&at| ours.is_char_boundary(at)).unwrap_or_default();
        return Ok(Merged { text: ours.to_owned(), kept: Vec::new(), landed: vec![Span::new(start, ours.len())] });
    }
    let (head, tail) = common_ends([base, ours, theirs]);
    let sides = [base, ours, theirs].map(|it| Tokens::new(&it[head..it.len() - tail]));
    let merge = ThreeWay::new(&sides[0], &sides[1], &sides[2], Context::whole(theirs));
    let moved = |it: Span| Span::new(it.start + head, it.end + head);
    let patches = merge.check_enclosing(base, theirs, head).and_then(|()| merge.patches());
    let patches = patches.map_err(|it| Conflict { place: moved(it.place), ..it })?;
    let made = merge.applied(&patches);
    Ok(Merged {
        text: [&theirs[..head], &made.text, &theirs[theirs.len() - tail..]].concat(),
        kept: made.kept.into_iter().map(moved).collect(),
        landed: made.landed.into_iter().map(moved).collect(),
    })
}

/// The lengths of the parts at the beginning and at the end of three texts that no change can reach: they are the same in
/// all of them, and so are the next [`LINES_AROUND`] lines that are not blank.
fn common_ends(texts: [&str; 3]) -> (usize, usize) {
    fn common(sides: [impl Iterator<Item = u8>; 3]) -> usize {
        let [a, b, c] = sides;
        a.zip(b).zip(c).take_while(|((a, b), c)| a == b && b == c).count()
    }
    /// The length of the lines that show what surrounds a change.
    fn around<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
        let mut seen = 0;
        let is_around = |line: &&str| {
            seen += usize::from(!line.trim().is_empty());
            seen <= LINES_AROUND
        };
        lines.take_while(is_around).map(str::len).sum()
    }
    let text = texts[0];
    let head =
        text.as_bytes()[..common(texts.map(str::bytes))].iter().rposition(|it| *it == b'\n').map_or(0, |at| at + 1);
    let head = head - around(text[..head].split_inclusive('\n').rev());
    let tail = common(texts.map(|it| it.as_bytes()[head..].iter().rev().copied()));
    let tail = text.as_bytes()[text.len() - tail..].iter().position(|it| *it == b'\n').map_or(0, |at| tail - at - 1);
    let tail = tail - around(text[text.len() - tail..].split_inclusive('\n'));
    (head, tail)
}

/// A replaced range of their text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// What surrounds the three texts.
pub(crate) struct Context<'a> {
    /// The file that their text is part of: its unit of indentation is used for new lines.
    pub(crate) file: &'a str,
    /// The file up to their text.
    pub(crate) before: &'a str,
    /// The lines of the file around their text: they show what it is indented with.
    pub(crate) around: &'a str,
    /// Their text begins with the first token of a line.
    pub(crate) begins_line: bool,
    /// The base is not a text that was there once, but what an author recalls: a word of it may be a slip.
    pub(crate) recalled: bool,
    /// The author recalls words otherwise than the file has them, not only white space.
    pub(crate) similar: bool,
    /// The line ending where their text has none.
    pub(crate) newline: &'static str,
}

impl<'a> Context<'a> {
    fn whole(file: &'a str) -> Context<'a> {
        Context {
            file,
            before: "",
            around: file,
            begins_line: true,
            recalled: false,
            similar: false,
            newline: endings::at(file, 0),
        }
    }
}

/// A merge of two changes of one text.
pub(crate) struct ThreeWay<'t, 'a> {
    base: &'t Tokens<'a>,
    ours: &'t Tokens<'a>,
    theirs: &'t Tokens<'a>,
    context: Context<'a>,
    clusters: Vec<Cluster>,
    /// For each token of the base, its index in their text if they kept it, and in ours.
    kept: Vec<Option<usize>>,
    /// Their changes, not widened to whole lines.
    changed_tokens: Vec<Change>,
    ours_kept: Vec<Option<usize>>,
    units: [Option<usize>; 2],
    /// The lines around are indented with tabs, if an author may recall that wrongly.
    with_tabs: Option<bool>,
    /// The line of each token of the base and of their text.
    lines: [Vec<usize>; 2],
    /// The base and their text have as many lines.
    as_many_lines: bool,
}

/// So many lines around a change show which indentation they have for which of ours.
const LINES_AROUND: usize = 24;

impl<'t, 'a> ThreeWay<'t, 'a> {
    pub(crate) fn new(
        base: &'t Tokens<'a>,
        ours: &'t Tokens<'a>,
        theirs: &'t Tokens<'a>,
        context: Context<'a>,
    ) -> ThreeWay<'t, 'a> {
        let mut their_changes = changes(base, theirs);
        let mut our_changes = changes(base, ours);
        let changed_tokens = their_changes.clone();
        if !context.recalled {
            their_changes = of_whole_lines(base, theirs, their_changes);
            our_changes = of_whole_lines(base, ours, our_changes);
        }
        if context.recalled {
            // A word with a slip is the same word, unless the edit replaces or removes it.
            let is_replaced =
                |it: &Change| our_changes.iter().any(|ours| ours.old.start < it.old.end && it.old.start < ours.old.end);
            let is_slip = |(asked, there): (&str, &str)| is_slip(asked, there) && !has_word(context.file, asked);
            their_changes.retain(|it| {
                let pairs = base.slice(it.old.clone()).zip(theirs.slice(it.new.clone()));
                it.old.len() != it.new.len()
                    || is_replaced(it)
                    || !pairs.into_iter().all(|it| it.0 == it.1 || is_slip(it))
            });
        }
        let [kept, ours_kept] = [&their_changes, &our_changes].map(|it| kept(it, base.len()));
        let units = [unit([base.text, ours.text]), unit([context.file])];
        let with_tabs = context.recalled.then(|| is_indented_with_tabs(context.around)).flatten();
        let of_lines = !context.recalled;
        let clusters = clusters(base, (ours, our_changes), (theirs, their_changes), of_lines);
        let lines = [base, theirs].map(|tokens| {
            let line = |before: &mut usize, at: usize| {
                *before += usize::from(tokens.begins_line(at));
                Some(*before)
            };
            (0..tokens.len()).scan(0, line).collect::<Vec<usize>>()
        });
        let as_many_lines = lines[0].last() == lines[1].last();
        ThreeWay {
            base,
            ours,
            theirs,
            context,
            clusters,
            kept,
            changed_tokens,
            ours_kept,
            units,
            with_tabs,
            lines,
            as_many_lines,
        }
    }

    /// Their changes of the base.
    pub(crate) fn their_changes(&self) -> impl Iterator<Item = &Change> {
        self.clusters.iter().flat_map(|it| &it.changes)
    }

    /// Whether we have changed the first and the last token of the base.
    pub(crate) fn changes_edges(&self) -> [bool; 2] {
        let ours = || self.clusters.iter().filter(|it| it.is_ours);
        [ours().any(|it| it.base.start == 0), ours().any(|it| it.base.end == self.base.len())]
    }

    /// The parts of their text to replace, in order.
    pub(crate) fn patches(&self) -> Result<Vec<Replacement>, Conflict> {
        self.check_line_ends()?;
        self.check_rewritten_lines()?;
        let mut made: Vec<Replacement> = Vec::new();
        // The first token of each text whose gap is not merged yet.
        let mut next = [0; 3];
        for cluster in &self.clusters {
            let Cluster { base, ours, theirs, .. } = cluster;
            let ends = [base.end, ours.end, theirs.end];
            // Before and after tokens that they replaced is white space of all three texts.
            let is_replaced = !cluster.is_ours && !base.is_empty() && !theirs.is_empty();
            self.gaps(&mut made, next, base.start + usize::from(is_replaced))?;
            if !cluster.is_ours {
                let inner = base.start + usize::from(is_replaced)..base.end + usize::from(!is_replaced);
                if inner.into_iter().any(|at| !same(self.base.gap(at), self.ours.gap(ours.start + at - base.start))) {
                    return Err(self.conflict(OTHER_LAYOUT, cluster.ranges()));
                }
            } else {
                made.extend(self.resolve(cluster)?);
            }
            next = ends.map(|it| it + usize::from(!is_replaced));
        }
        self.gaps(&mut made, next, self.base.len() + 1)?;
        // Two parts that reach into each other cannot both be replaced.
        match self.clusters.iter().find(|it| it.is_ours).filter(|_| overlap(&made)) {
            Some(cluster) => Err(self.conflict(OTHER_LAYOUT, cluster.ranges())),
            None => Ok(made),
        }
    }

    /// The white space that we changed, from one token of each text up to a token of the base, exclusive.
    fn gaps(&self, made: &mut Vec<Replacement>, from: [usize; 3], end: usize) -> Result<(), Conflict> {
        for step in 0..end.saturating_sub(from[0]) {
            let [base, ours, theirs] = from.map(|it| it + step);
            if same(self.base.gap(base), self.ours.gap(ours)) {
                continue;
            }
            let text = self.gap([base, ours, theirs], base).ok_or_else(|| {
                let around = |at: usize, tokens: &Tokens| at.saturating_sub(1)..(at + 1).min(tokens.len());
                let ranges = [around(base, self.base), around(ours, self.ours), around(theirs, self.theirs)];
                self.conflict(OTHER_LAYOUT, ranges)
            })?;
            if text != self.theirs.gap(theirs) {
                made.push(Replacement { range: self.theirs.end_before(theirs)..self.theirs.start(theirs), text });
            }
        }
        Ok(())
    }

    /// Our change of a cluster in their text; `None` if it is there already.
    fn resolve(&self, cluster: &Cluster) -> Result<Option<Replacement>, Conflict> {
        if self.ours.slice(cluster.ours.clone()).eq(self.theirs.slice(cluster.theirs.clone())) {
            let is_moved = |it: &Change| {
                let added: FxHashSet<&str> = self.theirs.slice(it.new.clone()).collect();
                let gone = self.base.slice(cluster.base.clone()).filter(|it| added.contains(it)).count();
                it.old.is_empty() && gone * 4 >= cluster.base.len() * 3
            };
            if cluster.ours.is_empty() && self.their_changes().any(is_moved) {
                return Err(self.conflict(MOVED, cluster.ranges()));
            }
            // Of two equal tokens beside each other both may have removed one, each another one.
            let is_ours_alone =
                |it: &Cluster| it.is_ours && !self.ours.slice(it.ours.clone()).eq(self.theirs.slice(it.theirs.clone()));
            if self.removes_one_of_equal(cluster) && self.clusters.iter().any(is_ours_alone) {
                return Err(self.conflict(SAME_TOKENS, cluster.ranges()));
            }
            // Where we rewrite the line otherwise, an equal word or sign may be chance.
            let line = |tokens: &'t Tokens<'a>, range: &Range<usize>| {
                let start = (0..range.start).rev().find(|&at| tokens.begins_line(at + 1)).map_or(0, |it| it + 1);
                let end = (range.end.max(1)..tokens.len()).find(|&at| tokens.begins_line(at)).unwrap_or(tokens.len());
                tokens.slice(start..end)
            };
            if self.may_be_chance(cluster) && !line(self.ours, &cluster.ours).eq(line(self.theirs, &cluster.theirs)) {
                return Err(self.conflict(SAME_TOKENS, cluster.ranges()));
            }
            self.check_agreed_layout(cluster.ranges().map(|it| it.start..it.end + 1))?;
            return Ok(None);
        }
        if !cluster.changes.is_empty() {
            return Err(self.conflict(SAME_TOKENS, cluster.ranges()));
        }
        self.check_wrapping(cluster)?;
        self.check_shared(cluster)?;
        self.replaced(cluster)
    }

    /// Whether an agreed change may be two changes with the same result: words are replaced by others, or operators. An
    /// author who recalls the base may have misspelt them.
    fn may_be_chance(&self, Cluster { base, ours, .. }: &Cluster) -> bool {
        let is_operator = |it: &str| it.starts_with(|it| "=!<>&|+-".contains(it));
        let mut both = self.base.slice(base.clone()).chain(self.ours.slice(ours.clone()));
        let mut pairs = self.base.slice(base.clone()).zip(self.ours.slice(ours.clone()));
        let is_replaced = !base.is_empty() && !ours.is_empty();
        let is_other = |(base, ours): (&str, &str)| base != ours && !(self.context.recalled && is_misspelt(base, ours));
        is_replaced && (both.all(is_operator) || base.len() == ours.len() && pairs.any(is_other))
    }

    /// Where both have made the same change, the white space before its tokens must not differ.
    fn check_agreed_layout(&self, part: [Range<usize>; 3]) -> Result<(), Conflict> {
        let [base, ours, theirs] = part.clone();
        let map = self.indentation(base.start);
        let differs = |(at, there): (usize, usize)| {
            let gap = self.ours.gap(at);
            let is_kept = base.len() == ours.len() && same(self.base.gap(base.start + at - ours.start), gap);
            let edge = |at: usize, edge: usize| there == at && same(self.base.gap(edge), gap);
            let is_edge = edge(0, 0) || edge(self.theirs.len(), self.base.len());
            !is_kept && !is_edge && !same(&mapped(&map, gap), self.theirs.gap(there))
        };
        if ours.clone().zip(theirs).any(differs) {
            return Err(self.conflict(OTHER_LAYOUT, part));
        }
        Ok(())
    }

    /// Among equal words nobody knows which ones are new: where both changes move a line end among them, each to another
    /// place, neither layout is right for the result.
    fn check_line_ends(&self) -> Result<(), Conflict> {
        let breaks = |tokens: &Tokens, at: usize| tokens.gap(at).contains('\n');
        // Where each of us has moved one last.
        let mut moved = [None; 2];
        for at in 1..self.base.len() {
            let before = breaks(self.base, at);
            if self.context.recalled && self.may_be_either(at) {
                return Err(self.conflict(OTHER_WRAPPING, [at - 1..at + 1, 0..self.ours.len(), 0..self.theirs.len()]));
            }
            let (Some(ours), Some(theirs)) = (self.ours_kept[at], self.kept[at]) else { continue };
            let is_moved = [breaks(self.ours, ours) != before, breaks(self.theirs, theirs) != before];
            if is_moved == [false; 2] && before {
                moved = [None; 2];
            }
            for side in [0, 1].into_iter().filter(|&side| is_moved[side] && !is_moved[1 - side]) {
                moved[side] = Some(at);
                let repeats = |from: usize| {
                    let end = (2 * at - from).min(self.base.len());
                    self.base.slice(from..from + end - at).eq(self.base.slice(at..end))
                };
                if moved[1 - side].is_some_and(repeats) {
                    return Err(self.conflict(OTHER_LAYOUT, [at..at + 1, ours..ours + 1, theirs..theirs + 1]));
                }
            }
        }
        Ok(())
    }

    /// A line end has a meaning in comments and in many languages: where they have one in the part that we change and
    /// the base does not, or the reverse, our text would be on another line than it is written for.
    fn check_wrapping(&self, cluster: &Cluster) -> Result<(), Conflict> {
        let length = cluster.base.len();
        let is_wrapped = |step: usize| {
            let (base, theirs) = (cluster.base.start + step, cluster.theirs.start + step);
            let continues = base > 0 && matches!(self.base.get(base - 1), "," | "(" | "[" | "{");
            // At the edges of the texts, the gap is only as long as we know it.
            let is_edge = [0, self.base.len()].contains(&base);
            !is_edge && self.base.gap(base).contains('\n') != self.theirs.gap(theirs).contains('\n') && !continues
        };
        let agrees = || {
            let breaks = |tokens: &Tokens, range: &Range<usize>| -> Vec<bool> {
                (range.start + 1..range.end).map(|at| tokens.gap(at).contains('\n')).collect()
            };
            !cluster.base.is_empty() && breaks(self.ours, &cluster.ours) == breaks(self.theirs, &cluster.theirs)
        };
        if (length.min(1)..length.max(1)).any(is_wrapped) && !agrees() {
            return Err(self.conflict(OTHER_WRAPPING, cluster.ranges()));
        }
        Ok(())
    }

    /// Their tokens of a cluster, replaced by ours, with the white space before and after them.
    fn replaced(&self, cluster: &Cluster) -> Result<Option<Replacement>, Conflict> {
        let Cluster { base, ours, theirs, .. } = cluster;
        let conflict = || self.conflict(OTHER_LAYOUT, cluster.ranges());
        let map = self.indentation(base.start);
        let (from, to) = (self.theirs.end_before(theirs.start), self.theirs.start(theirs.end));
        let [left, right] = [base.start, base.end].map(|it| self.base.gap(it));
        let [our_left, our_right] = [ours.start, ours.end].map(|it| self.ours.gap(it));
        let [their_left, their_right] = [theirs.start, theirs.end].map(|it| self.theirs.gap(it));
        let text = if ours.is_empty() {
            // Where the file wraps the lines differently, it is doubtful which line end goes.
            let is_inner = self.context.similar && base.start > 0 && base.end < self.base.len();
            // Of two equal gaps the one remains that they have as well.
            let is_left = same(our_left, left) && same(left, their_left) && base.end < self.base.len();
            // What is left of a line begins where the first line did.
            let begins_within_line = base.start == 0 && ![our_left, right].iter().any(|it| it.contains('\n'));
            let gap = if begins_within_line && same(our_left, left) {
                their_left.to_owned()
            } else if same(our_left, right) && !is_left {
                their_right.to_owned()
            } else if same(our_left, left) {
                their_left.to_owned()
            } else if base.start == 0 && !our_left.contains('\n') {
                // The first lines are removed: the place now begins with a line that they kept.
                let is_same = indent_of(right) == our_left;
                if is_same { indent_of(their_right).to_owned() } else { map.indentation(our_left) }
            } else {
                self.before_kept(&map, our_left, [base.end, theirs.end])
            };
            // At the end of the texts nothing follows that is indented.
            let gap = match gap.rsplit_once('\n') {
                Some((lines, _)) if base.end == self.base.len() => format!("{lines}\n{}", indent_of(their_right)),
                _ => gap,
            };
            if is_inner && gap.contains('\n') != our_left.contains('\n') {
                return Err(self.conflict(OTHER_WRAPPING, cluster.ranges()));
            }
            gap
        } else {
            // Within a line our new words have our blanks around them.
            let is_inner = [base.start > 0, base.end < self.base.len()];
            // So do those that were several lines, where the author recalls no line end.
            let is_collapsed =
                self.context.recalled && self.theirs.has_line_end(theirs) && !self.ours.has_line_end(ours);
            let is_inline = |ours: &str, theirs: &str| !ours.contains('\n') && (is_collapsed || !theirs.contains('\n'));
            let inline =
                [is_inner[0] && is_inline(our_left, their_left), is_inner[1] && is_inline(our_right, their_right)];
            let [mut before, mut after] = if inline == [true; 2] {
                [our_left.to_owned(), our_right.to_owned()]
            } else if base.is_empty() {
                let after = self.before_kept(&map, our_right, [base.end, theirs.end]);
                let before = mapped(&map, our_left);
                let is_edge = base.start == 0 || base.start == self.base.len();
                let agrees = |made: &str| !is_edge && same(made, their_left);
                // At the end of the texts, the line that follows there shows no indentation.
                let ends = base.start == self.base.len() && our_left.contains('\n');
                let at_end = |lines: &str| format!("{lines}\n{}", map.indentation(indent_of(our_left)));
                if agrees(&after) || (!agrees(&before) && same(our_right, left) && base.start > 0) {
                    [before, their_left.to_owned()]
                } else if agrees(&before) || same(our_left, left) {
                    let lines = their_left.rsplit_once('\n').filter(|_| ends);
                    [lines.map_or(their_left.to_owned(), |it| at_end(it.0)), after]
                } else if base.start == 0 {
                    [self.head(&map, [left, our_left, their_left]), after]
                } else {
                    [before, after]
                }
            } else {
                let before = match base.start {
                    _ if inline[0] => our_left.to_owned(),
                    0 => self.head(&map, [left, our_left, their_left]),
                    _ => three_gaps(&map, [left, our_left, their_left]).ok_or_else(conflict)?,
                };
                let after = if inline[1] {
                    our_right.to_owned()
                } else {
                    self.after(&map, [right, our_right, their_right], base.end).ok_or_else(conflict)?
                };
                [before, after]
            };
            // Words that only our text has side by side stay apart.
            let neighbour = |at: Option<usize>| at.map(|at| self.theirs.get(at)).unwrap_or_default();
            let [first, last] = [ours.start, ours.end - 1].map(|at| self.ours.get(at));
            if before.is_empty() && glued(neighbour(theirs.start.checked_sub(1)), first) {
                before = our_left.to_owned();
            }
            if after.is_empty() && glued(last, neighbour(Some(theirs.end).filter(|it| *it < self.theirs.len()))) {
                after = our_right.to_owned();
            }
            // A line end after a bracket that is now another sign is none of the new sign's.
            let is_doubtful = |made: &str, own: &str, base_at: usize, at: usize| {
                let tokens = || [self.base.get(base_at), self.ours.get(at)];
                let is_sign = || !base.is_empty() && !tokens().iter().all(|it| it.starts_with(is_word));
                made.contains('\n') != own.contains('\n')
                    && (self.context.similar || self.context.recalled && is_sign())
            };
            if is_inner[0] && is_doubtful(&before, our_left, base.start, ours.start)
                || is_inner[1] && is_doubtful(&after, our_right, base.end.saturating_sub(1), ours.end - 1)
            {
                return Err(self.conflict(OTHER_WRAPPING, cluster.ranges()));
            }
            let mut text = before;
            // The lines of a literal have their own indentation.
            let quotes = |at: usize| {
                let is_escaped = at > 0 && self.ours.gap(at).is_empty() && self.ours.get(at - 1).ends_with('\\');
                let token = self.ours.get(at);
                // Three of them are a fence in Markdown.
                let is_quote = token == "`" || token.starts_with('"');
                is_quote && (token.len() + usize::from(is_escaped)) % 2 == 1
            };
            let line = (0..=ours.start).rfind(|&at| self.ours.begins_line(at)).unwrap_or_default();
            let mut in_literal = (line..ours.start).filter(|&at| quotes(at)).count() % 2 == 1;
            for at in ours.clone() {
                if at > ours.start {
                    let own = self.ours.gap(at);
                    let gap = mapped(&map, own);
                    if in_literal && gap != own {
                        return Err(self.conflict(IN_LITERAL, cluster.ranges()));
                    }
                    if map.is_doubtful && own.contains('\n') && !indent_of(own).is_empty() {
                        return Err(self.conflict(OTHER_UNIT, cluster.ranges()));
                    }
                    text.push_str(&gap);
                }
                in_literal ^= quotes(at);
                text.push_str(self.ours.get(at));
            }
            text + &after
        };
        let text = endings::like(&self.theirs.text[from..to], &endings::unix(&text), self.newline(from));
        Ok((text != self.theirs.text[from..to]).then_some(Replacement { range: from..to, text }))
    }

    /// The white space before their first token: blank lines and the indentation of the first line, which an author may
    /// have lost.
    fn head(&self, map: &IndentationMap, gaps: [&str; 3]) -> String {
        let [base, ours, theirs] = gaps.map(|it| it.rfind('\n').map_or(("", it), |at| it.split_at(at + 1)));
        let ends = gaps.map(|it| it.matches('\n').count());
        let is_changed = base.0 == theirs.0 || ends[0] != ends[1] && ends[0] == ends[2];
        let lines = if is_changed { ours.0 } else { theirs.0 };
        let is_lost = ends[0] == 0 && base.1.is_empty() && map.indentation("") != theirs.1;
        let own = if ours.1 == base.1 || is_lost || !self.context.begins_line {
            theirs.1.to_owned()
        } else {
            map.indentation(ours.1)
        };
        lines.to_owned() + &own
    }

    /// The merged white space after our tokens. At the end of the texts nothing follows that is indented.
    fn after(&self, map: &IndentationMap, gaps: [&str; 3], end: usize) -> Option<String> {
        let [base, ours, theirs] = gaps;
        if end < self.base.len() {
            return three_gaps(map, gaps);
        }
        let lines = gaps.map(|it| it.matches('\n').count());
        let is_changed = lines[0] != lines[1] && lines[0] == lines[2] || same(&mapped(map, base), theirs);
        Some(if is_changed && !same(ours, theirs) { ours } else { theirs }.to_owned())
    }

    /// Our white space before a token that they kept: on a line of its own it keeps its indentation, unless we changed it.
    fn before_kept(&self, map: &IndentationMap, ours: &str, [base, theirs]: [usize; 2]) -> String {
        let made = mapped(map, ours);
        let Some((lines, own)) = ours.rsplit_once('\n') else { return made };
        if base == self.base.len() {
            return if own.is_empty() { ours.to_owned() } else { made };
        }
        let [before, there] = [self.base.gap(base), self.theirs.gap(theirs)];
        let [before, there] = [before, there].map(indent_of);
        let begins = self.theirs.gap(theirs).contains('\n') || (theirs == 0 && self.context.begins_line);
        let is_line = begins && (self.base.gap(base).contains('\n') || base == 0);
        if own == before && is_line { format!("{lines}\n{there}") } else { made }
    }

    /// The merged white space before a token of each text.
    fn gap(&self, [base, ours, theirs]: [usize; 3], at: usize) -> Option<String> {
        let gaps = [self.base.gap(base), self.ours.gap(ours), self.theirs.gap(theirs)];
        let map = self.indentation(at);
        let text = if base == 0 { Some(self.head(&map, gaps)) } else { self.after(&map, gaps, base) };
        // What an author recalls may have any white space: where neither text agrees with the file, the file is right,
        // unless the edit itself changes blanks within a line, or makes or removes blank lines.
        let text = text.or_else(|| {
            let [base, ours, theirs] = gaps.map(|it| it.matches('\n').count());
            let makes_blank_lines = ours > theirs.max(1);
            let is_theirs = base + ours + theirs > 0 && (base == ours || base * ours == 0 && !makes_blank_lines);
            let recalled = || if is_theirs { gaps[2].to_owned() } else { mapped(&map, gaps[1]) };
            self.context.recalled.then(recalled)
        })?;
        let start = self.theirs.end_before(theirs);
        Some(endings::like(gaps[2], &endings::unix(&text), self.newline(start)))
    }

    fn newline(&self, at: usize) -> &'static str {
        if self.theirs.text.contains('\n') { endings::at(self.theirs.text, at) } else { self.context.newline }
    }

    /// Which indentation they have for which of ours, around a token of the base.
    fn indentation(&self, at: usize) -> IndentationMap<'a> {
        let pair = |base: usize| {
            let theirs = self.kept[base]?;
            let begins = if theirs == 0 { self.context.begins_line } else { self.theirs.begins_line(theirs) };
            let indented = |tokens: &Tokens<'a>, at: usize| indent_of(tokens.gap(at));
            let pair = IndentationPair {
                asked: indented(self.base, base),
                there: indented(self.theirs, theirs),
                first: base == 0,
            };
            let is_same_line = self.lines[0][base] == self.lines[1][theirs];
            (begins && self.base.begins_line(base))
                .then_some((self.has_word(base) || is_same_line && self.as_many_lines, pair))
        };
        let below = (at.min(self.base.len())..self.base.len()).filter_map(pair).take(LINES_AROUND);
        let above = (0..at.min(self.base.len())).rev().filter_map(pair).take(LINES_AROUND);
        let mut pairs: Vec<(bool, IndentationPair<'a>)> = above.collect();
        pairs.reverse();
        pairs.extend(below);
        // A bracket alone may be another bracket, unless it is on the same line of both.
        if pairs.iter().any(|it| it.0) {
            pairs.retain(|it| it.0);
        }
        let pairs: Vec<IndentationPair<'a>> = pairs.into_iter().map(|it| it.1).collect();
        IndentationMap::new(&pairs, [self.base.text, self.ours.text], self.units, self.with_tabs, self.context.before)
    }

    /// Whether they kept a word of the line that begins with this token.
    fn has_word(&self, start: usize) -> bool {
        let line = (start..self.base.len()).take_while(|&at| at == start || !self.base.begins_line(at));
        line.into_iter().any(|at| self.kept[at].is_some() && self.base.get(at).starts_with(is_word))
    }

    /// An author who recalls a word or sign wrongly writes it wrongly as well: our new text must not have a word that the
    /// file spells otherwise, nor a sign that both our texts have where the file has another one or none (`\"` for `"`).
    fn check_shared(&self, cluster: &Cluster) -> Result<(), Conflict> {
        if !self.context.recalled {
            return Ok(());
        }
        let differs = |at: usize| self.kept[at].is_some_and(|there| self.theirs.get(there) != self.base.get(at));
        let is_misspelt = |token: &str, it: &Change| {
            let mut theirs = self.theirs.slice(it.new.clone());
            self.base.slice(it.old.clone()).any(|it| it == token) && theirs.any(|it| is_misspelt(token, it))
        };
        // Where both our texts have a sign that the file has otherwise, or two side by side that it has apart.
        let is_wrong_sign = |token: &str, it: &Change| {
            let (start, end) = (it.old.start, it.old.end);
            let is_between = it.old.is_empty() && start > 0 && end < self.base.len() && self.base.gap(start).is_empty();
            let part = if is_between { start - 1..end + 1 } else { start..end };
            self.base.slice(part).any(|it| it == token)
        };
        // Whole lines are what somebody else has removed.
        let is_within_line = |it: &&Change| {
            it.old.is_empty()
                || !self.base.begins_line(it.old.start)
                || it.old.end < self.base.len() && !self.base.begins_line(it.old.end)
        };
        let shared = || self.clusters.iter().filter(|it| !it.is_ours).flat_map(|it| &it.changes).filter(is_within_line);
        let is_wrong = |token: &str| {
            if token.starts_with(is_word) {
                (0..self.base.len()).any(|at| self.base.get(at) == token && differs(at))
                    || self.their_changes().any(|it| is_misspelt(token, it))
            } else {
                shared().any(|it| is_wrong_sign(token, it))
            }
        };
        // Nor must it add the word that the file has for another one that our text has as well: then it is doubtful which
        // of our words is which.
        let is_theirs = |token: &str| {
            let same_length = self.their_changes().filter(|it| it.old.len() == it.new.len());
            let mut pairs =
                same_length.flat_map(|it| self.base.slice(it.old.clone()).zip(self.theirs.slice(it.new.clone())));
            let is_written = |word: &str| self.ours.slice(0..self.ours.len()).any(|it| it == word);
            token.starts_with(is_word)
                && pairs.any(|(base, it)| it == token && base != it && !is_slip(base, it) && is_written(base))
        };
        if self.ours.slice(cluster.ours.clone()).any(|it| is_wrong(it) || is_theirs(it)) {
            return Err(self.conflict(SHARED_ERROR, cluster.ranges()));
        }
        Ok(())
    }

    /// A conflict about these tokens.
    pub(crate) fn conflict(&self, reason: &'static str, [base, ours, theirs]: [Range<usize>; 3]) -> Conflict {
        // Whole lines, which can be sent as a search text.
        let lines = |tokens: &Tokens, range: &Range<usize>| {
            let start = tokens.start(range.start);
            let end = if range.is_empty() { start } else { tokens.end_before(range.end.min(tokens.len())).max(start) };
            let from = tokens.text[..start].rfind('\n').map_or(0, |at| at + 1);
            from..tokens.text[end..].find('\n').map_or(tokens.text.len(), |at| end + at + 1)
        };
        let place = lines(self.theirs, &theirs);
        Conflict {
            reason,
            base: self.base.text[lines(self.base, &base)].to_owned(),
            ours: self.ours.text[lines(self.ours, &ours)].to_owned(),
            theirs: self.theirs.text[place.clone()].to_owned(),
            place: Span::new(place.start, place.end),
        }
    }

    /// Their text with these replacements.
    pub(crate) fn applied(&self, made: &[Replacement]) -> Merged {
        let mut text = String::with_capacity(self.theirs.text.len());
        let mut merged = Merged { text: String::new(), kept: Vec::new(), landed: Vec::new() };
        let mut done = 0;
        // Their ranges and by how much what follows moves.
        let mut moves: Vec<(usize, isize)> = Vec::new();
        for Replacement { range, text: new } in made {
            text.push_str(&self.theirs.text[done..range.start]);
            merged.landed.push(Span::new(text.len(), text.len() + new.len()));
            text.push_str(new);
            done = range.end;
            moves.push((range.end, text.len().cast_signed() - range.end.cast_signed()));
        }
        text.push_str(&self.theirs.text[done..]);
        let moved = |at: usize| {
            let by = moves[..moves.partition_point(|it| it.0 <= at)].last().map_or(0, |it| it.1);
            at.saturating_add_signed(by)
        };
        for change in self.their_changes() {
            let start = self.theirs.start(change.new.start);
            let end = if change.new.is_empty() { start } else { self.theirs.end_before(change.new.end) };
            merged.kept.push(Span::new(moved(start), moved(end)));
        }
        merged.text = text;
        merged
    }
}

/// White space before a token: blanks at the end of a line, line ends with the blank lines between them, indentation.
fn parts(gap: &str) -> [&str; 3] {
    match (gap.find('\n'), gap.rfind('\n')) {
        (Some(first), Some(last)) => [&gap[..first], &gap[first..=last], &gap[last + 1..]],
        _ => [gap, "", ""],
    }
}

/// Merges white space part by part; `None` if both changed a part in different ways.
fn three_gaps(map: &IndentationMap, [base, ours, theirs]: [&str; 3]) -> Option<String> {
    let [base, ours, theirs] = [base, ours, theirs].map(|it| endings::unix(it).into_owned());
    let made = mapped(map, &ours);
    if base == ours || made == theirs {
        return Some(theirs);
    }
    if base == theirs || mapped(map, &base) == theirs {
        return Some(made);
    }
    let [base, ours, theirs] = [&base, &ours, &theirs].map(|it| parts(it));
    let lines = |it: &str| it.matches('\n').count();
    let merged = |at: usize, equal: &dyn Fn(&str, &str) -> bool| {
        if equal(base[at], ours[at]) || equal(ours[at], theirs[at]) {
            Some(theirs[at])
        } else {
            equal(base[at], theirs[at]).then_some(ours[at])
        }
    };
    let ends = merged(1, &|a, b| lines(a) == lines(b))?;
    if ends.is_empty() != theirs[1].is_empty() || base[1].is_empty() != theirs[1].is_empty() {
        return Some(mapped(map, &ours.concat()));
    }
    // Blanks at the end of a line mean nothing.
    let blanks = merged(0, &|a, b| a == b).or_else(|| (lines(base[1]) + lines(theirs[1]) > 0).then_some(ours[0]))?;
    let own = map.indentation(ours[2]);
    let indentation = if ours[2] == base[2] || own == theirs[2] { theirs[2].to_owned() } else { own };
    let indentation = if ends.is_empty() { String::new() } else { indentation };
    Some([blanks, ends, &indentation].concat())
}

/// Our white space with their indentation.
fn mapped(map: &IndentationMap, gap: &str) -> String {
    match gap.rsplit_once('\n') {
        Some((lines, own)) => {
            let blank = |line: (usize, &str)| match line {
                (0, blanks) | (_, blanks @ "") => blanks.to_owned(),
                (_, blanks) => map.indentation(blanks),
            };
            let lines: Vec<String> = lines.split('\n').enumerate().map(blank).collect();
            lines.join("\n") + "\n" + &map.indentation(own)
        }
        None => gap.to_owned(),
    }
}

/// Whether parts of a text reach into each other, or are not in its order.
fn overlap(parts: &[Replacement]) -> bool {
    parts.windows(2).any(|it| it[0].range.end > it[1].range.start)
}

fn same(a: &str, b: &str) -> bool {
    a == b || endings::unix(a) == endings::unix(b)
}

/// Whether two tokens side by side would be one word.
fn glued(before: &str, after: &str) -> bool {
    before.ends_with(is_word) && after.starts_with(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str) -> Option<String> {
        merge(base, ours, theirs).ok().map(|it| it.text)
    }

    #[test]
    fn changes_of_different_lines_and_words_are_both_made() {
        let base = "a\nb\nc\nd\ne\n";
        assert_eq!(merged(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n").unwrap(), "A\nb\nc\nd\nE\n");
        assert_eq!(merged(base, "b\nc\nd\ne\n", "a\nb\nc\nx\ny\nd\ne\n").unwrap(), "b\nc\nx\ny\nd\ne\n");
        assert_eq!(merged(base, base, "z\n").unwrap(), "z\n");
        assert_eq!(merged(base, "a\nB\nc\nd\ne\n", "a\nB\nc\nd\ne\n").unwrap(), "a\nB\nc\nd\ne\n");
        let base = "    if before + amount < floor && !ledger.is_exempt(account) {\n";
        let (ours, theirs) = (base.replace("(account)", "(owner)"), base.replace("< floor", "<= floor"));
        assert_eq!(merged(base, &ours, &theirs).unwrap(), theirs.replace("(account)", "(owner)"));
    }

    #[test]
    fn changes_of_the_same_or_adjacent_words_conflict() {
        let conflict = merge("f(a, b);\n", "f(a, c);\n", "f(a, d);\n").unwrap_err();
        let texts = (&*conflict.base, &*conflict.ours, &*conflict.theirs);
        assert_eq!(texts, ("f(a, b);\n", "f(a, c);\n", "f(a, d);\n"));
        assert_eq!(conflict.place, Span::new(0, 9));
        assert_eq!(merged("a b c\n", "a X c\n", "a b Y\n"), None, "adjacent words");
        assert_eq!(merged("a\nb\nc\n", "c\n", "a\nb2\nc\n"), None, "a removed line that they changed");
        assert_eq!(merged("", "a\n", "b\n"), None);
        assert_eq!(merged("a\n\nb\n", "A\n\nb\n", "a\n\nB\n").unwrap(), "A\n\nB\n", "a blank line between them");
    }

    #[test]
    fn what_both_did_is_done_once() {
        let (base, ours) = ("one(a)\ntwo(b)\n", "one(x)\ntwo(y)\n");
        assert_eq!(merged(base, ours, "one(x)\ntwo(b)\n").unwrap(), ours);
        // A sign that both have in common by chance.
        let base = "    assert!(byte(it) == b'}');\n    next();\n";
        let ours = "    if byte(it) != b'}' {\n        return None;\n    }\n    next();\n";
        assert_eq!(merged(base, ours, &base.replace("==", "!=")), None);
        assert_eq!(merged("assert!(a == b);\n", "if a != b {}\n", "assert!(a != b);\n"), None);
        assert_eq!(merged("mood a;\n", "mod z;\nmood a;\n", "mod a;\n"), None, "their word is not ours");
    }

    #[test]
    fn a_block_that_they_indent_takes_our_new_lines_at_its_depth() {
        let base = "fn f() {\n    a();\n    b();\n}\n";
        let theirs = "fn f() {\n    if x {\n        a();\n        b();\n    }\n}\n";
        let ours = "fn f() {\n    a();\n    new();\n    b();\n}\n";
        let wanted = "fn f() {\n    if x {\n        a();\n        new();\n        b();\n    }\n}\n";
        assert_eq!(merged(base, ours, theirs).unwrap(), wanted);
    }

    #[test]
    fn a_block_that_we_indent_takes_no_line_that_they_added_out_of_it() {
        let base = "def f(x):\n    a = 1\n    b = 2\n    return a + b\n";
        let ours = "def f(x):\n    if x:\n        a = 1\n        b = 2\n        return a + b\n";
        for theirs in ["    b = 2\n    k = 9\n", "    c = 2\n", "    b = 2\n\n    k = 9\n"] {
            let result = merged(base, ours, &base.replace("    b = 2\n", theirs));
            let lines = |text: &str| text.lines().filter(|it| !it.is_empty()).all(|it| it.starts_with("        "));
            assert!(result.is_none_or(|it| lines(it.split_once("if x:\n").unwrap().1)), "{theirs:?}");
        }
        assert_eq!(
            merged(base, ours, &base.replace("    b = 2\n", "    c = 2\n")),
            Some(ours.replace("b = 2", "c = 2"))
        );
    }

    #[test]
    fn lines_far_from_both_changes_are_not_compared() {
        let far = "fn far() {}\n\n".repeat(100);
        let text = |middle: &str| [&far, middle, &far].concat();
        let [base, ours, theirs] = ["a(1);\nb(2);\n", "a(3);\nb(2);\n", "a(1);\nc();\nb(2);\n"].map(text);
        let merged = merge(&base, &ours, &theirs).unwrap();
        assert_eq!(merged.text, text("a(3);\nc();\nb(2);\n"));
        assert_eq!(&merged.text[merged.kept[0].start..merged.kept[0].end], "c();");
        assert_eq!(merged.text[merged.landed[0].start..merged.landed[0].end].trim(), "3");
        let conflict = merge(&base, &text("a(4);\nb(2);\n"), &text("a(5);\nb(2);\n")).unwrap_err();
        assert_eq!(&base[conflict.place.start..conflict.place.end], "a(1);\n");
        let (head, tail) = common_ends([&base, &ours, &theirs]);
        let lines = |text: &str| text.lines().filter(|it| !it.is_empty()).count();
        assert_eq!(
            [lines(&base[..head]), lines(&base[base.len() - tail..])],
            [100 - LINES_AROUND, 101 - LINES_AROUND],
            "`b` is around"
        );
    }

    #[test]
    fn both_report_where_they_are() {
        let base = "one\n\ntwo\n\nthree\n";
        let merged = merge(base, "one\n\ntwo\n\n3\n", "ONE\n\ntwo\n\nthree\n").unwrap();
        let text = |span: &Span| &merged.text[span.start..span.end];
        assert_eq!(merged.kept.iter().map(text).collect::<Vec<_>>(), ["ONE"]);
        assert_eq!(merged.landed.iter().map(|it| text(it).trim()).collect::<Vec<_>>(), ["3"]);
    }

    #[test]
    fn removing_one_of_two_equal_tokens_is_not_removing_the_other() {
        let base = "fn f() -> u8 {\n    unsafe { g() }\n}\n\nfn h() {}\n";
        let ours = "fn f() -> u8 {\n    g()\n}\n\nfn h() {}\n";
        let theirs = "fn f() -> u8 {\n    unsafe { g() }\n\nfn h() {}\n";
        assert_eq!(merged(base, ours, theirs), None);
        let base = "//! One.\n//!\n//! ```rust\n//! ```\n";
        let ours = "//! One.\n//!\n//! First:\n//! ```console\n//! ```\n//!\n//! Here:\n//! ```rust\n//! ```\n";
        let theirs = "//! One.\n//! ```rust\n//! ```\n";
        assert_eq!(merged(base, ours, theirs), None);
        // Far from each other nothing is doubtful.
        let base = "a();\n}\n}\n\nx();\ny();\n\n}\n}\n";
        let theirs = "a();\n}\n\nx();\ny();\n\n}\n}\n";
        let ours = "a();\n}\n}\n\nx();\ny();\n\n}\n";
        assert_eq!(merged(base, ours, theirs).as_deref(), Some("a();\n}\n\nx();\ny();\n\n}\n"));
    }

    #[test]
    fn where_the_result_is_the_same_it_does_not_matter_which_of_equal_tokens_changed() {
        let base = "fn f() {\n    a();\n    b();\n}\n\nfn g() {\n    c();\n}\n\nfn h() {\n    d();\n}\n";
        // The new function, and the removed one, begin with a bracket or end with one.
        let added = base.replace("fn g", "fn n() {\n    n();\n}\n\nfn g");
        let removed = base.replace("fn g() {\n    c();\n}\n\n", "");
        for ours in [&added, &removed] {
            for theirs in ["", "    x();\n"] {
                let result = ours.replace("    b();\n", theirs);
                assert_eq!(merged(base, ours, &base.replace("    b();\n", theirs)), Some(result));
            }
        }
        // A line that both may have added at the same place.
        assert_eq!(merged(base, &added, &base.replace("    b();\n", "    b();\n    x();\n")), None);
        let base = "/// A.\n#[test]\nfn a() {}\n";
        let ours = "/// A.\n#[test]\nfn n() {}\n\n#[test]\nfn a() {}\n";
        assert_eq!(merged(base, ours, "/// A.\n#[ignore]\n#[test]\nfn a() {}\n"), None);
        assert_eq!(merged(base, ours, "/// A.\n#[case]\nfn a() {}\n"), None);
    }

    #[test]
    fn changes_on_both_sides_of_what_they_removed_do_not_reach_into_each_other() {
        let base = "a(1);\n\nb(2);\n\nc(3);\n\nd(4);\n";
        let (ours, theirs) = ("n(9);\n\n\nb(2);\n\nd(4);\n", "a(1);\n\n\nc(3);\n\nd(4);\n");
        assert!(merged(base, ours, theirs).is_none_or(|it| !it.contains("b(2)") && it.contains("n(9)")));
    }

    #[test]
    fn a_bracket_that_both_removed_may_be_two_brackets() {
        let base = "                }\n            } else {\n                return f();\n            }\n        }\n\n        // Next.\n";
        let ours = "                }\n            }\n\n            return f();\n        }\n\n        // Next.\n";
        let theirs = base.replace("f();\n            }\n", "f();\n");
        assert_eq!(merged(base, ours, &theirs), None);
    }

    #[test]
    fn lines_added_beside_a_removed_one_conflict() {
        let base = "    x(\n        strict\n    )\n)]\n#![allow(\n    a,\n";
        let ours = "    x(\n        strict_lints\n    )\n)]\n#![cfg_attr(b, c(rustc_attrs))]\n#![allow(\n    a,\n";
        assert_eq!(merged(base, ours, &base.replace(")]\n", "")), None);
    }

    #[test]
    fn paragraphs_that_we_rewrite_are_indented_by_them() {
        let base = "one two\nthree\n\nfour five\nsix\n\nseven\n";
        let ours = "1 2 3\n4\n\n5 6\n7 8\n\nseven\n";
        let indented = |text: &str| text.replace('\n', "\n    ").replace("\n    \n", "\n\n");
        assert_eq!(merged(base, ours, &format!("    {}", indented(base))).unwrap(), format!("    {}", indented(ours)));
    }

    proptest::proptest! {
        #[test]
        fn one_change_alone_is_that_change(base in "[ab( \n]{0,16}", text in "[ab( \n]{0,16}") {
            proptest::prop_assert_eq!(merged(&base, &base, &text), Some(text.clone()));
            proptest::prop_assert_eq!(merged(&base, &text, &base), Some(text.clone()));
            proptest::prop_assert_eq!(merged(&base, &text, &text), Some(text));
        }

        /// No word of theirs is lost that ours does not remove.
        #[test]
        fn nothing_that_they_added_is_lost(
            base in "([a-d]{1,2}[ \n]){0,12}", ours in "([a-d]{1,2}[ \n]){0,12}", added in "[xyz]{2}", at in 0usize..12,
        ) {
            let mut words: Vec<&str> = base.split_inclusive([' ', '\n']).collect();
            let theirs = format!("{added} ");
            words.insert(at.min(words.len()), &theirs);
            if let Some(text) = merged(&base, &ours, &words.concat()) {
                proptest::prop_assert!(text.split_whitespace().any(|it| it == added), "{text:?}");
            }
        }
    }
}
