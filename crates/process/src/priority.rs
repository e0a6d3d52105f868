//! The priority of work that nobody waits for. The kernel gives it the time that other work leaves.

use std::process::Command;

use crate::search_path;

/// How far it is below the usual priority; 19 is the lowest.
const LOWER: i32 = 10;

/// A priority that leaves almost all to others.
const LOWEST: i32 = 19;

/// Lowers the priority of the calling thread and of those that it starts. It cannot be raised again, so the thread must
/// not be one that others use later.
pub fn lower_thread() {
    // Elsewhere this would lower the whole process.
    #[cfg(target_os = "linux")]
    {
        let lower = rustix::process::getpriority_process(None).map(|own| (own + LOWER).min(LOWEST));
        if let Err(error) = lower.and_then(|it| rustix::process::setpriority_process(None, it)) {
            tracing::debug!(%error, "a thread keeps its priority");
        }
    }
}

/// The same program at the lowest priority.
pub fn lowest(command: &Command) -> Command {
    let mut made = match search_path::find("nice") {
        Some(nice) => {
            let mut made = Command::new(nice);
            made.args(["-n", &LOWEST.to_string()]).arg(command.get_program());
            made
        }
        None => Command::new(command.get_program()),
    };
    made.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => made.env(name, value),
            None => made.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        made.current_dir(directory);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_keeps_what_it_is_given() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $(nice) $(pwd) $GIVEN"]).env("GIVEN", "one").current_dir("/");
        let output = lowest(&command).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{LOWEST} / one\n"));
    }

    /// Other threads keep theirs.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_gives_way_alone() {
        let own = || rustix::process::getpriority_process(None).unwrap();
        let before = own();
        let lowered = std::thread::spawn(move || {
            lower_thread();
            own()
        });
        assert_eq!((lowered.join().unwrap(), own()), ((before + LOWER).min(LOWEST), before));
    }
}
