//! Standard output and standard error. A closed pipe is no error: its reader has read enough.

use std::io::{self, IsTerminal, Write};

use paymaster_cli::{target, terminal::Paint};

/// Writes to standard output.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => Err(cause),
        _ => Ok(()),
    }
}

/// Writes to standard error. A text that cannot be written is dropped.
pub(crate) fn eprint(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes an error to standard error.
pub(crate) fn error(cause: impl std::fmt::Display) {
    eprint(&format!("error: {cause}\n"));
}

/// Colours, if standard output is a terminal and the environment does not decline them.
pub(crate) fn paint() -> Paint {
    Paint {
        colours: io::stdout().is_terminal() && !target::is_plain(),
    }
}
