//! How well a name fits what somebody typed: exact, then prefix, then the humps of camel or snake case, then letters in
//! their order.

/// How well a symbol fits: its name, and then public before private, tests last.
pub fn fit(query: &str, name: &str, public: bool, test: bool) -> Option<f64> {
    let test = if test { 0.2 } else { 0.0 };
    let private = if public { 0.0 } else { 0.02 };
    Some(rank(query, name)? - test - private)
}

/// From 0 to 1; `None` where the letters do not all occur in their order.
fn rank(query: &str, name: &str) -> Option<f64> {
    if query.is_empty() || query.chars().count() > name.chars().count() {
        return None;
    }
    if query == name {
        return Some(1.0);
    }
    let (lower_query, lower_name) = (query.to_lowercase(), name.to_lowercase());
    // Of equally good fits the shorter name is meant.
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

/// Whether the query is made of beginnings of the name's words: `sb` or `seabu` of `SearcherBuilder`.
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
    use super::rank;

    #[test]
    fn better_fits_rank_higher() {
        let ranked = ["search", "searcher", "SearcherBuilder", "set_searcher", "ascrch"];
        let ranks: Vec<f64> = ranked.iter().map(|name| rank("search", name).unwrap_or(0.0)).collect();
        assert!(ranks.windows(2).all(|pair| pair[0] > pair[1]), "{ranks:?}");
        assert!(rank("sb", "SearcherBuilder") > rank("sb", "subtle"));
        assert!(rank("gsr", "get_searcher_root").unwrap() > 0.6);
        assert_eq!(rank("xyz", "searcher"), None);
        assert_eq!(rank("", "searcher"), None);
        assert_eq!(rank("ſ", "s"), None);
    }
}
