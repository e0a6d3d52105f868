//! Loads one Cargo workspace from the output of Cargo and rustc. rust-analyzer's own loading is not used: it starts
//! programs in the workspace, without deadlines, and they outlive semdex. Only rust-analyzer can load the packages of
//! the standard library; a thread of its own waits for that (`library_of`).

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{LazyLock, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant, SystemTime};

use ra_ap_cfg::{CfgAtom, CfgDiff};
use ra_ap_hir_expand::intern::Symbol;
use ra_ap_paths::{AbsPath, AbsPathBuf, Utf8PathBuf};
use ra_ap_project_model::{
    CargoFeatures, CargoMetadataConfig, CargoWorkspace, CfgOverrides, ManifestPath, Metadata, ProjectWorkspace,
    ProjectWorkspaceKind, RustSourceWorkspaceConfig, Sysroot,
};
use serde::Deserialize;
use tempfile::TempDir;

use super::cargo_config::CargoConfiguration;
use super::package_graph;
use super::tools::{OFFLINE, Tools, Version};
use crate::view::packages::PackageGraph;
use semdex_fs::FileStamp;
use semdex_process::process_group::Mark;
use semdex_process::search_path;

/// The time limit for listing the packages of the standard library, for which nothing is downloaded.
const LIBRARY_LIMIT: Duration = Duration::from_secs(300);
/// The interval at which it is checked whether that is still wanted.
const PACE: Duration = Duration::from_millis(100);

/// A workspace, and the reason if its dependencies are unknown.
pub(crate) struct LoadedWorkspace {
    pub workspace: ProjectWorkspace,
    /// The target that it is built for.
    pub target: Option<String>,
    pub error: Option<String>,
}

#[derive(Deserialize)]
struct Located {
    root: Utf8PathBuf,
}

/// The workspace that a manifest belongs to.
pub(crate) fn load(
    tools: &Tools<'_>,
    manifest: &AbsPath,
    features: &CargoFeatures,
    std_sources: Option<&AbsPath>,
    packages: &mut PackageGraph,
) -> Result<LoadedWorkspace, String> {
    let manifest = locate(tools, manifest)?;
    let directory = manifest.parent();
    let configuration = CargoConfiguration::ask(tools, directory);
    let target = configuration.target().or_else(|| tools.host.clone());
    let target = target.as_deref();
    let (metadata, facts, sysroot) = std::thread::scope(|scope| {
        let facts = scope.spawn(|| (tools.cfgs(directory, target), tools.target_data(directory, target)));
        let sysroot = scope.spawn(|| sysroot(tools, std_sources, target));
        let metadata = ask_metadata(tools, &manifest, features, target);
        (metadata, facts.join(), sysroot.join())
    });
    let (metadata, error) = metadata?;
    let target_name = target.map(str::to_owned);
    let (rustc_cfg, target) = facts.unwrap_or_else(|_| (Vec::new(), Err("rustc was not asked".into())));
    let mut variables = configuration.variables(|name| std::env::var(name).ok());
    for (name, value) in &tools.environment {
        value.iter().for_each(|value| variables.set(name, value.clone()));
    }
    let manifest_text = semdex_fs::read_file(manifest.as_ref(), super::sources::LARGEST_SOURCE).unwrap_or_default();
    let manifest_text = String::from_utf8_lossy(&manifest_text).into_owned();
    let is_patched = configuration.replaces_packages() || replaces_packages(&manifest_text);
    package_graph::add_workspace(packages, &metadata, is_patched, error.is_none());
    let cargo = CargoWorkspace::new(metadata, manifest, variables, false);
    let sysroot = sysroot.unwrap_or_else(|_| Sysroot::empty());
    let has_library = std_sources.is_none() || !sysroot.is_rust_lib_src_empty();
    let late = "the standard library is unknown, since Cargo did not list its packages in time";
    let error = error.or_else(|| (!has_library).then(|| late.to_owned()));
    let kind = ProjectWorkspaceKind::Cargo { cargo, error: None, build_scripts: Default::default(), rustc: Err(None) };
    let toolchain = format!("{}.{}.0", tools.version.0, tools.version.1).parse().ok();
    let workspace = ProjectWorkspace {
        kind,
        sysroot,
        rustc_cfg,
        toolchain,
        target,
        cfg_overrides: cfg_overrides(&manifest_text),
        extra_includes: Vec::new(),
        set_test: true,
    };
    Ok(LoadedWorkspace { workspace, target: target_name, error })
}

/// The same workspace with other features, for another target, or with flags (`--cfg`), on which dependencies may depend.
pub(crate) fn with_features(
    tools: &Tools<'_>,
    of: &ProjectWorkspace,
    features: &CargoFeatures,
    target: Option<&str>,
    flags: &[CfgAtom],
) -> Result<ProjectWorkspace, String> {
    let cargo = cargo_of(of).ok_or("it is not a Cargo workspace")?;
    let manifest = cargo.manifest_path().clone();
    let ask = |flags: &[CfgAtom]| {
        let mut command = metadata_command(tools, &manifest, features, target);
        add_flags(tools, flags, &mut command);
        let _copy = LockFile::copy(tools.version, &manifest, &mut command);
        parse_metadata(&tools.ask(&mut command)?)
    };
    let metadata = match ask(flags) {
        // Dependencies that only the flags bring may not be there.
        Err(_) if !flags.is_empty() => ask(&[])?,
        metadata => metadata?,
    };
    let cargo = CargoWorkspace::new(metadata, manifest, cargo.env().clone(), false);
    let kind = ProjectWorkspaceKind::Cargo { cargo, error: None, build_scripts: Default::default(), rustc: Err(None) };
    Ok(ProjectWorkspace { kind, ..of.clone() })
}

/// Whether a root manifest lets packages replace published ones. Unknown for one that cannot be read.
fn replaces_packages(root_manifest: &str) -> bool {
    let manifest = root_manifest.parse::<toml::Table>();
    manifest.map_or(true, |it| it.contains_key("patch") || it.contains_key("replace"))
}

/// The `cfg`s of Cargo's default profile, which its root manifest may change. rust-analyzer leaves out
/// `debug_assertions` and adds `rust_analyzer`.
pub(crate) fn cfg_overrides(root_manifest: &str) -> CfgOverrides {
    let manifest: toml::Table = root_manifest.parse().unwrap_or_default();
    let profile = manifest.get("profile").and_then(|it| it.get("dev"));
    let said = |profile: &toml::Value| profile.get("debug-assertions").and_then(toml::Value::as_bool);
    let debug_assertions = || vec![CfgAtom::Flag(Symbol::intern("debug_assertions"))];
    let own = vec![CfgAtom::Flag(Symbol::intern("rust_analyzer"))];
    let global = match profile.and_then(said) {
        Some(false) => CfgDiff::new(Vec::new(), own),
        _ => CfgDiff::new(debug_assertions(), own),
    };
    let packages = profile.and_then(|it| it.get("package")).and_then(toml::Value::as_table);
    let selective = packages.into_iter().flatten().filter_map(|(name, profile)| {
        let diff = match said(profile)? {
            true => CfgDiff::new(debug_assertions(), Vec::new()),
            false => CfgDiff::new(Vec::new(), debug_assertions()),
        };
        Some((name.clone(), diff))
    });
    CfgOverrides { global, selective: selective.collect() }
}

/// The manifest of the workspace's root.
fn locate(tools: &Tools<'_>, manifest: &AbsPath) -> Result<ManifestPath, String> {
    let directory = manifest.parent().unwrap_or(manifest);
    let mut cargo = tools.cargo(directory);
    cargo.args(["locate-project", "--workspace", "--manifest-path", manifest.as_str()]);
    // If this fails, reading the metadata will report the reason.
    let located = tools.ask(&mut cargo).ok().and_then(|it| serde_json::from_str::<Located>(&it).ok());
    let root = located.and_then(|it| AbsPathBuf::try_from(it.root).ok());
    ManifestPath::try_from(root.unwrap_or_else(|| manifest.to_path_buf()))
        .map_err(|path| format!("{path} is no manifest"))
}

/// The metadata with all dependencies; without any, and the reason, if that fails.
fn ask_metadata(
    tools: &Tools<'_>,
    manifest: &ManifestPath,
    features: &CargoFeatures,
    target: Option<&str>,
) -> Result<(Metadata, Option<String>), String> {
    let ask = |without: bool| {
        let mut cargo = metadata_command(tools, manifest, features, target);
        let _copy = if without {
            cargo.arg("--no-deps");
            None
        } else {
            LockFile::copy(tools.version, manifest, &mut cargo)
        };
        parse_metadata(&tools.ask(&mut cargo)?)
    };
    let explained = |error: String| match tools.trusted {
        true => error,
        false => format!("without trust nothing is downloaded, which `cargo fetch` does: {error}"),
    };
    ask(false).map(|it| (it, None)).or_else(|error| Ok((ask(true)?, Some(explained(error)))))
}

/// `cargo metadata` for a manifest, run in its directory.
pub(crate) fn metadata_command(
    tools: &Tools<'_>,
    manifest: &ManifestPath,
    features: &CargoFeatures,
    target: Option<&str>,
) -> Command {
    let mut cargo = tools.cargo(manifest.parent());
    cargo.args(["metadata", "--format-version", "1", "--manifest-path", manifest.as_str()]);
    add_features(&mut cargo, features, |_| true);
    add_target(tools.version, target, &mut cargo);
    cargo
}

/// Cargo's packages, with the normal form of the path of each root file: Cargo leaves `..` of a manifest in it, and a file
/// has one name.
pub(crate) fn parse_metadata(said: &str) -> Result<Metadata, String> {
    let json = said.lines().find(|it| it.starts_with('{')).ok_or("`cargo metadata` printed nothing")?;
    let parsed = serde_json::from_str(json);
    let mut metadata: Metadata =
        parsed.map_err(|error| format!("the output of `cargo metadata` could not be parsed: {error}"))?;
    for target in metadata.packages.iter_mut().flat_map(|it| &mut it.targets) {
        if let Ok(path) = AbsPathBuf::try_from(target.src_path.clone()) {
            target.src_path = path.normalize().into();
        }
    }
    Ok(metadata)
}

/// A workspace's packages, if it is one of Cargo.
pub(crate) fn cargo_of(workspace: &ProjectWorkspace) -> Option<&CargoWorkspace> {
    match &workspace.kind {
        ProjectWorkspaceKind::Cargo { cargo, .. } => Some(cargo),
        _ => None,
    }
}

/// The manifests of a Cargo workspace's members, and its own.
pub(crate) fn manifests(workspace: &ProjectWorkspace) -> Vec<AbsPathBuf> {
    let Some(cargo) = cargo_of(workspace) else { return Vec::new() };
    let members = cargo.packages().filter(|&it| cargo[it].is_member);
    members.map(|it| cargo[it].manifest.clone().into()).chain([cargo.manifest_path().clone().into()]).collect()
}

/// Adds options for the target whose dependencies are wanted.
fn add_target(version: Version, target: Option<&str>, cargo: &mut Command) {
    let Some(target) = target else { return };
    cargo.args(["--filter-platform", target]);
    if target.ends_with(".json") && version >= Version(1, 95) {
        cargo.args(["-Z", "json-target-spec", "-Z", "unstable-options"]);
        cargo.env("__CARGO_TEST_CHANNEL_OVERRIDE_DO_NOT_USE_THIS", "nightly");
    }
}

/// Sets flags besides the user's own. Cargo ignores them if the configuration has flags for the target.
fn add_flags(tools: &Tools<'_>, flags: &[CfgAtom], cargo: &mut Command) {
    if flags.is_empty() {
        return;
    }
    let text = |it: &CfgAtom| match it {
        CfgAtom::Flag(name) => name.as_str().to_owned(),
        CfgAtom::KeyValue { key, value } => format!("{}={:?}", key.as_str(), value.as_str()),
    };
    let flags: Vec<String> = flags.iter().flat_map(|it| ["--cfg".to_owned(), text(it)]).collect();
    let known = |name: &str| match tools.environment.get(name) {
        Some(value) => value.clone(),
        None => std::env::var(name).ok(),
    };
    match known("RUSTFLAGS") {
        Some(own) => drop(cargo.env("RUSTFLAGS", format!("{own} {}", flags.join(" ")))),
        None => drop(cargo.arg("--config").arg(format!("build.rustflags={flags:?}"))),
    }
}

/// Adds options for the wanted features that the workspace has.
pub(crate) fn add_features(cargo: &mut Command, features: &CargoFeatures, is_there: impl Fn(&str) -> bool) {
    match features {
        CargoFeatures::All => drop(cargo.arg("--all-features")),
        CargoFeatures::Selected { features, no_default_features } => {
            if *no_default_features {
                cargo.arg("--no-default-features");
            }
            let there: Vec<&str> = features.iter().map(String::as_str).filter(|it| is_there(it)).collect();
            if !there.is_empty() {
                cargo.arg("--features").arg(there.join(","));
            }
        }
    }
}

/// A copy of the lock file for Cargo to write to, so that the workspace's own stays unchanged.
pub(crate) struct LockFile {
    _directory: TempDir,
}

impl LockFile {
    /// `None` if this Cargo does not support another lock file, or the copy fails.
    pub(crate) fn copy(version: Version, manifest: &ManifestPath, cargo: &mut Command) -> Option<LockFile> {
        if version < LOCK_FILE_ELSEWHERE {
            return None;
        }
        let directory = tempfile::tempdir().ok()?;
        let copy = directory.path().join("Cargo.lock");
        let own = manifest.parent().join("Cargo.lock");
        // Without one, Cargo chooses the versions again.
        if let Ok(text) = semdex_fs::read_file(own.as_ref(), super::sources::LARGEST_SOURCE) {
            std::fs::write(&copy, text).ok()?;
        }
        lock_at(version, &copy, cargo);
        Some(LockFile { _directory: directory })
    }
}

/// The first Cargo version that accepts another lock file.
pub(crate) const LOCK_FILE_ELSEWHERE: Version = Version(1, 82);

/// Sets the lock file that Cargo reads and writes.
pub(crate) fn lock_at(version: Version, file: &Path, cargo: &mut Command) {
    cargo.env("__CARGO_TEST_CHANNEL_OVERRIDE_DO_NOT_USE_THIS", "nightly").args(["-Z", "unstable-options"]);
    if version < Version(1, 95) {
        cargo.arg("--lockfile-path").arg(file);
    } else {
        cargo.env("CARGO_RESOLVER_LOCKFILE_PATH", file);
        if version < Version(1, 97) {
            cargo.args(["-Z", "lockfile-path"]);
        }
    }
}

/// The standard library. It is the same for all workspaces of a toolchain.
fn sysroot(tools: &Tools<'_>, sources: Option<&AbsPath>, target: Option<&str>) -> Sysroot {
    type Key = (AbsPathBuf, AbsPathBuf, Option<String>, Option<SystemTime>);
    static LOADED: LazyLock<Mutex<HashMap<Key, Sysroot>>> = LazyLock::new(Mutex::default);
    let Some(sources) = sources else { return Sysroot::empty() };
    // An update of the toolchain replaces the sources.
    let installed = FileStamp::at(sources.join("core/src/lib.rs").as_ref()).changed();
    let key = (tools.sysroot.clone(), sources.to_path_buf(), target.map(str::to_owned), installed);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = loaded.get(&key) {
        return loaded.clone();
    }
    // rust-analyzer finds Cargo by the process's search path, which must not lead to a barred one.
    if search_path::is_barred("cargo".as_ref(), &std::env::var_os("PATH").unwrap_or_default()) {
        tracing::error!("the Cargo that rust-analyzer would run lies in a workspace that is not trusted");
        return Sysroot::empty();
    }
    // Without a directory rust-analyzer would ask rustup for Cargo's path, in the workspace.
    let sysroot = Sysroot::new(None, Some(sources.to_path_buf()));
    // Here rust-analyzer runs Cargo itself, outside every workspace. Downloads, which may take long, are done before.
    // They belong to the toolchain, and no workspace influences them.
    let mut cargo = tools.cargo(sources);
    cargo.env_remove(OFFLINE);
    cargo.current_dir(AsRef::<Path>::as_ref(sources)).env("__CARGO_TEST_CHANNEL_OVERRIDE_DO_NOT_USE_THIS", "nightly");
    let manifest = sources.join("Cargo.toml");
    let is_warm = match ManifestPath::try_from(manifest.clone()) {
        Ok(path) if AsRef::<Path>::as_ref(&manifest).is_file() => {
            cargo.args(["metadata", "--format-version", "1", "--manifest-path", manifest.as_str()]);
            cargo.args(target.into_iter().flat_map(|it| ["--filter-platform", it]));
            let _copy = LockFile::copy(tools.version, &path, &mut cargo);
            tools.ask(&mut cargo).is_ok()
        }
        _ => false,
    };
    let mut config =
        CargoMetadataConfig { targets: target.map(str::to_owned).into_iter().collect(), ..Default::default() };
    config.extra_env.clone_from(&tools.environment);
    config.toolchain_version = format!("{}.{}.0", tools.version.0, tools.version.1).parse().ok();
    config.extra_env.insert(OFFLINE.to_owned(), Some((!is_warm).to_string()));
    if let Some(path) = search_path::confined(None) {
        config.extra_env.insert("PATH".to_owned(), Some(path.to_string_lossy().into_owned()));
    }
    let Some(sysroot) = library_of(sysroot, config, tools) else {
        tracing::error!("Cargo did not list the packages of the standard library in time");
        return Sysroot::empty();
    };
    if is_warm {
        loaded.insert(key, sysroot.clone());
    }
    sysroot
}

/// The same with its packages; `None` if Cargo does not list them in time. rust-analyzer starts the process for it, so
/// it is ended by its mark.
fn library_of(mut sysroot: Sysroot, mut config: CargoMetadataConfig, tools: &Tools<'_>) -> Option<Sysroot> {
    let (sender, receiver) = mpsc::channel();
    let mark = Mark::for_dependency();
    let (name, value) = mark.variable();
    config.extra_env.insert(name.to_owned(), Some(value.to_owned()));
    let work = move || {
        let config = RustSourceWorkspaceConfig::CargoMetadata(config);
        if let Some(workspace) = sysroot.load_workspace(&config, false, &|_| ()) {
            sysroot.set_workspace(workspace);
        }
        // The receiver may be gone.
        drop(sender.send(sysroot));
    };
    std::thread::Builder::new().name("rust-library".to_owned()).spawn(work).ok()?;
    let until = tools.patience.deadline.min(Instant::now() + LIBRARY_LIMIT);
    while (tools.patience.is_wanted)() && Instant::now() < until {
        match receiver.recv_timeout(PACE) {
            Ok(sysroot) => return Some(sysroot),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
    mark.kill();
    None
}
