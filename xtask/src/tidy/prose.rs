//! What prose claims about the repository: links, make targets, the commands of a newcomer, and the size of the pages
//! that are read first.

use std::collections::BTreeSet;

use super::complaint::Complaint;

/// The pages that a newcomer reads first, with the most bytes that each may have. The rest is in `docs/`.
pub(crate) const FIRST_PAGES: &[(&str, usize)] = &[("README.md", 9_000), ("ARCHITECTURE.md", 12_000)];

/// Files that name these commands, in this order.
pub(crate) const COMMANDS: &[(&str, &[&str])] =
    &[(".ci/run", &["make test", "make lint"]), ("README.md", &["make run WORKSPACE=", "make test"])];

/// Files whose make targets must exist.
pub(crate) const WITH_TARGETS: &[&str] = &["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", ".ci/run"];

pub(crate) fn too_large(file: &str, text: &str, limit: usize) -> Vec<Complaint> {
    let bytes = text.len();
    if (1..=limit).contains(&bytes) {
        return Vec::new();
    }
    vec![Complaint::new(file, 1, format!("{bytes} bytes, 1 to {limit} are allowed: move detail to docs/"))]
}

pub(crate) fn dead_links(file: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (number, line) in prose_lines(text) {
        let mut rest = line.as_str();
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            let path = target.split('#').next().unwrap_or_default();
            let is_elsewhere = target.contains("://") || target.starts_with("mailto:") || path.is_empty();
            if !is_elsewhere && !exists(path) {
                let message = format!("the link to `{target}` leads nowhere: name a file that exists");
                complaints.push(Complaint::new(file, number, message));
            }
        }
    }
    complaints
}

/// Lines of Markdown outside fenced blocks, inline code blanked.
fn prose_lines(text: &str) -> Vec<(usize, String)> {
    let mut is_fenced = false;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced {
            let prose = line.split('`').enumerate().map(|(part, it)| if part % 2 == 0 { it } else { "`" });
            lines.push((number + 1, prose.collect()));
        }
    }
    lines
}

pub(crate) fn missing_in_order(file: &str, text: &str, commands: &[&str]) -> Vec<Complaint> {
    let mut rest = text;
    let mut complaints = Vec::new();
    for command in commands {
        match rest.find(command) {
            Some(at) => rest = &rest[at + command.len()..],
            None => {
                let message = format!("name `{command}` (in this order: {})", commands.join(", "));
                complaints.push(Complaint::new(file, 1, message));
            }
        }
    }
    complaints
}

pub(crate) fn unknown_targets(file: &str, text: &str, makefile: &str) -> Vec<Complaint> {
    let targets: BTreeSet<&str> = makefile
        .lines()
        .filter(|line| !line.starts_with(['\t', '#', ' ', '.']) && !line.contains(":="))
        .filter_map(|line| line.split_once(':'))
        .flat_map(|(names, _)| names.split_whitespace())
        .collect();
    let mut complaints = Vec::new();
    for at in text.match_indices("make ").map(|(at, _)| at) {
        let before = &text[..at];
        let is_typed =
            at == 0 || before.ends_with(['`', '\n', '$']) || before.ends_with("run ") || before.ends_with("$ ");
        let target: String = text[at + 5..].chars().take_while(|it| it.is_ascii_lowercase() || *it == '-').collect();
        if is_typed && !target.is_empty() && !targets.contains(target.as_str()) {
            let line = before.matches('\n').count() + 1;
            let message = format!("`make {target}`: the Makefile has no such target, name one that it has");
            complaints.push(Complaint::new(file, line, message));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::complaint::{fails, passes};
    use super::*;

    #[test]
    fn a_long_first_page_is_found() {
        fails(too_large("README.md", &"x".repeat(9_001), 9_000), "9001 bytes, 1 to 9000 are allowed");
        fails(too_large("README.md", "", 9_000), "0 bytes");
        passes(too_large("README.md", &"x".repeat(9_000), 9_000));
    }

    #[test]
    fn a_dead_link_is_found() {
        let found = |text: &str| dead_links("docs/a.md", text, |path| path == "README.md");
        fails(found("\nSee [this](READMEE.md#top)."), "docs/a.md:2: the link to `READMEE.md#top` leads nowhere");
        passes(found("[a](README.md) [b](README.md#x) [c](#y) [d](https://example.com/z) `[e](f)`\n```\n[g](h)\n```"));
    }

    #[test]
    fn a_command_that_is_not_there_is_found() {
        let commands = ["make test", "make lint"];
        fails(missing_in_order(".ci/run", "make lint, make test", &commands), "make lint");
        passes(missing_in_order(".ci/run", "make test\nmake lint", &commands));
        let makefile = "TARGET := x\ntest: a\n\tcargo test\n.PHONY: ghost\n";
        fails(unknown_targets("a.md", "\nrun `make tset` or `make test`", makefile), "a.md:2: `make tset`");
        fails(unknown_targets("a.md", "$ make ghost", makefile), "make ghost");
        passes(unknown_targets("a.md", "run make test\nmake test\nthings that make sense", makefile));
    }
}
