//! Which of the crates that include a file have a diagnostic, in words.

use ra_ap_base_db::Crate as CrateId;
use ra_ap_cfg::CfgAtom;
use ra_ap_hir::Crate;

use super::paths::crates::crate_name;
use crate::names::builds::{differences, text_of};
use crate::view::Context;

/// The most differences between two builds of a crate that are named.
const MOST_NAMED: usize = 6;

/// ` (in `krate`)` after the message of a diagnostic that some of the crates have. Empty if all have it. Of a crate that
/// is built more than once, and has it in some of these builds, the text says how they differ from the others.
pub(crate) fn in_crates(cx: &Context<'_>, having: &[CrateId], all: &[CrateId]) -> String {
    if having.is_empty() || all.iter().all(|it| having.contains(it)) {
        return String::new();
    }
    let name = |it: CrateId| crate_name(cx, Crate::from(it));
    let mut named: Vec<String> = Vec::new();
    for &it in having {
        let own = name(it);
        let other = all.iter().find(|other| !having.contains(other) && name(**other) == own);
        let how = other.map(|other| difference(cx, it, *other)).unwrap_or_default();
        let text = format!("`{own}`{how}");
        if !named.contains(&text) {
            named.push(text);
        }
    }
    format!(" (in {})", named.join(", "))
}

/// How a build of a crate differs from another: ` without `feature=std``.
fn difference(cx: &Context<'_>, own: CrateId, other: CrateId) -> String {
    let (own, other) = (own.cfg_options(cx.db), other.cfg_options(cx.db));
    let differences = differences(own, other);
    let said = |wanted: bool| {
        let of = differences.iter().filter(|it| it.1 == wanted);
        let mut atoms: Vec<String> = of.map(|it| format!("`{}`", text_of(&it.0))).collect();
        atoms.sort();
        if atoms.len() > MOST_NAMED {
            atoms.truncate(MOST_NAMED);
            atoms.push("…".to_owned());
        }
        atoms.join(", ")
    };
    let test = CfgAtom::Flag(ra_ap_hir_expand::intern::sym::test);
    match (said(false), said(true)) {
        (without, with) if without.is_empty() && with.is_empty() => match own.check_atom(&test) {
            true if !other.check_atom(&test) => " with its tests".to_owned(),
            false if other.check_atom(&test) => " without its tests".to_owned(),
            _ => String::new(),
        },
        (without, with) if with.is_empty() => format!(" without {without}"),
        (without, with) if without.is_empty() => format!(" with {with}"),
        (without, with) => format!(" with {with}, without {without}"),
    }
}
