//! The embedded server: the reference server on a free loopback port, with the profile that belongs to its configuration.

use std::{io, sync::Arc};

use paymaster_reference_server::{Config, Listen, PipeConnector, Respond, Service, Variant, pipe};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::settings::file;
use paymaster_engine::knowledge::Knowledge;
use paymaster_fee_quote::{
    SPECIFICATION,
    target::{context::Context, profile::Profile},
};

/// What every report shows where the embedded server was the target.
pub const EMBEDDED_WARNING: &str = "the target is the embedded reference server: the result is about no other service; give the URL of yours";

/// The URL of a server without a port. Its name resolves nowhere (RFC 6761).
const PIPED_URL: &str = "http://embedded.invalid/";

/// A running reference server.
#[derive(Debug)]
pub struct Embedded {
    pub url: String,
    /// The profile of what it supports.
    pub profile: Arc<dyn Knowledge>,
    shutdown: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Embedded {
    /// Starts the server with its default configuration.
    pub async fn start() -> io::Result<Self> {
        Self::start_with(&Config::default()).await
    }

    /// Starts the server with that configuration.
    pub async fn start_with(config: &Config) -> io::Result<Self> {
        let service = Service::new(config).map_err(io::Error::other)?;
        Self::serve(config, service).await
    }

    /// Serves a service of that configuration.
    pub async fn serve(config: &Config, service: impl Respond) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}/", listener.local_addr()?);
        Ok(Self::serve_on(listener, url, config, service))
    }

    /// Serves a service of that configuration without a port: connections are made by the connector that is returned.
    pub fn serve_piped(config: &Config, service: impl Respond) -> (Self, PipeConnector) {
        let (connector, listener) = pipe();
        let embedded = Self::serve_on(listener, PIPED_URL.to_owned(), config, service);
        (embedded, connector)
    }

    fn serve_on(
        listener: impl Listen + Send + 'static,
        url: String,
        config: &Config,
        service: impl Respond,
    ) -> Self {
        let (shutdown, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(paymaster_reference_server::run(listener, Arc::new(service), async {
            // A dropped sender stops the server too.
            let _ = stopped.await;
        }));
        Self { url, profile: Arc::new(Context::new(profile_of(config))), shutdown, serving }
    }

    /// Stops the server and waits for its end.
    pub async fn stop(self) {
        // An error means that the server has ended already.
        let _ = self.shutdown.send(());
        let _ = self.serving.await;
    }
}

/// The profile of a reference server of that configuration: the one that the server prints with `--print-profile`.
///
/// # Panics
///
/// Never: a test holds that the printed profile can be read.
pub fn profile_of(config: &Config) -> Profile {
    profile_with(config, &[])
}

/// The same for a server with these variants.
///
/// # Panics
///
/// Never: a test holds that the printed profile can be read.
pub fn profile_with(config: &Config, variants: &[&Variant]) -> Profile {
    let printed =
        paymaster_reference_server::to_profile(config, variants).expect("a profile is written as toml");
    let (profile, _) =
        file::parse(&printed, Some(&SPECIFICATION)).expect("the reference server prints a valid profile");
    Context::of(&*profile.known).profile.clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use paymaster_reference_server::variants;

    #[test]
    fn the_profile_that_the_server_prints_can_be_read() {
        let mut config = Config::default();
        config.tokens.truncate(2);
        config.policy.account_names.push("OTHER".to_owned());
        let profile = profile_of(&config);
        assert_eq!(profile.tokens.supported.len(), 2);
        assert_eq!(profile.accounts.len(), 4);
        assert_eq!(profile.limits.call_data_bytes, Some(65_536));
        for variant in variants() {
            let mut config = Config::default();
            (variant.configure)(&mut config);
            let profile = profile_with(&config, &[variant]);
            assert_eq!(profile.limits.call_data_bytes, None, "{}", variant.name);
        }
    }
}
