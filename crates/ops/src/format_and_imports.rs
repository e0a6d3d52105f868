//! Optional steps of a change: fixes the imports of the written texts, and runs the formatter of the language on them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::apply_change::Plan;
use super::query::{RequestOptions, deadlines};
use semdex_engine::files::{File, Files};
use semdex_engine::{EngineKind, Route, Stop, Tidied, Unformatted, Wanted};
use semdex_model::{FileEdit, Landed, Span};
use semdex_text::diff::OffsetMap;
use semdex_text::endings;
use semdex_workspace::Workspace;

/// The deadline of a formatter.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct FormatOptions {
    /// Format the changed files.
    pub format: bool,
    /// Remove unused imports, and add missing imports that are unambiguous.
    pub fix_imports: bool,
}

/// Applies these steps to the planned texts. A step that fails is noted for the file, which is written anyway.
pub(super) async fn format_and_fix_imports(
    workspace: &Workspace,
    options: &RequestOptions,
    plan: &mut Plan,
    format_options: FormatOptions,
) -> Result<(), Stop> {
    if format_options == FormatOptions::default() {
        return Ok(());
    }
    let wanted = Wanted { imports: format_options.fix_imports, format: format_options.format };
    for kind in workspace.registry().kinds() {
        let is_of =
            |it: &&FileEdit| it.new.is_some() && kind.languages().iter().any(|language| language.takes(&it.file));
        if !plan.edits.iter().any(|it| is_of(&it)) {
            continue;
        }
        match kind.route() {
            Route::View => take(workspace, plan, by_view(workspace, options, &**kind, &plan.edits, wanted).await?),
            Route::Writer => {
                if wanted.imports {
                    take(workspace, plan, imports_by_writer(workspace, options, &**kind, &plan.edits).await?);
                }
                if wanted.format {
                    let files = workspace.snapshot(options.needs(None, false)).await?.files;
                    let edits: Vec<FileEdit> = plan.edits.iter().filter(is_of).cloned().collect();
                    take(workspace, plan, formatted(workspace, &files, &**kind, &edits).await);
                }
            }
        }
    }
    let others = plan.edits.iter().filter(|it| it.new.is_some() && workspace.language_of(&it.file).is_none());
    let titles: Vec<&str> = workspace.languages().iter().map(|it| it.title).collect();
    let none = format!("only {} are formatted, and have their imports put right", titles.join(" and "));
    plan.notes.extend(others.map(|it| (it.file.clone(), none.clone())));
    Ok(())
}

/// Replaces the planned texts by these, adds the notes, and adjusts where each edit landed.
fn take(workspace: &Workspace, plan: &mut Plan, tidied: Vec<Tidied>) {
    for it in tidied {
        let Tidied { file, text, note } = it;
        plan.notes.extend(note.map(|note| (file.clone(), note)));
        let Some(edit) = plan.edits.iter_mut().find(|it| it.file == file) else { continue };
        let Some(planned) = edit.new.clone() else { continue };
        let text = in_form_of(&planned, &text);
        if *text == *planned {
            continue;
        }
        let map = OffsetMap::new(&planned, &text);
        let after = workspace.file(&file, text.clone());
        for landed in plan.landed.iter_mut().filter(|it| it.place.file == file) {
            moved(landed, &map, &after);
        }
        edit.new = Some(text);
    }
}

fn moved(landed: &mut Landed, map: &OffsetMap, after: &File) {
    let Span { start, end } = landed.place.span();
    let from = (start..=end).find_map(|at| map.offset(at)).unwrap_or(start).min(after.text.len());
    let to = (start..end).rev().find_map(|at| map.offset(at)).map_or(from, |it| it + 1).max(from);
    landed.place = after.lines().place(&after.path, Span::new(from, to));
    for kept in &mut landed.kept {
        let Span { start, end } = kept.span();
        let at = |offset| (start..=offset).rev().find_map(|it| map.offset(it)).unwrap_or(from).min(after.text.len());
        *kept = after.lines().place(&after.path, Span::new(at(start), at(end).max(at(start))));
    }
}

/// Keeps the line endings and the byte order mark of the text before.
fn in_form_of(before: &str, text: &str) -> Arc<str> {
    let otherwise = if before.contains("\r\n") { "\r\n" } else { "\n" };
    let mut text = endings::like(before, &text.replace("\r\n", "\n"), otherwise);
    if before.starts_with('\u{feff}') && !text.starts_with('\u{feff}') {
        text.insert(0, '\u{feff}');
    }
    text.into()
}

async fn by_view(
    workspace: &Workspace,
    options: &RequestOptions,
    kind: &dyn EngineKind,
    edits: &[FileEdit],
    wanted: Wanted,
) -> Result<Vec<Tidied>, Stop> {
    let Some(&language) = kind.languages().first() else { return Ok(Vec::new()) };
    let needs = options.needs(Some(language), true);
    match workspace.snapshot(needs).await?.view {
        Some(view) => view.tidy(edits.to_vec(), wanted, deadlines(needs)).await,
        None => {
            let note = format!("there is no {} to ask: neither imports nor layout were touched", kind.name());
            Ok(untouched(kind, edits, &note))
        }
    }
}

async fn imports_by_writer(
    workspace: &Workspace,
    options: &RequestOptions,
    kind: &dyn EngineKind,
    edits: &[FileEdit],
) -> Result<Vec<Tidied>, Stop> {
    let Some(&language) = kind.languages().first() else { return Ok(Vec::new()) };
    // The view is not kept: a held view blocks the writer.
    let needs = options.needs(Some(language), true);
    let settled = workspace.snapshot(needs).await?.is_settled();
    if !settled {
        let note = format!("its imports were not touched: {} is loading; give a longer `wait_ms`", kind.name());
        return Ok(untouched(kind, edits, &note));
    }
    let until = needs.deadline.max(Instant::now() + PATIENCE);
    Ok(workspace.fix_imports(language, edits.to_vec(), until).await?)
}

async fn formatted(workspace: &Workspace, files: &Files, kind: &dyn EngineKind, edits: &[FileEdit]) -> Vec<Tidied> {
    let mut tidied = Vec::new();
    let (root, trusted) = (workspace.root(), workspace.is_trusted());
    for edit in edits {
        let (file, Some(text)) = (edit.file.as_str(), edit.new.clone()) else { continue };
        let unformatted = Unformatted { file, text: &text, root, trusted, files, patience: PATIENCE };
        let Some(formatting) = kind.format(unformatted) else { continue };
        let formatted = tokio::task::spawn_blocking(formatting).await;
        let formatted = formatted.unwrap_or_else(|_| Err("the formatter could not be asked".to_owned()));
        let (text, note) = match formatted {
            Ok(formatted) => (formatted.into(), None),
            Err(why) => (text, Some(format!("it was written unformatted: {why}"))),
        };
        tidied.push(Tidied { file: edit.file.clone(), text, note });
    }
    tidied
}

fn untouched(kind: &dyn EngineKind, edits: &[FileEdit], note: &str) -> Vec<Tidied> {
    kind.languages().iter().flat_map(|it| Tidied::untouched(edits, *it, note)).collect()
}

#[cfg(test)]
mod tests {
    use super::in_form_of;

    #[test]
    fn line_ends_and_the_byte_order_mark_stay() {
        assert_eq!(&*in_form_of("a\r\n", "a\n\nb\n"), "a\r\n\r\nb\r\n");
        assert_eq!(&*in_form_of("a\n", "b\r\n"), "b\n");
        assert_eq!(&*in_form_of("a\n\n}\r\n", "a\n}\nb\n"), "a\n}\r\nb\r\n", "mixed ones");
        assert_eq!(&*in_form_of("\u{feff}a", "b"), "\u{feff}b");
    }
}
