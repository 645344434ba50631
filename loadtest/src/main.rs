//! The `paymaster-loadtest` command.

fn main() -> std::process::ExitCode {
    paymaster_loadtest::cli::main()
}
