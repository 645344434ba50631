//! `paymaster-loadtest`: not built yet. It says so, and fails, so that nobody takes silence for a load test.

use std::{io::Write as _, process::ExitCode};

/// Usage or configuration, as every binary of ours says it.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    // Nothing can be done about a standard error that is closed; the exit code says the same.
    let _ = writeln!(
        std::io::stderr(),
        "paymaster-loadtest is not built yet: no request was sent"
    );
    ExitCode::from(USAGE)
}
