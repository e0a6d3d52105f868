//! Elisions: `...`, `// existing code` and similar lines, with which a model leaves out what it does not want to
//! repeat. In a search text they match nothing. In a new text they would take the place of code: [`added_elision`]
//! compares the old text of a file with the new one.

use rustc_hash::FxHashMap;
use similar::{DiffOp, group_diff_ops};

use crate::diff;
use semdex_model::{Code, Error, Help, LostLine, Result};

/// An elision that a change adds where it removes more lines than it adds, or as many if it has dots: its line in the
/// new text, from 1, and the refusal.
///
/// The elision itself does not count as an added line. "Where" is, from narrow to wide: the changed lines around it,
/// these with the changes next to them, and all changes of the file.
pub fn added_elision(file: &str, old: &str, new: &str) -> Option<(usize, Error)> {
    let (before, after) = (lines(old), lines(new));
    let equal = |(a, b): &(&&str, &&str)| a == b;
    let start = before.iter().zip(&after).take_while(equal).count();
    let most = before.len().min(after.len()) - start;
    let end = before.iter().rev().zip(after.iter().rev()).take(most).take_while(equal).count();
    let (removed, written) = (&before[start..before.len() - end], &after[start..after.len() - end]);
    let mut suspects = suspects(after[..start].last().copied(), written.iter().copied());
    // Almost no change has one, and only then are the lines compared.
    if suspects.is_empty() {
        return None;
    }
    drop_known(&mut suspects, removed.iter().copied());
    let owned = |lines: &[&str]| lines.iter().map(|it| (*it).to_owned()).collect::<Vec<String>>();
    let changes = diff::of_lines(&owned(removed), &owned(written));
    let groups = [0, 1, written.len()].into_iter().flat_map(|gap| group_diff_ops(changes.clone(), gap));
    for group in groups {
        let changed = || group.iter().filter(|it| !matches!(it, DiffOp::Equal { .. }));
        let added: Vec<usize> = changed().flat_map(DiffOp::new_range).collect();
        let within = suspects.iter().filter(|it| added.contains(&(it.number - 1)));
        let Some(suspect) = within.max_by_key(|it| it.has_dots()) else { continue };
        let is_counted =
            |at: &&usize| !written[**at].trim().is_empty() && suspects.iter().all(|it| it.number - 1 != **at);
        let stays: Vec<&str> = added.iter().filter(is_counted).map(|&at| written[at].trim()).collect();
        let gone: Vec<usize> =
            changed().flat_map(DiffOp::old_range).filter(|&at| !removed[at].trim().is_empty()).collect();
        if gone.len() >= (stays.len() + usize::from(!suspect.has_dots())).max(1) {
            let lost = gone.into_iter().filter(|&at| !stays.contains(&removed[at].trim()));
            let lost = lost.map(|at| LostLine { line: start + at + 1, text: removed[at].to_owned() }).collect();
            let help = Help { file: Some(file.to_owned()), lost, ..Help::default() };
            let suspect = Suspect { number: start + suspect.number, ..*suspect };
            return Some((suspect.number, suspect.as_added(file, help.lost.len()).with_help(help)));
        }
    }
    None
}

/// The lines of a text. A carriage return ends a line if the text has no other line ends.
fn lines(text: &str) -> Vec<&str> {
    let sign = if text.contains('\n') { '\n' } else { '\r' };
    text.split_terminator(sign).map(|it| it.trim_end_matches('\r')).collect()
}

/// Refuses a search text with an elision that no place is equal to: an elision may be left out of a similar place, or be
/// the only line that makes it similar.
pub(super) fn refuse_in_similar(context: &str) -> Result<()> {
    suspects(None, context.lines()).first().map_or(Ok(()), |it| Err(it.in_search()))
}

/// Leaves out those that a text has as well, as often as it has them.
fn drop_known<'a>(suspects: &mut Vec<Suspect>, lines: impl Iterator<Item = &'a str>) {
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    lines.for_each(|line| *known.entry(line.trim()).or_default() += 1);
    suspects.retain(|it| match known.get_mut(it.line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
}

/// A line that is an elision: its number in the text, from 1.
struct Suspect<'a> {
    number: usize,
    line: &'a str,
    marker: Marker,
}

/// The elisions of some lines, the first of which follows a line.
fn suspects<'a>(mut before: Option<&'a str>, lines: impl Iterator<Item = &'a str>) -> Vec<Suspect<'a>> {
    let suspect = |(at, line): (usize, &'a str)| {
        let line = line.trim();
        let after = if line.is_empty() { None } else { before.replace(line) };
        let marker = marker(line).filter(|_| !(line == "..." && after.is_some_and(is_python_header)))?;
        Some(Suspect { number: at + 1, line, marker })
    };
    lines.enumerate().filter_map(suspect).collect()
}

/// Whether Python's `...` may be the body after this line: the last line of a function's or class's head, or of its
/// docstring.
fn is_python_header(line: &str) -> bool {
    let line = line.trim();
    let head = ["def ", "async def ", "class ", ")"].iter().any(|it| line.starts_with(it)) && line.ends_with(':');
    head || line.ends_with("\"\"\"") || line.ends_with("'''")
}

impl Suspect<'_> {
    /// An elision with dots is one even if nothing else is lost.
    fn has_dots(&self) -> bool {
        self.line.contains("..") || self.line.contains('…') || self.marker == Marker::Collapsed
    }

    fn in_search(&self) -> Error {
        let Suspect { number, line, .. } = self;
        let detail = match self.marker {
            Marker::Elision => format!(
                "line {number} of `search_context` is an elision (`{line}`), and no place is equal to the search \
                 text. Elisions are not filled in: write the lines out in full, or send several smaller edits"
            ),
            Marker::Collapsed => format!(
                "line {number} of `search_context` is a collapsed body of a skeleton (`{line}`), not the file's text: \
                 read the symbol in full, or edit it as `{{symbol, at: body}}`"
            ),
        };
        Error::new(Code::InvalidRequest, detail)
    }

    fn as_added(&self, file: &str, lost: usize) -> Error {
        let Suspect { number, line, marker } = self;
        let what = match marker {
            Marker::Elision => "announces omitted code",
            Marker::Collapsed => "is a collapsed body of a skeleton",
        };
        let lost = if lost == 1 { "1 line".to_owned() } else { format!("{lost} lines") };
        let detail = format!(
            "nothing was written: line {number} of the new `{file}` (`{line}`) {what}, and the change would remove {lost} \
             of the file there (`lost`). Elisions are not filled in: write the lines out in full, or send several \
             smaller edits of the places that change. `elisions: \"keep\"` writes the line as it is"
        );
        Error::new(Code::Elided, detail)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Elision,
    /// `{ /* 12 lines */ }`, as a skeleton prints it.
    Collapsed,
}

fn marker(line: &str) -> Option<Marker> {
    /// Longer lines are code or prose.
    const LONGEST: usize = 400;
    let line = line.trim();
    if line.len() > LONGEST {
        return None;
    }
    if block_comments(line).any(is_collapsed) {
        return Some(Marker::Collapsed);
    }
    let elided = match comment(line) {
        Some(said) => announces(said, Stands::Alone),
        None => {
            let beside = [" //", " #"].iter().filter_map(|open| Some(line.rsplit_once(open)?.1));
            // Between braces: `fn f() { ... }`, `{ // existing code }`.
            let braced = line.split_once('{').and_then(|it| it.1.trim_end_matches([';', ',']).strip_suffix('}'));
            let is_elided = |inner: &str| match comment(inner.trim()) {
                Some(said) => announces(said, Stands::Alone),
                None => inner.chars().all(|it| is_decoration(it) || is_dot(it)) && announces(inner, Stands::Bare),
            };
            announces(line, Stands::Bare)
                || beside.chain(block_comments(line)).any(|it| announces(it, Stands::Beside))
                || braced.is_some_and(is_elided)
        }
    };
    elided.then_some(Marker::Elision)
}

/// Brackets and lines around the text of an elision.
fn is_decoration(character: char) -> bool {
    character.is_whitespace() || "()[]{}<>-=*~#/_:`'\"".contains(character)
}

fn is_dot(character: char) -> bool {
    matches!(character, '.' | '…')
}

/// The text of a line that is only a comment.
fn comment(line: &str) -> Option<&str> {
    const CLOSED: &str = "/* */ <!-- --> {/* */} (* *) {{!-- --}} {# #} <%-- --%>";
    const OPEN: &str = "// # -- ; % *";
    let marks: Vec<&str> = CLOSED.split(' ').collect();
    let closed = marks.chunks(2).find_map(|it| line.strip_prefix(it[0])?.strip_suffix(it[1]));
    let said = closed.or_else(|| OPEN.split(' ').find_map(|open| line.strip_prefix(open)))?;
    Some(said.trim_start_matches(['/', '!', '#', '-', ';', '%', '*']))
}

fn block_comments(line: &str) -> impl Iterator<Item = &str> {
    line.split("/*").skip(1).filter_map(|rest| Some(rest.split_once("*/")?.0))
}

/// `12 lines`, `14 tests, 320 lines`.
fn is_collapsed(said: &str) -> bool {
    said.trim().split(", ").all(|part| {
        let (number, what) = part.split_once(' ').unwrap_or((part, ""));
        number.parse::<usize>().is_ok() && matches!(what, "line" | "lines" | "test" | "tests")
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// A comment on a line of its own.
    Alone,
    /// A comment on a line with code, which may be about this code.
    Beside,
    /// No comment.
    Bare,
}

/// Whether a text replaces omitted code. A comment that only mentions existing code, and prose with dots at its end,
/// does not.
fn announces(said: &str, stands: Stands) -> bool {
    let said = said.trim();
    // `--snip--`, `<snip>`.
    let snip = said.trim_matches(|it: char| is_decoration(it) || it == '8' || it == '.');
    if snip.len() < said.len() && ["snip", "snipped"].contains(&&*snip.to_lowercase()) {
        return true;
    }
    let bracketed = said.starts_with(['(', '[', '<', '{']) && said.ends_with([')', ']', '>', '}']);
    let core = said.trim_matches(is_decoration);
    let starts = core.starts_with("..") || core.starts_with('…');
    let ends = core.ends_with("..") || core.ends_with('…');
    let detached = starts && core.trim_start_matches(is_dot).starts_with(char::is_whitespace)
        || ends && core.trim_end_matches(is_dot).ends_with(char::is_whitespace);
    let words = core.trim_matches(|it| is_dot(it) || is_decoration(it));
    if words.is_empty() {
        return starts && (stands != Stands::Bare || core == "…" || core.starts_with("..."));
    }
    let omission = Omission::of(words);
    let Omission { count, signs, strong, begins, .. } = omission;
    match stands {
        // `// ...and so on` continues a sentence; `// ... rest` is an elision.
        Stands::Alone if starts => ends || detached || begins,
        Stands::Alone => {
            ends && begins && count <= (if detached { 5 } else { 2 }) || omission.is_said(ends || bracketed)
        }
        Stands::Beside => {
            starts && (ends || begins || detached && signs > 0)
                || count > 1 && strong && omission.is_said(ends || bracketed)
        }
        Stands::Bare => {
            let is_prose = words.chars().all(|it| it.is_alphanumeric() || it.is_whitespace() || "'’-,".contains(it));
            let by_words = begins || omission.is_said(bracketed);
            let dotted = starts && detached && (ends || by_words) || ends && (detached || bracketed) && by_words;
            is_prose && (dotted || bracketed && strong && count > 1 && omission.is_said(true))
        }
    }
}

/// How much the words of a comment sound like an omission.
#[derive(Default)]
struct Omission {
    count: usize,
    /// Words that say what happens to the code that is left out.
    signs: usize,
    /// One of the signs says so with the name of what is left out.
    strong: bool,
    /// One of them says so by itself.
    alone: bool,
    /// Words that name the code that is left out.
    nouns: usize,
    /// Other words.
    others: usize,
    /// The first word, after an article, is a sign.
    begins: bool,
    /// A known phrase.
    phrase: bool,
}

/// An omission without any other word.
const ALONE: &str = "unchanged untouched unmodified omitted elided snipped truncated abbreviated etc";
/// An omission together with the name of what is left out.
const STRONG: &str = "existing rest remaining remainder brevity continues";
/// An omission if there are two of them.
const WEAK: &str = "other others same previous original more here before else stays remains remain keep kept leave \
                    alone";
/// What is left out.
const NOUNS: &str = "code file function method class classes implementation body bodies module logic field import \
                     handler test case line content section definition item everything property properties";
const BETWEEN: &str = "the this of is are as for goes go your all left and in above below todo be any my our \
                       to it stay with no from on continue insert";
/// Comments that are nothing else.
const WHOLE: &str = "no change|no changes|no changes here|not shown|as before|and so on|and so forth";
/// The same in other languages, some of which do not separate words.
const PHRASES: &str = "без изменений|unverändert|bleibt gleich|inchangé|sin cambios|permanece igual|inalterad|省略|不变|不變|\
                       変更なし|既存|其余|생략|변경 없음|기존 코드|나머지";

impl Omission {
    fn of(words: &str) -> Omission {
        const LONGEST_PHRASE: usize = 60;
        let lower = words.to_lowercase();
        let is_short = lower.chars().count() <= LONGEST_PHRASE;
        let mut it = Omission {
            phrase: WHOLE.split('|').any(|it| it == lower)
                || is_short && PHRASES.split('|').any(|it| lower.contains(it)),
            ..Omission::default()
        };
        for word in lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let has = |list: &str, word: &str| list.split(' ').any(|it| it == word);
            let is_in = |list: &str| has(list, word);
            it.count += 1;
            if is_in(ALONE) || is_in(STRONG) || is_in(WEAK) {
                it.begins |= it.signs + it.nouns + it.others == 0;
                it.signs += 1;
                it.strong |= !is_in(WEAK);
                it.alone |= is_in(ALONE);
            } else if is_in(NOUNS) || word.strip_suffix('s').is_some_and(|it| has(NOUNS, it)) {
                it.nouns += 1;
            } else if !is_in(BETWEEN) {
                it.others += 1;
            }
        }
        it.phrase |= it.others == 0 && lower.ends_with("as before");
        it
    }

    /// `existing code`, `other methods unchanged`: says that something is left out, and says nothing else. `marked`:
    /// dots or brackets say so too.
    fn is_said(&self, marked: bool) -> bool {
        /// More words are a sentence about something.
        const MOST: usize = 10;
        let signs = self.signs + usize::from(marked && self.strong);
        let says = signs > 1 || signs == 1 && self.strong && (self.nouns > 0 || self.alone && self.count == 1);
        self.phrase || says && self.count <= MOST && self.others < signs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replaces the second of two functions by a line.
    fn refused(line: &str) -> bool {
        let old = "impl Shop {\n    fn open(&self) {\n        on();\n    }\n    fn sell(&self) {\n        count();\n        pay();\n    }\n}\n";
        let new = format!("impl Shop {{\n    fn open(&self) {{\n        on(1);\n    }}\n    {line}\n}}\n");
        added_elision("a.rs", old, &new).is_some()
    }

    const ELIDED: &[&str] = &[
        "...",
        "    // ...",
        "# ...",
        "// … existing code …",
        "// ... rest of the function",
        "/* ... */",
        "// existing code",
        "// (unchanged)",
        "fn f() { ... }",
        "<!-- ... -->",
        "// ... imports ...",
        "const TABLE: [u8; 256] = [1, 2, /* … */];",
        "[...]",
        "// [...]",
        "// ......",
        "// --snip--",
        "--snip--",
        "// … rest …",
        "// ... (unchanged)",
        "// (rest of the code)",
        "// other fields ...",
        "// .. existing code ..",
        "// The rest of the method stays the same.",
        "// remaining implementation omitted for brevity",
        "fn f() { // ...",
        "{/* ... */}",
        "// (unchanged fields...)",
        "(rest of methods ...)",
        "// other methods unchanged",
        "[... rest of the code ...]",
        "... existing code ...",
        "// ... остальной код без изменений",
        "// остальной код без изменений",
        "// 以下省略",
        "# --- rest of the file unchanged ---",
        "-- ...",
        "; ...",
        "% ... rest of the document ...",
        "{# ... #}",
        "(* ... *)",
        "// [existing implementation]",
        "// all other widgets remain unchanged",
        "// Rest of handlers remains the same",
        "// same as before",
        "// unchanged",
        "// Keep existing code",
        "// your existing code here",
        "// more methods here",
        "// ... and 12 more methods",
        "/* rest of implementation */",
        "pass  # existing code",
        "pass  # ... existing code ...",
        "// ...rest of the code...",
        "// ===== existing code =====",
        "/// ...",
        "* ...",
        "// etc.",
        "// everything else stays the same",
        "[existing code]",
        "<rest of file unchanged>",
        "... (unchanged)",
        "... rest of file ...",
        "// (...)",
        "// <existing code>",
        "{/* existing code */}",
        "<!-- existing code -->",
        "# rest of file",
        "# (unchanged)",
        "// no changes here",
        "// not shown",
        "// code omitted",
        "// [code omitted for brevity]",
        "// body unchanged",
        "// previous code here",
        "// original implementation here",
        "// insert existing code here",
        "// continue with existing code",
        "// (implementation as before)",
        "// the rest stays the same",
        "// the rest is unchanged",
        "// Rest of the implementation...",
        "// and so on",
        "// and so forth",
        "// keep the rest as is",
        "// leave the others alone",
        "// code continues...",
        "// ... more ...",
        "// Rest bleibt gleich",
        "// le reste du code reste inchangé",
        "// el resto del código permanece igual",
        "// その他のコードは変更なし",
        "// 其余代码保持不变",
        "// 나머지 코드는 동일",
        "// … Rest bleibt unverändert …",
        "//...",
        "#...",
        "…",
    ];

    const KEPT: &[&str] = &[
        "args...",
        "f(args...)",
        "// ...and so on",
        "// Keep existing code paths warm.",
        "match x { .. }",
        "// see above...",
        "let r = 0..=9; // the range",
        "// rest",
        "// same as above",
        "// The existing code is slow.",
        "// more on this in the manual...",
        "// Waiting for the server to come up...",
        "// Loading the remaining rows ...",
        "// More details below...",
        "More details below...",
        "..",
        "self.rest of code",
        "#[derive(Debug)]",
        "{ ...spread }",
        "...rest,",
        "...args",
        "[...items]",
        "(a, ...rest)",
        "(const char *format, ...)",
        "(Args ...)",
        "let [first, ..] = all;",
        "x = a[..., 0]",
        "for i in 0..n {",
        "print(\"loading...\")",
        "return value; // unchanged",
        "int printf(const char *format, ...);",
        "// leaves the input unchanged",
        "// returns the rest of the arguments as a list",
        "# the same order as in the file",
        "---",
        "-----",
        "#",
        "//",
        "/**",
        "*/",
        "## Other methods of payment",
    ];

    #[test]
    fn elisions_are_distinguished_from_prose_and_code() {
        let wrong: Vec<&str> = ELIDED.iter().copied().filter(|it| marker(it) != Some(Marker::Elision)).collect();
        assert!(wrong.is_empty(), "not seen: {wrong:#?}");
        let wrong: Vec<&str> = KEPT.iter().copied().filter(|it| marker(it).is_some()).collect();
        assert!(wrong.is_empty(), "taken for an elision: {wrong:#?}");
        for line in ["pub fn f() { /* 12 lines */ }", "mod tests { /* 14 tests, 320 lines */ }"] {
            assert_eq!(marker(line), Some(Marker::Collapsed), "{line}");
            assert!(refused(line), "{line}");
        }
        assert!(ELIDED.iter().all(|it| refused(it)));
        assert!(!KEPT.iter().any(|it| refused(it)));
    }

    #[test]
    fn a_search_text_with_an_elision_matches_nothing() {
        for line in ELIDED {
            let error = refuse_in_similar(&format!("a\n{line}\nb")).unwrap_err();
            assert_eq!(error.code, Code::InvalidRequest);
            assert!(error.detail.contains("line 2"), "{}", error.detail);
        }
    }

    #[test]
    fn only_a_change_that_loses_lines_is_refused() {
        let check = |old: &str, new: &str| added_elision("a", old, new).map_or(Ok(()), |it| Err(it.1));
        check("a\nb\n", "a\n// ...\nb\n").unwrap();
        check("a\n// ...\nb\nc\nd\n", "a\n// ...\nd\n").unwrap();
        check("", "// ...\n").unwrap();
        check("a\nb\nc\n", "a\nx\ny\n// ...\nc\n").unwrap();
        check("a\n// ...\nb\nc\nd\ne\n", "a\nb\nc\nd\n// ...\ne\n").unwrap();
        let error = check("a\nb\nc\nd\n", "a\n// ...\nd\n").unwrap_err();
        assert_eq!(error.code, Code::Elided);
        assert!(error.detail.contains("line 2 of the new `a`"), "{}", error.detail);
        let lost = |line, text: &str| LostLine { line, text: text.to_owned() };
        assert_eq!(error.help.lost, [lost(2, "b"), lost(3, "c")]);
        check("a\nb\nc\n", "a\n// ...\nc\n").unwrap_err();
        check("a\nb\nc\n", "A\n// ...\nc\n").unwrap_err();
        check("a\nb\nc\n", "a\nx\n// ...\nc\n").unwrap_err();
        check("a\nb\nc\n", "a\nx\n// existing code\nc\n").unwrap();
        check("a\nb\nc\n", "a\n// existing code\nc\n").unwrap_err();
        check("a\rb\rc\rd\r", "a\r// ...\rd\r").unwrap_err();
        check("a\r\nb\r\nc\r\nd\r\n", "a\r\n// ...\r\nd\r\n").unwrap_err();
        // The lines that are removed and the elision are in different changes.
        let old = "f {\n  x();\n  return y;\n}\ng {\n  z();\n  w();\n  return y;\n}\n";
        check(old, "f {\n  x(1);\n  return y;\n}\n// ... rest ...\n").unwrap_err();
        // An elision that the file has elsewhere is added once more.
        check("// ...\na\nb\nc\n", "// ...\na\n// ...\n").unwrap_err();
    }

    #[test]
    fn a_body_of_dots_is_python() {
        let old = "class A:\n    def f(self):\n        a()\n        b()\n        c()\n";
        let check = |new: &str| added_elision("a.py", old, new).map_or(Ok(()), |it| Err(it.1));
        check("class A:\n    def f(self):\n        ...\n").unwrap();
        check("class A:\n    def f(\n        self,\n    ) -> int:\n        ...\n").unwrap();
        check("class A:\n    def f(self):\n        \"\"\"Does.\"\"\"\n        ...\n").unwrap();
        check("class A:\n    def f(self):\n        a()\n        ...\n").unwrap_err();
    }
}
