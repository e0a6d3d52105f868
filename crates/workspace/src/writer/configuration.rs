//! The settings and the owner's trust, followed while the workspace is open: engines that were started with other ones
//! are started again.

use std::sync::Arc;

use super::Writer;
use crate::engines::Lives;
use crate::settings_files::{NAME, NAME_OF_USERS};
use semdex_config::{ConfigError, Settings};
use semdex_engine::Registry;
use semdex_model::{Missing, MissingCode};

/// A wrong `semdex.toml` of which the valid keys count.
pub(super) fn in_force_in_part(error: &ConfigError) -> Missing {
    let detail = format!("the defaults count for what could not be read: {error}");
    Missing::new(MissingCode::WorkspaceBroken, NAME, detail)
}

/// A file of settings that became wrong while it was followed.
fn still_in_force(file: &str, error: &ConfigError) -> Missing {
    let detail = format!("what counted before its last change still counts: {error}");
    Missing::new(MissingCode::WorkspaceBroken, file, detail)
}

impl Writer {
    /// Before an answer: takes over what the files of settings say now. A file that is wrong or cannot be read changes
    /// nothing; the status reports it as missing.
    pub(super) fn follow_settings(&mut self) {
        if !self.settings.may_have_changed() {
            return;
        }
        let read = self.config.settings(self.disk.root(), self.trust.is_given());
        // A file that was wrong at the start may be read again without a change.
        let in_part = || self.config.settings_in_part(self.disk.root(), self.trust.is_given());
        let wrong = |it: &ConfigError| match in_part() == *self.settings.values() {
            true => in_force_in_part(it),
            false => still_in_force(NAME, it),
        };
        let wrong = read.as_ref().err().map(wrong);
        self.missing.replace(NAME_OF_USERS, None);
        self.missing.replace(NAME, wrong);
        let of_user = self.config.fault_of_user().map(|it| still_in_force(NAME_OF_USERS, &it));
        self.missing.replace(NAME_OF_USERS, of_user);
        if let Some(settings) = read.ok().filter(|it| it != self.settings.values()) {
            self.take_settings(settings);
        }
        // Only now: readers who see that the files were read do not wait for their effect.
        self.publish();
    }

    fn take_settings(&mut self, settings: Settings) {
        tracing::info!("the settings have changed");
        let before = self.settings.replace(settings);
        let after = self.settings.values().clone();
        if before.max_file_bytes != after.max_file_bytes {
            // Other files are read than before.
            self.disk_changes.compare_all();
        }
        for at in 0..self.engines.len() {
            if self.engines.slot(at).kind.depends_on(&before, &after) {
                self.engines.discard(at);
                self.engines.slot_mut(at).lives = Lives::default();
            }
        }
        if before.languages != after.languages {
            self.take_registry(self.engines.registry().configured(&after.languages));
            // Only files of a language are known as unindexed.
            self.disk_changes.compare_all();
        }
        self.start_engines();
        self.note_external_change();
    }

    /// Goes on with these engines. Those that were running keep running.
    fn take_registry(&mut self, registry: Registry) {
        self.files = Arc::new(self.files.in_languages(registry.languages().clone()));
        self.engines.set_registry(registry);
        self.feed_engines(&[], true);
    }

    /// The owner begins or ceases to trust the workspace.
    pub(crate) fn set_trust(&mut self, trusted: bool) {
        if trusted == self.trust.is_given() {
            return;
        }
        // Otherwise the settings read below would hide a change of their files.
        self.follow_settings();
        tracing::info!(trusted, "the owner's trust has changed");
        self.trust.set(trusted, self.disk.root());
        let settings = self.config.settings(self.disk.root(), trusted);
        let in_part = |_| self.config.settings_in_part(self.disk.root(), trusted);
        self.settings.replace(settings.unwrap_or_else(in_part));
        self.set_trust_of_engines(trusted);
        self.publish();
    }
}
