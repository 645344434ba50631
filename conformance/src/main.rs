//! Judges a paymaster JSON-RPC service: see the library of the same name.

use std::process::ExitCode;

fn main() -> ExitCode {
    paymaster_conformance::main()
}
