//! `check --dry-run`: prints what would be sent.

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use paymaster_engine::{cases::plan::DEFAULT_CASES, knowledge::Knowledge};
use paymaster_schemas::Basis;
use paymaster_settings::{
    EMBEDDED_WARNING, Merged, exit, output,
    settings::setup::{DEFAULT_SEED, DEFAULT_TIME_LIMIT, QUICK},
};

use crate::{
    cli::process::CommandError,
    report::text::words::count,
    run::{Cost, Suite},
};

/// Prints the number of groups and requests of each relation; sends nothing.
pub(crate) fn print(
    suite: &Suite,
    profile: &dyn Knowledge,
    merged: &Merged,
    is_quick: bool,
) -> Result<u8, CommandError> {
    let seed = merged.seed.unwrap_or(DEFAULT_SEED);
    let cases = merged.cases.unwrap_or(DEFAULT_CASES);
    let on_chain = suite.rules.iter().any(|rule| rule.basis() == Basis::OnChain);
    let context = profile.with_chain(on_chain);
    let mut rows = BTreeMap::<(usize, &str, &str), (usize, usize)>::new();
    let mut order = Vec::new();
    let (mut groups, mut requests) = (0_u64, 0_usize);
    for group in suite.groups(&*context, seed, cases) {
        groups += 1;
        requests += group.members.len();
        let relation = group.relation.id;
        let place = order.iter().position(|known| *known == relation).unwrap_or_else(|| {
            order.push(relation);
            order.len() - 1
        });
        let pair = group.pair.map_or("-", |pair| pair.name);
        let row = rows.entry((place, relation, pair)).or_default();
        row.0 += 1;
        row.1 += group.members.len();
    }
    let mut text =
        format!("{:<34} {:<20} {:>8} {:>9}\n", "relation", "method and mode", "groups", "requests");
    for ((_, relation, pair), (groups, requests)) in rows {
        let _ = writeln!(text, "{relation:<34} {pair:<20} {groups:>8} {requests:>9}");
    }
    let rules = count(suite.rules.len() as u128, "rule");
    let _ = writeln!(
        text,
        "\n{} in {} would be sent and judged by {rules} (seed {seed}); nothing was sent.\n\
         Before them, discovery asks for the dialect and the tokens of the target; its answers can change this plan.",
        count(requests as u128, "request"),
        count(groups, "group"),
    );
    if let Some(rate) = merged.rate {
        let interval = Duration::from_secs_f64(rate.recip());
        let cost = Cost::of(suite, &*context.expected(), seed, cases, 0);
        let limit = merged.time_limit.unwrap_or(DEFAULT_TIME_LIMIT);
        let budget = if is_quick { Some(QUICK.min(limit)) } else { merged.budget() };
        let estimate = cost.estimate(merged.max_requests, interval, budget, limit);
        let _ = writeln!(text, "Time, requests about supported tokens included: {estimate}.");
    }
    if merged.url.is_none() {
        let _ = writeln!(text, "warning: {EMBEDDED_WARNING}");
    }
    output::print(&text)?;
    Ok(exit::CONFORMS)
}
