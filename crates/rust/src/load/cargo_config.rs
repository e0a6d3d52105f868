//! Cargo's configuration, as far as it changes the meaning of code: the target and `[env]`. Also reports which of its
//! files are not read without trust.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use ra_ap_base_db::Env;
use ra_ap_paths::{AbsPath, AbsPathBuf};
use toml::{Table, Value};

use super::tools::Tools;
use semdex_model::{Missing, MissingCode};

/// The most unread files that are listed.
const SHOWN: usize = 5;

/// The configuration that Cargo finds from a directory.
#[derive(Default)]
pub(crate) struct CargoConfiguration {
    values: Table,
    /// The file that each value comes from, by dotted key.
    origins: HashMap<String, PathBuf>,
}

impl CargoConfiguration {
    /// Without trust there is none: the workspace would have written it.
    pub(crate) fn ask(tools: &Tools<'_>, directory: &AbsPath) -> CargoConfiguration {
        if !tools.trusted {
            return CargoConfiguration::default();
        }
        let mut cargo = tools.cargo(directory);
        cargo.env("RUSTC_BOOTSTRAP", "1");
        cargo.args(["-Z", "unstable-options", "config", "get", "--format", "toml", "--show-origin"]);
        match tools.ask(&mut cargo) {
            Ok(text) => CargoConfiguration::parse(&text),
            Err(error) => {
                tracing::debug!(error, "Cargo's configuration is not available");
                CargoConfiguration::default()
            }
        }
    }

    /// Parses lines of `key = value # file`.
    fn parse(text: &str) -> CargoConfiguration {
        let origin = |line: &str| {
            let (key, rest) = line.split_once(" = ")?;
            let (_, file) = rest.rsplit_once("# ")?;
            // Relative paths are relative to the directory that contains `.cargo`.
            let directory = Path::new(file.trim()).parent()?.parent()?;
            directory.is_absolute().then(|| (key.trim().to_owned(), directory.to_owned()))
        };
        CargoConfiguration {
            values: text.parse().unwrap_or_default(),
            origins: text.lines().filter_map(origin).collect(),
        }
    }

    /// The first configured build target.
    pub(crate) fn target(&self) -> Option<String> {
        let named = match self.values.get("build")?.get("target")? {
            Value::Array(several) => several.first()?.as_str()?,
            one => one.as_str()?,
        };
        let origin = self.origins.get("build.target").filter(|_| named.ends_with(".json"));
        Some(origin.map_or_else(|| named.to_owned(), |it| it.join(named).display().to_string()))
    }

    /// Whether packages may replace published ones.
    pub(crate) fn replaces_packages(&self) -> bool {
        self.values.contains_key("patch") || self.values.contains_key("paths")
    }

    /// The variables that `env!` and similar macros see, apart from Cargo's own variables for each package. A variable
    /// of the process takes precedence over one that is not forced.
    pub(crate) fn variables(&self, set: impl Fn(&str) -> Option<String>) -> Env {
        let mut variables = Env::default();
        for (name, entry) in self.values.get("env").and_then(Value::as_table).into_iter().flatten() {
            let flag = |key: &str| entry.get(key).and_then(Value::as_bool).unwrap_or(false);
            let Some(value) = entry.as_str().or_else(|| entry.get("value")?.as_str()) else { continue };
            let origin = self.origins.get(&format!("env.{name}.value")).filter(|_| flag("relative"));
            let value = origin.map_or_else(|| value.to_owned(), |it| it.join(value).display().to_string());
            variables.set(name, set(name).filter(|_| !flag("force")).unwrap_or(value));
        }
        variables
    }
}

/// Reports the files that would configure the build and were not read. It looks at the disk, not at the indexed texts:
/// Cargo also reads what these leave out (links, large files, marked directories).
pub(crate) fn unread(root: &AbsPath, manifests: &[AbsPathBuf]) -> Option<Missing> {
    let own = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let own = own.or_else(|| std::env::home_dir().map(|it| it.join(".cargo")));
    let mut seen: BTreeSet<&Path> = BTreeSet::new();
    let mut found: Vec<String> = Vec::new();
    for directory in manifests.iter().filter_map(|it| it.parent()) {
        for directory in AsRef::<Path>::as_ref(directory).ancestors() {
            if !seen.insert(directory) {
                break;
            }
            let files = [".cargo/config", ".cargo/config.toml", "rust-toolchain", "rust-toolchain.toml"];
            let there = files.iter().map(|it| directory.join(it)).filter(|it| {
                // A dangling link counts as present.
                std::fs::symlink_metadata(it).is_ok() && own.as_deref().is_none_or(|own| it.parent() != Some(own))
            });
            let shown = |it: PathBuf| it.strip_prefix(root).map_or_else(|_| it.clone(), Path::to_path_buf);
            found.extend(there.map(|it| format!("`{}`", shown(it).display())));
        }
    }
    if found.is_empty() {
        return None;
    }
    let more = match found.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    found.truncate(SHOWN);
    let detail = format!(
        "the workspace is not trusted, so {}{more} {} not read: the target, `cfg`s, sources of dependencies and the \
         toolchain may be others; run `semdex trust PATH` or start with `--trust` if you trust its code",
        found.join(", "),
        if found.len() + more.len() == 1 { "is" } else { "are" },
    );
    Some(Missing::new(MissingCode::Untrusted, "rust", detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_variables_are_read_with_their_origins() {
        let text = "build.target = \"spec.json\" # /w/.cargo/config.toml\n\
                    env.PLAIN = \"plain\" # /w/.cargo/config.toml\n\
                    env.FORCED.force = true # /w/.cargo/config.toml\n\
                    env.FORCED.value = \"forced\" # /w/.cargo/config.toml\n\
                    env.SET.value = \"theirs\" # /w/.cargo/config.toml\n\
                    env.PLACE.relative = true # /w/a/.cargo/config.toml\n\
                    env.PLACE.value = \"b\" # /w/a/.cargo/config.toml\n\
                    term.quiet = true # environment variable `CARGO_TERM_QUIET`\n";
        let configuration = CargoConfiguration::parse(text);
        assert_eq!(configuration.target().as_deref(), Some("/w/spec.json"));
        let set = |name: &str| matches!(name, "SET" | "FORCED").then(|| "ours".to_owned());
        let variables: Vec<(String, String)> = configuration.variables(set).into();
        let expected = [("FORCED", "forced"), ("PLACE", "/w/a/b"), ("PLAIN", "plain"), ("SET", "ours")];
        assert_eq!(variables, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));

        let several = CargoConfiguration::parse("build.target = [\n    \"x86\", # /w/.cargo/config.toml\n]\n");
        assert_eq!(several.target().as_deref(), Some("x86"));
        assert_eq!(CargoConfiguration::default().target(), None);
    }

    #[test]
    fn files_that_are_not_read_are_named_through_links_and_from_above() {
        let directory = tempfile::tempdir().unwrap();
        let base = AbsPathBuf::assert_utf8(directory.path().canonicalize().unwrap());
        let root = base.join("root");
        let manifests = [root.join("Cargo.toml"), root.join("a/Cargo.toml")];
        std::fs::create_dir_all(root.join("a")).unwrap();
        assert_eq!(unread(&root, &manifests), None);

        std::fs::create_dir(base.join("elsewhere")).unwrap();
        std::fs::write(base.join("elsewhere/config.toml"), "").unwrap();
        std::os::unix::fs::symlink(base.join("elsewhere"), root.join("a/.cargo")).unwrap();
        std::os::unix::fs::symlink("nowhere", base.join("rust-toolchain.toml")).unwrap();
        let detail = unread(&root, &manifests).unwrap().detail;
        let outside = format!("`{}`", base.join("rust-toolchain.toml"));
        assert!(detail.contains("`a/.cargo/config.toml`") && detail.contains(&outside), "{detail}");
    }
}
