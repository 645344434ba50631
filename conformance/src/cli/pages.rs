//! Completions for shells, and man pages: both are made of the command line's own description.

use std::{fs, path::Path};

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::{args::Cli, out};
use paymaster_cli::exit;

const NAME: &str = "paymaster-conformance";

/// Prints a completion script.
pub(crate) fn completions(shell: Shell) -> Result<u8, String> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    out::print(&String::from_utf8_lossy(&script))?;
    Ok(exit::CONFORMS)
}

/// Writes a man page for each command into a folder.
pub(crate) fn man(folder: &Path) -> Result<u8, String> {
    let told = |cause: std::io::Error| format!("{}: {cause}", folder.display());
    fs::create_dir_all(folder).map_err(told)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(told)?;
    out::print(&format!("wrote the man pages into {}\n", folder.display()))?;
    Ok(exit::CONFORMS)
}
