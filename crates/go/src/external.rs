//! Packages outside the workspace, read from their directories: the standard library, the module cache.

use std::io;
use std::sync::Arc;

use super::constraints::BuildContext;
use super::dependencies::Source;
use super::examples::examples_in;
use super::lookup::{World, may_be_called};
use super::modules::{GoPackage, Standing};
use super::names::{Declaration, is_test_file};
use super::overview::{Documentation, documented, overview};
use super::{links, suggest};
use semdex_engine::files::File;
use semdex_model::{Description, Package};

/// The overview of a package in a directory; its files have absolute names.
pub(crate) fn external_package(source: &Source, import_path: &str, version: Option<&str>) -> io::Result<Package> {
    let (package, _) = read(source, import_path, &BuildContext::host())?;
    let package = package.named();
    let mut shown = overview(&package, version);
    shown.docs = shown.docs.map(|docs| links::resolved(&docs, |link| linked(&package.files, &package, link)));
    Ok(shown)
}

/// All that a directory says of one symbol, given by what its path has behind the package: its source, docs and
/// examples. `None`: the package has no such symbol.
pub(crate) fn external_symbol(source: &Source, import_path: &str, bits: &[&str]) -> io::Result<Option<Description>> {
    let (mut package, tests) = read(source, import_path, &BuildContext::host())?;
    let bits: Vec<String> = bits.iter().map(|it| (*it).to_owned()).collect();
    let all = package.files.clone();
    // Most packages have many files that never name the symbol; those need not be parsed.
    package.files.retain(|file| bits.iter().all(|bit| file.text.contains(bit.as_str())));
    let mut world = World::new(vec![package]);
    if find(&world, &bits).is_none() {
        for package in &mut world.packages {
            package.files.clone_from(&all);
        }
    }
    let Some(found) = find(&world, &bits) else { return Ok(None) };
    let methods = methods_of(&all, found);
    let symbol = documented(found.symbol(), &methods, false);
    let names: Vec<&str> = found.bits().collect();
    let Documentation { source, docs } = Documentation::of(found.file, found.item);
    Ok(Some(Description {
        source,
        docs: docs.map(|docs| links::resolved(&docs, |link| linked(&all, found.package, link))),
        examples: examples_in(tests.iter().map(|it| &**it), &names),
        symbol,
        implementations: Vec::new(),
        container: None,
        version: None,
    }))
}

/// The path that a doc link means: of the package itself, else of what any of its files imports.
fn linked(files: &[Arc<File>], package: &GoPackage, link: &str) -> Option<String> {
    let bits: Vec<String> = link.split('.').map(str::to_owned).collect();
    let (first, rest) = bits.split_first()?;
    // Most files do not declare it; those need not be parsed.
    let declares = ["type ", "func ", "var ", "const ", "\t"].map(|it| format!("{it}{first}"));
    let likely = files.iter().filter(|file| declares.iter().any(|it| file.text.contains(it.as_str())));
    let package = GoPackage { files: likely.cloned().collect(), ..package.clone() };
    let world = World::new(vec![package]);
    if let Some(found) = find(&world, &bits) {
        return Some(found.path());
    }
    let imports = files.iter().filter(|file| file.text.contains(first.as_str())).flat_map(|it| &it.outline().imports);
    let mut named = imports.filter(|it| match &it.alias {
        Some(alias) => alias == first,
        None => may_be_called(&it.path, first),
    });
    let import = named.next()?;
    Some([std::slice::from_ref(&import.path), rest].concat().join("."))
}

/// What may have been meant by a symbol that a package does not have.
pub(crate) fn external_suggestions(source: &Source, import_path: &str, bits: &[String]) -> io::Result<Vec<String>> {
    let (mut package, _) = read(source, import_path, &BuildContext::host())?;
    package.files.retain(|file| !is_test_file(&file.path));
    let world = World::new(vec![package.named()]);
    let exported = |path: &String| suggest::is_exported(path, import_path);
    Ok(suggest::alike(&world, bits, None).into_iter().filter(exported).collect())
}

fn find<'w>(world: &'w World, bits: &[String]) -> Option<Declaration<'w>> {
    world.packages.iter().flat_map(|it| world.lookup(it, bits)).next()
}

/// The methods of a type that was found, from all files of its package.
fn methods_of<'p>(files: &'p [Arc<File>], found: Declaration<'p>) -> Vec<Declaration<'p>> {
    let name = &found.item.name;
    let naming = files.iter().filter(|it| found.item.container.is_empty() && it.text.contains(name.as_str()));
    let methods =
        naming.flat_map(|file| file.outline().items.iter().map(move |item| Declaration { file, item, ..found }));
    methods.filter(|it| it.item.container.first() == Some(name)).collect()
}

/// The files of a package that a build takes, and apart from them its tests.
fn read(source: &Source, import_path: &str, context: &BuildContext) -> io::Result<(GoPackage, Vec<Arc<File>>)> {
    let directory = source.directory();
    let (mut files, mut tests) = (Vec::new(), Vec::new());
    for name in source.go_files()? {
        let path = directory.join(&name);
        let (Some(path), Ok(text)) = (path.to_str(), source.read(&name)) else { continue };
        if context.takes(path, &text) {
            let file = Arc::new(crate::file(path, text));
            if is_test_file(path) { tests.push(file) } else { files.push(file) }
        }
    }
    if files.is_empty() && tests.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("no Go files in {}", directory.display())));
    }
    let package = GoPackage {
        import_path: import_path.to_owned(),
        name: String::new(),
        directory: directory.to_string_lossy().into_owned(),
        files,
        standing: Standing::Member,
        external: true,
    };
    Ok((package, tests))
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_model::SymbolKind;
    use std::process::Command;

    fn goroot_package(import_path: &str) -> Source {
        let output = Command::new("go").args(["env", "GOROOT"]).output().expect("go is needed for these tests");
        let goroot = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        super::super::dependencies::goroot_dir(std::path::Path::new(&goroot), import_path)
            .expect("a package of the standard library")
    }

    #[test]
    fn a_package_of_the_standard_library() {
        let dir = goroot_package("encoding/json");
        let package = external_package(&dir, "encoding/json", Some("go1")).unwrap();
        assert!(package.docs.is_some_and(|it| it.starts_with("Package json implements encoding")));
        assert!(package.external && package.version.as_deref() == Some("go1"));
        let decoder = package.symbols.iter().find(|it| it.path == "encoding/json.Decoder").unwrap();
        assert!(decoder.external && decoder.kind == SymbolKind::Struct && decoder.place.file.starts_with('/'));
        let members: Vec<&str> = decoder.children.iter().map(|it| it.name.as_str()).collect();
        assert!(members.contains(&"Decode") && !members.contains(&"refill"), "{members:?}");
        assert!(package.symbols.iter().all(|it| it.public && !it.test));
    }

    #[test]
    fn a_symbol_of_the_standard_library() {
        let dir = goroot_package("bufio");
        let method = external_symbol(&dir, "bufio", &["Scanner", "Scan"]).unwrap().unwrap();
        assert_eq!(method.symbol.signature, "func (s *Scanner) Scan() bool");
        assert!(method.source.is_some_and(|it| it.starts_with("// Scan advances") && it.ends_with('}')));
        assert!(method.docs.is_some_and(|it| it.starts_with("Scan advances")));
        let ty = external_symbol(&dir, "bufio", &["Scanner"]).unwrap().unwrap();
        assert!(ty.examples.iter().any(|it| it.title == "ExampleScanner_lines" && it.code.contains("scanner.Scan()")));
        assert!(ty.symbol.children.iter().any(|it| it.path == "bufio.Scanner.Buffer"));
        let links = external_symbol(&dir, "bufio", &["NewReadWriter"]).unwrap().unwrap();
        assert!(links.docs.is_some_and(|it| it.contains("[bufio.ReadWriter]")));
        let constant = external_symbol(&goroot_package("os"), "os", &["O_SYNC"]).unwrap().unwrap();
        assert!(constant.docs.is_some_and(|it| it.contains("synchronous I/O")));
        let month = external_symbol(&goroot_package("time"), "time", &["Second"]).unwrap().unwrap();
        assert!(month.docs.is_some_and(|it| it.starts_with("Common durations.")));
        let sorted = external_symbol(&goroot_package("sort"), "sort", &["Interface"]).unwrap().unwrap();
        assert_eq!(sorted.source.map(|it| it.contains("Less(i, j int) bool")), Some(true));
        let promoted = external_symbol(&dir, "bufio", &["ReadWriter", "ReadRune"]).unwrap().unwrap();
        assert_eq!(promoted.symbol.path, "bufio.Reader.ReadRune");
        assert_eq!(external_symbol(&dir, "bufio", &["Nothing"]).unwrap(), None);
    }
}
