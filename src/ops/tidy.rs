//! What may be asked for besides a change, as a part of it: the imports of the written texts put right, and the texts
//! in the form of their language's formatter.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::apply_change::Plan;
use super::ask::{Ask, deadlines};
use crate::lang::files::{File, Files};
use crate::lang::go::{self, Wanted};
use crate::lang::rust;
use crate::lang::rust::format::{self, Form};
use crate::lang::{Stop, Tidied};
use crate::model::{FileEdit, Landed, LanguageId, Span};
use crate::text::diff::OffsetMap;
use crate::workspace::Workspace;

/// How long a formatter may take.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tidy {
    /// With rustfmt or gofmt, the changed files only.
    pub format: bool,
    /// Unused ones removed, missing ones added where only one fits.
    pub fix_imports: bool,
}

/// Tidies the planned texts. What cannot be done is noted beside the file; it is written all the same.
pub(super) async fn tidy(workspace: &Workspace, asked: &Ask, plan: &mut Plan, tidy: Tidy) -> Result<(), Stop> {
    let of = |plan: &Plan, language| {
        let written = plan.edits.iter().filter(|it| it.new.is_some());
        written.into_iter().any(|it| workspace.language_of(&it.file) == Some(language))
    };
    if tidy == Tidy::default() {
        return Ok(());
    }
    if of(plan, go::LANGUAGE) {
        let wanted = Wanted { imports: tidy.fix_imports, format: tidy.format };
        take(workspace, plan, tidy_go(workspace, asked, &plan.edits, wanted).await?);
    }
    if of(plan, rust::LANGUAGE) {
        if tidy.fix_imports {
            take(workspace, plan, imports_of_rust(workspace, asked, &plan.edits).await?);
        }
        if tidy.format {
            let files = workspace.snapshot(asked.needs(None, false)).await?.files;
            take(workspace, plan, format_rust(workspace, &files, &plan.edits).await);
        }
    }
    let others = plan.edits.iter().filter(|it| it.new.is_some() && workspace.language_of(&it.file).is_none());
    let none = "only Rust and Go are formatted, and have their imports put right";
    plan.notes.extend(others.map(|it| (it.file.clone(), none.to_owned())));
    Ok(())
}

/// The texts with their notes instead of those that were planned; where each edit landed moves along.
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
}

/// In the line ends and with the byte order mark that the text had before.
fn in_form_of(before: &str, text: &str) -> Arc<str> {
    let mut text = text.replace("\r\n", "\n");
    if before.contains("\r\n") {
        text = text.replace('\n', "\r\n");
    }
    if before.starts_with('\u{feff}') && !text.starts_with('\u{feff}') {
        text.insert(0, '\u{feff}');
    }
    text.into()
}

fn noted(edits: &[FileEdit], language: LanguageId, note: &str) -> Vec<Tidied> {
    let written = edits.iter().filter(|it| language.takes(&it.file));
    let note =
        |it: &FileEdit| Some(Tidied { file: it.file.clone(), text: it.new.clone()?, note: Some(note.to_owned()) });
    written.filter_map(note).collect()
}

async fn tidy_go(workspace: &Workspace, asked: &Ask, edits: &[FileEdit], wanted: Wanted) -> Result<Vec<Tidied>, Stop> {
    let needs = asked.needs(Some(go::LANGUAGE), true);
    let snapshot = workspace.snapshot(needs).await?;
    let (Some(go), Some(view)) = (workspace.go(), snapshot.go) else {
        return Ok(noted(edits, go::LANGUAGE, "there is no gopls to ask: neither imports nor layout were touched"));
    };
    go.tidy(&view, edits, wanted, deadlines(needs)).await
}

async fn imports_of_rust(workspace: &Workspace, asked: &Ask, edits: &[FileEdit]) -> Result<Vec<Tidied>, Stop> {
    // Whoever holds the view keeps the writer from answering.
    let needs = asked.needs(Some(rust::LANGUAGE), true);
    let settled = workspace.snapshot(needs).await?.settled;
    if !settled {
        let why = "its imports were not touched: the Cargo workspace is being loaded; give a longer `wait_ms`";
        return Ok(noted(edits, rust::LANGUAGE, why));
    }
    Ok(workspace.fix_imports(edits.to_vec(), needs.deadline.max(Instant::now() + PATIENCE)).await?)
}

async fn format_rust(workspace: &Workspace, files: &Arc<Files>, edits: &[FileEdit]) -> Vec<Tidied> {
    let mut tidied = Vec::new();
    for edit in edits.iter().filter(|it| rust::LANGUAGE.takes(&it.file)) {
        let Some(text) = edit.new.clone() else { continue };
        let (root, name, trusted) = (workspace.root().to_owned(), edit.file.clone(), workspace.is_trusted());
        let edition = format::edition(&edit.file, |name| Some(&*files.get(name)?.text));
        let plain = text.clone();
        let formatted = tokio::task::spawn_blocking(move || {
            let place = root.join(&name);
            let directory = place.ancestors().skip(1).find(|it| it.is_dir()).unwrap_or(Path::new("/"));
            let form = Form { root: &root, directory, edition: &edition, trusted };
            format::format(plain.trim_start_matches('\u{feff}'), &form, Instant::now() + PATIENCE)
        });
        let formatted = formatted.await.unwrap_or_else(|_| Err("rustfmt could not be asked".to_owned()));
        tidied.push(match formatted {
            Ok(formatted) => Tidied { file: edit.file.clone(), text: formatted.into(), note: None },
            Err(why) => {
                Tidied { file: edit.file.clone(), text, note: Some(format!("it was written unformatted: {why}")) }
            }
        });
    }
    tidied
}

#[cfg(test)]
mod tests {
    use super::in_form_of;

    #[test]
    fn line_ends_and_the_byte_order_mark_stay() {
        assert_eq!(&*in_form_of("a\r\n", "a\n\nb\n"), "a\r\n\r\nb\r\n");
        assert_eq!(&*in_form_of("a\n", "b\r\n"), "b\n");
        assert_eq!(&*in_form_of("\u{feff}a", "b"), "\u{feff}b");
    }
}
