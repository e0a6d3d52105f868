//! Which packages can see which. Code can name what is in a package only if its own package depends on that one,
//! directly or not. All declared dependencies count, the optional ones and dependencies of other targets too: a feature
//! or a target that is switched off here may be on elsewhere.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The packages of all loaded Cargo workspaces.
#[derive(Debug, Clone, Default)]
pub(crate) struct PackageGraph {
    /// By the directory of the manifest. Several workspaces may load the same package.
    packages: HashMap<PathBuf, Vec<Package>>,
    /// The directories of all manifests below the root, loaded or not.
    manifests: BTreeSet<PathBuf>,
}

/// A package as one Cargo workspace loads it.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    /// It has a path and no registry: no published package depends on it.
    pub(crate) is_local: bool,
    pub(crate) is_proc_macro: bool,
    /// Cargo found what it depends on.
    pub(crate) is_resolved: bool,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A declared dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) leads_to: LeadsTo,
    /// What depends on the package sees it too: it is no dependency of tests or of the build script.
    pub(crate) is_normal: bool,
}

/// What a declared dependency may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LeadsTo {
    /// One of the packages in these directories.
    Packages(Vec<PathBuf>),
    /// A published package that is not loaded. It depends on published packages only.
    Published,
    /// Any package.
    Unknown,
}

/// What a package can see.
#[derive(Debug, Default)]
struct Seen<'a> {
    packages: HashSet<&'a Path>,
    /// Published packages that are not loaded, with all that they depend on.
    has_published: bool,
    has_unknown: bool,
}

impl PackageGraph {
    pub(crate) fn of_manifests<'a>(manifests: impl Iterator<Item = &'a Path>) -> PackageGraph {
        let manifests = manifests.filter_map(|it| Some(it.parent()?.to_owned())).collect();
        PackageGraph { packages: HashMap::new(), manifests }
    }

    pub(crate) fn add(&mut self, directory: PathBuf, package: Package) {
        self.packages.entry(directory).or_default().push(package);
    }

    /// The directory of the package that a file belongs to by its place. `None` if that is not known.
    pub(crate) fn package_of(&self, file: &Path) -> Option<&Path> {
        let is_manifest = |it: &&Path| self.packages.contains_key(*it) || self.manifests.contains(*it);
        let directory = file.ancestors().skip(1).find(is_manifest)?;
        self.packages.get_key_value(directory).map(|it| it.0.as_path())
    }

    /// Whether a Cargo workspace that loads this package has what it depends on.
    pub(crate) fn is_resolved(&self, package: &Path) -> bool {
        self.packages.get(package).is_none_or(|it| it.iter().any(|it| it.is_resolved))
    }

    /// Whether code of a package may name something in another one.
    pub(crate) fn may_see(&self, from: &Path, to: &Path) -> bool {
        if from == to {
            return true;
        }
        let Some(packages) = self.packages.get(to) else { return true };
        let seen = self.seen_from(from);
        let is_published = packages.iter().any(|it| !it.is_local);
        seen.has_unknown || seen.has_published && is_published || seen.packages.contains(to)
    }

    /// The packages that can see a package: this one, and those that depend on it.
    pub(crate) fn dependents(&self, of: &Path) -> Vec<&Path> {
        self.packages.keys().map(PathBuf::as_path).filter(|it| self.may_see(it, of)).collect()
    }

    /// The packages in which the output of proc macros may be that a package contains, or that use it.
    pub(crate) fn users_by_proc_macros(&self, of: &Path) -> Vec<&Path> {
        let is_proc_macro = |it: &&Path| self.packages.get(*it).is_some_and(|it| it.iter().any(|it| it.is_proc_macro));
        let macros = self.dependents(of).into_iter().filter(is_proc_macro);
        macros.flat_map(|it| self.dependents(it)).collect()
    }

    fn seen_from<'a>(&'a self, from: &'a Path) -> Seen<'a> {
        let mut seen = Seen::default();
        let mut pending = vec![from];
        while let Some(directory) = pending.pop() {
            if !seen.packages.insert(directory) {
                continue;
            }
            let Some(packages) = self.packages.get(directory) else {
                seen.has_unknown = true;
                continue;
            };
            let dependencies = packages.iter().flat_map(|it| &it.dependencies);
            for dependency in dependencies.filter(|it| it.is_normal || directory == from) {
                match &dependency.leads_to {
                    LeadsTo::Packages(several) => pending.extend(several.iter().map(PathBuf::as_path)),
                    LeadsTo::Published => seen.has_published = true,
                    LeadsTo::Unknown => seen.has_unknown = true,
                }
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(directory: &str) -> Dependency {
        Dependency { leads_to: LeadsTo::Packages(vec![directory.into()]), is_normal: true }
    }

    fn local(dependencies: Vec<Dependency>) -> Package {
        Package { is_local: true, is_proc_macro: false, is_resolved: true, dependencies }
    }

    #[test]
    fn a_package_sees_what_it_depends_on() {
        let mut graph = PackageGraph::of_manifests([Path::new("/w/unloaded/Cargo.toml")].into_iter());
        let of_tests = |it: Dependency| Dependency { is_normal: false, ..it };
        graph.add("/w/base".into(), local(Vec::new()));
        graph.add("/w/middle".into(), local(vec![normal("/w/base"), of_tests(normal("/w/top"))]));
        graph.add("/w/top".into(), local(vec![of_tests(normal("/w/middle"))]));
        graph.add("/w/apart".into(), local(Vec::new()));
        graph.add("/r/serde".into(), Package { is_local: false, ..local(Vec::new()) });
        graph.add("/w/macros".into(), Package { is_proc_macro: true, ..local(vec![normal("/w/apart")]) });
        graph.add("/w/derives".into(), local(vec![normal("/w/macros")]));
        let sees = |from: &str, to: &str| graph.may_see(from.as_ref(), to.as_ref());
        assert!(sees("/w/middle", "/w/base") && sees("/w/top", "/w/base"));
        assert!(!sees("/w/base", "/w/middle") && !sees("/w/apart", "/w/base") && !sees("/w/top", "/w/apart"));
        assert!(sees("/w/middle", "/w/top"), "its tests do");
        assert!(!sees("/w/derives", "/r/serde"));
        assert!(sees("/w/elsewhere", "/w/base") && sees("/w/base", "/w/elsewhere"), "nothing is known of these");
        let dependents = |of: &str| {
            let mut all: Vec<_> = graph.dependents(of.as_ref()).iter().map(|it| it.to_str().unwrap()).collect();
            all.sort();
            all
        };
        assert_eq!(dependents("/w/base"), ["/w/base", "/w/middle", "/w/top"]);
        let mut users = graph.users_by_proc_macros("/w/apart".as_ref());
        users.sort();
        assert_eq!(users, ["/w/derives", "/w/macros"].map(Path::new));
        assert_eq!(graph.users_by_proc_macros("/w/base".as_ref()), [] as [&Path; 0]);
        assert_eq!(graph.package_of("/w/top/src/lib.rs".as_ref()), Some("/w/top".as_ref()));
        assert_eq!(graph.package_of("/w/unloaded/src/lib.rs".as_ref()), None);
    }

    #[test]
    fn a_dependency_that_is_not_loaded_may_lead_further() {
        let mut graph = PackageGraph::default();
        let unloaded = |leads_to| local(vec![Dependency { leads_to, is_normal: true }]);
        graph.add("/w/own".into(), local(Vec::new()));
        graph.add("/r/serde".into(), Package { is_local: false, ..local(Vec::new()) });
        graph.add("/w/published".into(), unloaded(LeadsTo::Published));
        graph.add("/w/unknown".into(), unloaded(LeadsTo::Unknown));
        let sees = |from: &str, to: &str| graph.may_see(from.as_ref(), to.as_ref());
        assert!(sees("/w/published", "/r/serde") && !sees("/w/published", "/w/own"));
        assert!(sees("/w/unknown", "/r/serde") && sees("/w/unknown", "/w/own"));
    }
}
