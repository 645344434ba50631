//! The file that `init URL` writes: the tables of a specification from its survey, between what is the same for all of them.

use paymaster_client::redact::Redactor;
use paymaster_engine::{first_profile::ProfileText, rules::count, specification::Specification};
use paymaster_settings::{DEFAULT_SPECIFICATION, ShownTarget, escape_controls};
use toml_edit::Array;

use crate::report::words::{self, message_of_target};
use crate::run::Surveyed;

/// The settings of the command line that are worth a line, and the target as it may be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a> {
    pub(crate) specification: &'static Specification,
    pub(crate) place: &'a ShownTarget,
    pub(crate) redactor: &'a Redactor,
    /// `--rate`, in requests a second.
    pub(crate) rate: Option<f64>,
}

/// What the survey found, for people, one thing a line.
pub(crate) fn findings(surveyed: &Surveyed, given: Given<'_>) -> Vec<String> {
    let found = &surveyed.found;
    if found.needs.is_some() {
        return vec![refused(surveyed, given)];
    }
    let mut lines = found.findings.clone();
    if let Some(refusal) = found.access.outcomes.commonest_refusal(given.specification.kinds) {
        let (times, message) =
            (count(refusal.times, "time"), message_of_target(&refusal.message, given.redactor));
        lines.push(format!("the commonest refusal, {times}: {message}"));
    }
    lines
}

/// The commonest refusal of a target that serves nothing.
fn refused(surveyed: &Surveyed, given: Given<'_>) -> String {
    let kinds = given.specification.kinds;
    match surveyed.found.access.outcomes.commonest_refusal(kinds) {
        Some(refusal) => words::refused(&refusal, given.specification, given.redactor),
        None => "the target served no operation".to_owned(),
    }
}

/// The text of the file.
pub(crate) fn text(surveyed: &Surveyed, given: Given<'_>) -> String {
    let mut text = ProfileText::default();
    head(&mut text, surveyed, given);
    text.0 += &surveyed.found.tables;
    target(&mut text, surveyed, given);
    text.0
}

fn head(text: &mut ProfileText, surveyed: &Surveyed, given: Given<'_>) {
    text.comment(&format!(
        "The profile of {}, as `paymaster-conformance init URL` found it with {}.",
        escape_controls(&given.place.shown),
        count(surveyed.requests as u128, "request")
    ));
    text.comment("Lines marked `found` are what the target showed. Lines that begin with `#:` are what only you can say, the most");
    text.comment("valuable first: remove the `#:` where they are true. `paymaster-conformance init` writes a file with every key.");
    if let Some(cause) = &surveyed.ended {
        let cause = escape_controls(&given.redactor.apply(cause));
        text.comment(&format!("The survey did not come to its end: {cause}."));
    }
    if surveyed.found.needs.is_some() {
        text.comment(&refused(surveyed, given));
    }
    if given.specification != DEFAULT_SPECIFICATION {
        text.line(&format!("spec = \"{}\"", given.specification.name));
    }
}

fn target(text: &mut ProfileText, surveyed: &Surveyed, given: Given<'_>) {
    text.table("target");
    match &given.place.literal {
        Some(url) => text.found("given", "url", url.as_str()),
        None => text.comment("The URL holds a secret and is not written here: set PAYMASTER_URL to it."),
    }
    let headers = &given.place.headers;
    if !headers.is_empty() {
        text.only_you(
            "Headers were sent whose values are not written here: the environment variables hold them. They are sent to `url` alone.",
            "headers",
            headers.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Array>(),
        );
    }
    let rate = |rate: f64| (rate * 10.0).floor().max(1.0) / 10.0;
    match (given.rate, surveyed.rate_limit) {
        (Some(given), _) => text.found("given", RATE, rate(given)),
        (None, Some(found)) => {
            text.found("found: it asked for pauses when more were sent", RATE, rate(found));
        }
        (None, None) if surveyed.was_throttled => text.only_you(
            "found: it asked for a pause. The most requests a second that it serves:",
            RATE,
            10.0,
        ),
        (None, None) => {}
    }
}

const RATE: &str = "requests-per-second";
