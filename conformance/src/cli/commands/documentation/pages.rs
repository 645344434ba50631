//! Shell completions and man pages, generated from the definition of the command line.

use std::{fs, path::Path};

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::{
    args::Cli,
    process::{CommandError, at},
};
use paymaster_cli::{exit, output};

const NAME: &str = "paymaster-conformance";

/// Prints a completion script.
pub(crate) fn completions(shell: Shell) -> Result<u8, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(exit::CONFORMS)
}

/// Writes a man page for each command into a folder.
pub(crate) fn man(folder: &Path) -> Result<u8, CommandError> {
    fs::create_dir_all(folder).map_err(at(folder))?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(at(folder))?;
    output::print(&format!("wrote the man pages into {}\n", folder.display()))?;
    Ok(exit::CONFORMS)
}
