//! Limits of loading, and what a load leaves behind.

use std::collections::{BTreeSet, HashMap};

use ra_ap_hir::{attach_db, crate_def_map};

use super::*;
use crate::names::instances;

/// A build script that never ends is ended, and everything else is available.
#[test]
fn a_load_ends_at_its_deadline() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let begun = root.join("begun");
    let script = format!("trap '' TERM; echo $$ > {begun:?}; while :; do sleep 1; done");
    for (name, text) in [
        ("Cargo.toml", "[package]\nname = \"slow\"\nversion = \"0.1.0\"\nedition = \"2021\"\n".to_owned()),
        ("src/lib.rs", "pub fn f() {}\n".to_owned()),
        (
            "build.rs",
            format!("fn main() {{ std::process::Command::new(\"sh\").args([\"-c\", {script:?}]).status().unwrap(); }}"),
        ),
    ] {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let limits = Limits { build: Duration::from_secs(8), ..Limits::default() };
    let began = Instant::now();
    let loaded = load_within(&root, true, Std::Small, limits);
    assert!(began.elapsed() < DEADLINE / 2);
    let status = loaded.rust.status();
    let missing = status.borrow().missing.clone();
    let late = missing.iter().find(|it| it.code == MissingCode::BuildScripts).unwrap_or_else(|| panic!("{missing:?}"));
    assert!(late.detail.contains("did not end in time"), "{late:?}");
    // On a busy machine it may not have been built in time.
    if let Ok(pid) = std::fs::read_to_string(&begun) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", pid.trim())).unwrap_or_default();
        assert!(status.is_empty() || status.contains("State:\tZ"), "{status}");
    }
}

/// A package below a workspace that neither has it as a member nor excludes it is built by nothing: no answer lacks it.
#[test]
fn a_package_of_no_workspace_is_no_gap() {
    let package = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    let (own, other) = (package("own"), package("other"));
    let (_directory, mut it) = fixture(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"own\"]\nresolver = \"3\"\n"),
        ("own/Cargo.toml", &own),
        ("own/src/lib.rs", "pub fn one() {}\n\npub fn user() {\n    one()\n}\n"),
        ("other/Cargo.toml", &other),
        ("other/src/lib.rs", "pub fn two() {}\n"),
    ]);
    it.fill();
    let (after, edits) = it.change("own/src/lib.rs", "pub fn one()", "pub fn won()");
    let before = it.files.clone();
    let impact = it.rust.impact_of(&before, &after, &edits, None);
    assert_eq!(impact.impact.broken.len(), 1);
    assert_eq!(impact.coverage.missing, []);
}

/// A load that changes one package, and adds another, leaves what is known of the rest.
#[test]
fn a_load_computes_only_what_it_changes() {
    let manifest = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
    };
    let (base, top) = (manifest("base", ""), manifest("top", ""));
    let (directory, mut it) = fixture(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"base\", \"top\"]\nresolver = \"3\"\n"),
        ("base/Cargo.toml", &base),
        ("base/src/lib.rs", "mod inner;\n\npub fn one() {}\n"),
        ("base/src/inner.rs", "pub fn two() {}\n"),
        ("top/Cargo.toml", &top),
        ("top/src/lib.rs", "pub fn three() {}\n"),
    ]);
    // The map of a crate is at the same address as long as it is not computed again.
    let maps = |it: &Loaded| -> HashMap<String, usize> {
        let db = it.rust.host.raw_database();
        let of = |it: &ra_ap_hir::Crate| {
            let name = it.display_name(db).map(|it| it.to_string());
            (name.unwrap_or_default(), std::ptr::from_ref(crate_def_map(db, it.base())).addr())
        };
        attach_db(db, || instances::default_crates(db).iter().map(of).collect())
    };
    let before = maps(&it);
    let top =
        manifest("top", "[features]\ndefault = [\"more\"]\nmore = []\n[dependencies]\nnew = { path = \"../new\" }\n");
    for (name, text) in [
        ("Cargo.toml", "[workspace]\nmembers = [\"base\", \"new\", \"top\"]\nresolver = \"3\"\n"),
        ("new/Cargo.toml", &manifest("new", "")),
        ("new/src/lib.rs", "pub fn four() {}\n"),
        ("top/Cargo.toml", &top),
    ] {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        it.becomes(name, Some(text));
    }
    it.reload();
    let after = maps(&it);
    let changed: Vec<&str> =
        after.iter().filter(|(name, at)| before.get(*name) != Some(at)).map(|it| it.0.as_str()).collect();
    assert!(before.contains_key("core") && before.contains_key("base"), "{before:?}");
    assert_eq!(changed.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from(["new", "top"]), "{changed:?}");
}
