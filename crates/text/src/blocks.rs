//! SEARCH/REPLACE blocks as aider writes them, and whole files in fences: the body of an edit in plain text.
//!
//! ```text
//! src/lib.rs
//! <<<<<<< SEARCH
//! fn old() {}
//! =======
//! fn new() {}
//! >>>>>>> REPLACE
//! ```
//!
//! Nothing is guessed: what could be read in two ways is refused with its line. A marker has five signs or more, and
//! its block's other markers have as many; so a block whose text holds a line of seven `=` takes markers of eight.

use semdex_model::{Code, Error, Result};

/// One block of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The name, as written above the block.
    pub file: String,
    /// The line of the body where the block begins, from 1.
    pub line: usize,
    /// What the block does with the file.
    pub action: Action,
}

/// What a block does with its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Replaces one text by another. Both are whole lines.
    Replace {
        /// Must match exactly one place of the file.
        search: String,
        /// Empty if the lines are deleted.
        replacement: String,
    },
    /// Creates the file: SEARCH is empty.
    Create(String),
    /// Replaces the whole content of the file: a fence without a block.
    Whole(String),
}

/// Reads all blocks of a body, at least one.
pub fn parse(body: &str) -> Result<Vec<Block>> {
    let lines = body.strip_prefix('\u{feff}').unwrap_or(body).split_inclusive('\n').collect();
    let mut parser = Parser { lines, at: 0, blocks: Vec::new(), name: Name::None, file: None, fence: None };
    while parser.at < parser.lines.len() {
        parser.outside()?;
    }
    if let Some(fence) = &parser.fence {
        return Err(wrong(fence.line, "this fence is never closed"));
    }
    if parser.blocks.is_empty() {
        return Err(wrong(
            1,
            "there is no block in the body: a file's name on a line, then `<<<<<<< SEARCH`, the old lines, `=======`, \
             the new lines, `>>>>>>> REPLACE`",
        ));
    }
    Ok(parser.blocks)
}

fn wrong(line: usize, detail: &str) -> Error {
    Error::new(Code::InvalidRequest, format!("line {line} of the body: {detail}; nothing was changed"))
}

/// What the line right above the current line holds; fences are ignored.
#[derive(Debug, Clone)]
enum Name {
    None,
    /// It reads as the name of a file.
    Of(String),
    /// It is something else: prose, or text that may be a name.
    Unclear(usize),
}

#[derive(Debug, Clone)]
pub(super) struct Fence {
    sign: char,
    length: usize,
    pub(super) line: usize,
}

struct Parser<'a> {
    /// The lines, with their line ends.
    lines: Vec<&'a str>,
    at: usize,
    blocks: Vec<Block>,
    name: Name,
    /// The file of the block before.
    file: Option<String>,
    /// The fence that is open around blocks.
    fence: Option<Fence>,
}

impl<'a> Parser<'a> {
    fn number(&self) -> usize {
        self.at + 1
    }

    /// The line without its line end and the blanks before that.
    fn line(&self, at: usize) -> Option<&'a str> {
        Some(self.lines.get(at)?.trim_end())
    }

    /// Reads one line between blocks, or a whole block.
    fn outside(&mut self) -> Result<()> {
        let number = self.number();
        let Some(line) = self.line(self.at) else { return Ok(()) };
        if let Some((sign, length, rest)) = marker(line) {
            if sign == '<' && is_word(rest, "SEARCH") {
                return self.block(length);
            }
            return Err(wrong(number, &format!("`{line}` is outside of a block, which begins with `<<<<<<< SEARCH`")));
        }
        if marker(line.trim_start()).is_some_and(|(sign, ..)| sign != '=') {
            return Err(wrong(number, "a marker begins at the start of its line"));
        }
        self.at += 1;
        if line.is_empty() {
            self.name = Name::None;
        } else if let Some(fence) = fence(line, number) {
            return self.fenced(fence, line);
        } else {
            self.name = name(line, number);
            if let Some(block) = self.blocks.iter().find(|it| matches!(it.action, Action::Whole(_)))
                && !matches!(self.name, Name::Of(_))
            {
                return Err(wrong(
                    number,
                    &format!(
                        "after the whole content of `{}` nothing but further blocks may follow; if this line belongs \
                         to that content, which has a fence of its own, put a longer fence around it",
                        block.file
                    ),
                ));
            }
        }
        Ok(())
    }

    /// A fence closes the open one, opens one around blocks, or holds a whole file.
    fn fenced(&mut self, found: Fence, line: &str) -> Result<()> {
        if let Some(open) = &self.fence {
            if open.closed_by(line) {
                (self.fence, self.name) = (None, Name::None);
                return Ok(());
            }
            return Err(wrong(found.line, &format!("a fence inside of the one that was opened in line {}", open.line)));
        }
        if self.holds_blocks() {
            self.fence = Some(found);
            return Ok(());
        }
        self.whole(&found)
    }

    /// Whether the fence that was just opened begins with a block, perhaps below the file's name.
    fn holds_blocks(&self) -> bool {
        let mut inside = (self.at..self.lines.len()).filter_map(|at| self.line(at)).filter(|line| !line.is_empty());
        let begins = |line: &str| matches!(marker(line), Some(('<', _, rest)) if is_word(rest, "SEARCH"));
        match inside.next() {
            Some(line) if begins(line) => true,
            Some(line) => fence(line, 0).is_none() && inside.next().is_some_and(begins),
            None => false,
        }
    }

    /// Reads the whole content of a file, up to the fence's end.
    fn whole(&mut self, fence: &Fence) -> Result<()> {
        let file = match std::mem::replace(&mut self.name, Name::None) {
            Name::Of(file) => file,
            Name::Unclear(line) => return Err(unclear(line)),
            Name::None => {
                return Err(wrong(
                    fence.line,
                    "this fence holds no SEARCH/REPLACE block, and no file's name is on the line above it",
                ));
            }
        };
        let first = self.at;
        while let Some(line) = self.line(self.at) {
            self.at += 1;
            if fence.closed_by(line) {
                let content = self.text(first, self.at - 1);
                self.blocks.push(Block { file: file.clone(), line: fence.line, action: Action::Whole(content) });
                self.file = Some(file);
                return Ok(());
            }
            if matches!(marker(line), Some((sign, _, rest)) if sign != '=' && is_word(rest, word_of(sign))) {
                return Err(wrong(self.at, "a block's marker in what begins as the whole content of a file"));
            }
            if fence.may_be_nested(line) {
                return Err(wrong(
                    self.at,
                    "a fence in the content of a fence: where the content ends is unclear; put a longer fence around it",
                ));
            }
        }
        Err(wrong(fence.line, "this fence is never closed"))
    }

    fn block(&mut self, length: usize) -> Result<()> {
        let line = self.number();
        let file = match std::mem::replace(&mut self.name, Name::None) {
            Name::Of(file) => file,
            Name::Unclear(line) => return Err(unclear(line)),
            Name::None => self.file.clone().ok_or_else(|| {
                wrong(line, "no file's name is above the first block: write it on the line before it")
            })?,
        };
        self.at += 1;
        let search = self.section(line, length, '=')?;
        let replacement = self.section(line, length, '>')?;
        let action = if search.trim().is_empty() {
            Action::Create(replacement)
        } else {
            Action::Replace { search, replacement }
        };
        self.blocks.push(Block { file: file.clone(), line, action });
        self.file = Some(file);
        Ok(())
    }

    /// The lines up to the marker that ends them.
    fn section(&mut self, begun: usize, length: usize, ends: char) -> Result<String> {
        let first = self.at;
        while let Some(line) = self.line(self.at) {
            let number = self.number();
            self.at += 1;
            let Some((sign, count, rest)) = marker(line) else { continue };
            let is_marker = is_word(rest, word_of(sign));
            if sign == ends && is_marker && count == length {
                return Ok(self.text(first, self.at - 1));
            }
            // A line of `=` of another length is text. All other markers are always markers.
            if !is_marker || (sign == '=' && count != length) {
                continue;
            }
            return Err(wrong(number, &misplaced(line, begun, length, ends)));
        }
        let lacks = match ends {
            '=' => format!("no divider of {length} `=`"),
            _ => format!("no `{} REPLACE` at its end", ">".repeat(length)),
        };
        Err(wrong(begun, &format!("the block that begins here has {lacks}")))
    }

    /// The lines of the body from one line to another, unchanged.
    fn text(&self, first: usize, end: usize) -> String {
        self.lines[first..end].concat()
    }
}

fn misplaced(line: &str, begun: usize, length: usize, ends: char) -> String {
    let expected = match ends {
        '=' => format!("a divider of {length} `=`"),
        _ => format!("`{} REPLACE`", ">".repeat(length)),
    };
    format!(
        "`{line}` in the block that begins in line {begun}, which goes on to {expected}: if it is part of the text, \
         use markers of another length for this block, all three of {} signs",
        length + 1
    )
}

fn unclear(line: usize) -> Error {
    wrong(
        line,
        "this may be the name of a file or not: write a name alone on its line, in backticks where it has blanks or \
         neither `/` nor `.`, and leave a blank line after prose",
    )
}

/// A line that begins with at least five marker signs: the sign, how many there are, and what follows.
pub(super) fn marker(line: &str) -> Option<(char, usize, &str)> {
    let sign = line.chars().next().filter(|sign| matches!(sign, '<' | '=' | '>'))?;
    let rest = line.trim_start_matches(sign);
    let count = line.len() - rest.len();
    (count >= 5).then_some((sign, count, rest))
}

pub(super) fn word_of(sign: char) -> &'static str {
    match sign {
        '<' => "SEARCH",
        '>' => "REPLACE",
        _ => "",
    }
}

/// Whether a marker's word is this one. aider's own markers also close with an angle bracket.
pub(super) fn is_word(rest: &str, word: &str) -> bool {
    let rest = rest.trim().trim_end_matches('>');
    rest.eq_ignore_ascii_case(word)
}

pub(super) fn fence(line: &str, number: usize) -> Option<Fence> {
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let rest = line.trim_start_matches(sign);
    let length = line.len() - rest.len();
    (length >= 3 && !rest.contains('`')).then_some(Fence { sign, length, line: number })
}

impl Fence {
    pub(super) fn closed_by(&self, line: &str) -> bool {
        line.len() >= self.length && line.chars().all(|it| it == self.sign)
    }

    /// Whether a line of the content opens a fence, so that the end of the content could be the end of that fence.
    pub(super) fn may_be_nested(&self, line: &str) -> bool {
        fence(line.trim_start(), 0).is_some_and(|it| it.sign == self.sign && it.length >= self.length)
    }
}

/// A name above a block: bare, as a heading, in backticks or in bold, perhaps with a colon.
fn name(line: &str, number: usize) -> Name {
    file_name(line).map_or(Name::Unclear(number), Name::Of)
}

/// The name of a file, if the line is a name and nothing else.
pub(super) fn file_name(line: &str) -> Option<String> {
    /// File names without a slash and a dot.
    const PLAIN: [&str; 9] =
        ["Makefile", "Dockerfile", "Justfile", "justfile", "LICENSE", "COPYING", "NOTICE", "README", "CODEOWNERS"];
    let stripped = line.trim().trim_start_matches('#').trim();
    let stripped = stripped.strip_suffix(':').unwrap_or(stripped);
    let stripped = stripped.strip_prefix("**").and_then(|it| it.strip_suffix("**")).unwrap_or(stripped);
    let stripped = stripped.strip_suffix(':').unwrap_or(stripped).trim();
    if let Some(quoted) = stripped.strip_prefix('`').and_then(|it| it.strip_suffix('`'))
        && !quoted.trim().is_empty()
        && !quoted.contains('`')
    {
        return Some(quoted.to_owned());
    }
    let looks_like_one = (stripped.contains(['/', '.']) || PLAIN.contains(&stripped))
        && !stripped.ends_with(['.', '!', '?', ',', ';'])
        && !stripped.contains(|it: char| it.is_whitespace() || "`*\"<>|".contains(it));
    looks_like_one.then(|| stripped.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace(file: &str, line: usize, search: &str, replacement: &str) -> Block {
        let action = Action::Replace { search: search.into(), replacement: replacement.into() };
        Block { file: file.into(), line, action }
    }

    fn refused(body: &str, line: usize, wanted: &str) {
        let error = parse(body).unwrap_err();
        assert_eq!(error.code, Code::InvalidRequest);
        let begins = format!("line {line} of the body");
        assert!(error.detail.starts_with(&begins) && error.detail.contains(wanted), "{body}\n{}", error.detail);
    }

    #[test]
    fn blocks_in_all_the_forms_that_models_write() {
        let block = "<<<<<<< SEARCH\na\n  b\n=======\nc\n>>>>>>> REPLACE\n";
        let one = |file: &str, line| vec![replace(file, line, "a\n  b\n", "c\n")];
        for (head, tail, line) in [
            ("src/a.rs\n", "", 2),
            ("src/a.rs:\n", "", 2),
            ("### `src/a.rs`\n", "", 2),
            ("**src/a.rs**\n", "", 2),
            ("src/a.rs\n```rust\n", "```\n", 3),
            ("```rust\nsrc/a.rs\n", "```\n", 3),
            ("~~~~\nsrc/a.rs\n", "~~~~\n", 3),
            ("Here is what I would do.\n\nsrc/a.rs\n", "\nThat is all.\n", 4),
            ("\u{feff}src/a.rs\n", "", 2),
        ] {
            assert_eq!(parse(&format!("{head}{block}{tail}")).unwrap(), one("src/a.rs", line), "{head}");
        }
        assert_eq!(parse(&format!("`my file`\n{block}")).unwrap(), one("my file", 2));
        assert_eq!(parse(&format!("Makefile\n{block}")).unwrap(), one("Makefile", 2));
        refused(&format!("` `\n{block}"), 1, "name of a file or not");
        let windows = format!("a.c\r\n{}", block.replace('\n', "\r\n"));
        assert_eq!(parse(&windows).unwrap(), [replace("a.c", 2, "a\r\n  b\r\n", "c\r\n")]);
        assert_eq!(parse(&format!("a.c\n{}", block.trim_end())).unwrap(), one("a.c", 2), "no newline at the end");
    }

    #[test]
    fn several_blocks_and_files() {
        let block = |old: &str, new: &str| format!("<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n");
        let body =
            ["a.rs\n", &block("x\n", "y\n"), "\n", &block("z\n", ""), "```\nb.rs\n", &block("", "new\n"), "```\n"];
        let created = Block { file: "b.rs".into(), line: 14, action: Action::Create("new\n".into()) };
        assert_eq!(
            parse(&body.concat()).unwrap(),
            [replace("a.rs", 2, "x\n", "y\n"), replace("a.rs", 8, "z\n", ""), created]
        );
    }

    #[test]
    fn whole_files() {
        let body = "src/a.rs\n```rust\nfn a() {}\n```\n\nb/c.md\n````\n# T\n```sh\nls\n```\n````\n";
        let whole =
            |file: &str, line, text: &str| Block { file: file.into(), line, action: Action::Whole(text.into()) };
        assert_eq!(
            parse(body).unwrap(),
            [whole("src/a.rs", 2, "fn a() {}\n"), whole("b/c.md", 7, "# T\n```sh\nls\n```\n")]
        );
        refused("b/c.md\n```\n# T\n```sh\nls\n```\n```\n", 4, "longer fence");
        refused("b/c.md\n```\n# T\n```\nls\n```\n", 5, "longer fence");
        refused("```rust\nfn a() {}\n```\n", 1, "no file's name");
        refused("Put this there:\n```rust\nfn a() {}\n```\n", 1, "may be the name of a file or not");
        refused("a.rs\n```rust\nfn a() {}\n", 2, "never closed");
    }

    #[test]
    fn text_that_looks_like_a_marker_is_never_guessed_at() {
        let with = |search: &str| format!("a.md\n<<<<<<< SEARCH\n{search}=======\nx\n>>>>>>> REPLACE\n");
        // An underline of another length is text.
        assert_eq!(parse(&with("Title\n=====\n")).unwrap(), [replace("a.md", 2, "Title\n=====\n", "x\n")]);
        assert_eq!(parse(&with("<<<<<<< HEAD\n")).unwrap(), [replace("a.md", 2, "<<<<<<< HEAD\n", "x\n")]);
        refused(&with("Titles\n=======\n"), 5, "markers of another length");
        let longer = with("Titles\n=======\n").replacen("<<<<<<<", "<<<<<<<<", 1);
        let longer = longer.replacen("=======\nx\n>>>>>>>", "========\nx\n>>>>>>>>", 1);
        assert_eq!(parse(&longer).unwrap(), [replace("a.md", 2, "Titles\n=======\n", "x\n")]);
        refused(&with("<<<<<<< SEARCH\n"), 3, "markers of another length");
        refused("a\n", 1, "no block");
        refused("", 1, "no block");
        refused("a.rs\n<<<<<<< SEARCH\nx\n", 2, "no divider of 7 `=`");
        refused("a.rs\n<<<<<<< SEARCH\nx\n=======\ny\n", 2, "no `>>>>>>> REPLACE`");
        refused("a.rs\n<<<<<<< SEARCH\nx\n>>>>>>> REPLACE\n", 4, "goes on to a divider");
        refused("a.rs\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>> REPLACE\n", 6, "goes on to `>>>>>>> REPLACE`");
        refused("a.rs\n=======\n", 2, "outside of a block");
        refused("a.rs\n<<<<<<< HEAD\n", 2, "outside of a block");
        refused("a.rs\n  <<<<<<< SEARCH\n", 2, "start of its line");
        refused("<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n", 1, "no file's name");
        refused("And here\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n", 1, "may be the name");
        refused("```\na.rs\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n", 1, "never closed");
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(
            texts in proptest::collection::vec(("[a-c =<>`\n]{0,30}", "[a-c =<>`\n]{0,30}"), 1..4),
            length in 5..12usize,
        ) {
            let lines = |text: &str| if text.is_empty() { String::new() } else { format!("{text}\n") };
            let mut body = String::from("dir/file.rs\n");
            for (old, new) in &texts {
                let [open, middle, close] = ["<", "=", ">"].map(|it| it.repeat(length));
                body += &format!("{open} SEARCH\n{}{middle}\n{}{close} REPLACE\n", lines(old), lines(new));
            }
            // The body is refused, or read exactly as it was written.
            if let Ok(blocks) = parse(&body) {
                proptest::prop_assert_eq!(blocks.len(), texts.len());
                for (block, (old, new)) in blocks.iter().zip(&texts) {
                    let (search, replacement) = match &block.action {
                        Action::Replace { search, replacement } => (search.clone(), replacement),
                        Action::Create(content) => (lines(old), content),
                        Action::Whole(_) => unreachable!("{body}"),
                    };
                    proptest::prop_assert_eq!((search, replacement), (lines(old), &lines(new)));
                }
            }
        }

        #[test]
        fn no_body_brings_it_down(body in "([<=>]{4,8}( SEARCH| REPLACE|)|```|a\\.rs|[a-zß ]{0,3}|\r|\n){0,40}") {
            let _ = parse(&body);
        }
    }
}
