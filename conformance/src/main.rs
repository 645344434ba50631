//! Judges a paymaster JSON-RPC service: see the library of the same name.

use std::process::ExitCode;

/// Much memory of a request is freed by another thread than the one that allocated it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    paymaster_conformance::main()
}
