//! The embedded server: the reference server on a free loopback port, with the profile that belongs to its configuration.

use std::{io, sync::Arc};

use paymaster_reference_server::{Config, Listen, PipeConnector, Respond, Service, pipe};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use paymaster_judge::target::{
    ordinary::SizeLimits,
    profile::{Accepts, Operations, Profile, SmartAccount, Sponsors, Target, Token, TokenLists},
};

/// Tokens that the default configuration does not support.
const UNSUPPORTED: [&str; 3] = [
    "0x1111111111111111111111111111111111111111",
    "0x2222222222222222222222222222222222222222",
    "0xFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFf",
];

/// Account names of the server, with the versions that published clients send. Other names get the version 1.0.0.
const VERSIONS: [(&str, &str); 3] = [("BICONOMY", "2.0.0"), ("INFINITISM", "1.0.0"), ("SAFE", "1.4.1")];

/// The URL of a server without a port. Its name resolves nowhere (RFC 6761).
const PIPED_URL: &str = "http://embedded.invalid/";

/// A running reference server.
#[derive(Debug)]
pub struct Embedded {
    /// Its URL.
    pub url: String,
    /// The profile of what it supports.
    pub profile: Profile,
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
        let serving = tokio::spawn(paymaster_reference_server::run(
            listener,
            Arc::new(service),
            async {
                // A dropped sender stops the server too.
                let _ = stopped.await;
            },
        ));
        Self {
            url,
            profile: profile_of(config),
            shutdown,
            serving,
        }
    }

    /// Stops the server and waits for its end.
    pub async fn stop(self) {
        // An error means that the server has ended already.
        let _ = self.shutdown.send(());
        let _ = self.serving.await;
    }
}

/// The sizes that a reference server of that configuration serves.
fn limits_of(config: &Config) -> SizeLimits {
    SizeLimits {
        call_data_bytes: u64::try_from(config.policy.max_call_data_bytes).ok(),
        token_list_length: Some(100),
        id_length: Some(1_000),
        gas_limit: Some(u64::MAX),
        max_fee_gwei: Some(u64::MAX),
        expiry_seconds: Some(u64::from(u32::MAX)),
        webhook_data_bytes: Some(16_384),
    }
}

/// The profile of a reference server of that configuration.
pub fn profile_of(config: &Config) -> Profile {
    let version = |name: &str| {
        VERSIONS
            .iter()
            .find(|(known, _)| *known == name)
            .map_or("1.0.0", |(_, version)| *version)
    };
    Profile {
        target: Target::default(),
        tokens: TokenLists {
            supported: config
                .tokens
                .iter()
                .map(|token| Token {
                    address: token.address.clone(),
                    symbol: Some(token.symbol.clone()),
                    decimals: u8::try_from(token.decimals).ok(),
                })
                .collect(),
            unsupported: UNSUPPORTED
                .iter()
                .filter(|address| {
                    !config
                        .tokens
                        .iter()
                        .any(|token| token.address.eq_ignore_ascii_case(address))
                })
                .map(|address| (*address).to_owned())
                .collect(),
            complete: false,
        },
        accounts: config
            .policy
            .account_names
            .iter()
            .map(|name| SmartAccount {
                name: name.clone(),
                version: version(name).to_owned(),
            })
            .collect(),
        operations: Operations {
            accepts: Accepts::Any,
            refused_senders: config.policy.denied_senders.clone(),
            sponsors: Some(Sponsors::Any),
            ..Operations::default()
        },
        limits: limits_of(config),
        ..Profile::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;

    #[test]
    fn the_profile_that_the_server_prints_is_this_one() {
        let mut config = Config::default();
        config.tokens.truncate(2);
        config.policy.account_names.push("OTHER".to_owned());
        for config in [Config::default(), config] {
            let printed = config.to_profile().unwrap();
            let (profile, _) = file::parse(&printed).unwrap();
            assert_eq!(profile, profile_of(&config));
        }
    }
}
