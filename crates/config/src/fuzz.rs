//! Fuzz targets of the configuration files of a workspace and of a user.

use std::fs;

use super::settings::{Settings, read_user, read_workspace_if_any};
use semdex_testing::fuzz::{fuzz, mutated};

const SIGNS: &[&str] = &[
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "#",
    "\n",
    " ",
    "true",
    "-1",
    "0x7fffffffffffffff",
    "9223372036854775808",
    "1e400",
    "nan",
    "1979-05-27T07:32:00Z",
    "512MiB",
    "99999999TiB",
    "[rust]\n",
    "[go]\n",
    "features = ",
    "\\u0000",
    "\\",
    "é",
    "..",
    "/",
];

#[test]
fn fuzz_settings() {
    const TEXTS: &[&str] = &[
        "[rust]\nfeatures = [\"a\"]\nbuild_scripts = false\nproc_macros = true\n\n[go]\nmemory_limit = \"512MiB\"\n\n[journal]\nkeep_days = 3\nmax_bytes = 1048576\n\n[limits]\nmax_file_bytes = \"1MiB\"\n",
        "[workspaces]\nroots = [\"/a\", \"b\"]\n\n[rust]\nfeatures = \"all\"\n",
    ];
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("semdex.toml");
    fuzz("settings", mutated(TEXTS, SIGNS), |text| {
        fs::write(&file, &text).unwrap();
        let user = read_user(&file);
        if let Err(error) = &user {
            assert!(error.to_string().contains("semdex.toml"), "{error}");
        }
        if let Ok(keys) = read_workspace_if_any(&file) {
            for trusted in [false, true] {
                let _ = Settings::new(&keys, &keys, trusted);
            }
        }
    });
}
