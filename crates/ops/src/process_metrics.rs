//! Figures of the process for monitoring: memory, restarts, queues and counters.

use std::collections::BTreeMap;

use super::Service;
use semdex_process::resource_usage;
use semdex_workspace::Workspace;

/// The name of the process itself among the engines.
const OWN: &str = "semdex";

/// The figures at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessMetrics {
    /// The sum over all workspaces.
    pub revision: u64,
    /// Resident memory by engine; engines of the same name in several workspaces are added up.
    pub memory_bytes: BTreeMap<String, u64>,
    /// Restarts by engine, added up in the same way.
    pub restarts: BTreeMap<String, u64>,
    /// Lengths of the queues, by the thread that serves them: `journal` and `writer`.
    pub queues: BTreeMap<String, u64>,
    /// How often a whole workspace was compared with the disk.
    pub rescans: u64,
    /// How often a query was repeated because a change came between.
    pub stale_retries: u64,
}

/// Collects the figures.
pub fn process_metrics(service: &Service) -> ProcessMetrics {
    let open = service.workspaces.list();
    let telemetry = service.workspaces.telemetry();
    let count = |it: usize| u64::try_from(it).unwrap_or(u64::MAX);
    let journal = count(service.workspaces.journal_queue_length());
    let writers = open.iter().map(|it| count(it.queue_length())).sum();
    let mut vitals = ProcessMetrics {
        revision: 0,
        memory_bytes: resource_usage::resident_memory(std::process::id())
            .map(|it| (OWN.to_owned(), it))
            .into_iter()
            .collect(),
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
