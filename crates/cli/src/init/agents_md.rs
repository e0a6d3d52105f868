//! The section of AGENTS.md or CLAUDE.md that says what to ask semdex, and when. Subagents read these files; the
//! instructions of the server they never see.

/// Around the section.
const BEGIN: &str = "<!-- semdex: begin -->";
const END: &str = "<!-- semdex: end -->";

/// What to ask when, one example each.
pub(crate) const SECTION: &str = "\
## Code questions: semdex

The MCP server `semdex` knows this code as its compilers do. In place of grep or reading whole files:

- who uses or calls a symbol: `usages {\"symbol\": \"Searcher::new\"}`
- its definition and docs, also of a dependency: `describe {\"symbol\": \"Searcher\"}`
- what is in a file: `open {\"file\": \"src/lib.rs\"}`
- what a change would break, before making it: `impact {\"symbol\": \"Searcher::new\", \"change\": \"signature\"}`
- make a change and see what it broke: `edit {\"file\": \"src/lib.rs\", \"search_context\": \"…\", \"replacement\": \"…\"}`
- rename everywhere: `rename {\"symbol\": \"Searcher\", \"new_name\": \"Finder\"}`
- errors without a build: `diagnostics {}`

A reply that says `complete` leaves nothing out. Use grep for words in comments and data. In another worktree give its path as `workspace`.
";

/// The text with the section: in place of an older one, else at the end.
pub(crate) fn with_section(text: &str) -> String {
    let section = format!("{BEGIN}\n{SECTION}{END}\n");
    match place(text) {
        Some((from, to)) => format!("{}{section}{}", &text[..from], &text[to..]),
        None if text.is_empty() => section,
        None => format!("{}\n\n{section}", text.trim_end_matches('\n')),
    }
}

/// The text without the section.
pub(crate) fn without_section(text: &str) -> String {
    match place(text) {
        Some((0, to)) => text[to..].trim_start_matches('\n').to_owned(),
        Some((from, to)) => format!("{}\n{}", text[..from].trim_end_matches('\n'), &text[to..]),
        None => text.to_owned(),
    }
}

fn place(text: &str) -> Option<(usize, usize)> {
    let from = text.find(BEGIN)?;
    let to = from + text.get(from..)?.find(END)? + END.len();
    Some((from, to + usize::from(text.get(to..).is_some_and(|it| it.starts_with('\n')))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_is_short() {
        let length = with_section("").chars().count();
        assert!(length <= 900, "{length} characters");
    }

    #[test]
    fn the_section_is_added_once_and_taken_back() {
        for text in ["", "# Mine\n\nText.\n"] {
            let with = with_section(text);
            assert!(with.starts_with(text) && with.ends_with("-->\n"), "{with}");
            assert_eq!(with_section(&with), with);
            assert_eq!(without_section(&with), text);
        }
        let between = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        assert_eq!(without_section(&between), "a\nb\n");
        assert!(with_section(&between).starts_with("a\n<!--") && with_section(&between).ends_with("-->\nb\n"));
        assert_eq!(without_section("a\n"), "a\n");
    }
}
