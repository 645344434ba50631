//! Sends the requests of a survey.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use tokio::{sync::mpsc, time::Instant};

use crate::run::sending::sender::{Notice, Sender};
use paymaster_client::{
    pace::Pace,
    redact::Redactor,
    stop::{Reason, Stop},
};
use paymaster_engine::{cases::case::Group, first_profile::FirstProfile};
use paymaster_exchange::Exchange;
use paymaster_settings::settings::Settings;

/// A survey that was sent.
#[derive(Debug)]
pub struct Surveyed {
    /// What the answers show.
    pub found: FirstProfile,
    /// The rate limit that the target showed, in requests a second.
    pub rate_limit: Option<f64>,
    /// Whether the target asked for a pause.
    pub was_throttled: bool,
    /// How many requests were sent.
    pub requests: usize,
    /// Why the target could not be asked, or not to the end.
    pub ended: Option<String>,
}

/// Asks a target what a first profile can state. Of the profile of `settings`, nothing but its specification is used. What the redactor
/// hides is not written into the tables.
pub async fn survey(settings: &Settings, redactor: &Redactor, stop: &Stop) -> Surveyed {
    let ends = Instant::now() + settings.time_limit;
    let (notice_sender, mut notices) = mpsc::unbounded_channel();
    let sender = Arc::new(Sender::new(
        settings.transport.clone(),
        stop.clone(),
        Pace::new(settings.rate, settings.max_requests, ends),
        settings.jobs,
        notice_sender,
    ));
    let limit = tokio::spawn({
        let stop = stop.clone();
        async move {
            tokio::time::sleep_until(ends).await;
            stop.trigger(Reason::TimeLimit);
        }
    });
    let mut survey = (settings.profile.specification().survey)(settings.seed);
    let mut answers: Vec<(Group, Vec<Exchange>)> = Vec::new();
    while let Some(round) = survey.next_round(&answers) {
        let delivering = join_all(round.iter().map(|group| sender.deliver(group)));
        let delivered = tokio::select! {
            biased;
            () = stop.stopped() => break,
            delivered = delivering => delivered,
        };
        answers = round
            .into_iter()
            .zip(delivered)
            .filter_map(|(group, exchanges)| Some((group, exchanges.ok()?)))
            .collect();
        if sender.liveness.hopeless().is_some() {
            break;
        }
    }
    limit.abort();
    let mut was_throttled = false;
    while let Ok(notice) = notices.try_recv() {
        was_throttled |= matches!(notice, Notice::Throttled { .. });
    }
    let found = survey.finish(&|text| redactor.apply(text) == text);
    let denied = found.access.denied();
    let ended = denied.or_else(|| sender.liveness.hopeless()).or_else(|| {
        stop.reason().map(|reason| match reason {
            Reason::Interrupted => "interrupted".to_owned(),
            Reason::TimeLimit => "the time limit was reached".to_owned(),
            Reason::Budget => "the request budget was spent".to_owned(),
            Reason::Limited(cause) | Reason::GaveUp(cause) => cause,
        })
    });
    let detected = |interval: Duration| settings.rate.is_none().then(|| interval.as_secs_f64().recip());
    Surveyed {
        found,
        rate_limit: sender.pace.interval().filter(|_| was_throttled).and_then(detected),
        was_throttled,
        requests: sender.pace.sent(),
        ended,
    }
}
