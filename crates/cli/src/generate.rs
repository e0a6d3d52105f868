//! `semdex completions` and `semdex man`, generated from the declarations of the command line.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Arguments;
use super::output::output;

#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    shell: Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// The command whose page is printed, such as `usages` or `cache size`. Default: the main page.
    #[arg(value_name = "VERB", conflicts_with = "directory")]
    verb: Vec<String>,
    /// Write a page for each command into this directory.
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
}

impl Completions {
    pub fn print(&self) -> io::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "semdex", &mut script);
        output().write_all(&script)
    }
}

impl Man {
    pub fn print(&self) -> io::Result<()> {
        match &self.directory {
            Some(directory) => write_pages(directory),
            None => {
                let mut command = Arguments::command().disable_help_subcommand(true);
                command.build();
                let mut named = &command;
                for verb in &self.verb {
                    named = named.find_subcommand(verb).ok_or_else(|| {
                        let detail = format!("there is no command `{}`: `semdex help` lists all", self.verb.join(" "));
                        io::Error::new(io::ErrorKind::InvalidInput, detail)
                    })?;
                }
                output().write_all(page(&clap_mangen::Man::new(named.clone()))?.as_bytes())
            }
        }
    }
}

/// The page of a command, with its examples below a heading of their own.
fn page(man: &clap_mangen::Man) -> io::Result<String> {
    let mut page = Vec::new();
    man.render(&mut page)?;
    // One example has another heading than several.
    let examples = ["Examples", "Example"].map(|it| format!("\n.SH EXTRA\n{it}:\n"));
    let page = String::from_utf8_lossy(&page).into_owned();
    Ok(examples.iter().fold(page, |page, it| page.replace(it, "\n.SH EXAMPLES\n")))
}

fn write_pages(directory: &Path) -> io::Result<()> {
    let with_path = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", directory.display()));
    std::fs::create_dir_all(directory).map_err(with_path)?;
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    let mut commands = vec![command];
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands().filter(|it| !it.is_hide_set()).cloned());
        let man = clap_mangen::Man::new(command);
        std::fs::write(directory.join(man.get_filename()), page(&man)?).map_err(with_path)?;
    }
    Ok(())
}
