//! goose prints how many users it launched to standard output, whatever it is told: while it runs, standard output is closed to it.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::OwnedFd,
};

/// Standard output leads nowhere for as long as this lives.
#[derive(Debug)]
pub(super) struct Silence(Option<OwnedFd>);

impl Silence {
    pub(super) fn new() -> Self {
        // What cannot be silenced is heard: no reason not to run.
        let _ = io::stdout().flush();
        let silenced = || -> io::Result<OwnedFd> {
            let nowhere = File::options().write(true).open("/dev/null")?;
            let kept = rustix::io::dup(io::stdout())?;
            rustix::stdio::dup2_stdout(&nowhere)?;
            Ok(kept)
        };
        Self(silenced().ok())
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        let _ = io::stdout().flush();
        if let Some(kept) = self.0.take() {
            let _ = rustix::stdio::dup2_stdout(&kept);
        }
    }
}
