//! What went wrong, as a person reads it: one line with the problem, and one below it with the reason or what to do.
//!
//! ```text
//! error[unknown_symbol]: there is no symbol `Sercher`
//!   `semdex symbols PART` finds names by their parts
//! ```

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use clap::error::ErrorKind;

use super::output::{Color, errors};
use semdex_text::visible;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Phrases of the server's problems that name calls, and the commands in their place.
const COMMANDS: &[(&str, &str)] = &[
    (
        "`symbols` with `query` finds names by their parts, `map` by their words",
        "`semdex symbols PART` finds names by their parts, `semdex map --query WORDS` by their words",
    ),
    ("`changes` lists", "`semdex changes` lists"),
    ("(`delete_overlay`)", "(`semdex overlay delete`)"),
    ("`open_workspace` opens", "`semdex workspaces open` opens"),
];

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The command failed.
    Error,
    /// It goes on.
    Warning,
}

/// Prints a message on standard error.
pub fn complain(severity: Severity, message: &str, color: Color) {
    let is_painted = color.is_wanted(io::stderr().is_terminal());
    // If even this cannot be printed, nobody reads it.
    let _ = writeln!(errors(), "{}", written(severity, None, &visible::lines(message), is_painted));
}

/// Prints what clap reports: the help, or what is wrong with the arguments.
pub fn usage(error: &clap::Error) {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if is_help {
        let _ = error.print();
    } else {
        complain(Severity::Error, &in_two_parts(&error.render().to_string()), Color::Auto);
    }
}

/// A refusal of the server in Markdown (`# code`, the detail, what helps, `---`, the state of the workspace) for a
/// person. The state is of use only where something is missing.
pub(crate) fn refusal(markdown: &str, is_painted: bool) -> String {
    let Some((code, rest)) = markdown.strip_prefix("# ").and_then(|it| it.split_once("\n\n")) else {
        return markdown.to_owned();
    };
    let (body, state) = rest.rsplit_once("\n---\n").unwrap_or((rest, ""));
    let (detail, helps) = body.split_once("\n\n").unwrap_or((body, ""));
    let detail =
        COMMANDS.iter().fold(detail.trim_end().to_owned(), |text, (call, command)| text.replace(call, command));
    let mut text = written(Severity::Error, Some(code), &detail, is_painted);
    let missing = state.lines().filter(|it| it.starts_with("- missing ")).collect::<Vec<_>>().join("\n");
    for part in [helps.trim(), &missing].into_iter().filter(|it| !it.is_empty()) {
        text.push_str("\n\n");
        text.push_str(part);
    }
    text
}

fn written(severity: Severity, code: Option<&str>, message: &str, is_painted: bool) -> String {
    let (word, style) = match severity {
        Severity::Error => ("error", ERROR),
        Severity::Warning => ("warning", WARNING),
    };
    let code = code.map(|it| format!("[{it}]")).unwrap_or_default();
    let head = if is_painted { format!("{style}{word}{code}{style:#}") } else { format!("{word}{code}") };
    match split(message) {
        (problem, Some(rest)) => format!("{head}: {problem}\n  {}", rest.replace('\n', "\n  ")),
        (problem, None) => format!("{head}: {problem}"),
    }
}

/// The problem, and what the message says after its first colon or semicolon. Code between backticks and what is in
/// parentheses or brackets is not divided. Neither is what has no sentence before the colon: a path, the name of a key.
fn split(message: &str) -> (&str, Option<&str>) {
    let mut is_code = false;
    let mut depth = 0_usize;
    let mut has_words = false;
    for (at, char) in message.char_indices() {
        match char {
            '`' => is_code = !is_code,
            ' ' => has_words = true,
            '(' | '[' if !is_code => depth += 1,
            ')' | ']' if !is_code => depth = depth.saturating_sub(1),
            // A remark in parentheses may have several lines, and may not be closed.
            '\n' if depth > 0 && message[at..].contains([')', ']']) => {}
            '\n' => return (message[..at].trim_end(), Some(message[at..].trim()).filter(|it| !it.is_empty())),
            ':' | ';' if has_words && !is_code && depth == 0 => {
                if let Some(rest) = message.get(at + 1..).and_then(|it| it.strip_prefix(' ')) {
                    return (&message[..at], Some(rest.trim()));
                }
            }
            _ => {}
        }
    }
    (message, None)
}

/// Clap's paragraphs in two: what is wrong, and its tip or else the usage.
fn in_two_parts(report: &str) -> String {
    let paragraphs: Vec<String> =
        report.trim().split("\n\n").map(|it| it.lines().map(str::trim).collect::<Vec<_>>().join(" ")).collect();
    let problem = paragraphs.first().map(|it| it.trim_start_matches("error: ")).unwrap_or_default();
    let problem = match problem.strip_prefix("the following required arguments were not provided: ") {
        Some(arguments) => &format!("missing {arguments}"),
        None => problem,
    };
    let tip = paragraphs.iter().find_map(|it| it.strip_prefix("tip: "));
    let usage = paragraphs.iter().find_map(|it| Some(format!("usage: {}", it.strip_prefix("Usage: ")?)));
    let next = tip.map(str::to_owned).or(usage).unwrap_or_else(|| "`--help` lists the arguments".to_owned());
    format!("{problem}\n{next}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_problem_is_in_one_line_and_what_to_do_in_the_next() {
        for (message, problem, rest) in [
            ("no server runs: `semdex status`", "no server runs", Some("`semdex status`")),
            ("there is no `a: b`; ask again", "there is no `a: b`", Some("ask again")),
            ("/a/b: No such file or directory", "/a/b: No such file or directory", None),
            ("`Type::new` is unknown", "`Type::new` is unknown", None),
            ("one line\nand more: of it", "one line", Some("and more: of it")),
            ("it ends in a colon:", "it ends in a colon:", None),
            (
                "it clashes (the first: `f`; see b): nothing was written",
                "it clashes (the first: `f`; see b)",
                Some("nothing was written"),
            ),
            (
                "'xml' for '--format' [possible values: markdown, json]\nhelp",
                "'xml' for '--format' [possible values: markdown, json]",
                Some("help"),
            ),
            ("a smile :( and more: text", "a smile :( and more: text", None),
        ] {
            assert_eq!(split(message), (problem, rest), "{message}");
        }
    }

    #[test]
    fn a_refusal_of_the_server_keeps_what_helps() {
        let markdown = "# unknown_symbol\n\nthere is no symbol `a`; `symbols` with `query` finds names by their parts, `map` by \
                        their words\n\n- `b`\n\n---\n`w` at revision 1, ready, complete (1.0 ms)\n- request `1`\n";
        let text = refusal(markdown, false);
        let head = "error[unknown_symbol]: there is no symbol `a`\n  `semdex symbols PART` finds names by their parts";
        assert!(text.starts_with(head) && text.ends_with("\n\n- `b`"), "{text}");
        let incomplete = markdown.replace("- request `1`", "- missing `indexing`: wait");
        assert!(refusal(&incomplete, false).ends_with("- missing `indexing`: wait"));
        assert_eq!(refusal("something else", false), "something else");
    }

    #[test]
    fn the_commands_in_place_of_calls_exist() {
        use clap::CommandFactory;
        let known = crate::Arguments::command();
        for (_, text) in COMMANDS {
            for command in text.split("`semdex ").skip(1) {
                let named = command.split([' ', '`']).next().unwrap_or_default();
                assert!(known.find_subcommand(named).is_some(), "{named}");
            }
        }
    }

    #[test]
    fn what_clap_reports_is_a_problem_and_a_tip() {
        let of = |arguments: &[&str]| {
            use clap::Parser;
            let error = crate::Arguments::try_parse_from(arguments).unwrap_err();
            written(Severity::Error, None, &in_two_parts(&error.render().to_string()), false)
        };
        assert_eq!(
            of(&["semdex", "opn", "x"]),
            "error: unrecognized subcommand 'opn'\n  a similar subcommand exists: 'open'"
        );
        let missing = of(&["semdex", "usages"]);
        assert_eq!(missing.lines().nth(1), Some("  usage: semdex usages <SYMBOL>"), "{missing}");
        assert!(of(&["semdex", "init", "clod"]).contains("invalid value 'clod' for '<AGENT>'"));
    }
}
