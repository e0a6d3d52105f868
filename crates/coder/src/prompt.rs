//! The prompt for a model: the rules for edits, a map, files in full or as skeletons as far as they fit, the feedback
//! on its last reply, and the task.

use std::collections::BTreeSet;

use super::feedback::Feedback;
use super::visible_files::VisibleFiles;
use semdex_contract::budget::{BYTES_PER_TOKEN, text_cost};
use semdex_engine::files::File;
use semdex_model::{Code, Error, Result};
use semdex_ops::redaction::redact;
use semdex_text::visible::one_line;

/// The rules for edits, the same for every task.
pub(crate) const RULES: &str = include_str!("rules.md");

/// The size of the code in bytes up to which a workspace is small.
const SMALL: usize = 1 << 20;
/// The size of a request without its texts, in bytes.
const ENVELOPE: usize = 400;
/// The number of files that do not fit after which no further file is tried.
const MOST_PASSED_OVER: usize = 30;
/// The largest size of a map, in bytes.
pub(crate) const MAP: usize = 2000 * BYTES_PER_TOKEN;

/// The largest sizes of a prompt, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The limit for files that are chosen by relevance.
    chosen: usize,
    /// The limit for required parts.
    most: usize,
}

/// The largest possible prompt.
const HUGE: usize = 118_000 * BYTES_PER_TOKEN;

impl Limits {
    /// Limits by the size of the workspace, of the task and of the files that it names.
    pub(crate) fn new(size: usize, wanted: usize) -> Limits {
        let class = if size <= SMALL {
            Limits { chosen: 11_500 * BYTES_PER_TOKEN, most: 11_500 * BYTES_PER_TOKEN }
        } else {
            Limits { chosen: 30_000 * BYTES_PER_TOKEN, most: 58_000 * BYTES_PER_TOKEN }
        };
        let needed = overhead() + wanted;
        if needed <= class.most {
            return class;
        }
        // Space for the feedback after a reply.
        let most = (needed + class.most).min(HUGE);
        Limits { chosen: most.min(needed + MAP), most }
    }
}

/// The fixed parts of a request.
fn overhead() -> usize {
    text_cost(RULES) + ENVELOPE
}

/// The input of the prompt for one reply.
pub(crate) struct Material<'a> {
    pub visible: &'a VisibleFiles,
    pub task: &'a str,
    /// The files that the task names explicitly, by their names in the workspace.
    pub named: &'a [String],
    /// The files that the run has changed.
    pub changed: &'a BTreeSet<String>,
    /// A map of the workspace, and the files in it in their order.
    pub map: &'a str,
    pub ranked: &'a [String],
    pub feedback: &'a Feedback,
}

/// Refuses a task whose files do not fit any prompt.
pub(crate) fn check(visible: &VisibleFiles, task: &str, named: &[String]) -> Result<()> {
    let wanted = text_cost(task) + named_cost(visible, named);
    if overhead() + wanted > HUGE {
        let detail = format!(
            "the task and the files that it names take about {} tokens, {} at most: name fewer or smaller ones in `files`",
            wanted / BYTES_PER_TOKEN,
            HUGE / BYTES_PER_TOKEN
        );
        return Err(Error::new(Code::TooLarge, detail));
    }
    Ok(())
}

fn named_cost(visible: &VisibleFiles, named: &[String]) -> usize {
    named.iter().filter_map(|it| visible.get(it)).map(|it| text_cost(&it.text) + it.path.len() + 60).sum()
}

/// The prompt, and its size in tokens including the rules.
pub(crate) fn prompt(material: &Material<'_>) -> (String, usize) {
    let Material { visible, task, named, changed, map, feedback, .. } = *material;
    let limits = Limits::new(visible.size(), text_cost(task) + named_cost(visible, named));
    let mut left = limits.most.saturating_sub(overhead() + text_cost(task));
    // A file that the feedback shows with line numbers is not shown again.
    let named_left = named_cost(visible, named);
    let feedback = feedback.render(visible, left.saturating_sub(named_left.min(left / 2)).min(left * 3 / 4));
    left = left.saturating_sub(text_cost(&feedback.text));
    let mut files = String::new();
    let mut shown: BTreeSet<String> = feedback.shown_in_full.clone();
    for file in named.iter().filter_map(|it| visible.get(it)) {
        if shown.insert(file.path.to_string()) {
            // A file that does not fit is cut.
            show(&mut files, &mut left, visible, file, true);
        }
    }
    for file in changed.iter().filter_map(|it| visible.get(it)) {
        if shown.insert(file.path.to_string()) {
            show(&mut files, &mut left, visible, file, false);
        }
    }
    let used = limits.most.saturating_sub(left);
    let mut left = left.min(limits.chosen.saturating_sub(used));
    let map = redact(map, true);
    let map = if text_cost(&map) <= left / 2 { map } else { first_lines(&map, left / 2) };
    left = left.saturating_sub(text_cost(&map));
    let mut passed_over = 0;
    for file in visible.candidates(task, material.ranked) {
        if left < 400 || passed_over == MOST_PASSED_OVER {
            break;
        }
        if shown.insert(file.path.to_string()) && !show(&mut files, &mut left, visible, &file, false) {
            passed_over += 1;
        }
    }
    let mut prompt = String::new();
    if !map.trim().is_empty() {
        prompt.push_str("# Map of the workspace\n\n");
        prompt.push_str(map.trim_end());
        prompt.push_str("\n\n");
    }
    if !files.is_empty() {
        prompt.push_str("# Files, as they are now\n\n");
        prompt.push_str(&files);
    }
    let hidden: Vec<&String> = named.iter().filter(|it| visible.hides(it)).collect();
    for file in hidden {
        prompt.push_str(&format!("`{}` is not shown: it is ignored, or holds secrets.\n\n", one_line(file)));
    }
    prompt.push_str("# Task\n\n");
    prompt.push_str(task.trim());
    prompt.push('\n');
    if !feedback.text.is_empty() {
        prompt.push('\n');
        prompt.push_str(&feedback.text);
    }
    let tokens = (overhead() + text_cost(&prompt)).div_ceil(BYTES_PER_TOKEN);
    (prompt, tokens)
}

/// Adds a file in full or as a skeleton if it fits. Returns whether it did. `wanted`: prefer the full file.
fn show(files: &mut String, left: &mut usize, visible: &VisibleFiles, file: &File, wanted: bool) -> bool {
    let language = file.language.map(|it| it.name).unwrap_or_default();
    // A single chosen file must not displace all others.
    let most = if wanted { usize::MAX } else { (*left / 2).max(8_000) };
    let mut add = |head: &str, text: &str, most: usize| {
        let section = format!("## `{}`{head}\n\n{}\n", one_line(&file.path), fenced(language, text));
        let cost = text_cost(&section);
        let fits = cost <= most.min(*left);
        if fits {
            files.push_str(&section);
            *left -= cost;
        }
        fits
    };
    if file.text.len() <= most && add("", &visible.text(file), most) {
        return true;
    }
    let skeleton = visible.skeleton(file);
    skeleton.is_some_and(|it| add(" (skeleton: bodies are left out)", &it, usize::MAX))
}

/// The text in a fence that the text cannot close.
pub(crate) fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

/// As many whole lines as fit.
pub(crate) fn first_lines(text: &str, most: usize) -> String {
    let mut kept = String::new();
    let mut cost = 0;
    for line in text.split_inclusive('\n') {
        cost += text_cost(line);
        if cost > most {
            break;
        }
        kept.push_str(line);
    }
    kept
}
