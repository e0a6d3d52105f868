//! A page of the answer: sections as spans, as many as fit, and what is around them.

use std::collections::BTreeMap;

use super::relations::{Relations, relations};
use super::symbols::Symbols;
use crate::ranking::choice::{fill, order};
use crate::ranking::{At, Index, Ranking, WEIGHTS, Why};
use crate::redaction::{REDACTED, is_code, redact};
use semdex_contract::{ExploreFile, ExploreReply, Listed, Meta, OmittedLines, RankedSymbol, ShownTests, Span, Symbol};
use semdex_model::Languages;

/// The part of the budget that spans may use, in percent. The rest is for signatures, users and tests.
const SPANS: usize = 86;
const MOST_SIGNATURES: usize = 24;
/// The size of a row of the parts after the spans, besides its texts.
const ROW: usize = 16;
/// The signatures of so many of the best files come first.
const BEST_FILES: usize = 8;

/// The ranking of one request.
pub(super) struct Page<'a> {
    index: &'a Index,
    ranking: &'a Ranking,
    symbols: &'a Symbols<'a>,
    tests: ShownTests,
    languages: &'a Languages,
    order: Vec<(At, f64)>,
    /// The value of the best section.
    best: f64,
}

impl<'a> Page<'a> {
    pub(super) fn new(
        index: &'a Index,
        ranking: &'a Ranking,
        symbols: &'a Symbols<'a>,
        tests: ShownTests,
        languages: &'a Languages,
    ) -> Page<'a> {
        let order = order(index, ranking, &WEIGHTS, tests == ShownTests::Full);
        let best = order.iter().map(|it| it.1).fold(f64::MIN_POSITIVE, f64::max);
        Page { index, ranking, symbols, tests, languages, order, best }
    }

    /// The page after what was listed before. `seen` says which spans (file and text) the client was shown.
    pub(super) fn reply(
        &self,
        before: &Listed,
        most: usize,
        limit: usize,
        meta: Meta,
        seen: Option<impl Fn(&[(&str, &str)]) -> Vec<bool>>,
    ) -> ExploreReply {
        let mut reply = ExploreReply {
            files: Vec::new(),
            signatures: Vec::new(),
            paths: Vec::new(),
            used_by: Vec::new(),
            tests: Vec::new(),
            omitted: Vec::new(),
            total: self.order.len(),
            next_cursor: None,
            meta,
        };
        let (omitted, known) = seen.map(|it| self.omitted(before, &it)).unwrap_or_default();
        reply.omitted = omitted;
        // The note about the rest is written last, with a cursor that names the positions.
        let note = |chosen: usize| 200 + 6 * (chosen + known.len() + before.more.len());
        let room = most.saturating_sub(reply.markdown_size() + note(0));
        let left = (0..self.order.len()).filter(|it| !before.holds(*it) && !known.contains(it));
        let mut chosen = fill(self.index, &self.order, left, room * SPANS / 100);
        chosen.truncate(limit.max(1));
        loop {
            reply.files = self.files(&chosen);
            if reply.markdown_size() + note(chosen.len()) <= most || chosen.len() <= 1 {
                break;
            }
            chosen.pop();
        }
        self.add_rest(&mut reply, &chosen, most.saturating_sub(note(chosen.len())));
        let listed = listed(before, &chosen, &known, self.order.len());
        if listed.count() < self.order.len() {
            reply.note_rest(&listed);
        }
        reply
    }

    /// What the client was shown before, as long as it is among the best.
    fn omitted(
        &self,
        before: &Listed,
        seen: &impl Fn(&[(&str, &str)]) -> Vec<bool>,
    ) -> (Vec<OmittedLines>, Vec<usize>) {
        const EXAMINED: usize = 200;
        let positions: Vec<usize> = (0..self.order.len().min(EXAMINED)).filter(|it| !before.holds(*it)).collect();
        let spans: Vec<ExploreFile> = positions.iter().flat_map(|it| self.files(&[*it])).collect();
        let asked: Vec<(&str, &str)> =
            spans.iter().filter_map(|it| Some((it.file.as_str(), it.spans.first()?.text.as_str()))).collect();
        let mut known = Vec::new();
        let mut omitted = Vec::new();
        for ((position, file), is_known) in positions.iter().zip(&spans).zip(seen(&asked)) {
            if let Some(span) = file.spans.first().filter(|_| is_known) {
                known.push(*position);
                omitted.push(OmittedLines { file: file.file.clone(), line: span.line, end_line: span.end_line });
            }
        }
        omitted.sort_by(|a, b| a.file.cmp(&b.file).then(a.line.cmp(&b.line)));
        (omitted, known)
    }

    fn files(&self, chosen: &[usize]) -> Vec<ExploreFile> {
        let mut by_file: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
        for (at, value) in chosen.iter().filter_map(|it| self.order.get(*it)) {
            by_file.entry(at.0).or_default().push((at.1, *value));
        }
        let mut files: Vec<(usize, ExploreFile)> = Vec::new();
        for (position, mut sections) in by_file {
            sections.sort_unstable_by_key(|it| it.0);
            let Some(file) = self.symbols.file(position) else { continue };
            let spans =
                sections.iter().filter_map(|(section, value)| self.span((position, *section), *value)).collect();
            let language = file.language.map_or("", |it| it.name).to_owned();
            files.push((position, ExploreFile { file: file.path.to_string(), language, spans }));
        }
        let rank = |file: usize| self.ranking.files.iter().position(|it| it.0 == file);
        files.sort_by_key(|it| rank(it.0));
        files.into_iter().map(|it| it.1).collect()
    }

    fn span(&self, at: At, value: f64) -> Option<Span> {
        let file = self.symbols.file(at.0)?;
        let span = file.terms().sections.get(at.1)?.span();
        let lines = file.lines();
        let raw = file.text.get(span.start..span.end)?;
        let text = redact(raw, is_code(self.languages, &file.path));
        // A removed key must not move the lines after it. A span may have a part of a key, without its first line.
        let is_part_of_key = begins_in_key(&file.text, span.start);
        let text = if text.lines().count() == raw.lines().count() && !is_part_of_key {
            text
        } else {
            raw.lines().map(|_| format!("{REDACTED}\n")).collect()
        };
        Some(Span {
            line: lines.line(span.start),
            end_line: lines.line(span.end.saturating_sub(1)),
            text,
            symbol: self.symbols.of(at).map(Symbol::from),
            rank: value / self.best,
            why: self.why(at),
        })
    }

    fn why(&self, at: At) -> Vec<String> {
        let name = |at: At| self.symbols.of(at).map(|it| format!("`{}`", it.name));
        let word = |it: &Why| match it {
            Why::Focus => Some("in focus".to_owned()),
            Why::Named => Some("named".to_owned()),
            Why::Placed => Some("its place is named".to_owned()),
            Why::UsedBy(other) => Some(format!("used by {}", name(*other)?)),
            Why::Uses(other) => Some(format!("uses {}", name(*other)?)),
        };
        let mut words: Vec<String> = self.ranking.why.get(&at).into_iter().flatten().filter_map(word).collect();
        words.truncate(2);
        words
    }

    /// Adds what is around the spans, as far as it fits.
    fn add_rest(&self, reply: &mut ExploreReply, chosen: &[usize], most: usize) {
        let sections: Vec<At> = chosen.iter().filter_map(|it| self.order.get(*it)).map(|it| it.0).collect();
        let Relations { paths, used_by, tests } = relations(self.symbols, &sections);
        // The headings of the four parts.
        const HEADINGS: usize = 120;
        let mut room = most.saturating_sub(reply.markdown_size() + HEADINGS);
        let mut fits = |cost: usize| {
            let fits = cost <= room;
            room -= if fits { cost } else { 0 };
            fits
        };
        let signatures = self.signatures(&sections);
        let size = |it: &RankedSymbol| ROW + it.symbol.signature.len() + it.symbol.place.file.len();
        // Each of the best files is in the answer, at least by its best symbol.
        for (_, it) in signatures.iter().filter(|it| it.0) {
            if fits(size(it)) {
                reply.signatures.push(it.clone());
            }
        }
        for it in paths {
            let place = it.via.first().map_or(0, |it| it.place.file.len());
            if fits(ROW + it.from.path.len() + it.to.path.len() + place) {
                reply.paths.push(it);
            }
        }
        for it in used_by {
            if fits(2 * ROW + it.symbol.len() + it.file.len() + it.by.as_ref().map_or(0, String::len)) {
                reply.used_by.push(it);
            }
        }
        if self.tests == ShownTests::Named {
            for it in tests {
                if fits(ROW + it.test.len() + it.place.file.len() + it.symbol.len()) {
                    reply.tests.push(it);
                }
            }
        }
        for (_, it) in signatures.into_iter().filter(|it| !it.0) {
            if fits(size(&it)) {
                reply.signatures.push(it);
            }
        }
        reply.signatures.sort_by(|a, b| {
            let place = |it: &RankedSymbol| (it.symbol.place.file.clone(), it.symbol.place.line);
            place(a).cmp(&place(b))
        });
    }

    /// The symbols of the next rank: one of each of the best files first, and whether it is such a one.
    fn signatures(&self, shown: &[At]) -> Vec<(bool, RankedSymbol)> {
        let mut owners: Vec<(usize, Option<u32>)> = Vec::new();
        let owner = |at: At| {
            let section = self.symbols.file(at.0).and_then(|it| it.terms().sections.get(at.1));
            (at.0, section.and_then(|it| it.owner))
        };
        owners.extend(shown.iter().map(|it| owner(*it)));
        let mut found: Vec<(bool, RankedSymbol)> = Vec::new();
        let best_files: Vec<usize> = self.ranking.files.iter().take(BEST_FILES).map(|it| it.0).collect();
        for (at, value) in &self.order {
            if found.len() >= 4 * MOST_SIGNATURES {
                break;
            }
            let owner = owner(*at);
            if owner.1.is_none() || owners.contains(&owner) {
                continue;
            }
            let is_first = best_files.contains(&at.0) && !owners.iter().any(|it| it.0 == at.0);
            owners.push(owner);
            if let Some(symbol) = self.symbols.of(*at) {
                let rank = value / self.best;
                found.push((is_first, RankedSymbol { symbol: symbol.into(), rank }));
            }
        }
        found.sort_by_key(|it| !it.0);
        found.truncate(MOST_SIGNATURES);
        found
    }
}

/// Whether an offset is between the first and the last line of an armoured key.
fn begins_in_key(text: &str, offset: usize) -> bool {
    let before = text.get(..offset).unwrap_or_default();
    let last = |word: &str| {
        let is_it = |at: &usize| {
            before.get(*at..).is_some_and(|it| it.lines().next().unwrap_or_default().contains("PRIVATE KEY"))
        };
        before.rmatch_indices(word).map(|it| it.0).find(is_it)
    };
    last("-----BEGIN ").is_some_and(|begin| last("-----END ").is_none_or(|end| end < begin))
}

/// What is listed with this page.
fn listed(before: &Listed, chosen: &[usize], known: &[usize], total: usize) -> Listed {
    let holds = |it: usize| before.holds(it) || chosen.contains(&it) || known.contains(&it);
    let first = (0..total).find(|it| !holds(*it)).unwrap_or(total);
    let more = before.more.iter().chain(chosen).chain(known).copied().filter(|it| *it > first);
    let mut more: Vec<usize> = more.collect();
    more.sort_unstable();
    more.dedup();
    Listed { first, more }
}
