//! Discovery before the load: what the target supports and which dialect it has.

use std::time::SystemTime;

use bytes::Bytes;
use paymaster_cli::settings::Settings as TargetSettings;
use paymaster_client::{
    http::transport::PooledConnection,
    throttling::{RetryPolicy, ThrottleDecision},
};
use paymaster_exchange::Exchange;
use paymaster_judge::{
    cases::{case::Group, discovery::Discovery},
    target::context::Context,
};

use super::error::RunError;

/// Sends the requests of discovery. An error if the target answers none of the first ones.
pub(crate) async fn discover(target: &TargetSettings) -> Result<Context, RunError> {
    let mut discovery = Discovery::new(Context::new(target.profile.clone()), target.seed);
    let mut connection = PooledConnection::default();
    let mut answers: Vec<(Group, Vec<Exchange>)> = Vec::new();
    let (mut answered, mut failure) = (false, None);
    while let Some(round) = discovery.next_round(&answers) {
        answers = Vec::new();
        for group in round {
            let mut exchanges = Vec::new();
            for member in &group.members {
                let exchange = send(&mut connection, target, &member.body).await;
                match &exchange.outcome {
                    Ok(response) => {
                        answered |= response.body.first() == Some(&b'{');
                        failure.get_or_insert_with(|| format!("HTTP {}", response.status));
                    }
                    Err(cause) => failure = Some(cause.to_string()),
                }
                exchanges.push(exchange);
            }
            answers.push((group, exchanges));
        }
        if !answered {
            return Err(RunError::NoAnswer {
                target: target.shown_target.clone(),
                cause: failure.unwrap_or_else(|| "nothing was sent".to_owned()),
            });
        }
    }
    Ok(discovery.finish().context)
}

/// Sends a request, again after each pause that the target requests (see [`RetryPolicy::BEFORE_LOAD`]).
async fn send(connection: &mut PooledConnection, target: &TargetSettings, body: &Bytes) -> Exchange {
    let mut retries = RetryPolicy::BEFORE_LOAD.start();
    loop {
        let exchange = connection.exchange(&target.transport, body.clone()).await;
        let decision = exchange
            .outcome
            .as_ref()
            .map(|response| retries.decide(response, SystemTime::now));
        let Ok(ThrottleDecision::Wait(pause)) = decision else {
            return exchange;
        };
        tokio::time::sleep(pause).await;
    }
}
