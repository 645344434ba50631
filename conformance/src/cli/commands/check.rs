//! `check`: runs the suite against a URL, or against the embedded reference server, and writes the reports.

use std::sync::Arc;

use paymaster_engine::cases::scope::Scope;
use paymaster_reference_server::Config;
use paymaster_settings::{
    Embedded, Environment, RunSetup, Setup, all_rules, embedded::profile_of, settings::setup::QUICK, which,
};

use crate::{
    cli::{
        args::CheckArgs,
        commands::dry_run,
        filter,
        known::KnownFailures,
        process::{CommandError, block_on, stop_at_interrupt},
        reports::Reports,
    },
    report::{Finished, terminal::progress::Progress},
    run::{self, Reporters, RunOutcome, Suite},
};

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &CheckArgs, environment: &Environment) -> Result<u8, CommandError> {
    // Wrong arguments are errors before anything is sent.
    let reports = Reports::requested(&args.reports)?;
    filter::rules(&args.rules, all_rules())?;
    block_on(choose_target(args, reports, environment))
}

/// Judges the target that the settings name, or the embedded reference server where they name none.
async fn choose_target(
    args: &CheckArgs,
    reports: Reports,
    environment: &Environment,
) -> Result<u8, CommandError> {
    let setup = if args.dry_run {
        Setup::read(&args.run, args.url.as_deref(), environment)?
    } else {
        which::read(&args.run, args.url.as_deref(), environment).await?
    };
    let specification = setup.profile.known.specification();
    let standard = Suite::of(specification);
    let rules = filter::rules(&args.rules, standard.rules.clone())?;
    let rules = args.chain.applicable(rules)?;
    let known = KnownFailures::read(&args.known, setup.known_failing.as_ref(), specification)?;
    let suite = Suite {
        scope: if args.rules.is_empty() { Scope::default() } else { Scope::of_rules(&rules, specification) },
        rules,
        fail_fast: args.fail_fast,
        known: Arc::clone(&known.list),
        ..standard
    };
    let Some(url) = setup.merged.url.clone() else {
        if args.dry_run {
            let profile = profile_of(specification, &Config::default(), &[]);
            return dry_run::print(&suite, &*profile, &setup.merged, args.quick);
        }
        let embedded =
            Embedded::start().await.map_err(|cause| format!("the embedded reference server: {cause}"))?;
        let setup = setup.for_embedded(&*embedded.profile(specification));
        return judge(setup, &embedded.url, suite, args, &known, reports, environment).await;
    };
    if args.dry_run {
        // An unusable URL is an error even when nothing is sent.
        setup.target(&url)?;
        return dry_run::print(&suite, &*setup.profile.known, &setup.merged, args.quick);
    }
    judge(setup, &url, suite, args, &known, reports, environment).await
}

async fn judge(
    setup: Setup,
    url: &str,
    mut suite: Suite,
    args: &CheckArgs,
    known: &KnownFailures,
    mut reports: Reports,
    environment: &Environment,
) -> Result<u8, CommandError> {
    let access = args.chain.transport(&setup)?;
    let RunSetup { mut settings, shown_target: mut place, mut redactor } = setup.settings(url)?;
    if args.quick {
        settings.budget = Some(QUICK.min(settings.time_limit));
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
    let finished = Finished { summary, context, strictness: settings.strictness, place, redactor };
    Ok(reports.finish(&finished, &args.replay_dir, known, environment))
}
