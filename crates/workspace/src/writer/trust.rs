//! What the owner's trust decides, when that changes.

use super::Writer;
use semdex_process::search_path;

impl Writer {
    /// Has the engines go on as the owner of the workspace wants it.
    pub(crate) fn set_trust(&mut self, trusted: bool) {
        if trusted == self.trusted {
            return;
        }
        // Else a change of the file that is read below would be taken for known.
        self.follow_settings();
        tracing::info!(trusted, "the owner's trust has changed");
        self.trusted = trusted;
        self.barred = (!trusted).then(|| search_path::bar(&self.root));
        self.settings =
            self.config.settings(&self.root, trusted).unwrap_or_else(|_| self.config.user_settings(trusted));
        self.have_engines_trust(trusted);
        self.publish();
    }
}
