//! Which packages a changed file can reach if imports do not show it: a text may name a file that is not code. A
//! package that may be reached counts as reached.

use std::sync::Arc;

use crate::files::{File, Files};

/// The index of the innermost package directory that contains a file.
pub fn owner_of(directories: &[String], file: &str) -> Option<usize> {
    let lies_in = |directory: &str| {
        directory.is_empty() || file.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
    };
    let around = directories.iter().enumerate().filter(|(_, it)| lies_in(it));
    around.max_by_key(|(_, it)| it.len()).map(|(at, _)| at)
}

/// The texts of other packages that name a file or a directory that contains it, each with the index of its package.
/// They may read the file when they are built or run. Directories that contain both packages do not count.
pub fn who_names<'f>(directories: &[String], files: &'f Files, changed: &str) -> Vec<(usize, &'f File)> {
    let owner = owner_of(directories, changed);
    let names = |file: &&'f Arc<File>| {
        let at = owner_of(directories, &file.path).filter(|it| Some(*it) != owner)?;
        if !leads_out(file) {
            return None;
        }
        let names = names_of(changed, directories.get(at)?);
        names.iter().any(|it| file.text.contains(it)).then_some(at)
    };
    files.iter().filter_map(|file| Some((names(&file)?, &**file))).collect()
}

/// Whether a text may refer to something outside its own directory.
fn leads_out(file: &File) -> bool {
    ["../", "\"..\"", "parent()", "ancestors()"].iter().any(|it| file.text.contains(it))
}

/// The file's name, and the names of its directories, except those that also contain `other`.
fn names_of<'a>(changed: &'a str, other: &str) -> Vec<&'a str> {
    let components: Vec<&str> = changed.split('/').collect();
    let shared = components.iter().zip(other.split('/')).take_while(|(a, b)| *a == b).count();
    // These names occur in many texts, so a match of one says nothing.
    let is_telling = |it: &&str| it.len() > 2 && !matches!(*it, "src" | "tests" | "test" | "lib" | "crates");
    components.into_iter().skip(shared).filter(is_telling).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_model::Languages;

    #[test]
    fn the_innermost_package_owns_a_file() {
        let directories = ["", "a", "a/b"].map(str::to_owned);
        assert_eq!(owner_of(&directories, "a/b/c.rs"), Some(2));
        assert_eq!(owner_of(&directories, "a/bc/c.rs"), Some(1));
        assert_eq!(owner_of(&directories, "d/c.rs"), Some(0));
        assert_eq!(owner_of(&directories[1..], "d/c.rs"), None);
    }

    #[test]
    fn who_names_a_file_elsewhere_may_read_it() {
        let mut files = Files::new(Languages::default());
        for (name, text) in [
            ("a/src/x.rs", "read(\"../testdata/one.json\")"),
            ("b/src/x.rs", "read(\"../testdata\")"),
            ("c/src/x.rs", "let one = 1; // ../other"),
            ("e/src/x.rs", "for testdata in 0..2 {}"),
            ("d/src/x.rs", "let testdata = 1;"),
        ] {
            let file = files.file(name, text);
            files.insert(Arc::new(file));
        }
        let directories = ["a", "b", "c", "d", "e"].map(str::to_owned);
        let found = who_names(&directories, &files, "testdata/one.json");
        assert_eq!(found.iter().map(|it| it.0).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(names_of("a/testdata/one.json", "a/x"), ["testdata", "one.json"]);
    }
}
