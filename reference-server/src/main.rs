//! The `paymaster-reference-server` command.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command talks to its user"
)]

mod arguments;
mod exit_codes;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use paymaster_reference_server::{Config, Service, run};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use crate::arguments::Arguments;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (code, error) = match start(&arguments) {
        Ok(()) => return ExitCode::from(exit_codes::STOPPED),
        Err(Failure::Usage(error)) => (exit_codes::USAGE, error),
        Err(Failure::CannotServe(error)) => (exit_codes::CANNOT_SERVE, error),
    };
    eprint!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        eprint!(": {error}");
        cause = error.source();
    }
    eprintln!();
    ExitCode::from(code)
}

/// Why the command ends early; the exit code follows from it.
enum Failure {
    Usage(Box<dyn Error>),
    CannotServe(Box<dyn Error>),
}

fn start(arguments: &Arguments) -> Result<(), Failure> {
    let usage = |error: Box<dyn Error>| Failure::Usage(error);
    let config = arguments.configuration().map_err(|error| usage(error.into()))?;
    let service = Service::new(&config).map_err(|error| usage(error.into()))?;
    if arguments.print_config {
        let printed = config.to_toml().map_err(|error| usage(error.into()))?;
        print!("{printed}");
        return Ok(());
    }
    let filter = EnvFilter::try_new(&arguments.log).map_err(|error| usage(error.into()))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(false)
        .init();
    let cannot_serve = |error: io::Error| Failure::CannotServe(error.into());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(cannot_serve)?;
    runtime.block_on(serve(&config, service))
}

async fn serve(config: &Config, service: Service) -> Result<(), Failure> {
    let listen = &config.listen;
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|error| Failure::CannotServe(format!("cannot listen on {listen}: {error}").into()))?;
    let cannot_serve = |error: io::Error| Failure::CannotServe(error.into());
    let address = listener.local_addr().map_err(cannot_serve)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot_serve)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(cannot_serve)?;
    tracing::info!(
        signer = service.signer_address(),
        signing = config.signing.enabled,
        "ready"
    );
    println!("listening on http://{address}");
    // Whoever reads the address may wait for it behind a pipe.
    io::stdout().flush().map_err(cannot_serve)?;
    let shutdown = async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    run(listener, Arc::new(service), shutdown).await;
    Ok(())
}
