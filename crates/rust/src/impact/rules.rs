//! The table of the rules that compare the states before and after a change: each rule with the codes that it finds,
//! what it is applied to, and when. The drivers walk places and edited files and apply the rules in the order of the
//! table. `checks/rules.rs` has the rules of one state.

use ra_ap_hir::Semantics;
use ra_ap_ide::RootDatabase;

use super::affected::ChangedSymbol;
use super::edit_context::EditContext;
use super::findings::Findings;
use super::rule_input::{Change, EditedFile, NamedPlace, TraitImpl};
use super::{
    constness, declared, dyn_traits, gated_heads, generics, given_types, gone, helper_attributes, impls, included_data,
    item_heads, lifetimes, removed_traits, unresolved_names, unused,
};
use crate::checks::rules;
use crate::finding::code::Code;
use crate::finding::code::Code::*;
use crate::finding::{Finding, RuleId};
use crate::index::search::Occurrence;
use crate::syntax::positions;
use crate::view::Context;
use semdex_model::Role;

impl RuleId {
    pub(crate) fn lists(self, code: Code) -> bool {
        let in_bodies = rules::RULES.iter().any(|it| it.id == self && it.codes.contains(&code));
        in_bodies || RULES.iter().any(|it| it.id == self && it.codes.contains(&code))
    }
}

/// A rule of the compiler.
pub(crate) struct Rule {
    pub(crate) id: RuleId,
    /// A short description of what it finds.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test generates documentation from it"))]
    pub(crate) about: &'static str,
    pub(crate) codes: &'static [Code],
    when: When,
    check: Check,
}

/// When a rule is applied.
enum When {
    Always,
    /// To changed symbols that match.
    Symbol(fn(&ChangedSymbol<'_>) -> bool),
}

/// What a rule is applied to: an implementation, a place that names a changed symbol, a changed symbol, or an edited
/// file. `Change` and `Late` apply to the whole change, before and after following errors are settled.
#[derive(Clone, Copy)]
enum Check {
    Impl(fn(&Context<'_>, &TraitImpl<'_>, &mut Vec<Finding>)),
    Place(fn(&Context<'_>, &NamedPlace<'_, '_>, &mut Findings<'_>)),
    Symbol(fn(&Context<'_>, &ChangedSymbol<'_>, &EditContext, &mut Findings<'_>)),
    Item(ItemCheck),
    Change(fn(&Context<'_>, &Change<'_, '_>, &mut Findings<'_>)),
    Late(fn(&Context<'_>, &Change<'_, '_>, &[Finding]) -> Vec<Finding>),
    /// Applied separately, where the errors before and after are collected (`engine/compute_impact.rs`).
    Apart,
}

type ItemCheck = fn(&Context<'_>, &EditedFile<'_, '_>, &Change<'_, '_>, &mut Findings<'_>);

/// Rules with the same kind of check are applied in this order: of two errors on a line the first one is kept.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: RuleId::Arity,
        about: "calls of a function with another number of parameters",
        codes: &[E0061],
        when: When::Always,
        check: Check::Apart,
    },
    Rule {
        id: RuleId::MissingItems,
        about: "implementations with missing items of their trait",
        codes: &[E0046],
        when: When::Always,
        check: Check::Impl(impls::missing_items),
    },
    Rule {
        id: RuleId::ImplHeads,
        about: "heads of implementations that do not fit their trait",
        codes: &[E0107, E0199, E0200, E0271, E0277],
        when: When::Always,
        check: Check::Impl(impls::unfit_impl_head),
    },
    Rule {
        id: RuleId::ImplItems,
        about: "items of implementations that do not fit the trait's items",
        codes: &[E0049, E0050, E0053, E0185, E0186, E0195, E0276, E0277, E0326, E0407, E0437, E0438, E0643],
        when: When::Always,
        check: Check::Impl(impls::unfit_impl_items),
    },
    Rule {
        id: RuleId::DeriveErrors,
        about: "errors of derive macros",
        codes: &[Uncoded, E0665],
        when: When::Always,
        check: Check::Apart,
    },
    Rule {
        id: RuleId::DynTraits,
        about: "traits that are no longer dyn compatible",
        codes: &[E0038],
        when: When::Always,
        check: Check::Change(dyn_traits::dyn_incompatible),
    },
    Rule {
        id: RuleId::Names,
        about: "names of items that are removed, hidden or replaced",
        codes: &[
            Uncoded, E0220, E0308, E0364, E0365, E0369, E0404, E0405, E0408, E0412, E0422, E0425, E0432, E0433, E0531,
            E0532, E0533, E0573, E0599, E0603, E0616, E0624, E0658,
        ],
        when: When::Always,
        check: Check::Change(gone::gone_names),
    },
    Rule {
        id: RuleId::RemovedTraits,
        about: "derives and traits that need a trait that a type no longer implements",
        codes: &[E0204, E0277, E0369],
        when: When::Symbol(|it| !it.lost.is_empty()),
        check: Check::Symbol(removed_traits::unmet_by_removed_traits),
    },
    Rule {
        id: RuleId::Generics,
        about: "arguments of types and traits with other parameters or bounds",
        codes: &[E0106, E0107, E0271, E0277, E0726],
        when: When::Symbol(|it| it.is_itself && it.has_other_generics()),
        check: Check::Place(generics::unfit_generics),
    },
    Rule {
        id: RuleId::MacroGenerics,
        about: "the same in the heads of items that macros write",
        codes: &[E0106, E0107, E0271, E0277, E0726],
        when: When::Symbol(|it| it.is_itself && it.has_other_generics()),
        check: Check::Symbol(generics::unfit_in_macros),
    },
    Rule {
        id: RuleId::ConstCalls,
        about: "constants that call what is no longer `const`",
        codes: &[E0015],
        when: When::Symbol(|it| it.is_itself && it.is_const_no_more()),
        check: Check::Place(constness::call_in_constant),
    },
    Rule {
        id: RuleId::Futures,
        about: "futures that have to be `Send`, and hold a value that is not while they wait",
        codes: &[Uncoded, E0277],
        when: When::Always,
        check: Check::Apart,
    },
    Rule {
        id: RuleId::Helpers,
        about: "derives and their attributes that no macro reads",
        codes: &[Uncoded],
        when: When::Always,
        check: Check::Change(|cx, change, out| {
            helper_attributes::unread_helpers(cx, &change.affected.helpers, change.edit)
                .into_iter()
                .for_each(|it| out.add(it));
        }),
    },
    Rule {
        id: RuleId::UnresolvedNames,
        about: "unresolved names that an edit writes",
        codes: &[Uncoded, E0220, E0404, E0405, E0411, E0412, E0422, E0425, E0432, E0433, E0531, E0599, E0603],
        when: When::Always,
        check: Check::Item(unresolved_names::unresolved_names),
    },
    Rule {
        id: RuleId::Duplicates,
        about: "duplicate declarations",
        codes: &[E0124, E0201, E0252, E0255, E0428, E0592],
        when: When::Always,
        check: Check::Item(|cx, file, change, out| {
            declared::duplicates(cx, file.file, &file.deltas, out);
            declared::imported_again(cx, file.file, &change.edit.olds[file.index], out);
        }),
    },
    Rule {
        id: RuleId::Heads,
        about: "heads of items that an edit writes",
        codes: &[E0106, E0107, E0116, E0117, E0119, E0204, E0207, E0277, E0369, E0403, E0404, E0415, E0726],
        when: When::Always,
        check: Check::Item(|cx, file, change, out| {
            item_heads::unfit_heads(cx, file.file, &file.deltas, &change.edit.scope_changes[file.index], out);
        }),
    },
    Rule {
        id: RuleId::Lifetimes,
        about: "omitted lifetimes that cannot be inferred",
        codes: &[E0106],
        when: When::Always,
        check: Check::Item(|cx, file, _, out| {
            lifetimes::elided_lifetimes(cx, file.file, &file.deltas).into_iter().for_each(|it| out.add(it));
        }),
    },
    Rule {
        id: RuleId::GatedHeads,
        about: "items with unstable syntax or unstable types of the standard library, and unstable features",
        codes: &[E0554, E0658],
        when: When::Always,
        check: Check::Item(gated_heads::gated_heads),
    },
    Rule {
        id: RuleId::Files,
        about: "modules without a file",
        codes: &[E0583],
        when: When::Always,
        check: Check::Change(declared::without_files),
    },
    Rule {
        id: RuleId::IncludedData,
        about: "data that `include_str!` and `include_bytes!` do not find",
        codes: &[Uncoded],
        when: When::Always,
        check: Check::Change(included_data::missing_data),
    },
    Rule {
        id: RuleId::Main,
        about: "programs without `main`",
        codes: &[E0601],
        when: When::Always,
        check: Check::Item(|cx, file, change, out| {
            let old = &change.edit.olds[file.index];
            declared::without_main(cx, file.file, old, &file.deltas).into_iter().for_each(|it| out.add(it));
        }),
    },
    Rule {
        id: RuleId::GivenTypes,
        about: "types given for associated types that do not meet their bounds",
        codes: &[E0277],
        when: When::Always,
        check: Check::Change(|cx, change, out| given_types::unfit_types(cx, change.affected, change.edit, out)),
    },
    Rule {
        id: RuleId::UnusedParameters,
        about: "type parameters that no field uses",
        codes: &[E0282, E0283, E0392],
        when: When::Always,
        check: Check::Late(|cx, change, new| unused::unused_parameters(cx, change.affected, change.edit, new)),
    },
    Rule {
        id: RuleId::RecursiveTypes,
        about: "types that contain themselves without indirection",
        codes: &[E0072],
        when: When::Always,
        check: Check::Apart,
    },
    Rule {
        id: RuleId::UnmentionedParameters,
        about: "parameters that no field of a type mentions",
        codes: &[E0392],
        when: When::Always,
        check: Check::Apart,
    },
    Rule {
        id: RuleId::UndeclaredLifetimes,
        about: "lifetimes that nothing around them declares",
        codes: &[E0261],
        when: When::Always,
        check: Check::Apart,
    },
    Rule {
        id: RuleId::MalformedItems,
        about: "items that the compiler refuses by their form or by the kind of their type",
        codes: &[
            Uncoded, E0005, E0044, E0045, E0081, E0084, E0091, E0118, E0120, E0121, E0128, E0130, E0131, E0184, E0197,
            E0201, E0262, E0277, E0310, E0316, E0322, E0366, E0379, E0390, E0403, E0433, E0446, E0449, E0452, E0496,
            E0517, E0538, E0539, E0552, E0562, E0565, E0566, E0580, E0587, E0589, E0592, E0634, E0637, E0642, E0666,
            E0692, E0693, E0703, E0710, E0731, E0732, E0734, E0735, E0737, E0740, E0746, E0747, E0752, E0770, E0774,
            E0777, E0800, E0801, E0805,
        ],
        when: When::Always,
        check: Check::Apart,
    },
    Rule {
        id: RuleId::MalformedExpressions,
        about: "types in heads of items that the compiler refuses by their form",
        codes: &[E0719, E0782],
        when: When::Always,
        check: Check::Apart,
    },
    Rule {
        id: RuleId::WrittenImports,
        about: "imports that are malformed, and re-exports of what is less visible",
        codes: &[Uncoded, E0364, E0365, E0429, E0463],
        when: When::Always,
        check: Check::Apart,
    },
    Rule {
        id: RuleId::UnusedImports,
        about: "unused imports",
        codes: &[UnusedImports],
        when: When::Always,
        check: Check::Apart,
    },
];

pub(crate) fn check_impl(cx: &Context<'_>, of: &TraitImpl<'_>) -> Vec<Finding> {
    let mut out: Vec<Finding> = Vec::new();
    for rule in RULES {
        let Check::Impl(check) = rule.check else { continue };
        let from = out.len();
        check(cx, of, &mut out);
        out[from..].iter_mut().for_each(|it| it.rule = rule.id);
    }
    out
}

/// The rules for the change in the state after: for its symbols, the places that name them, its files, and the change
/// as a whole.
pub(crate) fn check_change(cx: &Context<'_>, change: &Change<'_, '_>, out: &mut Findings<'_>) {
    let files = edited_files(change);
    for rule in RULES {
        out.rule = rule.id;
        let is_asked = |it: &&ChangedSymbol<'_>| match rule.when {
            When::Symbol(is_so) => is_so(it),
            When::Always => true,
        };
        let symbols = change.affected.changed_symbols.iter().filter(is_asked);
        match rule.check {
            Check::Place(check) => {
                for (changed_symbol, occurrence) in symbols.flat_map(places_of) {
                    let at = || format!("`{}` in {}", changed_symbol.name, occurrence.file.path);
                    let mut of_crate = |cx: &Context<'_>| {
                        let place = named_place(&cx.sema, changed_symbol, occurrence, change.edit);
                        place.into_iter().for_each(|it| check(cx, &it, out));
                    };
                    cx.unless_at_fault(at, || cx.for_each_instance(occurrence.id, &mut of_crate));
                }
            }
            Check::Symbol(check) => symbols.for_each(|it| {
                cx.unless_at_fault(|| format!("`{}`", it.name), || check(cx, it, change.edit, out));
            }),
            Check::Item(check) => check_files(cx, &files, change, check, out),
            Check::Change(check) => {
                cx.unless_at_fault(|| "what the change affects".to_owned(), || check(cx, change, out));
            }
            Check::Impl(_) | Check::Late(_) | Check::Apart => {}
        }
    }
}

/// The rules for edited files alone, but for unresolved names, which have another check of whole files
/// (`checks/unresolved_paths.rs`).
pub(crate) fn check_items(cx: &Context<'_>, change: &Change<'_, '_>, out: &mut Findings<'_>) {
    let files = edited_files(change);
    for rule in RULES {
        out.rule = rule.id;
        if let Check::Item(check) = rule.check
            && rule.id != RuleId::UnresolvedNames
        {
            check_files(cx, &files, change, check, out);
        }
    }
}

fn edited_files<'c, 'a>(change: &'c Change<'_, 'a>) -> Vec<EditedFile<'c, 'a>> {
    let files = change.edit.news.iter().enumerate();
    let files = files.map(|(index, file)| {
        let deltas = change.deltas.iter().filter(|it| it.0 == index).map(|it| &it.1).collect();
        EditedFile { index, file, deltas }
    });
    files.collect()
}

fn check_files(
    cx: &Context<'_>,
    files: &[EditedFile<'_, '_>],
    change: &Change<'_, '_>,
    check: ItemCheck,
    out: &mut Findings<'_>,
) {
    for it in files {
        let mut of_crate = |cx: &Context<'_>| check(cx, it, change, out);
        let of_file = || match cx.file_id(&it.file.path) {
            Some(id) => drop(cx.for_each_instance(id, &mut of_crate)),
            None => of_crate(cx),
        };
        cx.unless_at_fault(|| format!("the items of {}", it.file.path), of_file);
    }
}

/// The rules that are applied after following errors are settled.
pub(crate) fn check_late(cx: &Context<'_>, change: &Change<'_, '_>, new: &mut Vec<Finding>) {
    let mut late: Vec<Finding> = Vec::new();
    for rule in RULES {
        let Check::Late(check) = rule.check else { continue };
        let found = cx.unless_at_fault(|| "what the change affects".to_owned(), || check(cx, change, new));
        late.extend(found.into_iter().flatten().map(|it| Finding { rule: rule.id, ..it }));
    }
    let mut out = Findings::new(new);
    for it in late {
        out.rule = it.rule;
        out.add(it);
    }
}

/// The places in code that name a symbol.
fn places_of<'c, 'a>(
    changed_symbol: &'c ChangedSymbol<'a>,
) -> impl Iterator<Item = (&'c ChangedSymbol<'a>, &'c Occurrence)> {
    let places = changed_symbol.occurrences.iter().filter(|it| !matches!(it.role, Role::Import | Role::Doc));
    places.map(move |it| (changed_symbol, it))
}

/// The place at its current position.
fn named_place<'c, 'a>(
    sema: &Semantics<'_, RootDatabase>,
    changed_symbol: &'c ChangedSymbol<'a>,
    occurrence: &'c Occurrence,
    edit: &EditContext,
) -> Option<NamedPlace<'c, 'a>> {
    let at = edit.moved(&occurrence.file.path, occurrence.at.start)?;
    Some(NamedPlace { changed_symbol, occurrence, token: positions::token(sema, occurrence.id, at)? })
}

impl Finding {
    /// Checks that the table lists the code for this rule.
    pub(crate) fn check(&self) {
        debug_assert!(self.rule.lists(self.code), "{:?} finds {:?}, and does not list it", self.rule, self.code);
    }
}

/// The description and the codes of all rules, in the order of the documentation.
#[cfg(test)]
pub(crate) fn described() -> impl Iterator<Item = (&'static str, &'static [Code])> {
    let of_bodies = rules::RULES.iter().map(|it| (it.about, it.codes));
    of_bodies.chain(RULES.iter().map(|it| (it.about, it.codes)))
}
