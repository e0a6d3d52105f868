//! The words that prose and code have in common: identifiers split at case changes and underscores, in lower case and
//! without endings, so that "searching lines" matches `search_line` and `LineSearcher`.

use super::sections::{Section, sections};
use super::words::{WordHash, word_hash, words};
use semdex_model::{Outline, OutlineItem};

/// The terms of one file, by its sections.
#[derive(Debug, Default)]
pub struct Terms {
    /// The parts of the text that are ranked.
    pub sections: Box<[Section]>,
    /// How many terms each section has.
    pub lengths: Box<[u32]>,
    /// How often a section has a term, sorted by term and section.
    counts: Box<[(WordHash, u16, u16)]>,
    /// The sections in which declarations with the term in their names begin, sorted.
    names: Box<[(WordHash, u16)]>,
    /// The terms of the path, sorted.
    path: Box<[WordHash]>,
}

impl Terms {
    /// The terms of a file's name, its declarations and its text.
    pub fn new(path: &str, text: &str, outline: &Outline) -> Terms {
        let sections = sections(text, outline);
        let mut counts: Vec<(WordHash, u16, u16)> = Vec::new();
        let mut lengths: Vec<u32> = Vec::new();
        let mut own: Vec<WordHash> = Vec::new();
        for (number, section) in sections.iter().enumerate() {
            own.clear();
            let span = section.span();
            each(text.get(span.start..span.end).unwrap_or_default(), |term| own.push(word_hash(term)));
            own.sort_unstable();
            lengths.push(own.len() as u32);
            let count = |it: &[WordHash]| Some((*it.first()?, number as u16, it.len().min(u16::MAX.into()) as u16));
            counts.extend(own.chunk_by(|a, b| a == b).filter_map(count));
        }
        counts.sort_unstable();
        let mut names: Vec<(WordHash, u16)> = Vec::new();
        outline.walk(&mut |item: &OutlineItem| {
            let at = item.name_span.start as u32;
            if let Some(section) = section_at(&sections, at) {
                each(&item.name, |term| names.push((word_hash(term), section as u16)));
            }
        });
        names.sort_unstable();
        names.dedup();
        let mut path: Vec<WordHash> = terms(path);
        path.sort_unstable();
        Terms {
            sections: sections.into_boxed_slice(),
            lengths: lengths.into_boxed_slice(),
            counts: counts.into_boxed_slice(),
            names: names.into_boxed_slice(),
            path: path.into_boxed_slice(),
        }
    }

    /// The sections that have a term, and how often.
    pub fn counts(&self, term: WordHash) -> impl Iterator<Item = (usize, u32)> + '_ {
        let first = self.counts.partition_point(|it| it.0 < term);
        let same = self.counts.get(first..).unwrap_or_default().iter().take_while(move |it| it.0 == term);
        same.map(|it| (usize::from(it.1), u32::from(it.2)))
    }

    /// How often a section has a term.
    pub fn count_in(&self, term: WordHash, section: usize) -> u32 {
        let wanted = (term, section as u16);
        let at = self.counts.binary_search_by_key(&wanted, |it| (it.0, it.1));
        at.ok().and_then(|at| self.counts.get(at)).map_or(0, |it| u32::from(it.2))
    }

    /// The sections that have the name of a declaration with this term.
    pub fn named(&self, term: WordHash) -> impl Iterator<Item = usize> + '_ {
        let first = self.names.partition_point(|it| it.0 < term);
        let same = self.names.get(first..).unwrap_or_default().iter().take_while(move |it| it.0 == term);
        same.map(|it| usize::from(it.1))
    }

    /// Whether the path has a term.
    pub fn is_in_path(&self, term: WordHash) -> bool {
        self.path.binary_search(&term).is_ok()
    }

    /// The section that has the text at an offset, or the last one before it.
    pub fn section_at(&self, offset: usize) -> Option<usize> {
        section_at(&self.sections, offset as u32)
    }
}

fn section_at(sections: &[Section], offset: u32) -> Option<usize> {
    sections.partition_point(|it| it.start <= offset).checked_sub(1)
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
pub fn each(text: &str, mut visit: impl FnMut(&str)) {
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
        let found = |word: &str| {
            let term = terms(word)[0];
            (file.is_in_path(term), file.named(term).count(), file.counts(term).map(|it| it.1).sum::<u32>())
        };
        assert_eq!(found("line"), (true, 1, 1));
        assert_eq!(found("reading"), (false, 1, 2));
        assert_eq!(found("ReadLine"), (false, 1, 1));
        assert_eq!(found("nonesuch"), (false, 0, 0));
        assert_eq!(file.count_in(terms("read")[0], 0), 2);
    }
}
