//! The `paymaster-reference-server` command.
#![expect(clippy::print_stderr, reason = "a command reports errors on standard error")]

mod arguments;
mod exit_codes;
mod pages;
mod stop_signal;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use paymaster_reference_server::{InjectedService, Service, faults, run, variants};
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

use crate::arguments::{Arguments, Injections};
use crate::stop_signal::stop_signal;

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

/// Why the command fails, which decides the exit code.
enum Failure {
    Usage(Box<dyn Error>),
    CannotServe(Box<dyn Error>),
}

fn start(arguments: &Arguments) -> Result<(), Failure> {
    let usage = |error: Box<dyn Error>| Failure::Usage(error);
    if let Some(text) = arguments.pages.write().map_err(|error| usage(error.into()))? {
        print(&text);
        return Ok(());
    }
    let injections = &arguments.injections;
    if injections.list_faults || injections.list_variants {
        print(&tables(injections));
        return Ok(());
    }
    let faults = injections.faults().map_err(|error| usage(error.into()))?;
    let variants = injections.variants().map_err(|error| usage(error.into()))?;
    let config = arguments.configuration().map_err(|error| usage(error.into()))?;
    let service = Service::new(&config).map_err(|error| usage(error.into()))?;
    if arguments.print_config {
        let printed = config.to_toml().map_err(|error| usage(error.into()))?;
        print(&printed);
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
    tracing::info!(
        signer = service.signer_address(),
        signing = config.signing.enabled,
        "configured"
    );
    let service = InjectedService::from(service)
        .with_variants(variants)
        .with_faults(faults);
    runtime.block_on(serve(&config.listen, service))
}

/// Writes to standard output. A closed pipe, as `head` leaves it, is not an error.
fn print(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The requested tables: one fault or variant a line.
fn tables(injections: &Injections) -> String {
    let faults = faults().filter(|_| injections.list_faults);
    let variants = variants().filter(|_| injections.list_variants);
    faults
        .map(|fault| format!("{:<52} {:<40} {}\n", fault.name, fault.clause, fault.about))
        .chain(variants.map(|variant| format!("{:<34} {}\n", variant.name, variant.about)))
        .collect()
}

async fn serve(listen: &str, service: InjectedService) -> Result<(), Failure> {
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|error| Failure::CannotServe(format!("cannot listen on {listen}: {error}").into()))?;
    let cannot_serve = |error: io::Error| Failure::CannotServe(error.into());
    let address = listener.local_addr().map_err(cannot_serve)?;
    let shutdown = stop_signal().map_err(cannot_serve)?;
    print(&format!("listening on http://{address}\n"));
    run(listener, Arc::new(service), shutdown).await;
    Ok(())
}
