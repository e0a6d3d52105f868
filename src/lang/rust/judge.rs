//! What a change would break, asked of the engine itself: the state before, the state after, and what differs. It
//! runs on the writer's thread, and no reader ever sees the state in between.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ra_ap_hir::HasVisibility as _;
use ra_ap_ide_db::defs::Definition;

use super::delta::{Delta, deltas};
use super::engine::Rust;
use super::index::Memory;
use super::usages::Occurrence;
use super::view::Context;
use crate::lang::files::{File, Files};
use crate::lang::{Result, Stop};
use crate::model::{
    Affected, Broken, ChangeKind, Changed, Coverage, Diagnostic, FileEdit, Impact, Judgement, Language, Missing,
    MissingCode, Role, Severity, Span, SymbolKind, Unchecked,
};
use crate::text::diff::OffsetMap;

/// More files than this are not checked again for one edit; the answer says so.
const MAX_CANDIDATES: usize = 400;

/// One changed declaration as it was before.
struct Cause<'a> {
    delta: Delta<'a>,
    path: String,
    occurrences: Vec<Occurrence>,
}

impl Rust {
    /// Applies the change, judges it, and takes it back unless `keep` says otherwise. `before` and `after` are the
    /// workspace's texts.
    pub fn judge(
        &mut self,
        before: &Arc<Files>,
        after: &Arc<Files>,
        edits: &[FileEdit],
        keep: &mut dyn FnMut(&Judgement) -> bool,
    ) -> Judgement {
        let _shared = super::view::share_types();
        let mut memory = None;
        // A fault of the analysis must not end the one thread that owns the workspace.
        let judged = catch_unwind(AssertUnwindSafe(|| self.try_judge(before, after, edits, &mut memory)));
        let judged = judged.unwrap_or_else(|_| {
            tracing::error!("judging a change panicked");
            Err(Stop::Stale)
        });
        // On this thread nothing can come between; a question that stops all the same was not answered.
        let judgement = judged.unwrap_or_else(|_| Judgement {
            coverage: {
                let mut coverage = Coverage::default();
                coverage.lacks(Missing::new(
                    MissingCode::Timeout,
                    "rust",
                    "the change could not be judged; ask `diagnostics`",
                ));
                coverage
            },
            ..Judgement::default()
        });
        if !keep(&judgement) {
            drop(self.apply_texts(edits, |it| it.old.clone()));
            if let Some(memory) = memory {
                self.restore(memory);
            }
        }
        judgement
    }

    fn try_judge(
        &mut self,
        before: &Arc<Files>,
        after: &Arc<Files>,
        edits: &[FileEdit],
        memory: &mut Option<Memory>,
    ) -> Result<Judgement> {
        let rust: Vec<&FileEdit> = edits.iter().filter(|it| Language::of(&it.file) == Some(Language::Rust)).collect();
        let olds: Vec<Arc<File>> = rust.iter().map(|it| file_of(before, it)).collect();
        let news: Vec<Arc<File>> = rust.iter().map(|it| file_of(after, it)).collect();
        let deltas: Vec<(usize, Delta<'_>)> = olds
            .iter()
            .zip(&news)
            .enumerate()
            .flat_map(|(index, (old, new))| {
                let found = deltas(old.outline(), &old.text, new.outline(), &new.text);
                found.into_iter().map(move |it| (index, it))
            })
            .collect();
        let (causes, candidates, earlier, is_cut) = self.view(before.clone()).ask(|it| {
            let causes = it.causes(&olds, &deltas);
            let (candidates, is_cut) = candidates(&rust, &causes);
            let earlier = it.diagnostics_of_all(&candidates)?;
            Ok((causes, candidates, earlier, is_cut))
        })?;
        *memory = Some(self.apply_texts(edits, |it| it.new.clone()));
        let maps: BTreeMap<&str, OffsetMap> = rust
            .iter()
            .map(|it| {
                (it.file.as_str(), OffsetMap::new(it.old.as_deref().unwrap_or(""), it.new.as_deref().unwrap_or("")))
            })
            .collect();
        let mut judgement = self.view(after.clone()).ask(|it| {
            let later = it.diagnostics_of_all(&candidates)?;
            let (new, fixed) = differ(&earlier, &later, before, after, &maps);
            let impact = it.impact(&causes, &deltas, &olds, &news, &new, &maps);
            Ok(Judgement { new, fixed, impact, coverage: it.coverage(true) })
        })?;
        if is_cut {
            let detail =
                format!("more than {MAX_CANDIDATES} files name what changed: the others were not checked again");
            judgement.coverage.lacks(Missing::new(MissingCode::TooMany, "rust", detail));
        }
        Ok(judgement)
    }

    fn apply_texts(&mut self, edits: &[FileEdit], text: impl Fn(&FileEdit) -> Option<Arc<str>>) -> Memory {
        let texts: Vec<_> = edits.iter().map(|it| (Arc::from(it.file.as_str()), text(it))).collect();
        self.apply_and_forget(&texts)
    }
}

fn file_of(files: &Files, edit: &FileEdit) -> Arc<File> {
    files.get(&edit.file).cloned().unwrap_or_else(|| Arc::new(File::new(edit.file.as_str(), "")))
}

/// The files whose diagnostics may differ: the edited ones and those that name what changed.
fn candidates(edits: &[&FileEdit], causes: &[Cause<'_>]) -> (Vec<String>, bool) {
    let mut names: BTreeSet<String> = edits.iter().map(|it| it.file.clone()).collect();
    for cause in causes {
        names.extend(cause.occurrences.iter().map(|it| it.file.path.to_string()));
    }
    let is_cut = names.len() > MAX_CANDIDATES;
    (names.into_iter().take(MAX_CANDIDATES).collect(), is_cut)
}

impl<'db> Context<'db> {
    fn diagnostics_of_all(&self, files: &[String]) -> Result<Vec<Diagnostic>> {
        let mut found = Vec::new();
        for name in files {
            if let Some(file) = self.files.get(name) {
                found.extend(self.diagnostics_of(file)?);
            }
        }
        Ok(found)
    }

    /// The changed declarations with the places that name them, in the state before.
    fn causes<'a>(&self, olds: &[Arc<File>], deltas: &[(usize, Delta<'a>)]) -> Vec<Cause<'a>> {
        let mut definitions: Vec<Definition<'db>> = Vec::new();
        let mut causes: Vec<Cause<'a>> = Vec::new();
        for (index, delta) in deltas {
            let file = &olds[*index];
            let Some(id) = self.file_id(&file.path) else { continue };
            let definition = match (delta.kind, delta.before) {
                (ChangeKind::Body, _) => continue,
                (_, Some(item)) => self.definition_at(id, item.name_span.start),
                // A new member may break who names its parent: a literal, a pattern, an implementation.
                (_, None) => delta.after.and_then(|item| self.parent_before(file, id, item)),
            };
            let Some(definition) = definition else { continue };
            let Some(path) = self.path_of(definition) else { continue };
            let is_member = matches!(definition, Definition::Field(_) | Definition::EnumVariant(_));
            causes.push(Cause { delta: delta.clone(), path, occurrences: Vec::new() });
            definitions.push(definition);
            // Literals and patterns of a type break with its fields, though they need not name the changed one.
            if is_member
                && let Some(parent) = delta.before.and_then(|item| self.parent_before(file, id, item))
                && let Some(path) = self.path_of(parent)
            {
                causes.push(Cause { delta: delta.clone(), path, occurrences: Vec::new() });
                definitions.push(parent);
            }
        }
        for (cause, found) in causes.iter_mut().zip(self.find(&definitions)) {
            cause.occurrences = found.items;
        }
        causes
    }

    /// The type or trait that an item of the new text is a member of, as it is in the old text.
    fn parent_before(
        &self,
        file: &Arc<File>,
        id: ra_ap_ide::FileId,
        item: &crate::model::OutlineItem,
    ) -> Option<Definition<'db>> {
        let parent = item.container.last()?;
        let mut found = None;
        file.outline().walk(&mut |candidate| {
            let is_parent = matches!(
                candidate.kind,
                SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Union | SymbolKind::Trait | SymbolKind::Variant
            );
            if is_parent && candidate.name == *parent {
                found = Some(candidate.name_span.start);
            }
        });
        self.definition_at(id, found?)
    }

    fn impact(
        &self,
        causes: &[Cause<'_>],
        deltas: &[(usize, Delta<'_>)],
        olds: &[Arc<File>],
        news: &[Arc<File>],
        new: &[Diagnostic],
        maps: &BTreeMap<&str, OffsetMap>,
    ) -> Impact {
        let mut impact = Impact { changed: self.changed(deltas, olds, news), ..Impact::default() };
        let mut broken_lines: HashSet<(String, usize)> = HashSet::new();
        for diagnostic in new.iter().filter(|it| it.severity == Severity::Error) {
            broken_lines.insert((diagnostic.place.file.clone(), diagnostic.place.line));
            let cause = causes.iter().find(|cause| cause.names(diagnostic, maps)).map(|it| it.path.clone());
            let Some(file) = self.files.get(&diagnostic.place.file) else { continue };
            impact.broken.push(Broken {
                at: Affected {
                    text: self.line(file, &diagnostic.place),
                    symbol: diagnostic.symbol.clone(),
                    cause,
                    test: super::symbols::is_test_at(file, diagnostic.place.start),
                    place: diagnostic.place.clone(),
                },
                code: diagnostic.code.clone(),
                reason: diagnostic.message.clone(),
            });
        }
        for cause in causes {
            for occurrence in &cause.occurrences {
                self.judge_occurrence(cause, occurrence, maps, &mut broken_lines, &mut impact);
            }
        }
        impact.affected.sort_by(|a, b| a.place.cmp(&b.place));
        impact.affected.dedup_by(|a, b| a.place == b.place);
        impact.broken.sort_by(|a, b| (a.at.test, &a.at.place).cmp(&(b.at.test, &b.at.place)));
        impact.tests = tests(&impact);
        impact.unchecked = vec![
            unchecked("borrow_checker", "lifetimes and moves were not checked: `cargo check` does"),
            unchecked("macro_output", "code that macros generate was not searched for what changed"),
            unchecked("cfg_off", "code that is switched off by `cfg` was not checked"),
            unchecked(
                "trait_bounds",
                "E0277 by a lost derive or implementation, and E0053 and E0050 (an implementation against its trait), are \
                 reported only where rust-analyzer does",
            ),
        ];
        impact
    }

    /// A place that named what changed: broken where it names nothing now, or may not name it any more.
    fn judge_occurrence(
        &self,
        cause: &Cause<'_>,
        occurrence: &Occurrence,
        maps: &BTreeMap<&str, OffsetMap>,
        broken_lines: &mut HashSet<(String, usize)>,
        impact: &mut Impact,
    ) {
        let name: &str = &occurrence.file.path;
        let Some((file, id)) = self.files.get(name).zip(self.file_id(name)) else { return };
        let start = match maps.get(name) {
            Some(map) => match map.offset(occurrence.at.start) {
                Some(start) => start,
                // The edit itself took the place away.
                None => return,
            },
            None => occurrence.at.start,
        };
        let at = Span::new(start, start + (occurrence.at.end - occurrence.at.start));
        let place = file.lines().place(name, at);
        if broken_lines.contains(&(name.to_owned(), place.line)) {
            return;
        }
        let affected = Affected {
            text: self.line(file, &place),
            symbol: self.enclosing_path(file, id, at.start),
            cause: Some(cause.path.clone()),
            test: super::symbols::is_test_at(file, at.start),
            place,
        };
        let old_name = cause.delta.before.map_or("", |it| it.name.as_str());
        let gone = matches!(cause.delta.kind, ChangeKind::Removed | ChangeKind::Renamed)
            && cause.path.ends_with(old_name)
            && self.names_nothing(id, file, at, old_name);
        let hidden = cause.delta.kind == ChangeKind::Visibility && self.is_hidden(id, at.start);
        let reason = if occurrence.role == Role::Doc {
            // The compiler reads no links.
            None
        } else if gone {
            Some(("E0425", format!("cannot find `{old_name}`: it is {} by this edit", cause.delta.kind.name())))
        } else if hidden {
            Some(("E0603", format!("`{}` is not visible here any more", cause.path)))
        } else {
            None
        };
        match reason {
            Some((code, reason)) => {
                broken_lines.insert((affected.place.file.clone(), affected.place.line));
                impact.broken.push(Broken { at: affected, code: Some(code.to_owned()), reason });
            }
            None => impact.affected.push(affected),
        }
    }

    fn names_nothing(&self, id: ra_ap_ide::FileId, file: &File, at: Span, name: &str) -> bool {
        if file.text.get(at.start..at.end) != Some(name) {
            return false;
        }
        self.token(id, at.start).is_some_and(|token| self.meant_by(&token).is_none())
    }

    fn is_hidden(&self, id: ra_ap_ide::FileId, offset: usize) -> bool {
        let Some(definition) = self.token(id, offset).and_then(|it| self.meant_by(&it)) else { return false };
        let Some(from) = self.sema.file_to_module_def(id) else { return false };
        match definition {
            Definition::Function(it) => !it.is_visible_from(self.db, from),
            Definition::Field(it) => !it.is_visible_from(self.db, from),
            Definition::Adt(it) => !it.is_visible_from(self.db, from),
            Definition::Const(it) => !it.is_visible_from(self.db, from),
            Definition::Static(it) => !it.is_visible_from(self.db, from),
            Definition::Trait(it) => !it.is_visible_from(self.db, from),
            Definition::TypeAlias(it) => !it.is_visible_from(self.db, from),
            Definition::Module(it) => !it.is_visible_from(self.db, from),
            _ => false,
        }
    }

    fn token(&self, id: ra_ap_ide::FileId, offset: usize) -> Option<ra_ap_syntax::SyntaxToken> {
        use ra_ap_syntax::AstNode as _;
        let tree = self.sema.parse_guess_edition(id);
        tree.syntax().token_at_offset(super::view::text_size(offset)).right_biased()
    }

    /// Each changed declaration by the path it has where it exists.
    fn changed(&self, deltas: &[(usize, Delta<'_>)], olds: &[Arc<File>], news: &[Arc<File>]) -> Vec<Changed> {
        let after = |index: usize, delta: &Delta<'_>| {
            let id = self.file_id(&news[index].path)?;
            self.path_of(self.definition_at(id, delta.after?.name_span.start)?)
        };
        deltas
            .iter()
            .filter_map(|(index, delta)| {
                let item = delta.after.or(delta.before)?;
                let module = |file: &File| {
                    let id = self.file_id(&file.path)?;
                    Some(self.module_path(self.sema.file_to_module_def(id)?))
                };
                let written = |item: &crate::model::OutlineItem| {
                    let mut path = module(&olds[*index]).unwrap_or_else(|| olds[*index].path.to_string());
                    for part in item.container.iter().chain([&item.name]) {
                        path = format!("{path}::{part}");
                    }
                    path
                };
                let symbol = match (delta.kind, delta.before) {
                    (ChangeKind::Removed | ChangeKind::Renamed, Some(before)) => written(before),
                    _ => after(*index, delta).unwrap_or_else(|| written(item)),
                };
                Some(Changed {
                    symbol,
                    kind: delta.kind,
                    before: delta.before.map(|it| it.signature.clone()),
                    after: delta.after.map(|it| it.signature.clone()),
                })
            })
            .collect()
    }
}

impl Cause<'_> {
    /// Whether a diagnostic stands where this was named.
    fn names(&self, diagnostic: &Diagnostic, maps: &BTreeMap<&str, OffsetMap>) -> bool {
        self.occurrences.iter().any(|it| {
            if *it.file.path != *diagnostic.place.file {
                return false;
            }
            let start = match maps.get(&*it.file.path) {
                Some(map) => map.offset(it.at.start),
                None => Some(it.at.start),
            };
            let statement = Span::new(diagnostic.place.start, diagnostic.place.end.max(diagnostic.place.start + 1));
            start.is_some_and(|start| {
                statement.contains(start) || it.file.lines().line(it.at.start) == diagnostic.place.line
            })
        })
    }
}

fn unchecked(code: &str, detail: &str) -> Unchecked {
    Unchecked { code: code.to_owned(), detail: detail.to_owned() }
}

/// The tests that name what changed.
fn tests(impact: &Impact) -> Vec<Affected> {
    let mut seen = HashSet::new();
    let all = impact.broken.iter().map(|it| &it.at).chain(&impact.affected);
    all.filter(|it| it.test && it.symbol.is_some() && seen.insert(it.symbol.clone())).cloned().collect()
}

/// What is new and what is fixed, counted by what each says and by the line it stands on, since an edit moves what
/// is below it.
fn differ(
    earlier: &[Diagnostic],
    later: &[Diagnostic],
    before: &Files,
    after: &Files,
    maps: &BTreeMap<&str, OffsetMap>,
) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let key = |it: &Diagnostic, files: &Files| {
        let text =
            files.get(&it.place.file).map(|file| file.lines().line_text(&file.text, it.place.line).trim().to_owned());
        (it.place.file.clone(), it.code.clone(), it.message.clone(), it.severity, text)
    };
    let mut counts: BTreeMap<_, Vec<&Diagnostic>> = BTreeMap::new();
    for diagnostic in earlier {
        counts.entry(key(diagnostic, before)).or_default().push(diagnostic);
    }
    let mut new = Vec::new();
    for diagnostic in later {
        match counts.get_mut(&key(diagnostic, after)).filter(|it| !it.is_empty()) {
            Some(same) => {
                // The one at the same place, if it is there.
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
