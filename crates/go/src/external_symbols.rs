//! Symbols and packages outside the workspace, read from their sources: the standard library, the module cache and
//! modules that replace others. An import path leads to its directory, a directory to its import path and module.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::build_constraints::BuildContext;
use super::dependency_sources::{Source, dependency, goroot_dir};
use super::examples::examples_in;
use super::gomod::parse_module;
use super::modules::{GoPackage, Membership, below};
use super::package_overview::{Documentation, documented, overview};
use super::package_set::{PackageSet, import_name, may_be_called};
use super::session::Session;
use super::symbol_paths::{self, Declaration, is_test_file};
use super::{doc_links, predeclared, resolve, suggest};
use crate::LANGUAGE;
use semdex_engine::files::{File, Files};
use semdex_fs::read_file;
use semdex_model::{Code, Description, Error, Origin, Package, Place, Symbol, SymbolQuery};

/// The limit for a `go.mod`.
const MOST_BYTES: usize = 10 << 20;

/// A package outside the workspace: its directory, version and origin.
struct ExternalPackage {
    source: Source,
    version: Option<String>,
    /// The module; for the standard library, the package.
    origin: Arc<Origin>,
}

/// The symbol outside the workspace that a query names.
pub(crate) fn resolve(session: &Session, files: &Files, query: &SymbolQuery) -> Option<Symbol> {
    wanted(files, query).into_iter().find_map(|(import_path, bits)| find(session, files, &import_path, &bits))
}

/// The packages that a query may mean, each with the rest of the path.
fn wanted(files: &Files, query: &SymbolQuery) -> Vec<(String, Vec<String>)> {
    let mut wanted: Vec<(String, Vec<String>)> = Vec::new();
    if let Some(package) = &query.package {
        let bits = resolve::Wanted::parse(&query.symbol).bits;
        wanted.extend(imports_called(files, package).into_iter().map(|path| (path, bits.clone())));
    }
    for (package, bits) in resolve::splits(&query.symbol) {
        wanted.extend(imports_called(files, &package).into_iter().map(|path| (path, bits.clone())));
    }
    let bits = resolve::Wanted::parse(&query.symbol).bits;
    if query.package.is_none() && predeclared::is_declared(&bits.join(".")) {
        wanted.push((predeclared::PACKAGE.to_owned(), bits));
    }
    wanted
}

/// The symbol of a package outside the workspace.
pub(crate) fn find(session: &Session, files: &Files, import_path: &str, bits: &[String]) -> Option<Symbol> {
    Some(description(session, files, import_path, bits)?.symbol)
}

/// Adds suggestions from the packages that a query names to the error.
pub(crate) fn suggesting(session: &Session, files: &Files, query: &SymbolQuery, mut error: Error) -> Error {
    let mut suggestions = Vec::new();
    for (import_path, bits) in wanted(files, query) {
        let Some(home) = locate(session, files, &import_path) else { continue };
        suggestions.extend(external_suggestions(&home.source, &import_path, &bits).unwrap_or_default());
    }
    for (package, bits) in resolve::splits(&query.symbol) {
        let symbols = imports_like(files, &package).into_iter().filter_map(|it| find(session, files, &it, &bits));
        suggestions.extend(symbols.map(|it| it.path));
    }
    if !suggestions.is_empty() {
        suggestions.append(&mut error.help.suggestions);
        error.help.suggestions = suggest::distinct(suggestions.into_iter());
    }
    match &query.package {
        Some(package) if error.code == Code::UnknownPackage => suggesting_packages(files, package, error),
        _ => error,
    }
}

/// Adds the packages outside the workspace with similar names to the error.
pub(crate) fn suggesting_packages(files: &Files, package: &str, mut error: Error) -> Error {
    let known = std::mem::take(&mut error.help.suggestions);
    error.help.suggestions = suggest::distinct(known.into_iter().chain(imports_like(files, package)));
    error
}

/// The imports of the workspace with a similar name.
fn imports_like(files: &Files, name: &str) -> Vec<String> {
    const MOST: usize = 3;
    let imports: BTreeSet<&str> =
        files.of(LANGUAGE).flat_map(|it| &it.outline().imports).map(|it| it.path.as_str()).collect();
    let likeness = |path: &str| suggest::likeness(import_name(path), name).max(suggest::likeness(path, name));
    let mut ranked: Vec<(f64, &str)> = imports.into_iter().map(|it| (likeness(it), it)).collect();
    ranked.retain(|it| it.0 >= suggest::LEAST_LIKENESS && it.0 < 1.0);
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.into_iter().take(MOST).map(|it| it.1.to_owned()).collect()
}

/// The description of a symbol outside the workspace, from its sources.
pub(crate) fn describe(session: &Session, files: &Files, symbol: &Symbol) -> Option<Description> {
    let bits: Vec<String> = symbol_paths::inner_path(symbol).split('.').map(str::to_owned).collect();
    description(session, files, &symbol.package, &bits)
}

fn description(session: &Session, files: &Files, import_path: &str, bits: &[String]) -> Option<Description> {
    let home = locate(session, files, import_path)?;
    let bits: Vec<&str> = bits.iter().map(String::as_str).collect();
    let mut found = external_symbol(&home.source, import_path, &bits).ok().flatten()?;
    found.symbol.origin = Some(home.origin);
    Some(Description { version: home.version, ..found })
}

/// A package outside the workspace, by its import path or the name that the workspace's imports give it.
pub(crate) fn package(session: &Session, files: &Files, name: &str) -> Option<Package> {
    imports_called(files, name).into_iter().find_map(|import_path| {
        let home = locate(session, files, &import_path)?;
        let package = external_package(&home.source, &import_path, home.version.as_deref()).ok()?;
        Some(Package { origin: Some(home.origin), ..package })
    })
}

/// The import paths that a name may mean: itself, then those imports of the workspace that have this name.
fn imports_called(files: &Files, name: &str) -> Vec<String> {
    let mut paths = vec![name.to_owned()];
    if !name.contains('/') {
        let imports = files.of(LANGUAGE).flat_map(|file| &file.outline().imports);
        for import in imports.filter(|it| may_be_called(&it.path, name) || it.alias.as_deref() == Some(name)) {
            if !paths.contains(&import.path) {
                paths.push(import.path.clone());
            }
        }
    }
    paths
}

/// The symbol that is declared at a place outside the workspace.
pub(crate) fn symbol_at(session: &Session, file: &File, place: &Place) -> Option<Symbol> {
    let (import_path, origin) = placed(session, Path::new(&*file.path).parent()?)?;
    let symbol = declared_at(file, &import_path, place, true)?;
    Some(Symbol { origin: Some(Arc::new(origin)), ..symbol })
}

/// The declaration with its name at exactly this place. At the name of the package clause, where gopls locates an
/// import's definition, the package.
pub(crate) fn declared_at(file: &File, package: &str, place: &Place, external: bool) -> Option<Symbol> {
    let mut found = None;
    file.outline().walk(&mut |item| {
        if item.name_span.start == place.start && item.name_span.end > place.start {
            found = Some(item);
        }
    });
    match found {
        Some(item) => Some(symbol_paths::symbol(file, package, item, external)),
        None => symbol_paths::package_symbol(file, package, external).filter(|it| it.name_at == *place),
    }
}

/// Whether a package of a dependency has a file for which `holds` is true, given its name and text.
pub(crate) fn has_file(
    session: &Session,
    files: &Files,
    import_path: &str,
    holds: impl Fn(&str, &str) -> bool,
) -> bool {
    let Some(toolchain) = session.toolchain() else { return false };
    // The standard library works without the files that a build excludes.
    if goroot_dir(&toolchain.goroot, import_path).is_some() {
        return false;
    }
    let Some(ExternalPackage { source, .. }) = locate(session, files, import_path) else { return false };
    let names = source.go_files().unwrap_or_default();
    names.iter().filter(|it| !is_test_file(it)).any(|it| source.read(it).is_ok_and(|text| holds(it, &text)))
}

fn locate(session: &Session, files: &Files, import_path: &str) -> Option<ExternalPackage> {
    let toolchain = session.toolchain()?;
    if let Some(source) = goroot_dir(&toolchain.goroot, import_path) {
        let version = Some(toolchain.version.clone());
        let origin = Arc::new(of_the_library(import_path, version.clone(), &source.directory()));
        return Some(ExternalPackage { source, version, origin });
    }
    let root = session.root.directory();
    let found = dependency(files, root, &toolchain.module_cache, None, import_path)?;
    // Vendored packages are in the workspace and are found there.
    let outside = !found.source.directory().starts_with(root);
    // A replacement must be a module itself.
    let is_valid = outside && (found.version.is_some() || found.source.is_module());
    let root = found.source.module().to_string_lossy().into_owned();
    let origin = Arc::new(Origin { package: found.module, version: found.version.clone(), root });
    is_valid.then_some(ExternalPackage { source: found.source, version: found.version, origin })
}

fn of_the_library(import_path: &str, version: Option<String>, directory: &Path) -> Origin {
    Origin { package: import_path.to_owned(), version, root: directory.to_string_lossy().into_owned() }
}

/// The import path and the origin of a directory in the standard library, the module cache or a replacing module.
fn placed(session: &Session, directory: &Path) -> Option<(String, Origin)> {
    let toolchain = session.toolchain()?;
    if let Ok(path) = directory.strip_prefix(toolchain.goroot.join("src")) {
        let import_path = path.strip_prefix("vendor").unwrap_or(path).to_str()?.to_owned();
        let origin = of_the_library(&import_path, Some(toolchain.version.clone()), directory);
        return Some((import_path, origin));
    }
    if let Ok(path) = directory.strip_prefix(&toolchain.module_cache) {
        let (module, rest) = path.to_str()?.split_once('@')?;
        let (version, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let root = toolchain.module_cache.join(format!("{module}@{version}")).to_str()?.to_owned();
        let module = unescaped(module);
        let import_path = below(&module, rest);
        return Some((import_path, Origin { package: module, version: Some(unescaped(version)), root }));
    }
    let read = |it: &Path| String::from_utf8(read_file(&it.join("go.mod"), MOST_BYTES).ok()?).ok();
    let module = |it: &Path| parse_module("", &read(it)?);
    let (home, module) = directory.ancestors().find_map(|it| Some((it, module(it)?)))?;
    let import_path = below(&module.path, directory.strip_prefix(home).ok()?.to_str()?);
    Some((import_path, Origin { package: module.path, version: None, root: home.to_str()?.to_owned() }))
}

/// The module cache writes an upper-case letter as `!` and the lower-case letter.
fn unescaped(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    let mut upper = false;
    for character in path.chars() {
        match character {
            '!' => upper = true,
            _ if std::mem::take(&mut upper) => plain.extend(character.to_uppercase()),
            _ => plain.push(character),
        }
    }
    plain
}

/// The overview of a package in a directory; the names of its files are absolute.
fn external_package(source: &Source, import_path: &str, version: Option<&str>) -> io::Result<Package> {
    let (package, _) = read_package(source, import_path, &BuildContext::host())?;
    let package = package.named();
    let mut shown = overview(&package, version);
    shown.docs = shown.docs.map(|docs| doc_links::resolved(&docs, |link| linked(&package.files, &package, link)));
    Ok(shown)
}

/// The description of one symbol from a directory: its source, docs and examples. `bits` is the symbol's path after the
/// package. `None`: the package has no such symbol.
fn external_symbol(source: &Source, import_path: &str, bits: &[&str]) -> io::Result<Option<Description>> {
    let (mut package, tests) = read_package(source, import_path, &BuildContext::host())?;
    let bits: Vec<String> = bits.iter().map(|it| (*it).to_owned()).collect();
    let all = package.files.clone();
    // Most packages have many files that never name the symbol; those need not be parsed.
    package.files.retain(|file| bits.iter().all(|bit| file.text.contains(bit.as_str())));
    let mut package_set = PackageSet::new(vec![package]);
    if declaration_in(&package_set, &bits).is_none() {
        for package in &mut package_set.packages {
            package.files.clone_from(&all);
        }
    }
    let Some(found) = declaration_in(&package_set, &bits) else { return Ok(None) };
    let methods = methods_of(&all, found);
    let symbol = documented(found.symbol(), &methods, false);
    let names: Vec<&str> = found.bits().collect();
    let Documentation { source, docs } = Documentation::of(found.file, found.item);
    Ok(Some(Description {
        source,
        docs: docs.map(|docs| doc_links::resolved(&docs, |link| linked(&all, found.package, link))),
        examples: examples_in(tests.iter().map(|it| &**it), &names),
        symbol,
        implementations: Vec::new(),
        container: None,
        version: None,
    }))
}

/// The path that a doc link means: in the package itself, else in an import of any of its files.
fn linked(files: &[Arc<File>], package: &GoPackage, link: &str) -> Option<String> {
    let bits: Vec<String> = link.split('.').map(str::to_owned).collect();
    let (first, rest) = bits.split_first()?;
    // Most files do not declare it; those need not be parsed.
    let declares = ["type ", "func ", "var ", "const ", "\t"].map(|it| format!("{it}{first}"));
    let likely = files.iter().filter(|file| declares.iter().any(|it| file.text.contains(it.as_str())));
    let package = GoPackage { files: likely.cloned().collect(), ..package.clone() };
    let package_set = PackageSet::new(vec![package]);
    if let Some(found) = declaration_in(&package_set, &bits) {
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

/// Suggestions for a symbol that a package does not have.
fn external_suggestions(source: &Source, import_path: &str, bits: &[String]) -> io::Result<Vec<String>> {
    let (mut package, _) = read_package(source, import_path, &BuildContext::host())?;
    package.files.retain(|file| !is_test_file(&file.path));
    let package_set = PackageSet::new(vec![package.named()]);
    let exported = |path: &String| suggest::is_exported(path, import_path);
    Ok(suggest::alike(&package_set, bits, None).into_iter().filter(exported).collect())
}

fn declaration_in<'w>(package_set: &'w PackageSet, bits: &[String]) -> Option<Declaration<'w>> {
    package_set.packages.iter().flat_map(|it| package_set.lookup(it, bits)).next()
}

/// The methods of the type `found`, from all files of its package.
fn methods_of<'p>(files: &'p [Arc<File>], found: Declaration<'p>) -> Vec<Declaration<'p>> {
    let name = &found.item.name;
    let naming = files.iter().filter(|it| found.item.container.is_empty() && it.text.contains(name.as_str()));
    let methods =
        naming.flat_map(|file| file.outline().items.iter().map(move |item| Declaration { file, item, ..found }));
    methods.filter(|it| it.item.container.first() == Some(name)).collect()
}

/// The files of a package that a build includes, and separately its tests.
fn read_package(source: &Source, import_path: &str, context: &BuildContext) -> io::Result<(GoPackage, Vec<Arc<File>>)> {
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
        standing: Membership::Member,
        external: true,
    };
    Ok((package, tests))
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_model::SymbolKind;
    use std::process::Command;

    #[test]
    fn module_cache_names() {
        assert_eq!(unescaped("github.com/!burnt!sushi/toml"), "github.com/BurntSushi/toml");
    }

    fn goroot_package(import_path: &str) -> Source {
        let output = Command::new("go").args(["env", "GOROOT"]).output().expect("go is needed for these tests");
        let goroot = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        goroot_dir(Path::new(&goroot), import_path).expect("a package of the standard library")
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
