//! The places that a search finds for one symbol.

use ra_ap_ide::FileId;

use crate::index::search::Occurrence;
use crate::names::UnresolvedReason;
use crate::resolve::symbols::is_test_at;
use semdex_engine::ranking::{UsageRank, usage_order};
use semdex_model::{Coverage, Missing, Role};
use semdex_text::words::words;

/// The result of a pass for one target.
#[derive(Default)]
pub(crate) struct TargetUsages {
    pub(crate) items: Vec<Occurrence>,
    pub(super) possible: Vec<(Occurrence, UnresolvedReason)>,
    /// In files that no crate includes. None before these are resolved (`outside_builds`).
    pub(crate) outside: Vec<Occurrence>,
    /// Places in the output of build scripts that name it, or may. They are not in the workspace's text, so they are
    /// only counted.
    pub(crate) in_generated: Vec<Occurrence>,
    /// Places in doctests that may name it, as places in their modules.
    pub(super) in_doctests: Vec<(Occurrence, UnresolvedReason)>,
    /// What is missing of the output of macros.
    pub(super) unread_output: Option<Missing>,
}

impl TargetUsages {
    /// Places in the input and the definitions of macros that may name the target.
    pub(crate) fn in_macros(self) -> impl Iterator<Item = Occurrence> {
        self.possible.into_iter().filter(|it| it.1 == UnresolvedReason::MacroInput).map(|it| it.0)
    }

    /// Leaves only the places that meet a condition.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&Occurrence) -> bool) {
        [&mut self.items, &mut self.outside, &mut self.in_generated].into_iter().for_each(|it| it.retain(&is_kept));
        [&mut self.possible, &mut self.in_doctests].into_iter().for_each(|all| all.retain(|it| is_kept(&it.0)));
    }

    /// The same places, as if none of them could be resolved.
    #[cfg(test)]
    pub(crate) fn into_unresolved(self) -> TargetUsages {
        let possible = self.items.into_iter().map(|it| (it, UnresolvedReason::UnknownType)).collect();
        TargetUsages { possible, ..TargetUsages::default() }
    }

    #[cfg(test)]
    pub(crate) fn possible(&self) -> impl Iterator<Item = &Occurrence> {
        self.possible.iter().map(|it| &it.0)
    }

    /// The aliases that imports give it.
    pub(super) fn aliases(&self) -> impl Iterator<Item = &str> {
        let imports = self.items.iter().filter(|it| it.role == Role::Import);
        imports.filter_map(|it| {
            let mut behind = words(it.file.text.get(it.at.end..)?);
            let (at, _) = behind.next().filter(|it| it.1 == "as")?;
            let is_next = it.file.text[it.at.end..][..at].chars().all(char::is_whitespace);
            behind.next().map(|it| it.1).filter(|it| is_next && *it != "_")
        })
    }

    /// Places in code that is compiled, as far as known, where the word is unresolved.
    pub(crate) fn missed(self) -> impl Iterator<Item = Occurrence> {
        let is_missed = |it: UnresolvedReason| {
            use UnresolvedReason::{Abandoned, Inactive, MacroInput, UnknownType};
            matches!(it, UnknownType | MacroInput | Inactive | Abandoned)
        };
        self.possible.into_iter().filter(move |it| is_missed(it.1)).map(|it| it.0)
    }

    pub(super) fn tell_possible(&self, coverage: &mut Coverage) {
        self.tell_possible_if(coverage, |it| it != UnresolvedReason::OutOfTime);
    }

    pub(super) fn tell_possible_if(&self, coverage: &mut Coverage, is_wanted: impl Fn(UnresolvedReason) -> bool) {
        for why in [
            UnresolvedReason::NoCrate,
            UnresolvedReason::NotLoaded,
            UnresolvedReason::OutsideBuilds,
            UnresolvedReason::MacroInput,
            UnresolvedReason::Inactive,
            UnresolvedReason::UnknownType,
            UnresolvedReason::OutOfTime,
            UnresolvedReason::TooDeep,
            UnresolvedReason::Included,
            UnresolvedReason::Abandoned,
        ] {
            let count = self.possible.iter().filter(|it| it.1 == why && is_wanted(why)).count();
            if count > 0 {
                coverage.lacks(why.missing(count));
            }
        }
    }

    /// The indices of the usages in the order in which they are reported.
    pub(super) fn order(&self, own: Option<FileId>) -> Vec<usize> {
        let mut file = 0;
        let mut ranks: Vec<UsageRank> = Vec::with_capacity(self.items.len());
        for (position, it) in self.items.iter().enumerate() {
            // A pass visits the files in the order of their names.
            file += usize::from(position > 0 && self.items[position - 1].id != it.id);
            let test = is_test_at(&it.file, it.at.start);
            ranks.push(UsageRank { file, at: it.at.start, test, own: own == Some(it.id) });
        }
        usage_order(&ranks)
    }
}
