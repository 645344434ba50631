//! goose always prints the number of started users to standard output. While it runs, standard output leads to the null device.

use std::io::{self, Write};

/// Redirects standard output to the null device until it is dropped.
#[derive(Debug)]
pub(super) struct SilencedStdout(Option<platform::Original>);

impl SilencedStdout {
    pub(super) fn new() -> Self {
        // If the redirection fails, the output of goose is visible; the run goes on.
        let _ = io::stdout().flush();
        Self(platform::redirect_to_null().ok())
    }
}

impl Drop for SilencedStdout {
    fn drop(&mut self) {
        let _ = io::stdout().flush();
        if let Some(original) = self.0.take() {
            let _ = platform::restore(&original);
        }
    }
}

#[cfg(unix)]
mod platform {
    use std::{fs::File, io, os::fd::OwnedFd};

    pub(super) type Original = OwnedFd;

    pub(super) fn redirect_to_null() -> io::Result<Original> {
        let null = File::options().write(true).open("/dev/null")?;
        let original = rustix::io::dup(io::stdout())?;
        rustix::stdio::dup2_stdout(&null)?;
        Ok(original)
    }

    pub(super) fn restore(original: &Original) -> io::Result<()> {
        Ok(rustix::stdio::dup2_stdout(original)?)
    }
}

#[cfg(windows)]
mod platform {
    use std::{fs::File, io};

    use filedescriptor::{FileDescriptor, StdioDescriptor};

    pub(super) type Original = FileDescriptor;

    pub(super) fn redirect_to_null() -> io::Result<Original> {
        let null = File::options().write(true).open("NUL")?;
        FileDescriptor::redirect_stdio(&null, StdioDescriptor::Stdout).map_err(io::Error::other)
    }

    pub(super) fn restore(original: &Original) -> io::Result<()> {
        FileDescriptor::redirect_stdio(original, StdioDescriptor::Stdout).map(drop).map_err(io::Error::other)
    }
}
