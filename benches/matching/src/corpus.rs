//! Real edits: the differences between two versions of a package in the caches of cargo and Go, and between the commits
//! of this repository. Each hunk is one edit that somebody made.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use similar::DiffOp;

use crate::random::Random;

const ENDINGS: [&str; 14] = ["rs", "go", "md", "toml", "py", "js", "ts", "c", "h", "sh", "yml", "yaml", "html", "txt"];
const LARGEST_FILE: usize = 400_000;
/// Hunks of one pair of files, so that no file dominates.
const HUNKS_OF_A_FILE: usize = 12;
const LONGEST_HUNK: usize = 60;

/// One change of a real file: lines `start..end` became `new`.
#[derive(Debug, Clone)]
pub struct Hunk {
    pub name: String,
    /// The whole file before, with newlines alone.
    pub before: Arc<str>,
    /// The whole file after all changes of this pair.
    pub after: Arc<str>,
    /// Lines before.
    pub start: usize,
    pub end: usize,
    /// Lines after.
    pub new_start: usize,
    pub new_end: usize,
}

/// All hunks of two versions of one file.
pub struct Pair {
    name: String,
    before: Arc<str>,
    after: Arc<str>,
    /// Lines before and after.
    changes: Vec<[usize; 4]>,
}

/// All files on this machine of which there are two versions.
pub fn pairs(repository: &Path) -> Vec<Pair> {
    let mut found = Vec::new();
    for (old, new) in versions() {
        found.extend(common_files(&old, &new).into_iter().filter_map(|it| pair(it.0, &it.1, &it.2)));
    }
    history(repository, &mut found);
    found
}

/// Some hunks of each file, in an order that the seed determines.
pub fn hunks(pairs: &[Pair], random: &mut Random) -> Vec<Hunk> {
    let mut found = Vec::new();
    for Pair { name, before, after, changes } in pairs {
        let mut changes = changes.clone();
        random.shuffle(&mut changes);
        changes.truncate(HUNKS_OF_A_FILE);
        found.extend(changes.into_iter().map(|[start, end, new_start, new_end]| Hunk {
            name: name.clone(),
            before: before.clone(),
            after: after.clone(),
            start,
            end,
            new_start,
            new_end,
        }));
    }
    random.shuffle(&mut found);
    found
}

/// Files of about 10,000 lines, concatenated from files of one language.
pub fn large_files(hunks: &[Hunk], random: &mut Random) -> Vec<String> {
    const LINES: usize = 10_000;
    const FILES: usize = 6;
    let mut made = Vec::new();
    for ending in [".rs", ".go", ".rs", ".go", ".md", ".rs"].iter().take(FILES) {
        let mut names: Vec<&Hunk> = hunks.iter().filter(|it| it.name.ends_with(ending)).collect();
        random.shuffle(&mut names);
        names.dedup_by(|a, b| a.name == b.name);
        let mut text = String::new();
        let mut lines = 0;
        let mut taken: Vec<&str> = Vec::new();
        for hunk in names {
            if lines >= LINES || taken.contains(&hunk.name.as_str()) {
                continue;
            }
            taken.push(&hunk.name);
            lines += hunk.before.lines().count();
            text.push_str(&hunk.before);
            text.push('\n');
        }
        if lines >= LINES {
            made.push(text);
        }
    }
    made
}

fn pair(name: String, before: &str, after: &str) -> Option<Pair> {
    let usable = |text: &str| text.len() < LARGEST_FILE && !text.contains('\0') && !text.contains('\r');
    if before == after || !usable(before) || !usable(after) || before.starts_with('\u{feff}') {
        return None;
    }
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(2);
    let ops = similar::capture_diff_slices_deadline(similar::Algorithm::Myers, &old, &new, Some(deadline));
    let mut changes: Vec<[usize; 4]> = Vec::new();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let (o, n) = (op.old_range(), op.new_range());
        match changes.last_mut() {
            // Hunks this close would be sent as one edit.
            Some(last) if o.start - last[1] <= 2 && n.start - last[3] <= 2 => (last[1], last[3]) = (o.end, n.end),
            _ => changes.push([o.start, o.end, n.start, n.end]),
        }
    }
    changes.retain(|it| it[1] - it[0] <= LONGEST_HUNK && it[3] - it[2] <= LONGEST_HUNK);
    Some(Pair { name, before: before.into(), after: after.into(), changes })
}

/// Directories of two versions of one package, neighbours in the order of their names.
fn versions() -> Vec<(PathBuf, PathBuf)> {
    let home = |variable: &str, below: &str| {
        let set = std::env::var_os(variable).map(PathBuf::from);
        set.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(below)))
    };
    let mut packages: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for registry in home("CARGO_HOME", ".cargo").into_iter().flat_map(|it| directories(&it.join("registry/src"))) {
        for package in directories(&registry) {
            let full = name(&package);
            let dash =
                full.match_indices('-').find(|(at, _)| full[at + 1..].starts_with(|it: char| it.is_ascii_digit()));
            if let Some((at, _)) = dash {
                packages.entry(full[..at].to_owned()).or_default().push(package);
            }
        }
    }
    if let Some(modules) = home("GOPATH", "go") {
        go_modules(&modules.join("pkg/mod"), 0, &mut packages);
    }
    let mut pairs = Vec::new();
    for mut of_one in packages.into_values() {
        of_one.sort();
        pairs.extend(of_one.windows(2).map(|two| (two[0].clone(), two[1].clone())));
    }
    pairs
}

fn go_modules(directory: &Path, depth: usize, packages: &mut BTreeMap<String, Vec<PathBuf>>) {
    for below in directories(directory) {
        if let Some((module, _)) = below.to_string_lossy().split_once('@') {
            packages.entry(module.to_owned()).or_default().push(below.clone());
        } else if depth < 4 && name(&below) != "cache" {
            go_modules(&below, depth + 1, packages);
        }
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn directories(below: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(below).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|it| it.path()).filter(|it| it.is_dir()).collect();
    found.sort();
    found
}

fn common_files(old: &Path, new: &Path) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(below) = pending.pop() {
        let entries = fs::read_dir(new.join(&below)).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.map(|it| it.path()).collect();
        entries.sort();
        for path in entries {
            let relative = below.join(path.file_name().unwrap_or_default());
            if path.is_dir() {
                pending.push(relative);
            } else if is_text(&relative)
                && let (Ok(before), Ok(after)) = (fs::read_to_string(old.join(&relative)), fs::read_to_string(&path))
            {
                found.push((format!("{}/{}", name(new), relative.display()), before, after));
            }
        }
    }
    found
}

fn is_text(path: &Path) -> bool {
    path.extension().is_some_and(|it| ENDINGS.iter().any(|ending| it == *ending))
}

/// Every commit of the repository against its first parent.
fn history(repository: &Path, found: &mut Vec<Pair>) {
    let git = |arguments: &[&str]| -> Option<String> {
        let output = Command::new("git").arg("-C").arg(repository).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8(output.stdout).ok())?
    };
    let Some(commits) = git(&["rev-list", "--first-parent", "--parents", "--max-count=400", "HEAD"]) else { return };
    for line in commits.lines() {
        let [commit, parent, ..] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let names = git(&["diff", "--name-only", "--diff-filter=M", parent, commit]).unwrap_or_default();
        for file in names.lines().filter(|it| is_text(Path::new(it))) {
            let show = |of: &str| git(&["show", &format!("{of}:{file}")]);
            if let (Some(before), Some(after)) = (show(parent), show(commit)) {
                found.extend(pair(format!("git:{file}"), &before, &after));
            }
        }
    }
}
