//! A `Cargo.toml` as the rules see it.

use toml::de::{DeTable, DeValue};

use super::complaint::Complaint;

pub(crate) struct Manifest {
    /// Relative to the repository.
    pub(crate) file: String,
    /// The version of the package, if it is written here.
    pub(crate) version: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
    /// Whether the lints of the workspace hold for the package.
    pub(crate) inherits_lints: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// Of the library and the program, and of build scripts, for some target or all.
    Normal,
    Dev,
    /// `[workspace.dependencies]`.
    Workspace,
}

pub(crate) struct Dependency {
    pub(crate) section: Section,
    /// Of the package, if it is renamed.
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) version: Option<String>,
    /// `workspace = true`.
    pub(crate) is_inherited: bool,
}

impl Manifest {
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, Complaint> {
        let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
        let parsed = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |it| it.start);
            Complaint::new(file, line(at), format!("this is not TOML: {}", error.message()))
        })?;
        let root = parsed.get_ref();
        let mut dependencies = Vec::new();
        let mut add = |section: Section, within: &DeTable<'_>, name: &str| {
            for (key, value) in &table(within, name) {
                dependencies.push(dependency(section, key.get_ref(), line(key.span().start), value.get_ref()));
            }
        };
        let targets = table(root, "target");
        let targets = targets.values().filter_map(|it| it.get_ref().as_table());
        for within in std::iter::once(root).chain(targets) {
            add(Section::Normal, within, "dependencies");
            add(Section::Normal, within, "build-dependencies");
            add(Section::Dev, within, "dev-dependencies");
        }
        add(Section::Workspace, &table(root, "workspace"), "dependencies");
        let version = table(root, "package").get("version").and_then(|it| it.get_ref().as_str()).map(str::to_owned);
        let inherits_lints = table(root, "lints").get("workspace").and_then(|it| it.get_ref().as_bool()) == Some(true);
        Ok(Manifest { file: file.to_owned(), version, dependencies, inherits_lints })
    }

    /// The name of the crate without prefix: `go` for `crates/go/Cargo.toml`, `semdex` for `Cargo.toml`.
    pub(crate) fn crate_name(&self) -> &str {
        let directory = self.file.strip_suffix("/Cargo.toml").unwrap_or("semdex");
        directory.strip_prefix("crates/").unwrap_or(directory)
    }

    /// The dependencies that are compiled for a user, not for a test.
    pub(crate) fn normal(&self) -> impl Iterator<Item = &Dependency> {
        self.dependencies.iter().filter(|it| it.section == Section::Normal)
    }
}

impl Dependency {
    /// The name of a crate of this workspace, without prefix.
    pub(crate) fn sibling(&self) -> Option<&str> {
        self.name.strip_prefix("semdex-")
    }

    /// The name as code has it.
    pub(crate) fn identifier(&self) -> String {
        self.name.replace('-', "_")
    }
}

fn table<'t>(within: &DeTable<'t>, name: &str) -> DeTable<'t> {
    within.get(name).and_then(|it| it.get_ref().as_table()).cloned().unwrap_or_default()
}

fn dependency(section: Section, key: &str, line: usize, value: &DeValue<'_>) -> Dependency {
    let table = value.as_table();
    let field = |name: &str| table.and_then(|it| it.get(name)).map(|it| it.get_ref());
    let text = |name: &str| field(name).and_then(|it| it.as_str()).map(str::to_owned);
    Dependency {
        section,
        name: text("package").unwrap_or_else(|| key.to_owned()),
        line,
        version: value.as_str().map(str::to_owned).or_else(|| text("version")),
        is_inherited: field("workspace").and_then(|it| it.as_bool()) == Some(true),
    }
}

#[cfg(test)]
pub(crate) fn manifest(file: &str, text: &str) -> Manifest {
    Manifest::parse(file, text).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_have_their_section_and_line() {
        let manifest = manifest(
            "crates/go/Cargo.toml",
            "[package]\nversion = \"1.2.3\"\n[dependencies]\na = \"1\"\nb.workspace = true\n\
             c = { package = \"semdex-d-e\", version = \"=2\" }\n[dev-dependencies]\nf = \"1\"\n\
             [target.'cfg(unix)'.dependencies]\ng = \"1\"\n[dependencies.h]\nversion = \"3\"\n\
             [lints]\nworkspace = true\n",
        );
        let shown: Vec<String> = manifest.normal().map(|it| format!("{}:{}", it.line, it.name)).collect();
        assert_eq!(shown, ["4:a", "5:b", "6:semdex-d-e", "11:h", "10:g"]);
        assert_eq!(manifest.crate_name(), "go");
        assert_eq!(manifest.version.as_deref(), Some("1.2.3"));
        assert!(manifest.inherits_lints);
        assert_eq!(manifest.dependencies[2].sibling(), Some("d-e"));
        assert_eq!(manifest.dependencies[2].version.as_deref(), Some("=2"));
        assert!(manifest.dependencies[1].is_inherited);
    }
}
