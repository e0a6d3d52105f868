//! Directories that the walk passes over although they may contain code: those that semdex may not read (perhaps the root
//! itself), those that are too deep to be watched, those with a `CACHEDIR.TAG`, and those outside to which links lead.
//! Answers that could contain something of them report that.
//!
//! A directory that git ignores contains no code of the workspace, nor does an installed dependency.

use std::collections::BTreeSet;
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::disk::Disk;
use crate::watch::{Gap, Gaps, files_below};
use semdex_engine::files::Files;
use semdex_engine::unindexed::is_installed;
use semdex_fs::Tree;
use semdex_model::{LanguageId, Languages, Missing, MissingCode};

/// At most this many files of a tagged directory are looked at. A larger one may contain any language.
const MOST_EXAMINED: usize = 2000;
/// At most this many directories are reported by name.
const MOST_NAMED: usize = 10;
/// A `.gitignore` in a directory is at most so long.
const LONGEST_RULES: usize = 64 << 10;
const RULES: &str = ".gitignore";

/// The unread directories of a workspace.
#[derive(Default)]
pub(super) struct UnreadDirectories {
    /// What the walk passed over when they were found.
    gaps: Gaps,
    found: Vec<UnreadDirectory>,
    /// The rules of git have changed.
    is_stale: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct UnreadDirectory {
    /// Relative to the root. Empty for the root.
    name: String,
    gap: Gap,
    /// The languages of its files; `None` if they are not known.
    languages: Option<BTreeSet<&'static str>>,
}

impl UnreadDirectories {
    /// A file has changed. If it has rules of git, other directories may be ignored.
    pub(super) fn note_edit(&mut self, file: &str) {
        self.is_stale |= file == RULES || file.ends_with("/.gitignore");
    }

    /// Finds them again if something may have changed. Returns whether there are other ones than before.
    pub(super) fn update(&mut self, gaps: &Gaps, disk: &Disk, files: &Files, languages: &Languages) -> bool {
        // Nobody watches the content of a tagged directory. What is outside is looked at once.
        let are_tagged = self.found.iter().any(|it| it.gap == Gap::Tagged);
        if !self.is_stale && !are_tagged && *gaps == self.gaps {
            return false;
        }
        self.is_stale = false;
        self.gaps.clone_from(gaps);
        let found = gaps.iter().filter_map(|(path, gap)| unread(path, *gap, disk, files, languages)).collect();
        let is_other = self.found != found;
        self.found = found;
        is_other
    }

    /// What answers about a language miss for these directories; of all languages without one.
    pub(super) fn missing(&self, language: Option<LanguageId>) -> Vec<Missing> {
        let concerns = |it: &&UnreadDirectory| {
            language.is_none_or(|language| {
                language.syntax.may_be_in(&it.name)
                    && it.languages.as_ref().is_none_or(|them| them.contains(language.name))
            })
        };
        let mut all = self.found.iter().filter(concerns);
        let mut missing: Vec<Missing> = all.by_ref().take(MOST_NAMED).map(UnreadDirectory::missing).collect();
        let more = all.count();
        if more > 0 {
            let detail = format!("{more} more directories are not read: the status of semdex lists the first ones");
            missing.push(Missing::new(MissingCode::Unread, "directories", detail));
        }
        missing
    }
}

impl UnreadDirectory {
    fn missing(&self) -> Missing {
        let why = match self.gap {
            Gap::Refused => {
                "semdex has no permission to read it: give the permission to its user, or let git ignore it"
            }
            Gap::TooDeep => "its path is longer than the system allows",
            Gap::Tagged => "it has a `CACHEDIR.TAG`: remove the tag, or let git ignore the directory",
            Gap::Outside => {
                "it is a link out of the workspace: serve a directory that has both, or let git ignore the link"
            }
            Gap::Gone => "it is not there, or no directory: put it back, or close the workspace",
        };
        let (scope, what) = match self.name.as_str() {
            "" => (".", "the root of the workspace".to_owned()),
            name => (name, format!("`{name}`")),
        };
        Missing::new(MissingCode::Unread, scope, format!("{what} is not read, and code in it is not known: {why}"))
    }
}

fn unread(path: &Path, gap: Gap, disk: &Disk, files: &Files, languages: &Languages) -> Option<UnreadDirectory> {
    let name = path.strip_prefix(disk.root()).ok()?.to_str()?.to_owned();
    if !name.is_empty() && (is_installed(&name) || is_ignored(&name, disk, files)) {
        return None;
    }
    let languages = match gap {
        Gap::Refused | Gap::TooDeep | Gap::Gone => None,
        Gap::Tagged => languages_below(disk.tree(), path, &name, files, languages),
        Gap::Outside => {
            let outer = Tree::open(path).ok()?;
            languages_below(&outer, outer.root(), &name, files, languages)
        }
    };
    let has_code = languages.as_ref().is_none_or(|it| !it.is_empty());
    has_code.then_some(UnreadDirectory { name, gap, languages })
}

/// The languages of the code in a directory of a tree, which the workspace calls `name`. `None` if it is too large to
/// know.
fn languages_below(
    tree: &Tree,
    directory: &Path,
    name: &str,
    files: &Files,
    languages: &Languages,
) -> Option<BTreeSet<&'static str>> {
    let (below, _) = files_below(tree, directory, MOST_EXAMINED).ok().filter(|it| it.1)?;
    let names = below.iter().filter_map(|it| Some(format!("{name}/{}", it.strip_prefix(directory).ok()?.to_str()?)));
    // What code references is read all the same.
    let code = names.filter(|it| files.get(it).is_none() && !is_installed(it));
    let of = |it: String| {
        let directory = it.rsplit_once('/').map_or("", |it| it.0);
        let language = languages.of(&it).filter(|it| !it.syntax.is_found_by_reference())?;
        language.syntax.may_be_in(directory).then_some(language.name)
    };
    Some(code.filter_map(of).collect())
}

/// Whether git ignores a directory of the workspace, by the rules in the directories around it and in itself.
fn is_ignored(name: &str, disk: &Disk, files: &Files) -> bool {
    let own = disk.tree().read(&Path::new(name).join(RULES), LONGEST_RULES).ok();
    let ignores_itself =
        |it: Vec<u8>| String::from_utf8_lossy(&it).lines().any(|it| matches!(it.trim(), "*" | "/*" | "**"));
    if own.is_some_and(ignores_itself) {
        return true;
    }
    let mut around = Path::new(name).ancestors().skip(1);
    let decided = around.find_map(|directory| {
        let text = files.get(directory.join(RULES).to_str()?)?.text.clone();
        decision(&text, Path::new(name).strip_prefix(directory).ok()?)
    });
    let above = || {
        // The root may be a part of a repository.
        let mut outer = disk.root().ancestors();
        let repository = outer.clone().find(|it| it.join(".git").exists())?;
        let exclude = std::fs::read_to_string(repository.join(".git/info/exclude")).unwrap_or_default();
        let below = disk.root().join(name);
        let of_directory = |directory: &Path| {
            let text = std::fs::read_to_string(directory.join(RULES)).ok()?;
            decision(&text, below.strip_prefix(directory).ok()?)
        };
        let within = outer.by_ref().skip(1).take_while(|it| it.starts_with(repository)).find_map(of_directory);
        within.or_else(|| decision(&exclude, below.strip_prefix(repository).ok()?))
    };
    decided.or_else(above).unwrap_or_else(|| {
        let users = Gitignore::global().0;
        users.matched_path_or_any_parents(Path::new(name), true).is_ignore()
    })
}

/// Whether rules decide about a directory below the directory of the rules.
fn decision(rules: &str, below: &Path) -> Option<bool> {
    let mut builder = GitignoreBuilder::new("");
    for line in rules.lines() {
        // An invalid pattern has no effect.
        let _ = builder.add_line(None, line);
    }
    match builder.build().ok()?.matched_path_or_any_parents(below, true) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}
