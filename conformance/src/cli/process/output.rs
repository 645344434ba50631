//! Standard output and standard error. A closed pipe is not an error: its reader has what it wants.

use std::io::{self, IsTerminal, Write};

use paymaster_cli::environment::Environment;
use paymaster_cli::terminal::Paint;

/// Writes to standard output.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
            Err(io::Error::new(cause.kind(), format!("standard output: {cause}")))
        }
        _ => Ok(()),
    }
}

/// Writes to standard error. A failure is ignored: there is no other place to report it.
pub(crate) fn eprint(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes an error message to standard error.
pub(crate) fn error(cause: &str) {
    eprint(&format!("error: {cause}\n"));
}

/// Whether output is coloured: only on a terminal, and not where the environment forbids it.
pub(crate) fn paint(environment: &Environment, to_stderr: bool) -> Paint {
    let terminal = if to_stderr {
        io::stderr().is_terminal()
    } else {
        io::stdout().is_terminal()
    };
    Paint {
        colours: terminal && !environment.is_plain(),
    }
}
