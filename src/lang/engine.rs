//! What every engine is to its workspace.

use crate::model::{Judgement, LanguageId, Missing, MissingCode};

const UNJUDGED: &str = "the change could not be judged; ask `diagnostics`";

/// What is said of a change that an engine tried to judge, and could not.
pub fn unjudged(language: LanguageId) -> Judgement {
    Judgement::unanswered(Missing::new(MissingCode::Timeout, language.name, UNJUDGED))
}

pub fn is_unjudged(judgement: &Judgement) -> bool {
    judgement.coverage.missing.iter().any(|it| it.detail == UNJUDGED)
}
