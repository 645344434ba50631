//! One run: goose with our users, and someone who watches the clock.

use std::{
    sync::{Arc, Once},
    time::{Duration, Instant},
};

use goose::{
    GooseAttack, GooseError,
    client::GooseClientBuilder,
    config::GooseConfiguration,
    goose::{Scenario, Transaction, TransactionFunction},
    is_killswitch_triggered, trigger_killswitch,
};
use paymaster_cli::terminal::harmless;

use super::{
    pacer,
    progress::Progress,
    shared::{Ended, Shared},
    silence::Silence,
    user,
};

/// How often the clock is looked at.
const WATCH: Duration = Duration::from_millis(20);
/// After an interrupt, what is under way may take so long.
const GRACE: Duration = Duration::from_millis(300);

/// goose could not run.
#[derive(Debug)]
pub struct Failed(pub String);

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

/// Runs to the end: by the clock, the request budget, an interrupt, or because nobody answers.
pub async fn attack(shared: &Arc<Shared>, mut progress: Progress) -> Result<(), Failed> {
    quiet_goose();
    let _silence = Silence::new();
    let goose = prepared(shared).map_err(|cause| Failed(words(&cause)))?;
    pacer::start(shared).map_err(|cause| Failed(format!("the pacer: {cause}")))?;
    let mut running = tokio::spawn(goose.execute());
    let watching = async {
        let mut tick = tokio::time::interval(WATCH);
        let (mut over, mut told_goose) = (None, false);
        loop {
            tick.tick().await;
            progress.tell(shared);
            watch(shared, &mut told_goose);
            if shared.is_over() && *over.get_or_insert_with(Instant::now) + GRACE < Instant::now() {
                return;
            }
        }
    };
    let done = tokio::select! {
        done = &mut running => done,
        () = watching => {
            // goose waits for every user; a user may wait for its target.
            running.abort();
            progress.clear();
            return Ok(());
        }
    };
    progress.clear();
    if shared.ended().is_none() {
        shared.drain(Ended::InTime);
    }
    match done {
        // Our thresholds are judged elsewhere; goose has none.
        Ok(Ok(_)) => Ok(()),
        Ok(Err(cause)) => Err(Failed(words(&cause))),
        Err(cause) => Err(Failed(format!("goose ended badly: {cause}"))),
    }
}

/// Ends the run when it is time, and tells goose when everything has come to its end. goose has one switch for that and for
/// Ctrl-C, so it is remembered who threw it.
fn watch(shared: &Shared, told_goose: &mut bool) {
    if is_killswitch_triggered() && !*told_goose && !shared.is_over() {
        shared.end_now(Ended::Interrupted);
    }
    let Some(start) = shared.clock.started() else {
        return;
    };
    let now = Instant::now();
    if now >= shared.clock.ends() && !shared.is_draining() {
        shared.drain(Ended::InTime);
    }
    let timeout = shared.settings.transport.limits.timeout;
    let stopped = shared.liveness.has_stopped(now - start, timeout);
    if stopped && !shared.is_over() && shared.paused().is_none() {
        shared.end_now(Ended::GaveUp);
        *told_goose = true;
        trigger_killswitch("the target stopped answering");
    }
    // What is due and was not sent may still be sent for as long as an exchange may take.
    let drained =
        shared.is_drained() || shared.is_draining() && now > shared.clock.ends() + timeout + timeout;
    if drained && !is_killswitch_triggered() {
        *told_goose = true;
        trigger_killswitch("the run is over");
    }
}

fn prepared(shared: &Arc<Shared>) -> Result<GooseAttack, GooseError> {
    let settings = &shared.settings;
    let mut arguments = vec![
        "--host".to_owned(),
        settings.shown_host.clone(),
        "--test-plan".to_owned(),
        settings.plan.clone(),
        "--no-telnet".to_owned(),
        "--no-print-metrics".to_owned(),
        "--no-transaction-metrics".to_owned(),
        "--no-scenario-metrics".to_owned(),
        "--quiet".to_owned(),
    ];
    if settings.goose.is_empty() {
        arguments.push("--no-metrics".to_owned());
    }
    arguments.extend(settings.goose.iter().cloned());
    let configuration = GooseConfiguration::parse_args_default(&arguments)?;
    // One client for all users: goose's default makes one a user, and each loads the system's certificates. Ours sends nothing.
    GooseAttack::initialize_with_config(configuration)?
        .set_client_builder_without_cookies(GooseClientBuilder::new().without_cookies())
        .map(|attack| attack.register_scenario(scenario(shared)))
}

fn scenario(shared: &Arc<Shared>) -> Scenario {
    let working = Arc::clone(shared);
    let work: TransactionFunction = Arc::new(move |user| {
        let shared = Arc::clone(&working);
        Box::pin(async move {
            user::work(&shared, user).await;
            Ok(())
        })
    });
    let leaving = Arc::clone(shared);
    let leave: TransactionFunction = Arc::new(move |user| {
        let shared = Arc::clone(&leaving);
        Box::pin(async move {
            user::leave(&shared, user);
            Ok(())
        })
    });
    Scenario::new("paymaster")
        .register_transaction(Transaction::new(work))
        .register_transaction(Transaction::new(leave).set_on_stop())
}

fn words(cause: &GooseError) -> String {
    match cause {
        GooseError::InvalidOption {
            option,
            value,
            detail,
        } => harmless(&format!("goose does not take {option} `{value}`: {detail}")),
        cause => harmless(&format!("goose: {cause}")),
    }
}

/// goose logs to standard output; only its errors are for our users, and those go to standard error.
fn quiet_goose() {
    struct Errors;
    impl log::Log for Errors {
        fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
            metadata.level() == log::Level::Error
        }

        fn log(&self, record: &log::Record<'_>) {
            if self.enabled(record.metadata()) {
                crate::cli::out::eprint(&format!("goose: {}\n", record.args()));
            }
        }

        fn flush(&self) {}
    }
    static LOGGER: Errors = Errors;
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // A logger that is set already is somebody else's decision.
        if log::set_logger(&LOGGER).is_ok() {
            log::set_max_level(log::LevelFilter::Error);
        }
    });
}
