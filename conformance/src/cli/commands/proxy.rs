//! `proxy`: forwards a wallet's traffic to the paymaster and judges it at the same time.

use std::{collections::BTreeSet, net::SocketAddr, sync::Arc, time::Instant};

use tokio::{net::TcpListener, sync::mpsc};

use crate::cli::{CommandError, ProxyArgs, TrafficOptions, TrafficSession, block_on, stop_at_interrupt};
use crate::recorded::OTHER_SPECIFICATION;
use crate::relay::{self, Limits, RelayedExchange, Upstream};
use paymaster_client::network::{Connector, Proxies, Target};
use paymaster_engine::rules::{Violation, fails_the_run};
use paymaster_engine::session::{NewlyBroken, Skipped};
use paymaster_settings::output;
use paymaster_settings::output::Style;
use paymaster_settings::settings::trust_notes;
use paymaster_settings::{Environment, Paint, escape_controls};

/// How many exchanges may wait to be judged. When they are that many, the relay waits too.
const QUEUE_LENGTH: usize = 64;

/// How many distinct header values, and how many distinct paths with a query, are hidden at most: a value that differs in every request is
/// not a credential.
const MOST_SECRETS: usize = 200;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &ProxyArgs, environment: &Environment) -> Result<u8, CommandError> {
    let mut options = TrafficOptions::read(&args.judging, None, environment)?;
    let named = match &args.upstream {
        Some(url) => Some(url.as_str()),
        None => environment.get("PAYMASTER_URL")?,
    };
    let url = named.or(options.profile.target.url.as_deref());
    let url = url.ok_or("there is no upstream: give --upstream URL, or set PAYMASTER_URL")?.to_owned();
    let target = Target::parse(&url).map_err(|cause| format!("--upstream: {cause}"))?;
    let proxies = Proxies::of(environment)?;
    for secret in &proxies.secrets {
        options.redactor.hide(secret);
    }
    let connector = Connector::new(&target, &args.trust.trust(), &proxies)?;
    let mut place = options.place(&url)?;
    (place.curl_options, place.connection_warnings) = trust_notes(&args.trust, target.is_https);
    let limits = Limits { timeout: args.timeout.unwrap_or(Limits::default().timeout), ..Limits::default() };
    let is_loopback = target.is_loopback();
    let (relayed, receiver) = mpsc::channel(QUEUE_LENGTH);
    let upstream = Arc::new(Upstream { target, connector, limits, relayed });
    let shown = place.shown.clone();
    let paint = output::paint(environment, true);
    block_on(async {
        let asked = &args.listen;
        let listener = TcpListener::bind(asked).await.map_err(|cause| {
            format!("cannot listen on {asked}: {cause}; give another address with --listen, such as 127.0.0.1:0 for a free port")
        })?;
        let address = listener.local_addr().map_err(|cause| format!("{asked}: {cause}"))?;
        let traffic = TrafficSession::open(options, place, &args.judging)?;
        announce(address, &shown);
        let stop = stop_at_interrupt();
        let started = Instant::now();
        // The judge ends when the relay, the only sender, has ended.
        let ((), (traffic, skipped)) = tokio::join!(
            relay::serve(listener, upstream, &stop),
            judge(traffic, receiver, is_loopback, paint),
        );
        Ok::<_, CommandError>(traffic.close(skipped, started.elapsed(), environment))
    })
}

/// Prints where the proxy listens.
fn announce(address: SocketAddr, shown: &str) {
    output::eprint(&format!(
        "listening on http://{address}/ and forwarding to {shown}\n\
         give the wallet this address in place of the paymaster's; Ctrl-C ends with the report\n"
    ));
    if !address.ip().is_loopback() {
        output::eprint(
            "warning: any client that reaches this address can use the paymaster, and the key in its URL, through it\n",
        );
    }
}

/// Judges relayed exchanges until the relay ends. Returns the session and how many exchanges were skipped, by reason.
async fn judge(
    mut traffic: TrafficSession,
    mut relayed: mpsc::Receiver<RelayedExchange>,
    is_loopback: bool,
    paint: Paint,
) -> (TrafficSession, Skipped) {
    let mut skipped = Skipped::new();
    let mut secrets = 0;
    let mut paths = BTreeSet::new();
    let mut number = 0_u64;
    while let Some(relayed) = relayed.recv().await {
        number += 1;
        for secret in relayed.secrets {
            if secrets < MOST_SECRETS {
                secrets += usize::from(traffic.hide(&secret));
            }
        }
        if paths.len() < MOST_SECRETS && paths.insert(relayed.path.clone()) {
            traffic.hide_path(&relayed.path, is_loopback);
        }
        let place = format!("exchange {number}");
        if let Some(reason) = traffic.skip_reason(&relayed.method, &relayed.exchange) {
            // A recording can be judged by the other specification later.
            if reason == OTHER_SPECIFICATION {
                traffic.record(&place, relayed.exchange);
            }
            *skipped.entry(reason).or_default() += 1;
            continue;
        }
        traffic.session.learn(&relayed.exchange);
        for new in traffic.judge(&place, relayed.exchange) {
            output::eprint(&describe(&traffic, &new, number, paint));
        }
    }
    (traffic, skipped)
}

/// A line for a rule that is broken for the first time.
fn describe(traffic: &TrafficSession, new: &NewlyBroken, number: u64, paint: Paint) -> String {
    let TrafficOptions { strictness, known, redactor, .. } = &traffic.options;
    let label = if known.list.covers(&new.key).is_some() {
        paint.with(Style::Odd, "KNOWN")
    } else if fails_the_run(new.rule.basis(), strictness.strict) {
        paint.with(Style::Bad, "FAILED")
    } else {
        paint.with(Style::Odd, "WARNING")
    };
    let call = new.key.pair.map_or("any request", |pair| pair.name);
    let Violation { pointer, expected, actual, .. } = &new.violation;
    let [pointer, expected, actual] =
        [pointer, expected, actual].map(|text| escape_controls(&redactor.apply(text)));
    let pointer = if pointer.is_empty() { "the whole answer" } else { &pointer };
    let rule = paint.with(Style::Id, new.rule.id);
    format!("{label} {rule}  exchange {number}, {call} at {pointer}: expected {expected}, got {actual}\n")
}
