//! `semdex stop` and `semdex restart`: end the server of a workspace in good order, and start another one.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::output::output;
use super::running_servers::{self, Running};
use semdex_config::Config;
use semdex_engine::Registry;

/// A server finishes what it has begun.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

/// Ends the server of the workspace around a directory, or all. Returns whether it ran. All have ended where none ran.
pub async fn stop(directory: Option<&Path>, all: bool, config: &Config, engines: &Registry) -> io::Result<bool> {
    let servers = match all {
        true => running_servers::all(&config.state_dir),
        false => Vec::from_iter(find(directory, config, engines)?),
    };
    for server in &servers {
        end(server).await?;
    }
    if servers.is_empty() {
        writeln!(output(), "no server runs")?;
    }
    Ok(all || !servers.is_empty())
}

/// Ends the server of the workspace around a directory, if one runs, and starts one.
pub async fn restart(directory: Option<&Path>, config: &Config, engines: &Registry) -> io::Result<()> {
    if let Some(server) = find(directory, config, engines)? {
        end(&server).await?;
    }
    let root = root(directory, engines)?;
    let started = running_servers::find_or_start_of(&config.state_dir, &root, engines).await?;
    writeln!(output(), "started process {} for {}", started.announcement.pid, root.display())
}

fn root(directory: Option<&Path>, engines: &Registry) -> io::Result<std::path::PathBuf> {
    engines.find_root(&directory.map_or_else(std::env::current_dir, |it| Ok(it.to_owned()))?)
}

fn find(directory: Option<&Path>, config: &Config, engines: &Registry) -> io::Result<Option<Running>> {
    Ok(running_servers::find_running(&config.state_dir, &root(directory, engines)?))
}

async fn end(server: &Running) -> io::Result<()> {
    let pid = server.announcement.pid;
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| io::Error::other(format!("{pid} is no process")))?;
    let process = pidfd_open(process, PidfdFlags::empty())?;
    pidfd_send_signal(&process, Signal::TERM)?;
    let begun = Instant::now();
    // It unlocks its file before it closes the journal, so that nothing new is asked of it meanwhile.
    while poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&Timespec::default()))? == 0 {
        if begun.elapsed() > PATIENCE {
            return Err(io::Error::other(format!("process {pid} has not ended within {} s", PATIENCE.as_secs())));
        }
        tokio::time::sleep(PAUSE).await;
    }
    let roots: Vec<String> = server.roots.iter().map(|it| it.display().to_string()).collect();
    writeln!(output(), "stopped process {pid} of {}", roots.join(", "))
}
