//! What is judged, and how it is reached.
//! A service of this process is served over pipes in memory.

use std::{future::Future, sync::Arc};

use parking_lot::Mutex;
use paymaster_client::network::{Connector, InProcess, Proxies, Target};
use paymaster_reference_server::{self as server, Config, Respond};
use paymaster_settings::settings::file;
use tokio::io::{DuplexStream, duplex};
use tokio::task::JoinSet;

use crate::check::CheckError;

/// What requests to a service in this process are addressed to: a name that no resolver knows (RFC 6761).
const SERVICE_URL: &str = "http://service.invalid/";
/// The same for the reference server.
const EMBEDDED_URL: &str = "http://embedded.invalid/";

/// What is judged.
pub(super) enum Judged {
    Url(Target),
    Service(InProcess),
    ReferenceServer,
}

impl Judged {
    /// The target and how it is reached. A server of this process is started.
    pub(super) fn route(self, settings: &file::Target) -> Result<(Target, Connector), CheckError> {
        match self {
            Self::Url(target) => {
                let connector = Connector::new(&target, &settings.trust(), &Proxies::default())
                    .map_err(|cause| CheckError::Tls(cause.into()))?;
                Ok((target, connector))
            }
            Self::Service(connect) => {
                let target = parse(SERVICE_URL)?;
                let connector = Connector::in_process(&target, connect);
                Ok((target, connector))
            }
            Self::ReferenceServer => {
                let service = server::Service::new(&Config::default())
                    .map_err(|cause| CheckError::ReferenceServer(cause.into()))?;
                reference_server(service)
            }
        }
    }
}

/// The target at a URL.
pub(super) fn parse(url: &str) -> Result<Target, CheckError> {
    Target::parse(url).map_err(|cause| CheckError::Url(cause.into()))
}

/// The way to a reference server in this process.
pub(crate) fn reference_server(service: impl Respond) -> Result<(Target, Connector), CheckError> {
    let service = Arc::new(service);
    let target = parse(EMBEDDED_URL)?;
    let connect = connections(move |stream| server::serve_stream(stream, Arc::clone(&service)));
    let connector = Connector::in_process(&target, connect);
    Ok((target, connector))
}

/// Bytes that are buffered in each direction of a connection.
const PIPE_BYTES: usize = 64 * 1024;

/// What connects to a service of this process, whose connections `serve` serves. They end, with the calls of the service that still run,
/// when it is dropped.
pub(super) fn connections<F>(serve: impl Fn(DuplexStream) -> F + Send + Sync + 'static) -> InProcess
where
    F: Future<Output = ()> + Send + 'static,
{
    let open = Mutex::new(JoinSet::new());
    Arc::new(move || {
        let (ours, theirs) = duplex(PIPE_BYTES);
        let mut open = open.lock();
        while open.try_join_next().is_some() {}
        open.spawn(serve(theirs));
        Ok(ours)
    })
}
