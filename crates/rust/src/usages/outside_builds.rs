//! Usages in files that no crate includes: UI tests, fixtures, templates. Such a file is resolved when a question needs
//! it, as a program of its own (`names::outside_crates`), and what names the symbol there is listed apart. A file that
//! is no code of its package, or that is broken on purpose, keeps its places among the possible ones.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ra_ap_base_db::Crate as CrateId;
use ra_ap_hir::Semantics;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::base_db::SourceDatabase as _;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, SyntaxKind};
use rustc_hash::FxHashMap;

use super::exclusions;
use super::target_usages::TargetUsages;
use crate::index::file_names::{Collector, Names, StoredResolution};
use crate::index::search::Occurrence;
use crate::names::outside_crates::{MOST, crate_of, models};
use crate::names::{Reader, Resolution, Target, UnresolvedReason, instances, macro_output};
use crate::resolve::alternatives::{Reach, with_alternatives};
use crate::resolve::at::definition_at;
use crate::syntax::positions::span;
use crate::view::{self, Context, on_all_cores};
use semdex_engine::files::File;
use semdex_model::{Role, Span, Symbol};
use semdex_text::words::words;

/// The length of a text that is not resolved: it is data that looks like code.
const MOST_BYTES: usize = 1 << 20;

/// Files that no crate includes, as far as a question has resolved them.
pub(crate) struct OutsideBuilds<'a, 'db> {
    cx: &'a Context<'db>,
    until: Option<Instant>,
    /// `None` for a file that cannot be resolved in this way.
    resolved: FxHashMap<FileId, Option<Resolved>>,
    models: HashMap<Box<Path>, Vec<CrateId>>,
    /// Files that the time limit left out.
    late: HashSet<FileId>,
}

/// A file's names in each program that includes it.
#[derive(Default)]
struct Resolved(Vec<InProgram>);

/// A file's names in one program: in the default build, and in further builds as far as they resolve more.
struct InProgram(Vec<(CrateId, Names)>);

/// A file with the programs to resolve it in: for each program its root file and the crates to make its own after.
struct Unresolved {
    id: FileId,
    programs: Vec<(FileId, Vec<CrateId>)>,
}

impl<'a, 'db> OutsideBuilds<'a, 'db> {
    pub(crate) fn new(cx: &'a Context<'db>, until: Option<Instant>) -> OutsideBuilds<'a, 'db> {
        OutsideBuilds { cx, until, resolved: FxHashMap::default(), models: HashMap::new(), late: HashSet::new() }
    }

    pub(crate) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() > until)
    }

    /// Decides the possible usages in files that no crate includes: one that names one of the definitions is listed apart, and
    /// one that names something else is none.
    pub(crate) fn settle(&mut self, definitions: &[Definition<'db>], found: &mut TargetUsages) {
        let (outside, rest) =
            std::mem::take(&mut found.possible).into_iter().partition(|it| it.1 == UnresolvedReason::NoCrate);
        found.possible = rest;
        let outside: Vec<(Occurrence, UnresolvedReason)> = outside;
        let targets: Vec<Target> = definitions.iter().filter_map(|it| Target::new(*it, self.cx.db)).collect();
        if targets.is_empty() || outside.is_empty() {
            found.possible.extend(outside);
            return;
        }
        let mut of_files: BTreeMap<Arc<str>, Vec<Occurrence>> = BTreeMap::new();
        for (it, _) in outside {
            of_files.entry(it.file.path.clone()).or_default().push(it);
        }
        self.resolve(of_files.values().filter_map(|it| it.first()));
        for places in of_files.into_values() {
            let Some(first) = places.first() else { continue };
            let Some(resolved) = self.resolved.get(&first.id).and_then(Option::as_ref) else {
                let is_late = self.late.contains(&first.id);
                let why = if is_late { UnresolvedReason::OutOfTime } else { UnresolvedReason::NoCrate };
                found.possible.extend(places.into_iter().map(|it| (it, why)));
                continue;
            };
            found.outside.extend(resolved.usages(&targets, first));
            let unresolved = places.into_iter().filter(|it| resolved.is_unresolved(&targets, it.at.start));
            let unresolved = unresolved.map(|it| (it, UnresolvedReason::OutsideBuilds)).collect();
            found.possible.extend(self.not_excluded(definitions, resolved, unresolved));
        }
    }

    /// Decides the possible usages of a symbol that such a file declares: only the programs that include the file can name
    /// it. Returns whether these resolve it.
    pub(super) fn settle_own(&mut self, symbol: &Symbol, found: &mut TargetUsages) -> bool {
        let cx = self.cx;
        let Some((file, id)) = cx.files.get(&symbol.place.file).zip(cx.file_id(&symbol.place.file)) else {
            return false;
        };
        if cx.sema.file_to_module_def(id).is_some() {
            return false;
        }
        let (file, at) = (file.clone(), Span::new(symbol.name_at.start, symbol.name_at.end));
        let one = Occurrence { file: file.clone(), id, at, role: Role::Other, build: None, calls: None };
        self.resolve(std::iter::once(&one));
        let Some(resolved) = self.resolved.get(&id).and_then(Option::as_ref) else { return false };
        let mut definitions = Vec::new();
        for program in &resolved.0 {
            let declared = |krate: CrateId| {
                cx.in_instance(id, krate, |cx| {
                    let declared = definition_at(&cx.sema, id, at.start)?;
                    Some(with_alternatives(cx, declared, Reach::Near))
                })
            };
            let of_program: Vec<_> = program.0.iter().filter_map(|it| declared(it.0)).flatten().collect();
            if of_program.is_empty() {
                return false;
            }
            definitions.extend(of_program);
        }
        let own = self.roots(&file);
        let mut possible = std::mem::take(&mut found.possible);
        let mut shares: HashMap<FileId, bool> = HashMap::new();
        possible.retain(|(it, why)| match why {
            UnresolvedReason::NoCrate => {
                *shares.entry(it.id).or_insert_with(|| self.roots(&it.file).iter().any(|it| own.contains(it)))
            }
            // In code of a crate, which never refers to such a file.
            UnresolvedReason::MacroInput
            | UnresolvedReason::Inactive
            | UnresolvedReason::UnknownType
            | UnresolvedReason::Abandoned => false,
            _ => true,
        });
        found.possible = possible;
        self.settle(&definitions, found);
        true
    }

    /// The root files of the programs that include a file.
    fn roots(&mut self, file: &Arc<File>) -> Vec<FileId> {
        self.programs(file).into_iter().flatten().map(|it| it.0).collect()
    }

    fn resolve<'o>(&mut self, places: impl Iterator<Item = &'o Occurrence>) {
        let mut unresolved = Vec::new();
        for it in places.filter(|it| !self.resolved.contains_key(&it.id)).cloned().collect::<Vec<_>>() {
            let programs = self.programs(&it.file).filter(|_| self.resolved.len() < MOST);
            match programs.filter(|_| it.file.text.len() <= MOST_BYTES) {
                Some(programs) => {
                    self.resolved.insert(it.id, None);
                    unresolved.push(Unresolved { id: it.id, programs });
                }
                // Within one question nothing is asked twice.
                None => drop(self.resolved.insert(it.id, None)),
            }
        }
        let until = self.until;
        let is_late = || until.is_some_and(|until| Instant::now() > until);
        let read = on_all_cores(self.cx.db, &unresolved, |sema, it, read: &mut Vec<_>| {
            // Code that is broken on purpose is more often at fault than other code.
            let resolve = || view::unless_at_fault(|| it.resolve(sema.db)).ok().flatten();
            read.push((it.id, (!is_late()).then(resolve)));
        });
        for (id, resolved) in read {
            match resolved {
                Some(resolved) => drop(self.resolved.insert(id, resolved)),
                None => drop(self.late.insert(id)),
            }
        }
    }

    /// The programs that include a file. `None` if it is not known which these are, or what they depend on.
    fn programs(&mut self, file: &Arc<File>) -> Option<Vec<(FileId, Vec<CrateId>)>> {
        let cx = self.cx;
        let mut roots = exclusions::programs_with(cx, file)?;
        if !roots.iter().any(|it| it.path == file.path) {
            // A program does not always include what its text refers to.
            roots.push(file.clone());
        }
        let programs = roots.into_iter().map(|root| {
            let package = cx.environment.packages.package_of(cx.root.join(&*root.path).as_ref())?;
            let models = self.models.entry(package.into()).or_insert_with(|| models(cx.db, package));
            Some((cx.file_id(&root.path)?, models.clone())).filter(|it| !it.1.is_empty())
        });
        programs.collect()
    }

    /// The unresolved places that may name the definition as far as the file's own programs show.
    fn not_excluded(
        &self,
        definitions: &[Definition<'db>],
        resolved: &Resolved,
        mut places: Vec<(Occurrence, UnresolvedReason)>,
    ) -> Vec<(Occurrence, UnresolvedReason)> {
        let Some(id) = places.first().map(|it| it.0.id) else { return places };
        let mut kept = Vec::new();
        for (krate, _) in resolved.0.iter().filter_map(|it| it.0.first()) {
            let mut left = places.clone();
            self.cx.in_instance(id, *krate, |cx| exclusions::retain(cx, definitions, &mut left));
            places.retain(|it| !left.iter().any(|left| left.0.at == it.0.at));
            kept.extend(left);
        }
        kept.sort_by_key(|it| it.0.at);
        kept
    }
}

impl Unresolved {
    /// `None` if no program includes it.
    fn resolve(&self, db: &RootDatabase) -> Option<Resolved> {
        let mut resolved = Resolved::default();
        for (root, models) in &self.programs {
            // On its own only if no other program includes it.
            if *root == self.id && !resolved.0.is_empty() {
                continue;
            }
            let mut found = Vec::new();
            for model in models {
                let krate = crate_of(db, *model, *root);
                let Some(names) = self.names_in(db, krate) else { continue };
                let is_whole = !names.resolutions().any(|it| matches!(it, StoredResolution::Unresolved(_)));
                found.push((krate, names));
                if is_whole {
                    break;
                }
            }
            resolved.0.extend((!found.is_empty()).then_some(InProgram(found)));
        }
        (!resolved.0.is_empty()).then_some(resolved)
    }

    /// `None` if the crate does not include the file.
    fn names_in(&self, db: &RootDatabase, krate: CrateId) -> Option<Names> {
        let _pinned = instances::pin_to(db, self.id, krate);
        let sema = Semantics::new(db);
        if sema.file_to_module_def(self.id)?.krate(db).base() != krate {
            return None;
        }
        let text = db.file_text(self.id).text(db);
        let reader = Reader::new(&sema, self.id);
        // A name in the definition of a macro has the meanings that it has in the output of the calls.
        let mut written = Vec::new();
        macro_output::read(&reader, &|_| true, &mut macro_output::Unread::default(), &mut |it| {
            // What a procedural macro writes has the place of the call.
            let is_own = it.file == self.id && it.at.start != it.call;
            let is_own = is_own && text.get(it.at.start..it.at.end).is_some_and(|own| own == it.name);
            written.extend(is_own.then_some((it.at.start, it.resolution)));
        });
        let is_written: HashSet<usize> = written.iter().map(|it| it.0).collect();
        let mut found = written;
        // What does not parse as items is not known to name something else.
        let tree = sema.parse_guess_edition(self.id);
        let mut errors: Vec<Span> = Vec::new();
        for it in tree.syntax().descendants().filter(|it| it.kind() == SyntaxKind::ERROR) {
            let at = span(it.text_range());
            if errors.last().is_none_or(|last| last.end <= at.start) {
                errors.push(at);
            }
        }
        let is_in_error =
            |at: usize| errors[..errors.partition_point(|it| it.start <= at)].last().is_some_and(|it| it.contains(at));
        reader.read_all(|at, it| {
            let is_unparsed = matches!(it, Resolution::Other) && is_in_error(at);
            let it = if is_unparsed { Resolution::Unresolved(UnresolvedReason::UnknownType) } else { it };
            let is_input = matches!(it, Resolution::Unresolved(UnresolvedReason::MacroInput));
            found.extend((!is_input || !is_written.contains(&at)).then_some((at, it)));
        });
        found.sort_by_key(|it| it.0);
        let mut collector = Collector::new(db);
        found.into_iter().for_each(|(at, it)| collector.add(at, it));
        Some(collector.finish())
    }
}

fn means_any(resolution: StoredResolution, targets: &[Target]) -> bool {
    matches!(resolution, StoredResolution::Means(meaning) if targets.iter().any(|it| it.is_meant_by(&meaning)))
}

impl Resolved {
    fn all(&self) -> impl Iterator<Item = &Names> {
        self.0.iter().flat_map(|it| it.0.iter().map(|it| &it.1))
    }

    /// All places in the file that name the target, in order.
    fn usages(&self, targets: &[Target], one: &Occurrence) -> Vec<Occurrence> {
        let mut named: BTreeMap<usize, Role> = BTreeMap::new();
        for names in self.all() {
            for (at, it, role) in names.within(0, one.file.text.len()) {
                if means_any(it, targets) {
                    named.entry(at).or_insert(role);
                }
            }
        }
        let place = |(at, role)| {
            let (_, word) = words(one.file.text.get(at..)?).next().filter(|it| it.0 == 0)?;
            Some(Occurrence { at: Span::new(at, at + word.len()), role, ..one.clone() })
        };
        named.into_iter().filter_map(place).collect()
    }

    /// Whether no program gives the place the target's meaning, and one does not resolve it.
    fn is_unresolved(&self, targets: &[Target], at: usize) -> bool {
        let is_unresolved = |it: &Names| it.at(at).any(|it| matches!(it.0, StoredResolution::Unresolved(_)));
        let means = |it: &Names| it.at(at).any(|it| means_any(it.0, targets));
        !self.all().any(means) && self.0.iter().any(|it| it.0.iter().all(|it| is_unresolved(&it.1)))
    }
}
