//! The embedded server: the reference server on a free loopback port, and the profile that belongs to a configuration.

use std::{io, sync::Arc};

use paymaster_reference_server::{Config, Respond, Service, Variant};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use paymaster_engine::{knowledge::Knowledge, specification::Specification};

/// What every report shows where the embedded server was the target.
pub const EMBEDDED_WARNING: &str = "the target is the embedded reference server: the result is about no other service; give the URL of yours";

/// A running reference server.
#[derive(Debug)]
pub struct Embedded {
    pub url: String,
    config: Config,
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
        let (shutdown, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(paymaster_reference_server::run(listener, Arc::new(service), async {
            // A dropped sender stops the server too.
            let _ = stopped.await;
        }));
        Ok(Self { url, config: config.clone(), shutdown, serving })
    }

    /// The profile of what it supports.
    pub fn profile(&self, specification: &Specification) -> Arc<dyn Knowledge> {
        profile_of(specification, &self.config, &[])
    }

    /// Stops the server and waits for its end.
    pub async fn stop(self) {
        // An error means that the server has ended already.
        let _ = self.shutdown.send(());
        let _ = self.serving.await;
    }
}

/// The profile of a reference server of that configuration with these variants: the one that the server prints with `--print-profile`.
///
/// # Panics
///
/// Never: a test holds that the printed profile can be read.
pub fn profile_of(
    specification: &Specification,
    config: &Config,
    variants: &[&Variant],
) -> Arc<dyn Knowledge> {
    let printed = paymaster_reference_server::to_profile(specification.name, config, variants)
        .expect("a profile is written as toml");
    (specification.read_profile)(&printed).expect("the reference server prints a valid profile")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specifications::SPECIFICATIONS;
    use paymaster_reference_server::variants;

    #[test]
    fn the_profile_that_the_server_prints_can_be_read() {
        for specification in SPECIFICATIONS {
            let default = profile_of(specification, &Config::default(), &[]);
            assert_ne!(*default, *specification.unknown());
            let mut config = Config::default();
            config.tokens.truncate(2);
            config.policy.account_names.push("OTHER".to_owned());
            profile_of(specification, &config, &[]);
            for variant in variants() {
                let mut config = Config::default();
                (variant.configure)(&mut config);
                profile_of(specification, &config, &[variant]);
            }
        }
    }
}
