//! Links within a workspace. They give its code more than one name.

use std::sync::Arc;

use super::engine::FileChange;
use super::files::{File, Files};
use semdex_model::{LanguageId, Missing, MissingCode};

/// The scope under which links are reported.
const SCOPE: &str = "links";
/// At most this many links are named in a message.
const MOST_SHOWN: usize = 5;
/// At most this many names of a file are followed, since links may form a cycle.
const MOST_NAMES: usize = 16;

/// A link to a file or directory of the workspace, both relative to the root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The path of the link.
    pub name: String,
    /// The path to which it finally leads, without links. Empty for the root.
    pub target: String,
}

impl Link {
    /// The name that the link gives to a file. `None` if it does not lead to the file.
    pub fn other_name(&self, file: &str) -> Option<String> {
        if file == self.target {
            return Some(self.name.clone());
        }
        let below = match self.target.as_str() {
            "" => file,
            target => file.strip_prefix(target)?.strip_prefix('/')?,
        };
        Some(format!("{}/{below}", self.name))
    }

    /// Whether it leads to code of one of these languages.
    pub fn leads_to_code(&self, files: &Files, languages: &[LanguageId]) -> bool {
        self.texts(files).any(|it| it.language.is_some_and(|it| languages.contains(&it)))
    }

    /// The texts to which it leads.
    pub fn texts<'f>(&'f self, files: &'f Files) -> impl Iterator<Item = &'f Arc<File>> {
        files.get(&self.target).into_iter().chain(files.below(&self.target))
    }
}

/// The same changes under all names that links give to the files. Names that have a text of their own are left
/// out.
pub fn by_other_names(links: &[Link], changes: &[FileChange], files: &Files) -> Vec<FileChange> {
    let mut all = Vec::new();
    for change in changes.iter().filter(|_| !links.is_empty()) {
        let names = other_names(links, &change.path).into_iter().filter(|it| files.get(it).is_none());
        all.extend(names.map(|path| FileChange { path, kind: change.kind }));
    }
    all
}

/// The names that a file has by links, and by links behind links.
fn other_names(links: &[Link], file: &str) -> Vec<String> {
    let mut names = vec![file.to_owned()];
    let mut at = 0;
    while let Some(name) = names.get(at).filter(|_| names.len() < MOST_NAMES).cloned() {
        for other in links.iter().filter_map(|it| it.other_name(&name)) {
            if !names.contains(&other) {
                names.push(other);
            }
        }
        at += 1;
    }
    names.split_off(1)
}

/// What answers miss for code that uses the names of these links. `None` if there are no links.
pub fn missing<'a>(links: impl IntoIterator<Item = &'a Link>) -> Option<Missing> {
    let links: Vec<&Link> = links.into_iter().collect();
    let target = |it: &Link| if it.target.is_empty() { ".".to_owned() } else { it.target.clone() };
    let one = |it: &&Link| format!("`{}` is a link to `{}`", it.name, target(it));
    let shown = links.iter().take(MOST_SHOWN).map(one).collect::<Vec<_>>().join(", ");
    let (more, it) = match links.len() {
        0 => return None,
        1 => ("", "it by the link"),
        many if many <= MOST_SHOWN => ("", "them by the links"),
        _ => (", …", "them by the links"),
    };
    let detail = format!("{shown}{more}: code that names {it} is not followed");
    Some(Missing::new(MissingCode::Unsupported, SCOPE, detail))
}

#[cfg(test)]
mod tests {
    use super::{Link, by_other_names, missing, other_names};
    use crate::engine::{FileChange, FileChangeKind};
    use crate::files::{File, Files};

    fn link(name: &str, target: &str) -> Link {
        Link { name: name.to_owned(), target: target.to_owned() }
    }

    #[test]
    fn a_file_has_the_names_of_all_links_that_lead_there() {
        let links = [link("lib", "lib2"), link("a/b.c", "lib2/x.c"), link("top", "lib")];
        assert_eq!(other_names(&links, "lib2/x.c"), ["lib/x.c", "a/b.c", "top/x.c"]);
        assert!(other_names(&links, "lib22/x.c").is_empty() && other_names(&links, "x.c").is_empty());
        assert_eq!(other_names(&[link("a/all", "")], "x.c").first().map(String::as_str), Some("a/all/x.c"));
    }

    #[test]
    fn what_is_a_text_of_its_own_changes_by_itself() {
        let mut files = Files::default();
        files.insert(std::sync::Arc::new(File::new(None, "b.c", "")));
        let change = |path: &str| FileChange { path: path.to_owned(), kind: FileChangeKind::Changed };
        let links = [link("b.c", "d/a.c"), link("e", "d")];
        assert_eq!(by_other_names(&links, &[change("d/a.c")], &files), [change("e/a.c")]);
        assert!(by_other_names(&[], &[change("d/a.c")], &files).is_empty());
    }

    #[test]
    fn the_lack_names_the_links() {
        assert_eq!(missing(&[]), None);
        let detail = missing(&[link("lib", "lib2")]).unwrap().detail;
        assert_eq!(detail, "`lib` is a link to `lib2`: code that names it by the link is not followed");
        let many: Vec<Link> = (0..7).map(|it| link(&format!("l{it}"), "")).collect();
        let detail = missing(&many).unwrap().detail;
        assert!(detail.contains("`l4` is a link to `.`, …: code") && !detail.contains("l5"), "{detail}");
    }
}
