//! Shell completions and man pages, generated from the definition of the command line.

use std::{fs, path::Path};

use clap::CommandFactory;
use clap_complete::Shell;
use paymaster_settings::{exit as codes, output as out};

use crate::cli::{CommandError, args::Cli};

/// Prints a completion script.
pub(in crate::cli) fn completions(shell: Shell) -> Result<u8, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "paymaster-loadtest", &mut script);
    out::print(&String::from_utf8_lossy(&script))?;
    Ok(codes::CONFORMS)
}

/// Writes a man page for each command into a folder.
pub(in crate::cli) fn man(folder: &Path) -> Result<u8, CommandError> {
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
        .map_err(|cause| format!("cannot write the man pages into {}: {cause}", folder.display()))?;
    out::print(&format!("wrote the man pages into {}\n", folder.display()))?;
    Ok(codes::CONFORMS)
}
