//! Executes a run: goose manages our users, and a task of ours watches the clock.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use goose::client::GooseClientBuilder;
use goose::config::GooseConfiguration;
use goose::goose::{Scenario, Transaction, TransactionFunction};
use goose::{GooseAttack, GooseError, is_killswitch_triggered, trigger_killswitch};
use paymaster_settings::escape_controls;

use super::{EndReason, LiveView, RunState, arrivals::pacer, live, stdout, users::user};

/// How often the clock is checked.
const WATCH_INTERVAL: Duration = Duration::from_millis(20);
/// How often the figures so far are checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long requests in progress may take after an interrupt.
const GRACE: Duration = Duration::from_millis(300);

/// Why goose could not execute the run.
fn described(cause: &GooseError) -> String {
    let text = match cause {
        GooseError::InvalidOption { option, value, detail } => {
            format!("goose does not accept {option} `{value}`: {detail}")
        }
        cause => format!("goose: {cause}"),
    };
    escape_controls(&text)
}

/// Executes a run to its end: the end of its time, the request budget, an interrupt (`signal` ends), a target that stopped answering, or
/// figures that are `broken`, which is asked once a second. `plan` is that of the users, in the notation of goose, and `options` are command
/// line options for goose: its dashboard and its reports. If these are empty, goose gets no exchanges.
pub async fn execute(
    run: &Arc<RunState>,
    plan: &str,
    options: &[String],
    mut broken: impl FnMut(&RunState) -> bool,
    mut signal: Pin<&mut (impl Future<Output = ()> + Send)>,
) -> Result<(), String> {
    log_goose_errors();
    let _silenced = stdout::silenced();
    let mut view = LiveView::default();
    let goose = configured(run, plan, options).map_err(|cause| described(&cause))?;
    pacer::start(run).map_err(|cause| format!("the pacer: {cause}"))?;
    let mut running = tokio::spawn(goose.execute());
    let watching = async {
        let mut tick = tokio::time::interval(WATCH_INTERVAL);
        let (mut over_since, mut interrupted, mut checked) = (None, false, Instant::now());
        loop {
            tokio::select! {
                _ = tick.tick() => {}
                () = signal.as_mut(), if !interrupted => {
                    interrupted = true;
                    if !run.is_over() {
                        run.end_now(EndReason::Interrupted);
                    }
                }
            }
            view.show(|view| view.of_run(run));
            watch(run);
            if checked.elapsed() >= CHECK_INTERVAL && !run.is_draining() {
                checked = Instant::now();
                if broken(run) {
                    run.drain(EndReason::ThresholdBroken);
                }
            }
            if run.is_over() && *over_since.get_or_insert_with(Instant::now) + GRACE < Instant::now() {
                return;
            }
        }
    };
    let done = tokio::select! {
        done = &mut running => done,
        () = watching => {
            // goose waits for every user without a deadline, and a user may wait for the target.
            running.abort();
            return Ok(());
        }
    };
    if run.ended().is_none() {
        run.drain(EndReason::TimeElapsed);
    }
    // The metrics of goose are not used: thresholds are judged on our figures.
    let metrics = done.map_err(|cause| format!("goose panicked: {cause}"))?;
    metrics.map(drop).map_err(|cause| described(&cause))
}

/// Ends the run when it is time, and stops goose when the run is over or every iteration is finished.
fn watch(run: &RunState) {
    let Some(start) = run.clock.started() else { return };
    let now = Instant::now();
    if now >= run.clock.ends() && !run.is_draining() {
        run.drain(EndReason::TimeElapsed);
    }
    let timeout = run.settings.transport.limits.timeout;
    let stopped = run.liveness.has_stopped(now - start, timeout);
    if stopped && !run.is_over() && run.paused().is_none() {
        run.end_now(EndReason::TargetStopped);
    }
    // Arrivals that are due and not sent may still be sent within one timeout, and take another.
    let drained = run.is_drained() || run.is_draining() && now > run.clock.ends() + timeout + timeout;
    if (drained || run.is_over()) && !is_killswitch_triggered() {
        trigger_killswitch("the run is over");
    }
}

/// goose with our options, the options of the user, and our scenario: slices of work, and the end of a user. With options of the user, goose
/// gets the exchanges.
fn configured(run: &Arc<RunState>, plan: &str, options: &[String]) -> Result<GooseAttack, GooseError> {
    let host = run.settings.transport.target.origin();
    let mut arguments = vec!["--host", &host, "--test-plan", plan];
    arguments.extend(["--no-telnet", "--no-print-metrics", "--no-transaction-metrics"]);
    arguments.extend(["--no-scenario-metrics", "--quiet"]);
    if options.is_empty() {
        arguments.push("--no-metrics");
    }
    arguments.extend(options.iter().map(String::as_str));
    let configuration = GooseConfiguration::parse_args_default(&arguments)?;
    let (working, leaving, is_reported) = (Arc::clone(run), Arc::clone(run), !options.is_empty());
    let work: TransactionFunction =
        Arc::new(move |user| Box::pin(user::work(Arc::clone(&working), user, is_reported)));
    let leave: TransactionFunction = Arc::new(move |user| {
        user::leave(&leaving, user);
        Box::pin(std::future::ready(Ok(())))
    });
    let scenario = Scenario::new("paymaster")
        .register_transaction(Transaction::new(work))
        .register_transaction(Transaction::new(leave).set_on_stop());
    // One HTTP client for all users, which sends nothing. By default goose makes one for each user, and each loads the certificates
    // of the system.
    GooseAttack::initialize_with_config(configuration)?
        .set_client_builder_without_cookies(GooseClientBuilder::new().without_cookies())
        .map(|attack| attack.register_scenario(scenario))
}

/// Writes the error logs of goose to standard error and drops its other logs. By default goose logs to standard output.
fn log_goose_errors() {
    struct ErrorLogger;
    impl log::Log for ErrorLogger {
        fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
            metadata.level() == log::Level::Error
        }

        fn log(&self, record: &log::Record<'_>) {
            if self.enabled(record.metadata()) {
                live::draw(&format!("goose: {}\n", record.args()), 0);
            }
        }

        fn flush(&self) {}
    }
    // It fails if the process has set a logger before, which then stays in use.
    if log::set_logger(&ErrorLogger).is_ok() {
        log::set_max_level(log::LevelFilter::Error);
    }
}
