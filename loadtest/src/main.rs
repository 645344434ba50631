//! The `paymaster-loadtest` command.

/// Much memory of a request is freed by another thread than the one that allocated it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    paymaster_loadtest::cli::main()
}
