//! Replaying a finding: sends its group once and judges the answers by its rule.

use tokio::{sync::mpsc, time::Instant};

use crate::run::sending::{
    chain::Chain,
    sender::{DeliveryError, Sender},
};
use paymaster_cli::settings::Settings;
use paymaster_client::{
    pace::Pace,
    stop::{Reason, Stop},
};
use paymaster_exchange::Exchange;
use paymaster_judge::{
    cases::case::Group,
    rules::Rule,
    session::recheck::{Original, Recheck, Replayed},
    target::context::Context,
};

/// Sends the group of a finding and judges the answers by the rule of the finding. The exchanges are empty where the group could not
/// be sent.
pub async fn replay(
    settings: &Settings,
    chain: Option<Chain>,
    rule: &'static Rule,
    group: &Group,
    original: Original,
    context: &Context,
    stop: &Stop,
) -> (Vec<Exchange>, Replayed) {
    let ends = Instant::now() + settings.time_limit;
    // Pauses are made and not reported: there is no receiver.
    let (notices, _) = mpsc::unbounded_channel();
    let sender = Sender::new(
        settings.transport.clone(),
        stop.clone(),
        Pace::new(settings.rate, settings.max_requests, ends),
        settings.jobs,
        notices,
    )
    .simulating_on(chain)
    // The group is sent once, alone.
    .ignoring_overload();
    let delivered = tokio::select! {
        biased;
        () = stop.stopped() => Err(ended(stop)),
        () = tokio::time::sleep_until(ends) => Err("the time limit was reached".to_owned()),
        delivered = sender.deliver(group) => delivered.map_err(|cause| match cause {
            DeliveryError::Stopped => ended(stop),
            cause => cause.to_string(),
        }),
    };
    match delivered {
        Ok(exchanges) => {
            let replayed = Recheck::new(rule, context).replayed(group, &exchanges, original);
            (exchanges, replayed)
        }
        Err(cause) => (Vec::new(), Replayed::NotTested(cause)),
    }
}

fn ended(stop: &Stop) -> String {
    match stop.reason() {
        Some(Reason::GaveUp(cause) | Reason::Limited(cause)) => cause,
        Some(Reason::Interrupted) => "interrupted".to_owned(),
        _ => DeliveryError::Stopped.to_string(),
    }
}
