//! Discovery before the load: what the target supports and which dialect it has.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use paymaster_client::http::PooledConnection;
use paymaster_client::throttling::{Retries, ThrottleDecision};
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::Answer;
use paymaster_engine::session::Rounds;
use paymaster_exchange::{Body, Exchange};
use paymaster_settings::{Settings as TargetSettings, output as out, process::CommandError};

use super::target_check;
use crate::{engine::LiveView, results::DiscoveryCost, text::count};

/// Sends the requests of discovery, and writes to standard error that it does. Gives what it learned and what it cost, or why the target
/// cannot be tested: it answers none of the first requests, or what answers is no such service. An error if the target is a public one that
/// must not get so many `requests` per second (`None`: no limit).
pub(crate) async fn discover(
    target: &TargetSettings,
    requests: Option<f64>,
    own_target: bool,
) -> Result<Result<(Arc<dyn Knowledge>, DiscoveryCost), String>, CommandError> {
    let address = target.transport.target.address();
    let resolved = tokio::net::lookup_host(&address).await;
    let addresses: Vec<_> = resolved.map(|all| all.map(|socket| socket.ip()).collect()).unwrap_or_default();
    target_check::check(&addresses, requests, own_target)?;
    out::eprint("discovery: requests that find out what the target supports, before the load\n");
    let (began, mut requests, mut view) = (Instant::now(), 0, LiveView::default());
    let mut rounds = Rounds::new(target.profile.discovery(target.seed()));
    let mut connection = PooledConnection::default();
    let mut answers = Vec::new();
    let (mut answered, mut responded, mut failure) = (false, false, None);
    let (mut rounds_sent, mut is_silent) = (0, false);
    // The last answers of a silent target are learned too: they may show what it is.
    while let Some(round) = rounds.next_round(answers).filter(|_| !is_silent) {
        answers = Vec::new();
        for group in round {
            let mut exchanges = Vec::new();
            for member in &group.members {
                let exchange = send(&mut connection, target, &member.body, &mut requests).await;
                view.show(|_| vec![format!("discovery: {} so far", count(requests, "request"))]);
                match &exchange.outcome {
                    Ok(response) => {
                        responded = true;
                        let is_json = response.body.first() == Some(&b'{');
                        answered |= is_json || Answer::of(&exchange).resembles_json_rpc();
                        failure.get_or_insert_with(|| format!("HTTP {}", response.status));
                    }
                    Err(cause) => failure = Some(cause.to_string()),
                }
                exchanges.push(exchange);
            }
            answers.push((group, exchanges));
        }
        rounds_sent += 1;
        // A first round that fails is sent once more, unless nobody is there.
        is_silent = !answered && (rounds_sent > 1 || !responded);
    }
    let seconds = began.elapsed().as_secs_f64();
    let (discovery, _) = rounds.finish(target.profile.specification());
    let (known, access) = discovery.finish();
    let silence = || is_silent.then(|| failure.unwrap_or_else(|| "nothing was sent".to_owned()));
    Ok(access.denied().or_else(silence).map_or(Ok((known, DiscoveryCost { requests, seconds })), Err))
}

/// Sends a request, again after each pause that the target requests (see [`Retries::BEFORE_LOAD`]). Adds what it sent to `requests`.
async fn send(
    connection: &mut PooledConnection,
    target: &TargetSettings,
    body: &Body,
    requests: &mut u64,
) -> Exchange {
    let mut retries = Retries::BEFORE_LOAD;
    loop {
        *requests += 1;
        let exchange = connection.exchange(&target.transport, body.clone()).await;
        let decision = exchange.outcome.as_ref().map(|response| retries.decide(response, SystemTime::now));
        let Ok(ThrottleDecision::Wait(pause)) = decision else { return exchange };
        tokio::time::sleep(pause).await;
    }
}
