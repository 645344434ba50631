//! goose always prints the number of started users to standard output. While it runs, standard output leads to the null device.

use std::fs::File;
use std::io::{self, Write as _};
#[cfg(unix)]
use std::os::fd::{AsFd as Stream, OwnedFd as Original};

use scopeguard::ScopeGuard;

#[cfg(windows)]
use filedescriptor::{AsRawFileDescriptor as Stream, FileDescriptor as Original};

/// The null device.
const NULL: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// Redirects standard output to the null device until what this returns is dropped.
pub(super) fn silenced() -> ScopeGuard<Option<Original>, fn(Option<Original>)> {
    // If the redirection fails, the output of goose is visible; the run goes on.
    let null = File::options().write(true).open(NULL).ok();
    scopeguard::guard(null.and_then(|null| redirect(&null)), |original| {
        original.and_then(|original| redirect(&original));
    })
}

/// Makes standard output lead to a stream. Gives the one that it led to; none where that fails.
fn redirect(to: &impl Stream) -> Option<Original> {
    let _ = io::stdout().flush();
    #[cfg(unix)]
    {
        let original = rustix::io::dup(io::stdout()).ok()?;
        rustix::stdio::dup2_stdout(to).ok()?;
        Some(original)
    }
    #[cfg(windows)]
    {
        Original::redirect_stdio(to, filedescriptor::StdioDescriptor::Stdout).ok()
    }
}
