//! Sends the requests of a survey.

use std::time::Duration;

use tokio::time::Instant;

use crate::run::sending::{Notice, Sender, Sponsorships, limits_of};
use paymaster_client::{pace::Pace, redact::Redactor, stop::Stop};
use paymaster_engine::first_profile::FirstProfile;
use paymaster_settings::Settings;

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
    let ends = Instant::now() + settings.args.time_limit();
    let pace = Pace::new(settings.args.rate, settings.args.max_requests, ends).after(settings.asked);
    let limits = limits_of(settings);
    let sponsorships = Sponsorships::new(settings.profile.specification(), limits);
    let (sender, mut notices) =
        Sender::new(settings.transport.clone(), stop.clone(), pace, settings.args.jobs(), sponsorships);
    let limit = stop.trigger_after(settings.args.time_limit());
    let mut survey = (settings.profile.specification().survey)(settings.seed(), limits);
    let mut answers = Vec::new();
    while let Some(round) = survey.next_round(&answers) {
        let Some(came) = sender.deliver_round(round).await else { break };
        answers = came;
        if sender.target.lock().liveness.hopeless().is_some() {
            break;
        }
    }
    limit.abort();
    let mut was_throttled = false;
    while let Ok(notice) = notices.try_recv() {
        was_throttled |= matches!(notice, Notice::Waiting { is_asked_for: true, .. });
    }
    let found = survey.finish(&|text| redactor.apply(text) == text);
    let denied = found.access.denied();
    let ended = denied
        .or_else(|| sender.target.lock().liveness.hopeless())
        .or_else(|| stop.reason().map(|reason| reason.to_string()));
    let detected = |interval: Duration| settings.args.rate.is_none().then(|| interval.as_secs_f64().recip());
    Surveyed {
        found,
        rate_limit: sender.pace.interval().filter(|_| was_throttled).and_then(detected),
        was_throttled,
        requests: sender.pace.sent(),
        ended,
    }
}
