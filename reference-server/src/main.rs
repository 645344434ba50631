//! The `paymaster-reference-server` command.
#![expect(clippy::print_stderr, reason = "a command reports errors on standard error")]

mod cli;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use paymaster_client::{environment::Environment, stop::Interrupts};
use paymaster_reference_server::{
    Config, Fault, InjectedService, Metrics, Observer, Service, Variant, faults, run_observed, serve_metrics,
    to_profile, variants,
};
use tokio::net::TcpListener;
use tracing::level_filters::LevelFilter;

use crate::cli::arguments::{Arguments, Injections};
use crate::cli::startup::Started;

/// Much memory of a request is freed by another thread than the one that allocated it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (code, error) = match start(&arguments) {
        Ok(()) => return ExitCode::from(cli::STOPPED),
        Err(Failure::Usage(error)) => (cli::USAGE, error),
        Err(Failure::CannotServe(error)) => (cli::CANNOT_SERVE, error),
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
    let environment = Environment::of_process();
    let mut config = arguments.configuration(&environment).map_err(usage)?;
    for variant in &variants {
        (variant.configure)(&mut config);
    }
    let service = Service::new(&config).map_err(|error| usage(error.into()))?;
    if arguments.print_config || arguments.print_profile.is_some() {
        let printed = match &arguments.print_profile {
            Some(specification) => to_profile(specification, &config, &variants)
                .map(|profile| format!("spec = \"{specification}\"\n\n{profile}")),
            None => config.to_toml(),
        };
        print(&printed.map_err(|error| usage(error.into()))?);
        return Ok(());
    }
    let log = arguments.log(&environment).map_err(|error| usage(error.into()))?;
    let level = cli::logging::level(log).map_err(usage)?;
    let _log = cli::logging::start(level);
    let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::CannotServe(error.into()))?;
    let command = Command { arguments, config, faults, variants, logs: level >= LevelFilter::INFO };
    runtime.block_on(command.serve(service))
}

/// A command that serves.
struct Command<'a> {
    arguments: &'a Arguments,
    config: Config,
    faults: Vec<&'static Fault>,
    variants: Vec<&'static Variant>,
    /// Whether requests are logged.
    logs: bool,
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
        .map(|fault| {
            let specification = fault.specification.unwrap_or("any");
            format!("{:<52} {specification:<10} {:<40} {}\n", fault.name, fault.clause, fault.about)
        })
        .chain(variants.map(|variant| format!("{:<34} {}\n", variant.name, variant.about)))
        .collect()
}

impl Command<'_> {
    async fn serve(self, service: Service) -> Result<(), Failure> {
        let cannot_serve = |error: io::Error| Failure::CannotServe(error.into());
        let listener = bind(&self.config.listen).await?;
        let metrics = match self.config.metrics_address() {
            Some(address) => Some((bind(&address).await?, Arc::new(Metrics::default()))),
            None => None,
        };
        let mut interrupts = Interrupts::new().map_err(cannot_serve)?;
        let shutdown = async move { interrupts.next().await };
        let program = std::env::args().next();
        let started = Started {
            config: &self.config,
            address: listener.local_addr().map_err(cannot_serve)?,
            metrics: match &metrics {
                Some((listener, _)) => Some(listener.local_addr().map_err(cannot_serve)?),
                None => None,
            },
            signer: &service.signer_address(),
            faults: &self.faults,
            variants: &self.variants,
            program: program.as_deref().unwrap_or(env!("CARGO_PKG_NAME")),
            profile_arguments: &self.arguments.of_profile(),
        };
        print(&started.text());
        let observer = Observer::new(self.logs, metrics.as_ref().map(|(_, metrics)| Arc::clone(metrics)));
        let page = metrics.map(|(listener, metrics)| {
            let text = move || metrics.text();
            tokio::spawn(serve_metrics(listener, text, std::future::pending()))
        });
        let service = InjectedService::from(service).with_variants(self.variants).with_faults(self.faults);
        run_observed(listener, Arc::new(service), observer, shutdown).await;
        if let Some(page) = page {
            page.abort();
        }
        Ok(())
    }
}

/// Listens at an address.
async fn bind(address: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address)
        .await
        .map_err(|error| Failure::CannotServe(format!("cannot listen on {address}: {error}").into()))
}
