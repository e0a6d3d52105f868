//! Where tests have the program fail: a point panics or stands still as long as a file of its name lies in the directory
//! that `SEMDEX_FAULTS` names. A release build holds nothing of this.

#[cfg(debug_assertions)]
pub use points::point;

/// Nothing happens here.
#[cfg(not(debug_assertions))]
pub fn point(_: &str) {}

#[cfg(debug_assertions)]
mod points {
    use std::fs;
    use std::path::PathBuf;
    use std::sync::LazyLock;
    use std::thread;
    use std::time::Duration;

    static DIRECTORY: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| std::env::var_os("SEMDEX_FAULTS").map(PathBuf::from));

    /// What the file says happens here: `once` panics and takes the file away, `always` panics, `stall` waits until the
    /// file is gone.
    #[expect(clippy::panic, reason = "tests ask for it")]
    pub fn point(name: &str) {
        let Some(file) = DIRECTORY.as_ref().map(|it| it.join(name)) else { return };
        match fs::read_to_string(&file).as_deref().map(str::trim) {
            Ok("once") if fs::remove_file(&file).is_ok() => panic!("a fault at {name}"),
            Ok("always") => panic!("a fault at {name}"),
            Ok("stall") => {
                while file.exists() {
                    thread::sleep(Duration::from_millis(10));
                }
            }
            _ => {}
        }
    }
}
