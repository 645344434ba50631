//! `--metrics`: the figures of a run while it goes on, for Prometheus.

use std::time::Duration;

use clap::Args;
use paymaster_settings::{duration, output as out, process::Interrupts};

use super::CommandError;
use crate::metrics::{LiveFigures, MetricsServer};

/// Where the live figures are served.
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
    pub(in crate::cli) fn serve(&self, live: &LiveFigures) -> Result<Option<MetricsServer>, CommandError> {
        let Some(address) = &self.metrics else {
            return Ok(None);
        };
        let server = MetricsServer::start(address, live)?;
        out::eprint(&format!("metrics: {}\n", server.url()));
        Ok(Some(server))
    }

    /// Closes the port. Ctrl-C ends the wait for Prometheus.
    pub(in crate::cli) async fn close(&self, server: Option<MetricsServer>, interrupts: &mut Interrupts) {
        if let Some(server) = server {
            let wait = self.metrics_wait.unwrap_or_default();
            tokio::select! {
                () = server.close(wait) => {}
                () = interrupts.next() => {}
            }
        }
    }
}
