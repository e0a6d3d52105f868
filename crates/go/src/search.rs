//! Fuzzy search over the names of all symbols, ranked.

use super::modules::Membership;
use super::package_set::PackageSet;
use super::symbol_paths::Declaration;
use semdex_model::Symbol;

/// The best matches with their scores, and the total number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hits {
    pub total: usize,
    pub items: Vec<(Symbol, u32)>,
}

/// How well a name matches, best first; scores have the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Subsequence,
    Inside,
    Humps,
    PrefixOtherCase,
    Prefix,
    ExactOtherCase,
    Exact,
}

/// Symbols whose names match the query: exact matches first, then prefixes, camel humps, and subsequences. The text
/// before a dot or slash must match the path before the name. All exact matches are included.
pub(crate) fn search(package_set: &PackageSet, query: &str, limit: usize) -> Hits {
    let query = query.trim();
    let (scope, name) = query.rfind(['.', '/']).map_or(("", query), |at| (&query[..at], &query[at + 1..]));
    if name.is_empty() {
        return Hits::default();
    }
    let query = Query { name, lower: name.to_lowercase(), scope: scope.to_lowercase() };
    let mut found: Vec<(u32, Declaration)> = package_set
        .packages
        .iter()
        .filter(|it| it.standing == Membership::Member)
        .flat_map(|it| it.declarations())
        .filter(Declaration::declares)
        .filter_map(|it| Some((query.score(&it)?, it)))
        .collect();
    let total = found.len();
    let limit = limit.max(found.iter().filter(|it| it.1.item.name == query.name).count());
    let place = |it: &Declaration| (it.file.path.clone(), it.item.name_span.start);
    let order = |a: &(u32, Declaration), b: &(u32, Declaration)| {
        b.0.cmp(&a.0)
            .then_with(|| a.1.item.name.len().cmp(&b.1.item.name.len()))
            .then_with(|| place(&a.1).cmp(&place(&b.1)))
    };
    if limit < total {
        found.select_nth_unstable_by(limit, order);
        found.truncate(limit);
    }
    found.sort_by(order);
    Hits { total, items: found.into_iter().map(|(score, it)| (package_set.symbol(&it), score)).collect() }
}

struct Query<'q> {
    name: &'q str,
    lower: String,
    scope: String,
}

impl Query<'_> {
    fn score(&self, declaration: &Declaration) -> Option<u32> {
        let item = declaration.item;
        let fit = fit(&item.name, self.name, &self.lower).or_else(|| self.across(declaration))?;
        if !self.scope.is_empty() {
            let mut around = declaration.package.import_path.to_lowercase();
            for bit in &item.container {
                around.push('.');
                around.push_str(&bit.to_lowercase());
            }
            is_subsequence(&around, &self.scope).then_some(())?;
        }
        // Within one kind of match: exported first, members after top-level symbols, tests last. In subsequence
        // matches, tests come after everything else.
        let test = item.test || declaration.is_test();
        let last = test && fit < Fit::PrefixOtherCase;
        let [ranked, tested, public, alone] = [!last, !test, item.public, item.container.is_empty()].map(u32::from);
        Some(ranked * 64 + fit as u32 * 8 + tested * 4 + public * 2 + alone)
    }

    /// `cjson` and `ctxjson` match `Context.JSON`: a type's first letter, and a part of the member's name.
    fn across(&self, declaration: &Declaration) -> Option<Fit> {
        let container = declaration.item.container.last().filter(|_| self.scope.is_empty())?;
        let whole = format!("{container}{}", declaration.item.name);
        let starts = whole.chars().flat_map(char::to_lowercase).next() == self.lower.chars().next();
        if !starts || is_subsequence_ignoring_case(container, &self.lower) {
            return None;
        }
        let humps = || words(container).into_iter().chain(words(&declaration.item.name));
        if fits_humps(humps(), &self.lower) {
            return Some(Fit::Inside);
        }
        is_subsequence_ignoring_case(&whole, &self.lower).then_some(Fit::Subsequence)
    }
}

fn fit(name: &str, query: &str, lower: &str) -> Option<Fit> {
    if name == query {
        return Some(Fit::Exact);
    }
    if name.len() < query.len() / 2 || !is_subsequence_ignoring_case(name, lower) {
        return None;
    }
    let lower_name = name.to_lowercase();
    Some(if lower_name == lower {
        Fit::ExactOtherCase
    } else if name.starts_with(query) {
        Fit::Prefix
    } else if lower_name.starts_with(lower) {
        Fit::PrefixOtherCase
    } else if fits_humps(words(name).into_iter(), lower) {
        Fit::Humps
    } else if lower_name.contains(lower) {
        Fit::Inside
    } else {
        Fit::Subsequence
    })
}

fn is_subsequence(text: &str, letters: &str) -> bool {
    let mut text = text.chars();
    letters.chars().all(|letter| text.any(|it| it == letter))
}

fn is_subsequence_ignoring_case(text: &str, lower: &str) -> bool {
    let mut text = text.chars().flat_map(char::to_lowercase);
    lower.chars().all(|letter| text.any(|it| it == letter))
}

/// `nrc` and `newreqctx` match `NewRequestContext`: each hump of the query begins a word of the name.
fn fits_humps(words: impl Iterator<Item = Vec<char>>, lower: &str) -> bool {
    let letters: Vec<char> = lower.chars().collect();
    // The letters from which the query may continue, before each word.
    let mut reached = vec![false; letters.len() + 1];
    reached[0] = true;
    for word in words {
        let mut next = reached.clone();
        for (from, _) in reached.iter().enumerate().filter(|(_, reached)| **reached) {
            let common = letters[from..].iter().zip(&word).take_while(|(a, b)| a == b).count();
            next[from..=from + common].fill(true);
        }
        reached = next;
    }
    reached.last().copied().unwrap_or(false)
}

/// The words of a camel-case or underscored name, in lower case.
fn words(name: &str) -> Vec<Vec<char>> {
    let mut words: Vec<Vec<char>> = Vec::new();
    let letters: Vec<char> = name.chars().collect();
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|it| letters.get(it));
        let starts = match before {
            None | Some('_') => true,
            // The last capital of several begins the next word: `HTTPServer`.
            Some(it) if letter.is_uppercase() => {
                !it.is_uppercase() || letters.get(at + 1).is_some_and(|it| it.is_lowercase())
            }
            Some(it) => letter.is_numeric() != it.is_numeric(),
        };
        if starts {
            words.push(Vec::new());
        }
        if letter != '_'
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::files;

    #[test]
    fn ranking() {
        let files = files(
            "
//- go.mod
module m
//- a.go
package a

type Search struct{ search int }

func NewSearchContext() {}
func searchAll() {}
func SearchAll() {}
func Research() {}
func SxeArCh() {}
func (Search) Run() {}
//- b/a_test.go
package b

func SearchHelper() {}
func Search() {}
//- vendor/x/x.go
package x

func Search() {}
",
        );
        let find = |query: &str, limit: usize| -> Vec<String> {
            search(&PackageSet::of(&files, None), query, limit).items.into_iter().map(|(it, _)| it.path).collect()
        };
        assert_eq!(
            find("Search", 20),
            [
                "m.Search",
                "m/b.Search",
                "m.Search.search",
                "m.SearchAll",
                "m/b.SearchHelper",
                "m.searchAll",
                "m.NewSearchContext",
                "m.Research",
                "m.SxeArCh",
            ]
        );
        assert_eq!(find("nsc", 20), ["m.NewSearchContext"]);
        assert_eq!(find("newsctx", 20), ["m.NewSearchContext"]);
        assert_eq!(find("searchrun", 20), ["m.Search.Run"]);
        assert_eq!(find("schrun", 20), ["m.Search.Run"]);
        assert_eq!(find("search.run", 20), ["m.Search.Run"]);
        assert_eq!(find("b.Search", 20), ["m/b.Search", "m/b.SearchHelper"]);
        let hits = search(&PackageSet::of(&files, None), "search", 2);
        assert_eq!((hits.total, hits.items.len()), (9, 2));
        assert_eq!(hits.items[0].0.path, "m.Search.search");
        assert!(find("zzz", 5).is_empty() && find("", 5).is_empty() && find("a.", 5).is_empty());
    }
}
