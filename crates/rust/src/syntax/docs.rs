//! Doc comments as the text that their author meant: markers and the indentation after them taken off, as rustdoc
//! does it.

use ra_ap_syntax::ast;

/// One doc comment or `#[doc = "…"]`.
pub(super) struct DocFragment {
    text: String,
    /// Written as a comment, so that one blank usually stands between the marker and the text.
    comment: bool,
}

impl DocFragment {
    pub(super) fn comment(comment: &ast::Comment) -> Option<DocFragment> {
        let (text, _) = comment.doc_comment()?;
        let text = if comment.kind().shape.is_block() { without_stars(text) } else { text.to_owned() };
        Some(DocFragment { text, comment: true })
    }

    pub(super) fn attribute(text: String) -> DocFragment {
        DocFragment { text, comment: false }
    }
}

/// `None` where nothing is said.
pub(super) fn render(fragments: &[DocFragment]) -> Option<String> {
    // Attributes beside comments are taken to lack the blank that the comments have.
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
    // Blanks at the end of a line inside are Markdown's line break.
    Some(lines[first..=last].join("\n").trim_end().to_owned())
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// A block comment's text without the column of stars that many put before its lines.
fn without_stars(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.len() < 2 {
        return text.to_owned();
    }
    let starred = |line: &str| line.trim_start().starts_with('*');
    // The first line stands after the opening marker, and the last may hold nothing but the closing one.
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
