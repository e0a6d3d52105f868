//! Output: answers on standard output, problems on standard error, with colours on a terminal. A closed output (`semdex
//! usages x | head -1`) is not an error.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Stderr, Stdout, Write};

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use serde_json::Value;

use super::complaint::refusal;
use semdex_text::visible;

/// When to print in colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb.
    #[default]
    Auto,
    /// Also into files and pipes.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Whether an output gets colours, by the environment.
    pub(crate) fn is_wanted(self, is_terminal: bool) -> bool {
        self.is_on(is_terminal, |it| std::env::var(it).ok())
    }

    fn is_on(self, terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let no_color = variable("NO_COLOR").is_some_and(|it| !it.is_empty());
                terminal && !no_color && variable("TERM").is_none_or(|it| it != "dumb")
            }
        }
    }
}

/// An output whose reader may close it without an error.
pub struct Quiet<W>(W);

/// Standard output; its reader may close it early without an error.
pub fn output() -> Quiet<Stdout> {
    Quiet(io::stdout())
}

/// Standard error; its reader may close it early without an error.
pub fn errors() -> Quiet<Stderr> {
    Quiet(io::stderr())
}

impl<W: Write> Write for Quiet<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        unless_gone(self.0.write(text), text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unless_gone(self.0.flush(), ())
    }
}

fn unless_gone<T>(written: io::Result<T>, all: T) -> io::Result<T> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(all),
        other => other,
    }
}

pub(crate) fn answer(text: &str, json: bool, color: Color) -> io::Result<()> {
    lines(output(), text, io::stdout().is_terminal(), json, color)
}

pub(crate) fn problem(text: &str, json: bool, color: Color) -> io::Result<()> {
    let is_terminal = io::stderr().is_terminal();
    match json {
        true => lines(errors(), text, is_terminal, true, color),
        // Its first line has a colour of its own.
        false => {
            let text = if is_terminal { visible::lines(text) } else { Cow::Borrowed(text) };
            writeln!(errors(), "{}", refusal(&text, color.is_wanted(is_terminal)))
        }
    }
}

/// A problem in JSON as Markdown.
pub(crate) fn in_words(problem: &str) -> String {
    let problem: Value = serde_json::from_str(problem).unwrap_or_default();
    let of = |name: &str| problem[name].as_str().unwrap_or_default();
    format!("# {}\n\n{}", of("code"), of("detail"))
}

fn lines(mut output: impl Write, text: &str, terminal: bool, json: bool, color: Color) -> io::Result<()> {
    let text = text.trim_end();
    let painted = !json && color.is_wanted(terminal);
    // Code and messages must not control the terminal.
    let text = match (terminal || painted, json) {
        (false, _) => Cow::Borrowed(text),
        (true, false) => visible::lines(text),
        (true, true) => visible::json(text),
    };
    let text = if painted { markdown(&text) } else { text.into_owned() };
    output.write_all((text + "\n").as_bytes())?;
    output.flush()
}

const HEADING: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const CODE: Style = AnsiColor::Cyan.on_default();
const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const WARNING: Style = AnsiColor::Yellow.on_default();

/// Markdown with colours; the text is unchanged.
fn markdown(text: &str) -> String {
    let mut painted = String::with_capacity(text.len() * 5 / 4);
    // The characters of the fence, and the language after it.
    let mut fence: Option<(&str, &str)> = None;
    for line in text.lines() {
        let style = match (opened(line), fence) {
            (_, Some((end, _))) if line == end => {
                fence = None;
                Some(DIM)
            }
            (_, Some((_, "diff"))) => diff(line),
            (_, Some(_)) => None,
            (Some(begun), None) => {
                fence = Some(begun);
                Some(DIM)
            }
            (None, None) if line.starts_with('#') => Some(HEADING),
            (None, None) if line == "---" => Some(DIM),
            (None, None) if line.starts_with("- missing `") => Some(WARNING),
            (None, None) => {
                inline(&mut painted, line);
                painted.push('\n');
                continue;
            }
        };
        match (style, numbered(line).filter(|_| fence.is_some())) {
            (Some(style), _) => painted.push_str(&format!("{style}{line}{style:#}")),
            (None, Some((number, rest))) => painted.push_str(&format!("{DIM}{number}{DIM:#}{rest}")),
            (None, None) => painted.push_str(line),
        }
        painted.push('\n');
    }
    painted.trim_end_matches('\n').to_owned()
}

/// The fence that begins on a line, and the rest of the line. A shorter fence inside a longer one is text.
fn opened(line: &str) -> Option<(&str, &str)> {
    let length = line.len() - line.trim_start_matches(['`', '~']).len();
    (length >= 3).then(|| line.split_at(length))
}

fn diff(line: &str) -> Option<Style> {
    match line.as_bytes().first() {
        Some(b'+') => Some(ADDED),
        Some(b'-') => Some(REMOVED),
        Some(b'@') => Some(CODE),
        _ => None,
    }
}

/// A numbered line of code: `  12| fn f() {}`.
fn numbered(line: &str) -> Option<(&str, &str)> {
    let (number, _) = line.split_once('|')?;
    let is_number = !number.trim().is_empty() && number.trim().bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| line.split_at(number.len() + 1))
}

/// Colours the text between backticks.
fn inline(painted: &mut String, line: &str) {
    let mut parts = line.split('`').peekable();
    let mut is_code = false;
    while let Some(part) = parts.next() {
        match (is_code, parts.peek()) {
            // A backtick without an end is only a character.
            (true, None) => painted.extend(["`", part]),
            (true, Some(_)) => painted.push_str(&format!("{CODE}`{part}`{CODE:#}")),
            (false, _) => painted.push_str(part),
        }
        is_code = !is_code;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_colours(text: &str) -> String {
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            plain.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        plain + rest
    }

    #[test]
    fn colours_change_nothing_but_the_look() {
        let text = "# Title\n\nsome `code` and `more\n````rust\n  1| fn f() {}\n```\nplain | or\n````\n```diff\n+a\n-b\n c\n```\n\n---\n\
                    `w` at revision 1\n- missing `indexing`: wait";
        let painted = markdown(text);
        assert_eq!(without_colours(&painted), text);
        for part in [
            format!("{HEADING}# Title{HEADING:#}"),
            format!("{CODE}`code`{CODE:#}"),
            format!("{DIM}  1|{DIM:#} fn"),
            format!("{ADDED}+a{ADDED:#}"),
            format!("{REMOVED}-b{REMOVED:#}"),
        ] {
            assert!(painted.contains(&part), "{part:?} in {painted:?}");
        }
    }

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        let on = |color: Color, terminal, variables: &[(&str, &str)]| {
            color.is_on(terminal, |name| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned()))
        };
        assert!(on(Color::Auto, true, &[("TERM", "xterm"), ("NO_COLOR", "")]));
        assert!(!on(Color::Auto, false, &[]));
        assert!(!on(Color::Auto, true, &[("NO_COLOR", "1")]));
        assert!(!on(Color::Auto, true, &[("TERM", "dumb")]));
        assert!(on(Color::Always, false, &[("NO_COLOR", "1")]));
        assert!(!on(Color::Never, true, &[]));
    }
}
