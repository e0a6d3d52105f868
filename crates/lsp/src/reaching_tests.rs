//! The tests that reach a change: the users of the changed declarations, the users of the declarations around these
//! uses, and so on, as the server knows them before the change. The test runner calls functions of test files that have
//! no users.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;

use super::changed_declarations::ChangedDeclaration;
use super::queries::{Asked, ResolvedItem, ServerQueries};
use super::symbol_paths;
use super::usages::{self, At};
use semdex_engine::files::File;
use semdex_engine::{Result, blocking};
use semdex_model::{Affected, ChangeKind, OutlineItem, Reaching, Role, SymbolKind};

/// The most steps from a test to the change.
const MAX_STEPS: u32 = 8;
/// The most tests that are reported.
const MAX_TESTS: usize = 100;
/// The most declarations whose users are requested. If nearly everything reaches the change, only the nearest tests are
/// reported.
const MAX_FOLLOWED: usize = 200;
const USERS_AT_ONCE: usize = 4;
/// The time limit of the search.
const PATIENCE: Duration = Duration::from_millis(500);

/// The nearest tests, and why there may be more.
pub(crate) struct Tests {
    pub found: Vec<Reaching>,
    pub lack: Option<String>,
}

impl Tests {
    /// The tests were not requested.
    pub(crate) fn not_requested() -> Tests {
        let lack = Some("the tests that reach the change were not looked for".to_owned());
        Tests { found: Vec::new(), lack }
    }
}

/// A use, the changed symbol that it leads to, and the number of steps.
#[derive(Clone)]
struct Use {
    at: At,
    cause: Arc<str>,
    distance: u32,
}

/// A use, and the declarations around it.
struct Placed {
    it: Use,
    /// The enclosing test.
    test: Option<OutlineItem>,
    /// The innermost enclosing declaration.
    holder: Option<OutlineItem>,
    in_tests: bool,
}

/// A declaration whose users are requested next.
struct Step {
    found: ResolvedItem,
    cause: Arc<str>,
    distance: u32,
    /// If the declaration has no users, it is a test. This is the place in it that leads to the change.
    otherwise: Option<Use>,
}

/// A declaration, by its file and the offset of its name.
type Key = (Arc<str>, usize);

#[derive(Default)]
struct Search {
    tests: Vec<Reaching>,
    reported: HashSet<Key>,
    seen: HashSet<Key>,
    /// Declarations whose users are requested next.
    next: Vec<Step>,
    followed: usize,
    is_cut: bool,
    /// A declaration whose users the server did not list.
    unanswered: Option<String>,
}

/// `users`: the users of the changed declarations, which are already known.
pub(crate) async fn of(queries: &ServerQueries, altered: &[ChangedDeclaration], users: &[Affected]) -> Result<Tests> {
    let mut search = Search::default();
    search.begin(altered);
    let named = users.iter().filter_map(|it| {
        let (file, cause) = queries.files.get(&it.place.file).zip(it.cause.as_deref())?;
        Some(Use { at: (file.clone(), it.place.span()), cause: cause.into(), distance: 1 })
    });
    search.place(queries, named.collect()).await?;
    let until = queries.deadlines.answer.min(Instant::now() + PATIENCE);
    // At the deadline, the pending requests are cancelled.
    match tokio::time::timeout_at(until.into(), search.run(queries)).await {
        Ok(ended) => ended?,
        Err(_) => search.is_cut = true,
    }
    Ok(search.ended())
}

impl Search {
    fn begin(&mut self, altered: &[ChangedDeclaration]) {
        for ChangedDeclaration { file, item, changed, .. } in altered {
            let cause: Arc<str> = changed.symbol.as_str().into();
            self.seen.insert((file.path.clone(), item.name_span.start));
            if item.test && changed.kind != ChangeKind::Removed {
                let it = Use { at: (file.clone(), item.name_span), cause: cause.clone(), distance: 0 };
                self.report(&it, Some(item));
            }
            if changed.kind != ChangeKind::Added {
                self.follow_implied(file, item, &cause, 0);
            }
        }
    }

    async fn run(&mut self, queries: &ServerQueries) -> Result<()> {
        let _turn = queries.session.gate.read().await;
        while !self.next.is_empty() && !self.is_cut {
            let uses = self.step(queries).await?;
            self.place(queries, uses).await?;
            let is_far = self.next.iter().all(|it| it.distance >= MAX_STEPS);
            self.is_cut |= !self.next.is_empty() && (is_far || self.tests.len() >= MAX_TESTS);
        }
        Ok(())
    }

    /// Requests the users of the next declarations.
    async fn step(&mut self, queries: &ServerQueries) -> Result<Vec<Use>> {
        let most = MAX_FOLLOWED.saturating_sub(self.followed);
        self.is_cut |= self.next.len() > most;
        let asked: Vec<_> = self.next.iter().take(most).map(|it| usages::listed(queries, &it.found)).collect();
        let answers: Vec<Result<Asked<Vec<At>>>> = futures::stream::iter(asked).buffered(USERS_AT_ONCE).collect().await;
        self.followed += answers.len();
        let left = self.next.split_off(answers.len());
        let mut uses = Vec::new();
        for (step, answer) in std::mem::replace(&mut self.next, left).into_iter().zip(answers) {
            let Step { found, cause, distance, otherwise } = step;
            let references = answer?.unwrap_or_else(|_| {
                self.unanswered.get_or_insert_with(|| symbol_paths::path(&found.file.path, &found.item));
                Vec::new()
            });
            // A recursive use adds nothing.
            let is_other = |at: &At| at.0.path != found.file.path || !found.item.span.contains(at.1.start);
            let mut references = references.into_iter().filter(is_other).peekable();
            if references.peek().is_none()
                && let Some(it) = otherwise
            {
                self.report(&it, Some(&found.item));
            }
            uses.extend(references.map(|at| Use { at, cause: cause.clone(), distance: distance + 1 }));
        }
        Ok(uses)
    }

    /// Reports the tests among these uses, and queues all other declarations.
    async fn place(&mut self, queries: &ServerQueries, uses: Vec<Use>) -> Result<()> {
        let queries = queries.clone();
        let mut placed = blocking(move || Ok(placed(&queries, uses))).await?;
        placed.sort_by_key(|it| it.it.distance);
        for Placed { it, test, holder, in_tests } in placed {
            match (test, holder) {
                (Some(test), _) => self.report(&it, Some(&test)),
                (None, Some(holder)) => {
                    let (file, cause, distance) = (it.at.0.clone(), it.cause.clone(), it.distance);
                    self.follow_implied(&file, &holder, &cause, distance);
                    let otherwise = (in_tests && is_callable(&holder)).then_some(it);
                    self.follow(&file, holder, cause, distance, otherwise);
                }
                // Code of a test file outside of declarations: calls that define tests.
                (None, None) if in_tests => self.report(&it, None),
                (None, None) => {}
            }
        }
        Ok(())
    }

    fn follow(&mut self, file: &Arc<File>, item: OutlineItem, cause: Arc<str>, distance: u32, otherwise: Option<Use>) {
        if self.seen.insert((file.path.clone(), item.name_span.start)) {
            self.next.push(Step { found: ResolvedItem { file: file.clone(), item }, cause, distance, otherwise });
        }
    }

    /// A constructor or special method is called through its class, without its own name.
    fn follow_implied(&mut self, file: &Arc<File>, item: &OutlineItem, cause: &Arc<str>, distance: u32) {
        let is_implied = matches!(item.name.as_str(), "constructor" | "__construct")
            || item.name.len() > 4 && item.name.starts_with("__") && item.name.ends_with("__");
        if is_implied {
            let around = file.outline().enclosing(item.name_span.start);
            let container = around.iter().rev().find(|it| it.name_span != item.name_span);
            if let Some(container) = container {
                self.follow(file, (*container).clone(), cause.clone(), distance, None);
            }
        }
    }

    /// Reports a test, which is one by its declaration or by its file.
    fn report(&mut self, it: &Use, test: Option<&OutlineItem>) {
        let (file, span) = &it.at;
        let anchor = test.map_or(usize::MAX, |it| it.name_span.start);
        if !self.reported.insert((file.path.clone(), anchor)) {
            return;
        }
        let place = file.lines().place(&file.path, *span);
        let at = Affected {
            build: None,
            text: file.lines().line_text(&file.text, place.line).to_owned(),
            symbol: test.map(|it| symbol_paths::path(&file.path, it)),
            cause: Some(it.cause.to_string()),
            test: true,
            place,
        };
        self.tests.push(Reaching { at, distance: Some(it.distance) });
    }

    fn ended(mut self) -> Tests {
        // These declarations may be tests: their users were not requested.
        for step in std::mem::take(&mut self.next) {
            if let Some(it) = &step.otherwise {
                self.report(it, Some(&step.found.item));
            }
        }
        let mut found = self.tests;
        let order = |it: &Reaching| (it.distance, it.at.place.file.clone(), it.at.place.start);
        found.sort_by_cached_key(order);
        let is_cut = self.is_cut || found.len() > MAX_TESTS;
        found.truncate(MAX_TESTS);
        let unanswered = self.unanswered.map(|it| format!("who names `{it}` was not told, so there may be more"));
        let cut = if found.is_empty() { Reaching::NONE_NEAR } else { "there may be more: these are the nearest" };
        let lack = if is_cut { Some(cut.to_owned()) } else { unanswered };
        Tests { found, lack }
    }
}

/// Whether a test runner may call a declaration. It calls no field or variable.
fn is_callable(item: &OutlineItem) -> bool {
    matches!(item.kind, SymbolKind::Function | SymbolKind::Method)
}

/// The declarations around each use. Imports and documentation lead to no test.
fn placed(queries: &ServerQueries, mut uses: Vec<Use>) -> Vec<Placed> {
    uses.sort_by(|a, b| (&a.at.0.path, a.at.1).cmp(&(&b.at.0.path, b.at.1)));
    let mut placed = Vec::with_capacity(uses.len());
    for group in uses.chunk_by(|a, b| a.at.0.path == b.at.0.path) {
        let Some(Use { at: (file, _), .. }) = group.first() else { continue };
        let code = queries.code(file);
        let in_tests = symbol_paths::is_test_file(&file.path);
        for it in group {
            let span = it.at.1;
            if code.word(span).is_some_and(|it| matches!(it.role, Role::Import | Role::Doc)) {
                continue;
            }
            let around = file.outline().enclosing(span.start);
            let test = around.iter().find(|it| it.test).map(|it| (*it).clone());
            let holder = around.iter().rev().find(|it| !it.name_span.contains(span.start)).map(|it| (*it).clone());
            placed.push(Placed { it: it.clone(), test, holder, in_tests });
        }
    }
    placed
}
