//! `check`: runs the suite against a URL, or against the embedded reference server, and writes the reports.
//! With `--dry-run`, it prints what would be sent.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc, time::Duration};

use indexmap::IndexMap;
use paymaster_engine::cases::Scope;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::spending::SpendingLimits;
use paymaster_reference_server::Config;
use paymaster_schemas::Basis;
use paymaster_settings::args::RunArgs;
use paymaster_settings::embedded::profile_of;
use paymaster_settings::settings::QUICK;
use paymaster_settings::{EMBEDDED_WARNING, Embedded, Environment, RunSetup, Setup, all_rules, which};

use crate::cli::{
    CheckArgs, CommandError, KnownFailures, Reports, block_on, filter, printed, stop_at_interrupt,
};
use crate::report::words::count;
use crate::report::{Finished, Progress};
use crate::run::{self, Cost, Reporters, RunOutcome, Suite};

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &CheckArgs, environment: &Environment) -> Result<u8, CommandError> {
    // Wrong arguments are errors before anything is sent.
    let reports = Reports::requested(&args.output)?;
    filter::rules(&args.rules, all_rules())?;
    block_on(check(args, reports, environment))
}

/// Judges the target that the settings name, or the embedded reference server where they name none.
async fn check(
    args: &CheckArgs,
    mut reports: Reports,
    environment: &Environment,
) -> Result<u8, CommandError> {
    let setup = if args.dry_run {
        Setup::read(&args.run, args.url.as_deref(), environment)?
    } else {
        which::read(&args.run, args.url.as_deref(), environment).await?
    };
    let specification = setup.profile.known.specification();
    let mut suite = Suite::of(specification);
    suite.rules = args.chain.applicable(filter::rules(&args.rules, suite.rules)?)?;
    let known = KnownFailures::read(&args.output.known, setup.known_failing.as_ref(), specification)?;
    if !args.rules.is_empty() {
        suite.scope = Scope::of_rules(&suite.rules, specification);
    }
    (suite.fail_fast, suite.known) = (args.fail_fast, Arc::clone(&known.list));
    let url = setup.merged.url.clone();
    if args.dry_run {
        let profile = match &url {
            // An unusable URL is an error even when nothing is sent.
            Some(url) => setup.target(url).map(|_| Arc::clone(&setup.profile.known))?,
            None => profile_of(specification, &Config::default(), &[]),
        };
        return dry_run(&suite, &*profile, &setup.merged, args.quick);
    }
    // It serves until the run is over.
    let embedded;
    let (setup, url) = if let Some(url) = url {
        (setup, url)
    } else {
        let started = Embedded::start().await;
        embedded = started.map_err(|cause| format!("the embedded reference server: {cause}"))?;
        (setup.for_embedded(&*embedded.profile(specification)), embedded.url.clone())
    };
    let access = args.chain.transport(&setup)?;
    let RunSetup { mut settings, shown_target: mut place, mut redactor, .. } = setup.settings(&url)?;
    if args.quick {
        settings.budget = Some(QUICK.min(settings.args.time_limit()));
    }
    place.chain_options = args.chain.hide(&mut redactor);
    suite.chain = args.chain.connect(access).await.map_err(|cause| {
        CommandError::could_not_test(redactor.apply(&format!("could not ask the chain: {cause}")))
    })?;
    let stop = stop_at_interrupt();
    reports.begin(&place, &redactor);
    let mut progress = Progress::default();
    let mut listeners = Reporters(vec![&mut progress, &mut reports]);
    let RunOutcome { summary, context } = run::check(&settings, &suite, &stop, &mut listeners).await;
    let finished = Finished { summary, context, strictness: settings.strictness(), place, redactor };
    Ok(reports.finish(&finished, &known, environment))
}

/// Prints the number of groups and requests of each relation; sends nothing.
fn dry_run(
    suite: &Suite,
    profile: &dyn Knowledge,
    merged: &RunArgs,
    is_quick: bool,
) -> Result<u8, CommandError> {
    let seed = merged.common.seed();
    let cases = merged.cases();
    let on_chain = suite.rules.iter().any(|rule| rule.basis() == Basis::OnChain);
    let context = profile.with_chain(on_chain);
    let mut relations = IndexMap::<&str, BTreeMap<&str, (usize, usize)>>::new();
    let (mut groups, mut requests) = (0_u64, 0_usize);
    let suite = &suite.with_idle(merged.idle.is_some());
    for group in suite.groups(&*context, seed, cases) {
        groups += 1;
        requests += group.members.len();
        let pair = group.pair.map_or("-", |pair| pair.name);
        let row = relations.entry(group.relation.id).or_default().entry(pair).or_default();
        row.0 += 1;
        row.1 += group.members.len();
    }
    let mut text =
        format!("{:<34} {:<20} {:>8} {:>9}\n", "relation", "method and mode", "groups", "requests");
    for (relation, rows) in relations {
        for (pair, (groups, requests)) in rows {
            let _ = writeln!(text, "{relation:<34} {pair:<20} {groups:>8} {requests:>9}");
        }
    }
    let rules = count(suite.rules.len() as u128, "rule");
    let _ = writeln!(
        text,
        "\n{} in {} would be sent and judged by {rules} (seed {seed}); nothing was sent.\n\
         Before them, discovery asks the target what it serves and in which form; its answers can change this plan.",
        count(requests as u128, "request"),
        count(groups, "group"),
    );
    let limits = context.spending_limits();
    let money = if limits.is_some() {
        format!("It asks for at most {limits}.")
    } else {
        let most = SpendingLimits::DEFAULT;
        format!(
            "It asks a target that is not on this machine for at most {most}, unless operations.max-sponsorships and max-cost of the profile \
             say otherwise."
        )
    };
    let _ = writeln!(text, "{money}");
    if let Some(rate) = merged.rate {
        let interval = Duration::from_secs_f64(rate.recip());
        let cost = Cost::of(suite, &*context.expected(), seed, cases, 0);
        let limit = merged.time_limit();
        let budget = if is_quick { Some(QUICK.min(limit)) } else { merged.budget() };
        let estimate = cost.estimate(merged.max_requests, interval, budget, limit);
        let _ = writeln!(text, "Time, requests about supported tokens included: {estimate}.");
    }
    if merged.url.is_none() {
        let _ = writeln!(text, "warning: {EMBEDDED_WARNING}");
    }
    printed(&text)
}
