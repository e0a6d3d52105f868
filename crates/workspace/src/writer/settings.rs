//! What `semdex.toml` and the user's own file decide, followed while the workspace is open: what was started with other
//! settings is started anew.

use std::sync::Arc;

use super::Writer;
use crate::settings_files::{NAME, NAME_OF_USERS};
use crate::slots::{Lives, Slot};
use semdex_config::{ConfigError, Settings};
use semdex_engine::Registry;
use semdex_model::{Missing, MissingCode};

impl Writer {
    /// Before an answer: the files may say something else by now. What cannot be read or is wrong changes nothing, and is
    /// among what the status misses.
    pub(crate) fn follow_settings(&mut self) {
        if !self.settings_files.may_have_changed() {
            return;
        }
        let read = self.config.settings(&self.root, self.trusted);
        let wrong = |file: &str, error: &ConfigError| {
            let detail = format!("what counted before its last change still counts: {error}");
            Missing::new(MissingCode::WorkspaceBroken, file, detail)
        };
        let wrongs = [
            read.as_ref().err().map(|it| wrong(NAME, it)),
            self.config.fault_of_user().map(|it| wrong(NAME_OF_USERS, &it)),
        ];
        self.missing.retain(|it| !matches!(it.scope.as_deref(), Some(NAME | NAME_OF_USERS)));
        self.missing.extend(wrongs.into_iter().flatten());
        if let Some(settings) = read.ok().filter(|it| *it != self.settings) {
            self.take_settings(settings);
        }
        // Not before: whoever finds the files read does not wait for what it says.
        self.publish();
    }

    fn take_settings(&mut self, settings: Settings) {
        tracing::info!("the settings have changed");
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
            // What is no text is known of files of a language alone.
            self.compares_all = true;
        }
        self.start_engines();
        self.note_change_outside();
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
