//! Parser for `go.mod` and `go.work`, and the order of versions.

use std::cmp::Ordering;
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Module {
    /// The directory of its `go.mod`; `""` is the root.
    pub directory: String,
    pub path: String,
    pub go: Option<String>,
    pub requires: Vec<Require>,
    pub replaces: Vec<Replace>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Require {
    pub path: String,
    pub version: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replace {
    pub path: String,
    /// Absent: every version.
    pub version: Option<String>,
    /// A module's path, or a directory if it begins with `.` or `/`.
    pub target: String,
    pub target_version: Option<String>,
}

/// A `go.work` file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Work {
    pub directory: String,
    pub go: Option<String>,
    /// The directories of its modules, as workspace paths.
    pub uses: Vec<String>,
    /// The directories outside the workspace, as they are written.
    pub uses_outside: Vec<String>,
    pub replaces: Vec<Replace>,
}

pub(crate) fn parse_module(directory: &str, text: &str) -> Option<Module> {
    let mut module = Module { directory: directory.to_owned(), ..Module::default() };
    for line in statements(text) {
        let words: Vec<&str> = line.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["module", path] => module.path = (*path).to_owned(),
            ["go", version] => module.go = Some((*version).to_owned()),
            ["require", path, version, ..] => {
                module.requires.push(Require { path: (*path).to_owned(), version: (*version).to_owned() });
            }
            ["replace", rest @ ..] => module.replaces.extend(parse_replace(rest)),
            _ => {}
        }
    }
    drop_overridden(&mut module.replaces);
    (!module.path.is_empty()).then_some(module)
}

pub(crate) fn parse_work(directory: &str, text: &str) -> Work {
    let mut work = Work { directory: directory.to_owned(), ..Work::default() };
    for line in statements(text) {
        let words: Vec<&str> = line.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["go", version] => work.go = Some((*version).to_owned()),
            ["use", used] => match join(directory, used) {
                Some(inside) => work.uses.push(inside),
                None => work.uses_outside.push((*used).to_owned()),
            },
            ["replace", rest @ ..] => work.replaces.extend(parse_replace(rest)),
            _ => {}
        }
    }
    drop_overridden(&mut work.replaces);
    work
}

/// For one module in one version, the last replacement counts.
fn drop_overridden(replaces: &mut Vec<Replace>) {
    let mut later = BTreeSet::new();
    replaces.reverse();
    replaces.retain(|it| later.insert((it.path.clone(), it.version.clone())));
    replaces.reverse();
}

fn parse_replace(words: &[&str]) -> Option<Replace> {
    let arrow = words.iter().position(|it| *it == "=>")?;
    let (old, new) = (&words[..arrow], &words[arrow + 1..]);
    Some(Replace {
        path: (*old.first()?).to_owned(),
        version: old.get(1).map(|it| (*it).to_owned()),
        target: (*new.first()?).to_owned(),
        target_version: new.get(1).map(|it| (*it).to_owned()),
    })
}

/// The statements of a `go.mod` or `go.work` as words. Each line of a block is a statement with the block's verb.
fn statements(text: &str) -> Vec<Vec<String>> {
    let mut statements = Vec::new();
    let mut block: Option<String> = None;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let mut words = words(line);
        match (words.as_slice(), &block) {
            ([], _) => {}
            ([close], Some(_)) if close == ")" => block = None,
            (_, Some(verb)) => {
                words.insert(0, verb.clone());
                statements.push(words);
            }
            ([verb, open], None) if open == "(" => block = Some(verb.clone()),
            _ => statements.push(words),
        }
    }
    statements
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() && !rest.starts_with("//") {
        let quote = rest.chars().next().filter(|it| matches!(it, '"' | '`'));
        let (word, after) = match quote {
            Some(quote) => rest[1..].split_once(quote).unwrap_or((&rest[1..], "")),
            None if rest.starts_with(['(', ')']) => rest.split_at(1),
            None => {
                let ends = |(at, it): &(usize, char)| {
                    it.is_whitespace() || matches!(it, '(' | ')') || rest[*at..].starts_with("//")
                };
                rest.split_at(rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at))
            }
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}

/// Resolves a relative path from a directory of the workspace; `None` if the result is outside it.
fn join(directory: &str, relative: &str) -> Option<String> {
    if relative.starts_with('/') {
        return None;
    }
    let mut components: Vec<&str> = directory.split('/').filter(|it| !it.is_empty()).collect();
    for component in relative.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                components.pop()?;
            }
            name => components.push(name),
        }
    }
    Some(components.join("/"))
}

/// Compares by semantic versioning, ignoring build metadata.
pub(crate) fn compare_versions(a: &str, b: &str) -> Ordering {
    let parts = |version: &str| {
        let version = version.strip_prefix('v').unwrap_or(version).split('+').next().unwrap_or_default().to_owned();
        let (numbers, pre) = version.split_once('-').map_or((version.as_str(), None), |(a, b)| (a, Some(b)));
        let numbers: Vec<u64> = numbers.split('.').map(|it| it.parse().unwrap_or(0)).collect();
        (numbers, pre.map(str::to_owned))
    };
    let ((a, a_pre), (b, b_pre)) = (parts(a), parts(b));
    a.cmp(&b).then_with(|| match (a_pre, b_pre) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(a), Some(b)) => compare_prereleases(&a, &b),
    })
}

fn compare_prereleases(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.split('.'), b.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) => match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_files() {
        let text = "\u{feff}// comment\r\nmodule \"example.com/m\" // the module\r\n\r\ngo 1.26.1\r\nrequire a/b v1.0.0 // indirect\r\nrequire (\r\n\tc/d v1.2.3-pre\r\n\t`e/f` v0.0.0//x\r\n)\r\n\
                    replace (\r\n\ta/b => ../b\r\n\tc/d v1.2.3 => x/y v2.0.0\r\n)\r\nexclude (\r\n\ta/b v1.1.1\r\n)\r\nretract [v1.0.0, v1.1.0]\r\n";
        let module = parse_module("dir", text).unwrap();
        assert_eq!((module.path.as_str(), module.go.as_deref()), ("example.com/m", Some("1.26.1")));
        let requires: Vec<String> = module.requires.iter().map(|it| format!("{} {}", it.path, it.version)).collect();
        assert_eq!(requires, ["a/b v1.0.0", "c/d v1.2.3-pre", "e/f v0.0.0"]);
        let [first, second] = module.replaces.as_slice() else { panic!("{:?}", module.replaces) };
        assert_eq!((first.path.as_str(), first.target.as_str(), &first.version), ("a/b", "../b", &None));
        assert_eq!((second.version.as_deref(), second.target_version.as_deref()), (Some("v1.2.3"), Some("v2.0.0")));
        assert_eq!(parse_module("", "go 1.26\n"), None);
        let block = parse_module("", "module (\n\texample.com/m\n)\n").unwrap();
        assert_eq!(block.path, "example.com/m");
    }

    #[test]
    fn work_files() {
        let work = parse_work("w", "go 1.26\nuse (\n\t.\n\t./a/b\n\t../c\n\t../../out\n)\nuse d\n");
        assert_eq!(work.uses, ["w", "w/a/b", "c", "w/d"]);
        assert_eq!(work.uses_outside, ["../../out"]);
    }

    #[test]
    fn order_of_versions() {
        let ordered = [
            "v0.0.0-20200101000000-abc",
            "v0.0.0",
            "v1.2.0-alpha.2",
            "v1.2.0-alpha.10",
            "v1.2.0-beta",
            "v1.2.0",
            "v1.10.0+incompatible",
        ];
        for pair in ordered.windows(2) {
            assert_eq!(compare_versions(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
        assert_eq!(compare_versions("v1.0.0+a", "v1.0.0"), Ordering::Equal);
    }
}
