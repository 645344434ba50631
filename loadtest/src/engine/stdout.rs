//! goose always prints the number of started users to standard output. While it runs, standard output leads to `/dev/null`.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::OwnedFd,
};

/// Redirects standard output to `/dev/null` until it is dropped.
#[derive(Debug)]
pub(super) struct SilencedStdout(Option<OwnedFd>);

impl SilencedStdout {
    pub(super) fn new() -> Self {
        // If the redirection fails, the output of goose is visible; the run goes on.
        let _ = io::stdout().flush();
        let redirect = || -> io::Result<OwnedFd> {
            let null = File::options().write(true).open("/dev/null")?;
            let original = rustix::io::dup(io::stdout())?;
            rustix::stdio::dup2_stdout(&null)?;
            Ok(original)
        };
        Self(redirect().ok())
    }
}

impl Drop for SilencedStdout {
    fn drop(&mut self) {
        let _ = io::stdout().flush();
        if let Some(original) = self.0.take() {
            let _ = rustix::stdio::dup2_stdout(&original);
        }
    }
}
