//! Where something outside of the workspace comes from: its package, its version, and its path there, in place of the
//! directory in which this machine happens to keep it.

/// The package that a file outside of the workspace belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Its name, as its manifest gives it.
    pub package: String,
    /// None for the standard library without a version, and for what is taken from a directory.
    pub version: Option<String>,
    /// The directory of the package on this machine, absolute.
    pub root: String,
}

impl Origin {
    /// `serde 1.0.195: src/ser/mod.rs`; of the package's own directory only `serde 1.0.195`. What is made for the package
    /// elsewhere is named by its last part: `ring 0.17.8: …/bindings.rs`.
    pub fn short(&self, file: &str) -> String {
        let below = file.strip_prefix(self.root.trim_end_matches('/'));
        let path = match below {
            Some("" | "/") => None,
            Some(path) if path.starts_with('/') => Some(path.trim_start_matches('/').to_owned()),
            _ => file.trim_end_matches('/').rsplit('/').next().map(|it| format!("…/{it}")),
        };
        let version = self.version.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
        let path = path.map(|it| format!(": {it}")).unwrap_or_default();
        format!("{}{version}{path}", self.package)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_are_named_by_their_package() {
        let origin = |version: Option<&str>, root: &str| Origin {
            package: "serde".to_owned(),
            version: version.map(str::to_owned),
            root: root.to_owned(),
        };
        let serde = origin(Some("1.0.195"), "/store/serde-1.0.195");
        for (file, expected) in [
            ("/store/serde-1.0.195/src/ser/mod.rs", "serde 1.0.195: src/ser/mod.rs"),
            ("/store/serde-1.0.195/", "serde 1.0.195"),
            ("/store/serde-1.0.195", "serde 1.0.195"),
            ("/store/serde-1.0.1955/src/lib.rs", "serde 1.0.195: …/lib.rs"),
            ("/cache/out/made.rs", "serde 1.0.195: …/made.rs"),
        ] {
            assert_eq!(serde.short(file), expected);
        }
        assert_eq!(origin(None, "/beside/serde/").short("/beside/serde/src/lib.rs"), "serde: src/lib.rs");
    }
}
