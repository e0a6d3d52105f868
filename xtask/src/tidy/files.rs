//! Files as such: their size, head and names, and paths that only one machine has.

use std::collections::BTreeMap;

use super::complaint::Complaint;
use super::source::Source;

/// Lines of a file that are not blank, tests aside.
const MAX_LINES: usize = 800;
/// A file of tests is a list of cases: it may be longer.
const MAX_TEST_LINES: usize = 2 * MAX_LINES;

/// Modules of one crate that may have the same name.
const MOST_OF_A_NAME: usize = 2;
/// Names that say what a file is to its folder, not what it holds.
const COMMON_NAMES: &[&str] = &["tests", "fuzz"];

pub(crate) fn size(source: &Source) -> Vec<Complaint> {
    let is_counted = |line: usize| source.is_test || !source.tests.iter().any(|it| it.contains(&line));
    let lines = source.text.lines().enumerate().filter(|(at, it)| !it.trim().is_empty() && is_counted(at + 1)).count();
    let limit = if source.is_test { MAX_TEST_LINES } else { MAX_LINES };
    if lines <= limit {
        return Vec::new();
    }
    let message = format!("{lines} lines, {limit} are allowed: move one of its ideas to a file of its own");
    vec![Complaint::new(&source.file, 1, message)]
}

pub(crate) fn head(source: &Source) -> Vec<Complaint> {
    if source.text.starts_with("//! ") {
        return Vec::new();
    }
    vec![Complaint::new(&source.file, 1, "begin the file with a `//!` head that says what it is for")]
}

/// Takes the files of one crate, tests included: a reader looks for a name in all of them.
pub(crate) fn names(crate_name: &str, sources: &[&Source]) -> Vec<Complaint> {
    let mut named: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for source in sources {
        if let Some(name) = source.module().pop().filter(|it| !COMMON_NAMES.contains(&it.as_str())) {
            named.entry(name).or_default().push(&source.file);
        }
    }
    let too_often = named.into_iter().filter(|(_, files)| files.len() > MOST_OF_A_NAME);
    let complaint = |(name, files): (String, Vec<&str>)| {
        let message = format!(
            "{} modules of {crate_name} are called `{name}`, {MOST_OF_A_NAME} may be. Rename them after what they \
             hold: {}",
            files.len(),
            files.join(", ")
        );
        Complaint::new(files[0], 1, message)
    };
    too_often.map(complaint).collect()
}

/// Home and work directories of an author. The needles are put together here, not to be found in this file.
pub(crate) fn machine_paths(file: &str, text: &str) -> Vec<Complaint> {
    let needles = ["root", "work", "home"].map(|directory| format!("/{directory}/"));
    let starts =
        |line: &str, at: usize| !line[..at].ends_with(|it: char| it.is_alphanumeric() || "._-~}*".contains(it));
    let mut complaints = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for needle in &needles {
            if line.match_indices(needle.as_str()).any(|(at, _)| starts(line, at)) {
                let message = format!("a path of one machine, below `{needle}`: make it relative, or an argument");
                complaints.push(Complaint::new(file, number + 1, message));
            }
        }
    }
    complaints
}

/// Documents call scripts by their names. A script that is only imported has no first line for the system.
pub(crate) fn scripts(file: &str, text: &str, is_executable: bool) -> Vec<Complaint> {
    let message = match (text.starts_with("#!/"), is_executable) {
        (true, false) => "a script that cannot be executed: `chmod +x`",
        (false, true) => "executable, but no script: `chmod -x`, or begin it with `#!/usr/bin/env`",
        _ => return Vec::new(),
    };
    vec![Complaint::new(file, 1, message.to_owned())]
}

#[cfg(test)]
mod tests {
    use super::super::complaint::{fails, passes};
    use super::super::parse::source;
    use super::super::source::mark_test_files;
    use super::*;

    #[test]
    fn a_long_or_headless_file_is_found() {
        let lines = |count: usize, line: &str| "//! Head.\n".to_owned() + &line.repeat(count);
        fails(size(&source("src/a.rs", &lines(800, "fn f() {}\n"))), "801 lines, 800 are allowed");
        passes(size(&source("src/a.rs", &lines(799, "fn f() {}\n\n"))));
        let tested = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines(10, "\n"), "fn f() {}\n".repeat(900));
        passes(size(&source("src/a.rs", &tested)));
        passes(size(&source("tests/it/a.rs", &lines(1599, "fn f() {}\n"))));
        fails(size(&source("tests/it/a.rs", &lines(1600, "fn f() {}\n"))), "1601 lines, 1600 are allowed");
        fails(head(&source("src/a.rs", "/// Not a head.\nuse std::fs;")), "head");
        passes(head(&source("src/a.rs", "//! What it is for.\n")));
    }

    #[test]
    fn a_name_of_many_modules_is_found() {
        let found = |files: &[&str]| {
            let mut sources: Vec<_> = files.iter().map(|it| source(&format!("crates/x/src/{it}"), "")).collect();
            mark_test_files(&mut sources);
            names("x", &sources.iter().collect::<Vec<_>>())
        };
        fails(found(&["a/names.rs", "b/names.rs", "names/mod.rs"]), "3 modules of x are called `names`, 2 may be");
        fails(found(&["a/names.rs", "b/names.rs", "tests/names.rs"]), "3 modules of x");
        passes(found(&["a/names.rs", "b/names.rs"]));
        passes(found(&["a/mod.rs", "b/mod.rs", "c/mod.rs", "lib.rs"]));
        passes(found(&["a/tests.rs", "b/tests.rs", "c/tests.rs", "a/fuzz.rs", "b/fuzz.rs", "c/fuzz.rs"]));
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        fails(machine_paths("a.md", &format!("see /{}/me/x", "home")), "a.md:1:");
        passes(machine_paths("a.md", "see https://example.com/home/x, a/work/b and ~/work/x"));
    }

    #[test]
    fn a_script_that_cannot_be_executed_is_found() {
        fails(scripts("a.py", "#!/usr/bin/env python3\n", false), "a.py:1: a script that cannot be executed");
        fails(scripts("a.py", "import os\n", true), "a.py:1: executable, but no script");
        passes(scripts("a.py", "#!/usr/bin/env python3\n", true));
        passes(scripts("a.rs", "#![allow(dead_code)]\n", false));
    }
}
