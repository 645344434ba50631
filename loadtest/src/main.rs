//! The `paymaster-loadtest` command.

/// Only the released commands have it: the feature needs a C compiler.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    paymaster_loadtest::cli::main()
}
