//! Fixes of diagnostics and their ids. An id is stateless: it contains the place and hashes of what was offered. To
//! apply a fix, the engine is queried again, and only an identical offer is accepted.

use std::sync::Arc;

use super::base::check_digits;
use super::open::text_of;
use super::query::{RequestOptions, WithMeta, not_indexed, run_query};

use semdex_engine::files::{File, Files};
use semdex_engine::fix::Fix;
use semdex_model::{
    Answer, Code, Coverage, Diagnostic, Error, Help, LanguageId, Missing, MissingCode, Place, Result, Span,
};
use semdex_text::matching::Patch;
use semdex_workspace::{Workspace, names_hash};

/// For how many diagnostics of a reply fixes are queried. Some engines need one query for each.
const MOST: usize = 100;
/// The number of digits of the hash of a text in an id: enough to detect another text.
const TEXT_DIGITS: usize = 8;
/// The number of digits of the hash of the offer.
const OFFER_DIGITS: usize = 16;

/// An offered fix with its id.
#[derive(Debug, Clone)]
struct Offered {
    id: String,
    fix: Fix,
    /// The texts that it changes, as they were at the offer, in the order of its rewrites.
    files: Vec<Arc<File>>,
}

/// The fixes of each of these diagnostics, in their order, and what is missing.
pub(super) async fn of(
    workspace: &Workspace,
    diagnostics: &[&Diagnostic],
    options: &RequestOptions,
) -> (Vec<Vec<semdex_contract::Fix>>, Coverage) {
    let mut coverage = Coverage::default();
    if diagnostics.len() > MOST {
        let detail =
            format!("fixes are told of the first {MOST} diagnostics of a reply: ask for fewer (`file`, `limit`)");
        coverage.lacks(Missing::new(MissingCode::TooMany, "fixes", detail));
    }
    let mut of_language: Vec<(LanguageId, Vec<Place>)> = Vec::new();
    for diagnostic in diagnostics.iter().take(MOST) {
        let Some(language) = workspace.language_of(&diagnostic.place.file) else { continue };
        let place = diagnostic.place.clone();
        match of_language.iter_mut().find(|it| it.0 == language) {
            Some((_, places)) => places.push(place),
            None => of_language.push((language, vec![place])),
        }
    }
    let mut offered = Vec::new();
    for (language, places) in of_language {
        match offers(workspace, language, places, options).await {
            Ok(found) => {
                coverage.absorb(found.meta.coverage);
                offered.extend(found.value);
            }
            Err(error) => {
                let code = error.code.lack().unwrap_or(MissingCode::Unsupported);
                coverage.lacks(Missing::new(code, language.name, format!("fixes: {}", error.detail)));
            }
        }
    }
    let is_about = |a: &Diagnostic, b: &Diagnostic| (&a.place, &a.code, &a.message) == (&b.place, &b.code, &b.message);
    let to_reply = |it: &Offered| {
        let own = |file: &String| *file == it.fix.diagnostic.place.file;
        let files: Vec<String> = it.fix.rewrites.iter().map(|it| it.file.clone()).collect();
        let files = if files.iter().all(own) { None } else { Some(files) };
        // What is left to be written is not fixed.
        let texts = it.fix.rewrites.iter().flat_map(|it| &it.parts).map(|it| it.1.as_str());
        let gap = ["todo!()", "unimplemented!()"].into_iter().find(|gap| texts.clone().any(|it| it.contains(gap)));
        let title = match gap.filter(|gap| !it.fix.title.contains(gap)) {
            Some(gap) => format!("{} (writes `{gap}`, to be filled in)", it.fix.title),
            None => it.fix.title.clone(),
        };
        semdex_contract::Fix { id: it.id.clone(), title, files }
    };
    let of_one = |diagnostic: &&Diagnostic| {
        let about = offered.iter().filter(|it| is_about(&it.fix.diagnostic, diagnostic));
        about.map(to_reply).collect()
    };
    (diagnostics.iter().map(of_one).collect(), coverage)
}

/// The patches of the fix with this id. Refused if the texts have changed since the offer, or if the fix is no longer
/// offered.
pub(super) async fn parts(
    workspace: &Workspace,
    files: &Files,
    name: &str,
    expected_hash: Option<&str>,
    options: &RequestOptions,
) -> Result<Vec<(Arc<File>, Patch)>> {
    let id = Id::read(name)?;
    let file = text_of(files, &workspace.locate(id.file)?)?;
    check_digits(expected_hash)?;
    let hash = file.hash.to_hex();
    if !hash.starts_with(id.text) || expected_hash.is_some_and(|it| !names_hash(&file.hash, it)) {
        let detail = format!(
            "`{}` was changed since this fix was offered: ask again for its diagnostics with `fixes`; nothing was changed",
            file.path
        );
        let help = Help { actual_hash: Some(hash.to_string()), file: Some(file.path.to_string()), ..Help::default() };
        return Err(Error::new(Code::HashMismatch, detail).with_help(help));
    }
    let gone = || {
        let detail = "this fix is no longer offered: the diagnostic is gone, or what it rests on was changed; ask for the \
                      diagnostics with `fixes` again; nothing was changed";
        Error::new(Code::Conflict, detail)
    };
    let language = workspace.language_of(&file.path).ok_or_else(gone)?;
    file.text.get(id.span.start..id.span.end).ok_or_else(gone)?;
    let place = file.lines().place(&file.path, id.span);
    let found = offers(workspace, language, vec![place], options).await?;
    match found.value.into_iter().find(|it| it.id == name) {
        Some(Offered { fix, files, .. }) => {
            let of_file = |(file, parts): (Arc<File>, Vec<(Span, String)>)| {
                parts.into_iter().map(move |(range, text)| (file.clone(), Patch { range, text }))
            };
            Ok(files.into_iter().zip(fix.rewrites.into_iter().map(|it| it.parts)).flat_map(of_file).collect())
        }
        None => Err(match found.meta.coverage.missing.iter().find(|it| it.code.passes()) {
            Some(missing) if !found.meta.coverage.complete => {
                let detail = format!("whether this fix is offered is not known yet: {}", missing.detail);
                Error::new(Code::NotReady, detail).in_workspace(found.meta.clone())
            }
            _ => gone(),
        }),
    }
}

async fn offers(
    workspace: &Workspace,
    language: LanguageId,
    places: Vec<Place>,
    options: &RequestOptions,
) -> Result<WithMeta<Vec<Offered>>> {
    run_query(workspace, options.needs(Some(language), true), None, |it| {
        let places = places.clone();
        async move {
            let answer = match it.view {
                Some(view) => view.fixes(places, it.deadlines).await?,
                None => Answer::lacking(Vec::new(), not_indexed(workspace, language)),
            };
            Ok(answer.map(|fixes| named(&it.files, fixes)))
        }
    })
    .await
}

/// Gives the fixes their ids. An engine may offer the same fix twice; it is listed once.
fn named(files: &Files, fixes: Vec<Fix>) -> Vec<Offered> {
    let mut offered: Vec<Offered> = Vec::new();
    for fix in fixes {
        let changed: Option<Vec<Arc<File>>> = fix.rewrites.iter().map(|it| files.get(&it.file).cloned()).collect();
        let (Some(own), Some(changed)) = (files.get(&fix.diagnostic.place.file), changed) else { continue };
        let id = name(own, &fix, &changed);
        if !offered.iter().any(|it| it.id == id) {
            offered.push(Offered { id, fix, files: changed });
        }
    }
    offered
}

/// `FILE@START-END#HASHES`: the place of the diagnostic, and hashes of its file and of the whole offer.
fn name(own: &File, fix: &Fix, changed: &[Arc<File>]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut take = |part: &[u8]| {
        hasher.update(&part.len().to_le_bytes());
        hasher.update(part);
    };
    let Fix { diagnostic, title, rewrites } = fix;
    let Place { file, start, end, .. } = &diagnostic.place;
    take(own.hash.as_bytes());
    for part in [file, diagnostic.code.as_deref().unwrap_or_default(), &diagnostic.message, title] {
        take(part.as_bytes());
    }
    for (rewrite, file) in rewrites.iter().zip(changed) {
        take(rewrite.file.as_bytes());
        take(file.hash.as_bytes());
        for (span, text) in &rewrite.parts {
            take(&span.start.to_le_bytes());
            take(&span.end.to_le_bytes());
            take(text.as_bytes());
        }
    }
    let (text, offer) = (own.hash.to_hex(), hasher.finalize().to_hex());
    let digits = |hash: &str, count: usize| hash.chars().take(count).collect::<String>();
    format!("{file}@{start}-{end}#{}{}", digits(&text, TEXT_DIGITS), digits(&offer, OFFER_DIGITS))
}

/// A parsed id.
#[derive(Debug, PartialEq, Eq)]
struct Id<'a> {
    file: &'a str,
    span: Span,
    /// The first digits of the hash of the file.
    text: &'a str,
}

impl Id<'_> {
    fn read(name: &str) -> Result<Id<'_>> {
        let id = || {
            let (place, hashes) = name.rsplit_once('#')?;
            let (file, span) = place.rsplit_once('@')?;
            let (start, end) = span.split_once('-')?;
            let (start, end): (usize, usize) = (start.parse().ok()?, end.parse().ok()?);
            let is_hash = hashes.len() == TEXT_DIGITS + OFFER_DIGITS && hashes.bytes().all(|it| it.is_ascii_hexdigit());
            (is_hash && start <= end && !file.is_empty()).then_some(())?;
            Some(Id { file, span: Span::new(start, end), text: hashes.get(..TEXT_DIGITS)? })
        };
        id().ok_or_else(|| {
            let detail = "`fix`: this is no `id` of a fix; `diagnostics` with `fixes` lists them";
            Error::new(Code::InvalidRequest, detail)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_or_refused() {
        let hashes = "0123456789abcdef01234567";
        let name = format!("a@1-2#x/b.rs@10-12#{hashes}");
        let read = Id::read(&name).unwrap();
        assert_eq!(read, Id { file: "a@1-2#x/b.rs", span: Span::new(10, 12), text: "01234567" });
        for wrong in ["", "a.rs", "@1-2#", "a@2-1#", "a@-2#", "a@1#", "a@1-99999999999999999999999#"] {
            let error = Id::read(&format!("{wrong}{hashes}")).unwrap_err();
            assert_eq!(error.code, Code::InvalidRequest, "{wrong}");
        }
        assert!(Id::read("a@1-2#0123456789abcdef0123456ä").is_err());
        assert!(Id::read("a@1-2#0123").is_err());
    }
}
