//! Replaces a language server that is missing or down: a checker that is run once per query. Its diagnostics carry its
//! name, and the answer's coverage says that they are not the server's.

mod findings;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use self::findings::{Finding, Form};
use super::queries::ServerQueries;
use super::session::Session;
use super::table::base_name;
use super::{program, symbol_paths, wire};
use semdex_engine::files::File;
use semdex_model::{Coverage, Diagnostic, Missing, MissingCode, Severity};
use semdex_process::process_group;

/// The most texts that differ from the disk. They are checked one by one.
const MOST_TEXTS: usize = 20;

pub(crate) type ByFile = BTreeMap<String, Vec<Diagnostic>>;

/// A tool, and how it is run.
struct Tool {
    name: String,
    path: PathBuf,
    arguments: Vec<String>,
    form: Form,
}

/// Whether a missing server is replaced by a tool. Not while it is starting.
pub(crate) fn is_called_for(missing: &Missing) -> bool {
    matches!(missing.code, MissingCode::EngineMissing | MissingCode::EngineDown | MissingCode::Untrusted)
}

/// The tool's diagnostics of these files, within the query's deadline. `coverage` names the tool, or says why it gives
/// no diagnostics. The caller has said that the server is missing.
pub(crate) async fn of(queries: &ServerQueries, files: &[Arc<File>], coverage: &mut Coverage) -> ByFile {
    let session = &queries.session;
    let mut found = ByFile::new();
    let mut by_command: BTreeMap<&[String], Vec<Arc<File>>> = BTreeMap::new();
    for file in files {
        let row = session.service.row_of(&file.path);
        // Where no other tool checks a language, what is said of its server is all that there is to say.
        if let Some(command) = row.and_then(|it| it.keys.fallback.as_deref()) {
            by_command.entry(command).or_default().push(file.clone());
        }
    }
    for (command, files) in by_command {
        let report = match tool(session, command, &files) {
            Ok(tool) => {
                let deadline = queries.deadlines.answer;
                let ended = tokio::time::timeout_at(deadline.into(), run(session, &tool, &files, deadline)).await;
                let report = ended.unwrap_or_else(|_| Err(late(&tool)));
                report.map_err(|why| unavailable(session, MissingCode::EngineDown, why))
            }
            Err(missing) => Err(missing),
        };
        match report {
            Ok(ToolReport { tool, findings, unread }) => {
                coverage.stands_in(&tool);
                for file in unread {
                    let detail = format!("{tool} reads the disk, and the text of {file} is another");
                    coverage.lacks(unavailable(session, MissingCode::EngineDown, detail));
                }
                for (file, list) in findings {
                    found.entry(file.path.to_string()).or_default().extend(list);
                }
            }
            Err(missing) => coverage.lacks(missing),
        }
    }
    found
}

fn unavailable(session: &Session, code: MissingCode, why: String) -> Missing {
    session.missing(code, format!("diagnostics unavailable: {why}"))
}

fn late(tool: &Tool) -> String {
    format!("{} did not end in time: ask again with a longer `wait_ms`", tool.name)
}

fn tool(session: &Session, command: &[String], files: &[Arc<File>]) -> Result<Tool, Missing> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(unavailable(session, MissingCode::EngineDown, "`fallback` names no program".to_owned()));
    };
    let name = base_name(program).to_owned();
    let form = Form::of(&name);
    if !session.trusted
        && let Some(what) = form.wants_trust(session.root.directory())
    {
        let why = format!("{name} {what}, which is not trusted; `semdex trust PATH` changes that");
        return Err(unavailable(session, MissingCode::Untrusted, why));
    }
    let found = program::find_named(program, session.root.directory(), session.trusted);
    let Some(path) = found else {
        let row = files.first().and_then(|it| session.service.row_of(&it.path));
        let install = row.and_then(|it| it.keys.fallback_install.as_ref());
        let how = install.map(|it| format!("; install it with `{it}`")).unwrap_or_default();
        let why = format!("`{name}`, which would stand in, is not on the PATH{how}");
        return Err(unavailable(session, MissingCode::EngineDown, why));
    };
    Ok(Tool { name, path, arguments: arguments.to_vec(), form })
}

struct ToolReport {
    tool: String,
    findings: Vec<(Arc<File>, Vec<Diagnostic>)>,
    /// Files whose current text could not be passed to the tool.
    unread: Vec<String>,
}

async fn run(session: &Session, tool: &Tool, files: &[Arc<File>], deadline: Instant) -> Result<ToolReport, String> {
    let root = session.root.directory();
    let is_text = |file: &Arc<File>| file.overlay || is_another(root, file);
    let (texts, on_disk): (Vec<_>, Vec<_>) = files.iter().cloned().partition(is_text);
    let mut findings: Vec<(Arc<File>, Vec<Diagnostic>)> = on_disk.iter().map(|it| (it.clone(), Vec::new())).collect();
    let mut unread = Vec::new();
    if !on_disk.is_empty() {
        let rounds: Vec<Vec<Arc<File>>> = match tool.form.takes_many() {
            true => vec![on_disk],
            false => on_disk.into_iter().map(|it| vec![it]).collect(),
        };
        for files in rounds {
            let arguments = tool.form.on_disk(root, &files, session.trusted);
            for one in ask(session, tool, &arguments, None, deadline).await? {
                let named = one.file.as_deref().map(|it| relative(root, it));
                let of = |it: &&mut (Arc<File>, Vec<Diagnostic>)| match &named {
                    Some(named) => *it.0.path == **named,
                    None => files.len() == 1 && it.0.path == files[0].path,
                };
                if let Some((file, list)) = findings.iter_mut().find(of) {
                    list.extend(diagnostic(tool, file, &one));
                }
            }
        }
    }
    for (at, file) in texts.into_iter().enumerate() {
        match tool.form.of_text(root, &file).filter(|_| at < MOST_TEXTS) {
            Some(arguments) => {
                let listed = ask(session, tool, &arguments, Some(file.text.clone()), deadline).await?;
                let list = listed.iter().filter_map(|it| diagnostic(tool, &file, it)).collect();
                findings.push((file, list));
            }
            None => unread.push(file.path.to_string()),
        }
    }
    Ok(ToolReport { tool: tool.name.clone(), findings, unread })
}

/// Whether the text differs from the disk, because it belongs to a dry run.
fn is_another(root: &Path, file: &File) -> bool {
    std::fs::read(root.join(&*file.path)).map_or(true, |it| it != file.text.as_bytes())
}

async fn ask(
    session: &Session,
    tool: &Tool,
    arguments: &[OsString],
    input: Option<Arc<str>>,
    deadline: Instant,
) -> Result<Vec<Finding>, String> {
    let (root, trusted) = (session.root.directory(), session.trusted);
    let mut command = Command::new(&tool.path);
    command.args(&tool.arguments).args(arguments).current_dir(if trusted { root } else { Path::new("/") });
    command.env("NO_COLOR", "1");
    match process_group::output_of(command, input, deadline.saturating_duration_since(Instant::now())).await {
        Ok(output) => tool.form.findings(&output).map_err(|why| format!("{} failed: {why}", tool.name)),
        Err(process_group::Failure::Late) => Err(late(tool)),
        Err(error) => Err(format!("{} cannot be run: {error}", tool.name)),
    }
}

fn relative(root: &Path, file: &str) -> String {
    let path = Path::new(file);
    let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let inside = path.strip_prefix(root).or_else(|_| path.strip_prefix(&real)).unwrap_or(path);
    inside.strip_prefix(".").unwrap_or(inside).to_string_lossy().into_owned()
}

fn diagnostic(tool: &Tool, file: &Arc<File>, finding: &Finding) -> Option<Diagnostic> {
    let at = |(line, column): (u32, u32)| (line.saturating_sub(1), column.saturating_sub(1));
    let end = finding.end.unwrap_or(finding.start);
    let span = wire::span(file, wire::Range { start: at(finding.start), end: at(end) });
    Some(Diagnostic {
        severity: finding.severity.unwrap_or(Severity::Error),
        code: finding.code.clone(),
        message: finding.message.clone(),
        source: tool.name.clone(),
        symbol: file.outline().enclosing(span.start).last().map(|it| symbol_paths::path(&file.path, it)),
        confirmed: None,
        build: None,
        place: file.lines().place(&file.path, span),
    })
}
