//! The sections of a text: whole declarations, heads of large declarations, and paragraphs of everything else. A search
//! by words ranks sections, and a reply shows them.

use semdex_model::{Outline, OutlineItem, Span, SymbolKind};

/// A declaration with more lines is divided at blank lines.
const MOST_LINES: usize = 90;
/// A paragraph of text outside of declarations, and a part of a long declaration, has about so many lines at most.
const PARAGRAPH: usize = 40;
/// A declaration with members is one section if it has at most so many lines.
const SMALL: usize = 16;
/// A function with functions in it is divided if it has more lines.
const LARGE_FUNCTION: usize = 60;
/// More sections of one text are not counted: the last one has the rest.
const MOST_SECTIONS: usize = u16::MAX as usize;

/// A part of a text, of whole lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// Where its first line begins.
    pub start: u32,
    /// Where its last line ends, with the line break.
    pub end: u32,
    /// The name of the innermost declaration around it, by where the name begins.
    pub owner: Option<u32>,
    /// Whether the declaration of `owner` begins here. The sections of a long declaration after the first have only the
    /// owner.
    pub is_first: bool,
}

impl Section {
    /// The part of the text.
    pub fn span(&self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

/// The sections of a text in their order. They do not overlap; between them there are only blank lines and brackets.
pub fn sections(text: &str, outline: &Outline) -> Vec<Section> {
    let mut divider = Divider { text, sections: Vec::new() };
    divider.region(Span::new(0, text.len()), &outline.items, None);
    let mut sections = divider.sections;
    if sections.len() > MOST_SECTIONS {
        sections.truncate(MOST_SECTIONS);
        if let Some(last) = sections.last_mut() {
            last.end = text.len() as u32;
        }
    }
    sections
}

struct Divider<'t> {
    text: &'t str,
    sections: Vec<Section>,
}

impl Divider<'_> {
    /// A part of the text that has these declarations.
    fn region(&mut self, span: Span, items: &[OutlineItem], owner: Option<u32>) {
        let mut at = span.start;
        for item in items.iter().filter(|it| is_section(it)) {
            let start = self.line_start(item.span.start).clamp(at, span.end.max(at));
            let end = self.line_end(item.span.end).clamp(start, span.end.max(start));
            // Of several declarations on one line, the first has the line.
            if end <= at {
                continue;
            }
            self.paragraphs(Span::new(at, start), owner, false);
            self.item(Span::new(start, end), item);
            at = end;
        }
        if at < span.end {
            self.paragraphs(Span::new(at, span.end), owner, false);
        }
    }

    fn item(&mut self, span: Span, item: &OutlineItem) {
        let owner = Some(item.name_span.start as u32);
        let lines = self.lines(span);
        let first = item.children.iter().find(|it| is_section(it) && it.span.start > item.span.start);
        let is_function = matches!(item.kind, SymbolKind::Function | SymbolKind::Method);
        let is_divided = lines > if is_function { LARGE_FUNCTION } else { SMALL };
        match first.filter(|_| is_divided) {
            Some(first) => {
                let head = self.line_start(first.span.start).clamp(span.start, span.end);
                self.paragraphs(Span::new(span.start, head), owner, true);
                self.region(Span::new(head, span.end), &item.children, owner);
            }
            None if lines > MOST_LINES => self.paragraphs(span, owner, true),
            None => self.push(span, owner, true),
        }
    }

    /// Divides a part of the text at blank lines.
    fn paragraphs(&mut self, span: Span, owner: Option<u32>, mut is_first: bool) {
        let (mut start, mut at, mut lines) = (span.start, span.start, 0);
        let mut breakable: Option<usize> = None;
        for line in self.text[span.start..span.end].split_inclusive('\n') {
            if line.trim().is_empty() && lines > 0 {
                breakable = Some(at);
            }
            // A line without a blank line before it begins a section only in a very long paragraph.
            let end = breakable.or((lines >= 2 * PARAGRAPH).then_some(at));
            if let Some(end) = end.filter(|_| lines >= PARAGRAPH) {
                self.push(Span::new(start, end), owner, is_first);
                is_first = false;
                lines = self.text[end..at].matches('\n').count();
                (start, breakable) = (end, None);
            }
            at += line.len();
            lines += 1;
        }
        self.push(Span::new(start, span.end), owner, is_first);
    }

    fn push(&mut self, span: Span, owner: Option<u32>, is_first: bool) {
        let text = &self.text[span.start..span.end];
        if !text.contains(char::is_alphanumeric) {
            return;
        }
        let blank = |line: &&str| line.trim().is_empty();
        let before: usize = text.split_inclusive('\n').take_while(blank).map(str::len).sum();
        let after: usize = text.split_inclusive('\n').rev().take_while(blank).map(str::len).sum();
        let (start, end) = ((span.start + before) as u32, (span.end - after) as u32);
        self.sections.push(Section { start, end, owner, is_first });
    }

    fn lines(&self, span: Span) -> usize {
        self.text[span.start..span.end].lines().count()
    }

    fn line_start(&self, offset: usize) -> usize {
        self.text[..offset].rfind('\n').map_or(0, |it| it + 1)
    }

    fn line_end(&self, offset: usize) -> usize {
        if offset > 0 && self.text[..offset].ends_with('\n') {
            return offset;
        }
        self.text[offset..].find('\n').map_or(self.text.len(), |it| offset + it + 1)
    }
}

/// Whether a declaration is a section of its own. Fields and variants belong to their types.
fn is_section(item: &OutlineItem) -> bool {
    !matches!(item.kind, SymbolKind::Field | SymbolKind::Variant)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(kind: SymbolKind, text: &str, from: &str, to: &str, children: Vec<OutlineItem>) -> OutlineItem {
        let start = text.find(from).unwrap();
        let end = start + text[start..].find(to).unwrap() + to.len();
        OutlineItem {
            kind,
            name: from.to_owned(),
            container: Vec::new(),
            signature: String::new(),
            docs: None,
            span: Span::new(start, end),
            name_span: Span::new(start, start + 1),
            body: None,
            public: true,
            test: false,
            children,
        }
    }

    fn shown<'t>(text: &'t str, outline: &Outline) -> Vec<(&'t str, bool)> {
        sections(text, outline).iter().map(|it| (&text[it.span().start..it.span().end], it.is_first)).collect()
    }

    #[test]
    fn declarations_are_sections_and_so_is_the_text_between() {
        let text = "use a;\n\nfn f() {\n  x\n}\n\n// note\n\nfn g() {}\n";
        let items = vec![
            item(SymbolKind::Function, text, "fn f", "}", Vec::new()),
            item(SymbolKind::Function, text, "fn g", "}", Vec::new()),
        ];
        let outline = Outline { items, ..Outline::default() };
        let expected = [("use a;\n", false), ("fn f() {\n  x\n}\n", true), ("// note\n", false), ("fn g() {}\n", true)];
        assert_eq!(shown(text, &outline), expected);
    }

    #[test]
    fn a_large_type_is_divided_into_its_members() {
        let body = "    one\n".repeat(20);
        let text = format!("class A:\n    docs\n\n    def m\n{body}    end\n");
        let method = item(SymbolKind::Method, &text, "def m", "end", Vec::new());
        let class = item(SymbolKind::Struct, &text, "class A", "end", vec![method]);
        let outline = Outline { items: vec![class], ..Outline::default() };
        let sections = sections(&text, &outline);
        assert_eq!(sections.len(), 2);
        assert!(text[sections[1].span().start..].starts_with("    def m"));
        assert_eq!((sections[0].owner, sections[1].owner), (Some(0), text.find("def m").map(|it| it as u32)));
    }

    #[test]
    fn long_declarations_are_divided_at_blank_lines_and_nothing_is_lost() {
        let text = "fn f() {\n".to_owned() + &("a\n".repeat(30) + "\n").repeat(10) + "}\n";
        let outline =
            Outline { items: vec![item(SymbolKind::Function, &text, "fn f", "}", Vec::new())], ..Outline::default() };
        let shown = shown(&text, &outline);
        assert_eq!(shown.iter().map(|it| it.0.matches('a').count()).sum::<usize>(), 300);
        assert!(shown.len() >= 4 && shown.iter().filter(|it| it.1).count() == 1, "{}", shown.len());
    }
}
