//! A cache of answers: a query that is repeated at the same revision is answered from here.

use std::any::Any;
use std::sync::Arc;

use quick_cache::sync::Cache;

use semdex_model::{Answer, MissingCode, Revision};

/// At most this many answers are kept.
const ANSWERS: usize = 256;

/// The answers of one workspace by their queries. An answer of another revision does not count.
pub struct AnswerCache {
    answers: Cache<String, (Revision, Arc<dyn Any + Send + Sync>)>,
}

impl AnswerCache {
    pub(super) fn new() -> AnswerCache {
        AnswerCache { answers: Cache::new(ANSWERS) }
    }

    pub fn answer<T: Clone + Send + Sync + 'static>(&self, question: &str, revision: Revision) -> Option<Answer<T>> {
        let (given_at, answer) = self.answers.get(question)?;
        let answer: &Answer<T> = answer.downcast_ref()?;
        (given_at == revision).then(|| answer.clone())
    }

    /// The answer that was kept last, of whatever revision.
    pub fn last<T: Clone + Send + Sync + 'static>(&self, question: &str) -> Option<Answer<T>> {
        self.answers.get(question)?.1.downcast_ref::<Answer<T>>().cloned()
    }

    /// Keeps an answer, unless it misses something that a later query may have although nothing changes on the disk.
    pub fn keep<T: Clone + Send + Sync + 'static>(&self, question: String, revision: Revision, answer: &Answer<T>) {
        let passing = [
            MissingCode::Indexing,
            MissingCode::EngineDown,
            MissingCode::EngineMissing,
            MissingCode::EngineRestarting,
            MissingCode::Timeout,
            MissingCode::TooMany,
            MissingCode::WorkspaceBroken,
        ];
        if !answer.coverage.missing.iter().any(|it| passing.contains(&it.code)) {
            self.answers.insert(question, (revision, Arc::new(answer.clone())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AnswerCache;
    use semdex_model::{Answer, Missing, MissingCode, Revision};

    #[test]
    fn an_answer_holds_for_its_revision() {
        let cache = AnswerCache::new();
        cache.keep("a".to_owned(), Revision(1), &Answer::whole(7));
        assert_eq!(cache.answer("a", Revision(1)), Some(Answer::whole(7)));
        assert_eq!(cache.answer::<i32>("a", Revision(2)), None);
        assert_eq!(cache.last("a"), Some(Answer::whole(7)));
        assert_eq!(cache.answer::<i32>("b", Revision(1)), None);
        assert_eq!(cache.answer::<String>("a", Revision(1)), None);
        let early = Answer::lacking(8, Missing::new(MissingCode::Indexing, "rust", "later"));
        cache.keep("a".to_owned(), Revision(2), &early);
        assert_eq!(cache.answer::<i32>("a", Revision(2)), None);
    }
}
