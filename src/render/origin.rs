//! Where a file outside of the workspace comes from: its package, its version and its path there, in place of the
//! directory in which this machine happens to keep it.

use std::borrow::Cow;

/// Directories that hold packages, and how what is below them is named.
const STORES: &[(&str, Store)] = &[
    ("/registry/src/", Store::Registry),
    ("/git/checkouts/", Store::Checkout),
    ("/pkg/mod/", Store::Modules),
    ("/library/", Store::Toolchain),
    ("/go/src/", Store::Toolchain),
    ("/usr/share/go-", Store::Versioned),
    ("/usr/lib/go-", Store::Versioned),
];

#[derive(Debug, Clone, Copy)]
enum Store {
    /// `INDEX/name-1.0.195/path`
    Registry,
    /// `name-HASH/REVISION/path`
    Checkout,
    /// `host/name@v1.2.3/path`
    Modules,
    /// `package/path`
    Toolchain,
    /// `1.26/src/package/path`
    Versioned,
}

/// `serde 1.0.195: src/ser/mod.rs` for a file of a package's store; any other file as it is.
pub fn short(file: &str) -> Cow<'_, str> {
    if !file.starts_with('/') {
        return Cow::Borrowed(file);
    }
    let found = STORES.iter().find_map(|(store, kind)| {
        // The innermost: a store may lie below a directory of the same name.
        let (_, below) = file.rsplit_once(store)?;
        named(*kind, below)
    });
    found.map_or(Cow::Borrowed(file), Cow::Owned)
}

fn named(store: Store, below: &str) -> Option<String> {
    match store {
        Store::Registry => {
            let (package, path) = below.split_once('/')?.1.split_once('/')?;
            let (name, version) = versioned(package)?;
            Some(format!("{name} {version}: {path}"))
        }
        Store::Checkout => {
            let (package, path) = below.split_once('/')?;
            let (revision, path) = path.split_once('/')?;
            Some(format!("{} {revision}: {path}", package.rsplit_once('-')?.0))
        }
        Store::Modules => {
            let (package, rest) = below.split_once('@')?;
            let (version, path) = rest.split_once('/')?;
            Some(format!("{package} {version}: {path}"))
        }
        Store::Toolchain => {
            let (package, path) = below.rsplit_once("/src/").or_else(|| below.rsplit_once('/'))?;
            let has_own_sources = below.contains("/src/");
            Some(if has_own_sources { format!("{package}: src/{path}") } else { format!("{package}: {path}") })
        }
        Store::Versioned => named(Store::Toolchain, below.split_once("/src/")?.1),
    }
}

/// The name and the version of a directory `name-1.0.195`.
fn versioned(directory: &str) -> Option<(&str, &str)> {
    let at = directory.match_indices('-').map(|it| it.0).find(|&at| {
        directory[at + 1..].starts_with(|it: char| it.is_ascii_digit()) && directory[at + 1..].contains('.')
    })?;
    Some((&directory[..at], &directory[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_stores_are_named_by_their_package() {
        for (file, expected) in [
            ("/u/.cargo/registry/src/index.crates.io-19/serde-1.0.195/src/ser/mod.rs", "serde 1.0.195: src/ser/mod.rs"),
            ("/r/registry/src/i/foo-bar-2.0.0-rc.1/src/lib.rs", "foo-bar 2.0.0-rc.1: src/lib.rs"),
            ("/c/git/checkouts/semdex-1a2b3c/9f8e7d6/crates/x/src/lib.rs", "semdex 9f8e7d6: crates/x/src/lib.rs"),
            ("/u/go/pkg/mod/golang.org/x/net@v0.35.0/html/parse.go", "golang.org/x/net v0.35.0: html/parse.go"),
            ("/t/lib/rustlib/src/rust/library/core/src/option.rs", "core: src/option.rs"),
            ("/usr/src/rustc-1.96.0/library/alloc/src/vec/mod.rs", "alloc: src/vec/mod.rs"),
            ("/usr/local/go/src/net/http/server.go", "net/http: server.go"),
            ("/usr/lib/go-1.26/src/fmt/print.go", "fmt: print.go"),
            ("/elsewhere/x.rs", "/elsewhere/x.rs"),
            ("src/lib.rs", "src/lib.rs"),
        ] {
            assert_eq!(short(file), expected);
        }
    }
}
