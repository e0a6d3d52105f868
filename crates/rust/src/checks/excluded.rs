//! The code of a file that the default build does not compile.

use ra_ap_base_db::Crate as CrateId;
use ra_ap_ide::FileId;
use ra_ap_syntax::{AstNode as _, TextRange};

use crate::names::instances::owners;
use crate::names::left_out;
use crate::syntax::positions::text_size;
use crate::view::Context;

/// The code of a file that no crate of the default build compiles.
pub(crate) enum Excluded {
    /// No crate includes the file.
    All,
    /// The stretches that a `cfg` switches off, for each crate that includes the file.
    Stretches(Vec<Vec<TextRange>>),
}

impl Excluded {
    pub(crate) fn of(cx: &Context<'_>, id: FileId) -> Excluded {
        Excluded::from_crates(cx, id, &owners(cx.db, id))
    }

    /// What the conditions of these crates exclude.
    pub(crate) fn from_crates(cx: &Context<'_>, id: FileId, crates: &[CrateId]) -> Excluded {
        if cx.sema.file_to_module_defs(id).next().is_none() {
            return Excluded::All;
        }
        let tree = cx.sema.parse_guess_edition(id);
        let of_crate = |it: &CrateId| left_out(tree.syntax(), it.cfg_options(cx.db));
        Excluded::Stretches(crates.iter().map(of_crate).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Excluded::Stretches(of_owners) if of_owners.iter().any(Vec::is_empty))
    }

    /// Whether it contains an offset.
    pub(crate) fn has(&self, offset: usize) -> bool {
        match self {
            Excluded::All => true,
            Excluded::Stretches(of_owners) => {
                of_owners.iter().all(|it| it.iter().any(|it| it.contains_inclusive(text_size(offset))))
            }
        }
    }
}
