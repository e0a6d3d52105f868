//! The text that the author of a change saw. If others changed the file since, it is the base of a merge: both changes
//! are made, or the request is refused where they change the same place in different ways.

use std::sync::Arc;

use super::query::RequestOptions;
use semdex_contract::OnConflict;
use semdex_engine::files::File;
use semdex_model::{Code, Conflict, Error, Help, Result, Span};
use semdex_text::matching::Patch;
use semdex_text::merge::{self, Merged};
use semdex_workspace::{LEAST_DIGITS, Workspace, may_name_hash, names_hash};

/// The text that the author of a change saw.
#[derive(Debug, Clone)]
pub(super) enum Base {
    /// The present text.
    Present,
    /// An older text.
    Older(Arc<str>),
    /// It is not known.
    Unknown,
}

/// The base of a change of this file: the text with the expected hash, or else the text that the client was shown last.
/// An error if the base is not the present text, and the request is not to be merged.
pub(super) async fn base_of(
    workspace: &Workspace,
    file: &File,
    expected_hash: Option<&str>,
    on_conflict: Option<OnConflict>,
    options: &RequestOptions,
) -> Result<Base> {
    check_digits(expected_hash)?;
    if expected_hash.is_some_and(|it| names_hash(&file.hash, it)) {
        return Ok(Base::Present);
    }
    let default = if expected_hash.is_some() { OnConflict::Refuse } else { OnConflict::Merge };
    let refuses = on_conflict.unwrap_or(default) == OnConflict::Refuse;
    let seen = workspace.seen_texts();
    let base = match (expected_hash, &options.session) {
        (Some(_), _) if refuses => return Err(moved_on(file)),
        (Some(hash), _) => seen.by_hash(&file.path, hash).await?,
        (None, Some(session)) => seen.last_shown(session, &file.path).await?,
        (None, None) => None,
    };
    match base {
        Some(base) if base == file.text => Ok(Base::Present),
        Some(_) if refuses => Err(moved_on(file)),
        Some(base) => Ok(Base::Older(base)),
        None if refuses => Ok(Base::Present),
        None => Ok(Base::Unknown),
    }
}

/// An error if an expected hash can be the hash of no text.
pub(super) fn check_digits(expected: Option<&str>) -> Result<()> {
    let Some(digits) = expected.filter(|it| !may_name_hash(it)) else { return Ok(()) };
    let detail = format!(
        "`expected_hash`: `{digits}` names no text: send the first {LEAST_DIGITS} hexadecimal digits of the file's hash, \
         or more of them, or leave the field out"
    );
    Err(Error::new(Code::InvalidRequest, detail))
}

/// An error if a client would make a file again that it saw and that others deleted since.
pub(super) fn refuse_deleted(workspace: &Workspace, name: &str, options: &RequestOptions) -> Result<()> {
    if !options.session.as_deref().is_some_and(|it| workspace.seen_texts().was_shown(it, name)) {
        return Ok(());
    }
    let detail = format!(
        "nothing was written: `{name}` was deleted since you read it, and this content would bring it back; `mode: \
         \"create\"` makes the file again"
    );
    Err(Error::new(Code::HashMismatch, detail).with_help(Help { file: Some(name.to_owned()), ..Help::default() }))
}

/// The first digits of a file's hash, which are enough as `expected_hash`.
pub(super) fn first_digits(file: &File) -> String {
    file.hash.to_hex().chars().take(LEAST_DIGITS).collect()
}

/// The error for a file that others changed since the author of a request saw it.
fn moved_on(file: &File) -> Error {
    let (actual, digits) = (file.hash.to_hex(), first_digits(file));
    let detail = format!(
        "`{}` is not what you read: its hash is {digits} now; read it again, or send `on_conflict: \"merge\"` to merge \
         this change with those of others",
        file.path
    );
    let help = Help { actual_hash: Some(actual.to_string()), file: Some(file.path.to_string()), ..Help::default() };
    Error::new(Code::HashMismatch, detail).with_help(help)
}

/// Both changes of a base: ours, and the change that led to the present text of the file. `retry`: how the request is
/// made on the present text alone, if it can be.
pub(super) fn merged(file: &File, base: &str, ours: &str, retry: Retry) -> Result<Merged> {
    merge::merge(base, ours, &file.text).map_err(|both| conflict(file, both, retry))
}

/// The refusal of a change that cannot be made beside what others changed.
pub(super) fn conflict(file: &File, both: merge::Conflict, retry: Retry) -> Error {
    let place = file.lines().place(&file.path, both.place);
    let (actual, digits) = (file.hash.to_hex(), first_digits(file));
    let alone = match retry {
        Retry::ByHash => {
            format!(", or send this request with `expected_hash: \"{digits}\"` to apply it to the present text alone")
        }
        Retry::None => String::new(),
    };
    let detail = format!(
        "nothing was written: `{}` changed since it was read, and line {} in another way than this request changes it \
         ({}). `theirs` is in the file now: send an edit of it{alone}",
        file.path, place.line, both.reason
    );
    let merge::Conflict { base, ours, theirs, .. } = both;
    let help = Help {
        conflict: Some(Conflict { base, ours, theirs, place }),
        actual_hash: Some(actual.to_string()),
        file: Some(file.path.to_string()),
        ..Help::default()
    };
    Error::new(Code::Conflict, detail).with_help(help)
}

/// How a request that conflicts with the changes of others is made on the present text alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    /// With the hash of the present text.
    ByHash,
    /// It cannot be: the present text has no place for it, or the request takes no hash.
    None,
}

/// The smallest single patch from one text to another.
pub(super) fn patch_between(old: &str, new: &str) -> Patch {
    let same = |(a, b): &((usize, char), char)| a.1 == *b;
    let start = old.char_indices().zip(new.chars()).find(|it| !same(it)).map_or(old.len().min(new.len()), |it| it.0.0);
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end: usize =
        old_rest.chars().rev().zip(new_rest.chars().rev()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    Patch { range: Span::new(start, old.len() - end), text: new_rest[..new_rest.len() - end].to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_as_small_as_it_can_be() {
        for (old, new, range, text) in [
            ("a\nb\nc\n", "a\nX\nc\n", 2..3, "X"),
            ("aa", "aaa", 2..2, "a"),
            ("aaa", "aa", 2..3, ""),
            ("ä", "ö", 0..2, "ö"),
            ("", "x", 0..0, "x"),
            ("same", "same", 4..4, ""),
        ] {
            let patch = patch_between(old, new);
            assert_eq!((patch.range.start..patch.range.end, &*patch.text), (range, text), "{old:?} {new:?}");
            assert_eq!(format!("{}{}{}", &old[..patch.range.start], patch.text, &old[patch.range.end..]), new);
        }
    }
}
