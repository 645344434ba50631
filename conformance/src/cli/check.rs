//! `check`: runs the suite against a URL, or against the embedded reference server, and writes the reports.

use std::sync::Arc;

use crate::cli::{args::CheckArgs, dry_run, filter, known::List, on_chain, out, reports::Reports};
use crate::{
    report::{Finished, Progress, replay_file},
    run::{self, Suite, Together},
};
use paymaster_cli::{embedded::Embedded, exit};
use paymaster_cli::{environment::Environment, setup::Setup};
use paymaster_client::stop::{Reason, Stop};

/// Runs the command; gives the exit code.
pub(crate) fn run(args: &CheckArgs, environment: &Environment) -> Result<u8, String> {
    let setup = Setup::read(&args.run, args.url.as_deref(), environment)?;
    let rules = filter::select(&args.rules, Suite::standard().rules)?;
    let rules = args.chain.applicable(rules)?;
    let list = List::read(&args.known, setup.layer.known_failing.as_ref())?;
    let reports = Reports::asked(&args.reports)?;
    let suite = Suite {
        rules,
        known: Arc::clone(&list.known),
        ..Suite::standard()
    };
    runtime()?.block_on(async {
        let Some(url) = setup.layer.url.clone() else {
            if args.dry_run {
                let profile =
                    paymaster_cli::embedded::profile_of(&paymaster_reference_server::Config::default());
                return dry_run::print(&suite, profile, &setup.layer);
            }
            let embedded = Embedded::start()
                .await
                .map_err(|cause| format!("the embedded reference server: {cause}"))?;
            let setup = setup.for_embedded(embedded.profile.clone());
            let done = judge(setup, &embedded.url, suite, args, &list, reports, environment).await;
            embedded.stop().await;
            return done;
        };
        if args.dry_run {
            // A URL that cannot be asked is an error even when nothing is sent.
            setup.target(&url)?;
            return dry_run::print(&suite, setup.profile, &setup.layer);
        }
        judge(setup, &url, suite, args, &list, reports, environment).await
    })
}

/// A runtime for one piece of work.
pub(crate) struct Runtime(tokio::runtime::Runtime);

impl Runtime {
    /// Does the work. What the system is still busy with, a name server that does not answer, is not waited for.
    pub(crate) fn block_on<T>(self, work: impl Future<Output = T>) -> T {
        let output = self.0.block_on(work);
        self.0.shutdown_background();
        output
    }
}

/// A runtime with a worker for each core.
pub(crate) fn runtime() -> Result<Runtime, String> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map(Runtime)
        .map_err(|cause| format!("the runtime: {cause}"))
}

/// Ends the run at Ctrl-C, or when the system asks this process to end: what is under way is dropped, and the report follows.
pub(crate) fn stop_at_interrupt() -> Stop {
    let stop = Stop::default();
    let given = stop.clone();
    tokio::spawn(async move {
        if asked_to_end().await {
            given.trigger(Reason::Interrupted);
        }
    });
    stop
}

/// Waits for a signal; false when signals cannot be waited for.
pub(crate) async fn asked_to_end() -> bool {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else {
            return tokio::signal::ctrl_c().await.is_ok();
        };
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted.is_ok(),
            terminated = terminate.recv() => terminated.is_some(),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await.is_ok()
}

async fn judge(
    setup: Setup,
    url: &str,
    mut suite: Suite,
    args: &CheckArgs,
    list: &List,
    mut reports: Reports,
    environment: &Environment,
) -> Result<u8, String> {
    let way = args.chain.way(&setup)?;
    let (settings, mut place, mut redactor) = setup.settings(url)?;
    place.chain_options = args.chain.hide(&mut redactor);
    match on_chain::connect(way).await {
        Ok(chain) => suite.chain = chain,
        Err(cause) => {
            out::error(&redactor.apply(&format!("could not ask the chain: {cause}")));
            return Ok(exit::COULD_NOT_TEST);
        }
    }
    let stop = stop_at_interrupt();
    reports.begin(&place, &redactor);
    let mut progress = Progress::default();
    let mut listeners = Together(vec![&mut progress, &mut reports]);
    let outcome = run::check(&settings, &suite, &stop, &mut listeners).await;
    let mut finished = Finished {
        summary: &outcome.summary,
        context: &outcome.context,
        strictness: settings.strictness,
        place: &place,
        redactor: &redactor,
        replays: &[],
    };
    let (replays, trouble) = replay_file::write_all(&args.replay_dir, &finished);
    finished.replays = &replays;
    let code = reports.finish(&finished, environment, trouble);
    Ok(list.settle(code, &outcome.summary, settings.strictness))
}
