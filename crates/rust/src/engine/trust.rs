//! What the engine discards when its workspace is no longer trusted.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{MacroTable, Rust};

impl Rust {
    /// A reload has to follow. If trust is withdrawn, the output of workspace code is discarded immediately, and the
    /// programs that run it are ended.
    pub(crate) fn set_trust(&mut self, trusted: bool, build_scripts: bool, proc_macros: bool) {
        self.superseded.0.store(true, Ordering::Relaxed);
        (self.config.trusted, self.config.build_scripts, self.config.proc_macros) =
            (trusted, build_scripts, proc_macros);
        if trusted {
            return;
        }
        self.macros = MacroTable::default();
        for workspace in Arc::make_mut(&mut self.workspaces) {
            workspace.set_build_scripts(Default::default());
        }
        self.shadow_database.note_graph();
        self.flush(Some(self.graph()));
        self.primed = false;
        self.is_indexed = false;
        self.is_complete = false;
        self.index.forget_crates();
    }
}
