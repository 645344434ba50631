//! Judges a paymaster JSON-RPC service: see the library of the same name.

use std::process::ExitCode;

/// Only the released commands have it: the feature needs a C compiler.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    paymaster_conformance::main()
}
