//! Standard output and standard error. A closed pipe is no error: whoever read has read enough.

use std::io::{self, IsTerminal, Write};

use paymaster_cli::environment::Environment;
use paymaster_cli::terminal::Paint;

/// Writes to standard output.
pub(crate) fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => Err(format!("standard output: {cause}")),
        _ => Ok(()),
    }
}

/// Writes to standard error; nobody can be told when that fails.
pub(crate) fn eprint(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Tells what went wrong.
pub(crate) fn error(cause: &str) {
    eprint(&format!("error: {cause}\n"));
}

/// Colours for a person who reads the output, who has not declined them.
pub(crate) fn paint(environment: &Environment, to_stderr: bool) -> Paint {
    let person = if to_stderr {
        io::stderr().is_terminal()
    } else {
        io::stdout().is_terminal()
    };
    Paint {
        colours: person && !environment.is_plain(),
    }
}
