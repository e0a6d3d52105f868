//! The places that a query names: paths, lines, and frames of stack traces.

use std::collections::HashMap;

use super::index::{At, Index};
use super::query::Query;

/// A path that fits more files names none of them.
const MOST_FILES: usize = 5;

/// What a query names by a path.
#[derive(Debug, Default)]
pub(super) struct Placed {
    /// The files, from 0 to 1.
    pub files: HashMap<usize, f64>,
    /// The sections that have a named line, from 0 to 1.
    pub sections: HashMap<At, f64>,
}

/// How much a file counts of which a longer path has the name alone.
const NAME_ALONE: f64 = 0.5;
/// How much a file counts whose module a qualified name names, as in `package.module.Class`.
const MODULE: f64 = 0.5;

/// The files and sections that the places of a query mean.
pub(super) fn placed(index: &Index, query: &Query) -> Placed {
    let mut placed = Placed::default();
    modules(index, query, &mut placed);
    if query.places.is_empty() {
        return placed;
    }
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (position, it) in index.files.iter().enumerate() {
        let name = it.file.path.rsplit('/').next().unwrap_or_default();
        by_name.entry(name).or_default().push(position);
    }
    for place in &query.places {
        let Some(name) = place.path.last() else { continue };
        let Some(same) = by_name.get(name.as_str()) else { continue };
        let origin = origin(&place.path);
        if origin == Origin::Toolchain {
            continue;
        }
        let is_here = |position: &usize| match &origin {
            Origin::Package(name) => is_of_package(index, *position, name),
            _ => true,
        };
        let path = |position: usize| index.files.get(position).map_or("", |it| &*it.file.path);
        // The files that share most of the end of the path.
        let shared = |position: &usize| {
            path(*position).rsplit('/').zip(place.path.iter().rev()).take_while(|(a, b)| *a == b.as_str()).count()
        };
        let same: Vec<usize> = same.iter().copied().filter(is_here).collect();
        let most = same.iter().map(shared).max().unwrap_or_default();
        let fitting: Vec<usize> = same.into_iter().filter(|it| shared(it) == most).collect();
        if fitting.len() > MOST_FILES {
            continue;
        }
        let share = 1.0 / fitting.len() as f64;
        for position in fitting {
            let is_whole = most == place.path.len() || most > path(position).matches('/').count();
            let is_name_alone = most < 2 && !is_whole && !has_in_order(path(position), &place.path);
            let share = if is_name_alone { NAME_ALONE * share } else { share };
            let known = placed.files.entry(position).or_default();
            *known = known.max(share);
            let Some(ranked) = index.files.get(position).filter(|_| !is_name_alone) else { continue };
            let at = place.line.and_then(|it| ranked.file.lines().line_span(it));
            if let Some(section) = at.and_then(|it| ranked.file.terms().section_at(it.start)) {
                let known = placed.sections.entry((position, section)).or_default();
                *known = known.max(share);
            }
        }
    }
    placed
}

/// Whose file a path names, as far as its directories say.
#[derive(Debug, PartialEq, Eq)]
enum Origin<'a> {
    /// Perhaps one of the workspace.
    Unknown,
    /// One of an installed package, which may be a copy of this one.
    Package(&'a str),
    /// One of a standard library.
    Toolchain,
}

fn origin(path: &[String]) -> Origin<'_> {
    let mut origin = Origin::Unknown;
    for (at, part) in path.iter().enumerate() {
        let after = |distance: usize| path.get(at + distance).map_or("", String::as_str);
        let before = at.checked_sub(1).and_then(|it| path.get(it)).map_or("", String::as_str);
        // `python3.12`, `go-1.22`.
        let is_versioned = || {
            let number = part.trim_start_matches(|it: char| it.is_ascii_alphabetic()).trim_start_matches('-');
            number.len() < part.len() && number.starts_with(|it: char| it.is_ascii_digit())
        };
        let is_hash = || part.len() > 6 && part.bytes().all(|it| it.is_ascii_hexdigit());
        let is_installed = || path.iter().any(|it| it.ends_with("-packages"));
        match part.as_str() {
            ".rustup" => return Origin::Toolchain,
            "golang.org" if after(1).starts_with("toolchain@") => return Origin::Toolchain,
            // `/usr/local/NAME/src`.
            "local" if before == "usr" && after(2) == "src" => return Origin::Toolchain,
            // The sources of a compiler's library, by its commit.
            _ if is_hash() && after(1) == "library" => return Origin::Toolchain,
            _ if (before == "lib" || after(1) == "Lib") && is_versioned() && !is_installed() => {
                return Origin::Toolchain;
            }
            "site-packages" | "dist-packages" => origin = Origin::Package(stem(after(1))),
            "node_modules" => origin = Origin::Package(if after(1).starts_with('@') { after(2) } else { after(1) }),
            // `registry/src/INDEX/NAME-1.2.3` and `git/checkouts/NAME-HASH`.
            "registry" if after(1) == "src" => origin = Origin::Package(without_version(after(3))),
            "checkouts" => origin = Origin::Package(without_version(after(1))),
            _ => {
                // `go/pkg/mod/HOST/OWNER/NAME/v2@v2.0.1`.
                if let Some((name, _)) = part.split_once("@v") {
                    origin = Origin::Package(if is_major(name) { before } else { name });
                }
            }
        }
    }
    origin
}

/// `v2`, the last part of the path of a Go module.
fn is_major(name: &str) -> bool {
    name.strip_prefix('v').is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
}

/// `serde_json` of `serde_json-1.0.2`.
fn without_version(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |it| it.0)
}

/// Whether a file may be one of a package: a directory or a manifest above it has the name.
fn is_of_package(index: &Index, position: usize, name: &str) -> bool {
    /// How the names of manifests end.
    const MANIFESTS: &[&str] = &[".toml", ".json", ".mod"];
    /// The lines of a manifest that may have its name.
    const HEAD: usize = 40;
    let Some(path) = index.files.get(position).map(|it| &*it.file.path) else { return false };
    let is_same = |it: &str| it.replace('-', "_") == name.replace('-', "_");
    let declares = |text: &str| {
        text.lines().take(HEAD).map(str::trim).any(|line| {
            let value = ["name", "\"name\"", "module"].iter().find_map(|it| line.strip_prefix(it));
            let value = value.map(|it| it.trim_matches([' ', '=', ':', '"', ',']));
            value.and_then(|it| it.rsplit('/').find(|it| !is_major(it))).is_some_and(is_same)
        })
    };
    let has_manifest = |directory: &str| {
        index.files.iter().any(|it| {
            let (of, name) = it.file.path.rsplit_once('/').unwrap_or(("", &it.file.path));
            of == directory && MANIFESTS.iter().any(|it| name.ends_with(it)) && declares(&it.file.text)
        })
    };
    let mut directories = path.match_indices('/').filter_map(|it| path.get(..it.0)).chain([""]);
    path.split('/').any(|it| is_same(stem(it))) || directories.any(has_manifest)
}

/// Whether a path has the parts of another one in their order, with more in between.
fn has_in_order(path: &str, parts: &[String]) -> bool {
    let mut directories = path.split('/');
    parts.iter().all(|part| directories.any(|it| it == part))
}

/// Adds the files that are the modules of qualified names. The longest part of a name that is a module decides.
fn modules(index: &Index, query: &Query, placed: &mut Placed) {
    let qualified: Vec<Vec<&str>> = query
        .names
        .iter()
        .filter(|it| !it.qualifier.is_empty())
        .map(|it| it.qualifier.iter().map(String::as_str).chain([it.name.as_str()]).collect())
        .collect();
    if qualified.is_empty() {
        return;
    }
    let mut by_stem: HashMap<&str, Vec<usize>> = HashMap::new();
    for (position, it) in index.files.iter().enumerate() {
        by_stem.entry(stem(&it.file.path)).or_default().push(position);
    }
    for name in qualified {
        let found = (2..=name.len()).rev().find_map(|length| {
            let module = name.get(..length)?;
            let is_it = |position: &usize| {
                let path = index.files.get(*position).map_or("", |it| &it.file.path);
                let directories = path.rsplit('/').skip(1);
                module.iter().rev().skip(1).zip(directories.map(Some).chain([None; 8])).all(|(a, b)| Some(*a) == b)
            };
            let same = by_stem.get(module.last()?)?;
            let files: Vec<usize> = same.iter().copied().filter(is_it).take(MOST_FILES + 1).collect();
            (!files.is_empty() && files.len() <= MOST_FILES).then_some(files)
        });
        let files = found.unwrap_or_default();
        let share = MODULE / files.len().max(1) as f64;
        for file in files {
            let known = placed.files.entry(file).or_default();
            *known = known.max(share);
        }
    }
}

/// The name of a file without its ending.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.split('.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::weights::WEIGHTS;
    use super::*;
    use semdex_engine::files::Files;
    use semdex_model::Languages;

    /// The files that the places of a text mean, and whether a line of each is known.
    fn meant(text: &str) -> Vec<(String, bool)> {
        let mut files = Files::new(Languages::default());
        for (path, text) in [
            ("Cargo.toml", "[package]\nname = \"shop-core\"\n"),
            ("src/basket.rs", "a\nb\nc\n"),
            ("src/option.rs", "a\nb\nc\n"),
            ("run.go", "a\nb\nc\n"),
            ("src/shop/app.py", "a\nb\nc\n"),
            ("src/shop/typing.py", "a\nb\nc\n"),
            ("packages/client/go.mod", "module example.com/shop/client/v2\n"),
            ("packages/client/src/call.go", "a\nb\nc\n"),
        ] {
            files.insert(files.file(path, text.to_owned()).into());
        }
        let index = Index::new(&files, |_| false, |_| false);
        let placed = placed(&index, &Query::new(text, &WEIGHTS));
        let path = |position: &usize| index.files[*position].file.path.to_string();
        let has_line = |position: &usize| placed.sections.keys().any(|it| it.0 == *position);
        let mut meant: Vec<_> = placed.files.keys().map(|it| (path(it), has_line(it))).collect();
        meant.sort();
        meant
    }

    #[test]
    fn frames_of_this_workspace_are_placed_wherever_it_is() {
        for (text, file) in [
            ("src/basket.rs:2:1: mismatched types", "src/basket.rs"),
            ("  --> basket.rs:2:1", "src/basket.rs"),
            ("/srv/me/shop/src/shop/app.py:2: in run", "src/shop/app.py"),
            ("\t/srv/me/shop/run.go:2 +0x1d", "run.go"),
            ("File \"/usr/lib/python3.12/site-packages/shop/app.py\", line 2, in run", "src/shop/app.py"),
            ("at /srv/.cargo/registry/src/index-1/shop-core-0.3.1/src/option.rs:2:3", "src/option.rs"),
            ("/srv/go/pkg/mod/example.com/shop/client/v2@v2.1.0/src/call.go:2 +0x1d", "packages/client/src/call.go"),
            ("at call (client/call.go:2)", "packages/client/src/call.go"),
        ] {
            assert_eq!(meant(text), [(file.to_owned(), true)], "{text}");
        }
    }

    #[test]
    fn frames_of_other_packages_name_no_file_of_this_one() {
        for text in [
            "at /rustc/0123abcd/library/core/src/option.rs:2:3",
            "/srv/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/option.rs:2:3",
            "at /srv/.cargo/registry/src/index-1/tokio-1.2.3/src/option.rs:2:3",
            "/usr/local/go/src/net/call.go:2 +0x1d",
            "/srv/go/pkg/mod/example.com/phone@v1.1.0/call.go:2 +0x1d",
            "File \"/usr/lib/python3.12/typing.py\", line 2, in run",
            "File \"C:\\Python312\\Lib\\json\\app.py\", line 2, in run",
            "/srv/venv/lib/python3.12/site-packages/stand/app.py:2: in run",
            "at run (/srv/node_modules/@stand/phone/src/call.go:2:3)",
        ] {
            assert_eq!(meant(text), [], "{text}");
        }
        // Of an unknown directory the name may be right, but hardly the line.
        assert_eq!(meant("stand/app.py:2: in run"), [("src/shop/app.py".to_owned(), false)]);
    }
}
