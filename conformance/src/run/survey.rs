//! Sends the requests of a survey.

use std::time::Duration;

use tokio::time::Instant;

use crate::run::sending::sender::{Notice, Sender};
use paymaster_client::{pace::Pace, stop::Stop};
use paymaster_fee_quote::{
    survey::{Survey, SurveyResult},
    target::{context::Context, profile::Profile},
};
use paymaster_settings::settings::Settings;

/// A survey that was sent.
#[derive(Debug)]
pub struct Surveyed {
    /// What the answers show.
    pub result: SurveyResult,
    /// The rate limit that the target showed, in requests a second.
    pub rate_limit: Option<f64>,
    /// Whether the target asked for a pause.
    pub was_throttled: bool,
    /// How many requests were sent.
    pub requests: usize,
    /// Why the target could not be asked, or not to the end.
    pub ended: Option<String>,
}

/// Asks a target what a first profile can state. Nothing of the profile of `settings` is assumed.
pub async fn survey(settings: &Settings, stop: &Stop) -> Surveyed {
    let pace = Pace::new(settings.rate, settings.max_requests, Instant::now() + settings.time_limit);
    let (sender, mut notices) = Sender::new(settings.transport.clone(), stop.clone(), pace, settings.jobs);
    let limit = stop.trigger_after(settings.time_limit);
    let mut survey = Survey::new(Context::new(Profile::default()), settings.seed);
    let mut answers = Vec::new();
    loop {
        let (next, round) = survey.next_round(&answers);
        survey = next;
        let Some(round) = round else { break };
        match sender.deliver_round(round).await {
            Some(came) => answers = came,
            None => break,
        }
        if sender.target().liveness.hopeless().is_some() {
            break;
        }
    }
    limit.abort();
    let mut was_throttled = false;
    while let Ok(notice) = notices.try_recv() {
        was_throttled |= matches!(notice, Notice::Throttled { .. });
    }
    let result = survey.finish();
    let denied = result.access.denied();
    let ended = denied
        .or_else(|| sender.target().liveness.hopeless())
        .or_else(|| stop.reason().map(|reason| reason.to_string()));
    let detected = |interval: Duration| settings.rate.is_none().then(|| interval.as_secs_f64().recip());
    Surveyed {
        result,
        rate_limit: sender.pace.interval().filter(|_| was_throttled).and_then(detected),
        was_throttled,
        requests: sender.pace.sent(),
        ended,
    }
}
