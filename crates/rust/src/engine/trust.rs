//! What of the engine is gone when its workspace is trusted no more.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{MacroTable, Rust};

impl Rust {
    /// To be followed by a reload. What code of the workspace made is gone at once where it is trusted no more, and so
    /// are the programs that run it.
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
