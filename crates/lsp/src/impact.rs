//! A dry run: compares the diagnostics of the affected files before and after a change. The server is sent the new
//! texts as open documents, and the old texts afterwards. No other request reaches the server during that time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::StreamExt as _;

use super::affected_files::{self, imports_new_file};
use super::changed_declarations::{ChangedDeclaration, changed_declarations, is_callable, is_sealed};
use super::queries::{ResolvedItem, ServerQueries};
use super::reaching_tests::{self, Tests};
use super::{diagnostics, fallback, symbol_paths, unindexed, usages};
use semdex_engine::files::{File, Files};
use semdex_engine::{Extent, RenamedNames, Result};
use semdex_model::{
    Affected, Broken, ChangeImpact, ChangeKind, Coverage, Diagnostic, FileEdit, MissingCode, OutlineItem, Role,
    Severity, Span, Unchecked,
};
use semdex_text::diff::OffsetMap;
use semdex_text::words::words;

/// The most changed declarations whose users are listed.
const MOST_ALTERED: usize = 40;
/// What linkers call it.
const UNDEFINED: &str = "undefined_reference";
/// Declarations whose users are requested at the same time.
const USERS_AT_ONCE: usize = 4;

pub(crate) async fn run(queries: &ServerQueries, edits: Vec<FileEdit>, extent: Extent) -> Result<ChangeImpact> {
    let session = &queries.session;
    let own: Vec<FileEdit> = edits.into_iter().filter(|it| session.service.row_of(&it.file).is_some()).collect();
    if own.is_empty() {
        return Ok(ChangeImpact::nothing());
    }
    let after = {
        let mut after = Files::clone(&queries.files);
        for edit in &own {
            match &edit.new {
                Some(text) => drop(after.insert(Arc::new(after.file(&edit.file, text.clone())))),
                None => drop(after.remove(&edit.file)),
            }
        }
        Arc::new(after)
    };
    // Requests about the state before the change share the server with other requests.
    let turn = tokio::time::timeout_at(queries.deadlines.answer.into(), session.gate.clone().read_owned()).await;
    let Ok(reading) = turn else { return Ok(ChangeImpact::unanswered(session.out_of_time().missing(session))) };
    let altered = changed_declarations(queries, &after, &own).await?;
    let mut change_impact = ChangeImpact::nothing();
    change_impact.impact.changed = altered.iter().map(|it| it.changed.clone()).collect();
    note_undeclared(queries, &own, &mut change_impact);
    unindexed::of_change(queries, &altered, &mut change_impact).await?;
    if let Err(failure) = session.ready(queries.deadlines.ready).await {
        let missing = failure.missing(session);
        change_impact.lacks(missing.clone());
        if fallback::is_called_for(&missing) {
            let edited: BTreeSet<String> = own.iter().map(|it| it.file.clone()).collect();
            let mut coverage = Coverage::default();
            let old = fallback::of(queries, &of(&queries.files, &edited), &mut coverage).await;
            let new = fallback::of(queries, &of(&after, &edited), &mut coverage).await;
            queries.check()?;
            change_impact.coverage.absorb(coverage);
            compare(queries, &after, &altered, [&old, &new], &mut change_impact);
            broken(&queries.files, &after, &own, &altered, &mut change_impact);
            unchecked(queries, &own, &mut change_impact);
        }
        return Ok(change_impact);
    }
    let users = users(queries, &altered, &mut change_impact).await?;
    let sealed: BTreeSet<&str> = altered.iter().filter(|it| is_sealed(it)).map(|it| &*it.changed.symbol).collect();
    let reached = users.all.iter().filter(|it| !it.cause.as_deref().is_some_and(|it| sealed.contains(it)));
    let used = reached.map(|it| (it.place.file.clone(), it.place.start)).collect();
    let affected_set = affected_files::of(queries, &after, &own, &altered, used).await?;
    drop(reading);
    let turn = session.gate.clone().write_owned();
    let Ok(alone) = tokio::time::timeout_at(queries.deadlines.answer.into(), turn).await else {
        return Ok(ChangeImpact::unanswered(session.out_of_time().missing(session)));
    };
    queries.check()?;
    for detail in affected_set.lacks {
        change_impact.lacks(session.missing(MissingCode::TooMany, detail));
    }
    let mut judged = affected_set.files;
    if extent == Extent::FixedElsewhere {
        judged.retain(|file| !own.iter().any(|it| it.file == *file));
    }
    let old = diagnostics::by_file(queries, &of(&queries.files, &judged), &mut change_impact.coverage).await?;
    if extent == Extent::FixedElsewhere {
        let has_errors = |it: &Vec<Diagnostic>| it.iter().any(|it| it.severity == Severity::Error);
        judged.retain(|it| old.get(it).is_none_or(has_errors));
    }
    let after_files = of(&after, &judged);
    // A dry run makes the server check everything again.
    let mut new = if after_files.is_empty() {
        ByFile::new()
    } else {
        let texts = own.iter().map(|it| (it.file.clone(), it.new.clone().unwrap_or_default())).collect();
        let _tried = session.try_texts(texts);
        let trial = ServerQueries { files: after.clone(), ..queries.clone() };
        diagnostics::by_file(&trial, &after_files, &mut change_impact.coverage).await?
    };
    drop(alone);
    queries.check()?;
    let mut is_unseen = false;
    for (name, list) in &mut new {
        let Some(file) = after.get(name) else { continue };
        let line = |it: &Diagnostic| file.lines().line_text(&file.text, it.place.line);
        let count = list.len();
        list.retain(|it| !imports_new_file(line(it), &own));
        is_unseen |= list.len() < count;
    }
    if is_unseen {
        let detail = "what imports a new file is judged once that is written: the server looks for it on the disk";
        change_impact.lacks(session.missing(MissingCode::Unsupported, detail));
    }
    compare(queries, &after, &altered, [&old, &new], &mut change_impact);
    broken(&queries.files, &after, &own, &altered, &mut change_impact);
    let texts = Texts { before: &queries.files, after: &after };
    behind_imports(texts, &users, &altered, &mut change_impact);
    undefined(texts, &users, &altered, &mut change_impact);
    let tests = match extent {
        Extent::Whole => reaching_tests::of(queries, &altered, &users.all).await?,
        Extent::FixedElsewhere => Tests::not_requested(),
    };
    affected(users.all, tests, &mut change_impact);
    moved(queries, &after, &own, &mut change_impact);
    unchecked(queries, &own, &mut change_impact);
    Ok(change_impact)
}

/// Without a grammar, the declarations of the edited files are unknown, and therefore their users, too.
fn note_undeclared(queries: &ServerQueries, edits: &[FileEdit], change_impact: &mut ChangeImpact) {
    let session = &queries.session;
    let Some(edit) = edits.iter().find(|it| queries.grammar_of(&it.file).is_none()) else { return };
    let title = session.service.row_of(&edit.file).map_or("this language", |it| it.title());
    let detail = format!(
        "what a text of {title} declares is not known: the edited files alone were judged, not what the change breaks in \
         others"
    );
    let missing = session.missing(MissingCode::Unsupported, detail);
    match session.row.keys.on_request {
        // Its files are checked separately in any case.
        Some(true) => change_impact.impact.unchecked.push(Unchecked::from(&missing)),
        _ => change_impact.lacks(missing),
    }
}

fn of(files: &Files, names: &BTreeSet<String>) -> Vec<Arc<File>> {
    names.iter().filter_map(|it| files.get(it).cloned()).collect()
}

/// The users of the changed declarations, before the change.
struct Users {
    all: Vec<Affected>,
    /// Those that import the declaration, by file and start.
    imports: BTreeSet<(String, usize)>,
}

impl Users {
    fn of(&self, one: &ChangedDeclaration) -> impl Iterator<Item = &Affected> {
        self.all.iter().filter(|it| it.cause.as_ref() == Some(&one.changed.symbol))
    }
}

/// The users of the changed declarations.
async fn users(
    queries: &ServerQueries,
    altered: &[ChangedDeclaration],
    change_impact: &mut ChangeImpact,
) -> Result<Users> {
    let followed: Vec<&ChangedDeclaration> =
        altered.iter().filter(|it| !matches!(it.changed.kind, ChangeKind::Added)).collect();
    if followed.len() > MOST_ALTERED {
        let detail = format!("{} declarations change: the users of {MOST_ALTERED} were looked for", followed.len());
        change_impact.lacks(queries.session.missing(MissingCode::TooMany, detail));
    }
    let asked = followed.into_iter().take(MOST_ALTERED).map(|one| async move {
        let found = ResolvedItem { file: one.file.clone(), item: one.item.clone() };
        let mut lacks = Coverage::default();
        Ok((one, usages::known(queries, &found, &mut lacks).await?, lacks))
    });
    let answers: Vec<Result<_>> =
        futures::stream::iter(asked.collect::<Vec<_>>()).buffered(USERS_AT_ONCE).collect().await;
    let (mut all, mut imports) = (Vec::new(), BTreeSet::new());
    for answer in answers {
        let (one, used, lacks) = answer?;
        for missing in lacks.missing {
            match missing.code {
                // Places that may be uses. Each file with such a word is checked anyway.
                MissingCode::Unsupported | MissingCode::TooMany => {}
                MissingCode::Indexing => change_impact.coverage.note(missing),
                _ => change_impact.lacks(missing),
            }
        }
        let importing = used.items.iter().filter(|it| it.role == Role::Import);
        imports.extend(importing.map(|it| (it.place.file.clone(), it.place.start)));
        all.extend(used.items.into_iter().map(|it| Affected {
            build: None,
            place: it.place,
            text: it.text,
            symbol: it.symbol,
            cause: Some(one.changed.symbol.clone()),
            test: it.test,
        }));
    }
    Ok(Users { all, imports })
}

type ByFile = BTreeMap<String, Vec<Diagnostic>>;

/// Finds the new and the fixed diagnostics. A diagnostic that has only moved is neither.
fn compare(
    queries: &ServerQueries,
    after: &Files,
    altered: &[ChangedDeclaration],
    [old, new]: [&ByFile; 2],
    change_impact: &mut ChangeImpact,
) {
    let renamed =
        RenamedNames::new(altered.iter().filter_map(|it| Some((it.item.name.as_str(), it.new_name.as_deref()?))));
    let line = |files: &Files, it: &Diagnostic| {
        let file = files.get(&it.place.file);
        file.map(|file| file.lines().line_text(&file.text, it.place.line).trim().to_owned()).unwrap_or_default()
    };
    let key = |files: &Files, it: &Diagnostic| {
        (it.place.file.clone(), it.code.clone(), it.message.clone(), line(files, it), it.severity)
    };
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let (was, is) = (old.get(name), new.get(name));
        let is_there = [queries.files.get(name).is_some(), after.get(name).is_some()];
        // A file that was checked in only one of its states shows no difference.
        if (is_there[0] && was.is_none()) || (is_there[1] && is.is_none()) {
            continue;
        }
        let mut counts: BTreeMap<_, isize> = BTreeMap::new();
        was.into_iter().flatten().for_each(|it| *counts.entry(key(&queries.files, it)).or_default() += 1);
        let mut fresh: Vec<&Diagnostic> = Vec::new();
        for it in is.into_iter().flatten() {
            let left = counts.entry(key(after, it)).or_default();
            *left -= 1;
            if *left < 0 {
                fresh.push(it);
            }
        }
        let mut gone: Vec<&Diagnostic> = Vec::new();
        for it in was.into_iter().flatten() {
            let left = counts.entry(key(&queries.files, it)).or_default();
            if *left > 0 {
                *left -= 1;
                gone.push(it);
            }
        }
        // If the change rewrites the line of a diagnostic and the old line no longer exists, it is the same diagnostic.
        let is_kept = |it: &Diagnostic| {
            let was = line(&queries.files, it);
            after.get(name).is_some_and(|file| file.text.lines().any(|it| it.trim() == was))
        };
        // So is one that contains a renamed symbol.
        let as_named_now = |files: &Files, it: &Diagnostic| {
            (
                it.code.clone(),
                it.severity,
                renamed.written_in(&it.message).into_owned(),
                renamed.written_in(&line(files, it)).into_owned(),
            )
        };
        fresh.retain(|it| {
            let same = gone.iter().position(|old| {
                let is_alike = (&old.code, &old.message, old.severity, old.symbol.as_ref().map(|it| base_of(it)))
                    == (&it.code, &it.message, it.severity, it.symbol.as_ref().map(|it| base_of(it)));
                (is_alike && !is_kept(old))
                    || (!renamed.is_empty() && as_named_now(&queries.files, old) == as_named_now(after, it))
            });
            same.map(|at| gone.remove(at)).is_none()
        });
        change_impact.new.extend(fresh.into_iter().cloned());
        change_impact.fixed.extend(gone.into_iter().cloned());
    }
    change_impact.new.sort();
    change_impact.fixed.sort();
}

/// The container of a path: the symbol itself may have been renamed.
fn base_of(path: &str) -> &str {
    path.rsplit_once(['.', ':']).map_or(path, |it| it.0)
}

/// New errors, each with the change that causes it. An error in the edited text may have none.
fn broken(
    before: &Files,
    after: &Files,
    edits: &[FileEdit],
    altered: &[ChangedDeclaration],
    change_impact: &mut ChangeImpact,
) {
    let edited = edits.iter().filter_map(|edit| {
        let (old, new) = before.get(&edit.file).zip(after.get(&edit.file))?;
        Some((edit.file.as_str(), OffsetMap::new(&new.text, &old.text)))
    });
    let edited: BTreeMap<&str, OffsetMap> = edited.collect();
    for it in change_impact.new.iter().filter(|it| it.severity == Severity::Error) {
        let Some(file) = after.get(&it.place.file) else { continue };
        let text = file.lines().line_text(&file.text, it.place.line).to_owned();
        let holds = |text: &str, name: &str| words(text).any(|it| it.1 == name);
        let named_in = |text: &str| altered.iter().find(|one| holds(text, &one.item.name));
        let cause = match edited.get(it.place.file.as_str()) {
            // The error is in what the edit wrote.
            Some(map) if map.span(it.place.span()).is_none() => None,
            Some(_) => named_in(&it.message).or_else(|| named_in(&text)),
            None => named_in(&it.message).or_else(|| named_in(&text)).or_else(|| altered.first()),
        };
        change_impact.impact.broken.push(Broken {
            at: Affected {
                build: None,
                place: it.place.clone(),
                text,
                symbol: it.symbol.clone(),
                cause: cause.map(|it| it.changed.symbol.clone()),
                test: symbol_paths::is_test_file(&it.place.file),
            },
            code: it.code.clone(),
            reason: it.message.clone(),
            follows: false,
        });
    }
}

/// A declaration that is gone under its name.
fn is_gone(one: &ChangedDeclaration) -> bool {
    matches!(one.changed.kind, ChangeKind::Removed | ChangeKind::Renamed)
}

/// The texts before and after a change.
#[derive(Clone, Copy)]
struct Texts<'t> {
    before: &'t Files,
    after: &'t Files,
}

impl Texts<'_> {
    /// A use in the new text. `None` if the change removes it, or writes another name in its place.
    fn kept(&self, it: &Affected, name: &str) -> Option<Affected> {
        let (old, new) = self.before.get(&it.place.file).zip(self.after.get(&it.place.file))?;
        let span = match Arc::ptr_eq(old, new) {
            true => it.place.span(),
            false => OffsetMap::new(&old.text, &new.text).span(it.place.span())?,
        };
        let place = new.lines().place(&new.path, span);
        let text = new.lines().line_text(&new.text, place.line).to_owned();
        (new.text.get(span.start..span.end) == Some(name)).then(|| Affected { place, text, ..it.clone() })
    }
}

/// Uses of a name whose import is broken: the compiler reports only the import.
fn behind_imports(texts: Texts<'_>, users: &Users, altered: &[ChangedDeclaration], change_impact: &mut ChangeImpact) {
    let is_import = |it: &&Affected| users.imports.contains(&(it.place.file.clone(), it.place.start));
    let broken = &mut change_impact.impact.broken;
    for one in altered.iter().filter(|it| is_gone(it)) {
        let name = &one.item.name;
        let (imports, others): (Vec<&Affected>, Vec<&Affected>) = users.of(one).partition(is_import);
        let is_broken = |it: &Affected| {
            let same_line = |line: &&Broken| line.at.place.file == it.place.file && line.at.place.line == it.place.line;
            broken.iter().any(|line| same_line(&line))
        };
        let imports = imports.into_iter().filter_map(|it| texts.kept(it, name)).filter(is_broken);
        let files: BTreeSet<String> = imports.map(|it| it.place.file).collect();
        let behind = others.into_iter().filter(|it| files.contains(&it.place.file));
        let behind = behind.filter_map(|it| texts.kept(it, name)).filter(|it| !is_broken(it));
        let behind: Vec<Affected> = behind.collect();
        broken.extend(behind.into_iter().map(|at| Broken {
            at,
            code: None,
            reason: format!("`{name}` no longer exists"),
            follows: true,
        }));
    }
}

/// Uses of a function of C or C++ that is still declared and no longer defined anywhere: they compile, but do not link.
fn undefined(texts: Texts<'_>, users: &Users, altered: &[ChangedDeclaration], change_impact: &mut ChangeImpact) {
    let is_linked = |it: &&ChangedDeclaration| {
        let language = it.file.language.map(|it| it.name);
        is_gone(it) && is_callable(&it.item) && it.item.body.is_some() && matches!(language, Some("c" | "cpp"))
    };
    for one in altered.iter().filter(is_linked) {
        let name = &one.item.name;
        let declares = |file: &File, is_meant: &dyn Fn(&OutlineItem) -> bool| {
            let mut found = false;
            file.outline().walk(&mut |it| found |= it.name == *name && is_meant(it));
            found
        };
        let defines = |file: &File| {
            words(&file.text).any(|it| it.1 == name) && declares(file, &|it| is_callable(it) && it.body.is_some())
        };
        if texts.after.iter().any(|file| defines(file)) {
            continue;
        }
        let broken = &mut change_impact.impact.broken;
        let is_unsaid = |it: &Affected| {
            let same_line = |line: &Broken| line.at.place.file == it.place.file && line.at.place.line == it.place.line;
            !broken.iter().any(same_line)
        };
        let is_call = |it: &Affected| {
            let is_here = |item: &OutlineItem| item.name_span.start == it.place.start;
            !texts.after.get(&it.place.file).is_some_and(|file| declares(file, &is_here))
        };
        let kept = users.of(one).filter_map(|it| texts.kept(it, name));
        let unlinked: Vec<Affected> = kept.filter(|it| is_call(it) && is_unsaid(it)).collect();
        broken.extend(unlinked.into_iter().map(|at| Broken {
            at,
            code: Some(UNDEFINED.to_owned()),
            reason: format!("`{name}` is declared, but no file defines it: it does not link"),
            follows: false,
        }));
    }
}

/// Uses of the changed declarations that still compile, and the tests that reach the change.
fn affected(users: Vec<Affected>, tests: Tests, change_impact: &mut ChangeImpact) {
    let is_broken = |it: &Affected| {
        change_impact
            .impact
            .broken
            .iter()
            .any(|broken| broken.at.place.file == it.place.file && broken.at.text == it.text)
    };
    let left: Vec<Affected> = users.iter().filter(|it| !is_broken(it)).cloned().collect();
    change_impact.impact.affected = left;
    change_impact.impact.tests = tests.found;
    let lack = tests.lack.map(|detail| Unchecked { code: Unchecked::TESTS.to_owned(), detail });
    change_impact.impact.unchecked.extend(lack);
}

/// Maps places in the old texts to the new texts. Places that no longer exist are removed.
fn moved(queries: &ServerQueries, after: &Files, edits: &[FileEdit], change_impact: &mut ChangeImpact) {
    let impact = &mut change_impact.impact;
    for edit in edits {
        let Some((old, new)) = queries.files.get(&edit.file).zip(after.get(&edit.file)) else { continue };
        let map = OffsetMap::new(&old.text, &new.text);
        let stays = |it: &mut Affected| {
            if it.place.file != edit.file {
                return true;
            }
            // The line of a word that was replaced.
            let line = || map.offset(old.lines().line_span(it.place.line)?.start).map(|it| Span::new(it, it));
            let Some(span) = map.span(it.place.span()).or_else(line) else { return false };
            it.place = new.lines().place(&new.path, span);
            new.lines().line_text(&new.text, it.place.line).clone_into(&mut it.text);
            true
        };
        impact.affected.retain_mut(stays);
        impact.tests.retain_mut(|it| stays(&mut it.at));
    }
}

fn unchecked(queries: &ServerQueries, edits: &[FileEdit], change_impact: &mut ChangeImpact) {
    let mut say = |code: &str, detail: String| {
        change_impact.impact.unchecked.push(Unchecked { code: code.to_owned(), detail });
    };
    let server = queries.session.row.server();
    say(
        "untyped_code",
        format!("{server} checks types where the code says or shows them: other uses may fail when they run"),
    );
    for edit in edits {
        if edit.old.is_none() {
            say(
                "new_file",
                format!("{} is judged by itself: who imports it was not asked before it is written", edit.file),
            );
        } else if edit.new.is_none() {
            say("deleted_file", format!("{} was judged as emptied, not as deleted", edit.file));
        }
    }
    for missing in change_impact.coverage.missing.iter().filter(|it| it.code.passes()) {
        let entry = Unchecked { code: missing.code.name().to_owned(), detail: missing.detail.clone() };
        if !change_impact.impact.unchecked.contains(&entry) {
            change_impact.impact.unchecked.push(entry);
        }
    }
}
