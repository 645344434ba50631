//! Discovery before the load: what the target supports and which dialect it has.

use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use paymaster_cli::settings::Settings as TargetSettings;
use paymaster_client::{retry_after::pause, transport::Line};
use paymaster_exchange::Exchange;
use paymaster_judge::{
    cases::{case::Group, discovery::Discovery},
    target::context::Context,
};

use super::error::RunError;

/// The longest time to wait for a target that requests a pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// The shortest pause that is made.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);

/// Sends the requests of discovery. An error if the target answers none of the first ones.
pub(super) async fn discover(target: &TargetSettings) -> Result<Context, RunError> {
    let mut discovery = Discovery::new(Context::new(target.profile.clone()), target.seed);
    let mut line = Line::default();
    let mut answers: Vec<(Group, Vec<Exchange>)> = Vec::new();
    let (mut answered, mut failure) = (false, None);
    while let Some(round) = discovery.next_round(&answers) {
        answers = Vec::new();
        for group in round {
            let mut exchanges = Vec::new();
            for member in &group.members {
                let exchange = send(&mut line, target, &member.body).await;
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

/// Sends a request, again after each pause that the target requests, for [`LONGEST_PAUSE`] at most.
async fn send(line: &mut Line, target: &TargetSettings, body: &Bytes) -> Exchange {
    let until = Instant::now() + LONGEST_PAUSE;
    loop {
        let exchange = line.exchange(&target.transport, body.clone()).await;
        let requested = exchange
            .outcome
            .as_ref()
            .ok()
            .and_then(|response| pause(response, SystemTime::now()));
        match requested {
            Some(requested) if Instant::now() + requested < until => {
                tokio::time::sleep(requested.max(SHORTEST_PAUSE)).await;
            }
            _ => return exchange,
        }
    }
}
