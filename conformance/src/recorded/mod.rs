//! Recorded traffic: exchanges that somebody else made, judged by the same rules. Nothing is sent.
//!
//! What a recording holds is read (`har`, `lines`), what it tells of the target is learned (`learn`), and then every exchange
//! is judged alone (`bench`). Rules over related exchanges stay inconclusive: that two recorded requests are related the way
//! such a rule needs cannot be known, and between two of them a policy, a balance or a price may lawfully have changed.

pub mod har;
mod headers;
pub mod lines;
mod ours;

use std::time::{Duration, SystemTime};

pub use headers::secrets;
pub use ours::{foreign, unjudged};

use paymaster_exchange::Exchange;
pub use paymaster_judge::session::recorded::Skipped;

/// One exchange of a recording.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where in the file it stands, for people: `entry 3`, `line 7`.
    pub place: String,
    /// The URL, where the recording tells it.
    pub url: Option<String>,
    /// What was sent and what came back.
    pub exchange: Exchange,
    /// When it ended, where the recording tells it.
    pub ended: Option<SystemTime>,
    /// Header values that may stand in no output.
    pub secrets: Vec<String>,
}

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Exchanges with the paymaster, in the order of the file.
    pub entries: Vec<Entry>,
    /// How many entries were left out, by the reason.
    pub skipped: Skipped,
}

impl Recording {
    /// Takes in an entry, or counts why it is left out.
    fn take(&mut self, entry: Result<Entry, String>) {
        match entry {
            Ok(entry) => self.entries.push(entry),
            Err(reason) => *self.skipped.entry(reason).or_default() += 1,
        }
    }

    /// Every URL of the recording and how many exchanges went there, in the order of the file.
    pub fn endpoints(&self) -> Vec<(Option<&str>, usize)> {
        let mut endpoints: Vec<(Option<&str>, usize)> = Vec::new();
        for entry in &self.entries {
            let url = entry.url.as_deref();
            match endpoints.iter_mut().find(|(known, _)| *known == url) {
                Some((_, times)) => *times += 1,
                None => endpoints.push((url, 1)),
            }
        }
        endpoints
    }
}

/// Reads a recording in whichever of the two formats it is.
pub fn read(text: &str) -> Result<Recording, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(format!("the recording is empty: {EXPECTED}"));
    }
    if har::is_one(text) {
        har::read(text)
    } else {
        lines::read(text)
    }
}

/// Milliseconds of a recording; what makes no sense counts as none.
fn duration(milliseconds: Option<f64>) -> Duration {
    milliseconds
        .and_then(|time| Duration::try_from_secs_f64(time / 1000.0).ok())
        .unwrap_or_default()
}

/// A time of day of a recording, as `2026-01-31T12:00:00.000Z`; what is no such time counts as none.
fn moment(text: Option<&str>) -> Option<SystemTime> {
    let time = chrono::DateTime::parse_from_rfc3339(text?).ok()?;
    Some(time.into())
}

/// What a recording has to be.
const EXPECTED: &str = "give a HAR file, or lines of JSON with one exchange each (docs/recorded-traffic.md)";
