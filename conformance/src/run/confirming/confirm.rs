//! Confirming violations: the same bytes are sent again, a smaller group that breaks the same rule is looked for, and then the cause.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::run::{
    Suite,
    confirming::{
        diagnose::Search,
        resend::{Reproduction, Resender},
        shrink::{Shrinker, Shrunk},
    },
    sending::sender::Sender,
};
use paymaster_cli::settings::Settings;
use paymaster_client::stop::Reason;
use paymaster_exchange::Exchange;
use paymaster_judge::{
    rules::Check,
    session::{Session, recheck::Outcome, tally::FirstViolation},
    target::context::Context,
    verdict::finding::{Attempt, Finding, Key},
};

/// How often the bytes of a finding are sent again.
const CONFIRMATIONS: usize = 3;

/// How many requests the search for one cause may send, as a multiple of those of shrinking.
const SEARCH_SHARE: u32 = 4;

/// How many findings of a run are shrunk. The others are only sent again.
const SHRUNK_PER_RUN: usize = 40;

/// Sends the groups of every violation again and shrinks them. The findings are in the order of the rules, and for each rule in the
/// order of the plan.
pub(crate) async fn findings(
    sender: &Arc<Sender>,
    suite: &Suite,
    session: &Session,
    settings: &Settings,
) -> Vec<Finding> {
    let mut confirming = JoinSet::new();
    for (number, (key, seen)) in session.broken(&suite.known).into_iter().enumerate() {
        let budget = settings.closer_look.then_some(if number < SHRUNK_PER_RUN {
            settings.shrink_requests
        } else {
            0
        });
        let (sender, suite, context) = (Arc::clone(sender), suite.clone(), Arc::clone(session.context()));
        let (key, seen) = (key.clone(), seen.clone());
        confirming.spawn(async move {
            let finding = confirm(&sender, &suite, &context, &key, &seen, budget).await;
            (number, finding)
        });
    }
    let mut findings: Vec<(usize, Finding)> = Vec::new();
    while let Some(confirmed) = confirming.join_next().await {
        match confirmed {
            Ok(finding) => findings.push(finding),
            // The rule still counts as broken; only its finding is lost.
            Err(cause) => sender
                .stop
                .trigger(Reason::GaveUp(format!("a worker of ours failed: {cause}"))),
        }
    }
    findings.sort_by_key(|(number, _)| *number);
    let findings = findings.into_iter().map(|(_, finding)| finding).collect();
    with_causes(findings, sender, session, settings).await
}

/// Looks for the cause of every finding, one after the other: a cause that is known already is tried first.
async fn with_causes(
    mut findings: Vec<Finding>,
    sender: &Sender,
    session: &Session,
    settings: &Settings,
) -> Vec<Finding> {
    if !settings.closer_look || settings.shrink_requests == 0 {
        return findings;
    }
    // Rules over groups come last: rules about single requests name the cause with fewer requests.
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by_key(|number| matches!(findings[*number].rule.check, Check::Group(..)));
    order.truncate(SHRUNK_PER_RUN);
    let mut known: Vec<Finding> = Vec::new();
    for number in &order {
        let limit = settings.shrink_requests * SEARCH_SHARE;
        let Some(finding) = with_cause(&findings[*number], &known, sender, session, limit).await else {
            return findings;
        };
        if finding.cause.is_some() {
            known.push(finding.clone());
        }
        findings[*number] = finding;
    }
    // A rule that compares two requests may have shown what decides, where single requests did not.
    known.retain(|finding| matches!(finding.rule.check, Check::Group(..)));
    for number in &order {
        let finding = &findings[*number];
        if matches!(finding.rule.check, Check::Group(..)) || known.is_empty() {
            continue;
        }
        // Each is tried in the base and in the request.
        let limit = u32::try_from(2 * known.len()).unwrap_or(u32::MAX);
        let Some(finding) = with_known_cause(finding, &known, sender, session, limit).await else {
            return findings;
        };
        findings[*number] = finding;
    }
    findings
}

/// The finding with its cause; none where the run ended first.
async fn with_cause(
    finding: &Finding,
    known: &[Finding],
    sender: &Sender,
    session: &Session,
    limit: u32,
) -> Option<Finding> {
    let mut found = finding.clone();
    if finding.attempts.is_empty() {
        return Some(found);
    }
    let key = finding.key();
    let resender = Resender::new(sender, finding.rule, &key, session.context());
    let mut search = Search::new(&resender, session, finding, limit);
    let diagnosis = tokio::select! {
        biased;
        () = sender.stop.stopped() => return None,
        diagnosis = Box::pin(search.cause(known)) => diagnosis,
    };
    found.shrink_requests += search.spent();
    if let Some(diagnosis) = diagnosis {
        if let Some(plainer) = diagnosis.reproduction {
            found.group = plainer.group;
            found.exchanges = plainer.exchanges;
            found.violation = plainer.violation;
        }
        found.cause = Some(diagnosis.cause);
        found.contrast = diagnosis.contrast;
    }
    Some(found)
}

/// The finding with the cause of another one, where that is its cause too; none where the run ended first.
async fn with_known_cause(
    finding: &Finding,
    known: &[Finding],
    sender: &Sender,
    session: &Session,
    limit: u32,
) -> Option<Finding> {
    let key = finding.key();
    let resender = Resender::new(sender, finding.rule, &key, session.context());
    let mut search = Search::new(&resender, session, finding, limit);
    let mut found = finding.clone();
    for other in known {
        let diagnosis = tokio::select! {
            biased;
            () = sender.stop.stopped() => return None,
            diagnosis = Box::pin(search.same_as(other)) => diagnosis,
        };
        if let Some(diagnosis) = diagnosis {
            found.cause = Some(diagnosis.cause);
            found.contrast = diagnosis.contrast;
            break;
        }
    }
    found.shrink_requests += search.spent();
    Some(found)
}

/// Sends a group again, shrinks it within the budget of requests, and sends the smaller group again. Without a budget, or when the
/// run ends first, the finding is the violation as it was first seen.
async fn confirm(
    sender: &Sender,
    suite: &Suite,
    context: &Context,
    key: &Key,
    seen: &FirstViolation,
    budget: Option<u32>,
) -> Finding {
    let resender = Resender::new(sender, seen.rule, key, context);
    let shrinker = Shrinker { resender: &resender };
    let original = Reproduction {
        group: seen.group.clone(),
        exchanges: seen.exchanges.clone(),
        violation: seen.violation.clone(),
    };
    let mut shrunk = Shrunk {
        reproduction: original.clone(),
        spent: 0,
    };
    let work = async {
        let Some(budget) = budget else {
            return (Vec::new(), None);
        };
        let first = attempts(&resender, &original).await;
        if !reproduces(&first) || budget == 0 {
            return (first, None);
        }
        let smaller = shrinker.shrink(original.clone(), suite.simplify, budget).await;
        let spent = smaller.spent;
        if smaller.reproduction.group.members != original.group.members {
            let again = attempts(&resender, &smaller.reproduction).await;
            if reproduces(&again) {
                return (again, Some(smaller));
            }
        }
        // Nothing smaller breaks the rule reliably: the original is reported.
        let reproduction = original.clone();
        (first, Some(Shrunk { reproduction, spent }))
    };
    let attempts = tokio::select! {
        biased;
        () = sender.stop.stopped() => Vec::new(),
        (attempts, smaller) = work => {
            if let Some(smaller) = smaller {
                shrunk = smaller;
            }
            attempts
        }
    };
    let Shrunk { reproduction, spent } = shrunk;
    Finding {
        violation: reproduction.violation,
        group: reproduction.group,
        exchanges: reproduction.exchanges,
        attempts,
        shrink_requests: spent,
        ..seen.finding(key)
    }
}

async fn attempts(resender: &Resender<'_>, reproduction: &Reproduction) -> Vec<Attempt> {
    let mut attempts = Vec::with_capacity(CONFIRMATIONS);
    for _ in 0..CONFIRMATIONS {
        // A group that could not be sent shows nothing about the rule.
        let Ok((exchanges, outcome)) = resender.send(&reproduction.group).await else {
            break;
        };
        let violation = match outcome {
            Outcome::Broken(violation) => Some(violation),
            Outcome::Held | Outcome::BrokenElsewhere(_) | Outcome::NotJudged => None,
        };
        attempts.push(Attempt {
            exchanges: exchanges.iter().map(Exchange::with_short_body).collect(),
            violation,
        });
    }
    attempts
}

fn reproduces(attempts: &[Attempt]) -> bool {
    attempts.iter().any(|attempt| attempt.violation.is_some())
}
