//! What a model is asked: the rules of edits, a map, files in full or as skeletons by what fits, what came of its last
//! reply, and the task.

use std::collections::BTreeSet;

use super::feedback::Feedback;
use super::secrets::redact;
use super::sight::Sight;
use semdex_contract::budget::{BYTES_PER_TOKEN, text_cost};
use semdex_engine::files::File;
use semdex_model::{Code, Error, Result};
use semdex_text::visible::one_line;

/// How edits are written: the same for every task.
pub(crate) const RULES: &str = include_str!("rules.md");

/// Up to so many bytes of code a workspace is small.
const SMALL: usize = 1 << 20;
/// Of what makes a request besides the texts in it, in bytes.
const ENVELOPE: usize = 400;
/// After so many files that do not fit no further one is looked at.
const MOST_PASSED_OVER: usize = 30;
/// A map is worth so much, in bytes.
pub(crate) const MAP: usize = 2000 * BYTES_PER_TOKEN;

/// How large a prompt may be, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// What is chosen for the task goes up to here.
    chosen: usize,
    /// What has to be in it goes up to here.
    most: usize,
}

/// The largest prompt there is.
const HUGE: usize = 118_000 * BYTES_PER_TOKEN;

impl Limits {
    /// By the size of the workspace, and by what the task itself and the files that it names take.
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
        // Room for what comes back after a reply.
        let most = (needed + class.most).min(HUGE);
        Limits { chosen: most.min(needed + MAP), most }
    }
}

/// What a request has besides the task and the texts.
fn overhead() -> usize {
    text_cost(RULES) + ENVELOPE
}

/// What is put together for one reply.
pub(crate) struct Material<'a> {
    pub sight: &'a Sight,
    pub task: &'a str,
    /// The files that the task names in so many words, by their names in the workspace.
    pub named: &'a [String],
    /// The files that the run has changed.
    pub changed: &'a BTreeSet<String>,
    /// A map of the workspace, and the files in it, the first one first.
    pub map: &'a str,
    pub ranked: &'a [String],
    pub feedback: &'a Feedback,
}

/// Refuses a task with files that no prompt holds.
pub(crate) fn check(sight: &Sight, task: &str, named: &[String]) -> Result<()> {
    let wanted = text_cost(task) + named_cost(sight, named);
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

fn named_cost(sight: &Sight, named: &[String]) -> usize {
    named.iter().filter_map(|it| sight.get(it)).map(|it| text_cost(&it.text) + it.path.len() + 60).sum()
}

/// A prompt, and how many tokens it has with the rules.
pub(crate) fn prompt(material: &Material<'_>) -> (String, usize) {
    let Material { sight, task, named, changed, map, feedback, .. } = *material;
    let limits = Limits::new(sight.size(), text_cost(task) + named_cost(sight, named));
    let mut left = limits.most.saturating_sub(overhead() + text_cost(task));
    // A file that comes back with numbers is not shown twice.
    let named_left = named_cost(sight, named);
    let feedback = feedback.render(sight, left.saturating_sub(named_left.min(left / 2)).min(left * 3 / 4));
    left = left.saturating_sub(text_cost(&feedback.text));
    let mut files = String::new();
    let mut shown: BTreeSet<String> = feedback.shown_in_full.clone();
    for file in named.iter().filter_map(|it| sight.get(it)) {
        if shown.insert(file.path.to_string()) {
            // One that the rest leaves no room for is there as far as it goes.
            show(&mut files, &mut left, sight, file, true);
        }
    }
    for file in changed.iter().filter_map(|it| sight.get(it)) {
        if shown.insert(file.path.to_string()) {
            show(&mut files, &mut left, sight, file, false);
        }
    }
    let used = limits.most.saturating_sub(left);
    let mut left = left.min(limits.chosen.saturating_sub(used));
    let map = redact(map, true);
    let map = if text_cost(&map) <= left / 2 { map } else { first_lines(&map, left / 2) };
    left = left.saturating_sub(text_cost(&map));
    let mut passed_over = 0;
    for file in sight.candidates(task, material.ranked) {
        if left < 400 || passed_over == MOST_PASSED_OVER {
            break;
        }
        if shown.insert(file.path.to_string()) && !show(&mut files, &mut left, sight, &file, false) {
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
    let hidden: Vec<&String> = named.iter().filter(|it| sight.hides(it)).collect();
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

/// Adds a file in full, or its skeleton, or nothing, by what fits; answers whether it did. `wanted`: in full, if that fits
/// at all.
fn show(files: &mut String, left: &mut usize, sight: &Sight, file: &File, wanted: bool) -> bool {
    let language = file.language.map(|it| it.name).unwrap_or_default();
    // One file that was chosen does not take the place of all others.
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
    if file.text.len() <= most && add("", &sight.text(file), most) {
        return true;
    }
    let skeleton = sight.skeleton(file);
    skeleton.is_some_and(|it| add(" (skeleton: bodies are left out)", &it, usize::MAX))
}

/// In a fence that nothing in the text can close.
pub(crate) fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

/// As many lines as fit.
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
