//! Ranking: symbols whose names fit a query best come first, and the most informative usages come first.

use semdex_model::Window;

/// A list of at most this many usages is not reordered.
const SHORT_LIST: usize = 100;
/// At most this many usages of each file come before the rest.
const FIRST_OF_FILE: usize = 3;

/// The properties of a usage that decide its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageRank {
    /// A number that all usages of one file share. It rises with the file's name.
    pub file: usize,
    /// Byte offset of the usage in its file.
    pub at: usize,
    /// The usage is in test code.
    pub test: bool,
    /// The usage is in the file of the definition.
    pub own: bool,
}

/// The order in which usages are shown, as indexes into the list. Other files come before the file of the definition,
/// tests come last, and usages of a file are together. Of a long list a few usages of each file come first, so that its
/// beginning shows as many kinds of use as possible.
pub fn usage_order(usages: &[UsageRank]) -> Vec<usize> {
    let class = |it: &UsageRank| if it.test { 2 } else { u8::from(it.own) };
    let mut order: Vec<usize> = (0..usages.len()).collect();
    order.sort_unstable_by_key(|&it| (class(&usages[it]), usages[it].file, usages[it].at));
    if usages.len() <= SHORT_LIST {
        return order;
    }
    let mut seen = (0, None);
    let mut first = Vec::new();
    let mut rest = Vec::new();
    for position in order {
        let group = Some((class(&usages[position]), usages[position].file));
        seen = if seen.1 == group { (seen.0 + 1, group) } else { (1, group) };
        if seen.0 <= FIRST_OF_FILE { first.push(position) } else { rest.push(position) }
    }
    first.append(&mut rest);
    first
}

/// The part of a window that falls into the second of two lists, when the first has `first` elements and both are seen
/// as one list.
pub fn rest(window: Window, first: usize) -> Window {
    let taken = first.saturating_sub(window.from).min(window.limit);
    Window { from: window.from.saturating_sub(first), limit: window.limit - taken }
}

/// How well a symbol fits. An exact name comes first; public symbols come before private ones, tests last.
pub fn fit(query: &str, name: &str, public: bool, test: bool) -> Option<f64> {
    let test = if test { 0.2 } else { 0.0 };
    let private = if public { 0.0 } else { 0.02 };
    let exactly = if query == name { 1.0 } else { 0.0 };
    Some(rank(query, name)? + exactly - test - private)
}

/// From 0 to 1. `None` unless the name has all letters of the query in their order.
fn rank(query: &str, name: &str) -> Option<f64> {
    if query.is_empty() || query.chars().count() > name.chars().count() {
        return None;
    }
    if query == name {
        return Some(1.0);
    }
    let (lower_query, lower_name) = (query.to_lowercase(), name.to_lowercase());
    // Among names that fit equally well the shorter one is meant.
    let length = query.len() as f64 / name.len() as f64 / 20.0;
    if lower_query == lower_name {
        return Some(0.95);
    }
    if lower_name.starts_with(&lower_query) {
        return Some(0.8 + length);
    }
    if fits_humps(&lower_query, name) {
        return Some(0.7 + length);
    }
    if lower_name.contains(&lower_query) {
        return Some(0.55 + length);
    }
    is_subsequence(&lower_query, &lower_name).then_some(0.3 + length)
}

/// Whether the query consists of beginnings of the name's words: `sb` or `seabu` of `SearcherBuilder`.
fn fits_humps(query: &str, name: &str) -> bool {
    let mut humps: Vec<String> = Vec::new();
    let mut was_lower = false;
    for character in name.chars() {
        if character == '_' {
            was_lower = true;
            humps.push(String::new());
            continue;
        }
        if humps.is_empty() || (was_lower && character.is_uppercase()) {
            humps.push(String::new());
        }
        was_lower = !character.is_uppercase();
        if let Some(hump) = humps.last_mut() {
            hump.extend(character.to_lowercase());
        }
    }
    humps.retain(|it| !it.is_empty());
    take_humps(&query.replace('_', ""), &humps)
}

fn take_humps(query: &str, humps: &[String]) -> bool {
    if query.is_empty() {
        return true;
    }
    let Some((first, rest)) = humps.split_first() else { return false };
    let common = query.chars().zip(first.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8());
    let mut ends: Vec<usize> =
        common.scan(0, |end, length| Some(std::mem::replace(end, *end + length) + length)).collect();
    ends.reverse();
    ends.into_iter().any(|end| take_humps(&query[end..], rest))
}

fn is_subsequence(query: &str, name: &str) -> bool {
    let mut letters = name.chars();
    query.chars().all(|wanted| letters.any(|it| it == wanted))
}

#[cfg(test)]
mod tests {
    use super::{UsageRank, fit, rank, rest, usage_order};
    use semdex_model::Window;

    #[test]
    fn a_long_list_begins_with_a_few_of_each_file() {
        let usage = |file, at, test, own| UsageRank { file, at, test, own };
        let mut usages: Vec<UsageRank> = (0..200).map(|at| usage(at / 50, at, false, at < 50)).collect();
        usages.push(usage(9, 0, true, false));
        let order = usage_order(&usages);
        assert_eq!(order[..13], [50, 51, 52, 100, 101, 102, 150, 151, 152, 0, 1, 2, 200]);
        assert_eq!(order.len(), usages.len());
        usages.truncate(60);
        let short = usage_order(&usages);
        assert_eq!((short[0], short[9], short[10], short[59]), (50, 59, 0, 49));
    }

    #[test]
    fn a_window_goes_on_in_the_next_list() {
        let window = |from, limit| Window { from, limit };
        assert_eq!(rest(window(0, 10), 4), window(0, 6));
        assert_eq!(rest(window(6, 10), 4), window(2, 10));
        assert_eq!(rest(window(0, 3), 4), window(0, 0));
        assert_eq!(window(2, 9).of(&[1, 2, 3]), [3]);
        assert_eq!(window(7, 9).of(&[1, 2, 3]), [0; 0]);
    }

    #[test]
    fn better_fits_rank_higher() {
        let ranked = ["search", "searcher", "SearcherBuilder", "set_searcher", "ascrch"];
        let ranks: Vec<f64> = ranked.iter().map(|name| rank("search", name).unwrap_or(0.0)).collect();
        assert!(ranks.windows(2).all(|pair| pair[0] > pair[1]), "{ranks:?}");
        assert!(rank("sb", "SearcherBuilder") > rank("sb", "subtle"));
        assert!(rank("gsr", "get_searcher_root").unwrap() > 0.6);
        // A private test with exactly this name comes before a symbol whose name only begins with it.
        assert!(fit("search", "search", false, true) > fit("search", "searcher", true, false));
        assert_eq!(rank("xyz", "searcher"), None);
        assert_eq!(rank("", "searcher"), None);
        assert_eq!(rank("ſ", "s"), None);
    }
}
