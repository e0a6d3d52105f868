//! Collapses the bodies of a text's functions, so that the result still parses.

use super::Bodies;
use semdex_model::Span;
use semdex_text::lines::LineIndex;

/// The skeleton, and the original line number of each of its lines.
pub(crate) fn collapse(style: Bodies, text: &str, bodies: &mut [Span]) -> (String, Vec<usize>) {
    bodies.sort_unstable();
    let lines = LineIndex::new(text);
    let mut skeleton = Skeleton::default();
    let mut from = 0;
    for body in bodies.iter() {
        let Some((span, stand_in)) = replaced(style, text, *body).filter(|it| it.0.start >= from) else { continue };
        skeleton.take(&lines, text, Span::new(from, span.start));
        skeleton.put(lines.line(span.start), &stand_in);
        from = span.end;
    }
    skeleton.take(&lines, text, Span::new(from, text.len()));
    (skeleton.text, skeleton.lines)
}

#[derive(Default)]
struct Skeleton {
    text: String,
    lines: Vec<usize>,
}

impl Skeleton {
    fn take(&mut self, lines: &LineIndex, text: &str, span: Span) {
        let mut at = span.start;
        for piece in text.get(span.start..span.end).unwrap_or_default().split_inclusive('\n') {
            self.put(lines.line(at), piece);
            at += piece.len();
        }
    }

    fn put(&mut self, line: usize, piece: &str) {
        for part in piece.split_inclusive('\n') {
            if self.text.is_empty() || self.text.ends_with('\n') {
                self.lines.push(line);
            }
            self.text.push_str(part);
        }
    }
}

/// The replacement of a body. `None` if it would be no shorter.
fn replaced(style: Bodies, text: &str, body: Span) -> Option<(Span, String)> {
    let written = text.get(body.start..body.end)?;
    let count = written.trim_matches(['{', '}']).trim().lines().count();
    match style {
        Bodies::Braces | Bodies::Shell => {
            if !written.starts_with('{') || !written.ends_with('}') || !written.contains('\n') {
                return None;
            }
            let stand_in = match style {
                Bodies::Braces => format!("{{ /* {} */ }}", lines(count)),
                _ => format!("{{ :; }} # {}", lines(count)),
            };
            // A comment extends to the end of the line.
            let is_last = text[body.end..].lines().next().is_none_or(|it| it.trim().is_empty());
            (style == Bodies::Braces || is_last).then_some((body, stand_in))
        }
        Bodies::Python => {
            // Collapsing on the line of the signature saves nothing.
            let head = text[..body.start].rfind('\n').map_or(0, |it| it + 1);
            let indent = &text[head..body.start];
            if !indent.chars().all(char::is_whitespace) {
                return None;
            }
            let rest = after_docstring(written);
            let kept = written.len() - rest.len();
            let count = rest.trim().lines().count();
            if kept == 0 {
                return Some((body, format!("...  # {}", lines(count.max(1)))));
            }
            if count == 0 {
                return None;
            }
            let from = body.start + kept + rest.find(|it: char| !it.is_whitespace())?;
            Some((Span::new(from, body.end), format!("...  # {}", lines(count))))
        }
        Bodies::Ruby => {
            let head = text[..body.start].rfind('\n').map_or(0, |it| it + 1);
            let is_own_line = text[head..body.start].chars().all(char::is_whitespace);
            let is_last = text[body.end..].lines().next().is_none_or(|it| it.trim().is_empty());
            (is_own_line && is_last).then(|| (body, format!("# {}", lines(count))))
        }
    }
}

fn lines(count: usize) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

/// The part of a body after its docstring.
fn after_docstring(body: &str) -> &str {
    let start = body.trim_start_matches(['r', 'R', 'u', 'U']);
    for quote in ["\"\"\"", "'''"] {
        if let Some(inner) = start.strip_prefix(quote)
            && let Some(end) = inner.find(quote)
            && let rest = &inner[end + quote.len()..]
            && rest.lines().next().is_none_or(|it| it.trim().is_empty())
        {
            return rest;
        }
    }
    for quote in ['"', '\''] {
        if let Some(inner) = start.strip_prefix(quote)
            && !inner.starts_with(quote)
            && let Some(end) = inner.find(quote)
            && !inner[..end].contains(['\n', '\\'])
            && let rest = &inner[end + 1..]
            && rest.lines().next().is_none_or(|it| it.trim().is_empty())
        {
            return rest;
        }
    }
    body
}
