//! Builds the checker with the user's own Go into semdex's cache, once for each version of both.

use std::path::{Path, PathBuf};

use crate::install::{self, InstallError};
use crate::toolchain::Toolchain;

/// The program's source.
const SOURCES: &[(&str, &str)] = &[
    ("go.mod", include_str!("program/go.mod")),
    ("builds.go", include_str!("program/builds.go")),
    ("check.go", include_str!("program/check.go")),
    ("codes.go", include_str!("program/codes.go")),
    ("depend.go", include_str!("program/depend.go")),
    ("external.go", include_str!("program/external.go")),
    ("file.go", include_str!("program/file.go")),
    ("guess.go", include_str!("program/guess.go")),
    ("keys.go", include_str!("program/keys.go")),
    ("list.go", include_str!("program/list.go")),
    ("main.go", include_str!("program/main.go")),
    ("memory.go", include_str!("program/memory.go")),
    ("methods.go", include_str!("program/methods.go")),
    ("pass.go", include_str!("program/pass.go")),
    ("planned.go", include_str!("program/planned.go")),
    ("reach.go", include_str!("program/reach.go")),
    ("renamed.go", include_str!("program/renamed.go")),
    ("server.go", include_str!("program/server.go")),
    ("shape.go", include_str!("program/shape.go")),
    ("sources.go", include_str!("program/sources.go")),
    ("unify.go", include_str!("program/unify.go")),
    ("uses.go", include_str!("program/uses.go")),
    ("world.go", include_str!("program/world.go")),
];

/// The type checker is part of the Go toolchain that builds it, so another toolchain needs another build.
pub(crate) async fn ensure(cache_dir: &Path, toolchain: &Toolchain) -> Result<PathBuf, InstallError> {
    let mut hash = blake3::Hasher::new();
    for text in SOURCES.iter().flat_map(|(name, text)| [*name, *text]).chain([&*toolchain.version]) {
        hash.update(text.as_bytes()).update(&[0]);
    }
    let key = &hash.finalize().to_hex()[..24];
    let go = toolchain.goroot.join("bin").join("go");
    install::build(&go, &cache_dir.join("checker").join(key), "checker", SOURCES).await
}
