//! Which crate may use which, the only places of foreign crates, and their versions: the manifests against the tables
//! here.

use std::collections::BTreeSet;

use super::complaint::Complaint;
use super::manifest::{Manifest, Section};
use super::words::PURE;

/// Which crates of the workspace a crate may use, directly or through others. A new crate is entered here.
const ARROWS: &[(&str, &[&str])] = &[
    // Replacements of four crates of rust-analyzer, and what they share with the engines.
    ("steps", &[]),
    ("arena", &["steps"]),
    ("intern", &["steps"]),
    ("nesting", &[]),
    ("parser", &["nesting"]),
    ("pin", &[]),
    ("base-db", &["pin"]),
    ("model", &[]),
    ("text", &["model"]),
    ("fs", &["model"]),
    ("process", &["model"]),
    ("lsp-client", &["model"]),
    ("config", &["fs", "model"]),
    ("engine", &["config", "text", "fs", "process", "model"]),
    // The engines never use one another.
    ("rust", &["engine", "lsp-client", "config", "text", "fs", "process", "model", "nesting", "pin", "steps"]),
    ("go", &["engine", "lsp-client", "config", "text", "fs", "process", "model", "nesting"]),
    ("lsp", &["engine", "lsp-client", "config", "text", "fs", "process", "model"]),
    ("workspace", &["engine", "config", "text", "fs", "process", "model"]),
    // Requests and replies, for every interface: it knows no transport, no workspace and no engine.
    ("contract", &["text", "model"]),
    ("ops", &["contract", "workspace", "engine", "config", "text", "fs", "process", "model"]),
    ("coder", &["ops", "contract", "workspace", "engine", "config", "text", "fs", "process", "model"]),
    ("mcp", &["ops", "contract", "workspace", "engine", "config", "text", "fs", "process", "model"]),
    ("http", &["coder", "mcp", "ops", "contract", "workspace", "engine", "config", "text", "fs", "process", "model"]),
    ("cli", &["coder", "mcp", "ops", "contract", "workspace", "engine", "config", "text", "fs", "process", "model"]),
    // The only crate that names the engines and the interfaces.
    (
        "semdex",
        &[
            "http",
            "cli",
            "mcp",
            "coder",
            "ops",
            "contract",
            "workspace",
            "rust",
            "go",
            "lsp",
            "lsp-client",
            "engine",
            "config",
            "text",
            "fs",
            "process",
            "model",
            "nesting",
            "pin",
            "steps",
        ],
    ),
    // For dev-dependencies alone, which no row restricts.
    ("testing", &[]),
    // It must build without rust-analyzer.
    ("xtask", &[]),
];

/// Foreign crates that only a few crates may depend on. A name that ends in `_` means all names that begin with it.
const ONLY_PLACES: &[(&[&str], &[&str])] = &[
    (&["ra_ap_", "salsa", "salsa_"], &["rust", "parser", "base-db"]),
    (&["sqlx", "zstd", "notify"], &["workspace"]),
    (&["gen_lsp_types"], &["lsp-client", "go", "lsp"]),
    (&["axum", "axum_", "tower", "tower_", "http"], &["http"]),
    // Both ends of a connection.
    (&["hyper", "hyper_", "http_"], &["http", "cli"]),
    // Schemas are next to their types.
    (&["utoipa", "utoipa_"], &["http", "contract"]),
    // It may send a token over another connection than the checked one.
    (&["reqwest"], &[]),
    (&["rmcp"], &["mcp"]),
    (&["aws_"], &["coder"]),
    (&["opentelemetry", "opentelemetry_", "tracing_opentelemetry"], &["config"]),
    (&["clap", "clap_"], &["cli", "config", "semdex", "xtask"]),
    (&["tree_sitter", "tree_sitter_"], &["go", "lsp"]),
];

/// Foreign crates that no crate that only computes depends on.
const IMPURE: &[&str] = &["serde", "serde_", "tokio", "tokio_", "tracing", "tracing_"];

/// Crates that are mostly code of others, which our lints do not fit.
const WITHOUT_LINTS: &[&str] = &["arena", "intern", "parser", "nesting", "base-db"];

/// rust-analyzer and what it needs in one exact version.
fn is_pinned(name: &str) -> bool {
    name.starts_with("ra_ap_") || name.starts_with("ra-ap-") || name.starts_with("salsa")
}

pub(crate) fn arrows(manifest: &Manifest) -> Vec<Complaint> {
    let name = manifest.crate_name();
    let Some((_, lawful)) = ARROWS.iter().find(|(it, _)| *it == name) else {
        return vec![Complaint::new(&manifest.file, 1, format!("enter `{name}` in ARROWS, with what it may use"))];
    };
    let used = manifest.normal().filter_map(|it| Some((it.line, it.sibling()?)));
    let unlawful = used.filter(|(_, used)| !lawful.contains(used));
    let advice = "invert the dependency, or change ARROWS and ARCHITECTURE.md";
    unlawful
        .map(|(line, used)| Complaint::new(&manifest.file, line, format!("`{name}` must not use `{used}`: {advice}")))
        .collect()
}

/// Each row of ARROWS is of a crate that exists.
pub(crate) fn rows(manifests: &[Manifest]) -> Vec<Complaint> {
    let known: BTreeSet<&str> = manifests.iter().map(Manifest::crate_name).collect();
    let missing = ARROWS.iter().filter(|(name, _)| !known.contains(name));
    missing
        .map(|(name, _)| Complaint::new("Cargo.toml", 1, format!("there is no crate `{name}`: remove it from ARROWS")))
        .collect()
}

fn is_named(identifier: &str, name: &str) -> bool {
    if name.ends_with('_') { identifier.starts_with(name) } else { identifier == name }
}

pub(crate) fn only_places(manifest: &Manifest) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for dependency in manifest.normal() {
        let name = dependency.identifier();
        let rule = ONLY_PLACES.iter().find(|(names, _)| names.iter().any(|it| is_named(&name, it)));
        if let Some((_, places)) = rule.filter(|(_, places)| !places.contains(&manifest.crate_name())) {
            let places = places.join(", ");
            let message = format!("only {places} may depend on `{}`: move the code that needs it", dependency.name);
            complaints.push(Complaint::new(&manifest.file, dependency.line, message));
        }
    }
    complaints
}

pub(crate) fn pure(manifest: &Manifest) -> Vec<Complaint> {
    if !PURE.contains(&manifest.crate_name()) {
        return Vec::new();
    }
    let impure = manifest.normal().filter(|it| IMPURE.iter().any(|name| is_named(&it.identifier(), name)));
    let message = |name: &str| format!("`{name}` in a crate that only computes: convert in the crate that uses it");
    impure.map(|it| Complaint::new(&manifest.file, it.line, message(&it.name))).collect()
}

pub(crate) fn lints(manifest: &Manifest) -> Vec<Complaint> {
    if manifest.inherits_lints || WITHOUT_LINTS.contains(&manifest.crate_name()) {
        return Vec::new();
    }
    vec![Complaint::new(&manifest.file, 1, "add `[lints] workspace = true`: the lints of the workspace hold for all")]
}

/// The requirement of rust-analyzer on salsa is looser than what compiles, and its own crates fit together in one
/// version only.
pub(crate) fn pins(manifest: &Manifest) -> Vec<Complaint> {
    let is_fork = ["parser", "base-db"].contains(&manifest.crate_name());
    let mut complaints = Vec::new();
    let mut first: Option<&str> = None;
    for dependency in manifest.dependencies.iter().filter(|it| is_pinned(&it.name) && !it.is_inherited) {
        let (name, version) = (&dependency.name, dependency.version.as_deref().unwrap_or_default());
        let message = if dependency.section != Section::Workspace && !is_fork {
            format!("`{name}` must have the version of the workspace: write `workspace = true`")
        } else if !version.starts_with('=') {
            format!("`{name}` is not pinned: write \"={version}\"")
        } else if name.starts_with("ra_ap_") && *first.get_or_insert(version) != version {
            format!("`{name}` {version} is of another version than its siblings: give all ra_ap_* one version")
        } else {
            continue;
        };
        complaints.push(Complaint::new(&manifest.file, dependency.line, message));
    }
    complaints
}

/// The fork replaces the parser of one version and calls the parser of another: with its own version it would call itself.
pub(crate) fn parser(root: &Manifest, fork: &Manifest) -> Vec<Complaint> {
    let required = |manifest: &Manifest| {
        let parser = manifest.dependencies.iter().find(|it| it.name == "ra_ap_parser" && it.version.is_some());
        parser.and_then(|it| it.version.as_deref()?.strip_prefix('=').map(str::to_owned))
    };
    let (pinned, called) = (required(root), required(fork));
    if pinned.is_some() && pinned == fork.version && called.is_some() && called != fork.version {
        return Vec::new();
    }
    let message = format!(
        "the workspace pins ra_ap_parser {pinned:?}; this has version {:?} and calls {called:?}: take the pinned \
         version, and call a neighbouring one",
        fork.version
    );
    vec![Complaint::new(&fork.file, 1, message)]
}

/// A workspace of the tests needs nothing that the build of semdex has not downloaded.
pub(crate) fn unavailable(file: &str, lock: &str, own: &str) -> Vec<Complaint> {
    let (Some(needed), Some(known)) = (locked(lock), locked(own)) else {
        return vec![Complaint::new(
            file,
            1,
            "this or the lock file of the repository is not one of Cargo: write it again",
        )];
    };
    let missing = needed.difference(&known);
    missing
        .map(|(name, version)| {
            let line = lock.lines().position(|it| it == format!("name = \"{name}\"")).unwrap_or_default() + 1;
            let message = format!("`{name}` {version} is not in the repository's Cargo.lock: take a version that is");
            Complaint::new(file, line, message)
        })
        .collect()
}

/// The packages of a lock file from a registry, with their versions.
fn locked(lock: &str) -> Option<BTreeSet<(String, String)>> {
    let parsed: toml::Table = lock.parse().ok()?;
    let packages = parsed.get("package")?.as_array()?;
    let foreign = packages.iter().filter(|it| it.get("source").is_some());
    let text = |package: &toml::Value, key: &str| package.get(key)?.as_str().map(str::to_owned);
    Some(foreign.filter_map(|it| Some((text(it, "name")?, text(it, "version")?))).collect())
}

#[cfg(test)]
mod tests {
    use super::super::complaint::{fails, passes};
    use super::super::manifest::manifest;
    use super::*;

    fn of(name: &str, dependencies: &str) -> Manifest {
        manifest(&format!("crates/{name}/Cargo.toml"), &format!("[dependencies]\n{dependencies}\n"))
    }

    #[test]
    fn an_arrow_that_runs_back_is_found() {
        fails(arrows(&of("text", "semdex-engine.workspace = true")), "Cargo.toml:2: `text` must not use `engine`");
        fails(
            arrows(&of("go", "semdex-model.workspace = true\nsemdex-ops.workspace = true")),
            "`go` must not use `ops`",
        );
        fails(arrows(&of("go", "semdex-rust.workspace = true")), "`go` must not use `rust`");
        fails(arrows(&of("ops", "x = { package = \"semdex-http\", path = \"../http\" }")), "must not use `http`");
        fails(arrows(&of("http", "semdex-cli.workspace = true")), "must not use `cli`");
        fails(arrows(&of("cli", "[target.'cfg(unix)'.dependencies]\nsemdex-http.workspace = true")), "`http`");
        fails(arrows(&of("cli", "[build-dependencies]\nsemdex-http.workspace = true")), "must not use `http`");
        fails(arrows(&of("go", "semdex-testing.workspace = true")), "must not use `testing`");
        fails(arrows(&manifest("xtask/Cargo.toml", "[dependencies]\nsemdex-rust.workspace = true")), "`xtask`");
        fails(arrows(&of("utils", "")), "enter `utils` in ARROWS");
        passes(arrows(&of("ops", "semdex-contract.workspace = true\nserde.workspace = true")));
        passes(arrows(&of("ops", "[dev-dependencies]\nsemdex-rust.workspace = true")));
        passes(arrows(&manifest("Cargo.toml", "[dependencies]\nsemdex-rust.workspace = true")));
    }

    #[test]
    fn the_table_of_arrows_is_closed() {
        for (name, lawful) in ARROWS {
            for used in *lawful {
                let (_, beyond) = ARROWS.iter().find(|(it, _)| it == used).expect(used);
                let missing: Vec<_> = beyond.iter().filter(|it| !lawful.contains(it)).collect();
                assert!(missing.is_empty(), "`{name}` uses {missing:?} through `{used}`");
                assert!(!beyond.contains(name), "`{name}` and `{used}` use each other");
            }
        }
    }

    #[test]
    fn a_row_without_a_crate_is_found() {
        let mut manifests: Vec<Manifest> = ARROWS.iter().map(|(name, _)| of(name, "")).collect();
        passes(rows(&manifests));
        manifests.retain(|it| it.crate_name() != "mcp");
        fails(rows(&manifests), "there is no crate `mcp`");
    }

    #[test]
    fn a_foreign_crate_out_of_its_place_is_found() {
        fails(
            only_places(&of("ops", "ra_ap_hir.workspace = true")),
            "only rust, parser, base-db may depend on `ra_ap_hir`",
        );
        fails(only_places(&of("lsp", "ra-ap-rustc_lexer = \"=1\"")), "only rust, parser");
        fails(only_places(&of("ops", "x = { package = \"axum\", version = \"1\" }")), "only http may depend on `axum`");
        fails(only_places(&of("cli", "tower-http.workspace = true")), "Cargo.toml:2: only http");
        fails(only_places(&of("http", "aws-config = { workspace = true, optional = true }")), "only coder");
        passes(only_places(&of("rust", "ra_ap_hir.workspace = true\nsalsa-macros.workspace = true")));
        passes(only_places(&of("ops", "serde.workspace = true\nnotify-not = \"1\"\n[dev-dependencies]\naxum = \"1\"")));
        passes(only_places(&manifest("xtask/Cargo.toml", "[dependencies]\nclap.workspace = true")));
    }

    #[test]
    fn an_impure_dependency_is_found() {
        fails(pure(&of("text", "serde_json.workspace = true")), "`serde_json`");
        fails(pure(&of("model", "tokio.workspace = true")), "`tokio`");
        passes(pure(&of("text", "memchr.workspace = true\n[dev-dependencies]\nserde_json.workspace = true")));
        passes(pure(&of("ops", "serde.workspace = true")));
    }

    #[test]
    fn a_crate_without_lints_is_found() {
        fails(lints(&of("ops", "")), "workspace = true");
        fails(lints(&manifest("crates/ops/Cargo.toml", "[lints.rust]\nmissing_docs = \"warn\"")), "workspace = true");
        passes(lints(&of("parser", "")));
        passes(lints(&of("ops", "[lints]\nworkspace = true")));
    }

    #[test]
    fn a_loose_pin_is_found() {
        let found = |text: &str| pins(&manifest("Cargo.toml", &format!("[workspace.dependencies]\n{text}")));
        fails(found("ra_ap_hir = \"0.0.348\""), "`ra_ap_hir` is not pinned");
        fails(
            found("ra_ap_hir = \"=0.0.348\"\nra_ap_ide = \"=0.0.347\""),
            "Cargo.toml:3: `ra_ap_ide` =0.0.347 is of another",
        );
        fails(found("salsa = { version = \"0.28\" }"), "not pinned");
        fails(found("ra-ap-rustc_lexer = \"0.166\""), "not pinned");
        fails(pins(&of("rust", "ra_ap_hir = \"=0.0.348\"")), "write `workspace = true`");
        passes(pins(&of("rust", "ra_ap_hir.workspace = true")));
        passes(found(
            "ra_ap_hir = \"=0.0.348\"\nra_ap_ide = \"=0.0.348\"\nra-ap-rustc_lexer = \"=0.166.0\"\n\
             salsa = \"=0.28.2\"\nsalsa-macros = \"=0.28.2\"\nserde = \"1\"\n\
             [patch.crates-io]\nra_ap_parser = { path = \"crates/parser\" }",
        ));
    }

    #[test]
    fn a_fork_of_another_version_is_found() {
        let pinned = manifest("Cargo.toml", "[workspace.dependencies]\nra_ap_parser = \"=0.0.348\"");
        let fork = |version: &str, real: &str| {
            let real = format!("real = {{ package = \"ra_ap_parser\", version = \"={real}\" }}");
            let text = format!("[package]\nversion = \"{version}\"\n[dependencies]\n{real}\n");
            manifest("crates/parser/Cargo.toml", &text)
        };
        fails(parser(&pinned, &fork("0.0.347", "0.0.349")), "the workspace pins");
        fails(parser(&pinned, &fork("0.0.348", "0.0.348")), "the workspace pins");
        passes(parser(&pinned, &fork("0.0.348", "0.0.349")));
        passes(pins(&fork("0.0.348", "0.0.349")));
    }

    #[test]
    fn a_version_that_was_not_downloaded_is_found() {
        let lock = |version: &str| format!("[[package]]\nname = \"a\"\nversion = \"{version}\"\nsource = \"x\"\n");
        fails(unavailable("x/Cargo.lock", &lock("1.0.1"), &lock("1.0.0")), "x/Cargo.lock:2: `a` 1.0.1 is not in");
        fails(unavailable("x/Cargo.lock", "", &lock("1.0.0")), "write it again");
        passes(unavailable("x/Cargo.lock", &lock("1.0.0"), &lock("1.0.0")));
    }
}
