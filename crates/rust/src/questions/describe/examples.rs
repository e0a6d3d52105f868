//! Code that shows how a symbol is used: from its documentation, from tests, from `examples/`, from real uses.

use ra_ap_ide::FileId;

use crate::index::search::Occurrence;
use crate::resolve::symbols;
use crate::resolve::symbols::is_test_at;
use crate::usages::TargetUsages;
use crate::view::Context;
use semdex_model::{Example, ExampleOrigin, OutlineItem, Symbol, SymbolKind};

/// The shortest functions that use a symbol are shown, at most this many of each origin.
const MAX_OF_AN_ORIGIN: usize = 3;
const MAX_LINES: usize = 60;

/// The Rust code in docs, without the lines that rustdoc hides.
pub(crate) fn doctests(cx: &Context<'_>, symbol: &Symbol, docs: &str) -> Vec<Example> {
    let lines = fence_lines(cx, symbol);
    let rust_blocks = blocks(docs).into_iter().enumerate().filter(|(_, it)| it.is_rust);
    rust_blocks
        .map(|(nth, block)| Example {
            origin: ExampleOrigin::Doctest,
            file: symbol.place.file.clone(),
            line: lines.get(nth).copied().unwrap_or(symbol.place.line),
            title: block.title,
            code: block.code.join("\n"),
        })
        .collect()
}

/// The lines of the file on which the code blocks of a symbol's docs begin.
fn fence_lines(cx: &Context<'_>, symbol: &Symbol) -> Vec<usize> {
    let file = symbols::find_file(cx, &symbol.place.file).and_then(|id| cx.file(id));
    let text =
        file.and_then(|it| it.text.get(symbol.place.start..symbol.place.end).map(str::to_owned)).unwrap_or_default();
    let mut fences = Fences::default();
    let mut found = Vec::new();
    for (nth, line) in text.lines().enumerate() {
        let comment = line.trim_start();
        let Some(said) = comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!")) else { continue };
        let was_open = fences.is_open();
        fences.is_code(said);
        if fences.is_open() && !was_open {
            found.push(symbol.place.line + nth);
        }
    }
    found
}

/// The shortest functions that use it: tests first, then examples of the package, then any.
pub(crate) fn uses(cx: &Context<'_>, symbol: &Symbol, found: &TargetUsages) -> Vec<Example> {
    let mut uses: Vec<(FileId, &OutlineItem, ExampleOrigin, &Occurrence)> = Vec::new();
    for usage in found.items.iter().filter(|it| !it.is_in_doctest(cx.db)) {
        let chain = usage.file.outline().enclosing(usage.at.start);
        let is_function = |it: &&&OutlineItem| matches!(it.kind, SymbolKind::Function | SymbolKind::Method);
        let Some(function) = chain.iter().find(is_function) else { continue };
        let is_own = *usage.file.path == *symbol.place.file && symbol.place.span().overlaps(function.span);
        let is_known = uses.iter().any(|(id, it, ..)| *id == usage.id && it.span == function.span);
        let lines = usage.file.text.get(function.span.start..function.span.end).map_or(0, |it| it.lines().count());
        if is_own || is_known || lines > MAX_LINES {
            continue;
        }
        let origin = match () {
            () if is_test_at(&usage.file, usage.at.start) => ExampleOrigin::Test,
            () if usage.file.path.split('/').any(|it| it == "examples") => ExampleOrigin::Example,
            () => ExampleOrigin::Use,
        };
        uses.push((usage.id, function, origin, usage));
    }
    uses.sort_by_key(|(_, it, ..)| it.span.end - it.span.start);
    let mut examples: Vec<Example> = Vec::new();
    for origin in [ExampleOrigin::Test, ExampleOrigin::Example, ExampleOrigin::Use] {
        // Real uses replace missing examples.
        let most = if origin == ExampleOrigin::Use {
            MAX_OF_AN_ORIGIN.saturating_sub(examples.len())
        } else {
            MAX_OF_AN_ORIGIN
        };
        let of_origin = uses.iter().filter(|it| it.2 == origin).take(most);
        examples.extend(of_origin.map(|(id, function, _, usage)| {
            Example {
                origin,
                file: usage.file.path.to_string(),
                line: usage.file.lines().line(function.span.start),
                title: symbols::enclosing_path(cx, &usage.file, *id, function.name_span.start)
                    .unwrap_or_else(|| function.name.clone()),
                code: usage.file.text.get(function.span.start..function.span.end).unwrap_or_default().to_owned(),
            }
        }));
    }
    examples
}

/// Which lines of a Markdown text are code.
#[derive(Default)]
pub(crate) struct Fences {
    open: Option<(char, usize)>,
}

impl Fences {
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether the next line belongs to a code block, its fences included.
    pub(crate) fn is_code(&mut self, line: &str) -> bool {
        let trimmed = line.trim();
        let mark = trimmed.chars().next().filter(|it| matches!(it, '`' | '~')).unwrap_or(' ');
        let length = trimmed.chars().take_while(|it| *it == mark).count();
        match self.open {
            Some((open, least)) => {
                if mark == open && length >= least && trimmed.chars().count() == length {
                    self.open = None;
                }
                true
            }
            None => {
                // A line with more backticks after the first ones is inline code.
                let is_fence =
                    length >= 3 && mark != ' ' && !(mark == '`' && trimmed.trim_start_matches('`').contains('`'));
                if is_fence {
                    self.open = Some((mark, length));
                }
                is_fence
            }
        }
    }
}

#[derive(Default)]
struct Block<'t> {
    is_rust: bool,
    title: String,
    code: Vec<&'t str>,
    indentation: usize,
}

/// The fenced blocks of docs, each under its heading.
fn blocks(docs: &str) -> Vec<Block<'_>> {
    let mut fences = Fences::default();
    let mut found: Vec<Block<'_>> = Vec::new();
    let mut heading = "";
    for line in docs.lines() {
        let was_open = fences.is_open();
        let is_code = fences.is_code(line);
        match (was_open, is_code) {
            (false, true) => found.push(Block {
                is_rust: is_rust(line.trim().trim_start_matches(['`', '~'])),
                title: heading.to_owned(),
                code: Vec::new(),
                indentation: line.len() - line.trim_start().len(),
            }),
            (true, _) if fences.is_open() => {
                let Some(block) = found.last_mut() else { continue };
                let line = line.get(line.len().min(block.indentation)..).unwrap_or(line);
                block.code.extend(if block.is_rust { shown(line) } else { Some(line) });
            }
            (true, _) => {}
            (false, false) => {
                if let Some(title) = line.trim_start().strip_prefix('#') {
                    heading = title.trim_start_matches('#').trim();
                }
            }
        }
    }
    found
}

/// Whether the info string of a fence means Rust, as in rustdoc.
fn is_rust(info: &str) -> bool {
    const WORDS: [&str; 7] = ["rust", "should_panic", "no_run", "ignore", "compile_fail", "test_harness", "standalone"];
    let is_error_code =
        |it: &str| it.len() == 5 && it.starts_with('E') && it.chars().skip(1).all(|it| it.is_ascii_digit());
    let words = info.split([',', ' ', '{', '}']).map(|it| it.trim_start_matches('.')).filter(|it| !it.is_empty());
    words
        .into_iter()
        .all(|it| it.starts_with("edition") || is_error_code(it) || WORDS.iter().any(|word| it.starts_with(word)))
}

/// A line as rustdoc shows it: `# ` hides it, `##` is an escaped `#`.
fn shown(line: &str) -> Option<&str> {
    let trimmed = line.trim_start();
    match trimmed {
        "#" => None,
        _ if trimmed.starts_with("# ") => None,
        _ if trimmed.starts_with("##") => trimmed.get(1..),
        _ => Some(line),
    }
}
