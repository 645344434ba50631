//! The command line of either program: its arguments, its completion scripts and its man pages.

use std::{ffi::OsString, fs, path::Path, process::ExitCode};

use clap::{CommandFactory, Parser, error::ErrorKind};
use clap_complete::Shell;
use paymaster_reference_server::nearest;

use crate::exit;
use crate::output::{self, OutputError};
use crate::process::CommandError;
use crate::settings::SetupError;

/// Runs the command line of this process: parses it, executes it, prints an error, and returns the exit code.
pub fn main<C: Parser>(execute: impl FnOnce(C) -> Result<u8, CommandError>) -> ExitCode {
    let ended = parse().and_then(|cli| {
        execute(cli).map_err(|CommandError { code, message }| {
            output::error(&message);
            code
        })
    });
    ExitCode::from(ended.unwrap_or_else(|code| code))
}

/// The arguments of this process; where they are wrong or ask for help, what there is to say is printed, and the error is the exit code.
fn parse<C: Parser>() -> Result<C, u8> {
    if let Some(message) = mistyped_command(&C::command(), std::env::args_os().nth(1)) {
        output::error(&message);
        return Err(exit::USAGE);
    }
    C::try_parse().map_err(|cause| {
        // Where this cannot be printed, there is no other place to report it.
        let _ = cause.print();
        let is_asked = matches!(cause.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        if is_asked { exit::CONFORMS } else { exit::USAGE }
    })
}

/// The error message for a first argument that is nearly the name of a command, which would else be taken for a URL; none for any other.
fn mistyped_command(program: &clap::Command, first: Option<OsString>) -> Option<String> {
    let word = first?.into_string().ok()?;
    let is_none = word.starts_with('-') || word.contains(['.', ':', '/']); // a flag or a host
    if is_none || program.find_subcommand(&word).is_some() {
        return None;
    }
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let known = nearest(&word, commands.map(clap::Command::get_name))?;
    Some(format!("there is no command `{word}` (did you mean `{known}`?)"))
}

/// Prints a completion script, made from the definition of the command line.
pub fn completions<C: CommandFactory>(shell: Shell) -> Result<u8, OutputError> {
    let mut program = C::command();
    let (name, mut script) = (program.get_name().to_owned(), Vec::new());
    clap_complete::generate(shell, &mut program, name, &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(exit::CONFORMS)
}

/// Writes a man page for each command into a folder.
pub fn man<C: CommandFactory>(folder: &Path) -> Result<u8, SetupError> {
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(C::command(), folder))
        .map_err(|cause| format!("cannot write the man pages into {}: {cause}", folder.display()))?;
    output::print(&format!("wrote the man pages into {}\n", folder.display()))?;
    Ok(exit::CONFORMS)
}
