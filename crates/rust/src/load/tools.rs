//! The toolchain, as a load uses it: which programs are started, where, and with which environment.
//!
//! Cargo and rustup read configuration from their working directory and all directories above it: wrappers, other
//! compilers, `[env]` with another PATH, other toolchains. For an untrusted workspace they start in `/` with
//! `--manifest-path`, so that they read no configuration of the workspace. For the same reason the toolchain's own
//! programs are used, not rustup's, which look for a `rust-toolchain.toml`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use ra_ap_base_db::target::{Arch, TargetData, TargetLoadResult};
use ra_ap_cfg::CfgAtom;
use ra_ap_hir_expand::intern::Symbol;
use ra_ap_paths::{AbsPath, AbsPathBuf, Utf8PathBuf};
use rustc_hash::FxHashMap;
use serde::Deserialize;

use semdex_model::{Missing, MissingCode};
use semdex_process::process_group::Failure;
use semdex_process::{process_group, search_path};

/// Prevents downloads by Cargo.
pub(crate) const OFFLINE: &str = "CARGO_NET_OFFLINE";
/// A directory with nothing above it.
const NOWHERE: &str = "/";
/// Set by rust-analyzer although `rustc --print cfg` does not print them on stable.
const UNSTABLE_CFGS: [&str; 15] = [
    "target_has_atomic_equal_alignment=\"8\"",
    "target_has_atomic_equal_alignment=\"16\"",
    "target_has_atomic_equal_alignment=\"32\"",
    "target_has_atomic_equal_alignment=\"64\"",
    "target_has_atomic_equal_alignment=\"128\"",
    "target_has_atomic_equal_alignment=\"ptr\"",
    "target_has_atomic_load_store",
    "target_has_atomic_load_store=\"8\"",
    "target_has_atomic_load_store=\"16\"",
    "target_has_atomic_load_store=\"32\"",
    "target_has_atomic_load_store=\"64\"",
    "target_has_atomic_load_store=\"128\"",
    "target_has_atomic_load_store=\"ptr\"",
    "target_thread_local",
    "target_has_atomic",
];

/// The time limit of a load, and whether its result is still wanted.
#[derive(Clone, Copy)]
pub(crate) struct Patience<'a> {
    pub deadline: Instant,
    pub is_wanted: &'a (dyn Fn() -> bool + Sync),
}

/// A toolchain that was found.
pub(crate) struct Tools<'a> {
    pub sysroot: AbsPathBuf,
    pub trusted: bool,
    pub patience: Patience<'a>,
    /// Builds run at a lower priority, because what most questions need is there.
    pub gives_way: bool,
    /// Variables of all programs; `None` removes one.
    pub environment: FxHashMap<String, Option<String>>,
    pub version: Version,
    pub host: Option<String>,
    /// Why it is not the toolchain that the workspace selects.
    instead: Option<String>,
    cargo: PathBuf,
    rustc: PathBuf,
}

/// Cargo's version, as far as it decides which options exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub u32, pub u32);

impl<'a> Tools<'a> {
    /// Runs `rustc` from the root of the workspace or, without trust, from `/`. If the toolchain that the workspace selects
    /// cannot be run, for example since it is not installed, the default toolchain takes its place.
    pub(crate) fn find(root: &AbsPath, trusted: bool, patience: Patience<'a>) -> Result<Tools<'a>, String> {
        let mut environment = FxHashMap::default();
        let mut set = |name: &str, value: &str| environment.insert(name.to_owned(), Some(value.to_owned()));
        if !trusted {
            set("RUSTC_WRAPPER", "");
            set("RUSTC_WORKSPACE_WRAPPER", "");
            set("CARGO_BUILD_RUSTC_WRAPPER", "");
            set("CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER", "");
            set("CARGO_NET_GIT_FETCH_WITH_CLI", "false");
            set(OFFLINE, "true");
        }
        let mut tools = Tools {
            sysroot: root.to_path_buf(),
            trusted,
            patience,
            gives_way: false,
            environment,
            version: Version(0, 0),
            host: None,
            instead: None,
            cargo: search_path::find_or_name("cargo"),
            rustc: search_path::find_or_name("rustc"),
        };
        let mut command = tools.rustc(root);
        let sysroot = tools.ask(command.args(["--print", "sysroot"])).or_else(|error| {
            let mut command = tools.rustc(root);
            command.current_dir(NOWHERE).env_remove("RUSTUP_TOOLCHAIN");
            let found = tools.ask(command.args(["--print", "sysroot"])).map_err(|_| error.clone())?;
            tools.instead = Some(error);
            Ok::<String, String>(found)
        })?;
        tools.sysroot = AbsPathBuf::try_from(Utf8PathBuf::from(sysroot.trim()))
            .map_err(|path| format!("`rustc --print sysroot` said `{path}`"))?;
        // From here on, missing components are reported, not downloaded.
        tools.environment.insert("RUSTUP_AUTO_INSTALL".to_owned(), Some("0".to_owned()));
        tools.choose_programs();
        let version = tools.ask(tools.cargo(root).arg("--version"))?;
        tools.version = Version::parse(&version).ok_or_else(|| format!("`cargo --version` said `{version}`"))?;
        let about = tools.ask(tools.rustc(root).arg("-vV"))?;
        tools.host = about.lines().find_map(|it| it.strip_prefix("host: ")).map(str::to_owned);
        Ok(tools)
    }

    /// What is missing because this is not the toolchain that the workspace selects.
    pub(crate) fn replacement(&self) -> Option<Missing> {
        let error = self.instead.as_ref()?;
        let detail = format!(
            "the toolchain that the workspace selects cannot be run, and the one in `{}` is used in its place, whose \
             standard library may differ; install the selected one: {error}",
            self.sysroot
        );
        Some(Missing::new(MissingCode::StdSources, "rust", detail))
    }

    /// The same tools for work with another time limit.
    pub(crate) fn with<'b>(&self, patience: Patience<'b>) -> Tools<'b> {
        Tools {
            sysroot: self.sysroot.clone(),
            trusted: self.trusted,
            patience,
            gives_way: self.gives_way,
            environment: self.environment.clone(),
            version: self.version,
            host: self.host.clone(),
            instead: self.instead.clone(),
            cargo: self.cargo.clone(),
            rustc: self.rustc.clone(),
        }
    }

    /// The same tools without a time limit that would hold: for work that brings its own.
    pub(crate) fn lasting(&self) -> Tools<'static> {
        self.with(Patience { deadline: self.patience.deadline, is_wanted: &|| true })
    }

    fn choose_programs(&mut self) {
        let own = |name: &str| Some(PathBuf::from(self.sysroot.join("bin").join(name))).filter(|it| it.is_file());
        let (cargo, rustc) = (own("cargo"), own("rustc"));
        let is_set = std::env::var_os("RUSTUP_TOOLCHAIN").is_some();
        if !(is_set && self.trusted) || self.instead.is_some() {
            self.environment.insert("RUSTUP_TOOLCHAIN".to_owned(), Some(self.sysroot.to_string()));
        }
        self.cargo =
            if self.trusted { users_cargo() } else { cargo }.unwrap_or_else(|| search_path::find_or_name("cargo"));
        self.rustc = rustc.unwrap_or_else(|| search_path::find_or_name("rustc"));
        if !self.trusted {
            // These take precedence over the user's own configuration.
            let rustc = self.rustc.to_string_lossy().into_owned();
            self.environment.insert("RUSTC".to_owned(), Some(rustc));
        }
    }

    /// Cargo, for queries about the package or workspace in a directory.
    pub(crate) fn cargo(&self, directory: &AbsPath) -> Command {
        self.command(&self.cargo, directory)
    }

    pub(crate) fn rustc(&self, directory: &AbsPath) -> Command {
        self.command(&self.rustc, directory)
    }

    fn command(&self, program: &Path, directory: &AbsPath) -> Command {
        let mut command = Command::new(program);
        command.current_dir(if self.trusted { directory.as_ref() } else { Path::new(NOWHERE) });
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// The output of a program, or why there is none.
    pub(crate) fn ask(&self, command: &mut Command) -> Result<String, String> {
        let command = std::mem::replace(command, Command::new(""));
        let shown = shown(&command);
        let output = match process_group::run(command, self.patience.deadline, self.patience.is_wanted) {
            Ok(output) => output,
            Err(error @ Failure::NotStarted(_)) => return Err(format!("`{shown}` could not be started: {error}")),
            Err(error) => return Err(format!("`{shown}`: {error}")),
        };
        if !output.status.success() {
            return Err(format!("`{shown}` failed:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
        String::from_utf8(output.stdout).map_err(|_| format!("the output of `{shown}` is not UTF-8"))
    }

    /// The `cfg`s of a target, as the workspace is built for it.
    pub(crate) fn cfgs(&self, directory: &AbsPath, target: Option<&str>) -> Vec<CfgAtom> {
        let target = || target.into_iter().flat_map(|it| ["--target", it]);
        let ask_cargo = || {
            let mut cargo = self.cargo(directory);
            cargo.env("__CARGO_TEST_CHANNEL_OVERRIDE_DO_NOT_USE_THIS", "nightly");
            cargo.args(["rustc", "-Z", "unstable-options", "--print", "cfg"]).args(target()).args(["--", "-O"]);
            self.ask(&mut cargo)
        };
        // Cargo would read the configuration, which is not allowed without trust.
        let said = if self.trusted { ask_cargo() } else { Err("not asked".to_owned()) };
        let said = said.or_else(|_| {
            let mut rustc = self.rustc(directory);
            self.ask(rustc.args(["--print", "cfg", "-O"]).args(target()))
        });
        match said {
            Ok(said) => said.lines().chain(UNSTABLE_CFGS).filter_map(parse_cfg).collect(),
            Err(error) => {
                tracing::warn!(error, "what `cfg` holds is unknown");
                Vec::new()
            }
        }
    }

    pub(crate) fn target_data(&self, directory: &AbsPath, target: Option<&str>) -> TargetLoadResult {
        let mut rustc = self.rustc(directory);
        rustc.env("RUSTC_BOOTSTRAP", "1").args(["-Z", "unstable-options", "--print", "target-spec-json"]);
        rustc.args(target.into_iter().flat_map(|it| ["--target", it]));
        let said = self.ask(&mut rustc)?;
        let specification: TargetSpecification = serde_json::from_str(&said).map_err(|error| error.to_string())?;
        let arch = match specification.arch.as_str() {
            "wasm32" => Arch::Wasm32,
            "wasm64" => Arch::Wasm64,
            _ => Arch::Other,
        };
        Ok(TargetData { arch, data_layout: specification.data_layout.into_boxed_str() })
    }

    /// The toolchain contains the program that runs proc macros.
    pub(crate) fn proc_macro_server(&self) -> Option<AbsPathBuf> {
        let places = ["libexec", "lib"].map(|it| self.sysroot.join(it).join("rust-analyzer-proc-macro-srv"));
        places.into_iter().find(|it| AsRef::<Path>::as_ref(it).is_file())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct TargetSpecification {
    data_layout: String,
    arch: String,
}

impl Version {
    /// Parses `cargo 1.95.0 (f2d3ce0bd 2026-03-21)`.
    fn parse(text: &str) -> Option<Version> {
        let mut numbers = text.strip_prefix("cargo ")?.split('.');
        Some(Version(numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }
}

/// rustup's proxy if it exists, as rust-analyzer prefers it.
fn users_cargo() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|it| it.join(".cargo")));
    let proxy = home.map(|it| it.join("bin/cargo")).filter(|it| it.is_file());
    proxy.or_else(|| std::env::var_os("CARGO").map(PathBuf::from))
}

fn parse_cfg(line: &str) -> Option<CfgAtom> {
    match line.split_once('=') {
        Some((key, value)) => {
            let value = Symbol::intern(value.strip_prefix('"')?.strip_suffix('"')?);
            Some(CfgAtom::KeyValue { key: Symbol::intern(key), value })
        }
        None => Some(CfgAtom::Flag(Symbol::intern(line))),
    }
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|it| it.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tools_print_is_understood() {
        assert_eq!(Version::parse("cargo 1.95.0 (f2d3ce0bd 2026-03-21)"), Some(Version(1, 95)));
        assert_eq!(Version::parse("rustc 1.95.0"), None);
        assert!(Version(1, 95) > Version(1, 9) && Version(2, 0) > Version(1, 95));
        let key = |key, value| CfgAtom::KeyValue { key: Symbol::intern(key), value: Symbol::intern(value) };
        assert_eq!(parse_cfg("target_os=\"linux\""), Some(key("target_os", "linux")));
        assert_eq!(parse_cfg("unix"), Some(CfgAtom::Flag(Symbol::intern("unix"))));
        assert_eq!(parse_cfg("x=linux"), None);
    }
}
