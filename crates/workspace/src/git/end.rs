//! What ends the programs of git before their time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What ends the programs of one question before their time.
#[derive(Debug, Clone, Default)]
pub(super) struct End {
    /// The client no longer waits.
    pub(super) cancelled: Arc<AtomicBool>,
    /// Trust was withdrawn.
    pub(super) revoked: Arc<AtomicBool>,
}
