use std::time::Duration;

use super::*;
use crate::figures::{Example, Outcome, Sample, WrongKey};

fn record(figures: &mut Figures, label: &str, outcome: Outcome, ms: u64) {
    figures.record(&Sample {
        label,
        at: Some(Duration::ZERO),
        latency: Duration::from_millis(ms),
        outcome,
        judged: true,
    });
    if outcome == Outcome::Wrong {
        let key =
            WrongKey { rule: "answer.id".to_owned(), label: label.to_owned(), pointer: "/id".to_owned() };
        figures.add_wrong(key, || Example {
            expected: "5".to_owned(),
            actual: "\"secret value\"".to_owned(),
            ..Example::default()
        });
    }
}

#[test]
fn the_sum_of_the_reports_is_what_was_counted() {
    let (mut figures, mut stats) = (Figures::default(), LocustStats::new(100.0));
    let (mut requests, mut failures, mut none, mut rows, mut times) = (0, 0, 0, 0, 0);
    for round in 0..5_u64 {
        for n in 0..=round {
            record(&mut figures, "errors", Outcome::Good, 10 + n);
            record(
                &mut figures,
                "journey/quote",
                Outcome::all().nth(usize::try_from(n).unwrap()).unwrap(),
                1_234,
            );
        }
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let report = stats.next(&figures, 100.0, 103.0 + round as f64);
        assert_eq!(report.stats_total.num_requests, 2 * (round + 1));
        assert_eq!(report.stats.iter().map(|entry| entry.num_requests).sum::<u64>(), 2 * (round + 1));
        assert_eq!(report.stats_total.num_reqs_per_sec.values().sum::<u64>(), 2 * (round + 1));
        requests += report.stats_total.num_requests;
        failures += report.stats_total.num_failures;
        none += report.stats_total.num_none_requests;
        rows += report.errors.values().map(|row| row.occurrences).sum::<u64>();
        times += report.stats_total.response_times.values().sum::<u64>();
    }
    let total = figures.total(None).counts;
    assert_eq!((requests, failures), (total.all(), total.wrong_or_failed()));
    assert_eq!(rows, failures);
    assert_eq!(
        none,
        total.of(Outcome::RateLimited) + total.of(Outcome::Refused) + total.of(Outcome::Transport)
    );
    assert_eq!(times + none, requests);
    let nothing = stats.next(&figures, 100.0, 200.0);
    assert!(nothing.stats.is_empty() && nothing.errors.is_empty() && nothing.stats_total.num_requests == 0);
}

#[test]
fn a_row_of_the_failures_table_has_the_rule_and_no_value() {
    let mut figures = Figures::default();
    record(&mut figures, "quote-erc20", Outcome::Wrong, 5);
    record(&mut figures, "quote-erc20", Outcome::Timeout, 5);
    let errors = LocustStats::new(0.0).next(&figures, 0.0, 3.0).errors;
    let texts: Vec<&str> = errors.values().map(|row| &*row.error).collect();
    assert!(texts[0].starts_with("failed: ") && texts[1].starts_with("wrong answer.id: "), "{texts:?}");
    assert!(texts[1].len() > "wrong answer.id: ".len(), "{texts:?}");
    assert!(!format!("{errors:?}").contains("secret"), "{errors:?}");
}

#[test]
fn times_have_two_significant_digits() {
    for (ms, expected) in
        [(0.0431, 0.043), (0.000_1, 0.0), (1.26, 1.3), (99.6, 100.0), (147.0, 150.0), (3_432.0, 3_400.0)]
    {
        assert!((rounded(ms) - expected).abs() < 1e-9, "{ms}: {}", rounded(ms));
    }
}
