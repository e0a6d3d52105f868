//! A set of packages, with lookup of packages and declarations by name, promoted members included.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use super::modules::{GoPackage, Membership, base_name, package_of, packages};
use super::same_paths::{SamePaths, preferring};
use super::symbol_paths::Declaration;
use semdex_engine::files::Files;
use semdex_engine::unpoisoned;
use semdex_model::{OutlineItem, Symbol, SymbolKind};

/// The maximum depth of embedding at which a promoted member is searched.
const MAX_EMBEDDING: usize = 12;

/// The packages in which names are looked up.
#[derive(Debug)]
pub(crate) struct PackageSet {
    pub packages: Vec<GoPackage>,
    /// Packages that the go command ignores. Only their whole path names them.
    pub ignored: Vec<GoPackage>,
    by_path: HashMap<String, usize>,
    /// The disambiguation of a package's declarations, by its import path.
    same_paths: Mutex<HashMap<String, Arc<SamePaths>>>,
}

impl PackageSet {
    /// All packages of the workspace; an ignored package only if `file` belongs to it.
    pub(crate) fn of(files: &Files, file: Option<&str>) -> PackageSet {
        let asked = file.and_then(|it| package_of(files, it)).map(|(path, _)| path);
        let meant = |it: &GoPackage| it.standing != Membership::Ignored || asked.as_ref() == Some(&it.import_path);
        let (packages, ignored) = packages(files).into_iter().partition(meant);
        let mut package_set = PackageSet::new(packages);
        package_set.ignored = ignored;
        package_set
    }

    pub(crate) fn new(packages: Vec<GoPackage>) -> PackageSet {
        let mut by_path = HashMap::new();
        for (at, package) in packages.iter().enumerate() {
            by_path.entry(package.import_path.clone()).or_insert(at);
        }
        PackageSet { packages, ignored: Vec::new(), by_path, same_paths: Mutex::default() }
    }

    pub(crate) fn package(&self, import_path: &str) -> Option<&GoPackage> {
        self.packages.get(*self.by_path.get(import_path)?)
    }

    /// The packages that a name means: by import path, by directory, by the end of the import path, by the name in the
    /// package clause. The first rule with a result applies.
    pub(crate) fn packages_named(&self, name: &str) -> Vec<&GoPackage> {
        let name = name.trim_end_matches('/');
        let name = name.strip_prefix("./").unwrap_or(name);
        let directory = if name == "." { "" } else { name };
        let ways: [&dyn Fn(&GoPackage) -> bool; 4] = [
            &|it| it.import_path == name,
            &|it| it.directory == directory && !it.import_path.ends_with("_test"),
            &|it| rest_of_path(&it.import_path, name),
            &|it| it.name == name,
        ];
        let member = |it: &&GoPackage| it.standing == Membership::Member;
        for way in ways {
            let found: Vec<&GoPackage> = self.packages.iter().filter(|it| way(it)).collect();
            if found.iter().any(member) {
                return found.into_iter().filter(member).collect();
            }
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// The symbol of a declaration, with its unique path.
    pub(crate) fn symbol(&self, declaration: &Declaration) -> Symbol {
        let mut symbol = declaration.symbol();
        if !symbol.external {
            self.same_paths(&symbol.package).disambiguate(&mut symbol);
        }
        symbol
    }

    fn same_paths(&self, import_path: &str) -> Arc<SamePaths> {
        let mut same_paths = unpoisoned::lock(&self.same_paths);
        let all = || self.packages.iter().chain(&self.ignored).filter(|it| it.import_path == import_path);
        same_paths.entry(import_path.to_owned()).or_insert_with(|| Arc::new(SamePaths::of(all()))).clone()
    }

    pub(crate) fn is_called(&self, package: &GoPackage, name: &str) -> bool {
        package.name == name || package.directory == name || rest_of_path(&package.import_path, name)
    }

    /// Looks up a whole path inside a package: `Func`, `Type`, `Type.Method`, `Type.Field.Field`, or a member promoted
    /// from an embedded type.
    pub(crate) fn lookup<'w>(&'w self, package: &'w GoPackage, bits: &[String]) -> Vec<Declaration<'w>> {
        let [first, rest @ ..] = bits else { return Vec::new() };
        let mut found: Vec<Declaration> = Vec::new();
        for declaration in package.top_level() {
            let item = declaration.item;
            if item.container.is_empty() {
                if item.name == *first {
                    found.extend(descend(item, rest).into_iter().map(|item| Declaration { item, ..declaration }));
                }
            } else if declaration.bits().eq(bits.iter().map(String::as_str)) {
                found.push(declaration);
            }
        }
        if let ([member, deeper @ ..], true) = (rest, found.is_empty()) {
            let below =
                |it: Declaration<'w>| descend(it.item, deeper).into_iter().map(move |item| Declaration { item, ..it });
            found = self.promoted(package, first, member).into_iter().flat_map(below).collect();
        }
        found
    }

    /// Looks up the end of a path: methods, fields and interface members of any type.
    pub(crate) fn members<'w>(&'w self, package: &'w GoPackage, bits: &[String]) -> Vec<Declaration<'w>> {
        let ends = |it: &Declaration| {
            let mut path = it.bits().rev();
            !it.item.container.is_empty() && bits.iter().rev().all(|bit| path.next() == Some(bit))
        };
        let found = package.declarations().filter(|it| it.item.name != "_" && ends(it));
        preferring(found.collect(), Declaration::declares)
    }

    /// The promoted member that Go would select on a type, from the embedded types, shallowest first.
    fn promoted<'w>(&'w self, package: &'w GoPackage, ty: &str, member: &str) -> Vec<Declaration<'w>> {
        let mut level = vec![(package, ty.to_owned())];
        let mut seen: HashSet<(String, String)> = HashSet::new();
        for _ in 0..MAX_EMBEDDING {
            let mut next = Vec::new();
            for (package, ty) in level {
                if !seen.insert((package.import_path.clone(), ty.clone())) {
                    continue;
                }
                for declaration in package.top_level().filter(|it| it.item.container.is_empty() && it.item.name == ty) {
                    let targets = embedded(declaration.item);
                    next.extend(targets.into_iter().filter_map(|(qualifier, name)| {
                        Some((self.seen_by(declaration, qualifier)?, name.to_owned()))
                    }));
                }
            }
            let mut found = Vec::new();
            for (package, ty) in &next {
                let path = [ty.as_str(), member];
                found.extend(package.declarations().filter(|it| it.declares() && it.bits().eq(path)));
            }
            if !found.is_empty() || next.is_empty() {
                return found;
            }
            level = next;
        }
        Vec::new()
    }

    /// The package that a qualifier means in a declaration's file.
    fn seen_by<'w>(&'w self, declaration: Declaration<'w>, qualifier: Option<&str>) -> Option<&'w GoPackage> {
        let Some(qualifier) = qualifier else { return Some(declaration.package) };
        declaration.file.outline().imports.iter().find_map(|import| {
            let package = self.package(&import.path)?;
            (import.alias.as_deref().unwrap_or(&package.name) == qualifier).then_some(package)
        })
    }
}

/// The item itself, or its descendants with these names.
fn descend<'i>(item: &'i OutlineItem, bits: &[String]) -> Vec<&'i OutlineItem> {
    let mut level = vec![item];
    for bit in bits {
        level = level.into_iter().flat_map(|it| &it.children).filter(|it| it.name == *bit).collect();
    }
    level
}

/// The types whose members a type has too, each with its qualifier: the embedded types, and the underlying type.
fn embedded(item: &OutlineItem) -> Vec<(Option<&str>, &str)> {
    if item.kind == SymbolKind::Type {
        // `type A = b.B`, `type A b.B`
        let after = item.signature.strip_prefix("type ").and_then(|it| it.strip_prefix(item.name.as_str()));
        let target = after.map(|it| it.trim_start().trim_start_matches("= "));
        return target.and_then(type_name).into_iter().collect();
    }
    let embeds = |child: &&OutlineItem| match child.kind {
        SymbolKind::Interface => true,
        SymbolKind::Field => type_name(&child.signature).is_some_and(|(_, name)| name == child.name),
        _ => false,
    };
    item.children.iter().filter(embeds).filter_map(|it| type_name(&it.signature)).collect()
}

/// `pkg` and `Base` of `*pkg.Base[T]` with an optional tag. `None` if a type follows the name, as in a named field.
fn type_name(signature: &str) -> Option<(Option<&str>, &str)> {
    let text = signature.trim_start_matches('*').trim_start();
    let end = text.find(|it: char| !(it.is_alphanumeric() || it == '_' || it == '.')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let arguments = rest.starts_with('[') && !rest.starts_with("[]");
    let valid = arguments || matches!(rest.trim_start().chars().next(), None | Some('`' | '"'));
    if name.is_empty() || !valid {
        return None;
    }
    Some(match name.split_once('.') {
        Some((qualifier, name)) => (Some(qualifier), name),
        None => (None, name),
    })
}

/// Whether an import without an alias may have this name, judged by its path: `yaml` for `gopkg.in/yaml.v3`, `sqlite3`
/// for `github.com/mattn/go-sqlite3`.
pub(crate) fn may_be_called(import_path: &str, name: &str) -> bool {
    let likely = import_name(import_path);
    likely == name || base_name(import_path) == name || likely.split(['-', '.']).any(|it| it == name)
}

/// The most likely name of a package, by its import path.
pub(crate) fn import_name(import_path: &str) -> &str {
    let mut parts = import_path.rsplit('/');
    let last = parts.next().unwrap_or(import_path);
    let is_version =
        |it: &str| it.strip_prefix('v').is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()));
    let last = if is_version(last) { parts.next().unwrap_or(last) } else { last };
    match last.rsplit_once('.') {
        Some((name, version)) if is_version(version) => name,
        _ => last,
    }
}

/// Whether a path ends with another, at a slash.
pub(crate) fn rest_of_path(path: &str, end: &str) -> bool {
    !end.is_empty() && path.strip_suffix(end).is_some_and(|it| it.is_empty() || it.ends_with('/'))
}
