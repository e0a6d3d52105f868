//! What has to be installed for Go.

use std::path::Path;

use super::install;
use semdex_engine::engine::Requirement;
use semdex_process::search_path;

pub(crate) fn requirements(cache_dir: &Path) -> Vec<Requirement> {
    let shown = |it: std::path::PathBuf| it.display().to_string();
    let go = search_path::find("go").map(shown);
    vec![
        Requirement {
            name: "go".to_owned(),
            found: go,
            is_needed: true,
            install: "install Go 1.26 or later: https://go.dev/doc/install".to_owned(),
            without: "no answer about Go code but its outline",
        },
        Requirement {
            name: "gopls".to_owned(),
            found: install::known(cache_dir).map(shown),
            // The first start installs it, where Go is.
            is_needed: false,
            install: format!("go install {}@{}", install::MODULE, install::VERSION),
            without: "the first start takes a minute more, and needs a network, to install it",
        },
    ]
}
