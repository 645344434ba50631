//! Replaying a finding: its group is sent once and judged by its rule.

use tokio::{sync::mpsc, time::Instant};

use crate::run::courier::{Courier, Undelivered};
use crate::run::on_chain::Chain;
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

/// Sends the group of a finding and judges it by the rule of the finding. The exchanges are empty where nothing could be sent.
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
    // Pauses are kept and not reported: there is no listener.
    let (news, _) = mpsc::unbounded_channel();
    let courier = Courier::new(
        settings.transport.clone(),
        stop.clone(),
        Pace::new(settings.rate, settings.max_requests, ends),
        settings.jobs,
        news,
    )
    .simulating_on(chain);
    let delivered = tokio::select! {
        biased;
        () = stop.stopped() => Err(ended(stop)),
        () = tokio::time::sleep_until(ends) => Err("the time limit was reached".to_owned()),
        delivered = courier.deliver(group) => delivered.map_err(|cause| match cause {
            Undelivered::Stopped => ended(stop),
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
        _ => Undelivered::Stopped.to_string(),
    }
}
