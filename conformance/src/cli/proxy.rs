//! `proxy`: a wallet's traffic passes through to the paymaster and is judged as it passes.

use std::{net::SocketAddr, time::Instant};

use tokio::{net::TcpListener, sync::mpsc};

use crate::cli::{
    args::ProxyArgs,
    check::{runtime, stop_at_interrupt},
    out,
    recording::{Desk, Said},
};
use crate::{
    recorded,
    relay::{self, Bounds, Passed, Upstream},
};
use paymaster_cli::terminal::{Paint, harmless};
use paymaster_cli::{environment::Environment, setup::trust_notes};
use paymaster_client::{connector::Connector, proxies::Proxies, target::Target, tls::Trust};
use paymaster_exchange::Failure;
use paymaster_judge::session::{recorded::Skipped, tally::NewlyBroken, tally::fails_the_run};

/// Where the proxy listens unless it is told.
pub(crate) const DEFAULT_LISTEN: &str = "127.0.0.1:4337";

/// Exchanges that may wait to be judged: a wallet that is faster than the judge waits too.
const WAITING: usize = 64;

/// Distinct header values that are hidden: one that differs in every request is no credential.
const MOST_SECRETS: usize = 200;

/// Runs the command; gives the exit code.
pub(crate) fn run(args: &ProxyArgs, environment: &Environment) -> Result<u8, String> {
    let mut said = Said::read(&args.judging, environment)?;
    let url = args
        .upstream
        .clone()
        .or_else(|| environment.get("PAYMASTER_URL").map(str::to_owned))
        .or_else(|| said.profile.target.url.clone())
        .ok_or("where is the traffic to go? give --upstream URL, or set PAYMASTER_URL")?;
    let target = Target::parse(&url).map_err(|cause| format!("--upstream: {cause}"))?;
    let trust = Trust {
        cacert: args.trust.cacert.clone(),
        insecure: args.trust.insecure,
    };
    let proxies = Proxies::of(|name| environment.get(name)).map_err(|cause| cause.to_string())?;
    for secret in proxies.secrets() {
        said.redactor.hide(secret);
    }
    let connector = Connector::new(&target, &trust, &proxies).map_err(|cause| cause.to_string())?;
    let mut place = said.place(&url)?;
    (place.curl_options, place.warnings) = trust_notes(&trust, target.is_https());
    let bounds = Bounds {
        timeout: args.timeout.unwrap_or(Bounds::default().timeout),
        ..Bounds::default()
    };
    let upstream = Upstream::new(target, connector, bounds);
    let shown = place.shown.clone();
    let paint = out::paint(environment, true);
    runtime()?.block_on(async {
        let listener = listen(&args.listen).await?;
        let address = listener
            .local_addr()
            .map_err(|cause| format!("{}: {cause}", args.listen))?;
        let desk = Desk::open(said, place, &args.judging)?;
        tell(address, &shown);
        let stop = stop_at_interrupt();
        let (sender, receiver) = mpsc::channel(WAITING);
        let started = Instant::now();
        // The judge ends when the relay has, and with it everyone who sends.
        let ((), (desk, skipped)) = tokio::join!(
            relay::serve(listener, upstream, sender, &stop),
            judge(desk, receiver, paint),
        );
        Ok(desk.close(skipped, started.elapsed(), environment))
    })
}

async fn listen(address: &str) -> Result<TcpListener, String> {
    TcpListener::bind(address).await.map_err(|cause| {
        format!("cannot listen on {address}: {cause}; give another address with --listen, as 127.0.0.1:0 for a free port")
    })
}

fn tell(address: SocketAddr, shown: &str) {
    out::eprint(&format!(
        "listening on http://{address}/ and passing on to {shown}\n\
         give the wallet this address in place of the paymaster's; Ctrl-C ends with the report\n"
    ));
    if !address.ip().is_loopback() {
        out::eprint(
            "warning: whoever reaches this address can use the paymaster, and the key in its URL, through it\n",
        );
    }
}

/// Judges what passes until nobody sends any more.
async fn judge(mut desk: Desk, mut passing: mpsc::Receiver<Passed>, paint: Paint) -> (Desk, Skipped) {
    let mut skipped = Skipped::new();
    let mut secrets = 0;
    let mut number = 0_u64;
    while let Some(passed) = passing.recv().await {
        number += 1;
        for secret in passed.secrets {
            if secrets < MOST_SECRETS {
                secrets += usize::from(desk.hide(&secret));
            }
        }
        if let Some(reason) = left_out(&passed.method, &passed.exchange) {
            *skipped.entry(reason).or_default() += 1;
            continue;
        }
        desk.session.learn(&passed.exchange);
        for new in desk.judge(&format!("exchange {number}"), passed.exchange, passed.ended) {
            let line = told(&desk, &new, number, paint);
            out::eprint(&line);
        }
    }
    (desk, skipped)
}

/// Why an exchange is not judged.
fn left_out(method: &str, exchange: &paymaster_exchange::Exchange) -> Option<String> {
    if let Some(reason) = recorded::foreign(method, &exchange.request) {
        return Some(reason.to_owned());
    }
    match &exchange.outcome {
        Err(Failure::Connect(cause)) => Some(format!("the upstream was not reached: {cause}")),
        Ok(response) => recorded::unjudged(response).map(str::to_owned),
        Err(_) => None,
    }
}

fn told(desk: &Desk, new: &NewlyBroken, number: u64, paint: Paint) -> String {
    let fails = fails_the_run(new.rule.basis(), desk.is_strict());
    let label = if desk.is_known(&new.key) {
        paint.odd("KNOWN")
    } else if fails {
        paint.bad("FAILED")
    } else {
        paint.odd("WARNING")
    };
    let call = new.key.pair.map_or("any request", |pair| pair.name());
    let shown = |text: &str| harmless(&desk.redacted(text));
    let pointer = if new.violation.pointer.is_empty() {
        "the whole answer".to_owned()
    } else {
        shown(&new.violation.pointer)
    };
    format!(
        "{label} {}  exchange {number}, {call} at {pointer}: expected {}, got {}\n",
        paint.name(new.rule.id),
        shown(&new.violation.expected),
        shown(&new.violation.actual),
    )
}
