//! The default of every setting that no flag, environment variable or file sets. The defaults of language servers are
//! in `crates/lsp/src/servers.toml`.

/// The address on which `semdex serve` listens.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:7878";
/// What `semdex serve` logs.
pub const DEFAULT_LOG: &str = "warn,semdex=info";

/// `log.slow_ms`
pub(crate) const SLOW_MS: u64 = 1000;
/// `answers.max_tokens`
pub(crate) const MAX_TOKENS: usize = 6000;
/// `journal.keep_days`
pub(crate) const KEEP_DAYS: u32 = 30;
/// `journal.max_bytes`
pub(crate) const MAX_JOURNAL_BYTES: u64 = 1 << 30;
/// `limits.max_file_bytes`
pub(crate) const MAX_FILE_BYTES: u64 = 10 << 20;

/// `gate.max_errors`
pub(crate) const MAX_ERRORS: usize = 0;
/// `gate.max_warnings`
pub(crate) const MAX_WARNINGS: usize = 10;
/// `gate.block_on_error`
pub(crate) const BLOCK_ON_ERROR: bool = true;
/// `gate.block_on_warning`
pub(crate) const BLOCK_ON_WARNING: bool = false;

/// `go.vet`
pub(crate) const GO_VET: bool = false;
/// `rust.build_scripts`, in a trusted workspace
pub(crate) const BUILD_SCRIPTS: bool = true;
/// `rust.proc_macros`, in a trusted workspace
pub(crate) const PROC_MACROS: bool = true;
/// `rust.confirm`
pub(crate) const CONFIRM: bool = false;
/// `rust.clippy`
pub(crate) const CLIPPY: bool = false;
/// The most builds of a Cargo workspace besides the default one.
pub(crate) const MAX_BUILDS: usize = 4;
