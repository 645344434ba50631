//! One group, sent once: a replay.

use tokio::{sync::mpsc, time::Instant};

use super::{
    Settings,
    courier::{Courier, Undelivered},
    pace::Pace,
    stop::{Reason, Stop},
};
use crate::{
    case::Group,
    context::Context,
    exchange::{Exchange, Failure},
    finding::Violation,
    judge::Judge,
    rules::Rule,
};

/// Sends a group and judges it by one rule; gives the exchanges and the first violation. The error says why the target could
/// not be tested.
pub async fn once(
    settings: &Settings,
    rule: &'static Rule,
    group: &Group,
    context: &Context,
    stop: &Stop,
) -> Result<(Vec<Exchange>, Option<Violation>), String> {
    let ends = Instant::now() + settings.time_limit;
    // Nobody listens here: pauses are kept, not told.
    let (news, _) = mpsc::unbounded_channel();
    let courier = Courier::new(
        settings.transport.clone(),
        stop.clone(),
        Pace::new(settings.rate, settings.max_requests, ends),
        settings.jobs,
        news,
    );
    let delivered = tokio::select! {
        biased;
        () = stop.stopped() => Err(ended(stop)),
        () = tokio::time::sleep_until(ends) => Err("the time limit was reached".to_owned()),
        delivered = courier.deliver(group) => delivered.map_err(|cause| match cause {
            Undelivered::Stopped => ended(stop),
            cause => cause.to_string(),
        }),
    };
    let exchanges = delivered?;
    let unanswered = exchanges.iter().find_map(|exchange| match &exchange.outcome {
        Err(failure @ (Failure::Connect(_) | Failure::Timeout { .. })) => Some(failure),
        _ => None,
    });
    let judgements = Judge::new(vec![rule]).group(group, &exchanges, context);
    let violation = judgements
        .into_iter()
        .flat_map(|judgement| judgement.violations)
        .next();
    match (violation, unanswered) {
        (None, Some(failure)) => Err(failure.to_string()),
        (violation, _) => Ok((exchanges, violation)),
    }
}

fn ended(stop: &Stop) -> String {
    match stop.reason() {
        Some(Reason::GaveUp(cause) | Reason::Limited(cause)) => cause,
        Some(Reason::Interrupted) => "interrupted".to_owned(),
        _ => Undelivered::Stopped.to_string(),
    }
}
