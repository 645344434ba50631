//! Observers of which requests are served and which are refused.

use crate::relations::{NULL_AS, Probe, WITHOUT};
use crate::rules::requests::decision::decision;
use crate::target::{BOUNDS, Context, ServedCapitals};
use paymaster_engine::cases::Role;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::{Answer, ParsedRequest};
use paymaster_engine::rules::{Seen, View};
use paymaster_schemas::{Mode, kinds};

use super::{is_baseline_served, is_probe};

/// How these probes were answered, where the baseline was served.
pub(super) fn acceptance(views: &[View<'_>], probes: &[Probe], values: &mut Vec<String>) {
    if !is_baseline_served(views) {
        return;
    }
    for view in views.iter().filter(|view| probes.iter().any(|probe| is_probe(view, *probe))) {
        values.extend(view.outcome().map(|outcome| format!("{}: {outcome}", view.label)));
    }
}

/// How requests are answered in which an optional member is null or absent, and whether that changes the decision. No table has null as
/// a value, so that a target may answer such a request as a malformed one.
pub(super) fn optional_members(views: &[View<'_>], _: &dyn Knowledge, values: &mut Vec<String>) {
    if !is_baseline_served(views) {
        return;
    }
    let is_about_a_member = |view: &&View<'_>| {
        view.role == Role::Probe && (view.label.starts_with(NULL_AS) || view.label.starts_with(WITHOUT))
    };
    let expected = views.first().and_then(decision);
    for view in views.iter().filter(is_about_a_member) {
        let outcome = match (decision(view), view.outcome()) {
            (Some(decided), _) if Some(decided) != expected => Some("served, with another decision"),
            (_, outcome) => outcome,
        };
        values.extend(outcome.map(|outcome| format!("{}: {outcome}", view.label)));
    }
}

/// At which places addresses in capital letters are served.
pub(super) fn addresses_in_capitals(views: &[View<'_>], _: &dyn Knowledge, values: &mut Vec<String>) {
    if !is_baseline_served(views) {
        return;
    }
    for view in views {
        if let (Some(call), Some(outcome)) = (view.valid_call(), view.outcome()) {
            let places = ServedCapitals::places_of(call);
            values.extend(places.map(|place| format!("{} in capitals: {outcome}", place.into_str())));
        }
    }
}

/// How requests that are larger than wallets send are answered. The status of a gateway, a limiter or a missing key is no limit of the
/// service; a missing answer is one only where the target answered another request of the group.
pub(super) fn limits(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    let context = Context::of(knowledge);
    let is_answering = views.iter().any(|view| view.answer.is_json_rpc());
    for view in views {
        let bound = BOUNDS.iter().find(|bound| view.beyond == Some(bound.beyond));
        let Some(bound) = bound else { continue };
        let outcome = match (view.outcome(), view.answer.response().map(|response| response.status)) {
            (Some(outcome), _) => outcome.to_owned(),
            (None, None) if is_answering => "no answer".to_owned(),
            (None, Some(status @ (413 | 414 | 431))) => format!("HTTP {status}"),
            (None, Some(status)) if !view.rejected_before_service() => format!("HTTP {status}"),
            (None, _) => continue,
        };
        values.push(format!("{}: {outcome}", bound.in_words(&context.limits)));
    }
}

/// How many malformed calls are refused, and each kind of malformed request that gets a result.
pub(super) fn malformed_params(views: &[View<'_>], _: &dyn Knowledge, values: &mut Vec<String>) {
    for view in views.iter().filter(|view| view.role == Role::Malformed) {
        let of_call = match &*view.request {
            ParsedRequest::Call(call) => {
                let method = if kinds::is_quote(call.pair) { "quote" } else { "sponsor" };
                let mode = if Mode::of(call.pair) == Mode::Sponsored { "sponsored" } else { "token" };
                Some(format!("{method} in {mode} mode"))
            }
            _ => None,
        };
        let outcome = match &view.answer {
            Answer::Json(..) if view.answer.result().is_some() => LET_THROUGH,
            Answer::Json(..) if view.answer.error().is_some() => "refused",
            _ => "no JSON-RPC answer",
        };
        match of_call {
            Some(of_call) if outcome == LET_THROUGH => {
                values.push(format!("{of_call}, {}: {outcome}", kind_of(view.label)));
            }
            Some(of_call) => values.push(format!("{of_call}: {outcome}")),
            None if outcome == LET_THROUGH => values.push(format!("{}: {outcome}", view.label)),
            None => {}
        }
    }
}

/// The kind of a malformation: its label, without the index of the item of a list.
fn kind_of(label: &str) -> String {
    let segments: Vec<&str> = label.split('/').collect();
    let is_index = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let kept = segments.iter().enumerate().map(|(place, segment)| {
        // The first index is that of params.
        if place > 2 && is_index(segment) { "*" } else { segment }
    });
    kept.collect::<Vec<_>>().join("/")
}

/// The outcome of a malformed request that got a result.
const LET_THROUGH: &str = "let through";

/// Which published clients are refused for their request headers, and with which HTTP status: the same request in plain headers gets a
/// result each time, and theirs never does.
pub(super) fn refused_headers(view: &View<'_>, _: &dyn Knowledge) -> Seen {
    let (client, response) = (view.sent_as?, view.answer.response()?);
    view.refused_for_headers.then(|| format!("{}: HTTP {}", client.name, response.status).into())
}
