//! `judge FILE`: recorded exchanges, judged by the same rules. Nothing is sent.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    time::{Duration, SystemTime},
};

use crate::cli::{
    args::JudgeArgs,
    recording::{Desk, Said},
};
use crate::{
    recorded::{self, Entry, Recording},
    report::count,
};
use paymaster_cli::environment::Environment;
use paymaster_cli::settings::ShownTarget;

/// Longest recording that is read, in bytes: it is held in memory whole.
const LONGEST: u64 = 512 * 1024 * 1024;

/// Runs the command; gives the exit code.
pub(crate) fn run(args: &JudgeArgs, environment: &Environment) -> Result<u8, String> {
    let mut said = Said::read(&args.judging, environment)?;
    let name = if args.file == Path::new("-") {
        "standard input".to_owned()
    } else {
        args.file.display().to_string()
    };
    let told = |cause: String| format!("{name}: {cause}");
    let text = read(&args.file).map_err(told)?;
    let recording = recorded::read(&text).map_err(told)?;
    drop(text);
    let Chosen {
        entries,
        place,
        mut skipped,
    } = choose(recording, args.endpoint.as_deref(), &name, &mut said).map_err(told)?;
    for secret in entries.iter().flat_map(|entry| &entry.secrets) {
        said.redactor.hide_header(secret);
    }
    let mut desk = Desk::open(said, place, &args.judging)?;
    for entry in &entries {
        desk.session.learn(&entry.exchange);
    }
    let mut took = Duration::ZERO;
    for entry in entries {
        took += entry.exchange.took;
        desk.judge(
            &entry.place,
            entry.exchange,
            entry.ended.unwrap_or_else(SystemTime::now),
        );
    }
    skipped.retain(|_, times| *times > 0);
    Ok(desk.close(skipped, took, environment))
}

fn read(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let taken = if path == Path::new("-") {
        io::stdin().lock().take(LONGEST + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes))
    };
    taken.map_err(|cause| cause.to_string())?;
    if bytes.len() as u64 > LONGEST {
        return Err(format!(
            "the recording is longer than {LONGEST} bytes: cut it into several"
        ));
    }
    String::from_utf8(bytes).map_err(|cause| {
        let at = cause.utf8_error().valid_up_to();
        format!("the recording is no UTF-8 from byte {at} on")
    })
}

/// The exchanges with one endpoint.
struct Chosen {
    entries: Vec<Entry>,
    place: ShownTarget,
    skipped: recorded::Skipped,
}

/// Takes the exchanges with one endpoint: tokens and dialect are learned for one target, and another may differ.
fn choose(recording: Recording, wanted: Option<&str>, name: &str, said: &mut Said) -> Result<Chosen, String> {
    let mut endpoints = Vec::new();
    for (url, times) in recording.endpoints() {
        let place = match url {
            Some(url) => said.place(url)?,
            None => ShownTarget {
                shown: name.to_owned(),
                ..ShownTarget::default()
            },
        };
        endpoints.push((url.map(str::to_owned), times, place));
    }
    let matches = |number: usize, url: Option<&str>| match wanted {
        None => true,
        Some(wanted) => wanted == (number + 1).to_string() || url.is_some_and(|url| url.contains(wanted)),
    };
    let mut chosen = endpoints
        .iter()
        .enumerate()
        .filter(|(number, (url, ..))| matches(*number, url.as_deref()));
    let (first, second) = (chosen.next(), chosen.next());
    let place = match (first, second) {
        (Some((_, (url, _, place))), None) => Some((url.clone(), place.clone())),
        (None, _) if wanted.is_none() => None,
        _ => {
            let rows: Vec<String> = endpoints
                .iter()
                .enumerate()
                .map(|(number, (_, times, place))| {
                    format!(
                        "\n  {}  {}  {}",
                        number + 1,
                        place.shown,
                        count(*times as u128, "exchange")
                    )
                })
                .collect();
            let what = if first.is_some() {
                "calls went to several endpoints"
            } else {
                "no endpoint is of that number or has that text in its URL"
            };
            return Err(format!(
                "{what}: choose one with --endpoint and its number, or a part of its URL{}",
                rows.concat()
            ));
        }
    };
    let mut skipped = recording.skipped;
    let Some((url, place)) = place else {
        let place = ShownTarget {
            shown: name.to_owned(),
            ..ShownTarget::default()
        };
        return Ok(Chosen {
            entries: Vec::new(),
            place,
            skipped,
        });
    };
    let (entries, others): (Vec<Entry>, Vec<Entry>) =
        recording.entries.into_iter().partition(|entry| entry.url == url);
    skipped.insert("a call to another endpoint".to_owned(), others.len() as u64);
    Ok(Chosen {
        entries,
        place,
        skipped,
    })
}
