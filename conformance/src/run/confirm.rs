//! Confirming: whether the same bytes break the rule again, and how little is needed for it.

use std::{collections::BTreeMap, sync::Arc};

use tokio::task::JoinSet;

use crate::run::{
    CONFIRMATIONS, SHRUNK_PER_RUN, Suite,
    courier::Courier,
    shrink::{Bench, Specimen},
};
use paymaster_cli::settings::Settings;
use paymaster_client::stop::Reason;
use paymaster_exchange::Exchange;
use paymaster_judge::{
    session::{
        judge::Judge,
        tally::{Seen, Tally},
    },
    target::context::Context,
    verdict::finding::{Attempt, FINDINGS_PER_RULE, Finding, Key},
};

/// Looks into everything that a tally saw broken; in the order of the rules, and of the plan for each.
pub(crate) async fn findings(
    courier: &Arc<Courier>,
    suite: &Suite,
    context: &Arc<Context>,
    tally: &Tally,
    settings: &Settings,
) -> Vec<Finding> {
    let mut of_rule = BTreeMap::<&str, usize>::new();
    let mut chosen = Vec::new();
    let mut all = tally.seen();
    // Stable: findings of one rule stay in the order of the plan, behind those that nobody knew of.
    all.sort_by_key(|(key, seen)| {
        let rule = suite.rules.iter().position(|rule| rule.id == seen.rule.id);
        (rule, suite.known.covers(key).is_some())
    });
    for (key, seen) in all {
        let so_far = of_rule.entry(seen.rule.id).or_default();
        *so_far += 1;
        if *so_far <= FINDINGS_PER_RULE {
            chosen.push((key, seen));
        }
    }
    let mut looking = JoinSet::new();
    for (number, (key, seen)) in chosen.into_iter().enumerate() {
        let budget = settings.closer_look.then_some(if number < SHRUNK_PER_RUN {
            settings.shrink_requests
        } else {
            0
        });
        let (courier, suite, context) = (Arc::clone(courier), suite.clone(), Arc::clone(context));
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
    let bench = Bench {
        courier,
        judge: Judge::new(vec![seen.rule]),
        rule: seen.rule,
        key,
        context,
    };
    let original = Specimen {
        group: seen.group.clone(),
        exchanges: seen.exchanges.clone(),
        violation: seen.violation.clone(),
    };
    let mut shrunk = (original.clone(), 0);
    let work = async {
        let Some(budget) = budget else {
            return (Vec::new(), None);
        };
        let first = attempts(&bench, &original).await;
        if !reproduces(&first) || budget == 0 {
            return (first, None);
        }
        let (small, spent) = bench.shrink(original.clone(), suite.simpler, budget).await;
        if small.group.members == original.group.members {
            return (first, Some((original.clone(), spent)));
        }
        let again = attempts(&bench, &small).await;
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
    let (specimen, shrink_requests) = shrunk;
    Finding {
        rule: seen.rule,
        basis: seen.rule.basis(),
        pair: key.pair,
        violation: specimen.violation,
        group: specimen.group,
        exchanges: specimen.exchanges,
        times: seen.times,
        attempts,
        shrink_requests,
    }
}

async fn attempts(bench: &Bench<'_>, specimen: &Specimen) -> Vec<Attempt> {
    let mut attempts = Vec::with_capacity(CONFIRMATIONS);
    for _ in 0..CONFIRMATIONS {
        // What cannot be delivered says nothing of the rule.
        let Ok((exchanges, violation)) = bench.see(&specimen.group).await else {
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
