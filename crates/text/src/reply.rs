//! Reads the reply of a model as it arrives: SEARCH/REPLACE blocks and whole files, with prose between them.
//!
//! The syntax is defined in [`blocks`](super::blocks), and blocks are read just as strictly. Around blocks a model may
//! write anything: sentences, fences with examples, its thoughts in tags. An incomplete edit is an error, so that
//! nothing is dropped silently and nothing is applied in part.

use super::blocks::{Action, Block, Fence, fence, file_name, is_word, marker, word_of};
use semdex_model::{Code, Error, Result};

/// Tags around the thoughts of a model.
const THOUGHTS: [&str; 4] = ["think", "thinking", "reasoning", "reflection"];
/// Languages of fences that hold commands or output, never a file.
const NO_FILES: [&str; 9] = ["", "text", "txt", "console", "sh", "bash", "shell", "output", "diff"];

/// Reads a reply piece by piece.
#[derive(Debug)]
pub struct ReplyReader {
    /// What arrived after the last line end.
    rest: String,
    /// The number of the next line, from 1.
    number: usize,
    state: State,
    above: Above,
    /// The file of the block before.
    file: Option<String>,
    /// What is open around the current block.
    around: Option<Fence>,
    /// The last item was the whole content of a file.
    after_whole: bool,
    blocks: Vec<Block>,
    /// Lines with fences that may be meant as files but have no name.
    nameless: Vec<usize>,
    wrong: Option<Error>,
}

#[derive(Debug)]
enum State {
    Prose,
    /// Thoughts, up to the closing tag.
    Thought(&'static str),
    Search(Half),
    Replace(Half, String),
    /// A fence whose content is not known yet.
    Opened(Opened),
    /// A fence that holds blocks.
    Around(Fence),
    Whole(Whole),
    /// A fence that is an example.
    Example(Fence),
}

/// The current block, as far as it was read.
#[derive(Debug)]
struct Half {
    file: String,
    line: usize,
    length: usize,
    text: String,
}

#[derive(Debug)]
struct Opened {
    fence: Fence,
    language: String,
    above: Above,
    /// The lines so far, of which at most one is not blank.
    text: String,
    /// What the last line holds.
    inner: Above,
}

/// What the line above the current one holds; fences are ignored.
#[derive(Debug, Default)]
enum Above {
    #[default]
    Nothing,
    /// The name of a file, on the line directly above.
    File(String),
    /// The name of a file, with one blank line between.
    Apart(String),
    /// A sentence that contains exactly one name of a file.
    Prose(Option<String>),
}

#[derive(Debug)]
struct Whole {
    fence: Fence,
    file: String,
    text: String,
}

/// The content of a whole reply.
#[derive(Debug, PartialEq)]
pub struct ReplyEdits {
    /// The edits, in the order of the reply.
    pub blocks: Vec<Block>,
    /// The lines of fences that hold code but count as examples, because no name is above them.
    pub nameless: Vec<usize>,
}

impl Default for ReplyReader {
    fn default() -> ReplyReader {
        ReplyReader {
            rest: String::new(),
            number: 0,
            state: State::Prose,
            above: Above::Nothing,
            file: None,
            around: None,
            after_whole: false,
            blocks: Vec::new(),
            nameless: Vec::new(),
            wrong: None,
        }
    }
}

impl ReplyReader {
    /// Takes the next piece. Returns how many edits are complete.
    pub fn push(&mut self, piece: &str) -> usize {
        self.rest.push_str(piece);
        let rest = std::mem::take(&mut self.rest);
        let mut lines = rest.split_inclusive('\n').peekable();
        while let Some(line) = lines.next() {
            if lines.peek().is_none() && !line.ends_with('\n') {
                self.rest = line.to_owned();
            } else {
                self.line(line);
            }
        }
        self.blocks.len()
    }

    /// Ends the reply.
    pub fn finish(mut self) -> Result<ReplyEdits> {
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.line(&rest);
        }
        let end = match &self.state {
            State::Search(half) => Some((half.line, "the block that begins here has no divider of `=`".to_owned())),
            State::Replace(half, _) => {
                Some((half.line, format!("the block that begins here has no `{} REPLACE`", ">".repeat(half.length))))
            }
            State::Whole(whole) => Some((whole.fence.line, "this fence with a file's content is never closed".into())),
            State::Opened(Opened { above: Above::File(_), fence, .. }) => {
                Some((fence.line, "this fence with a file's content is never closed".into()))
            }
            _ => None,
        };
        if let Some((line, detail)) = end {
            self.refuse(line, &detail);
        }
        match self.wrong {
            Some(error) => Err(error),
            None => Ok(ReplyEdits { blocks: self.blocks, nameless: self.nameless }),
        }
    }

    fn line(&mut self, line: &str) {
        self.number += 1;
        if self.wrong.is_some() {
            return;
        }
        let line = if self.number == 1 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line };
        self.state = match std::mem::replace(&mut self.state, State::Prose) {
            State::Prose => self.prose(line, None),
            State::Around(fence) if fence.closed_by(line.trim_end()) => {
                self.above = Above::Nothing;
                State::Prose
            }
            State::Around(fence) => self.prose(line, Some(fence)),
            State::Thought(tag) if line.contains(&format!("</{tag}>")) => State::Prose,
            State::Thought(tag) => State::Thought(tag),
            State::Search(half) => self.search(half, line),
            State::Replace(half, search) => self.replace(half, search, line),
            State::Opened(opened) => self.opened(opened, line),
            State::Whole(whole) => self.whole(whole, line),
            State::Example(fence) if fence.closed_by(line.trim_end()) => State::Prose,
            State::Example(fence) => self.example(fence, line),
        };
    }

    /// Reads a line between blocks. `around` is the fence around the blocks.
    fn prose(&mut self, line: &str, around: Option<Fence>) -> State {
        let line = line.trim_end();
        let stay = |around: Option<Fence>| around.map_or(State::Prose, State::Around);
        if let Some((sign, length, rest)) = marker(line) {
            if sign == '<' && is_word(rest, "SEARCH") {
                return self.begin(length, around);
            }
            if is_marker_of_a_block(sign, rest) {
                self.refuse(self.number, &format!("`{line}` is outside of a block"));
            }
            return stay(around);
        }
        let indented = marker(line.trim_start());
        if indented.is_some_and(|(sign, _, rest)| sign == '<' && is_word(rest, "SEARCH")) {
            self.refuse(self.number, "a marker begins at the start of its line");
        }
        if let Some(tag) = thought(line) {
            return if line.contains(&format!("</{tag}>")) { stay(around) } else { State::Thought(tag) };
        }
        if around.is_none()
            && let Some(found) = fence(line, self.number)
        {
            let language = line.trim_start_matches(['`', '~']).split_whitespace().next().unwrap_or_default();
            let above = std::mem::take(&mut self.above);
            let is_named = matches!(above, Above::File(_));
            if std::mem::take(&mut self.after_whole) && language.is_empty() && !is_named {
                let detail = "this fence may be the end of the file's content before it, which then has a fence of its \
                              own: put a longer fence around that file";
                self.refuse(self.number, detail);
            }
            let language = language.to_ascii_lowercase();
            return State::Opened(Opened { fence: found, language, above, text: String::new(), inner: Above::Nothing });
        }
        self.above = match std::mem::take(&mut self.above) {
            // A name applies to a block across one blank line, but to a fence only without one.
            Above::File(file) if line.is_empty() => Above::Apart(file),
            _ if line.is_empty() => Above::Nothing,
            _ => above(line),
        };
        stay(around)
    }

    /// Begins a block.
    fn begin(&mut self, length: usize, around: Option<Fence>) -> State {
        let file = match std::mem::take(&mut self.above) {
            Above::File(file) | Above::Apart(file) | Above::Prose(Some(file)) => Some(file),
            Above::Prose(None) | Above::Nothing => self.file.clone(),
        };
        self.after_whole = false;
        let Some(file) = file else {
            self.refuse(self.number, "no file's name is on the line above this block");
            return State::Prose;
        };
        self.file = Some(file.clone());
        let half = Half { file, line: self.number, length, text: String::new() };
        self.around = around;
        State::Search(half)
    }

    fn search(&mut self, mut half: Half, line: &str) -> State {
        match self.ends(&half, line, '=') {
            Some(true) => {
                let search = std::mem::take(&mut half.text);
                State::Replace(half, search)
            }
            Some(false) => State::Prose,
            None => {
                half.text.push_str(line);
                State::Search(half)
            }
        }
    }

    fn replace(&mut self, mut half: Half, search: String, line: &str) -> State {
        match self.ends(&half, line, '>') {
            Some(true) => {
                let Half { file, line, text: replacement, .. } = half;
                let action = if search.trim().is_empty() {
                    Action::Create(replacement)
                } else {
                    Action::Replace { search, replacement }
                };
                self.blocks.push(Block { file, line, action });
                self.around.take().map_or(State::Prose, State::Around)
            }
            Some(false) => State::Prose,
            None => {
                half.text.push_str(line);
                State::Replace(half, search)
            }
        }
    }

    /// Whether a line ends a part of a block. `Some(false)`: it is another marker, which is wrong there.
    fn ends(&mut self, half: &Half, line: &str, ends: char) -> Option<bool> {
        let (sign, count, rest) = marker(line.trim_end())?;
        let is_marker = is_word(rest, word_of(sign));
        if sign == ends && is_marker && count == half.length {
            return Some(true);
        }
        // A line of `=` of another length is text. All other markers are always markers.
        if !is_marker || sign == '=' && count != half.length {
            return None;
        }
        let detail = format!(
            "`{}` in the block that begins in line {}: if it is part of the text, all three markers of that block take \
             {} signs",
            line.trim_end(),
            half.line,
            half.length + 1
        );
        self.refuse(self.number, &detail);
        Some(false)
    }

    /// Decides by the first lines of a fence what it holds.
    fn opened(&mut self, mut opened: Opened, line: &str) -> State {
        let trimmed = line.trim_end();
        if let Some(('<', length, rest)) = marker(trimmed)
            && is_word(rest, "SEARCH")
        {
            self.above = if matches!(opened.inner, Above::Nothing) { opened.above } else { opened.inner };
            return self.begin(length, Some(opened.fence));
        }
        let is_first = opened.text.trim().is_empty();
        if trimmed.is_empty() || is_first && !opened.fence.closed_by(trimmed) {
            if is_first && !trimmed.is_empty() {
                opened.inner = above(trimmed);
            }
            opened.text.push_str(line);
            return State::Opened(opened);
        }
        let Opened { fence, language, above, text, .. } = opened;
        match above {
            Above::File(file) => {
                let whole = Whole { fence, file, text: String::new() };
                // The lines so far are read again as lines of a file.
                let number = self.number;
                let mut state = State::Whole(whole);
                let so_far: Vec<&str> = text.split_inclusive('\n').collect();
                self.number -= so_far.len() + 1;
                for line in so_far.into_iter().chain([line]) {
                    self.number += 1;
                    let State::Whole(whole) = state else { break };
                    state = self.whole(whole, line);
                }
                self.number = number;
                state
            }
            Above::Apart(file) => {
                let detail = format!(
                    "it is unclear whether this fence is the content of `{file}`: for that, the name is on the line \
                     right above it"
                );
                self.refuse(fence.line, &detail);
                State::Prose
            }
            Above::Nothing | Above::Prose(_) => {
                if !NO_FILES.contains(&language.as_str()) {
                    self.nameless.push(fence.line);
                }
                if fence.closed_by(trimmed) { State::Prose } else { self.example(fence, line) }
            }
        }
    }

    fn example(&mut self, fence: Fence, line: &str) -> State {
        // A block deep inside a fence is meant as a block; the lines before it are not part of a file.
        if matches!(marker(line.trim_end()), Some(('<', _, rest)) if is_word(rest, "SEARCH")) {
            let detail = "a block in the middle of a fence: the file's name is right above the block or the fence";
            self.refuse(self.number, detail);
        }
        State::Example(fence)
    }

    /// Reads the whole content of a file, up to the fence's end.
    fn whole(&mut self, mut whole: Whole, line: &str) -> State {
        let trimmed = line.trim_end();
        if whole.fence.closed_by(trimmed) {
            let Whole { fence, file, text } = whole;
            self.file = Some(file.clone());
            self.blocks.push(Block { file, line: fence.line, action: Action::Whole(text) });
            self.after_whole = true;
            return State::Prose;
        }
        if matches!(marker(trimmed), Some((sign, _, rest)) if sign != '=' && is_word(rest, word_of(sign))) {
            self.refuse(self.number, "a block's marker in what begins as the whole content of a file");
        } else if whole.fence.may_be_nested(line) {
            let detail = "a fence in the content of a file: where the content ends is unclear; put a longer fence \
                          around the file";
            self.refuse(self.number, detail);
        }
        whole.text.push_str(line);
        State::Whole(whole)
    }

    /// Only the first error is reported.
    fn refuse(&mut self, line: usize, detail: &str) {
        if self.wrong.is_none() {
            self.wrong = Some(Error::new(Code::InvalidRequest, format!("line {line} of your reply: {detail}")));
        }
    }
}

/// Whether a line outside of blocks can only be a part of a block.
fn is_marker_of_a_block(sign: char, rest: &str) -> bool {
    match sign {
        '<' => rest.trim_start().to_ascii_uppercase().starts_with("SEARCH"),
        '>' => is_word(rest, "REPLACE"),
        _ => false,
    }
}

/// The tag that opens thoughts.
fn thought(line: &str) -> Option<&'static str> {
    let tag = line.trim_start().strip_prefix('<')?;
    THOUGHTS.into_iter().find(|it| tag.strip_prefix(it).is_some_and(|rest| rest.starts_with('>')))
}

/// What a line says about the block or fence below it.
fn above(line: &str) -> Above {
    let labelled = ["File:", "file:", "Path:", "path:", "Filename:", "filename:"];
    let trimmed = line.trim().trim_start_matches(['#', '*', '-']).trim_start();
    let plain = labelled.into_iter().find_map(|it| trimmed.strip_prefix(it)).unwrap_or(line);
    if let Some(file) = file_name(plain) {
        return Above::File(file);
    }
    let mut named = line.split('`').skip(1).step_by(2).filter(|it| {
        let is_path =
            it.contains('/') || it.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty());
        is_path && !it.contains(|it: char| it.is_whitespace() || "():<>".contains(it))
    });
    match (named.next(), named.next()) {
        (Some(only), None) => Above::Prose(Some(only.to_owned())),
        _ => Above::Prose(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &str) -> Result<ReplyEdits> {
        let mut reader = ReplyReader::default();
        reader.push(reply);
        reader.finish()
    }

    /// The result does not depend on how the reply is cut into pieces.
    fn blocks(reply: &str) -> Vec<Block> {
        let whole = read(reply).unwrap_or_else(|error| panic!("{error}: {reply}"));
        let mut reader = ReplyReader::default();
        for letter in reply.chars() {
            reader.push(letter.encode_utf8(&mut [0; 4]));
        }
        assert_eq!(reader.finish().unwrap(), whole);
        whole.blocks
    }

    fn refused(reply: &str, line: usize, wanted: &str) {
        let error = read(reply).unwrap_err();
        let begins = format!("line {line} of your reply");
        assert!(error.detail.starts_with(&begins) && error.detail.contains(wanted), "{reply}\n{}", error.detail);
    }

    fn replace(file: &str, line: usize, search: &str, replacement: &str) -> Block {
        let action = Action::Replace { search: search.into(), replacement: replacement.into() };
        Block { file: file.into(), line, action }
    }

    fn whole(file: &str, line: usize, text: &str) -> Block {
        Block { file: file.into(), line, action: Action::Whole(text.into()) }
    }

    const BLOCK: &str = "<<<<<<< SEARCH\na\n  b\n=======\nc\n>>>>>>> REPLACE\n";

    #[test]
    fn blocks_stand_in_prose_of_any_kind() {
        let one = |line| vec![replace("src/a.rs", line, "a\n  b\n", "c\n")];
        for (head, tail, line) in [
            ("src/a.rs\n", "", 2),
            ("Sure.\n\n### `src/a.rs`\n```rust\n", "```\nDone.\n", 5),
            ("```rust\nsrc/a.rs\n", "```\n", 3),
            ("File: src/a.rs\n", "", 2),
            ("**File: `src/a.rs`**\n", "", 2),
            ("Now change `src/a.rs` so:\n", "And then:\n```sh\nmake\n```\n", 2),
            ("src/a.rs\n\n", "", 3),
            ("<think>\nb.rs\n<<<<<<< SEARCH\n</think>\nsrc/a.rs\n", "", 6),
            ("<thinking>x</thinking>\nsrc/a.rs\n", "", 3),
            ("An example:\n```\nx\n```\nTitle\n=======\nsrc/a.rs\n", "", 8),
            ("\u{feff}src/a.rs\n", "", 2),
        ] {
            assert_eq!(blocks(&format!("{head}{BLOCK}{tail}")), one(line), "{head}");
        }
        assert_eq!(blocks(&format!("src/a.rs\n{}", BLOCK.trim_end())), one(2), "no newline at the end");
        let two = blocks(&format!("a.rs\n{BLOCK}Then the same once more:\n{BLOCK}"));
        assert_eq!(two.iter().map(|it| it.file.as_str()).collect::<Vec<_>>(), ["a.rs", "a.rs"]);
        assert_eq!(blocks("Nothing is to be done.\n"), []);
    }

    #[test]
    fn whole_files_have_their_names_right_above() {
        assert_eq!(
            blocks(
                "Here:\n\nsrc/a.rs\n```rust\nfn a() {}\n```\nThat is all.\n\n`b/c.md`\n````\n# T\n```sh\nls\n```\n````\n"
            ),
            [whole("src/a.rs", 4, "fn a() {}\n"), whole("b/c.md", 10, "# T\n```sh\nls\n```\n")]
        );
        assert_eq!(blocks("a.txt\n```\n\nx\n\n```\n"), [whole("a.txt", 2, "\nx\n\n")]);
        assert_eq!(blocks("a.txt\n```\n```\n"), [whole("a.txt", 2, "")]);
        let created = blocks("new.rs\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n");
        assert_eq!(created, [Block { file: "new.rs".into(), line: 2, action: Action::Create("x\n".into()) }]);
        refused("b/c.md\n```\n# T\n```sh\nls\n```\n```\n", 4, "longer fence");
        refused("b/c.md\n```\n# T\n```\nls\n```\n```\n", 6, "longer fence");
        refused("a.rs\n\n```rust\nfn a() {}\n```\n", 3, "right above");
        refused("a.rs\n```rust\nfn a() {}\n", 2, "never closed");
    }

    #[test]
    fn a_fence_without_a_name_is_an_example_and_is_reported() {
        let reply = read("Like this:\n```rust\nfn a() {}\n```\n```sh\nls\n```\n").unwrap();
        assert_eq!(reply, ReplyEdits { blocks: Vec::new(), nameless: vec![2] });
    }

    #[test]
    fn what_is_not_whole_is_refused() {
        refused("a.rs\n<<<<<<< SEARCH\nx\n", 2, "no divider");
        refused("a.rs\n<<<<<<< SEARCH\nx\n=======\ny\n", 2, "no `>>>>>>> REPLACE`");
        refused("a.rs\n<<<<<<< SEARCH\nx\n>>>>>>> REPLACE\n", 4, "if it is part of the text");
        refused("a.rs\n<<<<<<< SEARCH\nTitle\n=======\nx\n=======\ny\n>>>>>>> REPLACE\n", 6, "8 signs");
        refused("a.rs\n  <<<<<<< SEARCH\n", 2, "start of its line");
        refused("a.rs\n>>>>>>> REPLACE\n", 2, "outside of a block");
        refused("a.rs\n<<<<<<< SEARCH a.rs\n", 2, "outside of a block");
        refused(BLOCK, 1, "no file's name");
        refused("```rust\nfn a() {}\n\na.rs\n<<<<<<< SEARCH\n", 5, "middle of a fence");
    }

    proptest::proptest! {
        #[test]
        fn no_reply_brings_it_down(reply in "([<=>]{4,8}( SEARCH| REPLACE|)|```|<think>|a\\.rs|[a-zß ]{0,3}|\r|\n){0,40}") {
            let _ = read(&reply);
        }

        /// This reader accepts everything that the strict reader accepts.
        #[test]
        fn what_is_strict_is_read_the_same(reply in "(a\\.rs\n|<{7} SEARCH\n|={7}\n|>{7} REPLACE\n|```\n|[a-c]{1,3}\n|\n){0,24}") {
            if let (Ok(strict), Ok(read)) = (super::super::blocks::parse(&reply), read(&reply)) {
                proptest::prop_assert_eq!(strict, read.blocks);
            }
        }
    }
}
