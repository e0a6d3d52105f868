//! `map`: the most important symbols of the workspace, as many as fit the budget.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::budget::{BYTES_PER_TOKEN, foreign_cursor};
use super::examples;
use super::parse::BETWEEN;
use super::request::{Answer, request};
use super::shared_types::{Meta, Missing, Symbol};
use semdex_model::{MissingCode, Result};
use semdex_text::visible::one_line;

/// The default budget of a map in tokens.
const DEFAULT_TOKENS: usize = 2000;

request! { query(repeating &["focus"])
    /// What the map is about.
    pub struct MapQuery {
        /// A file, a directory, or the path of a symbol that the map is about. May be repeated. Default: the whole
        /// workspace.
        #[param(value_type = Vec<String>, required = false, nullable = false, example = json!(["crates/searcher/src/lib.rs"]))]
        pub focus: Option<Several>,
        /// Words that the map is about. They are searched in paths, names, docs and texts, including inflected forms
        /// and parts of identifiers. Words without a match have no effect. Default: none.
        #[param(nullable = false, example = "line buffer capacity")]
        pub query: Option<String>,
    }
}

impl MapQuery {
    /// The files, directories and symbols that the map is about.
    pub fn focus(&self) -> &[String] {
        self.focus.as_ref().map(|it| it.0.as_slice()).unwrap_or_default()
    }

    /// The largest size of the Markdown in bytes.
    pub fn most_bytes(&self) -> usize {
        self.max_tokens.unwrap_or(DEFAULT_TOKENS).saturating_mul(BYTES_PER_TOKEN)
    }
}

/// One value or several: a string or a list of strings. A query repeats the field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Several(pub Vec<String>);

impl<'de> Deserialize<'de> for Several {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Several, D::Error> {
        struct Values;

        impl<'de> serde::de::Visitor<'de> for Values {
            type Value = Several;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Several, E> {
                Ok(Several(text.split(BETWEEN).map(str::to_owned).collect()))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Several, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(Several(values))
            }
        }

        deserializer.deserialize_any(Values)
    }
}

/// The most important symbols by file. `max_tokens` applies to the Markdown (default: 2000). The JSON has the same
/// files and symbols and is larger.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::map))]
pub struct MapReply {
    /// The files, the highest rank first.
    pub files: Vec<MapFile>,
    /// The number of files, including those on later pages.
    pub total: usize,
    /// Continues with less important symbols. Null if nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The ranked revision, and whether all references were known.
    pub meta: Meta,
    /// The number of symbols in all files.
    #[serde(skip)]
    pub symbols_total: usize,
}

/// A file of a map.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MapFile {
    /// Relative to the workspace root.
    pub file: String,
    /// Its PageRank over the references of all files, from 0 to 1.
    pub rank: f64,
    /// Its symbols in the order of the text. Empty for test files and for files without declarations, unless the budget
    /// has space for everything.
    pub symbols: Vec<MapSymbol>,
}

/// A symbol of a map.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MapSymbol {
    /// The symbol without its members.
    #[serde(flatten)]
    pub symbol: Symbol,
    /// Its share of the ranks of the files that use it.
    pub rank: f64,
    /// The enclosing item, which is shown above it. None for a top-level symbol.
    #[serde(skip)]
    pub around: Option<Around>,
}

/// How the enclosing item of a symbol is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Around {
    /// It is itself in the list.
    Listed,
    /// It is a heading above its first member in the list.
    Heading(String),
}

impl Answer for MapReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }
}

impl MapFile {
    /// The rows of the file in Markdown.
    pub(crate) fn rows(&self) -> String {
        let mut text = file_row(&self.file);
        let mut above: Option<&str> = None;
        for it in &self.symbols {
            let (line, signature) = (it.symbol.name_at.line, one_line(&it.symbol.signature));
            match &it.around {
                None => {
                    above = None;
                    text += &format!(" {line} {signature}\n");
                }
                Some(Around::Listed) => text += &format!("  {line} {signature}\n"),
                Some(Around::Heading(heading)) => {
                    if above != Some(heading) {
                        text += &format!(" {}\n", one_line(heading));
                    }
                    above = Some(heading);
                    text += &format!("  {line} {signature}\n");
                }
            }
        }
        text
    }
}

fn file_row(file: &str) -> String {
    format!("{}\n", one_line(file))
}

/// The sizes of the rows of a map in bytes, computed without writing them.
pub struct RowSizes;

impl RowSizes {
    /// The size of the row of a file.
    pub fn file(file: &str) -> usize {
        one_line(file).len() + 1
    }

    /// The size of the row of a symbol, from its line number and the size of its signature.
    pub fn symbol(line: usize, signature: usize, is_inside: bool) -> usize {
        3 + usize::from(is_inside) + line.checked_ilog10().unwrap_or(0) as usize + 1 + signature
    }

    /// The size of a heading with its line break.
    pub fn heading(heading: &str) -> usize {
        one_line(heading).len() + 2
    }
}

/// The symbols that were listed, as positions in the ranking: all before a position, and a few after it that still
/// fitted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// All symbols before this position, from 0.
    pub first: usize,
    /// Further positions, ascending.
    pub more: Vec<usize>,
}

impl Listed {
    /// What the pages before a cursor listed.
    pub fn before(cursor: Option<&str>) -> Result<Listed> {
        let Some(cursor) = cursor else { return Ok(Listed::default()) };
        let parsed = || {
            let (count, positions) = cursor.strip_prefix('m')?.split_once('-')?;
            let positions: Option<Vec<usize>> = positions.split('.').map(|it| it.parse().ok()).collect();
            let positions = positions.filter(|it| count.parse() == Ok(it.len()))?;
            let (first, more) = positions.split_first()?;
            let rises = positions.windows(2).all(|it| it.first() <= it.last());
            rises.then(|| Listed { first: *first, more: more.to_vec() })
        };
        parsed().ok_or_else(|| foreign_cursor(cursor))
    }

    /// The cursor that continues after the listed symbols.
    pub(crate) fn cursor(&self) -> String {
        let positions: Vec<String> = [self.first].iter().chain(&self.more).map(usize::to_string).collect();
        format!("m{}-{}", positions.len(), positions.join("."))
    }

    /// Whether the symbol at this position of the order is listed.
    pub fn holds(&self, position: usize) -> bool {
        position < self.first || self.more.contains(&position)
    }

    /// How many symbols are listed.
    pub fn count(&self) -> usize {
        self.first + self.more.iter().filter(|it| **it >= self.first).count()
    }
}

impl MapReply {
    /// The largest size of the Markdown around the rows: the heading, the footer, and the note about the rest.
    pub fn frame(&self) -> usize {
        const WORDS: usize = 250;
        const DIGITS: usize = 60;
        let meta = &self.meta;
        let workspace = meta.workspace.as_deref().map_or(0, str::len);
        let overlays = if meta.overlays.is_empty() { 0 } else { 44 };
        let overlays = meta.overlays.iter().map(|it| it.len() + 4).sum::<usize>() + overlays;
        let missing =
            |it: &Missing| 17 + it.code.len() + it.scope.as_ref().map_or(0, |it| it.len() + 3) + it.detail.len();
        WORDS
            + DIGITS
            + workspace
            + meta.state.name().len()
            + overlays
            + meta.missing.iter().map(missing).sum::<usize>()
    }

    /// Notes what was left out, and sets the cursor.
    pub fn note_rest(&mut self, listed: &Listed, symbols: usize) {
        let detail = format!(
            "{symbols} of {} symbols, {} of {} files: go on with `next_cursor`, or give more `max_tokens`",
            self.symbols_total,
            self.files.len(),
            self.total
        );
        self.meta.missing.push(Missing::new(MissingCode::Budget, "max_tokens", detail));
        self.next_cursor = Some(listed.cursor());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_says_what_was_given() {
        let listed = Listed { first: 12, more: vec![15, 19] };
        assert_eq!(listed.cursor(), "m3-12.15.19");
        assert_eq!(Listed::before(Some("m3-12.15.19")).unwrap(), listed);
        assert!([11, 15, 19].iter().all(|it| listed.holds(*it)) && ![12, 16, 20].iter().any(|it| listed.holds(*it)));
        assert_eq!((listed.count(), Listed::default().count()), (14, 0));
        for foreign in ["", "m", "m1-", "m2-3", "m2-4.3", "c1-3", "m1-x", "m1--1"] {
            assert!(Listed::before(Some(foreign)).is_err(), "{foreign}");
        }
    }

    #[test]
    fn several_values_are_a_list_or_one() {
        let read = |json: &str| serde_json::from_str::<Several>(json).map(|it| it.0);
        assert_eq!(read(r#"["a","b"]"#).unwrap(), ["a", "b"]);
        assert_eq!(read(r#""a""#).unwrap(), ["a"]);
        assert!(read("3").is_err() && read("[3]").is_err());
    }

    #[test]
    fn sizes_are_those_of_the_rows() {
        for line in [1, 9, 10, 99, 100, 12345] {
            let row = format!(" {line} fn f()\n");
            assert_eq!(RowSizes::symbol(line, 6, false), row.len());
            assert_eq!(RowSizes::symbol(line, 6, true), row.len() + 1);
        }
        assert_eq!(RowSizes::heading("impl A"), " impl A\n".len());
        assert_eq!(RowSizes::file("src/a.rs"), file_row("src/a.rs").len());
    }
}
