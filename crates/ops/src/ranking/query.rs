//! What a query says: words, names of declarations, and places. A query is a question, an error message, a stack trace
//! or the text of an issue.

use std::collections::HashMap;
use std::ops::Range;

use super::weights::Weights;
use semdex_text::terms::each;
use semdex_text::words::{WordHash, word_hash, words};

/// Words that say nothing about code.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "both", "but", "by", "can", "cannot", "could", "did", "do", "does", "doesn", "doing", "don",
    "during", "each", "few", "for", "from", "further", "had", "has", "have", "having", "he", "her", "here", "how", "i",
    "if", "in", "instead", "into", "is", "isn", "it", "its", "just", "let", "like", "me", "more", "most", "my", "no",
    "nor", "not", "now", "of", "off", "on", "once", "only", "or", "other", "our", "out", "over", "own", "please",
    "same", "seem", "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "through", "to", "too", "under", "until", "up", "very", "via", "was", "we",
    "were", "what", "when", "where", "which", "while", "who", "why", "will", "with", "would", "you", "your",
];
/// Of a long query the first words count.
const MOST_WORDS: usize = 4000;

/// A query, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Query {
    /// The terms with their weights, in the order in which they occur first.
    pub terms: Vec<(WordHash, f64)>,
    /// The words that look like names of declarations, with their qualifier.
    pub names: Vec<Name>,
    /// The paths, some with lines.
    pub places: Vec<NamedPlace>,
    /// Whether it is a question in words, which documentation may answer.
    pub is_question: bool,
}

/// A name in a query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    /// The words before the name: `a` and `B` in `a.B.name`.
    pub qualifier: Vec<String>,
    /// The name itself.
    pub name: String,
    /// Whether it is written as a name: in backticks, with humps or underscores, qualified, or called.
    pub is_code: bool,
}

/// A path in a query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct NamedPlace {
    /// Its parts, the file's name last.
    pub path: Vec<String>,
    /// The line.
    pub line: Option<usize>,
}

impl Query {
    /// Reads a query.
    pub(crate) fn new(text: &str, weights: &Weights) -> Query {
        let mut query = Query::default();
        let text = &without_forms(text);
        query.is_question = is_question(text);
        query.read_places(text);
        let text = without_addresses(text);
        query.read_names(&text);
        query.read_terms(&text, weights);
        query
    }

    fn read_terms(&mut self, text: &str, weights: &Weights) {
        let mut counts: HashMap<WordHash, f64> = HashMap::new();
        let mut order: Vec<WordHash> = Vec::new();
        let title = text.trim_start().lines().next().map_or(0, str::len) + (text.len() - text.trim_start().len());
        let fenced = fenced(text);
        for (at, word) in words(text).take(MOST_WORDS) {
            if STOP_WORDS.contains(&word.to_ascii_lowercase().as_str()) {
                continue;
            }
            // The first line is the title of an issue or the subject of a commit.
            let is_fenced = fenced.iter().any(|it| it.contains(&at));
            let weight = if at < title {
                weights.title
            } else if is_fenced {
                weights.fenced
            } else {
                1.0
            };
            each(word, |term| {
                let hash = word_hash(term);
                let count = counts.entry(hash).or_insert_with(|| {
                    order.push(hash);
                    0.0
                });
                *count += weight;
            });
        }
        // The second occurrence of a word says less than the first.
        let weight = |it: &WordHash| counts.get(it).map_or(0.0, |count: &f64| (1.0 + count).ln());
        self.terms = order.iter().map(|it| (*it, weight(it))).collect();
    }

    fn read_names(&mut self, text: &str) {
        let mut chain: Vec<String> = Vec::new();
        let mut end = 0;
        let all: Vec<(usize, &str)> = words(text).take(MOST_WORDS).collect();
        for (number, &(at, word)) in all.iter().enumerate() {
            let between = text.get(end..at).unwrap_or_default();
            if !matches!(between, "." | "::" | "#" | "->" | "()." | "?.") {
                chain.clear();
            }
            end = at + word.len();
            let next = all.get(number + 1).map_or(text.len(), |it| it.0);
            let after = text.get(end..next).unwrap_or_default();
            let quoted = between.ends_with('`') && after.starts_with('`');
            let is_code = !chain.is_empty() || quoted || after.starts_with('(') || is_code_like(word);
            let is_name = word.chars().nth(2).is_some() && !word.starts_with(|it: char| it.is_ascii_digit());
            let name = Name { qualifier: chain.clone(), name: word.to_owned(), is_code };
            if is_name && !self.names.contains(&name) && !STOP_WORDS.contains(&word.to_ascii_lowercase().as_str()) {
                self.names.push(name);
            }
            chain.push(word.to_owned());
        }
    }

    fn read_places(&mut self, text: &str) {
        for line in text.lines() {
            let mut rest = line;
            while let Some(start) = rest.find(is_path_letter) {
                let tail = rest.get(start..).unwrap_or_default();
                let word = tail.split(|it| !is_path_letter(it)).next().unwrap_or_default();
                let after = tail.get(word.len()..).unwrap_or_default();
                self.read_place(word, after);
                rest = after;
            }
        }
    }

    fn read_place(&mut self, word: &str, after: &str) {
        // `https://github.com/owner/name/blob/main/src/lib.rs#L12`, `file:///src/lib.js:1:2`, `http://localhost:80/a.js:1:2`.
        let word = match word.split_once("/blob/").and_then(|it| it.1.split_once('/')) {
            Some((_, path)) => path,
            None => match word.split_once("://") {
                Some(("http" | "https", address)) => match address.split_once('/') {
                    Some((host, path)) if host.starts_with("localhost") || host.starts_with("127.0.0.1") => path,
                    _ => return,
                },
                Some((_, path)) => path,
                None if word.starts_with("//") => return,
                None => word,
            },
        };
        let (path, mut line) = with_line(word);
        let path = path.trim_matches(['.', '-', ':', '/', '@', '#']);
        let parts: Vec<String> = path
            .split(['/', '\\'])
            .filter(|it| !it.is_empty() && *it != "." && *it != "..")
            .map(str::to_owned)
            .collect();
        let Some(file) = parts.last() else { return };
        let has_ending = file.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty()
                && (1..=6).contains(&ending.len())
                && ending.starts_with(|it: char| it.is_ascii_alphabetic())
        });
        if !has_ending && parts.len() < 2 {
            return;
        }
        // `File "a/b.py", line 12`, `at f (a.cs:line 12)` and `a.ts(12,5): error`.
        if line.is_none() {
            let rest = after.trim_start_matches(['"', '\'', ',', ':', '`', ' ']);
            let said = ["line ", "on line "].iter().find_map(|it| rest.strip_prefix(it)).or(after.strip_prefix('('));
            let said = said.or(word.ends_with(":line").then_some(rest));
            line = said.and_then(|it| it.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok());
        }
        let place = NamedPlace { path: parts, line };
        if !self.places.contains(&place) {
            self.places.push(place);
        }
    }
}

/// `a.rs:12:3`, `a.go#L12`. What else is after a colon names no line: `a.cs:line`, `a_test.py::test_it`.
fn with_line(word: &str) -> (&str, Option<usize>) {
    let number = |it: &str| it.split(|it: char| !it.is_ascii_digit()).next().and_then(|it| it.parse().ok());
    if let Some((path, line)) = word.split_once("#L") {
        return (path, number(line));
    }
    for (at, _) in word.match_indices(':') {
        let (path, line) = (word.get(..at).unwrap_or_default(), word.get(at + 1..).unwrap_or_default());
        if let Some(line) = number(line)
            && path.contains('.')
        {
            return (path, Some(line));
        }
    }
    let names_file = |path: &str| path.rsplit(['/', '\\']).next().is_some_and(|it| it.contains('.'));
    let path = word.match_indices(':').filter_map(|it| word.get(..it.0)).find(|it| names_file(it));
    (path.unwrap_or(word), None)
}

fn is_path_letter(letter: char) -> bool {
    letter.is_alphanumeric() || "_-./\\:#@+~[]".contains(letter)
}

/// Whether a word has the form of an identifier: an underscore within, or a hump after the first letter.
fn is_code_like(word: &str) -> bool {
    let inner = word.trim_matches('_');
    let hump = inner.chars().zip(inner.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    inner.contains('_') || hump || (inner.len() < word.len() && word.starts_with('_'))
}

/// The text without what a form for issues adds: comments of HTML, boxes that are ticked, and trailers.
fn without_forms(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once("<!--") {
        let Some((_, after)) = tail.split_once("-->") else { break };
        out.push_str(before);
        out.push(' ');
        rest = after;
    }
    out.push_str(rest);
    let is_form = |line: &str| {
        let line = line.trim_start();
        let item = line.strip_prefix(['-', '*']).map(str::trim_start).unwrap_or_default();
        ["[x]", "[X]", "[ ]"].iter().any(|it| item.starts_with(it))
            || ["Signed-off-by:", "Co-authored-by:", "Reviewed-by:", "Change-Id:"].iter().any(|it| line.starts_with(it))
    };
    if !out.lines().any(is_form) {
        return out;
    }
    let kept: Vec<&str> = out.lines().filter(|it| !is_form(it)).collect();
    // A list of tasks alone is a question as well.
    if kept.iter().all(|it| it.trim().is_empty()) { out } else { kept.join("\n") }
}

/// Whether a text is a question in words: one line that asks.
fn is_question(text: &str) -> bool {
    const ASKING: [&str; 10] = ["how", "what", "where", "why", "when", "who", "which", "does", "is", "can"];
    let text = text.trim();
    let first = text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    text.lines().count() == 1 && (text.ends_with(['?', '？']) || ASKING.contains(&first.as_str()))
}

/// The blocks between fences.
fn fenced(text: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut begun: Option<usize> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_fence = ["```", "~~~"].iter().any(|it| line.trim_start().starts_with(it));
        at += line.len();
        begun = match begun.filter(|_| is_fence) {
            Some(start) => {
                blocks.push(start..at);
                None
            }
            None if is_fence => Some(at),
            None => begun,
        };
    }
    blocks
}

/// The text without the addresses of web pages, whose words are not about the code.
fn without_addresses(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("http") {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let is_address = tail.starts_with("http://") || tail.starts_with("https://");
        let end = tail.find(|it: char| it.is_whitespace() || ")>\"'`]".contains(it)).unwrap_or(tail.len());
        let end = if is_address { end } else { "http".len() };
        if !is_address {
            out.push_str("http");
        }
        rest = tail.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::super::weights::WEIGHTS;
    use super::*;

    fn places(text: &str) -> Vec<(String, Option<usize>)> {
        Query::new(text, &WEIGHTS).places.iter().map(|it| (it.path.join("/"), it.line)).collect()
    }

    #[test]
    fn places_are_read_in_many_forms() {
        for (text, path, line) in [
            ("thread 'main' panicked at src/main.rs:12:5:", "src/main.rs", Some(12)),
            ("  File \"/srv/app/pkg/mod.py\", line 34, in handle", "srv/app/pkg/mod.py", Some(34)),
            ("\t/go/src/x/server.go:88 +0x1d", "go/src/x/server.go", Some(88)),
            ("at run (lib/run.js:3:9)", "lib/run.js", Some(3)),
            ("at async file:///srv/app/lib/run.mjs:3:9", "srv/app/lib/run.mjs", Some(3)),
            ("webpack:///./src/run.ts:3:9", "src/run.ts", Some(3)),
            ("at run (http://localhost:3000/src/run.tsx:3:9)", "src/run.tsx", Some(3)),
            ("src/run.ts(12,5): error TS2339", "src/run.ts", Some(12)),
            ("at App.Run() in C:\\app\\src\\Run.cs:line 12", "C:/app/src/Run.cs", Some(12)),
            ("FAILED tests/test_run.py::TestRun::test_it", "tests/test_run.py", None),
            ("vet: ./run.go:12:5: undefined: x", "run.go", Some(12)),
            ("see `docs/map.md`.", "docs/map.md", None),
            ("https://github.com/a/b/blob/main/src/x.ts#L7-L9", "src/x.ts", Some(7)),
            ("./crates/text/", "crates/text", None),
        ] {
            assert!(places(text).contains(&(path.to_owned(), line)), "{text}: {:?}", places(text));
        }
        assert_eq!(places("it fails. And https://example.com/a/b.html too"), []);
    }

    #[test]
    fn what_a_form_adds_is_left_out() {
        let text = "Crash\n<!-- read our\nrules -->\n- [x] I searched\n- a real item\nSigned-off-by: A <a@b.c>\n";
        assert_eq!(without_forms(text), "Crash\n \n- a real item");
        assert_eq!(without_forms("<!-- not closed"), "<!-- not closed");
        assert_eq!(without_forms("- [ ] write it"), "- [ ] write it");
    }

    #[test]
    fn the_words_of_a_fence_are_known() {
        let text = "a\n```js\nb\n```\nc\n```\nd\n";
        assert_eq!(fenced(text).iter().map(|it| &text[it.clone()]).collect::<Vec<_>>(), ["b\n```\n"]);
    }

    #[test]
    fn a_question_is_one_line_that_asks() {
        assert!(is_question("Where is a reply shortened?") && is_question("how do runs end"));
        assert!(!is_question("Fix the drop of an empty range") && !is_question("Is it?\nTraceback:"));
    }

    #[test]
    fn names_have_their_qualifiers() {
        let query = Query::new("`Searcher::new` fails, so does line_buffer, and plain()", &WEIGHTS);
        let name = |it: &str| query.names.iter().find(|name| name.name == it).cloned().unwrap();
        assert_eq!(name("new").qualifier, ["Searcher"]);
        assert!(name("new").is_code && name("line_buffer").is_code && name("plain").is_code);
        assert!(!name("fails").is_code);
    }
}
