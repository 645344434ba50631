//! The exact figures that a worker sends beside the statistics of Locust, as the member `bin` of `stats`.
//!
//! They are the JSON report of the worker so far, deflated (zlib). So a lost message loses nothing that the next one does not bring, and
//! the master keeps one report for each worker, which `merge` reads. Only the figures by second would grow with the run: of these, a
//! message has the slots that changed since the last one, and the member `slots_from` is the index of the first of them.

use std::io::Write as _;

use bytes::Bytes;
use flate2::{Compression, write::ZlibEncoder};
use serde_json::Value;

use crate::{
    figures::{TimeSeries, TimeSlot},
    results::RunSummary,
};

/// The next report. `known` are the figures by second that the master has.
pub(super) fn encode(summary: &RunSummary, known: &mut TimeSeries) -> Option<Bytes> {
    let series = &summary.figures.series;
    let pairs = series.slots.iter().zip(&known.slots);
    let is_unchanged = |(now, sent): &(&TimeSlot, &TimeSlot)| series.seconds == known.seconds && now == sent;
    let from = pairs.take_while(is_unchanged).count();
    let mut report = serde_json::to_value(summary).ok()?;
    if let Some(slots) = report["series"]["slots"].as_array_mut() {
        slots.drain(..from);
    }
    report["slots_from"] = Value::from(from);
    known.clone_from(series);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(report.to_string().as_bytes()).ok()?;
    zlib.finish().ok().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use std::{io::Read as _, time::Duration};

    use super::*;
    use crate::{
        figures::{Outcome, Sample},
        report::fixtures,
    };

    fn decode(binary: &Bytes) -> Value {
        let mut text = String::new();
        let mut zlib = flate2::read::ZlibDecoder::new(&binary[..]);
        zlib.read_to_string(&mut text).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// What the locustfile does with the reports of a worker.
    fn joined(known: &mut Vec<Value>, mut report: Value) -> Value {
        let from = usize::try_from(report["slots_from"].as_u64().unwrap()).unwrap();
        known.truncate(from);
        known.extend(report["series"]["slots"].as_array().unwrap().iter().cloned());
        report["series"]["slots"] = Value::from(known.clone());
        report
    }

    #[test]
    fn the_parts_join_to_the_report() {
        let mut summary = fixtures::failed();
        let (mut sent, mut known) = (TimeSeries::default(), Vec::new());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("worker.json");
        for round in 0..900_u64 {
            summary.figures.record(&Sample {
                label: "journey/quote",
                // The last ones make slots of two seconds.
                at: Some(Duration::from_secs(round)),
                latency: Duration::from_millis(round),
                outcome: Outcome::Good,
                judged: true,
            });
            let part = decode(&encode(&summary, &mut sent).unwrap());
            if (100..590).contains(&round) {
                assert!(part["series"]["slots"].as_array().unwrap().len() < 4, "{round}");
            }
            let whole = joined(&mut known, part);
            if round % 299 == 0 {
                std::fs::write(&path, whole.to_string()).unwrap();
                assert_eq!(RunSummary::read(&path).unwrap().figures, summary.figures, "{round}");
            }
        }
        assert_eq!(summary.figures.series.seconds, 2);
    }
}
