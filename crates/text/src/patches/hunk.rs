//! The lines of one hunk: each stays, is deleted or is added.

/// Lines that are replaced by others. Both are whole lines, and both contain the lines that stay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// The old lines; not blank.
    pub search: String,
    /// The new lines.
    pub replacement: String,
    /// What the patch says of the place. None for a block, which says nothing.
    pub place: Option<PlaceHints>,
    /// What happens to the newline at the end of the file, if the place is there.
    pub final_newline: FinalNewline,
}

/// What a patch says of the place of a hunk besides the lines themselves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlaceHints {
    /// The line where the hunk begins, from 1.
    pub line: Option<usize>,
    /// Lines that are above the place, the outermost first.
    pub headings: Vec<String>,
    /// Whether the place must be below the headings. Otherwise they only choose between several places.
    pub is_below: bool,
    /// Whether the place is at the end of the file.
    pub at_end: bool,
}

/// What happens to the newline at the end of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FinalNewline {
    /// It stays as it is.
    #[default]
    Kept,
    /// The file ends with a newline afterwards.
    Added,
    /// The file ends without a newline afterwards.
    Removed,
}

/// A line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The line of the patch, from 1.
    pub number: usize,
    pub sign: Sign,
    /// Without the sign, with the line end.
    pub text: &'a str,
    /// The patch says that the file ends after it without a newline.
    pub ends_file: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Stays,
    Deleted,
    Added,
    /// An empty line of the patch without a sign.
    Blank,
    /// A line with another first character. It can only be a line that stays and has lost its sign.
    None,
}

/// The first line of a hunk: `@@ -10,7 +10,8 @@ fn f()`, `@@ class A`, `@@`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Head {
    /// The first old line.
    pub line: Option<usize>,
    /// How many old and new lines the hunk has, as the patch says.
    pub counts: Option<(usize, usize)>,
    /// The line of the file that the patch names as being above.
    pub heading: Option<String>,
}

impl Head {
    /// Reads a line that begins with `@@`.
    pub(super) fn of(line: &str) -> Head {
        let rest = line.trim_start_matches('@').trim();
        let (numbers, heading) = match rest.split_once("@@") {
            Some((numbers, heading)) => (numbers.trim(), heading),
            None if rest.starts_with('-') && rest.contains(" +") => (rest, ""),
            // `@@ ... @@` and `@@ fn f()`.
            None => ("", rest),
        };
        let heading = heading.trim().trim_end_matches("@@").trim();
        let mut head = Head { heading: (!heading.is_empty()).then(|| heading.to_owned()), ..Head::default() };
        let range = |text: &str, sign: char| {
            let (first, count) = text.strip_prefix(sign)?.split_once(',').unwrap_or((&text[1..], "1"));
            Some((first.trim().parse::<usize>().ok()?, count.trim().parse::<usize>().ok()?))
        };
        if let Some((old, new)) = numbers.split_once(' ') {
            let (old, new) = (range(old, '-'), range(new.trim(), '+'));
            head.line = old.map(|it| it.0);
            head.counts = old.zip(new).map(|(old, new)| (old.1, new.1));
        } else if head.heading.is_none() && !numbers.chars().all(|it| it == '.' || it == '…' || it.is_whitespace()) {
            head.heading = Some(numbers.to_owned());
        }
        head
    }
}

/// The sign of a line of a hunk, and the line without it.
pub(super) fn sign(line: &str) -> (Sign, &str) {
    match line.as_bytes().first() {
        Some(b' ') => (Sign::Stays, &line[1..]),
        Some(b'-') => (Sign::Deleted, &line[1..]),
        Some(b'+') => (Sign::Added, &line[1..]),
        _ if line.trim_end_matches(['\r', '\n']).is_empty() => (Sign::Blank, line),
        _ => (Sign::None, line),
    }
}

/// Removes empty lines without a sign at the end: they separate the hunk from what follows.
pub(super) fn without_blank_end(lines: &mut Vec<Line<'_>>) {
    while lines.last().is_some_and(|it| it.sign == Sign::Blank) {
        lines.pop();
    }
}

/// The lines without those of one sign. The last line gets a line end if it has none.
pub(super) fn text(lines: &[Line<'_>], without: Sign) -> String {
    let mut text = String::new();
    for line in lines.iter().filter(|it| it.sign != without) {
        text.push_str(line.text);
        if !line.text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

/// A hunk of lines that are not all added.
pub(super) fn hunk(lines: &[Line<'_>], place: PlaceHints) -> Hunk {
    let ends = |without: Sign| lines.iter().rfind(|it| it.sign != without).is_some_and(|it| it.ends_file);
    let final_newline = match (ends(Sign::Added), ends(Sign::Deleted)) {
        (true, false) => FinalNewline::Added,
        (false, true) => FinalNewline::Removed,
        _ => FinalNewline::Kept,
    };
    Hunk {
        search: text(lines, Sign::Added),
        replacement: text(lines, Sign::Deleted),
        place: Some(place),
        final_newline,
    }
}

/// The content of a new or deleted file, of the lines of all its hunks.
pub(super) fn content(lines: &[Line<'_>]) -> String {
    let mut content: String = lines.iter().map(|it| it.text).collect();
    if lines.last().is_some_and(|it| it.ends_file) {
        let bare = content.strip_suffix('\n').map(|it| it.strip_suffix('\r').unwrap_or(it).len());
        content.truncate(bare.unwrap_or(content.len()));
    } else if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    content
}
