//! What is unknown about a change because files that are not indexed, or have no language, may use the changed
//! declarations.

use std::collections::BTreeSet;

use super::changed_declarations::{ChangedDeclaration, is_sealed};
use super::queries::{ResolvedItem, ServerQueries};
use super::unindexed::{included, naming, of_no_language};
use semdex_engine::Result;
use semdex_model::{ChangeImpact, ChangeKind, Unchecked};

/// Adds the missing coverage for such files.
pub(crate) async fn of_change(
    queries: &ServerQueries,
    altered: &[ChangedDeclaration],
    change_impact: &mut ChangeImpact,
) -> Result<()> {
    let mut seen: BTreeSet<(&str, bool)> = BTreeSet::new();
    for one in altered.iter().filter(|it| it.changed.kind != ChangeKind::Added) {
        let (name, is_sealed) = (one.item.name.as_str(), is_sealed(one));
        if !seen.insert((name, is_sealed)) {
            continue;
        }
        let found = ResolvedItem { file: one.file.clone(), item: one.item.clone() };
        let included = included(queries, &found).await?;
        let included = included.iter().map(|it| of_no_language(&it.path, name));
        for missing in naming(queries, name).await?.into_iter().chain(included) {
            let unchecked = Unchecked::from(&missing);
            match is_sealed {
                // The change cannot break them.
                true if change_impact.impact.unchecked.contains(&unchecked) => {}
                true => change_impact.impact.unchecked.push(unchecked),
                false => change_impact.lacks(missing),
            }
        }
    }
    Ok(())
}
