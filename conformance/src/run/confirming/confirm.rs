//! Confirming violations: the same bytes are sent again, a smaller group that breaks the same rule is looked for, and then the cause.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::run::{
    Suite,
    confirming::{
        budget::RequestBudget,
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
    let context = session.context();
    // Rules over groups come last: rules about single requests name the cause with fewer requests.
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by_key(|number| matches!(findings[*number].rule.check, Check::Group(..)));
    let mut known: Vec<Finding> = Vec::new();
    for number in order.into_iter().take(SHRUNK_PER_RUN) {
        let finding = &findings[number];
        if finding.attempts.is_empty() {
            continue;
        }
        let key = finding.key();
        let resender = Resender::new(sender, finding.rule, &key, context);
        let mut search = Search {
            resender: &resender,
            session,
            finding,
            budget: RequestBudget::new(settings.shrink_requests * SEARCH_SHARE),
        };
        let diagnosis = tokio::select! {
            biased;
            () = sender.stop.stopped() => return findings,
            diagnosis = Box::pin(search.cause(&known)) => diagnosis,
        };
        let spent = search.budget.spent();
        let finding = &mut findings[number];
        finding.shrink_requests += spent;
        if let Some(diagnosis) = diagnosis {
            if let Some(plainer) = diagnosis.reproduction {
                finding.group = plainer.group;
                finding.exchanges = plainer.exchanges;
                finding.violation = plainer.violation;
            }
            finding.cause = Some(diagnosis.cause);
            finding.contrast = diagnosis.contrast;
            known.push(finding.clone());
        }
    }
    findings
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
