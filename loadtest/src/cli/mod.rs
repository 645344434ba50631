//! The command line of `paymaster-loadtest`: arguments, environment, output and exit codes.

mod args;
mod command_line;
mod commands;

use std::{process::ExitCode, time::Duration};

use clap::Args;
use paymaster_settings::process::{self, CommandError, Interrupts};
use paymaster_settings::{command_line as shared, duration, exit as codes, output as out};

use self::args::{Cli, Command};
use crate::metrics::{LiveFigures, MetricsServer};

/// Runs the command line of this process and returns its exit code.
pub fn main() -> ExitCode {
    shared::main(execute)
}

fn execute(cli: Cli) -> Result<u8, CommandError> {
    match cli.command {
        None => commands::load::run(&cli.load),
        Some(Command::Run(args)) => commands::load::run(&args),
        Some(Command::Scenarios) => {
            out::print(&format!("{}\n", args::scenario_list()))?;
            Ok(codes::CONFORMS)
        }
        Some(Command::Merge(args)) => commands::reports::merge(&args),
        Some(Command::Worker(args)) => commands::worker::run(&args),
        Some(Command::Locustfile(args)) => commands::worker::locustfile(&args),
        Some(Command::Compare(args)) => commands::reports::compare(&args),
        Some(Command::Completions { shell }) => Ok(shared::completions::<Cli>(shell)?),
        Some(Command::Man { folder }) => Ok(shared::man::<Cli>(&folder)?),
        Some(Command::EmbeddedServer(deviations)) => {
            process::runtime()?.block_on(commands::embedded::serve(&deviations))?;
            Ok(codes::CONFORMS)
        }
    }
}

/// Where the figures of a run are served while it goes on, for Prometheus.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct MetricsArgs {
    /// Serve live figures for Prometheus (OpenMetrics) at /metrics on this address, for example 127.0.0.1:9464; without a host, on
    /// 127.0.0.1 only. Port 0 takes a free one. The address is printed.
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<String>,
    /// Wait at the end until Prometheus has read the final figures, at most this long [default: 0s].
    #[arg(long, value_name = "TIME", value_parser = duration::parse, requires = "metrics")]
    metrics_wait: Option<Duration>,
}

impl MetricsArgs {
    /// Serves the figures, if they are asked for. Call it in a runtime.
    async fn serve(&self, live: &LiveFigures) -> Result<Option<MetricsServer>, CommandError> {
        let Some(address) = &self.metrics else { return Ok(None) };
        let server = MetricsServer::start(address, live).await?;
        out::eprint(&format!("metrics: {}\n", server.url));
        Ok(Some(server))
    }

    /// Closes the port. Ctrl-C ends the wait for Prometheus.
    async fn close(&self, server: Option<MetricsServer>, interrupts: &mut Interrupts) {
        if let Some(server) = server {
            let wait = self.metrics_wait.unwrap_or_default();
            tokio::select! {
                () = server.close(wait) => {}
                () = interrupts.next() => {}
            }
        }
    }
}

/// The signals that end a command. Call it in a runtime, before a load.
///
/// goose 0.19 sets a handler of the crate `ctrlc` when it starts. That handler replaces every other one, and it calls `exit(1)` at a
/// Ctrl-C after goose was stopped: at the second one while requests are in flight, and at the first one after the end of the load.
/// Then no report was written. The crate accepts one handler in a process. So an empty one is set here first: the crate then refuses
/// that of goose and changes nothing. The handler of tokio comes later and gets every signal.
fn interrupts() -> Result<Interrupts, CommandError> {
    // An error is a handler that was set by an earlier call.
    let _ = ctrlc::set_handler(|| {});
    Interrupts::new().map_err(|cause| format!("the runtime: {cause}").into())
}
