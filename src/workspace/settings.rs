//! What `semdex.toml` decides, followed while the workspace is open: what was started with other settings is started anew.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::engines::{Lives, Slot};
use super::writer::Writer;
use super::{Needs, Workspace};
use crate::beneath::Look;
use crate::config::Settings;
use crate::lang::registry::Registry;
use crate::model::{Missing, MissingCode};

/// The workspace's own file.
const NAME: &str = "semdex.toml";

/// The file as it was when it was read last.
#[derive(Clone)]
pub(super) struct SettingsFile {
    path: PathBuf,
    seen: Look,
}

impl SettingsFile {
    /// To be made before the file is read.
    pub(super) fn new(root: &Path) -> SettingsFile {
        let path = root.join(NAME);
        SettingsFile { seen: Look::at(&path), path }
    }

    fn may_have_changed(&mut self) -> bool {
        let now = Look::at(&self.path);
        let may_differ = self.seen.may_differ(&now);
        self.seen = now;
        may_differ
    }

    fn is_out_of_date(&self) -> bool {
        self.seen.may_differ(&Look::at(&self.path))
    }
}

impl Workspace {
    /// To be called before a question: which languages there are is decided by the file, which may have changed.
    pub async fn follow_settings(&self) {
        let is_out_of_date = self.inner.published.borrow().settings_file.is_out_of_date();
        if is_out_of_date {
            // Whoever asks next meets what goes wrong here.
            let needs = Needs { language: None, index: false, min_revision: None, deadline: Instant::now() };
            drop(self.snapshot(needs).await);
        }
    }

    /// What counts here now, as far as trust does not decide it.
    pub(super) fn settings(&self) -> Settings {
        let config = &self.inner.config;
        config.settings(self.root(), true).unwrap_or_else(|_| config.user_settings(true))
    }

    /// Whom commits name beside their author.
    pub fn co_author(&self) -> Option<String> {
        self.settings().co_author
    }
}

impl Writer {
    /// Before an answer: the file may say something else by now. What cannot be read or is wrong changes nothing, and is
    /// among what the status misses.
    pub(super) fn follow_settings(&mut self) {
        if !self.settings_file.may_have_changed() {
            return;
        }
        self.publish_settings_file();
        let read = self.config.settings(&self.root, self.trusted);
        let wrong = read.as_ref().err().map(|error| {
            let detail = format!("what counted before its last change still counts: {error}");
            Missing::new(MissingCode::WorkspaceBroken, NAME, detail)
        });
        let known = self.missing.iter().position(|it| it.scope.as_deref() == Some(NAME));
        if known.map(|at| &self.missing[at]) != wrong.as_ref() {
            self.missing.retain(|it| it.scope.as_deref() != Some(NAME));
            self.missing.extend(wrong);
            self.publish();
        }
        if let Some(settings) = read.ok().filter(|it| *it != self.settings) {
            self.take_settings(settings);
        }
    }

    fn take_settings(&mut self, settings: Settings) {
        tracing::info!("semdex.toml has changed");
        let before = std::mem::replace(&mut self.settings, settings);
        let after = self.settings.clone();
        // Which files are read depends on it.
        self.compares_all |= before.max_file_bytes != after.max_file_bytes;
        for at in 0..self.slots.len() {
            if self.slots[at].kind.depends_on(&before, &after) {
                self.discard_engine(at);
                self.slots[at].lives = Lives::default();
            }
        }
        if before.languages != after.languages {
            self.take_registry(self.registry.configured(&after.languages));
        }
        self.start_engines();
        self.note_change_outside();
        self.publish();
    }

    /// Goes on with these engines. Those that there were before are kept.
    fn take_registry(&mut self, registry: Registry) {
        let slots = registry.kinds().iter().cloned().map(Slot::new).collect();
        let before = std::mem::replace(&mut self.slots, slots);
        for slot in before {
            let now = self.slots.iter_mut().find(|it| it.kind.languages().first() == slot.kind.languages().first());
            match now {
                Some(now) => *now = Slot { kind: now.kind.clone(), ..slot },
                None => self.end_engine(slot.engine),
            }
        }
        self.files = Arc::new(self.files.in_languages(registry.languages().clone()));
        self.registry = registry;
        self.feed_engines(&[], true);
    }
}
