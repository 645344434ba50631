//! `judge FILE`: judges recorded exchanges by the rules. Nothing is sent.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use crate::cli::{CommandError, JudgeArgs, TrafficOptions, TrafficSession};
use crate::recorded::{self, RecordedExchange, Recording};
use crate::report::words::count;
use paymaster_settings::{Environment, ShownTarget};

/// Longest recording that is read, in bytes: it is held in memory.
const LONGEST: u64 = 512 * 1024 * 1024;

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &JudgeArgs, environment: &Environment) -> Result<u8, CommandError> {
    let mut options = TrafficOptions::read(&args.judging, None, environment)?;
    let name = if args.file == Path::new("-") {
        "standard input".to_owned()
    } else {
        args.file.display().to_string()
    };
    let named = |cause: CommandError| CommandError { message: format!("{name}: {}", cause.message), ..cause };
    let text = read(&args.file).map_err(named)?;
    let mut recording = recorded::read(&text).map_err(|cause| named(cause.into()))?;
    drop(text);
    if let Some(called) = recording.most_called().filter(|_| !options.profile.is_named)
        && called != options.suite.specification
    {
        options = TrafficOptions::read(&args.judging, Some(called.name), environment)?;
    }
    recording.keep_calls_of(options.suite.specification);
    let (exchanges, place, mut skipped) =
        choose(recording, args.endpoint.as_deref(), &name, &mut options).map_err(named)?;
    for secret in exchanges.iter().flat_map(|exchange| &exchange.secrets) {
        options.redactor.hide_header(secret);
    }
    let mut traffic = TrafficSession::open(options, place, &args.judging)?;
    for recorded in &exchanges {
        traffic.session.learn(&recorded.exchange);
    }
    let mut took = Duration::ZERO;
    for recorded in exchanges {
        took += recorded.exchange.took;
        traffic.judge(&recorded.place, recorded.exchange);
    }
    skipped.retain(|_, times| *times > 0);
    Ok(traffic.close(skipped, took, environment))
}

fn read(path: &Path) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().take(LONGEST + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes))
    }?;
    if bytes.len() as u64 > LONGEST {
        return Err(format!("the recording is longer than {LONGEST} bytes: cut it into several").into());
    }
    String::from_utf8(bytes).map_err(|cause| {
        let at = cause.utf8_error().valid_up_to();
        format!("the recording is not UTF-8 from byte {at} on").into()
    })
}

/// Chooses the exchanges with one endpoint: tokens and dialect are learned for one target. Returns how often others were skipped too.
fn choose(
    recording: Recording,
    wanted: Option<&str>,
    name: &str,
    options: &mut TrafficOptions,
) -> Result<(Vec<RecordedExchange>, ShownTarget, recorded::Skipped), CommandError> {
    let unnamed = || ShownTarget { shown: name.to_owned(), ..ShownTarget::default() };
    let mut endpoints = Vec::new();
    for (url, exchanges) in recording.endpoints() {
        let place = url.map_or_else(|| Ok(unnamed()), |url| options.place(url))?;
        endpoints.push((url.map(str::to_owned), count(exchanges as u128, "exchange"), place));
    }
    let is_wanted = |number: usize, url: Option<&String>| {
        let is_named =
            |wanted: &str| wanted == number.to_string() || url.is_some_and(|url| url.contains(wanted));
        wanted.is_none_or(is_named)
    };
    let mut matching = (1..).zip(&endpoints).filter(|(number, (url, ..))| is_wanted(*number, url.as_ref()));
    let (url, place) = match (matching.next(), matching.next()) {
        (Some((_, (url, _, place))), None) => (url.clone(), place.clone()),
        (None, _) if wanted.is_none() => (None, unnamed()),
        (first, _) => {
            let what = if first.is_some() {
                "calls went to several endpoints"
            } else {
                "no endpoint has this number or this text in its URL"
            };
            let rows = (1..).zip(&endpoints);
            let rows = rows
                .map(|(number, (_, exchanges, place))| format!("\n  {number}  {}  {exchanges}", place.shown));
            let rows = rows.collect::<Vec<_>>().concat();
            return Err(format!(
                "{what}: choose one with --endpoint and its number, or a part of its URL{rows}"
            )
            .into());
        }
    };
    let mut skipped = recording.skipped;
    let (exchanges, others): (Vec<_>, Vec<_>) =
        recording.exchanges.into_iter().partition(|exchange| exchange.url == url);
    skipped.insert("a call to another endpoint".to_owned(), others.len() as u64);
    Ok((exchanges, place, skipped))
}
