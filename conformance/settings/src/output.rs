//! Standard output and standard error. A closed pipe is no error: the reader has read enough.

pub mod compact;
pub mod curl;
pub mod document;
pub mod page;
pub mod report_file;
pub mod shell;
pub mod terminal;

pub use {curl::*, document::*, page::*, report_file::*, shell::*, terminal::*};

use std::io::{self, IsTerminal, Write};

use terminal_size::terminal_size_of;

use crate::settings::Environment;
use crate::settings::environment;

/// Standard output cannot be written to.
#[derive(Debug, thiserror::Error)]
#[error("standard output: {0}")]
pub struct OutputError(#[source] io::Error);

/// Writes to standard output.
pub fn print(text: &str) -> Result<(), OutputError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => Err(OutputError(cause)),
        _ => Ok(()),
    }
}

/// Writes to standard error. A failure is ignored, since there is no place left to report it.
pub fn eprint(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes an error message to standard error.
pub fn error(cause: &str) {
    eprint(&format!("error: {cause}\n"));
}

/// Colours for an output: on a terminal, unless the environment declines them.
pub fn paint(environment: &Environment, to_stderr: bool) -> Paint {
    let is_terminal = if to_stderr { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
    Paint { colours: is_terminal && !environment::declines_colours(environment) }
}

/// How many columns a line of an output has: those of the terminal, from 60 to `most`; `most` where it is none.
pub fn columns(to_stderr: bool, most: usize) -> usize {
    let size = if to_stderr { terminal_size_of(io::stderr()) } else { terminal_size_of(io::stdout()) };
    size.map_or(most, |(width, _)| usize::from(width.0).clamp(60.min(most), most))
}
