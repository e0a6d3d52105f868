//! The engine for all other languages: language servers from a table ([`table`]), and tree-sitter grammars for answers
//! from the text alone.
//!
//! A server is started on demand, supervised, and ended when it is idle ([`supervisor`]). It is sent every change in
//! the order of the revisions ([`document_sync`]). Its answers are used only if they fit the texts of the requested
//! revision ([`queries`], [`usages`]). The coverage of an answer names what the server cannot answer.

mod affected_files;
mod capabilities;
mod changed_declarations;
mod code_actions;
mod diagnostics;
mod diagnostics_cache;
mod document_sync;
mod edits;
mod environment;
mod fallback;
mod fixes;
#[cfg(test)]
mod fuzz;
mod grammar;
mod impact;
mod import_graph;
mod index_probe;
mod initialize;
mod internal_errors;
mod origin;
mod overview;
mod program;
mod pushed_diagnostics;
mod queries;
mod reaching_tests;
mod readiness;
mod reference_counts;
mod relations;
mod session;
mod supervisor;
mod symbol_lookup;
mod symbol_paths;
mod table;
mod tags;
mod test_output;
mod unindexed;
mod usages;
mod verify_commands;
mod view;
mod wire;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::session::Session;
use self::table::{Row, Service};
use self::view::LspView;
use self::wire::Root;
use semdex_config::{LanguageKeys, Settings};
use semdex_engine::files::Files;
use semdex_engine::links::{self, Link};
use semdex_engine::verify::{Job, Planned};
use semdex_engine::{
    Applied, Backoff, Engine, EngineKind, FileChange, Handle, Readiness, ReferencedFiles, Requirement, Setup, Site,
    Trial, View, panic_message, unknown_until_loaded,
};
use semdex_model::{LanguageId, Missing, MissingCode};

/// The time limit of a shutdown.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(5);

/// The servers of the table, overridden by the configuration. `taken`: languages of other engines.
pub fn kinds(configured: &BTreeMap<String, LanguageKeys>, taken: &[LanguageId]) -> Vec<Arc<dyn EngineKind>> {
    let is_free = |it: &Service| !it.languages.iter().any(|it| taken.contains(it));
    let kind = |it: Service| Arc::new(LspKind { service: Arc::new(it) }) as Arc<dyn EngineKind>;
    table::services(configured).into_iter().filter(is_free).map(kind).collect()
}

/// A server that is not started yet.
struct LspKind {
    service: Arc<Service>,
}

impl LspKind {
    /// The same server in the current configuration.
    fn among(&self, configured: &BTreeMap<String, LanguageKeys>) -> Option<Service> {
        let is_same = |it: &Service| it.languages.first() == self.service.languages.first();
        table::services(configured).into_iter().find(is_same)
    }
}

impl EngineKind for LspKind {
    fn name(&self) -> &str {
        self.service.main().map_or("", |it| it.server())
    }

    fn languages(&self) -> &[LanguageId] {
        &self.service.languages
    }

    fn is_on_request(&self) -> bool {
        self.service.main().is_some_and(|it| it.keys.on_request == Some(true))
    }

    fn misses_link(&self, link: &Link, files: &Files) -> bool {
        is_for_code(link, files)
    }

    fn reader_of(&self, file: &str) -> Option<&str> {
        self.service.is_manifest(file).then(|| self.name())
    }

    fn requirements(&self, site: &Site<'_>) -> Vec<Requirement> {
        let found = |row: &Row| program::find_named(row.keys.command.as_ref()?.first()?, site.root, site.trusted);
        let of = |row: &Row| Requirement {
            name: row.server().to_owned(),
            found: found(row).map(|it| it.display().to_string()),
            // For a secondary language, the outline may be sufficient.
            is_needed: site.is_main,
            install: row.install(),
            without: "answers come from the text and its outline alone, and say so",
        };
        self.service.main().map(of).into_iter().collect()
    }

    fn lost_without_trust(&self) -> Option<String> {
        let row = self.service.main()?;
        let why = match &row.keys {
            keys if keys.runs_code == Some(true) => "it runs code of the workspace",
            keys if keys.command.is_none() => "the workspace's own configuration names it",
            _ => return None,
        };
        let titles = self.service.rows.iter().map(Row::title).collect::<Vec<_>>().join(" and ");
        Some(format!("{} is not started, since {why}: answers about {titles} come from the text alone", row.server()))
    }

    fn depends_on(&self, before: &Settings, after: &Settings) -> bool {
        self.among(&before.languages) != self.among(&after.languages)
    }

    fn verify<'j>(&self, job: &'j Job) -> Option<Box<dyn Planned + 'j>> {
        let now = self.among(&job.settings.languages);
        let language = *self.service.languages.first()?;
        let rows = now.as_ref().map_or(&self.service.rows, |it| &it.rows);
        self.is_needed(&job.files).then(|| verify_commands::plan(rows, language, job))?
    }

    fn start(&self, setup: Setup) -> Result<Box<dyn Engine>, Missing> {
        // The trust may have changed since the table was read.
        let service = self.among(&setup.settings.languages).map_or_else(|| self.service.clone(), Arc::new);
        let (Some(row), Some(&language)) = (service.main().cloned(), service.languages.first()) else {
            return Err(Missing::new(MissingCode::Unsupported, "languages", "a language without a name"));
        };
        let root = Root::new(setup.root);
        let session = Arc::new(Session::new(service, language, row, root, setup.trusted, setup.files));
        let stop = CancellationToken::new();
        let supervisor = setup.runtime.spawn(persist(session.clone(), stop.clone()));
        let supervisor = Arc::new(tokio::sync::Mutex::new(Some(supervisor)));
        Ok(Box::new(LspEngine { session, stop: Arc::new(Stopper(stop)), supervisor, links: None }))
    }
}

/// Whether code may refer to the target by this link. A link in a virtual environment, such as `lib64`, belongs to the
/// environment.
fn is_for_code(link: &Link, files: &Files) -> bool {
    let Some((directory, _)) = link.name.rsplit_once('/') else { return true };
    files.get(&format!("{directory}/pyvenv.cfg")).is_none()
}

/// Runs the supervisor, and restarts it with growing pauses after a panic.
async fn persist(session: Arc<Session>, stop: CancellationToken) {
    let mut retries = Backoff::default();
    while let Err(panic) = AssertUnwindSafe(supervisor::run(session.clone(), stop.clone())).catch_unwind().await {
        let pause = retries.failed();
        let server = session.row.server();
        tracing::error!(server, panic = panic_message(&*panic), ?pause, "the supervisor of a language server panicked");
        supervisor::after_panic(&session);
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stop.cancelled() => return,
        }
    }
}

/// Stops the supervisor, and with it the server, when the last handle is dropped.
struct Stopper(CancellationToken);

impl Drop for Stopper {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[derive(Clone)]
struct LspEngine {
    session: Arc<Session>,
    stop: Arc<Stopper>,
    supervisor: Arc<tokio::sync::Mutex<Option<JoinHandle<()>>>>,
    /// Links within the root of which the server was last notified. `None` before the first notification.
    links: Option<Vec<Link>>,
}

impl LspEngine {
    /// The links through which the server may read code.
    fn read_by<'l>(&self, links: &'l [Link], files: &Files) -> Vec<&'l Link> {
        let languages = &self.session.service.languages;
        let reads = |it: &&Link| it.leads_to_code(files, languages) && is_for_code(it, files);
        links.iter().filter(reads).collect()
    }

    /// Ends the server: first by a shutdown request, then by force. Bounded in time.
    async fn shutdown(self) {
        self.stop.0.cancel();
        if let Some(supervisor) = self.supervisor.lock().await.take() {
            // Dropping the task kills the server if it has not ended by then.
            let abort = supervisor.abort_handle();
            if tokio::time::timeout(SHUTDOWN_LIMIT, supervisor).await.is_err() {
                abort.abort();
            }
        }
    }
}

impl Engine for LspEngine {
    fn handle(&self) -> Handle {
        let engine = self.clone();
        Handle {
            status: self.session.status.subscribe(),
            // A query starts the server and waits for it.
            reached: Arc::new(|_| futures::future::ready(()).boxed()),
            close: Arc::new(move || engine.clone().shutdown().boxed()),
        }
    }

    fn readiness(&self) -> Readiness {
        Readiness::Settled
    }

    fn view(&self, files: Arc<Files>) -> Box<dyn View> {
        let generation = {
            let documents = self.session.documents();
            document_sync::are_same(documents.files(), &files).then(|| documents.generation())
        };
        Box::new(LspView { session: self.session.clone(), files, generation })
    }

    fn apply(&mut self, change: Applied<'_>) {
        let mut changes: Vec<FileChange> = change.edits.iter().map(FileChange::from).collect();
        // A server that has read a file through a link expects changes under the link's name.
        let links = self.links.as_deref().unwrap_or_default();
        changes.extend(links::by_other_names(links, &changes, change.files));
        self.session.feed(change.files.clone(), &changes, change.is_on_disk);
    }

    fn unknown_before_load(&self, trial: &Trial<'_>) -> Option<Missing> {
        let service = &self.session.service;
        let has_code = |files: &Files| service.languages.iter().any(|it| files.of(*it).next().is_some());
        if !has_code(trial.before) && !has_code(trial.after) {
            return None;
        }
        let edit = trial.edits.iter().find(|it| it.old != it.new && service.is_configuration(&it.file))?;
        let why = format!("may be read by {} as its configuration", self.session.row.server());
        Some(unknown_until_loaded(MissingCode::Unsupported, &edit.file, &why))
    }

    /// Restarts the server if links appear or disappear, since it has read files through them.
    fn set_referenced_files(&mut self, named: &ReferencedFiles) {
        let files = self.session.documents().files().clone();
        let before = self.links.replace(named.links.clone());
        if before.is_some_and(|it| self.read_by(&it, &files) != self.read_by(&named.links, &files)) {
            self.session.restart();
        }
    }

    fn check_environment(&mut self, files: &Arc<Files>) -> bool {
        self.session.check_environment(files)
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        self.shutdown().boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::{Link, is_for_code};
    use semdex_engine::files::{File, Files};

    #[test]
    fn a_link_of_a_virtual_environment_is_not_for_code() {
        let link = |name: &str| Link { name: name.to_owned(), target: ".venv/lib".to_owned() };
        let mut files = Files::default();
        assert!(is_for_code(&link(".venv/lib64"), &files));
        files.insert(std::sync::Arc::new(File::new(None, ".venv/pyvenv.cfg", "")));
        assert!(!is_for_code(&link(".venv/lib64"), &files));
        assert!(is_for_code(&link("lib64"), &files) && is_for_code(&link("src/lib"), &files));
    }
}
