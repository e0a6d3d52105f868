//! What the user's Go builds for, and where its sources and the dependencies' lie: `go env` says it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use super::constraints::BuildContext;
use super::process;
use crate::lang::process_group;

const LIMIT: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    pub goroot: PathBuf,
    pub module_cache: PathBuf,
    pub context: BuildContext,
    /// As in `go1.26.8`.
    pub version: String,
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
}

/// In the workspace, for its `go.mod` may name another toolchain; without trust that is not followed.
pub async fn ask(root: &Path, trusted: bool) -> Option<Toolchain> {
    let mut command = Command::new("go");
    command
        .args(["env", "-json", "GOROOT", "GOMODCACHE", "GOOS", "GOARCH", "CGO_ENABLED", "GOVERSION", "GOFLAGS"])
        .current_dir(root)
        .envs(process::environment(trusted));
    let output = process_group::output(command, LIMIT).await.ok()?;
    parse(&output.stdout)
}

fn parse(json: &[u8]) -> Option<Toolchain> {
    let said: Said = serde_json::from_slice(json).ok()?;
    let flags = said.goflags.split_whitespace();
    let tags = flags.filter_map(|flag| flag.trim_start_matches('-').strip_prefix("tags="));
    let tags: BTreeSet<String> = tags.flat_map(|tags| tags.split(',')).map(str::to_owned).collect();
    let minor = said.goversion.strip_prefix("go1.").map(|it| it.chars().take_while(char::is_ascii_digit).collect());
    let minor: Option<String> = minor;
    Some(Toolchain {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_env_is_understood() {
        let json = br#"{"GOROOT":"/r","GOMODCACHE":"/m","GOOS":"plan9","GOARCH":"arm","CGO_ENABLED":"0",
            "GOVERSION":"go1.26.8","GOFLAGS":"-mod=mod -tags=a,b"}"#;
        let toolchain = parse(json).unwrap();
        let tags = ["a", "b"].map(str::to_owned).into();
        let context = BuildContext { goos: "plan9".into(), goarch: "arm".into(), tags, go_minor: 26, cgo: false };
        let (goroot, module_cache, version) = ("/r".into(), "/m".into(), "go1.26.8".into());
        assert_eq!(toolchain, Toolchain { goroot, module_cache, context, version });
        assert_eq!(parse(b"{}"), None);
    }
}
