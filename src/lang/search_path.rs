//! Where programs are looked for.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

/// Takes relative and empty entries out of `PATH`, for this process and all that it starts: a program that is looked
/// for from within a workspace would be found in the workspace. To be called before the first thread is started.
pub fn forget_relative() {
    let Some(path) = std::env::var_os("PATH") else { return };
    #[expect(unsafe_code, reason = "rust-analyzer, gopls and Cargo look into the environment themselves")]
    // SAFETY: no other thread is there to read the environment.
    unsafe {
        std::env::set_var("PATH", absolute_of(&path));
    }
}

fn absolute_of(path: &OsStr) -> OsString {
    let kept: Vec<PathBuf> = std::env::split_paths(path).filter(|it| it.is_absolute()).collect();
    // Each was an entry before, so none holds a separator.
    std::env::join_paths(kept).unwrap_or_default()
}

/// The program that its name stands for.
pub fn find(program: &str) -> Option<PathBuf> {
    let is_executable =
        |it: &PathBuf| it.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    let path = std::env::var_os("PATH")?;
    // Not from a relative entry: that would be a program of whatever directory semdex was started in.
    std::env::split_paths(&path).filter(|it| it.is_absolute()).map(|it| it.join(program)).find(is_executable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_entries_are_left_out() {
        assert_eq!(absolute_of("./bin:/usr/bin::.:/bin:x".as_ref()), "/usr/bin:/bin");
        assert_eq!(absolute_of("".as_ref()), "");
    }
}
