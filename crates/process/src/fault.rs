//! Fault injection for tests. A fault point panics or blocks as long as the directory in `SEMDEX_FAULTS` has a file
//! with its name. Release builds contain no fault points.

#[cfg(debug_assertions)]
pub use points::point;

/// Does nothing in a release build.
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

    /// Does what the content of the point's file says: `once` removes the file and panics, `always` panics, `stall`
    /// waits until the file is removed.
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
