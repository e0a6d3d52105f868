//! Compares the errors before and after a change.

use std::collections::BTreeMap;

use crate::finding::Finding;
use semdex_engine::files::Files;
use semdex_text::diff::OffsetMap;

/// New and fixed errors, compared by message and by the text of their line, since an edit moves the lines below it.
pub(crate) fn differ(
    earlier: &[Finding],
    later: &[Finding],
    before: &Files,
    after: &Files,
    maps: &BTreeMap<String, OffsetMap>,
) -> (Vec<Finding>, Vec<Finding>) {
    let key = |it: &Finding, files: &Files| {
        let text =
            files.get(&it.place.file).map(|file| file.lines().line_text(&file.text, it.place.line).trim().to_owned());
        (it.place.file.clone(), it.code, it.message.clone(), it.severity, text)
    };
    let mut counts: BTreeMap<_, Vec<&Finding>> = BTreeMap::new();
    for diagnostic in earlier {
        counts.entry(key(diagnostic, before)).or_default().push(diagnostic);
    }
    let mut new = Vec::new();
    for diagnostic in later {
        match counts.get_mut(&key(diagnostic, after)).filter(|it| !it.is_empty()) {
            Some(same) => {
                // The error at the same position, if there is one.
                let at = same.iter().position(|it| {
                    let moved =
                        maps.get(it.place.file.as_str()).map_or(Some(it.place.start), |map| map.offset(it.place.start));
                    moved == Some(diagnostic.place.start)
                });
                same.remove(at.unwrap_or_default());
            }
            None => new.push(diagnostic.clone()),
        }
    }
    let fixed = counts.into_values().flatten().cloned().collect();
    (new, fixed)
}
