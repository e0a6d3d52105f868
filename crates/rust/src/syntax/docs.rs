//! Doc comments as text: markers and the indentation after them are removed, as in rustdoc.

use ra_ap_syntax::ast;

/// One doc comment or `#[doc = "…"]`.
pub(crate) struct DocFragment {
    text: String,
    /// Written as a comment, in which a blank usually follows the marker.
    comment: bool,
}

impl DocFragment {
    pub(crate) fn comment(comment: &ast::Comment) -> Option<DocFragment> {
        let (text, _) = comment.doc_comment()?;
        let text = if comment.kind().shape.is_block() { without_stars(text) } else { text.to_owned() };
        Some(DocFragment { text, comment: true })
    }

    pub(crate) fn attribute(text: String) -> DocFragment {
        DocFragment { text, comment: false }
    }
}

/// `None` if there is no text.
pub(crate) fn render(fragments: &[DocFragment]) -> Option<String> {
    // Attributes next to comments are taken to have no leading blank, unlike the comments.
    let any_comment = fragments.iter().any(|fragment| fragment.comment);
    let blank = |fragment: &DocFragment| usize::from(any_comment && !fragment.comment);
    let common = fragments
        .iter()
        .flat_map(|fragment| {
            let blank = blank(fragment);
            fragment.text.lines().filter(|line| !line.trim().is_empty()).map(move |line| indentation(line) + blank)
        })
        .min()?;
    let mut lines = Vec::new();
    for fragment in fragments {
        let cut = common.saturating_sub(blank(fragment));
        if fragment.text.is_empty() {
            lines.push("");
        }
        lines.extend(fragment.text.lines().map(|line| match line.trim() {
            "" => "",
            _ => line.get(cut..).unwrap_or(line),
        }));
    }
    let said = |line: &&str| !line.trim().is_empty();
    let first = lines.iter().position(&said)?;
    let last = lines.iter().rposition(said)?;
    // Trailing blanks of an inner line are Markdown's line break.
    Some(lines[first..=last].join("\n").trim_end().to_owned())
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// A block comment's text without a column of stars before its lines.
fn without_stars(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.len() < 2 {
        return text.to_owned();
    }
    let starred = |line: &str| line.trim_start().starts_with('*');
    // The first line follows the opening marker, and the last line may contain only the closing one.
    let inside =
        if lines.last().is_some_and(|line| line.trim().is_empty()) { 1..lines.len() - 1 } else { 1..lines.len() };
    if !inside.is_empty() && lines[inside.clone()].iter().all(|line| starred(line)) {
        for line in &mut lines[inside] {
            let trimmed = line.trim_start();
            *line = trimmed.strip_prefix('*').unwrap_or(trimmed);
        }
    }
    lines.join("\n")
}
