//! Parses the output of checkers, each in its own format: JSON if available, otherwise lines with file, line and
//! message.

use std::ffi::OsString;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;

use serde_json::Value;

use semdex_engine::files::File;
use semdex_model::Severity;

/// The file that makes a directory a project for tsc.
const PROJECT: &str = "tsconfig.json";
/// `--noEmit` does not prevent tsc from writing its build information, a trace and a profile at the configured paths.
/// If the project names a file for the build information, an error for the missing file hides all others. The third
/// flag prevents that.
const LEAVES_NOTHING: &[&str] = &[
    "--incremental",
    "false",
    "--composite",
    "false",
    "--tsBuildInfoFile",
    "null",
    "--generateTrace",
    "null",
    "--generateCpuProfile",
    "null",
];

/// A finding of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    /// The file as the tool names it. `None` if the tool was passed a single text.
    pub file: Option<String>,
    /// Line and column, from 1.
    pub start: (u32, u32),
    pub end: Option<(u32, u32)>,
    pub severity: Option<Severity>,
    pub code: Option<String>,
    pub message: String,
}

/// How a tool is called, and the format of its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Ruff,
    Tsc,
    Eslint,
    /// `bash -n`, and other shells.
    Shell,
    /// `file:line:column: severity: message [code]`, as most tools print.
    Lines,
}

impl Form {
    pub(crate) fn of(program: &str) -> Form {
        match program {
            "ruff" => Form::Ruff,
            "tsc" => Form::Tsc,
            "eslint" => Form::Eslint,
            "bash" | "sh" | "dash" | "zsh" => Form::Shell,
            _ => Form::Lines,
        }
    }

    /// Why the tool runs only in a trusted workspace, if so. What an unknown tool runs is unknown.
    pub(crate) fn wants_trust(self, root: &Path) -> Option<&'static str> {
        match self {
            Form::Eslint | Form::Lines => Some("runs code of the workspace"),
            // The configuration names files that the compiler writes, at any path, whatever its arguments are.
            Form::Tsc if root.join(PROJECT).is_file() => Some("follows the workspace's own tsconfig.json"),
            Form::Ruff | Form::Tsc | Form::Shell => None,
        }
    }

    /// Whether one run checks several files.
    pub(crate) fn takes_many(self) -> bool {
        self != Form::Shell
    }

    /// The arguments for files on disk. Without trust, they never name a configuration that requires trust, even if it
    /// was created since the check.
    pub(crate) fn on_disk(self, root: &Path, files: &[Arc<File>], trusted: bool) -> Vec<OsString> {
        // If the workspace configures its program, the whole program is checked.
        if self == Form::Tsc && trusted && root.join(PROJECT).is_file() {
            let quiet = LEAVES_NOTHING.iter().map(OsString::from);
            return quiet.chain(["--project".into(), root.join(PROJECT).into()]).collect();
        }
        files.iter().map(|it| root.join(&*it.path).into_os_string()).collect()
    }

    /// The arguments for a text on standard input, if the tool accepts one.
    pub(crate) fn of_text(self, root: &Path, file: &File) -> Option<Vec<OsString>> {
        let path = root.join(&*file.path).into_os_string();
        match self {
            Form::Ruff => Some(vec!["--stdin-filename".into(), path, "-".into()]),
            Form::Eslint => Some(vec!["--stdin".into(), "--stdin-filename".into(), path]),
            Form::Shell => Some(Vec::new()),
            Form::Tsc | Form::Lines => None,
        }
    }

    /// The findings, or why there are none.
    pub(crate) fn findings(self, output: &Output) -> Result<Vec<Finding>, String> {
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let failed = || {
            let words = if stderr.trim().is_empty() { stdout.trim() } else { stderr.trim() };
            let words: String = words.lines().last().unwrap_or_default().chars().take(300).collect();
            if words.is_empty() { output.status.to_string() } else { words }
        };
        let json = || serde_json::from_str::<Value>(stdout.trim()).ok().and_then(|it| it.as_array().cloned());
        match self {
            Form::Ruff => json().map(|it| it.iter().filter_map(ruff).collect()).ok_or_else(failed),
            Form::Eslint => json().map(|it| it.iter().flat_map(eslint).collect()).ok_or_else(failed),
            Form::Tsc => {
                let found = tsc(&stdout);
                // A failure without findings, for example because of an invalid configuration.
                if found.is_empty() && !output.status.success() { Err(failed()) } else { Ok(found) }
            }
            Form::Shell => {
                let found: Vec<Finding> = stderr.lines().filter_map(shell).collect();
                if found.is_empty() && !output.status.success() { Err(failed()) } else { Ok(found) }
            }
            Form::Lines => {
                let found: Vec<Finding> = stdout.lines().chain(stderr.lines()).filter_map(line).collect();
                if found.is_empty() && !output.status.success() { Err(failed()) } else { Ok(found) }
            }
        }
    }
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).filter(|it| !it.is_empty()).map(str::to_owned)
}

fn number(value: &Value, path: &str) -> Option<u32> {
    u32::try_from(value.pointer(path)?.as_u64()?).ok()
}

fn ruff(item: &Value) -> Option<Finding> {
    let code = text(item, "code");
    // Code that cannot run is an error: invalid syntax or an undefined name.
    let is_error = match code.as_deref() {
        None | Some("invalid-syntax") => true,
        Some(code) => ["E9", "F63", "F7", "F82"].iter().any(|it| code.starts_with(it)),
    };
    let at = |name: &str| number(item, &format!("/{name}/row")).zip(number(item, &format!("/{name}/column")));
    Some(Finding {
        file: text(item, "filename"),
        start: at("location")?,
        end: at("end_location"),
        severity: Some(if is_error { Severity::Error } else { Severity::Warning }),
        code: code.or_else(|| Some("invalid-syntax".to_owned())),
        message: text(item, "message")?,
    })
}

fn eslint(of_file: &Value) -> Vec<Finding> {
    let file = text(of_file, "filePath");
    let one = |item: &Value| {
        let end = number(item, "/endLine").zip(number(item, "/endColumn"));
        let severity = if number(item, "/severity") == Some(1) { Severity::Warning } else { Severity::Error };
        Some(Finding {
            file: file.clone(),
            start: (number(item, "/line").unwrap_or(1), number(item, "/column").unwrap_or(1)),
            end,
            severity: Some(severity),
            code: text(item, "ruleId"),
            message: text(item, "message")?,
        })
    };
    let messages = of_file.get("messages").and_then(Value::as_array);
    messages.into_iter().flatten().filter_map(one).collect()
}

/// `src/a.ts(3,5): error TS2322: message`, with indented continuation lines.
fn tsc(printed: &str) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for line in printed.lines() {
        if line.starts_with(' ') {
            if let Some(last) = found.last_mut() {
                last.message = format!("{}\n{}", last.message, line.trim_end());
            }
            continue;
        }
        let parsed = || {
            let (place, rest) = line.split_once("): ")?;
            let (file, at) = place.rsplit_once('(')?;
            let (row, column) = at.split_once(',')?;
            let (head, message) = rest.split_once(": ")?;
            let (severity, code) = head.split_once(' ')?;
            Some(Finding {
                file: Some(file.to_owned()),
                start: (row.parse().ok()?, column.parse().ok()?),
                end: None,
                severity: Some(severity_of(severity)?),
                code: Some(code.to_owned()),
                message: message.to_owned(),
            })
        };
        found.extend(parsed());
    }
    found
}

/// `bash: line 3: syntax error near unexpected token`, `x.sh: line 3: …`.
fn shell(line: &str) -> Option<Finding> {
    let (_, rest) = line.split_once(": line ").or_else(|| line.split_once(": "))?;
    let (row, message) = rest.split_once(": ")?;
    // The next line repeats the text.
    if message.starts_with('`') {
        return None;
    }
    Some(Finding {
        file: None,
        start: (row.trim().parse().ok()?, 1),
        end: None,
        severity: Some(Severity::Error),
        code: Some("syntax".to_owned()),
        message: message.trim().to_owned(),
    })
}

fn line(line: &str) -> Option<Finding> {
    let mut parts = line.splitn(3, ':');
    let (file, row, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let row = row.trim().parse().ok()?;
    let (column, rest) = match rest.split_once(':') {
        Some((column, rest)) if column.trim().parse::<u32>().is_ok() => (column.trim().parse().ok()?, rest),
        _ => (1, rest),
    };
    let mut message = rest.trim();
    let mut severity = None;
    if let Some((head, rest)) = message.split_once(':')
        && let Some(found) = severity_of(head.trim())
    {
        (severity, message) = (Some(found), rest.trim());
    }
    let mut code = None;
    if let Some((rest, tail)) = message.rsplit_once('[')
        && let Some(found) = tail.strip_suffix(']').filter(|it| !it.is_empty() && !it.contains(' '))
    {
        (code, message) = (Some(found.to_owned()), rest.trim());
    } else if let Some((head, rest)) = message.split_once(' ')
        && head.len() > 1
        && head.chars().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit())
        && head.ends_with(|it: char| it.is_ascii_digit())
    {
        // `E501 line too long`.
        (code, message) = (Some(head.to_owned()), rest.trim());
    }
    let is_said = !file.is_empty() && !message.is_empty();
    is_said.then(|| Finding {
        file: Some(file.to_owned()),
        start: (row, column),
        end: None,
        severity,
        code,
        message: message.to_owned(),
    })
}

fn severity_of(word: &str) -> Option<Severity> {
    match word.to_ascii_lowercase().as_str() {
        "error" | "fatal error" => Some(Severity::Error),
        "warning" => Some(Severity::Warning),
        "note" | "info" | "information" | "message" => Some(Severity::Info),
        "hint" => Some(Severity::Hint),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    #[test]
    fn a_project_is_followed_with_trust_alone() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        assert_eq!(Form::Tsc.wants_trust(root), None);
        fs::write(root.join("tsconfig.json"), "{}").unwrap();
        assert!(Form::Tsc.wants_trust(root).is_some() && Form::Eslint.wants_trust(root).is_some());
        assert_eq!(Form::Ruff.wants_trust(root), None);
        assert!(Form::Tsc.on_disk(root, &[], true).contains(&"--project".into()));
        assert!(Form::Tsc.on_disk(root, &[], false).is_empty());
    }

    fn parsed(form: Form, exit: i32, stdout: &str, stderr: &str) -> Result<Vec<String>, String> {
        let output = Output { status: ExitStatus::from_raw(exit << 8), stdout: stdout.into(), stderr: stderr.into() };
        let shown = |it: Finding| {
            let (line, column) = it.start;
            let severity = it.severity.map_or("-", Severity::name);
            format!(
                "{} {line}:{column} {severity} {} {}",
                it.file.unwrap_or_default(),
                it.code.unwrap_or_default(),
                it.message
            )
        };
        form.findings(&output).map(|it| it.into_iter().map(shown).collect())
    }

    #[test]
    fn each_tool_is_read_in_its_own_form() {
        let ruff = r#"[{"code":"F401","filename":"/w/a.py","location":{"row":1,"column":8},"end_location":{"row":1,"column":10},"message":"unused"},
            {"code":null,"filename":"/w/a.py","location":{"row":3,"column":1},"end_location":{"row":3,"column":1},"message":"SyntaxError"}]"#;
        assert_eq!(
            parsed(Form::Ruff, 0, ruff, "").unwrap(),
            ["/w/a.py 1:8 warning F401 unused", "/w/a.py 3:1 error invalid-syntax SyntaxError"]
        );
        assert_eq!(parsed(Form::Ruff, 2, "", "error: no such option\n"), Err("error: no such option".to_owned()));
        let tsc = "src/a.ts(3,5): error TS2322: Type 'a' is not\n  assignable.\nsrc/(b)/c.ts(1,1): error TS1: x: y\n";
        assert_eq!(
            parsed(Form::Tsc, 1, tsc, "").unwrap(),
            ["src/a.ts 3:5 error TS2322 Type 'a' is not\n  assignable.", "src/(b)/c.ts 1:1 error TS1 x: y"]
        );
        assert!(parsed(Form::Tsc, 1, "error TS5083: Cannot read file\n", "").is_err());
        let eslint = r#"[{"filePath":"/w/a.js","messages":[{"ruleId":"no-undef","severity":2,"message":"m","line":2,"column":3}]},{"filePath":"/w/b.js","messages":[]}]"#;
        assert_eq!(parsed(Form::Eslint, 1, eslint, "").unwrap(), ["/w/a.js 2:3 error no-undef m"]);
        let bash = "bash: line 3: syntax error near unexpected token `}'\nbash: line 3: `}'\n";
        assert_eq!(
            parsed(Form::Shell, 2, "", bash).unwrap(),
            [" 3:1 error syntax syntax error near unexpected token `}'"]
        );
        assert_eq!(parsed(Form::Shell, 0, "", "").unwrap(), [""; 0]);
        let lines = "a.py:3:5: error: Wrong  [arg-type]\nb.py:7: E501 line too long\nFound 2 errors\n";
        assert_eq!(
            parsed(Form::Lines, 1, lines, "").unwrap(),
            ["a.py 3:5 error arg-type Wrong", "b.py 7:1 - E501 line too long"]
        );
        assert!(parsed(Form::Lines, 1, "boom", "").is_err());
    }
}
