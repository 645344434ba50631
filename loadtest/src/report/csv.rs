//! The figures by second as CSV, one row a slot: what the plots of the page show, for a spreadsheet or a plot of one's own.

use crate::figures::{Outcome, TimeSlot};
use crate::results::{RunComparison, RunSummary};

type Column = (&'static str, fn(&RunSummary, &TimeSlot) -> String);

/// The columns after `time_s` (the begin of the slot, from the end of the warm-up on) and `seconds` (its length): name and value. Counts are
/// those of the slot. A latency is empty where nothing was measured. `embedded` is whether the target is the embedded server.
const COLUMNS: [Column; 10] = [
    ("arrivals", |_, slot| slot.arrivals.to_string()),
    ("requests", |_, slot| slot.counts.all().to_string()),
    ("answers", |_, slot| slot.counts.answered().to_string()),
    ("wrong", |_, slot| slot.counts.of(Outcome::Wrong).to_string()),
    ("failed", |_, slot| slot.counts.failed().to_string()),
    ("users", |summary, slot| format!("{:.1}", summary.figures.series.users(slot))),
    ("p50_ms", |_, slot| milliseconds(slot, 50.0)),
    ("p95_ms", |_, slot| milliseconds(slot, 95.0)),
    ("p99_ms", |_, slot| milliseconds(slot, 99.0)),
    ("embedded", |summary, _| summary.embedded.to_string()),
];

pub(super) fn render(summary: &RunSummary, _: Option<&RunComparison>) -> String {
    let series = &summary.figures.series;
    let names = COLUMNS.map(|(name, _)| name).join(",");
    let rows = (0_u64..).zip(&series.slots).map(|(place, slot)| {
        let values = COLUMNS.map(|(_, value)| value(summary, slot)).join(",");
        format!("{},{},{values}\n", place * u64::from(series.seconds), series.seconds)
    });
    format!("time_s,seconds,{names}\n{}", rows.collect::<Vec<_>>().concat())
}

fn milliseconds(slot: &TimeSlot, percent: f64) -> String {
    let latency = slot.percentile(percent);
    latency.map_or_else(String::new, |latency| format!("{:.3}", latency.as_secs_f64() * 1_000.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn a_row_is_a_slot() {
        let mut summary = fixtures::failed();
        summary.figures.series.slots.truncate(2);
        summary.figures.series.slots[1].arrivals = 120;
        // A second without an answer.
        summary.figures.series.slots.push(TimeSlot::default());
        let expected = "\
time_s,seconds,arrivals,requests,answers,wrong,failed,users,p50_ms,p95_ms,p99_ms,embedded
0,1,0,100,99,4,1,10.0,1.046,1.192,20.792,false
1,1,120,100,99,4,1,10.0,1.357,1.480,1.480,false
2,1,0,0,0,0,0,0.0,,,,false
";
        assert_eq!(render(&summary, None), expected);
        summary.figures.series.seconds = 4;
        assert!(render(&summary, None).contains("\n8,4,0,0,"));
    }

    /// The counts of the other formats are those of the labels.
    #[test]
    fn the_columns_add_up_to_the_counts_of_the_other_formats() {
        for summary in fixtures::all() {
            let text = render(&summary, None);
            let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
            let names = rows.next().unwrap();
            let rows: Vec<_> = rows.collect();
            let sum = |name: &str| -> u64 {
                let place = names.iter().position(|known| *known == name).unwrap();
                rows.iter().map(|row| row[place].parse::<u64>().unwrap()).sum()
            };
            let counts = summary.figures.total(None).counts;
            assert_eq!(
                ["requests", "answers", "wrong", "failed"].map(sum),
                [counts.all(), counts.answered(), counts.of(Outcome::Wrong), counts.failed()]
            );
        }
    }
}
