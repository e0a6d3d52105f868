//! Reads the dependencies that the packages of a Cargo workspace declare.

use std::path::{Path, PathBuf};

use ra_ap_project_model::Metadata;

use crate::view::packages::{Dependency, LeadsTo, Package, PackageGraph};

/// Adds the packages of a Cargo workspace. `is_patched`: packages may replace published ones of the same name.
/// `is_resolved`: Cargo found their dependencies.
pub(crate) fn add_workspace(graph: &mut PackageGraph, metadata: &Metadata, is_patched: bool, is_resolved: bool) {
    let directory = |manifest: &Path| manifest.parent().map(Path::to_owned).unwrap_or_default();
    let directories: Vec<PathBuf> = metadata.packages.iter().map(|it| directory(it.manifest_path.as_ref())).collect();
    for (package, own) in metadata.packages.iter().zip(&directories) {
        let dependencies = package.dependencies.iter().map(|declared| {
            let leads_to = match &declared.path {
                Some(path) => match directories.iter().find(|it| it.as_path() == path) {
                    Some(known) => LeadsTo::Packages(vec![known.clone()]),
                    None => LeadsTo::Unknown,
                },
                None => {
                    let both = metadata.packages.iter().zip(&directories);
                    let named = both.filter(|it| it.0.name.as_str() == declared.name);
                    let fitting =
                        named.filter(|it| is_patched || it.0.source.is_some() && declared.req.matches(&it.0.version));
                    let found: Vec<PathBuf> = fitting.map(|it| it.1.clone()).collect();
                    match (found.is_empty(), is_patched) {
                        (false, _) => LeadsTo::Packages(found),
                        (true, false) => LeadsTo::Published,
                        (true, true) => LeadsTo::Unknown,
                    }
                }
            };
            Dependency { leads_to, is_normal: !matches!(declared.kind.to_string().as_str(), "dev" | "build") }
        });
        let is_proc_macro = package.targets.iter().any(|it| it.is_proc_macro());
        let dependencies = dependencies.collect();
        let is_resolved = is_resolved || package.dependencies.is_empty();
        graph
            .add(own.clone(), Package { is_local: package.source.is_none(), is_proc_macro, is_resolved, dependencies });
    }
}
