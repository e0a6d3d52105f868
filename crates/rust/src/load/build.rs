//! Builds what must be built before it is known: the output of build scripts and the libraries of proc macros. Only for
//! trusted workspaces.

use std::io::Write as _;
use std::process::Output;

use blake3::Hash;
use ra_ap_paths::AbsPath;
use ra_ap_project_model::{CargoConfig, CargoFeatures, ProjectWorkspace, ProjectWorkspaceKind, TargetKind};
use serde_json::Value;

use super::external_inputs::ExternalInputs;
use super::tools::{Tools, Version};
use super::workspace::{LockFile, add_features};
use super::{find_inputs, script};
use semdex_process::{priority, process_group};

/// The first Cargo version that can build only what runs at compile time.
const COMPILE_TIME_DEPS: Version = Version(1, 89);
/// The first Cargo version that builds packages whose `rust-version` is newer, if it is asked to.
const IGNORE_RUST_VERSION: Version = Version(1, 56);

/// Whether a build runs code of the workspace or its dependencies.
pub(crate) fn runs_code(workspace: &ProjectWorkspace) -> bool {
    let ProjectWorkspaceKind::Cargo { cargo, .. } = &workspace.kind else { return false };
    cargo.packages().any(|package| {
        cargo[package].targets.iter().any(|&target| {
            matches!(cargo[target].kind, TargetKind::BuildScript | TargetKind::Lib { is_proc_macro: true })
        })
    })
}

/// Builds what a workspace runs at compile time, and stores the result in it. Forwards Cargo's messages. The error says
/// what failed.
pub(crate) fn run(
    workspace: &mut ProjectWorkspace,
    tools: &Tools<'_>,
    features: &CargoFeatures,
    target_dir: &AbsPath,
    inputs: &mut ExternalInputs,
    messages: &mut dyn FnMut(&[u8]),
) -> Result<(), String> {
    let output = check(workspace, tools, features, target_dir);
    take(workspace, tools, output, inputs, messages)
}

/// Stores in a workspace what was built of it. Forwards Cargo's messages. The error says what failed.
pub(crate) fn take(
    workspace: &mut ProjectWorkspace,
    tools: &Tools<'_>,
    output: Result<Output, String>,
    inputs: &mut ExternalInputs,
    messages: &mut dyn FnMut(&[u8]),
) -> Result<(), String> {
    let said = output.as_ref().map(|it| it.stdout.as_slice()).unwrap_or_default();
    find_inputs::of_build(workspace, said, tools.version >= COMPILE_TIME_DEPS, inputs);
    inputs.output.extend(made(workspace, said));
    let output = output?;
    messages(&output.stdout);
    note(workspace, tools, &output.stdout)?;
    if output.status.success() { Ok(()) } else { Err(errors(&output)) }
}

/// Runs again what Cargo considers out of date. Returns the new output of build scripts.
pub(crate) fn rebuild(
    workspace: &ProjectWorkspace,
    tools: &Tools<'_>,
    features: &CargoFeatures,
    target_dir: &AbsPath,
) -> Option<Hash> {
    let output = check(workspace, tools, features, target_dir).ok()?;
    made(workspace, &output.stdout)
}

fn made(workspace: &ProjectWorkspace, said: &[u8]) -> Option<Hash> {
    let ProjectWorkspaceKind::Cargo { cargo, .. } = &workspace.kind else { return None };
    Some(script::output(cargo, said))
}

/// Builds what a workspace runs at compile time.
pub(crate) fn check(
    workspace: &ProjectWorkspace,
    tools: &Tools<'_>,
    features: &CargoFeatures,
    target_dir: &AbsPath,
) -> Result<Output, String> {
    let ProjectWorkspaceKind::Cargo { cargo, .. } = &workspace.kind else {
        return Err("it is not a Cargo workspace".to_owned());
    };
    let has = cargo.workspace_features();
    let mut command = tools.cargo(cargo.workspace_root());
    command.args(["check", "--quiet", "--workspace", "--message-format=json", "--keep-going", "--all-targets"]);
    command.arg("--manifest-path").arg(cargo.manifest_path().as_str());
    command.arg("--target-dir").arg(target_dir.as_str());
    add_features(&mut command, features, |it| has.contains(it));
    // Their code is analysed all the same.
    if tools.version >= IGNORE_RUST_VERSION {
        command.arg("--ignore-rust-version");
    }
    let _copy = LockFile::copy(tools.version, cargo.manifest_path(), &mut command);
    if tools.version >= COMPILE_TIME_DEPS {
        command.args(["--compile-time-deps", "-Z", "unstable-options"]);
        command.env("__CARGO_TEST_CHANNEL_OVERRIDE_DO_NOT_USE_THIS", "nightly");
    }
    let command = if tools.gives_way { priority::lowest(&command) } else { command };
    process_group::run(command, tools.patience.deadline, tools.patience.is_wanted)
        .map_err(|error| format!("`cargo check`: {error}"))
}

/// Stores what was built, by Cargo's messages. Only rust-analyzer can construct its own representation of these, and only
/// by running a command that prints them.
pub(crate) fn note(workspace: &mut ProjectWorkspace, tools: &Tools<'_>, said: &[u8]) -> Result<(), String> {
    let mut file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    file.write_all(said).map_err(|error| error.to_string())?;
    let config = CargoConfig {
        run_build_script_command: Some(vec!["cat".to_owned(), file.path().display().to_string()]),
        extra_env: tools.environment.clone(),
        ..CargoConfig::default()
    };
    let scripts = workspace.run_build_scripts(&config, &|_| ()).map_err(|error| format!("{error:#}"))?;
    workspace.set_build_scripts(scripts);
    Ok(())
}

/// The messages of the compiler and Cargo about a failed build.
fn errors(output: &Output) -> String {
    let rendered = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        message.pointer("/message/rendered")?.as_str().map(str::to_owned)
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    let mut errors: Vec<String> =
        stdout.lines().filter(|it| it.contains("\"rendered\"")).filter_map(rendered).collect();
    errors.push(String::from_utf8_lossy(&output.stderr).into_owned());
    let errors = errors.concat();
    if errors.trim().is_empty() { "cargo check failed".to_owned() } else { errors }
}
