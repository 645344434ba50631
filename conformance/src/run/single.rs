//! One group, sent once: a replay.

use std::collections::BTreeSet;

use tokio::{sync::mpsc, time::Instant};

use crate::run::courier::{Courier, Undelivered};
use crate::run::on_chain::Chain;
use paymaster_cli::settings::Settings;
use paymaster_client::{
    pace::Pace,
    stop::{Reason, Stop},
};
use paymaster_exchange::{Exchange, Failure};
use paymaster_judge::{
    cases::case::Group,
    rules::{Rule, View},
    session::{
        judge::{self, Judge},
        unread::Unread,
    },
    target::context::Context,
    verdict::finding::Violation,
};

/// What the answers to a group show of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// The rule is broken.
    Broken(Violation),
    /// The rule was judged, and held.
    Held,
    /// No answer is one that the rule judges.
    NotJudged,
}

/// Sends a group and judges it by one rule. `found` is the member whose answer broke the rule before, and the HTTP status of that
/// answer. The error says why the target could not be tested.
pub async fn once(
    settings: &Settings,
    chain: Option<Chain>,
    rule: &'static Rule,
    group: &Group,
    found: (usize, Option<u16>),
    context: &Context,
    stop: &Stop,
) -> Result<(Vec<Exchange>, Replayed), String> {
    let ends = Instant::now() + settings.time_limit;
    // Nobody listens here: pauses are kept, not told.
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
    let exchanges = delivered?;
    let replayed = judged(rule, group, &exchanges, found, context)?;
    Ok((exchanges, replayed))
}

fn judged(
    rule: &'static Rule,
    group: &Group,
    exchanges: &[Exchange],
    found: (usize, Option<u16>),
    context: &Context,
) -> Result<Replayed, String> {
    let views = judge::read(group, exchanges, context);
    if let Some(cause) = turned_away(&views, found) {
        return Err(cause);
    }
    if !Unread::default().lets_judge(&views) {
        return Ok(Replayed::NotJudged);
    }
    let judgements = Judge::new(vec![rule]).views(&views, Some(group), context);
    let held = judgements.iter().any(|judgement| judgement.held > 0);
    let violation = judgements
        .into_iter()
        .flat_map(|judgement| judgement.violations)
        .next();
    let unanswered = exchanges.iter().find_map(|exchange| match &exchange.outcome {
        Err(failure @ (Failure::Connect(_) | Failure::Timeout { .. })) => Some(failure),
        _ => None,
    });
    match (violation, unanswered) {
        (Some(violation), _) => Ok(Replayed::Broken(violation)),
        (None, Some(failure)) => Err(failure.to_string()),
        (None, None) if held => Ok(Replayed::Held),
        (None, None) => Ok(Replayed::NotJudged),
    }
}

/// Why the target could not be tested, where every request was turned away before the service saw it: with 401, 403 or 404, whatever
/// the body, or by something before the service. An answer with the status that it had when the rule was found broken is judged.
fn turned_away(views: &[View<'_>], found: (usize, Option<u16>)) -> Option<String> {
    let status = |view: &View<'_>| view.answer.response().map(|response| response.status);
    let again = views.get(found.0).and_then(status);
    if again.is_none() || again == found.1 {
        return None;
    }
    let denied = |status| matches!(status, 401 | 403 | 404 | 407);
    let away = |view: &View<'_>| view.turned_away() || status(view).is_some_and(denied);
    let statuses: BTreeSet<u16> = views.iter().filter_map(status).collect();
    let names: Vec<String> = statuses.iter().map(|status| format!("HTTP {status}")).collect();
    let advice = if statuses.iter().copied().any(denied) {
        "look at the path, the headers and the key that the target wants"
    } else {
        "the service itself answered none"
    };
    views
        .iter()
        .all(away)
        .then(|| format!("{} for every request: {advice}", names.join(" or ")))
}

fn ended(stop: &Stop) -> String {
    match stop.reason() {
        Some(Reason::GaveUp(cause) | Reason::Limited(cause)) => cause,
        Some(Reason::Interrupted) => "interrupted".to_owned(),
        _ => Undelivered::Stopped.to_string(),
    }
}
