//! Confirming: whether the same bytes break the rule again, and how little is needed for it.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::run::{
    CONFIRMATIONS, SHRUNK_PER_RUN, Suite,
    courier::Courier,
    shrink::{Reproduction, Shrinker},
};
use paymaster_cli::settings::Settings;
use paymaster_client::stop::Reason;
use paymaster_exchange::Exchange;
use paymaster_judge::{
    session::{Session, recheck::Recheck, tally::Seen},
    target::context::Context,
    verdict::finding::{Attempt, Finding, Key},
};

/// Sends what a session saw broken again, and shrinks it; in the order of the rules, and of the plan for each.
pub(crate) async fn findings(
    courier: &Arc<Courier>,
    suite: &Suite,
    session: &Session,
    settings: &Settings,
) -> Vec<Finding> {
    let mut looking = JoinSet::new();
    for (number, (key, seen)) in session.broken(&suite.known).into_iter().enumerate() {
        let budget = settings.closer_look.then_some(if number < SHRUNK_PER_RUN {
            settings.shrink_requests
        } else {
            0
        });
        let (courier, suite, context) = (Arc::clone(courier), suite.clone(), Arc::clone(session.context()));
        let (key, seen) = (key.clone(), seen.clone());
        looking.spawn(async move {
            let finding = look_into(&courier, &suite, &context, &key, &seen, budget).await;
            (number, finding)
        });
    }
    let mut findings = Vec::new();
    while let Some(looked) = looking.join_next().await {
        match looked {
            Ok(finding) => findings.push(finding),
            // The rule stays broken in the counts; only the closer look is lost.
            Err(cause) => courier
                .stop
                .trigger(Reason::GaveUp(format!("a worker of ours failed: {cause}"))),
        }
    }
    findings.sort_by_key(|(number, _)| *number);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// Re-sends, shrinks within the budget, and re-sends what is left. Without a budget, and when the run is over, the finding
/// stands as it was seen.
async fn look_into(
    courier: &Courier,
    suite: &Suite,
    context: &Context,
    key: &Key,
    seen: &Seen,
    budget: Option<u32>,
) -> Finding {
    let shrinker = Shrinker {
        courier,
        recheck: Recheck::new(seen.rule, context),
        rule: seen.rule,
        key,
        context,
    };
    let original = Reproduction {
        group: seen.group.clone(),
        exchanges: seen.exchanges.clone(),
        violation: seen.violation.clone(),
    };
    let mut shrunk = (original.clone(), 0);
    let work = async {
        let Some(budget) = budget else {
            return (Vec::new(), None);
        };
        let first = attempts(&shrinker, &original).await;
        if !reproduces(&first) || budget == 0 {
            return (first, None);
        }
        let (small, spent) = shrinker.shrink(original.clone(), suite.simpler, budget).await;
        if small.group.members == original.group.members {
            return (first, Some((original.clone(), spent)));
        }
        let again = attempts(&shrinker, &small).await;
        if reproduces(&again) {
            (again, Some((small, spent)))
        } else {
            // The small one was luck: what was found stands.
            (first, Some((original.clone(), spent)))
        }
    };
    let attempts = tokio::select! {
        biased;
        () = courier.stop.stopped() => Vec::new(),
        (attempts, smaller) = work => {
            if let Some(smaller) = smaller {
                shrunk = smaller;
            }
            attempts
        }
    };
    let (reproduction, shrink_requests) = shrunk;
    Finding {
        violation: reproduction.violation,
        group: reproduction.group,
        exchanges: reproduction.exchanges,
        attempts,
        shrink_requests,
        ..seen.finding(key)
    }
}

async fn attempts(shrinker: &Shrinker<'_>, reproduction: &Reproduction) -> Vec<Attempt> {
    let mut attempts = Vec::with_capacity(CONFIRMATIONS);
    for _ in 0..CONFIRMATIONS {
        // What cannot be delivered says nothing of the rule.
        let Ok((exchanges, violation)) = shrinker.see(&reproduction.group).await else {
            break;
        };
        attempts.push(Attempt {
            exchanges: exchanges.iter().map(Exchange::keepsake).collect(),
            violation,
        });
    }
    attempts
}

fn reproduces(attempts: &[Attempt]) -> bool {
    attempts.iter().any(|attempt| attempt.violation.is_some())
}
