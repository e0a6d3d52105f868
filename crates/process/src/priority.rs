//! The priority of work that nobody waits for. The kernel gives it the time that other work leaves.

use std::process::Command;

/// How far it is below the usual priority; 19 is the lowest.
const LOWER: i32 = 10;

/// A priority that leaves almost all to others.
const LOWEST: i32 = 19;

/// Lowers the priority of the calling thread and of those that it starts. It cannot be raised again, so the thread must
/// not be one that others use later.
pub fn lower_thread() {
    // Elsewhere this would lower the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, LOWER) {
        tracing::debug!(%error, "a thread keeps its priority");
    }
}

/// The same program at a lower priority.
pub fn lower(command: &Command) -> Command {
    at(LOWER, command)
}

/// The same program at the lowest priority.
pub fn lowest(command: &Command) -> Command {
    at(LOWEST, command)
}

fn at(niceness: i32, command: &Command) -> Command {
    let mut nice = Command::new("nice");
    nice.args(["-n", &niceness.to_string()]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => nice.env(name, value),
            None => nice.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        nice.current_dir(directory);
    }
    nice
}
