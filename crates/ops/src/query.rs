//! Runs queries against a workspace: on a fresh view, again after a change in between, with a deadline over all
//! attempts.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::client::Client;
use super::unanalysed_files::{lack_of_workspace, no_symbols};
use semdex_contract::budget::{Listing, positions};
use semdex_contract::{Common, check_query};
use semdex_engine::files::{File, Files};
use semdex_engine::{Condition, Deadlines, EngineStatus, Progress, Readiness, Stop, View, blocking, links, unindexed};
use semdex_model::{
    Answer, Candidate, Code, Coverage, Error, LanguageId, Meta, Missing, MissingCode, Result, Span, SymbolQuery, Window,
};
use semdex_text::words::{occurrences, words};
use semdex_workspace::timing::{self, Part};
use semdex_workspace::{Needs, RequestKey, Workspace, WorkspaceStatus};

/// The default wait of a query that needs the index.
const WAIT_FOR_INDEX: Duration = Duration::from_secs(10);
/// How long an engine may compute beyond the wait. Then it returns what it has.
const COMPUTING: Duration = Duration::from_secs(2);
/// After this additional time the query fails.
const GRACE: Duration = Duration::from_secs(2);
/// The pauses between looks at what engines read in the background: the first one, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];
/// How often a query is repeated at once where a change came in between. Then it waits a little longer each time, up to
/// its deadline.
const AT_ONCE: usize = 5;

/// The common options of a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RequestOptions {
    /// When the request arrived. All waits count from here.
    pub begun: Instant,
    pub min_revision: Option<u64>,
    /// How long the answer may wait for what it needs. None: the default of the call.
    pub wait: Option<Duration>,
    pub cursor: Option<String>,
    pub limit: Option<usize>,
    /// The name that the client gives itself.
    pub client: Option<String>,
    /// Its idempotency key.
    pub request_key: Option<RequestKey>,
    /// The name by which the client is known from one request to the next.
    pub session: Option<String>,
    /// Whether symbolic links that may hide files make every answer incomplete.
    pub links: bool,
    /// See `Needs::least`.
    pub least: Readiness,
}

/// An answer with its metadata.
#[derive(Debug, Clone)]
pub(crate) struct WithMeta<T> {
    pub value: T,
    pub meta: Meta,
    /// The texts that the answer describes.
    pub files: Arc<Files>,
}

impl RequestOptions {
    /// The options of a request of this client.
    pub(super) fn new(common: &Common, client: Client) -> Result<RequestOptions> {
        let Common { min_revision, cursor, limit, .. } = common.clone();
        Ok(RequestOptions {
            begun: Instant::now(),
            min_revision,
            wait: common.wait()?,
            cursor,
            limit,
            client: client.name,
            request_key: client.request_key,
            session: client.session,
            links: true,
            least: Readiness::Settled,
        })
    }

    /// The same for a question about a symbol. An answer that a package which is still being built cannot change is
    /// complete without it. What is computed before anything is built is kept for the answer that follows.
    pub(super) fn early(&self) -> RequestOptions {
        RequestOptions { least: Readiness::Unbuilt, ..self.clone() }
    }

    pub(super) fn needs(&self, language: Option<LanguageId>, index: bool) -> Needs {
        let default = if index { WAIT_FOR_INDEX } else { Duration::ZERO };
        let deadline = self.begun + self.wait.unwrap_or(default);
        Needs {
            language,
            index,
            links: self.links,
            all_files: false,
            least: self.least,
            min_revision: self.min_revision,
            deadline,
            background: self.wait.is_some(),
        }
    }

    /// The same for an answer about all files of a language.
    pub(super) fn needs_all(&self, language: LanguageId) -> Needs {
        Needs { all_files: true, ..self.needs(Some(language), true) }
    }

    /// The requested page of a list.
    pub(super) fn page<T>(&self, items: Vec<T>, default_limit: usize) -> Result<Listing<T>> {
        let window = self.window(default_limit)?;
        let mut list = Listing::after(window.from, items);
        list.limit(window.limit);
        list.part.asked_for(self.limit);
        Ok(list)
    }

    pub(super) fn window(&self, default_limit: usize) -> Result<Window> {
        let [from] = positions(self.cursor.as_deref())?;
        Ok(Window { from, limit: self.limit.unwrap_or(default_limit) })
    }
}

/// One revision, with the view of the engine if one was requested and is available.
pub(super) struct QueryInput {
    pub(super) view: Option<Box<dyn View>>,
    pub(super) files: Arc<Files>,
    pub(super) deadlines: Deadlines,
}

/// The deadlines of a query: the wait, and a short time for computing.
pub(super) fn deadlines(needs: Needs) -> Deadlines {
    Deadlines { ready: needs.deadline, answer: needs.deadline.max(Instant::now()) + COMPUTING }
}

/// Runs a query, and repeats it while changes come in between. `memo` is the key under which the answer is cached.
pub(super) async fn run_query<T, F>(
    workspace: &Workspace,
    needs: Needs,
    memo: Option<String>,
    question: impl Fn(QueryInput) -> F,
) -> Result<WithMeta<T>>
where
    T: Clone + Send + Sync + 'static,
    F: Future<Output = semdex_engine::Result<Answer<T>>>,
{
    let mut so_far = None;
    let answer = repeat_query(workspace, needs, memo, question, &mut so_far).await;
    // A change or a load that takes too long afterwards does not withhold what was known.
    let is_late = |it: &Error| matches!(it.code, Code::NotReady | Code::Timeout | Code::Busy);
    match (answer, so_far) {
        (Err(error), Some(so_far)) if is_late(&error) => Ok(so_far),
        (answer, _) => answer,
    }
}

/// `so_far`: the last answer that misses what an engine is reading, while the query waits for that.
async fn repeat_query<T, F>(
    workspace: &Workspace,
    mut needs: Needs,
    memo: Option<String>,
    question: impl Fn(QueryInput) -> F,
    so_far: &mut Option<WithMeta<T>>,
) -> Result<WithMeta<T>>
where
    T: Clone + Send + Sync + 'static,
    F: Future<Output = semdex_engine::Result<Answer<T>>>,
{
    let deadlines = deadlines(needs);
    let last = deadlines.answer + GRACE;
    let mut coverage = Coverage::default();
    let [mut pause, longest] = PAUSES;
    let mut attempts = 0;
    let mut stale_pause = Duration::from_millis(5);
    loop {
        let Ok(snapshot) = tokio::time::timeout_at(last.into(), workspace.snapshot(needs)).await else {
            let detail = "the workspace was busy with a change or a load for too long: ask again";
            let meta = workspace.meta(needs.language, workspace.status().revision, Coverage::default());
            return Err(Error::new(Code::NotReady, detail).in_workspace(meta));
        };
        let snapshot = snapshot?;
        let (revision, readiness, settled) = (snapshot.revision, snapshot.readiness, snapshot.is_settled());
        if let Some(lack) = snapshot.lacks {
            coverage.lacks(lack.clone());
            if needs.index {
                let meta = workspace.meta(needs.language, revision, coverage);
                return Err(Error::new(Code::NotReady, lack.detail).in_workspace(meta));
            }
        }
        let by_links = links::missing(&snapshot.links).filter(|_| needs.links);
        let of_language = |language| unindexed::missing_of_language(&snapshot.files, language);
        let untexted: Vec<Missing> = needs.language.map(of_language).unwrap_or_default();
        let of_all = untexted.iter().filter(|_| needs.all_files).cloned();
        let unseen = snapshot.unindexed_names.into_iter().chain(snapshot.unread).chain(by_links).chain(of_all);
        let unseen: Vec<Missing> = unseen.filter(|_| needs.index).collect();
        unseen.iter().for_each(|it| coverage.lacks(it.clone()));
        // The output of the workspace's build scripts and macros may or may not be available at the same revision.
        let memo = memo.as_ref().filter(|_| settled).map(|it| format!("{it} {}", snapshot.trusted));
        if let Some(answer) = memo.as_ref().and_then(|it| workspace.answers().answer(it, revision)) {
            coverage.absorb(answer.coverage);
            let meta = workspace.meta(needs.language, revision, coverage);
            return Ok(WithMeta { value: answer.value, meta, files: snapshot.files });
        }
        // A name that is not found may be in a file that no engine analyses.
        let is_unserved = needs.language.is_some() && snapshot.view.is_none();
        let unserved = if is_unserved { lack_of_workspace(workspace, &snapshot.files) } else { None };
        let files = snapshot.files.clone();
        let input = QueryInput { view: snapshot.view, files: snapshot.files, deadlines };
        let late = |_| {
            // What is still being built takes the time, however little is asked.
            let is_busy = !settled || workspace.status().progress.is_some();
            let detail = match !is_busy {
                true => "the engine did not answer in time: ask again, or ask for less".to_owned(),
                false => format!("the engine did not answer in time: {}", being_loaded(workspace)),
            };
            Error::new(Code::Timeout, detail)
        };
        let failed = |error: Error| {
            let mut coverage = coverage_of(workspace, needs.language, settled, &error);
            unseen.iter().for_each(|it| coverage.lacks(it.clone()));
            unserved.iter().chain(&untexted).filter(|_| is_miss(&error)).for_each(|it| coverage.lacks(it.clone()));
            error.in_workspace(workspace.meta(needs.language, revision, coverage))
        };
        let answer = timing::during(Part::Engine, tokio::time::timeout_at(last.into(), question(input))).await;
        let answer = answer.map_err(late).map_err(failed)?;
        let is_early = !settled && readiness >= needs.least && Instant::now() < needs.deadline;
        let is_lacking = !matches!(&answer, Err(Stop::Stale)) && !answer.as_ref().is_ok_and(|it| it.coverage.complete);
        if is_early && is_lacking {
            needs.least = readiness.next();
            coverage = Coverage::default();
            continue;
        }
        if needs.background && is_being_read(&answer) && Instant::now() + pause < needs.deadline {
            if let Ok(Answer { value, coverage: of_answer }) = answer {
                coverage.absorb(of_answer);
                let meta = workspace.meta(needs.language, revision, coverage);
                *so_far = Some(WithMeta { value, meta, files });
            }
            coverage = Coverage::default();
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(longest);
            continue;
        }
        match answer {
            Ok(answer) => {
                let is_lasting = !answer.coverage.missing.iter().any(|it| it.code.passes());
                if let Some(memo) = memo.filter(|_| is_lasting) {
                    workspace.answers().keep(memo, revision, &answer);
                }
                coverage.absorb(answer.coverage);
                let meta = workspace.meta(needs.language, revision, coverage);
                return Ok(WithMeta { value: answer.value, meta, files });
            }
            Err(Stop::Failed(error)) => return Err(failed(error)),
            Err(Stop::Stale) => {
                workspace.telemetry().stale_retries.up();
                attempts += 1;
                if Instant::now() >= last {
                    let detail = format!(
                        "the workspace changed {attempts} times while this was answered: ask again when it is quieter"
                    );
                    return Err(Error::new(Code::Busy, detail));
                }
                if attempts > AT_ONCE {
                    tokio::time::sleep(stale_pause).await;
                    stale_pause = (2 * stale_pause).min(longest);
                }
            }
        }
    }
}

/// Whether an engine is reading what the answer misses.
fn is_being_read<T>(answer: &semdex_engine::Result<Answer<T>>) -> bool {
    match answer {
        Ok(answer) => answer.coverage.missing.iter().any(|it| it.is_being_read),
        Err(Stop::Failed(error)) => error.code == Code::NotReady,
        Err(Stop::Stale) => false,
    }
}

/// The coverage of an error: if not everything is loaded, a name that is not found may still exist.
fn coverage_of(workspace: &Workspace, language: Option<LanguageId>, is_settled: bool, error: &Error) -> Coverage {
    let mut coverage = Coverage::default();
    let lack = match error.code {
        Code::Timeout => Some(MissingCode::Timeout),
        Code::NotReady => Some(MissingCode::Indexing),
        Code::EngineUnavailable => Some(MissingCode::EngineDown),
        _ => None,
    };
    if let Some(code) = lack {
        coverage.lacks(Missing::new(code, "engine", error.detail.as_str()));
    }
    let Some(language) = language else { return coverage };
    let engines = workspace.status().engines;
    for missing in engines.into_iter().filter(|it| workspace.serves(it, language)).flat_map(|it| it.missing) {
        if is_miss(error) { coverage.lacks(missing) } else { coverage.note(missing) }
    }
    let tells_why = |it: &Missing| {
        matches!(
            it.code,
            MissingCode::Indexing
                | MissingCode::EngineDown
                | MissingCode::EngineMissing
                | MissingCode::EngineRestarting
        )
    };
    if !is_settled && !coverage.missing.iter().any(tells_why) {
        coverage.lacks(Missing::new(MissingCode::Indexing, language.name, being_loaded(workspace)));
    }
    coverage
}

/// What is being built, and how far it is.
fn being_loaded(workspace: &Workspace) -> String {
    let stage = match workspace.status().progress {
        Some(Progress { stage, done, total: total @ 1.. }) => format!(" ({stage}: {done} of {total})"),
        Some(Progress { stage, .. }) => format!(" ({stage})"),
        None => String::new(),
    };
    format!("not all of the workspace is loaded{stage}: ask again, or give a longer `wait_ms`")
}

/// How many places a late answer names instead.
const CANDIDATES: usize = 20;

/// A late answer, or one that waits for the workspace, with the places whose text has the name: all that is known.
pub(super) async fn with_candidates(
    workspace: &Workspace,
    options: &RequestOptions,
    symbol: &str,
    mut error: Error,
) -> Error {
    let Some(name) = words(symbol).last().map(|it| it.1.to_owned()) else { return error };
    let is_late = matches!(error.code, Code::Timeout | Code::NotReady) && error.help.candidates.is_empty();
    let snapshot = if is_late { workspace.snapshot(options.needs(None, false)).await.ok() } else { None };
    let Some(files) = snapshot.map(|it| it.files) else { return error };
    let found = tokio::task::spawn_blocking(move || {
        let of_file = |file: &Arc<File>| -> Vec<Candidate> {
            let at = occurrences(&file.text, &name).map(|at| Span::new(at, at + name.len()));
            let places = at.map(|it| file.lines().place(&file.path, it));
            let text = |line| file.lines().line_text(&file.text, line).to_owned();
            places.map(|place| Candidate { text: text(place.line), place, score: 100.0 }).take(CANDIDATES).collect()
        };
        files.iter().filter(|it| it.language.is_some()).flat_map(of_file).take(CANDIDATES).collect::<Vec<_>>()
    });
    error.help.candidates = found.await.unwrap_or_default();
    error
}

/// Whether an error means that something does not exist.
pub(super) fn is_miss(error: &Error) -> bool {
    matches!(error.code, Code::UnknownSymbol | Code::UnknownPackage)
}

/// Turns "unknown" into `not_ready` while the workspace is loading, because the symbol may still be found.
pub(super) fn unless_loading(mut error: Error) -> Error {
    let coming = |it: &Missing| matches!(it.code, MissingCode::Indexing | MissingCode::EngineRestarting);
    let is_loading = error.meta().is_some_and(|it| it.coverage.missing.iter().any(coming));
    if is_miss(&error) && is_loading {
        error.code = Code::NotReady;
        error.detail = format!("not all of the workspace is loaded, so this is not certain: {}", error.detail);
    }
    error
}

/// Merges the "unknown" errors of several languages, with the coverage of all of them.
pub(super) fn join_misses(first: &mut Option<Error>, other: Error, symbol: &str) {
    let Some(first) = first else { return *first = Some(other) };
    first.absorb(other.meta());
    let are_symbols = first.code == Code::UnknownSymbol && other.code == Code::UnknownSymbol;
    let says_more = first.detail != other.detail;
    first.help.suggestions.extend(other.help.suggestions);
    if are_symbols && says_more {
        // Each error says only that its own language has no such symbol.
        let near = first.help.suggestions.first().map(|it| format!(": did you mean `{it}`?")).unwrap_or_default();
        first.detail = format!("there is no symbol `{symbol}`{near}");
    }
}

/// The languages that a symbol's name may belong to: by its file or by its form, otherwise all languages of the
/// workspace.
pub(super) async fn languages_of(
    workspace: &Workspace,
    options: &RequestOptions,
    query: &SymbolQuery,
) -> Result<Vec<LanguageId>> {
    let all = workspace.languages();
    if let Some(language) = query.file.as_deref().and_then(|it| all.of(it)) {
        return Ok(vec![language]);
    }
    if workspace.status().languages.is_empty() {
        // Engines start after the files of the workspace are read.
        workspace.snapshot(options.needs(None, false)).await?;
    }
    let WorkspaceStatus { engines, languages: open, .. } = workspace.status();
    for name in [Some(query.symbol.as_str()), query.package.as_deref()].into_iter().flatten() {
        let fitting: Vec<LanguageId> = all.iter().filter(|it| it.syntax.is_path(name)).collect();
        // An engine of several languages is asked once, in the name of its first one.
        let serves = |it: &&EngineStatus| fitting.iter().any(|language| workspace.serves(it, *language));
        let served: Vec<LanguageId> = engines.iter().filter(serves).map(|it| it.language).collect();
        if !served.is_empty() {
            return Ok(served);
        }
        if !fitting.is_empty() {
            return Ok(fitting);
        }
    }
    if open.is_empty() {
        // Any language gives the answer that there is nothing.
        return Ok(all.iter().take(1).collect());
    }
    let last = words(&query.symbol).last().map_or("", |it| it.1).to_owned();
    by_bare_name(workspace, options, open, move |name| name == last).await
}

/// The languages that are queried if the name does not determine the language. A language whose engine starts on demand
/// is included only if the text of a file declares such a name, or if there are no others.
pub(super) async fn by_bare_name(
    workspace: &Workspace,
    options: &RequestOptions,
    languages: Vec<LanguageId>,
    is_meant: impl Fn(&str) -> bool + Send + Sync + 'static,
) -> Result<Vec<LanguageId>> {
    let is_on_request = |it: &LanguageId| workspace.registry().kind_of(*it).is_some_and(|it| it.is_on_request());
    let (on_request, mut asked): (Vec<LanguageId>, Vec<LanguageId>) =
        languages.iter().copied().partition(is_on_request);
    if asked.is_empty() || on_request.is_empty() {
        return Ok(languages);
    }
    let is_meant = Arc::new(is_meant);
    let declaring = run_query(workspace, options.needs(None, false), None, |it| {
        let (files, on_request, is_meant) = (it.files, on_request.clone(), is_meant.clone());
        blocking(move || {
            let declares = |language: &LanguageId| {
                files.of(*language).any(|file| {
                    let mut is_declared = false;
                    file.outline().walk(&mut |it| is_declared |= is_meant(&it.name));
                    is_declared
                })
            };
            Ok(Answer::whole(on_request.into_iter().filter(declares).collect::<Vec<_>>()))
        })
    });
    asked.extend(declaring.await?.value);
    Ok(asked)
}

/// Runs a query about a symbol in each language that its name may belong to, and returns the answer of the language
/// that knows it. An "unknown" error is not final: a caller without a further query reports it through
/// [`unless_loading`].
pub(super) async fn query_by_name<T, F>(
    workspace: &Workspace,
    options: &RequestOptions,
    verb: &str,
    query: &SymbolQuery,
    question: impl Fn(Box<dyn View>, SymbolQuery, Deadlines) -> F,
) -> Result<WithMeta<T>>
where
    T: Clone + Send + Sync + 'static,
    F: Future<Output = semdex_engine::Result<Answer<T>>>,
{
    check_query(query)?;
    let mut first_miss: Option<Error> = None;
    let mut first_failure: Option<Error> = None;
    let mut found: Vec<(LanguageId, WithMeta<T>)> = Vec::new();
    let query = &located(workspace, query)?;
    let mut languages = languages_of(workspace, options, query).await?;
    let question = &question;
    let mut next = 0;
    while next < languages.len() {
        let these = languages.split_off(next);
        // Concurrently, so that a slow language does not use up the time of all languages.
        let answers = futures::future::join_all(these.iter().map(|&language| {
            let memo = Some(format!("{verb} {} {query:?} {:?} {:?}", language.name, options.cursor, options.limit));
            run_query(workspace, options.needs(Some(language), true), memo, move |input| {
                let question = input.view.map(|view| question(view, query.clone(), input.deadlines));
                let question = question.ok_or_else(|| no_symbols(workspace, &input.files, language));
                async move { question?.await }
            })
        }));
        for (language, answer) in these.iter().zip(answers.await) {
            match answer {
                Ok(reply) => found.push((*language, reply)),
                Err(error) if is_miss(&error) => join_misses(&mut first_miss, error, &query.symbol),
                // Another engine may know what this one could not answer.
                Err(error) => first_failure = first_failure.or(Some(error)),
            }
        }
        languages.extend(these);
        next = languages.len();
        // The first file of a language may have appeared during the query.
        if found.is_empty() {
            let now = languages_of(workspace, options, query).await?;
            languages.extend(now.into_iter().filter(|it| !languages.contains(it)).collect::<Vec<_>>());
        }
    }
    match (found.len(), first_failure.or(first_miss)) {
        (0, Some(error)) => Err(error),
        (0, None) => Err(Error::new(Code::UnknownSymbol, format!("there is no symbol `{}`", query.symbol))),
        (1, _) => Ok(found.remove(0).1),
        _ => {
            let titles: Vec<String> = found.iter().map(|it| format!("in {}", it.0.title)).collect();
            let titles = titles.join(" and ");
            let detail = format!("`{}` names something {titles}: give its full path, or `package`", query.symbol);
            Err(Error::new(Code::AmbiguousSymbol, detail))
        }
    }
}

/// Normalises the file of the query. A file of a dependency keeps its absolute path.
pub(super) fn located(workspace: &Workspace, query: &SymbolQuery) -> Result<SymbolQuery> {
    let file = match query.file.as_deref() {
        Some(file) if file.starts_with('/') => Some(workspace.locate(file).unwrap_or_else(|_| file.to_owned())),
        file => file.map(|it| workspace.locate(it)).transpose()?,
    };
    Ok(SymbolQuery { file, ..query.clone() })
}

/// What an answer from the text alone is missing: the index, which is being built, or an engine that is not available.
pub(super) fn not_indexed(workspace: &Workspace, language: LanguageId) -> Missing {
    why_down(workspace, language).unwrap_or_else(|| {
        let detail = "the index is being built: this is what the text alone says; ask again, or give `wait_ms`";
        Missing::new(MissingCode::Indexing, language.name, detail)
    })
}

/// Why the engine of a language is down and does not start on demand. None if it is up or starts.
pub(super) fn why_down(workspace: &Workspace, language: LanguageId) -> Option<Missing> {
    let engines = workspace.status().engines;
    let engine = engines.into_iter().find(|it| workspace.serves(it, language))?;
    let is_gone = matches!(engine.condition, Condition::Missing | Condition::Broken);
    let is_why = |it: &Missing| is_gone || matches!(it.code, MissingCode::EngineDown | MissingCode::EngineRestarting);
    engine.missing.into_iter().find(is_why)
}
