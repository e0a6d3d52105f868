//! Indexes: the private index of a commit, and the user's index after it, in which only the entries of the committed
//! files differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::file_paths::{GitPath, text};
use super::program::{Run, failed};
use super::repository::Repository;
use semdex_model::{Code, Error, Result};

/// The object name of no object consists of this digit.
const NOTHING: char = '0';

/// Ten years, since some files are dated in the future.
const AHEAD: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// A file that a commit changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) path: GitPath,
    /// Mode and object before. `None` if there was no file.
    pub(super) old: Option<(String, String)>,
    /// Mode and object after. `None` if the file is gone.
    pub(super) new: Option<(String, String)>,
}

/// The content of a file in an index, whatever the work tree has.
#[derive(Debug, Clone)]
pub(super) struct Content {
    pub(super) path: GitPath,
    /// `None`: no file.
    pub(super) text: Option<Vec<u8>>,
}

impl Repository {
    /// A run of git on a private index. The index is written as a whole, so nothing goes into files that the user's
    /// index shares.
    fn on_private<'a>(&'a self, index: &Path, arguments: &[&str]) -> Run<'a> {
        self.run(arguments)
            .index(index)
            .setting("core.splitIndex", "false")
            .setting("core.fsmonitor", "false")
            .setting("core.untrackedCache", "false")
            .setting("core.ignoreStat", "false")
            .setting("index.sparse", "false")
    }

    /// Fills a private index with the files of a commit.
    pub(super) fn read_tree(&self, index: &Path, commit: Option<&str>) -> Result<()> {
        let run = self.on_private(index, &["read-tree"]);
        run.with(commit.unwrap_or("--empty")).output().map(drop)
    }

    /// Brings files of the work tree into a private index. Files that a sparse checkout leaves out stay in it.
    pub(super) fn stage<'a>(&self, index: &Path, paths: impl IntoIterator<Item = &'a GitPath>) -> Result<()> {
        let paths: Vec<&GitPath> = paths.into_iter().collect();
        let has_absent = paths.iter().any(|it| !self.is_there(it));
        let left_out = if has_absent { self.left_out_of_the_checkout()? } else { BTreeSet::new() };
        let paths = paths.into_iter().filter(|it| !left_out.contains(*it) || self.is_there(it));
        let run = self.on_private(index, &["update-index", "--add", "--remove", "--replace", "-z", "--stdin"]);
        let ended = run.input(joined(paths)).ended()?;
        if ended.is_well() { Ok(()) } else { Err(failed("update-index", &ended)) }
    }

    /// The files that the user's index excludes from the checkout.
    fn left_out_of_the_checkout(&self) -> Result<BTreeSet<GitPath>> {
        let output = self.run(&["ls-files", "-z", "-v"]).output()?;
        let skipped =
            output.split(|it| *it == 0).filter(|it| it.first().is_some_and(|it| it.eq_ignore_ascii_case(&b'S')));
        Ok(skipped.filter_map(|it| it.get(2..)).map(<[u8]>::to_vec).collect())
    }

    /// Brings contents that the work tree does not have into a private index.
    pub(super) fn stage_contents(&self, index: &Path, contents: &[Content]) -> Result<()> {
        let mut lines = Vec::new();
        for content in contents {
            match &content.text {
                Some(text_of_file) => {
                    let run = self.run(&["hash-object", "-w", "--stdin", "--path"]).with(&content.path);
                    let object = text(&run.input(text_of_file.clone()).line()?);
                    let mode = self.mode_in(index, &content.path)?.unwrap_or_else(|| "100644".to_owned());
                    entry_line(&mut lines, &mode, &object, &content.path);
                }
                None => entry_line(&mut lines, "0", &self.nothing()?, &content.path),
            }
        }
        let run = self.on_private(index, &["update-index", "--add", "--replace", "-z", "--index-info"]);
        run.input(lines).output().map(drop)
    }

    fn mode_in(&self, index: &Path, path: &GitPath) -> Result<Option<String>> {
        let output = self.on_private(index, &["ls-files", "--stage", "-z", "--"]).with(path).output()?;
        Ok(output.split(|it| *it == b' ').next().map(text).filter(|it| it.len() == 6))
    }

    /// The name of no object, in the length that this repository uses.
    fn nothing(&self) -> Result<String> {
        Ok(self.tree_of(None)?.chars().map(|_| NOTHING).collect())
    }

    pub(super) fn write_tree(&self, index: &Path) -> Result<String> {
        Ok(text(&self.on_private(index, &["write-tree"]).line()?))
    }

    /// The differences between two trees.
    pub(super) fn differences(&self, from: &str, to: &str) -> Result<Vec<Difference>> {
        let run = self.run(&["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff"]);
        let output = run.with(from).with(to).output()?;
        parse_differences(&output)
            .ok_or_else(|| Error::new(Code::Internal, "`git diff-tree` printed what is not of its documented form"))
    }

    /// Which of these files are neither tracked nor wanted by the user.
    pub(super) fn ignored(&self, paths: &BTreeSet<GitPath>) -> Result<BTreeSet<GitPath>> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        // A name is only taken literally if it begins like a path.
        let input: Vec<GitPath> = paths.iter().map(|it| [b"./", it.as_slice()].concat()).collect();
        let run = self.run(&["check-ignore", "-z", "--stdin"]).variable("GIT_LITERAL_PATHSPECS", "0");
        let ended = run.input(joined(&input)).ended()?;
        match ended.code {
            Some(0 | 1) => {
                let found = ended.stdout.split(|it| *it == 0).filter_map(|it| it.strip_prefix(b"./"));
                Ok(found.map(<[u8]>::to_vec).collect())
            }
            _ => Err(failed("check-ignore", &ended)),
        }
    }

    /// Refuses files that need a filter's program, if filters may not run.
    pub(super) fn check_filters<'a>(&self, paths: impl IntoIterator<Item = &'a GitPath>) -> Result<()> {
        if self.git.trusted || self.git.filters.is_empty() {
            return Ok(());
        }
        let output = self.run(&["check-attr", "-z", "--stdin", "filter"]).input(joined(paths)).output()?;
        let fields: Vec<&[u8]> = output.split(|it| *it == 0).collect();
        let filtered: Vec<&[u8]> = fields
            .chunks_exact(3)
            .filter(|it| it.get(2).is_some_and(|value| self.git.filters.contains(&text(value))))
            .filter_map(|it| it.first().copied())
            .collect();
        if filtered.is_empty() {
            return Ok(());
        }
        let detail = format!(
            "a filter (`.gitattributes`) applies to {}, and its program may not run: trust the workspace with \
             `semdex trust`, or commit with git",
            self.list(filtered)
        );
        Err(Error::new(Code::Untrusted, detail))
    }

    /// Brings the committed files into a copy of the user's index. The flags that the user has set on files (assume
    /// unchanged, skip worktree) are kept.
    pub(super) fn update_next(&self, index: &Path, differences: &[Difference]) -> Result<()> {
        let on = |arguments: &[&str]| {
            set_ahead(index);
            let run = self.run(arguments).index(index).whole();
            // As git writes the user's own index, if the user has a file system monitor.
            if self.git.trusted { run } else { run.setting("core.fsmonitor", "false") }
        };
        let (assumed, skipped) = flags(&on(&["ls-files", "-z", "-v"]).output()?, differences);
        let nothing = self.nothing()?;
        let mut lines = Vec::new();
        for difference in differences {
            match &difference.new {
                Some((mode, object)) => entry_line(&mut lines, mode, object, &difference.path),
                None => entry_line(&mut lines, "0", &nothing, &difference.path),
            }
        }
        on(&["update-index", "--add", "--replace", "-z", "--index-info"]).input(lines).output()?;
        let plain = differences.iter().filter(|it| it.new.is_some()).map(|it| &it.path);
        let plain: Vec<&GitPath> = plain.filter(|it| !assumed.contains(*it) && !skipped.contains(*it)).collect();
        if !plain.is_empty() {
            // It fails if a file has changed since; then the file is dirty.
            let refresh = ["add", "--refresh", "--pathspec-from-file=-", "--pathspec-file-nul"];
            on(&refresh).input(joined(plain)).ended()?;
        }
        for (flag, paths) in [("--assume-unchanged", &assumed), ("--skip-worktree", &skipped)] {
            if !paths.is_empty() {
                on(&["update-index", flag, "-z", "--stdin"]).input(joined(paths)).output()?;
            }
        }
        Ok(())
    }
}

/// Dates an index later than any file. Otherwise git would mark files of the same second as unknown, and those are not
/// part of the commit.
fn set_ahead(index: &Path) {
    if let Ok(file) = File::options().write(true).open(index) {
        let _ = file.set_modified(SystemTime::now() + AHEAD);
    }
}

/// Which of these files are assumed unchanged, and which skip the work tree, by `git ls-files -z -v`.
fn flags(output: &[u8], differences: &[Difference]) -> (BTreeSet<GitPath>, BTreeSet<GitPath>) {
    let wanted: BTreeMap<&[u8], &Difference> = differences.iter().map(|it| (it.path.as_slice(), it)).collect();
    let (mut assumed, mut skipped) = (BTreeSet::new(), BTreeSet::new());
    for record in output.split(|it| *it == 0) {
        let (Some(letter), Some(path)) = (record.first(), record.get(2..)) else { continue };
        if wanted.get(path).is_none_or(|it| it.new.is_none()) {
            continue;
        }
        if letter.is_ascii_lowercase() {
            assumed.insert(path.to_vec());
        }
        if letter.eq_ignore_ascii_case(&b'S') {
            skipped.insert(path.to_vec());
        }
    }
    (assumed, skipped)
}

/// `MODE SP OBJECT TAB PATH NUL`.
fn entry_line(lines: &mut Vec<u8>, mode: &str, object: &str, path: &[u8]) {
    lines.extend_from_slice(format!("{mode} {object}\t").as_bytes());
    lines.extend_from_slice(path);
    lines.push(0);
}

/// The paths, each followed by NUL.
pub(super) fn joined<'a>(paths: impl IntoIterator<Item = &'a GitPath>) -> Vec<u8> {
    paths.into_iter().flat_map(|it| it.iter().copied().chain([0])).collect()
}

/// Parses `:OLDMODE NEWMODE OLDOBJECT NEWOBJECT STATUS NUL PATH NUL`, repeated.
fn parse_differences(output: &[u8]) -> Option<Vec<Difference>> {
    let mut records = output.split(|it| *it == 0);
    let mut found = Vec::new();
    while let Some(head) = records.next().filter(|it| !it.is_empty()) {
        let head = text(head.strip_prefix(b":")?);
        let fields: Vec<&str> = head.split(' ').collect();
        let [old_mode, new_mode, old, new, _] = fields[..] else { return None };
        let side = |mode: &str, object: &str| (mode != "000000").then(|| (mode.to_owned(), object.to_owned()));
        let path = records.next()?.to_vec();
        found.push(Difference { path, old: side(old_mode, old), new: side(new_mode, new) });
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_read() {
        let raw = b":100644 000000 aa 00 D\0a b\0:000000 100755 00 bb A\0c\nd\0";
        let found = parse_differences(raw).unwrap();
        let side = |mode: &str, object: &str| Some((mode.to_owned(), object.to_owned()));
        assert_eq!(found[0], Difference { path: b"a b".to_vec(), old: side("100644", "aa"), new: None });
        assert_eq!(found[1], Difference { path: b"c\nd".to_vec(), old: None, new: side("100755", "bb") });
        assert_eq!((parse_differences(b""), parse_differences(b"x\0y\0")), (Some(Vec::new()), None));
    }

    #[test]
    fn flags_are_read() {
        let difference = |path: &str, gone: bool| Difference {
            path: path.as_bytes().to_vec(),
            old: None,
            new: (!gone).then(|| ("100644".to_owned(), "aa".to_owned())),
        };
        let all = [difference("a", false), difference("b", false), difference("c", false), difference("d", true)];
        let (assumed, skipped) = flags(b"h a\0S b\0s c\0h d\0h e\0", &all);
        let set = |paths: &[&str]| paths.iter().map(|it| it.as_bytes().to_vec()).collect::<BTreeSet<_>>();
        assert_eq!((assumed, skipped), (set(&["a", "c"]), set(&["b", "c"])));
    }
}
