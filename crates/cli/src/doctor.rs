//! `semdex doctor`: what is installed, what is missing, the command that installs it, and what a workspace loses
//! without it.

use std::io::{self, Write};
use std::path::Path;

use super::init::examine;
use super::output::output;
use semdex_config::Config;
use semdex_config::trust::TrustStore;
use semdex_engine::Registry;
use semdex_workspace::requirements::{EngineRequirements, requirements};

/// What to examine.
#[derive(Debug, Clone, Copy)]
pub struct Doctor<'d> {
    /// A directory of the workspace; the current one if there is none.
    pub directory: Option<&'d Path>,
    /// About the agents that are configured here.
    pub agents: bool,
    /// Also about languages of which the workspace has no file.
    pub all: bool,
}

/// Whether everything that the workspace around a directory needs is installed; or whether its agents find semdex.
pub fn doctor(asked: &Doctor<'_>, config: &Config, engines: &Registry) -> io::Result<bool> {
    let root = engines.find_root(&asked.directory.map_or_else(std::env::current_dir, |it| Ok(it.to_owned()))?)?;
    let mut output = output();
    writeln!(output, "semdex {} on {}", env!("CARGO_PKG_VERSION"), root.display())?;
    if asked.agents {
        let (lines, is_well) = examine(&root)?;
        for it in lines {
            writeln!(output, "{it}")?;
        }
        return Ok(is_well);
    }
    let trusted = config.trust.map_or_else(|| TrustStore::new(&config.state_dir).is_trusted(&root), Ok)?;
    let engines = requirements(&root, trusted, config, engines);
    if trusted {
        writeln!(output, "ok      trusted")?;
    } else {
        writeln!(output, "note    not trusted, which `semdex trust {}` changes. Without trust:", root.display())?;
        let concerned = engines.iter().filter(|it| it.is_concerned);
        let lost = concerned.filter_map(|it| it.lost_without_trust.as_deref());
        for it in lost.chain(["`verify` runs nothing"]) {
            writeln!(output, "        {it}")?;
        }
    }
    let mut is_well = true;
    let mut idle = 0;
    let mut is_any = false;
    // What is missing comes first.
    let mut engines = engines;
    engines.sort_by_key(|it| {
        let lacks = |needed: bool| it.requirements.iter().any(|it| it.found.is_none() && (it.is_needed || !needed));
        (!it.is_concerned, !lacks(true), !lacks(false))
    });
    for EngineRequirements { engine, is_concerned, requirements, .. } in engines {
        if !is_concerned && !asked.all {
            idle += 1;
            continue;
        }
        is_any = true;
        // An engine that is one program is named by it.
        writeln!(output)?;
        if requirements.iter().all(|it| it.name != engine) {
            writeln!(output, "{engine}")?;
        }
        for it in requirements {
            match it.found {
                Some(found) => writeln!(output, "ok      {}: {found}", it.name)?,
                None => {
                    let is_needed = it.is_needed && is_concerned;
                    is_well &= !is_needed;
                    let mark = if is_needed { "MISSING" } else { "absent " };
                    writeln!(output, "{mark} {}: {}\n        without it: {}", it.name, it.install, it.without)?;
                }
            }
        }
    }
    if !is_any {
        writeln!(output, "\nnote    no file here is of a language that semdex knows: it can open and edit texts only")?;
    }
    if idle > 0 {
        writeln!(output, "\nThis workspace has nothing for {idle} other engines: `--all` reports on them too.")?;
    }
    Ok(is_well)
}
