//! How the process is doing in numbers, for those who watch many of it.

use std::collections::BTreeMap;

use super::Service;
use semdex_process::resource_usage;
use semdex_workspace::Workspace;

/// What the process itself is called among the engines.
const OWN: &str = "semdex";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vitals {
    /// Of all workspaces together.
    pub revision: u64,
    /// By the engine; those of several workspaces together.
    pub memory_bytes: BTreeMap<String, u64>,
    pub restarts: BTreeMap<String, u64>,
    /// How much waits, by what it waits for.
    pub queues: BTreeMap<String, u64>,
    pub rescans: u64,
    pub stale_retries: u64,
}

pub fn vitals(service: &Service) -> Vitals {
    let open = service.workspaces.list();
    let telemetry = service.workspaces.telemetry();
    let count = |it: usize| u64::try_from(it).unwrap_or(u64::MAX);
    let journal = count(service.workspaces.journal_queue_length());
    let writers = open.iter().map(|it| count(it.queue_length())).sum();
    let mut vitals = Vitals {
        revision: 0,
        memory_bytes: resource_usage::resident_memory(std::process::id()).map(|it| (OWN.to_owned(), it)).into_iter().collect(),
        restarts: BTreeMap::new(),
        queues: BTreeMap::from([("journal".to_owned(), journal), ("writer".to_owned(), writers)]),
        rescans: telemetry.rescans.get(),
        stale_retries: telemetry.stale_retries.get(),
    };
    for status in open.iter().map(Workspace::status) {
        vitals.revision += status.revision.0;
        for engine in status.engines {
            if let Some(bytes) = engine.memory_bytes {
                *vitals.memory_bytes.entry(engine.name.clone()).or_default() += bytes;
            }
            *vitals.restarts.entry(engine.name).or_default() += u64::from(engine.restarts);
        }
    }
    vitals
}
