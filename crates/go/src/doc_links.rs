//! Links in doc comments: `[Reader]`, `[*Client.Do]`, `[json.Decoder]` are replaced by the paths that they mean, by the
//! rules of go/doc/comment. An unresolved link stays as it is.

/// The text with each link replaced by the path that `path` returns.
pub(crate) fn resolved(docs: &str, path: impl Fn(&str) -> Option<String>) -> String {
    let mut text = String::with_capacity(docs.len());
    let mut is_code = false;
    for line in docs.split_inclusive('\n') {
        // Indented lines are code and contain no links.
        is_code = line.starts_with(['\t', ' ']) || (is_code && line.trim().is_empty());
        if is_code { text.push_str(line) } else { resolve_line(line, &path, &mut text) }
    }
    text
}

fn resolve_line(line: &str, path: &impl Fn(&str) -> Option<String>, text: &mut String) {
    let mut rest = line;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        text.push_str(before);
        let close = from.find(']').filter(|close| stands_alone(before, from.get(close + 1..).unwrap_or_default()));
        let link = close.and_then(|close| Some((close, from.get(1..close)?)));
        match link.and_then(|(close, name)| Some((close, path(name.trim_start_matches('*'))?))) {
            Some((close, path)) => {
                text.push('[');
                text.push_str(&path);
                text.push(']');
                rest = from.get(close + 1..).unwrap_or_default();
            }
            None => {
                text.push('[');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    text.push_str(rest);
}

/// A link has a blank, a punctuation mark or the line's end on both sides: `a[i]` is not a link, nor is `[text]: URL`.
fn stands_alone(before: &str, after: &str) -> bool {
    let mark = |it: char| !it.is_alphanumeric() && it != '_' && it != '(';
    let is_target = before.is_empty() && after.starts_with(':');
    !is_target
        && before.ends_with('(') | before.chars().next_back().is_none_or(mark)
        && after.chars().next().is_none_or(mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_paths() {
        let path = |name: &str| (name != "nothing").then(|| format!("p.{name}"));
        for (docs, expected) in [
            ("see [T] and [*T.M].", "see [p.T] and [p.T.M]."),
            ("a[i] [nothing] [T]x [T](x)\n[T]: http://x", "a[i] [nothing] [T]x [T](x)\n[T]: http://x"),
            ("([T])\n\n\tcode [T]\n\n\tmore [T]\n[T]", "([p.T])\n\n\tcode [T]\n\n\tmore [T]\n[p.T]"),
            ("open [ and [T", "open [ and [T"),
            ("ü [T] ]", "ü [p.T] ]"),
        ] {
            assert_eq!(resolved(docs, path), expected);
        }
    }
}
