//! The port on which Prometheus reads the figures.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use paymaster_reference_server::{metrics_address, serve_metrics};
use tokio::{sync::oneshot, task::JoinHandle};

use super::LiveFigures;

/// Serves the figures until it is closed.
#[derive(Debug)]
pub struct MetricsServer {
    address: SocketAddr,
    live: LiveFigures,
    shutdown: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl MetricsServer {
    /// Listens at `HOST:PORT`, or at a port of 127.0.0.1. Call it in a runtime.
    pub fn start(address: &str, live: &LiveFigures) -> io::Result<Self> {
        let address = metrics_address(address);
        let listen = || {
            let listener = TcpListener::bind(&address)?;
            listener.set_nonblocking(true)?;
            Ok((listener.local_addr()?, tokio::net::TcpListener::from_std(listener)?))
        };
        let refused = |cause| format!("cannot listen on {address} for --metrics: {cause}");
        let (bound, listener) = listen().map_err(|cause: io::Error| io::Error::other(refused(cause)))?;
        let (shutdown, shut) = oneshot::channel::<()>();
        let source = live.clone();
        let serving = tokio::spawn(serve_metrics(listener, move || source.text(), async {
            // A dropped sender ends it as well.
            let _ = shut.await;
        }));
        Ok(Self { address: bound, live: live.clone(), shutdown, serving })
    }

    /// The URL of the page.
    pub fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }

    /// Closes the port, at once or when the final figures were read, after `wait` at the latest. Responses in progress are completed.
    pub async fn close(self, wait: Duration) {
        self.live.close();
        // With a time of 0 it does not wait.
        let _ = tokio::time::timeout(wait, self.live.final_page()).await;
        let _ = self.shutdown.send(());
        let _ = self.serving.await;
    }
}
