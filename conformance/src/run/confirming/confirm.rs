//! Confirming violations: the same bytes are sent again (or new ids and nonces, where the target takes the same once only), a smaller group
//! that breaks the same rule is looked for, and then the cause.

use std::{sync::Arc, time::Duration};

use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::run::Suite;
use crate::run::confirming::{
    Reproduction, RequestBudget, Resender, SHRUNK_PER_RUN, Shrinker, Shrunk, WaitingBudget, causes, code_of,
};
use crate::run::replay::renewed;
use crate::run::sending::Sender;
use paymaster_client::stop::Reason;
use paymaster_engine::cases::keeps_idle;
use paymaster_engine::diagnosis::{Attempt, Finding, Key};
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::session::{FirstViolation, Outcome, Session};
use paymaster_exchange::Exchange;
use paymaster_settings::Settings;

/// How often the bytes of a finding are sent again.
const CONFIRMATIONS: usize = 3;

/// For how long answers that do not come are waited for while findings are made smaller, all findings together.
const WAITED_FOR_SMALLER: Duration = Duration::from_mins(1);

/// What making findings smaller may cost.
pub(super) struct Bounds<'a> {
    /// How many requests may be sent for one finding; none where it is not sent again at all.
    pub(super) requests: Option<u32>,
    pub(super) waiting: &'a WaitingBudget,
    /// Passed when every finding was sent again: that it is reproduced counts more than how small it is.
    pub(super) all_sent: &'a Barrier,
    pub(super) ends: Instant,
}

/// Sends the groups of every violation again and shrinks them; the causes are looked for until `ends`, or as long as the run goes on. The
/// findings are in the order of the rules, and for each rule in the order of the plan.
pub(crate) async fn findings(
    sender: &Arc<Sender>,
    suite: &Suite,
    session: &Session,
    settings: &Settings,
    ends: Instant,
) -> Vec<Finding> {
    let mut confirming = JoinSet::new();
    let waiting = Arc::new(WaitingBudget::new(WAITED_FOR_SMALLER));
    let broken = session.broken();
    let all_sent = Arc::new(Barrier::new(broken.len()));
    let half_way = Instant::now() + (ends - Instant::now()) / 2;
    for (number, (key, seen)) in broken.into_iter().enumerate() {
        // Each step of shrinking would wait for a connection to be idle.
        let is_shrunk = number < SHRUNK_PER_RUN && !keeps_idle(seen.group.relation);
        let requests =
            settings.closer_look.then_some(if is_shrunk { settings.args.shrink_requests() } else { 0 });
        let (sender, context) = (Arc::clone(sender), Arc::clone(&session.context));
        let (key, seen) = (key.clone(), seen.clone());
        let (waiting, all_sent) = (Arc::clone(&waiting), Arc::clone(&all_sent));
        confirming.spawn(async move {
            let bounds = Bounds { requests, waiting: &waiting, all_sent: &all_sent, ends: half_way };
            let finding = confirm(&sender, &*context, (&key, &seen), bounds, &[]).await;
            (number, finding)
        });
    }
    let mut findings: Vec<(usize, Finding)> = Vec::new();
    while let Some(confirmed) = confirming.join_next().await {
        match confirmed {
            Ok(finding) => findings.push(finding),
            // The rule still counts as broken; only its finding is lost.
            Err(cause) => sender.stop.trigger(Reason::GaveUp(format!("a worker of ours failed: {cause}"))),
        }
    }
    findings.sort_by_key(|(number, _)| *number);
    let findings = findings.into_iter().map(|(_, finding)| finding).collect();
    causes::with_causes(findings, sender, suite, session, settings, ends).await
}

/// Sends a group again, shrinks it within the bounds, and sends the smaller group again. Where it is not sent again, or the run ends
/// first, the finding is the violation as it was first seen. No step changes the members of `kept`.
pub(super) async fn confirm(
    sender: &Sender,
    context: &dyn Knowledge,
    (key, seen): (&Key, &FirstViolation),
    Bounds { requests, waiting, all_sent, ends }: Bounds<'_>,
    kept: &[String],
) -> Finding {
    let resender = Resender::new(sender, seen.rule, key, context, waiting);
    // How often it is seen again is counted in any case.
    let unlimited = WaitingBudget::new(Duration::MAX);
    let patient = Resender::new(sender, seen.rule, key, context, &unlimited);
    let original = Reproduction {
        group: seen.group.clone(),
        exchanges: seen.exchanges.clone(),
        violation: seen.violation.clone(),
    };
    let sending_again =
        async { if requests.is_some() { attempts(&patient, &original).await } else { Vec::new() } };
    let first = sender.stop.or_stopped(sending_again).await.unwrap_or_default();
    // Where the run ends meanwhile, nothing is made smaller.
    let _ = sender.stop.or_stopped(all_sent.wait()).await;
    let mut budget = RequestBudget::new(requests.unwrap_or_default());
    // What is broken now and then is shrunk by the search for its cause, which sends each step often enough.
    let is_shrunk = budget.left() > 0 && !first.is_empty() && first.iter().all(|own| own.violation.is_some());
    let smaller = if is_shrunk {
        let shrinking = async {
            let code = code_of(&original.exchanges, &original.violation);
            let shrinker = Shrinker { resender: &resender, tries: 1, kept, code };
            let smaller = shrinker.shrink(original.clone(), &mut budget).await;
            if smaller.reproduction.group.members != original.group.members {
                let again = attempts(&patient, &smaller.reproduction).await;
                if reproduces(&again) {
                    return (again, smaller);
                }
            }
            // Nothing smaller breaks the rule reliably: the original is reported.
            (first.clone(), Shrunk { reproduction: original.clone(), is_smallest: smaller.is_smallest })
        };
        sender.stop.or_stopped(timeout_at(ends, shrinking)).await.and_then(Result::ok)
    } else {
        None
    };
    let (attempts, Shrunk { mut reproduction, is_smallest }) =
        smaller.unwrap_or((first, Shrunk { reproduction: original, is_smallest: !is_shrunk }));
    // A smaller group may have waited for less time than is told of it.
    let mut same = attempts.iter().filter(|again| !again.is_new(&reproduction.group));
    if let Some((exchanges, violation)) =
        same.find_map(|again| Some((&again.exchanges, again.violation.clone()?)))
    {
        (reproduction.exchanges, reproduction.violation) = (exchanges.clone(), violation);
    }
    Finding {
        violation: reproduction.violation,
        group: reproduction.group,
        exchanges: reproduction.exchanges,
        attempts,
        shrink_requests: budget.spent(),
        could_be_smaller: !is_smallest,
        ..seen.finding(key, context.specification())
    }
}

async fn attempts(resender: &Resender<'_>, reproduction: &Reproduction) -> Vec<Attempt> {
    let mut attempts = Vec::with_capacity(CONFIRMATIONS);
    // A target may take the same operation once only.
    let specification = resender.context.specification();
    let once_more = || renewed(&reproduction.group, &|_| false, false, specification);
    let mut is_taken_once = false;
    for _ in 0..CONFIRMATIONS {
        let group = once_more().filter(|_| is_taken_once).unwrap_or_else(|| reproduction.group.clone());
        // A group that could not be sent shows nothing about the rule.
        let Ok((mut exchanges, mut outcome)) = resender.send(&group).await else { break };
        if outcome == Outcome::NotJudged
            && !is_taken_once
            && let Some(group) = once_more()
        {
            let Ok((again, of_again)) = resender.send(&group).await else { break };
            is_taken_once = matches!(of_again, Outcome::Broken(_));
            if is_taken_once {
                (exchanges, outcome) = (again, of_again);
            }
        }
        attempts.push(Attempt {
            exchanges: exchanges.iter().map(Exchange::with_short_body).collect(),
            violation: outcome.broken(),
        });
    }
    attempts
}

fn reproduces(attempts: &[Attempt]) -> bool {
    attempts.iter().any(|attempt| attempt.violation.is_some())
}
