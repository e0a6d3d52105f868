//! The checker: our own program next to gopls that keeps the workspace's Go packages type-checked and immediately
//! computes what an edit would break. It uses Go's own type checker and receives the same changes as gopls, in the same
//! order. A second process of it keeps the further builds.
//!
//! It does not answer where it is not certain: while it loads, for cgo, for an import that is not loaded, and where
//! build constraints or modules change. gopls is asked instead.

mod build;
pub(crate) mod impact;
mod supervisor;
#[cfg(test)]
mod tests;
mod uses;

pub(crate) use self::supervisor::{reset_after_panic, reset_further, run, run_further};
#[cfg(test)]
pub(crate) use self::uses::Uses;
pub(crate) use self::uses::{Wanted, uses, uses_in};

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use gen_lsp_types::{LspNotificationMethod, LspRequestMethod, MessageDirection, Notification, Request};
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, watch};

use super::document_sync;
use super::further_builds::FurtherBuilds;
use super::language::{is_hidden, is_left_out};
use super::modules::{base_name, parent};
use super::session::Session;
use crate::LANGUAGE;
use semdex_engine::files::Files;
use semdex_engine::{FileChange, unpoisoned};
use semdex_lsp_client::{Client, Message, RequestError};
use semdex_model::FileEdit;

/// The connection to the checker.
#[derive(Default)]
pub(crate) struct Checker {
    link: Mutex<Option<Link>>,
    /// Notified after each change that the checker was sent.
    pub fed: Notify,
    /// Whether it has all files and has loaded them.
    pub ready: watch::Sender<bool>,
    /// Whether it will not start before something changes. gopls answers in its place.
    given_up: watch::Sender<bool>,
    /// 0 if it is not running.
    pid: AtomicU32,
}

struct Link {
    client: Client,
    /// It was sent every change since the full set of files.
    in_sync: bool,
    /// It has loaded these files.
    loaded: bool,
}

impl Link {
    fn is_ready(&self) -> bool {
        self.in_sync && self.loaded
    }
}

/// A file's new text; `None` deletes the file.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Edit {
    file: String,
    text: Option<String>,
    /// Whether a build takes it.
    active: bool,
}

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Question {
    /// 0 is the default build, or the first further one.
    pub build: usize,
    pub edits: Vec<Edit>,
    /// Changed manifests, and the directories of the builds that result.
    pub manifests: Vec<Edit>,
    pub folders: Vec<String>,
    /// The milliseconds for a new load because of manifests.
    pub limit: u64,
    /// The symbols whose uses before the edits are needed: `import/path.Type.Member`.
    pub symbols: Vec<String>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Answered {
    /// Why the checker cannot answer.
    unfit: Option<String>,
    pub before: Option<Vec<Fault>>,
    pub after: Option<Vec<Fault>>,
    pub uses: Option<Vec<Option<Vec<Spot>>>>,
    pub tests: Option<Vec<Test>>,
    /// Dependencies that import the workspace and would be broken.
    pub elsewhere: Option<Vec<String>>,
    /// The directories of new modules, of which only what other modules import was checked.
    pub unloaded: Option<Vec<String>>,
    /// Milliseconds in the type checker, and in total.
    pub checked: f64,
    pub answered: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) struct Fault {
    pub file: String,
    pub start: usize,
    pub end: usize,
    pub message: String,
    pub code: Option<String>,
    pub source: String,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Spot {
    pub file: String,
    pub start: usize,
    pub end: usize,
}

/// A test that reaches a change, with the place in the test that leads there.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Test {
    #[serde(flatten)]
    pub place: Spot,
    /// Index of the reached symbol in the question.
    pub of: usize,
    pub distance: u32,
}

enum ImpactCall {}

impl Request for ImpactCall {
    type Params = Question;
    type Result = Answered;
    const METHOD: LspRequestMethod<'static> = LspRequestMethod::new("checker/impact");
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ClientToServer;
}

enum Feed {}

impl Notification for Feed {
    type Params = Fed;
    const METHOD: LspNotificationMethod<'static> = LspNotificationMethod::new("checker/feed");
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ClientToServer;
}

#[derive(Debug, Serialize, Deserialize)]
struct Fed {
    edits: Vec<Edit>,
}

impl Checker {
    fn link(&self) -> MutexGuard<'_, Option<Link>> {
        unpoisoned::lock(&self.link)
    }

    /// Sends a change while the lock of the documents is held, so that changes arrive in order.
    pub(crate) fn feed(&self, files: &Files, changes: &[&FileChange], takes: impl Fn(&str, &str) -> bool) {
        let manifests = changes.iter().any(|it| !LANGUAGE.takes(&it.path));
        self.alter(|held| {
            let Some(link) = held.as_mut().filter(|it| it.in_sync) else { return };
            let edit = |change: &&FileChange| {
                let file = files.get(&change.path);
                let active = file.is_none_or(|it| is_built(&change.path, &it.text, &takes));
                let text = file.map(|it| it.text.to_string());
                (change.path.clone(), Edit { file: change.path.clone(), text, active })
            };
            let edits: BTreeMap<String, Edit> = changes.iter().map(edit).collect();
            // A manifest or an assembly file may change which packages are built, and how.
            let slot = if manifests { None } else { link.client.try_slot() };
            match slot {
                Some(slot) => {
                    let edits = edits.into_values().collect();
                    slot.notify(&[Message::notification::<Feed>(&Fed { edits })]);
                }
                None => {
                    link.in_sync = false;
                    self.give_up(false);
                }
            }
        });
        self.fed.notify_one();
    }

    /// Its data is no longer complete; it loads everything again.
    pub(crate) fn request_reload(&self) {
        self.alter(|held| held.iter_mut().for_each(|it| it.in_sync = false));
        if self.link().is_some() {
            self.give_up(false);
        }
        self.fed.notify_one();
    }

    fn enter(&self, link: Option<Link>, pid: Option<u32>) {
        self.pid.store(pid.unwrap_or_default(), Ordering::Relaxed);
        self.alter(|held| *held = link);
    }

    fn loaded(&self) {
        self.alter(|held| held.iter_mut().for_each(|it| it.loaded = true));
    }

    fn unfit(&self) {
        self.alter(|held| held.iter_mut().for_each(|it| it.in_sync = false));
        self.fed.notify_one();
    }

    fn alter(&self, how: impl FnOnce(&mut Option<Link>)) {
        let mut link = self.link();
        how(&mut link);
        self.ready.send_replace(link.as_ref().is_some_and(Link::is_ready));
    }

    /// Disables the checker.
    #[cfg(test)]
    pub(crate) fn enter_nothing(&self) {
        self.enter(None, None);
    }

    /// Whether it can answer queries.
    pub(crate) fn is_ready(&self) -> bool {
        self.link().as_ref().is_some_and(Link::is_ready)
    }

    fn give_up(&self, is_given_up: bool) {
        self.given_up.send_replace(is_given_up);
    }

    pub(crate) fn is_given_up(&self) -> bool {
        *self.given_up.borrow()
    }

    /// Resolves when it can answer queries, or will not start.
    pub(crate) async fn settled(&self) {
        let (mut ready, mut given_up) = (self.ready.subscribe(), self.given_up.subscribe());
        tokio::select! {
            _ = ready.wait_for(|it| *it) => {}
            _ = given_up.wait_for(|it| *it) => {}
        }
    }

    /// Its process id, if it is running.
    pub(crate) fn pid(&self) -> Option<u32> {
        Some(self.pid.load(Ordering::Relaxed)).filter(|it| *it != 0)
    }
}

/// Whether the go command reads this file when it builds all packages of a module.
fn is_built(file: &str, text: &str, takes: impl Fn(&str, &str) -> bool) -> bool {
    let is_passed_over = is_hidden(base_name(file)) || parent(file).split('/').any(is_left_out);
    !is_passed_over && takes(file, text)
}

/// The effect of edits on this generation; `None` if the checker cannot compute it.
pub(crate) async fn ask(
    session: &Session,
    files: [&Files; 2],
    edits: &[FileEdit],
    symbols: Vec<String>,
    generation: u64,
    deadline: Instant,
) -> Option<Answered> {
    let context = session.context();
    let question = question(files, edits, symbols, deadline, |file, text| context.takes(file, text));
    let answered = put::<ImpactCall>(session, &session.checker, &question, generation, deadline).await?;
    if let Some(reason) = &answered.unfit {
        tracing::debug!(reason, "the checker cannot answer");
        return None;
    }
    Some(answered)
}

/// The effect of edits in one of the further builds; why, if it cannot be computed.
pub(crate) async fn ask_further(
    session: &Session,
    (builds, number): (&FurtherBuilds, usize),
    files: [&Files; 2],
    edits: &[FileEdit],
    symbols: Vec<String>,
    generation: u64,
    deadline: Instant,
) -> Result<Answered, String> {
    let question = Question { build: number, ..question(files, edits, symbols, deadline, |_, _| true) };
    let answered = put_further::<ImpactCall>(session, builds, &question, generation, deadline).await;
    let answered = answered.ok_or_else(|| "it did not answer".to_owned())?;
    match answered.unfit {
        Some(reason) => Err(reason),
        None => Ok(answered),
    }
}

fn question(
    files: [&Files; 2],
    edits: &[FileEdit],
    symbols: Vec<String>,
    deadline: Instant,
    takes: impl Fn(&str, &str) -> bool,
) -> Question {
    let (mut sent, mut manifests) = (Vec::new(), Vec::new());
    for edit in edits {
        let [before, after] = files.map(|it| it.get(&edit.file));
        let active = after.or(before).is_some_and(|it| is_built(&edit.file, &it.text, &takes));
        let group = if document_sync::is_manifest(&edit.file) { &mut manifests } else { &mut sent };
        group.push(Edit { file: edit.file.clone(), text: edit.new.as_ref().map(|it| it.to_string()), active });
    }
    let folders =
        if manifests.is_empty() { Vec::new() } else { document_sync::folders(files[1]).into_iter().collect() };
    let limit = deadline.saturating_duration_since(Instant::now()).as_millis().try_into().unwrap_or(u64::MAX);
    Question { build: 0, edits: sent, manifests, folders, limit, symbols }
}

/// What else a rename has to change in a build.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Renamed {
    pub build: usize,
    pub name: String,
    pub places: Vec<Name>,
}

/// The place of a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Name {
    pub file: String,
    pub at: usize,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct AlsoRenamed {
    pub places: Vec<Name>,
    /// The files in which the name could not be resolved.
    pub unclear: Vec<String>,
}

enum RenamedCall {}

impl Request for RenamedCall {
    type Params = Renamed;
    type Result = AlsoRenamed;
    const METHOD: LspRequestMethod<'static> = LspRequestMethod::new("checker/renamed");
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ClientToServer;
}

/// `None` if the further builds are not loaded.
pub(crate) async fn renamed(
    session: &Session,
    builds: &FurtherBuilds,
    question: &Renamed,
    generation: u64,
    deadline: Instant,
) -> Option<AlsoRenamed> {
    put_further::<RenamedCall>(session, builds, question, generation, deadline).await
}

async fn put_further<R: Request>(
    session: &Session,
    builds: &FurtherBuilds,
    question: &R::Params,
    generation: u64,
    deadline: Instant,
) -> Option<R::Result> {
    if !session.has_further(builds) {
        return None;
    }
    put::<R>(session, &session.further, question, generation, deadline).await
}

/// Sends a query about this generation.
async fn put<R: Request>(
    session: &Session,
    checker: &Checker,
    question: &R::Params,
    generation: u64,
    deadline: Instant,
) -> Option<R::Result> {
    let client = checker.link().as_ref().filter(|it| it.is_ready())?.client.clone();
    let slot = client.slot(deadline).await.ok()?;
    let answer = {
        // While the lock of the documents is held, so that the query refers to the last state that was sent.
        let documents = session.documents();
        if !checker.is_ready() || documents.generation() != generation {
            return None;
        }
        slot.request::<R>(&[], question)
    };
    match answer.ok()?.before(deadline).await {
        Ok(answered) => Some(answered),
        Err(RequestError::Refused { message, .. }) => {
            tracing::warn!("{message}");
            checker.unfit();
            None
        }
        Err(_) => None,
    }
}
