//! The rules of the repository that Cargo, rustc and clippy do not check.
//!
//! Each rule is a function from names and texts to complaints, and each has a test that shows it fail.

mod circles;
mod complaint;
mod crates;
mod files;
mod imports;
mod manifest;
mod parse;
mod prose;
mod repository;
mod source;
mod words;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use complaint::Complaint;
use manifest::Manifest;
use repository::Repository;
use source::Source;

/// All complaints about the repository at `root`, in the order of its files.
pub(crate) fn check(root: &Path) -> io::Result<Vec<Complaint>> {
    let repository = Repository::read(root)?;
    let mut complaints = Vec::new();
    complaints.extend(manifests(&repository));
    complaints.extend(sources(&repository));
    complaints.extend(texts(&repository));
    complaints.sort();
    Ok(complaints)
}

fn manifests(repository: &Repository) -> Vec<Complaint> {
    let is_ours = |file: &str| file == "Cargo.toml" || file.starts_with("crates/") || file.starts_with("xtask/");
    let texts = repository.texts_of("Cargo.toml").filter(|(file, _)| is_ours(file));
    let (manifests, mut complaints) = parsed(texts, Manifest::parse);
    for manifest in &manifests {
        complaints.extend(crates::arrows(manifest));
        complaints.extend(crates::only_places(manifest));
        complaints.extend(crates::pure(manifest));
        complaints.extend(crates::lints(manifest));
        complaints.extend(crates::pins(manifest));
    }
    complaints.extend(crates::rows(&manifests));
    let named = |file: &str| manifests.iter().find(|it| it.file == file);
    if let (Some(root), Some(parser)) = (named("Cargo.toml"), named("crates/parser/Cargo.toml")) {
        complaints.extend(crates::parser(root, parser));
    }
    let corpus = "tests/fixtures/corpus/Cargo.lock";
    complaints.extend(crates::unavailable(corpus, repository.text(corpus), repository.text("Cargo.lock")));
    complaints
}

fn sources(repository: &Repository) -> Vec<Complaint> {
    let is_ours = |file: &str| {
        file.starts_with("src/")
            || (file.starts_with("crates/") && !file.starts_with("crates/base-db/"))
            || file.starts_with("tests/it/")
            || file.starts_with("xtask/")
    };
    let texts = repository.texts_of(".rs").filter(|(file, _)| is_ours(file));
    let (mut sources, mut complaints) = parsed(texts, parse::parse);
    source::mark_test_files(&mut sources);
    for source in &sources {
        complaints.extend(words::languages(source));
        complaints.extend(words::tools_of_go(source));
        complaints.extend(words::processes(source));
        complaints.extend(words::pure(source));
        complaints.extend(words::sleeps_and_skips(source));
        complaints.extend(files::size(source));
        complaints.extend(files::head(source));
    }
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().filter(|it| !it.crate_name().is_empty()) {
        crates.entry(source.crate_name()).or_default().push(source);
    }
    for (name, sources) in crates {
        complaints.extend(files::names(name, &sources));
        let edges = imports::edges(&sources);
        complaints.extend(circles::circles(&edges));
        complaints.extend(circles::layers(name, &sources, &edges, circles::LAYERS));
    }
    complaints
}

fn texts(repository: &Repository) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (file, text) in repository.texts_of(".md") {
        let directory = repository.root.join(file).parent().map(Path::to_path_buf).unwrap_or_default();
        complaints.extend(prose::dead_links(file, text, |target| directory.join(target).exists()));
    }
    for (file, limit) in prose::FIRST_PAGES {
        complaints.extend(prose::too_large(file, repository.text(file), *limit));
    }
    for (file, commands) in prose::COMMANDS {
        complaints.extend(prose::missing_in_order(file, repository.text(file), commands));
    }
    for file in prose::WITH_TARGETS {
        complaints.extend(prose::unknown_targets(file, repository.text(file), repository.text("Makefile")));
    }
    for (file, text) in repository.texts() {
        complaints.extend(files::machine_paths(file, text));
        complaints.extend(files::scripts(file, text, repository.is_executable(file)));
    }
    complaints
}

/// What each text parses to, and the complaints about those that do not parse.
fn parsed<'a, T>(
    texts: impl Iterator<Item = (&'a str, &'a str)>,
    parse_one: fn(&str, &str) -> Result<T, Complaint>,
) -> (Vec<T>, Vec<Complaint>) {
    let (mut values, mut complaints) = (Vec::new(), Vec::new());
    for (file, text) in texts {
        match parse_one(file, text) {
            Ok(value) => values.push(value),
            Err(complaint) => complaints.push(complaint),
        }
    }
    (values, complaints)
}

#[cfg(test)]
mod tests {
    use super::complaint::fails;
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let complaints: Vec<String> = check(&crate::root()).unwrap().iter().map(ToString::to_string).collect();
        assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
    }

    #[test]
    fn a_file_that_does_not_parse_is_a_complaint() {
        let (values, complaints) = parsed([("src/a.rs", "\nfn {")].into_iter(), parse::parse);
        assert!(values.is_empty());
        fails(complaints, "src/a.rs:2: ");
        let (_, complaints) = parsed([("Cargo.toml", "[package\n")].into_iter(), Manifest::parse);
        fails(complaints, "Cargo.toml:1: ");
    }
}
