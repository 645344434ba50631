//! What is judged, and how it is reached.

use std::sync::Arc;

use paymaster_client::network::{connector::Connector, proxies::Proxies, target::Target};
use paymaster_reference_server::{Config, Service};
use paymaster_settings::{Embedded, settings::file};

use crate::check::{CheckError, service::Connections};

/// What requests to a service in this process are addressed to: a name that no resolver knows (RFC 6761).
const SERVICE_URL: &str = "http://service.invalid/";

/// What is judged.
pub(super) enum Judged {
    Url(Target),
    Service(Connections),
    ReferenceServer,
}

/// How the target is reached in a run that has started.
pub(super) struct Route {
    pub(super) target: Target,
    pub(super) connector: Connector,
    pub(super) server: Option<Server>,
}

/// A server of this process, to be stopped when the run is over.
pub(super) enum Server {
    Connections(Connections),
    Reference(Box<Embedded>),
}

impl Server {
    /// Ends the server and its connections.
    pub(super) async fn stop(self) {
        match self {
            Self::Connections(connections) => connections.close(),
            Self::Reference(embedded) => embedded.stop().await,
        }
    }
}

impl Judged {
    /// Prepares the way to the target. A server of this process is started.
    pub(super) fn route(self, settings: &file::Target) -> Result<Route, CheckError> {
        match self {
            Self::Url(target) => {
                let connector = Connector::new(&target, &settings.trust(), &Proxies::default())
                    .map_err(|cause| CheckError::Tls(cause.into()))?;
                Ok(Route { target, connector, server: None })
            }
            Self::Service(connections) => {
                let target = parse(SERVICE_URL)?;
                let connector = Connector::in_process(&target, connections.opener());
                Ok(Route { target, connector, server: Some(Server::Connections(connections)) })
            }
            Self::ReferenceServer => {
                let config = Config::default();
                let service =
                    Service::new(&config).map_err(|cause| CheckError::ReferenceServer(cause.into()))?;
                let (embedded, pipe) = Embedded::serve_piped(&config, service);
                let target = parse(&embedded.url)?;
                let connector = Connector::in_process(&target, Arc::new(move || pipe.connect()));
                Ok(Route { target, connector, server: Some(Server::Reference(Box::new(embedded))) })
            }
        }
    }
}

/// The target at a URL.
pub(super) fn parse(url: &str) -> Result<Target, CheckError> {
    Target::parse(url).map_err(|cause| CheckError::Url(cause.into()))
}
