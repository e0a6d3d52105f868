//! The words that prose and code have in common: identifiers split at case changes and underscores, in lower case and
//! without endings, so that "searching lines" matches `search_line` and `LineSearcher`.

use super::words::{WordHash, word_hash, words};
use semdex_model::{Outline, OutlineItem};

/// Where in a file a term occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// In the name of the file.
    Path,
    /// In the name of the declaration whose name begins there.
    Name(u32),
    /// In the documentation of that declaration.
    Docs(u32),
    /// In the documentation of the file.
    Head,
    /// In the text, so many times.
    Text(u32),
}

/// The terms of one file.
#[derive(Debug, Default)]
pub struct Terms {
    /// Sorted by term.
    entries: Box<[(WordHash, Field)]>,
    /// The number of terms in its text.
    pub length: usize,
}

impl Terms {
    /// The terms of a file's name, its declarations, their documentation and its text.
    pub fn new(path: &str, text: &str, outline: &Outline) -> Terms {
        let mut entries: Vec<(WordHash, Field)> = Vec::new();
        let mut add = |text: &str, field: Field| each(text, |term| entries.push((word_hash(term), field)));
        add(path, Field::Path);
        add(outline.docs.as_deref().unwrap_or_default(), Field::Head);
        outline.walk(&mut |item: &OutlineItem| {
            let at = item.name_span.start as u32;
            add(&item.name, Field::Name(at));
            add(item.docs.as_deref().unwrap_or_default(), Field::Docs(at));
        });
        let mut all: Vec<WordHash> = Vec::new();
        each(text, |term| all.push(word_hash(term)));
        all.sort_unstable();
        let length = all.len();
        let counted = all.chunk_by(|a, b| a == b);
        entries.extend(counted.filter_map(|it| Some((*it.first()?, Field::Text(it.len() as u32)))));
        entries.sort_unstable();
        entries.dedup();
        Terms { entries: entries.into_boxed_slice(), length }
    }

    /// The fields in which a term occurs.
    pub fn fields(&self, term: WordHash) -> impl Iterator<Item = Field> + '_ {
        let first = self.entries.partition_point(|it| it.0 < term);
        self.entries[first..].iter().take_while(move |it| it.0 == term).map(|it| it.1)
    }
}

/// The terms of a query, each once, in their order.
pub fn terms(text: &str) -> Vec<WordHash> {
    let mut found = Vec::new();
    each(text, |term| {
        let term = word_hash(term);
        if !found.contains(&term) {
            found.push(term);
        }
    });
    found
}

/// The terms of a text: the parts of each word, and the word itself if it has several.
fn each(text: &str, mut visit: impl FnMut(&str)) {
    for (_, word) in words(text) {
        let parts = parts(word);
        if parts.len() > 1 {
            let whole: String = parts.iter().flat_map(|it| it.chars().flat_map(char::to_lowercase)).collect();
            visit(&whole);
        }
        for part in parts {
            let lower = part.to_lowercase();
            if lower.chars().nth(1).is_some() {
                visit(stem(&lower));
            }
        }
    }
}

/// `HTTPServer_new2` is `HTTP`, `Server`, `new`, `2`.
fn parts(word: &str) -> Vec<&str> {
    let letters: Vec<(usize, char)> = word.char_indices().collect();
    let mut parts = Vec::new();
    let mut start = 0;
    for (position, &(at, letter)) in letters.iter().enumerate() {
        let before = position.checked_sub(1).and_then(|it| letters.get(it)).map(|it| it.1);
        let next = letters.get(position + 1).map(|it| it.1);
        let begins = before.is_some_and(|before| {
            let hump = letter.is_uppercase() && (!before.is_uppercase() || next.is_some_and(char::is_lowercase));
            letter == '_' || before == '_' || hump || before.is_numeric() != letter.is_numeric()
        });
        if begins {
            parts.extend(word.get(start..at));
            start = at;
        }
    }
    parts.extend(word.get(start..));
    parts.retain(|it| !it.is_empty() && *it != "_");
    parts
}

/// Removes the ending of a plural or of a verb form. Approximate, but the same for a query and for the searched text.
fn stem(word: &str) -> &str {
    const ENDINGS: &[(&str, usize)] =
        &[("ings", 4), ("ing", 4), ("ers", 4), ("ies", 3), ("ed", 4), ("er", 4), ("es", 4), ("s", 3)];
    let is_long = |stem: &str, least: usize| stem.chars().nth(least - 1).is_some();
    let cut = ENDINGS.iter().find_map(|(ending, least)| word.strip_suffix(ending).filter(|it| is_long(it, *least)));
    let stem = cut.filter(|_| !word.ends_with("ss")).unwrap_or(word);
    // `matched` and `match`, `cached` and `cache`, `stopped` and `stop`.
    let stem = stem.strip_suffix(['e', 'y', 'i']).filter(|it| is_long(it, 3)).unwrap_or(stem);
    let mut letters = stem.char_indices().rev();
    match (letters.next(), letters.next()) {
        (Some((at, last)), Some((_, before))) if cut.is_some() && last == before && is_long(stem, 4) => {
            stem.get(..at).unwrap_or(stem)
        }
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_taken_apart_at_its_humps() {
        assert_eq!(parts("HTTPServer_new2"), ["HTTP", "Server", "new", "2"]);
        assert_eq!(parts("line_buffer"), ["line", "buffer"]);
        assert_eq!(parts("__x"), ["x"]);
        assert_eq!(parts("Größe"), ["Größe"]);
    }

    #[test]
    fn forms_of_a_word_have_one_term() {
        for same in [
            &["search", "searches", "searching", "searched", "searcher", "Searchers"][..],
            &["cache", "caching", "cached", "caches"],
            &["match", "matches", "matched", "matcher"],
            &["stop", "stopped", "stopping"],
            &["line", "lines"],
            &["query", "queries"],
        ] {
            let terms: Vec<_> = same.iter().map(|it| terms(it)).collect();
            assert!(terms.iter().all(|it| it == &terms[0]), "{same:?}");
        }
        assert_ne!(terms("class"), terms("clas"));
        assert!(terms("a").is_empty());
    }

    #[test]
    fn the_terms_of_a_file_say_where_they_stand() {
        let item = OutlineItem {
            kind: semdex_model::SymbolKind::Function,
            name: "read_line".to_owned(),
            container: Vec::new(),
            signature: String::new(),
            docs: Some("Reads one.".to_owned()),
            span: semdex_model::Span::new(0, 20),
            name_span: semdex_model::Span::new(3, 12),
            body: None,
            public: true,
            test: false,
            children: Vec::new(),
        };
        let outline = Outline { items: vec![item], ..Outline::default() };
        let file = Terms::new("src/lines.rs", "fn read_line() { read(); }", &outline);
        let fields = |word: &str| file.fields(terms(word)[0]).collect::<Vec<_>>();
        assert_eq!(fields("line"), [Field::Path, Field::Name(3), Field::Text(1)]);
        assert_eq!(fields("reading"), [Field::Name(3), Field::Docs(3), Field::Text(2)]);
        assert_eq!(fields("ReadLine"), [Field::Name(3), Field::Text(1)]);
        assert_eq!(fields("nonesuch"), []);
    }
}
