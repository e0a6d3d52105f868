//! The user's Go toolchain from `go env`: build target, directories of the standard library and the module cache.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use super::build_constraints::BuildContext;
use super::process;
use semdex_process::{process_group, search_path};

/// Normally fast, except on a busy machine or if a toolchain is downloaded.
const LIMIT: Duration = Duration::from_secs(120);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Toolchain {
    pub goroot: PathBuf,
    pub module_cache: PathBuf,
    pub context: BuildContext,
    /// For example `go1.26.8`.
    pub version: String,
    /// The files that determined these values, with their metadata: if one changed, all values may have.
    sources: Vec<(PathBuf, Option<Stamp>)>,
}

/// Inode and modification time.
type Stamp = (u64, i64, i64);

impl Toolchain {
    /// Whether `go env` would report other values, as far as the files show.
    pub(crate) fn has_changed(&self) -> bool {
        self.sources.iter().any(|(path, before)| stamp(path) != *before)
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.ino(), metadata.mtime(), metadata.mtime_nsec()))
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
struct Said {
    goroot: PathBuf,
    gomodcache: PathBuf,
    goos: String,
    goarch: String,
    cgo_enabled: String,
    goversion: String,
    goflags: String,
    /// The file that `go env -w` writes.
    #[serde(default)]
    goenv: String,
    #[serde(default)]
    gowork: String,
}

/// Runs `go env` in the workspace, whose `go.mod` may select another toolchain; an untrusted workspace's selection is
/// ignored.
pub(crate) async fn ask(root: &Path, trusted: bool) -> Option<Toolchain> {
    let mut command = Command::new(search_path::find("go")?);
    command
        .args([
            "env",
            "-json",
            "GOROOT",
            "GOMODCACHE",
            "GOOS",
            "GOARCH",
            "CGO_ENABLED",
            "GOVERSION",
            "GOFLAGS",
            "GOENV",
            "GOWORK",
        ])
        .current_dir(root)
        .envs(process::environment(trusted));
    let output = process_group::output(command, LIMIT).await.ok()?;
    let mut toolchain = parse(&output.stdout, root)?;
    toolchain.context.tags.extend(tool_tags(&toolchain.goroot, root).await);
    Some(toolchain)
}

/// The tags that the toolchain sets by itself, independent of the module: `amd64.v1`, `goexperiment.regabiargs`.
async fn tool_tags(goroot: &Path, root: &Path) -> Vec<String> {
    if goroot.starts_with(root) {
        return Vec::new();
    }
    let mut command = Command::new(goroot.join("bin/go"));
    command.args(["list", "-f", "{{range context.ToolTags}}{{.}} {{end}}", "unsafe"]).current_dir(goroot);
    command.envs(process::environment(false)).env("GO111MODULE", "off");
    let Ok(output) = process_group::output(command, LIMIT).await else { return Vec::new() };
    String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect()
}

fn parse(json: &[u8], root: &Path) -> Option<Toolchain> {
    let said: Said = serde_json::from_slice(json).ok()?;
    let above = go_works_above(root, &said.gowork);
    // A `go.work` in the workspace is one of its files.
    let files = [said.goenv, said.gowork].into_iter().map(PathBuf::from);
    let files = files.filter(|it| it.is_absolute() && !it.starts_with(root)).chain(search_path::find("go"));
    let files: BTreeSet<PathBuf> = files.chain(above).collect();
    let sources = files.into_iter().map(|it| (it.clone(), stamp(&it))).collect();
    let flags = said.goflags.split_whitespace();
    let tags = flags.filter_map(|flag| flag.trim_start_matches('-').strip_prefix("tags="));
    let tags: BTreeSet<String> = tags.flat_map(|tags| tags.split(',')).map(str::to_owned).collect();
    let minor = said.goversion.strip_prefix("go1.").map(|it| it.chars().take_while(char::is_ascii_digit).collect());
    let minor: Option<String> = minor;
    Some(Toolchain {
        sources,
        version: said.goversion,
        goroot: said.goroot,
        module_cache: said.gomodcache,
        context: BuildContext {
            goos: said.goos,
            goarch: said.goarch,
            tags,
            go_minor: minor.and_then(|it| it.parse().ok()).unwrap_or(BuildContext::default().go_minor),
            cgo: said.cgo_enabled == "1",
        },
    })
}

/// Each place above the root where `go` looks for a `go.work`, whether it exists or not; none if GOWORK is `off` or
/// names a file elsewhere.
fn go_works_above(root: &Path, gowork: &str) -> Vec<PathBuf> {
    let above: Vec<PathBuf> = root.ancestors().skip(1).map(|it| it.join("go.work")).collect();
    let found = Path::new(gowork);
    let is_looked_for = gowork.is_empty() || found == root.join("go.work") || above.iter().any(|it| it == found);
    if is_looked_for { above } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_go_work_above_is_looked_for_where_go_does() {
        let check = |gowork: &str| go_works_above(Path::new("/a/w"), gowork);
        let above = [PathBuf::from("/a/go.work"), PathBuf::from("/go.work")];
        for gowork in ["", "/a/w/go.work", "/go.work"] {
            assert_eq!(check(gowork), above, "{gowork}");
        }
        for gowork in ["off", "/other/go.work"] {
            assert!(check(gowork).is_empty(), "{gowork}");
        }
    }

    #[test]
    fn go_env_is_understood() {
        let json = br#"{"GOROOT":"/r","GOMODCACHE":"/m","GOOS":"plan9","GOARCH":"arm","CGO_ENABLED":"0",
            "GOVERSION":"go1.26.8","GOFLAGS":"-mod=mod -tags=a,b","GOENV":"/nowhere/env","GOWORK":"/w/go.work"}"#;
        let toolchain = parse(json, Path::new("/w")).unwrap();
        let tags = ["a", "b"].map(str::to_owned).into();
        let context = BuildContext { goos: "plan9".into(), goarch: "arm".into(), tags, go_minor: 26, cgo: false };
        let (goroot, module_cache, version) = ("/r".into(), "/m".into(), "go1.26.8".into());
        let sources = toolchain.sources.clone();
        assert_eq!(toolchain, Toolchain { goroot, module_cache, context, version, sources });
        assert!(toolchain.sources.contains(&("/nowhere/env".into(), None)), "{:?}", toolchain.sources);
        assert!(toolchain.sources.iter().all(|it| !it.0.starts_with("/w")), "{:?}", toolchain.sources);
        assert_eq!(parse(b"{}", Path::new("/w")), None);
    }

    #[test]
    fn a_file_that_is_written_changes_the_environment() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("env");
        let said = format!(
            r#"{{"GOROOT":"/r","GOMODCACHE":"/m","GOOS":"linux","GOARCH":"arm","CGO_ENABLED":"0","GOVERSION":"go1.26",
            "GOFLAGS":"","GOENV":"{}"}}"#,
            file.display()
        );
        let toolchain = parse(said.as_bytes(), Path::new("/w")).unwrap();
        assert!(!toolchain.has_changed());
        std::fs::write(&file, "GOFLAGS=-tags=a\n").unwrap();
        assert!(toolchain.has_changed());
    }
}
