//! Validity of import paths, module paths and versions by the rules of `golang.org/x/mod/module`. Only valid ones
//! become parts of file names.

/// Names that Windows reserves for devices, with any extension.
const DEVICES: [&str; 22] = [
    "CON", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "lpt1", "lpt2", "lpt3", "lpt4",
    "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "NUL", "PRN", "AUX",
];

/// `module.CheckImportPath`.
pub(crate) fn is_import_path(path: &str) -> bool {
    !path.starts_with('-') && path.split('/').all(|it| is_element(it) && it.chars().all(|it| is_valid(it, "-._~+")))
}

/// `module.EscapeVersion`, for versions in go.mod files.
pub(crate) fn is_version(version: &str) -> bool {
    is_element(version) && version.chars().all(|it| is_valid(it, "-._~+"))
}

fn is_valid(character: char, signs: &str) -> bool {
    character.is_ascii_alphanumeric() || signs.contains(character)
}

fn is_element(element: &str) -> bool {
    let short = element.split('.').next().unwrap_or_default();
    // `PROGRA~1`: the short name of a directory on Windows.
    let is_short_name = short
        .rsplit_once('~')
        .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()));
    !element.is_empty()
        && !element.ends_with('.')
        && !DEVICES.iter().any(|it| it.eq_ignore_ascii_case(short))
        && !is_short_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lawful_paths_name_files() {
        for path in [
            "fmt",
            "encoding/json",
            "github.com/BurntSushi/toml",
            "gopkg.in/yaml.v3",
            "x/.hidden",
            "a+b",
            "a~b/c_d",
            "C",
        ] {
            assert!(is_import_path(path), "{path}");
        }
        for path in [
            "",
            "/etc",
            "x//y",
            "x/",
            "x/../y",
            "github.com/x/y/../../../../etc",
            "x/./y",
            "..",
            "x/...",
            "x/y.",
            "-x",
            "x\\..\\y",
            "x/%2e%2e/y",
            "x/\0",
            "x y",
            "x/ü",
            "x/con.go",
            "x/progra~1",
            "x!y",
            "x@v1.0.0",
        ] {
            assert!(!is_import_path(path), "{path}");
        }
        for (version, valid) in [
            ("v1.3.0", true),
            ("v0.0.0-20240101000000-abcdef123456", true),
            ("v2.0.0+incompatible", true),
            ("v1.0.0/../../etc", false),
            ("..", false),
            ("", false),
            ("v1!0", false),
        ] {
            assert_eq!(is_version(version), valid, "{version}");
        }
    }
}
