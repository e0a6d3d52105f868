//! Loading Rust anew: after changes that Cargo would heed, and when the owner's trust changes.

use super::Writer;

impl Writer {
    /// Loads all anew as the owner of the workspace wants it. Where the trust is gone, what runs is ended first.
    pub(in crate::workspace) fn set_trust(&mut self, trusted: bool) {
        if trusted == self.trusted {
            return;
        }
        tracing::info!(trusted, "the owner's trust has changed");
        self.trusted = trusted;
        self.settings =
            self.config.settings(&self.root, trusted).unwrap_or_else(|_| self.config.user_settings(trusted));
        let (build_scripts, proc_macros) = (self.settings.rust.build_scripts, self.settings.rust.proc_macros);
        self.with_rust(|it| it.set_trust(trusted, build_scripts, proc_macros));
        self.reload_rust();
        if let Some(go) = self.go.take() {
            self.runtime.spawn(async move { go.shutdown().await });
            self.start_engines();
        }
        self.publish();
    }
}
