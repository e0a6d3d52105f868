//! The programs that have to be installed for Rust.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ra_ap_paths::{AbsPathBuf, Utf8PathBuf};

use crate::load::find_std_sources;
use semdex_engine::Requirement;
use semdex_process::{process_group, search_path};

/// A rustup proxy may have to look for its toolchain.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn requirements() -> Vec<Requirement> {
    let shown = |it: PathBuf| it.display().to_string();
    let toolchain = || "install Rust 1.85 or later: https://rustup.rs".to_owned();
    let sysroot = search_path::find("rustc").and_then(|it| sysroot(&it));
    vec![
        Requirement {
            name: "cargo".to_owned(),
            found: search_path::find("cargo").map(shown),
            is_needed: true,
            install: toolchain(),
            without: "no crates, dependencies and features: answers about Rust code are outlines",
        },
        Requirement {
            name: "rustc".to_owned(),
            found: search_path::find("rustc").map(shown),
            is_needed: true,
            install: toolchain(),
            without: "no target, standard library and build scripts",
        },
        Requirement {
            name: "rust-src".to_owned(),
            found: sysroot.as_ref().and_then(|it| find_std_sources(it)).map(|it| it.to_string()),
            is_needed: true,
            install: "rustup component add rust-src".to_owned(),
            without: "the types of the standard library are unknown: usages and impact are incomplete",
        },
        Requirement {
            name: "rustfmt".to_owned(),
            found: search_path::find("rustfmt").map(shown),
            is_needed: false,
            install: "rustup component add rustfmt".to_owned(),
            without: "`format` of an edit does nothing",
        },
    ]
}

/// Asked outside any workspace, so that none influences the choice of the toolchain.
fn sysroot(rustc: &Path) -> Option<AbsPathBuf> {
    let mut command = Command::new(rustc);
    command.args(["--print", "sysroot"]).current_dir("/");
    let output = process_group::run(command, Instant::now() + LIMIT, &|| true).ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    AbsPathBuf::try_from(Utf8PathBuf::from(path.trim())).ok()
}
