//! Formats a text with rustfmt: the toolchain's own program, which reads the text and runs nothing of the workspace.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;

use semdex_process::process_group::{self, Group, Pipes};
use semdex_process::search_path;

/// The location of a text, as far as rustfmt has to know it.
#[derive(Debug, Clone)]
pub(crate) struct Form<'a> {
    pub root: &'a Path,
    /// The nearest `rustfmt.toml` here or above applies.
    pub directory: &'a Path,
    pub edition: &'a str,
    /// Without trust the workspace does not choose the toolchain.
    pub trusted: bool,
}

/// The formatted text, or the reason for a failure. Blocks until the deadline at most.
pub(crate) fn format(text: &str, form: &Form, deadline: Instant) -> Result<String, String> {
    let mut command = Command::new(search_path::find_or_name("rustfmt"));
    command.args(["--quiet", "--emit", "stdout", "--edition", form.edition]);
    // rustfmt refuses a configuration directory that does not exist.
    let configured =
        |it: &Path| [it.join("rustfmt.toml"), it.join(".rustfmt.toml")].into_iter().find(|it| it.is_file());
    if let Some(config) = form.directory.ancestors().find_map(configured) {
        command.arg("--config-path").arg(config);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if form.trusted {
        command.current_dir(form.root);
    } else {
        // rustup looks for a `rust-toolchain.toml` in the working directory and above.
        command.current_dir("/");
    }
    let (group, pipes) = process_group::spawn(command).map_err(|error| {
        format!("rustfmt could not be started ({error}): install it with `rustup component add rustfmt`")
    })?;
    talk(&group, pipes, text.to_owned(), deadline)
}

fn talk(group: &Group, pipes: Pipes, text: String, deadline: Instant) -> Result<String, String> {
    let (Some(mut input), Some(mut output), Some(mut errors)) = (pipes.stdin, pipes.stdout, pipes.stderr) else {
        return Err("rustfmt has no standard input and output".to_owned());
    };
    let (sender, receiver) = mpsc::channel();
    // Both pipes may fill up: writing and reading must not wait for each other.
    std::thread::spawn(move || drop(input.write_all(text.as_bytes())));
    std::thread::spawn(move || {
        let (mut formatted, mut said) = (String::new(), String::new());
        let read = output.read_to_string(&mut formatted).and_then(|_| errors.read_to_string(&mut said));
        drop(sender.send(read.map(|_| (formatted, said))));
    });
    let answer = receiver.recv_timeout(deadline.saturating_duration_since(Instant::now()));
    // The process may continue after it has closed its output.
    let status = group.wait_until(deadline, &|| answer.is_ok()).map_err(|error| format!("rustfmt: {error}"))?;
    let Some(status) = status else {
        group.kill();
        return Err("rustfmt did not end in time".to_owned());
    };
    match answer {
        Ok(Ok((formatted, _))) if status.success() && !formatted.trim().is_empty() => Ok(formatted),
        Ok(Ok((_, said))) => {
            let first = said.lines().map(str::trim).find(|it| !it.is_empty()).unwrap_or("it gave no text");
            Err(format!("rustfmt: {first}"))
        }
        Ok(Err(error)) => Err(format!("rustfmt: {error}")),
        Err(_) => Err("rustfmt did not end in time".to_owned()),
    }
}

/// The edition of the package that a file belongs to, read from the manifests around it.
pub(crate) fn edition<'a>(file: &str, manifest: impl Fn(&str) -> Option<&'a str>) -> String {
    const FIRST: &str = "2015";
    let directories = || {
        let mut directory = file;
        std::iter::from_fn(move || {
            let (above, _) = directory.rsplit_once('/').or_else(|| (!directory.is_empty()).then_some(("", "")))?;
            directory = above;
            Some(if above.is_empty() { "Cargo.toml".to_owned() } else { format!("{above}/Cargo.toml") })
        })
    };
    let said = |name: &str, table: &str| -> Option<toml::Value> {
        let value: toml::Table = manifest(name)?.parse().ok()?;
        table.split('.').try_fold(toml::Value::Table(value), |value, key| value.get(key).cloned())
    };
    let Some(own) = directories().find(|it| said(it, "package").is_some()) else { return FIRST.to_owned() };
    match said(&own, "package.edition") {
        Some(toml::Value::String(edition)) => edition,
        Some(_) => {
            let inherited = directories().find_map(|it| said(&it, "workspace.package.edition"));
            inherited.as_ref().and_then(toml::Value::as_str).unwrap_or(FIRST).to_owned()
        }
        None => FIRST.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_edition_is_the_packages_or_its_workspaces() {
        let manifest = |name: &str| match name {
            "Cargo.toml" => Some("[workspace.package]\nedition = \"2024\"\n"),
            "a/Cargo.toml" => Some("[package]\nname = \"a\"\nedition.workspace = true\n"),
            "b/Cargo.toml" => Some("[package]\nname = \"b\"\nedition = \"2021\"\n"),
            "c/Cargo.toml" => Some("[package]\nname = \"c\"\n"),
            _ => None,
        };
        let of = |file: &str| edition(file, manifest);
        assert_eq!(
            [of("a/src/lib.rs"), of("b/src/x/y.rs"), of("c/build.rs"), of("d.rs")],
            ["2024", "2021", "2015", "2015"]
        );
    }

    #[test]
    fn a_text_is_formatted_as_the_directory_says() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("rustfmt.toml"), "hard_tabs = true\n").unwrap();
        let form = Form { root: directory.path(), directory: directory.path(), edition: "2021", trusted: true };
        let deadline = Instant::now() + Duration::from_secs(60);
        assert_eq!(format("fn f( ){g()}", &form, deadline).unwrap(), "fn f() {\n\tg()\n}\n");
        std::fs::remove_file(directory.path().join("rustfmt.toml")).unwrap();
        assert_eq!(format("mod other;\nfn f( ){g()}", &form, deadline).unwrap(), "mod other;\nfn f() {\n    g()\n}\n");
        let error = format("fn f( {", &form, deadline).unwrap_err();
        assert!(error.starts_with("rustfmt: ") && error.len() > 15, "{error}");
    }
}
