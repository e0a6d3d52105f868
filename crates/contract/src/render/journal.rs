//! The changes of the journal, the newest first, and overlays.

use super::code::fenced;
use super::lists::more;
use super::markdown::{counted, line, short_hash};
use crate::{ChangesReply, OverlayState, OverlaysReply};

pub(crate) fn changes(found: &ChangesReply) -> String {
    let mut text = format!("# {}\n\n", counted(found.total, "change"));
    for change in &found.changes {
        let client = change.client.as_ref().map(|it| format!(" by {it}")).unwrap_or_default();
        let undoes = change.undoes.as_ref().map(|it| format!(" of `{it}`")).unwrap_or_default();
        let undone = change.undone_by.as_ref().map(|it| format!(", undone by `{it}`")).unwrap_or_default();
        let (token, cause, at) = (&change.change, change.cause.name(), &change.at);
        let revision = change.revision;
        let broke = change.impact.as_ref().filter(|it| it.broken > 0);
        let broke = broke.map(|it| format!(", broke {}", counted(it.broken, "place"))).unwrap_or_default();
        line(
            &mut text,
            format_args!("- `{token}` {cause}{undoes} at {at}{client}, revision {revision}{broke}{undone}"),
        );
        for file in &change.files {
            let how = match (&file.old_hash, &file.hash) {
                (None, _) => " (made)",
                (_, None) => " (deleted)",
                _ => "",
            };
            line(&mut text, format_args!("  - {}{how}", file.file));
            if let Some(diff) = &file.diff {
                text += &fenced("diff", diff);
            }
        }
    }
    more(&mut text, found.next_cursor.as_deref());
    text
}

/// A list of overlays.
pub(crate) fn overlays(found: &OverlaysReply) -> String {
    let mut text = format!("# {}\n\n", counted(found.total, "overlay"));
    found.overlays.items.iter().for_each(|it| row(&mut text, it));
    more(&mut text, found.next_cursor.as_deref());
    text
}

/// One overlay.
pub(crate) fn overlay(overlay: &OverlayState) -> String {
    let mut text = format!("# {}\n\n", counted(1, "overlay"));
    row(&mut text, overlay);
    text
}

fn row(text: &mut String, overlay: &OverlayState) {
    let (file, hash, until) = (&overlay.file, &overlay.hash, &overlay.ends_at);
    let hash = short_hash(hash);
    line(text, format_args!("- {file}, hash `{hash}`, until {until}"));
}
