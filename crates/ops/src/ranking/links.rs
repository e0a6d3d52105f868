//! The links between sections: a section uses the declarations whose names it has. PageRank over them, personalised by
//! the sections that fit the query, ranks what these sections use and who uses them.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::index::{At, Index};
use semdex_text::terms::terms;
use semdex_text::words::{word_hash, words};

/// So many of the best sections are the origins.
const ORIGINS: usize = 40;
/// A name that more declarations have links nothing.
const MOST_DECLARATIONS: usize = 12;
/// A name that is used in more sections links nothing: it is known everywhere.
const MOST_USERS: usize = 60;
/// What a name counts that the engine resolves to something else, or not at all.
const UNRESOLVED: f64 = 0.2;
/// The reader restarts with this probability.
const RESTART: f64 = 0.4;
const ROUNDS: usize = 8;

/// The declarations that a file uses, as its engine resolves them. None if no engine says it: then names decide alone.
pub type ResolvedUses<'a> = &'a dyn Fn(usize) -> Option<HashSet<At>>;

/// The links of the best sections.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// Each link from user to used, with its weight.
    edges: BTreeMap<(At, At), f64>,
}

impl Links {
    /// The links from and to the best sections.
    pub(super) fn of(index: &Index, origins: &[(At, f64)], resolved: ResolvedUses<'_>) -> Links {
        let mut links = Links::default();
        let mut users: HashMap<At, Vec<At>> = HashMap::new();
        let mut uses_of_files: HashMap<usize, Option<HashSet<At>>> = HashMap::new();
        let mut trust = |user: At, used: At| match uses_of_files.entry(user.0).or_insert_with(|| resolved(user.0)) {
            Some(uses) if !uses.contains(&used) => UNRESOLVED,
            _ => 1.0,
        };
        for (at, _) in origins.iter().take(ORIGINS) {
            for (used, share) in index.uses(*at) {
                // What everybody uses says little about its user.
                let count = users.entry(used).or_insert_with(|| index.users(used)).len();
                links.edges.insert((*at, used), trust(*at, used) * share / (1.0 + count as f64).sqrt());
            }
            let of_it = users.entry(*at).or_insert_with(|| index.users(*at));
            let share = 1.0 / (1.0 + of_it.len() as f64).sqrt();
            for user in of_it.iter() {
                links.edges.entry((*user, *at)).or_insert_with(|| trust(*user, *at) * share);
            }
        }
        links
    }

    /// The rank of the sections that the links reach. The ranks of the origins are relative to 1 in total.
    pub(super) fn rank(&self, origins: &[(At, f64)]) -> BTreeMap<At, f64> {
        let origins = origins.get(..ORIGINS.min(origins.len())).unwrap_or_default();
        let total: f64 = origins.iter().map(|it| it.1).sum();
        let start: BTreeMap<At, f64> = origins.iter().map(|it| (it.0, it.1 / total.max(f64::MIN_POSITIVE))).collect();
        let mut neighbours: BTreeMap<At, Vec<(At, f64)>> = BTreeMap::new();
        for (&(user, used), &weight) in &self.edges {
            neighbours.entry(user).or_default().push((used, weight));
            neighbours.entry(used).or_default().push((user, weight));
        }
        let mut ranks = start.clone();
        for _ in 0..ROUNDS {
            let mut next: BTreeMap<At, f64> = start.iter().map(|it| (*it.0, it.1 * RESTART)).collect();
            for (at, rank) in &ranks {
                let edges = neighbours.get(at).map(Vec::as_slice).unwrap_or_default();
                let total: f64 = edges.iter().map(|it| it.1).sum();
                for (to, weight) in edges {
                    *next.entry(*to).or_default() += (1.0 - RESTART) * rank * weight / total;
                }
            }
            ranks = next;
        }
        ranks
    }

    /// The strongest link of each section to one of these, and whether that one uses it.
    pub(super) fn strongest(&self, others: &HashMap<At, f64>) -> HashMap<At, (At, bool)> {
        let mut best: HashMap<At, (f64, At, bool)> = HashMap::new();
        for (&(user, used), weight) in &self.edges {
            for (at, other, is_used) in [(used, user, true), (user, used, false)] {
                let Some(score) = others.get(&other).map(|it| it * weight) else { continue };
                if best.get(&at).is_none_or(|it| score > it.0) {
                    best.insert(at, (score, other, is_used));
                }
            }
        }
        best.into_iter().map(|(at, it)| (at, (it.1, it.2))).collect()
    }
}

impl Index {
    /// The declarations whose names a section has, with the part of each if several have the name.
    pub fn uses(&self, (file, section): At) -> BTreeMap<At, f64> {
        let mut uses: BTreeMap<At, f64> = BTreeMap::new();
        let Some(ranked) = self.files.get(file) else { return uses };
        let terms = ranked.file.terms();
        let Some(span) = terms.sections.get(section).map(|it| it.span()) else { return uses };
        let text = ranked.file.text.get(span.start..span.end).unwrap_or_default();
        let mut seen: Vec<u32> = Vec::new();
        for (_, word) in words(text) {
            let hash = word_hash(word);
            if word.len() < 3 || seen.contains(&hash) {
                continue;
            }
            seen.push(hash);
            let declared = self.declared(hash);
            let here = |it: &At| it.0 == file;
            let is_here = declared.clone().any(|it| here(&it));
            let meant: Vec<At> = declared.filter(|it| !is_here || here(it)).take(MOST_DECLARATIONS + 1).collect();
            if meant.is_empty() || meant.len() > MOST_DECLARATIONS {
                continue;
            }
            let share = 1.0 / meant.len() as f64;
            for at in meant.into_iter().filter(|it| *it != (file, section)) {
                let known = uses.entry(at).or_default();
                *known = known.max(share);
            }
        }
        uses
    }

    /// The sections that have the name of the declaration that begins in a section. Empty if there are too many.
    pub fn users(&self, at: At) -> Vec<At> {
        let mut users = Vec::new();
        let Some(name) = self.name(at) else { return users };
        let is_common = || self.declared(word_hash(name)).nth(MOST_DECLARATIONS).is_some();
        let term = terms(name).first().copied();
        let Some(term) = term.filter(|_| name.len() >= 3 && !is_common()) else { return users };
        for position in self.postings.files(term) {
            let Some(ranked) = self.files.get(position) else { continue };
            let mut last = None;
            for offset in ranked.file.words().offsets(&ranked.file.text, name) {
                let section = ranked.file.terms().section_at(offset).filter(|it| (position, *it) != at);
                if section.is_some() && section != last {
                    users.extend(section.map(|it| (position, it)));
                    last = section;
                }
            }
            if users.len() > MOST_USERS {
                return Vec::new();
            }
        }
        users
    }
}
